"""ROC and detection error curves, and the area under the ROC curve.

The ROC curve has the false positive rate FP / (FP + TN) on its first axis and the true positive rate TP / (TP + FN) on
its second.  The area under it is the chance that a positive scores above a negative, ties counting half:
``P(s+ > s-) + P(s+ = s-) / 2``; it is computed by counting such pairs, which are integers, and hence is exact.
"""

import itertools
import warnings

import numpy as np

from hyperplan._base.targets import UndefinedMetricWarning, check_array, check_consistent_length, column_or_1d
from hyperplan._core.parallel import thread_map
from hyperplan.metrics._arguments import Array, ArrayOrNone, Bool, Choice, Label, Null, OneOf, Real, checked
from hyperplan.metrics._averaging import BinaryAverage, average_binary_score
from hyperplan.metrics._labels import codes_among, read_labels
from hyperplan.metrics._score_order import sort_with_labels
from hyperplan.metrics._score_order_kernels import concordance
from hyperplan.metrics._thresholds import counts_at_thresholds, equals_label, keys_of


@checked(x=Array, y=Array)
def auc(x, y):
    """Area under a curve given by points, by trapezoids.

    Parameters
    ----------
    x, y : array-like of shape (n_points,)
        Coordinates; x must increase or decrease.

    Returns
    -------
    float

    Examples
    --------
    >>> from hyperplan.metrics import auc
    >>> auc([0.0, 0.5, 1.0], [0.0, 1.0, 1.0])
    0.75
    """
    check_consistent_length(x, y)
    x, y = column_or_1d(x), column_or_1d(y)
    if x.shape[0] < 2:
        raise ValueError(f"At least 2 points are needed to compute area under curve, but x.shape = {x.shape}")
    steps = np.diff(x)
    sign = 1
    if np.any(steps < 0):
        if np.any(steps > 0):
            raise ValueError(f"x is neither increasing nor decreasing : {x}.")
        sign = -1
    return float(sign * np.sum(steps * (y[1:] + y[:-1]) / 2.0))


@checked(y_true=Array, y_score=Array, pos_label=Label, sample_weight=ArrayOrNone, drop_intermediate=Bool)
def roc_curve(y_true, y_score, *, pos_label=None, sample_weight=None, drop_intermediate=True):
    """False and true positive rates at every threshold.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels of two classes.
    y_score : array-like of shape (n_samples,)
        Scores: the larger, the more positive.
    pos_label : int, float, bool or str, default=None
        The positive label; 1 when None and the labels are {0, 1} or {-1, 1}.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    drop_intermediate : bool, default=True
        Leave out points on the straight line between their neighbours.

    Returns
    -------
    fpr, tpr : ndarrays of shape (n_thresholds,)
        From (0, 0) to (1, 1).
    thresholds : ndarray of shape (n_thresholds,)
        Decreasing; the first is infinite (nothing is positive).

    Examples
    --------
    >>> from hyperplan.metrics import roc_curve
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr, tpr
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """
    fps, tps, thresholds = counts_at_thresholds(y_true, y_score, pos_label, sample_weight)
    if drop_intermediate and fps.shape[0] > 2:
        keep = np.ones(fps.shape[0], bool)
        keep[1:-1] = _bends(fps) | _bends(tps)
        fps, tps, thresholds = fps[keep], tps[keep], thresholds[keep]
    fps, tps = np.append(0.0, fps), np.append(0.0, tps)
    thresholds = np.append(np.inf, thresholds.astype(np.float64, copy=False))
    return _rate(fps, "negative", "false"), _rate(tps, "positive", "true"), thresholds


def _bends(counts):
    """Whether the step before each inner point differs from the step after it."""
    steps = np.diff(counts)
    return steps[1:] != steps[:-1]


def _rate(counts, absent, name):
    if counts[-1] <= 0:
        warnings.warn(
            f"No {absent} samples in y_true, {name} positive value should be meaningless",
            UndefinedMetricWarning,
            stacklevel=4,
        )
        return np.full(counts.shape, np.nan)
    return counts / counts[-1]


