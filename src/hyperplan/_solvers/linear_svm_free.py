"""Multipliers between their bounds, moved together: what coordinate descent on the dual of a band loss is slow at.

    maximise over the free part of p   sum_i p_i end_i - 1/2 p_i^2 ridge_i - 1/2 |sum_i p_i x_i|^2

Near the optimum most multipliers are zero or at a bound and stay there.  For the others the dual is a concave
quadratic: some conjugate gradient steps gain what coordinate descent would need hundreds of passes for.  Multipliers
that would cross a bound stop there; the step as a whole is then shortened to the best point on its way: the dual
never falls.
Moré, Toraldo (1991), SIAM J. Optimization 1(1).
"""

import numpy as np

FIRST_EPOCH = 30  # before, coordinate descent still finds out which multipliers are free
PERIOD = 15  # epochs between two attempts, and as many more after one that gained nothing
FREE_ROWS = 1.2  # free multipliers per column up to which an attempt is made: with more, most of them end at a bound
STEPS = 16  # of conjugate gradients
DROP = 1e-4  # of the squared residual at which they end
HALVINGS = 6  # of a step that meets bounds, until it gains


class JointSteps:
    """Joint moves of free multipliers between epochs of coordinate descent."""

    def __init__(self, design, band, ridge):
        self._design, self._ridge = design, ridge
        self._low, self._high, self._cost = band
        self._bound = np.where(ridge > 0.0, np.inf, self._cost)
        self._next, self._wait = FIRST_EPOCH, PERIOD

    def _free(self, pull):
        return np.flatnonzero((pull != 0.0) & (np.abs(pull) < self._bound))

    def may_gain(self, epoch, pull):
        """Whether an attempt after this epoch is worth its cost."""
        return epoch >= self._next and 0 < self._free(pull).size <= FREE_ROWS * self._design.width

    def move(self, epoch, weights, scores, pull):
        """Weights and scores after an attempt; `pull` changes in place."""
        turn = self._turn(scores, pull)
        self._wait = self._wait + PERIOD if turn is None else PERIOD
        self._next = epoch + self._wait
        return (weights, scores) if turn is None else (weights + turn, self._design.scores(weights + turn))

    def _turn(self, scores, pull):
        """Change of the weights, None if there is no gain."""
        free = self._free(pull)
        now, low, high, ridge = pull[free], self._low[free], self._high[free], self._ridge[free]
        rows, wish = self._design.take(free), np.where(now > 0.0, low, high) - scores[free] - ridge * now
        move = conjugate_gradients(rows, ridge, wish)
        is_tube = low < high  # where the band is a point, zero is no border
        least = np.where((now > 0.0) & is_tube, 0.0, -self._bound[free])
        most = np.where((now < 0.0) & is_tube, 0.0, self._bound[free])
        for _ in range(HALVINGS):
            change = np.clip(now + move, least, most) - now
            turn, rise = rows.combine(change), change @ wish
            curvature = turn @ turn + change @ (ridge * change)
            if rise > 0.5 * curvature > 0.0:  # the whole way is a gain, if not the best
                length = min(1.0, rise / curvature)
                pull[free] = np.clip(now + length * change, least, most)
                return length * turn
            move = 0.5 * move
        return None


def conjugate_gradients(rows, ridge, wish):
    """An approximate solution of ``(X X' + ridge) move = wish``."""
    move, residual = np.zeros_like(wish), wish.copy()
    direction, size = residual.copy(), residual @ residual
    target = DROP * size
    for _ in range(STEPS):
        product = rows.scores(rows.combine(direction)) + ridge * direction
        curvature = direction @ product
        if not curvature > 0.0:
            break
        length = size / curvature
        move += length * direction
        residual -= length * product
        size, last = residual @ residual, size
        if size <= target:
            break
        direction = residual + size / last * direction
    return move
