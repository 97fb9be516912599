"""Leading singular vectors of a centred table, from a few reads of it.

With A the centred table, the space spanned by ``W, A'A W, (A'A)^2 W, ...`` for a block W of random vectors holds the
leading right singular vectors to an accuracy that a power iteration of the same cost does not reach.  Each product
``A'(A W)`` is one pass through the rows: a panel is centred in cache, multiplied, and multiplied back.  The
space grows until the Ritz vectors y satisfy ``|A'A y - value y| <= tol * largest value``.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg as la

from hyperplan._core.parallel import spans, thread_map

PANEL_BYTES = 1 << 20  # a centred panel stays in cache
TASK_ROWS = 512  # rows of one task
FEWEST_ROWS = 8


class Krylov(NamedTuple):
    """``A'A vectors = vectors * values``, nearly."""

    values: np.ndarray  # (k,) squared singular values, descending
    vectors: np.ndarray  # (c, k)
    residual: float  # largest |A'A y - value y| / largest value
    n_reads: int
    total: float  # sum of squares of the centred table


def leading_right_vectors(matrix, column_shift, row_shift, k, *, oversample, max_blocks, tol, rng) -> Krylov:
    """The k leading right singular vectors of ``matrix - column_shift - row_shift[:, None]``.

    Parameters
    ----------
    matrix : ndarray of shape (r, c), C order
        The table, or its transpose.
    column_shift, row_shift : ndarray of shapes (c,) and (r,), or None
        What is subtracted; one of them is None.
    k : int
        Number of vectors.
    oversample : int
        Further vectors per block.
    max_blocks : int
        Most reads of the table.
    tol : float
        Relative residual to stop at.
    rng : RandomState
        Source of the first block.
    """
    c = matrix.shape[1]
    width = min(c, k + oversample)
    max_blocks = max(1, min(max_blocks, -(-c // width)))
    basis, images = np.empty((min(c, max_blocks * width), c)), np.empty((min(c, max_blocks * width), c))
    block, size = la.qr(rng.normal(size=(c, width)), mode="economic", check_finite=False)[0], 0
    for reads in range(1, max_blocks + 1):
        size, before = size + block.shape[1], size
        basis[before:size] = block.T
        product, total = _gram_times(matrix, column_shift, row_shift, block)
        images[before:size] = product.T
        known, image = basis[:size], images[:size]
        small = known @ image.T
        values, coordinates = la.eigh(0.5 * (small + small.T), subset_by_index=(size - k, size - 1))
        largest = max(float(values[-1]), 0.0)
        gaps = coordinates.T @ image - values[:, None] * (coordinates.T @ known)
        residual = float(np.linalg.norm(gaps, axis=1).max()) / largest if largest > 0.0 else 0.0
        if residual <= tol or reads == max_blocks:
            break
        block = _next_block(known, product[:, : c - size], rng)
    vectors = (coordinates.T @ known)[::-1].T
    return Krylov(np.maximum(values[::-1], 0.0), vectors, residual, reads, total)


def _next_block(known, product, rng):
    """What the products add to the known space, orthonormal; directions that add nothing are drawn anew."""
    for _ in range(2):
        product = product - known.T @ (known @ product)
        q, r = la.qr(product, mode="economic", check_finite=False)
        lost = np.abs(np.diag(r)) <= 1e-12 * np.abs(r).max(initial=0.0)
        product = np.where(lost, rng.normal(size=q.shape), q)
    product = product - known.T @ (known @ product)
    return la.qr(product, mode="economic", check_finite=False)[0]


def _gram_times(matrix, column_shift, row_shift, block):
    """``A'(A block)`` and the sum of squares of A, in one read."""
    r, c = matrix.shape
    rows = max(FEWEST_ROWS, PANEL_BYTES // (8 * max(c, 1)))

    def one_task(task):
        total, square = np.zeros((c, block.shape[1])), 0.0
        buffer = np.empty((min(rows, task.stop - task.start), c))
        for piece in spans(task.stop - task.start, rows):
            where = slice(task.start + piece.start, task.start + piece.stop)
            panel = buffer[: piece.stop - piece.start]
            shift = column_shift if row_shift is None else row_shift[where, None]
            np.subtract(matrix[where], shift, out=panel)
            total += panel.T @ (panel @ block)
            square += float(np.vdot(panel, panel))
        return total, square

    parts = thread_map(one_task, spans(r, max(TASK_ROWS, rows)))
    total, square = parts[0]
    for more, further in parts[1:]:
        total += more
        square += further
    return total, square
