"""Scores of all penalties on given folds: the sums over the training rows of a fold serve every penalty.

Objective: that of `Ridge`, on the training rows of each fold.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan._base import check_finite, clone, encode_labels, is_classifier, type_of_target
from hyperplan._math.moments import moments, row_gram
from hyperplan.linear_model._normal_equations import SPARSE_DIRECT
from hyperplan.linear_model._ridge import ridge_attributes
from hyperplan.linear_model._ridge_solvers import RidgeProblem, dual_fit, primal_fit, solve_cholesky


def signs(y, name):
    """Classes and targets (n, k) in {-1, 1}: one column for two classes (or one), else one per class or label."""
    kind = type_of_target(y)
    if kind.startswith("multilabel"):
        y = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
        return np.arange(y.shape[1]), 2.0 * (y > 0) - 1.0
    if kind.endswith("multioutput"):
        raise ValueError("Multioutput target data is not supported with label binarization")
    labels = encode_labels(y, min_classes=1, estimator_name=name)
    if labels.classes.shape[0] <= 2:
        return labels.classes, np.where(labels.codes == 1, 1.0, -1.0)[:, None]
    targets = np.full((labels.codes.shape[0], labels.classes.shape[0]), -1.0)
    targets[np.arange(targets.shape[0]), labels.codes] = 1.0
    return labels.classes, targets


def direct_solve_pays(X) -> bool:
    """Whether the Gram matrix of the shorter side is what `Ridge` itself would use."""
    return not sp.issparse(X) or min(X.shape) <= SPARSE_DIRECT


def fold_scores(estimator, model, X, y, weight, alphas, splits, scorer):
    """Mean score over folds for each penalty; None when the sums overflow (`estimator` is for error messages)."""
    X = X.tocsr() if sp.issparse(X) else X
    scores = np.empty((len(splits), len(alphas)))
    for fold, (train, test) in enumerate(splits):
        models = _fitted(model, X[train], y[train], None if weight is None else weight[train], alphas)
        if models is None:
            check_finite(estimator, X)
            return None
        held_out, truth = X[test], y[test]
        options = {} if weight is None else {"sample_weight": weight[test]}
        scores[fold] = [scorer(fitted, held_out, truth, **options) for fitted in models]
    return scores.mean(axis=0)


def _fitted(model, X, y, weight, alphas):
    """One fitted clone of `model` per penalty, or None when X is not finite or its squares overflow."""
    classes = None
    if is_classifier(model):
        classes, Y = signs(y, type(model).__name__)
    else:
        Y = y.astype(np.float64, copy=False).reshape(X.shape[0], -1)
    n, d = X.shape
    center = bool(model.fit_intercept)
    solve, sums = (
        (primal_fit, moments(X, Y, weight, center=center)) if d <= n else (dual_fit, row_gram(X, weight, center=center))
    )
    fitted = []
    for alpha in alphas:
        problem = RidgeProblem(X, Y, weight, np.full(Y.shape[1], alpha), center)
        fit = solve(problem, sums) if alpha > 0 else solve_cholesky(problem)
        if not fit.status.ok:
            return None
        copy = clone(model).set_params(alpha=alpha)
        copy.n_features_in_ = d
        if classes is not None:
            copy.classes_, copy._multilabel = classes, type_of_target(y).startswith("multilabel")
        y_ndim = y.ndim if classes is None else 2
        copy.coef_, copy.intercept_ = ridge_attributes(fit, y_ndim, X.dtype, center)
        fitted.append(copy)
    return fitted
