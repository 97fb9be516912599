"""A metric of the same rows under many weightings, as resampling needs it.

`weighted_metric` turns a metric and its arrays into a function of a matrix of row counts, one resample per row.
Metrics of three kinds are computed for all resamples at once; the name of the metric decides, and every one is tested
to equal its own definition on the repeated rows:

- functions of means of columns (accuracy, squared and absolute errors, R^2, log loss, Brier score): one matrix product;
- functions of the confusion matrix (balanced accuracy, precision, recall, F1, Matthews): means of its cells;
- functions of the order of the scores (ROC AUC, average precision): sorted once.

Any other function of arrays is called on the repeated rows, resample by resample.
"""

import inspect

import numpy as np

from hyperplan.evaluation._order_kernels import average_precisions, roc_areas

EXACT_MODULES = ("hyperplan.metrics", "sklearn.metrics")
MAX_CLASSES = 12  # of a confusion matrix kept as columns


def weighted_metric(metric, arrays, sample_weight=None):
    """``evaluate(counts) -> values``, for counts of shape (n_resamples, n_rows); NaN where the metric is undefined."""
    arrays = [np.asarray(array) for array in arrays]
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    is_quick = has_quick_form(metric) and len(arrays) == 2 and arrays[0].ndim == 1
    quick = QUICK[metric.__name__](*arrays) if is_quick else None
    if quick is None:
        return _general(metric, arrays, weight)
    return quick if weight is None else lambda counts: quick(counts * weight)


def has_quick_form(metric) -> bool:
    """Whether it is one of the metrics that are computed for all resamples at once."""
    return str(getattr(metric, "__module__", "")).startswith(EXACT_MODULES) and metric.__name__ in QUICK


def _general(metric, arrays, weight):
    if weight is not None and not _takes_weight(metric):
        raise ValueError(f"{getattr(metric, '__name__', 'the metric')} takes no sample_weight")

    def one(row):
        drawn = np.repeat(np.arange(row.size), row.astype(np.intp))
        extra = {} if weight is None else {"sample_weight": weight[drawn]}
        try:
            return metric(*(array[drawn] for array in arrays), **extra)
        except ValueError:  # a resample without one of the classes; all rows together were accepted before
            return np.nan

    return lambda counts: np.array([one(row) for row in counts], dtype=np.float64)


def _takes_weight(metric):
    try:
        return "sample_weight" in inspect.signature(metric).parameters
    except (TypeError, ValueError):
        return False


# ---- functions of means of columns


def _of_means(columns, finish):
    """Evaluate ``finish(means of the columns)``; `columns` has a row per row of the data."""
    columns = np.column_stack(columns).astype(np.float64)

    def evaluate(weights):
        total = weights.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return finish(*((weights @ columns) / total).T)

    return evaluate


def _numbers(*arrays):
    return all(array.ndim == 1 and array.dtype.kind in "biuf" for array in arrays)


def _squared(y, p):
    return _of_means([(y.astype(np.float64) - p) ** 2], lambda m: m) if _numbers(y, p) else None


def _root_squared(y, p):
    return _of_means([(y.astype(np.float64) - p) ** 2], np.sqrt) if _numbers(y, p) else None


def _absolute(y, p):
    return _of_means([np.abs(y.astype(np.float64) - p)], lambda m: m) if _numbers(y, p) else None


def _r2(y, p):
    if not _numbers(y, p):
        return None
    centred = y.astype(np.float64) - y.mean()  # about their mean the squares cancel least

    def finish(error, mean, square):
        return 1 - error / (square - mean**2)

    return _of_means([(y.astype(np.float64) - p) ** 2, centred, centred**2], finish)


def _accuracy(y, p):
    return _of_means([y == p], lambda m: m) if p.ndim == 1 else None


def _zero_one(y, p):
    return _of_means([y != p], lambda m: m) if p.ndim == 1 else None


def _brier(y, p):
    positive = _positive(y)
    return None if positive is None or not _numbers(p) else _of_means([(p - positive) ** 2], lambda m: m)


