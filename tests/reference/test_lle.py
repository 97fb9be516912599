"""Locally linear embedding against scikit-learn, and at the edges."""

import warnings

import numpy as np
import pytest
import sklearn.manifold
from sklearn.manifold._locally_linear import barycenter_weights

import hyperplan
from hyperplan.manifold import LocallyLinearEmbedding, locally_linear_embedding
from hyperplan.manifold._lle import METHODS
from hyperplan.manifold._lle_matrices import barycentre_weights
from hyperplan.manifold._scaling import OWN
from hyperplan.neighbors import NearestNeighbors

RNG = np.random.default_rng(0)


def sheet(n, seed=0, noise=0.0):
    """A curved rectangle in space, and where its points are on it."""
    rng = np.random.default_rng(seed)
    s, t = rng.uniform(0.0, 3.0, n), rng.uniform(0.0, 2.0, n)
    surface = np.column_stack([np.sin(s), t, np.cos(s) + 0.1 * t**2])
    return surface + noise * rng.normal(size=(n, 3)), np.column_stack([s, t])


def same_space(found, expected):
    """Largest angle between the spaces of two tables with orthonormal columns, as a sine."""
    return np.linalg.norm(found - expected @ (expected.T @ found), 2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [150, 500])
def test_embeddings_are_scikit_learns(method, n):
    X, _ = sheet(n, noise=0.01)
    options = {"n_neighbors": 10, "n_components": 2, "method": method, "random_state": 0, "tol": 1e-10}
    ours = LocallyLinearEmbedding(**options).fit(X)
    theirs = sklearn.manifold.LocallyLinearEmbedding(**options, eigen_solver="dense").fit(X)
    # eigenvalues near zero come with an absolute error of about eps times the norm of the matrix
    assert ours.reconstruction_error_ == pytest.approx(theirs.reconstruction_error_, rel=1e-6, abs=1e-13)
    signs = np.sign((ours.embedding_ * theirs.embedding_).sum(axis=0))
    np.testing.assert_allclose(ours.embedding_ * signs, theirs.embedding_, atol=1e-6)
    assert ours.certificate_.holds and ours.certificate_.details["pieces"] == 1


@pytest.mark.parametrize("method", METHODS)
def test_more_columns_than_neighbours(method):
    X, _ = sheet(120, noise=0.01)
    X = X @ RNG.normal(size=(3, 20)) + 0.001 * RNG.normal(size=(120, 20))
    options = {"n_neighbors": 8, "n_components": 2, "method": method, "eigen_solver": "dense"}
    ours, theirs = LocallyLinearEmbedding(**options).fit(X), sklearn.manifold.LocallyLinearEmbedding(**options).fit(X)
    assert same_space(ours.embedding_, theirs.embedding_) < 1e-5
    assert ours.reconstruction_error_ == pytest.approx(theirs.reconstruction_error_, rel=1e-6)


