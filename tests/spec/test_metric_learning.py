"""H3: distances with a matrix, ``d(x, x')^2 = (x - x')' M (x - x')``; the inverse covariance as baseline, learnt M."""

import numpy as np
import pytest

from hyperplan.metrics import pairwise_distances
from hyperplan.neighbors import LargeMarginNearestNeighbor, NeighborhoodComponentsAnalysis


def two_classes(seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 60)
    return np.column_stack([y + 0.15 * rng.normal(size=120), 5.0 * rng.normal(size=(120, 3))]), y


@pytest.mark.parametrize("cls", [NeighborhoodComponentsAnalysis, LargeMarginNearestNeighbor])
def test_H3_a_linear_map_is_a_mahalanobis_distance(cls):
    X, y = two_classes()
    A = cls(max_iter=30).fit(X, y).components_
    M = A.T @ A
    assert np.linalg.eigvalsh(M)[0] >= -1e-9 * np.linalg.eigvalsh(M)[-1]
    mapped = pairwise_distances(X @ A.T)
    direct = np.sqrt(np.maximum(np.einsum("ijk,kl,ijl->ij", X[:, None] - X[None], M, X[:, None] - X[None]), 0))
    np.testing.assert_allclose(mapped, direct, rtol=1e-6, atol=1e-6)


def test_H3_the_inverse_covariance_makes_all_directions_alike():
    X, _ = two_classes()
    inverse = np.linalg.inv(np.cov(X, rowvar=False))
    scaled = pairwise_distances(X * [1.0, 100.0, 0.01, 7.0], metric="mahalanobis", VI=None)
    plain = pairwise_distances(X, metric="mahalanobis", VI=inverse)
    np.testing.assert_allclose(scaled, plain, rtol=1e-8)


@pytest.mark.parametrize("cls", [NeighborhoodComponentsAnalysis, LargeMarginNearestNeighbor])
def test_H3_a_learnt_distance_weighs_the_informative_column(cls):
    X, y = two_classes()
    A = cls(max_iter=200).fit(X, y).components_
    size = np.linalg.norm(A, axis=0)
    assert size[0] > 2 * size[1:].max() and size[0] > 5 * np.median(size[1:])


def right_neighbours(X, y):
    D = pairwise_distances(X)
    np.fill_diagonal(D, np.inf)
    return np.mean(y[D.argmin(axis=1)] == y)


def test_H3_learnt_distances_beat_plain_ones():
    X, y = two_classes()
    new, labels = two_classes(seed=1)
    for cls in (NeighborhoodComponentsAnalysis, LargeMarginNearestNeighbor):
        learnt = right_neighbours(cls(max_iter=200).fit(X, y).transform(new), labels)
        assert learnt > right_neighbours(new, labels) + 0.3
