"""Calibrated probabilities against scikit-learn's, and the optimality of each calibrator."""

import numpy as np
import pytest
import scipy.optimize
import sklearn.calibration
import sklearn.isotonic
import sklearn.linear_model
import sklearn.naive_bayes
import sklearn.tree
from sklearn.frozen import FrozenEstimator

import hyperplan
from hyperplan._math.isotonic import isotonic
from hyperplan._math.platt import platt
from hyperplan.calibration import CalibratedClassifierCV, CalibrationDisplay, calibration_curve
from hyperplan.calibration._calibrators import TemperatureCalibrator
from hyperplan.linear_model import LogisticRegression
from hyperplan.metrics import log_loss
from hyperplan.svm import LinearSVC

METHODS = ["sigmoid", "isotonic", "temperature"]


def data(n=400, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, size=n)
    return rng.normal(size=(n, 4)) + np.eye(max(classes, 4))[y][:, :4], y


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "base", [sklearn.linear_model.LogisticRegression(), sklearn.naive_bayes.GaussianNB()], ids=["decision", "proba"]
)
def test_same_probabilities(method, ensemble, classes, weighted, base):
    """scikit-learn stops its sigmoid at a gradient of 1e-6 and its temperature at 1e-7 in the log: ours are exact."""
    X, y = data(classes=classes)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=len(y)) if weighted else None
    options = {"method": method, "ensemble": ensemble, "cv": 3}
    ours = CalibratedClassifierCV(base, **options).fit(X, y, sample_weight=weight)
    theirs = sklearn.calibration.CalibratedClassifierCV(base, **options).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-5)
    assert ours.certificate_.holds
    assert len(ours.calibrated_classifiers_) == (3 if ensemble else 1)
    np.testing.assert_array_equal(ours.predict(X), ours.classes_[ours.predict_proba(X).argmax(axis=1)])


@pytest.mark.parametrize("method", METHODS)
def test_frozen(method):
    X, y = data(classes=3)
    labels = np.array(["x", "y", "z"])[y]
    base = sklearn.linear_model.LogisticRegression().fit(X[:200], labels[:200])
    ours = CalibratedClassifierCV(FrozenEstimator(base), method=method).fit(X[200:], labels[200:])
    theirs = sklearn.calibration.CalibratedClassifierCV(FrozenEstimator(base), method=method)
    theirs.fit(X[200:], labels[200:])
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-5)


def test_platt_finds_the_minimum():
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1.0, 1e6):
        s = rng.normal(size=200) * scale
        positive = rng.random(200) < 1 / (1 + np.exp(-2 * s / scale))
        weight = rng.uniform(0, 3, size=200)
        found = platt(s, positive, weight)
        assert found.status.ok and found.certificate.holds
        n1, n0 = weight[positive].sum(), weight[~positive].sum()
        t = np.where(positive, (n1 + 1) / (n1 + 2), 1 / (n0 + 2))

        def loss(ab, s=s / scale, t=t, weight=weight):
            f = ab[0] * s + ab[1]
            return (weight * (t * f + np.logaddexp(0, -f))).sum()

        best = scipy.optimize.minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-13})
        assert loss([found.slope * scale, found.intercept]) <= best.fun + 1e-10


def test_platt_without_anything_to_learn():
    same = platt(np.ones(10), np.arange(10) < 4)
    share = 1 / (1 + np.exp(same.slope + same.intercept))
    assert same.status.ok and share == pytest.approx((4 * 5 / 6 + 6 * 1 / 8) / 10, abs=1e-6)
    one_class = platt(np.arange(5.0), np.ones(5, dtype=bool))
    assert np.isfinite([one_class.slope, one_class.intercept]).all()
    parted = platt(np.array([-1.0, -1.0, 1.0, 1.0]), np.array([False, False, True, True]))
    assert 1 / (1 + np.exp(parted.slope + parted.intercept)) == pytest.approx(0.75)  # (n + 1) / (n + 2), not 1


def test_isotonic_against_scikit_learn():
    rng = np.random.default_rng(0)
    for n in (1, 2, 50, 500):
        x, y, w = rng.integers(0, n, size=n) / 7.0, rng.random(n), rng.integers(0, 3, size=n).astype(float)
        w[0] = 1.0
        peer = sklearn.isotonic.IsotonicRegression(out_of_bounds="clip").fit(x, y, w)
        found, grid = isotonic(x, y, w), np.linspace(-1, n / 7 + 1, 200)
        np.testing.assert_allclose(found(grid), peer.predict(grid), rtol=1e-12, atol=1e-13)
        assert found.certificate.holds


