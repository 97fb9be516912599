"""Distances between rows beside scikit-learn's and SciPy's."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics as reference
import sklearn.metrics.pairwise as reference_pairwise

import hyperplan.metrics as ours
import hyperplan.metrics.pairwise as ours_pairwise
from hyperplan import thread_limit
from hyperplan.metrics._distance_source import BOOLEAN, KNOWN

from .metrics_common import assert_same_outcome, outcome

# scikit-learn takes Euclidean distances from inner products, which cancel: seven digits are left at these sizes.
CLOSE = {"rtol": 1e-7, "atol": 1e-9}
NAMED = ["euclidean_distances", "manhattan_distances", "cosine_distances", "nan_euclidean_distances"]


def tables(seed=0, n=40, m=25, d=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d))


def data_for(metric):
    X, Y = tables(d=2 if metric == "haversine" else 4)
    return (X > 0, Y > 0) if metric in BOOLEAN else (X, Y)


@pytest.mark.parametrize("metric", sorted(set(KNOWN) - {"precomputed"}))
def test_every_metric(metric):
    X, Y = data_for(metric)
    for second in (None, Y):
        options = {"V": np.arange(1.0, 5.0)} if metric == "seuclidean" and second is not None else {}
        if metric == "mahalanobis" and second is not None:
            options = {"VI": np.eye(4) + 0.1}
        found = ours.pairwise_distances(X, second, metric=metric, **options)
        np.testing.assert_allclose(found, reference.pairwise_distances(X, second, metric=metric, **options), **CLOSE)


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, np.inf])
def test_minkowski(p):
    X, Y = tables()
    for options in ({"p": p}, {"p": p, "w": np.array([1.0, 2.0, 0.5, 3.0])}):
        assert_same_outcome("pairwise_distances", X, Y, metric="minkowski", tolerance=CLOSE, **options)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "l1", "l2", "cityblock"])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.csr_matrix])
def test_sparse_rows(metric, form):
    X, Y = (np.where(np.abs(table) > 0.8, table, 0.0) for table in tables())
    X[0] = 0.0
    for first, second in ((form(X), form(Y)), (form(X), Y), (form(X), None)):
        found = ours.pairwise_distances(first, second, metric=metric)
        expected = reference.pairwise_distances(X, Y if second is not None else None, metric=metric)
        np.testing.assert_allclose(found, expected, **CLOSE)
    with pytest.raises(TypeError, match="sparse"):
        ours.pairwise_distances(form(X), metric="canberra")


def test_rows_without_a_direction():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0], [2.0, 4.0]])
    for table in (X, sp.csr_array(X)):
        assert_same_outcome("pairwise_distances", table, metric="cosine")


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_named_distances(name, dtype):
    X, Y = ((10 * table).astype(dtype) for table in tables())
    found, expected = (getattr(m, name)(X, Y) for m in (ours_pairwise, reference_pairwise))
    assert found.dtype == expected.dtype or name == "manhattan_distances"  # there SciPy's are always float64
    np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype == np.float32 else 1e-7, atol=1e-5)
    same = getattr(ours_pairwise, name)(X)
    np.testing.assert_array_equal(np.diag(same), 0)
    np.testing.assert_array_equal(same, same.T)


def test_missing_values():
    X, Y = tables()
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    X[3] = np.nan
    for squared in (False, True):
        found, expected = (
            m.nan_euclidean_distances(X, Y, squared=squared) for m in (ours_pairwise, reference_pairwise)
        )
        np.testing.assert_allclose(found, expected, **CLOSE)
    assert_same_outcome("euclidean_distances", X, Y)


def test_close_points_keep_their_distance():
    """1e-9 apart, a thousand from the origin: inner products would leave nothing of it."""
    X = np.array([[1000.0, 0.0], [1000.0 + 1e-9, 0.0]])
    found = ours.euclidean_distances(X)[0, 1]
    assert found == pytest.approx(X[1, 0] - X[0, 0], rel=1e-6)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "chebyshev", "cosine"])
@pytest.mark.parametrize("axis", [0, 1])
def test_nearest_rows(metric, axis):
    X, Y = tables()
    for name in ("pairwise_distances_argmin", "pairwise_distances_argmin_min"):
        assert_same_outcome(name, X, Y, axis=axis, metric=metric, tolerance=CLOSE)


def test_strips():
    X, Y = tables(n=200)
    whole = reference.pairwise_distances(X, Y)
    for memory in (0.001, 0.01, 64):
        strips = list(ours.pairwise_distances_chunked(X, Y, working_memory=memory))
        np.testing.assert_allclose(np.vstack(strips), whole, **CLOSE)
    nearest = ours.pairwise_distances_chunked(X, Y, reduce_func=lambda D, start: D.argmin(axis=1), working_memory=0.01)
    np.testing.assert_array_equal(np.concatenate(list(nearest)), whole.argmin(axis=1))
    for bad in (lambda D, start: 3, lambda D, start: D[:-1]):
        kinds = [
            outcome(lambda m=m, bad=bad: list(m.pairwise_distances_chunked(X, reduce_func=bad)))[1]
            for m in (ours, reference)
        ]
        assert kinds[0] == kinds[1] is not None


@pytest.mark.parametrize(
    "arguments, options",
    [
        ((np.ones((2, 3)), np.ones((2, 4))), {}),
        ((np.ones(3),), {}),
        ((np.ones((2, 3)),), {"metric": "nonsense"}),
        ((np.ones((2, 3)),), {"metric": "precomputed"}),
        ((-np.ones((2, 2)),), {"metric": "precomputed"}),
        (([[np.inf, 1.0]],), {}),
        ((np.empty((0, 3)),), {}),
        ((np.ones((2, 3)), np.ones((2, 3))), {"metric": "seuclidean"}),
        ((np.ones((2, 3)), np.ones((2, 3))), {"metric": "mahalanobis"}),
        ((np.ones((2, 3)),), {"n_jobs": 0.5}),
    ],
)
def test_bad_input(arguments, options):
    assert_same_outcome("pairwise_distances", *arguments, **options)


def test_threads_change_no_bit():
    X = np.random.default_rng(3).normal(size=(1100, 6))
    for metric in ("euclidean", "manhattan", "minkowski"):
        found = []
        for threads in (1, 2, 4):
            with thread_limit(threads):
                found.append(ours.pairwise_distances(X, metric=metric).tobytes())
        assert found[0] == found[1] == found[2]


def test_a_function_of_two_rows():
    X, Y = tables(n=8, m=5)
    assert_same_outcome("pairwise_distances", X, Y, metric=lambda a, b: float(np.abs(a - b).max()))
    assert_same_outcome("pairwise_distances", X, metric=lambda a, b: float(np.abs(a - b).max()))
