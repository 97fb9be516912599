"""Linear discriminant analysis.

Model: the rows of class k are Gaussian with mean ``mean_k`` and a covariance S that all classes share.  Maximum
likelihood and Bayes' rule give linear scores; see `_linear_solvers` for the ways to them.
"""

import contextlib
import warnings

import numpy as np
from scipy.special import expit, log_softmax, softmax

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Bool,
    Certificate,
    Choice,
    ClassNamePrefixFeaturesOutMixin,
    Int,
    Is,
    LinearClassifierMixin,
    Null,
    OneOf,
    Real,
    TransformerMixin,
    check_design,
    check_is_fitted,
    check_params,
    check_training,
    encode_labels,
)
from hyperplan._core.parallel import single_threaded_blas
from hyperplan.discriminant_analysis._common import REFERENCE, check_covariance_options
from hyperplan.discriminant_analysis._linear_solvers import SOLVERS

ESTIMATOR = OneOf(Is(lambda v: hasattr(v, "fit"), "an object implementing 'fit'"), Null)
SHRINKAGE = OneOf(Choice("auto"), Real(ge=0, le=1), Null)
FEW_COLUMNS = 256  # up to here eigenvectors are found faster by one thread
LEAST_BOUND = 1e-6  # what rounding may leave of the normal equations, relative


