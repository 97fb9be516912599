"""H5: local means with a kernel; E83 (strict majority) and E84 (the factor of the kernel cancels here)."""

import numpy as np
import pytest

from hyperplan.neighbors import NadarayaWatsonClassifier, NadarayaWatsonRegressor
from hyperplan.neighbors._bandwidth import best_bandwidth

KERNELS = {
    "gaussian": lambda u: np.exp(-0.5 * u**2),
    "box": lambda u: (u < 1).astype(float),
    "epanechnikov": lambda u: np.maximum(1 - u**2, 0),
}


def wave(n=150, d=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 6, size=(n, d))
    return X, np.sin(X[:, 0]) + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [1, 3, 15])
def test_H5_a_local_mean_is_the_ratio_of_two_sums(kernel, d):
    """Sums of 150 terms, each with an error of some units in the last place; boxes may lose 2e-4 of the range."""
    X, y = wave(d=d)
    bandwidth = 1.5 * np.sqrt(d)
    model = NadarayaWatsonRegressor(bandwidth, kernel=kernel, empty="nan").fit(X, y)
    Q = X[:40] + 0.05
    weights = KERNELS[kernel](np.sqrt(((Q[:, None] - X[None]) ** 2).sum(-1)) / bandwidth)
    with np.errstate(invalid="ignore"):
        expected = weights @ y / weights.sum(axis=1)
    np.testing.assert_allclose(model.predict(Q), expected, atol=2e-4 * (y.max() - y.min()))
    exact = NadarayaWatsonRegressor(bandwidth, kernel=kernel, empty="nan", rtol=0).fit(X, y)
    np.testing.assert_allclose(exact.predict(Q), expected, rtol=1e-10, atol=1e-10)


def test_H5_leave_one_out_error_in_closed_form_is_that_of_n_fits():
    X, y = wave(40)
    model = NadarayaWatsonRegressor(rtol=0).fit(X, y)
    for bandwidth, error in model.loo_curve_[::6]:
        if bandwidth < 0.05:
            continue  # there, rows left alone differ by the rounding of numbers near 0
        errors = []
        for i in range(40):
            others = np.arange(40) != i
            fitted = NadarayaWatsonRegressor(bandwidth, rtol=0).fit(X[others], y[others])
            errors.append((fitted.predict(X[i : i + 1])[0] - y[i]) ** 2)
        assert np.mean(errors) == pytest.approx(error, rel=1e-9)
    assert model.loo_error_ == model.loo_curve_[:, 1].min()
    assert model.bandwidth_ == model.loo_curve_[model.loo_curve_[:, 1].argmin(), 0]


def test_H5_the_chosen_bandwidth_predicts_better_than_extreme_ones():
    X, y = wave(400)
    Q, truth = wave(400, seed=1)[0], None
    truth = np.sin(Q[:, 0])
    chosen = NadarayaWatsonRegressor().fit(X, y)
    error = np.mean((chosen.predict(Q) - truth) ** 2)
    for factor in (0.05, 20):
        other = NadarayaWatsonRegressor(chosen.bandwidth_ * factor).fit(X, y)
        assert np.mean((other.predict(Q) - truth) ** 2) > 1.5 * error


def test_H5_a_sample_of_rows_finds_nearly_the_same_bandwidth():
    X, y = wave(3000)
    whole, few = NadarayaWatsonRegressor(loo_rows=3000).fit(X, y), NadarayaWatsonRegressor(loo_rows=500).fit(X, y)
    assert 0.5 < few.bandwidth_ / whole.bandwidth_ < 2.0


def test_H5_wide_kernels_give_the_mean_and_narrow_ones_the_nearest():
    X, y = wave(50)
    assert NadarayaWatsonRegressor(1e6).fit(X, y).predict(X[:1])[0] == pytest.approx(y.mean())
    narrow = NadarayaWatsonRegressor(1e-9).fit(X, y)
    np.testing.assert_allclose(narrow.predict(X), y, rtol=1e-12)
    np.testing.assert_allclose(narrow.predict([[100.0]]), y[X[:, 0].argmax()])  # the Gaussian never reaches nothing


