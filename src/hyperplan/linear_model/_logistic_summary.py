"""Standard errors, tests and odds ratios of a logistic regression.

The covariance of the maximum likelihood estimate is the inverse of the information ``[X, 1]' diag(s p (1 - p)) [X, 1]``
(for several classes its block form, inverted on the coefficients that sum to zero over the classes).  With a penalty
the Hessian of the penalised objective takes its place; coefficients a lasso set to zero have no standard error.

References
----------
McCullagh, Nelder (1989), Generalized Linear Models, section 4.4.
"""

import contextlib
from typing import NamedTuple

import numpy as np

from hyperplan._base.summary import coefficient_summary
from hyperplan._core.parallel import single_threaded_blas
from hyperplan._solvers.logistic_rows import Rows
from hyperplan._solvers.softmax_rows import SoftmaxRows

STORED_SIZE = 300  # coefficients up to which a fit keeps what `summary()` needs
STORED_WORK = 5e7  # rows times coefficients squared up to which this is cheap beside the fit


class FitStatistics(NamedTuple):
    """What a summary needs from the training data."""

    hessian: np.ndarray  # of the (penalised) negative log-likelihood
    log_likelihood: float
    null_log_likelihood: float
    total: float


def is_cheap(n_rows, theta):
    """Whether the statistics cost little beside the fit."""
    return theta.size <= STORED_SIZE and n_rows * theta.size**2 <= STORED_WORK


def fit_statistics(problem, X, codes, n_classes, weight, theta, state=None) -> FitStatistics:
    """Information and log-likelihoods at theta of shape (1 or n_classes, d + 1).

    `state` is what the solver of two classes left at theta, where it did.
    """
    weight = np.ones(X.shape[0]) if weight is None else weight
    total = float(weight.sum())
    strengths = problem.strengths(total)
    width = theta.shape[1] - int(not problem.fit_intercept)
    if n_classes > 2:
        rows = SoftmaxRows(X, codes, weight, n_classes)
        with single_threaded_blas():
            state = rows.evaluate(theta)
            hessian = rows.hessian(state, bool(problem.fit_intercept))
    else:
        rows = Rows(X, codes.astype(np.float64), weight)
        state = rows.evaluate(theta[0]) if state is None else state
        with contextlib.nullcontext() if rows.is_small else single_threaded_blas():
            hessian = rows.hessian(state)[:width, :width]
    ridge = np.tile(strengths.ridge(X.shape[1])[:width], theta.shape[0])
    hessian[np.arange(ridge.size), np.arange(ridge.size)] += ridge
    counts = np.bincount(codes, weights=weight, minlength=n_classes)
    share = counts / total if problem.fit_intercept else np.full(n_classes, 1.0 / n_classes)
    null = float((counts[counts > 0] * np.log(share[counts > 0])).sum())
    return FitStatistics(total * hessian, -total * float(state.loss), null, total)


def covariance(statistics, theta, width):
    """Inverse of the Hessian on the coefficients that are not zero; NaN elsewhere."""
    hessian = statistics.hessian
    kept = np.flatnonzero(theta[:, :width].ravel() != 0.0) if (theta[:, : width - 1] == 0.0).any() else slice(None)
    out = np.full_like(hessian, np.nan)
    index = np.arange(hessian.shape[0])[kept]
    out[np.ix_(index, index)] = np.linalg.pinv(hessian[np.ix_(index, index)], hermitian=True)
    return out


def logistic_summary(estimator, problem, statistics, theta, level):
    """The table of coefficients of a fitted logistic regression."""
    width = theta.shape[1] - int(not problem.fit_intercept)
    features = list(getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(estimator.n_features_in_)]))
    names = [str(name) for name in features] + ["intercept"] * int(bool(problem.fit_intercept))
    if theta.shape[0] > 1:
        names = [f"{label}: {name}" for label in estimator.classes_ for name in names]
    penalised = problem.penalty is not None
    degrees = (width if theta.shape[0] == 1 else width * (theta.shape[0] - 1)) + 0.0
    likelihood, null = statistics.log_likelihood, statistics.null_log_likelihood
    extra = {
        "rows (sum of weights)": statistics.total,
        "log-likelihood": likelihood,
        "log-likelihood, constant model": null,
        "pseudo R2 (McFadden)": 1.0 - likelihood / null if null else float("nan"),
        "AIC": 2.0 * degrees - 2.0 * likelihood,
        "BIC": degrees * np.log(statistics.total) - 2.0 * likelihood,
    }
    title = "Logistic regression, maximum likelihood"
    if penalised:
        title = (
            f"Logistic regression with {problem.penalty} penalty, C={problem.C:g}: standard errors are those of the "
            "penalised fit (biased towards zero), read the tests with care"
        )
    return coefficient_summary(
        names,
        theta[:, :width].ravel(),
        covariance(statistics, theta, width),
        title=title,
        level=level,
        odds=True,
        extra=extra,
    )
