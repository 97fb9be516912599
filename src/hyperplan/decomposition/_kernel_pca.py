"""Principal components in the space of features of a kernel.

With ``H = I - 11'/n`` and ``HKH = V diag(lambda) V'``, the coordinates of the rows are ``V sqrt(lambda)``, and those of
a new row x are ``V' k~(x) / sqrt(lambda)`` with ``k~(x) = H (k(x) - K1/n)``: for a linear kernel these are
the coordinates of principal component analysis.
"""

import numpy as np
import scipy.linalg as la

from hyperplan._base import (
    FLOATS,
    BaseEstimator,
    Bool,
    Certificate,
    Choice,
    ClassNamePrefixFeaturesOutMixin,
    Int,
    Is,
    Jobs,
    NotFittedError,
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
from hyperplan._solvers.eigen_dense import eigh
from hyperplan._solvers.eigen_lanczos import lanczos
from hyperplan._solvers.eigen_result import signed
from hyperplan.kernels._resolve import KernelParameter, is_precomputed, resolve, rows_first

OWN = ("householder-ql", "householder-qr", "givens-ql", "givens-qr", "jacobi")
MANY_ROWS, SHARE = 200, 20  # above so many rows, for fewer than one component in 20 rows, the iteration is quicker
FEWEST_ROWS = 20  # up to which iterations are not worth their start
ROUNDING = 1e-12  # share of the largest eigenvalue below which one counts as zero
NEGATIVE = 1e-5  # share of the largest eigenvalue that a negative one must not exceed


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal component analysis in the space of features of a kernel.

    Parameters
    ----------
    n_components : int, default=None
        How many components to keep; None keeps all with a positive eigenvalue.
    kernel : str, callable or Kernel, default="linear"
        A name, "precomputed", a function of two rows, or an object of `hyperplan.kernels`.
    gamma : float, default=None
        Parameter of named kernels; None means 1 / n_features.
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1
        Constant of "poly" and "sigmoid".
    kernel_params : dict, default=None
        Keyword arguments of a function.
    alpha : float, default=1.0
        Penalty of the ridge regression that learns the way back.
    fit_inverse_transform : bool, default=False
        Whether to learn the way back from coordinates to rows.
    eigen_solver : {"auto", "dense", "arpack", "randomized", "householder-ql", "householder-qr", "givens-ql", \
"givens-qr", "jacobi"}, default="auto"
        "dense" asks LAPACK, "arpack" and "randomized" run a Lanczos iteration, the others are those of
        `hyperplan.linalg`; "auto" iterates for few components of many rows.
    tol : float, default=0
        Relative residual of the iteration (0 means close to machine precision).
    max_iter : int, default=None
        Most products of the iteration.
    iterated_power : int or "auto", default="auto"
        Accepted for compatibility.
    remove_zero_eig : bool, default=False
        Whether components with an eigenvalue of zero are left out.
    random_state : int, RandomState instance or None, default=None
        Seed of the iteration.
    copy_X : bool, default=True
        Whether a copy of X is kept; False trusts the caller not to change it.
    n_jobs : int, default=None
        Threads; they change no bit.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Largest eigenvalues of the centred kernel matrix.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Their eigenvectors; the largest entry of each is positive.
    dual_coef_ : ndarray of shape (n_samples, n_features)
        Weights of the way back, if it was learnt.
    X_transformed_fit_ : ndarray of shape (n_samples, n_components)
        Coordinates of the training rows, if the way back was learnt.
    X_fit_ : {ndarray, sparse matrix} of shape (n_samples, n_features)
        The training rows.
    gamma_ : float
        The gamma in use.
    certificate_ : Certificate
        Largest residual of the eigenvectors.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Schoelkopf, Smola, Mueller (1998), Nonlinear component analysis as a kernel eigenvalue problem, Neural Computation.
    Bakir, Weston, Schoelkopf (2004), Learning to find pre-images, NIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.decomposition import PCA, KernelPCA
    >>> X = np.random.default_rng(0).normal(size=(30, 4))
    >>> linear = KernelPCA(2).fit_transform(X)
    >>> bool(np.allclose(np.abs(linear), np.abs(PCA(2).fit_transform(X))))
    True
    """

    _params = {
        "n_components": OneOf(Int(ge=1), Null),
        "kernel": KernelParameter,
        "gamma": OneOf(Real(ge=0), Null),
        "degree": Real(ge=0),
        "coef0": Real(),
        "kernel_params": OneOf(Is(lambda v: isinstance(v, dict), "an instance of 'dict'"), Null),
        "alpha": Real(ge=0),
        "fit_inverse_transform": Bool,
        "eigen_solver": Choice("auto", "dense", "arpack", "randomized", *OWN),
        "tol": Real(ge=0),
        "max_iter": OneOf(Int(ge=1), Null),
        "iterated_power": OneOf(Int(ge=0), Choice("auto")),
        "remove_zero_eig": Bool,
        "random_state": Seed,
        "copy_X": Bool,
        "n_jobs": Jobs,
    }

    def __init__(
        self,
        n_components=None,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        alpha=1.0,
        fit_inverse_transform=False,
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        iterated_power="auto",
        remove_zero_eig=False,
        random_state=None,
        copy_X=True,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Find the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, or the matrix of kernel values.
        y : None
            Not used.

        Returns
        -------
        self
            The fitted model.
        """
        check_params(self)
        if self.fit_inverse_transform and is_precomputed(self.kernel):
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        X = rows_first(check_design(self, X, reset=True, accept_sparse="csr", dtype=FLOATS, copy=self.copy_X))
        if is_precomputed(self.kernel) and X.shape[0] != X.shape[1]:
            raise ValueError(f"A precomputed kernel must be a square matrix, got shape {X.shape}.")
        self.gamma_ = 1.0 / X.shape[1] if self.gamma is None else self.gamma
        gram = X.astype(np.float64) if is_precomputed(self.kernel) else self._gram(X)
        self._row_means = gram.mean(axis=1)
        values, vectors, residual = self._leading(gram)
        self._keep(values, vectors, X.dtype)
        self.X_fit_ = X
        if self.fit_inverse_transform:
            self._learn_way_back(X)
        self.certificate_ = Certificate(
            kind="eigen residual",
            guarantee="each value is an eigenvalue of the centred kernel matrix, but for this relative error",
            value=residual,
            bound=max(1e-8, self.tol),
            reference="Parlett (1998), The Symmetric Eigenvalue Problem, theorem 4.5.1",
            details={
                "components": int(self.eigenvalues_.size),
                "trace": float(np.trace(gram) - gram.mean() * len(gram)),
            },
        )
        return self

    def _kernel(self):
        return resolve(self.kernel, gamma=self.gamma_, degree=self.degree, coef0=self.coef0, options=self.kernel_params)

    def _gram(self, X, Y=None):
        return self._kernel().gram(X, Y, dtype=np.float64, n_jobs=self.n_jobs)

    def _leading(self, gram):
        """Eigenvalues, largest first, vectors, and the largest relative residual."""
        n = gram.shape[0]
        k = n if self.n_components is None else min(n, self.n_components)
        solver = self.eigen_solver
        if solver == "auto":
            solver = "arpack" if n > MANY_ROWS and SHARE * k <= n else "dense"
        if solver in ("arpack", "randomized") and k < n and n > FEWEST_ROWS:
            seed, which = check_random_state(self.random_state).randint(2**31 - 1), "LA" if solver == "arpack" else "LM"
            options = {"which": which, "tol": max(self.tol, 1e-12), "max_iter": self.max_iter, "random_state": seed}
            found = lanczos(_Centred(gram), k, **options)
            return found.values[::-1], found.vectors[:, ::-1], found.certificate.value
        centred = gram - self._row_means[:, None]
        centred -= gram.mean(axis=0) - self._row_means.mean()
        if solver in OWN:
            found = eigh(centred, method=solver, n_components=k)
            return found.values[::-1], found.vectors[:, ::-1], found.certificate.value
        subset = None if solver == "randomized" else (n - k, n - 1)
        values, vectors = la.eigh(centred, subset_by_index=subset, overwrite_a=True, check_finite=False)
        if solver == "randomized":  # the largest in modulus, so that negative ones are noticed
            chosen = np.sort(np.argsort(-np.abs(values), kind="stable")[:k])
            values, vectors = values[chosen], vectors[:, chosen]
        return values[::-1], vectors[:, ::-1], 0.0

    def _keep(self, values, vectors, dtype):
        largest = max(float(values.max(initial=0.0)), 0.0)
        lowest = float(values.min(initial=0.0))
        if lowest < -NEGATIVE * largest and lowest < -1e-10:
            raise ValueError(
                f"There are significant negative eigenvalues ({-lowest / max(largest, 1e-300):g} of the maximum "
                "positive): the kernel is not positive. Ask hyperplan.kernels.mercer_check where, ask for fewer "
                "components, or use another kernel."
            )
        values = np.where(values <= ROUNDING * largest, 0.0, values)
        vectors = signed(vectors)
        if self.remove_zero_eig or self.n_components is None:
            vectors, values = vectors[:, values > 0.0], values[values > 0.0]
        self.eigenvalues_, self.eigenvectors_ = values.astype(dtype), vectors.astype(dtype)

    def _learn_way_back(self, X):
        if hasattr(X, "tocsr"):
            raise ValueError("fit_inverse_transform needs dense rows: give X.toarray(), or a fit without it.")
        scores = self.eigenvectors_ * np.sqrt(self.eigenvalues_)
        gram = self._gram(scores)
        gram.flat[:: len(gram) + 1] += self.alpha
        self.dual_coef_ = la.solve(gram, X, assume_a="pos", overwrite_a=True, check_finite=False).astype(X.dtype)
        self.X_transformed_fit_ = scores

    def fit_transform(self, X, y=None):
        """Find the components and the coordinates of the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows, or the matrix of kernel values.
        y : None
            Not used.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates.
        """
        self.fit(X)
        return self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    def transform(self, X):
        """Coordinates of rows; the matrix of kernel values with the training rows is never held.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, or their kernel values with the training rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates.
        """
        check_is_fitted(self)
        X = rows_first(check_design(self, X, accept_sparse="csr", dtype=FLOATS))
        root = np.sqrt(self.eigenvalues_, dtype=np.float64)
        weights = self.eigenvectors_ / np.where(root > 0.0, root, np.inf)
        weights = np.column_stack([weights, np.full(len(weights), 1.0 / len(weights))])
        if is_precomputed(self.kernel):
            sums = X @ weights
        else:
            sums = self._kernel().expansion(X, self.X_fit_, weights, n_jobs=self.n_jobs)
        scores, own_means = sums[:, :-1], sums[:, -1:]
        totals = weights[:, :-1].sum(axis=0)
        centred = scores - own_means * totals - self._row_means @ weights[:, :-1] + self._row_means.mean() * totals
        return centred.astype(X.dtype, copy=False)

    def inverse_transform(self, X):
        """Rows whose coordinates are near X, by the ridge regression learnt in `fit`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Coordinates.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows.
        """
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse "
                "transform is not available."
            )
        check_is_fitted(self)
        X = check_array(X, dtype=FLOATS)
        back = self._kernel().expansion(X, self.X_transformed_fit_, self.dual_coef_, n_jobs=self.n_jobs)
        return back.astype(X.dtype, copy=False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        return tags

    @property
    def _n_features_out(self):
        return self.eigenvalues_.shape[0]


class _Centred:
    """``HKH`` as an operator, K being held and the centring implied."""

    def __init__(self, gram):
        self.gram, self.shape = gram, gram.shape

    def matvec(self, vector):
        vector = vector - vector.mean()
        image = self.gram @ vector
        return image - image.mean()
