"""Spectral clustering: K-means in the coordinates that a graph of affinities gives its nodes.

With affinities W of rows (their diagonal does not count), degrees ``d = W 1`` and the K smallest eigenvalues of
``L = I - D^{-1/2} W D^{-1/2}``, rows become ``D^{-1/2} v_k``: the division into K groups with the least normalised cut,
relaxed to real numbers.  So no division has a cut below the sum of these eigenvalues: the certificate has both.

A new row x gets ``y_k(x) = sum_j w(x, x_j) y_jk / (d(x) (1 - lambda_k))``, the formula of Nystroem: on a row of the fit
it gives that row's own coordinates.
"""

import warnings

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Certificate,
    Choice,
    ClusterMixin,
    Int,
    Is,
    Jobs,
    Null,
    OneOf,
    Real,
    Seed,
    check_design,
    check_is_fitted,
    check_params,
    check_random_state,
)
from hyperplan._core.parallel import spans
from hyperplan._math.laplacian import spectrum
from hyperplan._solvers.eigen_dense import eigh
from hyperplan.cluster._spectral_labels import cluster_qr, discretize, label_by_k_means
from hyperplan.kernels._resolve import NAMES, resolve
from hyperplan.neighbors._graph import kneighbors_graph
from hyperplan.neighbors._nearest_neighbors import NearestNeighbors

OWN = ("householder-ql", "householder-qr", "givens-ql", "givens-qr", "jacobi")
GIVEN = ("precomputed", "precomputed_nearest_neighbors")
SMALLEST = 1e-3  # of an eigenvalue of the averaging over neighbours that is divided by: below it only noise would grow
RESIDUAL = 1e-6
SAME = 2.0**-22  # times its norm: a row nearer than the rounding of float32 to one of the fit is that row


def own_solver(name):
    """A solver of `hyperplan.linalg` as `spectrum` wants it; other names as they are."""
    if name not in OWN:
        return name

    def solve(matrix, k):
        found = eigh(-matrix, method=name, n_components=k)  # the largest of -L
        return -found.values[::-1], found.vectors[:, ::-1]

    return solve


def normalised_cut(affinity, labels, degrees):
    """Sum over clusters of the affinities that leave it, divided by the degrees in it.

    >>> W = np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    >>> normalised_cut(W, np.array([0, 0, 1]), W.sum(axis=1))  # 1 / 7 + 1 / 1
    1.1428571428571428
    """
    n, k = labels.shape[0], int(labels.max()) + 1
    members = np.zeros((n, k))
    members[np.arange(n), labels] = 1.0
    inside = (members * (affinity @ members)).sum(axis=0) - affinity.diagonal() @ members
    volume = degrees @ members
    return float((1.0 - inside / np.where(volume > 0, volume, 1.0))[volume > 0].sum())