def _log_loss(y, p):
    labels, codes = np.unique(y, return_inverse=True)
    if p.dtype.kind != "f" or labels.size < 2:
        return None
    if p.ndim == 1 or p.shape[1] == 1:
        p = np.column_stack([1 - p.ravel(), p.ravel()])
    if p.shape[1] != labels.size:
        return None
    tiny = np.finfo(p.dtype).eps
    chosen = np.clip(p, tiny, 1 - tiny)[np.arange(y.size), codes].astype(np.float64)
    return _of_means([-np.log(chosen)], lambda m: m)


# ---- functions of the confusion matrix


def _of_confusion(y, p, finish):
    if p.ndim != 1 or (y.dtype.kind in "USTO") != (p.dtype.kind in "USTO"):  # words beside numbers
        return None
    labels = np.unique(np.concatenate([np.unique(y), np.unique(p)]))
    if labels.size > MAX_CLASSES:
        return None
    k = labels.size
    cell = np.searchsorted(labels, y) * k + np.searchsorted(labels, p)
    columns = cell[:, None] == np.arange(k * k)
    return _of_means([columns], lambda *cells: finish(np.array(cells).reshape(k, k, -1)))


def _balanced_accuracy(y, p):
    def finish(shares):
        recalls = np.diagonal(shares).T / shares.sum(axis=1)
        present = ~np.isnan(recalls)
        return np.where(present, recalls, 0).sum(axis=0) / present.sum(axis=0)

    return _of_confusion(y, p, finish)


def _two_by_two(y, p, finish):
    """Metrics of the class 1 against 0 or -1."""
    if _positive(y) is None or _positive(p) is None or np.unique(y).size + np.unique(p).size < 4:
        return None
    return _of_confusion(y, p, lambda shares: np.nan_to_num(finish(shares[1, 1], shares[0, 1], shares[1, 0]), nan=0.0))


def _precision(y, p):
    return _two_by_two(y, p, lambda tp, fp, fn: tp / (tp + fp))


def _recall(y, p):
    return _two_by_two(y, p, lambda tp, fp, fn: tp / (tp + fn))


def _f1(y, p):
    return _two_by_two(y, p, lambda tp, fp, fn: 2 * tp / (2 * tp + fp + fn))


def _matthews(y, p):
    def finish(shares):
        truth, answer, right = shares.sum(axis=1), shares.sum(axis=0), np.einsum("iir->r", shares)
        covariance = right - (truth * answer).sum(axis=0)
        scale = (1 - (truth**2).sum(axis=0)) * (1 - (answer**2).sum(axis=0))
        return np.where(scale > 0, covariance / np.sqrt(np.maximum(scale, 1e-300)), 0.0)

    return _of_confusion(y, p, finish)


# ---- functions of the order of the scores


def _positive(y):
    """1.0 for the label 1 of {0, 1} or {-1, 1}, else 0.0; None for other labels."""
    if y.ndim != 1 or y.dtype.kind not in "biuf":
        return None
    labels = set(np.unique(y).tolist())
    return (y == 1).astype(np.float64) if labels <= {0, 1} or labels <= {-1, 1} else None


def _of_order(y, p, kernel):
    """Evaluate a kernel that walks along the sorted scores; the larger label is the positive one."""
    labels = np.unique(y)
    if labels.size != 2 or not _numbers(p):
        return None
    order = np.argsort(p, kind="stable")
    positive = (y == labels[1])[order].astype(np.float64)
    starts = np.r_[True, np.diff(p[order]) != 0]

    def evaluate(weights):
        values = np.empty(weights.shape[0])
        kernel(np.ascontiguousarray(weights, dtype=np.float64), order, positive, starts, values)
        return values

    return evaluate


def _roc_auc(y, p):
    return _of_order(y, p, roc_areas)


def _average_precision(y, p):
    return _of_order(y, p, average_precisions) if _positive(y) is not None else None


QUICK = {
    "accuracy_score": _accuracy,
    "average_precision_score": _average_precision,
    "balanced_accuracy_score": _balanced_accuracy,
    "brier_score_loss": _brier,
    "f1_score": _f1,
    "log_loss": _log_loss,
    "matthews_corrcoef": _matthews,
    "mean_absolute_error": _absolute,
    "mean_squared_error": _squared,
    "precision_score": _precision,
    "r2_score": _r2,
    "recall_score": _recall,
    "roc_auc_score": _roc_auc,
    "root_mean_squared_error": _root_squared,
    "zero_one_loss": _zero_one,
}
