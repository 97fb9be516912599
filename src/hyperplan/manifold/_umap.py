"""Uniform manifold approximation and projection: a layout in which rows are near that are neighbours.

The graph of `_umap_graph` has weights B.  With ``q_ij = 1 / (1 + a |y_i - y_j|^(2b))``, a and b fitted to `min_dist`
and `spread`, the layout y is sought for which the cross-entropy

    - sum_(i<j) B_ij log q_ij + (1 - B_ij) log(1 - q_ij)

is small, by stochastic steps: edges pull as often as their weights say, and for each pull a few random rows push.  This
is not convex: what is found depends on the start and the seed.  The steps do not weigh the pushes as the formula does
(Damrich and Hamprecht); the certificate holds both losses, before and after.
"""

import warnings

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Certificate,
    Choice,
    ClassNamePrefixFeaturesOutMixin,
    Int,
    Is,
    Jobs,
    Null,
    OneOf,
    Real,
    Seed,
    TransformerMixin,
    check_design,
    check_is_fitted,
    check_params,
    check_random_state,
)
from hyperplan._base.targets import check_consistent_length
from hyperplan.manifold import _umap_graph as graphs
from hyperplan.manifold._graph import is_same_table
from hyperplan.manifold._umap_init import first_places
from hyperplan.manifold._umap_layout import Forces, find_ab_params, layout_certificate, optimise
from hyperplan.manifold._umap_new_rows import placed
from hyperplan.manifold._umap_targets import with_targets

MANY_ROWS, EPOCHS, FEW_EPOCHS = 10_000, 500, 200
DICT = OneOf(Is(lambda value: isinstance(value, dict), "an instance of 'dict'"), Null)
METRIC = OneOf(Is(lambda value: isinstance(value, str), "a str"), Is(callable, "a callable"))


