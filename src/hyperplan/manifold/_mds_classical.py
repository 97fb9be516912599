"""Classical multidimensional scaling: points whose inner products come closest to those that distances imply.

With D the distances, ``H = I - 11'/n`` and ``B = -1/2 H (D * D) H = V diag(lambda) V'``, the coordinates
``Y = V_k sqrt(lambda_k)`` of the k largest positive eigenvalues minimise ``|B - Y Y'|`` over all tables of k columns.
For Euclidean distances B = X X' (X centred), and Y are the principal components of X.
"""

import warnings

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    Certificate,
    Choice,
    ClassNamePrefixFeaturesOutMixin,
    ConvergenceWarning,
    Int,
    Jobs,
    TransformerMixin,
    check_design,
    check_is_fitted,
    check_params,
)
from hyperplan._core.parallel import spans
from hyperplan._core.status import Status
from hyperplan._solvers.eigen_result import signed
from hyperplan.manifold._mds_distances import (
    METRIC,
    METRIC_PARAMS,
    DissimilarityMixin,
    all_distances,
    check_queries,
    is_euclidean,
    learnt_options,
    query_distances,
)
from hyperplan.manifold._mds_scaling import SOLVERS, Eigenvalues, scale_distances, scale_rows

ZERO = 1e-12  # share of the largest eigenvalue up to which one counts as zero
TOLERANCE = 1e-10  # relative residual of iterations
QUERIES = 512  # new rows whose distances are held at a time


