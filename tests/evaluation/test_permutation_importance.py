"""Permutation importance: values, intervals, groups, frames, threads."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.inspection import permutation_importance as theirs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import hyperplan.evaluation._permutation_importance as _permutation_importance
from hyperplan.evaluation import permutation_importance
from hyperplan.linear_model import LinearRegression, LogisticRegression
from hyperplan.metrics import get_scorer


def linear_problem(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X @ [2.0, 1.0, 0.5, 0.0] + rng.normal(size=n)


@pytest.fixture(scope="module")
def fitted():
    X, y = linear_problem()
    return LinearRegression().fit(X[:200], y[:200]), X[200:], y[200:]


def test_values_of_a_linear_model(fitted):
    """Shuffling column j adds 2 b_j^2 to the mean square, so that R^2 falls by 2 b_j^2 / var(y)."""
    model, X, y = fitted
    found = permutation_importance(model, X, y, n_repeats=40)
    expected = 2 * model.coef_**2 * X.var(axis=0) / y.var()
    assert found.importances_mean == pytest.approx(expected, rel=0.15, abs=0.02)  # 200 rows: cross terms
    assert found.baseline == pytest.approx(model.score(X, y), rel=1e-12)
    assert (found.low <= found.importances_mean).all() and found.low[0] > 0 and found.low[3] < 0.01


def test_means_equal_scikit_learns_up_to_the_shuffles(fitted):
    model, X, y = fitted
    mine = permutation_importance(model, X, y, n_repeats=60, scoring="neg_mean_absolute_error")
    other = theirs(model, X, y, n_repeats=60, scoring="neg_mean_absolute_error", random_state=0)
    error = 5 * np.hypot(mine.importances_std, other.importances_std) / np.sqrt(60) + 1e-12
    assert (np.abs(mine.importances_mean - other.importances_mean) < error).all()  # five standard errors
    assert mine.importances.shape == other.importances.shape == (4, 60)


def test_intervals_cover_the_importance_in_the_population():
    """A fixed linear model, 100 test sets of 100 rows: the true fall of the negated squared error is 2 b_j beta_j."""
    X, y = linear_problem()
    model = LinearRegression().fit(X, y)
    truth = 2 * model.coef_[:2] * [2.0, 1.0]
    hits = []
    for seed in range(100):
        X_new, y_new = linear_problem(100, seed + 1)
        found = permutation_importance(
            model, X_new, y_new, columns=[0, 1], scoring="neg_mean_squared_error", n_repeats=1
        )
        hits.append((found.low <= truth) & (truth <= found.high))
    assert np.mean(hits) > 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / 100)  # noise, and skew squares


def test_groups_of_columns_share_what_each_alone_hides():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(600, 1))
    X = np.hstack([z, z, rng.normal(size=(600, 1))])
    y = z[:, 0] + 0.1 * rng.normal(size=600)
    model = LinearRegression().fit(X[:300], y[:300])
    found = permutation_importance(model, X[300:], y[300:], columns={"twins": [0, 1], "first": 0, "noise": [2]})
    assert found.names == ["twins", "first", "noise"]
    assert found.importances_mean[0] > 3 * found.importances_mean[1] > 10 * abs(found.importances_mean[2])


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_keep_their_types(kind):
    rng = np.random.default_rng(0)
    table = {"colour": rng.choice(["red", "blue"], size=300), "size": rng.integers(0, 5, size=300)}
    y = np.where(table["colour"] == "red", "yes", "no")
    frame = pd.DataFrame(table).astype({"colour": "category"}) if kind == "pandas" else pl.DataFrame(table)
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression()).fit(frame, y)
    found = permutation_importance(model, frame, y, scoring="roc_auc" if kind == "pandas" else None)
    assert found.names == ["colour", "size"] and found.importances_mean[0] > 0.3 > found.high[1]
    assert found.frame()["name"].tolist() == ["colour", "size"] and str(found).startswith("colour: ")
    assert found.order().tolist() == [0, 1]


def test_threads_subsets_and_repeats_change_nothing(fitted):
    model, X, y = fitted
    all_columns = permutation_importance(model, X, y, n_jobs=1)
    for other in (permutation_importance(model, X, y, n_jobs=3), permutation_importance(model, X, y)):
        assert np.array_equal(all_columns.importances, other.importances) and np.array_equal(all_columns.low, other.low)
    one = permutation_importance(model, X, y, columns=[2])
    assert np.array_equal(one.importances[0], all_columns.importances[2])
    before = X.copy()
    permutation_importance(model, X, y)
    assert np.array_equal(before, X)


def test_functions_that_look_at_X_are_served_too(fitted):
    model, X, y = fitted

    def scorer(estimator, X, y):
        assert X.shape[1] == 4
        return -np.mean((estimator.predict(X) - y) ** 2)

    mine, named = (permutation_importance(model, X, y, scoring=s) for s in (scorer, "neg_mean_squared_error"))
    assert mine.importances == pytest.approx(named.importances, rel=1e-9) and mine.low == pytest.approx(named.low)


@pytest.mark.parametrize(
    "name", ["accuracy", "balanced_accuracy", "f1", "f1_macro", "roc_auc", "average_precision", "neg_log_loss"]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_falls_of_all_groups_at_once_are_those_of_each_group(name, weighted):
    """A scorer that is a function of the rows cannot be computed for all groups at once; sums in another order."""
    X, y = linear_problem()
    y = np.where(y > 0.5, "yes", "no") if name in ("accuracy", "roc_auc", "neg_log_loss") else (y > 0.5).astype(int)
    model = LogisticRegression().fit(X[:200], y[:200])
    scorer = get_scorer(name)
    weight = np.random.default_rng(0).integers(1, 5, 200).astype(float) if weighted else None
    options = {"n_repeats": 2, "sample_weight": weight}
    quick = permutation_importance(model, X[200:], y[200:], scoring=name, **options)
    slow = permutation_importance(
        model, X[200:], y[200:], scoring=lambda *rows, **extra: scorer(*rows, **extra), **options
    )
    assert quick.importances == pytest.approx(slow.importances, rel=1e-12, abs=1e-14)
    assert quick.high == pytest.approx(slow.high, rel=1e-9, abs=1e-12)


def test_few_weights_at_a_time(fitted, monkeypatch):
    whole = permutation_importance(*fitted)
    monkeypatch.setattr(_permutation_importance, "MOST_WEIGHTS", 3 * 200)
    assert permutation_importance(*fitted).high == pytest.approx(whole.high, rel=1e-12)


def test_weights_reach_the_scorer(fitted):
    model, X, y = fitted
    weight = np.r_[np.ones(100), np.zeros(100)]
    found = permutation_importance(model, X, y, sample_weight=weight)
    assert found.baseline == pytest.approx(model.score(X[:100], y[:100]), rel=1e-9)


def test_picture(fitted):
    axes = permutation_importance(*fitted).plot(top=3)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["0", "1", "2"]
    assert "95 % interval" in axes.get_xlabel()


def test_bad_arguments(fitted):
    from scipy.sparse import csr_matrix

    model, X, y = fitted
    with pytest.raises(ValueError, match="no column 'age'"):
        permutation_importance(model, X, y, columns=["age"])
    with pytest.raises(TypeError, match="sparse"):
        permutation_importance(model, csr_matrix(X), y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        permutation_importance(model, X, y[:5])
    with pytest.raises(ValueError, match="neither a classifier nor a regressor"):
        permutation_importance(OneHotEncoder().fit(X), X, y)
