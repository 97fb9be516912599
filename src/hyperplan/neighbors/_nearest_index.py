"""One table, ready to be searched: a tree where the distance allows one and it pays, else everything.

An `Index` keeps the table as it was given.  Distances that are Minkowski distances after a linear map of the rows
(standardised, Mahalanobis, with weights) are searched on the mapped rows; great circles as chords in space.
"""

import functools
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.certificate import Certificate
from hyperplan._math import brute, distances, space_tree
from hyperplan._math._distance_kernels import EUCLIDEAN, MANHATTAN, SQUARED, fill_tile
from hyperplan._math.space_tree import Lists, SpaceTree
from hyperplan.metrics._distance_source import BOOLEAN, Source, distance_source
from hyperplan.neighbors._descent import Descent, build_graph, recall_certificate, squared_walk
from hyperplan.neighbors._nearest_metrics import SAME, TURNED, is_metric_object

PLAIN = ("euclidean", "manhattan", "chebyshev", "minkowski")
FEW_COLUMNS, FEW_ROWS = 5, 4096  # up to which nobody asks whether the tree pays
WORTHWHILE = 1.0  # nodes per leaf of the tree (there are two) that a group of queries may visit (measured)
HUGE, TINY = 1e140, 1e-140  # beyond, squares of coordinates overflow or vanish


class Index(NamedTuple):
    """A table and how to measure in it.

    Attributes
    ----------
    X : ndarray or sparse matrix
        The table as it was given; for "precomputed" the matrix of distances.
    metric : str, callable or object with a method `pairwise`
        Distance.
    options : dict
        Its parameters.
    learnt : Metric or None
        For distances of `hyperplan._math.distances`: what was learnt from X.
    tree : SpaceTree or None
        None: all rows are measured.
    scale : float
        A power of two that coordinates are multiplied by, so that squares neither overflow nor vanish.
    descent : Descent or None
        A graph for approximate searches.
    """

    X: Any
    metric: Any
    options: dict
    learnt: distances.Metric | None = None
    tree: SpaceTree | None = None
    scale: float = 1.0
    descent: Descent | None = None


def make_index(X, metric, options, method, n_jobs=None) -> Index:
    """Prepare a table: `method` is "kd_tree", "ball_tree", "brute" or "approximate".

    Distances that no tree can bound (of sets, of strings, by a function) are searched exhaustively whatever the method.
    """
    if isinstance(metric, str):
        metric = distances.ALIASES.get(SAME.get(metric, metric), SAME.get(metric, metric))
    if method == "approximate":
        _check_approximate(X, metric, options)
    if not isinstance(metric, str) or sp.issparse(X) or not distances.is_known(metric):
        index = Index(X, metric, options)
        if method != "brute" and metric == "haversine":
            index = index._replace(tree=space_tree.grow_tree(_on_sphere(X), n_jobs=n_jobs))
        return index
    scale = _safe_scale(X) if metric in PLAIN else 1.0
    learnt = distances.learn_metric(metric, X, **_known_options(metric, options))
    index = Index(X, metric, options, learnt, None, scale)
    if method == "brute" or metric not in (*PLAIN, *TURNED, "cosine"):
        return index
    rows = _ready(X, index)
    if method == "approximate":
        return index._replace(descent=build_graph(rows, n_jobs))
    tree = space_tree.grow_tree(rows, learnt.code, learnt.power, method == "ball_tree", n_jobs)
    return index._replace(tree=tree)


def tree_pays(index: Index, n_neighbors) -> bool:
    """Whether the tree answers sooner than products of matrices would, by the nodes that some searches visit.

    Where products win depends on the dimension of the cloud more than on that of the space; counted and not timed, so
    that the answer is always the same.
    """
    n, d = index.X.shape
    if index.tree is None or index.tree.rule.is_ball or index.tree.rule.code != EUCLIDEAN or index.learnt is None:
        return True
    if d <= FEW_COLUMNS or n < FEW_ROWS:
        return True
    visits = space_tree.nodes_visited(index.tree, _ready(index.X, index), min(n_neighbors + 1, n))
    return visits < WORTHWHILE * index.tree.blocks.shape[0]


