"""What regression metrics share: checked targets, weighted means of a term per output, one number from many outputs."""

from typing import NamedTuple

import numpy as np

from hyperplan._base import FLOATS, check_array, check_consistent_length, check_weight
from hyperplan._core.parallel import spans, split_map
from hyperplan.metrics._arguments import Array, Choice, OneOf

BLOCK = 1 << 16  # entries of a block: its temporaries stay in the cache, and its borders never depend on threads
THREADED = 8  # blocks from which threads pay
MULTIOUTPUT = OneOf(Choice("raw_values", "uniform_average"), Array)
MULTIOUTPUT_WITH_VARIANCE = OneOf(Choice("raw_values", "uniform_average", "variance_weighted"), Array)


class Targets(NamedTuple):
    """Truth and prediction as float arrays of shape (n_samples, n_outputs); `weight` is None when all rows count once.

    `multioutput` is a word, an array of weights of the outputs, or None.
    """

    truth: np.ndarray
    prediction: np.ndarray
    weight: np.ndarray | None
    multioutput: object


def check_targets(y_true, y_pred, sample_weight=None, multioutput=None) -> Targets:
    """Targets of equal length and number of outputs, all finite."""
    check_consistent_length(y_true, y_pred, sample_weight)
    truth, prediction = _columns(y_true), _columns(y_pred)
    if truth.shape[1] != prediction.shape[1]:
        raise ValueError(f"y_true and y_pred have different number of output ({truth.shape[1]}!={prediction.shape[1]})")
    if multioutput is not None and not isinstance(multioutput, str):
        multioutput = check_array(multioutput, ensure_2d=False)
        if truth.shape[1] == 1:
            raise ValueError("Custom weights are useful only in multi-output cases.")
        if truth.shape[1] != multioutput.shape[0]:
            raise ValueError(
                f"There must be equally many custom weights ({multioutput.shape[0]}) as outputs ({truth.shape[1]})."
            )
    return Targets(truth, prediction, check_weight(sample_weight, truth, allow_negative=True), multioutput)


def check_single_target(y_true, y_pred, sample_weight, metric) -> Targets:
    """Targets of one output; the error names the metric."""
    targets = check_targets(y_true, y_pred, sample_weight)
    if targets.truth.shape[1] > 1:
        raise ValueError(f"Multioutput not supported in {metric}")
    return targets


def _columns(y):
    y = check_array(y, ensure_2d=False, dtype=FLOATS)
    return y.reshape(-1, 1) if y.ndim == 1 else y


def column_sums(term, targets: Targets) -> np.ndarray:
    """Sum over rows of ``weight * term(truth, prediction)``, one number per output, in float64.

    `term` works entry by entry.  It is called on blocks of rows, some of them at a time in threads; the sums of the
    blocks are added in the order of the rows.
    """
    truth, prediction, weight, _ = targets

    def part(rows):
        values = term(truth[rows].astype(np.float64, copy=False), prediction[rows].astype(np.float64, copy=False))
        return (values if weight is None else values * weight[rows, None]).sum(axis=0)

    n, width = truth.shape
    blocks = spans(n, max(1, BLOCK // width))
    parts = split_map(part, blocks) if len(blocks) >= THREADED else [part(rows) for rows in blocks]
    return np.sum(parts, axis=0)


def column_means(term, targets: Targets) -> np.ndarray:
    """`column_sums` divided by the sum of weights."""
    return column_sums(term, targets) / total_weight(targets)


def total_weight(targets: Targets) -> float:
    """Number of rows, or sum of their weights, which must not be zero."""
    if targets.weight is None:
        return targets.truth.shape[0]
    if (total := float(targets.weight.sum())) == 0.0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return total


def mean_of_outputs(values, multioutput):
    """One number from one per output: `multioutput` is "raw_values" (leave them), "uniform_average" or weights."""
    if isinstance(multioutput, str) and multioutput == "raw_values":
        return values
    return float(np.average(values, weights=None if isinstance(multioutput, str) else multioutput))
