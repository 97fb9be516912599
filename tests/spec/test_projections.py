"""Experiments with projections: an ellipse (X7), three Gaussians (X19), concentration of distances (X23)."""

from itertools import pairwise

import numpy as np
import pytest

from hyperplan.decomposition import PCA, KernelPCA
from hyperplan.discriminant_analysis import LinearDiscriminantAnalysis
from hyperplan.metrics.pairwise import euclidean_distances


def test_X7_the_long_axis_of_an_ellipse_has_93_per_cent_of_the_variance():
    rng = np.random.default_rng(0)
    turn = np.array([[np.cos(0.6), -np.sin(0.6)], [np.sin(0.6), np.cos(0.6)]])
    X = rng.normal(size=(4000, 2)) * np.sqrt([0.93, 0.07]) @ turn.T
    model = PCA().fit(X)
    assert model.explained_variance_ratio_[0] == pytest.approx(0.93, abs=0.01)
    assert abs(model.components_[0] @ turn[:, 0]) > 0.999  # along the long axis, whatever its sign


def test_X19_fisher_separates_three_gaussians_where_the_variance_is_elsewhere():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 200)
    means = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [1.5, 3.0, 0.0]])
    X = means[y] + rng.normal(size=(600, 3)) * [0.5, 0.5, 20.0]
    flat = {
        "fisher": LinearDiscriminantAnalysis(n_components=2).fit(X, y).transform(X),
        "pca": PCA(2).fit_transform(X),
    }
    wrong = {}
    for name, Y in flat.items():
        centres = np.array([Y[y == label].mean(axis=0) for label in range(3)])
        wrong[name] = np.mean(euclidean_distances(Y, centres).argmin(axis=1) != y)
    assert wrong["fisher"] < 0.02 and wrong["pca"] > 0.2


def test_X23_distances_in_a_ball_concentrate():
    rng, spreads = np.random.default_rng(0), []
    for d in (2, 10, 100, 1000):
        X = rng.normal(size=(200, d))
        X *= (rng.random(200) ** (1 / d) / np.linalg.norm(X, axis=1))[:, None]  # uniform in the ball
        gaps = euclidean_distances(X)[np.triu_indices(200, 1)]
        spreads.append(gaps.std() / gaps.mean())
    assert all(later < 0.6 * earlier for earlier, later in pairwise(spreads))
    assert gaps.mean() == pytest.approx(np.sqrt(2), abs=0.01)  # nearly all pairs at the same distance


def test_Q7_kernel_pca_is_the_eigenvectors_of_the_centred_gram_matrix():
    X = np.random.default_rng(0).normal(size=(30, 3))
    K = np.exp(-0.4 * euclidean_distances(X, squared=True))
    H = np.eye(30) - 1 / 30
    values, vectors = np.linalg.eigh(H @ K @ H)
    expected = vectors[:, ::-1][:, :4] * np.sqrt(values[::-1][:4])
    model = KernelPCA(4, kernel="rbf", gamma=0.4).fit(X)
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(expected), atol=1e-8)


def test_V20_new_rows_by_the_formula_of_nystroem():
    X, new = np.random.default_rng(1).normal(size=(30, 3)), np.random.default_rng(2).normal(size=(5, 3))
    K, k = (np.exp(-0.4 * euclidean_distances(a, X, squared=True)) for a in (X, new))
    centred = k - k.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
    model = KernelPCA(4, kernel="rbf", gamma=0.4).fit(X)
    expected = centred @ model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    np.testing.assert_allclose(model.transform(new), expected, atol=1e-10)
