"""Cross-validated multi-task lasso and elastic net against scikit-learn and against their definition."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as reference
from sklearn.datasets import make_regression

from hyperplan import thread_limit
from hyperplan.linear_model import MultiTaskElasticNet, MultiTaskElasticNetCV, MultiTaskLasso, MultiTaskLassoCV

TIGHT = {"tol": 1e-8, "max_iter": 20_000}


def problem(n, d, targets=3):
    X, Y = make_regression(n, d, n_informative=4, n_targets=targets, noise=10.0, random_state=0)
    return X + 2.0, Y + 5.0


def agree(ours, theirs):
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-10)
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-10)
    # both stop at a relative gap of 1e-8: about its root in the coefficients and in the errors they make
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-3, atol=1e-3)
    assert ours.certificate_.holds


@pytest.mark.parametrize(("n", "d"), [(80, 8), (30, 60)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_lasso_like_scikit_learn(n, d, fit_intercept, weighted):
    X, Y = problem(n, d)
    weight = np.random.default_rng(1).uniform(0.2, 2.0, n) if weighted else None
    options = {"alphas": 12, "eps": 0.05, "cv": 4, "fit_intercept": fit_intercept, **TIGHT}
    ours = MultiTaskLassoCV(**options).fit(X, Y, sample_weight=weight)
    agree(ours, reference.MultiTaskLassoCV(**options).fit(X, Y, sample_weight=weight))
    assert ours.mse_path_.shape == (12, 4) and ours.coef_.shape == (3, d)


@pytest.mark.parametrize("alphas", [8, [0.5, 5.0, 2.0]])
@pytest.mark.parametrize("l1_ratio", [0.7, [0.3, 0.9]])
def test_elastic_net_like_scikit_learn(alphas, l1_ratio):
    X, Y = problem(60, 12)
    options = {"l1_ratio": l1_ratio, "alphas": alphas, "eps": 0.01, "cv": 3, **TIGHT}
    ours, theirs = MultiTaskElasticNetCV(**options).fit(X, Y), reference.MultiTaskElasticNetCV(**options).fit(X, Y)
    agree(ours, theirs)
    assert ours.l1_ratio_ == theirs.l1_ratio_
    assert ours.mse_path_.shape == theirs.mse_path_.shape and ours.alphas_.shape == theirs.alphas_.shape


def test_the_choice_is_refitted_on_all_rows():
    X, Y = problem(70, 9)
    chosen = MultiTaskElasticNetCV(l1_ratio=[0.5, 1.0], alphas=6, **TIGHT).fit(X, Y)
    again = MultiTaskElasticNet(alpha=chosen.alpha_, l1_ratio=chosen.l1_ratio_, **TIGHT).fit(X, Y)
    np.testing.assert_allclose(chosen.coef_, again.coef_, rtol=1e-12)
    best = np.unravel_index(chosen.mse_path_.mean(axis=2).argmin(), (2, 6))
    assert chosen.alpha_ == chosen.alphas_[best]


def test_errors_are_those_of_fits_on_the_training_rows():
    X, Y = problem(40, 6)
    folds = [(np.arange(20, 40), np.arange(20)), (np.arange(25), np.arange(25, 40))]
    model = MultiTaskLassoCV(alphas=[3.0, 1.0], cv=folds, **TIGHT).fit(X, Y)
    for k, (train, test) in enumerate(folds):
        alone = MultiTaskLasso(alpha=1.0, **TIGHT).fit(X[train], Y[train])
        # two descents of relative gap 1e-8 that start elsewhere
        assert model.mse_path_[1, k] == pytest.approx(((alone.predict(X[test]) - Y[test]) ** 2).mean(), rel=1e-5)


def test_sparse_is_dense_and_threads_change_nothing():
    X, Y = problem(60, 10)
    X = X * (np.random.default_rng(2).random(X.shape) < 0.4)
    fits = []
    for threads in (1, 2, 3):
        with thread_limit(threads):
            fits.append(MultiTaskLassoCV(alphas=5, cv=3, **TIGHT).fit(X, Y))
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.coef_, fits[0].coef_)
        np.testing.assert_array_equal(fit.mse_path_, fits[0].mse_path_)
    sparse = MultiTaskLassoCV(alphas=5, cv=3, **TIGHT).fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(sparse.coef_, fits[0].coef_, atol=1e-6)  # the same descent, rounded elsewhere


def test_one_target_is_sent_elsewhere():
    X, Y = problem(30, 4)
    with pytest.raises(ValueError, match=r"For mono-task outputs, use LassoCV$"):
        MultiTaskLassoCV().fit(X, Y[:, 0])
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 3, column 1"):
        MultiTaskElasticNetCV(alphas=3).fit(X, Y)


def test_parameters_that_nobody_routes_are_refused_before_the_data():
    X, Y = problem(30, 4)
    with pytest.raises(ValueError, match="only supported if enable_metadata_routing=True"):
        MultiTaskLassoCV().fit(X, Y[:, 0], groups=np.zeros(30))
