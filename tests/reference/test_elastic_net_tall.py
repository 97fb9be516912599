"""Many rows, few columns: the tall engine against scikit-learn, and where it must step back."""

import numpy as np
import pytest
import sklearn.linear_model as reference

from hyperplan._core.parallel import thread_limit
from hyperplan._solvers.coordinate import Options, Penalty
from hyperplan._solvers.coordinate_rows import TallRows, rows_solve, suits_rows
from hyperplan._solvers.coordinate_rows_path import rows_path
from hyperplan.linear_model import ElasticNet, Lasso, enet_path

N, D = 9000, 33
CASES = {
    "plain": {},
    "positive": {"positive": True},
    "no intercept": {"fit_intercept": False},
    "random": {"selection": "random", "random_state": 0},
}


def problem(order="F", dtype=np.float64, n=N, d=D, offset=0.5, noise=2.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    X[:, 1:] += 0.6 * X[:, :-1]
    coef = np.zeros(d)
    coef[::5] = rng.normal(size=coef[::5].shape)
    y = X @ coef + noise * rng.normal(size=n)
    return np.asarray(X + offset * rng.normal(size=d), dtype=dtype, order=order), (y + 3.0).astype(dtype)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("l1_ratio", [0.5, 1.0])
def test_same_coefficients(order, dtype, weighted, case, l1_ratio):
    X, y = problem(order, dtype)
    assert suits_rows(X, 1)
    rng = np.random.default_rng(1)
    weight = rng.random(N) * (rng.random(N) < 0.8) if weighted else None
    model = ElasticNet(0.1, l1_ratio=l1_ratio, tol=1e-8, **CASES[case]).fit(X, y, weight)
    same = {key: value for key, value in CASES[case].items() if key in ("positive", "fit_intercept")}
    wide = X.astype(np.float64), y.astype(np.float64)
    theirs = reference.ElasticNet(0.1, l1_ratio=l1_ratio, tol=1e-10, max_iter=5000, **same).fit(*wide, weight)
    # a relative gap of 1e-8 leaves about its root; coefficients are stored in the type of X
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-3, atol=2e-4)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, rtol=1e-3, atol=2e-4)
    assert model.certificate_.holds and model.coef_.dtype == dtype


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_gap_is_that_of_all_rows(offset):
    X, y = problem(offset=offset)
    model = Lasso(0.2, tol=1e-8).fit(X, y)
    Z, t = X - X.mean(axis=0), y - y.mean()
    r = t - Z @ model.coef_
    scale = min(1.0, N * 0.2 / np.abs(Z.T @ r).max())
    primal = 0.5 * r @ r + N * 0.2 * np.abs(model.coef_).sum()
    gap = (primal - scale * (r @ t) + 0.5 * scale**2 * (r @ r)) / N
    # centring columns of mean 1e6 here costs six digits of the 1e-16
    np.testing.assert_allclose(model.dual_gap_, gap, atol=1e-9 * (t @ t) / N)
    assert gap <= 1e-8 * (t @ t) / N


def engine(X, y, center=True):
    return TallRows(X, np.asarray(y, dtype=np.float64), None, center=center)


