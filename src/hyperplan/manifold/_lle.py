"""Locally linear embedding: coordinates in which each row is made of its neighbours as it is in the data.

Weights: ``min |x_i - sum_j W_ij x_j|^2`` over W with rows that sum to one and are zero but for the k nearest neighbours
of i.  Coordinates: ``min |Y - W Y|^2`` over Y of mean zero with ``Y' Y = I``, which are the eigenvectors of
``(I - W)' (I - W)`` with the smallest eigenvalues, the constant one left out.  The variants (modified, Hessian, tangent
spaces) keep the second step and replace the matrix.
"""

import warnings

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from hyperplan._base import (
    BaseEstimator,
    Certificate,
    Choice,
    ClassNamePrefixFeaturesOutMixin,
    ConvergenceWarning,
    Int,
    Jobs,
    Real,
    Seed,
    TransformerMixin,
    check_array,
    check_design,
    check_is_fitted,
    check_params,
    check_random_state,
)
from hyperplan._core.parallel import spans, thread_map
from hyperplan._solvers.eigen_dense import eigh
from hyperplan._solvers.eigen_result import signed
from hyperplan._solvers.null_space import NullSpace, next_to_constant
from hyperplan.manifold._graph import SAME
from hyperplan.manifold._lle_matrices import barycentre_weights, modified_matrix, standard_matrix, tangent_matrix
from hyperplan.manifold._scaling import OWN
from hyperplan.metrics._arguments import checked
from hyperplan.neighbors._nearest_neighbors import NearestNeighbors

METHODS = ("standard", "hessian", "modified", "ltsa")
RULES = {
    "n_neighbors": Int(ge=1),
    "n_components": Int(ge=1),
    "reg": Real(ge=0),
    "eigen_solver": Choice("auto", "arpack", "dense", *OWN),
    "tol": Real(ge=0),
    "max_iter": Int(ge=1),
    "method": Choice(*METHODS),
    "hessian_tol": Real(ge=0),
    "modified_tol": Real(ge=0),
    "random_state": Seed,
    "n_jobs": Jobs,
}


