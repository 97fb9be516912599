"""Multidimensional scaling by distances: metric and non-metric, with a place for new rows.

Minimises the stress ``sum_{i<j} (|y_i - y_j| - f(d_ij))^2``, f the identity or any increasing function, by majorisation
(see `_mds_smacof`).  A new row goes to where its distances from the training rows fit best:
``min_y sum_j (|y - y_j| - f(d_j))^2``.
"""

import warnings

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Certificate,
    Choice,
    ClassNamePrefixFeaturesOutMixin,
    ConvergenceWarning,
    Int,
    Jobs,
    OneOf,
    Real,
    Seed,
    TransformerMixin,
    check_array,
    check_design,
    check_is_fitted,
    check_params,
    check_random_state,
)
from hyperplan._core.parallel import spans, thread_map
from hyperplan.manifold._graph import SAME, is_same_table
from hyperplan.manifold._mds_classical import ClassicalMDS
from hyperplan.manifold._mds_distances import (
    METRIC,
    METRIC_PARAMS,
    DissimilarityMixin,
    all_distances,
    check_queries,
    learnt_options,
    query_distances,
)
from hyperplan.manifold._mds_kernels import place_rows
from hyperplan.manifold._mds_smacof import best_run

QUERIES = 64  # new rows of one task
PLACING_STEPS, PLACING_TOLERANCE = 500, 1e-9  # of the steps of new rows, in units of the size of the embedding


