"""Section 1.B of the course: metrics, the worked numbers T01-T04 and T54, and the corrections they need."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons

from hyperplan.metrics import (
    accuracy_score,
    auc,
    auprg_score,
    average_precision_score,
    balanced_error_rate,
    calinski_harabasz_score,
    confusion_matrix,
    coverage_score,
    elbow,
    explained_variance_ratio,
    f1_score,
    false_discovery_proportion,
    interpolated_precision,
    matthews_corrcoef,
    mean_negative_log_density,
    mean_squared_error,
    metric_axioms,
    precision_recall_curve,
    precision_recall_gain_curve,
    precision_score,
    r2_score,
    recall_score,
    residual_variance,
    roc_auc_score,
    roc_curve,
    root_mean_squared_error,
    silhouette_samples,
    silhouette_score,
    stress,
)

CELLS = {"A": (700, 100, 50, 150), "B": (760, 40, 80, 120)}  # TN, FP, FN, TP of the two thresholds


def mails(threshold):
    """Truth and prediction of the mail exercise: 200 of 1000 mails are important."""
    cells = CELLS[threshold]
    return np.repeat([0, 0, 1, 1], cells), np.repeat([0, 1, 0, 1], cells)


# ---- regression


def test_B1_E03_rmse_of_the_mean_is_the_standard_deviation():
    """mean(y^2) - mean(y)^2 is the variance; the RMSE is its root, and the mark that a model has to beat."""
    y = np.random.default_rng(0).normal(size=50)
    mean = np.full(50, y.mean())
    assert mean_squared_error(y, mean) == pytest.approx(np.mean(y**2) - y.mean() ** 2, rel=1e-12)
    assert root_mean_squared_error(y, mean) == pytest.approx(y.std(), rel=1e-12)
    assert root_mean_squared_error(y, mean) != pytest.approx(y.var(), rel=1e-3)


def test_B2_r2_is_one_when_perfect_zero_for_the_mean_and_negative_below():
    y = np.array([1.0, 2.0, 6.0])
    assert r2_score(y, y) == 1 and r2_score(y, np.full(3, 3.0)) == 0 and r2_score(y, y[::-1]) < 0
    assert r2_score(y, [1.0, 3.0, 5.0]) == pytest.approx(1 - 2 / 14, rel=1e-12)


def test_B2_constant_truth():
    assert r2_score([2.0, 2.0], [2.0, 2.0]) == 1 and r2_score([2.0, 2.0], [2.0, 3.0]) == 0
    assert r2_score([2.0, 2.0], [2.0, 3.0], force_finite=False) == -np.inf


# ---- labels


@pytest.mark.parametrize(
    "threshold, accuracy, precision, recall, fpr, mcc",
    [("A", 0.85, 0.60, 0.75, 0.125, 0.57735), ("B", 0.88, 0.75, 0.60, 0.05, 0.60010)],
)
def test_T01_B3_B4_B5_mail_exercise(threshold, accuracy, precision, recall, fpr, mcc):
    truth, guess = mails(threshold)
    assert confusion_matrix(truth, guess).ravel().tolist() == list(CELLS[threshold])  # [[TN, FP], [FN, TP]]
    assert accuracy_score(truth, guess) == accuracy
    assert precision_score(truth, guess) == precision and recall_score(truth, guess) == recall
    assert f1_score(truth, guess) == pytest.approx(2 / 3, rel=1e-12)
    assert roc_curve(truth, guess)[0][1] == fpr
    assert matthews_corrcoef(truth, guess) == pytest.approx(mcc, abs=5e-6)


def test_E13_recall_is_the_share_of_the_actual_positives():
    truth, guess = mails("A")
    assert recall_score(truth, guess) == guess[truth == 1].mean()
    assert recall_score(truth, guess) != truth[guess == 1].mean() == precision_score(truth, guess)


def test_E14_who_wants_to_read_most_important_mails_takes_A():
    """B is the precise one: fewer irrelevant mails among those read, but more important ones missed."""
    read = {threshold: mails(threshold) for threshold in CELLS}
    assert recall_score(*read["A"]) > recall_score(*read["B"])
    assert precision_score(*read["A"]) < precision_score(*read["B"])


def test_B4_nothing_to_divide_by():
    assert precision_score([0, 1], [0, 0], zero_division=0.0) == 0
    assert np.isnan(precision_score([0, 1], [0, 0], zero_division=np.nan))
    truth, guess = mails("A")
    assert false_discovery_proportion(truth, guess) == pytest.approx(0.4, rel=1e-12)


@given(st.floats(0.01, 1), st.floats(0.01, 1))
def test_B5_harmonic_mean_is_at_most_the_arithmetic_one(precision, recall):
    """F1 from its counts: with TP = 1 per unit, FP and FN are what the two shares leave."""
    weight = [1.0, 1 / precision - 1, 1 / recall - 1]
    f1 = f1_score([1, 0, 1], [1, 1, 0], sample_weight=weight)
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall), rel=1e-9)
    assert f1 <= (precision + recall) / 2 + 1e-12


def test_T04_always_no_to_rare_events():
    truth = np.repeat([0, 1], [990, 10])
    guess = np.zeros(1000, dtype=int)
    assert accuracy_score(truth, guess) == 0.99 and recall_score(truth, guess) == 0
    assert roc_auc_score(truth, guess) == 0.5


@pytest.mark.parametrize("missed, false_alarms, printed", [(1, 4, 0.0471), (2, 2, 0.0406)])
def test_B9_T54_E123_the_printed_errors_are_balanced(missed, false_alarms, printed):
    """44 positives and 56 negatives: no number of errors out of 100 gives 4.71 %."""
    truth = np.repeat([1, 0], [44, 56])
    guess = truth.copy()
    guess[:missed], guess[44 : 44 + false_alarms] = 0, 1
    assert balanced_error_rate(truth, guess) == pytest.approx(printed, abs=5e-5)
    assert balanced_error_rate(truth, guess) == pytest.approx((missed / 44 + false_alarms / 56) / 2, rel=1e-12)


# ---- scores


def test_T03_area_and_average_precision():
    y, scores = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    assert roc_auc_score(y, scores) == 0.75
    assert average_precision_score(y, scores) == pytest.approx(0.83333, abs=5e-6)


def test_B6_area_is_the_chance_of_the_right_order_and_that_under_the_curve():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    scores = np.round(y + rng.normal(size=300), 1)  # with ties
    gaps = scores[y == 1][:, None] - scores[y == 0]
    chance = np.mean(gaps > 0) + np.mean(gaps == 0) / 2
    fpr, tpr, _ = roc_curve(y, scores)
    assert roc_auc_score(y, scores) == pytest.approx(chance, rel=1e-12) == pytest.approx(auc(fpr, tpr), rel=1e-12)
    assert (fpr[0], tpr[0], fpr[-1], tpr[-1]) == (0, 0, 1, 1)


def test_B6_perfect_scores_pass_the_corner():
    fpr, tpr, _ = roc_curve([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])
    assert list(zip(fpr.tolist(), tpr.tolist())) == [(0, 0), (0, 0.5), (0, 1), (1, 1)]
    assert roc_auc_score([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9]) == 1


def test_E15_both_rates_of_a_uniform_score_fall_with_the_threshold():
    """Rule "score > p": both rates are 1 - p, so that (FPR, TPR) runs along the diagonal from (1, 1) to (0, 0)."""
    rng = np.random.default_rng(1)
    y, scores = rng.integers(0, 2, 100_000), rng.random(100_000)
    fpr, tpr, thresholds = roc_curve(y, scores, drop_intermediate=False)
    for p in (0.1, 0.5, 0.9):
        at = np.searchsorted(-thresholds, -p)  # the last threshold above p
        error = 5 * 0.5 / np.sqrt(50_000)  # five standard errors of a share of half the rows
        assert fpr[at] == pytest.approx(1 - p, abs=error) and tpr[at] == pytest.approx(1 - p, abs=error)
    assert roc_auc_score(y, scores) == pytest.approx(0.5, abs=0.01)


def test_E74_the_abscissa_is_the_false_positive_rate_not_the_false_discovery_proportion():
    truth, guess = mails("A")
    fpr, tpr, _ = roc_curve(truth, guess)
    assert (fpr[1], tpr[1]) == (0.125, 0.75)
    assert false_discovery_proportion(truth, guess) == pytest.approx(0.40, rel=1e-12) != fpr[1]


def test_B7_E16_recall_first_precision_second_and_chance_is_the_share_of_positives():
    rng = np.random.default_rng(2)
    y, scores = (rng.random(200_000) < 0.2).astype(int), rng.random(200_000)
    precision, recall, _ = precision_recall_curve(y, scores)
    assert (
        recall[0] == 1 and precision[0] == pytest.approx(y.mean(), rel=1e-12) and (recall[-1], precision[-1]) == (0, 1)
    )
    assert (np.diff(recall) <= 0).all()
    for share in (0.25, 0.5, 0.75):
        assert precision[np.searchsorted(-recall, -share)] == pytest.approx(0.2, abs=0.01)  # errors below 0.002
    assert average_precision_score(y, scores) == pytest.approx(0.2, abs=0.01)


def test_E16_between_two_points_precision_is_below_the_straight_line():
    """10 true positives of 10, then 20 of 40: half way there are 15 of 25, a precision of 0.6 and not 0.75."""
    y = np.repeat([1, 1, 0], [10, 10, 20])
    scores = np.repeat([0.9, 0.1, 0.1], [10, 10, 20])
    precision, recall, _ = precision_recall_curve(y, scores)
    assert interpolated_precision(recall, precision, [0.5, 0.75, 1.0]) == pytest.approx([1, 15 / 25, 0.5])
    assert 15 / 25 < (1 + 0.5) / 2


@pytest.mark.parametrize("threshold, gains", [("A", (5 / 6, 11 / 12)), ("B", (11 / 12, 5 / 6))])
def test_T02_B8_gains_of_the_mail_exercise(threshold, gains):
    truth, guess = mails(threshold)
    precision_gain, recall_gain, thresholds = precision_recall_gain_curve(truth, guess)
    at = list(thresholds).index(1)
    assert (precision_gain[at], recall_gain[at]) == pytest.approx(gains, rel=1e-12)
    f1 = f1_score(truth, guess)
    assert (f1 - 0.2) / (0.8 * f1) == pytest.approx(0.875, rel=1e-12) == pytest.approx(np.mean(gains), rel=1e-12)


def test_B8_the_baseline_is_the_same_for_every_share_of_positives():
    for positives in (5, 50, 95):
        y = np.repeat([1, 0], [positives, 100 - positives])
        precision_gain, recall_gain, _ = precision_recall_gain_curve(y, np.ones(100))
        assert (precision_gain[-1], recall_gain[-1]) == pytest.approx((0, 1), abs=1e-12)
        assert auprg_score(y, np.ones(100)) == pytest.approx(0, abs=1e-12) and auprg_score(y, y) == pytest.approx(1)


# ---- clusters


def test_B10_E37_silhouettes_by_hand():
    """b is the smallest *mean* distance to another cluster: cluster 2 has the nearest point, 1 the least mean."""
    X = np.array([[0.0], [1.0], [5.0], [5.0], [4.0], [30.0]])
    labels = [0, 0, 1, 1, 2, 2]
    first = silhouette_samples(X, labels)[0]
    assert first == pytest.approx((5 - 1) / 5, rel=1e-12)  # a = 1; means 5 (cluster 1) and 17 (cluster 2)


def test_B10_E37_a_cluster_of_one_and_points_that_coincide_have_zero():
    assert silhouette_samples([[0.0], [1.0], [9.0]], [0, 0, 1])[2] == 0
    assert (silhouette_samples([[1.0], [1.0], [1.0], [1.0]], [0, 0, 1, 1]) == 0).all()


def test_B10_B11_X5_both_scores_prefer_the_wrong_clusters_of_two_moons():
    X, moons = make_moons(600, noise=0.05, random_state=0)
    cut = KMeans(2, n_init=3, random_state=0).fit_predict(X)
    assert silhouette_score(X, cut) > silhouette_score(X, moons) + 0.1
    assert calinski_harabasz_score(X, cut) > 1.5 * calinski_harabasz_score(X, moons)
    assert silhouette_samples(X, moons).min() >= -1 and silhouette_samples(X, moons).max() <= 1


def test_B11_calinski_harabasz_is_the_ratio_of_traces():
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1, 2], [10, 20, 30])
    X = rng.normal(size=(60, 2)) + labels[:, None]
    centres = np.array([X[labels == k].mean(axis=0) for k in range(3)])
    within = sum(np.trace(np.cov(X[labels == k].T, bias=True)) * (labels == k).sum() for k in range(3))
    between = sum((labels == k).sum() * ((centres[k] - X.mean(axis=0)) ** 2).sum() for k in range(3))
    assert calinski_harabasz_score(X, labels) == pytest.approx(between / within * 57 / 2, rel=1e-12)


# ---- embeddings and densities


def scaled(X, dimension):
    """Classical scaling of the rows of X, and the eigenvalues."""
    values, vectors = np.linalg.eigh((X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T)
    kept = slice(-dimension, None)
    return vectors[:, kept] * np.sqrt(values[kept]), values[::-1]


def test_B12_stress_of_classical_scaling_is_what_the_dropped_eigenvalues_leave():
    X = np.random.default_rng(4).normal(size=(40, 5)) * [5.0, 3.0, 2.0, 1.0, 0.5]
    for dimension in (1, 2, 4):
        Y, values = scaled(X, dimension)
        assert stress(X, Y) == pytest.approx(np.sqrt((values[dimension:] ** 2).sum()), rel=1e-9)


def test_B12_residual_variance_bends_at_the_dimension_of_the_data():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 3)) @ np.linalg.qr(rng.normal(size=(8, 3)))[0].T + 0.02 * rng.normal(size=(200, 8))
    curve = [residual_variance(X, scaled(X, dimension)[0]) for dimension in range(1, 7)]
    before = np.linalg.norm(X[:, None] - X, axis=2)[np.triu_indices(200, 1)]
    Y = scaled(X, 2)[0]
    after = np.linalg.norm(Y[:, None] - Y, axis=2)[np.triu_indices(200, 1)]
    assert curve[1] == pytest.approx(1 - np.corrcoef(before, after)[0, 1] ** 2, rel=1e-9)
    assert elbow(curve) + 1 == 3


def test_B13_kept_variance_leaves_negative_eigenvalues_out_of_both_sums():
    assert explained_variance_ratio([9.3, 0.7]) == pytest.approx([0.93, 0.07])
    assert explained_variance_ratio([3.0, 1.0, -2.0]).tolist() == [0.75, 0.25, 0]


def test_B14_the_true_density_loses_least_and_its_region_covers():
    z = np.random.default_rng(6).normal(size=20_000)
    true, wide = (mean_negative_log_density(stats.norm.logpdf(z, scale=scale)) for scale in (1.0, 1.5))
    assert true < wide and true == pytest.approx(0.5 * np.log(2 * np.pi * np.e), abs=0.03)  # entropy, four errors
    assert coverage_score(z, -1.96, 1.96) == pytest.approx(0.95, abs=0.006)  # four errors


@pytest.mark.parametrize("name", ["euclidean", "manhattan", "chebyshev", "canberra", "hamming"])
@given(arrays(np.float64, (6, 3), elements=st.floats(-100, 100).map(lambda value: round(value, 3))))
@settings(max_examples=40, deadline=None)
def test_B15_axioms_hold(name, points):
    assert metric_axioms(name, points, tol=1e-9).is_metric


def test_B15_E52_cosine_is_no_distance():
    """1 - cos fails the triangle inequality, and is zero between different points of one ray."""
    found = metric_axioms("cosine", [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    assert not found.triangle and found.witness["triangle"][1] == pytest.approx(1 - 2 * (1 - np.sqrt(0.5)), rel=1e-12)
    assert not metric_axioms("cosine", [[1.0, 1.0], [2.0, 2.0]]).identity
    assert not metric_axioms("sqeuclidean", [[0.0], [1.0], [2.0]]).triangle
