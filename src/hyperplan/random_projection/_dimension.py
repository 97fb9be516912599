"""How many dimensions distances need: the lemma of Johnson and Lindenstrauss.

n points of any Euclidean space can be mapped into k dimensions so that all squared distances change by a factor between
1 - eps and 1 + eps, as soon as ``k > 24 ln n / (3 eps^2 - 2 eps^3)``; a random projection does it with positive
probability.  The lemma is about Euclidean distances only.
"""

import math

import numpy as np

from hyperplan._base import InvalidParameterError


def johnson_lindenstrauss_min_dim(n_samples, *, eps=0.1):
    """The bound of the lemma, rounded down, as scikit-learn's function of this name gives it.

    The lemma asks for *more* than the bound: see `johnson_lindenstrauss_dimension`.

    Parameters
    ----------
    n_samples : int or array-like of int
        Number of points.
    eps : float or array-like of float, default=0.1
        Largest change of a squared distance, between 0 and 1.

    Returns
    -------
    n_components : int or ndarray of int
        ``24 ln n / (3 eps^2 - 2 eps^3)`` rounded down.

    Examples
    --------
    >>> from hyperplan.random_projection import johnson_lindenstrauss_min_dim
    >>> johnson_lindenstrauss_min_dim([1000, 1000000], eps=0.5).tolist()
    [331, 663]
    """
    bound = _bound(n_samples, eps)
    return bound.astype(np.int64)


def johnson_lindenstrauss_dimension(n_samples, *, eps=0.1):
    """The smallest number of dimensions for which the lemma promises an eps-embedding.

    Parameters
    ----------
    n_samples : int or array-like of int
        Number of points.
    eps : float or array-like of float, default=0.1
        Largest change of a squared distance, between 0 and 1.

    Returns
    -------
    n_components : int or ndarray of int
        The smallest integer above ``24 ln n / (3 eps^2 - 2 eps^3)``.

    References
    ----------
    Dasgupta, Gupta (2003), An elementary proof of a theorem of Johnson and Lindenstrauss.

    Examples
    --------
    >>> from hyperplan.random_projection import johnson_lindenstrauss_dimension
    >>> int(johnson_lindenstrauss_dimension(1000, eps=0.5))
    332
    """
    return np.floor(_bound(n_samples, eps)).astype(np.int64) + 1


def feasible_reduction_factor(n_samples, n_features):
    """The share of the dimensions that must at least stay: no eps below 1 is promised for a smaller one.

    ``24 ln n / (3 eps^2 - 2 eps^3)`` falls to ``24 ln n`` as eps grows to 1, so that ``c n_features`` dimensions can
    only do for some eps if ``c > 24 ln(n) / n_features``.  A result of 1 or more means that the lemma reduces nothing.

    Parameters
    ----------
    n_samples, n_features : int
        Points and their dimensions.

    Returns
    -------
    float
        The factor.

    Examples
    --------
    >>> from hyperplan.random_projection import feasible_reduction_factor
    >>> round(feasible_reduction_factor(1000, 10000), 4)
    0.0166
    """
    if n_samples < 1 or n_features < 1:
        raise ValueError(f"n_samples and n_features must be at least 1, got {n_samples!r} and {n_features!r}.")
    return 24.0 * math.log(n_samples) / n_features


def promised_distortion(n_samples, n_components):
    """The smallest eps for which the lemma covers that many components; None when there is none below 1.

    >>> from hyperplan.random_projection._dimension import promised_distortion
    >>> round(promised_distortion(1000, 332), 3)
    0.5
    >>> promised_distortion(1000, 100)
    """
    needed = 24.0 * math.log(n_samples) / n_components
    if needed >= 1.0:
        return None
    low, high = 0.0, 1.0  # 3 e^2 - 2 e^3 grows from 0 to 1
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if middle * middle * (3.0 - 2.0 * middle) > needed else (middle, high)
    return high


def _bound(n_samples, eps):
    try:
        n_samples, eps = np.asarray(n_samples, dtype=np.float64), np.asarray(eps, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(f"n_samples and eps must be numbers or arrays of numbers: {error}.") from None
    if not ((eps > 0.0) & (eps < 1.0)).all():
        raise ValueError(f"The bound is defined for eps strictly between 0 and 1, got {eps!r}.")
    if not (n_samples > 0).all():
        raise ValueError(f"The bound is defined for n_samples greater than zero, got {n_samples!r}.")
    return 4.0 * np.log(n_samples) / (eps**2 / 2.0 - eps**3 / 3.0)
