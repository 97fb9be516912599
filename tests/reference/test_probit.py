"""Probit regression against statsmodels, and its behaviour without an optimum."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from hyperplan.linear_model import ProbitRegression

statsmodels = pytest.importorskip("statsmodels.api")

rng = np.random.default_rng(3)
X = rng.normal(size=(400, 3)) + 1.0
Y = (X @ np.array([1.0, -0.5, 0.3]) - 0.8 + rng.normal(size=400) > 0).astype(int)


def test_equals_statsmodels_probit():
    theirs = statsmodels.Probit(Y, statsmodels.add_constant(X)).fit(disp=0, method="newton", tol=1e-12)
    ours = ProbitRegression(tol=1e-10).fit(X, Y)
    table = ours.summary()
    assert_allclose(np.r_[ours.intercept_, ours.coef_[0]], theirs.params, atol=1e-8)
    assert_allclose(table.standard_error, theirs.bse, rtol=1e-7)  # observed information in both
    assert_allclose(ours.predict_proba(X)[:, 1], theirs.predict(), atol=1e-8)
    assert ours.certificate_.holds


def test_fisher_scoring_equals_statsmodels_glm():
    family = statsmodels.families.Binomial(statsmodels.families.links.Probit())
    theirs = statsmodels.GLM(Y, statsmodels.add_constant(X), family=family).fit(tol=1e-13)
    ours = ProbitRegression(tol=1e-10, solver="fisher").fit(X, Y)
    assert_allclose(np.r_[ours.intercept_, ours.coef_[0]], theirs.params, atol=1e-7)
    assert_allclose(ours.summary().standard_error, theirs.bse, rtol=1e-6)  # expected information in both


def test_labels_weights_and_sparse_rows():
    names = np.where(Y == 1, "yes", "no")
    weight = rng.integers(0, 3, Y.size)
    repeated = ProbitRegression(tol=1e-10, alpha=0.01).fit(np.repeat(X, weight, axis=0), np.repeat(names, weight))
    weighted = ProbitRegression(tol=1e-10, alpha=0.01).fit(sp.csr_array(X), names, sample_weight=weight)
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)
    assert set(weighted.predict(X)) == {"no", "yes"}
    assert_allclose(weighted.predict_proba(X).sum(axis=1), 1.0, rtol=1e-15)
    assert_allclose(np.exp(weighted.predict_log_proba(X)), weighted.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("x", [[-2.0, -1.0, 1.0, 2.0], [-1.0, 0.0, 0.0, 1.0]], ids=["complete", "quasi"])
def test_separable_classes_are_reported(x):
    with pytest.warns(ConvergenceWarning, match="separable"):
        ProbitRegression().fit(np.array(x)[:, None], [0, 0, 1, 1])
    penalised = ProbitRegression(alpha=0.1).fit(np.array(x)[:, None], [0, 0, 1, 1])
    assert penalised.certificate_.holds and penalised.coef_[0, 0] > 0


def test_far_tails_stay_finite():
    x = np.r_[np.linspace(-60, 60, 41), 0.0]
    y = (x > 0).astype(int)
    y[0], y[-2] = 1, 0  # two rows 60 units on the wrong side: log Phi(-60) underflows unless computed with care
    fit = ProbitRegression(tol=1e-8).fit(x[:, None], y)
    assert np.isfinite(fit.coef_).all() and fit.certificate_.holds


def test_more_than_two_classes_point_to_ordinal():
    with pytest.raises(ValueError, match="Only binary"):
        ProbitRegression().fit(X, rng.integers(0, 3, Y.size))
