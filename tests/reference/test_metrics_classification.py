"""Metrics of labels beside scikit-learn's: any kind of label, weights, averages, edge cases."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.metrics as reference
from sklearn.exceptions import UndefinedMetricWarning

import hyperplan.metrics as ours
from hyperplan import thread_limit
from hyperplan.metrics import _labels

from .metrics_common import assert_same_outcome

ANY_LABELS = [
    "accuracy_score",
    "balanced_accuracy_score",
    "zero_one_loss",
    "hamming_loss",
    "confusion_matrix",
    "multilabel_confusion_matrix",
    "matthews_corrcoef",
    "cohen_kappa_score",
    "classification_report",
]
AVERAGED = ["precision_score", "recall_score", "f1_score", "jaccard_score", "precision_recall_fscore_support"]
LABELS = {
    "binary": [0, 1],
    "signs": [-1, 1],
    "classes": [3, 4, 7, 1],
    "far apart": [-(10**12), 5, 10**12],
    "strings": ["no", "yes", "perhaps"],
    "floats": [1.0, 2.0, 5.0],
    "bools": [False, True],
}


def labels_of(kind, n=300, seed=0, form=np.asarray):
    rng = np.random.default_rng(seed)
    names = np.array(LABELS[kind])
    truth = rng.integers(0, len(names), n)
    guess = np.where(rng.random(n) < 0.6, truth, rng.integers(0, len(names), n))
    return form(names[truth]), form(names[guess]), rng.integers(0, 9, n) / 4


@pytest.mark.parametrize("name", ANY_LABELS)
@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("weighted", [False, True])
def test_any_label(name, kind, weighted):
    truth, guess, weight = labels_of(kind)
    assert_same_outcome(name, truth, guess, sample_weight=weight if weighted else None)


@pytest.mark.parametrize("form", [list, pd.Series, lambda values: np.asarray(values, object)])
@pytest.mark.parametrize("kind", ["binary", "classes", "strings", "bools"])
@pytest.mark.parametrize("name", ["accuracy_score", "confusion_matrix", "f1_score"])
def test_any_container(name, kind, form):
    truth, guess, _ = labels_of(kind, form=form)
    options = {"average": "macro"} if name == "f1_score" else {}
    assert_same_outcome(name, truth, guess, **options)


def test_categories_of_pandas_and_mixed_number_types():
    truth, guess, _ = labels_of("strings")
    assert ours.accuracy_score(pd.Categorical(truth), pd.Series(guess)) == np.mean(truth == guess)
    truth, guess, _ = labels_of("classes")
    for dtype in (np.int8, np.uint16, np.int32, np.float32):
        np.testing.assert_array_equal(
            ours.confusion_matrix(truth, guess.astype(dtype)), reference.confusion_matrix(truth, guess)
        )


@pytest.mark.parametrize("name", AVERAGED)
@pytest.mark.parametrize("average", ["binary", "micro", "macro", "weighted", "samples", None])
@pytest.mark.parametrize("kind", ["binary", "classes", "strings", "several"])
@pytest.mark.parametrize("weighted", [False, True])
def test_averages(name, average, kind, weighted):
    if kind == "several":
        rng = np.random.default_rng(3)
        truth, guess, weight = rng.integers(0, 2, (60, 4)), rng.integers(0, 2, (60, 4)), rng.integers(0, 9, 60) / 4
    else:
        truth, guess, weight = labels_of(kind)
    assert_same_outcome(name, truth, guess, average=average, sample_weight=weight if weighted else None)


@pytest.mark.parametrize("name", AVERAGED)
@pytest.mark.parametrize("zero_division", ["warn", 0, 1, np.nan])
@pytest.mark.parametrize("average", ["binary", "macro", "weighted", None])
def test_nothing_to_divide_by(name, zero_division, average):
    if name == "jaccard_score" and zero_division != zero_division:
        with pytest.raises(ValueError, match="zero_division"):
            ours.jaccard_score([0, 0], [0, 0], zero_division=zero_division)
        return
    for truth, guess in (([0, 0, 0], [0, 0, 0]), ([0, 1, 1], [0, 0, 0]), ([0, 0, 0], [1, 0, 1])):
        assert_same_outcome(name, truth, guess, zero_division=zero_division, average=average)


@pytest.mark.parametrize("labels", [[1, 4], [7, 3, 1, 4], [3, 99], [99], []])
@pytest.mark.parametrize("name", ["confusion_matrix", "cohen_kappa_score", "classification_report"])
def test_some_labels(name, labels):
    truth, guess, _ = labels_of("classes")
    assert_same_outcome(name, truth, guess, labels=labels)


@pytest.mark.parametrize("normalize", ["true", "pred", "all", None])
def test_normalised_confusion(normalize):
    truth, guess, weight = labels_of("classes")
    assert_same_outcome("confusion_matrix", truth, guess, normalize=normalize, sample_weight=weight)
    assert_same_outcome("confusion_matrix", [0, 0, 1], [0, 0, 0], normalize=normalize)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "name", ["accuracy_score", "zero_one_loss", "hamming_loss", "multilabel_confusion_matrix", "classification_report"]
)
def test_several_labels_per_row(name, form, weighted):
    rng = np.random.default_rng(1)
    truth, guess = form(rng.integers(0, 2, (50, 4))), form(rng.integers(0, 2, (50, 4)))
    options = {"sample_weight": rng.integers(1, 9, 50) / 4 if weighted else None}
    if name == "classification_report":
        options["zero_division"] = 0
    assert_same_outcome(name, truth, guess, **options)


def test_matrices_per_sample_and_of_some_columns():
    rng = np.random.default_rng(2)
    truth, guess, weight = rng.integers(0, 2, (20, 4)), rng.integers(0, 2, (20, 4)), rng.integers(1, 9, 20) / 4
    for options in ({"samplewise": True}, {"labels": [2, 0]}, {"samplewise": True, "sample_weight": weight}):
        assert_same_outcome("multilabel_confusion_matrix", truth, guess, **options)
    for labels in ([5], [-1]):
        assert_same_outcome("multilabel_confusion_matrix", truth, guess, labels=labels)
    assert_same_outcome("multilabel_confusion_matrix", [0, 1], [0, 0], samplewise=True)


@pytest.mark.parametrize("adjusted", [False, True])
def test_balanced_accuracy(adjusted):
    for truth, guess in (([0, 1, 2, 2], [0, 2, 2, 1]), ([0, 0], [0, 1]), ([0, 0], [0, 0])):
        assert_same_outcome("balanced_accuracy_score", truth, guess, adjusted=adjusted)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa(weights):
    truth, guess, weight = labels_of("classes")
    assert_same_outcome("cohen_kappa_score", truth, guess, weights=weights, sample_weight=weight)
    for instead in (np.nan, 0.5):
        assert_same_outcome("cohen_kappa_score", [1, 1], [1, 1], weights=weights, replace_undefined_by=instead)


@pytest.mark.parametrize("instead", [np.nan, 1.0, {"LR+": 2.0, "LR-": 0.5}, {"LR+": 0.5, "LR-": 0.5}, {"LR+": 1.0}])
def test_likelihood_ratios(instead):
    cases = [([0, 1, 0, 1], [0, 1, 1, 0]), ([0, 1, 0, 1], [0, 1, 0, 0]), ([0, 1], [1, 1]), ([0, 0], [0, 1])]
    for truth, guess in cases:
        assert_same_outcome("class_likelihood_ratios", truth, guess, replace_undefined_by=instead)
    assert_same_outcome("class_likelihood_ratios", [0, 1, 2], [0, 1, 2], replace_undefined_by=instead)


@pytest.mark.parametrize(
    "truth, guess",
    [
        ([], []),
        ([0, 1], [0]),
        ([0.5, 1.5], [0, 1]),
        ([0, 1], [0.1, 0.9]),
        ([0, np.nan], [0, 1]),
        (["a", "b"], [0, 1]),
        ([0, 1], np.eye(2, dtype=int)),
        ([[0, 1], [2, 1]], [[0, 1], [2, 1]]),
        (np.eye(2, dtype=int), np.eye(2, 3, dtype=int)),
        ([[1, 2], [3]], [[1, 2], [3]]),
    ],
)
@pytest.mark.parametrize("name", ["accuracy_score", "f1_score"])
def test_bad_targets(name, truth, guess):
    assert_same_outcome(name, truth, guess)


@pytest.mark.parametrize("weight", [[1.0], [0.0, 0.0, 0.0], [[1.0], [1.0], [1.0]], [1.0, np.nan, 1.0]])
@pytest.mark.parametrize("name", ["accuracy_score", "confusion_matrix", "recall_score"])
def test_bad_weights(name, weight):
    assert_same_outcome(name, [0, 1, 1], [0, 1, 0], sample_weight=weight)


def test_bad_arguments():
    for name, options in (
        ("accuracy_score", {"normalize": "yes"}),
        ("f1_score", {"average": "mean"}),
        ("confusion_matrix", {"normalize": "rows"}),
        ("recall_score", {"zero_division": 0.5}),
        ("fbeta_score", {"beta": -1.0}),
    ):
        with pytest.raises(ValueError, match=f"The '{next(iter(options))}' parameter of {name} must be"):
            getattr(ours, name)([0, 1], [0, 1], **options)


@pytest.mark.parametrize("beta", [0, 0.5, 1, 2.0, np.inf])
def test_f_scores(beta):
    truth, guess, weight = labels_of("binary")
    assert_same_outcome("fbeta_score", truth, guess, beta=beta, sample_weight=weight)
    assert_same_outcome("precision_recall_fscore_support", truth, guess, beta=beta, average="macro")


def test_report_as_text_and_dictionary():
    truth, guess, weight = labels_of("strings")
    for options in (
        {"digits": 3},
        {"output_dict": True},
        {"target_names": ["no, never", "perhaps", "yes, of course"]},
        {"target_names": ["a"]},
        {"labels": ["yes", "no"], "target_names": ["ja", "nein"]},
        {"sample_weight": weight},
    ):
        assert_same_outcome("classification_report", truth, guess, **options)


def test_counts_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(_labels, "CHUNK", 100)
    truth, guess, weight = labels_of("classes", n=1000)
    weight = weight / 3  # not exact, so that another order of sums would show
    results = []
    for threads in (1, 2, 4):
        with thread_limit(threads):
            results.append(
                [
                    ours.accuracy_score(truth, guess, sample_weight=weight),
                    *ours.confusion_matrix(truth, guess, sample_weight=weight).ravel(),
                ]
            )
    assert results[0] == results[1] == results[2]


def test_false_discoveries_and_balanced_errors():
    truth, guess, weight = labels_of("binary")
    precision = reference.precision_score(truth, guess, sample_weight=weight)
    assert ours.false_discovery_proportion(truth, guess, sample_weight=weight) == pytest.approx(
        1 - precision, rel=1e-14
    )
    balanced = reference.balanced_accuracy_score(truth, guess, sample_weight=weight)
    assert ours.balanced_error_rate(truth, guess, sample_weight=weight) == pytest.approx(1 - balanced, rel=1e-14)
    with pytest.warns(UndefinedMetricWarning, match="False discovery"):
        assert ours.false_discovery_proportion([0, 1], [0, 0]) == 0.0
    assert np.isnan(ours.false_discovery_proportion([0, 1], [0, 0], zero_division=np.nan))
