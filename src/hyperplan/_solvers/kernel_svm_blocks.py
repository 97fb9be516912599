"""Pair steps on working sets, for support vector problems whose kernel matrix is not held.

Each round takes the coefficients that violate the optimality conditions most, and the newcomers of the round before;
fetches their kernel rows, new ones as one matrix product, from a cache of rows; makes pair steps within the set; and
adds the weighted rows to the scores of everybody.  Rows that have been settled for a while are set aside, the cache is
packed to the columns that are left, and before the end the scores of rows set aside are brought up to date and checked.
"""

import numpy as np

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, split_map
from hyperplan._solvers import _kernel_svm_kernels as k

WORKING_SET, LEAST_SET = 1024, 256  # coefficients in a round; fewer when the cache would not hold two sets of rows
EASED = 0.1  # pair steps within a set stop at this share of the violation outside
ROUND_STEPS = 40  # at most this many steps per coefficient of a set in one round
QUIET_ROUNDS = 8  # rounds that a row must be settled before it is set aside
LEAST_SHARE = 0.2  # share of rows that makes packing the cache worth while
SPAN = 4096  # columns of a sum of rows that are worth a task


class RowCache:
    """Rows of the kernel matrix, the oldest overwritten first; new ones stand side by side, as products write them."""

    def __init__(self, source, cache_bytes):
        n, bytes_each = len(source), source.dtype.itemsize
        asked = int(cache_bytes / bytes_each)  # values
        self.set_size = min(n, WORKING_SET, max(LEAST_SET, asked // (2 * n)))
        size = min(max(asked, 2 * self.set_size * n), n * n)
        require_memory(
            size * bytes_each, f"the cache of kernel rows of {n} rows", "lower cache_size, or take fewer training rows"
        )
        self.buffer = np.empty(size, dtype=source.dtype)
        self.point_to(source)

    def point_to(self, source):
        """Forget all rows and hold those of another source."""
        self.source, self.width = source, len(source)
        self.rows = self.buffer[: self.buffer.size // self.width * self.width].reshape(-1, self.width)
        self.slot_of = np.full(self.width, -1)
        self.owner = np.full(self.rows.shape[0], -1)
        self.next = 0

    def pack(self, source, keep):
        """Go on with the rows and columns `keep` (ascending), of which `source` knows the kernel values."""
        slots = self.slot_of[keep]
        order = np.argsort(slots[slots >= 0])
        owners, slots = np.flatnonzero(slots >= 0)[order], slots[slots >= 0][order]
        k.pack(self.buffer, self.width, slots, keep)
        self.point_to(source)
        self.slot_of[owners] = np.arange(owners.size)
        self.owner[: owners.size] = owners
        self.next = owners.size

    def fetch(self, chosen):
        """Slots of the rows `chosen`, after computing those that are missing."""
        capacity = self.owner.size
        while True:
            missing = chosen[self.slot_of[chosen] < 0]
            if missing.size == 0:
                return self.slot_of[chosen]
            if self.next + missing.size > capacity:
                self.next = 0
            place = slice(self.next, self.next + missing.size)
            evicted = self.owner[place]
            evicted = evicted[evicted >= 0]
            self.slot_of[evicted] = -1
            self.owner[place] = -1
            if np.isin(evicted, chosen, assume_unique=True).any():
                continue  # some of the set itself had to give way: it is missing, too
            self.source.fill(missing, self.rows[place])
            self.owner[place] = missing
            self.slot_of[missing] = np.arange(place.start, place.stop)
            self.next = place.stop


class Active:
    """The rows that are being worked on, with copies of their part of the problem."""

    def __init__(self, index, terms, split, beta, score, diagonal):
        self.index, self.split = index, int(np.searchsorted(index, split))
        self.terms = np.ascontiguousarray(terms[:, index])
        self.beta, self.score, self.diagonal = beta[index], score[index], diagonal[index]
        self.up, self.down = np.empty(index.size), np.empty(index.size)
        self.fresh = np.empty(0, dtype=np.intp)
        self.streak = np.zeros(index.size, dtype=np.intp)
        self.look()

    def groups(self):
        """The parts that have their own constraint."""
        return [part for part in (slice(0, self.split), slice(self.split, self.index.size)) if part.stop > part.start]

    def look(self):
        """Slopes and the largest violation."""
        k.slopes(self.terms, self.beta, self.score, self.up, self.down)
        self.ends = [(self.up[part].max(), self.down[part].min()) for part in self.groups()]
        self.violation = max(highest - lowest for highest, lowest in self.ends)

    def settled(self):
        """Rows that no pair would move at present."""
        quiet = np.empty(self.index.size, dtype=bool)
        for part, (highest, lowest) in zip(self.groups(), self.ends):
            quiet[part] = (self.up[part] < lowest) & (self.down[part] > highest)
        return quiet

    def choose(self, size):
        """The next working set, ascending: the worst on both sides of each group, and the last newcomers."""
        share = max(
            1, min(size, self.index.size) // (4 * len(self.groups()))
        )  # half of the set is new, half of that on either side
        picked = []
        for part, (highest, lowest) in zip(self.groups(), self.ends):
            picked.append(part.start + _largest(self.up[part], share, lowest))
            picked.append(part.start + _largest(-self.down[part], share, -highest))
        worst = np.unique(np.concatenate(picked))
        chosen = np.union1d(worst, self.fresh)
        self.fresh = np.setdiff1d(worst, self.fresh, assume_unique=True)
        return chosen


def _largest(values, count, least):
    """Positions of the `count` largest of the values above `least`."""
    candidates = np.flatnonzero(values > least)
    if candidates.size <= count:
        return candidates
    return candidates[np.argpartition(values[candidates], candidates.size - count)[candidates.size - count :]]


def solve_blocks(source, problem, beta, score, tol, limit, cache_bytes, shrinking):
    """Improve `beta` and `score` in place; returns steps made, the violation, and whether nothing moved any more."""
    n, diagonal = len(source), source.diagonal()
    cache = RowCache(source, cache_bytes)
    active = Active(np.arange(n), problem.terms, problem.split, beta, score, diagonal)
    aside: list = []  # rows that were set aside, and all coefficients at that moment
    n_iter, stalled, rounds = 0, False, 0
    while True:
        if active.violation <= tol or stalled or n_iter >= limit:
            if not aside:
                beta[active.index], score[active.index] = active.beta, active.score
                return n_iter, active.violation, stalled
            _bring_back(source, active, aside, beta, score)
            active = Active(np.arange(n), problem.terms, problem.split, beta, score, diagonal)
            if active.violation > tol and not stalled and n_iter < limit:
                active = _set_aside(source, problem, active, active.settled(), aside, beta, score, diagonal)
            cache.point_to(source.take(active.index) if aside else source)
            rounds = 0
            continue
        steps, moved = _improve(active, cache, tol, limit - n_iter)
        n_iter, stalled, rounds = n_iter + steps, not moved, rounds + 1
        if shrinking:
            active.streak = np.where(active.settled(), active.streak + 1, 0)
            quiet = active.streak >= QUIET_ROUNDS
            if rounds % QUIET_ROUNDS == 0 and quiet.mean() > LEAST_SHARE and active.violation > tol:
                active = _set_aside(source, problem, active, quiet, aside, beta, score, diagonal)
                keep = np.flatnonzero(~quiet)
                cache.pack(source.take(active.index), keep)


def _improve(active, cache, tol, limit):
    """One round; returns the number of pair steps and whether any coefficient moved."""
    chosen = active.choose(cache.set_size)
    slots = cache.fetch(chosen)
    size = chosen.size
    K = np.empty((size, size), dtype=cache.rows.dtype)
    split_map(lambda part: k.gather(cache.rows, slots, chosen, part.start, part.stop, K), spans(size, 256))
    beta, score = active.beta[chosen], active.score[chosen]
    steps, _ = k.improve_pairs(
        K,
        active.diagonal[chosen],
        np.ascontiguousarray(active.terms[:, chosen]),
        int(np.searchsorted(chosen, active.split)),
        max(0.9 * tol, EASED * active.violation),
        min(limit, ROUND_STEPS * size),
        beta,
        score,
        np.empty((3, size)),
    )
    change = beta - active.beta[chosen]
    moved = np.flatnonzero(change)
    rows, weights = slots[moved], change[moved]
    split_map(
        lambda part: k.add_rows(cache.rows, rows, weights, part.start, part.stop, active.score),
        spans(active.index.size, SPAN),
    )
    active.beta[chosen] = beta
    active.look()
    return steps, moved.size > 0


def _set_aside(source, problem, active, quiet, aside, beta, score, diagonal):
    """Go on without the rows `quiet`; the newcomers of the last round stay newcomers."""
    beta[active.index], score[active.index] = active.beta, active.score
    if not quiet.any():
        return active
    aside.append((active.index[quiet], beta.copy()))
    smaller = Active(active.index[~quiet], problem.terms, problem.split, beta, score, diagonal)
    position = np.cumsum(~quiet) - 1
    smaller.fresh = position[active.fresh[~quiet[active.fresh]]]
    smaller.streak = active.streak[~quiet]
    return smaller


def _bring_back(source, active, aside, beta, score):
    """Scores of the rows set aside, from the coefficients that have changed since."""
    beta[active.index], score[active.index] = active.beta, active.score
    while aside:
        rows, before = aside.pop()
        changed = np.flatnonzero(beta != before)
        if changed.size:
            score[rows] += source.take(rows).product(source.take(changed), (beta - before)[changed])
