"""Metrics of probabilities and margins beside scikit-learn's."""

import numpy as np
import pytest
import sklearn.calibration
import sklearn.metrics as reference

import hyperplan.metrics as ours
from hyperplan import thread_limit
from hyperplan.metrics import _probability

from .metrics_common import assert_same_outcome

PROPER = ["log_loss", "brier_score_loss", "d2_log_loss_score", "d2_brier_score"]
NAMES = {"two": [0, 1], "signs": [-1, 1], "several": [0, 1, 2, 5], "words": ["no", "perhaps", "yes"]}


def forecasts(kind, n=120, dtype=np.float64):
    rng = np.random.default_rng(0)
    names = np.array(NAMES[kind])
    codes = rng.integers(0, len(names), n)
    proba = rng.dirichlet(np.ones(len(names)), n) + 0.5 * np.eye(len(names))[codes]
    proba = (proba / proba.sum(axis=1, keepdims=True)).astype(dtype)
    return names[codes], proba, rng.integers(0, 9, n) / 4


@pytest.mark.parametrize("name", PROPER)
@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_of_probabilities(name, kind, weighted):
    y, proba, weight = forecasts(kind)
    options = {"sample_weight": weight if weighted else None}
    assert_same_outcome(name, y, proba, **options)
    assert_same_outcome(name, y.tolist(), proba.tolist(), **options)
    some = y != NAMES[kind][-1]
    assert_same_outcome(name, y[some], proba[some], labels=NAMES[kind])  # a class without rows
    assert_same_outcome(name, y[some], proba[some])


@pytest.mark.parametrize("name", PROPER)
def test_single_precision(name):
    """scikit-learn adds float32 terms in float32: 120 of them agree to 1e-5."""
    y, proba, _ = forecasts("several", dtype=np.float32)
    assert_same_outcome(name, y, proba, tolerance={"rtol": 1e-5})


@pytest.mark.parametrize("name", PROPER)
@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], [False, True], ["no", "yes"]])
def test_probabilities_of_one_of_two_classes(name, labels):
    y, proba, weight = forecasts("two")
    y = np.array(labels)[y]
    for given in (proba[:, 1], proba[:, 1:], proba[:, 1].tolist()):
        assert_same_outcome(name, y, given, sample_weight=weight)
    if "brier" in name:
        assert_same_outcome(name, y, proba[:, 0], pos_label=labels[0])
        assert_same_outcome(name, y, proba[:, 0], pos_label="nothing")


@pytest.mark.parametrize("name", PROPER)
def test_certainty(name):
    for proba in ([1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.5, 0.5, 0.5], [1, 0, 1]):
        assert_same_outcome(name, [1, 0, 1], proba)
    assert_same_outcome(name, [1, 1, 1], [0.2, 0.3, 0.4], **({} if "brier" in name else {"labels": [0, 1]}))


@pytest.mark.parametrize("name", PROPER)
@pytest.mark.parametrize(
    "y, proba",
    [
        ([], []),
        ([1], [0.5]),
        ([0, 1], [0.5]),
        ([0, 1], [0.5, 1.5]),
        ([0, 1], [-0.5, 0.5]),
        ([0, 1], [np.nan, 0.5]),
        ([0, 1, 2], [0.1, 0.2, 0.3]),
        ([0, 1, 2], [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]),
        ([0, 1], [[0.5, 0.4], [0.5, 0.5]]),
        ([0.5, 1.5], [0.1, 0.2]),
        ([1, 1], [0.1, 0.2]),
    ],
)
def test_bad_input(name, y, proba):
    assert_same_outcome(name, y, proba)


def test_sums_halves_and_unordered_labels():
    y, proba, weight = forecasts("several")
    assert_same_outcome("log_loss", y, proba, normalize=False, sample_weight=weight)
    for labels in ([5, 2, 1, 0], [0, 1], [0, 1, 2], [0], [0, 1, 2, 9]):
        for name in PROPER:
            assert_same_outcome(name, y, proba, labels=labels)
    for half in (True, False, "auto"):
        assert_same_outcome("brier_score_loss", y, proba, scale_by_half=half)
        assert_same_outcome("brier_score_loss", *(part[y < 2] for part in (y, proba[:, 1])), scale_by_half=half)
    assert_same_outcome("log_loss", y, proba, y_pred=proba)
    with pytest.warns(FutureWarning, match="renamed to `y_proba`"):
        assert ours.log_loss(y, y_pred=proba) == ours.log_loss(y, proba)


