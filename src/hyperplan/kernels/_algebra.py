"""The algebra of kernels: sums, products, multiples, constants, and the convex combinations made of them."""

import numbers

import numpy as np
import scipy.sparse as sp

from hyperplan._base import Is, Real, check_params
from hyperplan._core.memory import require_memory
from hyperplan.kernels._kernel import Kernel, count_rows

IsKernel = Is(lambda value: isinstance(value, Kernel), "a kernel of hyperplan.kernels")


class _Pair(Kernel):
    """Two kernels whose values are combined entry by entry."""

    _params = {"left": IsKernel, "right": IsKernel}

    def __init__(self, left, right):
        self.left = left
        self.right = right

    def _check(self):
        check_params(self)
        self.left._check()
        self.right._check()

    def _table(self, X):
        return self.right._table(self.left._table(X))

    def _against(self, Y, dtype):
        first, second = self.left._against(Y, dtype), self.right._against(Y, dtype)

        def write(X, out):
            first(X, out)
            values = np.empty(out.shape, dtype=out.dtype)
            second(X, values)
            self._join(out, values, out=out)

        return write

    def _diag(self, X):
        return self._join(self.left._diag(X), self.right._diag(X))


class Sum(_Pair):
    """``k(x, y) = left(x, y) + right(x, y)``: the features of both, side by side.

    Parameters
    ----------
    left, right : Kernel
        Kernels.

    Examples
    --------
    >>> from hyperplan.kernels import Linear, RBF
    >>> (Linear() + RBF(gamma=1.0)).get_params()["right__gamma"]
    1.0
    """

    _join = staticmethod(np.add)

    def __repr__(self):
        return f"{self.left!r} + {self.right!r}"

    def feature_map(self, X):
        """The features of both kernels."""
        maps = self.left.feature_map(X), self.right.feature_map(X)
        return sp.hstack(maps, format="csr") if any(map(sp.issparse, maps)) else np.hstack(maps)


class Product(_Pair):
    """``k(x, y) = left(x, y) right(x, y)``: all products of a feature of one with a feature of the other.

    Parameters
    ----------
    left, right : Kernel
        Kernels.

    Examples
    --------
    >>> from hyperplan.kernels import Linear
    >>> (Linear() * Linear())([[3.0]]).tolist()
    [[81.0]]
    """

    _join = staticmethod(np.multiply)

    def __repr__(self):
        return " * ".join(f"({side!r})" if isinstance(side, Sum) else repr(side) for side in (self.left, self.right))

    def feature_map(self, X):
        """All products of two features."""
        left, right = (
            part.toarray() if sp.issparse(part) else part
            for part in (self.left.feature_map(X), self.right.feature_map(X))
        )
        require_memory(
            8.0 * left.shape[0] * left.shape[1] * right.shape[1], "the table of products of features", "approximate it"
        )
        return (left[:, :, None] * right[:, None, :]).reshape(left.shape[0], -1)


class Scaled(Kernel):
    """``k(x, y) = weight kernel(x, y)``.

    Parameters
    ----------
    kernel : Kernel
        Kernel.
    weight : float, at least 0
        Factor.

    Examples
    --------
    >>> from hyperplan.kernels import Linear
    >>> 2 * Linear()
    2 * Linear()
    """

    _params = {"kernel": IsKernel, "weight": Real(ge=0)}

    def __init__(self, kernel, weight=1.0):
        self.kernel = kernel
        self.weight = weight

    def __repr__(self):
        inner = f"({self.kernel!r})" if isinstance(self.kernel, Sum) else repr(self.kernel)
        return f"{self.weight:g} * {inner}"

    def _check(self):
        check_params(self)
        self.kernel._check()

    def _table(self, X):
        return self.kernel._table(X)

    def _against(self, Y, dtype):
        inner = self.kernel._against(Y, dtype)

        def write(X, out):
            inner(X, out)
            out *= out.dtype.type(self.weight)

        return write

    def _diag(self, X):
        return self.weight * self.kernel._diag(X)

    def feature_map(self, X):
        """The features of the kernel times the root of the weight."""
        return self.kernel.feature_map(X) * np.sqrt(self.weight)


class Constant(Kernel):
    """``k(x, y) = value``: one feature, the same for all rows; in a sum it stands for an intercept.

    Parameters
    ----------
    value : float, at least 0
        The constant.

    Examples
    --------
    >>> from hyperplan.kernels import Linear
    >>> Linear() + 1.0
    Linear() + Constant()
    """

    _params = {"value": Real(ge=0)}

    def __init__(self, value=1.0):
        self.value = value

    def _table(self, X):
        return X if hasattr(X, "__len__") or sp.issparse(X) else list(X)

    def _against(self, Y, dtype):
        return lambda X, out: out.fill(self.value)

    def _diag(self, X):
        return np.full(count_rows(X), float(self.value))

    def feature_map(self, X):
        """The root of the constant."""
        return np.full((count_rows(X), 1), np.sqrt(self.value))


def convex_combination(kernels, weights=None):
    """``sum_i weights_i kernels_i`` with weights that are not negative and sum to one.

    Parameters
    ----------
    kernels : sequence of Kernel
        Kernels, at least one.
    weights : array-like of shape (n_kernels,), default=None
        Weights; None means equal ones.

    Returns
    -------
    kernel : Kernel
        The combination.

    Examples
    --------
    >>> from hyperplan.kernels import Linear, RBF, convex_combination
    >>> convex_combination([RBF(gamma=1.0), Linear()], [0.25, 0.75])
    0.25 * RBF(gamma=1.0) + 0.75 * Linear()
    """
    kernels = list(kernels)
    weights = np.full(len(kernels), 1.0 / max(1, len(kernels))) if weights is None else np.asarray(weights, dtype=float)
    if not kernels or weights.shape != (len(kernels),):
        raise ValueError(f"each of the {len(kernels)} kernels needs one weight, got weights of shape {weights.shape}")
    if not (weights >= 0).all() or abs(weights.sum() - 1.0) > 1e-9:
        raise ValueError(f"weights must not be negative and must sum to 1, got {weights.tolist()}")
    total, *rest = [Scaled(kernel, float(weight)) for kernel, weight in zip(kernels, weights)]
    for part in rest:
        total = total + part
    return total


def combine(kind, left, right):
    """The sum or product of two kernels; a number in a sum is a constant kernel."""
    sides = [Constant(side) if isinstance(side, numbers.Real) else side for side in (left, right)]
    return kind(*sides) if all(isinstance(side, Kernel) for side in sides) else NotImplemented


def add(left, right):
    """``left + right``."""
    return combine(Sum, left, right)


def multiply(left, right):
    """``left * right``; a number is a weight."""
    return Scaled(left, right) if isinstance(right, numbers.Real) else combine(Product, left, right)
