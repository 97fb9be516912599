"""Bootstrap intervals and the bias-corrected score of a selection."""

import warnings

import numpy as np
import pytest
import sklearn.metrics as theirs
from scipy import stats

import hyperplan.metrics as ours
from hyperplan.evaluation import bootstrap_bias_corrected, bootstrap_interval
from hyperplan.evaluation._resamples import Sampler
from hyperplan.evaluation._weighted_metrics import QUICK, weighted_metric

N = 80
RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 2, size=N)
PROBABILITIES = np.clip(0.3 * LABELS + RNG.uniform(size=N) * 0.7, 0.01, 0.99).round(2)  # rounded: with ties
NUMBERS = RNG.normal(size=N)
INPUTS = {
    "accuracy_score": (RNG.integers(0, 3, size=N), RNG.integers(0, 3, size=N)),
    "zero_one_loss": (LABELS, (PROBABILITIES > 0.5).astype(int)),
    "balanced_accuracy_score": (
        np.array(["a", "b", "c"])[RNG.integers(0, 3, N)],
        np.array(["a", "b", "c"])[RNG.integers(0, 3, N)],
    ),
    "matthews_corrcoef": (RNG.integers(0, 3, size=N), RNG.integers(0, 3, size=N)),
    **{name: (LABELS, (PROBABILITIES > 0.5).astype(int)) for name in ("f1_score", "precision_score", "recall_score")},
    **{
        name: (LABELS, PROBABILITIES)
        for name in ("roc_auc_score", "average_precision_score", "log_loss", "brier_score_loss")
    },
    **{
        name: (NUMBERS, NUMBERS + RNG.normal(size=N))
        for name in ("r2_score", "mean_squared_error", "root_mean_squared_error", "mean_absolute_error")
    },
}


def test_every_quick_metric_is_tested():
    assert INPUTS.keys() == QUICK.keys()


METRICS = [getattr(module, name) for module in (theirs, ours) for name in INPUTS if hasattr(module, name)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: f"{metric.__module__.split('.')[0]}-{metric.__name__}")
def test_quick_metrics_equal_the_metric_on_the_repeated_rows(metric, weighted):
    name = metric.__name__
    weight = np.random.default_rng(5).uniform(0.5, 2, size=N) if weighted else None
    counts = Sampler(N).counts(20, 1)
    quick = weighted_metric(metric, INPUTS[name], weight)(counts)
    plain = weighted_metric(
        lambda y, p, sample_weight=None: metric(y, p, sample_weight=sample_weight), INPUTS[name], weight
    )
    assert quick == pytest.approx(plain(counts), rel=1e-9)  # sums in another order


def test_probabilities_of_several_classes():
    y = RNG.integers(0, 3, size=N)
    p = RNG.dirichlet([1, 1, 1], size=N)
    counts = Sampler(N, strata=y).counts(10, 1)
    quick = weighted_metric(theirs.log_loss, (y, p))(counts)
    assert quick == pytest.approx(weighted_metric(lambda a, b: theirs.log_loss(a, b), (y, p))(counts), rel=1e-9)
    assert bootstrap_interval(theirs.log_loss, y, p, strata=y).value == theirs.log_loss(y, p)


def test_resamples_respect_strata_and_groups():
    strata = np.repeat(["x", "y"], [60, 20])
    counts = Sampler(N, strata=strata).counts(50, 0)
    assert (counts[:, :60].sum(axis=1) == 60).all() and (counts.sum(axis=1) == N).all()
    groups = np.arange(N) // 4
    counts = Sampler(N, groups=groups).counts(50, 0)
    assert (counts.reshape(50, 20, 4) == counts.reshape(50, 20, 4)[:, :, :1]).all()
    free = Sampler(N).counts(4000, 0)
    assert free.mean(axis=0) == pytest.approx(np.ones(N), abs=0.08)  # 5 standard errors of a mean of 4000 draws
    assert np.mean(free == 0) == pytest.approx((1 - 1 / N) ** N, abs=0.01)


