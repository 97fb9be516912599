"""Where a layout begins: smooth functions on the graph, principal components, chance, or places that were given.

The spectral start takes the eigenvectors of ``D^-1/2 B D^-1/2`` with the largest eigenvalues but the first, which is
known (the roots of the degrees).  They come from a block Krylov space in float32 that is restarted from its best
vectors; how good they are matters little, since the layout moves on from there.  Pieces of a graph that do not hang
together are laid out one by one and put into cells of a grid, side by side.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import single_threaded_blas, spans, thread_map
from hyperplan.decomposition import PCA
from hyperplan.manifold import _umap_graph_kernels as k

EXTENT, NOISE = 10.0, 1e-4  # of the first places
SMALL = 400  # rows up to which all eigenvectors are computed
MORE_VECTORS, BLOCKS, CYCLES = 4, 20, 4  # vectors of a block beyond those asked for, blocks of a basis, restarts
NOTHING = 1e-10  # share of the largest squared length below which a direction is lost
ACCURACY = 1e-3  # residual at which restarts stop (eigenvalues are at most 1)
TASK_ROWS = 8192
CELL = 0.8  # share of the side of a cell that a piece may fill


class Start(NamedTuple):
    """First places, and how many pieces the graph has."""

    places: np.ndarray
    n_pieces: int
    residual: float  # of the eigenvectors, where some were asked for


def first_places(init, graph, X, is_rows, n_components, rng, n_jobs=None) -> Start:
    """Places between 0 and 10 on each axis, in float32.

    `is_rows` says that X holds rows whose means can be taken, and no distances.
    """
    n_pieces, pieces = connected_components(graph, directed=False)
    residual = 0.0
    if isinstance(init, str) and init == "random":
        places = rng.uniform(-EXTENT, EXTENT, size=(graph.shape[0], n_components))
    elif isinstance(init, str) and init == "pca":
        if not is_rows:
            raise ValueError("init='pca' needs rows, and X holds distances: use init='spectral'")
        places = _noisy(PCA(n_components, random_state=rng.randint(2**31 - 1)).fit_transform(X), rng)
    elif isinstance(init, str):
        places, residual = _spectral(graph, n_pieces, pieces, X if is_rows else None, n_components, rng, n_jobs)
        places = _noisy(places, rng)
    else:
        places = _given(init, graph.shape[0], n_components, rng)
    low, high = places.min(axis=0), places.max(axis=0)
    places = EXTENT * (places - low) / np.where(high > low, high - low, 1.0)
    return Start(np.ascontiguousarray(places, dtype=np.float32), int(n_pieces), residual)


def _noisy(places, rng):
    """Of size 10, with a little noise: rows in one place would never part."""
    largest = float(np.abs(places).max(initial=0.0))
    places = places * (EXTENT / largest) if largest > 0.0 else places
    return places + rng.normal(scale=NOISE, size=places.shape)


def _given(init, n, n_components, rng):
    places = np.array(init, dtype=np.float64)
    if places.shape != (n, n_components):
        raise ValueError(f"init must have the shape {(n, n_components)} of the embedding, got {places.shape}")
    if not np.isfinite(places).all():
        row = int(np.flatnonzero(~np.isfinite(places).all(axis=1))[0])
        raise ValueError(f"init holds a value that is not finite, in row {row}")
    if len(np.unique(places, axis=0)) < n:
        extent = float(np.ptp(places, axis=0).max(initial=0.0)) or EXTENT
        places += rng.normal(scale=NOISE * extent, size=places.shape)
    return places


def _spectral(graph, n_pieces, pieces, X, n_components, rng, n_jobs):
    if n_pieces == 1:
        return _smooth_functions(graph, n_components, rng, n_jobs)
    sizes = np.bincount(pieces)
    cells, side = _cells(X, pieces, sizes, n_components)
    places, worst = np.empty((graph.shape[0], n_components)), 0.0
    order = np.argsort(pieces, kind="stable")
    for piece, rows in enumerate(np.split(order, np.cumsum(sizes)[:-1])):
        if len(rows) <= n_components + 1:
            own = rng.uniform(-1.0, 1.0, size=(len(rows), n_components)) if len(rows) > 1 else np.zeros((1, 1))
        else:
            own, residual = _smooth_functions(graph[rows][:, rows], n_components, rng, n_jobs)
            worst = max(worst, residual)
        radius = 0.5 * CELL * side * (len(rows) / sizes.max()) ** (1.0 / n_components)
        places[rows] = cells[piece] + own * (radius / max(float(np.abs(own).max()), 1e-30))
    return places, worst


def _cells(X, pieces, sizes, n_components):
    """Centres of cells of a grid, one for each piece, near in the grid where the means of the pieces are."""
    n = len(sizes)
    n_columns = max(1, round(n**0.5)) if n_components > 1 else 1
    means = np.arange(n, dtype=np.float64)[:, None]
    if X is not None:
        member = sp.csr_array((1.0 / sizes[pieces], (pieces, np.arange(len(pieces)))), shape=(n, len(pieces)))
        means = member @ X
        means = means.toarray() if sp.issparse(means) else means
        means = means - means.mean(axis=0)
        with single_threaded_blas():
            means = means @ la.svd(means, full_matrices=False, check_finite=False)[2][:2].T
    column = np.empty(n, np.int64)
    column[np.argsort(means[:, 0], kind="stable")] = np.arange(n) * n_columns // n
    centres = np.zeros((n, n_components))
    for c in range(n_columns):
        inside = np.flatnonzero(column == c)
        inside = inside[np.argsort(means[inside, -1], kind="stable")]
        centres[inside, -1 if n_components == 1 else 1] = np.arange(len(inside)) - 0.5 * (len(inside) - 1.0)
        if n_components > 1:
            centres[inside, 0] = c
    return centres, 1.0


def _smooth_functions(graph, n_components, rng, n_jobs):
    """Leading eigenvectors of the normalised graph (one piece) but the first, and their residual."""
    n = graph.shape[0]
    degrees = np.asarray(graph.sum(axis=1), dtype=np.float64).ravel()
    first = np.sqrt(degrees)
    row = np.repeat(np.arange(n), np.diff(graph.indptr))
    values = graph.data / (first[row] * first[graph.indices])
    if n <= max(SMALL, 4 * (n_components + MORE_VECTORS)):
        dense = np.zeros((n, n))
        dense[row, graph.indices] = values
        with single_threaded_blas():
            vectors = la.eigh(dense, subset_by_index=(max(0, n - n_components - 1), n - 1))[1]
        vectors = vectors[:, ::-1][:, 1:]
        missing = n_components - vectors.shape[1]
        return np.column_stack([vectors, rng.normal(scale=NOISE, size=(n, missing))]), 0.0
    matrix = (graph.indptr.astype(np.int64), graph.indices.astype(np.int32), values.astype(np.float32))
    first = (first / np.linalg.norm(first)).astype(np.float32)[:, None]
    with single_threaded_blas():
        return _Krylov(matrix, first, n_components, rng, n_jobs).run()


class _Krylov:
    """A block Krylov space beside a known first vector, in float32."""

    def __init__(self, matrix, first, n_wanted, rng, n_jobs):
        self.matrix, self.rng, self.n_jobs = matrix, rng, n_jobs
        self.n, self.n_wanted, self.width = len(first), n_wanted, n_wanted + MORE_VECTORS
        n_blocks = max(2, min(BLOCKS, self.n // (2 * self.width)))
        self.size = n_blocks * self.width
        require_memory(4.0 * self.n * (self.size + 3 * self.width), "The spectral start", "use init='pca' or 'random'")
        self.basis = np.empty((self.n, 1 + self.size), np.float32)
        self.basis[:, :1] = first
        self.parts = spans(self.n, TASK_ROWS)

    def run(self):
        """Wanted vectors and the largest residual."""
        block = self.rng.normal(size=(self.n, self.width)).astype(np.float32)
        for _ in range(CYCLES):
            small, tail = self._grow(block)
            _, coordinates = la.eigh(small)
            best = coordinates[:, ::-1][:, : self.width]
            block = self._combine(slice(1, 1 + self.size), best)
            residual = float(np.linalg.norm(tail @ best[-self.width :, : self.n_wanted], axis=0).max())
            if residual <= ACCURACY:
                break
        return block[:, : self.n_wanted].astype(np.float64), residual

    def _grow(self, block):
        """Fill the basis; the matrix in its coordinates, and what leads out of it."""
        small = np.zeros((self.size, self.size))
        block = self._next(block, 1)[0]
        for start in range(0, self.size, self.width):
            stop = start + self.width
            self.basis[:, 1 + start : 1 + stop] = block
            image = self._times(block)
            inside = self._products(slice(1, 1 + stop), image)
            small[:stop, start:stop], small[start:stop, :stop] = inside, inside.T
            block, tail = self._next(image, 1 + stop)
        return small, tail

    def _next(self, block, count):
        """The part of a block outside the first vectors of the basis, orthonormal, and what turns it back into itself.

        Directions of which nothing is left are drawn anew.
        """
        factor = None
        for attempt in range(3):
            block = block - self._combine(slice(0, count), self._products(slice(0, count), block))
            values, turn = la.eigh(self._sum_products(block, block))
            values = np.maximum(values, 0.0)
            lost = values <= NOTHING * max(values[-1], 1e-30)
            if factor is None:
                factor = np.sqrt(values)[:, None] * turn.T
            block = block @ (turn / np.sqrt(np.where(lost, np.inf, values))).astype(np.float32)
            if lost.any():
                block[:, lost] = self.rng.normal(size=(self.n, int(lost.sum()))) / np.sqrt(self.n)
            elif attempt > 0:
                break
        return block, factor

    def _times(self, block):
        out = np.empty_like(block)
        thread_map(lambda part: k.multiply(*self.matrix, block, part.start, part.stop, out), self.parts, self.n_jobs)
        return out

    def _products(self, columns, block):
        """Inner products of vectors of the basis with a block."""
        return self._sum_products(self.basis[:, columns], block)

    def _sum_products(self, one, other):
        def run(part):
            return (one[part].T @ other[part]).astype(np.float64)

        return sum(thread_map(run, self.parts, self.n_jobs))

    def _combine(self, columns, coefficients):
        """Combinations of vectors of the basis."""
        coefficients = np.ascontiguousarray(coefficients, dtype=np.float32)
        out = np.empty((self.n, coefficients.shape[1]), np.float32)

        def run(part):
            np.matmul(self.basis[part, columns], coefficients, out=out[part])

        thread_map(run, self.parts, self.n_jobs)
        return out
