"""Quantile regression as a linear program: interior point, then a vertex.

    minimise  sum_i s_i rho(y_i - x_i'w - b) + penalty sum_j |w_j|,   rho(r) = tau r for r > 0, (tau - 1) r otherwise

The penalty is d further rows e_j with target 0 and quantile 1/2.  Its dual has one bounded variable per row and one
equation per column, so a primal-dual step costs one weighted Gram matrix (Frisch-Newton).  The interior solution names
the rows that the optimal vertex interpolates; a few simplex pivots make it exact.  The duality gap certifies it.
Portnoy, Koenker (1997), The Gaussian hare and the Laplacian tortoise, Statistical Science 12(4).
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg as sl
from scipy.linalg import lapack

from hyperplan._core.certificate import Certificate, gap_certificate
from hyperplan._core.parallel import single_threaded_blas, spans, thread_map
from hyperplan._core.status import Status
from hyperplan._solvers._quantile_kernels import (
    affine_step,
    barrier_weights,
    corrected_step,
    corrector_rhs,
    crossings,
    move,
)
from hyperplan._solvers.row_panels import DenseRows

EPS = np.finfo(np.float64).eps
INNER_GAP = 1e-9  # relative gap at which the interior point hands over to pivots
SHORTEN = 0.99995  # how close to the border a step may go
FEASIBLE = 1e-9  # tolerance on the dual values of the vertex, relative to the row weights
PENALTY_SHARE = 0.5


class QuantileSolution(NamedTuple):
    """A fitted model; `dual` are the row multipliers in [-(1 - tau) s_i, tau s_i] of the optimum."""

    coef: np.ndarray
    intercept: float
    n_iter: int
    status: Status
    certificate: Certificate
    objective: float
    dual: np.ndarray


class _Program:
    """The scaled program: A (n, p) with the constant first if any, pseudo-rows of weight `penalty` on all columns."""

    def __init__(self, A, y, weight, tau, penalty):
        self.A, self.n, self.p = A, *A.shape
        self.penalised = np.flatnonzero(penalty > 0)
        self.y = np.concatenate([y, np.zeros(self.penalised.size)])
        self.weight = np.concatenate([weight, 2.0 * penalty[self.penalised]])
        self.share = np.concatenate([np.full(self.n, tau), np.full(self.penalised.size, PENALTY_SHARE)])
        self.rows = DenseRows(A, centre=np.zeros(self.p))

    def times(self, beta):
        return np.concatenate([self.A @ beta, beta[self.penalised]])

    def adjoint(self, values):
        total = self.A.T @ values[: self.n]
        total[self.penalised] += values[self.n :]
        return total

    def gram(self, q):
        def task(span):
            gram, work = np.zeros((self.p, self.p)), np.empty((self.p, self.p))
            for rows, panel in self.rows.panels(span):
                panel.add_gram(q[rows], gram, work)
            return gram

        total = sum(thread_map(task, spans(self.n, self.rows.task_rows)))
        total[self.penalised, self.penalised] += q[self.n :]
        return total

    def row(self, i):
        if i < self.n:
            return self.A[i]
        unit = np.zeros(self.p)
        unit[self.penalised[i - self.n]] = 1.0
        return unit

    def objective(self, residual):
        return float(np.sum(self.weight * np.where(residual > 0, self.share, self.share - 1.0) * residual))


class _Point(NamedTuple):
    """Coefficients, row multipliers and steps taken."""

    beta: np.ndarray
    psi: np.ndarray
    q: np.ndarray
    n_iter: int


def solve_quantile(X, y, weight=None, *, quantile=0.5, alpha=1.0, fit_intercept=True, max_iter=100):
    """Minimise ``(1/S) sum_i s_i rho(r_i) + alpha |w|_1`` on checked arrays (X dense)."""
    weight = np.ones(X.shape[0]) if weight is None else weight
    counted = weight > 0
    if not counted.all():
        X, y, weight = X[counted], y[counted], weight[counted]
    total = float(weight.sum())
    A, centre, scale = _scaled_design(X, fit_intercept)
    shift = float(np.median(y)) if fit_intercept else 0.0
    spread = float(np.abs(y - shift).mean()) or 1.0
    penalty = np.concatenate([np.zeros(int(fit_intercept)), alpha * total / scale]) / total
    used = np.arange(A.shape[1]) if alpha > 0 else _independent_columns(A)
    program = _Program(A if used.size == A.shape[1] else np.ascontiguousarray(A[:, used]), (y - shift) / spread,
                       weight / total, float(quantile), penalty[used])  # fmt: skip
    with single_threaded_blas():
        inner = _interior_point(program, max_iter) if program.p else _no_columns(program)
        vertex, status = _vertex(program, inner) if program.p else (inner, Status.EXACT)
    beta = np.zeros(A.shape[1])
    beta[used] = vertex.beta * spread
    coef = beta[int(fit_intercept) :] / scale
    intercept = float(beta[0] + shift - centre @ coef) if fit_intercept else 0.0
    residual = program.y - program.times(vertex.beta)
    primal = program.objective(residual)
    dual = float(program.y @ vertex.psi)
    certificate = gap_certificate(primal * spread, dual * spread, 1e-8, max(primal, 1e-12) * spread,
                                  reference="Koenker (2005), Quantile Regression, section 6.2")  # fmt: skip
    n_iter = inner.n_iter + vertex.n_iter
    duals = np.zeros(counted.shape[0])
    duals[counted] = vertex.psi[: program.n] * total
    return QuantileSolution(coef, intercept, n_iter, status, certificate, primal * spread, duals)


def _scaled_design(X, fit_intercept):
    """[1, (X - mean) / spread] as float64, C order: one copy of X."""
    n, d = X.shape
    first = int(fit_intercept)
    A = np.empty((n, d + first))
    A[:, first:] = X
    centre = A[:, first:].mean(axis=0) if fit_intercept else np.zeros(d)
    A[:, first:] -= centre
    scale = np.sqrt(np.einsum("ij,ij->j", A[:, first:], A[:, first:]) / n)
    negligible = scale <= 1e-13 * np.maximum(np.abs(centre), np.abs(X).max(axis=0) if n else 0.0)
    scale = np.where(negligible | (scale == 0), 1.0, scale)
    A[:, first:] /= scale
    A[:, first:][:, negligible] = 0.0
    if fit_intercept:
        A[:, 0] = 1.0
    return A, centre, scale


def _independent_columns(A):
    """A largest set of independent columns, by pivoted Cholesky of their Gram matrix (the constant is kept)."""
    with single_threaded_blas():
        _, pivots, rank, _ = lapack.dpstrf(A.T @ A / A.shape[0], tol=1e-11, lower=1)
    return np.sort(pivots[:rank] - 1)


def _solver(gram):
    """``rhs -> gram^{-1} rhs``; a ridge at rounding level steps in when the weights make the matrix singular."""
    diagonal = np.diagonal(gram).copy()
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = gram * scale[:, None] * scale
    for ridge in (0.0, 1e-14, 1e-11, 1e-8):
        factor, info = lapack.dpotrf(scaled + ridge * np.eye(len(scale)), lower=1)
        if info == 0:
            return lambda rhs: scale * lapack.dpotrs(factor, scale * rhs, lower=1)[0]
    return lambda rhs: scale * (sl.pinvh(scaled) @ (scale * rhs))


def _interior_point(program, max_iter) -> _Point:
    """Mehrotra's predictor-corrector on the bounded dual; beta are the multipliers of its equations."""
    n = program.y.shape[0]
    x = (1.0 - program.share) * program.weight
    s = program.weight - x
    beta = _solver(program.gram(program.weight))(program.adjoint(program.weight * program.y))
    score = program.times(beta) - program.y  # z - w
    small = 1e-3 * max(float(np.abs(score).mean()), 1e-6)
    z = np.maximum(score, 0.0) + small
    w = z - score
    q, qr, dx, dz, dw, rhs = (np.empty(n) for _ in range(6))
    totals, steps = np.empty(10), np.empty(2)
    start, n_iter = (x.copy(), s.copy()), 0
    gap = float(z @ x + w @ s)
    while n_iter < max_iter:
        primal = program.objective(program.y - program.times(beta))
        if gap <= INNER_GAP * max(primal, 1e-10) or not np.isfinite(gap):
            break
        barrier_weights(x, s, z, w, q, qr)
        solve = _solver(program.gram(q))
        base = program.adjoint(qr)
        affine_step(x, s, z, w, q, program.times(solve(base)), dx, totals)
        tp, td = (min(SHORTEN * totals[k], 1.0) for k in (0, 1))
        mu = _barrier(totals, tp, td, n)
        corrector_rhs(x, s, z, w, q, dx, mu, rhs)
        step = solve(base + program.adjoint(rhs))
        corrected_step(x, s, z, w, q, program.times(step), mu, dx, dz, dw, steps)
        tp, td = (min(SHORTEN * steps[k], 1.0) for k in (0, 1))
        gap = float(move(tp, td, dx, dz, dw, x, s, z, w))
        beta = beta - td * step
        n_iter += 1
        np.maximum(x, 1e-300, out=x), np.maximum(s, 1e-300, out=s)
    if not np.isfinite(gap):
        x, s = start
    barrier_weights(x, s, z, w, q, qr)
    return _Point(beta, x - (1.0 - program.share) * program.weight, q, n_iter)


