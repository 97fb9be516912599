"""Regression metrics beside scikit-learn's, and their edge cases.

Tolerance: both add the same n terms in float64, in another order; n * eps is below 1e-12 for the sizes here.
"""

import numpy as np
import pytest
import sklearn.metrics as reference
from sklearn.exceptions import UndefinedMetricWarning

import hyperplan.metrics as ours
from hyperplan import thread_limit
from hyperplan.metrics._regression_targets import BLOCK, THREADED

CLOSE = {"rtol": 1e-12, "atol": 1e-14}
MULTIOUTPUT = [
    "mean_squared_error",
    "root_mean_squared_error",
    "mean_squared_log_error",
    "root_mean_squared_log_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "median_absolute_error",
    "mean_pinball_loss",
    "r2_score",
    "explained_variance_score",
    "d2_pinball_score",
    "d2_absolute_error_score",
]
SINGLE = ["mean_poisson_deviance", "mean_gamma_deviance", "mean_tweedie_deviance", "d2_tweedie_score"]


def positive(rng, shape):
    return rng.gamma(2.0, size=shape) + 0.1


def both(name, *arguments, **options):
    return getattr(ours, name)(*arguments, **options), getattr(reference, name)(*arguments, **options)


@pytest.mark.parametrize("name", MULTIOUTPUT)
@pytest.mark.parametrize("multioutput", ["raw_values", "uniform_average", [0.3, 0.1, 2.0]])
@pytest.mark.parametrize("weighted", [False, True])
def test_several_outputs(name, multioutput, weighted):
    rng = np.random.default_rng(0)
    truth, prediction = positive(rng, (41, 3)), positive(rng, (41, 3))
    weight = rng.integers(0, 4, 41).astype(float) if weighted else None
    found, expected = both(name, truth, prediction, sample_weight=weight, multioutput=multioutput)
    np.testing.assert_allclose(found, expected, **CLOSE)
    assert type(found) is type(expected)


@pytest.mark.parametrize("name", MULTIOUTPUT + SINGLE)
@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
def test_one_output_of_any_type(name, dtype):
    """float32: scikit-learn adds in float32, hyperplan in float64, hence the looser tolerance (50 terms)."""
    rng = np.random.default_rng(1)
    truth = (10 * positive(rng, 50) + 1).astype(dtype)
    prediction = (10 * positive(rng, 50) + 1).astype(dtype)
    found, expected = both(name, truth, prediction)
    np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype is np.float32 else 1e-12)
    assert isinstance(found, float)


@pytest.mark.parametrize("power", [-1.5, 0, 1, 1.2, 2, 3, 3.5])
@pytest.mark.parametrize("name", ["mean_tweedie_deviance", "d2_tweedie_score"])
def test_powers(name, power):
    rng = np.random.default_rng(2)
    truth, prediction, weight = positive(rng, (3, 30))
    found, expected = both(name, truth, prediction, sample_weight=weight, power=power)
    np.testing.assert_allclose(found, expected, **CLOSE)


