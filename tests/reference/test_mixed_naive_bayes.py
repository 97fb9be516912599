"""MixedNB against the classes it joins, and on tables with missing values and unseen categories."""

import numpy as np
import pytest

from hyperplan.naive_bayes import CategoricalNB, GaussianNB, MixedNB


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    numbers = rng.normal(size=(n, 2)) + y[:, None]
    codes = rng.integers(0, 3, (n, 2)) * (1 - y[:, None]) + rng.integers(0, 2, (n, 2)) * y[:, None]
    return numbers, codes, y


def test_only_numbers_is_gaussian_naive_bayes():
    X, _, y = table()
    a, b = MixedNB().fit(X, y), GaussianNB().fit(X, y)
    np.testing.assert_allclose(a.predict_joint_log_proba(X), b.predict_joint_log_proba(X), rtol=1e-10)


def test_only_categories_is_categorical_naive_bayes():
    _, X, y = table()
    a, b = MixedNB(categorical_features=[0, 1]).fit(X, y), CategoricalNB().fit(X, y)
    np.testing.assert_allclose(a.predict_joint_log_proba(X), b.predict_joint_log_proba(X), rtol=1e-10)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("kind", ["text", "category"])
def test_frames_are_numbers_and_categories_at_once(library, kind):
    frames = pytest.importorskip(library)
    numbers, codes, y = table()
    words = np.array(["x", "y", "z"])[codes]
    columns = {"a": numbers[:, 0], "w": words[:, 0].tolist(), "b": numbers[:, 1], "v": words[:, 1].tolist()}
    frame = frames.DataFrame(columns)
    if kind == "category":
        if library == "pandas":
            frame = frame.astype({"w": "category", "v": "category"})
        else:
            frame = frame.with_columns(frames.col("w", "v").cast(frames.Categorical))
    model = MixedNB().fit(frame, y)
    assert model.is_categorical_.tolist() == [False, True, False, True]
    assert [known.tolist() for known in model.categories_] == [["x", "y", "z"]] * 2
    apart = GaussianNB().fit(numbers, y).predict_joint_log_proba(numbers) + (
        CategoricalNB().fit(codes, y).predict_joint_log_proba(codes)
    )
    prior = np.log(np.bincount(y) / y.size)
    np.testing.assert_allclose(model.predict_joint_log_proba(frame), apart - prior, rtol=1e-9)
    by_name = MixedNB(categorical_features=["w", "v"]).fit(frame, y)
    np.testing.assert_array_equal(by_name.predict(frame), model.predict(frame))


def test_missing_values_are_left_out_of_the_product():
    numbers, codes, y = table()
    X = np.column_stack([numbers, codes]).astype(object)
    model = MixedNB(categorical_features=[2, 3]).fit(X, y)
    row = X[:1].copy()
    row[0, 0] = row[0, 3] = None
    expected = np.log(model.class_prior_)
    expected = expected - 0.5 * np.log(2 * np.pi * model.var_[:, 1])
    expected = expected - 0.5 * (X[0, 1] - model.theta_[:, 1]) ** 2 / model.var_[:, 1]
    expected = expected + model.category_log_prob_[0][:, int(X[0, 2])]
    np.testing.assert_allclose(model.predict_joint_log_proba(row)[0], expected.astype(float), rtol=1e-10)
    row[0] = np.nan
    np.testing.assert_allclose(model.predict_proba(row)[0], model.class_prior_)


def test_missing_values_in_training_do_not_move_the_moments_of_others():
    X, _, y = table()
    holes = X.copy()
    holes[::3, 0] = np.nan
    model, rest = MixedNB().fit(holes, y), GaussianNB().fit(X[np.arange(300) % 3 > 0], y[np.arange(300) % 3 > 0])
    np.testing.assert_allclose(model.theta_[:, 0], rest.theta_[:, 0])
    np.testing.assert_allclose(model.var_[:, 0], rest.var_[:, 0], rtol=1e-6)
    np.testing.assert_allclose(model.theta_[:, 1], GaussianNB().fit(X, y).theta_[:, 1])


def test_a_class_without_any_value_takes_the_moments_of_all():
    X = np.array([[1.0, 0.0], [2.0, 1.0], [np.nan, 5.0], [np.nan, 6.0]])
    model = MixedNB().fit(X, [0, 0, 1, 1])
    assert model.theta_[1, 0] == 1.5
    assert np.isfinite(model.predict_proba([[1.0, np.nan], [9.0, 5.0]])).all()


@pytest.mark.parametrize("policy", ["ignore", "smooth", "error"])
def test_unseen_categories(policy):
    X = np.array([["a", 1.0], ["a", 2.0], ["b", 5.0], ["b", 6.0], ["b", 5.5]], dtype=object)
    y = np.array([0, 0, 1, 1, 1])
    model = MixedNB(categorical_features=[0], handle_unknown=policy).fit(X, y)
    row, missing = np.array([["z", 1.5]], dtype=object), np.array([[None, 1.5]], dtype=object)
    if policy == "error":
        with pytest.raises(ValueError, match="row 0 of column 0 has the category 'z'"):
            model.predict(row)
        return
    found, without = model.predict_joint_log_proba(row), model.predict_joint_log_proba(missing)
    added = np.log([1 / (2 + 3), 1 / (3 + 3)]) if policy == "smooth" else 0.0  # alpha = 1 prior count, 3 categories
    np.testing.assert_allclose(found, without + added)


def test_weights_count_rows():
    numbers, codes, y = table()
    X = np.column_stack([numbers, codes]).astype(object)
    copies = np.random.default_rng(1).integers(1, 4, 300)
    a = MixedNB(categorical_features=[2, 3]).fit(X, y, sample_weight=copies)
    b = MixedNB(categorical_features=[2, 3]).fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    np.testing.assert_allclose(a.predict_joint_log_proba(X), b.predict_joint_log_proba(X), rtol=1e-9)


def test_errors_name_the_place():
    numbers, codes, y = table()
    X = np.column_stack([numbers, codes]).astype(object)
    X[4, 1] = "word"
    with pytest.raises(ValueError, match="row 4 of column 1 has 'word'"):
        MixedNB(categorical_features=[2]).fit(X, y)
    with pytest.raises(ValueError, match=r"in \[0, n_features - 1\]"):
        MixedNB(categorical_features=[9]).fit(numbers, y)
    numbers[5, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        MixedNB(categorical_features=[1]).fit(numbers, y)
    with pytest.raises(ValueError, match="Expected 2D array"):
        MixedNB(categorical_features=[0]).fit(np.ones(5), np.ones(5))
    with pytest.raises(ValueError, match="no column names"):
        MixedNB(categorical_features=["a"]).fit(codes, y)
