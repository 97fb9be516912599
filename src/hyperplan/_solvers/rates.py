"""How many iterations theory asks for: worst-case bounds of gradient methods on convex functions.

R is the distance from the start to a minimiser, L the smoothness (largest curvature), mu the strong convexity (least
curvature), G a bound on the subgradients, eps the accuracy ``f(x_T) - f* <= eps``.

    subgradient, step eps / G^2           T = G^2 R^2 / eps^2          (for the best iterate, not the last)
    gradient descent, step 1/L            T = L R^2 / (2 eps)
    gradient descent, step 2 / (L + mu)   T = log(L R^2 / (2 eps)) / (2 log((k + 1) / (k - 1))),  k = L / mu
    Nesterov and FISTA, step 1/L          T = sqrt(2 L R^2 / eps) - 1

Nesterov (2018), Lectures on Convex Optimization, chapter 2; Beck, Teboulle (2009), SIAM J. Imaging Sci. 2(1).
"""

import math
from typing import NamedTuple


class Constants(NamedTuple):
    """What is known of the problem; None means unknown, `estimated` names those measured along the run."""

    smoothness: float | None = None
    strong_convexity: float | None = None
    radius: float | None = None
    lipschitz: float | None = None
    estimated: tuple = ()


def subgradient_bound(constants, accuracy):
    """Iterations of subgradient descent with step accuracy / G^2 until the best iterate is within `accuracy`."""
    if not _known(accuracy, constants.lipschitz, constants.radius):
        return None
    return _iterations((constants.lipschitz * constants.radius / accuracy) ** 2)


def gradient_bound(constants, accuracy):
    """Iterations of gradient descent with step 1/L (or of ISTA); the linear rate when mu > 0 makes it smaller.

    With step 1/L the error also shrinks by the factor 1 - mu/L per step, a bound for any split of f + g.
    """
    if not _known(accuracy, constants.smoothness, constants.radius):
        return None
    scale = constants.smoothness * constants.radius**2 / (2.0 * accuracy)
    bound = _iterations(scale)
    if constants.strong_convexity:
        ratio = min(constants.strong_convexity / constants.smoothness, 1.0)
        linear = math.ceil(math.log(scale) / -math.log1p(-ratio)) if ratio < 1.0 < scale else 1
        bound = linear + 1 if bound is None else min(bound, linear + 1)
    return bound


def strongly_convex_bound(constants, accuracy):
    """Iterations of gradient descent with step 2 / (L + mu): error factor ((k - 1) / (k + 1))^2 per iteration."""
    if not _known(accuracy, constants.smoothness, constants.radius, constants.strong_convexity):
        return None
    scale = constants.smoothness * constants.radius**2 / (2.0 * accuracy)
    k = max(constants.smoothness / constants.strong_convexity, 1.0)
    if scale <= 1.0 or k == 1.0:
        return 1
    return _iterations(math.log(scale) / (2.0 * math.log((k + 1.0) / (k - 1.0))))


def nesterov_bound(constants, accuracy):
    """Iterations of Nesterov's method or FISTA with step 1/L."""
    if not _known(accuracy, constants.smoothness, constants.radius):
        return None
    return _iterations(math.sqrt(2.0 * constants.smoothness / accuracy) * constants.radius - 1.0)


def _known(accuracy, *values):
    return all(value is not None and math.isfinite(value) for value in (accuracy, *values)) and accuracy > 0.0


def _iterations(value):
    return max(1, math.ceil(value)) if value < 1e18 else None