def test_columns_the_sample_did_not_show():
    # the signal of one column sits in rows between the sampled blocks: the first reading must find it
    X, y = problem(n=20_000)
    rows = engine(X, y)
    blocks = np.linspace(0, 20_000 - 64, -(-32 * D // 64)).astype(int)
    sampled = (blocks[:, None] + np.arange(64)).ravel()
    X[:, 7] = 0.0
    hidden = np.setdiff1d(np.arange(20_000), sampled)
    X[hidden, 7] = np.random.default_rng(3).normal(size=hidden.shape)
    y = y + 2.0 * X[:, 7]
    rows = engine(X, y)
    solution = rows_solve(rows, Penalty(0.3 * 20_000, 0.0), Options(1e-8))
    assert solution is not None and abs(solution.coefs[0, 7]) > 1.0
    theirs = reference.Lasso(0.3, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(solution.coefs[0], theirs.coef_, rtol=1e-3, atol=2e-4)  # root of the gap


def test_sorted_rows():
    X, y = problem()
    order = np.argsort(y)
    a, b = Lasso(0.1, tol=1e-9).fit(X, y), Lasso(0.1, tol=1e-9).fit(np.asfortranarray(X[order]), y[order])
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-3, atol=1e-4)  # root of the gap


def test_steps_back_where_all_columns_matter():
    X, y = problem()
    assert rows_solve(engine(X, y), Penalty(1e-6 * N, 0.0), Options()) is None
    assert rows_path(engine(X, y), [Penalty(1e-5 * N, 0.0), Penalty(1e-6 * N, 0.0)], Options()) is None
    assert Lasso(1e-6).fit(X, y).certificate_.holds


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("row", [0, 1234, N - 1])
def test_not_finite(value, row):
    X, y = problem()
    X[row, 3] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        Lasso(0.1).fit(X, y)


def test_large_and_tiny_values():
    X, y = problem()
    for factor in (1e-30, 1e30):  # squares leave single precision: the sample is silent
        model = Lasso(0.1 * factor**2, tol=1e-8).fit(X * factor, y * factor)
        np.testing.assert_allclose(model.coef_, Lasso(0.1, tol=1e-8).fit(X, y).coef_, rtol=1e-3, atol=1e-4)
    assert Lasso(0.1).fit(X, np.full(N, 2.0)).coef_.any() == np.False_


def test_warm_start_is_left_alone_when_it_solves():
    X, y = problem()
    model = Lasso(0.1, tol=1e-6, warm_start=True).fit(X, y)
    before = model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_ == 0
    np.testing.assert_array_equal(model.coef_, before)


def test_threads_change_no_bit():
    X, y = problem()
    with thread_limit(1):
        one, path = Lasso(0.1).fit(X, y), enet_path(X, y, alphas=5, eps=0.1)[1]
    np.testing.assert_array_equal(one.coef_, Lasso(0.1).fit(X, y).coef_)
    np.testing.assert_array_equal(path, enet_path(X, y, alphas=5, eps=0.1)[1])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("l1_ratio", [0.5, 1.0])
@pytest.mark.parametrize("eps", [0.1, 1e-4])
def test_same_path(order, dtype, positive, l1_ratio, eps):
    X, y = problem(order, dtype, offset=0.0)
    options = {"alphas": 12, "eps": eps, "l1_ratio": l1_ratio, "positive": positive}
    alphas, coefs, gaps = enet_path(X, y, tol=1e-8, **options)
    wide = X.astype(np.float64), y.astype(np.float64)
    theirs = reference.enet_path(*wide, tol=1e-10, max_iter=5000, **options)
    np.testing.assert_allclose(alphas, theirs[0], rtol=1e-5)  # of X in single precision
    np.testing.assert_allclose(coefs, theirs[1], rtol=1e-3, atol=5e-4)  # root of the gap
    assert (gaps <= 1e-8 * (wide[1] @ wide[1]) / N).all()


def test_path_with_missing_columns_goes_on():
    X, y = problem(offset=0.0, noise=0.5)
    penalties = [Penalty(a * N, 0.0) for a in np.geomspace(1.0, 0.3, 10)]
    rows = engine(X, y, center=False)
    found = rows_path(rows, penalties, Options(1e-8))
    blind = engine(X, y, center=False)
    blind.pilot = blind.pilot._replace(xy=np.where(np.arange(D) == 5, 0.0, blind.pilot.xy))
    blind.pilot.gram[5] = blind.pilot.gram[:, 5] = 0.0  # the sample knows nothing about a column that matters
    again = rows_path(blind, penalties, Options(1e-8))
    assert found is not None and again is not None and abs(found.coefs[-1, 5]) > 0.1
    np.testing.assert_allclose(again.coefs, found.coefs, rtol=1e-3, atol=2e-4)  # root of the gap
