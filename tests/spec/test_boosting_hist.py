"""Worked numbers and errata about second-order boosting, through the histogram engine."""

import numpy as np
import pytest

from hyperplan._trees.binning import bin_rows, fit_bins
from hyperplan._trees.boosting_grower import Grower
from hyperplan._trees.boosting_sampling import Goss, Mvs, mvs_probabilities
from hyperplan._trees.histogram import Constraints, GrowthOptions
from hyperplan.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from hyperplan.ensemble._target_statistics import encode_rows, encode_training, learn_statistics, row_order

LINE = np.arange(4.0).reshape(-1, 1)
Y = np.array([1.0, 2.0, 3.0, 10.0])
EXACT = {"rtol": 1e-6}  # gains come from derivatives of about 29 bits


def stump(X, gradient, hessian, l2, *, leaves=2, beta=0.0, bins=255):
    """(tree, values) of one tree; hessian None means 1."""
    data = bin_rows(X, fit_bins(X, bins))
    constraints = Constraints(np.zeros(1, np.int8), np.zeros((0, 1), np.uint8))
    options = GrowthOptions(max_leaves=leaves, min_samples_leaf=1, min_hessian=0.0, l2=l2, leaf_cost=beta)
    grower = Grower(data, options, constraints, hessian is None)
    gradient = np.asarray(gradient, np.float32)
    h = np.empty(0, np.float32) if hessian is None else np.asarray(hessian, np.float32)
    found = grower.grow(gradient, h, (np.abs(gradient).sum(), h.sum()))
    values = grower.newton_values(found)
    return grower.tree(found, values), values


def test_T22_squared_loss_leaf_and_gains():
    assert stump(LINE[:1].repeat(4, axis=0), -Y, None, 1.0)[1] == pytest.approx([3.2])
    tree, values = stump(LINE, -Y, None, 1.0)
    assert tree.bin[0] == 1  # after two points
    np.testing.assert_allclose(tree.gain[0] / 2, 4.066667, rtol=1e-6)
    third = np.array([0.0, 0.0, 0.0, 1.0]).reshape(-1, 1)
    tree, values = stump(third, -Y, None, 1.0)
    np.testing.assert_allclose(tree.gain[0] / 2, 3.9, **EXACT)
    np.testing.assert_allclose(values, [1.5, 5.0])
    first = np.array([0.0, 1.0, 1.0, 1.0]).reshape(-1, 1)
    np.testing.assert_allclose(stump(first, -Y, None, 1.0)[0].gain[0] / 2, 2.775, **EXACT)


def test_T22_gain_is_the_drop_of_the_objective():
    third = np.array([0.0, 0.0, 0.0, 1.0])

    def objective(value):
        w = np.unique(value)
        return 0.5 * ((Y - value) ** 2).sum() + 0.5 * (w**2).sum()

    drop = objective(np.full(4, 3.2)) - objective(np.where(third, 5.0, 1.5))
    np.testing.assert_allclose(stump(third.reshape(-1, 1), -Y, None, 1.0)[0].gain[0] / 2, drop, **EXACT)


@pytest.mark.parametrize(
    ("l2", "root", "leaves", "gain"), [(0.0, 0.4, (-2, 2), 2.4), (1.0, 0.222222, (-0.666667, 0.857143), 0.920635)]
)
def test_T23_logistic_leaf_and_gain(l2, root, leaves, gain):
    y = np.array([0, 0, 1, 1, 1.0])
    g, h = 0.5 - y, np.full(5, 0.25)
    np.testing.assert_allclose(stump(np.zeros((5, 1)), g, h, l2)[1], root, rtol=3e-6)  # printed to six digits
    tree, values = stump(y.reshape(-1, 1), g, h, l2)
    np.testing.assert_allclose(values, leaves, rtol=1e-6)
    np.testing.assert_allclose(tree.gain[0] / 2, gain, rtol=1e-6)


def test_T24_squared_boosting_by_a_stump():
    model = HistGradientBoostingRegressor(max_iter=1, learning_rate=1.0, max_leaf_nodes=2, min_samples_leaf=1)
    model.fit(LINE, Y)
    assert model._model.baseline[0] == 4.0
    np.testing.assert_allclose(model.predict(LINE), [2, 2, 2, 10])
    assert ((model.predict(LINE) - Y) ** 2).sum() == pytest.approx(2.0)


