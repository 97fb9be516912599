"""What high dimensions do to volumes, angles and samples, and how many rows Isomap needs to be right.

All logarithms are natural.
"""

import math

import numpy as np
from scipy.optimize import linprog
from scipy.special import gammaln

from hyperplan._base import check_array


def ball_volume(dimension, radius=1.0, p=2.0):
    """Volume of a ball of the l_p norm: ``(2 R Gamma(1/p + 1))^n / Gamma(n/p + 1)``.

    Parameters
    ----------
    dimension : int or array-like of int
        n.
    radius : float, default=1.0
        R.
    p : float, default=2.0
        Power of the norm, at least 1; infinity is the cube.

    Returns
    -------
    float or ndarray
        The volume; with growing dimension it tends to zero for every finite p.

    Examples
    --------
    >>> from hyperplan.manifold import ball_volume
    >>> ball_volume([1, 2, 3, 5, 20]).round(4).tolist()
    [2.0, 3.1416, 4.1888, 5.2638, 0.0258]
    """
    if not p >= 1:
        raise ValueError(f"p must be at least 1, got {p}")
    n = np.asarray(dimension, dtype=np.float64)
    volume = np.exp(n * (math.log(2.0 * radius) + gammaln(1.0 / p + 1.0)) - gammaln(n / p + 1.0))
    return float(volume) if volume.ndim == 0 else volume


def shell_share(dimension, thickness, radius=1.0):
    """Share of a ball's volume in its outer shell: ``1 - (1 - thickness / R)^n``, which tends to one.

    Examples
    --------
    >>> from hyperplan.manifold import shell_share
    >>> round(shell_share(100, 0.1), 6)
    0.999973
    """
    if not 0.0 <= thickness <= radius:
        raise ValueError(f"thickness must lie between 0 and the radius, got {thickness} for radius {radius}")
    return 1.0 - (1.0 - thickness / radius) ** dimension


def cosine_bound(dimension):
    """A bound that the cosine of two random directions in n dimensions exceeds with probability at most 1 / n.

    ``sqrt(4 ln(2 n) / n)``: random directions are nearly orthogonal.

    Examples
    --------
    >>> from hyperplan.manifold import cosine_bound
    >>> round(cosine_bound(1000), 5)
    0.17437
    """
    return math.sqrt(4.0 * math.log(2.0 * dimension) / dimension)


def in_convex_hull(X, points):
    """Whether rows lie inside the convex hull of others: prediction there interpolates, elsewhere it extrapolates.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows that span the hull.
    points : array-like of shape (n_points, n_features)
        Rows to test.

    Returns
    -------
    ndarray of bool, shape (n_points,)
        True where weights exist that are not negative, add up to one, and average X to the point.

    Examples
    --------
    >>> from hyperplan.manifold import in_convex_hull
    >>> in_convex_hull([[0, 0], [2, 0], [0, 2]], [[0.5, 0.5], [2, 2]]).tolist()
    [True, False]
    """
    X, points = check_array(X, dtype=np.float64), check_array(points, dtype=np.float64)
    if X.shape[1] != points.shape[1]:
        raise ValueError(f"X has {X.shape[1]} columns and points {points.shape[1]}: they must agree")
    system = np.vstack([X.T, np.ones(len(X))])
    answers = [linprog(np.zeros(len(X)), A_eq=system, b_eq=np.append(point, 1.0), method="highs") for point in points]
    return np.array([answer.status == 0 for answer in answers], dtype=bool)


def isomap_radius(curvature_radius, branch_separation, shortening):
    """Largest neighbourhood for which geodesics of the graph are at most `shortening` too short.

    Parameters
    ----------
    curvature_radius : float
        Smallest radius of curvature of the surface.
    branch_separation : float
        Distance below which points of the surface are near each other along it too.
    shortening : float
        Relative error allowed.

    Returns
    -------
    float
        ``min((2 / pi) r sqrt(24 shortening), branch_separation)``.

    References
    ----------
    Bernstein, de Silva, Langford, Tenenbaum (2000), Graph approximations to geodesics on embedded manifolds.

    Examples
    --------
    >>> from hyperplan.manifold import isomap_radius
    >>> round(isomap_radius(1.0, 5.0, 0.05), 4)
    0.6974
    """
    return min(2.0 / math.pi * curvature_radius * math.sqrt(24.0 * shortening), branch_separation)


def isomap_density(radius, dimension, *, volume=1.0, lengthening=0.1, failure=0.05):
    """Rows per unit of volume from which geodesics of a graph with that radius are at most `lengthening` too long.

    ``log(V / (failure e (lengthening radius / 16)^d)) / (e (lengthening radius / 8)^d)`` with e the volume of the unit
    ball: sufficient with probability ``1 - failure``, and far from necessary.

    Parameters
    ----------
    radius : float
        Of neighbourhoods, see `isomap_radius`.
    dimension : int
        d, of the surface.
    volume : float, default=1.0
        V, of the surface.
    lengthening : float, default=0.1
        Relative error allowed.
    failure : float, default=0.05
        Probability of a worse one.

    Returns
    -------
    float
        The density; under it too, with that probability, the graph is connected.

    References
    ----------
    Bernstein, de Silva, Langford, Tenenbaum (2000), Graph approximations to geodesics on embedded manifolds.

    Examples
    --------
    >>> from hyperplan.manifold import isomap_density
    >>> round(isomap_density(0.1, 2, lengthening=0.5, failure=0.01))
    122207
    """
    small = ball_volume(dimension, lengthening * radius / 16.0)
    return math.log(volume / (failure * small)) / ball_volume(dimension, lengthening * radius / 8.0)
