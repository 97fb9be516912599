"""Probabilities beside the labels they speak of, checked."""

import warnings
from typing import NamedTuple

import numpy as np

from hyperplan._base.targets import assert_all_finite, check_array, check_consistent_length, column_or_1d
from hyperplan._core.arrays import kernel_view
from hyperplan._core.parallel import spans, split_map
from hyperplan.metrics._labels import SINGLE, codes_among, read_labels
from hyperplan.metrics._targets import any_weight, positive_label

CHUNK = 1 << 16  # rows per task


class Forecasts(NamedTuple):
    """`proba` has one column per class, or (n,) holds that of class 1 of two.

    `codes` are the true classes; (n, n_classes) when rows may have several.
    """

    proba: np.ndarray
    codes: np.ndarray
    n_classes: int
    weight: np.ndarray | None


def check_forecasts(y_true, y_proba, sample_weight, labels) -> Forecasts:
    """Probabilities of all classes: rows of `y_proba` that should sum to one, or (n,) for the larger of two labels."""
    proba = check_proba(y_proba)
    _check_range(proba, "lower")
    check_consistent_length(proba, y_true, sample_weight)
    weight = any_weight(sample_weight, proba.shape[0])
    codes, classes = _codes_and_classes(y_true, labels)
    proba = proba[:, 0] if proba.ndim == 2 and proba.shape[1] == 1 else proba
    columns = 2 if proba.ndim == 1 else proba.shape[1]
    if classes.shape[0] != columns:
        if labels is None:
            raise ValueError(
                f"y_true and y_prob contain different number of classes: {classes.shape[0]} vs {columns}. Please "
                "provide the true labels explicitly through the labels argument. Classes found in y_true: "
                f"{classes}"
            )
        raise ValueError(
            f"The number of classes in labels is different from that in y_prob. Classes found in labels: {classes}"
        )
    return Forecasts(proba, codes, columns, weight)


def check_binary_forecasts(y_true, y_proba, sample_weight, pos_label) -> Forecasts:
    """Probabilities of the positive one of two labels."""
    y_true, proba = column_or_1d(y_true), column_or_1d(y_proba)
    assert_all_finite(y_true)
    check_consistent_length(proba, y_true, sample_weight)
    weight = any_weight(sample_weight, proba.shape[0])
    column = read_labels(y_true, "y_true")
    kind = column if isinstance(column, str) else column.kind
    if kind != "binary":
        raise ValueError(
            f"The type of the target inferred from y_true is {kind} but should be binary according to the shape of "
            "y_prob."
        )
    _check_range(proba, "less")
    labels = column.distinct
    try:
        pos_label = positive_label(pos_label, labels)
    except ValueError:
        if labels.dtype.kind in "OUS":
            raise
        pos_label = labels.tolist()[-1]
    codes = (codes_among(column, [pos_label]) == 0).astype(np.int64)
    return Forecasts(np.ascontiguousarray(proba), codes, 2, weight)


def check_proba(y_proba):
    """Finite floats in C order."""
    proba = check_array(y_proba, ensure_2d=False, dtype=[np.float64, np.float32], order="C")
    return kernel_view(proba)


def _check_range(proba, word):
    ends = split_map(lambda span: (proba[span].min(), proba[span].max()), spans(proba.shape[0], CHUNK))
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    if high > 1:
        raise ValueError(f"y_prob contains values greater than 1: {high}")
    if low < 0:
        raise ValueError(f"y_prob contains values {word} than 0: {low}")


def _codes_and_classes(y_true, labels):
    column = read_labels(y_true, "y_true")
    if isinstance(column, str):
        return _codes_of_indicators(y_true, column)
    if labels is None:
        classes = column.distinct
        if classes.shape[0] == 1:
            raise ValueError(
                f"y_true contains only one label ({classes[0]}). Please provide the list of all expected class labels "
                "explicitly through the labels argument."
            )
        return codes_among(column, classes), classes
    given = np.asarray(labels)
    classes = np.unique(given)
    if classes.shape[0] == 1:
        raise ValueError(f"The labels array needs to contain at least two labels, got {classes}.")
    if classes.shape != given.shape or np.any(classes != given):
        warnings.warn(
            f"Labels passed were {labels}. But this function assumes labels are ordered lexicographically. Pass the "
            f"ordered labels={classes.tolist()} and ensure that the columns of y_prob correspond to this ordering.",
            UserWarning,
            stacklevel=5,
        )
    unknown = set(column.distinct.tolist()) - set(classes.tolist())
    if unknown:
        raise ValueError(f"y_true contains values {unknown} not belonging to the passed labels {labels}.")
    return codes_among(column, classes), classes


def _codes_of_indicators(y_true, kind):
    """The matrix itself, for indicators of several labels per row."""
    if kind == "multilabel-indicator":
        matrix = check_array(y_true).astype(np.float64)
        return matrix, np.arange(matrix.shape[1])
    if kind.endswith("multioutput"):
        raise ValueError(f"Multioutput target data is not supported: y_true is {kind}, pass one label per row")
    raise ValueError(f"y_true is {kind}, but one label per row is needed ({', '.join(SINGLE)})")


def warn_of_sums(worst, dtype):
    """Warn when some row's sum is not one within the precision of its type."""
    if worst > np.sqrt(np.finfo(dtype).eps) + 1e-8:
        warnings.warn(
            "The y_prob values do not sum to one. Make sure to pass probabilities.", UserWarning, stacklevel=5
        )


def class_shares(forecasts):
    """Share of the weight of each class: what one would forecast knowing nothing else."""
    if forecasts.codes.ndim == 2:
        return np.average(forecasts.codes, axis=0, weights=forecasts.weight)
    sums = np.bincount(forecasts.codes, forecasts.weight, forecasts.n_classes)
    return sums / sums.sum()
