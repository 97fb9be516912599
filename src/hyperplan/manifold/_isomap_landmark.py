"""Landmark Isomap: shortest paths to a few rows only, in memory that is linear in the number of rows.

The m landmarks are scaled classically (an m x m eigenvalue problem); all other rows are placed by their distances D
from the landmarks: ``y = -1/2 L (D^2 - mean of the landmarks' squared distances)``, the rows of L being
``v' / sqrt(value)``.  This is the out-of-sample formula of Isomap with the landmarks as rows of the fit.
"""

import numpy as np

from hyperplan._base import ArrayLike, Choice, Int, OneOf, Seed, check_params, check_random_state, seed_from
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math.shortest_paths import make_room, paths_from, shortest_paths
from hyperplan.manifold import _isomap_kernels as k
from hyperplan.manifold._bridges import with_bridges
from hyperplan.manifold._graph import check_one_rule
from hyperplan.manifold._isomap_base import MAP_PARAMS, GeodesicMap
from hyperplan.manifold._scaling import scale_classically

CHUNK = 64  # landmarks whose paths are held before they are transposed
ROWS = 4096  # placed at a time


class LandmarkIsomap(GeodesicMap):
    """Isomap by the distances from a few landmarks, for many rows.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        Neighbours of each row; None if `radius` is given.
    radius : float or None, default=None
        Largest distance of neighbours.
    n_components : int, default=2
        Number of coordinates.
    n_landmarks : int, default=200
        How many landmarks (at most as many as rows); not used if they are listed.
    landmarks : {"maxmin", "random", "clusters"} or array-like of int, default="maxmin"
        "maxmin" takes the row farthest from all landmarks so far, again and again; "clusters" takes the centres of
        K-means, which are no rows themselves but averages; or the numbers of the rows to take.
    eigen_solver : {"auto", "arpack", "dense", "householder-ql", "householder-qr", "givens-ql", "givens-qr", \
"jacobi"}, default="auto"
        As in `Isomap`, for the landmarks.
    tol : float, default=0
        Relative residual of the iteration (0 means 1e-10).
    max_iter : int, default=None
        Most products of the iteration.
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"}, default="auto"
        Search for neighbours.
    random_state : int, RandomState instance or None, default=None
        Seed of the first landmark, of random ones and of K-means.
    n_jobs : int, default=None
        Threads; they change no bit.
    metric : str or callable, default="minkowski"
        Distance, or "precomputed" (not with "clusters").
    p : float, default=2
        Power of the Minkowski distance.
    metric_params : dict, default=None
        More parameters of the distance.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates; fewer columns (and a warning) if fewer eigenvalues are positive.
    landmarks_ : ndarray of shape (n_landmarks,) or (n_landmarks, n_features)
        Row numbers of the landmarks; for "clusters" the centres.
    geodesics_ : ndarray of shape (n_samples, n_landmarks)
        Lengths of the shortest paths to the landmarks.
    landmark_distances_ : ndarray of shape (n_landmarks, n_landmarks)
        Those between landmarks: what is scaled, and what `residual_variance_` and `reconstruction_error` are about.
    graph_ : NeighbourGraph
        The graph; its `report()` tells what looks wrong.
    nbrs_ : NearestNeighbors
        The search for neighbours.
    kernel_pca_ : KernelPCA
        The same map as kernel PCA of ``-0.5 * landmark_distances_**2``.
    bridges_ : ndarray of shape (n_bridges, 2)
        Links that were added to join components, with a warning; empty for a connected graph.
    bridge_lengths_ : ndarray of shape (n_bridges,)
        Their lengths.
    residual_variance_ : ndarray of shape (n_components,)
        Share of the variance of distances between landmarks that 1, 2, ... coordinates leave unexplained.
    certificate_ : Certificate
        Largest residual of the eigenvectors; components, bridges, residual variance.
    n_iter_ : int
        Products of the iteration; 1 for a direct solver.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    de Silva, Tenenbaum (2004), Sparse multidimensional scaling using landmark points, technical report, Stanford.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import Isomap, LandmarkIsomap
    >>> X = np.random.default_rng(0).uniform(size=(80, 2))
    >>> few = LandmarkIsomap(n_landmarks=80, random_state=0).fit_transform(X)  # all rows are landmarks
    >>> bool(np.allclose(np.abs(few), np.abs(Isomap().fit_transform(X))))
    True
    """

    _params = {
        **MAP_PARAMS,
        "n_landmarks": Int(ge=1),
        "landmarks": OneOf(Choice("maxmin", "random", "clusters"), ArrayLike),
        "random_state": Seed,
    }
    _reconnect = "mst"

    def __init__(
        self,
        n_neighbors=5,
        radius=None,
        n_components=2,
        *,
        n_landmarks=200,
        landmarks="maxmin",
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        neighbors_algorithm="auto",
        random_state=None,
        n_jobs=None,
        metric="minkowski",
        p=2,
        metric_params=None,
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.neighbors_algorithm = neighbors_algorithm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.metric = metric
        self.p = p
        self.metric_params = metric_params

    def fit(self, X, y=None):
        """Find the map.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Rows, or their distances.
        y : None
            Not used.

        Returns
        -------
        self
            The fitted map.
        """
        # 1. parameters
        check_params(self)
        check_one_rule(self)
        # 2. data: the graph checks them
        self.graph_ = self._make_graph().fit(X)
        self._take_names()
        # 3. maths
        bridges = self._find_bridges(X)
        edges = with_bridges(self.graph_.roads(), bridges)
        self.landmarks_, self.geodesics_, self.landmark_distances_ = self._measure(edges)
        options = {"solver": self.eigen_solver, "tol": self.tol, "max_iter": self.max_iter, "n_jobs": self.n_jobs}
        scaling = scale_classically(self.landmark_distances_, self.n_components, **options)
        # 4. attributes
        self.bridges_, self.bridge_lengths_ = bridges.pairs, bridges.lengths
        self._keep(scaling)
        return self

    def _measure(self, edges):
        """The landmarks, the paths from all rows to them, and those between them."""
        n, listed = edges.n_nodes, None if isinstance(self.landmarks, str) else np.asarray(self.landmarks)
        count = min(self.n_landmarks, n) if listed is None else len(listed)
        advice = "take fewer landmarks"
        require_memory(8.0 * n * count, f"The paths from {n} rows to {count} landmarks", advice)
        if listed is not None:
            _check_listed(listed, n)
            chosen, table = listed, self._tables(edges, listed)
        elif self.landmarks == "random":
            chosen = np.sort(check_random_state(self.random_state).permutation(n)[:count])
            table = self._tables(edges, chosen)
        elif self.landmarks == "maxmin":
            chosen, table = _farthest(edges, count, check_random_state(self.random_state).randint(n))
        else:
            return self._measure_centres(edges, count)
        return chosen, table, np.ascontiguousarray(table[chosen])

    def _tables(self, edges, chosen):
        table = np.empty((edges.n_nodes, len(chosen)))
        for part in spans(len(chosen), CHUNK):
            table[:, part] = shortest_paths(edges, chosen[part], n_jobs=self.n_jobs).T
        return table

    def _measure_centres(self, edges, count):
        """Centres of clusters hang on their neighbours as new rows do."""
        from hyperplan.cluster import KMeans

        if self.metric == "precomputed":
            raise ValueError('landmarks="clusters" needs rows and not precomputed distances: use "maxmin"')
        seed = seed_from(self.random_state) % 2**31
        rows = self.nbrs_._fit_X
        centres = KMeans(n_clusters=count, n_init=1, random_state=seed).fit(rows).cluster_centers_
        links = self.graph_.links(np.ascontiguousarray(centres, dtype=rows.dtype))
        table, room = np.empty((edges.n_nodes, count)), make_room(edges.n_nodes)
        for c in range(count):
            part = slice(links.starts[c], links.starts[c + 1])
            table[:, c] = paths_from(edges, links.rows[part], links.distances[part], room)
        between = np.empty((count, count))
        k.link_rows(table, links.starts, links.rows, links.distances, between)
        np.fill_diagonal(between, 0.0)
        return centres, table, between

    def _coordinates(self):
        parts = thread_map(lambda rows: self._scaling.place(self.geodesics_[rows]), self._spans(), self.n_jobs)
        return np.concatenate(parts)

    def _spans(self):
        return spans(len(self.geodesics_), ROWS)

    @property
    def _square(self):
        return self.landmark_distances_

    @property
    def _table(self):
        return self.geodesics_


def _check_listed(listed, n):
    is_list = listed.ndim == 1 and listed.size > 0 and listed.dtype.kind in "iu"
    if not is_list or listed.min() < 0 or listed.max() >= n or len(np.unique(listed)) < len(listed):
        raise ValueError(f"landmarks must be different row numbers between 0 and {n - 1}, or the name of a choice")


def _farthest(edges, count, first):
    """Row after row, the one with the longest shortest path to all before; and these paths."""
    room, nearest = make_room(edges.n_nodes), np.full(edges.n_nodes, np.inf)
    chosen, table = np.empty(count, np.int64), np.empty((edges.n_nodes, count))
    for c in range(count):
        chosen[c] = first
        table[:, c] = paths_from(edges, [first], [0.0], room)
        np.minimum(nearest, table[:, c], out=nearest)
        nearest[first] = -1.0  # equal rows are zero away, and come after all others
        first = int(np.argmax(nearest))
    return chosen, table
