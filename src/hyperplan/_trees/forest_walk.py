"""Rows through all trees of a forest (a `forest_record.Walk`): sums of leaf values, leaves, out-of-bag sums."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.parallel import spans, thread_map
from hyperplan._trees import _forest_walk_kernels as k

ROWS_PER_TASK = 8192
ROWS_PER_BLOCK = 32_768  # rows that walk through a tree together, while it is in the cache
TREE_PARTS = 8  # parts of the forest, added up one after another whoever walks them
FEW_WALKS = 20_000  # rows times trees not worth a second thread


def _dense(X, part):
    rows = X[part]
    return np.ascontiguousarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float32)


def _lanes(rows):
    """Scratch memory of a walk: nodes and rows that are on their way, and the leaf of each row."""
    return np.empty((2, k.LANES), dtype=np.int64), np.empty(rows.shape[0], dtype=np.int64)


def mean_values(walk, X, n_jobs=None) -> np.ndarray:
    """Mean over the trees of the values of the leaves that rows (float32 array or CSR) reach."""
    n, n_trees = X.shape[0], walk.roots.shape[0]
    out = np.zeros((n, walk.values.shape[1]))
    parts = spans(n_trees, -(-n_trees // TREE_PARTS))
    for block in spans(n, ROWS_PER_BLOCK):
        rows, arrays = _dense(X, block), (walk.table, walk.cut, walk.values)

        def task(part, rows=rows, arrays=arrays):
            total = np.zeros((rows.shape[0], walk.values.shape[1]))
            k.add_trees(rows, *arrays, walk.roots[part], *_lanes(rows), total)
            return total

        for total in thread_map(task, parts, 1 if n * n_trees < FEW_WALKS else n_jobs):
            out[block] += total
    out /= n_trees
    return out


def tree_values(walk, X) -> np.ndarray:
    """Leaf values of every tree: shape (n_rows, n_trees, width)."""
    return walk.values[leaf_numbers(walk, X)]


def leaf_numbers(walk, X, n_jobs=None) -> np.ndarray:
    """Leaf of each row in each tree, numbered through the forest: rows of `values`."""
    return walk.table[leaves(walk, X, n_jobs) + walk.roots, k.LEFT]


def leaves(walk, X, n_jobs=None) -> np.ndarray:
    """Leaf of each row in each tree, numbered within the tree."""
    out = np.empty((X.shape[0], walk.roots.shape[0]), dtype=np.int64)

    def task(part):
        rows = _dense(X, part)
        k.leaves_of_trees(rows, walk.table, walk.cut, walk.roots, *_lanes(rows), out[part])

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
    arrays = (walk.table, walk.cut, walk.values, walk.roots)

    def task(part):
        curve = np.zeros((walk.roots.shape[0], 2))
        seen = np.ascontiguousarray(outside[:, part])
        k.add_out_of_bag(_dense(X, part), seen, y[part], n_classes, *arrays, sums[part], count[part], curve)
        return curve

    total = sum(thread_map(task, spans(n, ROWS_PER_TASK), n_jobs))
    with np.errstate(invalid="ignore"):
        return OutOfBag(sums, count, total[:, 0] / total[:, 1])
