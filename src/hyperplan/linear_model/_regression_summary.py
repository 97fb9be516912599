"""The table of a least-squares fit: standard errors, t tests, R2, F test, information criteria.

With Gaussian errors of variance ``sigma^2 / w_i``: ``Cov(coef) = sigma^2 (Xc'WXc)^-1`` and ``sigma^2`` is estimated by
``rss / (n - p)``, p counting the intercept.
"""

import math

import numpy as np
from scipy.special import fdtrc

from hyperplan._base.summary import coefficient_summary
from hyperplan._base.validate import check_is_fitted


def regression_summary(estimator, *, level=0.95, target=0):
    """`CoefficientSummary` of a fitted `LinearRegression`."""
    check_is_fitted(estimator)
    state = estimator._fit_state
    n, d = state.n_counted, state.shape[1]
    p = d + int(state.center)
    _require_identified(state, n, p)
    k = int(np.atleast_1d(state.rss).shape[0])
    if not -k <= target < k:
        raise ValueError(f"target={target} does not exist: the model has {k} target{'s' if k > 1 else ''}")
    coef = np.atleast_2d(estimator.coef_)[target].astype(np.float64)
    rss, tss = float(state.rss[target]), float(state.tss[target])
    variance = rss / (n - p)
    covariance = variance * state.inverse_gram()
    names = [str(name) for name in getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(d)])]
    if state.center:
        along = covariance @ state.x_mean
        of_intercept = variance / state.total + state.x_mean @ along
        covariance = np.block([[np.array([[of_intercept]]), -along[None]], [-along[:, None], covariance]])
        coef = np.concatenate([np.atleast_1d(estimator.intercept_).astype(np.float64)[[target]], coef])
        names = ["intercept", *names]
    extra = _statistics(n, d, p, rss, tss, state)
    return coefficient_summary(names, coef, covariance, df=n - p, title="Least squares", level=level, extra=extra)


def _require_identified(state, n, p):
    """Standard errors exist only when the coefficients are determined, with rows to spare."""
    if state.rank is None:
        raise ValueError("standard errors need an unconstrained fit with a known rank (positive=False)")
    if state.rank < state.shape[1]:
        raise ValueError(
            f"X has rank {state.rank} but {state.shape[1]} columns: single coefficients are not determined and have "
            "no standard errors. Drop constant or dependent columns, or use Ridge for prediction."
        )
    if n <= p:
        raise ValueError(f"{n} rows leave nothing to estimate the error variance of {p} coefficients from")


def _statistics(n, d, p, rss, tss, state):
    """What statistics packages print above the table."""
    slopes = d
    r2 = 1 - rss / tss if tss > 0 else float("nan")
    variance = rss / (n - p)
    f_value = (tss - rss) / slopes / variance if slopes and variance > 0 else float("nan")
    with np.errstate(divide="ignore"):
        likelihood = -n / 2 * (math.log(2 * math.pi / n) + 1 + float(np.log(rss))) + state.log_weights / 2
    return {
        "observations": n,
        "R2": r2,
        "residual df": n - p,
        "adjusted R2": 1 - (1 - r2) * (n - int(state.center)) / (n - p),
        "residual std error": math.sqrt(variance),
        "F": f_value,
        "P(>F)": float(fdtrc(slopes, n - p, f_value)) if slopes else float("nan"),
        "log-likelihood": likelihood,
        "AIC": 2 * p - 2 * likelihood,
        "BIC": math.log(n) * p - 2 * likelihood,
    }
