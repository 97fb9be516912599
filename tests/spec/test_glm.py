"""Numbers and identities of the specification about generalised linear models."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

from hyperplan._solvers._glm_kernels import family_row, inverse_mills
from hyperplan._solvers.glm import FAMILIES, _Problem
from hyperplan._solvers.row_panels import GRADIENT, DenseRows
from hyperplan.linear_model import GeneralizedLinearRegressor, OrdinalRegression, ProbitRegression

rng = np.random.default_rng(0)
X = rng.normal(size=(50, 3))


@pytest.mark.parametrize(
    ("family", "link", "mean"),
    [
        ("gaussian", "identity", lambda eta: eta),
        ("binomial", "logit", lambda eta: 1 / (1 + np.exp(-eta))),
        ("poisson", "log", np.exp),
    ],
)
def test_f12_one_gradient_for_squared_logistic_and_poisson(family, link, mean):
    """``X'(mean - y)`` whatever the family, with its canonical link."""
    y = rng.integers(0, 2, 50).astype(float)
    coef = np.array([0.3, -0.7, 0.2])
    problem = _Problem(DenseRows(X, centred=False), y, np.ones(50), None, FAMILIES[family], link, 0.0, False)
    assert_allclose(problem.evaluate(coef, GRADIENT).gradient, X.T @ (mean(X @ coef) - y) / 50, rtol=1e-12)


def test_t13_gaussian_likelihood_is_the_halved_square():
    """NLL/n = ln(2 pi sigma^2)/2 + (1/2 sigma^2 n) sum of squares: same minimiser as the loss (y - y')^2 / 2."""
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=50)
    fit = GeneralizedLinearRegressor(family="gaussian", tol=1e-10).fit(X, y)
    solution = np.linalg.lstsq(np.c_[X, np.ones(50)], y, rcond=None)[0]
    assert_allclose(np.r_[fit.coef_, fit.intercept_], solution, atol=1e-10)
    assert family_row(0, 0, 0.0, 3.0, 1.0)[:2] == (2.0, -2.0)  # (y - f)^2 / 2 and f - y
    residual, sigma2 = y - fit.predict(X), 0.7
    nll = -norm.logpdf(y, fit.predict(X), np.sqrt(sigma2)).mean()
    assert_allclose(nll, 0.5 * np.log(2 * np.pi * sigma2) + (residual**2).mean() / (2 * sigma2), rtol=1e-12)


def test_c3_logistic_loss_of_a_zero_one_label():
    for y, eta in ((1.0, 0.4), (0.0, -1.3), (1.0, -800.0), (0.0, 800.0)):
        loss, slope, curvature, _ = family_row(1, 2, 0.0, y, eta)
        margin = (2 * y - 1) * eta
        assert_allclose(loss, np.logaddexp(0, -margin), rtol=1e-14)
        assert_allclose(slope, 1 / (1 + np.exp(-np.clip(eta, -700, 700))) - y, atol=1e-15)
        assert 0.0 <= curvature <= 0.25


def test_v3_probit_weights():
    """Fisher scoring weights phi^2 / (Phi (1 - Phi))."""
    for eta in (-3.0, -0.5, 0.0, 2.0):
        expected = norm.pdf(eta) ** 2 / (norm.cdf(eta) * norm.sf(eta))
        assert_allclose(family_row(1, 3, 0.0, 1.0, eta)[3], expected, rtol=1e-12)
        assert_allclose(inverse_mills(eta), norm.pdf(eta) / norm.cdf(eta), rtol=1e-13)


def test_f4_probit_is_linear_in_the_normal_quantile():
    y = (X @ [1.0, 0.5, 0.0] + rng.normal(size=50) > 0).astype(int)
    fit = ProbitRegression().fit(X, y)
    assert_allclose(norm.ppf(fit.predict_proba(X)[:, 1]), X @ fit.coef_[0] + fit.intercept_[0], atol=1e-8)


def test_e09_no_maximum_likelihood_on_separable_data():
    """x = -1, 1 with y = sign x: the loss tends to 0 as the coefficient grows; it must not be called a success."""
    with pytest.warns(ConvergenceWarning, match="no maximum"):
        ProbitRegression().fit([[-1.0], [1.0]], [0, 1])


def test_e85_a20_ordinal_regression_is_the_cumulative_model():
    """P(Y <= k) = sigma(b_k - <w, x>): "ordinale", not "ordinaire"."""
    y = np.digitize(X @ [1.0, 0.0, -1.0] + rng.logistic(size=50), [-1.0, 1.0])
    fit = OrdinalRegression().fit(X, y)
    below = 1 / (1 + np.exp(-(fit.thresholds_[None, :] - (X @ fit.coef_)[:, None])))
    assert_allclose(np.cumsum(fit.predict_proba(X), axis=1)[:, :-1], below, atol=1e-12)
