"""Kernels of a distance: any function of ``|x - y|``, and splines that are products over the columns."""

import math

import numpy as np

from hyperplan._base import Int, Is, Real, check_array
from hyperplan._math import distances
from hyperplan.kernels._kernel import Kernel

MOST_FACTORS = 12  # beyond, the alternating sums lose digits and the spline is a Gaussian to three of them


def b_spline(t, factors):
    """The cardinal B-spline of so many box factors: the density of a sum of that many uniforms on (-1/2, 1/2).

    Degree ``factors - 1``, zero from ``|t| = factors / 2`` on.

    Parameters
    ----------
    t : array-like
        Points.
    factors : int
        Number of boxes that are convolved, 1 to 12.

    Returns
    -------
    values : ndarray
        Values.

    References
    ----------
    Schoenberg (1946), Contributions to the problem of approximation of equidistant data by analytic functions.

    Examples
    --------
    >>> from hyperplan.kernels import b_spline
    >>> b_spline([0.0, 1.0], 4).round(4).tolist()
    [0.6667, 0.1667]
    """
    if not 1 <= factors <= MOST_FACTORS or factors != int(factors):
        raise ValueError(f"factors must be a whole number from 1 to {MOST_FACTORS}, got {factors!r}")
    left = factors / 2 - np.abs(np.asarray(t, dtype=np.float64))  # distance to the border of the support
    if factors == 1:
        return np.where(left > 0, 1.0, np.where(left == 0, 0.5, 0.0))
    total = np.zeros(left.shape)
    for k in range(factors // 2 + 1):
        total += (-1) ** k * math.comb(factors, k) * np.maximum(left - k, 0.0) ** (factors - 1)
    return total / math.factorial(factors - 1)


class Radial(Kernel):
    """``k(x, y) = function(|x - y|)``: positive for some functions only (see `mercer_check`).

    Parameters
    ----------
    function : callable
        Takes an array of distances, returns as many values.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.kernels import Radial
    >>> Radial(lambda r: 1.0 / (1.0 + r**2))([[0.0]], [[1.0]]).tolist()
    [[0.5]]
    """

    _params = {"function": Is(callable, "a callable")}

    def __init__(self, function):
        self.function = function

    def _table(self, X):
        return np.asarray(check_array(X, order="C"), dtype=np.float64)

    def _values(self, gaps):
        values = np.asarray(self.function(gaps), dtype=np.float64)
        if values.shape != gaps.shape:
            raise ValueError(
                f"the function of Radial returned shape {values.shape} for {gaps.shape} distances: "
                "it must work entry by entry"
            )
        return values

    def _against(self, Y, dtype):
        rule = distances.learn_metric("euclidean", Y)
        anchors = distances.prepare(Y, rule)

        def write(X, out):
            out[...] = self._values(distances.pairwise(rule, distances.prepare(X, rule), anchors))

        return write

    def _diag(self, X):
        return self._values(np.zeros(X.shape[0]))


class BSpline(Kernel):
    """Product over the columns of B-splines ``B((x_j - y_j) / width)``: zero for rows far apart in any column.

    Only an even number of box factors gives a positive kernel: the Fourier transform of `factors` boxes is
    ``sinc^factors``, which is negative somewhere for odd numbers.  For the same reason it is a product over columns and
    not a function of ``|x - y|``.

    Parameters
    ----------
    factors : int, default=4
        Number of boxes, even: 2 is the hat function, 4 the cubic spline.
    width : float, default=1.0
        Width of a box.

    Examples
    --------
    >>> from hyperplan.kernels import BSpline
    >>> BSpline(factors=2)([[0.0], [0.25]]).tolist()
    [[1.0, 0.75], [0.75, 1.0]]
    """

    _params = {
        "factors": Is(
            lambda v: Int(ge=2, le=MOST_FACTORS)(v) and v % 2 == 0,
            f"an even int from 2 to {MOST_FACTORS} (an odd number of box factors is no positive kernel)",
        ),
        "width": Real(gt=0),
    }

    def __init__(self, factors=4, *, width=1.0):
        self.factors = factors
        self.width = width

    def _table(self, X):
        return np.asarray(check_array(X, order="C"), dtype=np.float64)

    def _against(self, Y, dtype):
        def write(X, out):
            out.fill(1.0)
            for j in range(X.shape[1]):
                out *= b_spline((X[:, j, None] - Y[:, j]) / self.width, self.factors).astype(out.dtype, copy=False)

        return write

    def _diag(self, X):
        return np.full(X.shape[0], float(b_spline(0.0, self.factors)) ** X.shape[1])
