"""Kernels of polynomial features against products written out."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from hyperplan._core.arrays import compressed
from hyperplan.preprocessing import _polynomial_kernels as kernels
from hyperplan.preprocessing._polynomial import degree_segments


def _naive(X, degree, distinct, bias):
    """Products of columns in graded order, multiplied from the last factor to the first as the kernels do."""
    pick = itertools.combinations if distinct else itertools.combinations_with_replacement
    columns = [np.ones(len(X))] if bias else []
    for k in range(1, degree + 1):
        for chosen in pick(range(X.shape[1]), k):
            column = X[:, chosen[-1]].copy()
            for j in chosen[-2::-1]:
                column = column * X[:, j]
            columns.append(column)
    return np.column_stack(columns) if columns else np.empty((len(X), 0))


@pytest.mark.parametrize("n", [0, 1, 2, 7])
@pytest.mark.parametrize(
    ("degree", "distinct", "bias"), list(itertools.product([1, 2, 3], [False, True], [False, True]))
)
def test_rows_columns_and_sparse_rows(n, degree, distinct, bias):
    rng = np.random.default_rng(n)
    X = rng.integers(-3, 4, size=(n, 4)).astype(np.float64)  # small integers: products are exact in any order
    expected = _naive(X, degree, distinct, bias)
    segments, size = degree_segments(4, degree, interaction_only=distinct, bias=bias)
    assert size == expected.shape[1]
    out = np.empty((n, size))
    kernels.monomials(X, int(bias), segments, np.empty(size), out)
    np.testing.assert_array_equal(out, expected)
    lines = np.empty((size, n))
    kernels.plain_columns(X, int(bias), lines)
    kernels.monomial_lines(int(bias), segments, lines)
    np.testing.assert_array_equal(lines.T, expected)
    rows = sp.csr_array(X)
    indptr = np.empty(n + 1, dtype=np.int64)
    kernels.count_monomials(rows.indptr.astype(np.int64), int(bias), degree, int(distinct), indptr)
    shift = np.zeros((2, 4), dtype=np.int64)
    for start, _, feature, to in segments:
        shift[int(start >= int(bias) + 4), feature] = to - start
    indices, data = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1])
    fixed = (compressed(rows), int(bias), degree, int(distinct), shift, np.array([0, n]), indptr)
    kernels.sparse_monomials(*fixed, indices, data)
    got = sp.csr_array((data, indices, indptr), shape=(n, size))
    np.testing.assert_array_equal(got.toarray(), expected)


def test_lowest_degrees_are_left_out():
    X = np.array([[2.0, 3.0]])
    segments, size = degree_segments(2, 2)
    out = np.empty((1, 4))  # the constant and degree two only
    kernels.monomials(X, 1, segments, np.empty(size), out)
    np.testing.assert_array_equal(out, [[1.0, 4.0, 6.0, 9.0]])
