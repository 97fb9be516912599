"""Ordinal regression against statsmodels' OrderedModel."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import check_grad
from sklearn.exceptions import ConvergenceWarning

from hyperplan._solvers.ordinal import _Problem
from hyperplan._solvers.row_panels import GRADIENT, HESSIAN, LOSS, design_rows
from hyperplan.linear_model import OrdinalRegression, ProbitRegression

ordinal_model = pytest.importorskip("statsmodels.miscmodels.ordinal_model")

rng = np.random.default_rng(5)
N, D = 400, 3
X = rng.normal(size=(N, D)) + 2.0
Y = np.digitize(X @ np.array([1.0, -0.5, 0.2]) + rng.logistic(size=N), [-0.5, 1.0, 2.5])


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_equals_statsmodels(link):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = ordinal_model.OrderedModel(Y, X, distr=link).fit(method="bfgs", disp=0, gtol=1e-9, maxiter=500)
    ours = OrdinalRegression(link=link, tol=1e-10).fit(X, Y)
    table = ours.summary()
    assert_allclose(ours.coef_, theirs.params[:D], atol=1e-6)  # BFGS there
    assert_allclose(ours.thresholds_, theirs.model.transform_threshold_params(theirs.params)[1:-1], atol=1e-6)
    assert_allclose(table.standard_error[:D], theirs.bse[:D], rtol=1e-4)  # numerical Hessian there
    assert_allclose(table.extra["log-likelihood"], theirs.llf, rtol=1e-9)
    assert_allclose(ours.predict_proba(X), theirs.predict(), atol=1e-6)
    assert ours.certificate_.holds


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_derivatives(link):
    problem = _Problem(design_rows(X), Y.astype(np.intp), np.ones(N), 4, link, 0.1)
    theta = np.r_[0.3, -0.2, 0.1, -1.0, 0.4, 1.5]

    def value(t):
        return problem.evaluate(t, LOSS).value

    def gradient(t):
        return problem.evaluate(t, GRADIENT).gradient

    assert check_grad(value, gradient, theta) < 1e-6  # forward differences with steps of 1.5e-8
    numeric = np.array([(gradient(theta + e) - gradient(theta - e)) / 2e-5 for e in 1e-5 * np.eye(6)])
    assert_allclose(problem.evaluate(theta, HESSIAN).hessian, numeric, atol=1e-8)


def test_two_classes_are_probit_regression():
    two = (Y > 1).astype(int)
    ordinal = OrdinalRegression(link="probit", tol=1e-10).fit(X, two)
    probit = ProbitRegression(tol=1e-10).fit(X, two)
    assert_allclose(ordinal.coef_, probit.coef_[0], atol=1e-8)
    assert_allclose(-ordinal.thresholds_, probit.intercept_, atol=1e-8)
    assert (ordinal.predict(X) == probit.predict(X)).all()


def test_probabilities_and_named_order():
    names = np.array(["low", "mid", "high", "top"])[Y]
    fit = OrdinalRegression(categories=["low", "mid", "high", "top"], tol=1e-10).fit(sp.csr_array(X), names)
    plain = OrdinalRegression(tol=1e-10).fit(X, Y)
    assert_allclose(fit.coef_, plain.coef_, atol=1e-8)
    assert fit.classes_.tolist() == ["low", "mid", "high", "top"]
    assert_allclose(fit.predict_proba(100 * X).sum(axis=1), 1.0, rtol=1e-12)
    assert (np.diff(fit.thresholds_) > 0).all()
    with pytest.raises(ValueError, match="from lowest to highest"):
        OrdinalRegression(categories=["low", "mid"]).fit(X, names)


def test_weights_count_repetitions_and_empty_classes_are_refused():
    weight = rng.integers(1, 3, N)
    weighted = OrdinalRegression(tol=1e-10).fit(X, Y, sample_weight=weight)
    repeated = OrdinalRegression(tol=1e-10).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)
    with pytest.raises(ValueError, match="no row of positive weight"):
        OrdinalRegression().fit(X, Y, sample_weight=(Y != 2).astype(float))


def test_separable_classes_are_reported():
    with pytest.warns(ConvergenceWarning, match="separable"):
        OrdinalRegression().fit([[-1.0], [0.0], [0.0], [1.0]], [0, 0, 1, 2])