class SpectralClustering(ClusterMixin, BaseEstimator):
    """Clusters of a graph of affinities, of any form: K-means in the coordinates of its Laplacian.

    Minimises the normalised cut relaxed to real numbers, exactly; then rounds to clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    eigen_solver : {None, 'arpack', 'lobpcg', 'amg', 'householder-ql', 'householder-qr', 'givens-ql', 'givens-qr', \
'jacobi'}, default=None
        None means 'arpack'; 'amg' needs the package pyamg; the others are those of `hyperplan.linalg`.
    n_components : int, default=None
        Number of eigenvectors; None means `n_clusters`.
    random_state : int, RandomState instance or None, default=None
        Seed of the solver and of K-means.
    n_init : int, default=10
        Starts of K-means.
    gamma : float, default=1.0
        Parameter of named kernels.
    affinity : str, callable or Kernel, default='rbf'
        Name of a kernel; 'nearest_neighbors' (one half for each direction in which rows are among the nearest);
        'precomputed' (X holds affinities); 'precomputed_nearest_neighbors' (X holds distances); a function of two
        rows; an object of `hyperplan.kernels`.
    n_neighbors : int, default=10
        Neighbours of a row, itself included.
    eigen_tol : float or 'auto', default='auto'
        Tolerance of the solver.
    assign_labels : {'kmeans', 'discretize', 'cluster_qr'}, default='kmeans'
        How coordinates become clusters.
    degree : float, default=3
        Degree of the kernel 'poly'.
    coef0 : float, default=1
        Constant of the kernels 'poly' and 'sigmoid'.
    kernel_params : dict, default=None
        Keyword arguments of a function.
    n_jobs : int, default=None
        Threads; they change no bit.
    verbose : bool, default=False
        Print steps.

    Attributes
    ----------
    affinity_matrix_ : {ndarray, sparse matrix} of shape (n_samples, n_samples)
        Affinities.
    labels_ : ndarray of shape (n_samples,)
        Clusters.
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Smallest eigenvalues of the Laplacian; as many are nearly zero as there are nearly separate parts.
    certificate_ : Certificate
        Residual of the eigenvectors; the normalised cut found, and the number that no division can go below.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Shi, Malik (2000), Normalized cuts and image segmentation.
    von Luxburg (2007), A tutorial on spectral clustering.
    Bengio et al. (2004), Out-of-sample extensions for LLE, Isomap, MDS, eigenmaps and spectral clustering.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.cluster import SpectralClustering
    >>> angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = SpectralClustering(2, gamma=20.0, random_state=0).fit(np.concatenate([ring, 2 * ring]))
    >>> bool((model.labels_[:60] == model.labels_[0]).all() and (model.labels_[60:] == 1 - model.labels_[0]).all())
    True
    >>> bool((model.predict([[0.0, 1.05], [1.9, 0.0]]) == model.labels_[[0, 60]]).all())
    True
    """

    _params = {
        "n_clusters": Int(ge=1),
        "eigen_solver": OneOf(Choice("arpack", "lobpcg", "amg", *OWN), Null),
        "n_components": OneOf(Int(ge=1), Null),
        "random_state": Seed,
        "n_init": Int(ge=1),
        "gamma": Real(ge=0),
        "affinity": OneOf(Is(callable, "a callable"), Choice(*NAMES, "nearest_neighbors", *GIVEN)),
        "n_neighbors": Int(ge=1),
        "eigen_tol": OneOf(Real(ge=0), Choice("auto")),
        "assign_labels": Choice("kmeans", "discretize", "cluster_qr"),
        "degree": Real(ge=0),
        "coef0": Real(),
        "kernel_params": OneOf(Is(lambda v: isinstance(v, dict), "an instance of 'dict'"), Null),
        "n_jobs": Jobs,
        "verbose": OneOf(Int(ge=0), Bool),
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        eigen_solver=None,
        n_components=None,
        random_state=None,
        n_init=10,
        gamma=1.0,
        affinity="rbf",
        n_neighbors=10,
        eigen_tol="auto",
        assign_labels="kmeans",
        degree=3,
        coef0=1,
        kernel_params=None,
        n_jobs=None,
        verbose=False,
    ):
        self.n_clusters = n_clusters
        self.eigen_solver = eigen_solver
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.eigen_tol = eigen_tol
        self.assign_labels = assign_labels
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y=None):
        """Cluster the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Rows, or affinities or distances between them.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted model.
        """
        # 1. parameters
        check_params(self)
        # 2. data
        formats = ("csr", "csc", "coo")
        X = check_design(self, X, reset=True, accept_sparse=formats, dtype=np.float64, ensure_min_samples=2)
        if X.shape[0] == X.shape[1] and not self._is_given():
            warnings.warn(
                "The spectral clustering API has changed. ``fit`` now constructs an affinity matrix from data. To use "
                "a custom affinity matrix, set ``affinity=precomputed``.",
                stacklevel=2,
            )
        if self._is_given() and X.shape[0] != X.shape[1]:
            raise ValueError(f"affinity={self.affinity!r} needs a square matrix, got shape {X.shape}.")
        # 3. maths
        random_state, affinity = check_random_state(self.random_state), self._affinities(X)
        found = spectrum(
            affinity,
            self.n_clusters if self.n_components is None else self.n_components,
            eigen_solver=own_solver(self.eigen_solver),
            random_state=random_state,
            eigen_tol=self.eigen_tol,
        )
        if self.verbose:
            print(f"Computing label assignment using {self.assign_labels}")
        labels, rule = self._assign(np.ascontiguousarray(found.coordinates), random_state)
        # 4. attributes
        self.affinity_matrix_, self.labels_, self._rule = affinity, labels, rule
        self.embedding_, self.eigenvalues_ = found.coordinates, found.values
        self._fit_X = X.tocsr() if sp.issparse(X) else X.copy()
        self.certificate_ = self._certificate(found)
        return self

    def _is_given(self):
        return isinstance(self.affinity, str) and self.affinity in GIVEN

    def _affinities(self, X):
        if not isinstance(self.affinity, str) or self.affinity in NAMES:
            return self._kernel().gram(X, dtype=np.float64, n_jobs=self.n_jobs)
        if self.affinity == "precomputed":
            return X
        if self.affinity == "nearest_neighbors":
            graph = kneighbors_graph(X, self.n_neighbors, include_self=True, n_jobs=self.n_jobs)
        else:
            search = NearestNeighbors(n_neighbors=self.n_neighbors, metric="precomputed", n_jobs=self.n_jobs).fit(X)
            graph = search.kneighbors_graph(X)
        return 0.5 * (graph + graph.T)

    def _kernel(self):
        options = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0, "options": self.kernel_params}
        return resolve(self.affinity, **options)

    def _assign(self, coordinates, random_state):
        if self.assign_labels == "cluster_qr":
            return cluster_qr(coordinates)
        if self.assign_labels == "discretize":
            return discretize(coordinates, random_state)
        options = {"n_init": self.n_init, "random_state": random_state, "verbose": self.verbose}
        return label_by_k_means(coordinates, self.n_clusters, **options)

    def _certificate(self, found):
        least = float(np.maximum(found.values[: np.unique(self.labels_).size], 0.0).sum())
        cut = normalised_cut(self.affinity_matrix_, self.labels_, found.degrees)
        return Certificate(
            kind="eigen residual",
            guarantee="each value is an eigenvalue of the Laplacian, but for this error",
            value=found.residual,
            bound=max(RESIDUAL, 0.0 if self.eigen_tol == "auto" else self.eigen_tol),
            assumption="affinities are symmetric and not negative",
            reference="von Luxburg (2007), A tutorial on spectral clustering, section 5",
            details={"normalised cut": cut, "no division into as many clusters cuts less than": least},
        )

    def fit_predict(self, X, y=None):
        """Cluster the rows and give their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Rows, or affinities or distances between them.
        y : None
            Ignored.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Clusters.
        """
        return self.fit(X).labels_

    def predict(self, X):
        """Clusters of new rows, by the formula of Nystroem.

        A row that is one of the fit, but for the rounding of float32, gets its label of the fit; a row without any
        affinity to those gets -1.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_samples)
            Rows, or their affinities or distances with those of the fit.

        Returns
        -------
        labels : ndarray of shape (n_queries,)
            Clusters.
        """
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse="csr", dtype=np.float64)
        known = self._known(X)
        labels = np.empty(X.shape[0], dtype=self.labels_.dtype)
        labels[known >= 0] = self.labels_[known[known >= 0]]
        new = np.flatnonzero(known < 0)
        if new.size:
            sums = self._affinity_sums(X[new])
            degree = sums[:, -1:]
            averaging = 1.0 - self.eigenvalues_
            factors = np.where(averaging < 0, -1.0, 1.0) * np.maximum(np.abs(averaging), SMALLEST)
            coordinates = sums[:, :-1] / np.where(degree != 0, degree, 1.0) / factors
            labels[new] = np.where(degree[:, 0] != 0, self._rule(coordinates), -1)
        return labels

    def _known(self, X):
        """For each row the one of the fit that it is, -1 for new ones."""
        if self._is_given():
            return equal_rows(X, self._fit_X)
        distances, rows = NearestNeighbors(n_neighbors=1, n_jobs=self.n_jobs).fit(self._fit_X).kneighbors(X)
        norms = np.sqrt(X.multiply(X).sum(axis=1) if sp.issparse(X) else np.einsum("ij,ij->i", X, X))
        return np.where(distances[:, 0] <= SAME * np.asarray(norms).ravel(), rows[:, 0], -1)

    def _affinity_sums(self, X):
        """Affinities with the rows of the fit times their coordinates, and the sum of affinities as last column."""
        anchors = np.column_stack([self.embedding_, np.ones(self.embedding_.shape[0])])
        if not isinstance(self.affinity, str) or self.affinity in NAMES:
            return self._kernel().expansion(X, self._fit_X, anchors, n_jobs=self.n_jobs)
        if self.affinity == "precomputed":
            return np.asarray(X @ anchors)
        metric = "precomputed" if self.affinity == "precomputed_nearest_neighbors" else "minkowski"
        search = NearestNeighbors(n_neighbors=self.n_neighbors, metric=metric, n_jobs=self.n_jobs).fit(self._fit_X)
        others = max(self.n_neighbors - 1, 1)  # a row of the fit is one of its own neighbours
        return search.kneighbors_graph(X, others) @ anchors

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_given()
        return tags


