"""Cross-validated paths without copies of X: a fold is a vector of weights, or a difference of Gram matrices."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.parallel import thread_map
from hyperplan._math.moments import Moments, moments
from hyperplan._solvers.coordinate_design import by_columns
from hyperplan.linear_model._elastic_net_problem import (
    WORKING_SET_COLUMNS,
    WORKING_SET_ENTRIES,
    DesignProblem,
    GramProblem,
    penalties_for,
    uses_gram,
)
from hyperplan.linear_model._multi_task_problem import MultiTaskProblem

CANCELLATION = 1e-7  # squared errors this small against the target's are computed from the rows instead


class FoldTask(NamedTuple):
    """What all folds share."""

    X: object
    y: np.ndarray
    weight: np.ndarray
    center: bool
    l1_ratios: list
    alphas: list
    positive: bool
    options: object


def merge_moments(parts, center) -> Moments:
    """Moments of the union of disjoint rows, in the given order."""
    total = sum(p.total for p in parts)
    x_mean = sum(p.total * p.x_mean for p in parts) / total
    y_mean = sum(p.total * p.y_mean for p in parts) / total
    gram, cross, square = (sum(getattr(p, name) for p in parts) for name in ("gram", "cross", "y_square"))
    for p in parts if center else ():
        dx, dy = p.x_mean - x_mean, p.y_mean - y_mean
        gram += p.total * np.outer(dx, dx)
        cross += p.total * np.outer(dx, dy)
        square += p.total * dy**2
    return Moments(total, x_mean, y_mean, gram, cross, square)


def remove_moments(whole, part, center) -> Moments:
    """Moments of the rows of `whole` that are not in `part`."""
    total = whole.total - part.total
    x_mean = (whole.total * whole.x_mean - part.total * part.x_mean) / total
    y_mean = (whole.total * whole.y_mean - part.total * part.y_mean) / total
    gram, cross, square = whole.gram - part.gram, whole.cross - part.cross, whole.y_square - part.y_square
    if center:
        # the scatter of the whole is that of its parts plus that of their means
        share = part.total * total / whole.total
        dx, dy = part.x_mean - x_mean, part.y_mean - y_mean
        gram -= share * np.outer(dx, dx)
        cross -= share * np.outer(dx, dy)
        square -= share * dy**2
    np.fill_diagonal(gram, np.maximum(np.diagonal(gram), 0.0))
    return Moments(total, x_mean, y_mean, gram, cross, np.maximum(square, 0.0))


def scaled_moments(m, total) -> Moments:
    """The same with weights that sum to `total`."""
    s = total / m.total
    return Moments(float(total), m.x_mean, m.y_mean, m.gram * s, m.cross * s, m.y_square * s)


def row_counts(indices, n):
    """How often each row occurs."""
    indices = np.asarray(indices)
    return indices.astype(np.int64) if indices.dtype == np.bool_ else np.bincount(indices % n, minlength=n)


def fold_problems(X, y, weight, folds, *, center, precompute, n_penalties, tol, n_jobs):
    """(problem of all rows, function from a fold's number to its problem and test moments or None).

    Few columns: one pass over the data gives the Gram matrix of each test fold; training sets follow by subtraction.
    Many columns, or several targets (y of two dimensions): nothing is computed here, folds are weights on the one X.
    """
    n, d = X.shape
    if y.ndim == 2 or not uses_gram(X, precompute, n_penalties, tol):
        X = by_columns(X)
        wide = d > WORKING_SET_COLUMNS and n * d > WORKING_SET_ENTRIES

        def weighted(weight, total=None):
            if y.ndim == 2:
                return MultiTaskProblem(X, y, weight, center=center, total=total)
            return DesignProblem(X, y[:, None], weight, center=center, total=total, working_set=wide)

        def by_weights(k):
            counts = row_counts(folds[k][0], n)
            return weighted(counts * weight, float(counts.sum())), None

        return weighted(None if (weight == 1).all() else weight), by_weights
    rows = X.tocsr() if sp.issparse(X) else X
    Y = y[:, None]

    def moments_of(indices):
        indices = _as_span(indices)
        part = rows[indices] if sp.issparse(rows) or rows.flags.c_contiguous else np.asfortranarray(rows[indices])
        return moments(part, Y[indices], weight[indices], center=center)

    tested = thread_map(lambda fold: moments_of(fold[1]), folds, n_jobs)
    parted = (sum(row_counts(test, n) for _, test in folds) == 1).all() and all(m.total > 0 for m in tested)
    whole = merge_moments(tested, center) if parted else moments(X, Y, weight, center=center)

    def by_moments(k):
        train, test = folds[k]
        complement = (row_counts(train, n) + row_counts(test, n) == 1).all()
        m = remove_moments(whole, tested[k], center) if complement else moments_of(train)
        return GramProblem(scaled_moments(m, float(row_counts(train, n).sum()))), tested[k]

    return GramProblem(scaled_moments(whole, n)), by_moments


def _as_span(indices):
    """Neighbouring rows as a slice, which needs no copy row by row; other indices as they are."""
    indices = np.asarray(indices)
    if indices.dtype == np.bool_ or not indices.shape[0] or indices[0] < 0 or (np.diff(indices) != 1).any():
        return indices
    return slice(int(indices[0]), int(indices[-1]) + 1)


def fold_errors(task, test, problem, tested):
    """(mean squared errors of shape (n_l1_ratios, n_alphas), solutions) of one fold."""
    errors, solutions = [], []
    for l1_ratio, alphas in zip(task.l1_ratios, task.alphas):
        solution = problem.solve(0, penalties_for(alphas, l1_ratio, problem.total, task.positive), task.options)
        intercepts = np.zeros(solution.coefs.shape[:-1])
        if task.center:
            intercepts = problem.y_mean - solution.coefs @ problem.x_mean
        mse = None if tested is None else _errors_from_moments(tested, solution.coefs, intercepts)
        errors.append(_errors_from_rows(task, test, solution.coefs, intercepts) if mse is None else mse)
        solutions.append(solution)
    return np.array(errors), solutions


def _errors_from_moments(m, coefs, intercepts):
    """Mean squared errors from the sums over the test rows; None where they would cancel."""
    if not m.total > 0:
        return None
    quadratic = ((coefs @ m.gram) * coefs).sum(axis=1) - 2 * coefs @ m.cross[:, 0] + m.y_square[0]
    bias = m.y_mean[0] - coefs @ m.x_mean - intercepts
    mse = quadratic / m.total + bias**2
    scale = m.y_square[0] / m.total + bias**2
    return mse if (mse > CANCELLATION * scale).all() else None


def _errors_from_rows(task, test, coefs, intercepts):
    """Mean squared errors from the predictions of the test rows, over the columns that are ever used."""
    used = np.flatnonzero(coefs.any(axis=tuple(range(coefs.ndim - 1))))
    block = task.X[:, used][test] if sp.issparse(task.X) else task.X[np.ix_(_positions(test, len(task.y)), used)]
    if coefs.ndim == 3:  # several targets: one penalty at a time, for the sake of memory
        residuals = (np.asarray(block @ W[:, used].T) + b - task.y[test] for W, b in zip(coefs, intercepts))
        return np.array([np.average((r**2).mean(axis=1), weights=task.weight[test]) for r in residuals])
    residuals = np.asarray(block @ coefs[:, used].T) + intercepts - task.y[test, None]
    return np.average(residuals**2, axis=0, weights=task.weight[test])


def _positions(indices, n):
    indices = np.asarray(indices)
    return np.flatnonzero(indices) if indices.dtype == np.bool_ else indices % n
