"""All trees of a forest as one table to walk rows through: sums of leaf values, leaves, out-of-bag sums."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.parallel import spans, thread_map
from hyperplan._trees import _forest_walk_kernels as k

ROWS_PER_TASK = 2048


class Walk(NamedTuple):
    """The trees one after another; see `_forest_walk_kernels`."""

    table: np.ndarray
    leaf: np.ndarray
    values: np.ndarray
    roots: np.ndarray
    first_leaf: np.ndarray

    @property
    def cut(self):
        return self.table.view(np.float32)


def tree_table(nodes):
    """Table, leaf numbers and leaf values of one tree."""
    n = nodes.feature.shape[0]
    inner = nodes.children_left >= 0
    own = np.arange(n, dtype=np.int32)
    table = np.empty((n, 4), dtype=np.int32)
    cut = table.view(np.float32)
    with np.errstate(over="ignore"):
        cut[:, k.THRESHOLD] = nodes.threshold
    above = cut[:, k.THRESHOLD] > nodes.threshold  # a float32 x is <= threshold if it is <= the float32 below it
    cut[above, k.THRESHOLD] = np.nextafter(cut[above, k.THRESHOLD], np.float32(-np.inf))
    missing_right = np.where(nodes.missing_go_to_left != 0, 0, 1 << k.MISSING_RIGHT)
    table[:, k.FEATURE] = np.where(inner, nodes.feature | missing_right, 0)
    table[:, k.LEFT] = np.where(inner, nodes.children_left, own)
    table[:, k.LEFT + 1] = np.where(inner, nodes.children_right, own)
    leaf = np.cumsum(~inner, dtype=np.int32) - 1
    return table, leaf, nodes.value[~inner]


def joined_walk(parts) -> Walk:
    """The trees' tables as one, with children numbered throughout."""
    n_nodes = [table.shape[0] for table, _, _ in parts]
    n_leaves = [values.shape[0] for _, _, values in parts]
    roots = np.concatenate([[0], np.cumsum(n_nodes)]).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(n_leaves)]).astype(np.int64)
    table = np.empty((int(roots[-1]), 4), dtype=np.int32)
    leaf = np.empty(int(roots[-1]), dtype=np.int32)
    values = np.empty((int(first[-1]), parts[0][2].shape[1]))

    def task(t):
        part = slice(roots[t], roots[t + 1])
        table[part] = parts[t][0]
        table[part, k.LEFT :] += np.int32(roots[t])
        np.add(parts[t][1], np.int32(first[t]), out=leaf[part])
        values[first[t] : first[t + 1]] = parts[t][2]

    thread_map(task, range(len(parts)))
    return Walk(table, leaf, values, roots[:-1], first)


def _dense(X, part):
    rows = X[part]
    return np.ascontiguousarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float32)


def mean_values(walk, X, n_jobs=None) -> np.ndarray:
    """Mean over the trees of the values of the leaves that rows (float32 array or CSR) reach."""
    out = np.zeros((X.shape[0], walk.values.shape[1]))
    arrays = (walk.table, walk.cut, walk.leaf, walk.values, walk.roots)

    def task(part):
        k.add_trees(_dense(X, part), *arrays, out[part])
        out[part] /= walk.roots.shape[0]

    thread_map(task, spans(X.shape[0], ROWS_PER_TASK), n_jobs)
    return out


def tree_values(walk, X) -> np.ndarray:
    """Leaf values of every tree: shape (n_rows, n_trees, width)."""
    nodes = leaves(walk, X) + walk.roots
    return walk.values[walk.leaf[nodes]]


def leaves(walk, X, n_jobs=None) -> np.ndarray:
    """Leaf of each row in each tree, numbered within the tree."""
    out = np.empty((X.shape[0], walk.roots.shape[0]), dtype=np.int64)

    def task(part):
        k.leaves_of_trees(_dense(X, part), walk.table, walk.cut, walk.roots, out[part])

    thread_map(task, spans(X.shape[0], ROWS_PER_TASK), n_jobs)
    return out


class OutOfBag(NamedTuple):
    """Sums of leaf values over the trees that did not see a row, their number, and the mean loss after each tree."""

    sums: np.ndarray
    count: np.ndarray
    curve: np.ndarray


def out_of_bag(walk, X, y, n_classes, outside, n_jobs=None) -> OutOfBag:
    """Judge every row by the trees that did not see it.

    Parameters
    ----------
    walk : Walk
        The trees.
    X : float32 ndarray or CSR matrix of shape (n, d)
        Training rows.
    y : ndarray of shape (n, n_outputs)
        Targets, or class numbers.
    n_classes : ndarray of int
        Classes of each output; empty for regression.
    outside : bool ndarray of shape (n_trees, n)
        Whether a tree did not see a row.
    n_jobs : int or None
        Threads.

    Returns
    -------
    result : OutOfBag
        The curve is NaN where no row has an answer yet.
    """
    n = X.shape[0]
    sums, count = np.zeros((n, walk.values.shape[1])), np.zeros(n, dtype=np.int64)
    y = np.ascontiguousarray(y, dtype=np.float64)
    arrays = (walk.table, walk.cut, walk.leaf, walk.values, walk.roots)

    def task(part):
        curve = np.zeros((walk.roots.shape[0], 2))
        seen = np.ascontiguousarray(outside[:, part])
        k.add_out_of_bag(_dense(X, part), seen, y[part], n_classes, *arrays, sums[part], count[part], curve)
        return curve

    total = sum(thread_map(task, spans(n, ROWS_PER_TASK), n_jobs))
    with np.errstate(invalid="ignore"):
        return OutOfBag(sums, count, total[:, 0] / total[:, 1])
