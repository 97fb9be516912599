"""RISIMAP: Isomap for graphs that fall apart, its components joined by the shortest missing links.

Steps: equal rows become one; graph of neighbours (union); links that join the components (`reconnect`); shortest paths
A through edges and links; classical scaling of A.  If the graph is connected there is nothing to join, and the map is
that of Isomap of the different rows; under the sampling conditions for which Isomap is known to recover a surface the
graph is connected with high probability, so that RISIMAP inherits the guarantee.  On thinner data a link may join wrong
places.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan._base import Choice, check_design
from hyperplan.manifold._isomap_base import MAP_PARAMS, GeodesicMap


class RISIMAP(GeodesicMap):
    """Reconnected independent subgraphs Isomap.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        Neighbours of each row; None if `radius` is given.
    radius : float or None, default=None
        Largest distance of neighbours, inclusive.
    n_components : int, default=2
        Number of coordinates.
    reconnect : {"mst", "all_pairs"}, default="mst"
        "mst" adds the shortest link between two components until one is left; they are edges of the minimum spanning
        tree of the rows.  "all_pairs" adds the shortest link of each pair of components.
    eigen_solver : {"auto", "arpack", "dense", "householder-ql", "householder-qr", "givens-ql", "givens-qr", \
"jacobi"}, default="auto"
        As in `Isomap`.
    tol : float, default=0
        Relative residual of the iteration (0 means 1e-10).
    max_iter : int, default=None
        Most products of the iteration.
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"}, default="auto"
        Search for neighbours.
    n_jobs : int, default=None
        Threads; they change no bit.
    metric : str or callable, default="minkowski"
        Distance, or "precomputed".
    p : float, default=2
        Power of the Minkowski distance.
    metric_params : dict, default=None
        More parameters of the distance.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of all rows; fewer columns (and a warning) if fewer eigenvalues are positive.
    dist_matrix_ : ndarray of shape (n_different, n_different)
        Lengths of the shortest paths between the different rows.
    unique_rows_ : ndarray of shape (n_different,)
        The first row of each kind: number i of `dist_matrix_`, `graph_` and `bridges_` is row ``unique_rows_[i]``.
    row_map_ : ndarray of shape (n_samples,)
        The number of each row among the different ones.
    graph_ : NeighbourGraph
        The graph before it was joined; its `report()` tells what looks wrong.
    nbrs_ : NearestNeighbors
        The search for neighbours.
    kernel_pca_ : KernelPCA
        The same map as kernel PCA of ``-0.5 * dist_matrix_**2``.
    components_ : ndarray of shape (n_samples,)
        Component of each row before it was joined.
    bridges_ : ndarray of shape (n_bridges, 2)
        The links, shortest first; with "mst" one less than there are components.
    bridge_lengths_ : ndarray of shape (n_bridges,)
        Their lengths: the distances of the two rows, never stretched.
    residual_variance_ : ndarray of shape (n_components,)
        Share of the variance of geodesic distances that 1, 2, ... coordinates leave unexplained.
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
    Payette (2004), master's thesis on the reduction of dimension by RISIMAP and Isostretch, chapter 6.

    Examples
    --------
    >>> from hyperplan.manifold import RISIMAP
    >>> model = RISIMAP(n_neighbors=None, radius=1.0, n_components=1).fit([[0], [1], [2], [10], [11], [12]])
    >>> model.bridges_.tolist(), model.bridge_lengths_.tolist(), float(model.dist_matrix_[0, 5])
    ([[2, 3]], [8.0], 12.0)
    """

    _params = {**MAP_PARAMS, "reconnect": Choice("mst", "all_pairs")}
    _silent = True

    def __init__(
        self,
        n_neighbors=5,
        radius=None,
        n_components=2,
        *,
        reconnect="mst",
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        neighbors_algorithm="auto",
        n_jobs=None,
        metric="minkowski",
        p=2,
        metric_params=None,
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_components = n_components
        self.reconnect = reconnect
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.neighbors_algorithm = neighbors_algorithm
        self.n_jobs = n_jobs
        self.metric = metric
        self.p = p
        self.metric_params = metric_params

    @property
    def _reconnect(self):
        return self.reconnect

    @property
    def components_(self):
        """Component of each row before it was joined."""
        return self.graph_.component_labels_[self.row_map_]

    def _rows_of(self, X, y):
        X = check_design(self, X, reset=True, accept_sparse="csr", order="C")
        if self.metric == "precomputed":
            self.unique_rows_ = self.row_map_ = np.arange(X.shape[0])
            return X, self._labels_of(y, X.shape[0])
        self.unique_rows_, self.row_map_ = different_rows(X)
        n = len(self.unique_rows_)
        if self.n_neighbors is not None and self.n_neighbors >= n:
            raise ValueError(
                f"Expected n_neighbors < n_samples_fit, but n_neighbors = {self.n_neighbors}, and n_samples = "
                f"{X.shape[0]} rows of which {n} are different: ask for fewer neighbours."
            )
        return X if n == X.shape[0] else X[self.unique_rows_], self._labels_of(y, X.shape[0])

    def _labels_of(self, y, n):
        """Labels of the different rows, where some are used."""
        return None

    def _take_names(self):
        """The columns were seen before equal rows became one."""

    def _queries_of(self, X):
        return check_design(self, X, accept_sparse="csr", order="C")

    def _keep(self, scaling):
        super()._keep(scaling)
        self.embedding_ = self.embedding_[self.row_map_]


def different_rows(X):
    """The first row of each kind, by rising number, and the number of each row's kind in that list."""
    if sp.issparse(X):
        X = sp.csr_array(X, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        bounds = list(zip(X.indptr[:-1], X.indptr[1:]))
        keys = [X.indices[a:b].tobytes() + b"|" + X.data[a:b].tobytes() for a, b in bounds]
        known: dict = {}
        first_of = np.array([known.setdefault(key, i) for i, key in enumerate(keys)])
    else:
        rows = np.ascontiguousarray(X + 0.0)  # minus zero is zero
        kinds = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
        _, first, inverse = np.unique(kinds, return_index=True, return_inverse=True)
        first_of = first[inverse]
    unique = np.unique(first_of)
    return unique, np.searchsorted(unique, first_of)
