"""Approximate neighbours in many dimensions: a graph in which walks end near the query.

Rows are sorted by random projections into leaves, whose members become neighbours; then each row is offered the
neighbours of its neighbours until hardly any list changes.  A query starts in the leaves it falls into and walks along
the graph.  Nothing guarantees the result: the share of true neighbours that it misses is measured on a sample of rows.

References: Dong, Charikar, Li (2011), Efficient k-nearest neighbor graph construction for generic similarity measures,
WWW.  Dasgupta, Freund (2008), Random projection trees and low dimensional manifolds, STOC.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.certificate import Certificate
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans as cut
from hyperplan._core.parallel import thread_map
from hyperplan._core.rng import kernel_state, task_seeds
from hyperplan._math._brute_kernels import settle
from hyperplan._math.brute import squared_nearest
from hyperplan.neighbors import _descent_kernels as k

TREES = 4
WIDTH = 20  # neighbours of each row in the graph
PATIENCE = 2.0  # length of the list of a walk, in neighbours asked for
LEAST_LENGTH = 32
ROUNDS = 12
FEW = 1e-3  # share of the entries that still change, below which the descent stops
ROWS = 4096  # of one task
SAMPLE, WANTED = 256, 10
TOLERABLE = 0.05  # share of missed neighbours
SEED = 0


class Descent(NamedTuple):
    """A table with its graph and its projection trees."""

    X: np.ndarray
    middle: np.ndarray
    graph: np.ndarray
    order: np.ndarray
    spans: np.ndarray
    pairs: np.ndarray
    cuts: np.ndarray
    rounds: int


def build_graph(X, n_jobs=None) -> Descent:
    """The graph of the rows of X (float64 or float32, Euclidean)."""
    n, d = X.shape
    require_memory(4.0 * n * (d + 5 * WIDTH + 2 * TREES), "The graph of neighbours", "use algorithm='brute'")
    middle = X.mean(axis=0, dtype=np.float64)
    rows32 = np.ascontiguousarray(X - middle, dtype=np.float32)
    n_leaves = -(-n // k.LEAF)
    n_nodes = 2 ** ((n_leaves - 1).bit_length() + 1) - 1
    order = np.tile(np.arange(n, dtype=np.int32), (TREES, 1))
    spans, pairs = np.zeros((TREES, n_nodes, 2), np.int32), np.full((TREES, n_nodes, 2), -1, np.int32)
    cuts, seeds = np.zeros((TREES, n_nodes)), task_seeds(SEED, TREES)
    spans[:, 0, 1] = n_leaves

    def plant(t):
        k.plant(rows32, k.LEAF, kernel_state(seeds[t]), order[t], spans[t], pairs[t], cuts[t], np.empty(n))

    thread_map(plant, range(TREES), n_jobs)
    graph, rounds = _descend(rows32, order, n_leaves, n_jobs)
    return Descent(rows32, middle, graph, order, spans, pairs, cuts, rounds)


def _descend(X, order, n_leaves, n_jobs):
    n, width = X.shape[0], min(WIDTH, max(X.shape[0] - 1, 1))
    values, rows = np.full((n, width), np.inf, np.float32), np.full((n, width), -1, np.int32)
    fresh = np.zeros((n, width), bool)
    for tree in order:
        thread_map(
            lambda part, tree=tree: k.join_leaves(X, tree, part.start, part.stop, values, rows, fresh),
            cut(n_leaves, ROWS // k.LEAF),
            n_jobs,
        )
    rounds = 0
    while rounds < ROUNDS:
        rounds += 1
        backward = np.full((n, width), -1, np.int32)
        k.turn_around(rows, np.zeros(n, np.int32), backward)
        old_rows, old_fresh = rows.copy(), fresh.copy()

        def improve(part, old_rows=old_rows, old_fresh=old_fresh, backward=backward):
            return k.improve(X, old_rows, old_fresh, backward, part.start, part.stop, values, rows, fresh)

        if sum(thread_map(improve, cut(n, ROWS), n_jobs)) <= FEW * n * width:
            break
    return np.concatenate([rows, _backward(rows)], axis=1), rounds


def _backward(rows):
    """The other directions of the edges, so that walks also reach rows that are nobody's near neighbour."""
    backward = np.full(rows.shape, -1, np.int32)
    k.turn_around(rows, np.zeros(rows.shape[0], np.int32), backward)
    return backward


def walk_to(found: Descent, Q, n_neighbors, own=None, n_jobs=None):
    """Row numbers of about the nearest rows; exact distances are for the caller to compute and sort by."""
    queries = np.ascontiguousarray(Q - found.middle, dtype=np.float32)
    own = np.full(Q.shape[0], -1, np.int32) if own is None else own.astype(np.int32)
    length = min(
        found.X.shape[0] - int(own.max(initial=-1) >= 0), max(int(PATIENCE * n_neighbors), n_neighbors + LEAST_LENGTH)
    )
    rows = np.empty((Q.shape[0], length), np.int32)

    def run(part):
        values = np.empty((part.stop - part.start, length), np.float32)
        trees = found.order, found.spans, found.pairs, found.cuts
        k.walk(queries[part], found.X, own[part], *trees, found.graph, values, rows[part])

    thread_map(run, cut(Q.shape[0], ROWS // 4), n_jobs)
    return rows


def squared_walk(found: Descent, X, Q, n_neighbors, n_jobs=None, own=None):
    """Squared distances and row numbers of about the nearest rows; queries that met too few are searched exactly."""
    rows = walk_to(found, Q, n_neighbors, own, n_jobs)
    squares, nearest = np.empty((Q.shape[0], n_neighbors)), np.empty((Q.shape[0], n_neighbors), np.int64)
    lost = np.flatnonzero(rows[:, -1] < 0)
    rows[lost] = 0

    def run(part):
        size = part.stop - part.start
        settle(Q[part], X, rows[part], np.full(size, np.inf), squares[part], nearest[part], np.empty(size, bool))

    thread_map(run, cut(Q.shape[0], ROWS // 4), n_jobs)
    if lost.size:
        squares[lost], nearest[lost] = squared_nearest(X, np.ascontiguousarray(Q[lost]), n_neighbors, n_jobs)
    return squares, nearest


def recall_certificate(found: Descent, X, n_neighbors, n_jobs=None) -> Certificate:
    """The share of true neighbours that walks to some rows miss, without the rows themselves, which know theirs."""
    count = min(n_neighbors or WANTED, X.shape[0] - 1)
    if count < 1:
        raise ValueError("algorithm='approximate' needs at least two rows: use algorithm='brute'")
    sample = np.unique(np.linspace(0, X.shape[0] - 1, SAMPLE).astype(np.int64))
    Q = np.ascontiguousarray(X[sample])
    truth, _ = squared_nearest(X, Q, count + 1, n_jobs)  # the first is the row, or equal to it
    squares, _ = squared_walk(found, X, Q, count, n_jobs, sample)
    missed = float((squares > truth[:, -1:] * (1 + 1e-9)).mean())
    return Certificate(
        kind="recall on a sample",
        guarantee=f"about {100 * (1 - missed):.1f} % of the {count} nearest rows are found",
        value=missed,
        bound=TOLERABLE,
        assumption=f"queries are like the {len(sample)} rows of the table that were left out in turn",
        reference="Dong, Charikar, Li (2011), WWW",
        details={"sample": len(sample), "rounds": found.rounds},
    )
