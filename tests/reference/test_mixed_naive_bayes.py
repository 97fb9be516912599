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


# --- in batches


def holed(n=400, seed=3):
    """Four columns (number, word, number, word) with holes, three classes, rare words, weights in halves."""
    rng = np.random.default_rng(seed)
    y = np.array(["ant", "bee", "cow"])[rng.integers(0, 3, n)]
    X = np.empty((n, 4), dtype=object)
    X[:, 0] = rng.normal(size=n) + (y == "bee")
    X[:, 2] = 1e3 + 1e-2 * rng.normal(size=n) * (1 + (y == "cow"))
    X[:, 1] = np.array(["x", "y", "z"], dtype=object)[rng.integers(0, 3, n)]
    X[:, 3] = np.array([f"w{i}" for i in range(40)], dtype=object)[(40 * rng.random(n) ** 3).astype(int)]
    X[rng.random((n, 4)) < 0.15] = None
    X[0, 1], X[0, 3] = "zebra", "aardvark"
    return X, y, rng.integers(1, 6, n) / 2


def batches_of(order):
    """Rows in batches of uneven size: the first has one row."""
    return np.split(order, [1, 8, 90, 91, 300])


def check_same_model(parts, whole, rows):
    """The same counts to the bit (sums of halves are exact); means and variances within the rounding of 400 sums."""
    assert [known.tolist() for known in parts.categories_] == [known.tolist() for known in whole.categories_]
    assert [known.dtype for known in parts.categories_] == [known.dtype for known in whole.categories_]
    for name in ("classes_", "class_count_", "class_prior_", "is_categorical_"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    for name in ("category_count_", "category_log_prob_"):
        assert len(getattr(parts, name)) == len(getattr(whole, name))
        for a, b in zip(getattr(parts, name), getattr(whole, name)):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(parts.theta_, whole.theta_, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(parts.var_, whole.var_, rtol=1e-9)
    np.testing.assert_allclose(parts.epsilon_, whole.epsilon_, rtol=1e-9)
    np.testing.assert_allclose(
        parts.predict_joint_log_proba(rows), whole.predict_joint_log_proba(rows), rtol=1e-8, atol=1e-8
    )
    np.testing.assert_array_equal(parts.predict(rows), whole.predict(rows))


@pytest.mark.parametrize("policy", ["ignore", "smooth", "error"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", ["mixed", "by class"])
def test_batches_are_the_whole(order, weighted, policy):
    X, y, weight = holed()
    rows = np.arange(400) if order == "mixed" else np.argsort(y, kind="stable")  # most batches lack classes
    settings = {"categorical_features": [1, 3], "handle_unknown": policy, "var_smoothing": 1e-3, "alpha": 0.5}
    parts, seen = MixedNB(**settings), []
    for batch in batches_of(rows):
        labels = None if seen else ["cow", "bee", "ant"]
        parts.partial_fit(X[batch], y[batch], labels, sample_weight=weight[batch] if weighted else None)
        seen.extend(batch)
        if len(set(y[seen])) == 3:  # fit knows no class without rows
            whole = MixedNB(**settings).fit(X[seen], y[seen], sample_weight=weight[seen] if weighted else None)
            check_same_model(parts, whole, X[seen])
    assert len(seen) == 400 and "aardvark" in parts.categories_[1] and parts.certificate_.holds


def test_one_batch_is_fit_to_the_bit():
    X, y, weight = holed()
    a = MixedNB(categorical_features=[1, 3]).fit(X, y, weight)
    b = MixedNB(categorical_features=[1, 3]).partial_fit(X, y, np.unique(y), weight)
    assert a.predict_joint_log_proba(X).tobytes() == b.predict_joint_log_proba(X).tobytes()
    c = MixedNB(categorical_features=[1, 3]).fit(X[:200], y[:200], weight[:200])
    check_same_model(c.partial_fit(X[200:], y[200:], sample_weight=weight[200:]), a, X)


def test_a_class_without_rows_so_far_is_never_answered():
    X, y, _ = holed()
    early = y != "bee"
    model = MixedNB(categorical_features=[1, 3]).partial_fit(X[early], y[early], np.unique(y))
    assert model.class_prior_[1] == 0 and (model.predict_proba(X)[:, 1] == 0).all()
    check_same_model(
        model.partial_fit(X[~early], y[~early]),
        MixedNB(categorical_features=[1, 3]).fit(X[np.argsort(~early)], y[np.argsort(~early)]),
        X,
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_batches_of_frames(library):
    """Types of later batches may differ: whole numbers with a hole are floats, words that are all missing are none."""
    frames = pytest.importorskip(library)
    a, w, k = [0.5, 1.0, 2.0, 2.5, None], ["x", "y", "x", None, None], [3, 1, 3, None, 7]
    y = np.array([0, 1, 0, 1, 1])
    settings = {"categorical_features": ["w", "k"]}

    def frame(start, stop):
        return frames.DataFrame({"a": a[start:stop], "w": w[start:stop], "k": k[start:stop]})

    whole = MixedNB(**settings).fit(frame(0, 5), y)
    parts = MixedNB(**settings)
    for start, stop in ((0, 3), (3, 5)):
        parts.partial_fit(frame(start, stop), y[start:stop], [0, 1])
    assert [known.tolist() for known in parts.categories_] == [["x", "y"], [1, 3, 7]]
    joint = whole.predict_joint_log_proba(frame(0, 5))
    np.testing.assert_allclose(parts.predict_joint_log_proba(frame(0, 5)), joint, rtol=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        parts.partial_fit(frames.DataFrame({"a": a, "k": k, "w": w}), y)


@pytest.mark.parametrize("policy", ["ignore", "smooth"])
def test_a_categorical_column_may_be_missing_at_first(policy):
    X = np.array([[None, 1.0, "u"], [None, 2.0, "v"], ["a", 1.5, "u"], ["b", 3.0, None]], dtype=object)
    for columns in ([0, 2], [2, 0]):
        rows = X[:, [*columns, 1]]
        model = MixedNB(categorical_features=[0, 1], handle_unknown=policy)
        model.partial_fit(rows[:2], [0, 1], [0, 1])
        alone = MixedNB(categorical_features=[0]).fit(X[:2][:, [2, 1]], [0, 1])
        if policy == "ignore":
            np.testing.assert_allclose(model.predict_proba(rows), alone.predict_proba(X[:, [2, 1]]))
        whole = MixedNB(categorical_features=[0, 1], handle_unknown=policy).fit(rows, [0, 1, 0, 1])
        check_same_model(model.partial_fit(rows[2:], [0, 1]), whole, rows)


def test_only_numbers_and_only_categories_in_batches():
    numbers, codes, y = table()
    for X, of_codes in ((numbers, None), (codes, [0, 1])):
        parts = MixedNB(categorical_features=of_codes)
        for batch in (slice(0, 50), slice(50, 300)):
            parts.partial_fit(X[batch], y[batch], [0, 1])
        check_same_model(parts, MixedNB(categorical_features=of_codes).fit(X, y), X)


def test_a_batch_that_is_refused_changes_nothing():
    X, y, _ = holed()
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        MixedNB(categorical_features=[1, 3]).partial_fit(X, y)
    model = MixedNB(categorical_features=[1, 3]).partial_fit(X, y, np.unique(y))
    before = model.predict_joint_log_proba(X)
    with pytest.raises(ValueError, match="do not exist in the initial classes"):
        model.partial_fit(X[:2], ["ant", "dog"])
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X, y, ["ant", "bee"])
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.partial_fit(X[:, :3], y)
    with pytest.raises(ValueError, match="could not convert"):
        model.partial_fit(X[:, ::-1], y)
    far = MixedNB().partial_fit([[1e200], [1e200]], [0, 1], [0, 1])
    with pytest.raises(ValueError, match="squares overflow"):
        far.partial_fit([[-1e200], [-1e200]], [0, 1])
    assert far.theta_.tolist() == [[1e200], [1e200]]
    assert model.predict_joint_log_proba(X).tobytes() == before.tobytes()


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
