"""About the nearest rows of every row of a large table, in time linear in the number of rows.

Rows are projected on their few leading principal components, in which a forest of projection trees sorts them into
leaves of several hundred.  Within a leaf all scores are one product of matrices, and each row keeps those with the best
scores; what the components leave out enters a score by its length.  After the last tree the candidates of each row are
measured in all columns.  The share of true neighbours that are found is measured on some rows, against all others.

References: Dasgupta, Freund (2008), Random projection trees and low dimensional manifolds, STOC.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg as la

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import single_threaded_blas, thread_map
from hyperplan._core.parallel import spans as cut
from hyperplan._core.rng import kernel_state, task_seeds
from hyperplan._math._brute_kernels import settle
from hyperplan._math.brute import squared_nearest
from hyperplan.neighbors._descent_kernels import plant
from hyperplan.neighbors._descent_lists_kernels import keep_best

COMPONENTS = 64
SAMPLE_ROWS = 1024  # that principal components come from
TREES, LEAF = 16, 512
LEAVES_OF_A_TASK = 4
ROWS = 2048  # of one task
TESTED = 64  # rows whose true neighbours are looked up
ROUNDING = 1e-4  # of squared distances by products in float32


class ApproximateLists(NamedTuple):
    """Squared distances and row numbers of about the nearest rows of each row, itself left out."""

    squares: np.ndarray
    rows: np.ndarray
    recall: float  # share of true neighbours, measured on some rows


class _Sketch(NamedTuple):
    rows: np.ndarray  # (n, p + 1) float32: components, and minus half the squared length of the whole row
    tested: np.ndarray  # row numbers
    truth: np.ndarray  # squared distances from the tested rows to all rows, about


def approximate_lists(X, n_neighbors, seed=0, n_jobs=None) -> ApproximateLists:
    """About the nearest rows of each row, by Euclidean distance.

    Parameters
    ----------
    X : ndarray of shape (n, d), C order, float32 or float64
        The table.
    n_neighbors : int, below n
        How many.
    seed : int
        Where the trees cut.
    n_jobs : int, default=None
        Threads; they change no bit.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.neighbors._descent_lists import approximate_lists
    >>> found = approximate_lists(np.arange(6.0)[:, None] ** 2, 2)
    >>> found.rows[0].tolist(), found.recall
    ([1, 2], 1.0)
    """
    n = X.shape[0]
    size = min(n - 1, n_neighbors + max(16, n_neighbors))
    leaf = min(n, max(LEAF, 4 * size))
    require_memory(4.0 * n * (COMPONENTS + 2 * size + TESTED), "Lists of neighbours", "ask for fewer neighbours")
    sketch = _sketch(X, n_jobs)
    best, places = np.full((n, size), -np.inf, np.float32), np.full((n, size), -1, np.int32)
    for order in _forest(sketch.rows, leaf, seed, n_jobs):
        _offer_leaves(sketch.rows, order, leaf, best, places, n_jobs)
    squares, rows = np.empty((n, n_neighbors)), np.empty((n, n_neighbors), np.int64)

    def measure(part):
        count = part.stop - part.start
        settle(X[part], X, places[part], np.full(count, np.inf), squares[part], rows[part], np.empty(count, bool))

    lost = np.flatnonzero(places[:, -1] < 0)  # was always in a leaf with too few rows
    places[lost] = 0
    thread_map(measure, cut(n, ROWS), n_jobs)
    if lost.size:
        squares[lost], rows[lost] = _exactly(X, lost, n_neighbors, n_jobs)
    return ApproximateLists(squares, rows, _recall(sketch, squares))


def _sketch(X, n_jobs) -> _Sketch:
    n = X.shape[0]
    middle = (sum(thread_map(lambda part: X[part].sum(axis=0, dtype=np.float64), cut(n, ROWS), n_jobs)) / n).astype(
        X.dtype
    )
    axes = _axes(X, middle)
    tested = np.unique(np.linspace(0, n - 1, TESTED).astype(np.int64))
    queries = (X[tested] - middle).astype(np.float32)
    rows, truth = np.empty((n, axes.shape[1] + 1), np.float32), np.empty((n, len(tested)), np.float32)

    def run(part):
        centred = (X[part] - middle).astype(np.float32, copy=False)
        squares = np.einsum("ij,ij->i", centred, centred)
        rows[part, :-1] = centred @ axes
        rows[part, -1] = -0.5 * squares
        truth[part] = squares[:, None] - 2.0 * (centred @ queries.T)

    thread_map(run, cut(n, ROWS), n_jobs)
    truth += np.einsum("ij,ij->i", queries, queries)
    return _Sketch(rows, tested, truth)


def _axes(X, middle):
    """Leading principal axes of some of the rows; all axes if there are few columns."""
    n, d = X.shape
    if d <= COMPONENTS:
        return np.eye(d, dtype=np.float32)
    some = np.unique(np.linspace(0, n - 1, SAMPLE_ROWS).astype(np.int64))
    sample = (X[some] - middle).astype(np.float64)
    with single_threaded_blas():
        if d <= len(some):
            return la.eigh(sample.T @ sample, subset_by_index=(d - COMPONENTS, d - 1))[1].astype(np.float32)
        count = min(COMPONENTS, len(some))
        values, vectors = la.eigh(sample @ sample.T, subset_by_index=(len(some) - count, len(some) - 1))
        lengths = np.sqrt(np.maximum(values, 1e-12 * max(float(values[-1]), 1e-300)))
        return (sample.T @ (vectors / lengths)).astype(np.float32)


def _forest(rows, leaf, seed, n_jobs):
    """Orders of the rows, one for each tree, in which leaves are runs of `leaf` rows."""
    n, n_leaves = rows.shape[0], -(-rows.shape[0] // leaf)
    n_nodes = 2 ** ((n_leaves - 1).bit_length() + 1) - 1
    points = np.ascontiguousarray(rows[:, :-1])
    seeds = task_seeds(seed, TREES if n_leaves > 1 else 1)

    def run(one):
        order, spans, pairs = (
            np.arange(n, dtype=np.int32),
            np.zeros((n_nodes, 2), np.int32),
            np.zeros((n_nodes, 2), np.int32),
        )
        spans[0, 1] = n_leaves
        plant(points, leaf, kernel_state(one), order, spans, pairs, np.zeros(n_nodes), np.empty(n))
        return order

    return thread_map(run, seeds, n_jobs)


def _offer_leaves(table, order, leaf, best, places, n_jobs):
    n = table.shape[0]

    def run(part):
        for start in range(part.start * leaf, min(part.stop * leaf, n), leaf):
            members = order[start : start + leaf]
            block = table[members]
            queries = block.copy()
            queries[:, -1] = 1.0
            keep_best(queries @ block.T, members, best, places)

    thread_map(run, cut(-(-n // leaf), LEAVES_OF_A_TASK), n_jobs)


def _exactly(X, some, n_neighbors, n_jobs):
    squares, rows = squared_nearest(X, np.ascontiguousarray(X[some]), n_neighbors + 1, n_jobs)
    others = rows != some[:, None]
    others[others.all(axis=1), -1] = False  # copies of the row have taken its place
    shape = (len(some), n_neighbors)
    return squares[others].reshape(shape), rows[others].reshape(shape)


def _recall(sketch, squares):
    """Share of the lists of the tested rows that are as near as their true neighbours."""
    count = squares.shape[1]
    truth = np.maximum(sketch.truth, 0.0)
    truth[sketch.tested, np.arange(len(sketch.tested))] = np.inf
    farthest = np.partition(truth, count - 1, axis=0)[count - 1].astype(np.float64)
    slack = ROUNDING * (farthest - 2.0 * sketch.rows[sketch.tested, -1])
    return float((squares[sketch.tested] <= (farthest + slack)[:, None]).mean())
