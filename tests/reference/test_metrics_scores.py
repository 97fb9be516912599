"""Metrics of scores beside scikit-learn's: curves, areas, rankings; any kind of score, ties, weights, edge cases."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import hyperplan.metrics as ours
from hyperplan import thread_limit
from hyperplan.metrics import _score_order

from .metrics_common import assert_same_outcome

CURVES = ["roc_curve", "precision_recall_curve", "det_curve", "confusion_matrix_at_thresholds"]
AREAS = ["roc_auc_score", "average_precision_score"]
SCORES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "tied": lambda rng, n: np.round(rng.normal(size=n), 1),
    "equal": lambda rng, n: np.full(n, 0.5),
    "float32": lambda rng, n: rng.random(n).astype(np.float32),
    "integers": lambda rng, n: rng.integers(-3, 4, n),
    "bytes": lambda rng, n: rng.integers(0, 9, n).astype(np.uint8),
    "huge integers": lambda rng, n: 2**62 + rng.integers(0, 5, n),
    "bools": lambda rng, n: rng.integers(0, 2, n).astype(bool),
    "signed zeros": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, -0.0),
    "tiny": lambda rng, n: rng.integers(-3, 4, n) * 5e-324,
}
LABELS = {"01": [0, 1], "signs": [-1, 1], "bools": [False, True], "floats": [0.0, 1.0]}


def binary(kind="normal", names=(0, 1), n=200, seed=0):
    """Labels that a larger score makes likelier, scores, and weights some of which are zero."""
    rng = np.random.default_rng(seed)
    scores = SCORES[kind](rng, n)
    spread = np.argsort(np.argsort(scores)) / n
    return np.array(names)[(rng.random(n) < 0.2 + 0.6 * spread).astype(int)], scores, rng.integers(0, 9, n) / 4


@pytest.mark.parametrize("name", CURVES + AREAS)
@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("weighted", [False, True])
def test_any_score(name, kind, weighted):
    y, scores, weight = binary(kind)
    assert_same_outcome(name, y, scores, sample_weight=weight if weighted else None)


@pytest.mark.parametrize("name", CURVES + AREAS)
@pytest.mark.parametrize("kind", LABELS)
def test_any_label(name, kind):
    y, scores, weight = binary(names=LABELS[kind])
    assert_same_outcome(name, y, scores, sample_weight=weight)
    assert_same_outcome(name, y.tolist(), scores.tolist())
    assert_same_outcome(name, pd.Series(y), pd.Series(scores))


@pytest.mark.parametrize("name", [*CURVES, "average_precision_score"])
@pytest.mark.parametrize("pos_label", ["yes", "no", "perhaps"])
def test_labels_that_are_words_need_a_positive_one(name, pos_label):
    y, scores, _ = binary(names=["no", "yes"])
    if (name, pos_label) != ("det_curve", "perhaps"):  # there scikit-learn divides zero by zero
        assert_same_outcome(name, y, scores, pos_label=pos_label)
    assert_same_outcome(name, y, scores)
    if name in CURVES and name != "det_curve":  # scikit-learn refuses detection errors of one class against several
        assert_same_outcome(name, np.where(scores > 1, "perhaps", y), scores, pos_label=pos_label)


@pytest.mark.parametrize("name", ["roc_curve", "precision_recall_curve", "det_curve"])
@pytest.mark.parametrize("drop_intermediate", [False, True])
@pytest.mark.parametrize("kind", ["normal", "tied", "equal"])
def test_points_that_may_be_left_out(name, drop_intermediate, kind):
    y, scores, weight = binary(kind)
    for sample_weight in (None, weight):
        assert_same_outcome(name, y, scores, drop_intermediate=drop_intermediate, sample_weight=sample_weight)
    perfect = (scores >= np.median(scores)).astype(int)
    assert_same_outcome(name, perfect, scores, drop_intermediate=drop_intermediate)


@pytest.mark.parametrize("name", CURVES + AREAS)
@pytest.mark.parametrize(
    "y, scores",
    [
        ([0, 0, 0], [0.1, 0.2, 0.3]),
        ([1, 1, 1], [0.1, 0.2, 0.3]),
        ([1], [0.1]),
        ([], []),
        ([0, 1], [0.1]),
        ([0, 1], [0.1, np.nan]),
        ([0, 1], [0.1, np.inf]),
        ([0, 1, 2], np.array([0.1, 0.2, 0.3])),
        ([0.5, 1.5], [0.1, 0.2]),
        ([0, 1], [[0.1, 0.9], [0.2, 0.8]]),
    ],
)
def test_bad_input(name, y, scores):
    assert_same_outcome(name, y, scores)


@pytest.mark.parametrize("name", CURVES + AREAS)
@pytest.mark.parametrize("weight", [[1.0], [0.0, 0.0, 0.0, 0.0], [1.0, np.nan, 1.0, 1.0]])
def test_bad_weights(name, weight):
    assert_same_outcome(name, [0, 1, 1, 0], [0.1, 0.4, 0.3, 0.2], sample_weight=weight)


@pytest.mark.parametrize("name", CURVES + AREAS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_no_numbers_are_refused_even_without_weight(name, bad):
    y, scores, weight = [0, 1, 0, 1], [0.1, bad, 0.3, 0.9], [1.0, 0.0, 1.0, 1.0]
    assert_same_outcome(name, y, scores, sample_weight=weight)
    with pytest.raises(ValueError, match="contains"):
        getattr(ours, name)(y, scores, sample_weight=weight)


@pytest.mark.parametrize("max_fpr", [1e-3, 0.1, 0.5, 1.0])
def test_partial_area(max_fpr):
    for kind in ("normal", "tied", "equal"):
        y, scores, weight = binary(kind)
        assert_same_outcome("roc_auc_score", y, scores, max_fpr=max_fpr, sample_weight=weight)


def several_classes(names, n=150):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, len(names), n)
    scores = rng.dirichlet(np.ones(len(names)), n) + np.eye(len(names))[codes]
    return np.array(names)[codes], scores / scores.sum(axis=1, keepdims=True), rng.integers(0, 9, n) / 4


@pytest.mark.parametrize("multi_class", ["ovr", "ovo", "raise"])
@pytest.mark.parametrize("average", ["macro", "weighted", "micro", None])
@pytest.mark.parametrize("names", [[0, 1, 2], ["a", "b", "c", "d"]])
@pytest.mark.parametrize("weighted", [False, True])
def test_areas_of_several_classes(multi_class, average, names, weighted):
    y, scores, weight = several_classes(names)
    options = {"multi_class": multi_class, "average": average, "sample_weight": weight if weighted else None}
    if multi_class == "ovo" and average is None:
        with pytest.raises(ValueError, match="average=None is not implemented for multi_class='ovo'"):
            ours.roc_auc_score(y, scores, **options)
        return
    assert_same_outcome("roc_auc_score", y, scores, **options)
    labels = [*names, names[-1] * 2 + names[0]]  # one more, without a row
    more = np.column_stack([scores, np.zeros(len(y))])
    assert_same_outcome("roc_auc_score", y, more, labels=sorted(labels), **options)


def test_classes_that_do_not_fit_the_scores():
    y, scores, _ = several_classes([0, 1, 2])
    for options in ({"labels": [0, 1]}, {"labels": [2, 1, 0]}, {"labels": [0, 0, 1]}, {"max_fpr": 0.5}):
        assert_same_outcome("roc_auc_score", y, scores, multi_class="ovr", **options)
    assert_same_outcome("roc_auc_score", y, 2 * scores, multi_class="ovr")
    assert_same_outcome("average_precision_score", y, scores[:, :2])
    assert_same_outcome("average_precision_score", y, scores, pos_label=2)


def indicators(n=40, labels=5, seed=2):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, (n, labels))
    return truth, np.round(truth + rng.normal(size=(n, labels)), 1), rng.integers(0, 9, n) / 4


@pytest.mark.parametrize("name", AREAS)
@pytest.mark.parametrize("average", ["micro", "macro", "weighted", "samples", None])
@pytest.mark.parametrize("weighted", [False, True])
def test_areas_of_several_labels_per_row(name, average, weighted):
    truth, scores, weight = indicators()
    truth[:3] = [[1, 0, 0, 0, 0]]  # every row has both kinds of labels
    assert_same_outcome(name, truth, scores, average=average, sample_weight=weight if weighted else None)


@pytest.mark.parametrize("name", ["coverage_error", "label_ranking_loss", "label_ranking_average_precision_score"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rankings_of_labels(name, form):
    truth, scores, weight = indicators()
    truth[0], truth[1] = 0, 1  # nothing to rank
    for sample_weight in (None, weight):
        assert_same_outcome(name, form(truth), scores, sample_weight=sample_weight)
    assert_same_outcome(name, form(truth), np.zeros(truth.shape))
    for bad in (truth[:, 0], truth + 1, truth[:, :3]):
        assert_same_outcome(name, bad, scores)


@pytest.mark.parametrize("name", ["dcg_score", "ndcg_score"])
@pytest.mark.parametrize("k", [None, 1, 3, 10])
@pytest.mark.parametrize("ignore_ties", [False, True])
def test_gains(name, k, ignore_ties):
    rng = np.random.default_rng(3)
    grades, scores, weight = rng.integers(0, 5, (20, 6)), rng.normal(size=(20, 6)), rng.integers(1, 9, 20) / 4
    scores = scores if ignore_ties else np.round(scores)
    grades[0] = 0
    for sample_weight in (None, weight):
        assert_same_outcome(name, grades, scores, k=k, ignore_ties=ignore_ties, sample_weight=sample_weight)


@pytest.mark.parametrize("name", ["dcg_score", "ndcg_score"])
def test_gains_of_bad_input(name):
    for options in ({"log_base": 10}, {"log_base": -1.0}, {"k": 0}):
        assert_same_outcome(name, [[1, 2, 0]], [[0.1, 0.3, 0.2]], **(options if name == "dcg_score" else {"k": 0}))
    for grades, scores in (([[1]], [[1.0]]), ([[-1, 2]], [[0.1, 0.2]]), ([1, 2], [0.1, 0.2]), ([[1, 2]], [[0.1]])):
        assert_same_outcome(name, grades, scores)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("normalize", [False, True])
def test_top_k(k, normalize):
    y, scores, weight = several_classes(["a", "b", "c", "d"])
    assert_same_outcome("top_k_accuracy_score", y, scores, k=k, normalize=normalize, sample_weight=weight)
    assert_same_outcome("top_k_accuracy_score", y, np.round(scores, 1), k=k, normalize=normalize)  # ties
    labels, values, _ = binary()
    assert_same_outcome("top_k_accuracy_score", labels, values, k=k, normalize=normalize)
    for options in ({"labels": ["a", "b"]}, {"labels": ["d", "c", "b", "a"]}, {"labels": list("aabc")}):
        assert_same_outcome("top_k_accuracy_score", y, scores, k=k, **options)


def test_a_metric_at_every_threshold():
    y, scores, weight = binary("tied")
    assert_same_outcome("metric_at_thresholds", y, scores, ours.accuracy_score, sample_weight=weight)
    assert_same_outcome(
        "metric_at_thresholds", y, scores, ours.fbeta_score, metric_params={"beta": 2, "zero_division": 0}
    )


def test_area_under_points():
    for x, y in (([0, 1, 2], [0, 1, 1]), ([2, 1, 0], [0, 1, 1]), ([0, 2, 1], [0, 1, 1]), ([0], [1]), ([0, 1], [1])):
        assert_same_outcome("auc", x, y)


def test_weights_are_copies_and_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr(_score_order, "CHUNK", 256)
    monkeypatch.setattr(_score_order, "GROUP", 64)
    y, scores, weight = binary("tied", n=3000)
    copies = (4 * weight).astype(int)
    results = []
    for threads in (1, 2, 4):
        with thread_limit(threads):
            results.append(
                [*ours.roc_curve(y, scores), *ours.precision_recall_curve(y, scores, sample_weight=weight / 3)]
            )
    for other in results[1:]:
        for one, two in zip(results[0], other):
            assert one.tobytes() == two.tobytes()
    for name in AREAS:
        repeated = getattr(ours, name)(np.repeat(y, copies), np.repeat(scores, copies))
        assert getattr(ours, name)(y, scores, sample_weight=copies) == pytest.approx(repeated, rel=1e-12)
