"""Tables ready for clustering by density: where distances come from, and how neighbours are looked for."""

import warnings
import weakref
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import check_array
from hyperplan._base.neighbors import sort_graph_by_row_values
from hyperplan._math._distance_kernels import EUCLIDEAN
from hyperplan._math.space_tree import grow_tree
from hyperplan.neighbors._nearest_base import MANY_COLUMNS, SEARCH_PARAMS, check_distances, nearest_in_graph
from hyperplan.neighbors._nearest_index import PLAIN, Index, _on_sphere, _ready, _source, make_index, nearest
from hyperplan.neighbors._nearest_metrics import TURNED, check_metric, effective_metric, is_metric_object
from hyperplan.neighbors._nearest_neighbors import NearestNeighbors

METRIC_PARAMS = {name: SEARCH_PARAMS[name] for name in ("metric", "metric_params", "algorithm", "leaf_size", "n_jobs")}
SMALL_LISTS = 2**22  # entries of the lists that are made at a time
FEW_COLUMNS = 3  # up to which a grid is faster than anything else
_kept: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # of each model: searches that `predict` has prepared


class Space(NamedTuple):
    """A table and how neighbours are found in it.

    Attributes
    ----------
    index : Index
        The table as it was given, with what its metric has learnt; it has no tree.
    kind : str
        "tree" for Minkowski distances of `rows`; "tiles" for other symmetric ones; "lists" for functions of the caller;
        "matrix" and "graph" for precomputed distances.
    rows : ndarray or None
        Coordinates in which a tree or a grid measures.
    is_ball : bool
        Whether the tree should be made of balls.
    is_free : bool
        Whether the way of searching was left to us.
    """

    index: Index
    kind: str
    rows: np.ndarray | None = None
    is_ball: bool = False
    is_free: bool = False


def prepare_space(X, metric, p, metric_params, algorithm, n_jobs=None) -> Space:
    """Decide how distances in a checked table are measured; the errors and warnings are those of `NearestNeighbors`."""
    if metric == "precomputed":
        return Space(Index(X, metric, {}), "graph" if sp.issparse(X) else "matrix")
    given = dict(metric_params or {})
    if "p" in given and p is not None and metric == "minkowski":
        warnings.warn(
            "Parameter p is found in metric_params. The corresponding parameter from __init__ is ignored.",
            SyntaxWarning,
            stacklevel=4,
        )
    check_metric(metric, algorithm)
    search = NearestNeighbors(algorithm=algorithm, metric=metric)
    search.effective_metric_, search.effective_metric_params_ = effective_metric(metric, 2 if p is None else p, given)
    method = search._choose_method(X)
    options = {name: value for name, value in search.effective_metric_params_.items() if value is not None}
    if callable(metric) or is_metric_object(metric):
        return Space(Index(X, metric, options), "lists")
    index, is_free = make_index(X, search.effective_metric_, options, "brute", n_jobs), algorithm == "auto"
    is_flat = index.learnt is not None and index.learnt.code == EUCLIDEAN and X.shape[1] <= FEW_COLUMNS
    if index.metric == "haversine" and method != "brute":
        return Space(index, "tree", np.ascontiguousarray(_on_sphere(X)), method == "ball_tree", is_free)
    if index.metric in (*PLAIN, *TURNED) and (method != "brute" or (is_free and is_flat)) and not sp.issparse(X):
        return Space(index, "tree", _ready(X, index), method == "ball_tree", is_free)
    return Space(index, "tiles")


def radius_in(space: Space, radius) -> float:
    """A radius on the scale of `space.rows`."""
    if space.index.metric == "haversine":
        return 2.0 * float(np.sin(0.5 * radius)) if radius < np.pi else 3.0
    return float(radius) * space.index.scale


def make_filler(space: Space, squared):
    """``make_fill(rows, columns)`` for `cluster_by_tiles`; `squared` asks for squares of Euclidean distances."""
    index = space.index

    def take(chosen):
        return index.X if len(chosen) == index.X.shape[0] else index.X[chosen]

    return lambda rows, columns: _source(index._replace(X=take(columns)), take(rows), squared=squared).fill


def distances_to(space: Space) -> Any:
    """``measure(row)``: the rows that a row may have as neighbours (sorted) and their distances from it."""
    X, n = space.index.X, space.index.X.shape[0]
    every = np.arange(n)
    if space.kind == "matrix":
        return lambda row: (every, np.asarray(X[row], dtype=np.float64))
    if space.kind == "graph":
        return lambda row: _graph_row(X, row)
    fill, tile = _source(space.index, X).fill, np.empty((1, n))

    def measure(row):
        fill(slice(row, row + 1), slice(0, n), tile)
        return every, tile[0] / space.index.scale if space.index.scale != 1.0 else tile[0]

    return measure


def _graph_row(X, row):
    part = slice(X.indptr[row], X.indptr[row + 1])
    order = np.argsort(X.indices[part], kind="stable")
    return X.indices[part][order].astype(np.int64), X.data[part][order].astype(np.float64)


