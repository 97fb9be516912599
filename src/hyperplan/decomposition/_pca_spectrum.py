"""Principal axes of a centred table: four ways to the same eigenvectors.

With C = A'A / (n - 1) and A the centred table: the eigenvectors of C when there are more rows than columns, those of
A A' carried over when there are fewer, the singular vectors of A when small variances matter, or a few leading ones
from a Krylov space when the table is large both ways.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from scipy.special import gammaln

from hyperplan._core.memory import require_memory
from hyperplan._math.moments import mirror_upper, moments
from hyperplan._math.row_design import centred_design, rows_gram, transposed_times
from hyperplan._solvers.block_krylov import leading_right_vectors
from hyperplan._solvers.eigen_dense import eigh
from hyperplan._solvers.eigen_lanczos import lanczos

MANY = 0.2  # share of all components from which on one by one is slower than all at once
NOTHING = 1e-12  # length of an axis, relative to the longest, that is rounding


class Spectrum(NamedTuple):
    """Squared singular values of the centred table, largest first, and axes in rows."""

    squares: np.ndarray
    axes: np.ndarray
    mean: np.ndarray
    total: float  # sum of all squares
    residual: float = 0.0  # largest relative residual of an iterative method
    n_reads: int = 1


def from_covariance(X, eigen_solver, k=None) -> Spectrum:
    """Eigenvectors of the Gram matrix of the columns, which is made in one pass."""
    sums = moments(X, np.empty((X.shape[0], 0)))
    values, vectors = _eigen(sums.gram, eigen_solver, k)
    total = float(np.trace(sums.gram))
    return Spectrum(np.maximum(values, 0.0), vectors.T, sums.x_mean, total)


def from_row_products(X, eigen_solver, k=None) -> Spectrum:
    """Eigenvectors u of the Gram matrix of the rows: the axes are ``A'u / |A'u|``."""
    design = centred_design(X)
    gram = rows_gram(design, np.ones(X.shape[0]), mirrored=False)
    mirror_upper(gram)
    values, left = _eigen(gram, eigen_solver, k)
    axes = _unit_rows(transposed_times(design, np.ascontiguousarray(left.T)))
    return Spectrum(np.maximum(values, 0.0), axes, design.mean, float(np.trace(gram)))


def from_singular_values(X) -> Spectrum:
    """The singular value decomposition itself, of a centred copy."""
    require_memory(
        2.0 * X.shape[0] * X.shape[1] * X.itemsize, "A centred copy and its singular vectors", "use another svd_solver"
    )
    mean = X.mean(axis=0, dtype=np.float64)
    _, values, axes = la.svd(X - mean.astype(X.dtype), full_matrices=False, overwrite_a=True, check_finite=False)
    squares = values.astype(np.float64) ** 2
    return Spectrum(squares, axes, mean, float(squares.sum()))


def from_krylov_space(X, k, *, oversample, max_blocks, tol, rng) -> Spectrum:
    """A few leading axes of a dense table, read a few times."""
    design = centred_design(X)
    shifts = (None, design.mean) if design.flipped else (design.mean, None)
    options = {"oversample": oversample, "max_blocks": max_blocks, "tol": tol, "rng": rng}
    found = leading_right_vectors(design.matrix, *shifts, k, **options)
    axes = found.vectors.T
    if design.flipped:  # these are the left ones
        axes = _unit_rows(transposed_times(design, np.ascontiguousarray(axes)))
    return Spectrum(found.values, axes, design.mean, found.total, found.residual, found.n_reads)


def from_lanczos(X, k, *, tol, rng) -> Spectrum:
    """A few leading axes from products with single vectors; for sparse tables, which are never centred."""
    centred = _Centred(X)
    if k > MANY * min(X.shape):  # nearly all of them: a matrix of all products is quicker
        return _from_all_products(X, centred, k)
    result = lanczos(centred, k, tol=max(tol, 1e-14), random_state=rng.randint(2**31 - 1))
    values, vectors = result.values[::-1], result.vectors[:, ::-1]
    axes = vectors.T
    if not centred.by_columns:
        axes = _unit_rows(np.array([centred.back(vector) for vector in axes]))
    return Spectrum(np.maximum(values, 0.0), axes, centred.mean, centred.total, result.certificate.value, result.n_iter)


def _from_all_products(X, centred, k):
    """`from_lanczos` by the whole Gram matrix of the shorter side."""
    if centred.by_columns:
        return from_covariance(X, "lapack", k)
    require_memory(8.0 * X.shape[0] ** 2, "The products of all rows", "ask for fewer components")
    gram = X @ X.T
    gram = gram.toarray() if sp.issparse(gram) else np.asarray(gram)
    along = X @ centred.mean
    gram = gram.astype(np.float64) - along[:, None] - along[None, :] + centred.mean @ centred.mean
    values, left = _eigen(gram, "lapack", k)
    axes = _unit_rows(np.array([centred.back(vector) for vector in left.T[:k]]))
    return Spectrum(np.maximum(values[:k], 0.0), axes, centred.mean, centred.total)


class _Centred:
    """``A'A`` or ``A A'``, the smaller one, as an operator."""

    def __init__(self, X):
        n, d = X.shape
        self.X, self.by_columns = X, d <= n
        self.shape = (min(n, d),) * 2
        self.mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        squares = X.multiply(X).sum(axis=0) if sp.issparse(X) else np.einsum("ij,ij->j", X, X, dtype=np.float64)
        self.total = float((np.asarray(squares, dtype=np.float64).ravel() - n * self.mean**2).clip(0.0).sum())

    def forth(self, vector):
        return self.X @ vector - self.mean @ vector

    def back(self, vector):
        return self.X.T @ vector - self.mean * vector.sum()

    def matvec(self, vector):
        return self.back(self.forth(vector)) if self.by_columns else self.forth(self.back(vector))


def _eigen(gram, eigen_solver, k):
    """Eigenvalues, largest first, and vectors in columns; of the k largest only if that saves work."""
    if eigen_solver != "lapack":
        result = eigh(gram, method=eigen_solver, n_components=k)
        return result.values[::-1], result.vectors[:, ::-1]
    n = gram.shape[0]
    subset = None if k is None or k > 0.3 * n else (n - k, n - 1)
    values, vectors = la.eigh(gram, subset_by_index=subset, overwrite_a=True, check_finite=False)
    return values[::-1], vectors[:, ::-1]


def _unit_rows(axes):
    """Rows of length one; those that are zero but for rounding become any directions orthogonal to the others."""
    lengths = np.linalg.norm(axes, axis=1)
    null = lengths <= NOTHING * lengths.max(initial=0.0)
    axes = axes / np.where(null, 1.0, lengths)[:, None]
    if null.any():
        known = axes[~null]
        rest = np.random.default_rng(0).normal(size=(axes.shape[1], int(null.sum())))
        for _ in range(2):
            rest = la.qr(rest - known.T @ (known @ rest), mode="economic", check_finite=False)[0]
        axes[null] = rest.T
    return axes


def likely_dimension(spectrum, n_samples) -> int:
    """Minka's choice: the number of axes with the largest evidence (Laplace's approximation).

    References
    ----------
    Minka (2000), Automatic choice of dimensionality for PCA, NIPS.
    """
    evidence = [-np.inf] + [_log_evidence(spectrum, rank, n_samples) for rank in range(1, spectrum.size)]
    return int(np.argmax(evidence))


def _log_evidence(spectrum, rank, n_samples):
    d = spectrum.size
    if spectrum[rank - 1] < np.finfo(np.float64).eps:
        return -np.inf
    halves = (d - np.arange(1, rank + 1) + 1) / 2.0
    volume = -rank * np.log(2.0) + (gammaln(halves) - np.log(np.pi) * halves).sum()
    noise = max(np.finfo(np.float64).eps, float(spectrum[rank:].sum()) / (d - rank))
    fit = -0.5 * n_samples * (np.log(spectrum[:rank]).sum() + (d - rank) * np.log(noise))
    n_parameters = d * rank - rank * (rank + 1.0) / 2.0
    shrunk = spectrum.copy()
    shrunk[rank:] = noise
    i, j = np.triu_indices(d, 1)
    i, j = i[i < rank], j[i < rank]
    curvature = np.log((spectrum[i] - spectrum[j]) * (1.0 / shrunk[j] - 1.0 / shrunk[i])).sum()
    curvature += i.size * np.log(n_samples)
    return (
        volume
        + fit
        + 0.5 * (n_parameters + rank) * np.log(2.0 * np.pi)
        - 0.5 * curvature
        - 0.5 * rank * np.log(n_samples)
    )
