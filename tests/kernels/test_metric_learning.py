"""Losses of learnt metrics against sums over pairs, their gradients against finite differences."""

import numpy as np
import pytest
from scipy.special import softmax

from hyperplan.neighbors._lmnn import target_neighbours
from hyperplan.neighbors._metric_learning import pair_loss
from hyperplan.neighbors._metric_learning_kernels import lmnn_rows, nca_rows

PUSH = 0.3


def problem(n=23, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, rng.integers(0, 3, size=n).astype(np.intp), 0.5 * rng.normal(size=(3, d))


def nca_loss(codes):
    return lambda first, tile, losses: nca_rows(codes, first, tile, losses)


def lmnn_loss(codes, targets):
    def rows_loss(first, tile, losses):
        lmnn_rows(codes, targets, PUSH, first, tile, np.empty(targets.shape[1]), losses)

    return rows_loss


def squared(X, A):
    Z = X @ A.T
    return ((Z[:, None] - Z[None]) ** 2).sum(-1)


@pytest.mark.parametrize("n", [2, 3, 9, 40])
def test_nca_is_the_chance_of_a_right_neighbour(n):
    X, codes, A = problem(n)
    D = squared(X, A)
    np.fill_diagonal(D, np.inf)
    chances = softmax(-D, axis=1)
    expected = -(chances * (codes[:, None] == codes[None])).sum()
    assert pair_loss(X, A, nca_loss(codes))[0] == pytest.approx(expected, rel=1e-12)


def test_lmnn_is_pull_and_push():
    X, codes, A = problem(30)
    targets = target_neighbours(X, codes, 2)
    D, expected = squared(X, A), 0.0
    for i in range(30):
        own = [j for j in targets[i] if j >= 0]
        for j in own:
            others = np.flatnonzero(codes != codes[i])
            push = (np.maximum(0, 1 + D[i, j] - D[i, others]) ** 2).sum()
            expected += ((1 - PUSH) * D[i, j] + PUSH * push) / len(own)
    assert pair_loss(X, A, lmnn_loss(codes, targets))[0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("kind", ["nca", "lmnn"])
def test_gradient_is_the_derivative(kind):
    """Central differences at 1e-5 have an error of about 1e-10 times third derivatives of order ten."""
    X, codes, A = problem()
    rows_loss = nca_loss(codes) if kind == "nca" else lmnn_loss(codes, target_neighbours(X, codes, 2))
    _, gradient = pair_loss(X, A, rows_loss)
    for place in np.ndindex(A.shape):
        step = np.zeros_like(A)
        step[place] = 1e-5
        difference = pair_loss(X, A + step, rows_loss)[0] - pair_loss(X, A - step, rows_loss)[0]
        assert gradient[place] == pytest.approx(difference / 2e-5, rel=1e-5, abs=1e-6)


def test_targets_are_the_nearest_of_the_class():
    X, codes, _ = problem(50)
    codes[codes == 2] = 1
    codes[7] = 2  # a class of one row has no neighbour
    targets = target_neighbours(X, codes, 3)
    assert (targets[7] == -1).all()
    for i in (0, 20, 49):
        gaps = ((X - X[i]) ** 2).sum(axis=1)
        gaps[(codes != codes[i]) | (np.arange(50) == i)] = np.inf
        assert targets[i].tolist() == np.argsort(gaps, kind="stable")[:3].tolist()
