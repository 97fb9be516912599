"""The order of OPTICS: core distances, then rows one by one, always the one that is reached at the least value.

Distances come from a tree for Minkowski metrics, which leaves out all that cannot be reached more easily than it was,
with a finite ``max_eps`` or without; else one row of distances is measured per step.  No matrix is made.
"""

import warnings
from typing import NamedTuple

import numpy as np

from hyperplan._base import Null, OneOf, Real
from hyperplan._math.space_tree import reduced_radius
from hyperplan.cluster import _dbscan_space as space_of
from hyperplan.cluster import _optics_kernels as k
from hyperplan.cluster._dbscan_space import Space, prepare_space
from hyperplan.cluster._optics_extract import SIZE, check_arguments, count_from

DIGITS = 15  # of core distances, as of reachabilities
GRAPH_PARAMS = {
    "min_samples": SIZE,
    "max_eps": Real(ge=0),
    **space_of.METRIC_PARAMS,
    "p": OneOf(Real(gt=0), Null),
}


class Order(NamedTuple):
    """Rows in order; core distances, reachabilities and predecessors are by row number."""

    ordering: np.ndarray
    core_distances: np.ndarray
    reachability: np.ndarray
    predecessor: np.ndarray


def order_rows(space: Space, min_samples, max_eps, n_jobs=None) -> Order:
    """The order of a prepared table.

    Parameters
    ----------
    space : Space
        The table, and how to search in it.
    min_samples : int
        Rows within the core distance, itself counted.
    max_eps : float
        Largest distance of neighbours.
    n_jobs : int, default=None
        Threads for the core distances; the order is made in one.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.cluster._dbscan_space import prepare_space
    >>> from hyperplan.cluster._optics_order import order_rows
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [10.0]])
    >>> order_rows(prepare_space(X, "euclidean", None, None, "auto"), 3, np.inf).core_distances
    array([2., 1., 1., 2., 8.])
    """
    n = space.index.X.shape[0]
    on_tree = space.kind == "tree" and space.index.metric != "haversine"
    tree = space_of.grow_space_tree(space, n_jobs=n_jobs) if on_tree else None
    core = space_of.core_distances(space, min_samples, n_jobs, tree)
    core[core > max_eps] = np.inf
    with np.errstate(over="ignore"):  # numbers beyond 1e293 have no fifteenth decimal
        core = np.where(np.isinf(core * 10.0**DIGITS), core, np.around(core, DIGITS))
    found = Order(np.empty(n, np.int64), core, np.full(n, np.inf), np.full(n, -1))
    if tree is not None:
        most = float(reduced_radius(tree, max_eps * space.index.scale, 1)[0])
        where, outputs = (tree.blocks, tree.order, tree.spans, tree.bounds), (found.reachability, found.predecessor)
        k.order_on_tree(space.rows, where, tree.rule, space.index.scale, core, most, *outputs, found.ordering)
        return found
    measure, heap = space_of.distances_to(space), np.empty(n, np.int64)
    place, sizes = np.full(n, k.WAITING), np.zeros(2, np.int64)
    for step in range(n):
        row = found.ordering[step] = k.next_row(found.reachability, heap, place, sizes)
        if core[row] < np.inf:
            outputs = found.reachability, found.predecessor, heap, place, sizes
            k.spread(*measure(row), row, core[row], float(max_eps), *outputs)
    return found


def compute_optics_graph(X, *, min_samples, max_eps, metric, p, metric_params, algorithm, leaf_size, n_jobs):
    """The order of OPTICS, as a function.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
        Rows, or their distances.
    min_samples : int > 1 or float between 0 and 1
        Rows, or their share, within the core distance of a row, itself counted.
    max_eps : float
        Largest distance of neighbours; infinity for all densities.
    metric : str or callable
        Distance.
    p : float
        Power of the Minkowski distance.
    metric_params : dict or None
        More parameters of the distance.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}
        How neighbours are found.
    leaf_size : int
        Accepted for compatibility.
    n_jobs : int or None
        Threads; None means all cores.

    Returns
    -------
    ordering : ndarray of shape (n_samples,)
        Row numbers in the order in which they are reached.
    core_distances : ndarray of shape (n_samples,)
        Distance at which each row becomes a core point; infinity beyond `max_eps`.
    reachability : ndarray of shape (n_samples,)
        What each row was reached at; infinity for rows that others start from.
    predecessor : ndarray of shape (n_samples,)
        Row it was reached from, or -1.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.cluster import compute_optics_graph
    >>> ordering, core, reach, before = compute_optics_graph(
    ...     np.array([[0.0], [1.0], [5.0]]), min_samples=2, max_eps=np.inf, metric="minkowski", p=2,
    ...     metric_params=None, algorithm="auto", leaf_size=30, n_jobs=None,
    ... )
    >>> reach
    array([inf,  1.,  4.])
    """
    values = dict(min_samples=min_samples, max_eps=max_eps, metric=metric, p=p, metric_params=metric_params)
    values.update(algorithm=algorithm, leaf_size=leaf_size, n_jobs=n_jobs)
    check_arguments("compute_optics_graph", GRAPH_PARAMS, values)
    min_samples = count_from(min_samples, X.shape[0], "min_samples")
    found = order_rows(prepare_space(X, metric, p, metric_params, algorithm, n_jobs), min_samples, max_eps, n_jobs)
    if np.isinf(found.reachability).all():
        warnings.warn(
            "All reachability values are inf. Set a larger max_eps or all data will be considered outliers.",
            UserWarning,
            stacklevel=2,
        )
    return tuple(found)
