"""Passes between two rounds of AdaBoost against one line of NumPy each."""

import numpy as np
import pytest

from hyperplan.ensemble import _ada_boost_kernels as k

SIZES = [0, 1, 2, 7, 61]


def answers(n):
    """Codes, answers (-1: a class that nobody has), weights (some zero), signs and scores."""
    rng = np.random.default_rng(n)
    weight = rng.exponential(size=n) * (rng.random(n) > 0.2)
    return (
        rng.integers(0, 3, n), rng.integers(-1, 3, n), weight, np.where(rng.random(n) > 0.5, 1.0, -1.0),
        rng.normal(scale=3.0, size=n),
    )  # fmt: skip


@pytest.mark.parametrize("n", SIZES)
def test_missed_weight_and_votes(n):
    codes, given, weight, _, _ = answers(n)
    missed, total = k.missed_weight(codes, given, weight)
    assert (missed, total) == pytest.approx((weight[given != codes].sum(), weight.sum()), rel=1e-14)
    votes = np.ones((n, 3))
    k.cast_votes(given, 0.25, votes)
    np.testing.assert_array_equal(votes, 1 + 0.25 * (given[:, None] == np.arange(3)))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("log_factor", [1.5, 690.0, 710.0])
def test_wrong_answers_gain_weight(n, log_factor):
    """exp(710) is infinite, but a tiny weight times it is not."""
    codes, given, weight, _, _ = answers(n)
    weight = weight * 1e-20
    found = weight.copy()
    total = k.raise_missed(codes, given, log_factor, found)
    with np.errstate(divide="ignore"):
        raised = np.exp(np.log(weight) + log_factor)
    np.testing.assert_allclose(found, np.where(given != codes, raised, weight), rtol=1e-12)  # a logarithm of 700
    assert total == pytest.approx(found.sum(), rel=1e-14)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("n", SIZES)
def test_weights_by_margin_and_their_floor(n):
    _, _, initial, signs, scores = answers(n)
    weight = initial.copy()
    assert k.lower_by_margin(signs, scores, weight) == pytest.approx(weight.sum(), rel=1e-14)
    np.testing.assert_allclose(weight, initial * np.exp(-signs * scores), rtol=1e-14)
    expected = np.where(initial > 0, np.maximum(weight / 3.0, 0.01), 0.0)
    k.scale_up_to(weight, initial, 3.0, 0.01)
    np.testing.assert_array_equal(weight, expected)


@pytest.mark.parametrize("n", SIZES)
def test_working_response_is_a_newton_step_of_the_logistic_loss(n):
    _, _, initial, signs, scores = answers(n)
    scores[: n // 3] *= 200.0  # certain, rightly and wrongly
    response, weight = np.empty(n), np.empty(n)
    k.working_response(signs, scores, initial, 4.0, response, weight)
    with np.errstate(all="ignore"):
        p = 1 / (1 + np.exp(-2 * scores))
        plain = ((signs + 1) / 2 - p) / (p * (1 - p))
    known = np.abs(scores) < 8  # where p (1 - p) has digits
    np.testing.assert_allclose(response[known], np.clip(plain, -4, 4)[known], rtol=1e-6)
    np.testing.assert_allclose(weight[known], (initial * p * (1 - p))[known], rtol=1e-6)
    assert np.isfinite(response).all() and (np.abs(response) <= 4).all() and (weight[initial > 0] > 0).all()
    loss = k.logistic_loss(signs, scores, initial)
    assert loss == pytest.approx(initial @ np.logaddexp(0, -2 * signs * scores), rel=1e-13)