class ClassicalMDS(DissimilarityMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Classical multidimensional scaling, also called principal coordinates or Torgerson's scaling.

    Coordinates with ``Y Y'`` closest to ``B = -1/2 H D^2 H``, from the largest eigenvalues of B.  Distances that are
    not Euclidean give B negative eigenvalues, which no coordinates can explain: `certificate_` reports them.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates; fewer are kept, with a warning, if B has fewer positive eigenvalues.
    metric : str or callable, default="euclidean"
        Distance of the rows; "precomputed" if X holds distances.
    metric_params : dict, default=None
        Its parameters.
    eigen_solver : {"auto", "dense", "krylov", "lanczos", "householder-ql", "householder-qr", "givens-ql", \
"givens-qr", "jacobi"}, default="auto"
        "dense" asks LAPACK for all eigenvalues, "krylov" iterates with blocks of vectors, "lanczos" with one, the
        others are those of `hyperplan.linalg`.  "auto" iterates for few components of many rows; Euclidean distances
        between rows of few columns need no distances at all.
    n_jobs : int, default=None
        Threads; they change no bit.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows; the largest entry of each column (in modulus) is positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of B, the squared lengths of the columns of the embedding.
    kept_ratio_ : float
        Their share of the sum of all positive eigenvalues.  If only the leading ones were computed, and distances are
        not Euclidean, of the trace, which is not above that sum: the share is then an upper bound.
    dissimilarity_matrix_ : ndarray of shape (n_samples, n_samples)
        Distances between the training rows, made anew when asked for.
    certificate_ : Certificate
        Largest residual of the eigenvectors; its details tell negative eigenvalues, kept ratio and strain.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Torgerson (1952), Multidimensional scaling: I. Theory and method, Psychometrika.
    Gower (1968), Adding a point to vector diagrams in multivariate analysis, Biometrika.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import ClassicalMDS
    >>> corners = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [0.0, 4.0]])
    >>> model = ClassicalMDS().fit(corners)
    >>> np.linalg.norm(model.embedding_[0] - model.embedding_[2]).round(12).item()
    5.0
    >>> model.transform([[1.5, 2.0]]).round(12).tolist()
    [[0.0, 0.0]]
    """

    _params = {
        "n_components": Int(ge=1),
        "metric": METRIC,
        "metric_params": METRIC_PARAMS,
        "eigen_solver": Choice(*SOLVERS),
        "n_jobs": Jobs,
    }

    def __init__(self, n_components=2, *, metric="euclidean", metric_params=None, eigen_solver="auto", n_jobs=None):
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params
        self.eigen_solver = eigen_solver
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Compute the coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Training rows, or their distances.
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
        X = check_design(self, X, reset=True, accept_sparse=False, order="C")
        options = {} if self.metric == "precomputed" else learnt_options(self.metric, self.metric_params, X)
        # 3. maths
        n, d = X.shape
        by_rows = self.eigen_solver == "auto" and d < n and is_euclidean(self.metric, options)
        solve = self._from_rows if by_rows else self._from_distances
        values, coordinates, weights, centre, found = solve(X, options)
        kept = self._count_positive(values, found)
        # 4. attributes
        self._metric, self._options, self._fitted = self.metric, options, X
        self._weights, self._centre, self._by_rows = weights[:, :kept], centre, by_rows
        self.eigenvalues_, self.embedding_ = values[:kept], np.ascontiguousarray(coordinates[:, :kept])
        self.kept_ratio_ = min(float(values[:kept].sum()) / found.positive, 1.0) if found.positive > 0.0 else 1.0
        self.certificate_ = self._certify(found, kept)
        return self

    def _from_rows(self, X, options):
        """Coordinates are linear in the rows: ``(x - centre) @ weights``."""
        found = scale_rows(X, self.n_components)
        coordinates = signed(found.coordinates)
        signs = np.where((coordinates == found.coordinates).all(axis=0), 1.0, -1.0)
        rest = (0.0, 0.0, found.positive, 0.0, True, found.squares, np.empty(0), Status.EXACT)
        return found.values, coordinates, found.axes * signs, found.mean, Eigenvalues(found.values, coordinates, *rest)

    def _from_distances(self, X, options):
        """Coordinates are linear in the squared distances: ``(centre - d^2) @ weights``."""
        distances = all_distances(X, self.metric, options, self.n_jobs)
        k = min(self.n_components, len(distances))
        found = scale_distances(distances, k, solver=self.eigen_solver, tol=TOLERANCE, n_jobs=self.n_jobs)
        vectors, root = signed(found.vectors), np.sqrt(np.maximum(found.values, 0.0))
        weights = 0.5 * vectors / np.where(root > 0.0, root, np.inf)
        return np.maximum(found.values, 0.0), vectors * root, weights, found.row_means, found

    def _count_positive(self, values, found):
        """Components to keep: those asked for that exist, and one of zeros if there is none."""
        if not found.status.ok:
            warnings.warn(
                f"The eigenvectors have a relative residual of {found.residual:.2g}, above {TOLERANCE:g}: "
                'use eigen_solver="dense" or ask for fewer components.',
                ConvergenceWarning,
                stacklevel=3,
            )
        largest = max(float(values.max(initial=0.0)), -found.lowest)
        positive = int((values > ZERO * largest).sum())
        if positive < self.n_components:
            warnings.warn(
                f"n_components={self.n_components}, but the distances have only {positive} positive eigenvalues: the "
                f"embedding has {max(positive, 1)} column(s).",
                stacklevel=3,
            )
        return max(positive, 1)

    def _certify(self, found, kept):
        values = self.eigenvalues_
        lowest = found.lowest if found.lowest < -ZERO * max(float(values.max(initial=0.0)), -found.lowest) else 0.0
        return Certificate(
            kind="eigen residual",
            guarantee="each value is an eigenvalue of the centred squared distances, but for this relative error",
            value=found.residual,
            bound=max(1e-8, TOLERANCE),
            assumption="" if lowest == 0.0 else "negative eigenvalues are left out: these distances are not Euclidean",
            reference="Parlett (1998), The Symmetric Eigenvalue Problem, theorem 4.5.1",
            details={
                "components": kept,
                "kept ratio": self.kept_ratio_,
                "all eigenvalues known": found.is_whole,
                "lowest eigenvalue": lowest,
                "negative sum": found.negative if lowest < 0.0 else 0.0,
                "positive sum": found.positive,
                "strain": float(np.sqrt(max(found.squares - float((values**2).sum()), 0.0))),
            },
        )

    def fit_transform(self, X, y=None):
        """Compute the coordinates of the training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Training rows, or their distances.
        y : None
            Not used.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates.
        """
        return self.fit(X).embedding_

    def transform(self, X):
        """Place new rows among the training rows, by their distances from them (Gower's formula).

        ``y_p(x) = 1 / (2 sqrt(lambda_p)) sum_i v_pi (mean_j d^2(x_j, x_i) - d^2(x, x_i))``: training rows come back to
        where they are, and rows in the space of the coordinates keep their distances.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), or (n_queries, n_samples) if precomputed
            New rows, or their distances from the training rows.

        Returns
        -------
        ndarray of shape (n_queries, n_components)
            Coordinates.
        """
        check_is_fitted(self)
        X = check_queries(self, X, self.metric, len(self.embedding_))
        if self._by_rows:
            return (X - self._centre) @ self._weights
        placed = np.empty((len(X), self._weights.shape[1]))
        for part in spans(len(X), QUERIES):
            distances = query_distances(X[part], self._fitted, self.metric, self._options, self.n_jobs)
            squares = np.square(distances, dtype=np.float64)
            placed[part] = (self._centre - squares) @ self._weights
        return placed

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        return tags

    @property
    def _n_features_out(self):
        return self.embedding_.shape[1]
