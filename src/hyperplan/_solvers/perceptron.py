"""The perceptron on checked arrays: pocket descent, Novikoff's bound, and the textbook algorithm.

A row is a mistake when ``y <w, x> <= 0`` (with < the zero vector would be a solution for any data); then
``w <- w + rho y x``.  If some w* has ``y_i <w*, x_i> >= gamma > 0`` for all rows and R = max |x_i|, a perceptron that
starts at zero makes at most ``(R / gamma)^2 |w*|^2`` mistakes (Novikoff 1962).
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.certificate import Certificate
from hyperplan._core.rng import kernel_state
from hyperplan._core.status import Status
from hyperplan._solvers import _perceptron_kernels as pk
from hyperplan._solvers import _sgd_kernels as k
from hyperplan._solvers.sgd import NOTHING, SgdPoint, SgdRun, finished_run, improved, matrix, new_state, read_only

MARGIN_PASSES = 50
MARGIN_WORK = 4_000_000  # entries of X times passes: no more is spent on sharpening the bound


def pocket(X, y, weight, rule, start, *, n_epochs, seed, rows) -> SgdRun:
    """Perceptron that reports the weights with the least training error seen."""
    factor = np.where(y > 0.0, rule.positive_weight, rule.negative_weight)
    factor = factor if weight is None else factor * weight
    coef, state = np.array(start.coef, dtype=np.float64), new_state(rule, start)
    best, record = coef.copy(), np.array([np.inf, start.intercept, 0.0])
    order, random, n_iter, run, status = rows.copy(), kernel_state(seed), 0, 0, Status.MAX_ITER
    while n_iter < n_epochs and status == Status.MAX_ITER:
        mistakes, run = pk.pocket_epoch(
            X, read_only(y), factor, order, rule, run, random, state, coef, record, best
        )  # fmt: skip
        n_iter += 1
        if mistakes == 0 or not improved(-state[k.LOSS], rule, state):
            status = Status.CONVERGED
    status = status if np.isfinite(coef).all() and np.isfinite(state[k.LOSS]) else Status.DIVERGED
    point = SgdPoint(best, float(record[1]), NOTHING, 0.0, state[k.CLOCK])
    return finished_run(point, n_iter, state, status)


class Novikoff(NamedTuple):
    """Mistakes made, and Novikoff's bound on them (nan where the theorem says nothing)."""

    mistakes: int
    bound: float
    margin: float
    radius: float


def novikoff(X, y, rule, run, rows) -> Novikoff:
    """The bound by the best separator at hand: the final weights, or those of a few passes towards the widest margin.

    Every separator gives a valid bound, a wider margin a sharper one.  The rows are taken with the constant column
    that the intercept stands for.
    """
    separators = [(run.point.coef, run.point.intercept)]
    table, y_rows = matrix(X, slice(0, X.n_rows) if rows.shape[0] == X.n_rows else rows), y[rows]
    entries = X.data.shape[0]
    passes = min(MARGIN_PASSES, MARGIN_WORK // max(entries, 1))
    if passes > 0 and _least_margin(table, y_rows, *separators[0]) > 0:
        wide, multiplier = np.zeros(X.n_cols), np.zeros(rows.shape[0])
        separators.append((wide, pk.hard_margin_passes(X, read_only(y), rule, rows, passes, multiplier, wide)))
    if isinstance(table, np.ndarray):
        squares = np.einsum("ij,ij->i", table, table, dtype=np.float64)
    else:
        squares = table.power(2) @ np.ones(X.n_cols)
    radius = np.sqrt(float(squares.max()) + rule.intercept_step)
    margins = []
    for w, b in separators:
        norm = np.sqrt(w @ w + (b * b / rule.intercept_step if rule.intercept_step > 0 else 0.0))
        margins.append(_least_margin(table, y_rows, w, b) / norm if norm > 0 else -np.inf)
    margin = max(margins)
    bound = (radius / margin) ** 2 if margin > 0 else np.nan
    return Novikoff(run.n_updates, float(bound), float(margin), float(radius))


def _least_margin(table, y, coef, intercept) -> float:
    return float((y * (table @ coef + intercept)).min())


def novikoff_certificate(bounds, excuse="") -> Certificate:
    """Mistakes of all one-against-the-rest problems against the sum of their bounds."""
    mistakes = sum(each.mistakes for each in bounds)
    total = sum(each.bound for each in bounds)
    details = {"mistakes": [each.mistakes for each in bounds], "bounds": [each.bound for each in bounds]}
    details |= {"margins": [each.margin for each in bounds], "radius": max(each.radius for each in bounds)}
    if excuse:
        total, guarantee = np.nan, f"the bound does not apply: {excuse}"
    elif np.isnan(total):
        missed = sum(np.isnan(each.bound) for each in bounds)
        guarantee = (
            f"not separable, as far as seen ({missed} of {len(bounds)} problems have no separator after the last "
            "epoch): the bound does not apply"
        )
    else:
        guarantee = f"{mistakes} mistakes were made; on these rows a perceptron never makes more than {total:.4g}"
    return Certificate(
        "Novikoff bound",
        guarantee,
        value=float(mistakes),
        bound=float(total),
        assumption="the rows are linearly separable and the weights start at zero",
        reference="Novikoff (1962), On convergence proofs on perceptrons",
        details=details,
    )


class PerceptronResult(NamedTuple):
    """What `perceptron` found; the last entry of `weight` belongs to the constant feature."""

    weight: np.ndarray
    n_mistakes: int
    n_epochs: int
    converged: bool


def textbook_perceptron(X, y, *, epoch, rho, order, seed) -> PerceptronResult:
    """The algorithm on a dense float64 table whose last column is one; y is -1 or +1."""
    w = np.zeros(X.shape[1])
    if order == "random_mistake":
        n_steps = epoch * X.shape[0]
        mistakes, clean = pk.rosenblatt_steps(X, y, float(rho), n_steps, kernel_state(seed), w)
        return PerceptronResult(w, mistakes, -(-mistakes // max(X.shape[0], 1)), clean)
    rows = np.arange(X.shape[0])
    result = pk.textbook_epochs(X, y, float(rho), epoch, order == "shuffle", rows, kernel_state(seed), w)
    return PerceptronResult(w, *result)
