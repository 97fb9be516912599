"""Quadratic discriminant analysis.

Model: the rows of class k are Gaussian with mean ``mean_k`` and covariance ``S_k`` of their own; the score of class k
is ``log prior_k - log det S_k / 2 - (x - mean_k)' S_k^-1 (x - mean_k) / 2``.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Bool,
    Certificate,
    Choice,
    Null,
    OneOf,
    Real,
    check_design,
    check_finite,
    check_is_fitted,
    check_params,
    check_training,
    encode_labels,
)
from hyperplan._base.joint_scores import JointScoresMixin
from hyperplan._math._class_moments_kernels import gather_rows
from hyperplan._math.class_moments import class_scatters, worthwhile
from hyperplan._math.class_scores import gaussian_full_scores, upper_triangle
from hyperplan._math.moments import quiet_map
from hyperplan.discriminant_analysis._common import (
    REFERENCE,
    check_covariance_options,
    class_rows,
    covariance_of,
    require_finite,
)
from hyperplan.discriminant_analysis._linear import ESTIMATOR, SHRINKAGE

EXACT = 1e-8  # eigenvalues below this share of the largest have lost too many digits
BOUND = 1e-6  # what rounding may leave of A' S A = I


class Axes(NamedTuple):
    """Principal axes of a class: variances along them, largest first, the rotation to them, and the covariance."""

    scaling: np.ndarray  # (r,)
    rotation: np.ndarray  # (d, r)
    covariance: np.ndarray  # (d, d)
    residual: float  # largest entry of A' S A - I


def axes_of(covariance, rows_about_mean=None):
    """Eigenvectors of a covariance; where small eigenvalues lost their digits, from the centred rows if given."""
    values, vectors = scipy.linalg.eigh(covariance, driver="evd")
    values, vectors = values[::-1], vectors[:, ::-1]
    if rows_about_mean is not None and values[-1] < EXACT * values[0]:
        rows = rows_about_mean()
        _, lengths, axes = scipy.linalg.svd(rows, full_matrices=False)
        return lengths**2 / rows.shape[0], axes.T
    return values, vectors


class QuadraticDiscriminantAnalysis(JointScoresMixin, BaseEstimator):
    """Gaussian classes, each with a covariance of its own: quadratic borders.

    Means and covariances are the closed forms of maximum likelihood, from one pass over the rows.  A class whose
    covariance is singular is an error that says what to do.

    Parameters
    ----------
    solver : {'svd', 'eigen'}, default='svd'
        'svd' allows `reg_param`, 'eigen' shrinkage or a covariance estimator.
    shrinkage : 'auto', float in [0, 1] or None, default=None
        Shrink covariances towards a multiple of the identity; 'auto' takes the share of Ledoit and Wolf.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; None takes their shares of the rows.
    reg_param : float in [0, 1], default=0.0
        With 'svd', covariances are ``(1 - reg_param) S_k + reg_param I``.
    store_covariance : bool, default=False
        Keep the covariances.
    tol : float, default=1e-4
        Variance along an axis below which a covariance counts as singular.
    covariance_estimator : object with `fit` and `covariance_`, default=None
        Estimates the covariances instead, for 'eigen'.

    Attributes
    ----------
    covariance_ : list of ndarray of shape (n_features, n_features)
        Covariances by class, if `store_covariance`.
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    priors_ : ndarray of shape (n_classes,)
        Priors.
    rotations_ : list of ndarray of shape (n_features, n_features)
        Principal axes by class.
    scalings_ : list of ndarray of shape (n_features,)
        Variances along them.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    certificate_ : Certificate
        How far the covariances are from the identity after whitening.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Hastie, Tibshirani, Friedman (2009), The Elements of Statistical Learning, section 4.3.

    Examples
    --------
    >>> from hyperplan.discriminant_analysis import QuadraticDiscriminantAnalysis
    >>> X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [4.0, 3.0], [5.0, 5.0], [5.0, 4.0]]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.predict([[1.0, 0.0], [4.0, 4.0]])
    array([0, 1])
    """

    _params = {
        "solver": Choice("svd", "eigen"),
        "shrinkage": SHRINKAGE,
        "priors": OneOf(ArrayLike, Null),
        "reg_param": Real(ge=0, le=1),
        "store_covariance": Bool,
        "tol": Real(ge=0),
        "covariance_estimator": ESTIMATOR,
    }

    def __init__(
        self,
        *,
        solver="svd",
        shrinkage=None,
        priors=None,
        reg_param=0.0,
        store_covariance=False,
        tol=1.0e-4,
        covariance_estimator=None,
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def fit(self, X, y):
        """Fit means and covariances.

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
        X, y, _ = check_training(self, X, y, accept_sparse=False, order="C", ensure_all_finite=False)
        labels = self._checked_labels(y, X.shape[1])
        # 3. maths
        scatters = class_scatters(X, labels.codes, labels.classes.shape[0])
        require_finite(self, X, scatters.scatter)
        axes = self._axes(X, scatters)
        for label, count, found in zip(labels.classes, scatters.count, axes):
            self._require_full_rank(label, int(count), found.scaling, X.shape[1])
        # 4. attributes
        self.classes_ = labels.classes
        self.priors_ = scatters.count / X.shape[0] if self.priors is None else np.array(self.priors)
        self.means_ = scatters.mean
        self.scalings_ = [found.scaling for found in axes]
        self.rotations_ = [found.rotation for found in axes]
        self.__dict__.pop("covariance_", None)
        if self.store_covariance:
            self.covariance_ = [found.covariance for found in axes]
        self.certificate_ = _certificate(max(found.residual for found in axes))
        return self

    def _check_solver(self):
        if self.solver == "svd" and self.shrinkage is not None:
            raise ValueError("shrinkage not supported with 'svd' solver.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ValueError("covariance_estimator is not supported with solver='svd'. Try solver='eigen' instead.")
        check_covariance_options(self.shrinkage, self.covariance_estimator)

    def _checked_labels(self, y, n_features):
        labels = encode_labels(y, min_classes=1)
        counts = np.bincount(labels.codes)
        if counts.shape[0] < 2:
            raise ValueError(f"The number of classes has to be greater than one. Got {counts.shape[0]} class.")
        if self.priors is not None and np.shape(self.priors) != counts.shape:
            raise ValueError(
                f"priors must have one number per class: got {np.shape(self.priors)} for {counts.shape[0]} classes"
            )
        alone = np.flatnonzero(counts == 1)
        if alone.size:
            raise ValueError(f"y has only 1 sample in class {labels.classes[alone[0]]}, covariance is ill defined.")
        few = np.flatnonzero(counts < n_features)
        if few.size and self.solver == "svd":  # before matrices are made that cannot have full rank
            self._require_full_rank(labels.classes[few[0]], int(counts[few[0]]), np.empty(0), n_features)
        return labels

    def _axes(self, X, scatters):
        """Principal axes of all classes, one task each."""
        rows = class_rows(scatters)

        def task(k):
            order, mean = rows[k], scatters.mean[k]

            def centred():
                out = np.empty((order.shape[0], X.shape[1]))
                gather_rows(X, order, mean, out)
                return out

            if self.solver == "svd":
                covariance = scatters.scatter[k] / order.shape[0]
                scaling, rotation = axes_of(covariance, centred)
                covariance = (1 - self.reg_param) * covariance + self.reg_param * np.eye(X.shape[1])
                scaling = (1 - self.reg_param) * scaling + self.reg_param
            else:
                options = self.shrinkage, self.covariance_estimator
                covariance = covariance_of(X, order, mean, scatters.scatter[k], *options)
                scaling, rotation = axes_of(covariance)
            with np.errstate(divide="ignore", invalid="ignore"):
                white = rotation / np.sqrt(np.maximum(scaling, 0.0))
                residual = np.abs(white.T @ covariance @ white - np.eye(scaling.shape[0])).max()
            return Axes(scaling, np.ascontiguousarray(rotation), covariance, float(residual))

        if self.covariance_estimator is not None:  # one object, fitted class after class
            return [task(k) for k in range(len(rows))]
        return quiet_map(task, range(len(rows)), worthwhile(None, len(rows) * 20 * X.shape[1] ** 3))

    def _require_full_rank(self, label, count, scaling, n_features):
        if (scaling > self.tol).sum() >= n_features:
            return
        problem = f"The covariance matrix of class {label} is not full rank. "
        if self.solver == "svd" and count <= n_features:
            raise scipy.linalg.LinAlgError(
                f"{problem}When using `solver='svd'` the number of samples in each class should be more than the "
                f"number of features, but class {label} has {count} samples and {n_features} features. Try using "
                "`solver='eigen'` and setting the parameter `shrinkage` for regularization."
            )
        option = "shrinkage" if self.solver == "eigen" else "reg_param"
        raise scipy.linalg.LinAlgError(f"{problem}Increase the value of `{option}` to reduce the collinearity.")

    def _joint_scores(self, X):
        """Logarithm of prior times density, up to a constant."""
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse=False, order="C", ensure_all_finite=False)
        with np.errstate(divide="ignore"):
            constant = np.log(self.priors_) - 0.5 * np.array([np.log(scaling).sum() for scaling in self.scalings_])
        parts = zip(self.rotations_, self.scalings_)
        work = worthwhile(None, self.means_.shape[0] * 5 * self.means_.shape[1] ** 3)
        triangles = quiet_map(lambda part: upper_triangle(part[0] / np.sqrt(part[1])), parts, work)
        scores = gaussian_full_scores(X, self.means_, triangles, constant)
        if not np.isfinite(scores).all():
            check_finite(self, X)
        return scores

    def decision_function(self, X):
        """Scores of the classes; for two classes the logarithm of the ratio of their probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            The largest wins; for two classes positive means ``classes_[1]``.
        """
        scores = self._joint_scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def _certificate(residual):
    return Certificate(
        kind="whitened covariances",
        guarantee="means and covariances are the closed forms of maximum likelihood; along its axes every class has "
        f"the covariance I within {residual:.2g}",
        value=residual,
        bound=BOUND,
        assumption="classes are Gaussian",
        reference=REFERENCE,
    )
