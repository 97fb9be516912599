"""Learnt metrics: NCA against scikit-learn's, LMNN by what it promises."""

import numpy as np
import pytest
import sklearn.neighbors
from sklearn.datasets import load_iris, load_wine

from hyperplan.neighbors import LargeMarginNearestNeighbor, NeighborhoodComponentsAnalysis
from hyperplan.preprocessing import StandardScaler


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def expected_right(X, y, A):
    """Expected number of rows that a random neighbour classifies correctly."""
    Z = X @ A.T
    D = ((Z[:, None] - Z[None]) ** 2).sum(-1)
    np.fill_diagonal(D, np.inf)
    P = np.exp(-(D - D.min(axis=1, keepdims=True)))
    P /= P.sum(axis=1, keepdims=True)
    return (P * (y[:, None] == y[None])).sum()


@pytest.mark.parametrize("init", ["pca", "lda", "identity"])
def test_nca_is_as_good_as_scikit_learns(init, wine):
    """The objective is not concave and paths differ by rounding: what counts is the value reached from one start."""
    X, y = wine
    options = {"n_components": 2, "init": init, "max_iter": 100, "tol": 1e-6}
    ours = NeighborhoodComponentsAnalysis(**options).fit(X, y)
    theirs = sklearn.neighbors.NeighborhoodComponentsAnalysis(**options).fit(X, y)
    reached = expected_right(X, y, theirs.components_)
    assert expected_right(X, y, ours.components_) > reached - 0.01 * len(y)
    assert -ours.objective_ == pytest.approx(expected_right(X, y, ours.components_), rel=1e-9)
    np.testing.assert_allclose(ours.transform(X), X @ ours.components_.T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("init", ["pca", "lda"])
def test_starts_are_those_of_scikit_learn(init):
    """After no improvement the start is left: distances do not see signs, so directions are compared up to sign."""
    X, y = load_iris(return_X_y=True)
    ours = NeighborhoodComponentsAnalysis(2, init=init)
    ours.random_state_ = np.random.RandomState(0)
    start = ours._start(X, y)
    if init == "pca":
        from sklearn.decomposition import PCA

        expected = PCA(2).fit(X).components_
    else:
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        expected = LinearDiscriminantAnalysis(n_components=2).fit(X, y).scalings_.T[:2]
    signs = np.sign((start * expected).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(start * signs, expected, rtol=1e-8, atol=1e-10)


def test_nca_converges_and_says_so(wine):
    X, y = wine
    model = NeighborhoodComponentsAnalysis(2, max_iter=2000, tol=1e-3, init="pca").fit(X, y)
    assert model.certificate_.holds and model.certificate_.kind == "gradient norm"
    short = NeighborhoodComponentsAnalysis(2, max_iter=2, tol=1e-8, init="pca").fit(X, y)
    assert not short.certificate_.holds and short.n_iter_ == 2


def test_lmnn_improves_nearest_neighbours():
    """One informative column among noisy ones of larger scale: neighbours are right after the fit, not before."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    X = np.column_stack([y + 0.15 * rng.normal(size=180), 3 * rng.normal(size=(180, 4))])
    train, test = np.arange(0, 180, 2), np.arange(1, 180, 2)
    model = LargeMarginNearestNeighbor(max_iter=300).fit(X[train], y[train])
    near = sklearn.neighbors.KNeighborsClassifier(3)
    before = near.fit(X[train], y[train]).score(X[test], y[test])
    after = near.fit(model.transform(X[train]), y[train]).score(model.transform(X[test]), y[test])
    assert before < 0.7 < 0.9 < after


def test_lmnn_lowers_its_objective_to_a_stationary_point(wine):
    X, y = wine
    start = LargeMarginNearestNeighbor(n_components=3, max_iter=1).fit(X, y)
    model = LargeMarginNearestNeighbor(n_components=3, max_iter=1000).fit(X, y)
    assert model.objective_ < start.objective_ and model.certificate_.holds
    assert model.components_.shape == (3, 13)


@pytest.mark.parametrize("cls", [NeighborhoodComponentsAnalysis, LargeMarginNearestNeighbor])
def test_warm_start_names_and_errors(cls, wine):
    X, y = wine
    model = cls(n_components=2, warm_start=True, max_iter=20).fit(X, y)
    first = model.objective_
    assert model.fit(X, y).objective_ <= first + 1e-9
    prefix = cls.__name__.lower()
    assert list(model.get_feature_names_out()) == [f"{prefix}0", f"{prefix}1"]
    with pytest.raises(ValueError, match="cannot be greater than the given data dimensionality"):
        cls(n_components=14).fit(X, y)
    with pytest.raises(ValueError, match="must match the dimensionality"):
        cls(init=np.eye(3)).fit(X, y)


def test_blocks_change_nothing_but_rounding(wine, monkeypatch):
    from hyperplan.neighbors import _metric_learning as module

    X, y = wine
    whole = NeighborhoodComponentsAnalysis(2, max_iter=3).fit(X, y).components_
    monkeypatch.setattr(module, "TILE_NUMBERS", 7 * len(y))
    np.testing.assert_allclose(NeighborhoodComponentsAnalysis(2, max_iter=3).fit(X, y).components_, whole, rtol=1e-8)
