"""Many trees as one set of arrays, so that a row walks through all of them in one call."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.arrays import kernel_view
from hyperplan._core.parallel import spans, thread_map
from hyperplan.ensemble._gradient_boosting_kernels import add_complete_trees, add_trees

ROWS_PER_TASK = 1024
SHALLOW = 6  # trees up to this depth are made complete: a row walks through them without looking up children


class PackedTrees(NamedTuple):
    """Nodes of all trees one after another; a leaf adds `amount` to `column` of the output."""

    child: np.ndarray  # left and right child of each node in turn; a leaf is its own child
    feature: np.ndarray
    threshold: np.ndarray  # the largest float32 that is not above the tree's
    column: np.ndarray
    amount: np.ndarray
    roots: np.ndarray


class CompleteTrees(NamedTuple):
    """Trees of the same depth, one per row: inner nodes level by level, then the leaves' columns and amounts."""

    feature: np.ndarray
    threshold: np.ndarray
    column: np.ndarray
    amount: np.ndarray
    depth: int


def pack(trees, columns, amounts) -> PackedTrees | CompleteTrees:
    """Trees (with the arrays of `Tree`) and, per tree, column and amount of each node."""
    sizes = np.array([tree.node_count for tree in trees])
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    shift = np.repeat(roots, sizes)

    left, right = (np.concatenate([getattr(t, name) for t in trees]) for name in ("children_left", "children_right"))
    inner, own = left >= 0, np.arange(shift.shape[0])
    child = np.where(inner, np.stack([left, right]) + shift, own).T
    threshold = np.concatenate([tree.threshold for tree in trees])
    packed = PackedTrees(
        child=np.ascontiguousarray(child, dtype=np.uint32).reshape(-1),
        feature=np.where(inner, np.concatenate([tree.feature for tree in trees]), 0).astype(np.uint32),
        threshold=np.where(inner, _rounded_down(threshold), np.float32(np.inf)),
        column=np.concatenate(columns).astype(np.uint32),
        amount=np.concatenate(amounts).astype(np.float64),
        roots=roots,
    )
    depth = max(tree.max_depth for tree in trees)
    return complete(packed, depth) if depth <= SHALLOW else packed


def complete(packed, depth) -> CompleteTrees:
    """The trees down to `depth`, which none exceeds; below a leaf stands the leaf again."""
    level, levels = packed.roots[:, None], []
    for _ in range(depth):
        levels.append(level)
        level = packed.child.reshape(-1, 2)[level].reshape(level.shape[0], -1)
    inner = np.concatenate(levels, axis=1) if levels else level[:, :0]
    at_leaves = (packed.column[level], packed.amount[level])
    return CompleteTrees(packed.feature[inner], packed.threshold[inner], *at_leaves, depth)


def _rounded_down(threshold):
    """Float32 numbers that separate float32 values exactly as the float64 ones do."""
    rounded = threshold.astype(np.float32)
    return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)


def walk(packed, X, raw, first=0, last=None, n_jobs=None):
    """Add trees [first, last) to `raw` (n_rows, n_columns) for a float32 array or CSR matrix of rows."""
    sparse = sp.issparse(X)
    rows = X.tocsr() if sparse else kernel_view(X)
    shallow = isinstance(packed, CompleteTrees)
    kernel, n_trees = (add_complete_trees, packed.amount.shape[0]) if shallow else (add_trees, packed.roots.shape[0])
    last = n_trees if last is None else last

    def task(part):
        block = rows[part].toarray() if sparse else np.ascontiguousarray(rows[part])
        kernel(block, packed, first, last, raw[part])

    in_parts(task, spans(X.shape[0], ROWS_PER_TASK), n_jobs)
    return raw


def in_parts(task, parts, n_jobs=None):
    """`task` on all parts, in threads; a single part, on small data, needs no thread pool.  Tasks use no BLAS."""
    if len(parts) == 1:
        task(parts[0])
    else:
        thread_map(task, parts, n_jobs)
