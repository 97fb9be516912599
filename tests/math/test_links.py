"""Links: inverse pairs, derivatives, tails."""

import numpy as np
import pytest

from hyperplan._math.links import (
    LINKS,
    distribution_link,
    half_slope_sigmoid,
    logit,
    odds,
    probit,
    sigmoid,
    softmax,
)

Z = np.linspace(-6, 6, 241)


@pytest.mark.parametrize("link", LINKS.values(), ids=list(LINKS))
def test_score_inverts_mean_and_slope_is_its_derivative(link):
    # near probability 1 the mean carries only absolute precision 1e-16
    np.testing.assert_allclose(link.score(link.mean(Z)), Z, rtol=1e-6, atol=1e-9)
    h = 1e-6
    np.testing.assert_allclose(link.slope(Z), (link.mean(Z + h) - link.mean(Z - h)) / (2 * h), rtol=1e-6, atol=1e-9)


def test_tails():
    assert sigmoid([-1e4, 1e4]).tolist() == [0.0, 1.0]
    assert sigmoid(-700.0) == pytest.approx(np.exp(-700.0), rel=1e-14)
    np.testing.assert_allclose(sigmoid(-Z), 1 - sigmoid(Z), atol=1e-16)
    assert softmax([[1e4, 0.0, -1e4]]).tolist() == [[1.0, 0.0, 0.0]]
    np.testing.assert_allclose(softmax(np.tile(Z, (3, 1)), axis=0), 1 / 3, rtol=1e-15)
    assert logit([0.0, 1.0]).tolist() == [-np.inf, np.inf]
    assert odds(1.0) == np.inf
    assert probit([-40.0, 0.0, 40.0]).tolist()[1:] == [0.5, 1.0]


def test_half_slope_sigmoid_is_a_tanh():
    np.testing.assert_allclose(half_slope_sigmoid(Z), 0.5 * (1 + np.tanh(Z / 4)), rtol=1e-13)
    g = half_slope_sigmoid(Z)
    np.testing.assert_allclose(LINKS["half-slope sigmoid"].slope(Z), 0.5 * g * (1 - g), rtol=1e-12)


@pytest.mark.parametrize("function", [logit, odds])
def test_probabilities_are_checked(function):
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        function([0.5, 1.2])


def test_log_link_refuses_negative_means():
    with pytest.raises(ValueError, match="positive"):
        LINKS["log"].score(-1.0)


def test_any_distribution_function_is_a_link():
    cauchit = distribution_link(
        "cauchit",
        lambda z: 0.5 + np.arctan(z) / np.pi,
        lambda z: 1 / (np.pi * (1 + z**2)),
        lambda p: np.tan(np.pi * (p - 0.5)),
    )
    np.testing.assert_allclose(cauchit.score(cauchit.mean(Z)), Z, rtol=1e-12, atol=1e-12)
