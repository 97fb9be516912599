"""Kernels made of another one: brought to length one, or looking at some columns only."""

import numpy as np

from hyperplan._base import ArrayLike, Is, OneOf, check_array, check_params
from hyperplan.kernels._algebra import IsKernel
from hyperplan.kernels._kernel import Kernel


class _Derived(Kernel):
    """A kernel with a kernel inside."""

    def _check(self):
        check_params(self)
        self.kernel._check()


class Normalized(_Derived):
    """``kernel(x, y) / sqrt(kernel(x, x) kernel(y, y))``: features of length one (0 for features of length 0).

    Parameters
    ----------
    kernel : Kernel
        Kernel.

    Examples
    --------
    >>> from hyperplan.kernels import Linear, Normalized
    >>> Normalized(Linear())([[3.0, 4.0]], [[5.0, 0.0]]).round(12).tolist()
    [[0.6]]
    """

    _params = {"kernel": IsKernel}

    def __init__(self, kernel):
        self.kernel = kernel

    def _table(self, X):
        return self.kernel._table(X)

    def _check_widths(self, X, Y):
        self.kernel._check_widths(X, Y)

    def _lengths(self, X):
        squares = self.kernel._diag(X)
        if squares.size and squares.min() < 0:
            row = int(squares.argmin())
            raise ValueError(f"{self.kernel!r} has k(x, x) = {squares[row]:.4g} < 0 for row {row}: it has no lengths")
        return np.sqrt(squares)

    def _against(self, Y, dtype):
        inner, lengths = self.kernel._against(Y, dtype), self._lengths(Y)
        inverse = np.divide(1.0, lengths, out=np.zeros(lengths.shape), where=lengths > 0)

        def write(X, out):
            inner(X, out)
            own = self._lengths(X)
            out *= np.divide(1.0, own, out=np.zeros(own.shape), where=own > 0)[:, None].astype(out.dtype)
            out *= inverse.astype(out.dtype)

        return write

    def _diag(self, X):
        return (self._lengths(X) > 0).astype(np.float64)

    def feature_map(self, X):
        """The features of the kernel, brought to length one."""
        features = self.kernel.feature_map(X)
        features = features.toarray() if hasattr(features, "toarray") else features
        lengths = np.sqrt(np.einsum("ij,ij->i", features, features))
        return features / np.where(lengths > 0, lengths, 1.0)[:, None]


class OnColumns(_Derived):
    """A kernel of some columns: ``kernel(x[columns], y[columns])``.

    Parameters
    ----------
    kernel : Kernel
        Kernel.
    columns : slice or array-like of int or bool
        Which columns it sees.

    Examples
    --------
    >>> from hyperplan.kernels import Linear, OnColumns, Spectrum
    >>> mixed = OnColumns(Linear(), [0]) + OnColumns(Spectrum(1), [1])
    >>> mixed([[2.0, "ab"], [3.0, "bb"]]).tolist()
    [[6.0, 8.0], [8.0, 13.0]]
    """

    _params = {"kernel": IsKernel, "columns": OneOf(Is(lambda v: isinstance(v, slice), "a slice"), ArrayLike)}

    def __init__(self, kernel, columns):
        self.kernel = kernel
        self.columns = columns

    def _table(self, X):
        X = np.asarray(X, dtype=object) if isinstance(X, (list, tuple)) else X
        return check_array(X, dtype=None, ensure_all_finite=False, accept_sparse="csr")

    def _part(self, X):
        columns = self.columns if isinstance(self.columns, slice) else np.asarray(self.columns)
        if not isinstance(columns, slice):
            largest = columns.size - 1 if columns.dtype == bool else int(np.abs(columns + (columns < 0)).max(initial=0))
            if largest >= X.shape[1]:
                raise ValueError(f"OnColumns asks for column {largest} of a table of {X.shape[1]} columns")
        part = X[:, columns]
        return self.kernel._table(part.astype(np.float64) if self._is_numeric(part) else part)

    def _is_numeric(self, part):
        """Whether a part of a table of objects holds numbers only."""
        return part.dtype == object and all(isinstance(value, (int, float, np.number)) for value in part.ravel())

    def _against(self, Y, dtype):
        inner = self.kernel._against(self._part(Y), dtype)
        return lambda X, out: inner(self._part(X), out)

    def _diag(self, X):
        return self.kernel._diag(self._part(X))

    def feature_map(self, X):
        """The features of the chosen columns."""
        return self.kernel.feature_map(self._part(self._table(X)))
