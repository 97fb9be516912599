"""Step sizes found by trial: Armijo's rule for directions, the quadratic upper bound for (proximal) gradient steps."""

import math

import numpy as np

ARMIJO = 1e-4  # share of the predicted decrease that must come true
SHRINK = 0.5
TRIALS = 60  # 2^-60 is below the rounding of any step
ROUNDING = 8 * np.finfo(np.float64).eps
NOISE = 1e-9  # predicted changes below this share of |f| cannot be judged from values of f


def armijo(objective, x, value, slope, direction, step=1.0):
    """The first of step, step/2, step/4, ... that decreases f by ARMIJO * step * |slope|.

    `slope` is the (negative) inner product of gradient and direction.

    Returns
    -------
    x_new, value_new, step
        The accepted point; (x, value, 0.0) when no step decreases f.
    """
    for _ in range(TRIALS):
        x_new = x + step * direction
        new = objective.value(x_new)
        if new <= value + ARMIJO * step * slope + ROUNDING * abs(value):
            return x_new, new, step
        step *= SHRINK
    return x, value, 0.0


def majorised(objective, y, value, gradient, step, prox=None):
    """A (proximal) gradient step from y, `step` halved until f lies below its quadratic model there.

    The test is ``f(x) <= f(y) + <g, x - y> + |x - y|^2 / (2 step)``, true for every step <= 1/L.  Where f changes by
    less than its rounding, the curvature along the step is compared instead.

    Returns
    -------
    x, f(x), step
    """
    for _ in range(TRIALS):
        x = y - step * gradient if prox is None else prox(y - step * gradient, step)
        move = (x - y).ravel()
        model = float(move @ move) / (2.0 * step)
        new = objective.value(x)
        if model <= NOISE * abs(value) and math.isfinite(new):
            bent = float((objective.gradient(x) - gradient).ravel() @ move)
            if bent <= 2.0 * model * (1.0 + ROUNDING):
                break
        elif new <= value + float(gradient.ravel() @ move) + model + ROUNDING * abs(value):
            break
        step *= SHRINK
    return x, new, step


def first_step(objective, x, gradient):
    """1/L with L measured by a short move along the gradient; 1 when the gradient says nothing."""
    norm = float(np.linalg.norm(gradient))
    if not 0.0 < norm < math.inf:
        return 1.0
    move = gradient * (1e-4 * (1.0 + float(np.linalg.norm(x))) / norm)
    change = float(np.linalg.norm(objective.gradient(x - move) - gradient))
    length = float(np.linalg.norm(move))
    return length / change if 0.0 < change < math.inf else 1.0