def test_K9_a_leaf_must_earn_its_cost():
    assert stump(LINE, -Y, None, 1.0, beta=4.0)[0].n_leaves == 2
    assert stump(LINE, -Y, None, 1.0, beta=4.1)[0].n_leaves == 1


def test_E24_the_learning_rate_stays_in_the_sum():
    options = {"max_leaf_nodes": 2, "min_samples_leaf": 1, "learning_rate": 0.3}
    stages = list(HistGradientBoostingRegressor(max_iter=3, **options).fit(LINE, Y).staged_predict(LINE))
    f = np.full(4, 4.0)
    for stage in stages:
        tree, values = stump(LINE, f - Y, None, 0.0)
        f = f + 0.3 * values[(LINE[:, 0] > tree.bin[0]).astype(int)]
        np.testing.assert_allclose(stage, f, rtol=1e-6)  # float32 derivatives


def test_E25_absolute_loss_fits_signs_and_sets_medians():
    y = np.array([0.0, 1.0, 2.0, 50.0, 51.0, 99.0])
    X = np.array([0, 0, 0, 1, 1, 1.0]).reshape(-1, 1)
    model = HistGradientBoostingRegressor("absolute_error", max_iter=1, learning_rate=1.0, min_samples_leaf=1)
    np.testing.assert_allclose(model.fit(X, y).predict(X), [1, 1, 1, 51, 51, 51])


def test_E26_E68_the_quadratic_term_bounds_the_leaf_and_lambda_counts_once():
    for l2, expected in ((0.0, 4.0), (1.0, 3.2), (4.0, 2.0)):
        assert stump(np.zeros((4, 1)), -Y, None, l2)[1] == pytest.approx([expected])


def test_E67_labels_only_for_classes():
    X = np.linspace(-1, 1, 60).reshape(-1, 1)
    labels = HistGradientBoostingClassifier(max_iter=5).fit(X, X[:, 0] > 0).predict(X)
    numbers = HistGradientBoostingRegressor(max_iter=5).fit(X, X[:, 0]).predict(X)
    assert set(labels) == {False, True} and np.unique(numbers).size > 2


@pytest.mark.parametrize(("share", "expected"), [(0.5, (0.2, 0.4, 0.6, 0.8)), (0.75, (1 / 3, 2 / 3, 1, 1))])
def test_T25_mvs_probabilities(share, expected):
    g = np.array([1.0, 2, 3, 4])
    for order in (np.arange(4), np.array([2, 0, 3, 1])):
        found = mvs_probabilities(g[order], np.ones(4), share, 0.0)
        np.testing.assert_allclose(found, np.array(expected)[order], rtol=1e-14)  # a division and a sum


def test_T25_goss_weight():
    g = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    rows, factors = Goss(0.2, 0.1)(g, np.ones_like(g), np.random.default_rng(1))
    largest = set(np.argsort(-np.abs(g))[:200])
    assert rows.shape == (300,) and (np.diff(rows) > 0).all() and largest <= set(rows)
    assert set(factors) == {1.0, 8.0} and (factors == 8.0).sum() == 100
    assert set(rows[factors == 1.0]) == largest


def test_K11_equal_gradients_keep_the_first_rows():
    rows, factors = Goss(0.4, 0.2)(np.ones(10, np.float32), np.ones(10, np.float32), np.random.default_rng(0))
    assert rows[:4].tolist() == [0, 1, 2, 3] and factors.tolist() == [1, 1, 1, 1, 3, 3]


@pytest.mark.parametrize("sampler", [Goss(0.2, 0.1), Goss(0.15, 0.33), Mvs(0.3, 0.0), Mvs(0.3, 2.0)])
def test_E27_K14_sums_of_derivatives_are_unbiased(sampler):
    rng = np.random.default_rng(0)
    g, h = rng.normal(size=200).astype(np.float32), rng.random(200).astype(np.float32)
    part = np.arange(0, 200, 3)  # any fixed set of rows
    inside = np.isin(np.arange(200), part)
    sums = []
    for _ in range(4000):
        rows, factors = sampler(g, h, rng)
        sums.append([(factors * g[rows])[inside[rows]].sum(), (factors * h[rows])[inside[rows]].sum()])
    error = np.mean(sums, axis=0) - [g[part].sum(), h[part].sum()]
    assert (np.abs(error) < 4 * np.std(sums, axis=0) / np.sqrt(4000)).all()  # four standard errors


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.9, 1.0])
def test_K14_probabilities_add_up(share):
    rng = np.random.default_rng(3)
    for g in (rng.normal(size=50), np.exp(3 * rng.normal(size=50)), np.ones(50), np.r_[1e6, np.ones(49)]):
        p = mvs_probabilities(g, rng.random(50), share, 0.5)
        assert p.sum() == pytest.approx(share * 50, rel=1e-9) and (p > 0).all() and p.max() <= 1.0
    np.testing.assert_array_equal(mvs_probabilities(np.zeros(4), np.zeros(4), share, 0.5), share)
    assert (mvs_probabilities(np.array([0, 0, 0, 2.0]), np.ones(4), share, 0.0)[:3] == 0).all()


