"""Spectral embedding against scikit-learn, and at the edges."""

import sys
import types

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.manifold
from scipy.sparse.linalg import LinearOperator

from hyperplan._math.laplacian import is_connected, spectral_coordinates, spectrum
from hyperplan.manifold import SpectralEmbedding, spectral_embedding
from hyperplan.manifold._scaling import OWN
from hyperplan.neighbors import kneighbors_graph

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(size=(40, 3)), RNG.normal(size=(40, 3)) + 2.0])
SQUARES = ((X[:, None] - X) ** 2).sum(axis=2)
AFFINITY = np.exp(-0.3 * SQUARES)


def up_to_signs(found, expected, **tolerance):
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found * signs, expected, **tolerance)


@pytest.mark.parametrize("options", [{"affinity": "rbf"}, {"n_neighbors": 25}, {"affinity": "rbf", "gamma": 0.7}])
def test_embeddings_are_scikit_learns(options):
    ours = SpectralEmbedding(3, random_state=0, **options).fit(X)
    theirs = sklearn.manifold.SpectralEmbedding(3, random_state=0, **options).fit(X)
    up_to_signs(ours.embedding_, theirs.embedding_, atol=1e-8)
    np.testing.assert_allclose(ours.embedding_, theirs.embedding_, atol=1e-8)  # signs follow the same rule
    left, right = ours.affinity_matrix_, theirs.affinity_matrix_
    np.testing.assert_allclose(*(a.toarray() if sp.issparse(a) else a for a in (left, right)), atol=1e-12)
    assert ours.certificate_.holds


@pytest.mark.parametrize("norm_laplacian", [True, False])
@pytest.mark.parametrize("drop_first", [True, False])
def test_the_function_is_scikit_learns(norm_laplacian, drop_first):
    options = {"n_components": 3, "norm_laplacian": norm_laplacian, "drop_first": drop_first, "random_state": 0}
    for graph in (AFFINITY, sp.csr_array(np.where(AFFINITY > 0.1, AFFINITY, 0.0))):
        ours, theirs = spectral_embedding(graph, **options), sklearn.manifold.spectral_embedding(graph, **options)
        np.testing.assert_allclose(ours, theirs, atol=1e-8)


@pytest.mark.parametrize("solver", ["lobpcg", *OWN])
def test_solvers_agree(solver):
    expected = spectral_embedding(AFFINITY, n_components=2, random_state=0)
    found = spectral_embedding(AFFINITY, n_components=2, eigen_solver=solver, random_state=0, eigen_tol=1e-9)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_sparse_and_dense_graphs_agree():
    graph = np.where(AFFINITY > 0.05, AFFINITY, 0.0)
    for large in (graph, sp.csr_array(graph), sp.csc_array(graph), sp.coo_array(graph)):
        found = spectral_coordinates(large, 2, random_state=np.random.RandomState(0), eigen_tol="auto")
        np.testing.assert_allclose(found, spectral_embedding(graph, n_components=2, random_state=0), atol=1e-9)


def test_eigenvectors_of_the_laplacian():
    found = spectrum(AFFINITY, 4, random_state=np.random.RandomState(0))
    plain = AFFINITY - np.diag(np.diag(AFFINITY))
    degrees = plain.sum(axis=1)
    np.testing.assert_allclose(found.degrees, degrees)
    Y = found.coordinates
    np.testing.assert_allclose(np.diag(degrees) @ Y - plain @ Y, (degrees[:, None] * Y) * found.values, atol=1e-9)
    np.testing.assert_allclose(Y.T @ (degrees[:, None] * Y), np.eye(4), atol=1e-9)
    assert found.residual < 1e-10


@pytest.mark.parametrize("options", [{"affinity": "rbf"}, {"n_neighbors": 25}])
def test_new_rows_follow_the_rule_of_training_rows(options):
    model = SpectralEmbedding(2, random_state=0, **options).fit(X)
    assert (model.transform(X) == model.embedding_).all()
    near = model.transform(X[:20] + 1e-6)
    spread = np.ptp(model.embedding_, axis=0)
    assert (np.abs(near - model.embedding_[:20]) < 0.3 * spread).all()


def test_affinities_of_new_rows_reproduce_the_training_rows():
    plain = AFFINITY - np.diag(np.diag(AFFINITY))
    model = SpectralEmbedding(2, affinity="precomputed", random_state=0).fit(plain)
    np.testing.assert_allclose(model.transform(plain), model.embedding_, atol=1e-9)


def test_rows_without_affinity_get_zeros():
    model = SpectralEmbedding(2, affinity="precomputed", random_state=0).fit(AFFINITY)
    assert not model.transform(np.zeros((1, 80))).any()


