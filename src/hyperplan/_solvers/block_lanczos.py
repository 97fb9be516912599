"""The largest eigenvalues of a symmetric matrix that is given by its products with blocks of vectors.

The space spanned by ``W, B W, B^2 W, ...`` for a block W of random vectors holds the outer eigenvectors of B; each
product reads B once, however many vectors the block has.  The space grows until the wanted Ritz vectors y satisfy
``|B y - value y| <= tol * largest |value|``; when it is full it shrinks to its best Ritz vectors and grows again.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg as la

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import single_threaded_blas
from hyperplan._solvers.block_krylov import _next_block

OVERSAMPLE = 6  # further vectors per block
BLOCKS = 12  # that the space holds
MOST_READS = 300


class Leading(NamedTuple):
    """``B vectors = vectors * values``, nearly."""

    values: np.ndarray  # (k,) descending
    vectors: np.ndarray  # (n, k)
    residual: float  # largest |B y - value y| / largest |value|
    n_reads: int


def largest_eigenpairs(times, n, k, *, tol=1e-10, max_reads=None, seed=0) -> Leading:
    """The k algebraically largest eigenvalues and their vectors.

    Parameters
    ----------
    times : callable
        ``times(block)`` returns B @ block for a block of shape (n, width).
    n : int
        Size of B.
    k : int
        Number of pairs, at most n.
    tol : float
        Relative residual to stop at.
    max_reads : int, default=None
        Most products; None means 300.
    seed : int
        Seed of the first block.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan._solvers.block_lanczos import largest_eigenpairs
    >>> B = np.arange(50.0)
    >>> largest_eigenpairs(lambda block: B[:, None] * block, 50, 2).values.round(9).tolist()
    [49.0, 48.0]
    """
    width = min(n, k + max(OVERSAMPLE, k // 4))
    size_limit = min(n, BLOCKS * width)
    require_memory(16.0 * n * size_limit, "A basis of eigenvectors", "ask for fewer components")
    rng, most = np.random.default_rng(seed), MOST_READS if max_reads is None else max_reads
    basis, images = np.empty((size_limit, n)), np.empty((size_limit, n))
    small, size, reads = np.zeros((size_limit, size_limit)), 0, 0
    with single_threaded_blas():
        block = la.qr(rng.normal(size=(n, width)), mode="economic", check_finite=False)[0]
        while True:
            before, size, reads = size, size + block.shape[1], reads + 1
            product = times(block)
            basis[before:size], images[before:size] = block.T, product.T
            known, image = basis[:size], images[:size]
            small[:size, before:size] = known @ product
            small[before:size, :size] = small[:size, before:size].T
            values, coordinates = la.eigh(small[:size, :size], check_finite=False)
            values, coordinates = values[::-1], coordinates[:, ::-1]
            largest = float(np.abs(values).max(initial=0.0))
            gaps = coordinates[:, :k].T @ image - values[:k, None] * (coordinates[:, :k].T @ known)
            residual = float(np.linalg.norm(gaps, axis=1).max()) / largest if largest > 0.0 else 0.0
            if residual <= tol or reads >= most or size == n:
                break
            block = _next_block(known, product[:, : n - size], rng)
            if size + block.shape[1] > size_limit:
                kept = min(width, size)
                best = coordinates[:, :kept].T
                basis[:kept], images[:kept] = best @ known, best @ image
                small[:] = 0.0
                small[np.arange(kept), np.arange(kept)] = values[:kept]
                size = kept
        vectors = (coordinates[:, :k].T @ known).T
    return Leading(values[:k], vectors, residual, reads)
