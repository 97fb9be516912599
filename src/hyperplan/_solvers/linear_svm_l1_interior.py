"""Squared hinge with an l1 penalty: a primal-dual interior-point method for few rows or few columns.

    minimise   |w|_1 + sum_i cost_i * max(0, end_i - sign_i x_i'w)^2
    maximise   end'theta - 1/2 theta'Q theta   over theta >= 0 with |X'(sign theta)| <= 1,   Q = diag(1 / (2 cost))

When the cost is large this is nearly a linear programme, where methods that follow signs and rows need hundreds
of steps; here it takes some 15.  A step solves one system with an unknown per row or per column, whichever are fewer.
With w = u - v, u, v >= 0: p = 1 - X'(sign theta) belongs to u, q = 1 + X'(sign theta) to v, and the surplus t of a row
to theta.  p and q follow theta exactly, so that theta is always feasible and the gap is one.
Mehrotra (1992), SIAM J. Optimization 2(4); Koh, Kim, Boyd (2007), JMLR 8.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpotrf, dpotrs

BOUNDARY_SHARE = 0.995  # of the longest step that stays inside
START_SHARE = 0.5  # of the largest feasible multiple of the constant dual point
STALL_STEPS = 8
MAX_STEPS = 60


class Point(NamedTuple):
    """Six positive vectors: u, v, p, q per column, theta and its surplus t per row."""

    u: np.ndarray
    v: np.ndarray
    p: np.ndarray
    q: np.ndarray
    theta: np.ndarray
    surplus: np.ndarray

    def product(self, step=None, length=0.0):
        """Sum of the complementary products, here or after a step."""
        u, v, p, q, theta, surplus = self if step is None else (a + length * b for a, b in zip(self, step))
        return u @ p + v @ q + theta @ surplus

    def longest(self, step):
        """The longest multiple of a step that stays inside."""
        shrink = max(float((-change / value).max()) for value, change in zip(self, step))
        return 1.0 / shrink if shrink > 0.0 else np.inf


def sides(band):
    """Sign and end of each row; None if a band has two finite ends."""
    low, high, _ = band
    is_low = np.isfinite(low)
    if (is_low == np.isfinite(high)).any():
        return None
    return np.where(is_low, 1.0, -1.0), np.where(is_low, low, -high)


def l1_interior(columns, band, *, target_gap, max_iter):
    """Weights (zero where the method leaves them to zero) and the number of steps; None for bands with two ends."""
    if (found := sides(band)) is None:
        return None
    sign, end = found
    matrix, curvature = columns.matrix, 0.5 / band[2]
    width, n = matrix.shape
    theta = np.ones(n)
    slopes = matrix @ (sign * theta)
    share = min(START_SHARE / max(np.abs(slopes).max(), 1e-300), max(end.sum(), 1e-300) / curvature.sum())
    typical = np.sqrt((matrix.multiply(matrix) if columns.is_sparse else matrix**2).mean())
    first = np.full(width, 0.1 / (max(typical, 1e-300) * np.sqrt(width)))
    theta, slopes, scores = share * theta, share * slopes, np.zeros(n)
    at = Point(first, first, 1.0 - slopes, 1.0 + slopes, theta, np.maximum(curvature * theta - end, 0.1))
    best_gap, best, stalled = np.inf, (np.zeros(width), at), 0
    for n_iter in range(max_iter + 1):
        weights = at.u - at.v
        primal = np.abs(weights).sum() + float(band[2] @ np.maximum(end - scores, 0.0) ** 2)
        gap = primal - (end @ at.theta - 0.5 * float(curvature @ at.theta**2))
        stalled = 0 if gap < 0.9 * best_gap else stalled + 1
        if gap < best_gap:
            best_gap, best = gap, (weights, at)
        if gap <= target_gap * primal or n_iter == max_iter or stalled > STALL_STEPS or not np.isfinite(gap):
            break
        step = _step(columns, sign, at, end - scores - curvature * at.theta + at.surplus, curvature)
        if step is None:
            break
        length = min(1.0, BOUNDARY_SHARE * at.longest(step))
        at = Point(*(value + length * change for value, change in zip(at, step)))
        slopes = matrix @ (sign * at.theta)
        at = at._replace(p=1.0 - slopes, q=1.0 + slopes)
        scores = sign * (matrix.T @ (at.u - at.v))
    weights, at = best
    scale = np.abs(weights).max(initial=0.0)
    return np.where((at.u > scale * at.p) | (at.v > scale * at.q), weights, 0.0), n_iter


def _step(columns, sign, at, missing, curvature):
    """Predictor and corrector of Mehrotra from one factorisation, as changes of a `Point`; None if that fails."""
    solve = _system(columns, sign, at.u / at.p + at.v / at.q, curvature + at.surplus / at.theta)
    if solve is None:
        return None
    pairs = 2 * at.u.size + at.theta.size

    def direction(level, u_term, v_term, theta_term):
        a = (level - at.u * at.p - u_term) / at.p
        b = (level - at.v * at.q - v_term) / at.q
        c = (level - at.theta * at.surplus - theta_term) / at.theta
        d_theta = solve(missing + c, a - b)
        slope = columns.matrix @ (sign * d_theta)
        d_u, d_v = a + at.u / at.p * slope, b - at.v / at.q * slope
        return Point(d_u, d_v, -slope, slope, d_theta, c - at.surplus / at.theta * d_theta)

    straight = direction(0.0, 0.0, 0.0, 0.0)
    now = at.product()
    after = at.product(straight, min(1.0, at.longest(straight)))
    level = (after / now) ** 3 * now / pairs
    found = direction(level, straight.u * straight.p, straight.v * straight.q, straight.theta * straight.surplus)
    return found if all(np.isfinite(part).all() for part in found) else None


def _system(columns, sign, by_column, by_row):
    """A function that solves for the change of theta; None if the matrix is not definite.

    With X the rows times their signs: ``(X diag(by_column) X' + diag(by_row)) d_theta = rows - X shift``, or the
    system for the change of the weights with one unknown per column.
    """
    matrix = columns.matrix
    by_rows = matrix.shape[1] <= matrix.shape[0]
    weight = np.sqrt(by_column if by_rows else 1.0 / by_row)
    if columns.is_sparse:
        panel = sp.diags_array(weight) @ matrix if by_rows else matrix @ sp.diags_array(weight)
        product = ((panel.T @ panel) if by_rows else (panel @ panel.T)).toarray()
    else:
        panel = matrix * (weight[:, None] if by_rows else weight)
        product = panel.T @ panel if by_rows else panel @ panel.T
    product[np.diag_indices(product.shape[0])] += by_row if by_rows else 1.0 / by_column
    factor, failed = dpotrf(product, lower=1, overwrite_a=1)
    if failed:
        return None

    def solve(rows, shift):
        if by_rows:
            return sign * dpotrs(factor, sign * rows - matrix.T @ shift, lower=1)[0]
        change = dpotrs(factor, shift / by_column + matrix @ (sign * rows / by_row), lower=1)[0]
        return (rows - sign * (matrix.T @ change)) / by_row

    return solve
