"""True and predicted labels side by side: checked, of one kind, with their weights."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import check_weight
from hyperplan._base.targets import check_array, check_consistent_length, column_or_1d
from hyperplan.metrics._labels import SINGLE, Column, read_labels, union_of_labels

MULTILABEL = "multilabel-indicator"


class Targets(NamedTuple):
    """`true` and `pred` are `Column` records, or indicator matrices (CSR, or dense when neither is sparse).

    `labels` are all that occur, sorted; of indicator matrices the column numbers.
    """

    kind: str
    labels: np.ndarray
    true: object
    pred: object
    weight: np.ndarray | None


def check_targets(y_true, y_pred, sample_weight=None) -> Targets:
    """Both targets, read; a `ValueError` says why they cannot be compared."""
    check_consistent_length(y_true, y_pred, sample_weight)
    true, pred = read_labels(y_true, "y_true"), read_labels(y_pred, "y_pred")
    kinds = [item.kind if isinstance(item, Column) else item for item in (true, pred)]
    if length(y_true) < 1:
        raise ValueError(
            "Found empty input array (e.g., `y_true` or `y_pred`) while a minimum of 1 sample is required."
        )
    weight = any_weight(sample_weight, length(y_true))
    if set(kinds) <= set(SINGLE):
        return _single(true, pred, weight, (y_true, y_pred))
    if kinds[0] != kinds[1]:
        raise ValueError(f"Classification metrics can't handle a mix of {kinds[0]} and {kinds[1]} targets")
    if kinds[0] != MULTILABEL:
        raise ValueError(f"{kinds[0]} is not supported")
    return _indicators(y_true, y_pred, weight)


def length(y):
    """Rows of anything that has rows."""
    return y.shape[0] if hasattr(y, "shape") else len(y)


def any_weight(sample_weight, n):
    """Weights of n rows, of any sign and type of number; None stays None."""
    return check_weight(sample_weight, np.empty((n, 0)), allow_negative=True, dtype=None)


def _single(true, pred, weight, given):
    if any(sp.issparse(y) for y in given):
        raise TypeError("Sparse input is only supported when targets are of multilabel type")
    labels = union_of_labels(true, pred)
    kind = "multiclass" if "multiclass" in (true.kind, pred.kind) or labels.shape[0] > 2 else "binary"
    return Targets(kind, labels, true, pred, weight)


def _indicators(y_true, y_pred, weight):
    true, pred = (check_array(y, accept_sparse=["csr", "csc", "coo"]) for y in (y_true, y_pred))
    if true.shape[1] != pred.shape[1]:
        raise ValueError("Multi-label binary indicator input with different numbers of labels")
    if sp.issparse(true) or sp.issparse(pred):
        true, pred = sp.csr_array(true), sp.csr_array(pred)
    return Targets(MULTILABEL, np.arange(true.shape[1]), true, pred, weight)


def average(values, weight=None, normalize=True) -> float:
    """Weighted mean, or sum."""
    if normalize:
        return float(np.average(values, weights=weight))
    return float(np.sum(values) if weight is None else np.sum(values * weight))


def positive_label(pos_label, labels):
    """`pos_label`, or 1 where nobody can mistake which of the labels is the positive one."""
    if pos_label is not None:
        return pos_label
    listed = labels.tolist()
    if labels.dtype.kind in "OUS" or listed not in ([0, 1], [-1, 1], [0], [-1], [1]):
        raise ValueError(
            f"y_true takes value in {{{', '.join(map(repr, listed))}}} and pos_label is not specified: either make "
            "y_true take value in {0, 1} or {-1, 1} or pass pos_label explicitly."
        )
    return 1


__all__ = [
    "MULTILABEL",
    "Targets",
    "any_weight",
    "average",
    "check_targets",
    "column_or_1d",
    "length",
    "positive_label",
]
