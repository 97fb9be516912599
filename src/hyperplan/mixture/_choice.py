"""The number of Gaussians and the kind of their covariances, chosen by an information criterion."""

from typing import Any, NamedTuple

import numpy as np

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Choice,
    DensityMixin,
    Int,
    Is,
    OneOf,
    check_design,
    check_is_fitted,
    check_params,
    check_random_state,
)
from hyperplan.mixture._em import CollapsedError, joint_scores, rows_of
from hyperplan.mixture._gaussian_mixture import (
    MIXTURE_PARAMS,
    EmFit,
    GaussianMixture,
    count_parameters,
    information_criterion,
    run_em,
)
from hyperplan.mixture._start import Given, start_mixture

NOTHING = Given(None, None, None)
KINDS_RULE = Is(
    lambda v: MIXTURE_PARAMS["covariance_type"](v) or ArrayLike(v), "a kind of covariance or an array-like of kinds"
)


class Candidate(NamedTuple):
    """One fitted mixture and its criterion."""

    kind: str
    n_components: int
    criterion: float
    fit: Any  # EmFit, or None when it collapsed


def best_of_starts(rows, kind, k, *, n_init, way, random_state, **options) -> EmFit:
    """The run of the highest likelihood over some starts."""
    runs = (
        run_em(rows, kind, start_mixture(rows, kind, k, NOTHING, way, options["reg_covar"], random_state), **options)
        for _ in range(n_init)
    )
    return max(runs, key=lambda fit: fit.bound)


def compare_mixtures(X, kinds, numbers, criterion, *, n_init, way, seed, **options) -> list[Candidate]:
    """Mixtures of every kind and number, with their criteria; a collapsed one has infinity.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        C-ordered rows.
    kinds, numbers : sequence
        Kinds of covariances and numbers of components to compare.
    criterion : {'bic', 'aic'}
        What to minimise.
    n_init, way, seed : int, str, int
        Starts, how they are made, and the seed that every candidate begins with.
    **options
        `tol`, `max_iter` and `reg_covar` of EM.

    Returns
    -------
    list of Candidate
        In the order of `kinds`, then `numbers`.
    """
    found = []
    for kind in kinds:
        rows = rows_of(X, kind)
        for k in numbers:
            random_state = check_random_state(seed)
            try:
                with np.errstate(over="ignore", invalid="ignore"):  # what overflows ends as a collapsed component
                    fit = best_of_starts(rows, kind, k, n_init=n_init, way=way, random_state=random_state, **options)
            except CollapsedError:
                found.append(Candidate(kind, k, np.inf, None))
                continue
            scores = joint_scores(X, kind, fit.mixture)
            total = float(np.logaddexp.reduce(scores, axis=1).sum())
            value = information_criterion(criterion, total, count_parameters(kind, k, X.shape[1]), X.shape[0])
            found.append(Candidate(kind, k, value, fit))
    return found


