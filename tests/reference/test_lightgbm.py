"""Histogram boosting against LightGBM on the same bins where values are missing or classes several.

Columns hold whole numbers, few enough for a bin each; tables without gaps are compared in `test_hist_presets`.

What differs by definition is set equal here: LightGBM guesses the rows of a leaf from curvatures, so leaves are limited
by curvature alone; its softmax curvature is K / (K - 1) times the exact one, so its learning rate is that much larger.
"""

import numpy as np
import pytest

from hyperplan.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is a peer of the benchmarks, not needed by the package")

ROUNDS, LEAVES, CURVATURE = 30, 15, 2.0
OURS = {"max_iter": ROUNDS, "max_leaf_nodes": LEAVES, "min_samples_leaf": 1, "early_stopping": False}
THEIRS = {
    "num_leaves": LEAVES,
    "min_data_in_leaf": 1,
    "min_data_in_bin": 1,
    "max_bin": 255,
    "bin_construct_sample_cnt": 10**6,
    "feature_pre_filter": False,
    "deterministic": True,
    "num_threads": 1,
    "verbose": -1,
}


def table(missing=0.05):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 120, size=(4000, 6)).astype(float)
    z = X / 60 - 1
    y = z[:, 0] * z[:, 1] + np.sin(3 * z[:, 2]) + 0.3 * z[:, 3] + 0.3 * rng.normal(size=4000)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def peer(X, y, objective, *, curvature=CURVATURE, learning_rate=0.1, **options):
    rules = {"min_sum_hessian_in_leaf": curvature, "learning_rate": learning_rate, "objective": objective}
    parameters = {**THEIRS, **rules, **options}
    return lightgbm.train(parameters, lightgbm.Dataset(X, y, params=parameters), ROUNDS)


@pytest.mark.parametrize("l2", [0.0, 3.0])
def test_regression_is_lightgbms(l2):
    X, y = table()
    ours = HistGradientBoostingRegressor(min_hessian=CURVATURE, l2_regularization=l2, **OURS).fit(X, y)
    theirs = peer(X, y, "regression", lambda_l2=l2)
    # both keep float32 derivatives; their roundings add up to 1e-8 over the rounds
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_two_classes_are_lightgbms(l2):
    X, y = table()
    ours = HistGradientBoostingClassifier(min_hessian=CURVATURE, l2_regularization=l2, **OURS).fit(X, y > 0)
    theirs = peer(X, y > 0, "binary", lambda_l2=l2)
    np.testing.assert_allclose(ours.decision_function(X), theirs.predict(X, raw_score=True), rtol=0, atol=1e-6)


def test_three_classes_are_lightgbms():
    X, y = table()
    classes = np.digitize(y, [-0.5, 0.5])
    ours = HistGradientBoostingClassifier(min_hessian=CURVATURE, **OURS).fit(X, classes)
    theirs = peer(X, classes, "multiclass", num_class=3, curvature=1.5 * CURVATURE, learning_rate=0.15)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict(X), rtol=0, atol=1e-6)
