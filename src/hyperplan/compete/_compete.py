"""``compete``: a table and a question in, an answer that can be defended out."""

import os
import time as clock
from dataclasses import replace

import numpy as np

from hyperplan.compete._audit import audit, leaking_columns
from hyperplan.compete._competition import Competition
from hyperplan.compete._contest import run_contest
from hyperplan.compete._crew import Crew
from hyperplan.compete._document import make_document
from hyperplan.compete._errors import CompetitionError
from hyperplan.compete._finish import finish_chosen
from hyperplan.compete._question import make_question
from hyperplan.compete._registry import candidates as all_candidates
from hyperplan.compete._settings import Settings
from hyperplan.compete._standings import make_standings
from hyperplan.compete._tables import table_hash

SEARCH_SHARE = 0.72  # of the budget; the rest is for the final model and its explanation


def compete(X, y=None, *, test=None, candidates=None, report=None, title="table", **settings) -> Competition:
    """Compare every suitable model on a table, honestly, within a time budget.

    Parameters
    ----------
    X : DataFrame or array
        The table; with `y` without, otherwise with the target column.
    y : array, default=None
        The target, if it is not a column of `X`.  Missing values mark rows to predict.
    test : DataFrame or array, default=None
        Rows to predict; if it has the target, a held-out score is computed.
    candidates : list of str, default=None
        Names of the classes that take part; None means all.
    report : callable, default=None
        Told of progress: ``report(phase=..., done=..., total=..., ...)``.
    title : str, default="table"
        What the report calls the table.
    **settings
        Fields of `Settings`: target, task, metric, positive, time (seconds), lang, seed, n_jobs, folds, group,
        time_column, drop_leaks, drop, columns; or ``settings=Settings(...)`` whole.

    Returns
    -------
    competition : Competition
        With ``best`` (the chosen model, fitted on all rows), ``table()``, ``report(path)``, ``save(folder)``.

    Examples
    --------
    >>> from hyperplan.compete import compete
    >>> from hyperplan.datasets import load_penguins
    >>> table = load_penguins(as_frame=True).frame  # doctest: +SKIP
    >>> result = compete(table, target="species", time=20)  # doctest: +SKIP
    >>> result.table()[["model", "score", "low", "high", "group"]]  # doctest: +SKIP
    """
    began = clock.monotonic()
    whole = settings.pop("settings", None)
    whole = replace(whole, **settings) if whole is not None else Settings(**settings)
    frame, whole = _with_target(X, y, whole)
    test = None if test is None else as_frame(test)
    tell = report or (lambda **event: None)
    tell(phase="auditing")
    question = make_question(frame, whole, test)
    found = audit(
        frame,
        question.columns,
        whole.target,
        question.problem.task,
        test=test,
        folds=question.problem.n_folds,
        group=whole.group,
        time_column=whole.time_column,
        seed=whole.seed,
    )
    if whole.drop_leaks and (leaks := leaking_columns(found)):
        question = make_question(frame, replace(whole, drop=(*whole.drop, *leaks)), test, question.columns)
    tell(phase="guessed", question=question, findings=found)
    listed = all_candidates(question.problem.task, candidates)
    n_workers = worker_count(whole.n_jobs)
    with Crew(question.problem, n_workers, ("_trial.warm", (listed,))) as crew:
        contest = run_contest(question.problem, listed, crew, began + SEARCH_SHARE * whole.time, n_workers, tell)
        standings = make_standings(contest)
        extras = finish_chosen(question, standings, crew, began + whole.time, tell)
    used = {"seconds": clock.monotonic() - began, "jobs": n_workers}
    findings = {"audit": found, "diagnosis": extras.pop("diagnosis", [])}
    digest = table_hash(frame)
    document = make_document(question, standings, findings, extras, title, digest, used)
    return Competition(question, contest, standings, extras, document)


def worker_count(n_jobs: int | None) -> int:
    """Number of processes: all cores this process may use, or as asked."""
    from hyperplan._core.parallel import cpu_count

    cores = cpu_count()
    return cores if n_jobs in (None, -1) else max(1, min(int(n_jobs), 4 * (os.cpu_count() or 1)))


def as_frame(X):
    """A frame with text names for columns; arrays get x0, x1, ..."""
    import pandas

    if hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if isinstance(X, pandas.DataFrame):
        frame = X.reset_index(drop=True)
        frame.columns = [str(name) for name in frame.columns]
        return frame
    X = np.asarray(X)
    X = X[:, None] if X.ndim == 1 else X
    return pandas.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])


def _with_target(X, y, settings: Settings):
    """One frame with the target in it, and settings that name it."""
    frame = as_frame(X)
    if y is None:
        return frame, settings
    values = np.asarray(y)
    if len(values) != len(frame):
        raise CompetitionError("input_length", rows=len(frame), values=len(values))
    name = settings.target or str(getattr(y, "name", None) or "target")
    while name in frame.columns:
        name = f"{name}_"
    return frame.assign(**{name: values}), replace(settings, target=name)