@pytest.mark.parametrize("statistic", [np.mean, np.std], ids=["mean", "std"])
@pytest.mark.parametrize("ours_name, scipys", [("bca", "BCa"), ("percentile", "percentile")])
def test_intervals_equal_scipys_up_to_resampling(statistic, ours_name, scipys):
    """Other random numbers; the end points of 20 000 resamples agree to about 3 % of the width."""
    data = np.random.default_rng(2).exponential(size=40)
    found = bootstrap_interval(statistic, data, method=ours_name, n_resamples=20_000)
    rng = np.random.default_rng(9)
    expected = stats.bootstrap((data,), statistic, method=scipys, n_resamples=20_000, rng=rng).confidence_interval
    width = expected.high - expected.low
    assert found.low == pytest.approx(expected.low, abs=0.03 * width)
    assert found.high == pytest.approx(expected.high, abs=0.03 * width)


def test_bca_of_the_spatial_test_data():
    """Efron and Tibshirani (1993, chapter 14): variance of 26 scores, 90 % intervals percentile (100.8, 233.9), BCa
    (115.8, 259.6), from 2000 resamples; ours from 20 000 lie within 5 units, the noise of the quantiles of theirs."""
    a = [48, 36, 20, 29, 42, 42, 20, 42, 22, 41, 45, 14, 6, 0, 33, 28, 34, 4, 32, 24, 47, 41, 24, 26, 30, 41]
    options = {"n_resamples": 20_000, "level": 0.9}
    assert np.var(a) == pytest.approx(171.5, abs=0.05)
    assert bootstrap_interval(np.var, a, method="percentile", **options)[1:3] == pytest.approx((100.8, 233.9), abs=5)
    assert bootstrap_interval(np.var, a, method="bca", **options)[1:3] == pytest.approx((115.8, 259.6), abs=5)


def test_same_bits_for_any_number_of_threads_and_frames():
    import pandas as pd

    y, p = np.tile(LABELS, 150), np.tile(PROBABILITIES, 150)  # several chunks
    one = bootstrap_interval(theirs.roc_auc_score, y, p, n_jobs=1, n_resamples=200)
    assert bootstrap_interval(theirs.roc_auc_score, y, p, n_jobs=3, n_resamples=200) == one
    assert bootstrap_interval(theirs.roc_auc_score, pd.Series(y), pd.Series(p), n_resamples=200) == one
    assert bootstrap_interval(theirs.roc_auc_score, y, p, random_state=1, n_resamples=200) != one


def test_blocks_of_the_jackknife_change_little():
    """More than 1000 rows: blocks; the acceleration is small, and BCa stays close to the percentile interval."""
    data = np.random.default_rng(0).normal(size=3000)
    bca, plain = (bootstrap_interval(np.mean, data, method=m, n_resamples=500) for m in ("bca", "percentile"))
    assert bca[1:3] == pytest.approx(plain[1:3], abs=0.01)  # the width is 0.07


def test_weights_repeat_rows():
    """Integer weights: the value is that of the repeated rows."""
    weight = np.random.default_rng(0).integers(1, 4, size=N)
    found = bootstrap_interval(theirs.roc_auc_score, LABELS, PROBABILITIES, sample_weight=weight, n_resamples=100)
    assert found.value == pytest.approx(
        theirs.roc_auc_score(np.repeat(LABELS, weight), np.repeat(PROBABILITIES, weight)), rel=1e-12
    )
    with pytest.raises(TypeError, match="sample_weight"):
        bootstrap_interval(np.median, NUMBERS, sample_weight=weight)


def test_rare_classes_need_strata():
    y = np.zeros(40, dtype=int)
    y[0] = 1
    scores = np.linspace(0, 1, 40)
    with pytest.raises(ValueError, match=r"undefined on \d+ of 1000 resamples.*strata=y_true"):
        bootstrap_interval(theirs.roc_auc_score, y, scores)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bootstrap_interval(theirs.roc_auc_score, y, scores, strata=y).value == 0.0


