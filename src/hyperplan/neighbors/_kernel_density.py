"""Kernel density estimation: ``f(x) = sum_i w_i K_h(x - x_i) / sum_i w_i`` with ``K_h(u) = h^-d K(u / h)``.

The factor is ``h^-d`` in d dimensions, so that each K_h, and with it f, has the integral 1 (for Euclidean distances).
"""

import math

import numpy as np
from scipy.integrate import quad
from scipy.special import gammainc, gammaln

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Choice,
    Int,
    Is,
    Null,
    OneOf,
    Real,
    check_design,
    check_is_fitted,
    check_params,
    check_random_state,
    check_weight,
)
from hyperplan._math.distances import is_known, learn_metric
from hyperplan._math.kernel_sums import PROFILES, foreign_metric, kernel_sums, make_summands
from hyperplan.metrics import pairwise_distances
from hyperplan.neighbors._bandwidth import best_bandwidth, scott_factor, silverman_factor, typical_deviation

KD_TREE = ("euclidean", "l2", "minkowski", "p", "manhattan", "cityblock", "l1", "chebyshev", "infinity")
BALL_TREE = (
    *KD_TREE,
    *("seuclidean", "mahalanobis", "hamming", "canberra", "braycurtis", "jaccard", "dice", "rogerstanimoto"),
    *("russellrao", "sokalmichener", "sokalsneath", "haversine", "pyfunc"),
)
RULES = {"scott": scott_factor, "silverman": silverman_factor}
LOO_ROWS = 2000  # whose leave-one-out densities choose a bandwidth, at most
DICT = Is(lambda value: isinstance(value, dict), "an instance of 'dict'")


def log_norm(kernel, d, bandwidth):
    """Logarithm of the factor that gives K_h the integral 1.

    >>> import math
    >>> round(math.exp(log_norm("tophat", 2, 1.0)), 6) == round(1 / math.pi, 6)
    True
    """
    ball = 0.5 * d * math.log(math.pi) - gammaln(0.5 * d + 1.0)  # volume of the unit ball; its surface is d times that
    if kernel == "gaussian":
        integral = 0.5 * d * math.log(2.0 * math.pi)
    elif kernel == "tophat":
        integral = ball
    elif kernel == "epanechnikov":
        integral = ball + math.log(2.0 / (d + 2.0))
    elif kernel == "exponential":
        integral = ball + gammaln(d + 1.0)
    elif kernel == "linear":
        integral = ball - math.log(d + 1.0)
    else:
        along = quad(lambda r: math.cos(0.5 * math.pi * r) * r ** (d - 1), 0.0, 1.0, epsabs=0.0, epsrel=1e-13)[0]
        integral = ball + math.log(d * along)
    return -integral - d * math.log(bandwidth)