def test_K14_everything_is_kept_at_share_one():
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = X[:, 0] + np.sin(X[:, 1])
    options = {"max_iter": 5, "random_state": 0}
    plain = HistGradientBoostingRegressor(**options).fit(X, y, np.ones(300))
    drawn = HistGradientBoostingRegressor(sampling="mvs", **options).fit(X, y, np.ones(300))
    np.testing.assert_allclose(drawn.predict(X), plain.predict(X), rtol=1e-6)  # float32 derivatives


def test_K13_ordered_target_statistics_by_hand():
    """Rows a b a a b with targets 1 0 0 1 1, in this order, then in the opposite one; prior 3/5 and a = 2."""
    X = np.array([0.0, 1, 0, 0, 1]).reshape(-1, 1)
    y, prior = np.array([1.0, 0, 0, 1, 1]), 0.6
    statistics = learn_statistics(X, [0], [2], y, None, 1, 2.0)
    assert statistics.prior == pytest.approx([prior])

    def numbers(order):
        return encode_training(X, statistics, y, None, np.array(order))[:, 0] + prior

    forwards = [prior, prior, (1 + 2 * prior) / 3, (1 + 2 * prior) / 4, (0 + 2 * prior) / 3]
    backwards = [(1 + 2 * prior) / 4, (1 + 2 * prior) / 3, (1 + 2 * prior) / 3, prior, prior]
    np.testing.assert_allclose(numbers([0, 1, 2, 3, 4]), forwards, rtol=1e-6)  # float32 numbers
    np.testing.assert_allclose(numbers([4, 3, 2, 1, 0]), backwards, rtol=1e-6)
    everything = encode_rows(np.array([[0.0], [1.0], [2.0]]), statistics)[:, 0] + prior
    np.testing.assert_allclose(everything, [(2 + 2 * prior) / 5, (1 + 2 * prior) / 4, prior], rtol=1e-6)


def test_K13_means_over_all_other_rows_would_give_the_target_away():
    """Why rounds take orders by turns: the mean over many orders tells the classes of one category apart."""
    X, y = np.zeros((40, 1)), (np.arange(40) % 2).astype(float)
    statistics = learn_statistics(X, [0], [1], y, None, 1, 1.0)
    orders = [row_order(0, p, 40) for p in range(2000)]
    numbers = np.array([encode_training(X, statistics, y, None, order)[:, 0] for order in orders])
    mean = numbers.mean(axis=0)
    assert mean[y == 1].max() < mean[y == 0].min()
    assert numbers[0][y == 1].max() > numbers[0][y == 0].min()  # one order does not


@pytest.mark.parametrize("extra", [{"sampling": "goss"}, {"sampling": "mvs", "subsample": 0.3}])
def test_K11_K14_same_seed_same_trees(extra):
    X = np.random.default_rng(0).normal(size=(500, 3))
    y = X[:, 0] * X[:, 1]
    one, two, other = (
        HistGradientBoostingRegressor(max_iter=5, random_state=seed, **extra).fit(X, y).predict(X) for seed in (0, 0, 1)
    )
    assert (one == two).all() and (one != other).any()


def test_K12_bundles_without_conflicts_lose_nothing():
    """One-hot columns of one variable never meet: merged by bin offsets, they give the same model bit for bit."""
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 8, size=(600, 3))
    X = np.hstack([(levels[:, [j]] == np.arange(8)).astype(float) for j in range(3)] + [rng.normal(size=(600, 1))])
    y = (levels.sum(axis=1) + X[:, -1] > 10).astype(int)
    scores = [
        HistGradientBoostingClassifier(max_iter=20, max_conflict_rate=rate).fit(X, y).decision_function(X)
        for rate in (None, 0.0)
    ]
    assert (scores[0] == scores[1]).all()
