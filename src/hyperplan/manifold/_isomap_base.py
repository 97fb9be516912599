"""What all maps of geodesic distances share: graph, bridges, shortest paths, scaling, and the place of new rows."""

import warnings
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    BaseEstimator,
    Certificate,
    Choice,
    ClassNamePrefixFeaturesOutMixin,
    Int,
    Null,
    OneOf,
    Real,
    TransformerMixin,
    check_is_fitted,
    check_params,
)
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math.shortest_paths import floyd_warshall, shortest_paths
from hyperplan._texts.extras import required
from hyperplan.decomposition import KernelPCA
from hyperplan.manifold import _isomap_kernels as k
from hyperplan.manifold._bridges import NO_BRIDGES, find_bridges, with_bridges
from hyperplan.manifold._graph import NeighbourGraph, check_one_rule
from hyperplan.manifold._scaling import SOLVERS, CentredSquares, residual_variances, scale_classically
from hyperplan.metrics import elbow
from hyperplan.neighbors._nearest_base import SEARCH_PARAMS

EXPLAINED = 0.01  # residual variance below which nothing is left to explain
QUERIES = 64  # new rows of one task: their distances from all rows of the fit are held
MAP_PARAMS = {
    "n_neighbors": OneOf(Int(ge=1), Null),
    "radius": OneOf(Real(ge=0), Null),
    "n_components": Int(ge=1),
    "eigen_solver": Choice(*SOLVERS),
    "tol": Real(ge=0),
    "max_iter": OneOf(Int(ge=1), Null),
    "neighbors_algorithm": Choice("auto", "brute", "kd_tree", "ball_tree", "approximate"),
    "n_jobs": SEARCH_PARAMS["n_jobs"],
    "metric": SEARCH_PARAMS["metric"],
    "p": Real(ge=1),
    "metric_params": SEARCH_PARAMS["metric_params"],
}


@dataclass(frozen=True)
class ResidualCurve:
    """Residual variance of maps into 1, 2, ... dimensions; where the curve bends is the dimension of the data.

    Attributes
    ----------
    residual : ndarray of shape (n_dimensions,)
        ``1 - correlation^2`` of geodesic and Euclidean distances.
    dimension : int
        The bend, by `hyperplan.metrics.elbow`: a rule of thumb, look at the curve as well.  A curve that starts below
        0.01 has no bend: the dimension is 1.
    """

    residual: np.ndarray
    dimension: int

    @property
    def dimensions(self):
        """1, 2, ..."""
        return np.arange(1, len(self.residual) + 1)

    def __str__(self):
        lines = [f"{d:3d}  {value:.4f}{'  <- bend' if d == self.dimension else ''}" for d, value in self._rows()]
        return "\n".join(["dimension, residual variance", *lines])

    def _rows(self):
        return zip(self.dimensions.tolist(), self.residual.tolist())

    def plot(self, ax=None):
        """Draw the curve with Matplotlib; returns the axes."""
        plt = required("matplotlib.pyplot")
        ax = plt.subplots()[1] if ax is None else ax
        ax.plot(self.dimensions, self.residual, marker="o")
        ax.axvline(self.dimension, linestyle=":", color="gray")
        ax.set(xlabel="dimension", ylabel="residual variance", xticks=self.dimensions)
        return ax


def make_curve(distances, coordinates, n_jobs=None) -> ResidualCurve:
    """The curve of the leading coordinates."""
    residual = residual_variances(distances, coordinates, n_jobs)
    if len(residual) < 3 or residual[0] <= EXPLAINED:
        return ResidualCurve(residual, int(np.argmax(residual <= max(EXPLAINED, residual.min()))) + 1)
    return ResidualCurve(residual, elbow(residual) + 1)


class GeodesicMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A map that keeps the lengths of shortest paths through a graph of neighbours."""

    _reconnect = "all_pairs"
    _silent = False  # whether bridges are what the caller asked for

    def fit(self, X, y=None):
        """Find the map.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Rows, or their distances; also a tree, or a fitted search for neighbours.
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
        rows, labels = self._rows_of(X, y)
        self.graph_ = self._make_graph().fit(rows)
        self._take_names()
        # 3. maths
        edges = self._weighted(self.graph_.roads(), labels)
        bridges = self._find_bridges(rows)
        distances = self._geodesics(with_bridges(edges, self._weighted_bridges(bridges)), labels)
        options = {"solver": self.eigen_solver, "tol": self.tol, "max_iter": self.max_iter, "n_jobs": self.n_jobs}
        scaling = scale_classically(distances, self.n_components, **options)
        # 4. attributes
        self.dist_matrix_, self.bridges_, self.bridge_lengths_ = distances, bridges.pairs, bridges.lengths
        self._keep(scaling)
        return self

    def _rows_of(self, X, y):
        """The rows of the graph, and their labels where some are used."""
        return X, None

    def _make_graph(self):
        return NeighbourGraph(
            n_neighbors=self.n_neighbors,
            radius=self.radius,
            algorithm=self.neighbors_algorithm,
            metric=self.metric,
            p=self.p,
            metric_params=self.metric_params,
            n_jobs=self.n_jobs,
        )

    def _take_names(self):
        self.n_features_in_ = self.graph_.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(self.graph_, "feature_names_in_"):
            self.feature_names_in_ = self.graph_.feature_names_in_

    def _weighted(self, edges, labels):
        """Lengths of the edges as paths count them."""
        return edges

    def _weighted_bridges(self, bridges):
        return bridges

    def _find_bridges(self, X):
        """What joins the components; nobody adds edges without saying so."""
        count = self.graph_.n_connected_components_
        if count == 1:
            return NO_BRIDGES
        if self.metric == "precomputed" and sp.issparse(X):
            raise RuntimeError(
                f"The number of connected components of the neighbors graph is {count} > 1. The graph cannot be "
                f"completed with metric='precomputed' and a sparse matrix, and {type(self).__name__} cannot be fitted. "
                "Increase the number of neighbors, or give the full matrix of distances."
            )
        bridges = find_bridges(self.nbrs_, self.graph_.component_labels_, self._reconnect, self.n_jobs)
        if not self._silent:
            warnings.warn(
                f"The number of connected components of the neighbors graph is {count} > 1: {len(bridges.pairs)} links "
                "were added (see bridges_), and distances between components are guesses. Increase the number of "
                "neighbors, or use RISIMAP if the components are real.",
                stacklevel=3,
            )
        return bridges

    def _geodesics(self, edges, labels):
        """All lengths of shortest paths: the one n x n matrix of the fit."""
        n, dtype = edges.n_nodes, self._dtype()
        need = float(dtype.itemsize) * n * n
        require_memory(
            need, f"The geodesic distances of {n} rows", "use LandmarkIsomap, whose memory is linear in rows"
        )
        if getattr(self, "path_method", "auto") == "FW":
            return floyd_warshall(edges, dtype=dtype)
        return shortest_paths(edges, dtype=dtype, n_jobs=self.n_jobs)

    def _dtype(self):
        return np.dtype(np.float32 if self.nbrs_._fit_X.dtype == np.float32 else np.float64)

    def _keep(self, scaling):
        found, dtype = len(scaling.values), self._dtype()
        if found < self.n_components:
            warnings.warn(
                f"n_components={self.n_components}, but only {found} eigenvalue(s) of the {len(scaling.vectors)} rows "
                f"are positive: the map has {found} coordinate(s).",
                stacklevel=3,
            )
        self._scaling, self.n_iter_ = scaling, scaling.n_reads
        self.residual_variance_ = residual_variances(self._square, scaling.coordinates, self.n_jobs)
        self.embedding_ = self._coordinates().astype(dtype)
        self.kernel_pca_ = self._as_kernel_pca(dtype)
        self.certificate_ = Certificate(
            kind="eigen residual",
            guarantee="each value is an eigenvalue of the doubly centred squared geodesic distances, but for this "
            "relative error",
            value=scaling.residual,
            bound=max(1e-8, self.tol),
            reference="Parlett (1998), The Symmetric Eigenvalue Problem, theorem 4.5.1",
            details={
                "components of the graph": int(self.graph_.n_connected_components_),
                "bridges": len(self.bridges_),
                "residual variance": float(self.residual_variance_[-1]),
            },
        )

    def _as_kernel_pca(self, dtype):
        """The same map as a kernel PCA of ``-1/2 dist_matrix_^2``, without a copy of that matrix."""
        model = KernelPCA(
            n_components=self.n_components,
            kernel="precomputed",
            eigen_solver=self.eigen_solver,
            tol=self.tol,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
        )
        model.eigenvalues_, model.eigenvectors_ = (
            self._scaling.values.astype(dtype),
            self._scaling.vectors.astype(dtype),
        )
        model._row_means, model.n_features_in_ = -0.5 * self._scaling.means, len(self._scaling.means)
        model.gamma_ = 1.0 / max(model.n_features_in_, 1)
        return model

    def _coordinates(self):
        """Coordinates of the rows of the fit."""
        return self._scaling.coordinates

    @property
    def _square(self):
        """The distances that are scaled."""
        return self.dist_matrix_

    @property
    def _table(self):
        """Distances from each row of the fit that new rows may hang on."""
        return self.dist_matrix_

    @property
    def nbrs_(self):
        """The search for neighbours."""
        return self.graph_.nbrs_

    @property
    def _n_features_out(self):
        return self.embedding_.shape[1]

    def fit_transform(self, X, y=None):
        """Find the map and the coordinates of the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Rows, or their distances; also a tree, or a fitted search for neighbours.
        y : None
            Not used.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates.
        """
        return self.fit(X, y).embedding_

    def transform(self, X):
        """Coordinates of rows: their distances go through their neighbours among the rows of the fit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), or (n_queries, n_samples) if precomputed
            Rows.

        Returns
        -------
        ndarray of shape (n_queries, n_components)
            Coordinates; rows of the fit get those they have.
        """
        check_is_fitted(self)
        X = self._queries_of(X)
        links, table = self._weighted_links(self.graph_.links(X)), self._table
        n = len(links.starts) - 1
        out = np.empty((n, self._n_features_out))

        def run(part):
            distances = np.empty((part.stop - part.start, table.shape[1]))
            k.link_rows(table, links.starts[part.start :], links.rows, links.distances, distances)
            out[part] = self._scaling.place(distances)

        thread_map(run, spans(n, QUERIES), self.n_jobs)
        is_narrow = getattr(X, "dtype", None) == np.float32
        return out.astype(np.float32) if is_narrow else out

    def _queries_of(self, X):
        return X

    def _weighted_links(self, links):
        return links

    def reconstruction_error(self):
        """Frobenius norm of the difference of the centred Gram matrices of geodesics and of the map, over n.

        Returns
        -------
        float
            ``|B - Y Y'| / n`` with ``B = -1/2 H (A o A) H`` and the coordinates Y.
        """
        check_is_fitted(self)
        whole = CentredSquares(self._square, self.n_jobs).squared_norm()
        rest = whole - float((self._scaling.values**2).sum())
        return float(np.sqrt(max(rest, 0.0)) / len(self._square))

    def residual_curve(self, max_dimension=10) -> ResidualCurve:
        """Residual variance of maps into 1 to `max_dimension` dimensions, and where the curve bends.

        Parameters
        ----------
        max_dimension : int, default=10
            How far to look.

        Returns
        -------
        ResidualCurve
            `residual`, `dimension`, `plot()`.
        """
        check_is_fitted(self)
        scaling = self._scaling
        if len(scaling.values) < max_dimension:
            scaling = scale_classically(self._square, max_dimension, tol=self.tol, n_jobs=self.n_jobs)
        return make_curve(self._square, scaling.coordinates[:, :max_dimension], self.n_jobs)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.metric == "precomputed"
        return tags
