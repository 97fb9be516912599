"""The variance of an average of predictors, and what averaging does to squared errors.

For predictors ``f_1 .. f_m`` with mean variance ``sigma^2`` and mean correlation ``rho`` of the *predictors*,

    Var(mean of f_k) = rho sigma^2 + (1 - rho) sigma^2 / m,

and for any target y (Jensen's inequality with its remainder)

    (mean of f_k - y)^2 = mean of (f_k - y)^2 - mean of (f_k - mean)^2.

More members lower the second term of the first line only.  Both lines are identities for averages over given rows.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._base import Certificate
from hyperplan._core.parallel import single_threaded_blas, spans

ROUNDING = 1e-9  # relative; both sides are sums of at most a few million products
MEMBERS_PER_BLOCK = 256


class Decomposition(NamedTuple):
    """Numbers of the two identities; errors are NaN without targets."""

    n_members: int
    sigma2: float
    rho: float
    variance: float
    member_error: float
    bagged_error: float
    spread: float


def variance_of_mean(sigma2, rho, n_members):
    """Variance of the mean of `n_members` predictors of variance `sigma2` and correlation `rho`.

    >>> [round(variance_of_mean(4.0, rho, 25), 4) for rho in (0.0, 0.3, 1.0)]
    [0.16, 1.312, 4.0]
    """
    return rho * sigma2 + (1.0 - rho) * sigma2 / n_members


def decompose(answers, target=None) -> Decomposition:
    """Both identities for answers of shape (n_members, n_rows, n_outputs); outputs are added up."""
    m, n = answers.shape[:2]
    mean = answers.mean(axis=0)
    centred = (answers - answers.mean(axis=1, keepdims=True)).reshape(m, -1)
    own = np.einsum("ki,ki->k", centred, centred) / n
    sigma2 = float(own.mean())
    blocks = [centred[part] for part in spans(m, MEMBERS_PER_BLOCK)]
    with single_threaded_blas():  # the products are small: to wake other threads would take longer
        both = sum(float((a @ b.T).sum()) for a in blocks for b in blocks) / n
    shared = (both - own.sum()) / (m * (m - 1)) if m > 1 else sigma2
    errors = (np.nan, np.nan)
    if target is not None:
        errors = (_mean_square(answers - target), _mean_square(mean - target))
    return Decomposition(
        n_members=m,
        sigma2=sigma2,
        rho=float(shared / sigma2) if sigma2 > 0 else 1.0,
        variance=_mean_square(mean - mean.mean(axis=0)),
        member_error=errors[0],
        bagged_error=errors[1],
        spread=_mean_square(answers - mean),
    )


def _mean_square(values):
    """Mean over all axes but the last, along which squares are added."""
    return float((values**2).sum(axis=-1).mean())


def variance_certificate(found, n_rows) -> Certificate:
    """That the variance of the average is as the decomposition says, to rounding."""
    expected = variance_of_mean(found.sigma2, found.rho, found.n_members)
    limit = found.rho * found.sigma2
    return Certificate(
        kind="variance decomposition",
        guarantee=f"the average of {found.n_members} members varies by {found.variance:.4g} over {n_rows} training "
        f"rows: {limit:.4g} that they share (rho sigma^2) and {expected - limit:.4g} that more members could remove",
        value=abs(found.variance - expected) / found.sigma2 if found.sigma2 > 0 else 0.0,
        bound=ROUNDING,
        assumption="",
        reference="Hastie, Tibshirani, Friedman (2009), The Elements of Statistical Learning, section 15.2; "
        "Krogh, Vedelsby (1995), Neural network ensembles, cross validation, and active learning",
        details={
            "sigma2": found.sigma2,
            "rho": found.rho,
            "variance": found.variance,
            "limit": limit,
            "members": found.n_members,
            "rows": n_rows,
            "spread of members": found.spread,
            **_errors(found),
        },
    )


def _errors(found):
    """The second identity, where there were targets to compare with."""
    if np.isnan(found.member_error):
        return {}
    return {
        "mean squared error of members": found.member_error,
        "mean squared error of their average": found.bagged_error,
    }
