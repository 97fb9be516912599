"""Discriminant analysis against scikit-learn and against formulas; Ledoit-Wolf shrinkage against its own estimator."""

import numpy as np
import pytest
import sklearn.covariance
import sklearn.discriminant_analysis as peers
from scipy.linalg import LinAlgError
from scipy.stats import multivariate_normal

from hyperplan._math.class_moments import class_scatters
from hyperplan._math.covariance import ledoit_wolf_covariance
from hyperplan.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from hyperplan.linear_model import LinearRegression
from hyperplan.naive_bayes import GaussianNB

SOLVERS = [("svd", None), ("lsqr", None), ("lsqr", 0.3), ("lsqr", "auto"), ("eigen", None), ("eigen", 0.3)]
SOLVERS += [("eigen", "auto")]


def classes(n=300, d=6, k=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    mix = rng.normal(size=(d, d))
    return rng.normal(size=(n, d)) @ mix + 2 * rng.normal(size=(k, d))[y] + 50.0, np.array(list("dcba"))[:k][y]


def pair(options, X, y):
    return [module(**options).fit(X, y) for module in (LinearDiscriminantAnalysis, peers.LinearDiscriminantAnalysis)]


@pytest.mark.parametrize(("solver", "shrinkage"), SOLVERS)
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("priors", [None, True])
def test_linear(solver, shrinkage, k, priors):
    X, y = classes(k=k)
    priors = None if priors is None else np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    options = {"solver": solver, "shrinkage": shrinkage, "priors": priors, "store_covariance": True}
    mine, theirs = pair(options, X, y)
    # both solve the same equations in float64; their condition (about 1e4) times rounding stays below 1e-8
    for name in ("coef_", "intercept_", "means_", "priors_", "covariance_"):
        np.testing.assert_allclose(getattr(mine, name), getattr(theirs, name), rtol=1e-7, atol=1e-8, err_msg=name)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    np.testing.assert_array_equal(mine.predict(X), theirs.predict(X))
    if solver != "lsqr":
        np.testing.assert_allclose(mine.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-7)
        a, b = mine.transform(X), theirs.transform(X)
        np.testing.assert_allclose(a * np.sign((a * b).sum(axis=0)), b, rtol=1e-6, atol=1e-7)  # axes have no sign
    assert mine.certificate_.holds


def test_fewer_rows_than_columns_and_doubled_columns():
    X, y = classes(n=30, d=6)
    wide = np.column_stack([X, np.random.default_rng(1).normal(size=(30, 60))])
    for table in (wide, np.column_stack([X, X[:, :2], np.ones(30)])):
        mine, theirs = pair({}, table, y)
        np.testing.assert_allclose(mine.decision_function(table), theirs.decision_function(table), rtol=1e-6, atol=1e-6)
        assert mine.certificate_.holds


def test_nearly_collinear_columns_fall_back_to_singular_values():
    X, y = classes()
    near = np.column_stack([X, X[:, 0] + 1e-3 * np.random.default_rng(2).normal(size=300)])
    mine, theirs = pair({"tol": 1e-7}, near, y)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=1e-6)


def test_transform_has_the_wanted_components():
    X, y = classes()
    model = LinearDiscriminantAnalysis(n_components=2).fit(X, y)
    assert model.transform(X).shape == (300, 2)
    assert model.get_feature_names_out().tolist() == ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]
    with pytest.raises(ValueError, match="n_components cannot be larger"):
        LinearDiscriminantAnalysis(n_components=4).fit(X, y)
    with pytest.raises(ValueError, match="lsqr"):
        LinearDiscriminantAnalysis(solver="lsqr").fit(X, y).transform(X)


def test_two_classes_have_the_direction_of_least_squares():
    X, y = classes(k=2)
    slope = LinearRegression().fit(X, (y == "d").astype(float)).coef_
    coef = LinearDiscriminantAnalysis().fit(X, y).coef_[0]
    np.testing.assert_allclose(coef / np.linalg.norm(coef), slope / np.linalg.norm(slope), rtol=1e-8)


