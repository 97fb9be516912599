"""Learning curve: what more rows would bring.

The model is fitted on growing parts of the training rows of each split, and scored on the part itself and on the rows
left out.  Two curves that have met say that more rows of this kind will not help (change the model); a gap that is
closing says that they will.  Parts are nested, and for classes they keep the shares of the classes as well as their
sizes allow.

Intervals are corrected resampled t with the n_test / n_train of the whole training parts at every size: smaller parts
overlap less, so that the intervals at small sizes are on the wide side.

References
----------
Perlich, Provost, Simonoff (2003), Tree induction vs. logistic regression: a learning-curve analysis, JMLR 4.
"""

import numpy as np

from hyperplan._base import check_consistent_length, clone, is_classifier, seed_from
from hyperplan._core.rng import task_seeds
from hyperplan.evaluation._checks import check_level
from hyperplan.evaluation._curve import Curve, make_curve
from hyperplan.evaluation._splits import make_splits
from hyperplan.evaluation._tables import as_table
from hyperplan.metrics import check_scoring


def learning_curve(
    estimator,
    X,
    y,
    *,
    sizes=(0.1, 0.325, 0.55, 0.775, 1.0),
    cv=5,
    n_repeats: int = 1,
    scoring=None,
    groups=None,
    level: float = 0.95,
    random_state=0,
    n_jobs=None,
) -> Curve:
    """learning_curve(estimator, X, y, *, sizes=(0.1, 0.325, 0.55, 0.775, 1.0), cv=5, n_repeats=1, scoring=None,
    groups=None, level=0.95, random_state=0, n_jobs=None)
    -> Curve(name, x, train, train_low, train_high, validation, validation_low, validation_high, ...)

    Scores against the number of training rows, with intervals.

    Parameters
    ----------
    estimator : estimator
    X, y : data
    sizes : list of float in (0, 1], or of int
        Shares of the smallest training part, or numbers of rows.
    cv, n_repeats, scoring, groups, random_state, n_jobs
        As in `score_models`.
    level : float, default=0.95

    Examples
    --------
    >>> from hyperplan.datasets import load_penguins
    >>> from hyperplan.evaluation import learning_curve
    >>> from hyperplan.linear_model import LinearRegression
    >>> X, y = load_penguins(target="body_mass_g", return_X_y=True)
    >>> curve = learning_curve(LinearRegression(), X, y, sizes=[20, 60, 260])
    >>> curve.validation.round(2).tolist()
    [0.75, 0.84, 0.87]
    """
    check_level(level)
    X, y = as_table(X), as_table(y)
    check_consistent_length(X, y)
    splits = make_splits(estimator, X, y, cv, n_repeats, groups, random_state)
    counts = _counts(sizes, min(len(train) for train, _ in splits))
    strata = np.unique(np.asarray(y), return_inverse=True)[1] if is_classifier(estimator) else np.zeros(len(y), int)
    seeds = task_seeds(seed_from(random_state), len(splits))
    orders = [_nested_order(train, strata[train], int(seed)) for (train, _), seed in zip(splits, seeds)]
    models = [lambda: clone(estimator)] * len(counts)
    scorer = check_scoring(estimator, scoring)
    return make_curve(
        "training rows", counts, models, lambda j, i: orders[j][: counts[i]], X, y, splits, scorer, level, n_jobs
    )


def _counts(sizes, largest) -> list:
    sizes = np.asarray(sizes)
    counts = sizes if sizes.dtype.kind in "iu" else np.floor(sizes * largest + 1e-9).astype(int)
    if sizes.ndim != 1 or not sizes.size or (counts < 1).any() or (counts > largest).any():
        raise ValueError(
            f"sizes must be shares in (0, 1] or numbers of rows up to {largest}, the smallest part; got {sizes}"
        )
    return np.unique(counts).tolist()


def _nested_order(rows, strata, seed):
    """Rows in random order whose beginnings keep the shares of the strata."""
    rng = np.random.default_rng(seed)
    key = np.empty(rows.size)
    for stratum in np.unique(strata):
        mine = np.flatnonzero(strata == stratum)
        key[rng.permutation(mine)] = (np.arange(mine.size) + rng.random(mine.size)) / mine.size
    return rows[np.argsort(key, kind="stable")]
