"""When a fit without penalty is worth a search for separation, and the search itself.

Along a direction of recession the loss of the rows that gain falls like ``exp(-t)``: however small the gradient is, a
Newton step moves their scores by about one.  Fits whose last Newton step moves no score visibly have a finite optimum.
"""

import numpy as np

from hyperplan._core.parallel import single_threaded_blas
from hyperplan._solvers.logistic import SmoothProblem
from hyperplan._solvers.logistic_rows import Penalty, Rows
from hyperplan._solvers.logistic_separation import binary_conditions, recession_direction, softmax_conditions
from hyperplan._solvers.softmax import NEWTON_SIZE, NEWTON_WORK, SmoothSoftmax
from hyperplan._solvers.softmax_rows import SoftmaxRows

LOW, HIGH = 2.0, 15.0  # scores below LOW show no growth, beyond HIGH they need no other sign of it
MOVE = 0.3  # how far a Newton step moves some score


def binary_recession(X, target, weight, theta, intercept):
    """(directions of shape (1, d + 1), complete?) of separated rows with positive weight, or None."""
    counted = np.flatnonzero(weight > 0)
    if counted.size < weight.size:
        X, target, weight = X[counted], target[counted], weight[counted]
    rows = Rows(X, target, weight)
    problem = SmoothProblem(rows, Penalty(0.0, 0.0, 0.0, 0.0, intercept))
    _, gradient, state = problem.evaluate(theta)
    size = np.abs(state.scores).max(initial=0.0)
    if size < LOW:
        return None
    if size < HIGH and rows.n_rows * rows.width**2 <= 20 * NEWTON_WORK:
        with single_threaded_blas():
            step = problem.solver(state)(gradient)
        if np.abs(X @ step[:-1] + step[-1]).max() < MOVE:
            return None
    margins = np.where(target > 0.5, state.scores, -state.scores)
    found = recession_direction(binary_conditions(X, target, intercept), margins)
    if found is None:
        return None
    return (found.direction if intercept else np.append(found.direction, 0.0))[None, :], found.complete


def softmax_recession(X, codes, weight, n_classes, theta, intercept):
    """(directions of shape (n_classes, d + 1), complete?) of separated rows with positive weight, or None."""
    counted = np.flatnonzero(weight > 0)
    X, codes, weight = X[counted], codes[counted], weight[counted]
    scores = np.asarray(X @ theta[:, :-1].T) + theta[:, -1]
    own = scores[np.arange(codes.size), codes]
    gaps = own[:, None] - scores
    size = np.abs(gaps).max(initial=0.0)
    if size < LOW:
        return None
    problem = SmoothSoftmax(SoftmaxRows(X, codes, weight, n_classes), Penalty(0.0, 0.0, 0.0, 0.0, intercept))
    if size < HIGH and problem.size <= NEWTON_SIZE and codes.size * problem.size**2 <= 20 * NEWTON_WORK:
        with single_threaded_blas():
            _, gradient, state = problem.evaluate(problem.flat(theta))
            step = problem.shaped(problem.solver(state)(gradient))
        moved = np.asarray(X @ step[:, :-1].T) + step[:, -1]
        if np.ptp(moved, axis=1).max() < MOVE:
            return None
    # the order of `softmax_conditions`: by own class, then by other class
    margins = [gaps[codes == c, k] for c in range(n_classes) for k in range(n_classes) if k != c]
    found = recession_direction(softmax_conditions(X, codes, n_classes, intercept), np.concatenate(margins))
    if found is None:
        return None
    d = X.shape[1]
    out = np.zeros((n_classes, d + 1))
    out[1:, :-1] = found.direction[: (n_classes - 1) * d].reshape(n_classes - 1, d)
    if intercept:
        out[1:, -1] = found.direction[(n_classes - 1) * d :]
    return out - np.median(out, axis=0), found.complete
