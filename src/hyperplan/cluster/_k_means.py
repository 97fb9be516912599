"""K-means: centres that are the means of the rows nearest to them.

Objective: ``J = sum_i w_i min_k |x_i - c_k|^2``, lowered by Lloyd's iterations from each of `n_init` starts; the best
end is kept.  `hyperplan._solvers.k_means` has the iterations, `k_means_rows` what makes them quick.
"""

import warnings

import numpy as np

from hyperplan._base import (
    FLOATS,
    ArrayLike,
    Bool,
    Choice,
    ConvergenceWarning,
    Int,
    InvalidParameterError,
    Null,
    OneOf,
    Seed,
    check_array,
    check_params,
    check_random_state,
    check_weight,
)
from hyperplan._core.arrays import kernel_view
from hyperplan._core.parallel import single_threaded_blas
from hyperplan._solvers.k_means import distortion_certificate, lloyd, rows_of
from hyperplan._solvers.k_means_seeds import spread_seeds
from hyperplan.cluster._k_means_base import CENTRE_PARAMS, CentreModel, first_centres


def same_clusters(one, other):
    """Whether two labellings make the same groups, whatever their numbers.

    >>> same_clusters(np.array([0, 0, 1]), np.array([1, 1, 0])), same_clusters(np.array([0, 0, 1]), np.array([0, 1, 1]))
    (True, False)
    """
    groups = int(other.max()) + 1
    pairs = one.astype(np.int64) * groups + other
    return bool(np.count_nonzero(np.bincount(pairs)) == n_groups(one) == n_groups(other))


def n_groups(labels):
    """How many clusters have rows."""
    return np.count_nonzero(np.bincount(labels))


