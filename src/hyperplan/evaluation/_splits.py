"""Train/test splits that every model of a comparison shares.

Rows are shuffled before they are cut into folds: consecutive blocks of a sorted table would train on one part of
the world and test on another.  Folds have floor(n/K) or ceil(n/K) rows; with classes they keep the classes' shares.
"""

import numpy as np

from hyperplan._base import check_cv, is_classifier
from hyperplan._base.validate import check_random_state


def repeated_folds(strata: np.ndarray, n_folds: int, n_repeats: int, seed: int = 0) -> list[np.ndarray]:
    """Test indices of each fold of each repetition; rows of one stratum are dealt evenly over the folds.

    `strata` holds an integer per row: the class, or the same value everywhere when there are no classes.
    """
    rng = np.random.default_rng(seed)
    tests = []
    for _ in range(n_repeats):
        shuffled = rng.permutation(strata.shape[0])
        order = shuffled[np.argsort(strata[shuffled], kind="stable")]  # stratum by stratum, each in random order
        tests += [np.sort(order[fold::n_folds]) for fold in range(n_folds)]
    return tests


def make_splits(estimator, X, y, cv=5, n_repeats: int = 1, groups=None, random_state=0) -> list[tuple]:
    """``[(train, test), ...]`` row numbers.

    A number of folds means shuffled folds, stratified for a classifier, `n_repeats` times; with `groups` each group is
    in one fold.  A splitter of scikit-learn or a list of splits is used as it is, once.
    """
    if not isinstance(cv, int | np.integer):
        return list(check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y, groups))
    n_rows, random_state = len(y), check_random_state(random_state)
    classes = is_classifier(estimator)
    unit = np.arange(n_rows) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    n_units = int(unit.max()) + 1
    if not 2 <= cv <= n_units:
        raise ValueError(f"cv={cv} folds need between 2 and {n_units} ({'rows' if groups is None else 'groups'})")
    strata = np.zeros(n_units, dtype=np.intp)
    if classes and groups is None:
        strata = np.unique(np.asarray(y), return_inverse=True)[1]
    tests = repeated_folds(strata, int(cv), n_repeats, int(random_state.randint(2**31 - 1)))
    return [(np.flatnonzero(~chosen), np.flatnonzero(chosen)) for chosen in (np.isin(unit, test) for test in tests)]


def share_of_splits(splits) -> float:
    """Mean n_test over mean n_train."""
    return float(np.mean([len(test) for _, test in splits]) / np.mean([len(train) for train, _ in splits]))
