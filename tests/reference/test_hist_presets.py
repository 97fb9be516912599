"""Presets against the libraries they are named after; columns have few distinct values, so that all bins are the same.

Skipped without the libraries, which are no dependencies.
"""

import numpy as np
import pytest

from hyperplan.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from hyperplan.ensemble._hist_presets import PRESETS, catboost_learning_rate

SERIAL = {"n_jobs": 1}


def table(n=3000, seed=0, distinct=60):
    """Integers below `distinct`, a number, and classes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, distinct, (n, 6)).astype(float)
    z = X / distinct - 0.5
    y = 4 * z[:, 0] * z[:, 1] + np.sin(6 * z[:, 2]) + z[:, 3] + 0.3 * rng.normal(size=n)
    return X, y, (y + rng.logistic(size=n) * 0.3 > 0).astype(int)


def spread(a, b):
    """Largest difference, and root of the mean squared difference, both in standard deviations of b."""
    return np.abs(a - b).max() / b.std(), np.sqrt(np.mean((a - b) ** 2)) / b.std()


def lightgbm_regressor(lightgbm, **options):
    names = {"l2_regularization": "reg_lambda", "min_samples_leaf": "min_child_samples", "max_leaf_nodes": "num_leaves"}
    options = {names.get(name, name): value for name, value in options.items()}
    return lightgbm.LGBMRegressor(verbose=-1, min_data_in_bin=1, force_row_wise=True, **SERIAL, **options)


@pytest.mark.parametrize("options", [{}, {"min_samples_leaf": 50, "max_leaf_nodes": 8}, {"max_depth": 3}])
def test_regression_is_lightgbms_on_the_same_bins(options):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, _ = table()
    theirs = lightgbm_regressor(lightgbm, **options).fit(X, y)
    ours = HistGradientBoostingRegressor.like("lightgbm", **options).fit(X, y)
    # the same splits in all 100 trees; LightGBM rounds targets to float32, here derivatives: 4e-8 when written
    largest, usual = spread(ours.predict(X), theirs.predict(X))
    assert usual < 1e-6 and largest < 1e-5


def test_penalised_leaves_are_those_of_lightgbm_up_to_its_shortcut():
    """LightGBM gives a feature up below a node where, with a penalty, none of its splits gains; XGBoost does not."""
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    X, y, _ = table()
    ours = HistGradientBoostingRegressor.like("lightgbm", l2_regularization=2.0).fit(X, y)
    theirs = lightgbm_regressor(lightgbm, l2_regularization=2.0).fit(X, y)
    assert spread(ours.predict(X), theirs.predict(X))[1] < 0.1  # 0.067 when written
    same = {"grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0, "min_child_weight": 20, "reg_lambda": 2.0}
    theirs = xgboost.XGBRegressor(learning_rate=0.1, **same, **SERIAL).fit(X, y)
    assert spread(ours.predict(X), theirs.predict(X))[1] < 1e-3  # float32 sums there


def test_classes_are_lightgbms_on_the_same_bins():
    lightgbm = pytest.importorskip("lightgbm")
    X, _, y = table()
    options = {"verbose": -1, "min_data_in_bin": 1, "deterministic": True, "force_row_wise": True, **SERIAL}
    first = lightgbm.LGBMClassifier(n_estimators=1, **options).fit(X, y)
    ours = HistGradientBoostingClassifier.like("lightgbm", max_iter=1).fit(X, y)
    # equal derivatives in the first round, so that numbers of rows are exact there too
    np.testing.assert_allclose(ours.decision_function(X), first.predict(X, raw_score=True), atol=1e-5)
    # later LightGBM estimates numbers of rows by sums of second derivatives: without that limit the trees are the same
    theirs = lightgbm.LGBMClassifier(min_child_samples=1, min_child_weight=5.0, **options).fit(X, y)
    ours = HistGradientBoostingClassifier.like("lightgbm", min_samples_leaf=1, min_hessian=5.0).fit(X, y)
    largest, usual = spread(ours.decision_function(X), theirs.predict(X, raw_score=True))
    assert usual < 1e-6 and largest < 1e-5  # rounding of float32 derivatives


@pytest.mark.parametrize(
    "options", [{}, {"l2_regularization": 5.0, "max_depth": 3}, {"leaf_cost": 0.5}, {"min_hessian": 9}]
)
def test_regression_is_xgboosts_on_the_same_bins(options):
    xgboost = pytest.importorskip("xgboost")
    X, y, _ = table()
    names = {"l2_regularization": "reg_lambda", "min_hessian": "min_child_weight"}
    theirs = {names.get(name, name): value for name, value in options.items()}
    if "leaf_cost" in theirs:
        theirs["gamma"] = 2 * theirs.pop("leaf_cost")
    theirs = xgboost.XGBRegressor(**SERIAL, **theirs).fit(X, y)
    ours = HistGradientBoostingRegressor.like("xgboost", **options).fit(X, y)
    # float32 sums in XGBoost, so that a split of nearly equal gain may be preferred: 4e-5 and 0.002 when written
    largest, usual = spread(ours.predict(X), theirs.predict(X))
    assert usual < 1e-3 and largest < 0.02


def test_classes_are_xgboosts_on_the_same_bins():
    xgboost = pytest.importorskip("xgboost")
    X, _, y = table()
    theirs = xgboost.XGBClassifier(n_estimators=20, **SERIAL).fit(X, y)
    ours = HistGradientBoostingClassifier.like("xgboost", max_iter=20).fit(X, y)
    largest, usual = spread(ours.decision_function(X), theirs.predict(X, output_margin=True))
    assert usual < 1e-3 and largest < 0.02  # as for regression


def test_several_classes_are_xgboosts_with_halved_options():
    xgboost = pytest.importorskip("xgboost")
    X, y, _ = table()
    y = np.digitize(y, [-0.5, 0.5])
    theirs = xgboost.XGBClassifier(n_estimators=20, **SERIAL).fit(X, y)
    halved = {"learning_rate": 0.15, "l2_regularization": 0.5, "min_hessian": 0.5}
    ours = HistGradientBoostingClassifier.like("xgboost", max_iter=20, **halved).fit(X, y)
    found, expected = ours.predict_proba(X), theirs.predict_proba(X)
    assert np.abs(found - expected).mean() < 1e-4  # 1.5e-8 when written; as for regression


def test_catboost_scores_the_same():
    """Its noise, cosine scores and Newton steps are not ours: the scores are, and the learning rate's rule."""
    catboost = pytest.importorskip("catboost")
    X, y, label = table(4000)
    common = {"iterations": 200, "thread_count": 1, "verbose": 0, "allow_writing_files": False, "random_seed": 0}
    for kind, target, theirs in (
        (HistGradientBoostingRegressor, y, catboost.CatBoostRegressor(**common)),
        (HistGradientBoostingClassifier, label, catboost.CatBoostClassifier(**common)),
    ):
        theirs.fit(X[:3000], target[:3000])
        ours = kind.like("catboost", n_samples=3000, max_iter=200, random_state=0).fit(X[:3000], target[:3000])
        rate = theirs.get_all_params()["learning_rate"]
        assert ours.learning_rate == pytest.approx(rate, rel=2e-3)  # printed with six digits there, three here
        # 1000 test rows: standard errors of about 0.01
        assert ours.score(X[3000:], target[3000:]) > theirs.score(X[3000:], target[3000:]) - 0.02


