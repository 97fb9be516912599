"""Worked numbers and errata about discriminant analysis, Fisher's projection and the Bayes error."""

import numpy as np
import pytest
import scipy.integrate
from scipy.stats import multivariate_normal, norm

from hyperplan.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from hyperplan.linear_model import LogisticRegression


def two_classes(share=0.3, n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 2)) @ [[1.0, 0.4], [0.0, 0.8]] + np.where(y[:, None], [1.0, 2.0], [0.0, -1.0]), y


def test_F7_E80_the_sum_of_the_means_stands_in_the_constant():
    X, y = two_classes()
    model = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    (minus, plus), p = model.means_, model.priors_[1]
    inverse = np.linalg.inv(model.covariance_)
    rule = np.log(p / (1 - p)) - 0.5 * (plus + minus) @ inverse @ (plus - minus) + X @ inverse @ (plus - minus)
    np.testing.assert_allclose(model.decision_function(X), rule, rtol=1e-9)
    exact = multivariate_normal(plus, model.covariance_).logpdf(X) - multivariate_normal(
        minus, model.covariance_
    ).logpdf(X)
    np.testing.assert_allclose(rule, np.log(p / (1 - p)) + exact, rtol=1e-9)
    printed = np.log(p / (1 - p)) - 0.5 * (plus - minus) @ inverse @ (plus - minus) + X @ inverse @ (plus - minus)
    assert np.abs(printed - rule).min() > 0.1


def test_T48_symmetric_classes_have_no_constant():
    corners = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]) * [0.5, 2.0]
    mean = np.array([1.0, 0.5])
    X, y = np.concatenate([corners - mean, corners + mean]), np.repeat([0, 1], 4)
    model = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    assert model.intercept_[0] == pytest.approx(0.0, abs=1e-12)
    printed = -0.5 * (2 * mean) @ np.linalg.inv(model.covariance_) @ (2 * mean)
    assert printed == pytest.approx(-2 * mean @ np.linalg.inv(model.covariance_) @ mean) and printed < -1


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_E81_the_same_family_as_logistic_regression_but_another_estimator(share):
    X, y = two_classes(share)
    model, logistic = LinearDiscriminantAnalysis().fit(X, y), LogisticRegression(C=np.inf, tol=1e-8).fit(X, y)
    logit = np.diff(model.predict_log_proba(X), axis=1)[:, 0]
    np.testing.assert_allclose(logit, X @ model.coef_[0] + model.intercept_, rtol=1e-7, atol=1e-9)  # linear for every p
    assert np.abs(model.coef_ - logistic.coef_).max() > 1e-2


def test_F8_own_covariances_with_their_determinants():
    X, y = two_classes()
    X[y == 1] *= 3.0
    model = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    for k in range(2):
        gap, covariance = X - model.means_[k], model.covariance_[k]
        score = np.log(model.priors_[k]) - 0.5 * np.linalg.slogdet(covariance)[1]
        score = score - 0.5 * np.einsum("ij,ij->i", gap @ np.linalg.inv(covariance), gap)
        np.testing.assert_allclose(model._joint_scores(X)[:, k], score, rtol=1e-8)


def test_V4_covariance_within_classes_is_pooled():
    X, y = two_classes()
    model = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    scatter = sum((X[y == k] - model.means_[k]).T @ (X[y == k] - model.means_[k]) for k in range(2))
    # the maximum likelihood estimate (over n, as scikit-learn); over n - K only all scores would be scaled
    np.testing.assert_allclose(model.covariance_, scatter / len(y), rtol=1e-10)


def fisher(direction, between, within):
    return (direction @ between @ direction) / (direction @ within @ direction)


def test_P3_E103_eigenvectors_of_within_inverse_times_between():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4)) + rng.normal(size=(3, 4))[y]
    model = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    assert model.transform(X).shape[1] == 2  # at most k - 1 directions
    within = model.covariance_
    between = np.cov(X.T, bias=True) - within
    best = fisher(model.scalings_[:, 0], between, within)
    values, vectors = np.linalg.eig(between @ np.linalg.inv(within))  # the printed order
    printed = fisher(np.real(vectors[:, np.argmax(np.real(values))]), between, within)
    assert best == pytest.approx(np.real(values).max()) and printed < 0.9 * best
    random = rng.normal(size=(1000, 4))
    assert max(fisher(direction, between, within) for direction in random) <= best
    svd = LinearDiscriminantAnalysis().fit(X, y)
    assert fisher(svd.scalings_[:, 0], between, within) == pytest.approx(best)


def test_T26_E60_the_Bayes_error_weighs_the_densities_by_the_priors():
    def first(x):
        return 1.5 * x**2 + x if 0 <= x <= 1 else 0.0

    def second(x):
        return 1.0 if 0.75 <= x <= 1.75 else 0.0

    def overlap(a, b):
        integral = scipy.integrate.quad(lambda x: min(a * first(x), b * second(x)), 0.75, 1.0, epsabs=1e-10)
        return integral[0]

    assert first(0.75) == 1.59375
    assert overlap(1, 1) == pytest.approx(0.25)  # the area, which is no error
    for share, error in ((0.5, 0.125), (0.2, 0.1015625), (0.6, 0.1), (0.3, 0.151291)):
        assert overlap(share, 1 - share) == pytest.approx(error, abs=1e-6)


@pytest.mark.parametrize("share", [0.5, 0.2])
def test_E60_discriminant_analysis_reaches_the_Bayes_error_of_Gaussian_classes(share):
    """Means 2 deviations apart: for equal priors the error is half the common area of the densities, Phi(-1)."""
    rng = np.random.default_rng(0)
    y = (rng.random(200_000) < share).astype(int)
    X = (rng.normal(size=200_000) + 2.0 * y)[:, None]
    wrong = 1.0 - LinearDiscriminantAnalysis().fit(X, y).score(X, y)
    error = scipy.integrate.quad(lambda x: min((1 - share) * norm.pdf(x), share * norm.pdf(x - 2)), -8, 10)[0]
    area = scipy.integrate.quad(lambda x: min(norm.pdf(x), norm.pdf(x - 2)), -8, 10)[0]
    assert wrong == pytest.approx(error, abs=0.003)  # four standard errors of a share of 200000 rows
    if share == 0.5:
        assert error == pytest.approx(norm.cdf(-1)) and area == pytest.approx(2 * error)
