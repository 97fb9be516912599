"""Spectral clustering against scikit-learn, new rows against the formula, own solvers against ARPACK, odd data."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster
from sklearn.metrics import adjusted_rand_score

from hyperplan.cluster import SpectralClustering, spectral_clustering
from hyperplan.cluster._spectral import OWN, equal_rows, normalised_cut
from hyperplan.cluster._spectral_labels import cluster_qr, discretize
from hyperplan.kernels import RBF
from hyperplan.neighbors import kneighbors_graph

WAYS = ["kmeans", "discretize", "cluster_qr"]


def moons(n=200, seed=0, noise=0.06):
    rng = np.random.default_rng(seed)
    angle, upper = rng.uniform(0, np.pi, n), np.arange(n) % 2 == 0
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    X[~upper] = [1.0, 0.5] - X[~upper]
    return X + noise * rng.normal(size=X.shape), upper.astype(int)


def blobs(n=90, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    return np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])[labels] + 0.5 * rng.normal(size=(n, 2)), labels


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors", "laplacian", "poly", "cosine"])
def test_the_clusters_of_scikit_learn(way, affinity):
    X = blobs()[0] + 5.0
    options = {"n_clusters": 3, "affinity": affinity, "assign_labels": way, "random_state": 0, "gamma": 0.8}
    options["n_neighbors"] = 30  # enough for a graph in one piece
    mine, theirs = (module.SpectralClustering(**options).fit(X) for module in (_ours(), sklearn.cluster))
    assert adjusted_rand_score(mine.labels_, theirs.labels_) == 1.0
    assert abs(mine.affinity_matrix_ - theirs.affinity_matrix_).max() < 1e-9
    assert mine.certificate_.holds, str(mine.certificate_)
    np.testing.assert_array_equal(mine.predict(X), mine.labels_)


def _ours():
    import hyperplan.cluster

    return hyperplan.cluster


@pytest.mark.parametrize("way", WAYS)
def test_given_affinities_dense_and_sparse(way):
    X, truth = moons()
    graph = kneighbors_graph(X, 10, include_self=True)
    graph = 0.5 * (graph + graph.T)
    for W in (graph, graph.toarray(), graph.tocoo()):
        model = SpectralClustering(2, affinity="precomputed", assign_labels=way, random_state=0).fit(W)
        assert adjusted_rand_score(model.labels_, truth) > 0.95
        np.testing.assert_array_equal(model.predict(W.tocsr() if sp.issparse(W) else W), model.labels_)
    labels = spectral_clustering(graph, n_clusters=2, assign_labels=way, random_state=0)
    np.testing.assert_array_equal(labels, SpectralClustering(**{**model.get_params()}).fit(graph).labels_)


def test_given_distances():
    X = moons()[0]
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    options = {"n_clusters": 2, "random_state": 0}
    model = SpectralClustering(affinity="precomputed_nearest_neighbors", **options).fit(distances)
    plain = SpectralClustering(affinity="nearest_neighbors", **options).fit(X)
    assert adjusted_rand_score(model.labels_, plain.labels_) == 1.0
    new = X[:20] + 0.01
    to_new = np.sqrt(((new[:, None] - X) ** 2).sum(axis=2))
    np.testing.assert_array_equal(model.predict(to_new), model.labels_[:20])
    with pytest.raises(ValueError, match="square"):
        SpectralClustering(affinity="precomputed", n_clusters=2).fit(distances[:, :50])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors", RBF(50.0)])
def test_new_rows_get_the_cluster_of_their_moon(way, affinity):
    X, truth = moons()
    model = SpectralClustering(2, gamma=50.0, affinity=affinity, assign_labels=way, random_state=0).fit(X)
    assert adjusted_rand_score(model.labels_, truth) > 0.95
    new, new_truth = moons(seed=5)
    assert adjusted_rand_score(model.predict(new), new_truth) > 0.95


def test_the_formula_of_nystroem_gives_rows_of_the_fit_their_coordinates():
    X = blobs(60)[0]
    model = SpectralClustering(3, gamma=0.5, random_state=0).fit(X)
    W = model.affinity_matrix_.copy()
    np.fill_diagonal(W, 0.0)
    expected = W @ model.embedding_ / W.sum(axis=1)[:, None] / (1.0 - model.eigenvalues_)
    np.testing.assert_allclose(expected, model.embedding_, atol=1e-8)
    # a new row beside one of the fit has nearly its coordinates, so its cluster
    np.testing.assert_array_equal(model.predict(X + 1e-9), model.labels_)


def test_no_division_cuts_less_than_the_eigenvalues():
    X = blobs(30)[0]
    model = SpectralClustering(3, gamma=0.5, random_state=0).fit(X)
    details = model.certificate_.details
    cut, least = details["normalised cut"], details["no division into as many clusters cuts less than"]
    assert 0 < least <= cut < 3
    rng = np.random.default_rng(0)
    W = model.affinity_matrix_.copy()
    np.fill_diagonal(W, 0.0)
    for _ in range(50):
        assert normalised_cut(W, rng.permutation(model.labels_), W.sum(axis=1)) >= least


@pytest.mark.parametrize("solver", ["lobpcg", *OWN])
def test_every_solver_finds_the_same_clusters(solver):
    X = blobs(48)[0]
    arpack, other = (SpectralClustering(3, eigen_solver=s, random_state=0).fit(X) for s in (None, solver))
    np.testing.assert_allclose(other.eigenvalues_, arpack.eigenvalues_, atol=1e-5)
    assert adjusted_rand_score(arpack.labels_, other.labels_) == 1.0


def test_rows_without_affinity_have_no_cluster():
    X = blobs(30)[0]
    model = SpectralClustering(3, random_state=0).fit(X)
    assert model.predict([[1e6, 1e6]]).tolist() == [-1]


def test_sparse_rows_and_functions():
    X = np.abs(blobs(40)[0])
    dense = SpectralClustering(3, random_state=0).fit(X)
    sparse = SpectralClustering(3, random_state=0).fit(sp.csr_array(X))
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    np.testing.assert_array_equal(sparse.predict(X), sparse.labels_)

    def gauss(x, y, width):
        return np.exp(-((x - y) ** 2).sum() / width)

    own = SpectralClustering(3, affinity=gauss, kernel_params={"width": 1.0}, random_state=0).fit(X)
    np.testing.assert_array_equal(own.labels_, dense.labels_)
    np.testing.assert_array_equal(own.predict(X[:5] + 1e-9), dense.labels_[:5])


def test_equal_rows_are_found_in_any_form():
    table = np.array([[0.0, -0.0], [1.0, 2.0], [0.0, 0.0]])
    for X in (table, sp.csr_array(table)):
        assert equal_rows(X, table).tolist() == equal_rows(table, X).tolist() == [0, 1, 0]


def test_separate_parts_warn_and_are_found():
    X = np.concatenate([np.zeros((12, 2)), np.full((12, 2), 50.0)]) + 0.1 * np.random.default_rng(0).normal(
        size=(24, 2)
    )
    with pytest.warns(UserWarning, match="not fully connected"):
        model = SpectralClustering(2, affinity="nearest_neighbors", n_neighbors=5, random_state=0).fit(X)
    assert (model.labels_[:12] == model.labels_[0]).all() and (model.labels_[12:] == 1 - model.labels_[0]).all()


def test_bad_input():
    X = blobs(10)[0]
    with pytest.raises(ValueError, match="'affinity' parameter of SpectralClustering"):
        SpectralClustering(affinity="near").fit(X)
    with pytest.raises(ValueError, match="minimum of 2"):
        SpectralClustering(1).fit(X[:1])
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="row 3, column 1"):
        SpectralClustering(2).fit(X)
    with pytest.warns(UserWarning, match="API has changed"):
        SpectralClustering(2, random_state=0).fit(np.eye(4) + 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_rotations_find_noisy_classes(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 5, 200)
    noisy = np.eye(5)[truth] + 0.1 * rng.normal(size=(200, 5))
    for labels, rule in (discretize(noisy, random_state=seed), cluster_qr(noisy)):
        assert adjusted_rand_score(truth, labels) > 0.8
        np.testing.assert_array_equal(rule(noisy), labels)


def test_discretize_gives_up_when_no_factorisation_works(monkeypatch):
    def fail(*args, **kwargs):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(np.linalg, "svd", fail)
    with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
        discretize(np.ones((10, 4)))
