"""What every eigen-solver returns."""

from dataclasses import dataclass, field

import numpy as np

from hyperplan._core.certificate import Certificate
from hyperplan._core.status import Status
from hyperplan._core.trace import Trace

EPS = float(np.finfo(np.float64).eps)
MESSAGES = {
    Status.CONVERGED: "the matrix is diagonal to working precision, or the residuals reached the tolerance",
    Status.EXACT: "computed directly",
    Status.MAX_ITER: "max_iter iterations were not enough",
    Status.STALLED: "the iteration changes nothing any more but signs: eigenvalues of equal modulus need a shift",
    Status.STOPPED: "the callback asked to stop",
}


@dataclass(frozen=True)
class EigenResult:
    """Eigenvalues and eigenvectors of a symmetric matrix.

    Attributes
    ----------
    values : ndarray of shape (k,)
        Eigenvalues, ascending.
    vectors : ndarray of shape (n, k)
        Orthonormal eigenvectors in columns; the largest entry of each is positive.
    status : Status
        How the run ended; `success` and `message` say it in words.
    n_iter : int
        Sweeps, shifted steps or products with the matrix, as the method counts.
    certificate : Certificate
        The largest ``|A v - value v| / |A|`` against its tolerance: for each value there is an exact eigenvalue of A
        within that distance (times the norm of A).
    trace : Trace
        Iteration, and what the method drives to zero (as objective and residual).
    """

    values: np.ndarray
    vectors: np.ndarray
    status: Status
    n_iter: int
    certificate: Certificate
    trace: Trace = field(repr=False)

    @property
    def success(self) -> bool:
        """Whether the result is as good as asked."""
        return self.status.ok

    @property
    def message(self) -> str:
        """How the run ended, in words."""
        return MESSAGES[self.status]


def checked_symmetric(A) -> np.ndarray:
    """A as a float64 matrix of its own; ValueError when it is not square, finite and symmetric."""
    A = np.array(A, dtype=np.float64, order="C")
    if A.ndim != 2 or A.shape[0] != A.shape[1] or A.shape[0] == 0:
        raise ValueError(f"A must be a square matrix with at least one row, got shape {A.shape}.")
    if not np.isfinite(A).all():
        row, column = np.argwhere(~np.isfinite(A))[0]
        raise ValueError(f"A contains NaN or infinity, first in row {row}, column {column}.")
    size = float(np.abs(A).max())
    if size > 0.0:
        with np.errstate(over="ignore"):
            gap = np.abs(A - A.T)
        if float(gap.max()) > 1e-10 * size:
            row, column = np.unravel_index(int(gap.argmax()), A.shape)
            raise ValueError(
                f"A must be symmetric: entries ({row}, {column}) and ({column}, {row}) are {A[row, column]:.6g} and "
                f"{A[column, row]:.6g}. Use (A + A.T) / 2 if the difference is rounding."
            )
    return A


def ordered(values, vectors):
    """Ascending, and with the largest entry of each vector positive."""
    order = np.argsort(values, kind="stable")
    return values[order], signed(vectors[:, order])


def signed(vectors) -> np.ndarray:
    """Columns whose largest entry (in modulus) is positive."""
    if vectors.shape[1] == 0:
        return vectors
    largest = np.abs(vectors).argmax(axis=0)
    return vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0.0, -1.0, 1.0)


def residual_certificate(product, values, vectors, norm, tolerance, **details) -> Certificate:
    """The largest residual of the pairs, ``product`` being A times the vectors."""
    residual = float(np.linalg.norm(product - vectors * values, axis=0).max(initial=0.0))
    relative = residual / norm if norm > 0.0 else 0.0
    return Certificate(
        kind="eigen residual",
        guarantee=f"each value is within {residual:.3g} of an eigenvalue",
        value=relative,
        bound=tolerance,
        assumption="the matrix is symmetric and the vectors have unit length",
        reference="Parlett (1998), The Symmetric Eigenvalue Problem, theorem 4.5.1",
        details={"norm": norm, **details},
    )