def _no_columns(program) -> _Point:
    """Nothing to choose: every residual is its target."""
    ends = np.where(program.y > 0, program.share, program.share - 1.0)
    return _Point(np.zeros(0), ends * program.weight, np.ones(program.y.shape[0]), 0)


def _barrier(totals, tp, td, n):
    """Mehrotra's barrier parameter: the cube of what the predictor alone would leave of the gap."""
    _, _, zx, zdx, dzx, dzdx, ws, wds, dws, dwds = totals
    now = zx + ws
    left = now + tp * (zdx + wds) + td * (dzx + dws) + tp * td * (dzdx + dwds)
    return now * (max(left, 0.0) / now) ** 3 / (2 * n) if now > 0 else 0.0


def _vertex(program, inner):
    """Exact optimum by pivots from the vertex that the interior solution names."""
    basis = _first_basis(program, inner)
    if basis is None:
        return inner._replace(n_iter=0), Status.STALLED
    basic = np.zeros(program.y.shape[0], dtype=np.bool_)
    basic[basis] = True
    matrix = np.array([program.row(i) for i in basis])
    beta = np.linalg.solve(matrix, program.y[basis])
    residual = program.y - program.times(beta)
    residual[np.abs(residual) <= 64 * EPS * (np.abs(program.y) + np.abs(program.times(beta)))] = 0.0
    residual[basis] = 0.0
    low, high = (program.share - 1.0) * program.weight, program.share * program.weight
    psi = np.clip(inner.psi, low, high)
    time, rise = np.empty_like(residual), np.empty_like(residual)
    for pivot in range(200 + 10 * program.p):
        psi[residual > 0] = high[residual > 0]
        psi[residual < 0] = low[residual < 0]
        psi[basis] = 0.0
        values = -np.linalg.solve(matrix.T, program.adjoint(psi))
        psi[basis] = values
        excess = np.maximum(values - high[basis], low[basis] - values) / np.maximum(program.weight[basis], EPS)
        k = int(np.argmax(excess))
        if excess[k] <= FEASIBLE:
            psi[basis] = np.clip(values, low[basis], high[basis])
            beta[program.penalised[basis[basis >= program.n] - program.n]] = 0.0  # exactly, not to rounding
            return _Point(beta, psi, inner.q, pivot), Status.CONVERGED
        up = values[k] > high[basis[k]]
        unit = np.zeros(program.p)
        unit[k] = -1.0 if up else 1.0
        direction = np.linalg.solve(matrix, unit)
        change = program.times(direction)
        slope = high[basis[k]] - values[k] if up else values[k] - low[basis[k]]
        crossings(residual, change, program.weight, program.share, psi, basic, time, rise)
        entering = _entering_row(time, rise, slope)
        if entering is None:
            break
        beta = beta + time[entering] * direction
        residual -= time[entering] * change
        basic[basis[k]], basic[entering] = False, True
        residual[basis[k]] = time[entering] * (1.0 if up else -1.0)
        basis[k] = entering
        matrix[k] = program.row(entering)
        residual[basis] = 0.0
    return _Point(beta, psi, inner.q, pivot), Status.STALLED


