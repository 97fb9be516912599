"""Agreement beyond chance: Matthews' correlation, Cohen's kappa, likelihood ratios of a test."""

import warnings
from numbers import Real as RealNumber

import numpy as np

from hyperplan._base.targets import UndefinedMetricWarning
from hyperplan.metrics._arguments import Array, ArrayOrNone, ArrayOrSparse, Choice, Is, Nan, OneOf, Real, checked
from hyperplan.metrics._confusion import confusion_matrix, counts_of
from hyperplan.metrics._targets import MULTILABEL, check_targets

HOW_TO = (
    "Use the `replace_undefined_by` param to control this behavior. To suppress this warning or turn it into an error, "
    "see Python's `warnings` module and `warnings.catch_warnings()`."
)


@checked(y_true=Array, y_pred=Array, sample_weight=ArrayOrNone)
def matthews_corrcoef(y_true, y_pred, *, sample_weight=None):
    """Correlation of truth and prediction, in [-1, 1]; of two classes that of the two 0-1 columns.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.

    Returns
    -------
    float
        0 when truth or prediction is constant.

    Examples
    --------
    >>> from hyperplan.metrics import matthews_corrcoef
    >>> matthews_corrcoef([1, 1, 1, 0], [1, 0, 1, 1])
    -0.3333333333333333
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    if targets.kind == MULTILABEL:
        raise ValueError(f"{targets.kind} is not supported")
    table = counts_of(targets).astype(np.float64)
    actual, predicted, total = table.sum(axis=1), table.sum(axis=0), table.sum()
    covariance = np.trace(table) * total - np.sum(actual * predicted)
    variances = (total**2 - np.sum(predicted**2)) * (total**2 - np.sum(actual**2))
    return 0.0 if variances == 0 else float(covariance / np.sqrt(variances))


@checked(
    y1=Array,
    y2=Array,
    labels=ArrayOrNone,
    weights=Choice("linear", "quadratic", None),
    sample_weight=ArrayOrNone,
    replace_undefined_by=OneOf(Real(ge=-1, le=1), Nan),
)
def cohen_kappa_score(y1, y2, *, labels=None, weights=None, sample_weight=None, replace_undefined_by=np.nan):
    """Agreement of two raters beyond what their habits alone would give: ``(p_o - p_e) / (1 - p_e)``.

    Parameters
    ----------
    y1, y2 : array-like of shape (n_samples,)
        Labels given by the two raters.
    labels : array-like, default=None
        Labels to look at; all when None.
    weights : {"linear", "quadratic"}, default=None
        How a disagreement grows with the distance of the labels' positions; None counts all alike.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    replace_undefined_by : float in [-1, 1] or nan, default=nan
        Value where chance alone agrees always.

    Returns
    -------
    float

    Examples
    --------
    >>> from hyperplan.metrics import cohen_kappa_score
    >>> cohen_kappa_score(["no", "yes", "yes", "no"], ["no", "yes", "no", "no"])
    0.5
    """
    try:
        table = confusion_matrix(y1, y2, labels=labels, sample_weight=sample_weight).astype(np.float64)
    except ValueError as error:
        if "At least one label specified must be in y_true" not in str(error):
            raise
        raise ValueError(
            "At least one label in `labels` must be present in `y1` (even though `cohen_kappa_score` is otherwise "
            "agnostic to the order of `y1` and `y2`)."
        ) from error
    undefined = "`cohen_kappa_score` is undefined and set to the value defined by the `replace_undefined_by` param"
    if table.sum() == 0:
        reason = "`y2` contains no labels that are present in both `y1` and `labels`. "
        _warn(f"{reason}{undefined}, which is set to {replace_undefined_by}.")
        return replace_undefined_by
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    position = np.arange(table.shape[0], dtype=np.float64)
    distance = np.abs(position[:, np.newaxis] - position)
    cost = {"linear": distance, "quadratic": distance**2}.get(weights, distance != 0)
    chance = np.sum(cost * expected)
    if chance == 0:
        reason = "`y1`, `y2` and `labels` have only one label in common. "
        _warn(f"{reason}{undefined}, which is set to {replace_undefined_by}.")
        return replace_undefined_by
    return float(1 - np.sum(cost * table) / chance)


def _warn(message):
    warnings.warn(message, UndefinedMetricWarning, stacklevel=4)


@checked(
    y_true=ArrayOrSparse,
    y_pred=ArrayOrSparse,
    labels=ArrayOrNone,
    sample_weight=ArrayOrNone,
    replace_undefined_by=OneOf(
        Is(lambda value: isinstance(value, RealNumber) and value == 1.0, "1.0"),
        Nan,
        Is(lambda value: isinstance(value, dict), "an instance of 'dict'"),
    ),
)
def class_likelihood_ratios(y_true, y_pred, *, labels=None, sample_weight=None, replace_undefined_by=np.nan):
    """By what factor a positive and a negative answer multiply the odds of being positive.

    LR+ = TPR / FPR and LR- = FNR / TNR; unlike precision they do not depend on how frequent positives are.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Labels of two classes; the larger one is the positive.
    labels : array-like, default=None
        ``[negative, positive]``; the sorted labels when None.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    replace_undefined_by : nan, 1.0 or dict, default=nan
        Values where a ratio has no denominator; a dict has the keys "LR+" (at least 1) and "LR-" (in [0, 1]).

    Returns
    -------
    positive_likelihood_ratio, negative_likelihood_ratio : float

    Examples
    --------
    >>> from hyperplan.metrics import class_likelihood_ratios
    >>> class_likelihood_ratios([0, 1, 0, 1, 0], [1, 1, 0, 0, 0])
    (1.5, 0.75)
    """
    targets = check_targets(y_true, y_pred, sample_weight)
    if targets.kind != "binary":
        raise ValueError(
            f"class_likelihood_ratios only supports binary classification problems, got targets of type: {targets.kind}"
        )
    instead = _replacements(replace_undefined_by)
    tn, fp, fn, tp = counts_of(targets, labels).ravel()
    positives, negatives = tp + fn, tn + fp
    if positives == 0:
        _warn(
            "No samples of the positive class are present in `y_true`. `positive_likelihood_ratio` and "
            f"`negative_likelihood_ratio` are both set to `np.nan`. {HOW_TO}"
        )
        return float("nan"), float("nan")
    if fp == 0:
        reason = "No samples were predicted for the positive class and " if tp == 0 else ""
        state = "`positive_likelihood_ratio` is set" if reason else "`positive_likelihood_ratio` is ill-defined and set"
        _warn(f"{reason}{state} to `np.nan`. {HOW_TO}")
    if tn == 0:
        _warn(f"`negative_likelihood_ratio` is ill-defined and set to `np.nan`. {HOW_TO}")
    first = instead[0] if fp == 0 else tp * negatives / (fp * positives)
    second = instead[1] if tn == 0 else fn * negatives / (tn * positives)
    return float(first), float(second)


def _replacements(value):
    """The two values to return where a ratio is undefined."""
    if not isinstance(value, dict):
        return value, value
    ratios = value.get("LR+"), value.get("LR-")
    known = all(isinstance(ratio, RealNumber) and not isinstance(ratio, bool) for ratio in ratios)
    if known and not ratios[0] < 1 and not (ratios[1] < 0 or ratios[1] > 1):  # NaN is welcome
        return ratios
    raise ValueError(
        "The dictionary passed as `replace_undefined_by` needs to be in the form `{'LR+': `value_1`, 'LR-': "
        "`value_2`}` where the value for `LR+` ranges from `1.0` to `np.inf` or is `np.nan` and the value for `LR-` "
        f"ranges from `0.0` to `1.0` or is `np.nan`; got `{value}`."
    )
