"""F13: densities and their modes; E84: the factor h^-d; B14: the log-likelihood as a score without labels."""

import numpy as np
import pytest

from hyperplan.neighbors import DensityModes, KernelDensity
from hyperplan.neighbors._kernel_density import log_norm

KERNELS = ["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("d", [1, 2])
def test_E84_every_density_has_the_integral_one(kernel, d):
    """A sum over a fine grid: the error is that of the midpoint rule, largest for the kernel with jumps."""
    X = np.array([[0.0] * d, [0.7] * d])
    has_end = kernel not in ("gaussian", "exponential")
    reach = 0.5 if has_end else 5.0
    step = 0.002 if d == 1 else 0.005 if has_end else 0.03
    axis = np.arange(-reach, reach + 0.7, step)
    grid = axis[:, None] if d == 1 else np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    density = np.exp(KernelDensity(bandwidth=0.4, kernel=kernel).fit(X).score_samples(grid))
    assert density.sum() * step**d == pytest.approx(1.0, abs=4e-3)


def test_E84_the_factor_of_the_source_has_the_wrong_integral_in_two_dimensions():
    """With h^-1 K(x/h) the integral in R^2 would be h: only h^-d gives 1."""
    for h in (0.1, 3.0):
        right = log_norm("gaussian", 2, h)
        assert np.exp(right) * 2 * np.pi * h**2 == pytest.approx(1.0)
        wrong = np.exp(log_norm("gaussian", 2, 1.0)) / h
        assert wrong * 2 * np.pi * h**2 == pytest.approx(h)


def test_F13_the_number_of_modes_is_the_number_of_groups():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0], [6.0, 6.0]])
    truth = np.repeat(np.arange(4), 80)
    X = centres[truth] + 0.6 * rng.normal(size=(320, 2))
    model = DensityModes().fit(X)
    assert model.n_modes_ == 4 and model.certificate_.holds
    gaps = np.sqrt(((model.modes_[:, None] - centres[None]) ** 2).sum(-1))
    assert gaps.min(axis=1).max() < 0.5
    assert len({(a, b) for a, b in zip(truth, model.labels_)}) == 4
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_F13_one_dimension_and_bandwidth():
    """Two bumps at distance 4: two modes for a narrow kernel, one for a wide one (beyond half the distance)."""
    X = np.array([[-2.0], [2.0]])
    for bandwidth, modes in ((0.5, 2), (1.9, 2), (2.1, 1), (10.0, 1)):
        assert DensityModes(bandwidth).fit(X).n_modes_ == modes, bandwidth


def test_F13_modes_are_maxima_of_the_density():
    X = np.random.default_rng(3).normal(size=(200, 2))
    model = DensityModes(0.5).fit(X)
    density = KernelDensity(bandwidth=0.5).fit(X)
    np.testing.assert_allclose(np.exp(density.score_samples(model.modes_)), model.mode_densities_, rtol=1e-5)
    assert (np.diff(model.mode_densities_) <= 1e-12).all()
    for angle in np.linspace(0, 2 * np.pi, 8, endpoint=False):
        around = model.modes_ + 0.02 * np.array([np.cos(angle), np.sin(angle)])
        assert (density.score_samples(around) < density.score_samples(model.modes_)).all()


def test_F13_many_rows_start_together():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.5, size=(800, 2)) for c in (0.0, 4.0)])
    few, all_rows = DensityModes(0.5, max_starts=100).fit(X), DensityModes(0.5, max_starts=1600).fit(X)
    assert few.n_modes_ == all_rows.n_modes_
    np.testing.assert_allclose(few.modes_, all_rows.modes_, atol=0.02)
    assert np.mean(few.labels_ == all_rows.labels_) > 0.99


def test_B14_the_log_likelihood_of_new_rows_prefers_the_right_density():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(500, 2)), rng.normal(size=(500, 2))
    score = {h: KernelDensity(bandwidth=h).fit(X).score(new) for h in (0.02, 0.4, 5.0)}
    assert score[0.4] > score[0.02] and score[0.4] > score[5.0]
    chosen = KernelDensity(bandwidth="loo").fit(X)
    assert chosen.score(new) > max(score.values()) - 20 and 0.2 < chosen.bandwidth_ < 0.8


def test_leave_one_out_likelihood_in_closed_form_is_that_of_n_fits():
    X = np.random.default_rng(1).normal(size=(30, 2))
    model = KernelDensity(bandwidth="loo").fit(X)
    for bandwidth, loss in model.loo_curve_[::7]:
        single = [
            KernelDensity(bandwidth=bandwidth).fit(np.delete(X, i, axis=0)).score(X[i : i + 1]) for i in range(30)
        ]
        assert -np.mean(single) == pytest.approx(loss, rel=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_samples_follow_the_density(kernel):
    """Mean and variance of a sample of 20000 around one row: the variance is E r^2 / d h^2, known by integration."""
    h, d = 0.5, 2
    model = KernelDensity(bandwidth=h, kernel=kernel).fit(np.zeros((1, d)))
    sample = model.sample(20_000, random_state=0)
    r = np.linspace(0, 60 if kernel in ("gaussian", "exponential") else 1, 200_001)
    shape = {
        "gaussian": np.exp(-0.5 * r**2), "tophat": np.ones_like(r), "epanechnikov": 1 - r**2,
        "exponential": np.exp(-r), "linear": 1 - r, "cosine": np.cos(0.5 * np.pi * r),
    }[kernel]  # fmt: skip
    variance = h**2 / d * (shape * r ** (d + 1)).sum() / (shape * r ** (d - 1)).sum()
    assert sample.shape == (20_000, d)
    np.testing.assert_allclose(sample.mean(axis=0), 0, atol=5 * np.sqrt(variance / 20_000))
    np.testing.assert_allclose(sample.var(axis=0), variance, rtol=0.06)
