"""Tests of two models on one table, and intervals of a share."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.proportion import proportion_confint

from hyperplan.evaluation import (
    bayesian_correlated_t,
    binomial_interval,
    corrected_t_interval,
    corrected_t_test,
    delong,
    delong_interval,
    five_by_two,
    five_by_two_test,
    mcnemar,
)
from hyperplan.linear_model import LinearRegression, Ridge

# ---- shares


@pytest.mark.parametrize("method, theirs", [("exact", "beta"), ("wilson", "wilson")])
@pytest.mark.parametrize("k, n", [(0, 10), (10, 10), (1, 10), (7, 20), (90, 100), (4999, 10_000)])
def test_binomial_intervals_equal_statsmodels(method, theirs, k, n):
    for level in (0.8, 0.95):
        found = binomial_interval(k, n, method=method, level=level)
        expected = np.clip(proportion_confint(k, n, alpha=1 - level, method=theirs), 0, 1)
        assert found[1:3] == pytest.approx(expected, rel=1e-9, abs=1e-12)  # the same quantiles of the beta law
        assert found.value == k / n and k / n in found


def test_published_exact_interval():
    """Clopper and Pearson's rule of three: no success in ten gives 0 .. 1 - 0.025^(1/10) = 0.3085."""
    assert binomial_interval(0, 10)[:3] == pytest.approx((0, 0, 0.3085), abs=5e-5)


def test_exact_intervals_cover_at_every_share():
    n = 25
    intervals = [binomial_interval(k, n) for k in range(n + 1)]
    for share in np.linspace(0.01, 0.99, 60):
        inside = np.array([share in interval for interval in intervals])
        assert stats.binom.pmf(np.arange(n + 1), n, share)[inside].sum() >= 0.95


@pytest.mark.parametrize("k, n", [(-1, 5), (6, 5), (0.5, 5), (0, 0), (np.nan, 5), (1, np.inf)])
def test_impossible_counts(k, n):
    with pytest.raises(ValueError, match="whole numbers"):
        binomial_interval(k, n)


# ---- Bayesian correlated t


def test_posterior_is_the_corrected_t_read_as_a_probability():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.8, 0.02, 10), rng.normal(0.79, 0.02, 10)
    found = bayesian_correlated_t(a, b, 1 / 9)
    p = corrected_t_test(a - b, 1 / 9)[1]
    assert min(found.left, found.right) == pytest.approx(p / 2, rel=1e-10) and found.rope == pytest.approx(0, abs=1e-12)
    assert found[3:] == corrected_t_interval(a - b, 1 / 9)[:3]


def test_posterior_probabilities_by_the_student_law():
    differences = np.array([0.01, 0.02, 0.00, 0.03, 0.01])
    found = bayesian_correlated_t(differences, np.zeros(5), 0.25, rope=0.01)
    scale = np.sqrt((1 / 5 + 0.2 / 0.8) * differences.var(ddof=1))  # rho = 0.2
    law = stats.t(4, differences.mean(), scale)
    assert found.left == pytest.approx(law.cdf(-0.01), rel=1e-10)
    assert found.right == pytest.approx(law.sf(0.01), rel=1e-10)
    assert found.left + found.rope + found.right == pytest.approx(1, rel=1e-12)


def test_posterior_without_spread_and_bad_arguments():
    assert bayesian_correlated_t([0.5, 0.5], [0.5, 0.5], 0.25)[:3] == (0, 1, 0)
    assert bayesian_correlated_t([0.6, 0.6], [0.5, 0.5], 0.25, rope=0.01)[:3] == (0, 0, 1)
    with pytest.raises(ValueError, match="same splits"):
        bayesian_correlated_t([1, 2], [1, 2, 3], 0.25)
    with pytest.raises(ValueError, match="half width"):
        bayesian_correlated_t([1, 2], [1, 2], 0.25, rope=-1)


# ---- McNemar