def _check_approximate(X, metric, options):
    """Walks need squared Euclidean distances of dense rows, perhaps after a linear map or of directions."""
    is_euclidean = metric in ("euclidean", "sqeuclidean", "cosine", *TURNED) or options.get("p") == 2
    if not isinstance(metric, str) or sp.issparse(X) or not is_euclidean:
        raise ValueError(
            f"algorithm='approximate' takes dense rows and Euclidean distances (euclidean, seuclidean, mahalanobis, "
            f"cosine), got metric={metric!r}: use algorithm='brute'"
        )
    if metric == "cosine" and not np.any(X, axis=1).all():
        row = int(np.flatnonzero(~np.any(X, axis=1))[0])
        raise ValueError(f"row {row} is zero and has no direction: drop it, or use algorithm='brute'")


def _known_options(metric, options):
    """Options for `learn_metric`; a covariance is as good as its inverse."""
    options = {name: value for name, value in options.items() if value is not None}
    if metric == "mahalanobis" and "V" in options:
        covariance = np.asarray(options.pop("V"), dtype=np.float64)
        options.setdefault("VI", np.linalg.inv(covariance))
    allowed = {"minkowski": {"p", "w"}, "seuclidean": {"V"}, "mahalanobis": {"VI"}}.get(metric, set())
    if unknown := sorted(set(options) - allowed):
        raise TypeError(f"metric={metric!r} got an unexpected keyword argument {unknown[0]!r}")
    for name, shape in (("V", 1), ("VI", 2)):
        if name in options and np.ndim(options[name]) != shape:
            raise ValueError(
                f"{name} of metric={metric!r} must have {shape} dimension(s), got {np.ndim(options[name])}"
            )
    return options


def _safe_scale(X):
    largest = max(float(X.max()), -float(X.min())) if X.size else 0.0
    return 2.0 ** -float(np.frexp(largest)[1]) if largest > HUGE or 0 < largest < TINY else 1.0


def _ready(Q, index):
    """Rows as float64 in the coordinates that the tree or the products are made of."""
    Q = np.ascontiguousarray(Q, dtype=np.float64)
    Q = Q * index.scale if index.scale != 1.0 else Q
    return np.ascontiguousarray(distances.prepare(Q, index.learnt._replace(offset=None)).rows)


def _on_sphere(X):
    """Points of the unit sphere from (latitude, longitude): the sine of half the angle is half the chord."""
    if X.shape[1] != 2:
        raise ValueError(f"Haversine distance only valid in 2 dimensions, got {X.shape[1]} columns")
    latitude, longitude = np.asarray(X, dtype=np.float64).T
    width = np.cos(latitude)
    return np.column_stack([width * np.cos(longitude), width * np.sin(longitude), np.sin(latitude)])


def nearest(index: Index, Q, n_neighbors, n_jobs=None):
    """Distances and row numbers of the nearest rows, sorted; ties go to the smaller number.

    Q is a table like that of the index; for "precomputed" its distances from the rows of the index.
    """
    distances, rows = _nearest(index, Q, n_neighbors, n_jobs)
    if rows.size and rows.max() >= index.X.shape[0]:  # what lists hold before a row is found
        raise ValueError("Some distances are not numbers: fewer neighbours can be found than asked for.")
    return distances, rows


def _nearest(index, Q, n_neighbors, n_jobs):
    if index.metric == "haversine" and index.tree is not None:
        return _nearest_on_sphere(index, Q, n_neighbors, n_jobs)
    if index.tree is not None:
        found, rows = space_tree.nearest_rows(index.tree, _ready(Q, index), n_neighbors, n_jobs)
        return found / index.scale, rows
    if index.learnt is not None and not sp.issparse(Q) and index.learnt.code in (EUCLIDEAN, SQUARED):
        answer = _nearest_by_products(index, Q, n_neighbors, n_jobs)
        if answer is not None:
            return answer
    source, n_jobs = _source(index, Q), _threads(index, n_jobs)
    found, rows = brute.nearest_by_tiles(source.fill, source.n_rows, source.n_columns, n_neighbors, n_jobs)
    return found / index.scale, rows


