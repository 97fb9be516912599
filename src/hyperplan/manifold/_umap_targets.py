"""Targets in the graph of UMAP: classes, or numbers, of which some may be unknown.

Rows whose targets differ are moved apart in the graph, so that the layout draws those of one class together.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan.manifold._umap_graph import one_sided, search, tidy, two_sided

UNKNOWN_DISTANCE = 1.0  # between labels of which one is not known
FAR_LABELS, FARTHEST_LABELS = 2.5, 1e12
LEAST_WEIGHT, LEAST_TARGET_WEIGHT = 1e-8, 1e-4


def with_targets(B, y, metric, options, n_neighbors, weight, n_jobs):
    """The graph B where targets count with that weight: classes if `metric` is "categorical", else numbers."""
    if metric == "categorical":
        codes = class_codes(y)
        return with_classes(B, codes, weight) if (codes >= 0).any() else B
    y = np.asarray(y, dtype=np.float64)
    y = y.reshape(len(y), -1)
    known = np.isfinite(y).all(axis=1)
    rows = np.flatnonzero(known)
    count = min(n_neighbors, len(rows) - 1)
    if count < 1:
        return B
    found = search(y[rows], count, metric, options, approximate=False, seed=0, n_jobs=n_jobs)
    A, _, _ = one_sided(found, len(rows), count, 1.0, n_jobs)
    A = A.tocoo()
    target = sp.csr_array((A.data, (rows[A.row], rows[A.col])), shape=B.shape)
    target.sort_indices()
    return with_numbers(B, target, known, weight)


def with_classes(B, codes, target_weight):
    """B where ends of different classes (codes, -1 if not known) are farther apart.

    Every row keeps an edge of weight one afterwards: rows are divided by their largest entry and united again.
    """
    far = FAR_LABELS / (1.0 - target_weight) if target_weight < 1.0 else FARTHEST_LABELS
    one = np.repeat(codes, np.diff(B.indptr))
    other = codes[B.indices]
    unknown = (one < 0) | (other < 0)
    share = np.where(unknown, np.exp(-UNKNOWN_DISTANCE), np.where(one == other, 1.0, np.exp(-far)))
    B = sp.csr_array((B.data * share.astype(np.float32), B.indices, B.indptr), shape=B.shape)
    return _restored(tidy(B))


def with_numbers(B, target, known, target_weight):
    """B intersected with the one-sided graph of numeric targets; rows of which none is known say nothing about edges.

    Entries that only one graph has get half the smallest weight of the other, as in the reference implementation.
    """
    union = sp.csr_array(abs(B).sign() + abs(target).sign())
    union.sort_indices()
    left = _entries(B, union, max(float(B.data.min()) / 2.0, LEAST_WEIGHT))
    least = min(max(float(target.data.min()) / 2.0, LEAST_WEIGHT), LEAST_TARGET_WEIGHT)
    right = _entries(target, union, least)
    unknown = ~known[np.repeat(np.arange(B.shape[0]), np.diff(union.indptr))] | ~known[union.indices]
    right[unknown] = np.exp(-UNKNOWN_DISTANCE)
    w = target_weight
    mixed = left * right ** (w / (1.0 - w)) if w < 0.5 else left ** ((1.0 - w) / w) * right
    union = sp.csr_array((mixed.astype(np.float32), union.indices, union.indptr), shape=B.shape)
    return _restored(tidy(union))


def _entries(matrix, pattern, default):
    """The entries of a matrix at the places of a pattern that holds its own; `default` where it has none."""
    n = np.int64(pattern.shape[1])
    places = np.repeat(np.arange(pattern.shape[0], dtype=np.int64), np.diff(pattern.indptr)) * n + pattern.indices
    own = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr)) * n + matrix.indices
    values = np.full(len(places), default)
    values[np.searchsorted(places, own)] = matrix.data
    return values


def _restored(B):
    """Rows divided by their largest entry, then the union of both directions."""
    largest = np.ones(B.shape[0], np.float32)
    filled = np.diff(B.indptr) > 0
    largest[filled] = np.maximum.reduceat(B.data, B.indptr[:-1][filled]) if B.nnz else 1.0
    data = B.data / np.repeat(largest, np.diff(B.indptr))
    return two_sided(sp.csr_array((data, B.indices, B.indptr), shape=B.shape))


def class_codes(y):
    """Classes as numbers from 0; -1 for those that are not known: -1, NaN, None."""
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(
            f"y must be one column of classes, got shape {y.shape}: for numbers set target_metric='euclidean'"
        )
    if y.dtype.kind in "OUS":
        unknown = np.array([value is None or value != value or value == -1 for value in y.tolist()], dtype=bool)
    else:
        unknown = (y == -1) | (y != y)
    codes = np.full(len(y), -1, np.int64)
    if not unknown.all():
        known = y[~unknown]
        known = known.astype(str) if y.dtype.kind == "O" else known
        codes[~unknown] = np.unique(known, return_inverse=True)[1]
    return codes
