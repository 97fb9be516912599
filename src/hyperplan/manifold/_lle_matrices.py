"""Matrices whose bottom eigenvectors are coordinates: one for each kind of locally linear embedding.

All are sums over rows i of ``|R_i Y|^2`` for coordinates Y, R_i a small matrix that the constant and, nearly, the
linear functions of the neighbourhood of i make zero.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan._core.parallel import spans, thread_map
from hyperplan.manifold import _lle_kernels as kernels

ROWS = 256  # of one task


def barycentre_weights(rows, table, neighbours, reg, n_jobs=None):
    """Weights (m, k), each row summing to one, that make rows of their neighbours in a table."""
    m, k = neighbours.shape
    weights = np.empty((m, k))
    neighbours = np.ascontiguousarray(neighbours, dtype=np.int64)

    def one_task(part):
        scratch = np.empty((k, rows.shape[1])), np.empty((k, k))
        failed = kernels.barycentre_weights(rows[part], table, neighbours[part], reg, *scratch, weights[part])
        return part.start + failed if failed >= 0 else -1

    failed = [row for row in thread_map(one_task, spans(m, ROWS), n_jobs) if row >= 0]
    if failed:
        raise ValueError(
            f"The weights of row {failed[0]} are not determined: it has more neighbours ({k}) than its surroundings "
            f"have dimensions, and reg={reg:g} is too small. Raise reg."
        )
    return weights


def standard_matrix(X, neighbours, reg, n_jobs=None):
    """``(I - W)' (I - W)``, W the weights that make each row of its neighbours."""
    n, k = neighbours.shape
    weights = barycentre_weights(X, X, neighbours, reg, n_jobs)
    starts = np.arange(0, n * k + 1, k)
    residual = sp.eye_array(n, format="csr") - sp.csr_array((weights.ravel(), neighbours.ravel(), starts), shape=(n, n))
    return (residual.T @ residual).tocsr()


def _local_axes(X, neighbours, origins, n_jobs):
    """Squared singular values (n, r) and left singular vectors (n, r, k) of all neighbourhoods."""
    n, k = neighbours.shape
    d = X.shape[1]
    r = min(k, d)
    values, axes = np.empty((n, r)), np.empty((n, r, k))
    neighbours = np.ascontiguousarray(neighbours, dtype=np.int64)

    def one_task(part):
        scratch = np.empty((k, d)), np.empty((r, k))
        kernels.local_axes(X, neighbours[part], origins[part], *scratch, values[part], axes[part])

    thread_map(one_task, spans(n, ROWS), n_jobs)
    return values, axes


def tangent_matrix(X, neighbours, n_components, n_jobs=None):
    """Local tangent spaces: R_i projects on what is neither constant nor linear along the main axes around i."""
    n, k = neighbours.shape
    means = np.concatenate(thread_map(lambda part: X[neighbours[part]].mean(axis=1), spans(n, ROWS), n_jobs))
    axes = _local_axes(X, neighbours, means, n_jobs)[1][:, :n_components]
    blocks = (np.eye(k) - 1.0 / k) - np.matmul(axes.transpose(0, 2, 1), axes)
    return _assembled(blocks, neighbours, n)


def modified_matrix(X, neighbours, n_components, n_jobs=None):
    """Several weights for each row: R_i holds all that nearly make it of its neighbours.

    With P the projector on the s smallest directions around row i and w its regularised weights,
    ``alpha = |P 1| / sqrt(s)`` and ``q = P 1 / alpha``, the s weights W satisfy ``W 1 = q + (1 - alpha) s w`` and
    ``W W' = P + (1 - alpha) (w q' + q w') + (1 - alpha)^2 s w w'``: the basis of the directions does not matter.
    """
    n, k = neighbours.shape
    values, axes = _local_axes(X, neighbours, X, n_jobs)
    r = values.shape[1]
    ridge = 1e-3 * values.sum(axis=1)
    ridge[ridge == 0.0] = 1e-3  # a row among copies of itself: all weights are equal
    shares = axes.sum(axis=2)  # of the constant in each direction
    along = np.einsum("irk,ir->ik", axes, shares / (values + ridge[:, None]))
    w = along + (1.0 - np.einsum("irk,ir->ik", axes, shares)) / ridge[:, None]
    w /= w.sum(axis=1, keepdims=True)
    sizes = _almost_null(values, n_components, k)
    kept = axes * (np.arange(r) < (k - sizes)[:, None])[:, :, None]
    P = np.eye(k) - np.matmul(kept.transpose(0, 2, 1), kept)
    image = P.sum(axis=2)
    alpha = np.sqrt(np.maximum(image.sum(axis=1), 0.0) / sizes)
    q = np.divide(image, alpha[:, None], out=np.zeros_like(image), where=alpha[:, None] > 1e-12)
    rest = (1.0 - alpha)[:, None] * w
    mixed = rest[:, :, None] * q[:, None, :]
    P += mixed + mixed.transpose(0, 2, 1) + sizes[:, None, None] * rest[:, :, None] * rest[:, None, :]
    sums = q + sizes[:, None] * rest
    blocks = np.empty((n, k + 1, k + 1))
    blocks[:, :k, :k] = P
    blocks[:, k, :k] = blocks[:, :k, k] = -sums
    blocks[:, k, k] = sizes
    return _assembled(blocks, np.column_stack([neighbours, np.arange(n)]), n)


def _almost_null(values, n_components, k):
    """How many directions around each row are small: the most whose share stays below the median of all rows."""
    r = values.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = values[:, n_components:].sum(axis=1) / values[:, :n_components].sum(axis=1)
        sums = np.cumsum(values, axis=1)
        tails = sums[:, -1:] / sums[:, :-1] - 1.0  # of all directions after the first, the second, ...
    eta = np.median(np.nan_to_num(ratios, nan=0.0, posinf=0.0))
    small = (np.nan_to_num(tails, nan=0.0, posinf=np.inf) < eta).sum(axis=1)
    return np.maximum(small + k - r, 1)


def _assembled(blocks, places, n):
    """The sum of small matrices, each at its own rows and columns."""
    size = places.shape[1]
    rows = np.repeat(places.astype(np.int32), size, axis=1).ravel()
    columns = np.tile(places.astype(np.int32), (1, size)).ravel()
    return sp.coo_array((blocks.ravel(), (rows, columns)), shape=(n, n)).tocsr()