def _nearest_by_products(index, Q, n_neighbors, n_jobs):
    """None when there are rows without a direction, whose cosine is no product."""
    X, Q = index.X, Q
    if X.dtype != Q.dtype or index.scale != 1.0 or index.metric not in ("euclidean", "sqeuclidean"):
        if index.metric == "cosine" and not (np.any(X, axis=1).all() and np.any(Q, axis=1).all()):
            return None
        X, Q = _ready(X, index), _ready(Q, index)
    X, Q = np.ascontiguousarray(X), np.ascontiguousarray(Q)
    if index.descent is None:
        squares, rows = brute.squared_nearest(X, Q, n_neighbors, n_jobs)
    else:
        squares, rows = squared_walk(index.descent, X, Q, n_neighbors, n_jobs)
    if index.metric == "cosine":
        return 0.5 * squares, rows
    return np.sqrt(squares) / index.scale if index.learnt.code == EUCLIDEAN else squares, rows


def _nearest_on_sphere(index, Q, n_neighbors, n_jobs):
    _, rows = space_tree.nearest_rows(index.tree, _on_sphere(Q), n_neighbors, n_jobs)
    angles = _angles(np.asarray(Q, dtype=np.float64)[:, None], np.asarray(index.X, dtype=np.float64)[rows])
    order = np.lexsort((rows, angles), axis=1)  # chords that are equal after rounding may have other angles
    return np.take_along_axis(angles, order, axis=1), np.take_along_axis(rows, order, axis=1)


def _angles(a, b):
    half = np.sin(0.5 * (a - b)) ** 2
    return 2.0 * np.arcsin(
        np.minimum(np.sqrt(half[..., 0] + np.cos(a[..., 0]) * np.cos(b[..., 0]) * half[..., 1]), 1.0)
    )


def within(index: Index, Q, radius, by_distance=False, n_jobs=None) -> Lists:
    """Rows within a radius (a number, or one per query), sorted by number, or by distance and then number."""
    if index.metric == "haversine" and index.tree is not None:
        return _within_on_sphere(index, Q, radius, by_distance, n_jobs)
    if index.tree is not None:
        limit = np.asarray(radius, dtype=np.float64) * index.scale
        lists = space_tree.rows_within(index.tree, _ready(Q, index), limit, by_distance, n_jobs)
    else:
        is_euclidean = index.learnt is not None and index.learnt.code == EUCLIDEAN and not sp.issparse(Q)
        source, n_jobs = _source(index, Q, squared=is_euclidean), _threads(index, n_jobs)
        limit = np.asarray(radius, dtype=np.float64) * index.scale
        with np.errstate(over="ignore"):
            limit = np.where(limit < 0, -1.0, limit * limit) if is_euclidean else limit
        lists = brute.within_by_tiles(source.fill, source.n_rows, source.n_columns, limit, by_distance, n_jobs)
        if is_euclidean:
            np.sqrt(lists.distances, out=lists.distances)
    if index.scale != 1.0:
        lists = lists._replace(distances=lists.distances / index.scale)
    return lists


def count_within(index: Index, Q, radius, n_jobs=None):
    """How many rows lie within a radius of each query."""
    if index.tree is not None and index.metric != "haversine":
        limit = np.asarray(radius, dtype=np.float64) * index.scale
        return space_tree.count_within(index.tree, _ready(Q, index), limit, n_jobs)
    return np.diff(within(index, Q, radius, n_jobs=n_jobs).starts)


