"""Kernels of UMAP and of approximate lists against naive twins."""

import numpy as np
import pytest
import scipy.sparse as sp

from hyperplan.manifold import _umap_graph_kernels as g
from hyperplan.manifold import _umap_layout_kernels as k
from hyperplan.neighbors import _descent_lists_kernels as d

A, B, GAMMA = np.float32(1.577), np.float32(0.895), np.float32(1.0)
SIZES = [0, 1, 2, 7, 8, 9, 31]


def test_power_is_a_power():
    squares = np.geomspace(1e-8, 1e6, 60).astype(np.float32)
    for b in (0.5, 0.895, 1.0, 1.7):
        found = np.array([float(k.power(x, np.float32(b))) for x in squares])
        # both polynomials have relative errors of a few 1e-6, which the exponent of up to 34 multiplies
        np.testing.assert_allclose(found, squares.astype(float) ** b, rtol=1e-4)
    assert float(k.power(np.float32(0.0), B)) < 1e-30


@pytest.mark.parametrize("square", [1e-4, 0.3, 1.0, 50.0])
def test_forces_are_derivatives(square):
    """By the squared distance s: of log(1 + a s^b), and of -log(a s^b / (1 + a s^b)) with s a little softened."""
    a, b, h = float(A), float(B), 1e-5 * square

    def pull(s):
        return np.log1p(a * s**b)

    def push(s):
        return -np.log(a * s**b / (1 + a * s**b))

    expected = (pull(square + h) - pull(square - h)) / h  # d/dy of f(|y|^2) is 2 f'(s) y
    assert float(k.attraction(np.float32(square), A, B)) == pytest.approx(expected, rel=1e-3)
    expected = -(push(square + h) - push(square - h)) / h * square / (square + 1e-3)
    assert float(k.repulsion(np.float32(square), A, B, GAMMA)) == pytest.approx(expected, rel=1e-3)


def test_forces_are_finite_in_one_place():
    assert np.isfinite(float(k.attraction(np.float32(0.0), A, B)))
    assert np.isfinite(float(k.repulsion(np.float32(0.0), A, B, GAMMA)))


def rings(n, width, seed=0):
    """A ring of n rows as arrays for the kernels, all edges due in epoch 2, and places."""
    tails = np.array([[(i - 1) % n, (i + 1) % n] for i in range(n)], np.int32).ravel()
    starts = np.arange(0, 2 * n + 1, 2, dtype=np.int64)
    Y = np.random.default_rng(seed).normal(size=(n, width)).astype(np.float32)
    return starts, tails, np.full(2 * n, 2**32 - 1, np.uint32), Y


def moved(move, n, width, first, stop, n_pushes, is_fit=True, rate=0.1):
    starts, tails, steps, Y = rings(n, width)
    before, numbers = Y.copy(), np.array([rate, A, B, GAMMA], np.float32)
    epoch, key = np.uint32(2), np.uint32(5)
    move(starts, tails, steps, before, first, stop, epoch, numbers, n_pushes, key, is_fit, Y)
    return before, Y


@pytest.mark.parametrize(("move", "width"), [(k.move_2, 2), (k.move_3, 3)])
@pytest.mark.parametrize("n", [3, 8, 9, 31])
@pytest.mark.parametrize("is_fit", [True, False])
def test_moves_in_the_plane_and_in_space_are_those_of_any_dimension(move, width, n, is_fit):
    _, expected = moved(k.move_any, n, width, 1, n, 5, is_fit)
    _, found = moved(move, n, width, 1, n, 5, is_fit)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)  # float32, sums in another order


def pulled(x, other, rate):
    gap = x - other
    square = gap @ gap
    value = float(A) * square ** float(B)
    return rate * np.clip(2 * float(B) * value / (square * (1 + value)) * gap, -4, 4)


@pytest.mark.parametrize("n", [3, 8, 9])
def test_pulls_move_both_ends_within_a_span_and_the_own_end_twice_across(n):
    first = n // 2
    before, found = moved(k.move_2, n, 2, first, n, 0)
    expected = before.astype(float)
    old = before.astype(float)
    for i in range(first, n):
        for j in ((i - 1) % n, (i + 1) % n):
            if first <= j < n:
                step = pulled(expected[i], expected[j], 0.1)
                expected[i] -= step
                expected[j] += step
            else:
                expected[i] -= 2 * pulled(expected[i], old[j], 0.1)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert np.array_equal(found[:first], before[:first])  # other spans are for other tasks


def test_an_edge_pulls_in_its_share_of_the_epochs():
    for share in (1.0, 0.5, 0.3, 0.01):
        step = np.uint32(min(share * 2**32, 2**32 - 1))
        starts, tails = np.array([0, 1, 2], np.int64), np.array([1, 0], np.int32)
        Y, numbers = np.array([[0.0, 0.0], [3.0, 0.0]], np.float32), np.array([1e-4, A, B, GAMMA], np.float32)
        count = 0
        for epoch in range(1, 201):
            before = Y.copy()
            args = starts, tails, np.array([step, step]), before, 0, 2, np.uint32(epoch), numbers, 0, np.uint32(1), True
            k.move_2(*args, Y)
            count += not np.array_equal(before, Y)
        assert abs(count - 200 * share) <= 1


