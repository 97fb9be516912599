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
        kernel_view(matrix.data),
        kernel_view(matrix.indices.astype(index, copy=False)),
        kernel_view(matrix.indptr.astype(index, copy=False)),
        *matrix.shape,
    )


class _WritableAlias:
    """The memory of an array, described as writable; NumPy keeps this object, and so the array, alive."""

    def __init__(self, array):
        self.array = array
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def kernel_view(array):
    """`array` itself; of a read-only array of numbers an alias that claims to be writable.  For reading only.

    Numba compiles every kernel a second time for read-only arrays, and those are common: data frames and joblib hand
    them out.  Kernels never write into what they are given to read, so that one compilation can serve both.

    >>> import numpy as np
    >>> frozen = np.zeros(3)
    >>> frozen.setflags(write=False)
    >>> alias = kernel_view(frozen)
    >>> alias.flags.writeable, np.shares_memory(alias, frozen), kernel_view(alias) is alias
    (True, True, True)
    """
    if not isinstance(array, np.ndarray) or array.flags.writeable or array.dtype.kind not in "biuf":
        return array
    return np.asarray(_WritableAlias(array))
