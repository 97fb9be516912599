"""BBC-CV: an honest score for the model that won a comparison, without further fits.

The best of many candidates was chosen because of its cross-validated score, so that this score is too good.  Nested
cross-validation repairs that at many times the cost.  BBC-CV works on the out-of-fold predictions that exist
already: in each of B bootstrap resamples of the rows it chooses the candidate that is best on the drawn rows, and
scores this choice on the rows that were not drawn.  The mean of the B scores estimates what the *procedure*
"fit all, take the best" achieves; their quantiles give the interval.  Each score rests on about 37 % of the rows: the
interval is on the wide side.

References
----------
Tsamardinos, Greasidou, Borboudakis (2018), Bootstrapping the out-of-sample predictions for efficient and accurate
cross-validation, Machine Learning 107.
"""

import warnings
from typing import NamedTuple

import numpy as np

from hyperplan._base import check_consistent_length, check_weight
from hyperplan.evaluation._bootstrap_interval import defined_values
from hyperplan.evaluation._checks import check_level
from hyperplan.evaluation._resamples import Sampler, resample_map
from hyperplan.evaluation._weighted_metrics import weighted_metric


class BiasCorrected(NamedTuple):
    """Honest score of the selected candidate.

    Attributes
    ----------
    value, low, high, level : float
        Bias-corrected score of the selection and its interval.
    selected : name
        The candidate that is best on all rows (the first of equals).
    naive : float
        Its score on all rows, which the selection has made too good.
    optimism : float
        How much too good on average: naive minus value, positive when the naive score flatters.
    shares : dict
        Name -> share of the resamples in which the candidate was chosen: how sure the choice is.
    """

    value: float
    low: float
    high: float
    level: float
    selected: object
    naive: float
    optimism: float
    shares: dict

    def __str__(self):
        return (
            f"{self.selected}: {self.value:.4g} [{self.low:.4g}, {self.high:.4g}] ({100 * self.level:g} %, bootstrap "
            f"bias corrected; {self.naive:.4g} before the correction)"
        )


def bootstrap_bias_corrected(
    predictions,
    y_true=None,
    metric=None,
    *,
    greater_is_better=None,
    n_resamples: int = 1000,
    level: float = 0.95,
    strata=None,
    groups=None,
    sample_weight=None,
    random_state=0,
    n_jobs=None,
) -> BiasCorrected:
    """bootstrap_bias_corrected(predictions, y_true=None, metric=None, *, greater_is_better=None, n_resamples=1000,
    level=0.95, strata=None, groups=None, sample_weight=None, random_state=0, n_jobs=None)
    -> BiasCorrected(value, low, high, level, selected, naive, optimism, shares)

    Score and interval of the best of several candidates, corrected for having been chosen (BBC-CV).

    Parameters
    ----------
    predictions : mapping of name -> predictions, list of predictions, or array of shape (n_rows, n_candidates)
        Out-of-fold predictions of every candidate that took part in the selection, all for the same rows; each as
        `metric` takes them (labels, scores, numbers, or one column per class in a mapping or list).  For repeated
        cross-validation, a tuple with one array per repetition: its scores are averaged.  Without `metric`, losses per
        row (their mean is the score).  Of equally good candidates the first wins: put simple ones first.
    y_true : array
        Needed with `metric`.
    metric : callable, optional
        ``metric(y_true, predictions)``.
    greater_is_better : bool, optional
        Default: True with a metric, False for losses.
    n_resamples, level, strata, groups, sample_weight, random_state, n_jobs
        As in `bootstrap_interval`.

    Examples
    --------
    Fifty candidates that guess: the best seems better than chance, and is not.

    >>> import numpy as np
    >>> from hyperplan.evaluation import bootstrap_bias_corrected
    >>> losses = np.random.default_rng(0).integers(0, 2, size=(100, 50))
    >>> found = bootstrap_bias_corrected(losses)
    >>> round(found.naive, 2), round(found.value, 2)
    (0.41, 0.53)
    """
    check_level(level)
    names, candidates = _candidates(predictions, metric)
    n_rows = len(candidates[0][0])
    if metric is not None:
        if y_true is None:
            raise ValueError("metric needs y_true, the true values of the rows")
        check_consistent_length(y_true, candidates[0][0])
    greater_is_better = (metric is not None) if greater_is_better is None else greater_is_better
    sampler = Sampler(n_rows, strata, groups)
    weight = check_weight(sample_weight, np.empty((n_rows, 1)))
    evaluators = [_evaluator(candidate, y_true, metric, weight) for candidate in candidates]
    sign = 1 if greater_is_better else -1

    def chosen_and_score(counts):
        inside = sign * np.array([evaluate(counts) for evaluate in evaluators])
        chosen = np.argmax(np.where(np.isfinite(inside), inside, -np.inf), axis=0)
        left_out = (counts == 0).astype(np.float64)
        scores = np.full(chosen.size, np.nan)
        for candidate in np.unique(chosen):
            mine = chosen == candidate
            scores[mine] = evaluators[candidate](left_out[mine])
        return chosen, scores

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of metrics that are undefined on a resample: those are counted
        parts = resample_map(chosen_and_score, sampler, n_resamples, random_state, n_jobs)
        on_all = np.array([evaluate(np.ones((1, n_rows)))[0] for evaluate in evaluators])
    chosen, scores = (np.concatenate(part) for part in zip(*parts))
    scores = defined_values(scores)
    best = int(np.argmax(sign * on_all))
    value, (low, high) = float(scores.mean()), np.quantile(scores, [0.5 - level / 2, 0.5 + level / 2])
    shares = np.bincount(chosen, minlength=len(names)) / chosen.size
    return BiasCorrected(
        value,
        float(low),
        float(high),
        level,
        names[best],
        float(on_all[best]),
        float(sign * (on_all[best] - value)),
        dict(zip(names, shares.tolist())),
    )


def _candidates(predictions, metric):
    """Names, and for each candidate the tuple of its arrays (one per repetition)."""
    if hasattr(predictions, "columns"):
        names, values = list(predictions.columns), list(np.asarray(predictions).T)
    elif hasattr(predictions, "keys"):
        names, values = list(predictions), list(predictions.values())
    elif isinstance(predictions, list):
        names, values = list(range(len(predictions))), predictions
    else:
        matrix = np.asarray(predictions)
        if matrix.ndim != 2:
            raise ValueError(
                f"predictions must have a row per observation and a column per candidate, got shape {matrix.shape}"
            )
        names, values = list(range(matrix.shape[1])), list(matrix.T)
    if not values:
        raise ValueError("predictions holds no candidate")
    candidates = [
        tuple(np.asarray(part) for part in (value if isinstance(value, tuple) else (value,))) for value in values
    ]
    check_consistent_length(*(part for candidate in candidates for part in candidate))
    return names, candidates


def _evaluator(parts, y_true, metric, weight):
    """``counts -> scores`` of one candidate: its mean loss, or the mean metric over its repetitions."""
    if metric is None:
        losses = np.mean([np.asarray(part, dtype=np.float64) for part in parts], axis=0)
        if not np.isfinite(losses).all():
            raise ValueError(f"the loss of row {np.flatnonzero(~np.isfinite(losses))[0]} is not a finite number")
        rows = np.ones(losses.size) if weight is None else weight

        def mean_loss(counts):
            return counts @ (losses * rows) / (counts @ rows)

        return mean_loss
    evaluators = [weighted_metric(metric, (y_true, part), weight) for part in parts]
    return lambda counts: np.mean([evaluate(counts) for evaluate in evaluators], axis=0)