def _first_basis(program, inner):
    """p independent rows, those most strictly between their bounds first: pivoted QR of rows scaled by sqrt(q)."""
    size = np.sqrt(inner.q) * np.concatenate([np.linalg.norm(program.A, axis=1), np.ones(program.penalised.size)])
    many = min(size.shape[0], 4 * program.p + 20)
    for candidates in (np.argpartition(-size, many - 1)[:many], np.arange(size.shape[0])):
        rows = np.array([program.row(i) for i in candidates]) * np.sqrt(inner.q[candidates])[:, None]
        if not np.isfinite(rows).all() or len(candidates) < program.p:
            continue
        pivots = sl.qr(rows.T, mode="r", pivoting=True)[1][: program.p]
        basis = candidates[pivots]
        matrix = np.array([program.row(i) for i in basis])
        if np.linalg.cond(matrix) < 1e12:
            return basis
    return None


def _entering_row(time, rise, slope):
    """The row at whose crossing the objective stops falling along the direction; None when it falls for ever."""
    near = np.flatnonzero(np.isfinite(time))
    if near.size == 0:
        return None
    many = min(near.size, 64)
    while True:
        order = near[np.argpartition(time[near], many - 1)[:many]]
        order = order[np.argsort(time[order], kind="stable")]
        reached = slope + np.cumsum(rise[order])
        stop = np.flatnonzero(reached >= 0)
        if stop.size:
            return int(order[stop[0]])
        if many == near.size:
            return None
        many = min(near.size, 8 * many)
