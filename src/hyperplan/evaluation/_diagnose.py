"""A second opinion on a model: too stiff, too flexible, unstable, leaking or fine, with numbers and what to change.

Nothing is judged by a single training score.  The model is fitted on repeated folds beside simpler and more flexible
copies of itself, a flexible reference of another kind and an answer that ignores the columns; each column is tried
alone; training sizes are halved.  Under-fit and over-fit then mean that a copy moved the other way scores better, by
more than the splits' spread explains.
"""

from hyperplan._base import check_consistent_length, is_classifier, is_regressor
from hyperplan._texts import LANGUAGES
from hyperplan.evaluation._checks import check_choice
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
) -> Diagnosis:
    """diagnose(model, X, y, *, scoring=None, cv=5, n_repeats=2, groups=None, level=0.95, try_advice=True,
    language="en", random_state=0, n_jobs=None) -> Diagnosis(name, findings, verdicts, measurements, language)

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
        Also fit copies with the advised changes and a reference model: about six times the work, without which
        under-fit and over-fit cannot be told.
    language : {"en", "fr"}, default="en"
        Of the words.
    random_state : int, RandomState or None, default=0
        Of the splits.
    n_jobs : int, optional
        Threads; None means all cores for estimators of this package.  No number depends on it.

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
    '↑ max_depth (1)'
    """
    check_choice("language", language, LANGUAGES)
    if not is_classifier(model) and not is_regressor(model):
        raise ValueError(f"diagnose needs a classifier or a regressor, got {type(model).__name__}")
    X, y = as_table(X), as_table(y)
    check_consistent_length(X, y)
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
    )
    return make_diagnosis(model, found, level, language)
