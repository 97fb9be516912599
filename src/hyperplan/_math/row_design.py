"""The rows of a dense design about the column means: products and Gram matrix without a centred copy.

``Xc = X - mean`` is read from X by kernels that subtract on the way; a Fortran-ordered X is read as its C-ordered
transpose.  Tasks and tiles depend on shapes only, so threads change no bit.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math._row_design_kernels import scaled_panel, shifted_combination, shifted_dots

SLAB = 2048  # fewest columns of the panels that Gram matrices are summed from
TILE = 704  # side of a tile of the Gram matrix
TASK_ENTRIES = 1 << 20  # entries of X that one task of a product reads
FEW_TARGETS = 8  # products are computed target by target: beyond, BLAS on centred panels is faster


class RowDesign(NamedTuple):
    """``X - mean``, as a C-ordered matrix that may be the transpose of X."""

    matrix: np.ndarray
    flipped: bool
    mean: np.ndarray  # of the columns of X
    zeros: np.ndarray  # as many as rows of X
    n_jobs: int | None

    @property
    def shifts(self):
        return (self.mean, self.zeros) if self.flipped else (self.zeros, self.mean)


def is_readable(X) -> bool:
    """Whether the kernels can read X as it is: dense, contiguous, not empty."""
    return not sp.issparse(X) and X.size > 0 and (X.flags.c_contiguous or X.flags.f_contiguous)


def shifted_design(X, mean, n_jobs=None) -> RowDesign:
    """``X - mean`` for known means."""
    flipped = not X.flags.c_contiguous
    return RowDesign(X.T if flipped else X, flipped, mean, np.zeros(X.shape[0]), n_jobs)


def centred_design(X, weight=None, *, center=True, n_jobs=None) -> RowDesign:
    """``X - mean`` with the weighted column means (zeros without centring)."""
    if not center:
        return shifted_design(X, np.zeros(X.shape[1]), n_jobs)
    first = X[0].astype(np.float64)  # sums about a row keep the digits of large means
    first[~np.isfinite(first)] = 0.0
    design = shifted_design(X, first, n_jobs)
    weight = np.ones(X.shape[0]) if weight is None else weight
    return design._replace(mean=first + transposed_times(design, weight[None, :])[0] / weight.sum())


def _even_spans(n, size):
    """Spans of about equal sizes up to `size`, so that tiles share out evenly."""
    return spans(n, -(-n // max(1, -(-n // size))))


def rows_gram(design, factor, dtype=np.float64, *, mirrored=True):
    """``F Xc Xc' F`` in the precision `dtype`, F the diagonal `factor`; only its upper triangle unless `mirrored`."""
    n, d = design.zeros.shape[0], design.mean.shape[0]
    size = np.dtype(dtype).itemsize
    widest = max(SLAB, d * design.matrix.itemsize // (2 * size))  # a panel takes at most half the memory of X
    slabs, blocks = _even_spans(d, widest), _even_spans(n, TILE)
    require_memory(size * n * (n + min(widest, d)), f"The Gram matrix of {n} rows", "use fewer rows")
    ones = np.ones(d)
    factors = (ones, factor) if design.flipped else (factor, ones)
    gram = np.zeros((n, n), dtype=dtype)
    memory = np.empty(n * (slabs[0].stop - slabs[0].start), dtype=dtype)
    # the whole squares first: the triangles on the diagonal take half as long and even out the threads
    tiles = sorted(((i, j) for i in blocks for j in blocks if j.start >= i.start), key=lambda tile: tile[0] == tile[1])
    for slab in slabs:
        width = slab.stop - slab.start
        shape, origin = ((width, n), (slab.start, 0)) if design.flipped else ((n, width), (0, slab.start))
        panel = memory[: n * width].reshape(shape)

        def fill(rows, panel=panel, origin=origin):
            scaled_panel(design.matrix, *design.shifts, *factors, origin[0] + rows.start, origin[1], panel[rows])

        def multiply(tile, rows=panel.T if design.flipped else panel, first=slab.start == 0):
            i, j = tile
            with np.errstate(all="ignore"):  # NumPy's error state belongs to a thread
                if first:
                    np.matmul(rows[i], rows[j].T, out=gram[i, j])
                else:
                    gram[i, j] += rows[i] @ rows[j].T

        thread_map(fill, _even_spans(shape[0], 256), design.n_jobs)
        thread_map(multiply, tiles, design.n_jobs)

    def mirror(i):
        gram[i.stop :, i] = gram[i, i.stop :].T

    if mirrored:
        thread_map(mirror, blocks, design.n_jobs)
    return gram


def times(design, right):
    """``(X - mean) right'`` as (k, n), for `right` (k, d)."""
    return (_combination if design.flipped else _dots)(design, np.ascontiguousarray(right))


def transposed_times(design, left):
    """``(X - mean)' left'`` as (k, d), for `left` (k, n)."""
    return (_dots if design.flipped else _combination)(design, np.ascontiguousarray(left))


def _tasks(design):
    return spans(design.matrix.shape[0], max(1, TASK_ENTRIES // design.matrix.shape[1]))


def _dots(design, right):
    row_shift, column_shift = design.shifts

    def task(rows):
        part = np.empty((right.shape[0], rows.stop - rows.start))
        shifted_dots(design.matrix[rows], row_shift[rows], column_shift, right, part)
        return part

    return np.concatenate(thread_map(task, _tasks(design), design.n_jobs), axis=1)


def _combination(design, left):
    row_shift, column_shift = design.shifts

    def task(rows):
        part = np.zeros((left.shape[0], column_shift.shape[0]))
        shifted_combination(
            design.matrix[rows], row_shift[rows], column_shift, np.ascontiguousarray(left[:, rows]), part
        )
        return part

    return sum(thread_map(task, _tasks(design), design.n_jobs))
