"""Polynomial features: all monomials up to a degree, in graded order 1, x1, x2, x1^2, x1 x2, x2^2, x1^3, ..."""

import numpy as np
import scipy.sparse as sp

from hyperplan._base import check_array, check_design, check_finite, check_is_fitted, get_config
from hyperplan._base.preprocessing import ReferencePolynomialFeatures
from hyperplan._core.arrays import compressed
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan.preprocessing._polynomial_kernels import (
    count_monomials,
    monomial_lines,
    monomials,
    plain_columns,
    sparse_monomials,
)

BLOCK_VALUES = 500_000  # output values per task
SPARSE_DEGREE = 3  # largest degree of the sparse kernel


def degree_segments(n_features, max_degree, *, interaction_only=False, bias=True):
    """How each degree grows out of the one below, and the number of monomials.

    Monomials of degree k that start with feature j are x_j times those of degree k - 1 that start with feature j or a
    later one (a later one only, with `interaction_only`).  Returns an array of rows (start, stop, feature, to).

    >>> from hyperplan.preprocessing._polynomial import degree_segments
    >>> degree_segments(2, 2)
    (array([[1, 3, 0, 3],
           [2, 3, 1, 5]]), 6)
    """
    first = int(bias)
    if max_degree == 0:
        return np.empty((0, 4), dtype=np.intp), first
    starts = list(range(first, first + n_features + 1))  # where the monomials that start with feature j begin
    segments, size = [], first + n_features
    for _ in range(2, max_degree + 1):
        next_starts, stop = [], starts[-1]
        for feature in range(n_features):
            next_starts.append(size)
            start = starts[feature + 1] if interaction_only else starts[feature]
            if stop > start:
                segments.append((start, stop, feature, size))
                size += stop - start
        starts = [*next_starts, size]
    return np.array(segments, dtype=np.intp).reshape(-1, 4), size


