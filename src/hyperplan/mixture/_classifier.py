"""Classification by class-conditional mixtures.

Model: ``P(row | class c) = sum_k weight_ck N(row; mean_ck, covariance_ck)``; Bayes' rule with the shares of the
classes.  One component per class is quadratic discriminant analysis ('full', up to `reg_covar`) or Gaussian naive Bayes
('diag').
"""

import itertools
import warnings

import numpy as np

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Certificate,
    ConvergenceWarning,
    Int,
    Null,
    OneOf,
    check_design,
    check_finite,
    check_is_fitted,
    check_params,
    check_random_state,
    check_training,
    encode_labels,
)
from hyperplan._base.joint_scores import JointScoresMixin
from hyperplan._math.class_moments import class_order
from hyperplan._math.class_scores import log_normalised
from hyperplan.mixture._choice import checked_numbers, compare_mixtures
from hyperplan.mixture._em import CollapsedError, Mixture, joint_scores
from hyperplan.mixture._gaussian_mixture import MIXTURE_PARAMS, likelihood_certificate


class MixtureClassifier(JointScoresMixin, BaseEstimator):
    """Classes as mixtures of Gaussians, for classes of several clumps.

    Each class has a `GaussianMixture` of its own, fitted to its rows by expectation maximisation; the class of the
    largest ``log prior + log density`` is predicted.

    Parameters
    ----------
    n_components : int or array-like of int, default=2
        Gaussians per class (at most one per row of the class); of several numbers each class takes the one of the
        lowest BIC.
    covariance_type : {'full', 'tied', 'diag', 'spherical'}, default='full'
        Kind of the covariances within a class, see `GaussianMixture`.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; None takes their shares of the rows.
    tol, reg_covar, max_iter, n_init, init_params, random_state
        As in `GaussianMixture`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    priors_ : ndarray of shape (n_classes,)
        Priors.
    weights_, means_, covariances_, precisions_cholesky_ : list of ndarray
        The mixture of each class, as in `GaussianMixture`.
    n_components_ : ndarray of shape (n_classes,)
        Gaussians of each class.
    n_iter_ : int
        Most steps of a class.
    certificate_ : Certificate
        The largest drop of a likelihood between steps.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Hastie, Tibshirani (1996), Discriminant analysis by Gaussian mixtures.

    Examples
    --------
    >>> from hyperplan.mixture import MixtureClassifier
    >>> X = [[-3.0], [-2.8], [3.0], [3.3], [0.0], [0.4], [-0.3], [0.1]]
    >>> model = MixtureClassifier(random_state=0).fit(X, ["out", "out", "out", "out", "in", "in", "in", "in"])
    >>> model.predict([[-3.1], [0.2], [2.9]])
    array(['out', 'in', 'out'], dtype='<U3')
    """

    _params = {
        **MIXTURE_PARAMS,
        "n_components": OneOf(Int(ge=1), ArrayLike),
        "priors": OneOf(ArrayLike, Null),
    }

    def __init__(
        self,
        n_components=2,
        *,
        covariance_type="full",
        priors=None,
        tol=1e-3,
        reg_covar=1e-6,
        max_iter=100,
        n_init=1,
        init_params="kmeans",
        random_state=None,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.priors = priors
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.random_state = random_state

    def fit(self, X, y):
        """Fit a mixture to the rows of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self
            The fitted classifier.
        """
        # 1. parameters
        check_params(self)
        numbers = checked_numbers(self.n_components, type(self).__name__)
        # 2. data
        X, y, _ = check_training(self, X, y, accept_sparse=False, order="C")
        labels = encode_labels(y, min_classes=1)
        priors = self._checked_priors(labels)
        # 3. maths
        order, starts = class_order(labels.codes, labels.classes.shape[0])
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        rows = [X[order[a:b]] for a, b in itertools.pairwise(starts)]
        chosen = [self._fit_class(part, numbers, seed, label) for part, label in zip(rows, labels.classes)]
        self._warn(labels.classes, chosen)
        # 4. attributes
        mixtures = [candidate.fit.mixture for candidate in chosen]
        self.classes_, self.priors_ = labels.classes, priors
        self.weights_, self.means_, self.covariances_, self.precisions_cholesky_ = map(list, zip(*mixtures))
        self.n_components_ = np.array([candidate.n_components for candidate in chosen])
        self.n_iter_ = max(len(candidate.fit.bounds) for candidate in chosen)
        self.certificate_ = _worst([likelihood_certificate(candidate.fit, self.tol) for candidate in chosen])
        return self

    def _checked_priors(self, labels):
        n_classes = labels.classes.shape[0]
        if self.priors is None:
            return np.bincount(labels.codes, minlength=n_classes) / labels.codes.shape[0]
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != (n_classes,) or (priors < 0).any() or abs(priors.sum() - 1.0) > 1e-5:
            raise ValueError(f"priors must be {n_classes} non-negative numbers that sum to 1, got {self.priors!r}")
        return priors

    def _fit_class(self, X, numbers, seed, label):
        """The mixture of the lowest BIC among those with at most one component per row."""
        options = {"tol": self.tol, "max_iter": self.max_iter, "reg_covar": self.reg_covar, "n_init": self.n_init}
        numbers = sorted({min(k, X.shape[0]) for k in numbers})
        found = compare_mixtures(X, [self.covariance_type], numbers, "bic", way=self.init_params, seed=seed, **options)
        best = min(found, key=lambda candidate: candidate.criterion)
        if best.fit is None:
            raise CollapsedError(
                f"Class {label}: a component has no invertible covariance; increase reg_covar, take fewer "
                "components, or scale the data."
            )
        return best

    def _warn(self, classes, chosen):
        late = [label for label, candidate in zip(classes, chosen) if not candidate.fit.converged]
        if late and self.max_iter > 0:
            warnings.warn(
                f"The mixtures of {len(late)} class(es), the first {late[0]}, did not converge in {self.max_iter} "
                "steps: increase max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def predict_joint_log_proba(self, X):
        """Logarithms of prior times density.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        joint : ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse=False, order="C", ensure_all_finite=False)
        out = np.empty((X.shape[0], self.classes_.shape[0]))
        with np.errstate(divide="ignore"):
            out[...] = np.log(self.priors_)
        parts = zip(self.weights_, self.means_, self.covariances_, self.precisions_cholesky_)
        for c, part in enumerate(parts):
            out[:, c] += log_normalised(joint_scores(X, self.covariance_type, Mixture(*part)))[1]
        if not np.isfinite(out).all():
            check_finite(self, X)
        return out

    def _joint_scores(self, X):
        return self.predict_joint_log_proba(X)


def _worst(certificates) -> Certificate:
    """The certificate of the class that is nearest to its bound or beyond it."""
    return max(certificates, key=lambda certificate: certificate.value - certificate.bound)