@checked(y_true=Array, y_score=Array, pos_label=Label, sample_weight=ArrayOrNone, drop_intermediate=Bool)
def det_curve(y_true, y_score, pos_label=None, sample_weight=None, drop_intermediate=False):
    """Detection error trade-off: false positive and false negative rates at every threshold.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As in `roc_curve`.
    drop_intermediate : bool, default=False
        Leave out points between two others of the same number of true positives.

    Returns
    -------
    fpr, fnr : ndarrays of shape (n_thresholds,)
        False positive rates, decreasing, and false negative rates.
    thresholds : ndarray of shape (n_thresholds,)
        Increasing; infinite at the end when no finite threshold has no false positive.

    Examples
    --------
    >>> from hyperplan.metrics import det_curve
    >>> fpr, fnr, thresholds = det_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr, fnr
    (array([0.5, 0.5, 0. ]), array([0. , 0.5, 0.5]))
    """
    fps, tps, thresholds = counts_at_thresholds(y_true, y_score, pos_label, sample_weight)
    fps, tps = np.append(0.0, fps), np.append(0.0, tps)
    thresholds = np.append(np.inf, thresholds.astype(np.float64, copy=False))
    if drop_intermediate and fps.shape[0] > 2:
        keep = inner_points(tps)
        fps, tps, thresholds = fps[keep], tps[keep], thresholds[keep]
    if fps[-1] == 0 or tps[-1] == 0:
        raise ValueError(
            "Only one class is present in y_true. Detection error tradeoff curve is not defined in that case."
        )
    first = np.searchsorted(fps, fps[0], side="right") - 1
    part = slice(max(first, 0), np.searchsorted(tps, tps[-1]) + 1)
    return fps[part][::-1] / fps[-1], (tps[-1] - tps)[part][::-1] / tps[-1], thresholds[part][::-1]


def inner_points(tps):
    """Which points have a neighbour with another number of true positives, and the two ends."""
    keep = np.ones(tps.shape[0], bool)
    steps = np.diff(tps) != 0
    keep[1:-1] = steps[:-1] | steps[1:]
    return keep


