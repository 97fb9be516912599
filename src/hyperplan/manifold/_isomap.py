"""Isomap: coordinates whose distances are those along the surface that the rows lie on.

Objective: ``min |B - Y Y'|`` over coordinates Y with ``B = -1/2 H (A o A) H``, A the lengths of the shortest paths in
the graph of neighbours and H = I - 11'/n.  The answer is ``Y = V sqrt(values)`` with the leading eigenpairs of B:
classical scaling of A.  With all rows as neighbours A is the matrix of distances, and the map is classical scaling.
"""

import numpy as np

from hyperplan._base import Choice
from hyperplan.manifold._graph import mean_distances
from hyperplan.manifold._isomap_base import MAP_PARAMS, GeodesicMap


class Isomap(GeodesicMap):
    """Map that keeps geodesic distances.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        Neighbours of each row; None if `radius` is given.
    radius : float or None, default=None
        Largest distance of neighbours.
    n_components : int, default=2
        Number of coordinates.
    eigen_solver : {"auto", "arpack", "dense", "householder-ql", "householder-qr", "givens-ql", "givens-qr", \
"jacobi"}, default="auto"
        "dense" asks LAPACK, "arpack" runs a block Lanczos iteration on the matrix of distances, which needs no second
        one, the others are those of `hyperplan.linalg`; "auto" iterates for few components of many rows.
    tol : float, default=0
        Relative residual of the iteration (0 means 1e-10).
    max_iter : int, default=None
        Most products of the iteration.
    path_method : {"auto", "FW", "D"}, default="auto"
        "FW" is Floyd's and Warshall's algorithm, the others that of Dijkstra, from many sources at a time.
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
        Coordinates; fewer columns (and a warning) if fewer eigenvalues are positive.
    dist_matrix_ : ndarray of shape (n_samples, n_samples)
        Lengths of the shortest paths.
    graph_ : NeighbourGraph
        The graph; its `report()` tells what looks wrong.
    nbrs_ : NearestNeighbors
        The search for neighbours.
    kernel_pca_ : KernelPCA
        The same map as kernel PCA of ``-0.5 * dist_matrix_**2``.
    bridges_ : ndarray of shape (n_bridges, 2)
        Links that were added to join components, with a warning; empty for a connected graph.
    bridge_lengths_ : ndarray of shape (n_bridges,)
        Their lengths.
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
    Tenenbaum, de Silva, Langford (2000), A global geometric framework for nonlinear dimensionality reduction, Science.
    Bengio et al. (2004), Out-of-sample extensions for LLE, Isomap, MDS, eigenmaps, and spectral clustering, NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import Isomap
    >>> angle = np.linspace(0.0, 4.0, 60)
    >>> spiral = np.column_stack([angle * np.cos(angle), angle * np.sin(angle)])
    >>> line = Isomap(n_neighbors=1, n_components=1).fit_transform(spiral)
    >>> steps = np.linalg.norm(np.diff(spiral, axis=0), axis=1)
    >>> bool(np.allclose(np.abs(np.diff(line[:, 0])), steps))  # the spiral is rolled out
    True
    """

    _params = {**MAP_PARAMS, "path_method": Choice("auto", "FW", "D")}

    def __init__(
        self,
        *,
        n_neighbors=5,
        radius=None,
        n_components=2,
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        path_method="auto",
        neighbors_algorithm="auto",
        n_jobs=None,
        metric="minkowski",
        p=2,
        metric_params=None,
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_components = n_components
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.path_method = path_method
        self.neighbors_algorithm = neighbors_algorithm
        self.n_jobs = n_jobs
        self.metric = metric
        self.p = p
        self.metric_params = metric_params


class CIsomap(Isomap):
    """Conformal Isomap: edges are measured in units of the local spacing of rows before paths are.

    An edge from i to j has the length ``d(i, j) / sqrt(M(i) M(j))``, M being the mean distance to the neighbours.
    Where a surface was stretched by a factor that changes from place to place while the rows were evenly spread
    before, this takes the factor out again.  Parameters and attributes are those of `Isomap`.

    Attributes
    ----------
    spacings_ : ndarray of shape (n_samples,)
        M.

    References
    ----------
    de Silva, Tenenbaum (2003), Global versus local methods in nonlinear dimensionality reduction, NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import CIsomap
    >>> line = (1.2 ** np.arange(30.0))[:, None]  # evenly spaced, then stretched
    >>> steps = np.diff(CIsomap(n_neighbors=2, n_components=1).fit_transform(line)[:, 0])[2:-2]
    >>> bool(np.ptp(steps) < 0.02 * abs(steps.mean()))
    True
    """

    def _weighted(self, edges, labels):
        self.spacings_ = self.graph_.neighbour_means()
        roots = np.sqrt(self.spacings_)
        start = np.repeat(np.arange(edges.n_nodes), np.diff(edges.starts))
        return edges._replace(lengths=edges.lengths / (roots[start] * roots[edges.ends]))

    def _weighted_bridges(self, bridges):
        i, j = bridges.pairs.T
        return bridges._replace(lengths=bridges.lengths / np.sqrt(self.spacings_[i] * self.spacings_[j]))

    def _weighted_links(self, links):
        own = np.repeat(mean_distances(links), np.diff(links.starts))
        return links._replace(distances=links.distances / np.sqrt(own * self.spacings_[links.rows]))
