"""Spectral embedding (Laplacian eigenmaps): coordinates in which rows of high affinity lie close together.

``min sum_ij A_ij |y_i - y_j|^2`` over Y with ``Y' D Y = I`` and ``Y' D 1 = 0``, D the row sums of the affinities A: the
eigenvectors of the normalised Laplacian with the smallest eigenvalues (see `hyperplan._math.laplacian`).  On these,
``y_i = 1 / (1 - lambda) sum_j A_ij y_j / d_i`` for each training row i, which is how new rows are placed.
"""

import warnings

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Certificate,
    Choice,
    ClassNamePrefixFeaturesOutMixin,
    Int,
    Is,
    Jobs,
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
from hyperplan._core.parallel import spans
from hyperplan._math.laplacian import spectral_coordinates, spectrum
from hyperplan._solvers.eigen_dense import eigh
from hyperplan.kernels._plain import RBF
from hyperplan.manifold._graph import SAME, is_same_table
from hyperplan.manifold._scaling import OWN
from hyperplan.metrics._arguments import checked
from hyperplan.neighbors._graph import kneighbors_graph
from hyperplan.neighbors._nearest_neighbors import NearestNeighbors

EIGEN_SOLVER = OneOf(Choice("arpack", "lobpcg", "amg", *OWN), Null)
EIGEN_TOL = OneOf(Real(ge=0), Choice("auto"))
RESIDUAL = 1e-8  # of eigenvectors, by default
QUERIES = 512  # new rows whose affinities are held at a time


def _solver(name):
    """A name that the Laplacian's solvers know, or a function of a dense matrix for those of `hyperplan.linalg`."""
    if name not in OWN:
        return name

    def solve(dense, k):
        found = eigh(dense, method=name)
        return found.values[:k], found.vectors[:, :k]

    return solve


@checked(
    n_components=Int(ge=1),
    eigen_solver=EIGEN_SOLVER,
    random_state=Seed,
    eigen_tol=EIGEN_TOL,
    norm_laplacian=Bool,
    drop_first=Bool,
)
def spectral_embedding(
    adjacency,
    *,
    n_components=8,
    eigen_solver=None,
    random_state=None,
    eigen_tol="auto",
    norm_laplacian=True,
    drop_first=True,
):
    """Coordinates of the nodes of a graph: eigenvectors of its Laplacian.

    Parameters
    ----------
    adjacency : {array-like, sparse matrix} of shape (n_samples, n_samples)
        Affinities, symmetric.
    n_components : int, default=8
        Number of coordinates.
    eigen_solver : {"arpack", "lobpcg", "amg", "householder-ql", "householder-qr", "givens-ql", "givens-qr", \
"jacobi"}, default=None
        None means "arpack".
    random_state : int, RandomState instance or None, default=None
        Source of the first vectors.
    eigen_tol : float or "auto", default="auto"
        Tolerance of the solver.
    norm_laplacian : bool, default=True
        Whether degrees are divided out.
    drop_first : bool, default=True
        Whether the first eigenvector, constant on a connected graph, is left out.

    Returns
    -------
    embedding : ndarray of shape (n_samples, n_components)
        Coordinates; the largest entry of each column (in modulus) is positive.

    References
    ----------
    Belkin, Niyogi (2003), Laplacian eigenmaps for dimensionality reduction and data representation, Neural Computation.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import spectral_embedding
    >>> path = np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1)
    >>> order = spectral_embedding(path, n_components=1, random_state=0)[:, 0]
    >>> bool((np.diff(order) > 0).all() or (np.diff(order) < 0).all())
    True
    """
    options = {"eigen_solver": _solver(eigen_solver), "eigen_tol": eigen_tol, "norm_laplacian": norm_laplacian}
    adjacency = check_array(adjacency, accept_sparse="csr", dtype=[np.float64, np.float32])
    rng = check_random_state(random_state)
    return spectral_coordinates(adjacency, n_components, random_state=rng, drop_first=drop_first, **options)


class SpectralEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Spectral embedding, also called Laplacian eigenmaps.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    affinity : {"nearest_neighbors", "rbf", "precomputed", "precomputed_nearest_neighbors"} or callable, \
default="nearest_neighbors"
        Ones for nearest neighbours (made symmetric by the mean with the transpose), a Gaussian kernel, affinities as
        given, a sparse graph of distances to the nearest neighbours, or a function of the table.
    gamma : float, default=None
        Of the Gaussian kernel; None means 1 / n_features.
    random_state : int, RandomState instance or None, default=None
        Source of the first vectors of the solver.
    eigen_solver : {"arpack", "lobpcg", "amg", "householder-ql", "householder-qr", "givens-ql", "givens-qr", \
"jacobi"}, default=None
        None means "arpack": iterations with the inverse; "lobpcg" needs no factorisation, "amg" helps it with the
        package pyamg; the others are those of `hyperplan.linalg`.
    eigen_tol : float or "auto", default="auto"
        Tolerance of the solver; "auto" means machine precision for "arpack", and the solver's own rule for the others.
    n_neighbors : int, default=None
        Neighbours of a row, itself included; None means a tenth of the rows.
    n_jobs : int, default=None
        Threads; they change no bit.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows; the largest entry of each column (in modulus) is positive.
    affinity_matrix_ : {ndarray, sparse matrix} of shape (n_samples, n_samples)
        Affinities.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the normalised Laplacian, ascending.
    n_neighbors_ : int
        Neighbours in use.
    certificate_ : Certificate
        Largest residual of the eigenvectors.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Belkin, Niyogi (2003), Laplacian eigenmaps for dimensionality reduction and data representation, Neural Computation.
    Bengio et al. (2004), Out-of-sample extensions for LLE, Isomap, MDS, eigenmaps, and spectral clustering, NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import SpectralEmbedding
    >>> X = np.concatenate([np.zeros((5, 1)), np.ones((5, 1))]) + np.linspace(0.0, 0.1, 10)[:, None]
    >>> model = SpectralEmbedding(1, affinity="rbf", gamma=3.0, random_state=0).fit(X)
    >>> side = model.embedding_[:, 0] > 0
    >>> side[:5].all() == side[:5].any() and bool(side[0] != side[9])
    True
    >>> bool((model.transform([[0.02], [1.05]])[:, 0] > 0)[0] == side[0])
    True
    """

    _params = {
        "n_components": Int(ge=1),
        "affinity": OneOf(
            Choice("nearest_neighbors", "rbf", "precomputed", "precomputed_nearest_neighbors"),
            Is(callable, "a callable"),
        ),
        "gamma": OneOf(Real(ge=0), Null),
        "random_state": Seed,
        "eigen_solver": EIGEN_SOLVER,
        "eigen_tol": EIGEN_TOL,
        "n_neighbors": OneOf(Int(ge=1), Null),
        "n_jobs": Jobs,
    }

    def __init__(
        self,
        n_components=2,
        *,
        affinity="nearest_neighbors",
        gamma=None,
        random_state=None,
        eigen_solver=None,
        eigen_tol="auto",
        n_neighbors=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.affinity = affinity
        self.gamma = gamma
        self.random_state = random_state
        self.eigen_solver = eigen_solver
        self.eigen_tol = eigen_tol
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Compute the coordinates.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Training rows, or their affinities or distances.
        y : None
            Not used.

        Returns
        -------
        self
            The fitted model.
        """
        # 1. parameters
        check_params(self)
        # 2. data
        X = check_design(self, X, reset=True, accept_sparse="csr", ensure_min_samples=2)
        kind = self.affinity
        if isinstance(kind, str) and kind == "nearest_neighbors" and sp.issparse(X):
            warnings.warn(
                "Nearest neighbors affinity currently does not support sparse input, falling back to rbf affinity",
                stacklevel=2,
            )
            kind = "rbf"
        affinity = self._affinities(X, kind)
        # 3. maths
        found = spectrum(
            affinity,
            self.n_components + 1,
            eigen_solver=_solver(self.eigen_solver),
            eigen_tol=self.eigen_tol,
            random_state=check_random_state(self.random_state),
        )
        # 4. attributes
        self._kind, self._fitted = kind, None if kind in ("precomputed", "precomputed_nearest_neighbors") else X
        self.affinity_matrix_ = affinity
        self.eigenvalues_ = found.values[1:]
        self.embedding_ = np.ascontiguousarray(found.coordinates[:, 1:].astype(X.dtype, copy=False))
        self.certificate_ = Certificate(
            kind="eigen residual",
            guarantee="each coordinate is an eigenvector of the Laplacian, but for this error",
            value=found.residual,
            bound=RESIDUAL if self.eigen_tol == "auto" and self.eigen_solver not in ("lobpcg", "amg") else 1e-2,
            reference="Parlett (1998), The Symmetric Eigenvalue Problem, theorem 4.5.1",
            details={"eigenvalues": found.values.tolist()},
        )
        return self

    def _affinities(self, X, kind):
        """The matrix of affinities of training rows; sets `n_neighbors_` or `gamma_` where they are used."""
        for name in ("n_neighbors_", "gamma_"):
            self.__dict__.pop(name, None)
        if callable(kind):
            return kind(X)
        if kind == "precomputed":
            return X
        if kind == "rbf":
            self.gamma_ = 1.0 / X.shape[1] if self.gamma is None else self.gamma
            wide = X.astype(np.float64, copy=False)  # differences of close rows cancel in single precision
            return RBF(self.gamma_).gram(wide, n_jobs=self.n_jobs).astype(X.dtype, copy=False)
        if kind == "precomputed_nearest_neighbors":
            search = NearestNeighbors(n_neighbors=self.n_neighbors, metric="precomputed", n_jobs=self.n_jobs).fit(X)
            graph = search.kneighbors_graph(X, mode="connectivity")
        else:
            self.n_neighbors_ = max(X.shape[0] // 10, 1) if self.n_neighbors is None else self.n_neighbors
            graph = kneighbors_graph(X, self.n_neighbors_, include_self=True, n_jobs=self.n_jobs)
        return 0.5 * (graph + graph.T)

    def fit_transform(self, X, y=None):
        """Compute the coordinates of the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Training rows, or their affinities or distances.
        y : None
            Not used.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates.
        """
        return self.fit(X).embedding_

    def transform(self, X):
        """Place new rows by their affinities to the training rows.

        ``y(x) = 1 / (1 - lambda) sum_j a(x, x_j) y_j / sum_j a(x, x_j)``, as it is for training rows.  A row that is
        equal to a training row, but for rounding, gets its coordinates; a row without affinity to any gets zeros.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), or (n_queries, n_samples) if precomputed
            New rows, or their affinities to the training rows (no row being its own neighbour).

        Returns
        -------
        ndarray of shape (n_queries, n_components)
            Coordinates.
        """
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse="csr")
        if callable(self._kind) or self._kind == "precomputed_nearest_neighbors":
            raise ValueError(
                f"affinity={self.affinity!r} says nothing of new rows: use 'rbf', 'nearest_neighbors' or 'precomputed'"
            )
        if self._fitted is not None and is_same_table(X, self._fitted):
            return self.embedding_.copy()
        Y = self.embedding_.astype(np.float64)
        if self._kind == "precomputed":
            placed = self._averaged(X, Y)
        else:
            search = NearestNeighbors(n_neighbors=2, n_jobs=self.n_jobs).fit(self._fitted)
            parts = [self._placed(X[part], Y, search) for part in spans(X.shape[0], QUERIES)]
            placed = np.concatenate(parts)
        return placed.astype(self.embedding_.dtype, copy=False)

    def _placed(self, X, Y, search):
        distances, nearest = search.kneighbors(X)
        if self._kind == "rbf":
            affinity = RBF(self.gamma_).gram(X, self._fitted, dtype=np.float64, n_jobs=self.n_jobs)
        else:
            affinity = search.kneighbors_graph(X, self.n_neighbors_)
        is_known = distances[:, :1] <= SAME * distances[:, -1:]
        return np.where(is_known, Y[nearest[:, 0]], self._averaged(affinity, Y))

    def _averaged(self, affinity, Y):
        total = np.asarray(affinity.sum(axis=1), dtype=np.float64).reshape(-1, 1)
        means = np.divide(affinity @ Y, total, out=np.zeros((affinity.shape[0], Y.shape[1])), where=total > 0.0)
        stretch = 1.0 - self.eigenvalues_
        return means / np.where(stretch > RESIDUAL, stretch, 1.0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        given = isinstance(self.affinity, str) and self.affinity.startswith("precomputed")
        tags.input_tags.pairwise = given
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self):
        return self.embedding_.shape[1]
