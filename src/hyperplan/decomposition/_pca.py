"""Principal components: the directions of largest variance.

With A the centred table and C = A'A / (n - 1), the components are the eigenvectors v of C, largest eigenvalue first.
They maximise the variance ``v'Cv`` of what is kept and minimise ``|A - A V V'|^2``, what is lost, which is
(n - 1) times the sum of the eigenvalues left out.
"""

import math

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from hyperplan._base import (
    FLOATS,
    BaseEstimator,
    Bool,
    Certificate,
    Choice,
    ClassNamePrefixFeaturesOutMixin,
    Int,
    Null,
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
from hyperplan._solvers.eigen_result import signed
from hyperplan.decomposition import _pca_spectrum as ways

SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized")
EIGEN_SOLVERS = ("lapack", "householder-ql", "householder-qr", "givens-ql", "givens-qr", "jacobi")
NARROW = 1000  # columns up to which the covariance is the quickest way
SMALL = 500  # rows and columns up to which the singular value decomposition is affordable
BLOCKS = 8  # reads of the table for a Krylov space, unless told otherwise
TOLERANCE, STRICT = 1e-6, 1e-12  # relative residual at which it stops growing: for "auto", for "randomized"


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal component analysis.

    Parameters
    ----------
    n_components : int, float, "mle" or None, default=None
        How many components to keep; a share of the variance between 0 and 1; Minka's choice; None keeps all.
    copy : bool, default=True
        Accepted for compatibility: X is never written to.
    whiten : bool, default=False
        Whether coordinates are divided by their standard deviations.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized"}, default="auto"
        "covariance_eigh" takes the eigenvectors of the smaller Gram matrix, "full" the singular value decomposition,
        "arpack" a Lanczos iteration, "randomized" a block Krylov space; "auto" chooses by the shape.
    tol : float, default=0.0
        Relative residual of "arpack" (0 means close to machine precision).
    iterated_power : int or "auto", default="auto"
        Reads of the table after the first by "randomized"; "auto" stops by the residual, after at most seven.
    n_oversamples : int, default=10
        Further random vectors per block of "randomized".
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Accepted for compatibility: blocks are always orthonormal.
    random_state : int, RandomState instance or None, default=None
        Seed of "arpack" and "randomized".
    eigen_solver : {"lapack", "householder-ql", "householder-qr", "givens-ql", "givens-qr", "jacobi"}, default="lapack"
        Who diagonalises the Gram matrix of "covariance_eigh"; the others are those of `hyperplan.linalg`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Principal axes; the largest entry of each is positive.
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each axis (n - 1 degrees of freedom).
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Its share of the total.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of the centred table.
    mean_ : ndarray of shape (n_features,)
        Means of the columns.
    n_components_ : int
        Number of components.
    n_samples_ : int
        Number of training rows.
    noise_variance_ : float
        Mean variance along the axes left out.
    certificate_ : Certificate
        What is lost, against the least possible.

    References
    ----------
    Jolliffe (2002), Principal Component Analysis.  Tipping, Bishop (1999), Probabilistic principal component analysis.
    Musco, Musco (2015), Randomized block Krylov methods for stronger and faster approximate singular value
    decomposition.

    Examples
    --------
    >>> from hyperplan.datasets import load_penguins
    >>> from hyperplan.decomposition import PCA
    >>> X, _ = load_penguins(return_X_y=True)
    >>> model = PCA(2).fit(X)
    >>> model.explained_variance_ratio_.round(4).tolist()
    [0.9999, 0.0001]
    """

    _params = {
        "n_components": OneOf(Int(ge=0), Real(gt=0, lt=1), Choice("mle"), Null),
        "copy": Bool,
        "whiten": Bool,
        "svd_solver": Choice(*SOLVERS),
        "tol": Real(ge=0),
        "iterated_power": OneOf(Choice("auto"), Int(ge=0)),
        "n_oversamples": Int(ge=1),
        "power_iteration_normalizer": Choice("auto", "QR", "LU", "none"),
        "random_state": Seed,
        "eigen_solver": Choice(*EIGEN_SOLVERS),
    }

    def __init__(
        self,
        n_components=None,
        *,
        copy=True,
        whiten=False,
        svd_solver="auto",
        tol=0.0,
        iterated_power="auto",
        n_oversamples=10,
        power_iteration_normalizer="auto",
        random_state=None,
        eigen_solver="lapack",
    ):
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.eigen_solver = eigen_solver

    def fit(self, X, y=None):
        """Find the principal axes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : None
            Not used.

        Returns
        -------
        self
            The fitted model.
        """
        self._fit(X)
        return self

    def fit_transform(self, X, y=None):
        """Find the principal axes and the coordinates of the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : None
            Not used.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates.
        """
        return self._coordinates(self._fit(X))

    def _fit(self, X):
        check_params(self)
        if sp.issparse(X) and self.svd_solver in ("full", "randomized"):
            raise TypeError(
                'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, while '
                f'"{self.svd_solver}" was passed.'
            )
        X = check_design(self, X, reset=True, accept_sparse=("csr", "csc"), dtype=FLOATS)
        solver = self._solver(X)
        wanted = self._wanted(X, solver)
        found = self._spectrum(X, solver, wanted)
        self._keep(X, found, wanted, solver)
        return X

    def _solver(self, X):
        """The way to go, by the shape of the table."""
        n, d = X.shape
        if self.svd_solver != "auto":
            return self.svd_solver
        if sp.issparse(X):
            return "arpack"
        if self.eigen_solver != "lapack" or (d <= NARROW and n >= 10 * d):
            return "covariance_eigh"
        if max(n, d) <= SMALL or self.n_components == "mle":
            return "full"
        few = self.n_components is not None and 1 <= self.n_components < 0.1 * min(n, d)
        return "randomized" if few and min(n, d) > NARROW else "covariance_eigh"

    def _wanted(self, X, solver):
        """Number of components, a share or "mle", checked against the shape."""
        smaller = min(X.shape)
        wanted = self.n_components
        if wanted is None:
            return smaller if solver != "arpack" else smaller - 1
        if solver in ("full", "covariance_eigh"):
            if wanted == "mle" and X.shape[0] < X.shape[1]:
                raise ValueError("n_components='mle' is only supported if n_samples >= n_features")
            if wanted != "mle" and wanted > smaller:
                raise ValueError(
                    f"n_components={wanted} must be between 0 and min(n_samples, n_features)={smaller} with "
                    f"svd_solver={solver!r}"
                )
            return wanted
        if isinstance(wanted, str):
            raise ValueError(f"n_components={wanted!r} cannot be a string with svd_solver={solver!r}")
        if not 1 <= wanted <= smaller:
            raise ValueError(
                f"n_components={wanted!r} must be between 1 and min(n_samples, n_features)={smaller} with "
                f"svd_solver={solver!r}"
            )
        if solver == "arpack" and wanted == smaller:
            raise ValueError(
                f"n_components={wanted!r} must be strictly less than min(n_samples, n_features)={smaller} with "
                f"svd_solver={solver!r}"
            )
        return int(wanted)

    def _spectrum(self, X, solver, wanted):
        rng = check_random_state(self.random_state)
        if solver == "full":
            return ways.from_singular_values(X)
        if solver == "arpack":
            return ways.from_lanczos(X, wanted, tol=self.tol, rng=rng)
        if solver == "randomized":
            blocks = BLOCKS if self.iterated_power == "auto" else self.iterated_power + 1
            tol = TOLERANCE if self.svd_solver == "auto" else STRICT
            options = {"oversample": self.n_oversamples, "max_blocks": blocks, "tol": tol, "rng": rng}
            return ways.from_krylov_space(X, wanted, **options)
        few = wanted if isinstance(wanted, int) and self.n_components is not None and wanted > 0 else None
        by_rows = X.shape[0] < X.shape[1] and not sp.issparse(X)
        return (ways.from_row_products if by_rows else ways.from_covariance)(X, self.eigen_solver, few)

    def _keep(self, X, found, wanted, solver):
        n, d = X.shape
        spread = max(n - 1, 1)
        variance = found.squares[: min(n, d)] / spread
        total = found.total / spread
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = variance / total
        if wanted == "mle":
            wanted = ways.likely_dimension(variance, n)
        elif 0 < wanted < 1:
            wanted = min(int(np.searchsorted(np.cumsum(ratio), wanted, side="right")) + 1, variance.size)
        left_out = min(n, d) - wanted
        rest = max(total - float(variance[:wanted].sum()), 0.0)
        self.n_samples_, self.n_components_ = n, int(wanted)
        self.mean_ = found.mean.astype(X.dtype)
        self.components_ = np.ascontiguousarray(signed(found.axes[:wanted].T).T, dtype=X.dtype)
        self.explained_variance_ = variance[:wanted].astype(X.dtype)
        self.explained_variance_ratio_ = ratio[:wanted].astype(X.dtype)
        self.singular_values_ = np.sqrt(found.squares[:wanted]).astype(X.dtype)
        if left_out > 0:
            known = variance[wanted:]
            self.noise_variance_ = float(known.mean() if known.size == left_out else rest / left_out)
        else:
            self.noise_variance_ = 0.0
        self._fit_svd_solver = solver
        self.certificate_ = self._vouch(found, total)

    def _vouch(self, found, total):
        direct = found.n_reads == 1 and found.residual == 0.0
        tolerance = 1e-10 if direct else max(TOLERANCE, self.tol)
        return Certificate(
            kind="eigen residual",
            guarantee="no other axes of this number keep more variance, but for this relative error",
            value=found.residual,
            bound=tolerance if direct or found.residual <= tolerance else 1.0,
            assumption="" if direct else "the random start is not orthogonal to a leading axis",
            reference="Parlett (1998), The Symmetric Eigenvalue Problem, chapter 4",
            details={
                "kept_variance": float(self.explained_variance_.sum()),
                "total_variance": total,
                "reads": found.n_reads,
                "solver": self._fit_svd_solver,
            },
        )

    def transform(self, X):
        """Coordinates of rows on the principal axes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates.
        """
        check_is_fitted(self)
        return self._coordinates(check_design(self, X, accept_sparse=("csr", "csc"), dtype=FLOATS))

    def _coordinates(self, X):
        scores = X @ self.components_.T - self.mean_ @ self.components_.T
        if self.whiten:
            scale = np.sqrt(self.explained_variance_)
            scores /= np.maximum(scale, np.finfo(scale.dtype).eps)
        return scores

    def inverse_transform(self, X):
        """Rows with these coordinates, in the plane of the axes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Coordinates.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        X = check_array(X, input_name="X", dtype=FLOATS)
        return X @ self._model_axes() + self.mean_

    def get_covariance(self):
        """Covariance of the model with Gaussian noise on the axes left out.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            Covariance.
        """
        axes = self._model_axes()
        covariance = (axes.T * self._above_noise()) @ axes
        covariance.flat[:: covariance.shape[0] + 1] += self.noise_variance_
        return covariance

    def get_precision(self):
        """Inverse of the covariance, by the inversion lemma.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            Precision.
        """
        d = self.components_.shape[1]
        if self.n_components_ == 0:
            return np.eye(d) / self.noise_variance_
        if self.noise_variance_ == 0.0:
            return la.inv(self.get_covariance())
        axes, above = self._model_axes(), self._above_noise()
        # (V E V' + s I)^-1 = (I - V diag(e / (e l + s)) V') / s for orthogonal rows of squared length l in V
        shrink = above / (above * np.einsum("ij,ij->i", axes, axes) + self.noise_variance_)
        precision = -(axes.T * shrink) @ axes
        precision.flat[:: d + 1] += 1.0
        return precision / self.noise_variance_

    def _model_axes(self):
        """The axes, stretched with `whiten` as scikit-learn's model of the covariance has them."""
        return np.sqrt(self.explained_variance_)[:, None] * self.components_ if self.whiten else self.components_

    def _above_noise(self):
        return np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)

    def score_samples(self, X):
        """Log-likelihood of rows under the Gaussian model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log-likelihoods.
        """
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse=("csr", "csc"), dtype=FLOATS)
        X = X.toarray() if sp.issparse(X) else X
        centred, precision = X - self.mean_, self.get_precision()
        sign, log_determinant = np.linalg.slogdet(precision)
        log_determinant = log_determinant if sign > 0 else -math.inf
        likelihood = -0.5 * np.einsum("ij,ij->i", centred, centred @ precision)
        return likelihood - 0.5 * (X.shape[1] * math.log(2.0 * math.pi) - log_determinant)

    def score(self, X, y=None):
        """Mean log-likelihood of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.

        Returns
        -------
        float
            Mean log-likelihood.
        """
        return float(np.mean(self.score_samples(X)))

    @property
    def _n_features_out(self):
        return self.components_.shape[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = self.svd_solver in ("auto", "arpack", "covariance_eigh")
        return tags
