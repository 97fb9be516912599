"""The tables of coefficients against statsmodels."""

import numpy as np
import pandas as pd
import pytest

from hyperplan._base.summary import coefficient_summary
from hyperplan.linear_model import LinearRegression

sm = pytest.importorskip("statsmodels.api")

# both sides invert the same well-conditioned 5 x 5 matrix in double precision
CLOSE = {"rtol": 1e-8, "atol": 1e-12}


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 4)) * [1, 10, 0.1, 1] + [0, 100, 5, -3]
    return X, X @ [1.0, 0.0, -20.0, 0.5] + rng.normal(size=80), rng.uniform(0.2, 3, size=80)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_same_numbers_as_statsmodels(fit_intercept, weighted):
    X, y, weight = data()
    design = sm.add_constant(X) if fit_intercept else X
    theirs = (sm.WLS(y, design, weights=weight) if weighted else sm.OLS(y, design)).fit()
    ours = LinearRegression(fit_intercept=fit_intercept).fit(X, y, weight if weighted else None).summary(level=0.9)
    np.testing.assert_allclose(ours.coef, theirs.params, **CLOSE)
    np.testing.assert_allclose(ours.standard_error, theirs.bse, **CLOSE)
    np.testing.assert_allclose(ours.statistic, theirs.tvalues, **CLOSE)
    np.testing.assert_allclose(ours.p_value, theirs.pvalues, **CLOSE)
    np.testing.assert_allclose(ours.interval, theirs.conf_int(0.1), **CLOSE)
    extra = {
        "observations": theirs.nobs,
        "R2": theirs.rsquared,
        "residual df": theirs.df_resid,
        "adjusted R2": theirs.rsquared_adj,
        "residual std error": np.sqrt(theirs.scale),
        "F": theirs.fvalue,
        "P(>F)": theirs.f_pvalue,
        "log-likelihood": theirs.llf,
        "AIC": theirs.aic,
        "BIC": theirs.bic,
    }
    assert list(ours.extra) == list(extra)
    np.testing.assert_allclose(list(ours.extra.values()), list(extra.values()), rtol=1e-8, atol=1e-200)


def test_ill_conditioned_design_uses_singular_values():
    x = np.linspace(0, 1, 60)
    X = np.vander(x, 6)[:, :-1]
    y = np.cos(3 * x) + 0.01 * np.random.default_rng(0).normal(size=60)
    theirs = sm.OLS(y, sm.add_constant(X)).fit()
    ours = LinearRegression(tol=0).fit(X, y).summary()
    # the condition number is about 1e4 (1e8 for the covariance), so eight digits fewer than double precision
    np.testing.assert_allclose(ours.standard_error, theirs.bse, rtol=1e-7)


def test_almost_perfect_fit_keeps_the_digits_of_the_residuals():
    X, _, _ = data()
    y = X @ [1.0, 2.0, 3.0, 4.0] + 1e-9 * np.random.default_rng(1).normal(size=80)
    theirs = sm.OLS(y, sm.add_constant(X)).fit()
    ours = LinearRegression().fit(X, y).summary()
    # residuals of 1e-9 beside values of 1e3 have about four digits
    np.testing.assert_allclose(ours.standard_error, theirs.bse, rtol=1e-3)


def test_names_frame_and_text():
    X, y, _ = data()
    model = LinearRegression().fit(pd.DataFrame(X, columns=list("abcd")), y)
    summary = model.summary()
    frame = summary.frame()
    assert list(frame.index) == ["intercept", "a", "b", "c", "d"]
    assert list(frame.columns) == ["coef", "std err", "t", "P>|t|", "[0.025", "0.975]"]
    text = str(summary)
    assert "AIC" in text and len({len(line) for line in text.splitlines()[-8:]}) == 1


def test_one_table_per_target():
    X, y, _ = data()
    both = LinearRegression().fit(X, np.column_stack([y, -2 * y]))
    np.testing.assert_allclose(both.summary(target=1).coef, -2 * both.summary().coef)
    with pytest.raises(ValueError, match="2 targets"):
        both.summary(target=2)


def test_no_table_without_determined_coefficients():
    X, y, _ = data()
    with pytest.raises(ValueError, match="rank 4 but 5 columns"):
        LinearRegression().fit(np.column_stack([X, X[:, 0]]), y).summary()
    with pytest.raises(ValueError, match="nothing to estimate"):
        LinearRegression().fit(X[:5], y[:5]).summary()
    with pytest.raises(ValueError, match="positive=False"):
        LinearRegression(positive=True).fit(X, y).summary()


def test_normal_table_with_odds():
    table = coefficient_summary(["x"], [0.5], np.array([[0.04]]), odds=True)
    assert list(table.frame().columns)[2:4] == ["z", "P>|z|"]
    frame = table.frame()
    assert frame["odds ratio"].iloc[0] == pytest.approx(np.exp(0.5))
    # the 97.5 % point of the normal law is 1.959964
    assert frame["odds 0.975]"].iloc[0] == pytest.approx(np.exp(0.5 + 1.959964 * 0.2), rel=1e-6)
    with pytest.raises(ValueError, match="names"):
        coefficient_summary(["x", "y"], [0.5], [1.0])
    with pytest.raises(ValueError, match="level"):
        coefficient_summary(["x"], [0.5], [1.0], level=95)
