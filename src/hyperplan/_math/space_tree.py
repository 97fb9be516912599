"""Search among points in few dimensions: trees of boxes (KD-trees) or balls, as flat arrays.

A tree is grown by cutting the widest column of a node at about its median, always between two leaves of sixteen
points.  It answers which rows are nearest, how many lie within a radius, and which, for any Minkowski distance.
Answers are exact in float64, ties go to the smaller row number, and the number of threads changes no bit of them.

Growing takes O(n d log n), and a query about O(log n) while the dimension is low; above fifteen columns or so
exhaustive search (`hyperplan._math.brute`) is faster.

Reference: Friedman, Bentley, Finkel (1977), An algorithm for finding best matches in logarithmic expected time, ACM
Transactions on Mathematical Software 3.  Omohundro (1989), Five balltree construction algorithms, ICSI.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans as cut
from hyperplan._core.parallel import thread_map
from hyperplan._math import _space_tree_kernels as k
from hyperplan._math._distance_kernels import EUCLIDEAN, MINKOWSKI

LEAF = k.LEAF
SERIAL = 16_384  # rows below which a subtree is grown in one go
MOST_SUBTREES = 64
QUERIES = 1024  # of one task
LEAVES = 1024
TRIALS, TRIAL_ROWS = 12, 32  # runs of rows that are searched for to see whether a tree pays
MOST_ROWS = 2**31 - 1  # rows are numbered in 32 bits


class Rule(NamedTuple):
    """How to measure, and whether nodes are balls (else boxes)."""

    code: int
    power: float
    is_ball: bool


class Room(NamedTuple):
    """Where a search works; each task has its own."""

    points: np.ndarray
    group: np.ndarray
    hull: np.ndarray
    gaps: np.ndarray
    near: np.ndarray
    limits: np.ndarray
    stack: np.ndarray
    reach: np.ndarray


def make_room(d) -> Room:
    """Arrays for one search among rows of d columns."""
    lanes, stack = (np.empty(LEAF) for _ in range(3)), np.empty(k.DEPTH, np.int64)
    return Room(np.empty((LEAF, d)), np.empty((d, LEAF)), np.empty((2, d)), *lanes, stack, np.empty(k.DEPTH))


class SpaceTree(NamedTuple):
    """Points in a tree.

    Attributes
    ----------
    blocks : ndarray of shape (n_leaves, n_columns, LEAF)
        Points of the leaves, column by column; the last leaf is filled up with copies of its last point.
    order : ndarray of shape (n_rows,), int32
        Row number at each position: leaf l has the positions LEAF * l to LEAF * (l + 1) - 1.
    spans : ndarray of shape (n_nodes, 2), int32
        First leaf of each node, and the one after its last; equal where there is no node.  The children of node v are
        2v + 1 and 2v + 2.
    bounds : ndarray of shape (n_nodes, 2, n_columns)
        Of boxes the lowest and the highest corner; of balls the centre, and the radius in ``bounds[:, 1, 0]``.
    axes : ndarray of shape (n_nodes,), int32
        Column that a node is cut in, -1 for leaves.
    cuts : ndarray of shape (n_nodes,)
        Where: smaller values went left.
    rule : Rule
        How distances are measured, and what the nodes are.
    """

    blocks: np.ndarray
    order: np.ndarray
    spans: np.ndarray
    bounds: np.ndarray
    axes: np.ndarray
    cuts: np.ndarray
    rule: Rule


class Lists(NamedTuple):
    """Rows found for queries: those of query i are ``rows[starts[i]:starts[i + 1]]``."""

    starts: np.ndarray
    rows: np.ndarray
    distances: np.ndarray


def grow_tree(X, code=EUCLIDEAN, power=2.0, is_ball=False, n_jobs=None) -> SpaceTree:
    """A tree over the rows of X.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns), C order, float64, finite, not empty
        Points.
    code : int
        How to measure: a code of `_distance_kernels`.
    power : float, at least 1
        For the code MINKOWSKI.
    is_ball : bool
        Whether nodes are balls instead of boxes.
    n_jobs : int, default=None
        Threads.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan._math.space_tree import grow_tree, nearest_rows
    >>> tree = grow_tree(np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]]))
    >>> nearest_rows(tree, np.array([[4.0, 4.0]]), 2)[1]
    array([[2, 1]])
    """
    n, d = X.shape
    if n > MOST_ROWS:
        raise ValueError(f"a tree takes at most {MOST_ROWS} rows, got {n}: search a sample, or parts one by one")
    n_leaves = -(-n // LEAF)
    n_nodes = 2 ** ((n_leaves - 1).bit_length() + 1) - 1
    require_memory(8.0 * (n_leaves * LEAF * d + 2 * n_nodes * d), "The tree", "use algorithm='brute'")
    rule = Rule(int(code), float(power), bool(is_ball))
    order, keys = np.arange(n, dtype=np.int32), np.empty(n)
    spans, axes, cuts = np.zeros((n_nodes, 2), np.int32), np.full(n_nodes, -1, np.int32), np.zeros(n_nodes)
    bounds = np.zeros((n_nodes, 2, d))
    spans[0, 1] = n_leaves
    nodes = [0]
    while n > SERIAL * len(nodes) and len(nodes) < MOST_SUBTREES:
        thread_map(lambda node: k.split_node(X, order, node, spans, axes, cuts, bounds, keys), nodes, n_jobs)
        nodes = [child for node in nodes for child in (2 * node + 1, 2 * node + 2)]
    thread_map(lambda node: k.grow(X, order, node, spans, axes, cuts, bounds, keys), nodes, n_jobs)
    blocks = np.empty((n_leaves, d, LEAF))
    thread_map(lambda part: k.fill_leaves(X, order, part.start, part.stop, blocks), cut(n_leaves, LEAVES), n_jobs)
    if is_ball:
        _make_balls(blocks, spans, rule, bounds, n_jobs)
    return SpaceTree(blocks, order, spans, bounds, axes, cuts, rule)


def _make_balls(blocks, spans, rule, bounds, n_jobs):
    n = spans.shape[0]
    parts = [slice(i, i + 1) for i in range(min(n, MOST_SUBTREES))]  # large nodes one by one
    parts += [slice(i, min(i + LEAVES, n)) for i in range(MOST_SUBTREES, n, LEAVES)]
    thread_map(lambda part: k.bound_by_balls(blocks, spans, part.start, part.stop, rule, bounds), parts, n_jobs)


def homes_of(tree: SpaceTree, Q, n_jobs=None):
    """The leaf of each query, and the queries sorted by it; for Q None those of the tree's own points."""
    if Q is None:
        homes = np.empty(tree.order.shape[0], np.int32)
        homes[tree.order] = np.arange(tree.order.shape[0], dtype=np.int32) // LEAF
        return homes, tree.order
    homes, chosen = np.empty(Q.shape[0], np.int32), np.empty(Q.shape[0], np.int32)
    parts = cut(Q.shape[0], QUERIES)
    thread_map(
        lambda part: k.find_homes(Q, part.start, part.stop, tree.spans, tree.axes, tree.cuts, homes), parts, n_jobs
    )
    k.order_by_home(homes, np.zeros(tree.blocks.shape[0] + 2, np.int64), chosen)
    return homes, chosen


