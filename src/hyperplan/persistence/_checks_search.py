"""Whether what loaded objects search in is whole: trees of boxes, graphs of neighbours, tables and their distances.

The children of node v of a tree over n points are 2v + 1 and 2v + 2, and which leaves are below a node follows from n:
`spans` must be what growing makes them.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan.persistence._checks_arrays import are, layout_problem, outside

SPACE_TREE, LISTS = "hyperplan._math.space_tree.SpaceTree", "hyperplan._math.space_tree.Lists"
METRIC, POINTS = "hyperplan._math.distances.Metric", "hyperplan._math.distances.Points"
CELLS, SUMMANDS = "hyperplan._math.kernel_sums.Cells", "hyperplan._math.kernel_sums.Summands"
INDEX, DESCENT = "hyperplan.neighbors._nearest_index.Index", "hyperplan.neighbors._descent.Descent"
NEIGHBOURS, GRAPH = "hyperplan.neighbors._nearest_base.NeighborsBase", "hyperplan.manifold._graph.NeighbourGraph"
BAD_NODES = "its nodes are not those of a tree over its points"


def node_spans(n_leaves):
    """First leaf of each node, and the one after its last; zeros where there is no node."""
    found = np.zeros((2 ** (max(n_leaves - 1, 0).bit_length() + 1) - 1, 2), np.int64)
    found[0, 1] = n_leaves
    nodes = np.zeros(1, np.int64)
    while nodes.size:
        nodes = nodes[found[nodes, 1] - found[nodes, 0] > 1]
        first, stop = found[nodes].T
        found[2 * nodes + 1, 0], found[2 * nodes + 2, 1] = first, stop
        found[2 * nodes + 1, 1] = found[2 * nodes + 2, 0] = (first + stop + 1) // 2
        nodes = np.concatenate([2 * nodes + 1, 2 * nodes + 2])
    return found


def _nodes_problem(spans, asks, n_choices, n_leaves):
    """`asks`: what each inner node asks for, one of `n_choices`; below zero for leaves, where a walk ends."""
    wanted = node_spans(n_leaves)
    if not np.array_equal(spans, wanted):
        return BAD_NODES
    is_inner = wanted[:, 1] - wanted[:, 0] > 1
    return BAD_NODES if (asks[~is_inner] >= 0).any() or outside(asks[is_inner], 0, n_choices) else None


def _space_tree(tree):
    from hyperplan._math.space_tree import LEAF

    layout = "blocks: f l w s; order: i n <n; spans: i m p; bounds: f m p w; axes: i m; cuts: f m"
    problem = layout_problem(tree, layout)
    if problem is not None:
        return problem
    n, n_leaves = len(tree.order), len(tree.blocks)
    if n < 1 or n_leaves != -(-n // LEAF) or tree.blocks.shape[2] != LEAF or tree.blocks.shape[1] < 1:
        return "its leaves do not hold its points"
    if not np.isfinite(tree.blocks).all():
        return "a point is nowhere"
    return _nodes_problem(tree.spans, tree.axes, tree.blocks.shape[1], n_leaves)


def _cells(cells):
    from hyperplan._math.space_tree import LEAF

    layout = "points: f w n; singles: f w n; values: f v n; spans: i m p; bounds: f m p w; place: i n <n; prefix: f v q"
    problem = layout_problem(cells, layout)
    if problem is not None:
        return problem
    n = cells.points.shape[1]
    if min(cells.points.shape) < 1 or cells.prefix.shape[1] != n + 1 or len(cells.values) < 1:
        return "its sums are not those of its points"
    wanted = np.minimum(node_spans(-(-n // LEAF)) * LEAF, n)
    return None if np.array_equal(cells.spans, wanted) else BAD_NODES


def _metric(metric):
    return layout_problem(metric, "scale: f w; middle: f w; turn: f w t")


def _points(points):
    return layout_problem(points, "rows: fiub n w; squares: f n; empty: b n")


def _width_after(metric, width):
    """Columns of rows after the metric has scaled or turned them; None if it is for another number of columns."""
    parts = [part for part in (metric.scale, metric.middle, metric.turn) if part is not None]
    if any(part.shape[0] != width for part in parts):
        return None
    return width if metric.turn is None else metric.turn.shape[1]


def _summands(summands):
    rows, values, cells = summands.rows, summands.values, summands.cells
    if not are([rows], POINTS) or not are([summands.metric], METRIC) or (cells is not None and not are([cells], CELLS)):
        return "its parts are none"
    if not isinstance(values, np.ndarray) or values.ndim != 2 or len(values) != len(rows.rows) or not values.size:
        return "it does not have a value for each row"
    if cells is not None and (cells.points.shape, len(cells.values)) != (rows.rows.shape[::-1], values.shape[1]):
        return "its tree is one of other rows"
    return None


def _sums_of_kernels(model):
    """Densities and local means: rows to ask for must have the columns of those that are summed."""
    summands = vars(model).get("_summands")
    if summands is None:
        return None
    if not are([summands], SUMMANDS) or type(vars(model).get("n_features_in_")) is not int:
        return "its rows are none"
    if _width_after(summands.metric, model.n_features_in_) != summands.rows.rows.shape[1]:
        return "its rows have another number of columns"
    return layout_problem(model, "_rows: f n d; _measured: f m d; _middle: f d; modes_: f k d")


def _descent(descent):
    from hyperplan.neighbors._descent_kernels import LEAF

    layout = "X: f n w; middle: f w; order: i t n <n; spans: i t m p; pairs: i t m p; cuts: f t m; graph: i n k"
    problem = layout_problem(descent, layout)
    if problem is not None:
        return problem
    n = len(descent.X)
    if n < 1 or outside(descent.graph, -1, n) or outside(descent.pairs, -1, n) or descent.pairs.shape[2] != 2:
        return "its graph leads outside"
    for spans, pairs in zip(descent.spans, descent.pairs):
        problem = _nodes_problem(spans, pairs[:, 0], n, -(-n // LEAF))
        if problem is not None or (pairs[pairs[:, 0] >= 0] < 0).any():
            return BAD_NODES
    return None


def _index(index):
    X, learnt = index.X, index.learnt
    parts = ((index.tree, SPACE_TREE), (index.descent, DESCENT), (learnt, METRIC))
    if any(part is not None and not are([part], name) for part, name in parts):
        return "its parts are none"
    on_sphere = _is_called(index.metric, "haversine")
    if on_sphere and learnt is not None:
        return "its distance is another one"
    if X is None:
        return None if index.tree is index.descent is None else "it has no table"
    is_table = sp.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "fiub")
    if not is_table or X.ndim != 2 or X.shape[0] < 1:
        return "its table is none"
    if _is_called(index.metric, "precomputed") and X.shape[0] != X.shape[1]:
        return "its distances are not those between its rows"
    width = X.shape[1] if learnt is None else _width_after(learnt, X.shape[1])
    return _search_problem(index, 3 if on_sphere else width)


def _is_called(metric, name):
    return isinstance(metric, str) and metric == name


def _search_problem(index, width):
    if width is None:
        return "its distance is for another number of columns"
    tree, descent, n = index.tree, index.descent, index.X.shape[0]
    if tree is not None and (len(tree.order), tree.blocks.shape[1]) != (n, width):
        return "its tree is one of another table"
    return "its graph is one of another table" if descent is not None and descent.X.shape != (n, width) else None


def _neighbours(model):
    index = vars(model).get("_index")
    if index is None:
        return None
    if not are([index], INDEX) or index.X is None:
        return "its table is none"
    if (vars(model).get("n_samples_fit_"), vars(model).get("n_features_in_")) != index.X.shape:
        return "its table has another shape"
    if _is_called(model.metric, "precomputed") and not _is_called(index.metric, "precomputed"):
        return "its table is not one of distances"
    return _targets(vars(model).get("_y"), vars(model).get("classes_"), index.X.shape[0])


def _targets(y, classes, n):
    if y is None:
        return None
    if not isinstance(y, np.ndarray) or y.ndim not in (1, 2) or len(y) != n:
        return "it does not have a target for each row"
    if classes is None:
        return None
    columns = [y] if y.ndim == 1 else list(y.T)
    listed = [classes] if isinstance(classes, np.ndarray) else list(classes)
    if y.dtype.kind != "i" or len(listed) != len(columns):
        return "its labels are none"
    return "a label is not among its classes" if any(map(_beyond, columns, listed)) else None


def _beyond(codes, classes):
    return outside(codes, 0, len(classes))


def _lists(lists):
    problem = layout_problem(lists, "starts: i q; rows: i m; distances: f m")
    if problem is None and (len(lists.starts) < 1 or lists.starts[0] != 0 or lists.starts[-1] != len(lists.rows)):
        return "its lists have other lengths"
    return problem or ("its lists are not in order" if (np.diff(lists.starts) < 0).any() else None)


def _graph(graph):
    search, edges, lists = (vars(graph).get(name) for name in ("nbrs_", "graph_", "_lists"))
    if search is None:
        return None
    if not are([search], NEIGHBOURS) or not are([lists], LISTS) or "_index" not in vars(search):
        return "its search is none"
    n = search._index.X.shape[0]
    if not sp.issparse(edges) or edges.format != "csr" or edges.shape != (n, n):
        return "its edges are not those of its rows"
    if len(lists.starts) != n + 1 or outside(lists.rows, 0, n):
        return "a neighbour is none of its rows"
    return None


def _geodesics(model):
    graph = vars(model).get("graph_")
    if graph is None:
        return None
    if not are([graph], GRAPH) or "nbrs_" not in vars(graph):
        return "its graph is none"
    n = graph.nbrs_._index.X.shape[0]
    for name in ("dist_matrix_", "geodesics_"):
        table = vars(model).get(name)
        if table is not None and (not isinstance(table, np.ndarray) or table.ndim != 2 or table.shape[0] != n):
            return f"{name} does not have a row for each row of its graph"
    return layout_problem(model, "dist_matrix_: f n n; landmark_distances_: f m m; geodesics_: f n m")


SEARCH_CHECKS = {
    SPACE_TREE: _space_tree,
    CELLS: _cells,
    METRIC: _metric,
    POINTS: _points,
    SUMMANDS: _summands,
    LISTS: _lists,
    DESCENT: _descent,
    INDEX: _index,
    NEIGHBOURS: _neighbours,
    GRAPH: _graph,
    "hyperplan.manifold._isomap_base.GeodesicMap": _geodesics,
    "hyperplan.neighbors._kernel_density.KernelDensity": _sums_of_kernels,
    "hyperplan.neighbors._modes.DensityModes": _sums_of_kernels,
    "hyperplan.neighbors._nadaraya_watson.BaseNadarayaWatson": _sums_of_kernels,
}
