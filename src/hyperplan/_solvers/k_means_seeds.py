"""First centres by greedy k-means++: each the best of some rows drawn by their squared distance to those chosen before.

For many dense rows the distances to all candidates come from one product of float32 matrices per panel; small ones, of
which nothing would be left after rounding, are measured again in float64.  Candidates are drawn by blocks first: no
running sum over all rows is needed.

Arthur, Vassilvitskii (2007), k-means++: the advantages of careful seeding.
"""

import numpy as np

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, split_map
from hyperplan._solvers import _k_means_seeds_kernels as k
from hyperplan._solvers.k_means_rows import DenseRows

FEW_ROWS = 16_384  # up to which all distances are measured in float64
PANEL = 16 * k.BLOCK
FEW_COLUMNS = 64  # up to which own products with few seeds, from a table with rows as columns, are faster than BLAS


def default_trials(n_clusters):
    """Candidates per centre: ``2 + floor(log k)``."""
    return 2 + int(np.log(n_clusters))


def spread_seeds(rows, n_clusters, random_state, n_trials=None):
    """Row numbers of first centres.

    Parameters
    ----------
    rows : DenseRows or SparseRows
        Rows with weights.
    n_clusters : int
        How many, at most the number of rows.
    random_state : RandomState
        Draws the rows.
    n_trials : int, default=None
        Candidates per centre; None means `default_trials`, 1 is k-means++ as published.

    Returns
    -------
    chosen : ndarray of shape (n_clusters,)
        Row numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan._solvers.k_means import rows_of
    >>> from hyperplan._solvers.k_means_seeds import spread_seeds
    >>> rows = rows_of(np.array([[0.0], [0.1], [9.0]]))
    >>> bool(2 in spread_seeds(rows, 2, np.random.RandomState(0)))
    True
    """
    n, chosen = rows.shape[0], np.empty(n_clusters, dtype=np.intp)
    n_trials = default_trials(n_clusters) if n_trials is None else n_trials
    measure = _measure(rows)
    chosen[0] = draw_row(n, rows.weight, random_state)
    closest, sums = _left(rows, measure, chosen[:1], np.full(n, np.inf, measure.dtype))
    closest, sums = closest[0], sums[0]
    spare = np.empty((2, n_trials, n), measure.dtype) if n_clusters > 1 else None
    for c in range(1, n_clusters):
        candidates = draw_by_weight(random_state.uniform(size=n_trials), closest, sums, rows.weight)
        left, left_sums = _left(rows, measure, candidates, closest, spare[c % 2])
        best = int(left_sums.sum(axis=1).argmin())
        chosen[c], closest, sums = candidates[best], left[best], left_sums[best]
    return chosen


def draw_row(n, weight, random_state):
    """One row by its weight; without weights the same draw without a sum over all rows."""
    if weight.size == 0:
        return min(int(random_state.random_sample() * n), n - 1)
    return random_state.choice(n, p=weight / weight.sum())


def draw_by_weight(shares, closest, sums, weight):
    """Rows at which the running sum of weighted distances reaches the given shares of the whole."""
    ends = np.cumsum(sums)
    targets = shares * sums.sum()
    blocks = np.minimum(np.searchsorted(ends, targets), sums.shape[0] - 1)
    found = np.empty(shares.shape[0], dtype=np.intp)
    for t, (block, target) in enumerate(zip(blocks, targets)):
        part = slice(block * k.BLOCK, min((block + 1) * k.BLOCK, closest.shape[0]))
        values = closest[part].astype(np.float64)
        running = np.cumsum(values * weight[part] if weight.size else values) + (ends[block - 1] if block else 0.0)
        found[t] = part.start + min(int(np.searchsorted(running, target)), running.shape[0] - 1)
    return found


def _left(rows, measure, candidates, closest, out=None):
    """Distances to the nearest centre with each candidate (trials, n), and their sums by blocks (trials, blocks)."""
    n, n_trials = closest.shape[0], candidates.shape[0]
    left = np.empty((n_trials, n), closest.dtype) if out is None else out
    sums = np.empty((n_trials, -(-n // k.BLOCK)))
    gaps = measure(candidates)

    def work(part):
        k.weigh(gaps(part), part.start, rows.weight, closest, left, sums)

    split_map(work, spans(n, PANEL), rows.n_jobs)
    return left, sums


def _measure(rows):
    if not isinstance(rows, DenseRows):
        return _SparseMeasure(rows)
    return _ExactMeasure(rows) if rows.shape[0] <= FEW_ROWS else _ScreenedMeasure(rows)


class _ExactMeasure:
    """Squared distances of dense rows in float64."""

    dtype = np.float64

    def __init__(self, rows):
        self.rows = rows

    def __call__(self, candidates):
        seeds = self.rows.X[candidates].astype(np.float64)

        def gaps(part):
            tile = np.empty((len(seeds), part.stop - part.start))
            k.exact_gaps(self.rows.X[part], seeds, tile)
            return tile

        return gaps


class _SparseMeasure:
    """Squared distances of sparse rows in float64."""

    dtype = np.float64

    def __init__(self, rows):
        self.rows = rows

    def __call__(self, candidates):
        seeds = self.rows.take(candidates).astype(np.float64)
        squares = np.einsum("ij,ij->i", seeds, seeds)

        def gaps(part):
            tile = np.empty((len(seeds), part.stop - part.start))
            k.sparse_gaps(self.rows.block(part), self.rows.squares[part], seeds, squares, tile)
            return tile

        return gaps


class _ScreenedMeasure:
    """Squared distances of many dense rows in float32, in the units of the table."""

    dtype = np.float32

    def __init__(self, rows):
        self.rows, self.squares = rows, rows.squares.astype(np.float32)
        self.turned = _turned(rows) if rows.shape[1] <= FEW_COLUMNS else None

    def __call__(self, candidates):
        rows = self.rows
        seeds, narrow = rows.X[candidates].astype(np.float64), rows.table[candidates]

        def gaps(part):
            tile = np.empty((len(seeds), part.stop - part.start), np.float32)
            if self.turned is None:
                np.matmul(narrow, rows.table[part].T, out=tile)
            else:
                k.products(self.turned, part.start, narrow, tile)
            frame, squares = rows.frame, self.squares
            k.screened_gaps(tile, squares[part], squares[candidates], frame.error, rows.X[part], seeds, frame.scale)
            return tile

        return gaps


def _turned(rows):
    """The table with a row in each column; None if there is no room for another copy."""
    try:
        require_memory(rows.table.nbytes, "A copy of the table in float32", "")
    except MemoryError:
        return None
    turned = np.empty(rows.table.shape[::-1], np.float32)

    def fill(part):
        turned[:, part] = rows.table[part].T

    split_map(fill, spans(rows.shape[0], PANEL), rows.n_jobs)
    return turned
