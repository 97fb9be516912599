"""Random projections: distances nearly kept in far fewer dimensions, without looking at the data.

``f(x) = R x`` with k rows of R drawn at random, so that ``E |f(u) - f(v)|^2 = |u - v|^2`` and the ratio of the two is
within 1 - eps and 1 + eps for all pairs of n points when ``k > 24 ln n / (3 eps^2 - 2 eps^3)``.  Entries are Gaussian;
or signs with many zeros among them (Achlioptas; Li, Hastie and Church), so that a product is a few additions; or signs
with equally many of them in every column (Kane and Nelson).
"""

import itertools
import math
import warnings
from abc import abstractmethod

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
    DataDimensionalityWarning,
    Int,
    OneOf,
    Real,
    Seed,
    TransformerMixin,
    check_array,
    check_design,
    check_is_fitted,
    check_params,
    check_random_state,
    sample_without_replacement,
)
from hyperplan._core.arrays import kernel_view
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math._brute_kernels import squared_gap
from hyperplan.random_projection._dimension import johnson_lindenstrauss_min_dim, promised_distortion
from hyperplan.random_projection._random_projection_kernels import LANES, signed_sums

WITNESSES = 64  # rows whose distances are compared before and after
BLOCK_ROWS = 256  # rows per task
SPARSE_ENOUGH = {4: 0.02, 8: 0.04}  # share of non-zeros up to which additions beat a product, by bytes of a number


class _RandomProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What the projections share: the number of components, the distortion on the training rows, the way back."""

    _params = {
        "n_components": OneOf(Int(ge=1), Choice("auto")),
        "eps": Real(gt=0),
        "compute_inverse_components": Bool,
        "random_state": Seed,
    }

    @abstractmethod
    def _draw(self, n_components, n_features):
        """The matrix, components in rows."""

    def fit(self, X, y=None):
        """Draw the matrix; of X only the shape matters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; the distortion of distances between some of them is measured.
        y : None
            Not used.

        Returns
        -------
        self
            The fitted projection.
        """
        check_params(self)
        X = check_design(self, X, reset=True, accept_sparse=("csr", "csc"), dtype=FLOATS)
        self.n_components_ = self._n_components(*X.shape)
        self.components_ = self._draw(self.n_components_, X.shape[1]).astype(X.dtype, copy=False)
        if self.compute_inverse_components:
            self.inverse_components_ = self._inverse()
        self._n_features_out = self.n_components_
        self.certificate_ = self._distortion(X)
        return self

    def _n_components(self, n_samples, n_features):
        if self.n_components != "auto":
            if self.n_components > n_features:
                warnings.warn(
                    "The number of components is higher than the number of features: n_features < n_components "
                    f"({n_features} < {self.n_components}). The dimensionality of the problem will not be reduced.",
                    DataDimensionalityWarning,
                    stacklevel=3,
                )
            return self.n_components
        found = int(johnson_lindenstrauss_min_dim(n_samples, eps=self.eps))
        asked = f"eps={self.eps:f} and n_samples={n_samples} lead to a target dimension of {found}"
        if found <= 0:
            raise ValueError(f"{asked} which is invalid: give n_components")
        if found > n_features:
            raise ValueError(
                f"{asked} which is larger than the original space with n_features={n_features}: "
                "give n_components, or a larger eps"
            )
        return found

    def _distortion(self, X):
        """The largest change of a squared distance among some rows, against what the lemma promises for all."""
        n, k = X.shape[0], self.n_components_
        rows = np.unique(np.linspace(0, n - 1, min(n, WITNESSES)).astype(np.intp))
        before = X[rows].toarray() if sp.issparse(X) else X[rows]
        after = _project(before, self.components_)
        old, new = _squared_distances(before), _squared_distances(after)
        different = old > 1e-12 * old.max(initial=0.0)
        ratios = new[different] / old[different]
        worst = float(np.abs(ratios - 1.0).max(initial=0.0))
        promised = promised_distortion(n, k) if n > 1 else 0.0
        said = "" if promised is not None else "; so few components are below what the lemma asks for any eps < 1"
        return Certificate(
            kind="distortion",
            guarantee=f"squared distances between {rows.size} rows change by at most {100 * worst:.3g} %{said}",
            value=worst,
            bound=math.inf if promised is None else max(promised, 1e-6),
            assumption="the pairs looked at stand for the others; the lemma holds with positive probability",
            reference="Dasgupta, Gupta (2003), An elementary proof of a theorem of Johnson and Lindenstrauss",
            details={
                "pairs": int(different.sum()),
                "smallest_ratio": float(ratios.min(initial=1.0)),
                "largest_ratio": float(ratios.max(initial=1.0)),
                "n_components": k,
            },
        )

    def _inverse(self):
        components = self.components_.toarray() if sp.issparse(self.components_) else self.components_
        return la.pinv(components, check_finite=False)

    def transform(self, X):
        """Project rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates; sparse for sparse X and sparse components, unless `dense_output` is set.
        """
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse=("csr", "csc"), dtype=FLOATS)
        projected = _project(X, self.components_)
        return projected.toarray() if sp.issparse(projected) and getattr(self, "dense_output", True) else projected

    def inverse_transform(self, X):
        """The shortest rows whose projection is X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_components)
            Coordinates.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        X = check_array(X, dtype=FLOATS, accept_sparse=("csr", "csc"))
        inverse = self.inverse_components_ if self.compute_inverse_components else self._inverse()
        return X @ inverse.T

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags


class GaussianRandomProjection(_RandomProjection):
    """Random projection with independent entries of the normal distribution N(0, 1 / n_components).

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Dimensions to keep; "auto" takes the bound of Johnson and Lindenstrauss for `eps`.
    eps : float, default=0.1
        Largest change of a squared distance for "auto".
    compute_inverse_components : bool, default=False
        Whether `fit` computes the pseudo-inverse for `inverse_transform`.
    random_state : int, RandomState instance or None, default=None
        Seed; the matrix is the one scikit-learn draws.

    Attributes
    ----------
    n_components_ : int
        Number of components.
    components_ : ndarray of shape (n_components, n_features)
        The matrix.
    inverse_components_ : ndarray of shape (n_features, n_components)
        Its pseudo-inverse, if asked for.
    certificate_ : Certificate
        Measured change of distances against that promised by the lemma.

    References
    ----------
    Johnson, Lindenstrauss (1984), Extensions of Lipschitz mappings into a Hilbert space.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.random_projection import GaussianRandomProjection
    >>> X = np.random.default_rng(0).normal(size=(25, 3000))
    >>> model = GaussianRandomProjection(eps=0.3, random_state=0).fit(X)
    >>> model.transform(X).shape, model.certificate_.holds
    ((25, 357), True)
    """

    def __init__(self, n_components="auto", *, eps=0.1, compute_inverse_components=False, random_state=None):
        self.n_components = n_components
        self.eps = eps
        self.compute_inverse_components = compute_inverse_components
        self.random_state = random_state

    def _draw(self, n_components, n_features):
        rng = check_random_state(self.random_state)
        return rng.normal(loc=0.0, scale=1.0 / np.sqrt(n_components), size=(n_components, n_features))


class SparseRandomProjection(_RandomProjection):
    """Random projection with entries ``+-sqrt(1 / (density n_components))`` and zeros.

    With a density of 1/3 these are the signs of Achlioptas; the default ``1 / sqrt(n_features)`` is that of Li, Hastie
    and Church.  A dense table is projected by additions alone.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Dimensions to keep; "auto" takes the bound of Johnson and Lindenstrauss for `eps`.
    density : float or "auto", default="auto"
        Share of entries that are not zero.
    eps : float, default=0.1
        Largest change of a squared distance for "auto".
    dense_output : bool, default=False
        Whether sparse rows are projected to a dense array.
    compute_inverse_components : bool, default=False
        Whether `fit` computes the pseudo-inverse for `inverse_transform`.
    random_state : int, RandomState instance or None, default=None
        Seed; the matrix is the one scikit-learn draws.

    Attributes
    ----------
    n_components_ : int
        Number of components.
    components_ : sparse matrix of shape (n_components, n_features)
        The matrix.
    inverse_components_ : ndarray of shape (n_features, n_components)
        Its pseudo-inverse, if asked for.
    density_ : float
        Share of entries that are not zero.
    certificate_ : Certificate
        Measured change of distances against that promised by the lemma.

    References
    ----------
    Achlioptas (2003), Database-friendly random projections, J. Comput. Syst. Sci.  Li, Hastie, Church (2006), Very
    sparse random projections, KDD.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.random_projection import SparseRandomProjection
    >>> X = np.random.default_rng(0).normal(size=(25, 3000))
    >>> SparseRandomProjection(200, density=1 / 3, random_state=0).fit_transform(X).shape
    (25, 200)
    """

    _params = {
        **_RandomProjection._params,
        "density": OneOf(Real(gt=0, le=1), Choice("auto")),
        "dense_output": Bool,
    }

    def __init__(
        self,
        n_components="auto",
        *,
        density="auto",
        eps=0.1,
        dense_output=False,
        compute_inverse_components=False,
        random_state=None,
    ):
        self.n_components = n_components
        self.density = density
        self.eps = eps
        self.dense_output = dense_output
        self.compute_inverse_components = compute_inverse_components
        self.random_state = random_state

    def _draw(self, n_components, n_features):
        rng = check_random_state(self.random_state)
        self.density_ = 1.0 / np.sqrt(n_features) if self.density == "auto" else self.density
        if self.density_ == 1:
            return (rng.binomial(1, 0.5, (n_components, n_features)) * 2 - 1) / np.sqrt(n_components)
        rows = []
        for _ in range(n_components):
            count = rng.binomial(n_features, self.density_)
            rows.append(sample_without_replacement(n_features, count, random_state=rng))
        starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        columns = np.concatenate(rows)
        signs = rng.binomial(1, 0.5, size=columns.size) * 2 - 1
        values = signs * (np.sqrt(1.0 / self.density_) / np.sqrt(n_components))
        return sp.csr_matrix((values, columns, starts), shape=(n_components, n_features))


