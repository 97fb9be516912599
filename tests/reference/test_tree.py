"""Trees against scikit-learn's: the same nodes wherever ties do not decide, the same errors, the same answers."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.tree as peer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import hyperplan
from hyperplan import tree as ours

CLASSIFIERS = ["DecisionTreeClassifier", "ExtraTreeClassifier"]
REGRESSORS = ["DecisionTreeRegressor", "ExtraTreeRegressor"]
ARRAYS = ("children_left", "children_right", "feature", "threshold", "n_node_samples")


def assert_same_tree(a, b, rtol=1e-9):
    """Bit-equal structure; sums of values may be added in another order."""
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    inner = a.children_left >= 0
    np.testing.assert_array_equal(a.missing_go_to_left[inner], b.missing_go_to_left[inner])
    for name in ("value", "weighted_n_node_samples"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, atol=1e-12)
    scale = max(1.0, float(b.impurity.max()))
    np.testing.assert_allclose(a.impurity, b.impurity, rtol=1e-6, atol=1e-12 * scale)  # differences of large squares
    assert (a.node_count, a.max_depth, a.n_leaves) == (b.node_count, b.max_depth, b.n_leaves)


def equal_up_to_ties(a, b):
    """Node by node from the root: the same split, or another that is as good (then the branch below is left out)."""
    pending, compared = [(0, 0)], 0
    while pending:
        i, j = pending.pop()
        compared += 1
        assert a.n_node_samples[i] == b.n_node_samples[j]
        assert a.impurity[i] == pytest.approx(b.impurity[j], rel=1e-7, abs=1e-12)
        if a.children_left[i] < 0 or b.children_left[j] < 0:
            # one side may go on splitting what is pure up to rounding
            assert a.children_left[i] == b.children_left[j] or min(a.impurity[i], b.impurity[j]) < 1e-14
            continue
        if a.feature[i] == b.feature[j] and a.threshold[i] == b.threshold[j]:
            pending += [(a.children_left[i], b.children_left[j]), (a.children_right[i], b.children_right[j])]
            continue
        rest = [
            sum(t.weighted_n_node_samples[c] * t.impurity[c] for c in (t.children_left[k], t.children_right[k]))
            for t, k in ((a, i), (b, j))
        ]
        assert rest[0] == pytest.approx(rest[1], rel=1e-9, abs=1e-12)
    return compared


def noisy(seed=0, n=600, d=6, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 1] = np.round(X[:, 1] * 4) / 4
    X[:, 2] = np.exp(X[:, 2])
    score = X[:, 0] * X[:, 1] + np.log(X[:, 2]) + rng.normal(size=n)
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
    return X, score, rng.random(n) + 0.1


def both(name, X, y, weight=None, **options):
    return [getattr(module, name)(random_state=0, **options).fit(X, y, sample_weight=weight) for module in (ours, peer)]


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("criterion", ["squared_error", "poisson", "absolute_error"])
def test_same_regression_tree(criterion, missing):
    X, score, weight = noisy(missing=missing)
    y = np.exp(score) if criterion == "poisson" else score
    for w in (None, weight):
        a, b = both("DecisionTreeRegressor", X, y, w, criterion=criterion, min_samples_leaf=5)
        assert a.tree_.node_count > 50
        if criterion == "absolute_error":  # medians of few rows tie often
            assert equal_up_to_ties(a.tree_, b.tree_) > 50
        else:
            assert_same_tree(a.tree_, b.tree_)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_same_classification_tree(criterion, n_classes, missing):
    X, score, weight = noisy(seed=1, missing=missing)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    for w in (None, weight, np.ceil(2 * weight)):
        a, b = both("DecisionTreeClassifier", X, y, w, criterion=criterion)
        assert equal_up_to_ties(a.tree_, b.tree_) > 20
        a, b = both("DecisionTreeClassifier", X, y, weight, criterion=criterion, max_depth=4, min_samples_leaf=20)
        assert_same_tree(a.tree_, b.tree_)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_diabetes])
def test_real_data_up_to_ties(load):
    X, y = load(return_X_y=True)
    if load is load_diabetes:
        for criterion in ("squared_error", "absolute_error", "poisson"):
            a, b = both("DecisionTreeRegressor", X, y, criterion=criterion, min_samples_leaf=3)
            assert equal_up_to_ties(a.tree_, b.tree_) > 10
    else:
        for criterion in ("gini", "entropy"):
            a, b = both("DecisionTreeClassifier", X, y, criterion=criterion)
            assert equal_up_to_ties(a.tree_, b.tree_) >= 3


def test_several_outputs():
    X, score, weight = noisy(seed=2)
    Y = np.column_stack([score, X[:, 3] ** 2])
    for criterion in ("squared_error", "absolute_error", "poisson"):
        y = np.exp(Y / 3) if criterion == "poisson" else Y
        a, b = both("DecisionTreeRegressor", X, y, weight, criterion=criterion, min_samples_leaf=10)
        assert_same_tree(a.tree_, b.tree_)
        np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=1e-9)
    labels = np.column_stack([np.digitize(score, [-1, 1]), score > 0.3])
    for criterion in ("gini", "entropy"):
        a, b = both("DecisionTreeClassifier", X, labels, weight, criterion=criterion, min_samples_leaf=15)
        assert_same_tree(a.tree_, b.tree_)
        np.testing.assert_array_equal(a.predict(X), b.predict(X))
        for p, q in zip(a.predict_proba(X), b.predict_proba(X)):
            np.testing.assert_allclose(p, q, rtol=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"max_leaf_nodes": 12},
        {"max_depth": 3},
        {"min_samples_split": 0.1, "min_samples_leaf": 0.02},
        {"min_weight_fraction_leaf": 0.03},
        {"min_impurity_decrease": 0.005},
        {"ccp_alpha": 0.01},
        {"monotonic_cst": [1, 0, 1, 0, -1, 0]},
        {"monotonic_cst": [-1, 1, 0, 0, 0, 0], "max_leaf_nodes": 10},
    ],
    ids=str,
)
def test_every_limit_works_as_there(options):
    X, score, weight = noisy(seed=3)
    base = {} if "min_samples_leaf" in options else {"min_samples_leaf": 4}
    a, b = both("DecisionTreeRegressor", X, score, weight, **base, **options)
    assert_same_tree(a.tree_, b.tree_)
    a, b = both("DecisionTreeClassifier", X, score > 0, weight, **{**base, "min_samples_leaf": 15}, **{
        k: v for k, v in options.items() if k != "min_samples_leaf"
    })  # fmt: skip
    assert_same_tree(a.tree_, b.tree_)


def test_absolute_error_with_constraints_and_missing_values():
    X, score, weight = noisy(seed=4, missing=0.1)
    a, b = both("DecisionTreeRegressor", X, score, weight, criterion="absolute_error", min_samples_leaf=5)
    assert_same_tree(a.tree_, b.tree_)
    X, score, weight = noisy(seed=4)
    cst = [1, 0, 1, 0, 0, 0]
    options = {"criterion": "absolute_error", "min_samples_leaf": 5, "monotonic_cst": cst}
    assert_same_tree(*(m.tree_ for m in both("DecisionTreeRegressor", X, score, weight, **options)))


def test_pruning_path_and_pruned_trees():
    X, score, weight = noisy(seed=5)
    a, b = (
        module.DecisionTreeRegressor(random_state=0, min_samples_leaf=8).cost_complexity_pruning_path(X, score, weight)
        for module in (ours, peer)
    )
    np.testing.assert_allclose(a.ccp_alphas, b.ccp_alphas, rtol=1e-7, atol=1e-14)  # updated sums
    np.testing.assert_allclose(a.impurities, b.impurities, rtol=1e-9)
    for alpha in a.ccp_alphas[[1, len(a.ccp_alphas) // 2, -2]] * (1 + 1e-6):
        assert_same_tree(
            *(m.tree_ for m in both("DecisionTreeRegressor", X, score, weight, min_samples_leaf=8, ccp_alpha=alpha))
        )


@pytest.mark.parametrize("name", CLASSIFIERS + REGRESSORS)
def test_sparse_is_dense(name):
    X, score, _ = noisy(seed=6)
    X[np.abs(X) < 0.8] = 0.0
    y = score > 0 if name in CLASSIFIERS else score
    dense = getattr(ours, name)(random_state=0).fit(X, y)
    for kind in (sp.csr_matrix, sp.csc_array, sp.coo_matrix):
        model = getattr(ours, name)(random_state=0).fit(kind(X), y)
        assert model.tree_ == dense.tree_
        np.testing.assert_array_equal(model.predict(kind(X)), dense.predict(X))
        np.testing.assert_array_equal(model.apply(kind(X)), dense.apply(X))
        assert (model.decision_path(kind(X)) != dense.decision_path(X)).nnz == 0


def test_walks_agree():
    X, score, _ = noisy(seed=7)
    a, b = both("DecisionTreeRegressor", X, score, min_samples_leaf=5)
    new = np.random.default_rng(0).normal(size=(500, 6))
    new[::7, 2] = np.nan
    np.testing.assert_array_equal(a.apply(new), b.apply(new))
    assert (a.decision_path(new) != b.decision_path(new)).nnz == 0
    np.testing.assert_allclose(a.feature_importances_, b.feature_importances_, rtol=1e-9)
    assert (a.get_depth(), a.get_n_leaves()) == (b.get_depth(), b.get_n_leaves())
    np.testing.assert_array_equal(a.tree_.compute_node_depths(), b.tree_.compute_node_depths())
    again = pickle.loads(pickle.dumps(a))
    assert again.tree_ == a.tree_ and (again.predict(new) == a.predict(new)).all()


@pytest.mark.parametrize("name", CLASSIFIERS + REGRESSORS)
def test_random_thresholds_are_within_the_node_and_uniform(name):
    """The root threshold is uniform between the extremes: mean and deviation of 400 draws."""
    x = np.random.default_rng(0).random(50).astype(np.float32)[:, None]
    y = np.arange(50) % 2 if name in CLASSIFIERS else x[:, 0]
    options = {"splitter": "random", "max_depth": 1}
    draws = [getattr(ours, name)(random_state=i, **options).fit(x, y).tree_.threshold[0] for i in range(400)]
    low, high = x.min(), x.max()
    assert min(draws) >= low and max(draws) < high
    unit = (np.array(draws) - low) / (high - low)
    # standard errors: 0.29 / sqrt(400) = 0.0145 and about 0.0065; five of them
    assert unit.mean() == pytest.approx(0.5, abs=0.075) and unit.std() == pytest.approx(12**-0.5, abs=0.035)


def test_feature_subsets_are_drawn_evenly():
    X, y = np.random.default_rng(1).random((40, 5)), np.arange(40) % 2
    roots = [
        ours.DecisionTreeClassifier(max_features=1, max_depth=1, random_state=i).fit(X, y).tree_.feature[0]
        for i in range(500)
    ]
    counts = np.bincount(roots, minlength=5)
    assert (np.abs(counts - 100) < 5 * np.sqrt(80)).all()  # binomial deviations


@pytest.mark.parametrize("name", CLASSIFIERS + REGRESSORS)
def test_number_of_threads_changes_nothing(name):
    X, score, _ = noisy(seed=8, n=20_000, d=30, missing=0.05)
    y = score > 0 if name in CLASSIFIERS else score
    trees = []
    for n_jobs in (1, 2, 3):
        with hyperplan.thread_limit(n_jobs):
            trees.append(getattr(ours, name)(random_state=0, min_samples_leaf=3).fit(X, y).tree_)
    assert trees[0] == trees[1] == trees[2]


def test_costs_move_the_answer_and_the_impurity():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 3))
    y = np.where(X[:, 0] + rng.normal(size=500) > 1.2, "sick", "well")
    plain = ours.DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    for criterion in ("gini", "misclassification"):
        careful = ours.DecisionTreeClassifier(
            max_depth=3, random_state=0, criterion=criterion, class_cost={"sick": 20.0}
        ).fit(X, y)
        missed = [((m.predict(X) == "well") & (y == "sick")).sum() for m in (plain, careful)]
        assert missed[1] < missed[0]
        assert careful.certificate_.holds
    p = plain.tree_.value[0, 0]
    cost = np.array([[0.0, 20.0], [1.0, 0.0]])
    mixed, single = (
        ours.DecisionTreeClassifier(criterion=c, class_cost=cost).fit(X, y).tree_.impurity[0]
        for c in ("gini", "misclassification")
    )
    assert mixed == pytest.approx(p @ cost @ p) and single == pytest.approx((p @ cost).min())
    uniform = ours.DecisionTreeClassifier(class_cost=[1.0, 1.0], max_depth=4, random_state=0).fit(X, y)
    assert uniform.tree_.impurity[0] == pytest.approx(plain.tree_.impurity[0])
    np.testing.assert_array_equal(
        uniform.predict(X), ours.DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y).predict(X)
    )
    with pytest.raises(ValueError, match="gini"):
        ours.DecisionTreeClassifier(criterion="entropy", class_cost=[1.0, 2.0]).fit(X, y)
    with pytest.raises(ValueError, match="2 classes"):
        ours.DecisionTreeClassifier(class_cost=[1.0, 2.0, 3.0]).fit(X, y)


@pytest.mark.parametrize("criterion", ["misclassification", "gain_ratio", "mantaras"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_criteria_of_our_own_learn(criterion, name):
    X, y = load_breast_cancer(return_X_y=True)
    model = getattr(ours, name)(criterion=criterion, max_depth=6, random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.85 and model.certificate_.holds


@pytest.mark.parametrize("name", CLASSIFIERS + REGRESSORS)
def test_edges(name):
    cls = getattr(ours, name)
    one = cls().fit([[1.0, 2.0]], [3])
    assert one.tree_.node_count == 1 and one.predict([[0.0, 0.0]]).tolist() == [3]
    constant = cls().fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    assert constant.tree_.node_count == 1
    same = cls(random_state=0).fit(np.arange(6.0)[:, None], np.ones(6, dtype=int))
    assert same.tree_.node_count == 1 and same.predict([[9.0]])[0] == 1
    many = cls(max_leaf_nodes=1000, random_state=0).fit(np.arange(4.0)[:, None], [0, 1, 0, 1])
    assert many.tree_.n_leaves == 4
    for bad in ({"max_depth": 0}, {"min_samples_split": 1}, {"min_samples_leaf": 0}, {"max_leaf_nodes": 1}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            cls(**bad).fit(np.arange(4.0)[:, None], [0, 1, 0, 1])
    with pytest.raises(ValueError, match="infinity"):
        cls().fit([[1e200], [0.0]], [0, 1])
    with pytest.raises(ValueError, match="non-zero"):
        cls().fit([[1.0], [0.0]], [0, 1], sample_weight=[0.0, 0.0])


@pytest.mark.parametrize("name", CLASSIFIERS + REGRESSORS)
def test_missing_columns_and_missing_at_predict_time(name):
    X, score, _ = noisy(seed=9)
    X[:, 4] = np.nan
    y = score > 0 if name in CLASSIFIERS else score
    model = getattr(ours, name)(random_state=0, min_samples_leaf=5).fit(X, y)
    assert 4 not in model.tree_.feature
    inner = model.tree_.children_left >= 0
    sizes = [model.tree_.n_node_samples[c[inner]] for c in (model.tree_.children_left, model.tree_.children_right)]
    np.testing.assert_array_equal(model.tree_.missing_go_to_left[inner], sizes[0] > sizes[1])
    unknown = np.full((1, 6), np.nan)
    leaf, i = model.apply(unknown)[0], 0
    while model.tree_.children_left[i] >= 0:
        left = model.tree_.missing_go_to_left[i]
        i = model.tree_.children_left[i] if left else model.tree_.children_right[i]
    assert leaf == i


def test_zero_weights_drop_rows():
    X, score, weight = noisy(seed=10)
    weight[::3] = 0.0
    kept = weight > 0
    for y in (score, (score > 0).astype(int)):
        name = "DecisionTreeRegressor" if y.dtype == float else "DecisionTreeClassifier"
        a = getattr(ours, name)(random_state=0).fit(X, y, sample_weight=weight)
        b = getattr(ours, name)(random_state=0).fit(X[kept], y[kept], sample_weight=weight[kept])
        assert a.tree_ == b.tree_


def test_targets_far_from_zero_and_of_any_size():
    X, score, _ = noisy(seed=11)
    plain = ours.DecisionTreeRegressor(random_state=0, min_samples_leaf=10).fit(X, score).tree_
    far = ours.DecisionTreeRegressor(random_state=0, min_samples_leaf=10).fit(X, score + 1e9).tree_
    # scores keep 7 digits beside 1e9: a few splits that are nearly ties may differ
    assert abs(far.node_count - plain.node_count) <= 4 and far.impurity[0] == pytest.approx(plain.impurity[0], rel=1e-6)
    for scale in (1e150, 1e-100):
        scaled = ours.DecisionTreeRegressor(random_state=0, min_samples_leaf=10).fit(X, score * scale)
        assert np.isfinite(scaled.predict(X)).all()
    huge = ours.DecisionTreeRegressor(random_state=0, min_samples_leaf=10).fit(X, score * 2.0**600).tree_
    np.testing.assert_array_equal(huge.feature, plain.feature)


def test_poisson_refuses_negative_targets():
    with pytest.raises(ValueError, match=r"negative.*row 1"):
        ours.DecisionTreeRegressor(criterion="poisson").fit([[0.0], [1.0]], [1.0, -1.0])


def test_a_certificate_decomposes_the_training_impurity():
    X, score, weight = noisy(seed=12)
    model = ours.DecisionTreeRegressor(max_depth=4).fit(X, score, sample_weight=weight)
    parts = model.certificate_.details
    error = np.average((model.predict(X) - score) ** 2, weights=weight)
    assert parts["leaves"] == pytest.approx(error) and model.certificate_.holds
    assert parts["root"] == pytest.approx(parts["leaves"] + parts["decreases"])
    labels = ours.DecisionTreeClassifier(max_depth=3).fit(X, score > 0)
    assert labels.certificate_.details["training error"] == pytest.approx(1 - labels.score(X, score > 0))