def test_ledoit_wolf_is_that_of_standardised_rows():
    X, _ = classes()
    codes = np.zeros(300, dtype=np.intp)
    scatters = class_scatters(X, codes, 1)
    found = ledoit_wolf_covariance(X, np.arange(300), scatters.mean[0], scatters.scatter[0])
    scale = X.std(axis=0)
    expected, _ = sklearn.covariance.ledoit_wolf((X - X.mean(axis=0)) / scale)
    np.testing.assert_allclose(found, expected * np.outer(scale, scale), rtol=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"reg_param": 0.3},
        {"priors": [0.1, 0.2, 0.3, 0.4]},
        {"solver": "eigen"},
        {"solver": "eigen", "shrinkage": 0.2},
        {"solver": "eigen", "shrinkage": "auto"},
        {"solver": "eigen", "covariance_estimator": sklearn.covariance.OAS()},
    ],
)
def test_quadratic(options):
    X, y = classes()
    options = {**options, "store_covariance": True}
    mine = QuadraticDiscriminantAnalysis(**options).fit(X, y)
    theirs = peers.QuadraticDiscriminantAnalysis(**options).fit(X, y)
    np.testing.assert_allclose(mine.means_, theirs.means_)
    for name in ("scalings_", "covariance_"):
        np.testing.assert_allclose(getattr(mine, name), getattr(theirs, name), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(mine.decision_function(X), theirs.decision_function(X), rtol=1e-8, atol=1e-6)
    np.testing.assert_allclose(mine.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-7, atol=1e-6)
    np.testing.assert_array_equal(mine.predict(X), theirs.predict(X))
    assert mine.certificate_.holds


def test_diagonal_quadratic_analysis_is_naive_bayes():
    """Rows in all corners of a box have diagonal covariances, so that both models are the same."""
    corners = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
    X = np.concatenate([corners * [1, 2, 3] + [0, 1, 2], corners * [2, 1, 1] - [1, 0, 3]])
    y = np.repeat([0, 1], 8)
    quadratic = QuadraticDiscriminantAnalysis().fit(X, y)
    naive = GaussianNB(var_smoothing=0).fit(X, y)
    points = np.random.default_rng(0).normal(size=(50, 3)) * 3
    np.testing.assert_allclose(
        quadratic.predict_log_proba(points), naive.predict_log_proba(points), rtol=1e-9, atol=1e-9
    )


def test_scores_are_gaussian_densities():
    X, y = classes(k=2)
    model = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    joint = [
        np.log(prior) + multivariate_normal(mean, covariance).logpdf(X)
        for prior, mean, covariance in zip(model.priors_, model.means_, model.covariance_)
    ]
    np.testing.assert_allclose(model.decision_function(X), joint[1] - joint[0], rtol=1e-7, atol=1e-7)


def test_singular_classes_are_errors_with_advice():
    X, y = classes()
    X[:, 2] = X[:, 0] + X[:, 1]
    with pytest.raises(LinAlgError, match=r"class a is not full rank\. Increase the value of `reg_param`"):
        QuadraticDiscriminantAnalysis().fit(X, y)
    with pytest.raises(LinAlgError, match="Increase the value of `shrinkage`"):
        QuadraticDiscriminantAnalysis(solver="eigen").fit(X, y)
    with pytest.raises(LinAlgError, match="has 7 samples and 9 features"):
        QuadraticDiscriminantAnalysis().fit(np.random.default_rng(0).normal(size=(20, 9)), [0] * 7 + [1] * 13)
    with pytest.raises(ValueError, match="only 1 sample in class b"):
        QuadraticDiscriminantAnalysis().fit(X[:5], ["a", "a", "a", "a", "b"])


@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_located(model, bad):
    X, y = classes()
    fitted = type(model)().fit(X, y)
    X[7, 2] = bad
    for call in (lambda: model.fit(X, y), lambda: fitted.predict(X)):
        with pytest.raises(ValueError, match=r"row 7, column 2"):
            call()


@pytest.mark.parametrize("model", [LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()])
def test_values_whose_squares_overflow_are_refused_in_words(model):
    X, y = classes()
    with pytest.raises(ValueError, match="squares overflow"):
        model.fit(X * 1e200, y)


def test_constant_columns_and_equal_means_are_defined():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    X[:, 1] = 0.1
    model = LinearDiscriminantAnalysis().fit(X, y)
    assert np.isfinite(model.decision_function(X)).all() and model.coef_[0, 1] == 0
    still = LinearDiscriminantAnalysis().fit(np.ones((6, 2)), [0, 1] * 3)  # no spread at all: the priors decide
    np.testing.assert_allclose(still.predict_proba([[5.0, 1.0]]), [[0.5, 0.5]])


def test_float32_fits_in_float64_and_answers_in_float32():
    X, y = classes()
    narrow = X.astype(np.float32)
    a, b = LinearDiscriminantAnalysis().fit(narrow, y), LinearDiscriminantAnalysis().fit(narrow.astype(np.float64), y)
    assert a.coef_.dtype == np.float32
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-5)
