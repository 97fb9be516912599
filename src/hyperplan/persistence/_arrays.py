"""Arrays of one type, one after another, as a single .npy member of a model file.

A forest has thousands of small arrays.  One member for each would cost more than the numbers in it, so that all arrays
of a type share a member: a one-dimensional .npy array.  Shapes stand in the document, in the order of the arrays, and
must fill the member exactly: no shape can reach outside it.
"""

import math
import re
import struct
import zlib
from typing import NamedTuple

import numpy as np

from hyperplan.persistence._errors import ModelFileError

NUMBERS = re.compile(r"[<>|](b1|[iu][1248]|f[248]|c8|c16|[SU][1-9][0-9]{0,6}|[mM]8(\[[0-9]{0,6}[a-zA-Zμ]{1,2}\])?)")
MAX_DIMENSIONS = 32
SAMPLE_ARRAYS, SAMPLE_BYTES = 16, 2**15  # what the choice between storing and deflating looks at
WORTH_DEFLATING = 0.9
LAST_CHARACTER = 0x10FFFF


class Pool(NamedTuple):
    """Arrays of one dtype in the order in which they are written."""

    dtype: np.dtype
    arrays: list

    @property
    def length(self) -> int:
        return sum(array.size for array in self.arrays)


def is_plain(dtype) -> bool:
    """Whether arrays of this type are numbers, times or characters that can be written as they are."""
    return dtype.names is None and NUMBERS.fullmatch(dtype.str) is not None


def plain_dtype(text) -> np.dtype:
    """The dtype of this name; an error for objects, records and nonsense."""
    if not isinstance(text, str) or NUMBERS.fullmatch(text) is None:
        raise ModelFileError(f"The file is damaged: {text!r:.60} is not the name of a type of numbers.")
    try:
        return np.dtype(text)
    except (TypeError, ValueError):
        raise ModelFileError(f"The file is damaged: {text!r:.60} is not the name of a type of numbers.") from None


def npy_header(dtype, length) -> bytes:
    """The first bytes of a .npy file (version 1.0) with a vector: written here, so that no release changes them."""
    text = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': ({length},), }}"
    padding = -(len(text) + 11) % 64
    text = (text + " " * padding + "\n").encode("latin1")
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def pool_size(dtype, length) -> int:
    """Bytes of the member."""
    return len(npy_header(dtype, length)) + length * dtype.itemsize


def pool_chunks(pool):
    """The bytes of the member, piece by piece."""
    yield npy_header(pool.dtype, pool.length)
    for array in pool.arrays:
        if array.size:
            yield _bytes_of(array)


def _bytes_of(array):
    """The numbers in memory order: row by row, or column by column for arrays in Fortran order."""
    if array.flags.f_contiguous:
        array = array.T
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def is_worth_deflating(pool) -> bool:
    """Whether a sample of the numbers shrinks by a tenth: counts and codes do, measured values do not."""
    step = -(-len(pool.arrays) // SAMPLE_ARRAYS)
    sample = b"".join(bytes(_bytes_of(array)[:SAMPLE_BYTES]) for array in pool.arrays[::step] if array.size)
    return len(zlib.compress(sample, 1)) < WORTH_DEFLATING * len(sample)


def checked_shape(shape, dtype) -> tuple:
    """The shape as a tuple; an error unless it is a short list of counts that memory could hold."""
    is_list = isinstance(shape, list) and len(shape) <= MAX_DIMENSIONS
    if not is_list or not all(type(n) is int and n >= 0 for n in shape):
        raise ModelFileError(f"The file is damaged: {shape!r:.60} is not the shape of an array.")
    if math.prod(max(n, 1) for n in shape) * dtype.itemsize >= 2**62:
        raise ModelFileError(f"The file is damaged: no memory could hold an array of shape {shape!r:.60}.")
    return tuple(shape)


def read_pool(stream, dtype, layouts) -> list[np.ndarray]:
    """The arrays of a member; `layouts` are their (shape, order) and fill it exactly, which the caller has checked."""
    length = sum(math.prod(shape) for shape, _ in layouts)
    header = npy_header(dtype, length)
    if stream.read(len(header)) != header:
        raise ModelFileError(f"The file is damaged: the numbers of type {dtype.str} do not begin as announced.")
    arrays = []
    for shape, order in layouts:
        array = np.empty(shape, dtype=dtype, order=order)
        if array.size:
            stream.readinto((array.T if order == "F" else array).reshape(-1).view(np.uint8).data)
            _check_content(array)
        arrays.append(array)
    return arrays


def _check_content(array):
    """Bytes that no Boolean and no character has would make trouble much later."""
    flat = array.reshape(-1, order="A")
    if array.dtype.kind == "b" and flat.view(np.uint8).max() > 1:
        raise ModelFileError("The file is damaged: an array of Booleans holds other values.")
    if array.dtype.kind == "U" and flat.view(array.dtype.byteorder.replace("|", "=") + "u4").max() > LAST_CHARACTER:
        raise ModelFileError("The file is damaged: an array of text holds bytes that are no characters.")
