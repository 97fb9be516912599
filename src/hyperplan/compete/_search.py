"""The search of settings, on training rows only: successive halving.

Settings are drawn evenly over the candidate's space (a Latin hypercube), the defaults among them.  All are tried on few
rows, the best third on three times as many, until the last few are judged on all.  The defaults are always among the
last: a search that found nothing changes nothing.

Reference: Jamieson, Talwalkar (2016), Non-stochastic best arm identification and hyperparameter optimization, AISTATS.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._base.candidate import Candidate, Range
from hyperplan.compete import _models
from hyperplan.compete._folds import make_splits, split_kind
from hyperplan.compete._problem import Problem, task_seed

KEPT = 3  # one in so many goes on
SMALL = 3000  # training rows up to which inner cross-validation replaces one held-out part
INNER_FOLDS = 4
FEW_ROWS = 200  # the first round does not use fewer


class Found(NamedTuple):
    """The best settings and how many were tried."""

    settings: dict
    tried: int


def search(problem: Problem, candidate: Candidate, split: int, n_tries: int) -> Found:
    """Settings for a split (or `ALL_ROWS`), found on its training rows."""
    if n_tries <= 1 or not candidate.space:
        return Found({}, 1)
    rng = np.random.default_rng(task_seed(problem, candidate, split))
    pool = [{}, *drawn_settings(candidate, n_tries - 1, rng)]
    rows = problem.train_rows(split)
    inner = inner_splits(problem, rows, rng)
    for share, n_splits in rounds(len(rows), n_tries):
        scores = [_judge(problem, candidate, settings, rows, inner[:n_splits], share) for settings in pool]
        order = np.argsort(scores, kind="stable")
        keep = max(1, len(pool) // KEPT) if share < 1 or n_splits < len(inner) else 1
        best = [pool[i] for i in order[:keep]]
        pool = best if keep == 1 and share == 1 and n_splits == len(inner) else _with_defaults(best)
    return Found(pool[0], n_tries)


def _with_defaults(pool):
    return pool if {} in pool else [*pool, {}]


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


def _judge(problem, candidate, settings, rows, splits, share):
    """Mean loss (smaller is better) of settings over inner splits; settings that fail are the worst."""
    sign = -1.0 if problem.measure.greater_is_better else 1.0
    losses = []
    for train, test in splits:
        train = train if share >= 1 else train[:: max(1, round(1 / share))]
        chosen, judged = rows[train], rows[test]
        try:
            pipeline = _models.build(candidate, settings, problem.columns)
            pipeline.fit(problem.rows(problem.typed, chosen), problem.y[chosen])
            prediction = _models.predict(pipeline, problem.rows(problem.typed, judged), len(problem.classes))
            losses.append(sign * problem.measure.score(problem.y[judged], prediction))
        except (ValueError, ArithmeticError, MemoryError):
            return np.inf
    return float(np.nanmean(losses)) if not np.isnan(losses).all() else np.inf