def core_distances(space: Space, n_neighbors, n_jobs=None, tree=None):
    """Distance from each row to its neighbour of that number, itself counted; few lists are in memory at a time."""
    X, n = space.index.X, space.index.X.shape[0]
    index = space.index if tree is None else space.index._replace(tree=tree)
    found, size = np.empty(n), max(1, SMALL_LISTS // n_neighbors)
    for start in range(0, n, size):
        part = slice(start, min(start + size, n))
        if space.kind == "graph":
            found[part] = nearest_in_graph(X[part], n_neighbors)[0][:, -1]
        else:
            found[part] = nearest(index, X[part], n_neighbors, n_jobs)[0][:, -1]
    return found


def check_square(X):
    """Precomputed distances: square, without negative entries; graphs get an explicit diagonal and sorted rows."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"Precomputed matrix must be square. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
    if sp.issparse(X):
        X = X.copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)
            X.setdiag(X.diagonal())
        X = sort_graph_by_row_values(X, warn_when_not_sorted=False)
    return check_distances(X)


def check_distances_to(X, n_rows):
    """Distances of new rows from those of a fit."""
    X = check_array(X, accept_sparse="csr", ensure_non_negative=True, input_name="X")
    if X.shape[1] != n_rows:
        raise ValueError(
            f"Precomputed metric requires shape (n_queries, n_indexed). Got {X.shape} for {n_rows} indexed."
        )
    return X


def without_rows(space: Space) -> Space:
    """What a model keeps of a space: how distances are measured, not the table."""
    return space._replace(index=space.index._replace(X=None), rows=None)


def kept(model, name, X, make):
    """What `make()` prepares for a search among rows X, made once for each model and X.

    It lives as long as the model, but is no attribute: asking a model does not change it, copies and files are small.
    """
    if model is None:
        return make()
    made = _kept.setdefault(model, {})
    found = made.get(name)
    if found is None or found[0] is not X:
        found = made[name] = (X, make())
    return found[1]


def forget(model):
    """A fit ends what was prepared, even if the table is the same object: it may hold other rows now."""
    _kept.pop(model, None)


def nearest_row(space: Space, X, Q, n_jobs=None, model=None):
    """Distance and number of the row of X nearest to each row of Q, as the space measures (its own table is gone)."""
    Q = as_table(X, Q)
    index = space.index._replace(X=X)
    if space.kind == "tree":
        tree = kept(model, "nearest", X, lambda: grow_space_tree(space, X, n_jobs))
        index = index._replace(tree=tree)
    distances, rows = nearest(index, Q, 1, n_jobs)
    return distances[:, 0], rows[:, 0]


def grow_space_tree(space: Space, X=None, n_jobs=None):
    """A tree over the rows of a space, or over others of the same kind."""
    rows, learnt = space.rows, space.index.learnt
    if X is not None:
        rows = np.ascontiguousarray(_on_sphere(X)) if learnt is None else _ready(X, space.index)
    code, power = (EUCLIDEAN, 2.0) if learnt is None else (learnt.code, learnt.power)
    return grow_tree(rows, code, power, space.is_ball, n_jobs)


def as_table(X, Q):
    """Q as dense or as sparse as X."""
    if sp.issparse(X):
        return sp.csr_array(Q)
    return Q.toarray() if sp.issparse(Q) else Q


def full_distances(X):
    """A matrix of distances as float64, dense; in a sparse one what is not stored is infinitely far away."""
    if not sp.issparse(X):
        return np.ascontiguousarray(X, dtype=np.float64)
    full, entries = np.full(X.shape, np.inf), X.tocoo()
    full[entries.row, entries.col] = entries.data
    return full


def equal_rows(X, Q, n_jobs=None, model=None):
    """For each row of Q the number of an equal row of X, the smallest; -1 without one."""
    Q = as_table(X, Q)
    if X.shape[0] == 0:
        return np.full(Q.shape[0], -1, np.int64)
    if sp.issparse(X):
        known = kept(model, "equal", X, lambda: _numbers_of_rows(sp.csr_array(X)))
        return np.array([known.get(_bytes_of(Q, i), -1) for i in range(Q.shape[0])], dtype=np.int64)
    index = kept(model, "equal", X, lambda: _exact_index(X, n_jobs))
    distances, rows = nearest(index, np.asarray(Q, dtype=index.X.dtype), 1, n_jobs)
    return np.where(distances[:, 0] == 0.0, rows[:, 0], -1)


def _exact_index(X, n_jobs):
    X = np.asarray(X, dtype=np.float64) if X.dtype == bool else X
    return make_index(X, "euclidean", {}, "kd_tree" if X.shape[1] <= MANY_COLUMNS else "brute", n_jobs)


def _numbers_of_rows(X):
    """The first row of each content."""
    return {_bytes_of(X, i): i for i in range(X.shape[0] - 1, -1, -1)}


def _bytes_of(X, row):
    part = slice(X.indptr[row], X.indptr[row + 1])
    kept = X.data[part] != 0
    order = np.argsort(X.indices[part][kept], kind="stable")
    values, columns = X.data[part][kept][order], X.indices[part][kept][order]
    return columns.astype(np.int64).tobytes() + values.astype(np.float64).tobytes()
