"""Rectangles of kernel values against scikit-learn's functions, in both precisions, anywhere in a matrix."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels

from hyperplan import thread_limit
from hyperplan._math import gram
from hyperplan._math.gram import KernelSpec, Rows, diagonal, fill, fill_square, prepare

SPECS = [
    KernelSpec("linear"),
    KernelSpec("poly", gamma=0.3, degree=3, coef0=1.0),
    KernelSpec("poly", gamma=0.1, degree=0, coef0=1.0),
    KernelSpec("poly", gamma=0.01, degree=2.5, coef0=3.0),
    KernelSpec("rbf", gamma=0.2),
    KernelSpec("laplacian", gamma=0.2),
    KernelSpec("sigmoid", gamma=0.1, coef0=0.5),
    KernelSpec("cosine"),
]
by_spec = pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.name}{spec.degree:g}")
by_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def tables(m, n, d, shift=0.0, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)) + shift, rng.normal(size=(n, d)) + shift


def reference(spec, X, Y):
    return pairwise_kernels(
        X, Y, metric=spec.name, filter_params=True, gamma=spec.gamma, degree=spec.degree, coef0=spec.coef0
    )


def values(spec, X, Y, dtype=np.float64, **options):
    anchors = prepare(spec, Y, dtype)
    out = np.full((len(X), len(Y)), np.nan, dtype=dtype)
    fill(spec, prepare(spec, X, dtype, like=anchors), anchors, out, **options)
    return out


@by_spec
@by_type
@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 700, 5), (300, 129, 7), (130, 513, 2)])
def test_values_are_scikit_learns(spec, dtype, shape):
    """Rounding of products of a few numbers of size one: 1e-11 and 1e-4 of the largest value are generous."""
    X, Y = tables(*shape)
    expected = reference(spec, X, Y)
    tolerance = 1e-4 if dtype == np.float32 else 1e-11
    np.testing.assert_allclose(values(spec, X, Y, dtype), expected, rtol=tolerance, atol=tolerance)


@by_spec
@by_type
def test_a_table_with_itself_is_exactly_symmetric_with_an_exact_diagonal(spec, dtype):
    X, _ = tables(600, 1, 4)
    rows = prepare(spec, X, dtype)
    out = np.full((600, 600), np.nan, dtype=dtype)
    fill_square(spec, rows, out)
    assert np.array_equal(out, out.T) and np.array_equal(out.diagonal(), diagonal(spec, rows))
    tolerance = 1e-4 if dtype == np.float32 else 1e-11
    np.testing.assert_allclose(out, reference(spec, X, X), rtol=tolerance, atol=tolerance)


@by_spec
@by_type
def test_threads_change_no_bit(spec, dtype):
    X, Y = tables(400, 1500, 6)
    square, alone = np.empty((400, 400), dtype=dtype), np.empty((400, 400), dtype=dtype)
    rows = prepare(spec, X, dtype)
    fill_square(spec, rows, square, n_jobs=3)
    with thread_limit(1):
        expected = values(spec, X, Y, dtype)
        fill_square(spec, rows, alone)
    assert np.array_equal(values(spec, X, Y, dtype, n_jobs=3), expected) and np.array_equal(square, alone)


@by_spec
def test_a_part_of_a_matrix_is_filled_in_place(spec):
    X, Y = tables(70, 90, 3)
    anchors = prepare(spec, Y)
    whole = np.full((100, 200), np.nan)
    fill(spec, prepare(spec, X, like=anchors), anchors, whole[20:90, 50:140])
    np.testing.assert_allclose(whole[20:90, 50:140], values(spec, X, Y), rtol=1e-12)
    assert np.isnan(whole).sum() == 100 * 200 - 70 * 90
    every_other = np.full((140, 90), np.nan)
    fill(spec, prepare(spec, X, like=anchors), anchors, every_other[::2])
    np.testing.assert_allclose(every_other[::2], values(spec, X, Y), rtol=1e-12)
    assert np.isnan(every_other[1::2]).all()


@by_spec
def test_no_rows(spec):
    X, Y = tables(3, 4, 2)
    anchors = prepare(spec, Y)
    nobody = Rows(np.empty((0, 2)), np.empty(0), anchors.offset)
    fill(spec, nobody, anchors, np.empty((0, 4)))
    fill(spec, prepare(spec, X, like=anchors), nobody, np.empty((3, 0)))
    assert diagonal(spec, nobody).shape == (0,)


def test_what_does_not_fit_is_refused():
    spec = KernelSpec("rbf")
    X, Y = tables(5, 6, 2)
    a, b = prepare(spec, X), prepare(spec, Y)
    with pytest.raises(ValueError, match="different centres"):
        fill(spec, a, b, np.empty((5, 6)))
    b = prepare(spec, Y, like=a)
    with pytest.raises(ValueError, match="the rectangle is"):
        fill(spec, a, b, np.empty((6, 5)))
    with pytest.raises(ValueError, match="the rectangle is"):
        fill(spec, a, b, np.empty((5, 6), dtype=np.float32))
    with pytest.raises(ValueError, match="side by side"):
        fill(spec, a, b, np.empty((6, 5)).T)


@pytest.mark.parametrize("name", ["rbf", "linear"])
def test_rows_whose_squares_overflow_are_named(name):
    X = np.ones((4, 2))
    X[2, 1] = 1e200
    with pytest.raises(ValueError, match=r"squared norm of row \d exceeds .* float64: scale"):
        prepare(KernelSpec(name), X)
    with pytest.raises(ValueError, match="float32"):
        prepare(KernelSpec(name), np.full((2, 2), 1e30) * [[1.0], [2.0]], np.float32)


@by_type
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_gamma_zero_and_huge(name, dtype):
    X, Y = tables(20, 30, 3)
    assert (values(KernelSpec(name, gamma=0.0), X, Y, dtype) == 1.0).all()
    spec, out = KernelSpec(name, gamma=1e12), np.empty((20, 20), dtype=dtype)
    fill_square(spec, prepare(spec, X, dtype), out)
    assert np.array_equal(out, np.eye(20, dtype=dtype))


@by_type
def test_repeated_rows_far_from_the_others_have_the_value_one(dtype):
    """Clusters a thousand widths apart: without a repair single precision has no digit of small distances left."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(50, 4)) + 1000.0 * rng.integers(0, 2, size=(50, 1))).astype(dtype)
    spec = KernelSpec("rbf", gamma=1.0)
    found = values(spec, X, X.copy(), dtype)
    gaps = ((X[:, None].astype(float) - X[None].astype(float)) ** 2).sum(-1)
    np.testing.assert_allclose(found, np.exp(-gaps), atol=3e-4 if dtype == np.float32 else 1e-10)  # rounded rows
    np.testing.assert_allclose(found.diagonal(), 1.0, rtol=1e-6 if dtype == np.float32 else 1e-12)


def test_centring_keeps_the_digits_of_shifted_tables():
    X, Y = tables(30, 40, 3)
    spec = KernelSpec("rbf", gamma=0.5)
    np.testing.assert_allclose(values(spec, X + 1e6, Y + 1e6), values(spec, X, Y), atol=1e-8)  # the shift itself rounds
    shifted = X.astype(np.float32) + np.float32(64), Y.astype(np.float32) + np.float32(64)
    exact = values(spec, *(part.astype(np.float64) for part in shifted))
    np.testing.assert_allclose(values(spec, *shifted, np.float32), exact, atol=5e-6)


def test_chosen_rows_are_taken_with_their_norms():
    X, Y = tables(50, 20, 3)
    spec = KernelSpec("rbf", gamma=0.5)
    a = prepare(spec, X)
    out = np.empty((3, 20))
    fill(spec, a.take(np.array([4, 7, 9])), prepare(spec, Y, like=a), out)
    np.testing.assert_allclose(out, reference(spec, X[[4, 7, 9]], Y), rtol=1e-12)
    assert np.shares_memory(a.take(slice(3, 6)).rows, a.rows)


def test_all_names_are_tried_here():
    assert {spec.name for spec in SPECS} == set(gram.NAMES)
