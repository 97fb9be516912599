"""Clusters from the order of OPTICS: a cut of its plot at one level, or the valleys between steep parts."""

import numpy as np

from hyperplan._base import Bool, Int, InvalidParameterError, Is, Null, OneOf, Real
from hyperplan.cluster import _optics_kernels as k

ARRAY = Is(lambda value: isinstance(value, np.ndarray), "an instance of 'numpy.ndarray'")


def _is_share(value):
    return isinstance(value, float | np.floating) and 0 <= value <= 1


SIZE = OneOf(Int(ge=2), Is(_is_share, "a float in the range [0.0, 1.0]"))
ROOM = 1024  # clusters there is room for at first


def check_arguments(function, rules, values):
    """Raise `InvalidParameterError` for the first argument of a function that breaks its rule."""
    for name, rule in rules.items():
        if not rule(values[name]):
            raise InvalidParameterError(
                f"The {name!r} parameter of {function} must be {rule}. Got {values[name]!r} instead."
            )


def count_from(size, n_samples, name):
    """A number of rows from a number or a share of them; at least two."""
    if size > n_samples:
        raise ValueError(
            f"{name} must be no greater than the number of samples ({n_samples}). Got {size}: with n_samples = "
            f"{n_samples} use a smaller one"
        )
    return max(2, int(size * n_samples)) if size <= 1 else int(size)


def cluster_optics_dbscan(*, reachability, core_distances, ordering, eps):
    """Clusters at one level of the reachability plot: those of DBSCAN with this radius, up to border points.

    Parameters
    ----------
    reachability : ndarray of shape (n_samples,)
        Reachability of the rows (``reachability_``).
    core_distances : ndarray of shape (n_samples,)
        Distances at which rows become core points (``core_distances_``).
    ordering : ndarray of shape (n_samples,)
        Row numbers in order (``ordering_``).
    eps : float
        The level, at most the ``max_eps`` of the order.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Cluster of each row, -1 for noise.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.cluster import OPTICS, cluster_optics_dbscan
    >>> model = OPTICS(min_samples=2).fit(np.array([[0.0], [1.0], [2.0], [9.0], [10.0]]))
    >>> cluster_optics_dbscan(
    ...     reachability=model.reachability_,
    ...     core_distances=model.core_distances_,
    ...     ordering=model.ordering_,
    ...     eps=3.0,
    ... )
    array([0, 0, 0, 1, 1])
    """
    values = dict(reachability=reachability, core_distances=core_distances, ordering=ordering, eps=eps)
    rules = {**dict.fromkeys(("reachability", "core_distances", "ordering"), ARRAY), "eps": Real(ge=0)}
    check_arguments("cluster_optics_dbscan", rules, values)
    is_far, is_core = reachability > eps, core_distances <= eps
    labels = np.empty(len(core_distances), dtype=np.int64)
    labels[ordering] = np.cumsum((is_far & is_core)[ordering]) - 1
    labels[is_far & ~is_core] = -1
    return labels


def cluster_optics_xi(
    *,
    reachability,
    predecessor,
    ordering,
    min_samples,
    min_cluster_size=None,
    xi=0.05,
    predecessor_correction=True,
):
    """Clusters as valleys of the reachability plot between steep areas, nested in each other.

    Parameters
    ----------
    reachability : ndarray of shape (n_samples,)
        Reachability of the rows (``reachability_``).
    predecessor : ndarray of shape (n_samples,)
        Rows that they were reached from (``predecessor_``).
    ordering : ndarray of shape (n_samples,)
        Row numbers in order (``ordering_``).
    min_samples : int > 1 or float between 0 and 1
        As for `OPTICS`: a steep area has at most so many flat points in a row.
    min_cluster_size : int > 1 or float between 0 and 1, default=None
        Smallest size of a cluster; None means `min_samples`.
    xi : float between 0 and 1, default=0.05
        A point is steep if the next one is lower or higher by this share at least.
    predecessor_correction : bool, default=True
        Whether points at the end of a cluster that were not reached from inside are left out.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Cluster of each row, of those that contain no other; -1 for rows in none.
    clusters : ndarray of shape (n_clusters, 2)
        First and last place in the order of each cluster, smaller ones before those that contain them.

    References
    ----------
    Ankerst, Breunig, Kriegel, Sander (1999), OPTICS: ordering points to identify the clustering structure, SIGMOD,
    figure 19.  Schubert, Gertz (2018), Improving the cluster structure extracted from OPTICS plots, LWDA, algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.cluster import OPTICS, cluster_optics_xi
    >>> model = OPTICS(min_samples=2).fit(np.array([[1, 2], [2, 5], [3, 6], [8, 7], [8, 8], [7, 3]]))
    >>> cluster_optics_xi(
    ...     reachability=model.reachability_,
    ...     predecessor=model.predecessor_,
    ...     ordering=model.ordering_,
    ...     min_samples=2,
    ... )[1]
    array([[0, 2],
           [3, 5],
           [0, 5]])
    """
    values = dict(
        reachability=reachability,
        predecessor=predecessor,
        ordering=ordering,
        min_samples=min_samples,
        min_cluster_size=min_cluster_size,
        xi=xi,
        predecessor_correction=predecessor_correction,
    )
    rules = {
        **dict.fromkeys(("reachability", "predecessor", "ordering"), ARRAY),
        "min_samples": SIZE,
        "min_cluster_size": OneOf(SIZE, Null),
        "xi": Real(ge=0, le=1),
        "predecessor_correction": Bool,
    }
    check_arguments("cluster_optics_xi", rules, values)
    n = len(reachability)
    min_samples = count_from(min_samples, n, "min_samples")
    size = min_samples if min_cluster_size is None else count_from(min_cluster_size, n, "min_cluster_size")
    places = np.empty(n + 1, np.int64)
    places[ordering], places[-1] = np.arange(n), -1  # a predecessor of -1 has the place -1
    plot = np.append(np.asarray(reachability, dtype=np.float64)[ordering], np.inf)
    before = places[np.asarray(predecessor, dtype=np.int64)[ordering]]
    options = 1.0 - float(xi), min_samples, size, bool(predecessor_correction)
    clusters = np.empty((ROOM, 2), np.int64)
    count = k.steep_clusters(plot, before, *options, clusters)
    if count > ROOM:
        clusters = np.empty((count, 2), np.int64)
        k.steep_clusters(plot, before, *options, clusters)
    clusters = clusters[:count].copy()
    found, labels = np.full(n, -1, np.int64), np.empty(n, np.int64)
    k.label_places(clusters, found)
    labels[ordering] = found
    return labels, clusters
