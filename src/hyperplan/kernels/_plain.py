"""Kernels of inner products and of differences, by tiles of matrix products: linear, polynomial, Gaussian and so on."""

import itertools
import math

import numpy as np
import scipy.sparse as sp

from hyperplan._base import Null, OneOf, Real, check_array
from hyperplan._core.memory import require_memory
from hyperplan._math import distances
from hyperplan._math.gram import (
    DIFFERENCES,
    KernelSpec,
    Rows,
    diagonal,
    fill,
    fill_square,
    finish_distances,
    finish_products,
    finish_squares,
    prepare,
)
from hyperplan.kernels._kernel import Kernel

GAMMA = OneOf(Real(ge=0), Null)


class PlainKernel(Kernel):
    """A kernel that `hyperplan._math.gram` knows by name; sparse tables by sparse products."""

    _name = ""

    def spec(self, n_features) -> KernelSpec:
        """The kernel as a record with numbers for all parameters, for rows of so many columns."""
        gamma = getattr(self, "gamma", 1.0)
        gamma = 1.0 / n_features if gamma is None else float(gamma)
        return KernelSpec(self._name, gamma, float(getattr(self, "degree", 3)), float(getattr(self, "coef0", 0.0)))

    def _against(self, Y, dtype):
        spec = self.spec(Y.shape[1])
        anchors = None if sp.issparse(Y) else prepare(spec, Y, dtype)

        def write(X, out):
            if anchors is None or sp.issparse(X):
                out[...] = _sparse_values(spec, X, Y)
            else:
                fill(spec, prepare(spec, X, out.dtype, like=anchors), anchors, out)

        return write

    def _fill(self, X, Y, out, n_jobs=None):
        spec = self.spec(Y.shape[1])
        if sp.issparse(X) or sp.issparse(Y):
            super()._fill(X, Y, out, n_jobs)
        else:
            anchors = prepare(spec, Y, out.dtype)
            fill(spec, prepare(spec, X, out.dtype, like=anchors), anchors, out, n_jobs)

    def _fill_square(self, X, out, n_jobs=None):
        spec = self.spec(X.shape[1])
        if sp.issparse(X):
            super()._fill_square(X, out, n_jobs)
            np.fill_diagonal(out, self._diag(X))
        else:
            fill_square(spec, prepare(spec, X, out.dtype), out, n_jobs)

    def _diag(self, X):
        spec = self.spec(X.shape[1])
        if self._name in DIFFERENCES:
            return np.ones(X.shape[0])
        if not sp.issparse(X):
            return diagonal(spec, prepare(spec, X, np.float64))
        squares = _squares(X)
        if self._name == "cosine":
            return (squares > 0).astype(np.float64)
        return diagonal(spec, Rows(np.empty((X.shape[0], 0)), squares))


def _sparse_values(spec, X, Y):
    """Values of rows of which some are sparse, all of them at once."""
    if spec.name == "laplacian":
        from hyperplan.metrics.pairwise import manhattan_distances

        return finish_distances(spec.gamma, np.ascontiguousarray(manhattan_distances(X, Y)))
    products = X @ Y.T
    products = np.asarray(products.toarray() if sp.issparse(products) else products, dtype=np.float64)
    if spec.name == "cosine":
        for table, values in ((X, products), (Y, products.T)):
            lengths = np.sqrt(_squares(table))
            values /= np.where(lengths > 0, lengths, 1.0)[:, None]
    if spec.name == "rbf":
        return finish_squares(spec.gamma, np.ascontiguousarray(products), _squares(X), _squares(Y))
    return finish_products(spec, products)


def _squares(X):
    squares = X.multiply(X) if sp.issparse(X) else X * X
    return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()


def _products(X, Y):
    """Inner products of two tables, the second may be None."""
    return Linear().gram(X, Y, dtype=np.float64)


def _differences(metric, X, Y):
    """Distances of two tables, the second may be None; differences first, so that small ones keep their digits."""
    X = np.asarray(check_array(X), dtype=np.float64)
    rule = distances.learn_metric(metric, X)
    others = None if Y is None else distances.prepare(np.asarray(check_array(Y), dtype=np.float64), rule)
    return distances.pairwise(rule, distances.prepare(X, rule), others)


class Linear(PlainKernel):
    """``k(x, y) = <x, y>``: no change of space.

    Examples
    --------
    >>> from hyperplan.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]]).tolist()
    [[11.0]]
    """

    _name = "linear"

    def feature_map(self, X):
        """The rows themselves."""
        return self._table(X)


