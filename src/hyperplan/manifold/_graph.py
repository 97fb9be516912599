"""The graph of neighbours under all maps: who is near whom, whether it holds together, and what looks wrong in it.

An edge joins i and j if one is among the K nearest of the other, or if they are within a radius: the union, whichever
side found it.  Only the union keeps the promise that each row has K neighbours.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hyperplan._base import BaseEstimator, Choice, Int, Null, OneOf, Real, check_is_fitted, check_params
from hyperplan._core.memory import human_bytes
from hyperplan._math.shortest_paths import Roads, as_matrix, cut_edges, long_detours, roads
from hyperplan._math.space_tree import Lists
from hyperplan.neighbors import NearestNeighbors
from hyperplan.neighbors._nearest_base import K_SEARCH_PARAMS, sparse_rows

EQUAL = 1e-9  # mean logarithm of ratios of distances below which neighbours are all equally far
SAME = 1e-6  # share of the distance of the farthest neighbour below which a row equals another
DETOUR = 5.0  # times its own length: an edge whose ends have no shorter way round is suspect


@dataclass(frozen=True)
class GraphReport:
    """The health of a graph of neighbours.

    Attributes
    ----------
    n_nodes, n_edges : int
        Size; each edge counts once.
    component_sizes : ndarray of int
        Nodes of each connected component, largest first.
    cut_edges : ndarray of shape (n_cut, 2)
        Edges that alone hold two parts together (graph theory calls them bridges).
    cut_sizes : ndarray of int
        Nodes in the smaller of the two parts.
    suspects : ndarray of shape (n_suspects, 2)
        Edges that may be short circuits between parts of a surface that only pass near each other.
    suspect_test : str
        By which test.
    dimension : float
        Estimate of the intrinsic dimension from the distances of neighbours.
    graph_bytes, geodesic_bytes : int
        Memory of the graph, and of the matrix of all shortest paths.
    missed : float
        Estimated share of neighbours that an approximate search missed, else 0.
    """

    n_nodes: int
    n_edges: int
    component_sizes: np.ndarray
    cut_edges: np.ndarray
    cut_sizes: np.ndarray
    suspects: np.ndarray
    suspect_test: str
    dimension: float
    graph_bytes: int
    geodesic_bytes: int
    missed: float = 0.0

    @property
    def n_components(self) -> int:
        """Number of connected components."""
        return len(self.component_sizes)

    @property
    def is_connected(self) -> bool:
        """Whether all nodes can be reached from each other."""
        return self.n_components <= 1

    def __str__(self):
        sizes = ", ".join(map(str, self.component_sizes[:5])) + (", ..." if self.n_components > 5 else "")
        lines = [
            f"graph of {self.n_nodes} rows and {self.n_edges} edges, {human_bytes(self.graph_bytes)} "
            f"(all shortest paths: {human_bytes(self.geodesic_bytes)})",
            f"  components: {self.n_components} ({sizes} rows)" if self.n_components > 1 else "  connected",
            f"  edges that alone hold parts together: {len(self.cut_edges)}"
            + (f" (largest part behind one: {self.cut_sizes.max()} rows)" if len(self.cut_sizes) else ""),
            f"  short-circuit suspects: {len(self.suspects)} ({self.suspect_test})",
            f"  intrinsic dimension: {self.dimension:.2g}",
        ]
        return "\n".join(lines + ([f"  neighbours missed: about {self.missed:.1%}"] if self.missed else []))


class NeighbourGraph(BaseEstimator):
    """Graph of nearest neighbours, or of neighbours within a radius, with a report on its health.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        K; a row is never its own neighbour.  None if `radius` is given.
    radius : float or None, default=None
        Largest distance of neighbours, inclusive.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute", "approximate"}, default="auto"
        How to search: exactly in a tree or by blocks, or approximately.
    metric : str or callable, default="minkowski"
        Distance, or "precomputed".
    p : float, default=2
        Power of the Minkowski distance.
    metric_params : dict, default=None
        More parameters of the distance.
    n_jobs : int, default=None
        Threads; they change no bit.

    Attributes
    ----------
    graph_ : sparse array of shape (n_samples, n_samples)
        Distances along edges, symmetric, in CSR format; equal rows have edges of length zero.
    nbrs_ : NearestNeighbors
        The search.
    n_connected_components_ : int
        Parts that are not joined.
    component_labels_ : ndarray of shape (n_samples,)
        The part of each row.
    n_samples_fit_ : int
        Rows of the fit.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Levina, Bickel (2004), Maximum likelihood estimation of intrinsic dimension, NIPS; averaged as by MacKay and
    Ghahramani (2005).  Tarjan (1974), A note on finding the bridges of a graph.

    Examples
    --------
    >>> from hyperplan.manifold import NeighbourGraph
    >>> graph = NeighbourGraph(n_neighbors=1).fit([[0.0], [1.0], [5.0], [7.0]])
    >>> graph.n_connected_components_, graph.graph_.toarray()[0].tolist()
    (2, [0.0, 1.0, 0.0, 0.0])
    """

    _params = {
        "n_neighbors": OneOf(Int(ge=1), Null),
        "radius": OneOf(Real(ge=0), Null),
        "algorithm": Choice("auto", "ball_tree", "kd_tree", "brute", "approximate"),
        **{name: K_SEARCH_PARAMS[name] for name in ("metric", "p", "metric_params", "n_jobs")},
    }

    def __init__(
        self,
        n_neighbors=5,
        radius=None,
        *,
        algorithm="auto",
        metric="minkowski",
        p=2,
        metric_params=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Find the neighbours of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Rows, or their distances; also a fitted search for neighbours.
        y : None
            Not used.

        Returns
        -------
        self
            The graph.
        """
        check_params(self)
        check_one_rule(self)
        self.nbrs_ = NearestNeighbors(
            n_neighbors=self.n_neighbors,
            radius=self.radius,
            algorithm=self.algorithm,
            metric=self.metric,
            p=self.p,
            metric_params=self.metric_params,
            n_jobs=self.n_jobs,
        ).fit(X)
        self.n_features_in_, self.n_samples_fit_ = self.nbrs_.n_features_in_, self.nbrs_.n_samples_fit_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(self.nbrs_, "feature_names_in_"):
            self.feature_names_in_ = self.nbrs_.feature_names_in_
        self._lists = self._neighbours(None)
        found = roads(sparse_rows(self._lists.distances, self._lists.rows, self._lists.starts, self.n_samples_fit_))
        self.graph_ = as_matrix(found)
        self.n_connected_components_, self.component_labels_ = connected_components(self.graph_, directed=False)
        return self

    def _neighbours(self, X) -> Lists:
        """Neighbours of rows, or of the rows of the fit (None)."""
        if self.n_neighbors is None:
            return self.nbrs_._lists_within(X, self.radius, by_distance=True)
        distances, rows = self.nbrs_.kneighbors(X)
        return Lists(np.arange(0, rows.size + 1, rows.shape[1]), rows.ravel(), distances.ravel())

    def roads(self) -> Roads:
        """The edges as kernels take them."""
        graph = self.graph_
        return Roads(graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data)

    def links(self, X) -> Lists:
        """The rows of the fit that new rows hang on: at least one.

        A row that equals rows of the fit, but for rounding, hangs on those alone; one without neighbours within the
        radius on the nearest.
        """
        check_is_fitted(self)
        lists = self._neighbours(X)
        counts = np.diff(lists.starts)
        if (counts == 0).any():
            lonely = np.flatnonzero(counts == 0)
            X = X if hasattr(X, "shape") and not hasattr(X, "iloc") else np.asarray(X)
            distances, rows = self.nbrs_.kneighbors(X[lonely], 1)
            places = lists.starts[lonely]
            lists = lists._replace(
                rows=np.insert(lists.rows, places, rows[:, 0]),
                distances=np.insert(lists.distances, places, distances[:, 0]),
                starts=lists.starts + np.concatenate([[0], np.cumsum(counts == 0)]),
            )
        owner = np.repeat(np.arange(len(lists.starts) - 1), np.diff(lists.starts))
        is_equal = lists.distances <= SAME * lists.distances[lists.starts[1:] - 1][owner]
        if not is_equal.any():
            return lists
        has_equal = np.zeros(len(lists.starts) - 1, bool)
        has_equal[owner[is_equal]] = True
        kept = is_equal | ~has_equal[owner]
        starts = np.concatenate([[0], np.cumsum(np.bincount(owner[kept], minlength=len(has_equal)))])
        return Lists(starts.astype(np.int64), lists.rows[kept], lists.distances[kept])

    def kneighbors(self, X=None, n_neighbors=None, return_distance=True):
        """The nearest rows of the fit, sorted by distance, as `NearestNeighbors` finds them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            Queries; None means the rows of the fit, none of which is its own neighbour.
        n_neighbors : int, default=None
            How many; None means as many as in the graph.
        return_distance : bool, default=True
            Whether to return the distances.

        Returns
        -------
        neigh_dist : ndarray of shape (n_queries, n_neighbors)
            Distances, if asked for.
        neigh_ind : ndarray of shape (n_queries, n_neighbors)
            Row numbers.
        """
        check_is_fitted(self)
        return self.nbrs_.kneighbors(X, n_neighbors, return_distance)

    def neighbour_means(self):
        """Mean distance of each row to its neighbours (of rows without any: of the others)."""
        return mean_distances(self._lists)

    def dimension(self) -> float:
        """Maximum likelihood estimate of the intrinsic dimension; NaN when the distances tell nothing."""
        distances, starts = self._lists.distances, self._lists.starts
        owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        if self.n_neighbors is None:
            limit, counted = np.full(len(distances), float(self.radius)), np.ones(len(distances), bool)
        else:
            limit, counted = distances[starts[1:] - 1][owner], np.ones(len(distances), bool)
            counted[starts[1:] - 1] = False  # the farthest only gives the scale
        counted &= (distances > 0.0) & np.isfinite(limit)
        total = float(np.log(limit[counted] / distances[counted]).sum())
        return float(counted.sum()) / total if total > EQUAL * counted.sum() else float("nan")

    def report(self) -> GraphReport:
        """Components, edges that alone hold parts together, short-circuit suspects, dimension and memory.

        Returns
        -------
        GraphReport
            Print it, or look at its attributes.
        """
        check_is_fitted(self)
        edges = self.roads()
        cut, sizes = cut_edges(edges)
        certificate = getattr(self.nbrs_, "certificate_", None)
        return GraphReport(
            n_nodes=self.n_samples_fit_,
            n_edges=len(edges.ends) // 2,
            component_sizes=np.sort(np.bincount(self.component_labels_))[::-1],
            cut_edges=cut,
            cut_sizes=sizes,
            suspects=long_detours(edges, DETOUR),
            suspect_test=f"no other way between the ends within {DETOUR:g} times the length of the edge",
            dimension=self.dimension(),
            graph_bytes=edges.starts.nbytes + edges.ends.nbytes + edges.lengths.nbytes,
            geodesic_bytes=8 * self.n_samples_fit_**2,
            missed=0.0 if certificate is None else float(certificate.value),
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.metric == "precomputed"
        return tags


def check_one_rule(estimator):
    """Exactly one of `n_neighbors` and `radius` says who is a neighbour."""
    name = type(estimator).__name__
    if estimator.n_neighbors is not None and estimator.radius is not None:
        raise ValueError(
            f"Both n_neighbors and radius are provided. Use {name}(radius={estimator.radius}, n_neighbors=None) if "
            "intended to use radius-based neighbors"
        )
    if estimator.n_neighbors is None and estimator.radius is None:
        raise ValueError(f"Neither n_neighbors nor radius is provided: {name} needs one of them")


def mean_distances(lists: Lists):
    """Mean of each list of distances; empty and zero ones get the mean of the others (1 if there is none)."""
    counts = np.diff(lists.starts)
    sums = np.bincount(np.repeat(np.arange(len(counts)), counts), weights=lists.distances, minlength=len(counts))
    means = sums / np.maximum(counts, 1)
    usual = means[means > 0.0].mean() if (means > 0.0).any() else 1.0
    return np.where(means > 0.0, means, usual)


def is_same_table(X, other):
    """Whether two tables are equal: then each row keeps its place, also where copies of it lie elsewhere."""
    if X.shape != other.shape or sp.issparse(X) != sp.issparse(other):
        return False
    return (abs(X - other)).nnz == 0 if sp.issparse(X) else bool(np.array_equal(X, other))
