"""The largest eigenvalues of a symmetric matrix whose products with several vectors cost little more than with one.

The space spanned by ``W, A W, A^2 W, ...`` for a block W of random vectors holds the leading eigenvectors of A to an
accuracy that grows fast with the number of blocks.  All vectors are kept orthonormal; when there is no more room the
space shrinks to its best Ritz vectors and grows again.  It ends when the Ritz vectors y satisfy
``|A y - value y| <= tol * largest |value|``.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg as la

from hyperplan._core.status import Status
from hyperplan._solvers.block_krylov import next_block

OVERSAMPLE = 6  # further vectors of a block
BLOCKS = 10  # kept at a time


class Pairs(NamedTuple):
    """``A vectors = vectors * values``, nearly."""

    values: np.ndarray  # (k,) descending
    vectors: np.ndarray  # (n, k) orthonormal
    residual: float  # largest |A y - value y| / largest |value|
    lowest: float  # smallest Ritz value: A has an eigenvalue that is not above it
    n_products: int  # with blocks
    status: Status


def leading_pairs(product, n, k, *, tol=1e-10, oversample=OVERSAMPLE, max_products=100, seed=0) -> Pairs:
    """The k algebraically largest eigenpairs.

    Parameters
    ----------
    product : callable
        ``product(block)`` returns A times a block of shape (n, w).
    n : int
        Size of A.
    k : int
        Number of pairs, at most n.
    tol : float
        Relative residual to stop at.
    oversample : int
        Vectors of a block beyond k.
    max_products : int
        Most products with blocks.
    seed : int
        Of the first block.
    """
    rng = np.random.RandomState(seed)
    width = min(n, k + oversample)
    room = min(n, BLOCKS * width)
    basis, images = np.empty((room, n)), np.empty((room, n))
    block, size = la.qr(rng.normal(size=(n, width)), mode="economic", check_finite=False)[0], 0
    n_products = 0
    while True:
        size, before = size + block.shape[1], size
        basis[before:size] = block.T
        image, n_products = product(block), n_products + 1
        images[before:size] = image.T
        small = basis[:size] @ images[:size].T
        ritz, small = la.eigh(0.5 * (small + small.T), check_finite=False)
        values, best = ritz[: -k - 1 : -1], small[:, : -k - 1 : -1].T
        vectors = best @ basis[:size]
        scale = float(np.abs(ritz).max())
        gaps = best @ images[:size] - values[:, None] * vectors
        residual = float(np.linalg.norm(gaps, axis=1).max()) / scale if scale > 0.0 else 0.0
        if residual <= tol or size == n or n_products == max_products:
            break
        block = next_block(basis[:size], image[:, : n - size], rng)
        if size + block.shape[1] > room:
            kept = small[:, : -k - width - 1 : -1].T
            basis[: len(kept)], images[: len(kept)] = kept @ basis[:size], kept @ images[:size]
            size = len(kept)
    status = Status.CONVERGED if residual <= tol or size == n else Status.MAX_ITER
    return Pairs(values, vectors.T, residual, float(ritz[0]), n_products, status)
