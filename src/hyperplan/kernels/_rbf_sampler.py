"""Random Fourier features: ``E[2 cos(w'x + b) cos(w'y + b)] = exp(-gamma |x - y|^2)`` for w normal and b uniform."""

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    BaseEstimator,
    Choice,
    Int,
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
from hyperplan._core.parallel import spans, thread_map
from hyperplan.kernels._fourier_kernels import LARGEST, LARGEST_SINGLE, fourier_double, fourier_single
from hyperplan.kernels._resolve import scaled_gamma

TASK = 1 << 16  # values per task


class RBFSampler(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random features whose inner products approximate the Gaussian kernel ``exp(-gamma |x - y|^2)``.

    The error of an inner product has standard deviation at most ``1 / sqrt(n_components)``, whatever the data: the
    features do not depend on them.  `Nystroem` does, and usually needs fewer.

    Parameters
    ----------
    gamma : "scale" or float, default=1.0
        Parameter of the kernel; "scale" means ``1 / (n_features X.var())``.
    n_components : int, default=100
        Number of features.
    random_state : int, RandomState instance or None, default=None
        Seed of the directions; the same as scikit-learn's for the same seed.

    Attributes
    ----------
    random_weights_ : ndarray of shape (n_features, n_components)
        Directions w.
    random_offset_ : ndarray of shape (n_components,)
        Offsets b.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Rahimi, Recht (2007), Random features for large-scale kernel machines.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.kernels import RBF, RBFSampler
    >>> X = np.array([[0.0], [1.0]])
    >>> features = RBFSampler(gamma=0.5, n_components=5000, random_state=0).fit_transform(X)
    >>> bool(abs(features @ features.T - RBF(gamma=0.5)(X)).max() < 0.05)
    True
    """

    _params = {
        "gamma": OneOf(Choice("scale"), Real(ge=0)),
        "n_components": Int(ge=1),
        "random_state": Seed,
    }

    def __init__(self, *, gamma=1.0, n_components=100, random_state=None):
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X, y=None):
        """Draw directions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; only their width matters (and their variance, for ``gamma="scale"``).
        y : None
            Not used.

        Returns
        -------
        self
            The fitted transformer.
        """
        # 1. parameters
        check_params(self)
        # 2. data
        X = check_design(self, X, reset=True, accept_sparse="csr")
        # 3. maths
        random = check_random_state(self.random_state)
        self._gamma = scaled_gamma(X) if self.gamma == "scale" else self.gamma
        weights = (2.0 * self._gamma) ** 0.5 * random.normal(size=(X.shape[1], self.n_components))
        offset = random.uniform(0, 2 * np.pi, size=self.n_components)
        # 4. attributes
        self.random_weights_ = weights.astype(X.dtype, copy=False)
        self.random_offset_ = offset.astype(X.dtype, copy=False)
        self._n_features_out = self.n_components
        return self

    def transform(self, X):
        """Features of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            Features.
        """
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse="csr")
        weights = self.random_weights_
        dtype = np.result_type(X.dtype, weights.dtype)
        shape = X.shape[0], weights.shape[1]
        require_memory(float(shape[0]) * shape[1] * dtype.itemsize, "the table of features", "take fewer components")
        out, offset = np.empty(shape, dtype=dtype), self.random_offset_.astype(dtype, copy=False)
        weights, scale = weights.astype(dtype, copy=False), dtype.type((2.0 / shape[1]) ** 0.5)

        def run(rows):
            part = out[rows]
            if sp.issparse(X):
                part[...] = X[rows] @ weights
            else:
                np.matmul(X[rows].astype(dtype, copy=False), weights, out=part)
            _to_features(part, offset, scale)

        thread_map(run, spans(shape[0], max(1, TASK // shape[1])))
        return out

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _to_features(part, offset, scale):
    """``scale cos(part + offset)`` in place; NumPy's cosine for arguments so large that digits are at stake."""
    is_single = part.dtype == np.float32
    if np.abs(part).max(initial=0.0) < (LARGEST_SINGLE if is_single else LARGEST) - 7.0:
        (fourier_single if is_single else fourier_double)(offset, scale, part)
    else:
        part += offset
        np.cos(part, out=part)
        part *= scale