def test_functions_and_graphs_as_affinities():
    by_function = SpectralEmbedding(2, affinity=lambda rows: AFFINITY, random_state=0).fit(X)
    np.testing.assert_allclose(by_function.embedding_, spectral_embedding(AFFINITY, n_components=2, random_state=0))
    graph = kneighbors_graph(X, 30, mode="distance")
    model = SpectralEmbedding(affinity="precomputed_nearest_neighbors", n_neighbors=20, random_state=0).fit(graph)
    theirs = sklearn.manifold.SpectralEmbedding(
        affinity="precomputed_nearest_neighbors", n_neighbors=20, random_state=0
    ).fit(graph)
    np.testing.assert_allclose(model.embedding_, theirs.embedding_, atol=1e-8)
    for fitted in (by_function, model):
        with pytest.raises(ValueError, match="says nothing of new rows"):
            fitted.transform(graph.toarray() if fitted is model else X)


def test_sparse_rows_fall_back_to_a_kernel():
    with pytest.warns(UserWarning, match="rbf affinity"):
        model = SpectralEmbedding(random_state=0).fit(sp.csr_array(X))
    assert model.affinity == "nearest_neighbors"  # the parameter stays
    np.testing.assert_allclose(
        model.embedding_, SpectralEmbedding(affinity="rbf", random_state=0).fit_transform(X), atol=1e-8
    )


def test_single_precision_stays():
    for affinity in ("rbf", "nearest_neighbors"):
        model = SpectralEmbedding(affinity=affinity, random_state=0).fit(X.astype(np.float32))
        assert model.embedding_.dtype == np.float32 == model.transform(X[:3].astype(np.float32)).dtype


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_pieces_are_told(make):
    two = np.kron(np.eye(2), np.ones((20, 20)))
    assert not is_connected(make(two)) and is_connected(make(np.ones((5, 5))))
    assert is_connected(make(np.diag(np.ones(9), 1) + np.diag(np.ones(9), -1)))
    with pytest.warns(UserWarning, match="not fully connected"):
        found = spectral_embedding(make(two), n_components=1, random_state=0)
    assert np.isfinite(found).all()


def test_graphs_that_are_not_symmetric_are_averaged():
    skewed = AFFINITY.copy()
    skewed[0, 1] += 0.2
    for graph in (skewed, sp.csr_array(skewed)):
        with pytest.warns(UserWarning, match="not symmetric"):
            found = spectral_embedding(graph, n_components=2, random_state=0)
        expected = spectral_embedding((skewed + skewed.T) / 2, n_components=2, random_state=0)
        np.testing.assert_allclose(found, expected, atol=1e-9)
    with pytest.raises(ValueError, match="square"):
        spectral_embedding(np.ones((3, 2)))


def test_more_components_than_nodes_warns_and_returns_what_exists():
    with pytest.warns(UserWarning, match="a graph of 5 nodes has 5"):
        found = spectral_embedding(np.ones((5, 5)), n_components=8)
    assert found.shape == (5, 4)


def test_isolated_nodes_and_duplicates():
    graph = np.pad(np.ones((6, 6)), (0, 1))
    with pytest.warns(UserWarning, match="not fully connected"):
        assert np.isfinite(spectral_embedding(graph, n_components=2, random_state=0)).all()
    copies = np.repeat(X[:20], 2, axis=0)
    model = SpectralEmbedding(affinity="rbf", random_state=0).fit(copies)
    np.testing.assert_allclose(model.embedding_[::2], model.embedding_[1::2], atol=1e-8)
    with pytest.raises(ValueError, match="minimum of 2"):
        SpectralEmbedding().fit(X[:1])


def test_multigrid_needs_its_package_and_uses_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyamg", None)
    with pytest.raises(ValueError, match="pyamg is not available"):
        spectral_embedding(AFFINITY, n_components=2, eigen_solver="amg")

    class Levels:
        """A stand-in for pyamg's solver: divides by the diagonal."""

        def __init__(self, matrix):
            self.matrix = matrix

        def aspreconditioner(self):
            diagonal = self.matrix.diagonal()
            return LinearOperator(self.matrix.shape, matvec=lambda v: v.ravel() / diagonal, dtype=np.float64)

    package = types.ModuleType("pyamg")
    package.smoothed_aggregation_solver = Levels
    monkeypatch.setitem(sys.modules, "pyamg", package)
    graph = sp.csr_array(AFFINITY)
    found = spectral_embedding(graph, n_components=2, eigen_solver="amg", eigen_tol=1e-8, random_state=0)
    np.testing.assert_allclose(found, spectral_embedding(graph, n_components=2, random_state=0), atol=1e-5)
    for small, reason in ((AFFINITY, "dense matrices"), (AFFINITY[:10, :10], "small graphs")):
        with pytest.warns(RuntimeWarning, match=reason):
            spectral_embedding(small, n_components=2, eigen_solver="amg", random_state=0)
