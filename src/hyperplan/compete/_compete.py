"""``compete``: a table and a question in, an answer that can be defended out."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hyperplan._core.compiling import compile_watch, working_time
from hyperplan._texts.extras import required
from hyperplan.compete._audit import LEAK_CODES, audit, blocking_findings, leaking_columns
from hyperplan.compete._blend import add_blend
from hyperplan.compete._competition import Competition
from hyperplan.compete._contest import run_contest
from hyperplan.compete._crew import Crew
from hyperplan.compete._document import glances, make_document
from hyperplan.compete._errors import AuditError, CompetitionError
from hyperplan.compete._finish import finish_chosen
from hyperplan.compete._frames import as_frame, memory_frame, plain_frame, target_values
from hyperplan.compete._interrupt import CtrlC
from hyperplan.compete._labels import label_values
from hyperplan.compete._parameters import with_settings
from hyperplan.compete._question import Question, make_question
from hyperplan.compete._registry import candidates as all_candidates
from hyperplan.compete._settings import Settings
from hyperplan.compete._standings import make_standings
from hyperplan.compete._table_memory import require_table_memory
from hyperplan.compete._tables import table_hash

SEARCH_SHARE = 0.72  # of the budget; the rest is for the final model and its explanation
LEAST_SHARE = 0.15  # of the budget that the contest gets even if reading and preparing took longer than they should
AUDIT_SHARE = 0.3  # of the budget that the audit may have used, reading included
LEAST_AUDIT = 0.5  # seconds that the audit gets whatever the budget: enough for all checks of a small table
EXPLAIN_SHARE = 0.97  # of the budget when explanations end
WRITING = 0.5  # seconds that the report and the model take, about


@with_settings(Settings)
def compete(
    X: Any,
    y: Any = None,
    *,
    test: Any = None,
    target: str | None = None,
    task: str = "auto",
    metric: str | None = None,
    positive: Any = None,
    time: float = 60.0,
    lang: str = "en",
    seed: int = 0,
    n_jobs: int | None = None,
    folds: int | None = None,
    group: str | None = None,
    time_column: str | None = None,
    drop_leaks: bool = False,
    drop: Sequence[str] = (),
    rare_classes: str = "set aside",
    rare_rows: int = 2,
    rare_name: str = "other",
    columns: Mapping[str, str] | None = None,
    formats: Mapping[str, str] | None = None,
    missing: Mapping[str, Sequence] | None = None,
    spellings: Mapping[str, Mapping] | None = None,
    reading: Mapping[str, str | bool] | None = None,
    settings: Settings | None = None,
    candidates: Sequence[str] | None = None,
    report: Callable[..., object] | None = None,
    title: str = "table",
    spent: float = 0.0,
) -> Competition:
    """Compare every suitable model on a table, honestly, within a time budget.

    The budget counts from the call to the end of the explanations.  What has to be compiled because it is not in the
    kernel cache yet is no part of it: the clock stands still meanwhile, and ``document["protocol"]["compiling"]`` says
    for how long.  Ctrl-C ends the comparison, and the answer rests on what was finished.

    Parameters
    ----------
    X : DataFrame, array or path
        The table; with `y` without, otherwise with the target column.  Anything that `read_table` reads, and tables of
        pandas, polars and pyarrow.
    y : array, default=None
        The target, if it is not a column of `X`.  Missing values mark rows to predict.
    test : DataFrame, array or path, default=None
        Rows to predict; if it has the target, a held-out score is computed.
    target : str, default=None
        Name of the column to predict; with `y`, what the report calls it.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether classes or numbers are asked; guessed from the target.
    metric : str, default=None
        Name of the scikit-learn scorer that models are compared by; None means guessed.
    positive : label, default=None
        The class that counts as positive when there are two.
    time : float, default=60
        Budget in seconds.
    lang : {"en", "fr"}, default="en"
        Language of report and answer.
    seed : int, default=0
        Same seed, same splits and searches.
    n_jobs : int, default=None
        Worker processes; None or -1 means all cores.
    folds : int, default=None
        Parts of the outer cross-validation; None means 5, or fewer where rows are few.
    group, time_column : str, default=None
        Rows of one group stay together; later rows are never used to predict earlier ones.
    drop_leaks : bool, default=False
        Consent to leave out the columns that give the target away.
    drop : sequence of str, default=()
        Columns to leave out.
    rare_classes : {"set aside", "merge"}, default="set aside"
        Rows of a class with too few rows are not learnt from, or are of one class, `rare_name`.
    rare_rows : int, default=2
        A class with fewer rows is rare.
    rare_name : str, default="other"
        Name of the class that rare ones are merged into.
    columns : dict, default=None
        Kind of a column, where the guess is wrong: ``{"zip": "category"}``.
    formats : dict, default=None
        How numbers or dates of a column are written, where the guess is wrong.
    missing : dict, default=None
        Values of a column that stand for a missing one, instead of the guessed ones.
    spellings : dict, default=None
        Column -> ``{value: [its other spellings]}``, instead of the guessed ones.
    reading : dict, default=None
        How a delimited text is written, where the guess is wrong: ``{"separator": ";"}`` (`read_table`).
    settings : Settings, default=None
        All of these in one record; parameters that are given beside it win.
    candidates : sequence of str, default=None
        Names of the classes that take part; None means all.
    report : callable, default=None
        Told of progress: ``report(phase=..., done=..., total=..., ...)``.
    title : str, default="table"
        What the report calls the table.
    spent : float, default=0.0
        Seconds of the budget that are gone already, such as for reading the table.

    Returns
    -------
    competition : Competition
        With ``best`` (the chosen model, fitted on all rows), ``table()``, ``report(path)``, ``save(folder)``.

    Raises
    ------
    CompetitionError, TableError, SettingsError, AuditError
        The question cannot be answered, the table not be read, or a setting is wrong; the message says what to do.
    ImportError
        A package for tables is not installed; the message says which extra has it.

    Examples
    --------
    >>> from hyperplan.compete import compete
    >>> from hyperplan.datasets import table_path
    >>> result = compete(table_path("penguins"), target="species", time=5, candidates=["LogisticRegression"])
    >>> result.table()["model"].tolist()
    ['Logistic regression', 'Majority class']
    >>> [int(row["is_baseline"]) for row in result.document["leaderboard"]]
    [0, 1]
    """
    assert settings is not None  # made of the parameters above
    began, compiled = working_time() - spent, compile_watch.seconds
    required("pandas")
    whole = settings
    n_workers = worker_count(whole.n_jobs)
    ctrl_c, tell = CtrlC(), report or (lambda **event: None)
    with Crew(n_workers, ctrl_c) as crew:
        frame, whole, own = _with_target(X, y, whole)
        test = None if test is None else as_frame(test, whole.reading)
        require_table_memory([frame] if test is None else [frame, test], n_workers)
        tell(phase="auditing")
        audited = max(began + AUDIT_SHARE * whole.time, working_time() + LEAST_AUDIT)
        question, found = _asked(frame, whole, test, audited)
        question = question._replace(labels=_labels(question, own, y))
        tell(phase="guessed", question=question, findings=found)
        problem = question.problem
        listed = [c for c in all_candidates(problem.task, candidates) if _can_play(c, problem)]
        with ctrl_c:
            tell(phase="preparing")
            sha256, shown = table_hash(frame), glances(question)  # now, not when time is short
            crew.load(
                problem, [("_trial.warm", (candidate,)) for candidate in listed], began + SEARCH_SHARE * whole.time
            )
            end = max(began + SEARCH_SHARE * whole.time, working_time() + LEAST_SHARE * whole.time)
            contest = run_contest(problem, listed, crew, end, n_workers, tell)
            add_blend(contest)
            if contest.was_interrupted and not any(entry.outcomes for entry in contest.left() if not entry.is_baseline):
                raise KeyboardInterrupt  # there is nothing to finish with: nobody waits for a baseline
            standings = make_standings(contest)
            deadline = began + EXPLAIN_SHARE * whole.time - WRITING
            extras = finish_chosen(question, contest, standings, crew, deadline, tell)
            findings = {"audit": found, "diagnosis": extras["diagnosis"]}
            used = {"seconds": working_time() - began, "compiling": compile_watch.seconds - compiled}
            used |= {"jobs": n_workers, "stopped": contest.was_interrupted}
            document = make_document(question, standings, findings, extras, title, sha256, used, shown)
            return Competition(question, contest, standings, extras, document)


def _asked(frame, settings: Settings, test, deadline: float | None = None):
    """The question and the findings of the audit; findings that forbid a competition are raised."""
    question = make_question(frame, settings, test)
    assert settings.target is not None  # or there would be no question
    found = audit(
        frame,
        [column for column in question.columns if column.name not in settings.drop],
        settings.target,
        question.problem.task,
        test=test,
        folds=question.problem.n_folds,
        group=settings.group,
        time_column=settings.time_column,
        seed=settings.seed,
        deadline=deadline,
        reading=question.target,
        rare=question.rare,
    )
    needed = {settings.target, *(column.name for column in question.problem.columns)}
    for finding in blocking_findings(found):
        if needed.intersection(finding.columns):
            names = [name for name in finding.columns if name in needed]
            raise AuditError(finding.code, columns=", ".join(names), **finding.values)
    if settings.drop_leaks and (leaks := leaking_columns(found)):
        question = make_question(frame, replace(settings, drop=(*settings.drop, *leaks)), test, question.columns)
        found = [_settled(finding, leaks) for finding in found]
    return question, found


def _settled(finding, dropped):
    """A finding about columns that are left out is a fact, not a warning."""
    is_settled = finding.code in LEAK_CODES and set(finding.columns) <= set(dropped)
    return finding._replace(severity="info") if is_settled else finding


def _can_play(candidate, problem) -> bool:
    """Whether there is what a candidate is for: rows without a target, for one that uses them."""
    return not candidate.uses_unlabelled or problem.unlabelled is not None


def worker_count(n_jobs: int | None) -> int:
    """Number of processes: all cores this process may use, or as asked."""
    from hyperplan._core.parallel import cpu_count

    cores = cpu_count()
    return cores if n_jobs in (None, -1) else max(1, min(int(n_jobs), 4 * (os.cpu_count() or 1)))


def _with_target(X, y, settings: Settings):
    """``(frame, settings, own)``: one frame with the target in it, settings that name it, its values as they were."""
    frame = as_frame(X, settings.reading)
    if y is None:
        return frame, settings, _own_column(X, frame, settings.target)
    own = target_values(y)
    if len(own) != len(frame):
        raise CompetitionError("input_length", rows=len(frame), values=len(own))
    name = settings.target or str(getattr(y, "name", None) or "target")
    while name in frame.columns:
        name = f"{name}_"
    return frame.assign(**{name: plain_frame(own.to_frame(name))[name]}), replace(settings, target=name), own


def _own_column(X, frame, name):
    """The target of a table with the type it had there; None for one that is not in it."""
    if name not in frame.columns:
        return None
    if isinstance(X, str | os.PathLike):
        return frame[name]
    return memory_frame(X).iloc[:, frame.columns.get_loc(name)].reset_index(drop=True)


def _labels(question: Question, own, y) -> np.ndarray | None:
    """The values behind the codes of the classes, in the type they had; None for numbers."""
    problem = question.problem
    if not problem.classes:
        return None
    is_file, rows = y is None and question.frame.attrs.get("is_file", False), question.is_labelled
    plain = question.frame[question.settings.target][rows]
    return label_values(own[rows], plain, problem.y, problem.classes, is_file, y)
