"""A second opinion on a model: too stiff, too flexible, unstable, leaking or fine, with numbers and what to change.

Nothing is judged by a single training score.  The model is fitted on repeated folds beside simpler and more flexible
copies of itself, a flexible reference of another kind and an answer that ignores the columns; each column is tried
alone; training sizes are halved.  Under-fit and over-fit then mean that a copy moved the other way scores better, by
more than the splits' spread explains.
"""

from hyperplan._base import check_consistent_length, is_classifier, is_regressor
from hyperplan._texts import LANGUAGES
from hyperplan.evaluation._checks import check_choice, check_level
from hyperplan.evaluation._diagnose_measure import measure
from hyperplan.evaluation._diagnose_record import Diagnosis, make_diagnosis
from hyperplan.evaluation._tables import as_table


def diagnose(
    model,
    X,
    y,
    *,
    scoring=None,
    cv=5,
    n_repeats: int = 2,
    groups=None,
    level: float = 0.95,
    try_advice: bool = True,
    language: str = "en",
    random_state=0,
    n_jobs=None,
    trace=None,
) -> Diagnosis:
    """diagnose(model, X, y, *, scoring=None, cv=5, n_repeats=2, groups=None, level=0.95, try_advice=True,
    language="en", random_state=0, n_jobs=None, trace=None) -> Diagnosis(name, findings, verdicts, measurements,
    language)

    Whether a model is too stiff, too flexible, unstable, leaking or fine, and what to change.

    Parameters
    ----------
    model : classifier or regressor
        Also a pipeline or a search; it is cloned, not changed.
    X, y : data
        As the model wants them.
    scoring : str or callable, optional
        As in scikit-learn, larger is better; None: the model's own score.  With a function the best possible score is
        not known, and checks that need it are left out.
    cv : int, splitter or list of splits, default=5
        A number means that many shuffled folds, stratified for classifiers.
    n_repeats : int, default=2
        How often the folds are drawn anew, when `cv` is a number.  Instability shows from 2 on.
    groups : array, optional
        Rows of a group stay together.
    level : float, default=0.95
        Of the intervals.
    try_advice : bool, default=True
        Also fit copies with the advised changes and a reference model, without which under-fit and over-fit cannot be
        told.
    language : {"en", "fr"}, default="en"
        Of the words.
    random_state : int, RandomState or None, default=0
        Of the splits, and of whatever is random in the model and has no seed of its own.
    n_jobs : int, optional
        Threads; None means all cores for estimators of this package.  No number depends on it.
    trace : callable, optional
        Called as ``trace(number of fits so far, score on new rows)`` after each fit; it may come from several threads,
        one at a time.

    Returns
    -------
    diagnosis : Diagnosis
        ``print`` it, or read `verdicts`, `findings`, `frame()`.

    Notes
    -----
    Per split (ten by default) the model is fitted twice, once on half of the rows; the answer that ignores the columns
    once; a reference (random forest below 1000 rows, else histogram boosting) once; and up to four copies that are
    simpler or more flexible: at most 80 fits, `measurements.n_fits` counts them.  Each column alone costs one small
    tree per fold; of more than 60 columns one fold chooses the 20 that the other folds are spent on.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.evaluation import diagnose
    >>> from hyperplan.tree import DecisionTreeRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(300, 2))
    >>> diagnosis = diagnose(DecisionTreeRegressor(max_depth=1, random_state=0), X, np.sin(X[:, 0]) + X[:, 1])
    >>> diagnosis.verdict
    'underfit'
    >>> next(f.values["moves"] for f in diagnosis.findings if f.code == "D02")
    '↑ max_depth (1), → HistGradientBoostingRegressor'
    """
    check_choice("language", language, LANGUAGES)
    check_level(level)
    if not is_classifier(model) and not is_regressor(model):
        raise ValueError(f"diagnose needs a classifier or a regressor, got {type(model).__name__}")
    X, y = _checked(model, X, y)
    found = measure(
        model,
        X,
        y,
        cv=cv,
        n_repeats=n_repeats,
        scoring=scoring,
        groups=groups,
        random_state=random_state,
        n_jobs=n_jobs,
        try_advice=try_advice,
        trace=trace,
    )
    return make_diagnosis(model, found, level, language)


def _checked(model, X, y):
    X, y = as_table(X), as_table(y)
    check_consistent_length(X, y)
    if len(X.shape) != 2:
        raise ValueError(f"X must be a table of rows and columns, got shape {X.shape}")
    if is_classifier(model) and len(y.shape) != 1:
        raise ValueError(f"y must be one column of classes, got shape {y.shape}: diagnose one target at a time")
    return X, y
