"""One table with precision, recall, F1 and support of every label."""

import warnings

import numpy as np

from hyperplan.metrics._arguments import ArrayOrNone, ArrayOrSparse, Bool, Int, ZeroDivision, checked
from hyperplan.metrics._precision_recall import scores_of
from hyperplan.metrics._targets import MULTILABEL, check_targets

COLUMNS = ("precision", "recall", "f1-score", "support")


@checked(
    y_true=ArrayOrSparse,
    y_pred=ArrayOrSparse,
    labels=ArrayOrNone,
    target_names=ArrayOrNone,
    sample_weight=ArrayOrNone,
    digits=Int(ge=0),
    output_dict=Bool,
    zero_division=ZeroDivision,
)
def classification_report(
    y_true,
    y_pred,
    *,
    labels=None,
    target_names=None,
    sample_weight=None,
    digits=2,
    output_dict=False,
    zero_division="warn",
):
    """Precision, recall, F1 and support of every label, and their averages, as text or as a dictionary.

    Parameters
    ----------
    y_true, y_pred : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
        Labels, or indicators.
    labels : array-like, default=None
        Labels to report, in this order.
    target_names : array-like of str, default=None
        Names to show instead of the labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    digits : int, default=2
        Digits after the point, in the text.
    output_dict : bool, default=False
        A dictionary of dictionaries instead of text.
    zero_division : {"warn", 0.0, 1.0, nan}, default="warn"
        Value where a denominator is zero.

    Returns
    -------
    str or dict

    Examples
    --------
    >>> from hyperplan.metrics import classification_report
    >>> print(classification_report([0, 0, 1, 1], [0, 1, 1, 1]))
                  precision    recall  f1-score   support
    <BLANKLINE>
               0       1.00      0.50      0.67         2
               1       0.67      1.00      0.80         2
    <BLANKLINE>
        accuracy                           0.75         4
       macro avg       0.83      0.75      0.73         4
    weighted avg       0.83      0.75      0.73         4
    <BLANKLINE>
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    if labels is not None and len(labels) == 0:
        raise ValueError("'labels' should contain at least one label.")
    names = _names(targets, labels, target_names)
    shown = targets.labels if labels is None else np.asarray(labels)
    *values, support = scores_of(targets, shown, None, zero_division)
    rows = list(zip(names, *values, support))
    covers_all = labels is None or set(shown.tolist()) >= set(targets.labels.tolist())
    averages = []
    for average in ("micro", "macro", "weighted") + ("samples",) * (targets.kind == MULTILABEL):
        title = f"{average} avg"
        if average == "micro" and targets.kind != MULTILABEL and covers_all:
            title = "accuracy"
        averages.append((title, *scores_of(targets, shown, average, zero_division)[:3], np.sum(support)))
    return _as_dict(rows, averages) if output_dict else _as_text(rows, averages, digits)


def _names(targets, labels, target_names):
    shown = targets.labels if labels is None else np.asarray(labels)
    if target_names is None:
        return [str(label) for label in shown]
    if len(shown) != len(target_names):
        if labels is None:
            raise ValueError(
                f"Number of classes, {len(shown)}, does not match size of target_names, {len(target_names)}. Try "
                "specifying the labels parameter"
            )
        warnings.warn(
            f"labels size, {len(shown)}, does not match size of target_names, {len(target_names)}", stacklevel=4
        )
    return target_names


def _as_dict(rows, averages):
    report = {name: dict(zip(COLUMNS, map(float, values))) for name, *values in rows + averages}
    if "accuracy" in report:
        report["accuracy"] = report["accuracy"]["precision"]
    return report


def _as_text(rows, averages, digits):
    width = max(*(len(name) for name, *_ in rows), len("weighted avg"), digits)

    def line(name, *values):
        cells = (f"{value:>9.{digits}f}" if value != "" else " " * 9 for value in values[:3])
        return f"{name:>{width}s}  {' '.join(cells)} {values[3]:>9}\n"

    text = f"{'':>{width}s}  {' '.join(f'{column:>9}' for column in COLUMNS)}\n\n"
    text += "".join(line(*row) for row in rows) + "\n"
    for name, *values in averages:
        text += line(name, *(["", "", *values[2:]] if name == "accuracy" else values))
    return text
