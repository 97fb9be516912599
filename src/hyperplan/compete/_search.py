"""The search of settings, on training rows only: successive halving.

Tried are the defaults, then settings that are known to do well on many tables, then settings drawn evenly over the
candidate's space (a Latin hypercube).  All are tried on few rows, the best third on three times as many, until the
last few are judged on all.  The defaults are always among the last: a search that found nothing changes nothing.

Models that grow round by round (boosting) are not searched for the number of rounds: each try goes on until the
judging rows have seen no gain for a while, and the best number is part of what is found.  After a search of some
length the best settings of such models answer together (see `_committee`).

Reference: Jamieson, Talwalkar (2016), Non-stochastic best arm identification and hyperparameter optimization, AISTATS.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._base.candidate import Candidate, Range
from hyperplan.compete import _models
from hyperplan.compete._committee import committee_settings, forms_committee, grown, n_parts
from hyperplan.compete._folds import make_splits, split_kind
from hyperplan.compete._problem import Problem, task_seed

KEPT = 3  # one in so many goes on
SMALL = 3000  # training rows up to which inner cross-validation replaces one held-out part
INNER_FOLDS = 4
FEW_ROWS = 200  # the first round does not use fewer
EVEN_CLASSES = ("balanced_accuracy",)  # metrics that count each class alike, however many rows it has


class Found(NamedTuple):
    """The best settings and how many were tried."""

    settings: dict
    tried: int


class _Judged(NamedTuple):
    """Mean loss of some settings (smaller is better), and the number of rounds that served them best."""

    loss: float
    settings: dict
    rounds: int | None = None


def search(problem: Problem, candidate: Candidate, split: int, n_tries: int) -> Found:
    """Settings for a split (or `ALL_ROWS`), found on its training rows."""
    if candidate.members:
        members = candidate.named_members().items()
        found = {name: search(problem, member, split, n).settings for name, (member, n) in members}
        return Found(found, n_tries)
    asked = settings_for_metric(problem, candidate)
    if n_tries <= 1 or not candidate.space:
        return Found(asked, 1)
    rng = np.random.default_rng(task_seed(problem, candidate, split))
    pool = [{**asked, **settings} for settings in settings_to_try(candidate, n_tries, rng)]
    default, rows = pool[0], problem.train_rows(split)
    inner = inner_splits(problem, rows, rng)
    judged = []
    for share, n_splits in rounds(len(rows), n_tries):
        judged = [_judge(problem, candidate, settings, rows, inner[:n_splits], share) for settings in pool]
        judged.sort(key=lambda row: row.loss)
        pool = [row.settings for row in judged[: max(1, len(pool) // KEPT)]]
        pool = pool if default in pool else [*pool, default]
    best = judged[0]
    if forms_committee(problem, candidate, n_tries):
        last = [row.settings for row in judged if np.isfinite(row.loss)]
        return Found(committee_settings(last or [default]), n_tries)
    rounds_found = {} if best.rounds is None else {candidate.rounds[0]: best.rounds}
    return Found({**best.settings, **rounds_found}, n_tries)


def settings_for_metric(problem: Problem, candidate: Candidate) -> dict:
    """What the metric asks of every try: rows of rare classes count more where each class counts the same."""
    if problem.metric in EVEN_CLASSES and "class_weight" in candidate.build({}).get_params():
        return {"class_weight": "balanced"}
    return {}


def settings_to_try(candidate: Candidate, count: int, rng) -> list[dict]:
    """The defaults, the known good ones, then drawn ones: `count` in all."""
    known = [{}, *(dict(settings) for settings in candidate.portfolio)][:count]
    return [*known, *drawn_settings(candidate, count - len(known), rng)]


def drawn_settings(candidate: Candidate, count: int, rng) -> list[dict]:
    """Settings spread evenly over the space: each setting takes each of `count` slices of its range once."""
    shares = {name: (rng.permutation(count) + rng.random(count)) / count for name in sorted(candidate.space)}
    return [
        {name: _value(candidate.space[name], shares[name][i]) for name in sorted(candidate.space)} for i in range(count)
    ]


def _value(choices, share):
    return choices.draw(share) if isinstance(choices, Range) else choices[int(share * len(choices))]


def rounds(n_rows: int, n_tries: int) -> list[tuple[float, int]]:
    """``(share of the training rows, number of inner splits)`` of each round, growing threefold to everything."""
    n_rounds = 1 + int(np.floor(np.log(max(n_tries, 1)) / np.log(KEPT) + 1e-9))
    if n_rows <= SMALL:
        return [(1.0, max(1, INNER_FOLDS // 2**k)) for k in reversed(range(min(n_rounds, 3)))]
    shares = [max(KEPT**-k, min(1.0, FEW_ROWS / n_rows)) for k in reversed(range(min(n_rounds, 3)))]
    return [(share, 1) for share in shares]


def trial_cost(problem: Problem, candidate: Candidate, n_rows: int, n_tries: int) -> float:
    """Fits on all training rows that a trial costs: its search, then one fit or those of a committee."""
    return search_cost(n_rows, n_tries) + (n_parts(n_rows) if forms_committee(problem, candidate, n_tries) else 1)


def search_cost(n_rows: int, n_tries: int) -> float:
    """Fits on all training rows that a search costs, counted in rows."""
    if n_tries <= 1:
        return 0.0
    cost, pool = 0.0, n_tries
    for share, n_splits in rounds(n_rows, n_tries):
        cost += pool * share * n_splits * 0.8
        pool = max(1, pool // KEPT) + 1
    return cost


def inner_splits(problem: Problem, rows, rng):
    """Splits of the training rows: one held-out fifth of many rows, folds of few."""
    groups = None if problem.groups is None else problem.groups[rows]
    order = None if problem.order is None else problem.order[rows]
    kind = split_kind(problem.task, groups, order)
    n_folds = INNER_FOLDS if len(rows) <= SMALL else 5
    splits = make_splits(problem.y[rows], kind, n_folds, 1, int(rng.integers(2**31)), groups, order)
    return splits[:INNER_FOLDS] if len(rows) <= SMALL else splits[-1:]


def _judge(problem, candidate, settings, rows, splits, share) -> _Judged:
    """Settings on inner splits; those that fail are the worst."""
    sign = -1.0 if problem.measure.greater_is_better else 1.0
    losses, counts = [], []
    for train, test in splits:
        train = train if share >= 1 else train[:: max(1, round(1 / share))]
        try:
            pipeline, count = _fitted(problem, candidate, settings, rows[train], rows[test])
            prediction = _models.predict(pipeline, problem.rows(problem.typed, rows[test]), len(problem.classes))
            losses.append(sign * problem.measure.score(problem.y[rows[test]], prediction))
        except (ValueError, ArithmeticError, MemoryError):
            return _Judged(np.inf, settings)
        counts += [] if count is None else [count]
    loss = float(np.nanmean(losses)) if not np.isnan(losses).all() else np.inf
    return _Judged(loss, settings, round(float(np.mean(counts))) if counts else None)


def _fitted(problem, candidate, settings, train, judging):
    """``(pipeline, number of rounds or None)``; a growing model watches the judging rows."""
    if candidate.rounds is not None:
        return grown(problem, candidate, settings, train, judging)
    typed, y = problem.rows(problem.typed, train), problem.y[train]
    return _models.build(candidate, settings, problem.columns).fit(typed, y), None