def answers(both, only_first, only_second, neither):
    first = np.repeat([1, 1, 0, 0], [both, only_first, only_second, neither])
    second = np.repeat([1, 0, 1, 0], [both, only_first, only_second, neither])
    return np.ones(first.size, dtype=int), first, second


@pytest.mark.parametrize("table", [(10, 5, 2, 3), (50, 20, 20, 10), (10, 0, 7, 1), (30, 25, 9, 2)])
def test_mcnemar_equals_statsmodels(table):
    both, b, c, neither = table
    for method, options in (
        ("exact", {"exact": True}),
        ("corrected", {"exact": False, "correction": True}),
        ("asymptotic", {"exact": False, "correction": False}),
    ):
        if method == "corrected" and b == c:
            continue  # there statsmodels squares -1 instead of stopping at zero
        expected = statsmodels_mcnemar([[both, b], [c, neither]], **options)
        found = mcnemar(*answers(*table), method=method)
        assert (found.only_first, found.only_second) == (b, c)
        assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-10)


def test_published_mcnemar():
    """Agresti (2002, table 10.1): approval of a prime minister asked twice, 794, 150, 86, 570: chi-squared 17.36."""
    found = mcnemar(*answers(794, 150, 86, 570), method="asymptotic")
    assert found.statistic == pytest.approx(17.36, abs=0.005) and found.p < 1e-4


def test_mid_p_and_classifiers_that_agree():
    """b = 1, c = 5: exact 2 (1 + 6) / 64, mid-p takes away the probability 6 / 64 of the outcome."""
    assert mcnemar(*answers(3, 1, 5, 0), method="mid_p").p == pytest.approx(2 * 7 / 64 - 6 / 64)
    for method in ("exact", "mid_p", "corrected", "asymptotic"):
        assert mcnemar([1, 0], [1, 0], [1, 0], method=method).p == 1
        assert mcnemar(*answers(3, 4, 4, 0), method=method).p == pytest.approx(1)


# ---- 5 x 2


def test_five_by_two_by_hand():
    differences = np.array([[0.02, 0.03], [0.01, 0.04], [0.03, 0.02], [0.02, 0.02], [0.04, 0.01]])
    spread = ((differences[:, 0] - differences[:, 1]) ** 2 / 2).sum()
    t = 0.02 / np.sqrt(spread / 5)
    f = (differences**2).sum() / (2 * spread)
    found_t, found_f = five_by_two_test(differences, test="t"), five_by_two_test(differences)
    assert (found_t.statistic, found_t.p) == pytest.approx((t, 2 * stats.t.sf(t, 5)), rel=1e-10)
    assert (found_f.statistic, found_f.p) == pytest.approx((f, stats.f.sf(f, 10, 5)), rel=1e-10)
    assert found_f.mean == pytest.approx(0.024)


def test_five_by_two_of_equal_models_and_of_unequal_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=100)
    same = five_by_two(Ridge(), Ridge(), X, y)
    assert same.statistic == 0 and same.p == 1 and same.differences.shape == (5, 2)
    apart = five_by_two(LinearRegression(), Ridge(alpha=1000.0), X, y, scoring="r2")
    assert apart.mean > 0.3 and apart.p < 0.001 and "first minus second: +" in str(apart)
    constant = five_by_two_test(np.full((5, 2), 0.1))
    assert constant.statistic == np.inf and constant.p == 0
    with pytest.raises(ValueError, match="5 x 2"):
        five_by_two_test([[1, 2]])


def test_five_by_two_keeps_its_level_for_equally_good_learners():
    """Nearest means on one of two equally useful features, 300 tables, level 0.1: at most 0.1 + 3 standard errors."""
    rng = np.random.default_rng(0)
    rejected = 0
    for _ in range(300):
        y = np.repeat([-1.0, 1.0], 30)
        X = rng.normal(size=(60, 2)) + 0.5 * y[:, None]
        differences = []
        for _ in range(5):
            half = np.concatenate([rng.permutation(30)[:15], 30 + rng.permutation(30)[:15]])
            other = np.setdiff1d(np.arange(60), half)
            for train, test in ((half, other), (other, half)):
                middle = X[train].mean(axis=0)
                right = ((X[test] - middle) * y[test, None] > 0).mean(axis=0)
                differences.append(right[0] - right[1])
        rejected += five_by_two_test(np.reshape(differences, (5, 2))).p < 0.1
    assert rejected / 300 < 0.1 + 3 * np.sqrt(0.1 * 0.9 / 300)