@checked(
    y_true=Array,
    y_score=Array,
    average=BinaryAverage,
    sample_weight=ArrayOrNone,
    max_fpr=OneOf(Real(gt=0, le=1), Null),
    multi_class=Choice("raise", "ovr", "ovo"),
    labels=ArrayOrNone,
)
def roc_auc_score(
    y_true, y_score, *, average="macro", sample_weight=None, max_fpr=None, multi_class="raise", labels=None
):
    """Area under the ROC curve: the chance that a positive scores above a negative (ties count half).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_samples, n_labels)
        True labels, or indicators.  Of two labels the larger one is the positive.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Scores; of more than two classes probabilities that sum to one.
    average : {"micro", "macro", "samples", "weighted"} or None, default="macro"
        How areas of several labels become one; None returns them all.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    max_fpr : float in (0, 1], default=None
        Area up to this false positive rate only, rescaled so that 0.5 is chance (McClish).
    multi_class : {"raise", "ovr", "ovo"}, default="raise"
        Of more than two classes: each against the rest, or all pairs (Hand and Till).
    labels : array-like of shape (n_classes,), default=None
        The classes of the columns of `y_score`, sorted; those in `y_true` when None.

    Returns
    -------
    float or ndarray of shape (n_classes,)
        NaN, with a warning, when only one class is present.

    Examples
    --------
    >>> from hyperplan.metrics import roc_auc_score
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    column = read_labels(y_true, "y_true")
    kind = column if isinstance(column, str) else column.kind
    y_score = _check_scores(y_score)
    weight = None if sample_weight is None else column_or_1d(sample_weight)
    if kind == "multiclass" or (kind == "binary" and y_score.ndim == 2 and y_score.shape[1] > 2):
        if max_fpr is not None and max_fpr != 1.0:
            raise ValueError(
                "Partial AUC computation not available in multiclass setting, 'max_fpr' must be set to `None`, "
                f"received `max_fpr={max_fpr}` instead"
            )
        if multi_class == "raise":
            raise ValueError("multi_class must be in ('ovo', 'ovr')")
        return _of_classes(column, y_score, labels, multi_class, average, weight)
    if kind == "binary":
        return _area_of_columns(column, y_score, weight, max_fpr)
    y_true = check_array(y_true, ensure_2d=False, dtype=None)
    return average_binary_score(
        lambda truth, score, w: _area(truth, score, w, max_fpr), y_true, y_score, average, weight
    )


def _check_scores(y_score):
    """Plain columns of floats are checked on the way to their order."""
    if type(y_score) is np.ndarray and y_score.ndim == 1 and y_score.size and y_score.dtype in (np.float64, np.float32):
        return y_score
    return check_array(y_score, ensure_2d=False)


def _area(y_true, y_score, weight=None, max_fpr=None):
    return _area_of_columns(read_labels(y_true, "y_true"), y_score, weight, max_fpr)


def _area_of_columns(column, y_score, weight, max_fpr):
    """The area for a `Column` of two labels; NaN with a warning if there is but one."""
    check_consistent_length(column.values, y_score, weight)
    if column.distinct.shape[0] != 2:
        warnings.warn(
            "Only one class is present in y_true. ROC AUC score is not defined in that case.",
            UndefinedMetricWarning,
            stacklevel=4,
        )
        return np.nan
    positive = equals_label(column, column.distinct.tolist()[1])
    if weight is None and (max_fpr is None or max_fpr == 1):
        keys, _ = keys_of(column_or_1d(y_score))
        return exact_area(positive, keys)
    fpr, tpr, _ = roc_curve(positive, y_score, sample_weight=weight, drop_intermediate=False)
    return auc(fpr, tpr) if max_fpr is None or max_fpr == 1 else _partial_area(fpr, tpr, max_fpr)


def exact_area(positive, keys):
    """Pairs in the right order and half the pairs tied, over all pairs: integers until the last division."""
    packed, bounds, bases = sort_with_labels(*keys, positive)
    totals = np.empty((bases.size, 3), np.int64)
    run = thread_map if bases.size > 2 else lambda func, items: list(map(func, items))
    run(lambda g: concordance(packed[bounds[g] : bounds[g + 1]], totals[g]), range(bases.size))
    wins = negatives = positives = 0
    for group_positives, group_negatives, group_wins in totals.tolist():
        wins += group_wins + 2 * group_positives * negatives
        negatives += group_negatives
        positives += group_positives
    return wins / (2 * positives * negatives)


def _partial_area(fpr, tpr, max_fpr):
    """Area up to `max_fpr` (the curve is cut there by interpolation), moved to 0.5 for chance and 1 for perfection."""
    stop = np.searchsorted(fpr, max_fpr, "right")
    height = np.interp(max_fpr, fpr[stop - 1 : stop + 1], tpr[stop - 1 : stop + 1])
    area = auc(np.append(fpr[:stop], max_fpr), np.append(tpr[:stop], height))
    least = max_fpr**2 / 2
    return float((1 + (area - least) / (max_fpr - least)) / 2)


def _of_classes(column, y_score, labels, multi_class, average, weight):
    if y_score.ndim != 2:
        raise ValueError(
            "`y_score` needs to be of shape `(n_samples, n_classes)`, since `y_true` contains multiple classes. "
            f"Got `y_score.shape={y_score.shape}`."
        )
    if not np.allclose(1, y_score.sum(axis=1)):
        raise ValueError(
            "Target scores need to be probabilities for multiclass roc_auc, i.e. they should sum up to 1.0 over classes"
        )
    options = ("macro", "weighted", None) if multi_class == "ovo" else ("micro", "macro", "weighted", None)
    if average not in options:
        raise ValueError(f"average must be one of {options} for multiclass problems")
    if average is None and multi_class == "ovo":
        raise ValueError("average=None is not implemented for multi_class='ovo'.")
    classes = _check_classes(column, y_score, labels)
    if multi_class == "ovr":
        check_consistent_length(column.values, y_score, weight)
        return _one_against_rest(codes_among(column, classes), y_score, average, weight)
    if weight is not None:
        raise ValueError(
            "sample_weight is not supported for multiclass one-vs-one ROC AUC, 'sample_weight' must be None in this "
            "case."
        )
    check_consistent_length(column.values, y_score)
    return _one_against_one(codes_among(column, classes), y_score, average == "weighted")


def _check_classes(column, y_score, labels):
    """The classes of the columns of `y_score`."""
    if labels is None:
        if column.distinct.shape[0] != y_score.shape[1]:
            raise ValueError("Number of classes in y_true not equal to the number of columns in 'y_score'")
        return column.distinct
    labels = column_or_1d(labels)
    classes = np.unique(labels)
    if classes.shape[0] != labels.shape[0]:
        raise ValueError("Parameter 'labels' must be unique")
    if not np.array_equal(classes, labels):
        raise ValueError("Parameter 'labels' must be ordered")
    if classes.shape[0] != y_score.shape[1]:
        raise ValueError(
            f"Number of given labels, {classes.shape[0]}, not equal to the number of columns in 'y_score', "
            f"{y_score.shape[1]}"
        )
    if set(column.distinct.tolist()) - set(classes.tolist()):
        raise ValueError("'y_true' contains labels not in parameter 'labels'")
    return classes


def _one_against_rest(codes, y_score, average, weight):
    if y_score.shape[1] <= 2 or average == "micro":
        truth = (codes[:, np.newaxis] == np.arange(y_score.shape[1])).astype(np.int64)
        return average_binary_score(_area, truth, y_score, average, weight)
    n_classes = y_score.shape[1]
    areas = [_area((codes == c).view(np.uint8), np.ascontiguousarray(y_score[:, c]), weight) for c in range(n_classes)]
    if average is None:
        return np.array(areas)
    if average == "macro":
        return float(np.mean(areas))
    shares = np.bincount(codes, weight, n_classes)
    return float(np.average(np.where(shares == 0, 0.0, areas), weights=shares))


def _one_against_one(codes, y_score, is_weighted):
    """Mean over pairs of classes of the two areas that their columns give on their rows alone."""
    present = np.unique(codes)
    rows = {c: np.flatnonzero(codes == c) for c in present}
    areas, shares = [], []
    for a, b in itertools.combinations(present, 2):
        both = np.concatenate([rows[a], rows[b]])
        is_a = np.zeros(both.size, np.uint8)
        is_a[: rows[a].size] = 1
        areas.append((_area(is_a, y_score[both, a]) + _area(1 - is_a, y_score[both, b])) / 2)
        shares.append(both.size)
    return float(np.average(areas, weights=shares if is_weighted else None))
