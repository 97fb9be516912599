"""Locally linear embedding as defined, and what the errata say of it (Q6, V19, X18, E111, E112)."""

import numpy as np
import pytest

from hyperplan.manifold import LocallyLinearEmbedding, trustworthiness
from hyperplan.manifold._lle_matrices import barycentre_weights, standard_matrix


def curved_sheet(n=150, seed=0):
    rng = np.random.default_rng(seed)
    s, t = rng.uniform(0.0, 3.0, n), rng.uniform(0.0, 2.0, n)
    return np.column_stack([np.sin(s), t, np.cos(s)])


X = curved_sheet()
MODEL = LocallyLinearEmbedding(n_neighbors=8, n_components=2).fit(X)
NEIGHBOURS = MODEL.nbrs_.kneighbors(n_neighbors=8, return_distance=False)
W = np.zeros((150, 150))
np.put_along_axis(W, NEIGHBOURS, barycentre_weights(X, X, NEIGHBOURS, 1e-3), axis=1)


def test_Q6_weights_sum_to_one_on_the_neighbours():
    np.testing.assert_allclose(W.sum(axis=1), 1.0)
    assert (np.count_nonzero(W, axis=1) == 8).all() and not np.diag(W).any()


def test_Q6_weights_are_optimal_and_do_not_change_with_motions_and_scales():
    """A step between two weights that keeps their sum does not lower the regularised error."""
    row, places = 17, NEIGHBOURS[17]
    Z = X[places] - X[row]
    gram = Z @ Z.T + 1e-3 * np.trace(Z @ Z.T) * np.eye(8)
    w = W[row, places]
    step = np.random.default_rng(0).normal(size=(50, 8))
    step -= step.mean(axis=1, keepdims=True)
    around = w + 0.01 * step
    assert (np.einsum("si,ij,sj->s", around, gram, around) > w @ gram @ w).all()
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    moved = 3.0 * X @ turn + 7.0
    np.testing.assert_allclose(barycentre_weights(moved, moved, NEIGHBOURS, 1e-3)[row], w, atol=1e-9)


def test_Q6_coordinates_are_bottom_eigenvectors_two_to_d_plus_one():
    M = (np.eye(150) - W).T @ (np.eye(150) - W)
    np.testing.assert_allclose(standard_matrix(X, NEIGHBOURS, 1e-3).toarray(), M, atol=1e-12)
    values, vectors = np.linalg.eigh(M)
    assert abs(values[0]) < 1e-12 and np.ptp(vectors[:, 0]) < 1e-6  # the constant, left out
    np.testing.assert_allclose(MODEL.eigenvalues_, values[1:3], atol=1e-13)
    assert MODEL.reconstruction_error_ == pytest.approx(((MODEL.embedding_ - W @ MODEL.embedding_) ** 2).sum())


def test_Q6_nested_in_the_number_of_coordinates():
    more = LocallyLinearEmbedding(n_neighbors=8, n_components=3).fit(X)
    np.testing.assert_allclose(more.embedding_[:, :2], MODEL.embedding_, atol=1e-8)


def test_E111_the_largest_eigenvectors_of_W_are_another_thing():
    """W is not symmetric: most of its eigenvalues are complex, and its leading ones cost more."""
    values, vectors = np.linalg.eig(W)
    assert (np.abs(values.imag) > 1e-9).sum() > 50
    best = np.argsort(-np.abs(values))[1:3]
    wrong = np.linalg.qr(np.column_stack([vectors[:, best].real, np.ones(150)]))[0][:, :2]

    def cost(Y):
        return ((Y - W @ Y) ** 2).sum()

    assert cost(MODEL.embedding_) < 0.5 * cost(wrong)


def test_E112_constraints_on_coordinates_and_none_on_W():
    n = len(X)
    Y = np.sqrt(n) * MODEL.embedding_
    np.testing.assert_allclose(Y.sum(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(Y.T @ Y / n, np.eye(2), atol=1e-10)
    assert np.linalg.eigvalsh((W + W.T) / 2)[0] < -0.3  # W is not positive semi-definite


def test_E112_more_neighbours_than_dimensions_need_a_ridge():
    Z = X[NEIGHBOURS[0]] - X[0]
    assert np.linalg.matrix_rank(Z @ Z.T) == 3 < 8
    assert LocallyLinearEmbedding().reg == 1e-3


def test_V19_new_rows_are_weights_times_coordinates():
    new = curved_sheet(5, seed=9)
    neighbours = MODEL.nbrs_.kneighbors(new, n_neighbors=8, return_distance=False)
    weights = barycentre_weights(new, X, neighbours, 1e-3)
    expected = np.einsum("qk,qkc->qc", weights, MODEL.embedding_[neighbours])
    np.testing.assert_allclose(MODEL.transform(new), expected, atol=1e-12)


def test_V19_a_graph_in_pieces_has_several_zero_eigenvalues():
    apart = np.concatenate([X, X + 100.0, X + 200.0])
    with pytest.warns(UserWarning, match="3 pieces"):
        model = LocallyLinearEmbedding(n_neighbors=8, n_components=3).fit(apart)
    assert (model.eigenvalues_[:2] < 1e-10).all()
    assert model.eigenvalues_[2] > 1e3 * np.abs(model.eigenvalues_[:2]).max()


def test_X18_a_curved_sheet_keeps_its_neighbours():
    sheet = curved_sheet(500, seed=3)
    found = LocallyLinearEmbedding(n_neighbors=10, method="modified").fit_transform(sheet)
    assert trustworthiness(sheet, found, n_neighbors=8) > 0.98