@pytest.mark.parametrize(
    "arrays, options, message",
    [
        ((), {}, "give the arrays"),
        (([1.0, 2.0], [1.0]), {}, "inconsistent numbers"),
        (([1.0],), {}, "at least two rows"),
        (([1.0, 2.0],), {"method": "studentized"}, "method must be one of"),
        (([1.0, 2.0],), {"n_resamples": 1}, "at least 2"),
        (([1.0, 2.0],), {"strata": [0, 1], "groups": [0, 1]}, "strata or groups"),
        (([1.0, 2.0],), {"groups": [0, 0]}, "one group"),
        (([1.0, 2.0],), {"strata": [0, 1, 1]}, "one label per row"),
    ],
)
def test_bad_arguments(arrays, options, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(np.mean, *arrays, **options)


def test_bootstrap_intervals_cover():
    """Accuracy 0.8 on 100 rows, 400 test sets, 95 %: between 0.95 - 4.6 errors (discreteness costs a point) and 1."""
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(400):
        right = rng.random(100) < 0.8
        hits += 0.8 in bootstrap_interval(theirs.accuracy_score, np.ones(100), right.astype(float), n_resamples=300)
    assert hits / 400 > 0.90


# ---- bias-corrected selection


def test_bbc_by_its_definition():
    """The same resamples, one after the other, with the metric itself."""
    rng = np.random.default_rng(4)
    candidates = [np.clip(0.2 * LABELS + rng.uniform(size=N) * 0.8, 0, 1) for _ in range(6)]
    found = bootstrap_bias_corrected(candidates, LABELS, theirs.roc_auc_score, n_resamples=60, random_state=7)

    def auc(y, p):  # not known by name: the general way
        return theirs.roc_auc_score(y, p)

    slow = bootstrap_bias_corrected(candidates, LABELS, auc, n_resamples=60, random_state=7)
    assert found[:4] == pytest.approx(slow[:4], rel=1e-12) and found.shares == slow.shares  # rounding only
    assert found.naive == pytest.approx(max(theirs.roc_auc_score(LABELS, p) for p in candidates), rel=1e-12)
    assert found.low < found.value < found.high and sum(found.shares.values()) == pytest.approx(1)


def test_one_candidate_is_not_flattered():
    losses = np.random.default_rng(0).exponential(size=(300, 1))
    found = bootstrap_bias_corrected(losses, n_resamples=2000)
    assert found.optimism == pytest.approx(0, abs=4 * losses.std() / np.sqrt(300) / np.sqrt(2000) * 2)
    assert found.shares == {0: 1.0}


def test_selection_bias_is_removed():
    """Forty equally good candidates of accuracy 0.7, 60 data sets of 100 rows: the naive mean is above 0.75; BBC's mean
    has a standard error of about 0.006 (0.046 / sqrt(60)) and lies within three of them."""
    rng = np.random.default_rng(0)
    found = [bootstrap_bias_corrected((rng.random((100, 40)) < 0.3), n_resamples=100) for _ in range(60)]
    assert np.mean([1 - one.naive for one in found]) > 0.75
    assert np.mean([1 - one.value for one in found]) == pytest.approx(0.7, abs=0.018)
    covered = np.mean([one.low <= 0.3 <= one.high for one in found])
    assert covered > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 60)


def test_repetitions_names_losses_and_threads():
    import pandas as pd

    rng = np.random.default_rng(0)
    losses = pd.DataFrame({"a": rng.normal(1, 1, 50), "b": rng.normal(0, 1, 50)})
    found = bootstrap_bias_corrected(losses, n_resamples=200, n_jobs=1)
    assert found.selected == "b" and found.shares["b"] > 0.9 and "b: " in str(found)
    assert found == bootstrap_bias_corrected(losses.to_dict("series"), n_resamples=200, n_jobs=2)
    twice = {"a": (PROBABILITIES, PROBABILITIES), "b": (1 - PROBABILITIES, PROBABILITIES)}
    auc = theirs.roc_auc_score(LABELS, PROBABILITIES)
    repeated = bootstrap_bias_corrected(twice, LABELS, theirs.roc_auc_score, n_resamples=50)
    assert repeated.selected == "a" and repeated.naive == pytest.approx(auc, rel=1e-12)
    weight = rng.integers(0, 3, 50)
    heavy = bootstrap_bias_corrected(losses, sample_weight=weight, n_resamples=50)
    assert heavy.naive == pytest.approx(np.average(losses["b"], weights=weight), rel=1e-12)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([np.ones(4)], None, np.mean), "metric needs y_true"),
        (({},), "holds no candidate"),
        ((np.ones(5),), "column per candidate"),
        (({"a": [1, 2], "b": [1, 2, 3]},), "inconsistent numbers"),
        (({"a": [1, np.nan]},), "loss of row 1"),
    ],
)
def test_bad_selections(arguments, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_bias_corrected(*arguments)
