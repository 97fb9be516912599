"""What models are judged by: a metric's name, its words, and how it is computed from predictions.

Classes are the codes 0, 1, ... and predictions of classes are probabilities, one column per class; the positive class
of two is code 1.  Values are in the metric's own units (an RMSE is an RMSE, not its negative).
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hyperplan import metrics
from hyperplan.compete._errors import CompetitionError
from hyperplan.compete._names import nearest_names

TINY = 1e-15  # probabilities of 0 would make a log loss infinite


class Measure(NamedTuple):
    """A metric of the competition.

    Attributes
    ----------
    name : str
        Name of the scikit-learn scorer.
    label : str
        Short name for people.
    task : {"binary", "classification", "regression"}
        What it can judge; "binary" needs two classes.
    greater_is_better : bool
        Which way is better, in the metric's own units.
    compute : callable
        ``compute(y, prediction)``.
    quick : tuple of two callables or None
        A function of `hyperplan.metrics` and ``view(y, prediction)``, the arrays to call it with: the same value, in
        the form that resampling can compute many times at once.
    best, worst : float or None
        The best and the worst possible value, where there is one.
    rope : float
        Differences that nobody minds, in the metric's units; for regression in standard deviations of the target.
    """

    name: str
    label: str
    task: str
    greater_is_better: bool
    compute: Callable
    quick: tuple[Callable, Callable] | None = None
    best: float | None = None
    rope: float = 0.005
    worst: float | None = None

    def score(self, y, prediction) -> float:
        """The value for these rows; nan where it is undefined (one class only, no variance)."""
        if self.task != "regression" and prediction.shape[1] == 2 and np.ptp(y) == 0 and self.name in NEEDS_BOTH:
            return np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a class that is not among these rows is no news: see A09 of the audit
            return float(self.compute(y, prediction))

    def resampled(self, y, predictions: list):
        """``(metric, truth, predictions)`` for bootstrap functions."""
        if self.quick is None or (self.task != "regression" and predictions[0].shape[1] > 2 and self.name in OF_TWO):
            return self.score, y, predictions
        function, view = self.quick
        return function, view(y, predictions[0])[0], [view(y, prediction)[1] for prediction in predictions]


OF_TWO = ("roc_auc", "f1", "precision", "recall", "neg_brier_score")
NEEDS_BOTH = ("roc_auc", "average_precision", "balanced_accuracy", "f1", "matthews_corrcoef")


def _labels(prediction):
    return np.argmax(prediction, axis=1)


def _of_labels(function, **options):
    return lambda y, prediction: function(y, _labels(prediction), **options)


def _of_positive(function, **options):
    return lambda y, prediction: function(y == 1, prediction[:, 1], **options)


def _log_loss(y, prediction):
    clipped = np.clip(prediction, TINY, 1.0)
    clipped = clipped / clipped.sum(axis=1, keepdims=True)
    return -float(np.mean(np.log(clipped[np.arange(len(y)), y])))


def _brier(y, prediction):
    truth = np.eye(prediction.shape[1])[y]
    total = float(np.mean(np.sum((prediction - truth) ** 2, axis=1)))
    return total / 2 if prediction.shape[1] == 2 else total


def _roc_auc(y, prediction):
    if prediction.shape[1] == 2:
        return metrics.roc_auc_score(y == 1, prediction[:, 1])
    present = np.unique(y)
    return np.mean([metrics.roc_auc_score(y == k, prediction[:, k]) for k in present if (y != k).any()])


def _macro(function):
    """The metric of the positive class, or the mean over classes when there are several."""

    def compute(y, prediction):
        average = "binary" if prediction.shape[1] == 2 else "macro"
        return function(y, _labels(prediction), average=average, zero_division=0)

    return compute


def _labels_view(y, prediction):
    return y, _labels(prediction)


def _positive_view(y, prediction):
    return (y == 1).astype(np.intp), prediction[:, 1]


def _sure_view(y, prediction):
    clipped = np.clip(prediction, TINY, 1.0)
    return y, clipped / clipped.sum(axis=1, keepdims=True)


def _plain_view(y, prediction):
    return y, prediction


def _regression(name, label, greater, best):
    function = getattr(metrics, name.removeprefix("neg_") if not greater else f"{name}_score")
    return Measure(name, label, "regression", greater, function, (function, _plain_view), best)


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("roc_auc", "ROC AUC", "classification", True, _roc_auc, (metrics.roc_auc_score, _positive_view), 1.0,
                worst=0.0),
        Measure("average_precision", "average precision", "binary", True,
                _of_positive(metrics.average_precision_score), (metrics.average_precision_score, _positive_view), 1.0,
                worst=0.0),
        Measure("neg_log_loss", "log loss", "classification", False, _log_loss, (metrics.log_loss, _sure_view), 0.0),
        Measure("neg_brier_score", "Brier score", "classification", False, _brier,
                (metrics.brier_score_loss, _positive_view), 0.0, 0.002),
        Measure("accuracy", "accuracy", "classification", True, _of_labels(metrics.accuracy_score),
                (metrics.accuracy_score, _labels_view), 1.0, worst=0.0),
        Measure("balanced_accuracy", "balanced accuracy", "classification", True,
                _of_labels(metrics.balanced_accuracy_score), (metrics.balanced_accuracy_score, _labels_view), 1.0,
                worst=0.0),
        Measure("f1", "F1", "classification", True, _macro(metrics.f1_score), (metrics.f1_score, _labels_view), 1.0,
                worst=0.0),
        Measure("precision", "precision", "classification", True, _macro(metrics.precision_score),
                (metrics.precision_score, _labels_view), 1.0, worst=0.0),
        Measure("recall", "recall", "classification", True, _macro(metrics.recall_score),
                (metrics.recall_score, _labels_view), 1.0, worst=0.0),
        Measure("matthews_corrcoef", "Matthews correlation", "classification", True,
                _of_labels(metrics.matthews_corrcoef), (metrics.matthews_corrcoef, _labels_view), 1.0, worst=-1.0),
        _regression("r2", "R²", True, 1.0),
        _regression("neg_root_mean_squared_error", "RMSE", False, 0.0),
        _regression("neg_mean_squared_error", "MSE", False, 0.0),
        _regression("neg_mean_absolute_error", "MAE", False, 0.0),
        _regression("neg_median_absolute_error", "median error", False, 0.0),
    )
}  # fmt: skip
BESIDE = {  # metrics shown beside the chosen one
    "classification": ("roc_auc", "neg_log_loss", "accuracy", "balanced_accuracy", "f1", "neg_brier_score"),
    "regression": ("r2", "neg_root_mean_squared_error", "neg_mean_absolute_error"),
}


def find_measure(name: str, task: str, n_classes: int | None) -> Measure:
    """The measure of a name; errors name what there is for the task."""
    fits = [
        measure.name
        for measure in MEASURES.values()
        if measure.task == task or (task == "classification" and measure.task == "binary" and n_classes == 2)
    ]
    if name in fits:
        return MEASURES[name]
    near = nearest_names(name, fits)
    raise CompetitionError("metric", name=name, task=task, known=", ".join(near or fits))


def rope_of(measure: Measure, y) -> float:
    """Half width of the region of practical equivalence, in the metric's units."""
    if measure.task != "regression" or measure.name == "r2":
        return measure.rope
    spread = float(np.std(y))
    return measure.rope * (spread**2 if measure.name == "neg_mean_squared_error" else spread)
