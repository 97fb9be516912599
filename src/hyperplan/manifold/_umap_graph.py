"""The weighted graph that UMAP lays out.

Row i has distances d_ij to its k nearest rows (itself not among them), rho_i is the smallest that is positive, sigma_i
solves ``sum_j exp(-max(0, d_ij - rho_i) / sigma_i) = log2 k``, and ``A_ij = exp(-max(0, d_ij - rho_i) / sigma_i)``.
The graph is ``B = s (A + A' - A o A') + (1 - s) A o A'``: the union (s = 1) or the intersection (s = 0) of what both
ends say, or a mixture.
"""

import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.parallel import spans, thread_map
from hyperplan.manifold import _umap_graph_kernels as k
from hyperplan.neighbors import NearestNeighbors
from hyperplan.neighbors._descent_lists import approximate_lists

TASK_ROWS = 4096
MANY_PRODUCTS, MANY_ROWS = 2e11, 8192  # multiplications of an exhaustive search and rows from which approximation pays
FEW_COLUMNS = 15  # up to which trees are searched
APPROXIMATED = ("euclidean", "l2", "cosine")
FARTHEST = {"correlation": 2.0, "cosine": 2.0, "hellinger": 1.0, "jaccard": 1.0, "dice": 1.0}  # bounds of distances


class Neighbours(NamedTuple):
    """Lists of the nearest other rows: sorted distances, infinite where there is none, and row numbers."""

    distances: np.ndarray
    rows: np.ndarray
    recall: float | None = None  # measured share of true neighbours, where the search was approximate


def search(X, n_neighbors, metric, options, *, approximate, seed, n_jobs) -> Neighbours:
    """The nearest rows of each row: exact, unless products of matrices would take too long or `approximate` asks."""
    n, d = X.shape
    can = metric in APPROXIMATED and not sp.issparse(X) and not options and n > 2 * n_neighbors
    if can and metric == "cosine":
        can = bool(np.any(X, axis=1).all())
    pays = d > FEW_COLUMNS and n >= MANY_ROWS and float(n) * n * d > MANY_PRODUCTS
    if can and (approximate or pays):
        rows = X
        if metric == "cosine":
            rows = np.asarray(X, dtype=np.float64)
            rows = rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
        found = approximate_lists(rows, n_neighbors, seed, n_jobs)
        distances = 0.5 * found.squares if metric == "cosine" else np.sqrt(found.squares)
        return Neighbours(distances, found.rows, found.recall)
    return Neighbours(*_finder(X, n_neighbors, metric, options, n_jobs).kneighbors())


def search_new(X, Q, n_neighbors, metric, options, n_jobs) -> Neighbours:
    """The nearest rows of X for each row of Q, exactly; for "precomputed" Q holds distances."""
    return Neighbours(*_finder(X, n_neighbors, metric, options, n_jobs).kneighbors(Q))


def _finder(X, n_neighbors, metric, options, n_jobs):
    options = dict(options)
    power = options.pop("p", 2)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*was not sorted by row values.*")
        return NearestNeighbors(
            n_neighbors=n_neighbors, metric=metric, p=power, metric_params=options or None, n_jobs=n_jobs
        ).fit(X)


def given_lists(precomputed, n_rows, n_neighbors) -> Neighbours | None:
    """Lists that the caller has computed, or None; a row that stands in its own list is taken out."""
    if precomputed is None or precomputed[0] is None:
        return None
    rows, distances = np.asarray(precomputed[0]), np.asarray(precomputed[1], dtype=np.float64)
    if rows.ndim != 2 or rows.shape != distances.shape or rows.shape[0] != n_rows:
        raise ValueError(
            f"precomputed_knn must hold row numbers and distances of one shape, a row for each of the {n_rows} of X; "
            f"got shapes {rows.shape} and {distances.shape}"
        )
    if rows.shape[1] < min(n_neighbors, n_rows - 1):
        raise ValueError(
            f"precomputed_knn holds {rows.shape[1]} neighbours of each row, n_neighbors={n_neighbors} asks for more: "
            "lower n_neighbors or search for more"
        )
    if rows.max(initial=-1) >= n_rows or rows.min(initial=0) < -1:
        raise ValueError(f"precomputed_knn holds row numbers outside 0 to {n_rows - 1} (-1 stands for no neighbour)")
    if np.isnan(distances).any() or (distances < 0).any():
        row = int(np.flatnonzero((np.isnan(distances) | (distances < 0)).any(axis=1))[0])
        raise ValueError(f"precomputed_knn holds a distance that is negative or not a number, in row {row}")
    distances = np.where((rows == np.arange(n_rows)[:, None]) | (rows < 0), np.inf, distances)
    order = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    return Neighbours(np.take_along_axis(distances, order, axis=1), np.take_along_axis(rows, order, axis=1))


def cut_far(found: Neighbours, metric, limit) -> Neighbours:
    """Without neighbours at `limit` or beyond; None stands for the bound of bounded distances."""
    if limit is None:
        limit = FARTHEST.get(metric, np.inf) if isinstance(metric, str) else np.inf
    if limit == np.inf:
        return found
    return found._replace(distances=np.where(found.distances >= limit, np.inf, found.distances))


def one_sided(found: Neighbours, n_columns, n_neighbors, connectivity=1.0, n_jobs=None):
    """The weights A of the lists as a sparse matrix, sigma and rho."""
    distances = np.ascontiguousarray(found.distances, dtype=np.float64)
    n = distances.shape[0]
    sigmas, rhos = np.empty(n), np.empty(n)
    finite = distances[np.isfinite(distances)]
    mean, target = float(finite.mean()) if finite.size else 0.0, float(np.log2(n_neighbors))

    def run(part):
        k.calibrate(distances[part], target, float(connectivity), mean, sigmas[part], rhos[part])

    thread_map(run, spans(n, TASK_ROWS), n_jobs)
    weights = weights_of(distances, sigmas, rhos)
    kept = weights > 0.0
    starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    columns = found.rows[kept].astype(np.int32)
    A = sp.csr_array((weights[kept].astype(np.float32), columns, starts.astype(np.int32)), shape=(n, n_columns))
    A.sort_indices()
    return A, sigmas, rhos


def weights_of(distances, sigmas, rhos):
    """``exp(-max(0, d - rho) / sigma)``; one within rho and zero at infinity, whatever sigma."""
    beyond = distances - rhos[:, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        weights = np.exp(-beyond / sigmas[:, None])
    return np.where(np.isinf(distances), 0.0, np.where(beyond <= 0.0, 1.0, weights))


def two_sided(A, mix=1.0):
    """``s (A + A' - A o A') + (1 - s) A o A'``."""
    other = A.T.tocsr()
    both = A.multiply(other).tocsr()
    B = (A + other - both) if mix == 1.0 else np.float32(mix) * (A + other) + np.float32(1.0 - 2.0 * mix) * both
    return tidy(B)


def tidy(B):
    """Sorted rows without stored zeros."""
    B = sp.csr_array(B)
    B.eliminate_zeros()
    B.sort_indices()
    return B
