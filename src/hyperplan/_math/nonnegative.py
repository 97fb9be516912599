"""Non-negative least squares from the Gram matrix: ``min 1/2 x'Gx - c'x`` subject to ``x >= 0``.

Block principal pivoting (Portugal, Judice and Vicente, 1994) exchanges many variables at a time and ends after a
handful of Cholesky factorisations; when it cycles or meets a singular block, the active-set method of Lawson and
Hanson (1974), which cannot, takes over.  Both stop at the exact optimality conditions
``x >= 0, Gx - c >= 0, x'(Gx - c) = 0``.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.status import Status
from hyperplan._math.positive_definite import factorize

PRECISION = 1e-12  # relative size below which a sign is rounding
PATIENCE = 3  # full exchanges that may fail to reduce the number of wrong signs


class NonnegativeFit(NamedTuple):
    """Solution, its multipliers ``G x - c`` and how it ended."""

    x: np.ndarray
    multiplier: np.ndarray
    status: Status
    n_iter: int


def nonnegative_solve(gram, target) -> NonnegativeFit:
    """Minimise ``1/2 x'Gx - c'x`` over ``x >= 0`` for positive semi-definite G and c in its range.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan._math.nonnegative import nonnegative_solve
    >>> nonnegative_solve(np.eye(2), np.array([1.0, -1.0])).x
    array([1., 0.])
    """
    diagonal = np.diagonal(gram)
    scale = np.where(diagonal > 0, 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)
    scaled, right = gram * scale * scale[:, None], target * scale
    found = _block_pivoting(scaled, right)
    if not found.status.ok:
        found = _lawson_hanson(scaled, right)
    x = np.maximum(found.x, 0.0) * scale
    return NonnegativeFit(x, gram @ x - target, found.status, found.n_iter)


def _solve_on(gram, target, passive):
    """Minimiser over the passive variables, or None when their block is singular."""
    x = np.zeros(target.shape[0])
    if passive.any():
        factor = factorize(gram[np.ix_(passive, passive)])
        if factor is None or factor.rcond < 1e-14:
            return None
        x[passive] = factor.solve(target[passive])
    return x


def _block_pivoting(gram, target) -> NonnegativeFit:
    passive = np.zeros(target.shape[0], dtype=bool)
    x, multiplier = np.zeros(target.shape[0]), -target
    fewest, patience = target.shape[0] + 1, PATIENCE
    small = PRECISION * np.abs(target).max(initial=0.0)
    for iteration in range(5 * target.shape[0] + 50):
        wrong = np.where(passive, x < -PRECISION * np.abs(x).max(initial=0.0), multiplier < -small)
        count = int(wrong.sum())
        if count == 0:
            return NonnegativeFit(x, multiplier, Status.EXACT, iteration)
        if count < fewest:
            fewest, patience = count, PATIENCE
        elif patience > 0:
            patience -= 1
        else:  # one variable, the last: cannot cycle (Murty)
            wrong[: np.flatnonzero(wrong)[-1]] = False
        passive ^= wrong
        x = _solve_on(gram, target, passive)
        if x is None:
            break
        multiplier = gram @ x - target
    return NonnegativeFit(np.zeros_like(target), -target, Status.STALLED, 0)


def _lawson_hanson(gram, target) -> NonnegativeFit:
    d = target.shape[0]
    passive, barred = np.zeros(d, dtype=bool), np.diagonal(gram) <= 0
    x = np.zeros(d)
    small = PRECISION * np.abs(target).max(initial=0.0)
    for iteration in range(6 * d + 50):
        ascent = np.where(passive | barred, -np.inf, target - gram @ x)
        entering = int(ascent.argmax()) if d else 0
        if d == 0 or ascent[entering] <= small:
            return NonnegativeFit(x, gram @ x - target, Status.EXACT, iteration)
        passive[entering] = True
        trial = _solve_on(gram, target, passive)
        if trial is None or trial[entering] <= 0:  # depends on the passive columns up to rounding
            passive[entering] = False
            barred[entering] = True
            continue
        while (trial[passive] <= 0).any():
            leaving = passive & (trial <= 0)
            step = float((x[leaving] / (x[leaving] - trial[leaving])).min())
            x += step * (trial - x)
            passive &= x > PRECISION * x.max()
            x[~passive] = 0.0
            trial = _solve_on(gram, target, passive)
            if trial is None:
                return NonnegativeFit(x, gram @ x - target, Status.STALLED, iteration)
        x = trial
        barred &= np.diagonal(gram) <= 0
    return NonnegativeFit(x, gram @ x - target, Status.MAX_ITER, 6 * d + 50)