def nearest_rows(tree: SpaceTree, Q, n_neighbors, n_jobs=None):
    """Distances to the nearest rows of the tree and their numbers, nearest first; ties go to the smaller number.

    Parameters
    ----------
    tree : SpaceTree
        Where to search.
    Q : ndarray of shape (n_queries, n_columns), C order, float64
        Queries.
    n_neighbors : int, at most the number of rows
        How many.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    distances, rows : ndarray of shape (n_queries, n_neighbors), float64 and int64
        Both sorted by distance, then number.
    """
    shape = (Q.shape[0], n_neighbors)
    require_memory(16.0 * shape[0] * shape[1], "The lists of neighbours", "ask for fewer, or for parts of the queries")
    distances, found = np.empty(shape), np.empty(shape, np.int64)
    homes, chosen = homes_of(tree, Q, n_jobs)

    def run(part):
        where = tree.blocks, tree.order, tree.spans, tree.bounds
        lists = np.empty((LEAF, n_neighbors)), np.empty((LEAF, n_neighbors), np.int64)
        k.nearest(Q, chosen[part], homes, *where, tree.rule, make_room(Q.shape[1]), lists, distances, found)

    thread_map(run, cut(shape[0], QUERIES), n_jobs)
    return distances, found


def nodes_visited(tree: SpaceTree, X, n_neighbors) -> float:
    """How many nodes a group of queries visits, on average over some runs of neighbouring rows of the tree.

    Their number says whether the tree pays: it depends on the dimension of the cloud, not on that of the space.
    """
    homes, order = homes_of(tree, None)
    starts = np.unique(np.linspace(0, max(X.shape[0] - TRIAL_ROWS, 0), TRIALS).astype(np.int64))
    distances, found = np.empty((X.shape[0], n_neighbors)), np.empty((X.shape[0], n_neighbors), np.int64)
    lists = np.empty((LEAF, n_neighbors)), np.empty((LEAF, n_neighbors), np.int64)
    where, room = (tree.blocks, tree.order, tree.spans, tree.bounds), make_room(X.shape[1])
    visits = [
        k.nearest(X, order[start : start + TRIAL_ROWS], homes, *where, tree.rule, room, lists, distances, found)
        for start in starts
    ]
    return sum(visits) * LEAF / (len(starts) * min(TRIAL_ROWS, X.shape[0]))


