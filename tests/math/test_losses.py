"""Losses: derivatives by finite differences, borders, domains, conjugates, kernels against plain numpy."""

import numpy as np
import pytest
from sklearn.metrics import hinge_loss, log_loss, mean_gamma_deviance, mean_poisson_deviance, mean_tweedie_deviance

from hyperplan._math import _loss_kernels as k
from hyperplan._math._conjugates import CONJUGATES
from hyperplan._math.losses import LOSSES, MulticlassLoss, flooding, get_loss

ALL = [
    *LOSSES.values(),
    get_loss("huber", 0.5),
    get_loss("quantile", 0.9),
    get_loss("gaussian", 2.5),
    get_loss("epsilon_insensitive", 0.7),
    get_loss("tweedie", 0.0),
    get_loss("tweedie", 1.0),
    get_loss("tweedie", 1.9),
    get_loss("tweedie", 2.0),
    get_loss("tweedie", 3.0),
]
IDS = [f"{loss.name}-{loss.parameter:g}" for loss in ALL]
SIZES = [0, 1, 2, 7, 1023, 1024, 1025]


def targets(loss, n, rng):
    return {
        "sign": lambda: rng.choice([-1.0, 1.0], n),
        "unit": lambda: rng.uniform(size=n),
        "real": lambda: rng.normal(size=n),
        "nonnegative": lambda: rng.poisson(1.0, n).astype(float),
        "positive": lambda: rng.gamma(2.0, size=n) + 0.01,
    }[loss.target]()


def naive_value(loss, y, f):
    """The formulas of the table in losses.py, as a student would type them."""
    m, r, p = y * f, np.abs(y - f), loss.parameter
    with np.errstate(all="ignore"):
        deviance = {
            0.0: lambda: 0.5 * (y - np.exp(f)) ** 2,
            1.0: lambda: np.where(y > 0, y * np.log(np.where(y > 0, y, 1)), 0) - y * f - y + np.exp(f),
            2.0: lambda: y / np.exp(f) - 1 - np.log(y) + f,
        }.get(
            p,
            lambda: (
                y ** (2 - p) / ((1 - p) * (2 - p)) - y * np.exp((1 - p) * f) / (1 - p) + np.exp((2 - p) * f) / (2 - p)
            ),
        )
        return {
            "zero_one": lambda: (m <= 0).astype(float),
            "logistic": lambda: np.log(1 + np.exp(-m)),
            "hinge": lambda: np.maximum(1 - m, 0),
            "squared_hinge": lambda: np.maximum(1 - m, 0) ** 2,
            "half_squared_hinge": lambda: np.maximum(1 - m, 0) ** 2 / 2,
            "modified_huber": lambda: np.where(m < -1, -4 * m, np.maximum(1 - m, 0) ** 2),
            "exponential": lambda: np.exp(-m),
            "perceptron": lambda: np.maximum(-m, 0),
            "squared": lambda: r**2 / 2,
            "squared_full": lambda: r**2,
            "gaussian": lambda: -np.log(np.exp(-(r**2) / (2 * p**2)) / np.sqrt(2 * np.pi * p**2)),
            "epsilon_insensitive": lambda: np.maximum(r - p, 0),
            "squared_epsilon_insensitive": lambda: np.maximum(r - p, 0) ** 2,
            "huber": lambda: np.where(r <= p, r**2 / 2, p * r - p**2 / 2),
            "quantile": lambda: p * np.maximum(y - f, 0) + (1 - p) * np.maximum(f - y, 0),
            "log_loss": lambda: -y * np.log(1 / (1 + np.exp(-f))) - (1 - y) * np.log(1 - 1 / (1 + np.exp(-f))),
            "poisson": lambda: np.where(y > 0, y * np.log(np.where(y > 0, y, 1)), 0) - y * f - y + np.exp(f),
            "gamma": lambda: y / np.exp(f) - 1 - np.log(y) + f,
            "tweedie": deviance,
        }[loss.name]()


