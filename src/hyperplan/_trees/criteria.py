"""What a tree is grown on: targets and weights as arrays for the kernels, and the names of the split criteria."""

from typing import NamedTuple

import numpy as np

from hyperplan._trees._criterion_kernels import (
    ABSOLUTE,
    COST_GINI,
    COST_RISK,
    ENTROPY,
    GAIN_RATIO,
    GINI,
    HEAD,
    MANTARAS,
    MISCLASSIFICATION,
    POISSON,
    SQUARED,
    integer_log_table,
)
from hyperplan._trees._exact_grow_kernels import CLASSES, GENERAL, MEAN, MEDIAN

CLASSIFICATION = {
    "gini": GINI,
    "entropy": ENTROPY,
    "log_loss": ENTROPY,
    "misclassification": MISCLASSIFICATION,
    "gain_ratio": GAIN_RATIO,
    "mantaras": MANTARAS,
}
REGRESSION = {
    "squared_error": SQUARED,
    "friedman_mse": SQUARED,  # with one output Friedman's improvement is the decrease of the squared error
    "absolute_error": ABSOLUTE,
    "poisson": POISSON,
}
WITH_COSTS = {GINI: COST_GINI, MISCLASSIFICATION: COST_RISK}
HUGE, TINY = 1e60, 1e-60  # targets of other magnitudes are scaled, so that cubes of sums stay finite
FAR = 1e3  # standard deviations from 0 at which targets are centred
LARGEST_TABLE = 2**24


class Targets(NamedTuple):
    """Targets of n rows and q outputs; `codes` (classes) or `real` (numbers, centred and scaled) is in use.

    `weight` has length 0 when every row counts once.
    """

    real: np.ndarray
    codes: np.ndarray
    weight: np.ndarray
    n_classes: np.ndarray
    cost: np.ndarray
    table: np.ndarray
    centre: np.ndarray
    rank: np.ndarray
    scale: float
    stride: int
    mean_column: int
    criterion: int

    @property
    def n_rows(self):
        return self.real.shape[0] or self.codes.shape[0]

    @property
    def width(self):
        """Length of the vector that describes a node."""
        return HEAD + self.stride * self.n_classes.shape[0]


_EMPTY = {
    "real": np.empty((0, 0)),
    "codes": np.empty((0, 0), dtype=np.int32),
    "weight": np.empty(0),
    "cost": np.empty((0, 0)),
    "table": np.empty(0),
    "rank": np.empty((0, 0), dtype=np.int32),
    "scale": 1.0,
}


def class_targets(codes, n_classes, *, criterion="gini", weight=None, cost=None) -> Targets:
    """Targets of a classification tree.

    Parameters
    ----------
    codes : ndarray of int, shape (n, q)
        Class numbers of each output.
    n_classes : sequence of q ints
        Number of classes of each output.
    criterion : str
        A key of `CLASSIFICATION`.
    weight : ndarray of shape (n,) or None
        Weights or counts; rows of weight zero are left out of the tree.
    cost : ndarray of shape (n_classes, n_classes) or None
        ``cost[i, j]``: price of answering j where i is true (one output).
    """
    n_classes = np.asarray(n_classes, dtype=np.int64)
    code = CLASSIFICATION[criterion]
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    fields = {**_EMPTY, "codes": codes, "n_classes": n_classes, "centre": np.zeros(n_classes.shape[0])}
    if cost is not None:
        code = WITH_COSTS[code]
        fields["cost"] = np.ascontiguousarray(cost, dtype=np.float64)
    two = n_classes.shape[0] == 1 and n_classes[0] <= 2
    if two:
        fields["real"] = codes.astype(np.float64)
    stride = int(n_classes.max())
    targets = Targets(**fields, stride=stride, mean_column=min(1, stride - 1), criterion=code)
    return with_weight(targets, weight)


def real_targets(y, *, criterion="squared_error", weight=None) -> Targets:
    """Targets of a regression tree: y of shape (n, q), a criterion of `REGRESSION`, weights or None."""
    y = np.asarray(y, dtype=np.float64)
    code, q = REGRESSION[criterion], y.shape[1]
    centre = np.zeros(q) if code == POISSON else np.array([_middle(column) for column in y.T])
    real = y - centre if code != POISSON else y
    largest = float(np.abs(real).max(initial=0.0))
    scale = 1.0 if largest == 0.0 or TINY < largest < HUGE else 2.0 ** np.floor(np.log2(largest))
    fields = {**_EMPTY, "real": np.ascontiguousarray(real if scale == 1.0 else real / scale), "scale": float(scale)}
    if code == ABSOLUTE:
        fields["rank"] = np.empty(y.shape, dtype=np.int32)
    ones = np.ones(q, dtype=np.int64)
    targets = Targets(**fields, n_classes=ones, centre=centre, stride=1, mean_column=0, criterion=code)
    return with_weight(targets, weight)


def _middle(column):
    """The mean where variances would drown in cancellation without it, else 0, which keeps the sums of y exact."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean, deviation = column.mean(), column.std()
    return mean if np.isfinite(mean) and abs(mean) > FAR * deviation else 0.0


def with_weight(targets, weight) -> Targets:
    """The same targets with other weights or counts (None: every row once); what boosting and forests change."""
    weight = _EMPTY["weight"] if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
    table = _EMPTY["table"]
    if targets.criterion == ENTROPY and targets.n_classes.shape[0] == 1:
        table = _log_table(weight, targets.n_rows)
    return targets._replace(weight=weight, table=table)


def _log_table(weight, n):
    """k log2 k for all sums of counts; empty for weights that are not counts."""
    total = n
    if weight.shape[0]:
        if weight.min() < 0 or not (weight == np.floor(weight)).all() or weight.sum() > LARGEST_TABLE:
            return _EMPTY["table"]
        total = int(weight.sum())
    if total > LARGEST_TABLE:
        return _EMPTY["table"]
    table = np.empty(total + 1)
    integer_log_table(table)
    return table


def scan_kind(targets) -> int:
    """Which scan finds the best threshold."""
    single = targets.n_classes.shape[0] == 1
    if targets.criterion == ABSOLUTE:
        return MEDIAN
    if single and (targets.criterion == SQUARED or (targets.criterion == GINI and targets.n_classes[0] <= 2)):
        return MEAN
    if single and targets.criterion in (GINI, ENTROPY):
        return CLASSES
    return GENERAL