@pytest.mark.parametrize("empty", ["prior", "nearest", "nan", "raise"])
def test_H5_where_the_denominator_is_zero(empty):
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 6.0])
    model = NadarayaWatsonRegressor(0.5, kernel="epanechnikov", empty=empty).fit(X, y)
    if empty == "raise":
        with pytest.raises(ValueError, match="the first is row 1"):
            model.predict([[0.1], [9.0]])
    else:
        expected = {"prior": 3.0, "nearest": 6.0, "nan": np.nan}[empty]
        np.testing.assert_allclose(model.predict([[0.1], [9.0]]), [1.0, expected])


def test_E83_the_positive_class_needs_a_strict_majority():
    X = np.array([[0.0], [2.0]])
    model = NadarayaWatsonClassifier(2.0).fit(X, [-1, 1])
    np.testing.assert_allclose(model.predict_proba([[1.0]]), [[0.5, 0.5]])
    assert model.predict([[1.0], [1.0 + 1e-6], [1.0 - 1e-6]]).tolist() == [-1, 1, -1]


def test_H5_classes_are_local_shares():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 3, size=200)
    weight = rng.integers(0, 3, size=200).astype(float)
    model = NadarayaWatsonClassifier(0.7, rtol=0).fit(X, y, sample_weight=weight)
    K = KERNELS["gaussian"](np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1)) / 0.7) * weight
    shares = np.column_stack([K[:, y == k].sum(axis=1) for k in range(3)])
    np.testing.assert_allclose(model.predict_proba(X), shares / shares.sum(axis=1, keepdims=True), rtol=1e-10)


def test_E84_the_factor_of_the_kernel_cancels():
    """K_h = h^-d K(./h) or h^-1 K(./h): a ratio of sums is the same; a density is not (see the density's test)."""
    X, y = wave(60, d=2)
    K = KERNELS["gaussian"](np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1)) / 0.5)
    for factor in (0.5**-2, 0.5**-1):
        mean = (factor * K) @ y / (factor * K).sum(axis=1)
        np.testing.assert_allclose(NadarayaWatsonRegressor(0.5).fit(X, y).predict(X), mean, atol=3e-6)


def test_certificate_measures_the_error_of_the_sums():
    X, y = wave(3000, d=2)
    model = NadarayaWatsonRegressor(0.5, rtol=1e-3).fit(X, y)
    certificate = model.certificate_
    assert certificate.holds and 0 < certificate.value < certificate.bound < 3e-3


def test_several_targets_and_scott():
    X, y = wave(100)
    both = NadarayaWatsonRegressor("scott").fit(X, np.column_stack([y, -2 * y]))
    one = NadarayaWatsonRegressor("scott").fit(X, y)
    np.testing.assert_allclose(both.predict(X), np.column_stack([one.predict(X), -2 * one.predict(X)]), atol=1e-5)
    assert one.bandwidth_ == pytest.approx(X.std() * 100 ** (-1 / 5)) and not hasattr(one, "loo_error_")


def test_golden_section_finds_a_minimum():
    found = best_bandwidth(lambda h: (np.log(h) - 0.37) ** 2, 1.0)
    assert found.bandwidth == pytest.approx(np.exp(0.37), rel=0.01)
    at_the_end = best_bandwidth(lambda h: h, 1.0)
    assert at_the_end.bandwidth == 2.0**-5
    assert best_bandwidth(lambda h: np.nan, 1.0).loss == np.inf


def test_rows_that_are_all_the_same():
    X, y = np.ones((10, 2)), np.arange(10.0)
    np.testing.assert_allclose(NadarayaWatsonRegressor().fit(X, y).predict(X), 4.5)
