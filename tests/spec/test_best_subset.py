"""Best subset selection: exact against exhaustive search, and its relation to the lasso."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from hyperplan import thread_limit
from hyperplan._base import ConvergenceWarning
from hyperplan.linear_model import BestSubset
from hyperplan.linear_model._best_subset import reduce_problem
from hyperplan.linear_model._best_subset_kernels import drop_column, drop_costs, sort_columns, triangularise
from hyperplan.optimize import hard_threshold, soft_threshold


def exhaustive(X, y, weight, k, alpha, fit_intercept=True):
    """Least objective over all subsets of at most k columns."""
    shift = int(fit_intercept)
    Xc = (X - shift * np.average(X, axis=0, weights=weight)) * np.sqrt(weight)[:, None]
    yc = (y - shift * np.average(y, weights=weight)) * np.sqrt(weight)
    best = np.inf
    for size in range(k + 1):
        for subset in itertools.combinations(range(X.shape[1]), size):
            S = list(subset)
            r = yc - Xc[:, S] @ np.linalg.lstsq(Xc[:, S], yc, rcond=None)[0] if S else yc
            best = min(best, r @ r / (2 * weight.sum()) + alpha * size)
    return best


def objective(model, X, y, weight, alpha):
    r = y - model.predict(X)
    return (weight * r * r).sum() / (2 * weight.sum()) + alpha * np.count_nonzero(model.coef_)


@pytest.mark.parametrize("kind", ["plain", "collinear", "wide", "constant column", "duplicates"])
@pytest.mark.parametrize("alpha", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_LR6_agrees_with_exhaustive_search(kind, alpha, fit_intercept):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        n, d = (6, 9) if kind == "wide" else (25, 8)
        X = rng.normal(size=(n, d)) + 1.0
        if kind == "collinear":
            X[:, 1:] = X[:, :1] + 1e-3 * X[:, 1:]
        if kind == "constant column":
            X[:, 3] = 4.0
        if kind == "duplicates":
            X[:, 4:] = X[:, :4]
        y = X[:, 0] - X[:, 1] + X[:, 5] + rng.normal(size=n)
        weight = rng.integers(0, 3, n) + 0.5
        k = int(rng.integers(1, 5))
        model = BestSubset(k, alpha=alpha, fit_intercept=fit_intercept).fit(X, y, weight)
        expected = exhaustive(X, y, weight, k, alpha, fit_intercept)
        # collinear columns: the residual is computed from products of size cond * eps
        assert objective(model, X, y, weight, alpha) == pytest.approx(expected, rel=1e-8, abs=1e-9)
        assert model.objective_ == pytest.approx(expected, rel=1e-8, abs=1e-9)
        assert model.lower_bound_ <= model.objective_ and model.certificate_.holds
        assert np.count_nonzero(model.coef_) <= k and (model.coef_[~model.support_] == 0).all()


def test_LR6_hard_threshold_for_orthonormal_columns_and_the_lasso_beside_it():
    X, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 6)))
    ols = np.array([3.0, -2.0, 1.0, 0.5, -0.3, 0.1])
    y, alpha = X @ ols, 0.02
    model = BestSubset(alpha=alpha, fit_intercept=False).fit(X, y)
    cut = np.sqrt(2 * 20 * alpha)  # a column of coefficient w lowers the objective by w^2 / (2n)
    np.testing.assert_allclose(model.coef_, hard_threshold(ols, cut), atol=1e-12)
    lasso = soft_threshold(ols, 20 * alpha)
    kept = model.coef_ != 0
    assert (np.abs(lasso[kept]) < np.abs(model.coef_[kept])).all()  # the relaxation also shrinks what it keeps


def test_LR6_beats_or_equals_forward_selection():
    """A pair that is useless one by one: greedy needs its swaps, exact search finds it anyway."""
    rng = np.random.default_rng(1)
    base, noise = rng.normal(size=(2, 200))
    X = np.column_stack([base + noise, noise, 0.6 * base + 0.4 * rng.normal(size=200), rng.normal(size=(200, 9))])
    exact = BestSubset(2).fit(X, base)
    assert np.flatnonzero(exact.support_).tolist() == [0, 1]
    greedy = BestSubset(2, method="greedy").fit(X, base)
    assert exact.objective_ <= greedy.objective_ + 1e-12
    assert greedy.n_nodes_ == 0 and greedy.lower_bound_ <= exact.objective_ + 1e-12
    assert greedy.certificate_.details["optimal"] is False and exact.certificate_.details["optimal"] is True


def test_thirty_features_are_solved_exactly():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 30)) + rng.normal(size=(120, 1))
    y = X[:, :7].sum(axis=1) + 3 * rng.normal(size=120)
    model = BestSubset(7).fit(X, y)
    assert model.certificate_.details["optimal"]
    for j in np.flatnonzero(model.support_):  # no swap improves
        for i in np.flatnonzero(~model.support_)[:5]:
            S = [*np.flatnonzero(model.support_ & (np.arange(30) != j)), i]
            A = np.column_stack([X[:, S], np.ones(120)])
            r = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
            assert r @ r / 240 >= model.objective_ - 1e-12


def test_budget_of_nodes_gives_a_lower_bound_and_a_warning():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 20)), rng.normal(size=40)
    with pytest.warns(ConvergenceWarning, match="not proven optimal"):
        cut = BestSubset(8, max_nodes=2).fit(X, y)
    full = BestSubset(8).fit(X, y)
    assert cut.lower_bound_ <= full.objective_ <= cut.objective_ + 1e-12
    assert not cut.certificate_.holds and full.certificate_.holds
    wide = rng.normal(size=(30, 140))
    with pytest.warns(ConvergenceWarning, match="method='greedy'"):
        BestSubset(3).fit(wide, y[:30])


def test_weights_are_repetitions_and_formats_agree():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 7)), rng.normal(size=40)
    count = rng.integers(0, 4, 40)
    a = BestSubset(3).fit(X, y, count)
    b = BestSubset(3).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-12)
    c = BestSubset(3).fit(sp.csr_array(X), y, count)
    np.testing.assert_allclose(a.coef_, c.coef_, atol=1e-12)
    assert BestSubset(3).fit(X.astype(np.float32), y).coef_.dtype == np.float32
    assert np.count_nonzero(BestSubset(0.5).fit(X, y).coef_) == 3
    assert np.count_nonzero(BestSubset().fit(X, y).coef_) == 3


def test_threads_change_no_bit():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(9000, 6))
    y = X[:, 0] + rng.normal(size=9000)
    fits = []
    for n_jobs in (1, 2, 4):
        with thread_limit(n_jobs):
            fits.append(BestSubset(3).fit(X, y))
    assert all(np.array_equal(fits[0].coef_, other.coef_) for other in fits)
    assert len({float(fit.intercept_) for fit in fits}) == 1


def test_reduction_over_blocks_is_the_regression():
    rng = np.random.default_rng(6)
    X, y, weight = rng.normal(size=(5000, 4)) + 100, rng.normal(size=5000), rng.uniform(size=5000)
    data = reduce_problem(X, y, weight, True)
    coef = np.linalg.lstsq(data.A, data.z, rcond=None)[0] * data.y_scale / data.scale
    root = np.sqrt(weight)[:, None]
    expected = np.linalg.lstsq(np.column_stack([X, np.ones(5000)]) * root, y * root[:, 0], rcond=None)[0]
    np.testing.assert_allclose(coef, expected[:4], rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_scales(scale):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(30, 5))
    model = BestSubset(2).fit(X * scale, 2 * X[:, 1] - X[:, 3])
    np.testing.assert_allclose(model.coef_ * scale, [0, 2, 0, -1, 0], atol=1e-10)


def test_degenerate_data():
    constant = BestSubset(2).fit(np.ones((5, 3)), np.arange(5.0))
    assert not constant.coef_.any() and constant.intercept_ == pytest.approx(2.0)
    still = BestSubset(2).fit(np.random.default_rng(0).normal(size=(6, 3)), np.full(6, 7.0))
    assert not still.coef_.any() and still.intercept_ == pytest.approx(7.0) and still.certificate_.holds
    one = BestSubset(1).fit([[1.0, 2.0]], [3.0])
    assert one.predict([[5.0, 6.0]]).tolist() == [3.0]


@pytest.mark.parametrize(
    "bad", [{"n_features_to_select": 0}, {"n_features_to_select": 1.5}, {"alpha": -1}, {"method": "x"}]
)
def test_parameters_are_checked(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        BestSubset(**bad).fit(np.eye(3), np.arange(3.0))


@pytest.mark.parametrize("q", [1, 2, 3, 10, 31])
def test_kernels_against_naive_least_squares(q):
    rng = np.random.default_rng(q)
    A, z = rng.normal(size=(q + 5, q)), rng.normal(size=q + 5)

    def rss(columns):
        r = z - A[:, columns] @ np.linalg.lstsq(A[:, columns], z, rcond=None)[0]
        return r @ r

    R = np.linalg.qr(np.column_stack([A, z]), mode="r")
    factor = np.zeros((q + 1, q + 1))
    factor[:q] = R[:q]
    costs, work, columns = np.zeros(q + 1), np.zeros((q + 1, q + 1)), np.arange(q)
    drop_costs(factor, q, work, costs)
    full = rss(list(range(q)))
    naive = [rss([c for c in range(q) if c != j]) - full for j in range(q)]
    np.testing.assert_allclose(costs[:q], naive, rtol=1e-7, atol=1e-10)
    triangularise(factor, q, sort_columns(factor, q, columns, costs, work), work)
    assert (np.diff(costs[:q]) <= 0).all() and sorted(columns) == list(range(q))
    assert np.abs(np.tril(factor[:q, :q], -1)).max(initial=0.0) == 0.0
    np.testing.assert_allclose(factor[:q, :q].T @ factor[:q, :q], A[:, columns].T @ A[:, columns], atol=1e-11)
    np.testing.assert_allclose(factor[:q, :q].T @ factor[:q, q], A[:, columns].T @ z, atol=1e-11)
    for i in range(q):
        child = np.zeros((q + 1, q + 1))
        freed = drop_column(factor, q, i, child)
        assert freed == pytest.approx(costs[i], rel=1e-8, abs=1e-11)
        size = q - 1 - i
        block = factor[i:q, i + 1 : q]
        np.testing.assert_allclose(child[:size, :size].T @ child[:size, :size], block.T @ block, atol=1e-11)


@pytest.mark.parametrize("method", ["exact", "greedy"])
def test_exact_fits_end_at_once_and_do_not_depend_on_rounding(method):
    """More columns than rows: many subsets fit perfectly, and rounding must not make the search wander among them."""
    rng = np.random.default_rng(8)
    X, y, count = rng.uniform(size=(15, 30)), rng.integers(0, 3, 15) * 1.0, rng.integers(0, 5, 15)
    a = BestSubset(method=method, fit_intercept=False).fit(X, y, count)
    b = BestSubset(method=method, fit_intercept=False).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_allclose(a.predict(X), b.predict(X), atol=1e-8)  # condition of the chosen columns, about 1e4
    assert a.objective_ < 1e-12 and a.n_nodes_ <= 10
