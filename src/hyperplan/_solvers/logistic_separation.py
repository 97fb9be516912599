"""Directions along which the likelihood of a classifier rises for ever: complete and quasi-complete separation.

Every row contributes conditions ``a'b >= 0`` (for two classes a = +-[x, 1]): b is a direction of recession when all
hold and some strictly, and then no finite coefficients are best.  The linear programme

    maximise  sum_a a'b   subject to   a'b >= 0,  -1 <= b_j <= 1

has optimum 0 if and only if there is none.  Conditions are taken in as far as they are violated (cutting planes), and
a direction found is projected onto the conditions that hold with equality and then tested on all rows, so that data
that overlap are not reported.

References
----------
Albert, Anderson (1984), On the existence of maximum likelihood estimates in logistic regression models, Biometrika 71;
Konis (2007), Linear programming algorithms for detecting separated data in binary logistic regression models.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

MAX_UNKNOWNS = 1500  # larger programmes take longer than a fit
MAX_CONDITIONS = 2_000_000
FIRST_CONDITIONS = 400
MAX_ROUNDS = 25
ACTIVE = 1e-7  # gains below this count as zero (columns are scaled to a largest value of one)
ROUNDING = 1e-9  # losses of this size relative to the largest gain are rounding errors


class Recession(NamedTuple):
    """A direction of recession: its coefficients (intercepts last) and whether every condition gains."""

    direction: np.ndarray
    complete: bool


def recession_direction(conditions, margins) -> Recession | None:
    """A direction b with ``conditions @ b >= 0`` and not all zero, or None.

    Parameters
    ----------
    conditions : CSR matrix or ndarray of shape (m, p)
        One row per condition.
    margins : ndarray of shape (m,)
        Where a fit left the conditions: those with the smallest margins are tried first.
    """
    m, p = conditions.shape
    if p > MAX_UNKNOWNS or m > MAX_CONDITIONS or m == 0:
        return None
    largest = abs(conditions).max(axis=0)
    largest = np.asarray(largest.todense() if sp.issparse(largest) else largest, dtype=np.float64).ravel()
    if not np.isfinite(largest).all():
        return None
    scale = np.where(largest > 0.0, 1.0 / np.where(largest > 0.0, largest, 1.0), 0.0)
    total = np.asarray(conditions.sum(axis=0), dtype=np.float64).ravel() * scale / m
    chosen = np.argsort(margins, kind="stable")[: max(FIRST_CONDITIONS, 4 * p)]
    for _ in range(MAX_ROUNDS):
        found = _programme(conditions[chosen], scale, total)
        if found is None:
            return None
        gains = np.asarray(conditions @ (scale * found)).ravel()
        if gains.max() <= ACTIVE:
            return None
        broken = np.flatnonzero(gains < -ACTIVE)
        broken = broken[~np.isin(broken, chosen)]
        if not broken.size:
            return _certified(conditions, scale, found, gains)
        worst = broken[np.argsort(gains[broken], kind="stable")[: max(FIRST_CONDITIONS, 4 * p)]]
        chosen = np.concatenate([chosen, worst])
    return None


def _programme(rows, scale, total):
    """The best direction for some of the conditions (columns scaled), or None when it gains nothing."""
    scaled = rows @ sp.diags(-scale) if sp.issparse(rows) else -rows * scale
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    answer = linprog(
        -total, A_ub=scaled, b_ub=np.zeros(rows.shape[0]), bounds=(-1.0, 1.0), method="highs", options=tight
    )
    return answer.x if answer.status == 0 and -answer.fun > ROUNDING else None


def _certified(conditions, scale, direction, gains):
    """The direction made exact on the conditions it leaves at zero, if it passes on all rows."""
    active = conditions[np.flatnonzero(np.abs(gains) <= ACTIVE)]
    if active.shape[0]:
        products = active.T @ active
        products = products.toarray() if sp.issparse(products) else products
        values, vectors = np.linalg.eigh(products * scale[:, None] * scale)
        free = vectors[:, values <= 1e-12 * max(values[-1], 1.0)]
        direction = free @ (free.T @ direction)
    gains = np.asarray(conditions @ (scale * direction)).ravel()
    if not gains.max(initial=0.0) > ACTIVE or gains.min() < -ROUNDING * gains.max():
        return None
    everywhere = conditions.T @ conditions  # leave out what changes no condition: collinear and constant columns
    everywhere = everywhere.toarray() if sp.issparse(everywhere) else everywhere
    values, vectors = np.linalg.eigh(everywhere * scale[:, None] * scale)
    solid = vectors[:, values > 1e-12 * max(values[-1], 0.0)]
    direction = scale * (solid @ (solid.T @ direction))
    size = np.abs(direction / np.where(scale > 0.0, scale, 1.0))
    direction[size <= 1e-6 * size.max()] = 0.0
    return Recession(direction, bool(gains.min() > ACTIVE))


def binary_conditions(X, target, intercept):
    """``+-[x_i, 1]`` for targets 1 and 0."""
    sign = 2.0 * np.asarray(target, dtype=np.float64) - 1.0
    if sp.issparse(X):
        rows = sp.csr_array(X).multiply(sign[:, None]).tocsr()
        return sp.hstack([rows, sp.csr_array(sign[:, None])], format="csr") if intercept else rows
    rows = X * sign[:, None]
    return np.column_stack([rows, sign]) if intercept else rows


def softmax_conditions(X, codes, n_classes, intercept):
    """``x_i (b_c - b_k) >= 0`` for each row of class c and each other class k; the first class has b = 0.

    The unknowns are the features' coefficients class by class, then the intercepts.
    """
    plain = sp.csr_array(X, dtype=np.float64)
    d = plain.shape[1]
    blocks = []
    for own in range(n_classes):
        rows = plain[np.flatnonzero(codes == own)]
        for other in range(n_classes):
            if other == own or not rows.shape[0]:
                continue
            parts = [sp.csr_array((rows.shape[0], d)) for _ in range(n_classes)]
            parts[own], parts[other] = rows, -rows
            steps = np.zeros((rows.shape[0], n_classes))
            steps[:, own], steps[:, other] = 1.0, -1.0
            ends = [sp.csr_array(steps[:, 1:])] if intercept else []
            blocks.append(sp.hstack(parts[1:] + ends, format="csr"))
    return sp.vstack(blocks, format="csr")


def ordinal_conditions(X, codes, n_classes):
    """``db_c - x_i dw >= 0`` below the top class and ``x_i dw - db_{c-1} >= 0`` above the bottom one."""
    plain = sp.csr_array(X, dtype=np.float64)
    below, above = np.flatnonzero(codes < n_classes - 1), np.flatnonzero(codes > 0)
    one = lambda rows, column, value: sp.csr_array(  # noqa: E731
        (np.full(rows.size, value), (np.arange(rows.size), column)), shape=(rows.size, n_classes - 1)
    )
    upper = sp.hstack([-plain[below], one(below, codes[below], 1.0)])
    lower = sp.hstack([plain[above], one(above, codes[above] - 1, -1.0)])
    return sp.vstack([upper, lower], format="csr")


def describe(columns, names) -> str:
    """The columns by name (or x0, x1, ...), a few of them."""
    known = [str(names[j]) if names is not None else f"x{j}" for j in columns[:10]]
    return ", ".join(known) + (f" and {len(columns) - 10} more" if len(columns) > 10 else "")
