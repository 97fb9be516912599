"""Search for the nearest rows of a table, without a target."""

from hyperplan.neighbors._nearest_base import COUNT, K_SEARCH_PARAMS, RADIUS, KNeighborsMixin, NeighborsBase
from hyperplan.neighbors._nearest_base import RadiusNeighborsMixin as RadiusMixin


class NearestNeighbors(KNeighborsMixin, RadiusMixin, NeighborsBase):
    """Finds the rows nearest to others, or within a radius of them.

    Answers are exact (unless approximate ones are asked for), and ties go to the smaller row number.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbours `kneighbors` returns unless it is told.
    radius : float, default=1.0
        Radius of `radius_neighbors` unless it is told.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute", "approximate"}, default="auto"
        How to search: in a tree, or all rows by products of matrices, with the same answers; "auto" takes a tree up to
        15 columns if trial searches say that it pays.  "approximate" walks along a graph, which takes long to make,
        suits very many rows and queries, and misses the share of neighbours that `certificate_` estimates.
    leaf_size : int, default=30
        Accepted for compatibility: leaves hold 16 rows, and answers do not depend on it.
    metric : str or callable, default="minkowski"
        Distance: a name of `VALID_METRICS`, "precomputed", or a function of two rows.
    p : float, default=2
        Power of the Minkowski distance.
    metric_params : dict, default=None
        More parameters of the distance: ``w``, ``V``, ``VI``, or those of a function.
    n_jobs : int, default=None
        Threads; None means all cores.

    Attributes
    ----------
    effective_metric_ : str or callable
        Distance in use: "euclidean" for "minkowski" with ``p=2``.
    effective_metric_params_ : dict
        Its parameters.
    n_samples_fit_ : int
        Rows of the fit.
    certificate_ : Certificate
        Only for ``algorithm="approximate"``: the share of neighbours that searches miss, measured on a sample.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.

    References
    ----------
    Friedman, Bentley, Finkel (1977), An algorithm for finding best matches in logarithmic expected time, ACM
    Transactions on Mathematical Software 3.

    Examples
    --------
    >>> from hyperplan.neighbors import NearestNeighbors
    >>> model = NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [3.0]])
    >>> model.kneighbors([[0.9]])
    (array([[0.1, 0.9]]), array([[1, 0]]))
    >>> model.kneighbors_graph().toarray()  # no row is its own neighbour
    array([[0., 1., 1.],
           [1., 0., 1.],
           [1., 1., 0.]])
    """

    _params = {"n_neighbors": COUNT, "radius": RADIUS, **K_SEARCH_PARAMS}

    def __init__(
        self,
        *,
        n_neighbors=5,
        radius=1.0,
        algorithm="auto",
        leaf_size=30,
        metric="minkowski",
        p=2,
        metric_params=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Keep the rows, ready to be searched.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Rows, or their distances; also a `KDTree`, a `BallTree` or another estimator of neighbours.
        y : ignored
            There for pipelines.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit(X)