@pytest.mark.parametrize("alpha", [0.0, 0.05, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["mean_pinball_loss", "d2_pinball_score"])
def test_levels(name, alpha, weighted):
    rng = np.random.default_rng(3)
    truth, prediction = rng.normal(size=(2, 40))
    weight = rng.integers(0, 3, 40).astype(float) if weighted else None
    found, expected = both(name, truth, prediction, alpha=alpha, sample_weight=weight)
    np.testing.assert_allclose(found, expected, **CLOSE)


@pytest.mark.parametrize("name", ["r2_score", "explained_variance_score"])
@pytest.mark.parametrize("multioutput", ["raw_values", "uniform_average", "variance_weighted"])
@pytest.mark.parametrize("force_finite", [True, False])
def test_constant_outputs(name, multioutput, force_finite):
    truth = np.array([[1.0, 5.0, 0.0], [2.0, 5.0, 0.0], [4.0, 5.0, 0.0]])
    prediction = np.array([[1.0, 5.0, 0.0], [2.5, 5.0, 1.0], [4.0, 5.0, 0.0]])
    with np.errstate(all="ignore"):  # scikit-learn warns of the division by zero
        found, expected = both(name, truth, prediction, multioutput=multioutput, force_finite=force_finite)
    np.testing.assert_allclose(found, expected, **CLOSE)


@pytest.mark.parametrize("name", ["r2_score", "d2_pinball_score", "d2_absolute_error_score", "d2_tweedie_score"])
def test_one_row_is_too_few_for_a_share(name):
    with pytest.warns(UndefinedMetricWarning, match="not well-defined with less than two samples"):
        assert np.isnan(getattr(ours, name)([1.0], [2.0]))


def test_weights_are_copies():
    rng = np.random.default_rng(4)
    truth, prediction = positive(rng, (2, 30))
    copies = rng.integers(0, 4, 30)
    for name in MULTIOUTPUT + SINGLE:
        metric = getattr(ours, name)
        repeated = metric(np.repeat(truth, copies), np.repeat(prediction, copies))
        weighted = metric(truth, prediction, sample_weight=copies)
        np.testing.assert_allclose(weighted, repeated, **CLOSE, err_msg=name)


@pytest.mark.parametrize("n", [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7, THREADED * BLOCK + 5])
def test_blocks_and_threads(n):
    """The border of a block moves no more than the last bits, the number of threads none."""
    rng = np.random.default_rng(5)
    truth, prediction, weight = positive(rng, (3, n))
    for name in ("mean_squared_error", "r2_score", "mean_gamma_deviance"):
        with thread_limit(1):
            alone = getattr(ours, name)(truth, prediction, sample_weight=weight)
        with thread_limit(4):
            assert getattr(ours, name)(truth, prediction, sample_weight=weight) == alone
        expected = getattr(reference, name)(truth, prediction, sample_weight=weight)
        np.testing.assert_allclose(alone, expected, rtol=1e-10)  # n * eps


@pytest.mark.parametrize(
    "name, options, message",
    [
        ("mean_squared_error", {"multioutput": "mean"}, "The 'multioutput' parameter of mean_squared_error must be"),
        ("mean_squared_error", {"multioutput": "variance_weighted"}, "must be a str among"),
        ("mean_squared_error", {"multioutput": [1.0]}, "Custom weights are useful only in multi-output cases"),
        ("mean_squared_error", {"sample_weight": [1.0]}, "inconsistent numbers of samples"),
        ("mean_pinball_loss", {"alpha": 1.5}, "must be a float in the range"),
        ("mean_tweedie_deviance", {"power": 0.5}, "The 'power' parameter of mean_tweedie_deviance"),
        ("mean_poisson_deviance", {"y_pred": [0.0, 1.0]}, "non-negative y and strictly positive y_pred"),
        ("mean_gamma_deviance", {"y_true": [0.0, 1.0]}, "strictly positive y and y_pred"),
        ("mean_squared_log_error", {"y_true": [-1.0, 1.0]}, "^Mean Squared Logarithmic Error cannot be used"),
        ("max_error", {"y_true": np.ones((2, 2)), "y_pred": np.ones((2, 2))}, "Multioutput not supported in max_error"),
        ("r2_score", {"y_true": np.ones((2, 2))}, r"different number of output \(2!=1\)"),
        ("r2_score", {"y_pred": [np.nan, 1.0]}, "contains NaN"),
        ("r2_score", {"force_finite": "yes"}, "must be an instance of 'bool'"),
    ],
)
def test_bad_input(name, options, message):
    arguments = {"y_true": [1.0, 2.0], "y_pred": [1.5, 1.0], **options}
    with pytest.raises(ValueError, match=message):
        getattr(ours, name)(**arguments)


def test_weights_that_cancel_are_refused():
    with pytest.raises(ZeroDivisionError, match="Weights sum to zero"):
        ours.mean_squared_error([1.0, 2.0], [1.0, 1.0], sample_weight=[1.0, -1.0])


def test_max_error():
    assert ours.max_error([1.0, -4.0, 2.0], [1.5, 1.0, 2.0]) == 5.0
