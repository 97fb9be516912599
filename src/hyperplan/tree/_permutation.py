"""Permutation importance: how much worse a tree answers when one column is shuffled.

Of a column j: the score on (X, y) minus the mean score over `n_repeats` shuffles of column j.  Columns that no split
asks for have importance 0, and are not tried: a tree of depth k asks for few.
"""

import numbers

import numpy as np
import scipy.sparse as sp

from hyperplan._base import Bunch, InvalidParameterError, check_is_fitted, seed_from


def permutation_importance(model, X, y, *, scoring=None, n_repeats=5, random_state=None, sample_weight=None):
    """Loss of score when a column is shuffled, for a fitted tree (or any estimator).

    Parameters
    ----------
    model : fitted estimator
        For trees, columns that they never ask for are skipped.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows, best such that the tree has not seen.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Their targets.
    scoring : str, callable or None, default=None
        As in scikit-learn; None: the estimator's `score`.
    n_repeats : int, default=5
        Shuffles of each column.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffles.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights in the score.

    Returns
    -------
    result : Bunch
        `importances` (n_features, n_repeats), `importances_mean` and `importances_std` (n_features,).

    References
    ----------
    Breiman (2001), Random forests.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.tree import DecisionTreeClassifier, permutation_importance
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = DecisionTreeClassifier(max_depth=1).fit(X, X[:, 1] > 0)
    >>> found = permutation_importance(model, X, X[:, 1] > 0, random_state=0)
    >>> found.importances_mean.argmax().item(), found.importances_mean[[0, 2]].tolist()
    (1, [0.0, 0.0])
    """
    from hyperplan._base import check_scoring

    check_is_fitted(model)
    if not isinstance(n_repeats, numbers.Integral) or n_repeats < 1:
        raise InvalidParameterError(f"n_repeats must be an integer >= 1, got {n_repeats!r}")
    if sp.issparse(X):
        raise TypeError("Sparse data was passed, but shuffled columns are dense: use X.toarray()")
    scorer, seed = check_scoring(model, scoring=scoring), seed_from(random_state)
    options = {} if sample_weight is None else {"sample_weight": sample_weight}
    X = X if hasattr(X, "columns") else np.asarray(X)
    full = scorer(model, X, y, **options)
    found = np.zeros((X.shape[1], n_repeats))
    for j in used_columns(model, X.shape[1]):
        rng = np.random.default_rng([seed, j])
        for k in range(n_repeats):
            found[j, k] = full - scorer(model, _shuffled(X, j, rng.permutation(X.shape[0])), y, **options)
    return Bunch(importances=found, importances_mean=found.mean(axis=1), importances_std=found.std(axis=1))


def used_columns(model, n_features):
    """The columns that a tree asks for; all of them for other estimators.

    >>> from hyperplan.tree import DecisionTreeRegressor
    >>> used_columns(DecisionTreeRegressor().fit([[0.0, 1.0], [0.0, 2.0]], [0.0, 1.0]), 2)
    [1]
    """
    tree = getattr(model, "tree_", None)
    if not hasattr(tree, "feature") or hasattr(tree, "surrogates"):  # surrogates may ask for any column
        return list(range(n_features))
    used = set(np.unique(tree.feature[tree.feature >= 0]).tolist())
    if hasattr(tree, "weights"):
        used |= set(np.flatnonzero(np.any(tree.weights != 0.0, axis=0)).tolist())
    return sorted(used)


def _shuffled(X, j, order):
    """A copy of a table with one column in another order."""
    if hasattr(X, "iloc"):
        X = X.copy()
        X.isetitem(j, X.iloc[order, j].array)
        return X
    if hasattr(X, "columns"):
        return X.with_columns(X[:, j][order].alias(X.columns[j]))
    X = X.copy()
    X[:, j] = X[order, j]
    return X