class MDS(DissimilarityMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Multidimensional scaling: points whose distances are as given, as far as a few coordinates allow.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    metric_mds : bool, default=True
        False lets an increasing function of the distances take their place (only their order counts); distances of
        zero then mean missing values.
    n_init : int, default=1
        Random starts, of which the one with the least stress at the end counts.
    init : {"random", "classical_mds"}, default="random"
        Where points start: anywhere, or at the coordinates of `ClassicalMDS`.  scikit-learn's version 1.10 will change
        the default to "classical_mds"; until then not choosing warns.
    max_iter : int, default=300
        Most steps of a run.
    verbose : int, default=0
        Whether to print the stress of each run.
    eps : float, default=1e-6
        A run ends when a step lowers the stress by less than this share of half the sum of squared distances.
    n_jobs : int, default=None
        Threads; they change no bit.
    random_state : int, RandomState instance or None, default=None
        Source of the starts.
    dissimilarity : {"euclidean", "precomputed"}
        Old name of `metric`.
    metric : str or callable, default="euclidean"
        Distance of the rows; "precomputed" if X holds distances.
    metric_params : dict, default=None
        Its parameters.
    normalized_stress : bool or "auto", default="auto"
        Whether `stress_` is Kruskal's stress-1, between 0 and 1; "auto" means for the non-metric form.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows.
    stress_ : float
        Sum over pairs of the squared differences between distances and (transformed) dissimilarities.
    dissimilarity_matrix_ : ndarray of shape (n_samples, n_samples)
        Distances between the training rows, made anew when asked for.
    n_iter_ : int
        Steps of the best run.
    certificate_ : Certificate
        By how much the last step lowered the stress: steps never raise it, so that this goes to zero.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Borg, Groenen (2005), Modern Multidimensional Scaling, chapters 8 and 9.
    de Leeuw (1988), Convergence of the majorization method for multidimensional scaling, Journal of Classification.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import MDS
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> model = MDS(init="classical_mds", random_state=0).fit(X)
    >>> model.stress_ < 1e-9
    True
    >>> placed = model.transform([X[0] + [0.5, 0.0]])
    >>> np.linalg.norm(placed - model.embedding_[0]).round(6).item()
    0.5
    """

    _params = {
        "n_components": Int(ge=1),
        "metric_mds": Bool,
        "n_init": OneOf(Int(ge=1), Choice("warn")),
        "init": Choice("random", "classical_mds", "warn"),
        "max_iter": Int(ge=1),
        "verbose": OneOf(Int(ge=0), Bool),
        "eps": Real(ge=0),
        "n_jobs": Jobs,
        "random_state": Seed,
        "dissimilarity": Choice("euclidean", "precomputed", "deprecated"),
        "metric": OneOf(METRIC, Bool),
        "metric_params": METRIC_PARAMS,
        "normalized_stress": OneOf(Bool, Choice("auto")),
    }

    def __init__(
        self,
        n_components=2,
        *,
        metric_mds=True,
        n_init=1,
        init="warn",
        max_iter=300,
        verbose=0,
        eps=1e-6,
        n_jobs=None,
        random_state=None,
        dissimilarity="deprecated",
        metric="euclidean",
        metric_params=None,
        normalized_stress="auto",
    ):
        self.n_components = n_components
        self.metric_mds = metric_mds
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.verbose = verbose
        self.eps = eps
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.dissimilarity = dissimilarity
        self.metric = metric
        self.metric_params = metric_params
        self.normalized_stress = normalized_stress

    def fit(self, X, y=None, init=None):
        """Compute the coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Training rows, or their distances.
        y : None
            Not used.
        init : array-like of shape (n_samples, n_components), default=None
            Where the points start; None follows the parameter `init`.

        Returns
        -------
        self
            The fitted model.
        """
        # 1. parameters
        check_params(self)
        metric, is_metric, start = self._resolved()
        # 2. data
        X = check_design(self, X, reset=True, accept_sparse=False, order="C")
        if X.shape[0] == X.shape[1] and metric != "precomputed":
            warnings.warn(
                "X is a square matrix, and its rows are taken as points. If they hold distances, set "
                "metric='precomputed'.",
                stacklevel=2,
            )
        options = {} if metric == "precomputed" else learnt_options(metric, self.metric_params, X)
        distances = all_distances(X, metric, options, self.n_jobs)
        # 3. maths
        best = self._scale(distances, is_metric, self._start(distances, start, init))
        # 4. attributes
        self._metric, self._options, self._fitted, self._curve = metric, options, X, best.curve
        self.embedding_, self.stress_, self.n_iter_ = best.points, best.stress, best.n_iter
        self.certificate_ = self._certify(best)
        return self

    def _resolved(self):
        """The metric, whether the form is metric, and the kind of start, from parameters old and new."""
        start, metric, is_metric = self.init, self.metric, self.metric_mds
        if start == "warn":
            start = "random"
            warnings.warn(
                "The default value of `init` will change from 'random' to 'classical_mds' in 1.10. To suppress this "
                "warning, provide some value of `init`.",
                FutureWarning,
                stacklevel=3,
            )
        if isinstance(metric, bool):
            metric, is_metric = "euclidean", self.metric
            warnings.warn(
                f"Use metric_mds={self.metric} instead of metric={self.metric}. The support for metric={{True/False}} "
                "will be dropped in 1.10.",
                FutureWarning,
                stacklevel=3,
            )
        if self.dissimilarity != "deprecated":
            if metric != "euclidean":
                raise ValueError("You provided both `dissimilarity` and `metric`. Please use only `metric`.")
            metric = self.dissimilarity
            warnings.warn(
                "The `dissimilarity` parameter is deprecated and will be removed in 1.10. Use `metric` instead.",
                FutureWarning,
                stacklevel=3,
            )
        return metric, is_metric, start

    def _start(self, distances, kind, init):
        """The given start, that of classical scaling (with zeros where it has too few columns), or None."""
        if init is not None:
            return check_array(init, dtype=np.float64, input_name="init")
        if kind == "random":
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # fewer positive eigenvalues than columns do no harm here
            found = ClassicalMDS(self.n_components, metric="precomputed", n_jobs=self.n_jobs).fit_transform(distances)
        return np.pad(found, ((0, 0), (0, self.n_components - found.shape[1])))

    def _scale(self, distances, is_metric, init):
        n_init = 1 if self.n_init == "warn" else self.n_init
        if init is not None and n_init != 1:
            if self.init != "classical_mds":
                warnings.warn(f"One start was given: there is one run, not {n_init}.", stacklevel=3)
            n_init = 1
        normalized = not is_metric if self.normalized_stress == "auto" else self.normalized_stress
        best = best_run(
            distances,
            is_metric=is_metric,
            n_components=self.n_components,
            init=init,
            n_init=n_init,
            max_iter=self.max_iter,
            eps=self.eps,
            random_state=check_random_state(self.random_state),
            normalized=normalized,
            verbose=self.verbose,
            n_jobs=self.n_jobs,
        )
        if best.n_iter == self.max_iter and best.decrease >= self.eps > 0.0:
            warnings.warn(
                f"After {best.n_iter} steps each still lowers the stress by {best.decrease:.2g} of the squared "
                f"distances, above eps={self.eps:g}: raise max_iter, or start from init='classical_mds'.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return best

    def _certify(self, best):
        return Certificate(
            kind="last step",
            guarantee="the steps have come to rest: the last one lowered the stress by this share of the distances",
            value=max(best.decrease, 0.0),
            bound=self.eps,
            assumption="a point of rest may be one of several: other starts can end lower",
            reference="de Leeuw (1988), Convergence of the majorization method, theorem 3",
            details={"stress": best.stress, "steps": best.n_iter},
        )

    def fit_transform(self, X, y=None, init=None):
        """Compute the coordinates of the training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Training rows, or their distances.
        y : None
            Not used.
        init : array-like of shape (n_samples, n_components), default=None
            Where the points start; None follows the parameter `init`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates.
        """
        return self.fit(X, init=init).embedding_

    def transform(self, X):
        """Place new rows where their distances from the training rows fit best; the training rows do not move.

        A row at distance zero of a training row, but for rounding, gets its coordinates.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), or (n_queries, n_samples) if precomputed
            New rows, or their distances from the training rows.

        Returns
        -------
        ndarray of shape (n_queries, n_components)
            Coordinates.
        """
        check_is_fitted(self)
        X = check_queries(self, X, self._metric, len(self.embedding_))
        if is_same_table(X, self._fitted):
            return self.embedding_.copy()
        points = self.embedding_
        middle = points.mean(axis=0)
        centred = np.ascontiguousarray(points - middle)
        sizes = (centred**2).sum(axis=1)
        inverse = np.linalg.pinv(centred)
        tolerance = PLACING_TOLERANCE * float(np.sqrt(sizes.mean()))
        jobs = 1 if callable(self._metric) else self.n_jobs

        def one_task(part):
            distances = query_distances(X[part], self._fitted, self._metric, self._options, 1)
            distances = np.ascontiguousarray(distances, dtype=np.float64)
            wanted = distances if self._curve is None else np.interp(distances, *self._curve)
            placed = np.ascontiguousarray(0.5 * (sizes - wanted**2) @ inverse.T)
            place_rows(centred, wanted, PLACING_STEPS, tolerance, np.empty(centred.shape[1]), placed)
            nearest = distances.argmin(axis=1)
            is_known = distances[np.arange(len(distances)), nearest] <= SAME * distances.max(axis=1)
            return np.where(is_known[:, None], points[nearest], placed + middle)

        parts = thread_map(one_task, spans(len(X), QUERIES), jobs)
        return np.concatenate(parts)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        given = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.pairwise = given or self.dissimilarity == "precomputed"
        return tags

    @property
    def _n_features_out(self):
        return self.embedding_.shape[1]