@pytest.mark.parametrize("loss", ALL, ids=IDS)
@pytest.mark.parametrize("n", SIZES)
def test_value_is_the_formula(loss, n):
    rng = np.random.default_rng(n)
    y, f = targets(loss, n, rng), rng.normal(size=n)
    # the naive formulas lose digits by cancellation near their minimum
    np.testing.assert_allclose(loss.value(y, f), naive_value(loss, y, f), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("loss", ALL, ids=IDS)
def test_gradient_and_curvature_are_derivatives(loss):
    rng = np.random.default_rng(1)
    y, f = targets(loss, 400, rng), rng.normal(size=400) * 2
    h = 1e-6
    smooth = np.ones(400, bool)
    for kink in (y, y - loss.parameter, y + loss.parameter, -y, 1 / np.where(y == 0, 1, y), 0 * y):
        smooth &= np.abs(f - kink) > 1e-4
    y, f = y[smooth], f[smooth]
    slope = (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
    bend = (loss.gradient(y, f + h) - loss.gradient(y, f - h)) / (2 * h)
    # central differences: error h^2 times the third derivative plus rounding / h, relative to the size of the loss
    size = 1 + np.abs(loss.value(y, f)) + np.abs(loss.curvature(y, f))
    assert (np.abs(loss.gradient(y, f) - slope) <= 1e-8 * size).all()
    assert (np.abs(loss.curvature(y, f) - bend) <= 1e-7 * size).all()
    assert (loss.curvature(y, f) <= loss.smoothness * (1 + 1e-12)).all()
    assert (np.abs(loss.gradient(y, f)) <= loss.lipschitz * (1 + 1e-12)).all()


@pytest.mark.parametrize(
    "loss", [loss for loss in ALL if loss.convex], ids=lambda loss: f"{loss.name}-{loss.parameter}"
)
def test_convex_in_the_score(loss):
    rng = np.random.default_rng(2)
    y, a, b = targets(loss, 2000, rng), rng.normal(size=2000) * 3, rng.normal(size=2000) * 3
    middle, ends = loss.value(y, (a + b) / 2), (loss.value(y, a) + loss.value(y, b)) / 2
    assert (middle <= ends * (1 + 1e-12) + 1e-12).all()
    assert (loss.curvature(y, a) >= 0).all()


@pytest.mark.parametrize("loss", ALL, ids=IDS)
@pytest.mark.parametrize("f", [-1e300, -1e4, -745.0, -1e-300, 0.0, 1e-300, 745.0, 1e4, 1e300])
def test_never_nan_at_the_borders(loss, f):
    y = targets(loss, 50, np.random.default_rng(3))
    for numbers in (loss.value(y, f), loss.gradient(y, f), loss.curvature(y, f)):
        assert not np.isnan(numbers).any()
    assert (loss.value(y, f) >= -1e-13).all()  # a half deviance of 0 is a difference of terms up to 1/(p-1)(2-p)


def test_logistic_tails_are_exact():
    loss = get_loss("logistic")
    assert loss.value(1, [-1e4, 1e4, 40.0]).tolist() == [1e4, 0.0, np.exp(-40.0)]
    assert loss.gradient(-1, [-1e4, 1e4]).tolist() == [0.0, 1.0]
    assert loss.curvature(1, -40.0) == pytest.approx(np.exp(-40.0), rel=1e-15)
    binary = get_loss("log_loss")
    np.testing.assert_allclose(binary.value([0, 1], [3.0, 3.0]), loss.value([-1, 1], [3.0, 3.0]), rtol=1e-15)


@pytest.mark.parametrize(
    "name, y, word",
    [
        ("logistic", [1.0, 0.0], "-1 or \\+1"),
        ("log_loss", [0.5, 1.5], "between 0 and 1"),
        ("poisson", [1.0, -1.0], ">= 0"),
        ("gamma", [1.0, 0.0], "> 0"),
        ("squared", [1.0, np.nan], "finite"),
        ("hinge", [1.0, np.nan], "position 1"),
    ],
)
def test_targets_outside_the_domain_are_named(name, y, word):
    for method in ("value", "gradient", "curvature", "conjugate"):
        with pytest.raises(ValueError, match=word):
            getattr(get_loss(name), method)(y, [0.1, 0.2])


@pytest.mark.parametrize(
    "name, parameter",
    [("huber", 0), ("quantile", 1.0), ("tweedie", 0.5), ("gaussian", -1), ("epsilon_insensitive", -1)],
)
def test_parameters_outside_their_domain(name, parameter):
    with pytest.raises(ValueError, match="must be"):
        get_loss(name, parameter)


def test_unknown_names_and_needless_parameters():
    with pytest.raises(ValueError, match="Unknown loss"):
        get_loss("hings")
    with pytest.raises(ValueError, match="no parameter"):
        get_loss("hinge", 2.0)
    assert get_loss("absolute").value(1.0, 3.0) == 2.0


@pytest.mark.parametrize(
    "loss", [loss for loss in ALL if loss.code in CONJUGATES], ids=lambda v: f"{v.name}-{v.parameter}"
)
def test_fenchel_young(loss):
    rng = np.random.default_rng(4)
    y, f, u = targets(loss, 3000, rng), rng.normal(size=3000) * 2, rng.normal(size=3000) * 2
    value = loss.value(y, f)
    assert (value + loss.conjugate(y, u) >= u * f - 1e-10).all()
    touching = loss.gradient(y, f)
    tight = loss.conjugate(y, touching)
    assert np.isfinite(tight).all()
    # equality at a slope; sums of terms of the size of the loss
    np.testing.assert_allclose(value + tight, touching * f, rtol=1e-9, atol=1e-9)


def test_conjugate_without_closed_form():
    with pytest.raises(ValueError, match="closed form"):
        get_loss("tweedie").conjugate(1.0, 0.0)


@pytest.mark.parametrize("n", SIZES)
def test_weighted_loss_kernel_against_the_record(n):
    rng = np.random.default_rng(n)
    for loss in ALL:
        y, f, weight, slope = targets(loss, n, rng), rng.normal(size=n), rng.integers(0, 3, n) * 1.0, np.empty(n)
        total = k.weighted_loss(loss.code, loss.parameter, y, f, weight, slope)
        np.testing.assert_allclose(total, (weight * loss.value(y, f)).sum(), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(slope, weight * loss.gradient(y, f), rtol=1e-15)


@pytest.mark.parametrize("n", SIZES)
def test_softmax_kernel_against_naive(n):
    rng = np.random.default_rng(n)
    codes, scores, weight = rng.integers(0, 3, n), rng.normal(size=(n, 3)), rng.uniform(size=n)
    slope = np.empty((n, 3))
    total = k.softmax_nll(codes, scores, weight, slope)
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(total, -(weight * np.log(p[np.arange(n), codes])).sum(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(slope, weight[:, None] * (p - np.eye(3)[codes]), atol=1e-15)


def test_multiclass_loss():
    loss, rng = MulticlassLoss(), np.random.default_rng(5)
    codes, scores = rng.integers(0, 4, 30), rng.normal(size=(30, 4))
    assert loss.mean(codes, scores) == pytest.approx(log_loss(codes, loss.gradient(codes, scores) + np.eye(4)[codes]))
    bend = loss.curvature(codes, scores)
    for c in range(4):
        h = 1e-6 * np.eye(4)[c]
        ahead, behind = loss.gradient(codes, scores + h), loss.gradient(codes, scores - h)
        np.testing.assert_allclose(bend[:, c], (ahead - behind) / 2e-6, atol=1e-9)
    assert np.linalg.eigvalsh(bend).max() <= loss.smoothness
    slope = loss.gradient(codes, scores)
    np.testing.assert_allclose(loss.value(codes, scores) + loss.conjugate(codes, slope), (slope * scores).sum(axis=1))
    assert np.isinf(loss.conjugate(codes, slope + 1)).all()
    assert loss.value([0], [[1e4, -1e4]]).tolist() == [0.0]
    assert loss.value([1], [[1e4, -1e4]]).tolist() == [2e4]
    with pytest.raises(ValueError, match="Class codes"):
        loss.value([4], [[0.0, 1.0, 2.0, 3.0]])


def test_same_numbers_as_scikit_learn():
    rng = np.random.default_rng(6)
    f, sign, mean = rng.normal(size=200), rng.choice([-1, 1], 200), rng.gamma(2.0, size=200)
    assert get_loss("hinge").mean(sign, f) == pytest.approx(hinge_loss(sign, f))
    assert get_loss("logistic").mean(sign, f) == pytest.approx(log_loss(sign, 1 / (1 + np.exp(-f))))
    assert 2 * get_loss("poisson").mean(mean, f) == pytest.approx(mean_poisson_deviance(mean, np.exp(f)))
    assert 2 * get_loss("gamma").mean(mean, f) == pytest.approx(mean_gamma_deviance(mean, np.exp(f)))
    for power in (1.3, 1.9, 2.5):
        ours = 2 * get_loss("tweedie", power).mean(mean, f)
        assert ours == pytest.approx(mean_tweedie_deviance(mean, np.exp(f), power=power))


def test_flooding_needs_a_level():
    with pytest.raises(ValueError, match=">= 0"):
        flooding(abs, np.sign, -1)