def reduced_radius(tree: SpaceTree, radius, n_queries):
    """Radii on the scale of the search (squares, powers), one per query."""
    radius = np.broadcast_to(np.asarray(radius, dtype=np.float64), (n_queries,))
    with np.errstate(over="ignore"):  # an infinite limit is one
        if tree.rule.code == EUCLIDEAN:
            limits = np.where(radius < 0, -1.0, radius * radius)
        elif tree.rule.code == MINKOWSKI:
            limits = np.where(radius < 0, -1.0, np.abs(radius) ** tree.rule.power)
        else:
            limits = np.array(radius)
    return np.ascontiguousarray(limits)


def count_within(tree: SpaceTree, Q, radius, n_jobs=None):
    """How many rows of the tree lie within a radius (a number, or one per query) of each query, border included."""
    counts, empty = np.zeros(Q.shape[0], np.int64), np.empty(0)
    _run_within(tree, Q, radius, np.zeros(1, np.int64), counts, np.empty(0, np.int64), empty, n_jobs)
    return counts


def rows_within(tree: SpaceTree, Q, radius, by_distance=False, n_jobs=None) -> Lists:
    """The rows of the tree within a radius of each query, sorted by number, or by distance and then number."""
    starts = np.concatenate([[0], np.cumsum(count_within(tree, Q, radius, n_jobs))])
    require_memory(16.0 * starts[-1], "The lists of neighbours", "use a smaller radius, or parts of the queries")
    found, distances = np.empty(starts[-1], np.int64), np.empty(starts[-1])
    if starts[-1]:
        _run_within(tree, Q, radius, starts, np.zeros(Q.shape[0], np.int64), found, distances, n_jobs)
    lists = Lists(starts, found, distances)
    sort_lists(lists, by_distance, n_jobs)
    return lists


def _run_within(tree, Q, radius, starts, counts, found, distances, n_jobs):
    radii, (homes, chosen) = reduced_radius(tree, radius, Q.shape[0]), homes_of(tree, Q, n_jobs)

    def run(part):
        where = tree.blocks, tree.order, tree.spans, tree.bounds
        room = make_room(Q.shape[1])
        k.within(Q, chosen[part], homes, radii, *where, tree.rule, room, counts, (starts, found, distances))

    thread_map(run, cut(Q.shape[0], QUERIES), n_jobs)


def sort_lists(lists: Lists, by_distance=False, n_jobs=None) -> None:
    """Sort lists in place by row number, or by distance and then number."""

    def run(part):
        k.sort_lists(lists.starts, part.start, part.stop, by_distance, lists.rows, lists.distances)

    thread_map(run, cut(lists.starts.shape[0] - 1, QUERIES), n_jobs)
