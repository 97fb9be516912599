"""Scorers: functions of (model, X, y) where larger is better, made from the metrics of this package.

The names are scikit-learn's; calling the model, signs and routing of metadata are left to its `make_scorer`.
"""

import importlib
from typing import NamedTuple

from hyperplan._base.scoring import check_scoring as check_with_scikit_learn
from hyperplan._base.scoring import make_scorer
from hyperplan.metrics._arguments import Is, checked

SCORES = ("decision_function", "predict_proba")  # the first that the model has


class _Recipe(NamedTuple):
    """A metric by name, what it is called with, and which way is better."""

    metric: str
    response_method: str | tuple = "predict"
    greater_is_better: bool = True
    options: dict = {}


def _loss(metric, response_method="predict"):
    return _Recipe(metric, response_method, greater_is_better=False)


def _averages(metric):
    """The four averages of a metric of one class."""
    yield metric.removesuffix("_score"), _Recipe(metric, options={"average": "binary"})
    for average in ("macro", "micro", "samples", "weighted"):
        options = {"pos_label": None, "average": average}
        yield f"{metric.removesuffix('_score')}_{average}", _Recipe(metric, options=options)


_PLAIN = (
    "d2_absolute_error_score",
    "matthews_corrcoef",
    "adjusted_rand_score",
    "rand_score",
    "homogeneity_score",
    "completeness_score",
    "v_measure_score",
    "mutual_info_score",
    "adjusted_mutual_info_score",
    "normalized_mutual_info_score",
    "fowlkes_mallows_score",
)
_LOSSES = (
    "max_error",
    "median_absolute_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_log_error",
    "root_mean_squared_error",
    "root_mean_squared_log_error",
    "mean_poisson_deviance",
    "mean_gamma_deviance",
)
_RECIPES = {
    **{name: _Recipe(name) for name in _PLAIN},
    **{f"neg_{name}": _loss(name) for name in _LOSSES},
    "r2": _Recipe("r2_score"),
    "explained_variance": _Recipe("explained_variance_score"),
    "accuracy": _Recipe("accuracy_score"),
    "balanced_accuracy": _Recipe("balanced_accuracy_score"),
    "top_k_accuracy": _Recipe("top_k_accuracy_score", SCORES),
    "roc_auc": _Recipe("roc_auc_score", SCORES),
    "roc_auc_ovr": _Recipe("roc_auc_score", "predict_proba", options={"multi_class": "ovr"}),
    "roc_auc_ovo": _Recipe("roc_auc_score", "predict_proba", options={"multi_class": "ovo"}),
    "roc_auc_ovr_weighted": _Recipe(
        "roc_auc_score", "predict_proba", options={"multi_class": "ovr", "average": "weighted"}
    ),
    "roc_auc_ovo_weighted": _Recipe(
        "roc_auc_score", "predict_proba", options={"multi_class": "ovo", "average": "weighted"}
    ),
    "average_precision": _Recipe("average_precision_score", SCORES),
    "neg_log_loss": _loss("log_loss", "predict_proba"),
    "neg_brier_score": _loss("brier_score_loss", "predict_proba"),
    "d2_log_loss_score": _Recipe("d2_log_loss_score", "predict_proba"),
    "d2_brier_score": _Recipe("d2_brier_score", "predict_proba"),
    "positive_likelihood_ratio": _Recipe("positive_likelihood_ratio"),
    "neg_negative_likelihood_ratio": _loss("negative_likelihood_ratio"),
    **{
        name: recipe
        for metric in ("precision_score", "recall_score", "f1_score", "jaccard_score")
        for name, recipe in _averages(metric)
    },
}


def positive_likelihood_ratio(y_true, y_pred):
    """True positive rate over false positive rate; 1 where that is undefined."""
    return importlib.import_module("hyperplan.metrics").class_likelihood_ratios(
        y_true, y_pred, replace_undefined_by=1.0
    )[0]


def negative_likelihood_ratio(y_true, y_pred):
    """False negative rate over true negative rate; 1 where that is undefined."""
    return importlib.import_module("hyperplan.metrics").class_likelihood_ratios(
        y_true, y_pred, replace_undefined_by=1.0
    )[1]


def get_scorer_names():
    """Names that `get_scorer` knows, sorted.

    Returns
    -------
    names : list of str
        The names.

    Examples
    --------
    >>> from hyperplan.metrics import get_scorer_names
    >>> get_scorer_names()[:2]
    ['accuracy', 'adjusted_mutual_info_score']
    """
    return sorted(_RECIPES)


@checked(
    scoring=Is(lambda v: v is None or callable(v) or isinstance(v, str), "an instance of 'str', a callable or None")
)
def get_scorer(scoring):
    """A scorer by its name.

    Parameters
    ----------
    scoring : str, callable or None
        A name; anything else is returned as it is.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y)`` gives a number that is larger for a better model.

    Examples
    --------
    >>> from hyperplan.linear_model import LinearRegression
    >>> from hyperplan.metrics import get_scorer
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> round(get_scorer("r2")(model, [[0.0], [3.0]], [0.0, 3.0]), 6)
    1.0
    """
    if not isinstance(scoring, str):
        return scoring
    if scoring not in _RECIPES:
        raise ValueError(
            f"{scoring!r} is not a valid scoring value. Use hyperplan.metrics.get_scorer_names() to get valid options."
        )
    name, response_method, greater_is_better, options = _RECIPES[scoring]
    metric = globals().get(name) or getattr(importlib.import_module("hyperplan.metrics"), name)
    return make_scorer(metric, response_method=response_method, greater_is_better=greater_is_better, **options)


def check_scoring(estimator=None, scoring=None, *, allow_none=False, raise_exc=True):
    """A scorer from what a `scoring` parameter may be.

    Parameters
    ----------
    estimator : object with `fit`, default=None
        The model to be scored.
    scoring : str, callable, list, tuple, set, dict or None, default=None
        A name, a function of (estimator, X, y), several of them (the scorer then returns a dict), or None for the
        model's own `score`.
    allow_none : bool, default=False
        Whether a model without `score` gives None instead of an error.
    raise_exc : bool, default=True
        Whether an error of one of several scorers is raised; else its text stands in the dict.

    Returns
    -------
    scorer : callable or None
        ``scorer(estimator, X, y)``.

    Examples
    --------
    >>> from hyperplan.linear_model import LinearRegression
    >>> from hyperplan.metrics import check_scoring
    >>> check_scoring(LinearRegression(), scoring="r2")
    make_scorer(r2_score, response_method='predict')
    """
    if isinstance(scoring, str):
        scoring = get_scorer(scoring)
    elif callable(scoring) and _is_metric(scoring):
        raise ValueError(
            f"scoring value {scoring!r} looks like it is a metric function rather than a scorer. A scorer should "
            "require an estimator as its first parameter. Please use `make_scorer` to convert a metric to a scorer."
        )
    elif isinstance(scoring, dict):
        scoring = {key: get_scorer(value) if isinstance(value, str) else value for key, value in scoring.items()}
    elif isinstance(scoring, list | tuple | set) and scoring and _are_different_names(scoring):
        scoring = {name: get_scorer(name) for name in scoring}
    return check_with_scikit_learn(estimator, scoring, allow_none=allow_none, raise_exc=raise_exc)


def _is_metric(function):
    return str(getattr(function, "__module__", "")).startswith("hyperplan.metrics.")


def _are_different_names(scoring):
    return all(isinstance(name, str) for name in scoring) and len(set(scoring)) == len(scoring)
