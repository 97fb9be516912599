"""Class labels: any hashable values outside, integer codes inside."""

from typing import NamedTuple

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

SHORT_RANGE = 1 << 12  # whole numbers closer together than this are counted, not sorted


class Labels(NamedTuple):
    """`codes[i]` is the position in the sorted `classes` of the label of row i."""

    classes: np.ndarray
    codes: np.ndarray


def encode_labels(y, *, min_classes=2, estimator_name="This classifier") -> Labels:
    """Sorted classes and integer codes; a clear error for continuous targets and for too few classes."""
    plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biu"  # always labels, if perhaps very many
    classes, codes = _sorted_whole_numbers(y) if plain else (y, y)
    if not plain or 2 * classes.shape[0] > y.shape[0]:
        check_classification_targets(y)
        classes, codes = np.unique(column_or_1d(y, warn=True), return_inverse=True)
    if classes.shape[0] < min_classes:
        raise ValueError(
            f"{estimator_name} needs samples of at least {min_classes} classes in the data, but the data contains "
            f"only one class: {classes.tolist()[0]!r}"
        )
    return Labels(classes, codes.astype(np.intp, copy=False))


def _sorted_whole_numbers(y):
    """`np.unique` with codes; counting instead of sorting where the numbers are close together."""
    low, high = (int(y.min()), int(y.max())) if y.size else (0, SHORT_RANGE)
    if high - low >= SHORT_RANGE:
        return np.unique(y, return_inverse=True)
    places = y.astype(np.intp) - low
    seen = np.bincount(places, minlength=1) > 0
    return (np.flatnonzero(seen) + low).astype(y.dtype), (np.cumsum(seen) - 1)[places]


def class_weighted(weight, class_weight, labels, y):
    """Row weights multiplied by the class weights; None when there is neither."""
    if class_weight is None:
        return weight
    per_class = compute_class_weight(class_weight, classes=labels.classes, y=y)
    per_row = per_class[labels.codes]
    return per_row if weight is None else per_row * weight


def weights_by_class(weight, class_weight, labels, y):
    """Like `class_weighted`, but "balanced" evens out the sums of weights instead of the counts of rows."""
    if class_weight is None:
        return weight
    if isinstance(class_weight, str):
        sums = np.bincount(labels.codes, weights=weight, minlength=labels.classes.shape[0])
        per_class = sums.sum() / (labels.classes.shape[0] * np.where(sums > 0, sums, 1.0))
    else:
        per_class = compute_class_weight(class_weight, classes=labels.classes, y=y)
    per_row = per_class[labels.codes]
    return per_row if weight is None else per_row * weight
