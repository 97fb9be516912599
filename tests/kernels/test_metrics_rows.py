"""Kernels that go through rows of probabilities or rankings, against naive twins."""

import numpy as np
import pytest

from hyperplan.metrics._probability_kernels import pick_true, squared_distances
from hyperplan.metrics._ranking_kernels import coverages, ranking_losses, ranking_precisions, tied_gains, top_hits

SHAPES = [(0, 3), (1, 1), (2, 2), (5, 1), (40, 7)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_probabilities_of_the_true_class(shape, dtype):
    rng = np.random.default_rng(1)
    proba = rng.random(shape).astype(dtype)
    codes = rng.integers(0, shape[1], shape[0])
    picked, distances = np.empty(shape[0]), np.empty(shape[0])
    worst = pick_true(proba, codes, picked)
    exact = proba.astype(np.float64)
    assert worst == pytest.approx(np.abs(exact.sum(axis=1) - 1).max(initial=0.0), rel=1e-12)  # order of a sum
    np.testing.assert_array_equal(picked, exact[np.arange(shape[0]), codes])
    assert squared_distances(proba, codes, distances) == worst
    truth = np.eye(shape[1])[codes]
    np.testing.assert_allclose(distances, ((exact - truth) ** 2).sum(axis=1), rtol=1e-12)  # order of a sum


@pytest.fixture(params=SHAPES)
def ranking(request):
    """Relevances, scores with ties, and the order of the scores."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, request.param).astype(np.uint8)
    scores = rng.integers(0, 4, request.param).astype(np.float64)
    return truth, scores, np.argsort(scores, axis=1)


def test_coverage(ranking):
    truth, scores, _ = ranking
    values = np.empty(truth.shape[0])
    coverages(truth, scores, values)
    naive = [np.sum(s >= s[t == 1].min()) if t.any() else 0 for t, s in zip(truth, scores)]
    np.testing.assert_array_equal(values, naive)


def test_ranking_precision(ranking):
    truth, scores, order = ranking
    values = np.empty(truth.shape[0])
    ranking_precisions(truth, scores, order, values)
    naive = [
        np.mean([np.sum(t[s >= s[j]]) / np.sum(s >= s[j]) for j in np.flatnonzero(t)]) if 0 < t.sum() < t.size else 1.0
        for t, s in zip(truth, scores)
    ]
    np.testing.assert_allclose(values, naive, rtol=1e-14)  # order of a sum


def test_ranking_loss(ranking):
    truth, scores, order = ranking
    values = np.empty(truth.shape[0])
    ranking_losses(truth, scores, order, values)
    naive = [
        np.mean(s[t == 1][:, np.newaxis] <= s[t == 0]) if 0 < t.sum() < t.size else 0.0 for t, s in zip(truth, scores)
    ]
    np.testing.assert_allclose(values, naive, rtol=1e-14)  # a share against a mean


@pytest.mark.parametrize("k", [1, 2, 7])
def test_top_hits(ranking, k):
    _, scores, _ = ranking
    codes = np.arange(scores.shape[0]) % max(scores.shape[1], 1)
    hits = np.empty(scores.shape[0], bool)
    top_hits(scores, codes, k, hits)
    naive = [c in np.argsort(s, kind="stable")[::-1][:k] for s, c in zip(scores, codes)]
    np.testing.assert_array_equal(hits, naive)


def test_tied_gains_are_means_over_orders(ranking):
    truth, scores, order = ranking
    gains = truth * np.linspace(1, 2, truth.shape[1])
    discounts = 1 / np.log2(np.arange(truth.shape[1]) + 2)
    values = np.empty(truth.shape[0])
    tied_gains(gains, scores, order, np.append(0.0, np.cumsum(discounts)), values)
    naive = []
    for gain, score in zip(gains, scores):
        places = np.argsort(-score, kind="stable")
        mean = np.array([gain[score == s].mean() for s in score])
        naive.append(np.sum(mean[places] * discounts))
    np.testing.assert_allclose(values, naive, rtol=1e-12)  # order of a sum