def test_isotonic_certificate_notices_a_worse_function():
    from hyperplan._math.isotonic import _certificate

    y, weight = np.array([1.0, 3.0, 2.0, 4.0]), np.ones(4)
    assert _certificate(y, weight, np.array([1.0, 2.5, 2.5, 4.0])).holds
    assert not _certificate(y, weight, np.array([1.0, 2.4, 2.4, 4.0])).holds
    assert not _certificate(y, weight, np.full(4, 2.5)).holds


@pytest.mark.parametrize("scale", [0.01, 1.0, 30.0])
def test_temperature_finds_the_minimum(scale):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=300)
    logits = scale * (np.eye(3)[codes] + rng.normal(size=(300, 3)))
    found = TemperatureCalibrator().fit(logits, codes)

    grid = found.beta_ * np.exp(np.linspace(-0.5, 0.5, 21))
    losses = [_mean_log_loss(beta, logits, codes) for beta in grid]
    assert int(np.argmin(losses)) == 10 and found.certificate_.holds and found.n_iter_ < 50
    np.testing.assert_array_equal(found.predict(logits).argmax(axis=1), logits.argmax(axis=1))


def _mean_log_loss(beta, logits, codes):
    z = beta * logits
    return np.mean(
        np.log(np.exp(z - z.max(axis=1, keepdims=True)).sum(axis=1)) + z.max(axis=1) - z[np.arange(len(z)), codes]
    )


def test_temperature_at_its_ends():
    codes = np.array([0, 1, 0, 1])
    right, wrong = np.eye(2)[codes], 1 - np.eye(2)[codes]
    assert TemperatureCalibrator().fit(right, codes).beta_ > 30
    assert TemperatureCalibrator().fit(wrong, codes).beta_ == pytest.approx(np.exp(-10))
    assert TemperatureCalibrator().fit(np.zeros((4, 2)), codes).beta_ == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_folds_that_miss_a_class(method):
    """A class that a fold's classifier has never met gets probability 0 from it, and rows still sum to 1."""
    X, y = data(90, classes=3)
    order = np.argsort(y, kind="stable")
    splits = [(order[30:], order[:30]), (np.r_[order[:30], order[60:]], order[30:60]), (order[:60], order[60:])]
    model = CalibratedClassifierCV(LogisticRegression(), method=method, cv=splits).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    assert (model.calibrated_classifiers_[0].predict_proba(X)[:, 0] == 0).all()


def test_errors():
    X, y = data(20)
    with pytest.raises(ValueError, match="less than 15 examples for at least one class"):
        CalibratedClassifierCV(cv=15).fit(X, y)
    with pytest.raises(ValueError, match="LeaveOneOut"):
        CalibratedClassifierCV(cv=hyperplan.model_selection.LeaveOneOut()).fit(X, y)
    with pytest.raises(ValueError, match="'method' parameter"):
        CalibratedClassifierCV(method="platt").fit(X, y)
    with pytest.warns(UserWarning, match="does not appear to accept sample_weight"):
        CalibratedClassifierCV(_NoWeights(), cv=2).fit(X, y, sample_weight=np.ones(20))


class _NoWeights(sklearn.naive_bayes.GaussianNB):
    def fit(self, X, y):
        return super().fit(X, y)


def test_calibration_helps_the_log_loss():
    X, y = data(3000, classes=2)
    train, test = slice(0, 2000), slice(2000, 3000)
    tree = sklearn.tree.DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    raw = log_loss(y[test], tree.fit(X[train], y[train]).predict_proba(X[test]))
    for method in METHODS:
        model = CalibratedClassifierCV(tree, method=method).fit(X[train], y[train])
        assert log_loss(y[test], model.predict_proba(X[test])) < 0.8 * raw


def test_default_estimator_and_names():
    X, y = data(100)
    model = CalibratedClassifierCV().fit(X, y)
    assert isinstance(model.calibrated_classifiers_[0].estimator, LinearSVC) and model.n_features_in_ == 4
    assert calibration_curve is hyperplan.metrics.calibration_curve
    assert CalibrationDisplay is sklearn.calibration.CalibrationDisplay