class KaneNelsonRandomProjection(_RandomProjection):
    """Random projection with the same number of signs ``+-1 / sqrt(s)`` in each column.

    The components are cut into s blocks, and each feature goes to one component of every block with a random sign.
    Unlike with independent zeros no feature can be lost, so that few non-zeros do also for rows with few large entries:
    ``s`` of the order ``ln(n) / eps`` is enough.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Dimensions to keep; "auto" takes the bound of Johnson and Lindenstrauss for `eps`.
    n_nonzeros : int or "auto", default="auto"
        Non-zero entries per column; "auto" takes ``ceil(ln(n_components) / eps)``, at most `n_components`.
    eps : float, default=0.1
        Largest change of a squared distance for "auto".
    dense_output : bool, default=False
        Whether sparse rows are projected to a dense array.
    compute_inverse_components : bool, default=False
        Whether `fit` computes the pseudo-inverse for `inverse_transform`.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Attributes
    ----------
    n_components_ : int
        Number of components.
    components_ : sparse matrix of shape (n_components, n_features)
        The matrix.
    inverse_components_ : ndarray of shape (n_features, n_components)
        Its pseudo-inverse, if asked for.
    n_nonzeros_ : int
        Non-zero entries per column.
    certificate_ : Certificate
        Measured change of distances against that promised by the lemma.

    References
    ----------
    Kane, Nelson (2014), Sparser Johnson-Lindenstrauss transforms, J. ACM 61(1).

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.random_projection import KaneNelsonRandomProjection
    >>> X = np.random.default_rng(0).normal(size=(25, 3000))
    >>> model = KaneNelsonRandomProjection(200, n_nonzeros=8, random_state=0).fit(X)
    >>> bool(np.allclose(abs(model.components_).sum(axis=0), 8**0.5))
    True
    """

    _params = {
        **_RandomProjection._params,
        "n_nonzeros": OneOf(Int(ge=1), Choice("auto")),
        "dense_output": Bool,
    }

    def __init__(
        self,
        n_components="auto",
        *,
        n_nonzeros="auto",
        eps=0.1,
        dense_output=False,
        compute_inverse_components=False,
        random_state=None,
    ):
        self.n_components = n_components
        self.n_nonzeros = n_nonzeros
        self.eps = eps
        self.dense_output = dense_output
        self.compute_inverse_components = compute_inverse_components
        self.random_state = random_state

    def _draw(self, n_components, n_features):
        if self.n_nonzeros != "auto" and self.n_nonzeros > n_components:
            raise ValueError(
                f"n_nonzeros={self.n_nonzeros} signs do not fit into the {n_components} components of a column: "
                "lower n_nonzeros"
            )
        wanted = math.ceil(math.log(max(n_components, 2)) / self.eps) if self.n_nonzeros == "auto" else self.n_nonzeros
        self.n_nonzeros_ = s = min(wanted, n_components)
        rng = check_random_state(self.random_state)
        borders = np.arange(s + 1) * n_components // s  # blocks of nearly equal size
        rows = borders[:-1] + (rng.random_sample((n_features, s)) * np.diff(borders)).astype(np.intp)
        values = (rng.randint(2, size=rows.shape) * 2 - 1) / np.sqrt(s)
        columns = np.repeat(np.arange(n_features), s)
        return sp.coo_matrix((values.ravel(), (rows.ravel(), columns)), shape=(n_components, n_features)).tocsr()


def _project(X, components):
    """``X @ components.T``; additions only where the components are few signs of one size and X is dense."""
    if not sp.issparse(components) or sp.issparse(X):
        return X @ components.T
    size = np.abs(components.data).max(initial=0.0)
    few = components.nnz <= SPARSE_ENOUGH[X.dtype.itemsize] * components.shape[0] * components.shape[1]
    if not few or (np.abs(components.data) != size).any():
        return X @ components.toarray().T
    starts, middles, columns = _signs_apart(components)
    X, out = kernel_view(np.ascontiguousarray(X)), np.empty((X.shape[0], components.shape[0]), dtype=X.dtype)

    def some_rows(block):
        panel = np.empty((X.shape[1], LANES), dtype=X.dtype)
        signed_sums(X[block], starts, middles, columns, float(size), panel, out[block])

    thread_map(some_rows, spans(X.shape[0], BLOCK_ROWS))
    return out


def _signs_apart(components):
    """Columns of each component, those to add before those to subtract."""
    rows = np.repeat(np.arange(components.shape[0]), np.diff(components.indptr))
    order = np.lexsort((components.indices, components.data < 0.0, rows))
    added = np.bincount(rows[components.data > 0.0], minlength=components.shape[0])
    starts = components.indptr.astype(np.intp)
    return starts, starts[:-1] + added, components.indices[order].astype(np.intp)


def _squared_distances(rows):
    """Between all pairs, from differences."""
    return np.array([squared_gap(a, b) for a, b in itertools.combinations(kernel_view(rows), 2)], dtype=np.float64)