@pytest.mark.parametrize("solver", OWN)
def test_own_eigen_solvers_agree(solver):
    X, _ = sheet(60)
    expected = LocallyLinearEmbedding(n_neighbors=8, eigen_solver="dense").fit(X)
    found = LocallyLinearEmbedding(n_neighbors=8, eigen_solver=solver).fit(X)
    np.testing.assert_allclose(found.embedding_, expected.embedding_, atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_the_sparse_and_the_dense_way_agree(method):
    X, _ = sheet(400)
    options = {"n_neighbors": 10, "method": method, "tol": 1e-10}
    sparse = LocallyLinearEmbedding(eigen_solver="arpack", **options).fit(X)
    dense = LocallyLinearEmbedding(eigen_solver="dense", **options).fit(X)
    assert same_space(sparse.embedding_, dense.embedding_) < 1e-5
    assert sparse.certificate_.details["products"] > 0 == dense.certificate_.details["products"]


@pytest.mark.parametrize("method", ["modified", "ltsa", "hessian"])
def test_a_sheet_is_unrolled(method):
    """The coordinates explain the place on the sheet, by a linear map."""
    X, truth = sheet(800)
    Y, _ = locally_linear_embedding(X, n_neighbors=12, n_components=2, method=method)
    Y = np.column_stack([Y, np.ones(800)])
    rest = truth - Y @ np.linalg.lstsq(Y, truth, rcond=None)[0]
    assert (rest**2).sum() < 0.02 * ((truth - truth.mean(axis=0)) ** 2).sum()


def test_weights_are_scikit_learns():
    X, _ = sheet(90)
    neighbours = NearestNeighbors(n_neighbors=7).fit(X).kneighbors(return_distance=False)
    for reg in (1e-3, 0.1):
        expected = barycenter_weights(X, X, neighbours, reg=reg)
        np.testing.assert_allclose(barycentre_weights(X, X, neighbours, reg), expected, rtol=1e-7, atol=1e-9)


def test_new_rows_as_in_scikit_learn_and_training_rows_to_the_bit():
    X, _ = sheet(150)
    ours, theirs = (
        module.LocallyLinearEmbedding(n_neighbors=8, eigen_solver="dense").fit(X)
        for module in (hyperplan.manifold, sklearn.manifold)
    )
    signs = np.sign((ours.embedding_ * theirs.embedding_).sum(axis=0))
    new, _ = sheet(20, seed=1)
    np.testing.assert_allclose(ours.transform(new) * signs, theirs.transform(new), atol=1e-7)
    assert (ours.transform(X) == ours.embedding_).all()
    assert (ours.fit_transform(X) == ours.embedding_).all()


def test_a_fitted_search_takes_the_place_of_rows():
    X, _ = sheet(80)
    Y, error = locally_linear_embedding(NearestNeighbors().fit(X), n_neighbors=6, n_components=2)
    expected, same = locally_linear_embedding(X, n_neighbors=6, n_components=2)
    assert np.array_equal(Y, expected) and error == same


def test_pieces_are_told():
    X, _ = sheet(60)
    with pytest.warns(UserWarning, match="2 pieces"):
        model = LocallyLinearEmbedding(n_neighbors=6).fit(np.concatenate([X, X + 50.0]))
    assert model.certificate_.details["pieces"] == 2 and "anywhere" in str(model.certificate_)
    assert np.isfinite(model.embedding_).all() and model.eigenvalues_[0] < 1e-12
    sides = model.embedding_[:60, 0].mean(), model.embedding_[60:, 0].mean()
    assert abs(sides[0] - sides[1]) > 0.1  # the first coordinate says which piece


def test_duplicates_are_embedded():
    X, _ = sheet(100)
    X[50:] = X[:50]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in METHODS:
            model = LocallyLinearEmbedding(n_neighbors=8, method=method).fit(X)
            assert np.isfinite(model.embedding_).all() and np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize(
    "options, shape, message",
    [
        ({"n_neighbors": 20}, (20, 3), "n_samples = 20, n_neighbors = 20"),
        ({"n_components": 4}, (20, 3), "output dimension"),
        ({"method": "hessian"}, (20, 3), "greater than"),
        ({"method": "modified", "n_neighbors": 2, "n_components": 3}, (20, 3), "modified LLE requires"),
        ({"n_components": 2}, (20, 1), "output dimension"),
    ],
)
def test_sizes_that_make_no_sense(options, shape, message):
    with pytest.raises(ValueError, match=message):
        LocallyLinearEmbedding(**options).fit(RNG.normal(size=shape))


def test_equal_rows_and_singular_weights_are_errors():
    with pytest.raises(ValueError, match="all rows are equal"):
        LocallyLinearEmbedding().fit(np.ones((30, 3)))
    line = np.arange(30.0).reshape(-1, 1)
    with pytest.raises(ValueError, match="Raise reg"):
        LocallyLinearEmbedding(n_components=1, reg=0.0).fit(line)


def test_one_dimension():
    line = np.sort(RNG.uniform(size=40)).reshape(-1, 1)
    found = LocallyLinearEmbedding(n_components=1, n_neighbors=4).fit_transform(line)[:, 0]
    assert np.abs(np.corrcoef(found, line[:, 0])[0, 1]) > 0.9


def test_too_few_products_warn():
    X, _ = sheet(400)
    with pytest.warns(sklearn.exceptions.ConvergenceWarning, match="raise max_iter"):
        LocallyLinearEmbedding(n_neighbors=10, max_iter=1, tol=1e-14).fit(X)
