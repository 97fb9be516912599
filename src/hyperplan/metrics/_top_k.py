"""Top-k accuracy: is the true class among the k most probable?"""

import warnings

import numpy as np

from hyperplan._base.targets import UndefinedMetricWarning, check_array, check_consistent_length, column_or_1d
from hyperplan._core.parallel import spans, split_map
from hyperplan.metrics._arguments import Array, ArrayOrNone, Bool, Int, checked
from hyperplan.metrics._label_ranking import ENTRIES
from hyperplan.metrics._labels import codes_among, read_labels
from hyperplan.metrics._ranking_kernels import top_hits
from hyperplan.metrics._targets import average


@checked(y_true=Array, y_score=Array, k=Int(ge=1), normalize=Bool, sample_weight=ArrayOrNone, labels=ArrayOrNone)
def top_k_accuracy_score(y_true, y_score, *, k=2, normalize=True, sample_weight=None, labels=None):
    """Share of the rows whose true class is among the k with the largest scores.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_score : array-like of shape (n_samples,) or (n_samples, n_classes)
        Scores, columns in the order of the sorted labels.
    k : int, default=2
        How many classes may be named.
    normalize : bool, default=True
        False for the number (or weight) of such rows instead of their share.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    labels : array-like, default=None
        All labels, sorted, when `y_true` may lack some.

    Returns
    -------
    float

    Examples
    --------
    >>> from hyperplan.metrics import top_k_accuracy_score
    >>> top_k_accuracy_score([0, 1, 2, 2], [[0.5, 0.2, 0.2], [0.3, 0.4, 0.2], [0.2, 0.4, 0.3], [0.7, 0.2, 0.1]])
    0.75
    """
    y_true = column_or_1d(check_array(y_true, ensure_2d=False, dtype=None))
    column = read_labels(y_true, "y_true")
    kind = column if isinstance(column, str) else column.kind
    if kind == "binary" and labels is not None and len(labels) > 2:
        kind = "multiclass"
    if kind not in ("binary", "multiclass"):
        raise ValueError(f"y type must be 'binary' or 'multiclass', got '{kind}' instead.")
    y_score = _check_scores(y_score, kind)
    check_consistent_length(y_true, y_score, sample_weight)
    classes = _check_classes(column, labels, y_score.shape[1] if y_score.ndim == 2 else 2)
    if k >= len(classes):
        warnings.warn(
            f"'k' ({k}) greater than or equal to 'n_classes' ({len(classes)}) will result in a perfect score and is "
            "therefore meaningless.",
            UndefinedMetricWarning,
            stacklevel=3,
        )
    hits = _hits(codes_among(column, classes), y_score, k)
    return average(hits, None if sample_weight is None else np.asarray(sample_weight), normalize)


def _check_scores(y_score, kind):
    y_score = check_array(y_score, ensure_2d=False)
    if kind == "binary":
        if y_score.ndim == 2 and y_score.shape[1] != 1:
            raise ValueError(
                f"`y_true` is binary while y_score is 2d with {y_score.shape[1]} classes. If `y_true` does not contain "
                "all the labels, `labels` must be provided."
            )
        return column_or_1d(y_score)
    if y_score.ndim != 2:
        raise ValueError(
            "`y_score` needs to be of shape `(n_samples, n_classes)`, since `y_true` contains multiple classes. "
            f"Got `y_score.shape={y_score.shape}`."
        )
    return y_score


def _check_classes(column, labels, n_columns):
    if labels is None:
        if column.distinct.shape[0] != n_columns:
            raise ValueError(
                f"Number of classes in 'y_true' ({column.distinct.shape[0]}) not equal to the number of classes in "
                f"'y_score' ({n_columns}).You can provide a list of all known classes by assigning it to the `labels` "
                "parameter."
            )
        return column.distinct
    labels = column_or_1d(labels)
    classes = np.unique(labels)
    if classes.shape[0] != labels.shape[0]:
        raise ValueError("Parameter 'labels' must be unique.")
    if not np.array_equal(classes, labels):
        raise ValueError("Parameter 'labels' must be ordered.")
    if classes.shape[0] != n_columns:
        raise ValueError(
            f"Number of given labels ({classes.shape[0]}) not equal to the number of classes in 'y_score' "
            f"({n_columns})."
        )
    if set(column.distinct.tolist()) - set(classes.tolist()):
        raise ValueError("'y_true' contains labels not in parameter 'labels'.")
    return classes


def _hits(codes, y_score, k):
    """Whether each row's class is among the first k."""
    if y_score.ndim == 1:
        if k > 1:
            return np.ones(codes.size, bool)
        is_probability = y_score.min() >= 0 and y_score.max() <= 1
        return (y_score > (0.5 if is_probability else 0)) == codes
    hits = np.empty(codes.size, bool)

    def run(span):
        top_hits(np.ascontiguousarray(y_score[span], np.float64), codes[span], k, hits[span])

    split_map(run, spans(codes.size, max(1, ENTRIES // y_score.shape[1])))
    return hits
