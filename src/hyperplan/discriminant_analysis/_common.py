"""What linear and quadratic discriminant analysis share: labels, classes by their rows, covariances by class."""

import numpy as np

from hyperplan._base import check_finite
from hyperplan._math.covariance import ledoit_wolf_covariance, shrunk_covariance

REFERENCE = "Hastie, Tibshirani, Friedman (2009), The Elements of Statistical Learning, section 4.3"


def require_finite(estimator, X, squares):
    """Raise the located error when X has NaN or infinity, or say that its squares overflow."""
    if not np.isfinite(squares).all():
        check_finite(estimator, X)
        raise ValueError(
            f"Values of X are so large (beyond 1e150) that their squares overflow: {type(estimator).__name__} needs "
            "covariances; scale the columns."
        )


def class_rows(scatters):
    """The rows of each class, in the order of `scatters`."""
    return np.split(scatters.order, np.cumsum(scatters.count)[:-1].astype(np.intp))


def estimated_covariance(estimator, rows):
    """`covariance_` of the user's estimator, fitted on rows."""
    estimator.fit(rows)
    if not hasattr(estimator, "covariance_"):
        raise ValueError(f"{type(estimator).__name__} does not have a covariance_ attribute")
    return np.atleast_2d(estimator.covariance_)


def check_covariance_options(shrinkage, covariance_estimator):
    """Refuse two ways at once."""
    if covariance_estimator is not None and shrinkage is not None and shrinkage != 0:
        raise ValueError("covariance_estimator and shrinkage parameters are not None. Only one of the two can be set.")


def covariance_of(X, order, mean, scatter, shrinkage, covariance_estimator):
    """Covariance of some rows: empirical, shrunk by a number or by Ledoit and Wolf, or the user's."""
    if covariance_estimator is not None:
        return estimated_covariance(covariance_estimator, X[order])
    if isinstance(shrinkage, str):
        return ledoit_wolf_covariance(X, order, mean, scatter)
    covariance = scatter / order.shape[0]
    return covariance if shrinkage is None else shrunk_covariance(covariance, shrinkage)
