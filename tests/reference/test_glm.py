"""Generalised linear models against scikit-learn and statsmodels, and the promises of the engine."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as peer
from numpy.testing import assert_allclose
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning

from hyperplan import thread_limit
from hyperplan._solvers.glm import FAMILIES, solve_glm
from hyperplan.linear_model import GammaRegressor, GeneralizedLinearRegressor, PoissonRegressor, TweedieRegressor

statsmodels = pytest.importorskip("statsmodels.api")
sm_families, sm_links = statsmodels.families, statsmodels.families.links

rng = np.random.default_rng(7)
N, D = 300, 4
X = rng.normal(size=(N, D)) + 2.0
ETA = X @ np.array([0.3, -0.2, 0.1, 0.0]) - 0.2
WEIGHT = rng.uniform(0.5, 2.0, N)
COIN = (rng.random(N) < 1 / (1 + np.exp(-ETA))).astype(float)
TARGETS = {
    ("gaussian", "identity"): ETA + rng.normal(size=N),
    ("gaussian", "log"): np.exp(ETA) + 0.1 * rng.normal(size=N),
    ("poisson", "log"): rng.poisson(np.exp(ETA)).astype(float),
    ("poisson", "identity"): rng.poisson(6 + ETA).astype(float),
    ("gamma", "log"): rng.gamma(2.0, np.exp(ETA) / 2),
    ("gamma", "inverse"): rng.gamma(50.0, np.exp(0.1 * ETA) / 50),
    ("inverse-gaussian", "log"): rng.wald(np.exp(ETA), 3.0),
    ("binomial", "logit"): COIN,
    ("binomial", "probit"): COIN,
    ("binomial", "cloglog"): COIN,
}
SM_FAMILY = {
    "gaussian": sm_families.Gaussian,
    "poisson": sm_families.Poisson,
    "gamma": sm_families.Gamma,
    "inverse-gaussian": sm_families.InverseGaussian,
    "binomial": sm_families.Binomial,
}
SM_LINK = {
    "identity": sm_links.Identity,
    "log": sm_links.Log,
    "inverse": sm_links.InversePower,
    "logit": sm_links.Logit,
    "probit": sm_links.Probit,
    "cloglog": sm_links.CLogLog,
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("family", "link"), list(TARGETS))
def test_coefficients_and_errors_equal_statsmodels(family, link, weighted):
    y, weight = TARGETS[family, link], WEIGHT if weighted else None
    ours = GeneralizedLinearRegressor(family=family, link=link, tol=1e-10).fit(X, y, sample_weight=weight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # statsmodels on links that can leave the domain
        theirs = statsmodels.GLM(
            y, statsmodels.add_constant(X), family=SM_FAMILY[family](SM_LINK[link]()), freq_weights=weight
        ).fit(tol=1e-13, maxiter=300)
    table = ours.summary()
    # both stop at a relative step of about 1e-7 of an error of about 0.1 (non-convex rows converge linearly)
    assert_allclose(np.r_[ours.intercept_, ours.coef_], theirs.params, atol=1e-6)
    assert_allclose(table.standard_error, theirs.bse, rtol=1e-6)
    assert_allclose(table.p_value, theirs.pvalues, atol=1e-6)
    assert_allclose(table.extra["deviance"], theirs.deviance, rtol=1e-10)
    assert_allclose(table.extra["Pearson chi2"], theirs.pearson_chi2, rtol=1e-6)
    assert ours.certificate_.holds


@pytest.mark.parametrize("alpha", [0.0, 0.1])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("name", ["PoissonRegressor", "GammaRegressor"])
def test_same_optimum_as_scikit_learn(name, fit_intercept, alpha):
    y = TARGETS["gamma", "log"]
    params = {"alpha": alpha, "fit_intercept": fit_intercept}
    ours = {"PoissonRegressor": PoissonRegressor, "GammaRegressor": GammaRegressor}[name](tol=1e-10, **params)
    theirs = getattr(peer, name)(tol=1e-12, solver="newton-cholesky", **params)
    ours.fit(X, y, WEIGHT), theirs.fit(X, y, WEIGHT)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)  # gradients of 1e-10 over curvatures of about 0.1
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-8)
    assert_allclose(ours.score(X, y, WEIGHT), theirs.score(X, y, WEIGHT), rtol=1e-8)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-7)


@pytest.mark.parametrize("link", ["log", "identity"])
@pytest.mark.parametrize("power", [-1.0, 0.0, 1.0, 1.5, 1.9, 2.0, 3.0, 4.5])
def test_every_tweedie_power_as_scikit_learn(power, link):
    y = rng.gamma(2.0, np.exp(0.3 * ETA) / 2) + (3.0 if link == "identity" else 0.0)
    ours = TweedieRegressor(power=power, link=link, alpha=0.1, tol=1e-9).fit(X, y)
    theirs = peer.TweedieRegressor(
        power=power, link=link, alpha=0.1, tol=1e-11, solver="newton-cholesky", max_iter=1000
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # their Newton solver falls back to L-BFGS on non-convex losses
        theirs.fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=2e-5)  # their fallback is exact to about 1e-6
    assert_allclose(ours.score(X, y), theirs.score(X, y), rtol=1e-6)


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csc_matrix, sp.csr_array])
def test_sparse_equals_dense(container):
    y = TARGETS["poisson", "log"]
    A = np.where(np.abs(X - 2.0) < 0.7, 0.0, X)
    dense = PoissonRegressor(alpha=0.01, tol=1e-10).fit(A, y)
    sparse = PoissonRegressor(alpha=0.01, tol=1e-10).fit(container(A), y)
    assert_allclose(sparse.coef_, dense.coef_, atol=1e-9)  # different order of sums
    assert_allclose(sparse.predict(container(A)), dense.predict(A), rtol=1e-9)


def test_float32_and_layouts_are_kept():
    y = TARGETS["poisson", "log"]
    reference = PoissonRegressor(tol=1e-8).fit(X, y)
    single = PoissonRegressor(tol=1e-8).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32 and single.predict(X.astype(np.float32)).dtype == np.float32
    assert_allclose(single.coef_, reference.coef_, rtol=1e-5)  # the inputs are rounded to 6e-8
    assert_allclose(PoissonRegressor(tol=1e-8).fit(np.asfortranarray(X), y).coef_, reference.coef_, rtol=1e-10)


def test_threads_do_not_change_a_bit():
    big = rng.normal(size=(40_000, 6))
    y = rng.poisson(np.exp(0.2 * big[:, 0])).astype(float)
    fits = []
    for jobs in (1, 2, 4):
        with thread_limit(jobs):
            fits.append(PoissonRegressor(alpha=1e-3).fit(big, y))
    assert (fits[0].coef_ == fits[1].coef_).all() and (fits[0].coef_ == fits[2].coef_).all()
    theirs = peer.PoissonRegressor(alpha=1e-3, tol=1e-10, solver="newton-cholesky").fit(big, y)
    assert_allclose(fits[0].coef_, theirs.coef_, atol=1e-4)  # tol=1e-4 on gradients, curvature about 1


def test_a_rank_deficient_fit_has_minimum_norm_and_says_so():
    y = TARGETS["poisson", "log"]
    doubled = np.hstack([X, X])
    with pytest.warns(LinAlgWarning, match="singular"):
        fit = PoissonRegressor(alpha=0.0, solver="newton-cholesky", tol=1e-10).fit(doubled, y)
    single = PoissonRegressor(alpha=0.0, tol=1e-10).fit(X, y)
    assert_allclose(fit.coef_, np.r_[single.coef_, single.coef_] / 2, atol=1e-8)
    quiet = PoissonRegressor(alpha=0.0, tol=1e-10).fit(doubled, y)  # the default solver does not warn
    assert_allclose(quiet.coef_, fit.coef_, atol=1e-12)


def test_more_columns_than_rows_interpolate_with_the_limit_of_vanishing_penalty():
    wide, y = rng.normal(size=(8, 20)), rng.uniform(1.0, 3.0, 8)
    fit = PoissonRegressor(alpha=0.0, tol=1e-12).fit(wide, y)
    limit = PoissonRegressor(alpha=1e-9, tol=1e-14).fit(wide, y)
    assert_allclose(fit.predict(wide), y, rtol=1e-8)
    assert_allclose(fit.coef_, limit.coef_, atol=1e-6)  # the limit is off by O(alpha / smallest curvature)


def test_conjugate_gradients_reach_the_same_optimum():
    y = TARGETS["poisson", "log"]
    exact = GeneralizedLinearRegressor(family="poisson", alpha=0.01, tol=1e-9).fit(X, y)
    products = GeneralizedLinearRegressor(family="poisson", alpha=0.01, tol=1e-9, solver="newton-cg").fit(X, y)
    assert_allclose(products.coef_, exact.coef_, atol=1e-7)
    with pytest.raises(ValueError, match="no table"):
        products.summary()


def test_offset_is_a_known_part_of_the_predictor():
    exposure = rng.uniform(0.5, 4.0, N)
    y = rng.poisson(exposure * np.exp(ETA)).astype(float)
    ours = PoissonRegressor(alpha=0.0, tol=1e-10).fit(X, y, offset=np.log(exposure))
    theirs = statsmodels.GLM(y, statsmodels.add_constant(X), family=sm_families.Poisson(), offset=np.log(exposure)).fit(
        tol=1e-13
    )
    assert_allclose(np.r_[ours.intercept_, ours.coef_], theirs.params, atol=1e-7)
    assert_allclose(ours.predict(X, offset=np.log(exposure)), theirs.fittedvalues, rtol=1e-7)


def test_warm_start_continues():
    y = TARGETS["poisson", "log"]
    model = PoissonRegressor(warm_start=True, max_iter=1, tol=1e-10)
    with pytest.warns(ConvergenceWarning, match="largest derivative"):
        model.fit(X, y)
    model.set_params(max_iter=50).fit(X, y)
    assert model.fit(X, y).n_iter_ == 0
    assert_allclose(model.coef_, PoissonRegressor(tol=1e-10).fit(X, y).coef_, atol=1e-8)


@pytest.mark.parametrize(
    ("family", "bad"), [("poisson", -1.0), ("gamma", 0.0), ("binomial", 1.5), ("inverse-gaussian", 0.0)]
)
def test_targets_outside_the_domain_are_named(family, bad):
    with pytest.raises(ValueError, match=r"Some value\(s\) of y are out of the valid range.*row 1"):
        GeneralizedLinearRegressor(family=family).fit([[1.0], [2.0]], [0.5, bad])


def test_non_finite_input_is_located():
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 3, column 1"):
        PoissonRegressor().fit(bad, TARGETS["poisson", "log"])


def test_huge_values_end_with_a_warning_not_a_hang():
    with pytest.warns(ConvergenceWarning, match="not finite"):
        PoissonRegressor().fit(X * 1e200, TARGETS["poisson", "log"])


def test_a_link_of_another_family_is_refused():
    with pytest.raises(ValueError, match="link"):
        GeneralizedLinearRegressor(family="poisson", link="logit").fit(X, TARGETS["poisson", "log"])


def test_the_solver_runs_without_an_estimator():
    y = TARGETS["poisson", "log"]
    result = solve_glm(X, y, family=FAMILIES["poisson"], link="log", alpha=0.0, tol=1e-10)
    gradient = np.r_[X.T @ (np.exp(result.eta) - y), (np.exp(result.eta) - y).sum()] / N
    assert np.abs(gradient).max() < 1e-9  # theory: zero; 1e-10 asked, in centred coordinates
