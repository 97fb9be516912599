"""Bootstrap intervals of any metric on a test set.

Rows of the test set are drawn with replacement and the metric is computed anew; the spread of its values stands for
what another test set of this size would have shown.  The model is fixed: nothing is said about other training sets.

- "percentile": the (1-level)/2 and (1+level)/2 quantiles of the resampled values;
- "bca": quantiles moved by the bias z0 (share of resampled values below the estimate) and the acceleration a (skewness
  of the jackknife values)::

      alpha' = Phi(z0 + (z0 + z_alpha) / (1 - a (z0 + z_alpha)))

  With more than 1000 rows the jackknife leaves out 1000 random blocks of rows instead of single rows.

References
----------
Efron (1987), Better bootstrap confidence intervals, JASA 82.  Efron, Tibshirani (1993), An introduction to the
bootstrap, chapters 13 and 14.
"""

import warnings

import numpy as np

from hyperplan._base import check_consistent_length, check_weight
from hyperplan._core.parallel import spans
from hyperplan.evaluation._checks import check_choice, check_level
from hyperplan.evaluation._interval import Interval
from hyperplan.evaluation._resamples import CHUNK_ENTRIES, Sampler, resample_map
from hyperplan.evaluation._weighted_metrics import weighted_metric

MAX_BLOCKS = 1000  # of the jackknife
MIN_DEFINED = 0.9  # share of the resamples on which the metric must exist


def bootstrap_interval(
    metric,
    *arrays,
    method: str = "bca",
    n_resamples: int = 1000,
    level: float = 0.95,
    strata=None,
    groups=None,
    sample_weight=None,
    random_state=0,
    n_jobs=None,
) -> Interval:
    """bootstrap_interval(metric, *arrays, method="bca", n_resamples=1000, level=0.95, strata=None, groups=None,
    sample_weight=None, random_state=0, n_jobs=None) -> Interval(value, low, high, level, method)

    Bootstrap interval of ``metric(*arrays)``, usually ``metric(y_true, y_pred)``.

    Parameters
    ----------
    metric : callable
        Function of arrays with one row per observation.  The usual metrics of `hyperplan.metrics` and scikit-learn are
        computed for all resamples at once; use `functools.partial` for options.
    *arrays : arrays of the same length
    method : {"bca", "percentile"}, default="bca"
    n_resamples : int, default=1000
    level : float, default=0.95
    strata : array, optional
        Labels whose counts every resample keeps, usually y_true: for rare classes.
    groups : array, optional
        Rows of a group are drawn together: for rows that are not independent.
    sample_weight : array, optional
        Weights of the rows, for metrics that take `sample_weight`.
    random_state : int, RandomState or None, default=0
    n_jobs : int, optional
        Threads; the result does not depend on them.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.evaluation import bootstrap_interval
    >>> values = np.random.default_rng(0).normal(10, 2, size=50)
    >>> print(bootstrap_interval(np.median, values, method="percentile"))
    10.2 [9.582, 10.71] (95 %, bootstrap percentile)
    """
    check_choice("method", method, ("bca", "percentile"))
    check_level(level)
    if not arrays:
        raise ValueError("give the arrays of the metric, for example bootstrap_interval(metric, y_true, y_pred)")
    check_consistent_length(*arrays)
    sampler = Sampler(len(arrays[0]), strata, groups)
    weight = check_weight(sample_weight, np.empty((sampler.n_rows, 1)))
    value = float(metric(*arrays) if weight is None else metric(*arrays, sample_weight=weight))
    evaluate = weighted_metric(metric, arrays, weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of metrics that are undefined on a resample: those are counted below
        values = np.concatenate(resample_map(evaluate, sampler, n_resamples, random_state, n_jobs))
        values = defined_values(values)
        tails = np.array([0.5 - level / 2, 0.5 + level / 2])
        if method == "bca":
            tails = _bca_tails(tails, value, values, _jackknife(evaluate, sampler))
    low, high = np.quantile(values, tails)
    return Interval(value, float(low), float(high), level, f"bootstrap_{method}")


def defined_values(values) -> np.ndarray:
    """The finite ones; an error if too many resamples have none."""
    defined = values[np.isfinite(values)]
    if defined.size < max(2, MIN_DEFINED * values.size):
        raise ValueError(
            f"the metric is undefined on {values.size - defined.size} of {values.size} resamples: perhaps a class is "
            "missing there; pass strata=y_true to keep the classes in every resample"
        )
    return defined


def _jackknife(evaluate, sampler) -> np.ndarray:
    """The metric without each row, group or block."""
    block = sampler.blocks(MAX_BLOCKS)
    n_blocks = int(block.max()) + 1
    values = [
        evaluate((block != np.arange(span.start, span.stop)[:, None]).astype(np.float64))
        for span in spans(n_blocks, int(np.clip(CHUNK_ENTRIES // sampler.n_rows, 1, 128)))
    ]
    return np.concatenate(values)


def _bca_tails(tails, value, values, jackknife):
    """The two shares of resampled values where the ends of the interval lie."""
    from scipy.special import ndtr, ndtri

    below = (np.mean(values < value) + np.mean(values <= value)) / 2  # ties count half
    bias = ndtri(np.clip(below, 0.5 / values.size, 1 - 0.5 / values.size))
    jackknife = jackknife[np.isfinite(jackknife)]
    pull = jackknife.mean() - jackknife if jackknife.size else np.zeros(1)
    spread = np.sum(pull**2)
    acceleration = np.sum(pull**3) / (6 * spread**1.5) if spread > 0 else 0.0
    moved = bias + ndtri(tails)
    return ndtr(bias + moved / (1 - acceleration * moved))
