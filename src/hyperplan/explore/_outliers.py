"""Rows that stand out: much less crowded than their neighbours (local outlier factor), and by which columns.

Factors are about 1 in a crowd.  Any cloud has rows beyond 1.5; tables without groups tell how many to expect.
"""

import warnings

import numpy as np

from hyperplan.compete._audit_sample import draw_rows
from hyperplan.explore._limits import OUTLIER_ROWS, outlier_cost, outlier_rows
from hyperplan.neighbors import LocalOutlierFactor, NearestNeighbors

NEIGHBOURS = 20
STRANGE = 1.5
CHUNK = 20_000  # rows judged at a time
LITTLE = 0.05  # seconds that there always are
SHOWN, COLUMNS_SHOWN = 12, 3
REFERENCES = 5  # tables without groups that are looked at
OUTLIERS_END = 0.93  # share of the budget


def outlier_factors(points, seed: int, clock) -> tuple[np.ndarray, int]:
    """The factor of each row (nan for rows there was no time for), and how many rows were learnt on."""
    some = draw_rows(len(points), outlier_rows(clock.seconds, points.shape[1]), seed)
    cost = outlier_cost(len(some), points.shape[1])
    if cost > LITTLE and not clock.has(OUTLIERS_END, cost):
        return np.full(len(points), np.nan), 0
    learnt, back = np.unique(points[some], axis=0, return_inverse=True)  # copies of a row make no crowd
    factors = np.full(len(points), np.nan)
    if len(learnt) < 3:
        factors[some] = 1.0
        return factors, len(some)
    is_whole = len(some) == len(points)
    model = LocalOutlierFactor(n_neighbors=min(NEIGHBOURS, len(learnt) - 1), novelty=not is_whole)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(learnt)
        factors[some] = -model.negative_outlier_factor_[back.ravel()]
        others = np.flatnonzero(np.isnan(factors))
        for start in range(0, len(others), CHUNK):
            if not clock.has(OUTLIERS_END):
                break
            rows = others[start : start + CHUNK]
            factors[rows] = -model.score_samples(points[rows])
    return factors, len(some)


def expected_share(reference, seed: int, clock) -> float | None:
    """Share of the rows beyond the limit in tables without groups; None if there was no time to look."""
    shares = []
    for number in range(REFERENCES):
        if not clock.has(OUTLIERS_END, reference.cost(number)):
            break
        factors, learnt_on = outlier_factors(reference.points(number), seed, clock)
        if learnt_on:
            shares.append(float((factors > STRANGE).mean()))
    return float(np.mean(shares)) if shares else None


def strangest(frame, space, points, factors, labels, seed: int) -> list[dict]:
    """The rows with the largest factors, and the columns by which they differ most from their neighbours."""
    order = np.argsort(-np.nan_to_num(factors, nan=0.0), kind="stable")[:SHOWN]
    order = order[np.nan_to_num(factors[order], nan=0.0) > STRANGE]
    if not len(order):
        return []
    some = draw_rows(len(points), OUTLIER_ROWS[1], seed)
    finder = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(some))).fit(points[some])
    near = some[finder.kneighbors(points[order], return_distance=False)]
    rows = np.unique(np.append(order, near))
    features = space.features(frame.iloc[rows])  # of all in one step: each takes as long for a row as for some hundred
    return [
        {
            "row": int(row) + 1,
            "factor": float(factors[row]),
            "group": int(labels[row]),
            "columns": _odd_columns(frame, space.origins, row, rows, features, others[others != row]),
        }
        for row, others in zip(order, near)
    ]


def _odd_columns(frame, origins, row: int, rows, features, others) -> list[dict]:
    """The columns in which a row is farthest from the mean of its neighbours, with its values."""
    own, near = features[np.searchsorted(rows, row)], features[np.searchsorted(rows, others)]
    gaps = (own - near.mean(axis=0)) ** 2
    by_column: dict[str, float] = {}
    for name, gap in zip(origins, gaps):
        by_column[name] = by_column.get(name, 0.0) + float(gap)
    names = sorted(by_column, key=lambda name: -by_column[name])[:COLUMNS_SHOWN]
    return [{"name": name, "value": _shown(frame[name].iloc[row])} for name in names if by_column[name] > 0.0]


def _shown(value) -> str:
    """A value as the table has it."""
    import pandas

    if pandas.isna(value):
        return ""
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    return str(value)[:60]
