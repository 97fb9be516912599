"""Kernels of rows of counts or shares, none of them negative: histograms, bags of words."""

import numpy as np

from hyperplan._base import Null, OneOf, Real, check_array
from hyperplan.kernels._histogram_kernels import chi_squared_sums
from hyperplan.kernels._kernel import Kernel


class AdditiveChiSquared(Kernel):
    """``k(x, y) = -sum_j (x_j - y_j)^2 / (x_j + y_j)`` for rows without negative values.

    Positive only on weights that sum to zero (like minus a squared distance); `ChiSquared`, its exponential, always is.

    References
    ----------
    Vedaldi, Zisserman (2012), Efficient additive kernels via explicit feature maps.

    Examples
    --------
    >>> from hyperplan.kernels import AdditiveChiSquared
    >>> AdditiveChiSquared()([[1.0, 0.0]], [[3.0, 0.0]]).tolist()
    [[-1.0]]
    """

    def _table(self, X):
        X = np.asarray(check_array(X, order="C"), dtype=np.float64)
        if (X < 0).any():
            row, column = np.argwhere(X < 0)[0]
            raise ValueError(f"X contains negative values, the first in row {row}, column {column}: counts have none")
        return X

    def _against(self, Y, dtype):
        Y = self._table(Y)

        def write(X, out):
            X, sums = self._table(X), np.empty(out.shape)
            if X.shape[1] != Y.shape[1] or out.shape != (len(X), len(Y)):
                raise ValueError(f"values {out.shape} are not those of tables of the shapes {X.shape} and {Y.shape}")
            chi_squared_sums(X, Y, sums)
            out[...] = self._finish(sums)

        return write

    def _finish(self, sums):
        return sums

    def _diag(self, X):
        return self._finish(np.zeros(X.shape[0]))


class ChiSquared(AdditiveChiSquared):
    """``k(x, y) = exp(-gamma sum_j (x_j - y_j)^2 / (x_j + y_j))`` for rows without negative values.

    Parameters
    ----------
    gamma : float, default=None
        Inverse width; None means 1.

    References
    ----------
    Zhang, Marszalek, Lazebnik, Schmid (2007), Local features and kernels for classification of texture and object
    categories.

    Examples
    --------
    >>> from hyperplan.kernels import ChiSquared
    >>> ChiSquared()([[1.0, 0.0]], [[3.0, 0.0]]).round(4).tolist()
    [[0.3679]]
    """

    _params = {"gamma": OneOf(Real(ge=0), Null)}

    def __init__(self, gamma=None):
        self.gamma = gamma

    def _finish(self, sums):
        return np.exp((1.0 if self.gamma is None else self.gamma) * sums)
