"""The five support vector problems as duals in signed coefficients, and the primal value that certifies each.

    C-classification   min 1/2 |w|^2 + sum_i C_i max(0, 1 - s_i f(x_i))
    nu-classification  the same, C chosen so that a share nu of the weight lies on or inside the margin
    e-regression       min 1/2 |w|^2 + sum_i C_i max(0, |y_i - f(x_i)| - e)
    nu-regression      the same, e chosen so that a share nu of the weight lies on or outside the tube
    one class          min 1/2 |w|^2 + sum_i C_i max(0, r - <w, x_i>) - nu r sum_i C_i

with f(x) = <w, x> + b in feature space.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.status import Status
from hyperplan._solvers.kernel_svm import Outcome, Problem, dual_objective, solve_dual
from hyperplan._solvers.kernel_svm_source import Mirrored

HARD_START, HARD_FACTOR, HARD_LIMIT = 1e2, 1e2, 1e14  # finite costs that stand for an infinite one, in units of 1 / k
TINY = np.finfo(float).tiny
HARD_STEPS, HARD_STEPS_PER_ROW = 200_000, 200
THIN, NEARLY_THIN = 1e-8, 1e-5  # a margin below this share of the radius is none; when steps end before: below that


class Machine(NamedTuple):
    """A solved problem: ``f(x) = sum_i beta_i k(x_i, x) + intercept``.

    `scores` are values of f at the training rows; `cost` are the upper bounds of |beta|; `width` is the half width of
    the tube (regression).
    """

    beta: np.ndarray
    intercept: float
    scores: np.ndarray
    cost: np.ndarray
    primal: float
    dual: float
    violation: float
    n_iter: int
    status: Status
    width: float = 0.0

    @property
    def squared_norm(self):
        """``|w|^2`` in feature space."""
        return float(self.beta @ (self.scores - self.intercept))


class NotSeparableError(ValueError):
    """No function satisfies all constraints of a problem with infinite C."""


def solve_classification(source, signs, cost, start=None, score=None, **options) -> Machine:
    """C-classification from a feasible start (`score`: its K start, if known).

    An infinite cost asks for a separation without errors.
    """
    if np.isinf(cost).any():
        options = _with_limit(options, cost.size)
        return _solve_hard(lambda C, start: _soft(source, signs, C, start, **options), source, cost)
    return _soft(source, signs, cost, start, score, **options)


def _soft(source, signs, cost, start, score=None, **options):
    problem = classification_problem(signs, cost, start, score)
    return _classification_machine(problem, solve_dual(source, problem, **options), signs, cost)


def classification_problem(signs, cost, start=None, score=None) -> Problem:
    """Coefficients between 0 and ``sign * cost``, slope ``-sign``."""
    low, high = np.where(signs > 0, 0.0, -cost), np.where(signs > 0, cost, 0.0)
    start = np.zeros(signs.size) if start is None else start
    return Problem(np.stack([low, high, -signs, -signs]), start, signs.size, score)


def _classification_machine(problem, outcome: Outcome, signs, cost):
    intercept = float(outcome.constants[0])
    scores = outcome.score + intercept
    primal = 0.5 * outcome.beta @ outcome.score + cost @ np.maximum(0.0, 1.0 - signs * scores)
    dual = -dual_objective(problem, outcome.beta, outcome.score)
    return Machine(
        outcome.beta, intercept, scores, cost, float(primal), dual, outcome.violation, outcome.n_iter, outcome.status
    )


def solve_nu_classification(source, signs, weight, nu, **options) -> Machine:
    """nu-classification, rows with sign +1 first; the result is scaled to margins of 1."""
    share = 0.5 * nu * weight.sum()
    is_first = signs > 0
    start = np.where(is_first, _fill_up(weight * is_first, share), -_fill_up(weight * ~is_first, share))
    zeros = np.zeros(signs.size)
    low, high = np.where(is_first, 0.0, -weight), np.where(is_first, weight, 0.0)
    problem = Problem(np.stack([low, high, zeros, zeros]), start, int(is_first.sum()))
    outcome = solve_dual(source, problem, **options)
    margin = 0.5 * (outcome.constants[1] - outcome.constants[0])  # half of what separates the two groups' scores
    if not margin > 0.0:
        return _without_margin(outcome, weight)
    scaled = outcome._replace(
        beta=outcome.beta / margin,
        score=outcome.score / margin,
        constants=np.array([0.5 * (outcome.constants[0] + outcome.constants[1]) / margin]),
    )
    cost = weight / margin
    return _classification_machine(classification_problem(signs, cost), scaled, signs, cost)


def _without_margin(outcome, weight):
    """The two groups' means coincide in feature space: no direction separates anything."""
    zeros = np.zeros_like(outcome.beta)
    values = np.full(outcome.beta.size, np.nan)
    return Machine(zeros, 0.0, values, weight, np.nan, np.nan, np.nan, outcome.n_iter, Status.STALLED)