def equal_rows(X, table):
    """For each row of X the first equal row of a table, -1 without one; both dense, or any of them CSR.

    >>> equal_rows(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]])).tolist()
    [-1, 1]
    """
    numbers: dict[bytes, int] = {}
    for i, key in enumerate(_row_keys(table)):
        numbers.setdefault(key, i)
    return np.array([numbers.get(key, -1) for key in _row_keys(X)], dtype=np.intp)


def _row_keys(table):
    """Bytes of the rows; a zero has one sign, and sparse rows have those of the dense ones."""
    for part in spans(table.shape[0], 256):
        block = table[part].toarray() if sp.issparse(table) else table[part]
        yield from (row.tobytes() for row in block + 0.0)


def spectral_clustering(
    affinity,
    *,
    n_clusters=8,
    n_components=None,
    eigen_solver=None,
    random_state=None,
    n_init=10,
    eigen_tol="auto",
    assign_labels="kmeans",
    verbose=False,
):
    """Spectral clustering of a matrix of affinities as a function.

    Parameters
    ----------
    affinity : {array-like, sparse matrix} of shape (n_samples, n_samples)
        Symmetric affinities.
    n_clusters, n_components, eigen_solver, random_state, n_init, eigen_tol, assign_labels, verbose
        As in `SpectralClustering`.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Clusters.

    Examples
    --------
    >>> from hyperplan.cluster import spectral_clustering
    >>> W = [[0, 3, 1, 0], [3, 0, 0, 0], [1, 0, 0, 3], [0, 0, 3, 0]]
    >>> labels = spectral_clustering(W, n_clusters=2, random_state=0)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    return (
        SpectralClustering(
            n_clusters=n_clusters,
            n_components=n_components,
            eigen_solver=eigen_solver,
            random_state=random_state,
            n_init=n_init,
            affinity="precomputed",
            eigen_tol=eigen_tol,
            assign_labels=assign_labels,
            verbose=verbose,
        )
        .fit(affinity)
        .labels_
    )
