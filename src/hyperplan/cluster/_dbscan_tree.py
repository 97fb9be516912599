"""DBSCAN on a tree, for Minkowski distances in any number of dimensions; memory is linear, no list is made."""

import numpy as np

from hyperplan._core.parallel import spans, thread_map
from hyperplan._math.space_tree import LEAF, SpaceTree, make_room, reduced_radius
from hyperplan.cluster import _dbscan_tree_kernels as t
from hyperplan.cluster._dbscan_grid import Found, number_clusters

LEAVES = 64  # of a task
SUMMARIES = 16  # how often all nodes are asked whether they are in one cluster


def cluster_on_tree(tree: SpaceTree, X, radius, need, weight=None, n_jobs=None) -> Found:
    """DBSCAN of the rows of a tree.

    Parameters
    ----------
    tree : SpaceTree
        A tree over the rows of X.
    X : ndarray of shape (n_rows, n_columns), C order, float64
        The rows.
    radius : float
        Largest distance of neighbours.
    need : float
        Weight within the radius that makes a core point.
    weight : ndarray of shape (n_rows,), default=None
        Weights of the rows; None: each counts once.
    n_jobs : int, default=None
        Threads.
    """
    n, n_leaves = X.shape[0], tree.blocks.shape[0]
    where, rule, limit = (tree.blocks, tree.order, tree.spans, tree.bounds), tree.rule, _limit(tree, radius)
    weights = np.empty(0) if weight is None else weight[tree.order]
    may_stop, parts = weight is None or bool((weight >= 0).all()), spans(n_leaves, LEAVES)
    cores = np.zeros(n, bool)

    def count(part):
        room, totals = make_room(X.shape[1]), np.empty(LEAF)
        options = part.start, part.stop, limit, float(need), may_stop
        t.find_cores(X, where, rule, room, weights, totals, *options, cores)

    thread_map(count, parts, n_jobs)
    parents, roots, room = np.arange(n), np.empty(tree.spans.shape[0], np.int64), make_room(X.shape[1])
    t.link_beside(X, where, rule, room, limit, cores, parents)
    for part in spans(n_leaves, max(LEAVES, -(-n_leaves // SUMMARIES))):
        t.summarise(tree.spans, tree.axes, cores, parents, roots)
        t.link_leaves(X, where, rule, room, roots, part.start, part.stop, limit, cores, parents)
    labels = number_clusters(parents, np.arange(n, dtype=np.int32), tree.order, cores)
    out, is_core = np.empty(n, np.int64), np.empty(n, bool)
    out[tree.order], is_core[tree.order] = np.where(cores, labels, -1), cores

    def place(part):
        room = make_room(X.shape[1])
        return t.place_borders(X, where, rule, room, roots, part.start, part.stop, limit, cores, labels, out)

    return Found(out, is_core, sum(thread_map(place, parts, n_jobs)))


def _limit(tree, radius):
    return float(reduced_radius(tree, radius, 1)[0])