def solve_regression(source, y, cost, epsilon, **options) -> Machine:
    """e-regression; an infinite cost asks for a function that stays within the tube at all rows."""
    if np.isinf(cost).any():
        options = _with_limit(options, cost.size)
        return _solve_hard(lambda C, start: _tube(source, y, C, epsilon, start, **options), source, cost)
    return _tube(source, y, cost, epsilon, None, **options)


def _tube(source, y, cost, epsilon, start, **options):
    start = np.zeros(y.size) if start is None else start
    problem = Problem(np.stack([-cost, cost, -epsilon - y, epsilon - y]), start, y.size)
    outcome = solve_dual(source, problem, **options)
    return _regression_machine(outcome, y, cost, float(outcome.constants[0]), epsilon)


def _regression_machine(outcome, y, cost, intercept, epsilon):
    scores = outcome.score + intercept
    size = outcome.beta @ outcome.score
    primal = 0.5 * size + cost @ np.maximum(0.0, np.abs(y - scores) - epsilon)
    dual = -0.5 * size + y @ outcome.beta - epsilon * np.abs(outcome.beta).sum()
    return Machine(
        outcome.beta,
        intercept,
        scores,
        cost,
        float(primal),
        float(dual),
        outcome.violation,
        outcome.n_iter,
        outcome.status,
        epsilon,
    )


def solve_nu_regression(source, y, cost, nu, **options) -> Machine:
    """nu-regression: one group of coefficients above the tube, one below it."""
    n = y.size
    start = _fill_up(cost, 0.5 * nu * cost.sum())
    zeros = np.zeros(n)
    terms = np.stack([np.concatenate([zeros, -cost]), np.concatenate([cost, zeros]), *2 * [np.tile(-y, 2)]])
    problem = Problem(terms, np.concatenate([start, -start]), n, np.zeros(2 * n))
    outcome = solve_dual(Mirrored(source), problem, **options)
    above, below = outcome.constants
    merged = outcome._replace(beta=outcome.beta[:n] + outcome.beta[n:], score=outcome.score[:n])
    return _regression_machine(merged, y, cost, float(0.5 * (above + below)), float(0.5 * (above - below)))


def solve_one_class(source, weight, nu, **options) -> Machine:
    """One class: coefficients that sum to ``nu * sum of weights``."""
    zeros = np.zeros(weight.size)
    problem = Problem(np.stack([zeros, weight, zeros, zeros]), _fill_up(weight, nu * weight.sum()), weight.size)
    outcome = solve_dual(source, problem, **options)
    intercept = float(outcome.constants[0])
    scores = outcome.score + intercept
    size = float(outcome.beta @ outcome.score)
    primal = 0.5 * size + weight @ np.maximum(0.0, -scores) + intercept * nu * weight.sum()
    return Machine(
        outcome.beta,
        intercept,
        scores,
        weight,
        float(primal),
        -0.5 * size,
        outcome.violation,
        outcome.n_iter,
        outcome.status,
    )


def _fill_up(bounds, total):
    """Coefficients at their bounds from the first row on, until their sum is `total`."""
    before = np.concatenate([[0.0], np.cumsum(bounds)[:-1]])
    return np.clip(total - before, 0.0, bounds)


def _with_limit(options, n):
    """Options with a limit on steps: problems without a solution would otherwise go on for long."""
    limit = options.get("max_iter", -1)
    return {**options, "max_iter": limit if limit >= 0 else max(HARD_STEPS, HARD_STEPS_PER_ROW * n)}


def _solve_hard(solve, source, cost):
    """Infinite costs as growing finite ones, until no coefficient is held by its bound.

    Where no bound binds the finite problem has the solution of the infinite one.  Coefficients b with |w| small against
    sum |b| prove that the constraints leave no more than that ratio as a margin.
    """
    diagonal = source.diagonal()
    radius = np.sqrt(max(diagonal.max(initial=0.0), TINY))
    unit, start, factor = 1.0 / radius**2, None, HARD_START
    is_hard = np.isinf(cost)
    machine = solve(np.where(is_hard, HARD_LIMIT * unit, cost), None)  # most problems that can be solved are, at once
    if machine.status.ok and not (is_hard & (np.abs(machine.beta) >= machine.cost)).any():
        return machine._replace(cost=cost)
    while True:
        machine = solve(np.where(is_hard, factor * unit, cost), start)
        start = machine.beta
        held = is_hard & (np.abs(start) >= machine.cost)
        ratio = 2.0 * np.sqrt(max(machine.squared_norm, 0.0)) / max(np.abs(start).sum() * radius, TINY)
        is_thin = ratio < (THIN if machine.status.ok else NEARLY_THIN)
        if not held.any() and (machine.status.ok or not is_thin):
            return machine._replace(cost=cost)
        if is_thin or factor >= HARD_LIMIT or not machine.status.ok:
            held = held if held.any() else np.abs(start) >= 0.5 * np.abs(start).max()
            raise NotSeparableError(
                f"With infinite C no solution was found: {held.sum()} rows (the first is row {np.argmax(held)} of this "
                f"problem) cannot be satisfied by a margin of more than {ratio:.2g} times the largest norm of a row. "
                "Use a finite C, or a kernel that separates the rows (a larger gamma)."
            )
        factor *= HARD_FACTOR