class KernelDensity(BaseEstimator):
    """Density of rows, as a sum of bumps; rows far away are taken together, with an error that is bounded.

    Objective: none is minimised; with ``bandwidth="loo"`` the leave-one-out log-likelihood is maximised over
    bandwidths.  Stopping rule: a grid of half octaves, then golden section until the bracket is 1 % wide.

    Parameters
    ----------
    bandwidth : float, "scott", "silverman" or "loo", default=1.0
        Unit of distances in the kernel.  The rules are for columns of deviation 1, as in scikit-learn; "loo" looks at
        the data: see above (on at most 2000 rows, each against all others).
    algorithm : {"kd_tree", "ball_tree", "auto"}, default="auto"
        Accepted as in scikit-learn; what runs depends on metric and number of columns alone.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, default="gaussian"
        Shape of the bumps.
    metric : str, default="euclidean"
        Distance; the density has the integral 1 for Euclidean distances only.
    atol, rtol : float, default=0
        The density may be off by ``atol + rtol * density``; with 0 by rounding only.
    breadth_first : bool, default=True
        Accepted as in scikit-learn, without effect.
    leaf_size : int, default=40
        Accepted as in scikit-learn, without effect.
    metric_params : dict or None, default=None
        Options of the metric.

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth in use.
    loo_curve_ : ndarray of shape (n_tried, 2)
        Bandwidths tried and minus their mean leave-one-out log-likelihoods, for ``bandwidth="loo"``.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.

    References
    ----------
    Silverman (1986), Density estimation for statistics and data analysis.  Gray, Moore (2003), Nonparametric density
    estimation: toward computational tractability.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.neighbors import KernelDensity
    >>> X = np.random.default_rng(0).normal(size=(1000, 1))
    >>> model = KernelDensity(bandwidth=0.3).fit(X)
    >>> np.exp(model.score_samples([[0.0], [3.0]])).round(2).tolist()
    [0.39, 0.0]
    """

    _params = {
        "bandwidth": OneOf(Real(gt=0), Choice("scott", "silverman", "loo")),
        "algorithm": Choice("kd_tree", "ball_tree", "auto"),
        "kernel": Choice(*PROFILES),
        "metric": Choice(*BALL_TREE),
        "atol": Real(ge=0),
        "rtol": Real(ge=0),
        "breadth_first": Bool,
        "leaf_size": Int(ge=1),
        "metric_params": OneOf(DICT, Null),
    }

    def __init__(
        self,
        *,
        bandwidth=1.0,
        algorithm="auto",
        kernel="gaussian",
        metric="euclidean",
        atol=0,
        rtol=0,
        breadth_first=True,
        leaf_size=40,
        metric_params=None,
    ):
        self.bandwidth = bandwidth
        self.algorithm = algorithm
        self.kernel = kernel
        self.metric = metric
        self.atol = atol
        self.rtol = rtol
        self.breadth_first = breadth_first
        self.leaf_size = leaf_size
        self.metric_params = metric_params

    def fit(self, X, y=None, sample_weight=None):
        """Remember the rows and choose the bandwidth.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        # 1 parameters
        check_params(self)
        if self.algorithm == "kd_tree" and self.metric not in KD_TREE:
            raise ValueError(f"invalid metric for kd_tree: {self.metric!r}; take algorithm='ball_tree' or 'auto'")
        # 2 data
        X = np.asarray(check_design(self, X, reset=True, accept_sparse=False, order="C"), dtype=np.float64)
        weight = check_weight(sample_weight, X)
        weight = np.ones(X.shape[0]) if weight is None else weight
        # 3 maths
        self._summands = make_summands(X, weight[:, None], self._learnt(X))
        self._rows, self._total = X, float(weight.sum())
        self.__dict__.pop("loo_curve_", None)
        if self.bandwidth == "loo":
            start = typical_deviation(X, weight) * scott_factor(self._total, X.shape[1])
            found = best_bandwidth(self._loo_loss(X, weight), start)
            self.bandwidth_, self.loo_curve_ = found.bandwidth, found.curve
        elif isinstance(self.bandwidth, str):
            self.bandwidth_ = RULES[self.bandwidth](*X.shape)
        else:
            self.bandwidth_ = self.bandwidth
        return self

    def _learnt(self, X):
        """The metric, with its parameters."""
        options = dict(self.metric_params or {})
        if is_known(self.metric) and set(options) <= {"p", "w", "V", "VI"}:
            return learn_metric(self.metric, X, **options)
        return foreign_metric(self.metric)

    def _between(self):
        """The function that computes distances of a metric that is not ours."""
        if self._summands.metric.code >= 0:
            return None
        options = dict(self.metric_params or {})
        metric = options.pop("func") if self.metric == "pyfunc" else self.metric
        return lambda A, B: pairwise_distances(A, B, metric=metric, n_jobs=1, **options)

    def _log_sums(self, X, bandwidth, own=None):
        """Logarithms of the sums of kernels, each of integral 1."""
        norm = log_norm(self.kernel, self.n_features_in_, bandwidth)
        tolerances = {"rtol": self.rtol, "atol": self.atol * math.exp(min(-norm, 700.0))}
        sums = kernel_sums(self._summands, X, self.kernel, bandwidth, own=own, between=self._between(), **tolerances)
        with np.errstate(divide="ignore"):
            return np.log(sums.values[:, 0]) + sums.shift + norm

    def _loo_loss(self, X, weight):
        """Minus the mean leave-one-out log-likelihood as a function of the bandwidth."""
        rows = np.flatnonzero(weight > 0)
        if rows.size > LOO_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(rows, LOO_ROWS, replace=False))
        others = np.maximum(self._total - weight[rows], np.finfo(np.float64).tiny)

        def loss(bandwidth):
            return -np.average(self._log_sums(X[rows], bandwidth, own=rows) - np.log(others), weights=weight[rows])

        return loss

    def score_samples(self, X):
        """Logarithm of the density.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            Logarithms; minus infinity where no training row is within reach.
        """
        check_is_fitted(self)
        X = np.asarray(check_design(self, X, accept_sparse=False, order="C"), dtype=np.float64)
        return self._log_sums(X, self.bandwidth_) - math.log(self._total)

    def score(self, X, y=None):
        """Log-likelihood of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.

        Returns
        -------
        log_likelihood : float
            Sum of the logarithms of the density.
        """
        return np.sum(self.score_samples(X))

    def sample(self, n_samples=1, random_state=None):
        """Draw rows from the density: a training row, and a step that follows the kernel.

        Parameters
        ----------
        n_samples : int, default=1
            How many.
        random_state : int, RandomState or None, default=None
            Source of randomness.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        random = check_random_state(random_state)
        place = np.cumsum(self._summands.values[:, 0])
        chosen = np.searchsorted(place, random.uniform(0, 1, size=n_samples) * place[-1])
        centres = self._rows[np.minimum(chosen, len(place) - 1)]
        if self.kernel == "gaussian":
            return np.atleast_2d(random.normal(centres, self.bandwidth_))
        d = centres.shape[1]
        steps = random.normal(size=(n_samples, d))
        squares = (steps * steps).sum(axis=1)
        if self.kernel == "tophat":
            radius = gammainc(0.5 * d, 0.5 * squares) ** (1.0 / d)
        else:
            radius = _radius(self.kernel, d, n_samples, random)
        return centres + steps * (radius * self.bandwidth_ / np.sqrt(squares))[:, None]


def _radius(kernel, d, n, random):
    """Lengths of steps of a radial kernel in d dimensions: their density is ``K(r) r^(d-1)``."""
    if kernel == "exponential":
        return random.gamma(d, size=n)
    if kernel == "linear":
        return random.beta(d, 2, size=n)
    radius = np.sqrt(random.beta(0.5 * d, 2, size=n))  # that of 1 - r^2
    waiting = np.arange(n if kernel == "cosine" else 0)  # cos(pi r / 2) is at most 1 - r^2, and at least pi / 4 of it
    while waiting.size:
        r = radius[waiting]
        waiting = waiting[random.uniform(size=waiting.size) * (1 - r**2) > np.cos(0.5 * np.pi * r)]
        radius[waiting] = np.sqrt(random.beta(0.5 * d, 2, size=waiting.size))
    return radius
