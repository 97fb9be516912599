"""Discounted cumulative gain of rankings: relevance divided by the logarithm of the place."""

import numpy as np

from hyperplan._base.targets import check_array, check_consistent_length, type_of_target
from hyperplan._core.parallel import spans, split_map
from hyperplan.metrics._arguments import Array, ArrayOrNone, Bool, Int, Null, OneOf, Real, checked
from hyperplan.metrics._label_ranking import ENTRIES
from hyperplan.metrics._ranking_kernels import tied_gains

KINDS = ("multilabel-indicator", "continuous-multioutput", "multiclass-multioutput")


@checked(
    y_true=Array,
    y_score=Array,
    k=OneOf(Int(ge=1), Null),
    log_base=Real(gt=0),
    sample_weight=ArrayOrNone,
    ignore_ties=Bool,
)
def dcg_score(y_true, y_score, *, k=None, log_base=2, sample_weight=None, ignore_ties=False):
    """Mean over the rows of the sum of ``relevance / log(1 + place)``, labels placed by decreasing score.

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_labels)
        Relevances.
    y_score : array-like of shape (n_samples, n_labels)
        Scores: the larger, the earlier.
    k : int, default=None
        Only the first k places count; all when None.
    log_base : float, default=2
        Base of the logarithm: the smaller, the more the first places count.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    ignore_ties : bool, default=False
        Place equal scores in any order instead of averaging over their places.

    Returns
    -------
    float

    Examples
    --------
    >>> from hyperplan.metrics import dcg_score
    >>> round(dcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]]), 2)
    9.5
    """
    y_true, y_score = _check(y_true, y_score, sample_weight)
    return float(np.average(_gains(y_true, y_score, k, log_base, ignore_ties), weights=sample_weight))


@checked(y_true=Array, y_score=Array, k=OneOf(Int(ge=1), Null), sample_weight=ArrayOrNone, ignore_ties=Bool)
def ndcg_score(y_true, y_score, *, k=None, sample_weight=None, ignore_ties=False):
    """Discounted cumulative gain, divided by that of the best ranking: in [0, 1].

    Parameters
    ----------
    y_true : array-like of shape (n_samples, n_labels)
        Relevances, not negative.
    y_score, k, sample_weight, ignore_ties
        As in `dcg_score`.

    Returns
    -------
    float
        Rows without any relevance count as 0.

    Examples
    --------
    >>> from hyperplan.metrics import ndcg_score
    >>> round(ndcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]]), 3)
    0.696
    """
    y_true, y_score = check_array(y_true, ensure_2d=False), check_array(y_score, ensure_2d=False)
    check_consistent_length(y_true, y_score, sample_weight)
    if y_true.min() < 0:
        raise ValueError("ndcg_score should not be used on negative y_true values.")
    if y_true.ndim > 1 and y_true.shape[1] <= 1:
        raise ValueError(
            f"Computing NDCG is only meaningful when there is more than 1 document. Got {y_true.shape[1]} instead."
        )
    y_true, y_score = _check(y_true, y_score, sample_weight)
    gains, best = _gains(y_true, y_score, k, 2, ignore_ties), _gains(y_true, y_true, k, 2, False)
    shares = np.divide(gains, best, out=np.zeros_like(gains), where=best != 0)
    return float(np.average(shares, weights=sample_weight))


def _check(y_true, y_score, sample_weight):
    y_true, y_score = check_array(y_true, ensure_2d=False), check_array(y_score, ensure_2d=False)
    check_consistent_length(y_true, y_score, sample_weight)
    kind = type_of_target(y_true, input_name="y_true")
    if kind not in KINDS:
        raise ValueError(f"Only {KINDS} formats are supported. Got {kind} instead")
    if y_true.shape != y_score.shape:
        raise ValueError(f"y_true has shape {y_true.shape}, y_score {y_score.shape}: they must be the same")
    return y_true, y_score


def _gains(y_true, y_score, k, log_base, ignore_ties):
    """Discounted gain of each row."""
    n_labels = y_true.shape[1]
    discounts = np.log(log_base) / np.log(np.arange(n_labels) + 2.0)
    discounts[slice(n_labels if k is None else k, None)] = 0.0
    sums = np.append(0.0, np.cumsum(discounts))
    values = np.empty(y_true.shape[0])

    def run(span):
        gains, scores = (np.ascontiguousarray(part[span], np.float64) for part in (y_true, y_score))
        order = np.argsort(scores, axis=1)
        if ignore_ties:
            values[span] = np.sum(np.take_along_axis(gains, order[:, ::-1], axis=1) * discounts, axis=1)
        else:
            tied_gains(gains, scores, order, sums, values[span])

    split_map(run, spans(values.size, max(1, ENTRIES // n_labels)))
    return values
