"""Any smooth loss with any penalty, by accelerated proximal gradient steps.

    minimise over w, b   (1/S) sum_i s_i loss(y_i, x_i'w + b) + Omega(w),     S = sum_i s_i

with ``Omega(w) = strength (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2)`` (or l2, l1, none).  The intercept b is not
penalised.  The step is 1/L, ``L = c lambda_max([X 1]' diag(s) [X 1]) / S`` with c the largest curvature of the loss;
losses without such a bound use backtracking.  ``strength = 1/C`` where penalties are written that way.

The certificate is the duality gap: for u_i = a slope of the loss at row i with sum_i s_i u_i = 0,

    minimum >= -(1/S) sum_i s_i loss*(y_i, u_i) - Omega*(-(1/S) sum_i s_i u_i x_i).
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

from hyperplan._core.certificate import gap_certificate
from hyperplan._math._conjugates import CONJUGATES
from hyperplan._math._loss_kernels import weighted_loss
from hyperplan._math.losses import get_loss
from hyperplan._math.penalties import get_penalty
from hyperplan._solvers.proximal import proximal_gradient


class PenalizedFit(NamedTuple):
    """Coefficients, intercept, and the `OptimizeResult` behind them (its certificate is the duality gap)."""

    coef: np.ndarray
    intercept: float
    result: object


class _FreeIntercept:
    """A penalty on all coordinates but the last `free` ones."""

    def __init__(self, penalty, free):
        self.base, self.free = penalty, free

    def _cut(self, x):
        return np.split(x, [x.size - self.free])

    def value(self, x):
        return self.base.value(self._cut(x)[0])

    def prox(self, z, step):
        coef, rest = self._cut(z)
        return np.concatenate([self.base.prox(coef, step), rest])

    def subdifferential_distance(self, x, gradient):
        slope, rest = self._cut(gradient)
        at_rest = float(np.abs(rest).max(initial=0.0))
        return max(self.base.subdifferential_distance(self._cut(x)[0], slope), at_rest)


class _Problem:
    """Mean weighted loss of a linear model in x = (w, b)."""

    def __init__(self, X, y, weight, loss, free):
        self.X, self.y, self.loss, self.free = X, y, loss, free
        self.weight = weight / weight.sum()
        self.slope = np.empty(y.size)

    def scores(self, x):
        d = self.X.shape[1]
        return self.X @ x[:d] + (x[d] if self.free else 0.0)

    def __call__(self, x):
        """Value and gradient: one product with X and one with its transpose."""
        f = np.ascontiguousarray(self.scores(x), dtype=np.float64)
        value = weighted_loss(self.loss.code, float(self.loss.parameter), self.y, f, self.weight, self.slope)
        gradient = self.X.T @ self.slope
        return value, np.append(gradient, self.slope.sum()) if self.free else gradient

    def curvature_bound(self):
        """lambda_max of the weighted Gram matrix of [X 1], by Lanczos iterations, a hair above."""
        d = self.X.shape[1] + self.free

        def product(v):
            return _gram_product(self.X, self.weight, v, self.free)

        start = 1.0 + np.arange(d) / d
        if not product(start).any():
            return 0.0
        if d < 3:
            gram = np.column_stack([product(e) for e in np.eye(d)])
            return float(np.linalg.eigvalsh(gram)[-1])
        operator = sla.LinearOperator((d, d), matvec=lambda v: product(np.ravel(v)), dtype=np.float64)
        top = sla.eigsh(operator, k=1, which="LA", v0=start, tol=1e-4, return_eigenvectors=False)
        return 1.001 * float(top[0])


def _gram_product(X, weight, v, free):
    scores = weight * (X @ v[: X.shape[1]] + (v[-1] if free else 0.0))
    product = X.T @ scores
    return np.append(product, scores.sum()) if free else product


def fit_penalized_linear(
    X,
    y,
    *,
    loss="squared",
    penalty="l2",
    strength=1.0,
    l1_ratio=0.5,
    fit_intercept=True,
    sample_weight=None,
    tol=1e-6,
    max_iter=5000,
    momentum="fista",
    callback=None,
):
    """Fit a linear model with any smooth loss and any of the penalties none, l2, l1, elastic net.

    Stops when the distance of minus the gradient to the penalty's subdifferential is at most
    ``tol * max(1, its value at 0)`` and the duality gap, where there is one, at most `tol` times the objective at 0.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Targets in the domain of the loss (-1 and +1 for margin losses).
    loss : str or Loss, default="squared"
        A loss with a slope everywhere: "squared", "logistic", "squared_hinge", "modified_huber", "huber", "poisson"...
    penalty : str or Penalty, default="l2"
        "none", "l2", "l1" or "elasticnet".
    strength, l1_ratio : float, default=1.0 and 0.5
        Strength and mixing of a penalty given by name.
    fit_intercept : bool, default=True
        Whether to fit b.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights.
    tol, max_iter, momentum, callback
        As in `proximal_gradient`.

    Returns
    -------
    PenalizedFit
        ``coef, intercept, result``.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.optimize import fit_penalized_linear
    >>> X, y = np.eye(4), np.array([3.0, -1.0, 0.4, 0.2])
    >>> fit = fit_penalized_linear(X, y, penalty="l1", strength=1 / 8, fit_intercept=False, tol=1e-12)
    >>> fit.coef.round(9).tolist()
    [2.5, -0.5, 0.0, 0.0]
    """
    loss, penalty = get_loss(loss), get_penalty(penalty, strength, l1_ratio)
    if not (loss.convex and loss.differentiable):
        raise ValueError(f"Proximal gradient steps need a convex loss with a slope everywhere; {loss.name!r} is not.")
    X, y, weight = _checked(X, y, sample_weight, loss)
    problem = _Problem(X, y, weight, loss, int(fit_intercept))
    smoothness = loss.smoothness * problem.curvature_bound() if np.isfinite(loss.smoothness) else None
    result = proximal_gradient(
        problem,
        True,
        np.zeros(X.shape[1] + problem.free),
        penalty=_FreeIntercept(penalty, problem.free),
        momentum=momentum,
        smoothness=smoothness or None,
        strong_convexity=penalty.l2 or None,
        tol=tol,
        max_iter=max_iter,
        callback=callback,
        confirm=lambda x: _gap_is_small(problem, penalty, x, tol),
    )
    dual = _dual_bound(problem, penalty, result.x)
    if dual is not None:
        result = _with_gap(result, dual, tol, result.trace.objectives[0])
    d = X.shape[1]
    return PenalizedFit(result.x[:d], float(result.x[d]) if problem.free else 0.0, result)


def _checked(X, y, sample_weight, loss):
    X = X.tocsr().astype(np.float64) if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"X must have rows and columns, got shape {X.shape}.")
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        raise ValueError("X contains NaN or infinity.")
    y = np.ascontiguousarray(loss.check_target(y))
    weight = np.ones(X.shape[0]) if sample_weight is None else np.array(sample_weight, dtype=np.float64)
    if y.shape != X.shape[:1] or weight.shape != y.shape:
        raise ValueError(f"X has {X.shape[0]} rows, y {y.shape} and sample_weight {weight.shape}.")
    if not ((weight >= 0.0) & np.isfinite(weight)).all() or not weight.any():
        raise ValueError("Sample weights must be finite and >= 0, at least one of them > 0.")
    return X, y, weight


def _dual_bound(problem, penalty, x):
    """A lower bound of the minimum from the slopes at x made feasible; None when there is no closed form."""
    loss, y, weight = problem.loss, problem.y, problem.weight
    if loss.code not in CONJUGATES or penalty.l1 + penalty.l2 == 0.0:
        return None
    u = loss.gradient(y, problem.scores(x))
    if problem.free:
        u = _balanced(u, weight, loss.target == "sign")
    pull = problem.X.T @ (weight * u)
    if penalty.l2 == 0.0:
        u = u * min(1.0, penalty.l1 / max(penalty.dual_norm(pull), np.finfo(np.float64).tiny) * (1.0 - 1e-12))
        pull = problem.X.T @ (weight * u)
    dual = -float(weight @ CONJUGATES[loss.code](y, u, loss.parameter)) - penalty.conjugate(-pull)
    return dual if np.isfinite(dual) else None


def _gap_is_small(problem, penalty, x, tol):
    """Whether the duality gap at x is at most tol times the objective at 0 (True when no gap is known)."""
    dual = _dual_bound(problem, penalty, x)
    primal = problem(x)[0] + penalty.value(x[: problem.X.shape[1]])
    return dual is None or primal - dual <= tol * abs(problem(np.zeros_like(x))[0])


def _balanced(u, weight, margins):
    """Slopes with weighted sum 0, still slopes of the loss: the heavier sign is scaled down, or the mean taken off."""
    if not margins:
        return u - weight @ u / weight.sum()
    up, down = float(weight @ np.maximum(u, 0.0)), float(weight @ np.maximum(-u, 0.0))
    least = min(up, down)
    factor = np.where(u > 0.0, least / up if up > 0.0 else 0.0, least / down if down > 0.0 else 0.0)
    return u * factor


def _with_gap(result, dual, tol, start):
    scale = max(abs(start), np.finfo(np.float64).tiny)
    certificate = gap_certificate(result.objective, dual, tol, scale, optimality_residual=result.residual)
    details = result.certificate.details | certificate.details
    return replace(result, certificate=replace(certificate, details=details))