def test_catboost_categories_score_the_same():
    catboost = pytest.importorskip("catboost")
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=5000), rng.integers(0, 400, 5000)])
    y = X[:, 0] + 2 * rng.normal(size=400)[X[:, 1].astype(int)] + 0.3 * rng.normal(size=5000)
    rows = [[a, int(b)] for a, b in X]
    theirs = catboost.CatBoostRegressor(
        iterations=200, thread_count=1, verbose=0, allow_writing_files=False, cat_features=[1], random_seed=0
    ).fit(rows[:4000], y[:4000])
    options = {"n_samples": 4000, "max_iter": 200, "categorical_features": [1], "random_state": 0}
    ours = HistGradientBoostingRegressor.like("catboost", **options).fit(X[:4000], y[:4000])
    assert ours.score(X[4000:], y[4000:]) > theirs.score(rows[4000:], y[4000:]) - 0.02  # 1000 rows: about 0.01


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("kind", [HistGradientBoostingClassifier, HistGradientBoostingRegressor])
def test_presets_fit(name, kind):
    X, y, label = table(400)
    target = label if kind is HistGradientBoostingClassifier else y
    model = kind.like(name, max_iter=20, random_state=0)
    assert type(model) is kind and model.max_iter == 20 and model.early_stopping is False
    assert model.fit(X, target).certificate_.holds
    for option, value in PRESETS[name].items():
        assert option == "max_iter" or getattr(model, option) == value
    assert {"xgboost": 0.3, "lightgbm": 0.1, "catboost": 0.03}[name] == model.learning_rate
    shape = model._model.trees[0][0]
    assert shape.depth.max() <= (6 if name != "lightgbm" else 30)


def test_overrides_and_unknown_names():
    model = HistGradientBoostingRegressor.like("catboost", n_samples=1000, max_iter=100, loss="absolute_error")
    assert model.loss == "absolute_error" and model.growth == "oblivious"
    assert model.learning_rate == catboost_learning_rate(1000, 100, classifier=False)
    assert HistGradientBoostingClassifier.like("catboost", n_samples=10, learning_rate=0.2).learning_rate == 0.2
    assert catboost_learning_rate(10**7, 10) == 0.5
    with pytest.raises(ValueError, match="like\\(\\) knows 'xgboost', 'lightgbm', 'catboost', got 'adaboost'"):
        HistGradientBoostingRegressor.like("adaboost")
    with pytest.raises(TypeError, match="num_leaves"):
        HistGradientBoostingRegressor.like("lightgbm", num_leaves=7)