def test_random_rows_push_away_on_average_and_depend_on_seed_epoch_and_row():
    _, far = moved(k.move_2, 31, 2, 0, 31, 5, rate=0.0)
    before, Y = moved(k.move_2, 31, 2, 0, 31, 5)
    assert np.array_equal(far, before) and not np.array_equal(Y, before)
    starts, tails, steps, start = rings(31, 2)
    numbers = np.array([0.1, A, B, GAMMA], np.float32)
    ends = []
    for epoch, key in ((2, 5), (3, 5), (2, 6)):
        Z = start.copy()
        args = starts, tails, steps, start, 0, 31, np.uint32(epoch), numbers, 5, np.uint32(key), True
        k.move_2(*args, Z)
        ends.append(Z)
    assert np.array_equal(ends[0], Y)
    assert not np.array_equal(ends[0], ends[1]) and not np.array_equal(ends[0], ends[2])


@pytest.mark.parametrize("n", SIZES[1:])
def test_losses_are_sums_over_edges_and_pairs(n):
    rng = np.random.default_rng(n)
    dense = np.triu(rng.uniform(0.1, 0.9, size=(n, n)), 1)
    graph = sp.csr_array((dense + dense.T).astype(np.float32))
    Y = rng.normal(size=(n, 2)).astype(np.float32)
    totals, numbers = np.zeros(6), np.array([0.0, A, B, GAMMA], np.float32)
    k.add_losses(
        graph.indptr.astype(np.int64),
        graph.indices.astype(np.int32),
        graph.data,
        Y,
        0,
        n,
        numbers,
        400,
        np.uint32(0),
        totals,
    )
    gaps = ((Y[:, None].astype(float) - Y[None]) ** 2).sum(axis=2) + 1e-3
    value = float(A) * gaps ** float(B)
    edge, w = ~np.eye(n, dtype=bool), dense + dense.T
    far = np.log1p(1 / value)
    expected = [(w * np.log1p(value))[edge].sum(), ((1 - w) * far)[edge].sum(), far[edge].sum()]
    np.testing.assert_allclose(totals[:3], expected, rtol=1e-4, atol=1e-6)
    if n > 2:  # random pairs: within five standard errors of the mean
        error = 5 * far[edge].std() / np.sqrt(totals[5])
        assert totals[3] / totals[5] == pytest.approx(far[edge].mean(), abs=error + 1e-6)


def naive_scale(distances, target):
    """sigma and rho by the definition; None without a solution."""
    finite = distances[np.isfinite(distances)]
    rho = finite[finite > 0].min(initial=np.inf)
    rho = 0.0 if rho == np.inf else rho
    low, high = 0.0, 1e9
    for _ in range(200):
        middle = 0.5 * (low + high)
        total = np.exp(-np.maximum(finite - rho, 0) / middle).sum()
        low, high = (low, middle) if total > target else (middle, high)
    return middle, rho


@pytest.mark.parametrize("size", [3, 4, 8, 15, 40])
def test_scales_solve_their_equation(size):
    distances = np.sort(np.random.default_rng(size).uniform(0.5, 3, size=(20, size)), axis=1)
    distances[3, 0] = 0.0
    sigmas, rhos = np.empty(20), np.empty(20)
    target = np.log2(size)
    g.calibrate(distances, target, 1.0, float(distances.mean()), sigmas, rhos)
    for row, sigma, rho in zip(distances, sigmas, rhos):
        if (row <= naive_scale(row, target)[1]).sum() < target:
            expected = naive_scale(row, target)
            assert sigma == pytest.approx(expected[0], rel=1e-3) and rho == expected[1]  # the sum is met to 1e-5


def test_connectivity_says_how_many_neighbours_are_fully_connected():
    distances = np.array([[1.0, 2.0, 4.0, 8.0]])
    for connectivity, expected in ((0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (1.5, 1.5), (2.0, 2.0), (2.5, 3.0), (9.0, 8.0)):
        sigmas, rhos = np.empty(1), np.empty(1)
        g.calibrate(distances, 2.0, connectivity, 3.75, sigmas, rhos)
        assert rhos[0] == expected


@pytest.mark.parametrize("n", SIZES)
def test_products_of_a_sparse_matrix(n):
    rng = np.random.default_rng(n)
    dense = (rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.3)).astype(np.float32)
    matrix, V = sp.csr_array(dense), rng.normal(size=(n, 5)).astype(np.float32)
    out = np.full((n, 5), 7.0, np.float32)
    g.multiply(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data, V, 0, n, out)
    np.testing.assert_allclose(out, dense @ V, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [2, 7, 63, 64, 65, 200])
def test_lists_keep_the_best_of_a_leaf_once(n):
    rng = np.random.default_rng(n)
    members = rng.permutation(n).astype(np.int32)
    scores = rng.normal(size=(n, n)).astype(np.float32)
    size = min(4, n - 1)
    best, places = np.full((n, size), -np.inf, np.float32), np.full((n, size), -1, np.int32)
    for _ in range(2):  # the second time nothing is new
        d.keep_best(scores, members, best, places)
    for i, me in enumerate(members):
        order = [j for j in np.argsort(-scores[i]) if j != i][:size]
        assert places[me].tolist() == members[order].tolist()
        assert np.array_equal(best[me], scores[i, order])
