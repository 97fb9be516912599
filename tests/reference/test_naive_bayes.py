"""Naive Bayes against scikit-learn: closed forms, so equal to rounding (1e-9 relative) everywhere."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as peers

from hyperplan import naive_bayes as ours

CLOSE = {"rtol": 1e-9, "atol": 1e-12}


def numbers(n=400, d=5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["c", "a", "b"], n)
    X = rng.normal(size=(n, d)) * [1, 10, 0.1, 3, 1] + np.array([ord(label) - 97 for label in y])[:, None]
    return X, y, rng.uniform(0, 2, n)


def counts(n=400, d=6, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return (
        rng.poisson(np.array([[1, 2, 3, 0.2, 1, 0], [2, 1, 1, 0.5, 3, 0], [0.3, 0.3, 4, 2, 1, 0]])[y]),
        y,
        rng.uniform(0, 2, n),
    )


def agree(mine, theirs, X, attributes):
    for name in attributes:
        a, b = getattr(mine, name), getattr(theirs, name)
        for one, other in zip(a, b) if isinstance(b, list) else [(a, b)]:
            np.testing.assert_allclose(one, other, **CLOSE)
    for method in ("predict_joint_log_proba", "predict_log_proba"):
        np.testing.assert_allclose(getattr(mine, method)(X), getattr(theirs, method)(X), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    np.testing.assert_array_equal(mine.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(mine.classes_, theirs.classes_)
    assert mine.certificate_.holds


@pytest.mark.parametrize("options", [{}, {"var_smoothing": 0.1}, {"priors": [0.2, 0.5, 0.3]}])
@pytest.mark.parametrize("weighted", [False, True])
def test_gaussian(options, weighted):
    X, y, weight = numbers()
    weight = weight if weighted else None
    models = [module.GaussianNB(**options).fit(X, y, sample_weight=weight) for module in (ours, peers)]
    agree(*models, X, ["theta_", "var_", "class_count_", "class_prior_", "epsilon_"])


def test_gaussian_in_parts():
    X, y, weight = numbers()
    whole = ours.GaussianNB().fit(X, y, sample_weight=weight)
    parts = [module.GaussianNB() for module in (ours, peers)]
    for rows in (slice(0, 100), slice(100, 101), slice(101, 400)):
        for model in parts:
            model.partial_fit(X[rows], y[rows], classes=["a", "b", "c"], sample_weight=weight[rows])
    np.testing.assert_allclose(parts[0].theta_, whole.theta_, rtol=1e-9)
    # the smoothing comes from the last part's variance: 1e-9 of the largest one, which is a hundred times the smallest
    np.testing.assert_allclose(parts[0].var_, whole.var_, rtol=1e-6)
    np.testing.assert_allclose(parts[0].var_, parts[1].var_, rtol=1e-6)
    np.testing.assert_array_equal(parts[0].predict(X), parts[1].predict(X))


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
@pytest.mark.parametrize("options", [{}, {"alpha": 0.01}, {"alpha": [1, 2, 3, 0.5, 0.5, 1]}, {"fit_prior": False}])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_counts(name, options, kind):
    if name == "BernoulliNB" and isinstance(options.get("alpha"), list):
        pytest.skip("scikit-learn adds alphas of columns to counts of classes")
    X, y, weight = counts()
    X = kind(X.astype(np.float64))
    for sample_weight in (None, weight):
        models = [getattr(module, name)(**options).fit(X, y, sample_weight=sample_weight) for module in (ours, peers)]
        agree(*models, X, ["feature_count_", "feature_log_prob_", "class_count_", "class_log_prior_"])


@pytest.mark.parametrize("options", [{"norm": True}, {"class_prior": [0.1, 0.1, 0.8]}])
def test_complement_options(options):
    X, y, _ = counts()
    models = [module.ComplementNB(**options).fit(X, y) for module in (ours, peers)]
    agree(*models, X, ["feature_all_", "feature_log_prob_"])


@pytest.mark.parametrize("threshold", [None, 0.0, 1.5])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_bernoulli_thresholds(threshold, kind):
    X, y, _ = counts()
    X = kind((X > 0).astype(float) if threshold is None else X.astype(float))
    models = [module.BernoulliNB(binarize=threshold).fit(X, y) for module in (ours, peers)]
    agree(*models, X, ["feature_count_", "feature_log_prob_"])


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"])
def test_counts_in_parts(name):
    X, y, weight = counts()
    whole, parts = (getattr(ours, name)() for _ in range(2))
    whole.fit(X, y, sample_weight=weight)
    for rows in (slice(0, 90), slice(90, 400)):
        parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2], sample_weight=weight[rows])
    np.testing.assert_allclose(parts.predict_joint_log_proba(X), whole.predict_joint_log_proba(X), rtol=1e-9)


@pytest.mark.parametrize("options", [{}, {"alpha": 0.2}, {"min_categories": 12}, {"class_prior": [0.1, 0.1, 0.8]}])
def test_categories(options):
    X, y, weight = counts()
    for sample_weight in (None, weight):
        models = [module.CategoricalNB(**options).fit(X, y, sample_weight=sample_weight) for module in (ours, peers)]
        agree(*models, X, ["category_count_", "feature_log_prob_", "class_log_prior_", "n_categories_"])


def test_float32_rows_are_summed_in_float64():
    X, y, _ = numbers(n=3000)
    narrow = X.astype(np.float32)
    a, b = ours.GaussianNB().fit(narrow, y), ours.GaussianNB().fit(narrow.astype(np.float64), y)
    np.testing.assert_allclose(a.var_, b.var_, rtol=1e-12)


def test_no_smoothing_gives_numbers_where_scikit_learn_gives_nan():
    X, y = np.array([[1, 0], [0, 2], [3, 0]]), np.array([0, 1, 0])
    model = ours.MultinomialNB(alpha=0).fit(X, y)
    assert np.isneginf(model.feature_log_prob_).any()
    probability = model.predict_proba([[1, 0], [0, 1]])
    np.testing.assert_allclose(probability, [[1, 0], [0, 1]], atol=1e-12)
    coins = ours.BernoulliNB(alpha=0).fit([[1, 0], [1, 1], [0, 1], [0, 0]], [0, 0, 1, 1])
    np.testing.assert_allclose(coins.predict_proba([[1, 0], [0, 1]]), [[1, 0], [0, 1]], atol=1e-12)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
def test_negative_counts_are_located(name, kind):
    X = np.ones((5, 3))
    X[3, 1] = -2
    with pytest.raises(ValueError, match=r"Negative values in data.* row 3, column 1 has -2"):
        getattr(ours, name)().fit(kind(X), [0, 1, 0, 1, 0])


@pytest.mark.parametrize("name", ["GaussianNB", "MultinomialNB", "BernoulliNB"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_located(name, bad):
    X, y, _ = counts()
    X = X.astype(float)
    model = getattr(ours, name)().fit(X, y)
    X[7, 2] = bad
    for call in (lambda: getattr(ours, name)().fit(X, y), lambda: model.predict(X)):
        with pytest.raises(ValueError, match=r"row 7, column 2"):
            call()


def test_constant_columns_are_defined():
    X, y = np.array([[1.0, 2.0]] * 4 + [[3.0, 2.0]] * 4), [0] * 4 + [1] * 4
    model = ours.GaussianNB(var_smoothing=0).fit(X, y)  # every variance is zero
    assert (model.var_ == 0).all()
    np.testing.assert_array_equal(model.predict(X), y)
    assert np.isfinite(model.predict_proba([[1.9, 2.0], [2.1, 2.5]])).all()
    np.testing.assert_array_equal(model.predict([[1.9, 2.0], [2.1, 2.0]]), [0, 1])


def test_values_whose_squares_overflow_are_refused_in_words():
    with pytest.raises(ValueError, match="squares overflow"):
        ours.GaussianNB().fit([[1e200], [-1e200], [0.0]], [0, 0, 1])


def test_categories_beyond_those_of_training_are_named():
    model = ours.CategoricalNB().fit([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(IndexError, match="Category 5 in row 1, column 0"):
        model.predict([[0, 0], [5, 0]])


def test_labels_that_were_not_announced():
    for model in (ours.GaussianNB(), ours.MultinomialNB(), ours.CategoricalNB()):
        with pytest.raises(ValueError, match="do not exist in the initial classes"):
            model.partial_fit([[1], [2]], [0, 7], classes=[0, 1])
