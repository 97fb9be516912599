"""Gaussian mixtures by expectation maximisation.

Objective: ``sum_i log sum_k weight_k N(x_i; mean_k, covariance_k)``; every step raises it (up to `reg_covar`, which is
added to variances), and the certificate has the largest drop that was measured.  See `_em` for a step.
"""

import math
import time
import warnings
from typing import NamedTuple

import numpy as np

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Bool,
    Certificate,
    Choice,
    ConvergenceWarning,
    DensityMixin,
    Int,
    Null,
    OneOf,
    Real,
    Seed,
    check_design,
    check_finite,
    check_is_fitted,
    check_params,
    check_random_state,
)
from hyperplan._math.class_scores import log_normalised, winners
from hyperplan.mixture._em import KINDS, Mixture, em_pass, joint_scores, rows_of
from hyperplan.mixture._start import checked_start, start_mixture

REFERENCE = "Dempster, Laird, Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm"
ROUNDING = 1e-9  # relative drop of the likelihood that rounding may cause


class EmFit(NamedTuple):
    """The end of a run: parameters, mean log-likelihoods before each step, whether it converged."""

    mixture: Mixture
    bounds: list
    converged: bool

    @property
    def bound(self) -> float:
        return self.bounds[-1] if self.bounds else -math.inf


def run_em(rows, kind, start, *, tol, max_iter, reg_covar, before=-math.inf, observe=None) -> EmFit:
    """Steps until the mean log-likelihood changes by less than `tol`.

    Parameters
    ----------
    rows : Rows
        Checked rows, from `rows_of`.
    kind : {'full', 'tied', 'diag', 'spherical'}
        Kind of the covariances.
    start : Mixture
        First parameters.
    tol, max_iter, reg_covar : float, int, float
        As in `GaussianMixture`.
    before : float, default=-inf
        Mean log-likelihood of an earlier run that this one continues.
    observe : callable, default=None
        Called with the number of the step and the change.

    Returns
    -------
    EmFit
        The last parameters.
    """
    mixture, bounds, converged = start, [], False
    for step in range(1, max_iter + 1):
        bound, mixture = em_pass(rows, kind, mixture, reg_covar)
        change = bound - (bounds[-1] if bounds else before)
        bounds.append(bound)
        if observe is not None:
            observe(step, change)
        if abs(change) < tol:
            converged = True
            break
    return EmFit(mixture, bounds, converged)


def count_parameters(kind, k, d) -> int:
    """Free parameters of a mixture of k Gaussians in d dimensions."""
    triangle = d * (d + 1) // 2
    return {"full": k * triangle, "tied": triangle, "diag": k * d, "spherical": k}[kind] + k * d + k - 1


def information_criterion(name, log_likelihood, n_parameters, n):
    """BIC ``-2 log L + p log n`` or AIC ``-2 log L + 2 p``, of the log-likelihood of all rows; lower is better."""
    return -2.0 * log_likelihood + n_parameters * (math.log(n) if name == "bic" else 2.0)


def likelihood_certificate(fit, tol):
    """The largest drop between steps, against rounding and the stopping rule."""
    drop = max((a - b for a, b in zip(fit.bounds, fit.bounds[1:])), default=0.0)
    drop = max(drop, 0.0)
    return Certificate(
        kind="monotone likelihood",
        guarantee=f"no step lowered the mean log-likelihood by more than {drop:.2g}; the end is a stationary point, "
        "not always the highest",
        value=drop,
        bound=max(tol, ROUNDING * max(abs(fit.bound), 1.0) if fit.bounds else tol),
        assumption="reg_covar is small against the variances of the components",
        reference=REFERENCE,
        details={"steps": len(fit.bounds), "converged": fit.converged, "mean log-likelihood": fit.bound},
    )


MIXTURE_PARAMS = {
    "covariance_type": Choice(*KINDS),
    "tol": Real(ge=0),
    "reg_covar": Real(ge=0),
    "max_iter": Int(ge=0),
    "n_init": Int(ge=1),
    "init_params": Choice("kmeans", "k-means++", "random", "random_from_data"),
    "random_state": Seed,
}


