"""Newton steps for l1-penalised least squares: exact minimisation over a support and its signs.

On the coordinates that are not zero the objective is quadratic until a sign changes.  The Cholesky factor of that
quadratic is kept from step to step and follows the support by adding and removing single coordinates.
"""

import numpy as np
from scipy.linalg import lapack

from hyperplan._core.parallel import single_threaded_blas
from hyperplan._solvers._coordinate_newton_kernels import factor_append, factor_remove, factor_solve, subtract_rows

LARGEST_SUPPORT = 4096  # larger supports are left to coordinate descent
AFRESH = 0.15  # share of the support that must change for a new factorisation to be cheaper
JITTER = 1e-10  # relative ridge for supports that are linearly dependent


class SupportFactor:
    """Cholesky factor of ``G + ridge`` on a set of coordinates."""

    def __init__(self):
        self.forget()

    def forget(self):
        """Start anew (when coordinates were renumbered)."""
        self.size, self.ridge = 0, 0.0
        self.members = np.empty(0, dtype=np.intp)
        self._L = np.empty((0, 0))
        self._rotation = np.empty((2, 0))

    def follow(self, G, ridge, support) -> bool:
        """Make the members equal to `support` (sorted); False when that matrix is singular even with a little ridge."""
        members = self.members[: self.size]
        stale = ridge != self.ridge
        leaving = np.flatnonzero(~np.isin(members, support, assume_unique=True)) if not stale else members
        entering = np.setdiff1d(support, members, assume_unique=True)
        if stale or leaving.shape[0] + entering.shape[0] > AFRESH * support.shape[0] + 2:
            return self._factorise(G, ridge, support)
        self._reserve(support.shape[0] + leaving.shape[0])
        for position in leaving[::-1]:
            factor_remove(position, self.size, *self._rotation, self.members, self._L)
            self.size -= 1
        for j in entering:
            if not factor_append(G, ridge, j, self.size, self.members, self._L):
                return self._factorise(G, ridge, support)
            self.size += 1
        return True

    def _reserve(self, size):
        if size > self.members.shape[0]:
            capacity = size + size // 4 + 64
            L, members = np.zeros((capacity, capacity)), np.zeros(capacity, dtype=np.intp)
            L[: self.size, : self.size] = self._L[: self.size, : self.size]
            members[: self.size] = self.members[: self.size]
            self._L, self.members, self._rotation = L, members, np.zeros((2, capacity))

    def _factorise(self, G, ridge, support):
        k = support.shape[0]
        self._reserve(k)
        H = G[support].take(support, axis=1)
        H.flat[:: k + 1] += ridge
        with single_threaded_blas():
            # the transpose of a C-ordered symmetric matrix is what LAPACK wants, and its upper factor is our lower one
            factor, failed = lapack.dpotrf(H.T, lower=0, clean=0)
            if failed:
                H.flat[:: k + 1] += JITTER * np.diagonal(H).max()
                factor, failed = lapack.dpotrf(H.T, lower=0, clean=0)
        self.size, self.ridge = (0, 0.0) if failed else (k, ridge)
        if not failed:
            self._L[:k, :k] = factor.T
            self.members[:k] = support
        return not failed

    def solve(self, b):
        """Solution for a right-hand side in the order of the members."""
        factor_solve(self._L, self.size, b)
        return b


def minimise_over_support(G, penalty, factor, w, c) -> bool:
    """Newton steps until one is complete, coordinates leaving the support on the way; False when a step fails."""
    for _ in range(w.shape[0] + 1):
        length = newton_step(G, penalty, factor, w, c)
        if length == 1.0:
            return True
        if length == 0.0:
            return False
    return False


def newton_step(G, penalty, factor, w, c) -> float:
    """Go towards the minimiser over the current support and signs, as far as that is best; return how far.

    1 is the whole way, 0 means that the support is empty, too large or singular.  Beyond a sign change the objective
    stays convex and piecewise quadratic along the segment, so that its best point is found exactly.
    """
    m = w.shape[0]
    kinked = penalty.l1 > 0 or penalty.positive
    support = np.flatnonzero(w) if kinked else np.flatnonzero(np.diagonal(G)[:m] > 0)
    if not 0 < support.shape[0] <= LARGEST_SUPPORT or not factor.follow(G, penalty.l2, support):
        return 0.0
    members = factor.members[: factor.size].copy()
    here = w[members]
    sign = np.sign(here)
    downhill = c[members] - penalty.l2 * here - penalty.l1 * sign
    direction = factor.solve(downhill.copy())
    slope = float(direction @ downhill)
    if not np.isfinite(slope) or slope < 0:
        return 0.0
    length, there = 1.0, here + direction
    if kinked:
        length, there = _best_on_segment(here, sign, direction, slope, penalty)
    w[members] = there
    subtract_rows(G, members, there - here, c)
    return float(length)


def _best_on_segment(here, sign, direction, slope, penalty):
    """(t, point) of ``here + t * direction``, 0 <= t <= 1, of least objective; `slope` is its descent at t = 0."""
    towards_zero = np.flatnonzero(direction * sign < 0)
    times = -here[towards_zero] / direction[towards_zero]
    early = times < 1
    towards_zero, times = towards_zero[early], times[early]
    if not times.shape[0]:
        return 1.0, here + direction
    order = np.argsort(times, kind="stable")
    towards_zero, times = towards_zero[order], times[order]
    if penalty.positive:
        t = times[0]
    else:
        climb = 2 * penalty.l1 * np.abs(direction[towards_zero])
        before = np.concatenate([[0.0], np.cumsum(climb)[:-1]])
        # the derivative at time t is -slope * (1 - t) + the climbs passed before t
        uphill = np.flatnonzero(-slope * (1 - times) + before + climb >= 0)
        if not uphill.shape[0]:
            t = 1 - climb.sum() / slope
        else:
            k = uphill[0]
            t = min(times[k], 1 - before[k] / slope)
    there = here + t * direction
    there[towards_zero[times == t]] = 0.0
    if penalty.positive:
        np.maximum(there, 0.0, out=there)
    return t, there
