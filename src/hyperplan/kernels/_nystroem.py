"""Nystroem's map: features whose inner products are the kernel's values, exactly on some rows, nearly on others."""

import warnings

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    BaseEstimator,
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
from hyperplan._base.kernels import ClassNamePrefixFeaturesOutMixin
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import single_threaded_blas
from hyperplan.kernels._kernel import Kernel
from hyperplan.kernels._resolve import KernelParameter, is_precomputed, resolve

SMALLEST = 1e-12  # eigenvalues below count as this


class Nystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features ``K_mm^(-1/2) k(x, x_j)`` from m rows x_j drawn at random: a kernel method becomes a linear one.

    Inner products of the features are the values of the kernel projected on the span of the m rows: exact between
    those, and never too large on the diagonal.  With all rows, ``sqrt(lambda_j) psi_j(x)``, Mercer's map, up to a
    rotation.

    Parameters
    ----------
    kernel : str, callable or Kernel, default="rbf"
        A name as in `KernelRidge`, "precomputed" (X is the matrix of kernel values), a function of two rows, or an
        object of `hyperplan.kernels`.
    gamma : float, default=None
        Parameter of named kernels; None means 1 / n_features (1 for "chi2").
    coef0 : float, default=None
        Constant of "poly" and "sigmoid"; None means 1.
    degree : float, default=None
        Degree of "poly"; None means 3.
    kernel_params : dict, default=None
        Keyword arguments of a function.
    n_components : int, default=100
        Number of rows m.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice; the same rows as scikit-learn's for the same seed.
    n_jobs : int, default=None
        Threads; they change no bit.

    Attributes
    ----------
    components_ : {ndarray, sparse matrix} of shape (n_components, n_features)
        The chosen rows.
    component_indices_ : ndarray of shape (n_components,)
        Their positions in the table of the fit.
    normalization_ : ndarray of shape (n_components, n_components)
        ``K_mm^(-1/2)``.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Williams, Seeger (2001), Using the Nystroem method to speed up kernel machines.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.kernels import RBF, Nystroem
    >>> X = np.linspace(0.0, 3.0, 40)[:, None]
    >>> features = Nystroem(gamma=0.5, n_components=12, random_state=0).fit_transform(X)
    >>> bool(abs(features @ features.T - RBF(gamma=0.5)(X)).max() < 1e-3)
    True
    """

    _params = {
        "kernel": KernelParameter,
        "gamma": OneOf(Real(ge=0), Null),
        "coef0": OneOf(Real(), Null),
        "degree": OneOf(Real(ge=1), Null),
        "kernel_params": OneOf(Is(lambda v: isinstance(v, dict), "an instance of 'dict'"), Null),
        "n_components": Int(ge=1),
        "random_state": Seed,
        "n_jobs": Jobs,
    }

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma=None,
        coef0=None,
        degree=None,
        kernel_params=None,
        n_components=100,
        random_state=None,
        n_jobs=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Choose rows and take the root of their matrix of kernel values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, or the matrix of kernel values (n_samples, n_samples).
        y : None
            Not used.

        Returns
        -------
        self
            The fitted transformer.
        """
        # 1. parameters
        check_params(self)
        kernel = self._kernel()
        # 2. data
        X = check_design(self, X, reset=True, accept_sparse="csr", order="C")
        size = self._size(X.shape[0])
        # 3. maths
        chosen = check_random_state(self.random_state).permutation(X.shape[0])[:size].astype(np.int64)
        basis = X[chosen]
        require_memory(3 * 8.0 * size * size, f"the root of a {size} x {size} matrix", "take fewer components")
        if is_precomputed(kernel):
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"kernel='precomputed' needs a square matrix of kernel values, got {X.shape}")
            values = np.asarray(basis[:, chosen].todense() if sp.issparse(X) else basis[:, chosen], dtype=np.float64)
        else:
            kernel._check()
            values = np.empty((size, size))
            kernel._fill_square(kernel._table(basis), values, self.n_jobs)
        # 4. attributes
        self.normalization_ = _inverse_root(values).astype(X.dtype, copy=False)
        self.components_ = basis
        self.component_indices_ = chosen
        self._n_features_out = size
        return self

    def transform(self, X):
        """Features of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, or their kernel values with the rows of the fit (n_samples, n_samples_fitted).

        Returns
        -------
        X_transformed : ndarray of shape (n_samples, n_components)
            Features.
        """
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse="csr", order="C")
        kernel, anchors = self._kernel(), self.components_
        if is_precomputed(kernel):
            X = X[:, self.component_indices_]
            X = X.toarray() if sp.issparse(X) else X
        return kernel._expand(X, anchors, self.normalization_.T, self.n_jobs).astype(X.dtype, copy=False)

    def _size(self, n_rows):
        if self.n_components > n_rows:
            warnings.warn(
                "n_components > n_samples. This is not possible.\nn_components was set to n_samples, which results in "
                "inefficient evaluation of the full kernel.",
                stacklevel=3,
            )
        return min(self.n_components, n_rows)

    def _kernel(self) -> Kernel:
        given = {name: getattr(self, name) for name in ("gamma", "coef0", "degree") if getattr(self, name) is not None}
        if given and (callable(self.kernel) or is_precomputed(self.kernel)):
            raise ValueError("Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed kernel")
        return resolve(self.kernel, options=self.kernel_params, **given)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _inverse_root(matrix):
    """``sign(A) |A|^(-1/2)`` of a symmetric matrix."""
    with single_threaded_blas():
        values, vectors = np.linalg.eigh(matrix)
        signs = np.where(values < 0, -1.0, 1.0)
        return (vectors * (signs / np.sqrt(np.maximum(np.abs(values), SMALLEST)))) @ vectors.T