def expand(X, first, segments, n_full, n_out):
    """The last `n_out` monomials of each row (the constant always included), by blocks of rows in threads."""
    require_memory(
        float(X.shape[0]) * n_out * X.itemsize, "the expanded table", "lower the degree or expand fewer columns"
    )
    out = np.empty((X.shape[0], n_out), dtype=X.dtype)

    def one_block(block):
        monomials(X[block], first, segments, np.empty(n_full, dtype=X.dtype), out[block])

    thread_map(one_block, spans(X.shape[0], max(1, BLOCK_VALUES // max(1, n_out))))
    return out


def expand_by_column(X, first, segments, n_full):
    """All monomials in Fortran order, one whole column after another.

    The time goes into fresh memory; blocks of rows or columns in threads touch it in an order that costs more than
    they save.
    """
    n = X.shape[0]
    require_memory(float(n) * n_full * X.itemsize, "the expanded table", "lower the degree or expand fewer columns")
    out = np.empty((n, n_full), dtype=X.dtype, order="F")
    plain_columns(X, first, out.T)
    monomial_lines(first, segments, out.T)
    return out


def expand_sparse(X, degree, distinct, first, segments, n_full):
    """All monomials of the rows of a CSR matrix with sorted columns, up to degree 3."""
    n, d = X.shape
    indptr = np.empty(n + 1, dtype=np.int64)
    count_monomials(X.indptr.astype(np.int64), first, degree, int(distinct), indptr)
    shift = np.zeros((2, max(d, 1)), dtype=np.int64)
    below = first + d  # where the monomials of degree two begin
    for start, _, feature, to in segments:
        shift[int(start >= below), feature] = to - start
    total = int(indptr[-1])
    index = np.int64 if max(total, n_full) >= 2**31 else np.int32
    require_memory(
        float(total) * (X.dtype.itemsize + np.dtype(index).itemsize), "the expanded table", "lower the degree"
    )
    indices, data = np.empty(total, dtype=index), np.empty(total, dtype=X.dtype)
    plain = compressed(X)

    def one_block(block):
        rows = np.array([block.start, block.stop])
        sparse_monomials(plain, first, degree, int(distinct), shift, rows, indptr, indices, data)

    thread_map(one_block, spans(n, max(1, BLOCK_VALUES * n // max(total, 1))))
    kind = sp.csr_array if get_config().get("sparse_interface") == "sparray" else sp.csr_matrix
    out = kind((data, indices, indptr.astype(index)), shape=(n, n_full))
    out.has_sorted_indices = True
    return out


def polynomial_features(X, degree, interactions=True):
    """Monomials of the columns of X up to a total degree.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Columns.
    degree : int
        Largest total degree D; beyond 3 the number of columns explodes.
    interactions : bool, default=True
        With products of different columns: C(d + D, D) columns in graded order.  Without: 1 + d * D columns, the
        constant and the pure powers, degree by degree.

    Returns
    -------
    ndarray of shape (n_samples, n_monomials)
        The constant 1 first.

    Examples
    --------
    >>> from hyperplan.preprocessing import polynomial_features
    >>> polynomial_features([[2.0, 3.0]], 2)
    array([[1., 2., 3., 4., 6., 9.]])
    >>> polynomial_features([[2.0, 3.0]], 3, interactions=False)
    array([[ 1.,  2.,  3.,  4.,  9.,  8., 27.]])
    """
    if not isinstance(degree, (int, np.integer)) or isinstance(degree, bool) or degree < 0:
        raise ValueError(f"degree must be a non-negative integer, got {degree!r}")
    X = check_array(X, dtype=[np.float64, np.float32], order="C")
    d = X.shape[1]
    if interactions:
        segments, size = degree_segments(d, degree)
    else:
        size = 1 + d * degree
        powers = [
            (1 + (k - 1) * d + j, 2 + (k - 1) * d + j, j, 1 + k * d + j) for k in range(1, degree) for j in range(d)
        ]
        segments = np.array(powers, dtype=np.intp).reshape(-1, 4)
    return expand(X, 1, segments, size, size)


class PolynomialFeatures(ReferencePolynomialFeatures):
    """All monomials of the columns up to a degree.

    The same estimator as scikit-learn's; dense rows, and sparse ones by row up to degree 3, are expanded by threaded
    kernels.  Sparse matrices by column, higher degrees of sparse ones and other array libraries take
    scikit-learn's path.

    Parameters
    ----------
    degree : int or tuple (min_degree, max_degree), default=2
        Largest total degree, or the range of degrees.
    interaction_only : bool, default=False
        Products of different columns only.
    include_bias : bool, default=True
        Whether the first column is the constant 1.
    order : {'C', 'F'}, default='C'
        Memory order of the output.

    Attributes
    ----------
    powers_ : ndarray of shape (n_output_features_, n_features_in_)
        Exponents of each output column.
    n_output_features_ : int
        Number of output columns: C(d + D, D) with all monomials.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has them.

    Examples
    --------
    >>> from hyperplan.preprocessing import PolynomialFeatures
    >>> PolynomialFeatures(2).fit_transform([[2.0, 3.0]])
    array([[1., 2., 3., 4., 6., 9.]])
    """

    def transform(self, X):
        """Expand rows into monomials.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        XP : {ndarray, sparse matrix} of shape (n_samples, n_output_features_)
            Monomials.
        """
        check_is_fitted(self)
        is_plain = isinstance(X, (np.ndarray, list, tuple)) or hasattr(X, "columns")
        is_rows = sp.issparse(X) and X.format == "csr"
        if not (is_plain or is_rows) or getattr(X, "dtype", None) == np.float16:
            return super().transform(X)
        high = self.degree if np.ndim(self.degree) == 0 else self.degree[1]
        bias = bool(self.include_bias)
        segments, n_full = degree_segments(self.n_features_in_, high, interaction_only=self.interaction_only, bias=bias)
        whole = n_full == self.n_output_features_
        if not 0 < self.n_output_features_ <= n_full:
            raise ValueError(
                f"degree={self.degree!r} is not that of the fit, which made {self.n_output_features_} columns"
            )
        if is_rows:
            X = X if X.has_sorted_indices else X.sorted_indices()  # both expansions count on it
            if not (whole and 1 <= high <= SPARSE_DEGREE and n_full < 2**31):
                return super().transform(X)
            X = check_design(self, X, accept_sparse="csr")
            return expand_sparse(X, high, self.interaction_only, int(bias), segments, n_full)
        if self.order != "C" and not whole:
            return super().transform(X)
        rows = check_design(self, X, accept_sparse=False, ensure_all_finite=False, order="C")
        if self.order == "C":
            out = expand(rows, int(bias), segments, n_full, self.n_output_features_)
        else:
            out = expand_by_column(rows, int(bias), segments, n_full)
        with np.errstate(all="ignore"):
            finite = np.isfinite(rows.sum(dtype=np.float64))  # a NaN or an infinity always reaches the sum
        if not finite:
            check_finite(self, rows)
        return out
