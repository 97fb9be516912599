"""LogisticRegressionCV against scikit-learn."""

import numpy as np
import pytest
import sklearn.linear_model
from sklearn.model_selection import KFold

from hyperplan._core.parallel import single_threaded_blas
from hyperplan.linear_model import LogisticRegression, LogisticRegressionCV

QUIET = {"use_legacy_attributes": False, "scoring": "neg_log_loss"}


@pytest.fixture(autouse=True)
def _one_blas_thread():
    """The peer's small products are slow with several BLAS threads on a busy machine."""
    with single_threaded_blas():
        yield


def _data(classes=2, n=150, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, classes)) + rng.gumbel(size=(n, classes))).argmax(axis=1), rng.random(n) + 0.1


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy", None])
def test_scores_and_choice(classes, scoring):
    X, y, weight = _data(classes)
    params = {**QUIET, "Cs": 5, "l1_ratios": (0,), "tol": 1e-9, "scoring": scoring}
    ours = LogisticRegressionCV(**params).fit(X, y, weight)
    peer = sklearn.linear_model.LogisticRegressionCV(solver="newton-cholesky", **params).fit(X, y, weight)
    assert ours.C_ == peer.C_ and ours.l1_ratio_ == peer.l1_ratio_
    np.testing.assert_allclose(ours.scores_, peer.scores_, rtol=1e-6)  # both fits have gradients below 1e-9
    np.testing.assert_allclose(ours.coefs_paths_, peer.coefs_paths_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-5, atol=1e-7)
    assert ours.n_iter_.shape == peer.n_iter_.shape
    assert ours.score(X, y) == pytest.approx(peer.score(X, y), rel=1e-6)
    assert ours.certificate_.holds


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("l1_ratios", [(0.0,), (0.0, 0.5, 1.0)])
def test_legacy_attributes_have_the_same_shapes(classes, l1_ratios, refit):
    X, y, _ = _data(classes)
    params = {"Cs": [0.1, 1.0], "l1_ratios": np.array(l1_ratios), "solver": "saga", "refit": refit, "cv": 3}
    params |= {"scoring": "neg_log_loss", "use_legacy_attributes": True, "max_iter": 2000, "tol": 1e-6}
    ours = LogisticRegressionCV(**params).fit(X, y)
    peer = sklearn.linear_model.LogisticRegressionCV(**params).fit(X, y)
    for name in ("C_", "l1_ratio_", "n_iter_", "Cs_", "l1_ratios_", "coef_", "intercept_"):
        assert np.shape(getattr(ours, name)) == np.shape(getattr(peer, name)), name
    np.testing.assert_allclose(ours.C_, peer.C_)
    np.testing.assert_allclose(ours.l1_ratio_, peer.l1_ratio_)
    assert list(ours.scores_) == list(peer.scores_)
    for key in peer.scores_:
        np.testing.assert_allclose(ours.scores_[key], peer.scores_[key], rtol=1e-3)  # saga stops by its steps
        assert ours.coefs_paths_[key].shape == peer.coefs_paths_[key].shape


def test_path_equals_single_fits():
    X, y, weight = _data(3)
    model = LogisticRegressionCV(Cs=[0.1, 10.0], l1_ratios=(0.0,), cv=KFold(3), tol=1e-9, **QUIET).fit(X, y, weight)
    train, _ = next(iter(KFold(3).split(X)))
    single = LogisticRegression(C=10.0, tol=1e-9).fit(X[train], y[train], weight[train])
    # held-out rows have weight 0 in the path: the same objective, summed in another order
    np.testing.assert_allclose(model.coefs_paths_[0, 0, 1, :, :-1], single.coef_, rtol=1e-6, atol=1e-8)


def test_folds_without_a_class():
    X = np.arange(6.0)[:, None]
    y = np.array(["a", "a", "b", "b", "c", "c"])
    params = {"cv": KFold(3), "Cs": np.logspace(-6, 2, 3), "l1_ratios": (0,), "use_legacy_attributes": False}
    ours = LogisticRegressionCV(scoring="neg_brier_score", **params).fit(X, y)
    peer = sklearn.linear_model.LogisticRegressionCV(scoring="neg_brier_score", **params).fit(X, y)
    np.testing.assert_allclose(ours.scores_, peer.scores_, rtol=0.05)  # intercepts run off to infinity, tol stops both
    assert ours.C_ == peer.C_


def test_deprecations_are_announced():
    X, y, _ = _data()
    with pytest.warns(FutureWarning) as record:
        LogisticRegressionCV(Cs=2, cv=2).fit(X, y)
    text = " ".join(str(entry.message) for entry in record)
    assert "l1_ratios" in text and "scoring" in text and "use_legacy_attributes" in text


def test_extra_metadata_needs_routing():
    X, y, _ = _data()
    with pytest.raises(ValueError, match="enable_metadata_routing=True"):
        LogisticRegressionCV(l1_ratios=(0,), **QUIET).fit(X, y, groups=y)