def test_several_labels_per_row():
    rng = np.random.default_rng(1)
    truth, proba = rng.integers(0, 2, (30, 3)), rng.dirichlet(np.ones(3), 30)
    for name in PROPER:
        assert_same_outcome(name, truth, proba)


@pytest.mark.parametrize("weighted", [False, True])
def test_hinge(weighted):
    y, proba, weight = forecasts("two")
    options = {"sample_weight": weight if weighted else None}
    assert_same_outcome("hinge_loss", y, 4 * proba[:, 1] - 2, **options)
    y, proba, weight = forecasts("words")
    assert_same_outcome("hinge_loss", y, np.log(proba), **options)
    some = y != "yes"
    assert_same_outcome("hinge_loss", y[some], proba[some], labels=NAMES["words"])
    assert_same_outcome("hinge_loss", y[some], proba[some])
    assert_same_outcome("hinge_loss", y, proba[:, :2])
    assert_same_outcome("hinge_loss", y, proba[:, 0])


def test_hinge_of_a_label_that_is_no_number():
    assert_same_outcome("hinge_loss", [1.0, np.nan, 1.0], [0.1, 0.2, 0.3])


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("n_bins", [1, 2, 5, 50])
def test_calibration(strategy, n_bins):
    y, proba, _ = forecasts("two")
    options = {"strategy": strategy, "n_bins": n_bins}
    assert_same_outcome("calibration_curve", y, proba[:, 1], of=sklearn.calibration, **options)
    words = np.array(["no", "yes"])[y]
    for extra in ({}, {"pos_label": "yes"}, {"pos_label": "no"}):
        assert_same_outcome("calibration_curve", words, proba[:, 1], of=sklearn.calibration, **options, **extra)
    for bad in ((y, 2 * proba[:, 1]), (y[:5], proba[:, 1]), (np.arange(120), proba[:, 1])):
        assert_same_outcome("calibration_curve", *bad, of=sklearn.calibration, **options)


def test_calibration_error_by_its_definition():
    y, proba, weight = forecasts("two", n=500)
    p = proba[:, 1]
    for norm, combine in (("l1", np.sum), ("l2", lambda gaps: np.sqrt(gaps.sum())), ("max", np.max)):
        gaps = []
        for low in np.arange(10) / 10:
            inside = (p > low) & (p <= low + 0.1)
            gap = abs(np.average(y[inside], weights=weight[inside]) - np.average(p[inside], weights=weight[inside]))
            share = weight[inside].sum() / weight.sum()
            gaps.append({"l1": share * gap, "l2": share * gap**2, "max": gap}[norm])
        found = ours.expected_calibration_error(y, p, n_bins=10, norm=norm, sample_weight=weight)
        assert found == pytest.approx(combine(np.array(gaps)), rel=1e-12)
    y, proba, _ = forecasts("words")
    sure = ours.expected_calibration_error(y, proba)
    hit = np.array(NAMES["words"])[proba.argmax(axis=1)] == y
    assert sure == pytest.approx(ours.expected_calibration_error(hit, proba.max(axis=1)), rel=1e-12)
    with pytest.raises(ValueError, match="3 columns for 2 classes"):
        ours.expected_calibration_error(y[y != "yes"], proba[y != "yes"])


def test_chunks_and_threads(monkeypatch):
    """The border of a chunk moves the last bits only, the number of threads none."""
    y, proba, weight = forecasts("several", n=2000)
    whole = [getattr(reference, name)(y, proba, sample_weight=weight) for name in PROPER]
    monkeypatch.setattr(_probability, "CHUNK", 64)
    found = []
    for threads in (1, 2, 4):
        with thread_limit(threads):
            found.append([getattr(ours, name)(y, proba, sample_weight=weight) for name in PROPER])
    assert found[0] == found[1] == found[2] == pytest.approx(whole, rel=1e-12)
