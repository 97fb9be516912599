"""Gaussian mixtures against scikit-learn from equal starts, against definitions, and on odd data."""

import warnings

import numpy as np
import pytest
import sklearn.cluster
import sklearn.mixture
from scipy.stats import multivariate_normal

from hyperplan._base import ConvergenceWarning
from hyperplan.discriminant_analysis import QuadraticDiscriminantAnalysis
from hyperplan.mixture import GaussianMixture, GaussianMixtureIC, MixtureClassifier
from hyperplan.mixture._kmeans_start import kmeans_labels, spread_rows
from hyperplan.naive_bayes import GaussianNB

KINDS = ["full", "tied", "diag", "spherical"]


def clumps(n=600, d=3, k=3, seed=0, apart=6.0):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, k, n)
    centres = apart * rng.normal(size=(k, d))
    return rng.normal(size=(n, d)) * rng.uniform(0.5, 1.5, (k, d))[label] + centres[label], label


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", ["kmeans", "k-means++", "random", "random_from_data"])
def test_equal_seeds_give_equal_fits(kind, start):
    """The starts draw the same random numbers in the same order, and EM is deterministic."""
    if kind == "tied" and start in ("k-means++", "random_from_data"):
        pytest.skip("scikit-learn divides the squares of all rows by the three that start")
    X, _ = clumps()
    options = {"n_components": 3, "covariance_type": kind, "init_params": start, "random_state": 1, "tol": 1e-6}
    options |= {"max_iter": 30}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mine, theirs = (module.GaussianMixture(**options).fit(X) for module in (_ours(), sklearn.mixture))
    # thirty steps multiply rounding errors: 1e-6 is far below the effect of one step
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        np.testing.assert_allclose(getattr(mine, name), getattr(theirs, name), rtol=1e-6, atol=1e-6, err_msg=name)
    assert mine.n_iter_ == theirs.n_iter_ and mine.converged_ == theirs.converged_
    # a start of single rows has variances of 1e-6, where the first bound is mostly rounding
    np.testing.assert_allclose(mine.lower_bounds_[1:], theirs.lower_bounds_[1:], rtol=1e-8)
    np.testing.assert_allclose(mine.score_samples(X), theirs.score_samples(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert mine.bic(X) == pytest.approx(theirs.bic(X)) and mine.aic(X) == pytest.approx(theirs.aic(X))
    assert mine.certificate_.holds


def _ours():
    import hyperplan.mixture

    return hyperplan.mixture


@pytest.mark.parametrize("kind", KINDS)
def test_given_starts(kind):
    X, _ = clumps()
    theirs = sklearn.mixture.GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    given = {"weights_init": theirs.weights_, "means_init": theirs.means_, "precisions_init": theirs.precisions_}
    mine = GaussianMixture(3, covariance_type=kind, max_iter=0, **given).fit(X)
    np.testing.assert_allclose(mine.covariances_, theirs.covariances_, rtol=1e-8)
    np.testing.assert_allclose(mine.score_samples(X), theirs.score_samples(X), rtol=1e-8)


def test_kmeans_start_is_that_of_scikit_learn():
    X, _ = clumps(k=5, apart=3.0)
    found = kmeans_labels(X, 5, np.random.RandomState(3))
    expected = sklearn.cluster.KMeans(5, n_init=1, random_state=np.random.RandomState(3)).fit(X).labels_
    np.testing.assert_array_equal(found, expected)
    _, rows = sklearn.cluster.kmeans_plusplus(X, 5, random_state=np.random.RandomState(3))
    np.testing.assert_array_equal(spread_rows(X, 5, np.random.RandomState(3)), rows)


@pytest.mark.parametrize("kind", KINDS)
def test_one_component_is_the_sample_mean_and_covariance(kind):
    X, _ = clumps()
    model = GaussianMixture(covariance_type=kind, reg_covar=0).fit(X)
    covariance = np.cov(X.T, bias=True)
    expected = {
        "full": covariance[None],
        "tied": covariance,
        "diag": np.diagonal(covariance)[None],
        "spherical": np.array([np.trace(covariance) / 3]),
    }[kind]
    np.testing.assert_allclose(model.means_[0], X.mean(axis=0))
    np.testing.assert_allclose(model.covariances_, expected, rtol=1e-9)


def test_density_is_the_weighted_sum_of_gaussians():
    X, _ = clumps()
    model = GaussianMixture(3, random_state=0).fit(X)
    parts = zip(model.weights_, model.means_, model.covariances_)
    density = sum(weight * multivariate_normal(mean, covariance).pdf(X) for weight, mean, covariance in parts)
    np.testing.assert_allclose(model.score_samples(X), np.log(density), rtol=1e-8)
    assert model.score(X) == pytest.approx(np.log(density).mean())


@pytest.mark.parametrize("kind", KINDS)
def test_the_likelihood_never_falls(kind):
    X, _ = clumps(k=4, apart=1.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = GaussianMixture(4, covariance_type=kind, reg_covar=0, tol=0, max_iter=60, random_state=0).fit(X)
    steps = np.diff(model.lower_bounds_)
    assert len(steps) == 59 and steps.min() > -1e-10 and model.lower_bounds_[-1] > model.lower_bounds_[0] + 1e-3
    assert model.certificate_.holds and model.certificate_.kind == "monotone likelihood"


def test_clusters_far_apart_keep_their_covariances():
    X, label = clumps()
    X = X + 1e8 * np.array([0.0, 1.0, -1.0])[label][:, None]
    model = GaussianMixture(3, random_state=0, reg_covar=0).fit(X)
    for mean, covariance in zip(model.means_, model.covariances_):
        rows = X[np.abs(X - mean).max(axis=1) < 1e6]
        np.testing.assert_allclose(covariance, np.cov(rows.T, bias=True), rtol=1e-5, atol=1e-6)


def test_samples_follow_the_fit():
    X, _ = clumps()
    for kind in KINDS:
        model = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
        drawn, component = model.sample(20_000)
        assert drawn.shape == (20_000, 3)
        np.testing.assert_allclose(np.bincount(component) / 20_000, model.weights_, atol=0.02)
        np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.3)
    with pytest.raises(ValueError, match="at least one sample"):
        model.sample(0)


def test_warm_start_continues():
    X, _ = clumps(apart=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        whole = GaussianMixture(3, max_iter=6, random_state=0, tol=0).fit(X)
        parts = GaussianMixture(3, max_iter=3, random_state=0, tol=0, warm_start=True).fit(X).fit(X)
    np.testing.assert_allclose(parts.means_, whole.means_, rtol=1e-9)


def test_bad_starts_and_collapsed_components_are_errors():
    X, _ = clumps()
    with pytest.raises(ValueError, match="n_samples >= n_components"):
        GaussianMixture(5).fit(X[:3])
    with pytest.raises(ValueError, match="'weights' should be normalized"):
        GaussianMixture(3, weights_init=[0.2, 0.2, 0.2]).fit(X)
    with pytest.raises(ValueError, match="increase reg_covar"):
        GaussianMixture(3, reg_covar=0, random_state=0).fit(np.repeat([[0.0], [1.0]], 5, axis=0))
    with pytest.warns(ConvergenceWarning, match=r"last of 1 steps"):
        GaussianMixture(3, max_iter=1, random_state=0).fit(X)
    for kind in KINDS:
        with pytest.raises(ValueError, match="scale the input data"):
            GaussianMixture(covariance_type=kind).fit(X * 1e200)
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match="row 4, column 1"):
        GaussianMixture(3).fit(X)


@pytest.mark.parametrize("criterion", ["bic", "aic"])
def test_the_criterion_finds_the_number_of_clumps(criterion):
    X, _ = clumps(n=900)
    model = GaussianMixtureIC(criterion, n_components=range(1, 6), covariance_type=["full", "diag"], random_state=0)
    model.fit(X)
    assert model.criteria_.shape == (2, 5) and model.criterion_ == model.criteria_.min()
    if criterion == "bic":
        assert model.n_components_ == 3 and model.covariance_type_ == "diag"
    best = model.best_mixture_
    assert getattr(best, criterion)(X) == pytest.approx(model.criterion_)
    np.testing.assert_array_equal(model.predict(X), best.predict(X))


def test_one_gaussian_per_class_is_quadratic_analysis_or_naive_bayes():
    X, y = clumps(apart=2.0)
    quadratic = QuadraticDiscriminantAnalysis().fit(X, y)
    full = MixtureClassifier(1, reg_covar=0).fit(X, y)
    np.testing.assert_allclose(full.predict_proba(X), quadratic.predict_proba(X), atol=1e-9)
    naive = GaussianNB(var_smoothing=0).fit(X, y)
    diagonal = MixtureClassifier(1, covariance_type="diag", reg_covar=0).fit(X, y)
    np.testing.assert_allclose(diagonal.predict_joint_log_proba(X), naive.predict_joint_log_proba(X), rtol=1e-9)


def test_classes_of_several_clumps_need_several_gaussians():
    X, clump = clumps(n=800, k=4, d=2)
    y = np.array(["in", "out"])[clump % 2]
    one, two = MixtureClassifier(1).fit(X, y), MixtureClassifier(2, random_state=0).fit(X, y)
    assert two.score(X, y) > 0.97 and two.score(X, y) > one.score(X, y)
    chosen = MixtureClassifier([1, 2, 3], random_state=0).fit(X, y)
    assert chosen.n_components_.tolist() == [2, 2]
    with pytest.raises(ValueError, match="positive int or a list"):
        MixtureClassifier([0, 2]).fit(X, y)
    few = MixtureClassifier(5, random_state=0).fit(X[:8], ["a"] * 6 + ["b"] * 2)
    assert few.n_components_.tolist() == [5, 2]