def _within_on_sphere(index, Q, radius, by_distance, n_jobs):
    """A little more than asked for by chords, and then by angles."""
    radius = np.broadcast_to(np.asarray(radius, dtype=np.float64), Q.shape[:1])
    chords = 2.0 * np.sin(0.5 * np.minimum(radius, np.pi)) * (1.0 + 1e-9) + 1e-12
    lists = space_tree.rows_within(index.tree, _on_sphere(Q), np.where(radius < 0, -1.0, chords), False, n_jobs)
    queries = np.repeat(np.arange(Q.shape[0]), np.diff(lists.starts))
    angles = _angles(np.asarray(Q, dtype=np.float64)[queries], np.asarray(index.X, dtype=np.float64)[lists.rows])
    kept = angles <= radius[queries]
    counts = np.bincount(queries[kept], minlength=Q.shape[0])
    lists = Lists(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), lists.rows[kept], angles[kept])
    space_tree.sort_lists(lists, by_distance, n_jobs)
    return lists


def _threads(index, n_jobs):
    return 1 if callable(index.metric) else n_jobs  # functions of the caller hold Python's lock anyway


def _source(index: Index, Q, squared=False) -> Source:
    """Where distances between rows of Q and of the index come from."""
    X, metric, options = index.X, index.metric, index.options
    if metric == "precomputed":
        return distance_source(Q, metric)
    if index.learnt is not None and not sp.issparse(Q):
        learnt = index.learnt._replace(code=SQUARED) if squared else index.learnt
        if index.scale != 1.0:
            X, Q = X * index.scale, Q * index.scale
            learnt = learnt._replace(offset=None)
        A, B = distances.prepare(Q, learnt), distances.prepare(X, learnt)
        return Source(functools.partial(_fill_learnt, learnt, A, B), len(A), len(B))
    if callable(metric):
        return Source(functools.partial(_fill_by_function, metric, options, Q, X), Q.shape[0], X.shape[0])
    if is_metric_object(metric):
        return Source(functools.partial(_fill_by_object, metric, Q, X), Q.shape[0], X.shape[0])
    if metric == "braycurtis":
        return Source(functools.partial(_fill_braycurtis, Q, X), Q.shape[0], X.shape[0])
    if metric in BOOLEAN:
        Q, X = Q != 0, X != 0
    return distance_source(Q, metric, X, **options)


def _fill_learnt(learnt, A, B, rows, columns, tile):
    distances.fill(learnt, A, rows, B, columns, tile)


def _fill_braycurtis(Q, X, rows, columns, tile):
    """sum |x - y| / sum (|x| + |y|), as in scikit-learn; SciPy divides by sum |x + y|, which may vanish."""
    a, b = np.asarray(Q[rows], dtype=np.float64), np.asarray(X[columns], dtype=np.float64)
    fill_tile(np.ascontiguousarray(a), np.ascontiguousarray(b), MANHATTAN, 1.0, tile)
    sizes = np.abs(a).sum(axis=1)[:, None] + np.abs(b).sum(axis=1)
    np.divide(tile, sizes, out=tile, where=sizes > 0)


def _fill_by_object(metric, Q, X, rows, columns, tile):
    tile[:] = metric.pairwise(Q[rows], X[columns])


def _fill_by_function(function, options, Q, X, rows, columns, tile):
    """Rows of sparse tables are passed as sparse tables of one row."""
    others = [X[[j]] if sp.issparse(X) else X[j] for j in range(columns.start, columns.stop)]
    for i, row in enumerate(range(rows.start, rows.stop)):
        x = Q[[row]] if sp.issparse(Q) else Q[row]
        for j, y in enumerate(others):
            tile[i, j] = function(x, y, **options)


def as_objects(values, starts):
    """An array of arrays, one for each list."""
    found = np.empty(len(starts) - 1, dtype=object)
    for i in range(len(found)):
        found[i] = values[starts[i] : starts[i + 1]]
    return found


def recall_of(index: Index, n_neighbors, n_jobs=None) -> Certificate:
    """How many of the true neighbours an approximate index finds."""
    return recall_certificate(index.descent, _ready(index.X, index), n_neighbors, n_jobs)