class GaussianMixtureIC(DensityMixin, BaseEstimator):
    """A Gaussian mixture whose number of components and kind of covariance minimise BIC or AIC.

    Fits every combination and keeps the one of the lowest ``-2 log L + p log n`` (BIC) or ``-2 log L + 2 p`` (AIC), p
    the number of free parameters.

    Parameters
    ----------
    criterion : {'bic', 'aic'}, default='bic'
        What to minimise; BIC finds the true number from many rows, AIC predicts a little better and takes more.
    n_components : array-like of int or int, default=(1, 2, 3, 4, 5, 6)
        Numbers of components to compare (those above the number of rows are left out).
    covariance_type : array-like of str or str, default=('full', 'tied', 'diag', 'spherical')
        Kinds to compare.
    tol, reg_covar, max_iter, n_init, init_params, random_state
        As in `GaussianMixture`.

    Attributes
    ----------
    best_mixture_ : GaussianMixture
        The chosen mixture, fitted.
    n_components_ : int
        Its number of components.
    covariance_type_ : str
        Its kind of covariance.
    criterion_ : float
        Its criterion.
    criteria_ : ndarray of shape (n_kinds, n_numbers)
        All criteria; infinity where a component collapsed.
    certificate_ : Certificate
        The largest drop of the likelihood between steps of the chosen fit.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Schwarz (1978), Estimating the dimension of a model.
    Fraley, Raftery (2002), Model-based clustering, discriminant analysis and density estimation.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.mixture import GaussianMixtureIC
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-4, 1, size=(100, 1)), rng.normal(4, 1, size=(100, 1))])
    >>> GaussianMixtureIC(n_components=[1, 2, 3], covariance_type="diag", random_state=0).fit(X).n_components_
    2
    """

    _params = {
        **MIXTURE_PARAMS,
        "criterion": Choice("bic", "aic"),
        "n_components": OneOf(Int(ge=1), ArrayLike),
        "covariance_type": KINDS_RULE,
    }

    def __init__(
        self,
        criterion="bic",
        *,
        n_components=(1, 2, 3, 4, 5, 6),
        covariance_type=("full", "tied", "diag", "spherical"),
        tol=1e-3,
        reg_covar=1e-6,
        max_iter=100,
        n_init=1,
        init_params="kmeans",
        random_state=None,
    ):
        self.criterion = criterion
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.random_state = random_state

    def fit(self, X, y=None):
        """Fit all mixtures and keep the best.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        # 1. parameters
        check_params(self)
        kinds = self._kinds()
        # 2. data
        X = check_design(self, X, reset=True, accept_sparse=False, order="C", ensure_min_samples=2)
        numbers = [k for k in checked_numbers(self.n_components, type(self).__name__) if k <= X.shape[0]]
        if not numbers:
            raise ValueError(f"Every number of n_components={self.n_components!r} is above the {X.shape[0]} rows of X")
        # 3. maths
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        options = {"tol": self.tol, "max_iter": self.max_iter, "reg_covar": self.reg_covar, "n_init": self.n_init}
        found = compare_mixtures(X, kinds, numbers, self.criterion, way=self.init_params, seed=seed, **options)
        best = min(found, key=lambda candidate: candidate.criterion)
        if best.fit is None:
            raise CollapsedError("Every mixture has a collapsed component: increase reg_covar or scale the data.")
        # 4. attributes
        self.best_mixture_ = self._as_mixture(best, X.dtype)
        self.n_components_, self.covariance_type_, self.criterion_ = best.n_components, best.kind, best.criterion
        self.criteria_ = np.array([candidate.criterion for candidate in found]).reshape(len(kinds), len(numbers))
        self.certificate_ = self.best_mixture_.certificate_
        return self

    def _kinds(self):
        kinds = [self.covariance_type] if isinstance(self.covariance_type, str) else list(self.covariance_type)
        rule = MIXTURE_PARAMS["covariance_type"]
        strange = [kind for kind in kinds if not rule(kind)]
        if strange or not kinds:
            raise ValueError(
                f"covariance_type must hold kinds of covariances, each {rule}. Got {strange or 'nothing'}."
            )
        return kinds

    def _as_mixture(self, best, dtype):
        """The chosen fit as a `GaussianMixture`."""
        names = ("tol", "reg_covar", "max_iter", "n_init", "init_params", "random_state")
        shared = {name: getattr(self, name) for name in names}
        model = GaussianMixture(best.n_components, covariance_type=best.kind, **shared)
        model._store(best.fit, dtype)
        model.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        return model

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
        check_is_fitted(self)
        check_design(self, X, accept_sparse=False, ensure_all_finite=False)  # errors that name this class
        return self.best_mixture_.predict(X)

    def predict_proba(self, X):
        """Probabilities of the components given the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_components_)
            Rows sum to one.
        """
        check_is_fitted(self)
        return self.best_mixture_.predict_proba(X)

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
        check_is_fitted(self)
        return self.best_mixture_.score_samples(X)

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


def checked_numbers(n_components, owner):
    """Numbers of components as a list of positive integers."""
    numbers = np.atleast_1d(np.asarray(n_components))
    if numbers.ndim != 1 or numbers.size == 0 or numbers.dtype.kind not in "iu" or (numbers < 1).any():
        raise ValueError(
            f"The 'n_components' parameter of {owner} must be a positive int or a list of them. Got {n_components!r}."
        )
    return numbers.tolist()
