"""The elastic net as a support vector machine, and the lasso as a point of least norm in a polytope.

With ``|b|_1 <= t`` and ``lambda > 0``,  ``min |y - X b|^2 + lambda |b|^2``  has the solution  ``b = t (a+ - a-) /
sum(a)`` where a >= 0 are the dual variables of the machine

    minimise  1/2 |v|^2 + C sum_i max(0, 1 - z_i'v)^2,       C = 1 / (2 lambda),

without bias, on the 2 d "samples" ``z = x_j - y/t`` (class +1) and ``z = -(x_j + y/t)`` (class -1 with its sign).
Without lambda (hard margin) it is the point of least norm of the simplex spanned by the same z: non-negative least
squares.

The penalised problem is the constrained one for the t whose multiplier is the penalty, found by bracketing.
References: Zhou, Chen, Song, Weinberger, Chen (2015), A reduction of the elastic net to support vector machines, AAAI;
Jaggi (2013), An equivalence between the lasso and support vector machines.
"""

import numpy as np
from scipy.optimize import brentq, nnls

from hyperplan._core.status import Status
from hyperplan._solvers.coordinate import PathSolution, _primal


def signed_samples(X, y, t):
    """The columns ``x_j - y/t`` and ``-(x_j + y/t)``, as an array of shape (n, 2 d)."""
    shift = y[:, None] / t
    return np.hstack([X - shift, -X - shift])


def squared_hinge_svm(Z, C, *, max_iter=200):
    """``argmin_v 1/2 |v|^2 + C sum max(0, 1 - Z'v)^2`` by Newton's method with an exact line search; returns (v, a).

    ``a = 2 C max(0, 1 - Z'v)`` are the dual variables, ``v = Z a``.
    """
    n, m = Z.shape
    v = np.zeros(n)
    margin = np.zeros(m)
    for _ in range(max_iter):
        violated = margin < 1
        S = Z[:, violated]
        if S.shape[1] <= n:  # v = S a with (S'S + I / 2C) a = 1
            K = S.T @ S
            K.flat[:: S.shape[1] + 1] += 1 / (2 * C)
            target = S @ np.linalg.solve(K, np.ones(S.shape[1]))
        else:
            K = 2 * C * (S @ S.T)
            K.flat[:: n + 1] += 1
            target = np.linalg.solve(K, 2 * C * S.sum(axis=1))
        step = target - v
        moved = Z.T @ step
        if not np.abs(moved).max() > 1e-15 * (1 + np.abs(margin).max()):
            break
        length = _line_search(v, step, margin, moved, C)
        v = v + length * step
        margin = Z.T @ v
        if length == 1.0 and np.array_equal(margin < 1, violated):
            break
    return v, 2 * C * np.maximum(0.0, 1 - margin)


def _line_search(v, step, margin, moved, C):
    """The exact minimiser on the segment: 1 when the slope there is not positive, else a root of the slope."""

    def slope(length):
        slack = np.maximum(0.0, 1 - margin - length * moved)
        return float(v @ step + length * (step @ step)) - 2 * C * float(slack @ moved)

    end = slope(1.0)
    if end <= 1e-12 * abs(slope(0.0)):
        return 1.0
    return brentq(slope, 0.0, 1.0, xtol=1e-15)


def constrained_elastic_net(X, y, t, ridge):
    """``argmin |y - X b|^2 + ridge |b|^2`` subject to ``|b|_1 <= t`` by the machine; ridge > 0, constraint active."""
    d = X.shape[1]
    _, a = squared_hinge_svm(signed_samples(X, y, t), 1 / (2 * ridge))
    total = a.sum()
    return t * (a[:d] - a[d:]) / total if total > 0 else np.zeros(d)


def constrained_lasso(X, y, t):
    """``argmin |y - X b|^2`` subject to ``|b|_1 <= t``, the constraint active: least norm over a simplex.

    The least-norm point ``A s`` over the simplex is, up to scale, the solution of non-negative least squares with a row
    of ones and target (0, ..., 0, 1): for each direction s the best scale leaves |A s|^2 / (1 + |A s|^2), increasing
    in |A s|.
    """
    d = X.shape[1]
    A = t * signed_samples(X, y, t)
    scale = np.sqrt(float(y @ y)) or 1.0
    A = np.vstack([A / scale, np.ones(2 * d)])
    target = np.zeros(A.shape[0])
    target[-1] = 1.0
    s, _ = nnls(A, target)
    return t * (s[:d] - s[d:]) / s.sum()


def multiplier(X, y, coef, ridge):
    """The l1 penalty for which `coef` is optimal: max |X'(y - X b) - ridge b|."""
    return float(np.abs(X.T @ (y - X @ coef) - ridge * coef).max())


def penalised_elastic_net(X, y, l1, l2):
    """``argmin 1/2 |y - X b|^2 + l1 |b|_1 + l2/2 |b|^2`` and the number of machines trained."""
    if multiplier(X, y, np.zeros(X.shape[1]), l2) <= l1:
        return np.zeros(X.shape[1]), 0
    calls = 0

    def solve(t):
        nonlocal calls
        calls += 1
        return constrained_elastic_net(X, y, t, l2) if l2 > 0 else constrained_lasso(X, y, t)

    def excess(log_t):
        return multiplier(X, y, solve(np.exp(log_t)), l2) - l1

    # P(0) = |y|^2 / 2 bounds l1 |b|_1; the multiplier decreases in t until the constraint is idle
    high = np.log(float(y @ y) / (2 * l1))
    while excess(high) > 0 and calls < 100:
        high += 1.0
    low = high - 1.0
    while excess(low) <= 0 and calls < 200:
        low -= 1.0
    log_t = brentq(excess, low, high, xtol=1e-14, rtol=1e-14, maxiter=200)
    return solve(np.exp(log_t)), calls


def sven_path(X, y, weight, x_mean, y_mean, penalty, options) -> PathSolution:
    """One penalty, in the form of coordinate descent's answer: the duality gap is measured, not assumed."""
    root = np.ones(X.shape[0]) if weight is None else np.sqrt(weight)
    Z = root[:, None] * (np.asarray(X, dtype=np.float64) - x_mean)
    target = root * (np.asarray(y, dtype=np.float64) - y_mean)
    coef, calls = penalised_elastic_net(Z, target, penalty.l1, penalty.l2)
    residual = target - Z @ coef
    r2, w2 = float(residual @ residual), float(coef @ coef)
    primal = _primal(penalty, r2, coef)
    scale = min(1.0, penalty.l1 / max(multiplier(Z, target, coef, penalty.l2), 1e-300))
    gap = primal + 0.5 * scale**2 * (r2 + penalty.l2 * w2) - scale * float(residual @ target)
    status = Status.CONVERGED if gap <= options.tol * float(target @ target) else Status.MAX_ITER
    return PathSolution(coef[None, :], np.array([gap]), np.array([primal]), [calls], [status])
