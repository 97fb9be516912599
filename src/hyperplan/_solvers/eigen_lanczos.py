"""A few eigenvalues of a large symmetric matrix of which only products are needed.

Lanczos: an orthonormal basis of ``q, A q, A^2 q, ...`` in which A is tridiagonal; the eigenvalues of the small matrix
(Ritz values) approach the outer ones of A, and ``|A y - value y|`` is the last entry of the small eigenvector times the
next subdiagonal entry.  In floating point the basis loses its orthogonality as soon as a Ritz value converges, so each
new vector is made orthogonal to all others, twice.  When the basis is full it shrinks to its best Ritz vectors
and grows again (thick restart).
"""

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from hyperplan._core.memory import require_memory
from hyperplan._core.status import Status
from hyperplan._core.trace import Trace
from hyperplan._solvers.eigen_result import EPS, EigenResult, checked_symmetric, ordered, residual_certificate

WHICH = ("LA", "SA", "LM")


def lanczos(A, k=6, *, which="LA", tol=1e-10, max_iter=None, basis_size=None, random_state=0, callback=None):
    """The k outermost eigenpairs of a symmetric matrix, from products with it alone.

    Stops when each wanted pair has ``|A v - value v| <= tol * max |value|``.

    Parameters
    ----------
    A : ndarray, sparse matrix, or linear operator with `shape` and `matvec`
        Symmetric matrix of size n.
    k : int, default=6
        Number of pairs.
    which : {"LA", "SA", "LM"}
        Largest, smallest, or largest in modulus (names as in SciPy's `eigsh`).
    tol : float, default=1e-10
        Relative residual.
    max_iter : int, default=None
        Most products with A; None means ``max(10 n, 1000)``.
    basis_size : int, default=None
        Vectors kept at a time; None means ``max(2 k + 1, k + 20)``, at most n.
    random_state : int, default=0
        Seed of the first vector.
    callback : callable, default=None
        Called with each step of the trace; returning True stops.

    Returns
    -------
    EigenResult
        `n_iter` counts products; the trace holds the largest residual at each restart.

    References
    ----------
    Wu, Simon (2000), Thick-restart Lanczos method for large symmetric eigenvalue problems, SIAM J. Matrix Anal. Appl.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linalg import lanczos
    >>> lanczos(np.diag(np.arange(100.0)), 2).values.round(8).tolist()
    [98.0, 99.0]
    """
    n, product = _operator(A)
    if which not in WHICH:
        raise ValueError(f"which must be one of {WHICH}, got {which!r}.")
    if not (isinstance(k, (int, np.integer)) and 1 <= k <= n):
        raise ValueError(f"k must be an integer between 1 and {n}, the size of A, got {k!r}.")
    size = min(n, max(2 * k + 1, k + 20) if basis_size is None else max(int(basis_size), k + 1))
    require_memory(8 * n * (size + 1), f"a basis of {size} vectors", "Ask for fewer eigenpairs or set basis_size.")
    run = _Basis(product, n, size, np.random.default_rng(random_state))
    limit = max(10 * n, 1000) if max_iter is None else int(max_iter)
    trace = Trace() if callback is None else Trace(callback)
    while True:
        run.grow()
        values, small = la.eigh(run.small[:size, :size])
        wanted = _outermost(values, k, which)
        largest = float(np.abs(values).max())
        residuals = np.abs(run.beta * small[-1, wanted])
        worst = float(residuals.max())
        stop = trace(run.n_products, float(values[wanted].sum()), worst)
        done = worst <= max(tol, EPS) * largest or size == n
        if done or stop or run.n_products >= limit:
            break
        kept = _outermost(values, k + (size - k) // 2, which)
        run.shrink(values[kept], small[:, kept])
    status = Status.CONVERGED if done else Status.STOPPED if stop else Status.MAX_ITER
    values, vectors = ordered(values[wanted], (small[:, wanted].T @ run.vectors[:size]).T)
    image = np.column_stack([product(column) for column in vectors.T])
    bound = max(tol, 50.0 * EPS * np.sqrt(n))
    certificate = residual_certificate(image, values, vectors, largest, bound, products=run.n_products, basis=size)
    return EigenResult(values, vectors, status, run.n_products, certificate, trace)


class _Basis:
    """Orthonormal vectors in rows, and the matrix in their coordinates."""

    def __init__(self, product, n, size, rng):
        self.product, self.size, self.rng = product, size, rng
        self.vectors = np.zeros((size + 1, n))
        self.small = np.zeros((size + 1, size + 1))
        self.filled, self.beta, self.n_products = 0, 0.0, 0
        first = rng.normal(size=n)
        self.vectors[0] = first / np.linalg.norm(first)

    def grow(self):
        """Fill the basis; `beta` is the length of what comes after its last vector."""
        for j in range(self.filled, self.size):
            image = self.product(self.vectors[j])
            self.n_products += 1
            length_before = float(np.linalg.norm(image))
            share, rest = self._orthogonal(image, j + 1)
            self.small[: j + 1, j] = self.small[j, : j + 1] = share
            self.beta = float(np.linalg.norm(rest))
            if self.beta <= 10.0 * EPS * max(length_before, float(np.abs(self.small).max())):
                self.beta = 0.0  # the space is invariant: go on in a direction not seen yet
                if j + 1 == self.vectors.shape[1]:
                    break
                _, rest = self._orthogonal(self.rng.normal(size=rest.size), j + 1)
            self.vectors[j + 1] = rest / np.linalg.norm(rest)
        self.filled = self.size

    def shrink(self, values, coordinates):
        """Keep Ritz vectors and the vector that would have come next."""
        m = values.size
        self.vectors[:m] = coordinates.T @ self.vectors[: self.size]
        self.vectors[m] = self.vectors[self.size]
        self.small[:] = 0.0
        self.small[np.arange(m), np.arange(m)] = values
        self.filled = m

    def _orthogonal(self, vector, count):
        """Coordinates in the first vectors, and what is left; twice is enough."""
        known = self.vectors[:count]
        share = known @ vector
        vector = vector - share @ known
        again = known @ vector
        return share + again, vector - again @ known


def _outermost(values, count, which):
    """Indices of the wanted values, the most wanted first."""
    key = {"LA": -values, "SA": values, "LM": -np.abs(values)}[which]
    return np.argsort(key, kind="stable")[:count]


def _operator(A):
    """Size of A and its product with a vector."""
    if hasattr(A, "matvec"):
        if len(A.shape) != 2 or A.shape[0] != A.shape[1]:
            raise ValueError(f"A must be square, got shape {A.shape}.")
        return A.shape[0], lambda vector: np.asarray(A.matvec(vector), dtype=np.float64).ravel()
    if sp.issparse(A):
        if A.shape[0] != A.shape[1]:
            raise ValueError(f"A must be square, got shape {A.shape}.")
        A = A.tocsr().astype(np.float64)
        if not np.isfinite(A.data).all():
            raise ValueError("A contains NaN or infinity.")
        if abs(A - A.T).max() > 1e-10 * (abs(A).max() or 1.0):
            raise ValueError("A must be symmetric. Use (A + A.T) / 2 if the difference is rounding.")
        return A.shape[0], lambda vector: A @ vector
    dense = checked_symmetric(A)
    return dense.shape[0], lambda vector: dense @ vector