class KMeans(CentreModel):
    """K-means clustering: Lloyd's iterations, exact, with bounds that skip most distances.

    Minimises ``sum_i w_i min_k |x_i - c_k|^2``; no step raises it.  Stopping rule: no label changes, or the squared
    movement of all centres together is at most `tol` times the mean variance of the columns.  The end is a local
    minimum, which depends on the start.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters; `NumberOfClusters` compares several.
    init : {'k-means++', 'random'}, callable or array-like of shape (n_clusters, n_features), default='k-means++'
        First centres: rows spread out (each the best of some drawn by their squared distance to the others), random
        rows, what a function of X, n_clusters and random_state returns, or given ones.
    n_init : 'auto' or int, default='auto'
        Number of starts, of which the best end is kept; 'auto' makes 10 from random rows and functions, else 1.
    max_iter : int, default=300
        Most steps of a run.
    tol : float, default=1e-4
        Stopping rule.
    verbose : int, default=0
        Print steps.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.
    copy_x : bool, default=True
        Accepted for compatibility: X is never written to.
    algorithm : {'lloyd', 'elkan'}, default='lloyd'
        The same iterations; 'elkan' keeps a bound for every row and centre, which takes more memory and skips more
        where clusters are far apart.  Sparse rows have one bound each with both.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres.
    labels_ : ndarray of shape (n_samples,)
        The nearest centre of each row; of equally near ones the first.
    inertia_ : float
        Sum of weighted squared distances to the nearest centres.
    n_iter_ : int
        Steps of the best run.
    trace_ : Trace
        Its objective at every step, before the centres moved, and their squared movement.
    certificate_ : Certificate
        The largest relative rise of the objective between steps.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Lloyd (1982), Least squares quantization in PCM.
    Arthur, Vassilvitskii (2007), k-means++: the advantages of careful seeding.
    Hamerly (2010), Making k-means even faster.

    Examples
    --------
    >>> from hyperplan.cluster import KMeans
    >>> X = [[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]]
    >>> model = KMeans(n_clusters=2, random_state=0).fit(X)
    >>> model.labels_.tolist(), model.inertia_
    ([1, 1, 1, 0, 0, 0], 16.0)
    >>> model.predict([[0, 0], [12, 3]]).tolist()
    [1, 0]
    >>> model.certificate_.holds
    True
    """

    _params = {**CENTRE_PARAMS, "copy_x": Bool, "algorithm": Choice("lloyd", "elkan")}

    def __init__(
        self,
        n_clusters=8,
        *,
        init="k-means++",
        n_init="auto",
        max_iter=300,
        tol=1e-4,
        verbose=0,
        random_state=None,
        copy_x=True,
        algorithm="lloyd",
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm

    def fit(self, X, y=None, sample_weight=None):
        """Find the centres.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is the row twice.

        Returns
        -------
        self
            The fitted model.
        """
        # 1. parameters
        check_params(self)
        # 2. data
        X = self._check_rows(X)
        weight = check_weight(sample_weight, X)
        init, self._n_init = self._check_init(X), self._runs(default=10)
        # 3. maths
        rows = rows_of(X, weight)
        with single_threaded_blas():
            best = self._best_run(rows, init)
        found = n_groups(best.labels)
        if found < self.n_clusters:
            warnings.warn(
                f"Number of distinct clusters ({found}) found smaller than n_clusters ({self.n_clusters}). Possibly "
                "due to duplicate points in X.",
                ConvergenceWarning,
                stacklevel=2,
            )
        # 4. attributes
        self.cluster_centers_ = best.centres.astype(X.dtype)
        self.labels_, self.inertia_, self.n_iter_ = best.labels, best.inertia, best.n_iter
        self.trace_ = best.trace
        self.certificate_ = distortion_certificate(best, rows, self.init)
        return self

    def _best_run(self, rows, init):
        """The run of the least objective; a later one must also make other clusters, or rounding would decide."""
        random_state, best = check_random_state(self.random_state), None
        tol = self.tol * float(rows.variance.mean())
        for _ in range(self._n_init):
            start = first_centres(init, rows, self.n_clusters, random_state)
            if self.verbose:
                print("Initialization complete")
            observe = _print_step if self.verbose else None
            run = lloyd(rows, start, tol=tol, max_iter=self.max_iter, elkan=self._is_elkan(), observe=observe)
            if self.verbose:
                _print_end(run, tol)
            if best is None or (run.inertia < best.inertia and not same_clusters(run.labels, best.labels)):
                best = run
        return best

    def _is_elkan(self):
        if self.algorithm == "elkan" and self.n_clusters == 1:
            warnings.warn(
                "algorithm='elkan' doesn't make sense for a single cluster. Using 'lloyd' instead.",
                RuntimeWarning,
                stacklevel=4,
            )
            return False
        return self.algorithm == "elkan"


def _print_step(step):
    print(f"Iteration {step.iteration - 1}, inertia {step.objective}.")


def _print_end(run, tol):
    last = f"Converged at iteration {run.n_iter - 1}"
    if run.ending == "labels":
        print(f"{last}: strict convergence.")
    elif run.ending == "tol":
        print(f"{last}: center shift {run.trace.residuals[-1]} within tolerance {tol}.")


def k_means(
    X,
    n_clusters,
    *,
    sample_weight=None,
    init="k-means++",
    n_init="auto",
    max_iter=300,
    verbose=False,
    tol=1e-4,
    random_state=None,
    copy_x=True,
    algorithm="lloyd",
    return_n_iter=False,
):
    """K-means clustering as a function.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    n_clusters : int
        Number of clusters.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    init, n_init, max_iter, verbose, tol, random_state, copy_x, algorithm
        As in `KMeans`.
    return_n_iter : bool, default=False
        Whether the number of steps is returned too.

    Returns
    -------
    centroid : ndarray of shape (n_clusters, n_features)
        Centres.
    label : ndarray of shape (n_samples,)
        The nearest centre of each row.
    inertia : float
        Sum of weighted squared distances.
    best_n_iter : int
        Steps of the best run, if asked for.

    Examples
    --------
    >>> from hyperplan.cluster import k_means
    >>> centroid, label, inertia = k_means([[1.0], [2.0], [10.0]], 2, random_state=0)
    >>> sorted(centroid.ravel().tolist()), inertia
    ([1.5, 10.0], 0.5)
    """
    if not isinstance(return_n_iter, bool):
        raise InvalidParameterError(
            f"The 'return_n_iter' parameter of k_means must be an instance of 'bool'. Got {return_n_iter!r} instead."
        )
    model = KMeans(
        n_clusters=n_clusters,
        init=init,
        n_init=n_init,
        max_iter=max_iter,
        verbose=verbose,
        tol=tol,
        random_state=random_state,
        copy_x=copy_x,
        algorithm=algorithm,
    ).fit(X, sample_weight=sample_weight)
    found = model.cluster_centers_, model.labels_, model.inertia_
    return (*found, model.n_iter_) if return_n_iter else found


SEED_PARAMS = {
    "n_clusters": Int(ge=1),
    "sample_weight": OneOf(ArrayLike, Null),
    "x_squared_norms": OneOf(ArrayLike, Null),
    "random_state": Seed,
    "n_local_trials": OneOf(Int(ge=1), Null),
}


def kmeans_plusplus(X, n_clusters, *, sample_weight=None, x_squared_norms=None, random_state=None, n_local_trials=None):
    """First centres for K-means: rows far from each other, by greedy k-means++.

    The first is drawn by weight; each of the others is the best of `n_local_trials` rows drawn with a probability
    proportional to their weighted squared distance to the nearest centre before.  With one trial the expected
    objective is at most ``8 (log k + 2)`` times the least one.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    n_clusters : int
        Number of centres.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    x_squared_norms : array-like of shape (n_samples,), default=None
        Accepted for compatibility.
    random_state : int, RandomState instance or None, default=None
        Seed.
    n_local_trials : int, default=None
        Candidates per centre; None means ``2 + floor(log k)``.

    Returns
    -------
    centers : ndarray of shape (n_clusters, n_features)
        Centres.
    indices : ndarray of shape (n_clusters,)
        Their row numbers.

    References
    ----------
    Arthur, Vassilvitskii (2007), k-means++: the advantages of careful seeding.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.cluster import kmeans_plusplus
    >>> X = np.array([[1, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> centers, indices = kmeans_plusplus(X, n_clusters=2, random_state=0)
    >>> centers.tolist(), indices.tolist()
    ([[10, 2], [1, 0]], [3, 2])
    """
    given = dict(zip(SEED_PARAMS, (n_clusters, sample_weight, x_squared_norms, random_state, n_local_trials)))
    for name, rule in SEED_PARAMS.items():
        if not rule(given[name]):
            raise InvalidParameterError(
                f"The {name!r} parameter of kmeans_plusplus must be {rule}. Got {given[name]!r} instead."
            )
    table = kernel_view(check_array(X, accept_sparse="csr", dtype=FLOATS, order="C"))
    weight = check_weight(sample_weight, table)
    if table.shape[0] < n_clusters:
        raise ValueError(f"n_samples={table.shape[0]} should be >= n_clusters={n_clusters}.")
    if x_squared_norms is not None and len(x_squared_norms) != table.shape[0]:
        raise ValueError(
            f"The length of x_squared_norms {len(x_squared_norms)} should be equal to the length of n_samples "
            f"{table.shape[0]}."
        )
    rows = rows_of(table, weight)
    with single_threaded_blas():
        indices = spread_seeds(rows, n_clusters, check_random_state(random_state), n_local_trials)
    centers = rows.take(indices)
    return centers.astype(getattr(X, "dtype", centers.dtype)), indices
