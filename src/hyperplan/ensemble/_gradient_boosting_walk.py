"""Many trees as one set of arrays, so that a row walks through all of them in one call."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.arrays import kernel_view
from hyperplan._core.parallel import spans, thread_map
from hyperplan.ensemble._gradient_boosting_kernels import add_trees

ROWS_PER_TASK = 1024


class PackedTrees(NamedTuple):
    """Nodes of all trees one after another; a leaf adds `amount` to `column` of the output."""

    child: np.ndarray  # left and right child of each node in turn; a leaf is its own child
    feature: np.ndarray
    threshold: np.ndarray  # the largest float32 that is not above the tree's
    column: np.ndarray
    amount: np.ndarray
    roots: np.ndarray
    depth: np.ndarray


def pack(trees, columns, amounts) -> PackedTrees:
    """Trees (with the arrays of `Tree`) and, per tree, column and amount of each node."""
    sizes = np.array([tree.node_count for tree in trees])
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    shift = np.repeat(roots, sizes)

    left, right = (np.concatenate([getattr(t, name) for t in trees]) for name in ("children_left", "children_right"))
    inner, own = left >= 0, np.arange(shift.shape[0])
    child = np.where(inner, np.stack([left, right]) + shift, own).T
    threshold = np.concatenate([tree.threshold for tree in trees])
    return PackedTrees(
        child=np.ascontiguousarray(child, dtype=np.int32).reshape(-1),
        feature=np.where(inner, np.concatenate([tree.feature for tree in trees]), 0).astype(np.int32),
        threshold=np.where(inner, _rounded_down(threshold), np.float32(np.inf)),
        column=np.concatenate(columns).astype(np.int32),
        amount=np.concatenate(amounts).astype(np.float64),
        roots=roots,
        depth=np.array([tree.max_depth for tree in trees], dtype=np.int64),
    )


def _rounded_down(threshold):
    """Float32 numbers that separate float32 values exactly as the float64 ones do."""
    rounded = threshold.astype(np.float32)
    return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)


def walk(packed, X, raw, first=0, last=None, n_jobs=None):
    """Add trees [first, last) to `raw` (n_rows, n_columns) for a float32 array or CSR matrix of rows."""
    last = packed.roots.shape[0] if last is None else last
    sparse = sp.issparse(X)
    rows = X.tocsr() if sparse else kernel_view(X)

    def task(part):
        block = rows[part].toarray() if sparse else np.ascontiguousarray(rows[part])
        add_trees(block, packed, first, last, raw[part])

    in_parts(task, spans(X.shape[0], ROWS_PER_TASK), n_jobs)
    return raw


def in_parts(task, parts, n_jobs=None):
    """`task` on all parts, in threads; a single part, on small data, needs no thread pool.  Tasks use no BLAS."""
    if len(parts) == 1:
        task(parts[0])
    else:
        thread_map(task, parts, n_jobs)