class Polynomial(PlainKernel):
    """``k(x, y) = (gamma <x, y> + coef0)^degree``: all monomials up to a degree, or of that degree if coef0 is 0.

    Positive for whole degrees and ``coef0 >= 0``.

    Parameters
    ----------
    degree : float, default=3
        Exponent.
    gamma : float, default=None
        Factor of the inner product; None means 1 / n_features.
    coef0 : float, default=1.0
        Constant.

    Examples
    --------
    >>> from hyperplan.kernels import Polynomial
    >>> kernel = Polynomial(degree=2, gamma=1.0, coef0=0.0)
    >>> kernel.feature_map([[1.0, 2.0]]).round(3).tolist()
    [[1.0, 2.828, 4.0]]
    """

    _name = "poly"
    _params = {"degree": Real(ge=0), "gamma": GAMMA, "coef0": Real()}

    def __init__(self, degree=3, *, gamma=None, coef0=1.0):
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def feature_map(self, X):
        """Monomials, times the roots of how often they occur in the expanded power."""
        self._check()
        X = np.asarray(check_array(X), dtype=np.float64)
        spec, degree = self.spec(X.shape[1]), int(self.degree)
        if degree != self.degree or self.coef0 < 0:
            raise ValueError(
                f"a feature map needs a whole degree and coef0 >= 0, got degree={self.degree} and coef0={self.coef0}"
            )
        n, d = X.shape
        columns = range(d if spec.coef0 == 0 else d + 1)  # the last one stands for the constant
        size = math.comb(len(columns) + degree - 1, degree) if len(columns) else int(degree == 0)
        require_memory(8.0 * n * size, f"the map with {size} monomials", "approximate it (Nystroem)")
        table = np.column_stack([np.sqrt(spec.gamma) * X, np.full(n, np.sqrt(spec.coef0))])
        features = np.empty((n, size))
        for place, chosen in enumerate(itertools.combinations_with_replacement(columns, degree)):
            repeats = math.prod(math.factorial(chosen.count(column)) for column in set(chosen))
            features[:, place] = math.sqrt(math.factorial(degree) / repeats) * table[:, chosen].prod(axis=1)
        return features

    def gamma_gradient(self, X, Y=None):
        """Derivative of the matrix of values with respect to gamma."""
        self._check()
        products = _products(X, Y)
        gamma = self.spec(np.shape(X)[1]).gamma
        return self.degree * products * (gamma * products + self.coef0) ** (self.degree - 1)


class RBF(PlainKernel):
    """``k(x, y) = exp(-gamma |x - y|^2)``, the Gaussian kernel: positive and universal.

    A width sigma is gamma = 1 / (2 sigma^2) in statistics, and 1 / sigma^2 in some books: only gamma is unambiguous.

    Parameters
    ----------
    gamma : float, default=None
        Inverse squared width; None means 1 / n_features.

    Examples
    --------
    >>> from hyperplan.kernels import RBF
    >>> RBF(gamma=0.5)([[0.0], [2.0]]).round(4).tolist()
    [[1.0, 0.1353], [0.1353, 1.0]]
    """

    _name = "rbf"
    _params = {"gamma": GAMMA}

    def __init__(self, gamma=None):
        self.gamma = gamma

    def gamma_gradient(self, X, Y=None):
        """Derivative of the matrix of values with respect to gamma."""
        return -_differences("sqeuclidean", X, Y) * self.gram(X, Y, dtype=np.float64)


class Laplacian(PlainKernel):
    """``k(x, y) = exp(-gamma sum |x - y|)``: positive, with a kink where the Gaussian kernel is smooth.

    Parameters
    ----------
    gamma : float, default=None
        Inverse width; None means 1 / n_features.

    Examples
    --------
    >>> from hyperplan.kernels import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0]], [[2.0]]).round(4).tolist()
    [[0.3679]]
    """

    _name = "laplacian"
    _params = {"gamma": GAMMA}

    def __init__(self, gamma=None):
        self.gamma = gamma

    def gamma_gradient(self, X, Y=None):
        """Derivative of the matrix of values with respect to gamma."""
        return -_differences("manhattan", X, Y) * self.gram(X, Y, dtype=np.float64)


class Sigmoid(PlainKernel):
    """``k(x, y) = tanh(gamma <x, y> + coef0)``.  Not positive: `mercer_check` shows by how much on your rows.

    Parameters
    ----------
    gamma : float, default=None
        Factor of the inner product; None means 1 / n_features.
    coef0 : float, default=1.0
        Constant.

    Examples
    --------
    >>> from hyperplan.kernels import Sigmoid, is_psd
    >>> is_psd(Sigmoid(gamma=1.0, coef0=-1.0)([[-2.0], [0.0], [2.0]]))
    False
    """

    _name = "sigmoid"
    _params = {"gamma": GAMMA, "coef0": Real()}

    def __init__(self, gamma=None, *, coef0=1.0):
        self.gamma = gamma
        self.coef0 = coef0

    def gamma_gradient(self, X, Y=None):
        """Derivative of the matrix of values with respect to gamma."""
        return (1.0 - self.gram(X, Y, dtype=np.float64) ** 2) * _products(X, Y)


class Cosine(PlainKernel):
    """``k(x, y) = <x, y> / (|x| |y|)``, 0 for a row of zeros: the linear kernel of rows of length one.

    Examples
    --------
    >>> from hyperplan.kernels import Cosine
    >>> Cosine()([[1.0, 1.0]], [[2.0, 0.0]]).round(4).tolist()
    [[0.7071]]
    """

    _name = "cosine"

    def feature_map(self, X):
        """Rows of length one."""
        X = np.asarray(check_array(X), dtype=np.float64)
        return prepare(self.spec(X.shape[1]), X, np.float64).rows