class UMAP(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Uniform manifold approximation and projection.

    Parameters have the names and defaults of umap-learn's.  The same seed gives the same embedding for any number of
    threads.  densMAP and other distances than the Euclidean one in the embedding are left out.

    Parameters
    ----------
    n_neighbors : int, default=15
        Neighbours of each row, itself not counted (umap-learn counts it).  Fewer show local detail, more the whole.
    n_components : int, default=2
        Dimension of the embedding.
    metric : str or callable, default="euclidean"
        Distance: any that `NearestNeighbors` takes, or "precomputed".
    metric_kwds : dict, default=None
        Its parameters.
    n_epochs : int, default=None
        Epochs; None means 500, or 200 for more than 10 000 rows.
    learning_rate : float, default=1.0
        First step size; it falls to zero.
    init : {"spectral", "pca", "random"} or ndarray of shape (n_samples, n_components), default="spectral"
        Where the layout begins.
    min_dist : float, default=0.1
        How close rows may come.
    spread : float, default=1.0
        Scale of the embedding, with `min_dist`.
    low_memory : bool, default=True
        Accepted for compatibility.
    n_jobs : int, default=-1
        Threads; they change no bit.
    set_op_mix_ratio : float, default=1.0
        1 keeps an edge that one end wants, 0 only what both want: outliers then stand apart.
    local_connectivity : float, default=1.0
        Neighbours that each row is fully connected with.
    repulsion_strength : float, default=1.0
        Weight of the pushes.
    negative_sample_rate : int, default=5
        Pushes for each pull.
    transform_queue_size : float, default=4.0
        Accepted for compatibility: `transform` searches exactly.
    a, b : float, default=None
        Shape of the curve; None means that `min_dist` and `spread` decide.
    random_state : int, RandomState instance or None, default=None
        Seed.
    target_n_neighbors : int, default=-1
        Neighbours of each row by numeric targets; -1 means `n_neighbors`.
    target_metric : str, default="categorical"
        "categorical" for classes; a metric of `NearestNeighbors` for numeric targets.
    target_metric_kwds : dict, default=None
        Its parameters.
    target_weight : float, default=0.5
        From 0, only the rows count, to 1, the targets count most.
    transform_seed : int, default=42
        Seed of `transform`.
    force_approximation_algorithm : bool, default=False
        Whether neighbours are approximate also for small tables (Euclidean and cosine distances of dense rows).
    verbose : bool, default=False
        Accepted for compatibility.
    disconnection_distance : float, default=None
        Distance from which rows are no neighbours; None means the largest value of bounded distances, else none.
    precomputed_knn : tuple of two or three, default=(None, None, None)
        Row numbers and distances of neighbours, if they are known already; the third is ignored.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components), float32
        Places of the rows; NaN for rows without any neighbour.
    graph_ : sparse array of shape (n_samples, n_samples)
        The weights B.
    sigmas_, rhos_ : ndarray of shape (n_samples,)
        Scale of each row, and distance from which its weights fall.
    a_, b_ : float
        Shape of the curve.
    n_neighbors_ : int
        Neighbours in use: at most one less than there are rows.
    n_epochs_ : int
        Epochs.
    n_connected_components_ : int
        Pieces of the graph.  How they lie to each other in the embedding means nothing.
    certificate_ : Certificate
        What the steps descend, after and before; cross-entropy, pieces, recall of approximate neighbours.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    McInnes, Healy, Melville (2018), UMAP: uniform manifold approximation and projection for dimension reduction.
    Damrich, Hamprecht (2021), On UMAP's true loss function, NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import UMAP
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(40, 5)), rng.normal(size=(40, 5)) + 20])
    >>> model = UMAP(n_neighbors=10, random_state=0).fit(X)
    >>> model.embedding_.shape, model.n_connected_components_
    ((80, 2), 2)
    >>> bool((model.transform(X) == model.embedding_).all())
    True
    """

    _params = {
        "n_neighbors": Int(ge=2),
        "n_components": Int(ge=1),
        "metric": METRIC,
        "metric_kwds": DICT,
        "n_epochs": OneOf(Int(ge=0), Null),
        "learning_rate": Real(ge=0),
        "init": OneOf(Choice("spectral", "pca", "random"), Is(lambda v: np.ndim(v) == 2, "an array-like")),
        "min_dist": Real(ge=0),
        "spread": Real(gt=0),
        "low_memory": Bool,
        "n_jobs": Jobs,
        "set_op_mix_ratio": Real(ge=0, le=1),
        "local_connectivity": Real(ge=0),
        "repulsion_strength": Real(ge=0),
        "negative_sample_rate": Int(ge=0),
        "transform_queue_size": Real(ge=0),
        "a": OneOf(Real(gt=0), Null),
        "b": OneOf(Real(gt=0), Null),
        "random_state": Seed,
        "target_n_neighbors": OneOf(Int(ge=2), Is(lambda v: v == -1, "-1")),
        "target_metric": METRIC,
        "target_metric_kwds": DICT,
        "target_weight": Real(ge=0, le=1),
        "transform_seed": Seed,
        "force_approximation_algorithm": Bool,
        "verbose": Bool,
        "disconnection_distance": OneOf(Real(ge=0), Null),
        "precomputed_knn": OneOf(
            Is(lambda v: isinstance(v, tuple | list) and len(v) in (2, 3), "a tuple of two or three"), Null
        ),
    }

    def __init__(
        self,
        n_neighbors=15,
        n_components=2,
        metric="euclidean",
        metric_kwds=None,
        n_epochs=None,
        learning_rate=1.0,
        init="spectral",
        min_dist=0.1,
        spread=1.0,
        low_memory=True,
        n_jobs=-1,
        set_op_mix_ratio=1.0,
        local_connectivity=1.0,
        repulsion_strength=1.0,
        negative_sample_rate=5,
        transform_queue_size=4.0,
        a=None,
        b=None,
        random_state=None,
        target_n_neighbors=-1,
        target_metric="categorical",
        target_metric_kwds=None,
        target_weight=0.5,
        transform_seed=42,
        force_approximation_algorithm=False,
        verbose=False,
        disconnection_distance=None,
        precomputed_knn=(None, None, None),
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.metric = metric
        self.metric_kwds = metric_kwds
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.init = init
        self.min_dist = min_dist
        self.spread = spread
        self.low_memory = low_memory
        self.n_jobs = n_jobs
        self.set_op_mix_ratio = set_op_mix_ratio
        self.local_connectivity = local_connectivity
        self.repulsion_strength = repulsion_strength
        self.negative_sample_rate = negative_sample_rate
        self.transform_queue_size = transform_queue_size
        self.a = a
        self.b = b
        self.random_state = random_state
        self.target_n_neighbors = target_n_neighbors
        self.target_metric = target_metric
        self.target_metric_kwds = target_metric_kwds
        self.target_weight = target_weight
        self.transform_seed = transform_seed
        self.force_approximation_algorithm = force_approximation_algorithm
        self.verbose = verbose
        self.disconnection_distance = disconnection_distance
        self.precomputed_knn = precomputed_knn

    def fit(self, X, y=None):
        """Lay out the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, or distances between all of them for ``metric="precomputed"``.
        y : array-like of shape (n_samples,), default=None
            Classes (-1, NaN or None where they are not known), or numbers (NaN where not known) if `target_metric` is
            a distance.  Rows of one class are drawn together; this is no prediction.

        Returns
        -------
        self
            The fitted model.
        """
        # 1. parameters
        self._check_settings()
        # 2. data
        X = check_design(self, X, reset=True, accept_sparse="csr", order="C")
        if self.metric == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"metric='precomputed' needs a square matrix of distances, got shape {X.shape}")
        if y is not None:
            check_consistent_length(X, y)
        rng = check_random_state(self.random_state)
        # 3. maths
        self._raw_data, n = X, X.shape[0]
        self.n_neighbors_ = self._usable_neighbors(n)
        self.n_epochs_ = (EPOCHS if n <= MANY_ROWS else FEW_EPOCHS) if self.n_epochs is None else int(self.n_epochs)
        if n == 1:
            return self._keep_one_row()
        recall = self._make_graph(X, y, rng)
        is_rows = self.metric != "precomputed"
        start = first_places(self.init, self.graph_, X, is_rows, self.n_components, rng, self.n_jobs)
        forces, seed = self._forces(), int(rng.randint(2**31 - 1))
        settings = self.n_epochs_, float(self.learning_rate), forces, seed, self.n_jobs
        places = optimise(self.graph_, start.places, *settings)
        # 4. attributes
        self.n_connected_components_ = start.n_pieces
        self.certificate_ = layout_certificate(self.graph_, start, places, forces, self.n_epochs_, recall, self.n_jobs)
        self.embedding_ = self._without_isolated(places)
        return self

    def _check_settings(self):
        check_params(self)
        if self.min_dist > self.spread:
            raise ValueError(
                f"min_dist must be less than or equal to spread, got min_dist={self.min_dist}, spread={self.spread}"
            )
        if (self.a is None) != (self.b is None):
            raise ValueError("a and b go together: give both or none")
        given = self.a is not None
        self.a_, self.b_ = (float(self.a), float(self.b)) if given else find_ab_params(self.spread, self.min_dist)

    def _forces(self):
        return Forces(self.a_, self.b_, float(self.repulsion_strength), int(self.negative_sample_rate))

    def _usable_neighbors(self, n):
        if n <= self.n_neighbors and n > 1:
            warnings.warn(
                f"n_neighbors={self.n_neighbors} is more than the {n - 1} other rows of X: all of them are neighbours. "
                "Lower n_neighbors or give more rows.",
                stacklevel=3,
            )
        return max(1, min(int(self.n_neighbors), n - 1))

    def _keep_one_row(self):
        self.graph_, self.n_connected_components_ = sp.csr_array((1, 1), dtype=np.float32), 1
        self.sigmas_, self.rhos_ = np.zeros(1), np.zeros(1)
        self.embedding_ = np.zeros((1, self.n_components), np.float32)
        self.certificate_ = Certificate("layout loss", "one row has nothing to be near to or far from", 0.0, 0.0)
        return self

    def _make_graph(self, X, y, rng):
        """Set the graph; returns the recall of an approximate search."""
        n, count = X.shape[0], self.n_neighbors_
        found = graphs.given_lists(self.precomputed_knn, n, self.n_neighbors)
        if found is None:
            found = graphs.search(
                X,
                count,
                self.metric,
                self.metric_kwds or {},
                approximate=self.force_approximation_algorithm,
                seed=int(rng.randint(2**31 - 1)),
                n_jobs=self.n_jobs,
            )
        found = graphs.cut_far(found, self.metric, self.disconnection_distance)
        A, self.sigmas_, self.rhos_ = graphs.one_sided(found, n, count, self.local_connectivity, self.n_jobs)
        self.graph_ = graphs.two_sided(A, float(self.set_op_mix_ratio))
        if y is not None:
            asked = count if self.target_n_neighbors == -1 else int(self.target_n_neighbors)
            options, weight = dict(self.target_metric_kwds or {}), float(self.target_weight)
            self.graph_ = with_targets(self.graph_, y, self.target_metric, options, asked, weight, self.n_jobs)
        return found.recall

    def _without_isolated(self, places):
        isolated = np.diff(self.graph_.indptr) == 0
        if isolated.any():
            warnings.warn(
                f"{int(isolated.sum())} of the rows have no neighbour (the first is row {int(np.argmax(isolated))}): "
                "their places are NaN. Raise disconnection_distance, or drop them.",
                stacklevel=3,
            )
            places[isolated] = np.nan
        return places

    def fit_transform(self, X, y=None):
        """Lay out the rows.

        Parameters
        ----------
        X, y
            As for `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Places.
        """
        return self.fit(X, y).embedding_

    def transform(self, X):
        """Place rows into the embedding, which does not move.

        A row that is equal to one of the fit gets its place, and one that is nearer to it than the next row of the
        fit comes near that place.  Others begin at the mean of their neighbours, each for itself: the answer for a row
        does not depend on the rows that come with it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            Rows; their distances from the rows of the fit for ``metric="precomputed"``.

        Returns
        -------
        ndarray of shape (n_queries, n_components)
            Places; NaN for rows without any neighbour.
        """
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse="csr", order="C")
        if is_same_table(X, self._raw_data):
            return self.embedding_.copy()
        return placed(self, X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.metric == "precomputed"
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _n_features_out(self):
        return self.embedding_.shape[1]
