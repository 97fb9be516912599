"""Rankings of the labels of a row: relevant labels should score higher than the others."""

import numpy as np
import scipy.sparse as sp

from hyperplan._base.targets import check_array, check_consistent_length, type_of_target
from hyperplan._core.arrays import kernel_view
from hyperplan._core.parallel import spans, split_map
from hyperplan.metrics._arguments import Array, ArrayOrNone, ArrayOrSparse, checked
from hyperplan.metrics._ranking_kernels import coverages, ranking_losses, ranking_precisions
from hyperplan.metrics._targets import MULTILABEL

ENTRIES = 1 << 18  # matrix entries per task


@checked(y_true=Array, y_score=Array, sample_weight=ArrayOrNone)
def coverage_error(y_true, y_score, *, sample_weight=None):
    """Mean depth of the ranking at which all relevant labels have been met.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_labels)
        Indicators of the relevant labels.
    y_score : array-like of shape (n_samples, n_labels)
        Scores: the larger, the more relevant.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    float
        At best the mean number of relevant labels.

    Examples
    --------
    >>> from hyperplan.metrics import coverage_error
    >>> coverage_error([[1, 0, 0], [0, 1, 1]], [[1, 0, 0], [0, 1, 1]])
    1.5
    """
    y_true, y_score = check_array(y_true), check_array(y_score)
    check_consistent_length(y_true, y_score, sample_weight)
    kind = type_of_target(y_true, input_name="y_true")
    if kind != MULTILABEL:
        raise ValueError(f"{kind} format is not supported")
    return _mean(coverages, y_true, y_score, sample_weight, by_order=False)


@checked(y_true=ArrayOrSparse, y_score=Array, sample_weight=ArrayOrNone)
def label_ranking_average_precision_score(y_true, y_score, *, sample_weight=None):
    """Mean over rows and their relevant labels of the share of relevant labels among those ranked at least as high.

    Parameters
    ----------
    y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Indicators of the relevant labels.
    y_score : array-like of shape (n_samples, n_labels)
        Scores: the larger, the more relevant.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    float
        In (0, 1]; rows where all labels or none are relevant count as 1.

    Examples
    --------
    >>> from hyperplan.metrics import label_ranking_average_precision_score
    >>> label_ranking_average_precision_score([[1, 0, 0], [0, 0, 1]], [[0.5, 1.0, 0.0], [0.1, 0.2, 0.3]])
    0.75
    """
    check_consistent_length(y_true, y_score, sample_weight)
    y_true = check_array(y_true, ensure_2d=False, accept_sparse="csr")
    y_score = check_array(y_score, ensure_2d=False)
    _check_shapes(y_true, y_score)
    kind = type_of_target(y_true, input_name="y_true")
    if kind != MULTILABEL and not (kind == "binary" and y_true.ndim == 2):
        raise ValueError(f"{kind} format is not supported")
    return _mean(ranking_precisions, y_true, y_score, sample_weight)


@checked(y_true=ArrayOrSparse, y_score=Array, sample_weight=ArrayOrNone)
def label_ranking_loss(y_true, y_score, *, sample_weight=None):
    """Mean share of the pairs (relevant, irrelevant label) that are in the wrong order or tied.

    Parameters
    ----------
    y_true : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Indicators of the relevant labels.
    y_score : array-like of shape (n_samples, n_labels)
        Scores: the larger, the more relevant.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    float
        In [0, 1]; rows where all labels or none are relevant count as 0.

    Examples
    --------
    >>> from hyperplan.metrics import label_ranking_loss
    >>> label_ranking_loss([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    0.75
    """
    y_true = check_array(y_true, ensure_2d=False, accept_sparse="csr")
    y_score = check_array(y_score, ensure_2d=False)
    check_consistent_length(y_true, y_score, sample_weight)
    kind = type_of_target(y_true, input_name="y_true")
    if kind != MULTILABEL:
        raise ValueError(f"{kind} format is not supported")
    return _mean(ranking_losses, y_true, y_score, sample_weight)


def _check_shapes(y_true, y_score):
    if y_true.shape != y_score.shape:
        raise ValueError("y_true and y_score have different shape")


def _mean(kernel, y_true, y_score, weight, by_order=True):
    """Weighted mean of a kernel's values of the rows; rankings are made chunk by chunk."""
    _check_shapes(y_true, y_score)
    values = np.empty(y_true.shape[0])
    is_sparse = sp.issparse(y_true)

    def run(span):
        part = y_true[span].toarray() if is_sparse else y_true[span]
        truth = np.ascontiguousarray(part != 0).view(np.uint8)
        scores = kernel_view(np.ascontiguousarray(y_score[span], np.float64))
        order = (np.argsort(scores, axis=1),) if by_order else ()
        kernel(truth, scores, *order, values[span])

    split_map(run, spans(values.size, max(1, ENTRIES // y_true.shape[1])))
    return float(np.average(values, weights=weight))
