"""Validation curve: scores along one hyper-parameter, with intervals.

Too simple (underfit): both scores low.  Too flexible (overfit): the training score high, the other one falling away
from it.  The best value was chosen on these scores, so that its own score flatters: see `nested_cross_validation` and
`bootstrap_bias_corrected`; for the simplest value that is as good, see `one_standard_error`.

References
----------
Hastie, Tibshirani, Friedman (2009), The elements of statistical learning, section 7.10.
"""

from hyperplan._base import check_consistent_length, clone
from hyperplan.evaluation._checks import check_level
from hyperplan.evaluation._curve import Curve, make_curve
from hyperplan.evaluation._splits import make_splits
from hyperplan.evaluation._tables import as_table
from hyperplan.metrics import check_scoring


def validation_curve(
    estimator,
    X,
    y,
    name: str,
    values,
    *,
    cv=5,
    n_repeats: int = 1,
    scoring=None,
    groups=None,
    level: float = 0.95,
    random_state=0,
    n_jobs=None,
) -> Curve:
    """validation_curve(estimator, X, y, name, values, *, cv=5, n_repeats=1, scoring=None, groups=None, level=0.95,
    random_state=0, n_jobs=None)
    -> Curve(name, x, train, train_low, train_high, validation, validation_low, validation_high, ...)

    Scores against the values of one hyper-parameter, on the same splits, with corrected t intervals.

    Parameters
    ----------
    estimator : estimator
    X, y : data
    name : str
        Parameter of the estimator (``step__name`` inside a pipeline).
    values : list
    cv, n_repeats, scoring, groups, random_state, n_jobs
        As in `score_models`.
    level : float, default=0.95

    Examples
    --------
    >>> from hyperplan.datasets import load_penguins
    >>> from hyperplan.evaluation import validation_curve
    >>> from hyperplan.tree import DecisionTreeClassifier
    >>> X, y = load_penguins(return_X_y=True)
    >>> curve = validation_curve(DecisionTreeClassifier(random_state=0), X, y, "max_depth", [1, 2, 4])
    >>> curve.validation.round(2).tolist()
    [0.78, 0.95, 0.98]
    """
    check_level(level)
    values = list(values)
    if not values:
        raise ValueError("values is empty: give the values of the parameter to try")
    X, y = as_table(X), as_table(y)
    check_consistent_length(X, y)
    splits = make_splits(estimator, X, y, cv, n_repeats, groups, random_state)
    models = [lambda value=value: clone(estimator).set_params(**{name: clone(value, safe=False)}) for value in values]
    scorer = check_scoring(estimator, scoring)
    return make_curve(name, values, models, lambda j, i: splits[j][0], X, y, splits, scorer, level, n_jobs)