# ---- DeLong


def placements(y, score):
    """The definition: every positive against every negative."""
    wins = (score[y == 1][:, None] > score[y == 0]) + 0.5 * (score[y == 1][:, None] == score[y == 0])
    return wins.mean(axis=1), wins.mean(axis=0)


def test_delong_by_its_definition():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=120)
    a, b = (y + rng.normal(size=120)).round(1), (0.5 * y + rng.normal(size=120)).round(1)  # rounded: with ties
    (a10, a01), (b10, b01) = placements(y, a), placements(y, b)
    covariance = np.cov(a10, b10) / a10.size + np.cov(a01, b01) / a01.size
    found = delong(y, a, b)
    assert found.first.value == pytest.approx(roc_auc_score(y, a), rel=1e-12)
    assert found.second.value == pytest.approx(roc_auc_score(y, b), rel=1e-12)
    z = (a10.mean() - b10.mean()) / np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert (found.z, found.p) == pytest.approx((z, 2 * stats.norm.sf(abs(z))), rel=1e-9)
    half = stats.norm.ppf(0.975) * np.sqrt(covariance[0, 0])
    assert found.first == delong_interval(y, a) and found.first.high == pytest.approx(a10.mean() + half, rel=1e-9)


def test_delong_intervals_cover():
    """Binormal scores with a true area of Phi(1 / sqrt 2); 600 tables of 60 rows, 95 %."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 30)
    truth = stats.norm.cdf(1 / np.sqrt(2))
    hits = [truth in delong_interval(y, y + rng.normal(size=60)) for _ in range(600)]
    assert abs(np.mean(hits) - 0.95) < 0.035  # three standard errors, and the normal law near the end of the scale


def test_mid_p_of_thousands_of_rows():
    """The number of subsets of 2300 rows is beyond float64, the p-value is not."""
    table = answers(1700, 1100, 1200, 0)
    expected = stats.binom.cdf(1100, 2300, 0.5) + stats.binom.cdf(1099, 2300, 0.5)
    assert mcnemar(*table, method="mid_p").p == pytest.approx(expected, rel=1e-9)
    assert mcnemar(*answers(3, 0, 5, 0), method="mid_p").p == pytest.approx(2**-5)


def test_tables_of_one_column_are_not_paired_with_every_row():
    truth, first, second = (np.array(part) for part in answers(3, 1, 5, 0))
    assert mcnemar(truth[:, None], first, second[:, None]) == mcnemar(truth, first, second)
    y, score = np.array([0, 0, 1, 1, 0]), np.array([0.1, 0.4, 0.3, 0.8, 0.2])
    assert delong_interval(y[:, None], score[:, None]) == delong_interval(y, score)
    with pytest.raises(ValueError, match="one value per row"):
        mcnemar(truth, first, np.column_stack([second, second]))
    with pytest.raises(ValueError, match="one value per row"):
        mcnemar([], [], [])


def test_scores_that_are_no_numbers_have_no_ranks():
    with pytest.raises(ValueError, match="row 2 is not a number"):
        delong_interval([0, 0, 1, 1], [0.1, 0.4, np.nan, 0.8])
    assert delong_interval([0, 0, 1, 1], [-np.inf, 0.4, 0.5, np.inf]).value == 1


def test_delong_of_equal_scores_and_bad_classes():
    y = [0, 1, 0, 1, 1]
    assert delong(y, [1, 2, 3, 4, 5], [10, 20, 30, 40, 50]).p == 1
    with pytest.raises(ValueError, match="two classes"):
        delong_interval([0, 1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="two rows of each class"):
        delong_interval([0, 1, 1], [1, 2, 3])