def embed(search, *, n_neighbors, n_components, reg, eigen_solver, tol, max_iter, method, seed, n_jobs):
    """Coordinates of the rows of a fitted search for neighbours, and how many pieces its graph has."""
    X = np.ascontiguousarray(search._fit_X, dtype=np.float64)
    _check_sizes(X, n_neighbors, n_components, method, eigen_solver)
    neighbours = search.kneighbors(n_neighbors=n_neighbors, return_distance=False)
    n = len(X)
    graph = sp.csr_array(
        (np.ones(neighbours.size, np.int8), neighbours.ravel(), np.arange(0, neighbours.size + 1, n_neighbors)), (n, n)
    )
    pieces = connected_components(graph, directed=False, return_labels=False)
    if pieces > 1:
        warnings.warn(
            f"The graph of {n_neighbors} neighbours falls into {pieces} pieces, and nothing says how they lie to each "
            "other: raise n_neighbors, or embed the pieces one by one.",
            stacklevel=4,
        )
    if method == "standard":
        matrix = standard_matrix(X, neighbours, reg, n_jobs)
    elif method == "modified":
        matrix = modified_matrix(X, neighbours, n_components, n_jobs)
    else:
        matrix = tangent_matrix(X, neighbours, n_components, n_jobs)
    solver = {"arpack": "sparse"}.get(eigen_solver, eigen_solver)
    if solver in OWN:
        solver = _own(solver)
    options = {"solver": solver, "tol": tol, "max_products": max_iter, "seed": seed}
    found = next_to_constant(matrix, n_components, **options)
    if not found.status.ok:
        warnings.warn(
            f"The eigenvectors have a relative residual of {found.residual:.2g} after {found.n_products} products with "
            "the inverse: raise max_iter or tol, or use eigen_solver='dense'.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return found._replace(vectors=signed(found.vectors)), pieces


def _own(method):
    def solve(dense):
        result = eigh(dense, method=method)
        return result.values, result.vectors

    return solve


def _check_sizes(X, n_neighbors, n_components, method, eigen_solver):
    n, d = X.shape
    if n_components > d:
        raise ValueError(
            "output dimension must be less than or equal to input dimension: "
            f"n_components={n_components}, n_features={d}"
        )
    if n_neighbors >= n:
        raise ValueError(f"Expected n_neighbors < n_samples, but n_samples = {n}, n_neighbors = {n_neighbors}")
    if n_components >= n:
        raise ValueError(f"n_components={n_components} coordinates need more than n_samples={n} rows")
    if method == "hessian" and n_neighbors <= n_components * (n_components + 3) // 2:
        raise ValueError(
            "for method='hessian', n_neighbors must be greater than [n_components * (n_components + 3) / 2], here "
            f"{n_components * (n_components + 3) // 2}; got {n_neighbors}"
        )
    if method == "modified" and n_neighbors < n_components:
        raise ValueError(
            f"modified LLE requires n_neighbors >= n_components, got {n_neighbors} neighbours for {n_components}"
        )
    if not np.ptp(X, axis=0).any():
        package = "LAPACK" if eigen_solver == "dense" else "ARPACK"
        raise ValueError(
            f"Error in determining null-space with {package}: all rows are equal, so that every table of coordinates "
            "is as good as every other."
        )


def _search(X, n_neighbors, algorithm, n_jobs):
    """A fitted search over rows; X itself if it is one."""
    if hasattr(X, "kneighbors") and hasattr(X, "_fit_X"):
        X = X._fit_X
    return NearestNeighbors(n_neighbors=n_neighbors, algorithm=algorithm, n_jobs=n_jobs).fit(X)


@checked(**RULES)
def locally_linear_embedding(
    X,
    *,
    n_neighbors,
    n_components,
    reg=1e-3,
    eigen_solver="auto",
    tol=1e-6,
    max_iter=100,
    method="standard",
    hessian_tol=1e-4,
    modified_tol=1e-12,
    random_state=None,
    n_jobs=None,
):
    """Locally linear embedding of rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or a fitted `NearestNeighbors`
        Rows.
    n_neighbors : int
        Neighbours that make each row.
    n_components : int
        Number of coordinates.
    reg : float, default=1e-3
        Added to the local Gram matrix, times its trace.
    eigen_solver : str, default="auto"
        As in `LocallyLinearEmbedding`.
    tol : float, default=1e-6
        Relative residual of the iteration.
    max_iter : int, default=100
        Most products of the iteration.
    method : {"standard", "hessian", "modified", "ltsa"}, default="standard"
        As in `LocallyLinearEmbedding`.
    hessian_tol, modified_tol : float
        Accepted for compatibility: what they guard against does not occur.
    random_state : int, RandomState instance or None, default=None
        Seed of the iteration.
    n_jobs : int, default=None
        Threads; they change no bit.

    Returns
    -------
    Y : ndarray of shape (n_samples, n_components)
        Coordinates: orthonormal columns of mean zero.
    squared_error : float
        Sum of the eigenvalues, ``|Y - W Y|^2`` for the standard method.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import locally_linear_embedding
    >>> t = np.linspace(0.0, 3.0, 60)
    >>> arc = np.column_stack([np.cos(t), np.sin(t)])
    >>> Y, error = locally_linear_embedding(arc, n_neighbors=4, n_components=1)
    >>> bool((np.diff(Y[:, 0]) > 0).all() or (np.diff(Y[:, 0]) < 0).all())
    True
    """
    if not hasattr(X, "kneighbors"):
        X = check_array(X, dtype=np.float64)
    found, _ = embed(
        _search(X, n_neighbors, "auto", n_jobs),
        n_neighbors=n_neighbors,
        n_components=n_components,
        reg=reg,
        eigen_solver=eigen_solver,
        tol=tol,
        max_iter=max_iter,
        method=method,
        seed=check_random_state(random_state).randint(2**31 - 1),
        n_jobs=n_jobs,
    )
    return found.vectors, float(found.values.sum())


class LocallyLinearEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Locally linear embedding.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbours that make each row.
    n_components : int, default=2
        Number of coordinates.
    reg : float, default=1e-3
        Added to the local Gram matrix, times its trace: with more neighbours than dimensions it is singular.
    eigen_solver : {"auto", "arpack", "dense", "householder-ql", "householder-qr", "givens-ql", "givens-qr", \
"jacobi"}, default="auto"
        "arpack" factorises the sparse matrix and iterates with blocks of vectors, "dense" asks LAPACK, the others are
        those of `hyperplan.linalg`; "auto" iterates for few coordinates of many rows.
    tol : float, default=1e-6
        Relative residual of the iteration.
    max_iter : int, default=100
        Most products of the iteration.
    method : {"standard", "hessian", "modified", "ltsa"}, default="standard"
        "standard": one set of weights for each row; "modified": several, which is more stable; "ltsa" aligns local
        tangent spaces; "hessian" makes zero what is not linear along the tangent spaces.  With all functions that are
        not linear taken, as here and in scikit-learn, "hessian" and "ltsa" have the same matrix.
    hessian_tol : float, default=1e-4
        Accepted for compatibility: what it guards against does not occur.
    modified_tol : float, default=1e-12
        Accepted for compatibility: what it guards against does not occur.
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        Search for the neighbours.
    random_state : int, RandomState instance or None, default=None
        Seed of the iteration.
    n_jobs : int, default=None
        Threads; they change no bit.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows: orthonormal columns of mean zero, the largest entry of each positive.
    reconstruction_error_ : float
        Sum of the eigenvalues, ``|Y - W Y|^2`` for the standard method.
    eigenvalues_ : ndarray of shape (n_components,)
        The eigenvalues, ascending.
    nbrs_ : NearestNeighbors
        Search over the training rows.
    certificate_ : Certificate
        Largest residual of the eigenvectors; its details tell into how many pieces the graph of neighbours falls.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Roweis, Saul (2000), Nonlinear dimensionality reduction by locally linear embedding, Science.
    Zhang, Wang (2006), MLLE: modified locally linear embedding using multiple weights, NIPS.
    Donoho, Grimes (2003), Hessian eigenmaps, PNAS.
    Zhang, Zha (2004), Principal manifolds and nonlinear dimensionality reduction via tangent space alignment, SIAM
    Journal on Scientific Computing.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import LocallyLinearEmbedding
    >>> t = np.linspace(0.0, 3.0, 60)
    >>> arc = np.column_stack([np.cos(t), np.sin(t)])
    >>> model = LocallyLinearEmbedding(n_neighbors=4, n_components=1).fit(arc)
    >>> between = model.transform([(arc[10] + arc[11]) / 2])
    >>> low, high = sorted(model.embedding_[[10, 11], 0])
    >>> bool(low < between[0, 0] < high)
    True
    """

    _params = {**RULES, "neighbors_algorithm": Choice("auto", "brute", "kd_tree", "ball_tree")}

    def __init__(
        self,
        *,
        n_neighbors=5,
        n_components=2,
        reg=1e-3,
        eigen_solver="auto",
        tol=1e-6,
        max_iter=100,
        method="standard",
        hessian_tol=1e-4,
        modified_tol=1e-12,
        neighbors_algorithm="auto",
        random_state=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.reg = reg
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.method = method
        self.hessian_tol = hessian_tol
        self.modified_tol = modified_tol
        self.neighbors_algorithm = neighbors_algorithm
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Compute the coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
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
        X = check_design(self, X, reset=True, accept_sparse=False, dtype=np.float64, order="C")
        search = _search(X, self.n_neighbors, self.neighbors_algorithm, self.n_jobs)
        # 3. maths
        found, pieces = embed(
            search,
            n_neighbors=self.n_neighbors,
            n_components=self.n_components,
            reg=self.reg,
            eigen_solver=self.eigen_solver,
            tol=self.tol,
            max_iter=self.max_iter,
            method=self.method,
            seed=check_random_state(self.random_state).randint(2**31 - 1),
            n_jobs=self.n_jobs,
        )
        # 4. attributes
        self.nbrs_ = search
        self.embedding_, self.eigenvalues_ = np.ascontiguousarray(found.vectors), found.values
        self.reconstruction_error_ = float(found.values.sum())
        self.certificate_ = self._certify(found, pieces)
        return self

    def _certify(self, found: NullSpace, pieces):
        return Certificate(
            kind="eigen residual",
            guarantee="each coordinate is an eigenvector, but for this error relative to the norm of the matrix",
            value=found.residual,
            bound=max(1e-8, self.tol),
            assumption="" if pieces == 1 else f"the pieces of the graph ({pieces}) lie anywhere to each other",
            reference="Parlett (1998), The Symmetric Eigenvalue Problem, theorem 4.5.1",
            details={"eigenvalues": found.values.tolist(), "pieces": int(pieces), "products": found.n_products},
        )

    def fit_transform(self, X, y=None):
        """Compute the coordinates of the training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : None
            Not used.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates.
        """
        return self.fit(X).embedding_

    def transform(self, X):
        """Make new rows of their neighbours among the training rows, as they are made in the data.

        A row that is equal to a training row, but for rounding, gets its coordinates.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_queries, n_components)
            Coordinates.
        """
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse=False, dtype=np.float64, order="C")
        distances, neighbours = self.nbrs_.kneighbors(X, n_neighbors=self.n_neighbors)
        table = np.ascontiguousarray(self.nbrs_._fit_X, dtype=np.float64)
        weights = barycentre_weights(X, table, neighbours, self.reg, self.n_jobs)
        is_known = distances[:, 0] <= SAME * distances[:, -1]
        weights[is_known] = np.arange(weights.shape[1]) == 0

        def one_task(part):
            return np.einsum("qk,qkc->qc", weights[part], self.embedding_[neighbours[part]])

        return np.concatenate(thread_map(one_task, spans(len(X), 4096), self.n_jobs))

    @property
    def _n_features_out(self):
        return self.embedding_.shape[1]
