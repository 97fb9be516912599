"""Bootstrap resamples as counts: how often each row was drawn.

Counts of resamples are made in chunks whose size depends on the number of rows only, each chunk from a seed of its own,
so that threads change nothing.
"""

import numpy as np

from hyperplan._base import check_consistent_length, seed_from
from hyperplan._core.parallel import spans, thread_map
from hyperplan._core.rng import task_seeds

CHUNK_ENTRIES = 1 << 20  # counts in a chunk: 8 MB


class Sampler:
    """Draws rows with replacement: freely, within strata, or whole groups.

    Parameters
    ----------
    n_rows : int
    strata : array of n_rows labels or None
        As many rows of each stratum as there are are drawn in every resample.
    groups : array of n_rows labels or None
        Rows of a group are drawn together.
    """

    def __init__(self, n_rows, strata=None, groups=None):
        if n_rows < 2:
            raise ValueError(f"resampling needs at least two rows, got {n_rows}")
        if strata is not None and groups is not None:
            raise ValueError("give strata or groups, not both: a group may hold rows of several strata")
        self.n_rows = n_rows
        self.strata = [np.arange(n_rows)] if strata is None else _members(strata, n_rows, "strata")
        self.group_of_row = None
        if groups is not None:
            check_consistent_length(groups, np.empty(n_rows))
            self.group_of_row = np.unique(np.asarray(groups), return_inverse=True)[1]
            self.n_groups = int(self.group_of_row.max()) + 1
            if self.n_groups < 2:
                raise ValueError("groups: all rows are of one group, nothing can be resampled")

    def counts(self, n_resamples, seed) -> np.ndarray:
        """Array of shape (n_resamples, n_rows)."""
        rng = np.random.default_rng(seed)
        if self.group_of_row is not None:
            return _draws(rng, n_resamples, self.n_groups)[:, self.group_of_row]
        if len(self.strata) == 1:
            return _draws(rng, n_resamples, self.n_rows)
        counts = np.empty((n_resamples, self.n_rows))
        for members in self.strata:
            counts[:, members] = _draws(rng, n_resamples, members.size)
        return counts

    def blocks(self, n_blocks, seed=0) -> np.ndarray:
        """Number of the jackknife block of each row: one row (or group) each, or about equal random blocks."""
        n_units = self.n_rows if self.group_of_row is None else self.n_groups
        block = np.arange(n_units)
        if n_units > n_blocks:
            block = np.empty(n_units, dtype=np.intp)
            block[np.random.default_rng(seed).permutation(n_units)] = np.arange(n_units) % n_blocks
        return block if self.group_of_row is None else block[self.group_of_row]


def resample_map(func, sampler, n_resamples, random_state, n_jobs=None) -> list:
    """``func(counts)`` for chunks of counts that make up `n_resamples` resamples, in order, in threads."""
    if n_resamples < 2:
        raise ValueError(f"n_resamples must be at least 2 (1000 is usual), got {n_resamples!r}")
    chunks = spans(n_resamples, int(np.clip(CHUNK_ENTRIES // sampler.n_rows, 1, 128)))
    seeds = task_seeds(seed_from(random_state), len(chunks))
    tasks = [(chunk.stop - chunk.start, int(seed)) for chunk, seed in zip(chunks, seeds)]
    return thread_map(lambda task: func(sampler.counts(*task)), tasks, n_jobs)


def _draws(rng, n_resamples, size):
    """How often each of `size` units comes up in `size` draws with replacement, as floats, one resample per row."""
    drawn = rng.integers(0, size, (n_resamples, size))
    drawn += size * np.arange(n_resamples)[:, None]
    return np.bincount(drawn.ravel(), minlength=n_resamples * size).reshape(n_resamples, size).astype(np.float64)


def _members(labels, n_rows, name):
    labels = np.asarray(labels)
    if labels.shape != (n_rows,):
        raise ValueError(f"{name} must hold one label per row ({n_rows}), got shape {labels.shape}")
    inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)[1:]
    return np.split(np.argsort(inverse, kind="stable"), np.cumsum(counts)[:-1])
