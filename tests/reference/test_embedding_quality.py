"""Measures of maps: trustworthiness, continuity, residual variance, stress, intrinsic dimension."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.manifold
from scipy.spatial.distance import cdist, pdist, squareform

import hyperplan
from hyperplan.decomposition import PCA
from hyperplan.manifold import continuity, intrinsic_dimension, residual_variance, stress, trustworthiness

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 6))
MAP = PCA(2).fit_transform(X)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "chebyshev"])
@pytest.mark.parametrize("k", [1, 5, 40])
def test_trustworthiness_is_scikit_learns(k, metric):
    options = {"n_neighbors": k, "metric": metric}
    assert trustworthiness(X, MAP, **options) == pytest.approx(
        sklearn.manifold.trustworthiness(X, MAP, **options), abs=1e-12
    )


def test_trustworthiness_of_distances_sparse_rows_and_functions():
    expected = trustworthiness(X, MAP)
    assert trustworthiness(cdist(X, X), MAP, metric="precomputed") == pytest.approx(expected, abs=1e-12)
    assert trustworthiness(sp.csr_array(X), MAP) == pytest.approx(expected, abs=1e-12)
    assert trustworthiness(X[:40], MAP[:40], metric=lambda x, y: np.abs(x - y).sum()) == pytest.approx(
        trustworthiness(X[:40], MAP[:40], metric="manhattan"), abs=1e-12
    )


def test_continuity_is_trustworthiness_with_the_sides_exchanged():
    for k in (1, 5, 20):
        assert continuity(X, MAP, n_neighbors=k) == pytest.approx(
            sklearn.manifold.trustworthiness(MAP, X, n_neighbors=k), abs=1e-12
        )
    assert continuity(cdist(X, X), MAP, metric="precomputed") == pytest.approx(continuity(X, MAP), abs=1e-12)


def test_a_map_that_tears_and_a_map_that_glues():
    t = np.linspace(0.0, 2 * np.pi, 60, endpoint=False)
    circle, line = np.column_stack([np.cos(t), np.sin(t)]), t.reshape(-1, 1)
    # cut open: only rows at the ends have other neighbours on the line, but those lie on both sides of the cut
    assert 1.0 > trustworthiness(circle, line) > 0.99 > continuity(circle, line)
    flat = circle[:, :1]  # both halves on top of each other
    assert continuity(circle, flat) > trustworthiness(circle, flat)


def test_threads_and_strips_change_nothing():
    many, plane = RNG.normal(size=(400, 3)), RNG.normal(size=(400, 2))
    found = set()
    for n_jobs in (1, 2, 3):
        with hyperplan.thread_limit(n_jobs):
            found.add((trustworthiness(many, plane), continuity(many, plane)))
    assert len(found) == 1


@pytest.mark.parametrize("measure", [trustworthiness, continuity])
def test_neighbourhoods_of_half_the_rows_are_too_large(measure):
    with pytest.raises(ValueError, match="n_samples / 2"):
        measure(X[:10], MAP[:10], n_neighbors=5)
    with pytest.raises(ValueError, match="inconsistent"):
        measure(X, MAP[:10])
    with pytest.raises(ValueError, match="square"):
        measure(X, MAP, metric="precomputed")


def test_duplicates_and_equal_points():
    same = np.ones((20, 2))
    for measure in (trustworthiness, continuity):
        assert 0.0 <= measure(same, same, n_neighbors=3) <= 1.0
        assert measure(np.repeat(X, 2, axis=0), np.repeat(X, 2, axis=0), n_neighbors=1) == 1.0


def test_measures_of_distances_are_those_of_the_metrics():
    before, after = pdist(X), pdist(MAP)
    assert residual_variance(X, MAP) == pytest.approx(1.0 - np.corrcoef(before, after)[0, 1] ** 2)
    assert stress(X, MAP, kind="raw") == pytest.approx(((before - after) ** 2).sum())
    assert residual_variance(squareform(before), MAP, metric="precomputed") == pytest.approx(residual_variance(X, MAP))


@pytest.mark.parametrize("method", ["mle", "two_nn"])
@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_dimension_of_flat_surfaces(method, dimension):
    """Within ten per cent: 2000 rows leave a standard error of about two, and borders pull a little down."""
    surface = np.random.default_rng(dimension).uniform(size=(2000, dimension)) @ RNG.normal(size=(dimension, 7))
    assert intrinsic_dimension(surface, method=method) == pytest.approx(dimension, rel=0.12)


def test_dimension_is_the_formula_and_copies_do_not_count():
    distances = np.sort(cdist(X, X), axis=1)[:, 1:11]
    logs = np.log(distances[:, -1:] / distances[:, :-1])
    assert intrinsic_dimension(X) == pytest.approx((logs.size - 1) / logs.sum())
    assert intrinsic_dimension(cdist(X, X), metric="precomputed") == pytest.approx(intrinsic_dimension(X))
    assert np.isfinite(intrinsic_dimension(np.repeat(X, 2, axis=0)))
    assert np.isnan(intrinsic_dimension(np.ones((20, 3))))
    with pytest.raises(ValueError, match="minimum of 3"):
        intrinsic_dimension(X[:2])