class LinearDiscriminantAnalysis(
    ClassNamePrefixFeaturesOutMixin, LinearClassifierMixin, TransformerMixin, BaseEstimator
):
    """Gaussian classes with one covariance: a linear classifier and Fisher's projection.

    The score of class k is ``x' S^-1 mean_k - mean_k' S^-1 mean_k / 2 + log prior_k`` with S the covariance within
    classes: the maximum of the joint likelihood, a closed form of one pass over the rows.  `transform` projects to the
    directions of the largest variance between classes relative to that within (``Sb v = lambda Sw v``).

    Parameters
    ----------
    solver : {'svd', 'lsqr', 'eigen'}, default='svd'
        'svd' copes with singular covariances; 'lsqr' (no `transform`) and 'eigen' allow shrinkage.
    shrinkage : 'auto', float in [0, 1] or None, default=None
        Shrink covariances towards a multiple of the identity; 'auto' takes the share of Ledoit and Wolf.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; None takes their shares of the rows.
    n_components : int, default=None
        Columns of `transform`, at most ``min(n_classes - 1, n_features)``.
    store_covariance : bool, default=False
        Keep the covariance within classes for 'svd' too.
    tol : float, default=1e-4
        Smallest standard deviation, of a direction of standardised columns, that counts for 'svd'.
    covariance_estimator : object with `fit` and `covariance_`, default=None
        Estimates the covariances instead, for 'lsqr' and 'eigen'.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; for two classes their difference.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    covariance_ : ndarray of shape (n_features, n_features)
        Covariance within classes; with 'svd' only if `store_covariance`.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Shares of the variance between classes along the components; not with 'lsqr'.
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    priors_ : ndarray of shape (n_classes,)
        Priors, summing to 1.
    scalings_ : ndarray of shape (n_features, rank)
        The projection; not with 'lsqr'.
    xbar_ : ndarray of shape (n_features,)
        Mean of the class means by priors; with 'svd' only.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    certificate_ : Certificate
        What is left of the normal equations of the rule, relative.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Hastie, Tibshirani, Friedman (2009), The Elements of Statistical Learning, section 4.3.
    Ledoit, Wolf (2004), A well-conditioned estimator for large-dimensional covariance matrices.

    Examples
    --------
    >>> from hyperplan.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [4.0, 3.0], [5.0, 5.0], [5.0, 4.0]]
    >>> model = LinearDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.predict([[1.0, 0.0], [4.0, 4.0]])
    array([0, 1])
    >>> model.transform(X).shape
    (6, 1)
    >>> model.certificate_.holds
    True
    """

    _params = {
        "solver": Choice(*SOLVERS),
        "shrinkage": SHRINKAGE,
        "n_components": OneOf(Int(ge=1), Null),
        "priors": OneOf(ArrayLike, Null),
        "store_covariance": Bool,
        "tol": Real(ge=0),
        "covariance_estimator": ESTIMATOR,
    }

    def __init__(
        self,
        solver="svd",
        shrinkage=None,
        priors=None,
        n_components=None,
        store_covariance=False,
        tol=1e-4,
        covariance_estimator=None,
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def fit(self, X, y):
        """Fit means, covariance and rule.

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
        self._check_solver()
        # 2. data (NaN and infinities show up in the sums)
        X, y, _ = check_training(
            self, X, y, accept_sparse=False, order="C", ensure_all_finite=False, ensure_min_samples=2
        )
        labels = encode_labels(y, estimator_name="LinearDiscriminantAnalysis")
        n_classes = labels.classes.shape[0]
        if X.shape[0] == n_classes:
            raise ValueError("The number of samples must be more than the number of classes.")
        priors = self._checked_priors(labels)
        n_components = self._components(n_classes, X.shape[1])
        # 3. maths
        with single_threaded_blas() if X.shape[1] <= FEW_COLUMNS else contextlib.nullcontext():
            rule = SOLVERS[self.solver](self, X, labels.codes, priors, n_components)
        # 4. attributes
        self.classes_ = labels.classes
        self._max_components = self._n_features_out = n_components
        self._store(rule, priors, X.dtype)
        self.certificate_ = _certificate(rule, max(LEAST_BOUND, self.tol if self.solver == "svd" else 0.0))
        return self

    def _check_solver(self):
        if self.solver == "svd" and self.shrinkage is not None:
            raise ValueError("shrinkage not supported with 'svd' solver.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ValueError("covariance estimator is not supported with svd solver. Try another solver")
        check_covariance_options(self.shrinkage, self.covariance_estimator)

    def _checked_priors(self, labels):
        n_classes = labels.classes.shape[0]
        if self.priors is None:
            return np.bincount(labels.codes, minlength=n_classes) / labels.codes.shape[0]
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != (n_classes,):
            raise ValueError(
                f"priors must have one number per class: got {priors.shape}, there are {n_classes} classes"
            )
        if (priors < 0).any():
            raise ValueError("priors must be non-negative")
        if abs(priors.sum() - 1.0) > 1e-5:
            warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=3)
            priors = priors / priors.sum()
        return priors

    def _components(self, n_classes, n_features):
        most = min(n_classes - 1, n_features)
        if self.n_components is not None and self.n_components > most:
            raise ValueError("n_components cannot be larger than min(n_features, n_classes - 1).")
        return most if self.n_components is None else self.n_components

    def _store(self, rule, priors, dtype):
        """Attributes in the precision of X; those of another solver go."""
        coef, intercept = rule.coef, rule.intercept
        if self.classes_.shape[0] == 2:
            with np.errstate(invalid="ignore"):
                coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        found = {
            "coef_": coef,
            "intercept_": intercept,
            "means_": rule.means,
            "priors_": priors,
            "covariance_": rule.covariance,
            "scalings_": rule.scalings,
            "explained_variance_ratio_": rule.explained,
            "xbar_": rule.xbar,
        }
        for name, value in found.items():
            self.__dict__.pop(name, None)
            if value is not None:
                setattr(self, name, np.ascontiguousarray(value, dtype=dtype))

    def transform(self, X):
        """Project to the directions that separate the classes best.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            Projected rows (fewer columns if the class means span fewer directions).
        """
        if self.solver == "lsqr":
            raise ValueError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen').")
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse=False)
        rows = X - self.xbar_ if self.solver == "svd" else X
        return rows @ self.scalings_[:, : self._max_components]

    def predict_proba(self, X):
        """Probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        scores = self.decision_function(X)
        return np.stack([expit(-scores), expit(scores)], axis=1) if scores.ndim == 1 else softmax(scores, axis=1)

    def predict_log_proba(self, X):
        """Logarithms of the probabilities of the classes, finite also where a probability rounds to 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_probability : ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.stack([np.zeros_like(scores), scores], axis=1)
        return log_softmax(scores, axis=1)


def _certificate(rule, bound):
    return Certificate(
        kind="normal equations",
        guarantee="the rule maximises the joint likelihood of rows and labels: S coef_k = mean_k up to a relative "
        f"{rule.residual:.2g}",
        value=rule.residual,
        bound=bound,
        assumption="classes are Gaussian with the same covariance",
        reference=REFERENCE,
    )