class GaussianMixture(DensityMixin, BaseEstimator):
    """A density as a sum of Gaussians, fitted by expectation maximisation.

    Maximises the mean over rows of ``log sum_k weight_k N(x; mean_k, covariance_k)``.  Stopping rule: a step changes it
    by less than `tol`.  The result depends on the start; `n_init` starts keep the best.

    Parameters
    ----------
    n_components : int, default=1
        Number of Gaussians; `GaussianMixtureIC` chooses it.
    covariance_type : {'full', 'tied', 'diag', 'spherical'}, default='full'
        Own general covariances, one for all, own diagonal ones, own single variances.
    tol : float, default=1e-3
        Stopping rule.
    reg_covar : float, default=1e-6
        Added to all variances.
    max_iter : int, default=100
        Most steps; 0 keeps the start.
    n_init : int, default=1
        Number of starts.
    init_params : {'kmeans', 'k-means++', 'random', 'random_from_data'}, default='kmeans'
        How to start: from clusters, from rows spread out, from random shares, from random rows.
    weights_init : array-like of shape (n_components,), default=None
        Given first weights.
    means_init : array-like of shape (n_components, n_features), default=None
        Given first means.
    precisions_init : array-like, default=None
        Given first inverses of the covariances, in the shape of `precisions_`.
    random_state : int, RandomState instance or None, default=None
        Seed of starts and samples.
    warm_start : bool, default=False
        Continue from the last fit.
    verbose : int, default=0
        Print steps (2: with times).
    verbose_interval : int, default=10
        Steps between two lines.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Weights.
    means_ : ndarray of shape (n_components, n_features)
        Means.
    covariances_ : ndarray
        Covariances: (n_components, n_features, n_features) for 'full', (n_features, n_features) for 'tied',
        (n_components, n_features) for 'diag', (n_components,) for 'spherical'.
    precisions_ : ndarray
        Their inverses.
    precisions_cholesky_ : ndarray
        Upper triangular factors U of the inverses, ``U U'``; square roots for 'diag' and 'spherical'.
    converged_ : bool
        Whether the best run met the stopping rule.
    n_iter_ : int
        Its number of steps.
    lower_bound_ : float
        Mean log-likelihood before its last step.
    lower_bounds_ : list of float
        The same before every step.
    certificate_ : Certificate
        The largest drop of the likelihood between steps.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Dempster, Laird, Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm.

    Examples
    --------
    >>> from hyperplan.mixture import GaussianMixture
    >>> X = [[1.0, 2.0], [1.0, 4.0], [1.0, 0.0], [10.0, 2.0], [10.0, 4.0], [10.0, 0.0]]
    >>> model = GaussianMixture(n_components=2, random_state=0).fit(X)
    >>> sorted(model.means_[:, 0].round(3).tolist())
    [1.0, 10.0]
    >>> model.certificate_.holds
    True
    """

    _params = {
        "n_components": Int(ge=1),
        **MIXTURE_PARAMS,
        "weights_init": OneOf(ArrayLike, Null),
        "means_init": OneOf(ArrayLike, Null),
        "precisions_init": OneOf(ArrayLike, Null),
        "warm_start": Bool,
        "verbose": OneOf(Int(ge=0), Bool),
        "verbose_interval": Int(ge=1),
    }

    def __init__(
        self,
        n_components=1,
        *,
        covariance_type="full",
        tol=1e-3,
        reg_covar=1e-6,
        max_iter=100,
        n_init=1,
        init_params="kmeans",
        weights_init=None,
        means_init=None,
        precisions_init=None,
        random_state=None,
        warm_start=False,
        verbose=0,
        verbose_interval=10,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval

    def fit(self, X, y=None):
        """Fit the mixture.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted mixture.
        """
        # 1. parameters
        check_params(self)
        # 2. data
        X = check_design(self, X, reset=True, accept_sparse=False, order="C", ensure_min_samples=2)
        if X.shape[0] < self.n_components:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {self.n_components}, "
                f"n_samples = {X.shape[0]}"
            )
        inits = self.weights_init, self.means_init, self.precisions_init
        given = checked_start(self.covariance_type, self.n_components, X.shape[1], *inits)
        # 3. maths
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows ends as a collapsed component
            fit = self._best_run(X, given)
        if not fit.converged and self.max_iter > 0:
            last = fit.bounds[-1] - fit.bounds[-2] if len(fit.bounds) > 1 else math.inf
            warnings.warn(
                "Best performing initialization did not converge. Try different init parameters, or increase max_iter, "
                f"tol, or check for degenerate data. (The last of {len(fit.bounds)} steps changed the mean "
                f"log-likelihood by {last:.2g}; tol is {self.tol:g}.)",
                ConvergenceWarning,
                stacklevel=2,
            )
        # 4. attributes
        self._store(fit, X.dtype)
        return self

    def _best_run(self, X, given):
        """The run of the highest likelihood over the starts, or the continuation of the last fit."""
        kind, k = self.covariance_type, self.n_components
        rows, random_state = rows_of(X, kind), check_random_state(self.random_state)
        options = {"tol": self.tol, "max_iter": self.max_iter, "reg_covar": self.reg_covar}
        if self.warm_start and hasattr(self, "converged_"):
            start = Mixture(*(np.asarray(part, dtype=np.float64) for part in self._parameters()))
            return run_em(rows, kind, start, before=self.lower_bound_, observe=self._printer(0), **options)
        best = None
        for number in range(self.n_init):
            observe = self._printer(number)
            start = start_mixture(rows, kind, k, given, self.init_params, self.reg_covar, random_state)
            fit = run_em(rows, kind, start, observe=observe, **options)
            if self.verbose:
                print(f"Initialization {'converged' if fit.converged else 'did not converge'}.")
            if best is None or fit.bound > best.bound:
                best = fit
        return best

    def _printer(self, number):
        if not self.verbose:
            return None
        print(f"Initialization {number}")
        clock = [time.perf_counter()]

        def observe(step, change):
            if step % self.verbose_interval == 0:
                now = time.perf_counter()
                detail = f"\t time lapse {now - clock[0]:.5f}s\t ll change {change:.5f}" if self.verbose > 1 else ""
                print(f"  Iteration {step}{detail}")
                clock[0] = now

        return observe

    def _parameters(self):
        return Mixture(self.weights_, self.means_, self.covariances_, self.precisions_cholesky_)

    def _store(self, fit, dtype):
        """Attributes in the precision of X."""
        weights, means, covariances, factors = (np.asarray(part, dtype=dtype) for part in fit.mixture)
        self.weights_, self.means_, self.covariances_, self.precisions_cholesky_ = weights, means, covariances, factors
        matrices = self.covariance_type in ("full", "tied")
        self.precisions_ = factors @ np.swapaxes(factors, -1, -2) if matrices else factors**2
        self.converged_, self.n_iter_ = fit.converged, len(fit.bounds)
        self.lower_bound_, self.lower_bounds_ = fit.bound, fit.bounds
        self.certificate_ = likelihood_certificate(fit, self.tol)

    def fit_predict(self, X, y=None):
        """Fit the mixture and assign the rows to components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The most probable component of each row.
        """
        return self.fit(X).predict(X)

    def _scores(self, X):
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse=False, order="C", ensure_all_finite=False)
        mixture = Mixture(*(np.asarray(part, dtype=np.float64) for part in self._parameters()))
        scores = joint_scores(X, self.covariance_type, mixture)
        if not np.isfinite(scores).all():
            check_finite(self, X)
        return scores

    def score_samples(self, X):
        """Log-density of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            Logarithms of the density.
        """
        return log_normalised(self._scores(X))[1]

    def score(self, X, y=None):
        """Mean log-density of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.

        Returns
        -------
        log_likelihood : float
            The mean.
        """
        return float(self.score_samples(X).mean())

    def predict(self, X):
        """The most probable component of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Components.
        """
        return winners(self._scores(X))

    def predict_proba(self, X):
        """Probabilities of the components given the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_components)
            Rows sum to one.
        """
        return np.exp(log_normalised(self._scores(X))[0])

    def sample(self, n_samples=1):
        """Draw rows from the fitted density.

        Parameters
        ----------
        n_samples : int, default=1
            How many.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Rows, component by component.
        y : ndarray of shape (n_samples,)
            Their components.
        """
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(f"Invalid value for 'n_samples': {n_samples} . The sampling requires at least one sample.")
        random_state = check_random_state(self.random_state)
        counts = random_state.multinomial(n_samples, _sum_to_one(self.weights_))
        parts = [self._draw(random_state, k, int(count)) for k, count in enumerate(counts)]
        return np.vstack(parts), np.repeat(np.arange(counts.shape[0]), counts)

    def _draw(self, random_state, k, count):
        mean, kind = self.means_[k], self.covariance_type
        covariance = self.covariances_ if kind == "tied" else self.covariances_[k]
        if kind in ("full", "tied"):
            return random_state.multivariate_normal(mean, covariance, count)
        return mean + random_state.standard_normal(size=(count, mean.shape[0])) * np.sqrt(covariance)

    def bic(self, X):
        """Bayesian information criterion ``-2 log L + p log n``; lower is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        bic : float
            The criterion.
        """
        return self._criterion("bic", X)

    def aic(self, X):
        """Akaike's information criterion ``-2 log L + 2 p``; lower is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        aic : float
            The criterion.
        """
        return self._criterion("aic", X)

    def _criterion(self, name, X):
        each = self.score_samples(X)
        return information_criterion(name, float(each.sum()), self._n_parameters(), each.shape[0])

    def _n_parameters(self):
        return count_parameters(self.covariance_type, *self.means_.shape)


def _sum_to_one(weights):
    weights = np.asarray(weights, dtype=np.float64)
    return weights / weights.sum()
