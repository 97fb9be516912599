"""Array records for kernels."""

from typing import NamedTuple

import numpy as np


class CompressedMatrix(NamedTuple):
    """A CSR or CSC matrix as plain arrays: what Numba can take and cache."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    n_rows: int
    n_cols: int


def compressed(matrix) -> CompressedMatrix:
    """View of a SciPy CSR or CSC matrix (or array) for kernels; index arrays become int32 or int64 alike."""
    index = np.int64 if matrix.indices.dtype == np.int64 or matrix.indptr.dtype == np.int64 else np.int32
    return CompressedMatrix(
        matrix.data,
        matrix.indices.astype(index, copy=False),
        matrix.indptr.astype(index, copy=False),
        *matrix.shape,
    )
