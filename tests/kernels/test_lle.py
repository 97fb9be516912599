"""Kernels of neighbourhoods against their definitions."""

import numpy as np
import pytest

from hyperplan.manifold import _lle_kernels as k

SHAPES = [(0, 3, 2), (1, 3, 2), (2, 4, 3), (9, 5, 5), (7, 4, 11), (5, 1, 3), (6, 6, 1)]  # rows, neighbours, columns


def table(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def neighbours(m, count, n, seed=1):
    rng = np.random.default_rng(seed)
    return np.array([rng.choice(n, count, replace=False) for _ in range(m)], dtype=np.int64).reshape(m, count)


@pytest.mark.parametrize("m, count, d", SHAPES)
@pytest.mark.parametrize("ridge", [1e-3, 0.5])
def test_weights_solve_the_local_system(m, count, d, ridge):
    X, rows, places = table(12, d), table(m, d, seed=2), neighbours(m, count, 12)
    weights = np.full((m, count), np.nan)
    assert k.barycentre_weights(rows, X, places, ridge, np.empty((count, d)), np.empty((count, count)), weights) == -1
    for i in range(m):
        Z = X[places[i]] - rows[i]
        gram = Z @ Z.T
        solved = np.linalg.solve(gram + ridge * np.trace(gram) * np.eye(count), np.ones(count))
        np.testing.assert_allclose(weights[i], solved / solved.sum(), rtol=1e-8, atol=1e-10)


def test_weights_of_a_row_among_its_copies_are_equal():
    X, weights = np.ones((4, 3)), np.empty((1, 3))
    places = np.array([[1, 2, 3]])
    assert k.barycentre_weights(X[:1], X, places, 1e-3, np.empty((3, 3)), np.empty((3, 3)), weights) == -1
    np.testing.assert_allclose(weights, 1 / 3)


def test_the_first_singular_row_is_told():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 5.0]])
    places, weights = np.array([[1, 2], [3, 4]]), np.empty((2, 2))
    scratch = np.empty((2, 2)), np.empty((2, 2))
    assert k.barycentre_weights(np.ascontiguousarray(X[[0, 3]]), X, places, 0.0, *scratch, weights) == 1


@pytest.mark.parametrize("shape", [(1, 4), (2, 2), (3, 7), (5, 5)])
def test_rows_become_orthogonal_and_keep_their_gram_matrix(shape):
    vectors = table(*shape)
    turned = vectors.copy()
    k.turn_until_orthogonal(turned)
    gram = turned @ turned.T
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-13)
    np.testing.assert_allclose(turned.T @ turned, vectors.T @ vectors, atol=1e-12)


def test_places_by_falling_size():
    order = np.empty(6, np.intp)
    k.sort_falling(np.array([1.0, 3.0, 2.0, 3.0, 0.0, 1.0]), order)
    assert order.tolist() == [1, 3, 2, 0, 5, 4]


@pytest.mark.parametrize("m, count, d", SHAPES)
def test_axes_are_left_singular_vectors(m, count, d):
    X, places, r = table(12, d), neighbours(m, count, 12), min(count, d)
    origins = np.ascontiguousarray(X[places].mean(axis=1)) if m else np.empty((0, d))
    values, axes = np.empty((m, r)), np.empty((m, r, count))
    k.local_axes(X, places, origins, np.empty((count, d)), np.empty((r, count)), values, axes)
    for i in range(m):
        Z = X[places[i]] - origins[i]
        sizes = np.linalg.svd(Z, compute_uv=False)
        np.testing.assert_allclose(values[i], sizes[:r] ** 2, rtol=1e-9, atol=1e-12)
        kept = values[i] > 0.0
        np.testing.assert_allclose(axes[i][kept] @ axes[i][kept].T, np.eye(kept.sum()), atol=1e-12)
        projected = axes[i].T @ (axes[i] @ Z)
        np.testing.assert_allclose(projected, Z, atol=1e-7)  # all of Z lies in the space of the axes


def test_axes_of_a_line_are_one_and_zeros():
    X = np.outer(np.arange(5.0), [1.0, 2.0, 2.0])
    values, axes = np.empty((1, 3)), np.empty((1, 3, 4))
    places = np.array([[0, 1, 2, 4]])
    origins = X[places[0]].mean(axis=0)[None]
    k.local_axes(X, places, origins, np.empty((4, 3)), np.empty((3, 4)), values, axes)
    assert values[0, 0] > 0 and not values[0, 1:].any() and not axes[0, 1:].any()
    assert abs(axes[0, 0].sum()) < 1e-12
