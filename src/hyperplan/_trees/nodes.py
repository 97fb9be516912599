"""A grown tree as arrays, and what can be read off them: leaves of rows, paths, importances.

Node 0 is the root; ``children_left[i] == -1`` marks leaves.  A row goes left where ``float32(x) <= threshold``, or by
``missing_go_to_left`` where x is missing.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.parallel import spans, thread_map
from hyperplan._trees._walk_kernels import leaf_of_rows, node_depths, path_lengths, path_nodes

ROWS_PER_TASK = 8192


class Nodes(NamedTuple):
    """One entry per node; `value` has shape (n_nodes, n_outputs * max_n_classes).

    `categories` has no columns (or is empty) without categorical features; else its bits are the codes that go left.
    """

    children_left: np.ndarray
    children_right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_go_to_left: np.ndarray
    impurity: np.ndarray
    n_node_samples: np.ndarray
    weighted_n_node_samples: np.ndarray
    value: np.ndarray
    categories: np.ndarray = np.zeros((0, 0), dtype=np.uint64)


def empty_nodes(capacity, width, words=0) -> Nodes:
    """Room for `capacity` nodes whose values have `width` numbers and whose category sets have `words` of 64 bits."""
    ints = [np.empty(capacity, dtype=np.int64) for _ in range(4)]
    reals = [np.empty(capacity) for _ in range(3)]
    return Nodes(
        children_left=ints[0],
        children_right=ints[1],
        feature=ints[2],
        threshold=reals[0],
        missing_go_to_left=np.zeros(capacity, dtype=np.uint8),
        impurity=reals[1],
        n_node_samples=ints[3],
        weighted_n_node_samples=reals[2],
        value=np.zeros((capacity, width)),
        categories=np.zeros((capacity, words), dtype=np.uint64),
    )


def resized(nodes, capacity) -> Nodes:
    """The first nodes copied to arrays of another length."""
    kept = min(capacity, nodes.feature.shape[0])
    target = empty_nodes(capacity, nodes.value.shape[1], nodes.categories.shape[1])
    for old, new in zip(nodes, target):
        new[:kept] = old[:kept]
    return target


def joined(blocks, offsets, n_nodes) -> Nodes:
    """Blocks of nodes with children numbered within the block, as one tree; block b starts at ``offsets[b]``."""
    target = empty_nodes(n_nodes, blocks[0].value.shape[1], blocks[0].categories.shape[1])
    for block, offset in zip(blocks, offsets):
        part = slice(offset, offset + block.feature.shape[0])
        for old, new in zip(block, target):
            new[part] = old
        for children in (target.children_left[part], target.children_right[part]):
            children[children >= 0] += offset
    return target


def leaves_of(nodes, X, n_jobs=None) -> np.ndarray:
    """Leaf of each row of a dense float32 X (any memory order)."""
    found = np.empty(X.shape[0], dtype=np.int64)
    walk = (nodes.children_left, nodes.children_right, nodes.feature, nodes.threshold, nodes.missing_go_to_left)

    def task(part):
        leaf_of_rows(X[part], *walk, found[part])

    parts = spans(X.shape[0], ROWS_PER_TASK)
    if len(parts) == 1:  # a few rows are answered before a thread pool would have been asked
        task(parts[0])
    else:
        thread_map(task, parts, n_jobs)
    return found


def paths_of(nodes, X):
    """Nodes on the way of each row: CSR arrays ``(indptr, indices)``, from the root to the leaf."""
    depth = depths(nodes)
    leaves = leaves_of(nodes, X)
    indptr = np.zeros(X.shape[0] + 1, dtype=np.int64)
    path_lengths(leaves, depth, indptr)
    indices = np.empty(int(indptr[-1]), dtype=np.int64)
    path_nodes(leaves, parents(nodes), indptr, indices)
    return indptr, indices


def parents(nodes) -> np.ndarray:
    """Parent of each node, -1 for the root."""
    found = np.full(nodes.feature.shape[0], -1, dtype=np.int64)
    inner = np.flatnonzero(nodes.children_left >= 0)
    found[nodes.children_left[inner]] = inner
    found[nodes.children_right[inner]] = inner
    return found


def depths(nodes) -> np.ndarray:
    """Depth of each node; children follow their parents in the numbering."""
    found = np.empty(nodes.feature.shape[0], dtype=np.int64)
    node_depths(parents(nodes), found)
    return found


def impurity_decreases(nodes) -> np.ndarray:
    """Weighted impurity that each inner node saves, as a share of the total weight; 0 for leaves."""
    mass = nodes.weighted_n_node_samples * nodes.impurity
    found = np.zeros(nodes.feature.shape[0])
    inner = np.flatnonzero(nodes.children_left >= 0)
    left, right = nodes.children_left[inner], nodes.children_right[inner]
    found[inner] = mass[inner] - mass[left] - mass[right]
    return found / nodes.weighted_n_node_samples[0]


def importances(nodes, n_features, normalize=True) -> np.ndarray:
    """Impurity decrease brought by each feature; summing to 1 (or all 0) if `normalize`."""
    inner = nodes.children_left >= 0
    found = np.bincount(nodes.feature[inner], weights=impurity_decreases(nodes)[inner], minlength=n_features)
    found = found[:n_features].astype(np.float64)
    total = found.sum()
    return found / total if normalize and total > 0.0 else found
