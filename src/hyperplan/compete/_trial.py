"""One unit of work: tune a candidate on a training part, fit it, predict rows it has not seen.

A trial is a pure function of the problem, the candidate, the split and the number of settings to try: the same
numbers come out whenever, wherever and however often it runs.  This is what `hyperplan verify` relies on.
"""

import contextlib
from collections import Counter
from typing import NamedTuple

import numpy as np

from hyperplan._base.candidate import Candidate
from hyperplan._core.compiling import working_time
from hyperplan.compete import _models
from hyperplan.compete._committee import fit_committee, is_committee
from hyperplan.compete._problem import ALL_ROWS, Problem
from hyperplan.compete._search import search
from hyperplan.compete._semi_supervised import with_unlabelled
from hyperplan.compete._table_blend import TableBlend


class Trial(NamedTuple):
    """What is asked of a worker."""

    candidate: Candidate
    split: int
    n_tries: int = 1


class Outcome(NamedTuple):
    """What a trial found.

    Attributes
    ----------
    prediction : ndarray
        For the test rows of the split: probabilities or numbers.
    score, train_score : float
        In the metric's units, on the test rows and on (at most 5000 of) the training rows.
    settings : dict
        What the search chose.
    fit_seconds, predict_seconds, seconds : float
        Of the last fit, its predictions, and all of the trial.
    certificate : dict or None
        What the fit guarantees.
    ending : dict
        ``holds``, ``value`` and ``bound`` of the certificate; empty without one.
    """

    prediction: np.ndarray
    score: float
    train_score: float
    settings: dict
    fit_seconds: float
    predict_seconds: float
    seconds: float
    certificate: dict | None
    ending: dict = {}


TRAIN_SAMPLE = 5000


def run_trial(problem: Problem, trial: Trial) -> Outcome:
    """Tune, fit, predict, score."""
    began = working_time()
    settings = search(problem, trial.candidate, trial.split, trial.n_tries).settings
    train, test = problem.splits[trial.split]
    pipeline, fit_seconds = fitted(problem, trial.candidate, settings, train)
    before = working_time()
    prediction = _models.predict(pipeline, problem.rows(problem.typed, test), len(problem.classes))
    predict_seconds = working_time() - before
    some = train[:: 1 + len(train) // TRAIN_SAMPLE]
    on_train = _models.predict(pipeline, problem.rows(problem.typed, some), len(problem.classes))
    return Outcome(
        prediction,
        problem.measure.score(problem.y[test], prediction),
        problem.measure.score(problem.y[some], on_train),
        settings,
        fit_seconds,
        predict_seconds,
        working_time() - began,
        certificate_of(pipeline),
        _ending(pipeline),
    )


WARM_ROWS, WARM_COLUMNS = 60, 5


def warm(problem: Problem, candidate: Candidate) -> None:
    """Fit a candidate on a few rows, so that loading compiled kernels is not taken for the cost of a fit."""
    problem = problem._replace(columns=_few_of_each_kind(problem.columns))
    rows = np.linspace(0, problem.n_rows - 1, min(WARM_ROWS, problem.n_rows)).round().astype(int)
    with contextlib.suppress(Exception):  # a candidate that fails will be reported when its turn comes
        few = {name: 5 for name in ("n_estimators", "max_iter") if name in candidate.build({}).get_params()}
        pipeline, _ = fitted(problem, candidate, few, rows)
        _models.predict(pipeline, problem.rows(problem.typed, rows), len(problem.classes))


def _few_of_each_kind(columns) -> tuple:
    """Some columns: which kernels are needed does not depend on their number."""
    places = {kind: [c for c in columns if c.kind == kind][:WARM_COLUMNS] for kind in {c.kind for c in columns}}
    return tuple(column for column in columns if column in places[column.kind])


def fitted(problem: Problem, candidate: Candidate, settings: dict, rows):
    """The fitted pipeline and the seconds it took."""
    began = working_time()
    return _fitted(problem, candidate, settings, rows), working_time() - began


def _fitted(problem: Problem, candidate: Candidate, settings: dict, rows):
    """One pipeline, a committee of pipelines, or each member of a mixture."""
    if candidate.members:
        votes, members = Counter(member.name for member, _ in candidate.members), candidate.named_members()
        fits = [_fitted(problem, member, settings.get(name, {}), rows) for name, (member, _) in members.items()]
        return TableBlend(fits, [votes[name] for name in members])
    if is_committee(candidate, settings):
        return fit_committee(problem, candidate, settings, rows)
    typed, y = problem.rows(problem.typed, rows), problem.y[rows]
    if candidate.uses_unlabelled and problem.unlabelled is not None:
        typed, y = with_unlabelled(typed, y, problem.unlabelled)
    return _models.build(candidate, settings, problem.columns).fit(typed, y)


def final_model(problem: Problem, candidate: Candidate, n_tries: int, settings: dict | None = None, rows=None):
    """The pipeline fitted on all labelled rows (or on some), with settings found on all of them, and these settings."""
    if settings is None:
        settings = search(problem, candidate, ALL_ROWS, n_tries).settings
    rows = problem.train_rows(ALL_ROWS) if rows is None else rows
    return fitted(problem, candidate, settings, rows)[0], settings


def certificate_of(pipeline) -> dict | None:
    """The certificate of the model as JSON has it."""
    certificate = getattr(pipeline.model, "certificate_", None)
    if certificate is None:
        return None
    return {
        "holds": bool(certificate.holds),
        "summary": f"{certificate.kind}: {certificate.value:.3g} against {certificate.bound:.3g}",
        "kind": certificate.kind,
        "value": float(certificate.value),
        "bound": float(certificate.bound),
    }


def _ending(pipeline) -> dict:
    certificate = getattr(pipeline.model, "certificate_", None)
    if certificate is None:
        return {}
    return {"holds": bool(certificate.holds), "value": float(certificate.value), "bound": float(certificate.bound)}
