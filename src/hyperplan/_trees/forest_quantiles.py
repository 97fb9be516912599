"""Quantile regression forests: the forest as weights on its training rows (Meinshausen 2006).

A tree puts the same total weight on the training rows in the leaf of x, shared in proportion to their weights in the
tree; the forest averages the trees.  The weighted mean of the targets is the forest's prediction, the weighted
distribution function gives quantiles.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.parallel import spans, thread_map
from hyperplan._trees import _forest_quantile_kernels as k
from hyperplan._trees.forest_walk import leaf_numbers

ROWS_PER_TASK = 256


class Members(NamedTuple):
    """Training rows by leaf of the joined forest: ranks of their targets and shares of their weights."""

    first: np.ndarray
    rank: np.ndarray
    share: np.ndarray
    sorted_y: np.ndarray


def members_of(walk, X, y, weights, n_jobs=None) -> Members:
    """Rows of each leaf; ``weights(t)`` gives the weights of the rows in tree t."""
    order = np.argsort(y, kind="stable")
    rank = np.empty(y.shape[0], dtype=np.int64)
    rank[order] = np.arange(y.shape[0])
    reached = leaf_numbers(walk, X, n_jobs)

    def sort_tree(t):
        weight, n_leaves = np.asarray(weights(t), dtype=np.float64), walk.first_leaf[t + 1] - walk.first_leaf[t]
        own = reached[:, t] - walk.first_leaf[t]
        counts = np.bincount(own[weight > 0.0], minlength=n_leaves)
        first = np.concatenate([[0], np.cumsum(counts)])
        members, share = np.empty(int(first[-1]), dtype=np.int32), np.empty(int(first[-1]))
        k.sort_members(own, weight, rank, first[:-1].copy(), members, share)
        return counts, members, share

    parts = thread_map(sort_tree, range(walk.roots.shape[0]), n_jobs)
    counts, members, share = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return Members(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), members, share, y[order])


def quantiles(walk, members, X, levels, n_jobs=None) -> np.ndarray:
    """Quantiles of increasing `levels` for rows of X: shape (n_rows, n_levels)."""
    out = np.empty((X.shape[0], levels.shape[0]))

    def task(part):
        reached = leaf_numbers(walk, X[part]).astype(np.int64)
        room = int((members.first[reached + 1] - members.first[reached]).sum(axis=1).max(initial=0))
        keys, spare = np.empty((2, room), dtype=np.uint64)
        scratch = (keys, spare, np.empty(256, dtype=np.int64), np.empty(room))
        k.quantiles_of_rows(
            reached, members.first, members.rank, members.share, members.sorted_y, levels, *scratch, out[part]
        )

    thread_map(task, spans(X.shape[0], ROWS_PER_TASK), n_jobs)
    return out
