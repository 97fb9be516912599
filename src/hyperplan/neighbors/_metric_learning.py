"""What learnt metrics share: losses of all squared distances ``D_ij = |A x_i - A x_j|^2`` as functions of A.

With ``C_ij = d loss / d D_ij``, the gradient is ``2 (A X') (diag(C 1 + C' 1) - C - C') X``.  Tables of distances are
computed some rows at a time and never kept, so that memory grows with the number of rows and not with its square.
"""

import time
import warnings

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    Bool,
    ConvergenceWarning,
    Int,
    Is,
    Null,
    OneOf,
    Real,
    Seed,
    TransformerMixin,
    check_array,
    check_design,
    check_is_fitted,
    check_random_state,
    check_training,
    encode_labels,
)
from hyperplan._base.named_members import input_names
from hyperplan._core.parallel import single_threaded_blas, spans, thread_map
from hyperplan._solvers.lbfgs import lbfgs

TILE_NUMBERS = 2**21  # of a table of distances in memory, per thread
MOST_ROWS = 256
GROUPS, PAIRS = 8, 2**18  # tasks of one evaluation, at most, and pairs that are worth one
STARTS = ("auto", "pca", "lda", "identity", "random")
NEGLIGIBLE = 1e-4  # singular values below this share count as 0

COMMON = {
    "n_components": OneOf(Int(ge=1), Null),
    "init": OneOf(
        Is(lambda value: isinstance(value, str) and value in STARTS, f"a str among {set(STARTS)}"),
        Is(lambda value: isinstance(value, np.ndarray), "an instance of 'numpy.ndarray'"),
    ),
    "warm_start": Bool,
    "max_iter": Int(ge=1),
    "tol": Real(ge=0),
    "callback": OneOf(Is(callable, "a callable"), Null),
    "verbose": OneOf(Int(ge=0), Bool),
    "random_state": Seed,
}


def pair_loss(X, transformation, rows_loss, n_jobs=None):
    """Loss and gradient; ``rows_loss(first, tile, losses)`` turns distances into derivatives and fills in losses."""
    n, width = X.shape[0], transformation.shape[0]
    with single_threaded_blas():
        embedded = X @ transformation.T
    embedded = embedded - embedded.mean(axis=0)
    squares = np.einsum("ij,ij->i", embedded, embedded)
    step = max(1, min(MOST_ROWS, TILE_NUMBERS // max(n, 1)))

    def work(part):
        across, columns, loss = np.zeros((width, n)), np.zeros(n), 0.0
        along, rows = np.zeros((width, X.shape[1])), np.zeros(part.stop - part.start)
        scratch = np.empty((step, n))
        for inner in spans(part.stop - part.start, step):
            own = slice(part.start + inner.start, part.start + inner.stop)
            tile = scratch[: own.stop - own.start]
            np.matmul(embedded[own], embedded.T, out=tile)
            tile *= -2.0
            tile += squares[own, None]
            tile += squares
            np.maximum(tile, 0.0, out=tile)
            losses = np.empty(own.stop - own.start)
            rows_loss(own.start, tile, losses)
            loss += float(losses.sum())
            across += embedded[own].T @ tile
            along += (tile @ embedded).T @ X[own]
            columns += tile.sum(axis=0)
            rows[inner] = tile.sum(axis=1)
        return loss, across, along, columns, rows

    groups = max(1, min(GROUPS, n * n // PAIRS))
    parts = thread_map(work, spans(n, -(-n // groups)), n_jobs)
    mass = sum(part[3] for part in parts) + np.concatenate([part[4] for part in parts])
    with single_threaded_blas():
        gradient = (embedded * mass[:, None]).T @ X - sum(part[1] for part in parts) @ X
    gradient -= sum(part[2] for part in parts)
    return sum(part[0] for part in parts), 2.0 * gradient


class LearntMetric(TransformerMixin, BaseEstimator):
    """A linear map A fitted by L-BFGS; subclasses have a name for messages and ``_rows_loss(X, codes)``."""

    _scale_by_rows = False

    def fit(self, X, y):
        """Learn the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        # 1 parameters
        self._check_params()
        # 2 data
        X, y, _ = check_training(self, X, y, accept_sparse=False, ensure_min_samples=2)
        X = np.ascontiguousarray(X, dtype=np.float64)
        codes = encode_labels(y, min_classes=1).codes
        self._check_shapes(X)
        self.random_state_ = check_random_state(self.random_state)
        began = time.perf_counter()
        # 3 maths
        start = np.asarray(self._start(X, codes), dtype=np.float64)
        found = self._descend(X, self._rows_loss(X, codes), start)
        # 4 attributes
        self.components_, self.n_iter_ = found.x, max(1, found.n_iter)
        self.objective_, self.certificate_ = found.objective, found.certificate
        self._report_end(found, time.perf_counter() - began)
        return self

    def _check_shapes(self, X):
        d, init = X.shape[1], self.init
        if self.n_components is not None and self.n_components > d:
            raise ValueError(
                f"The preferred dimensionality of the projected space `n_components` ({self.n_components}) cannot be "
                f"greater than the given data dimensionality ({d})!"
            )
        if self.warm_start and hasattr(self, "components_") and self.components_.shape[1] != d:
            raise ValueError(
                f"The new inputs dimensionality ({d}) does not match the input dimensionality of the previously "
                f"learned transformation ({self.components_.shape[1]})."
            )
        if not isinstance(init, np.ndarray):
            return
        init = check_array(init)
        if init.shape[1] != d:
            raise ValueError(
                f"The input dimensionality ({init.shape[1]}) of the given linear transformation `init` must match the "
                f"dimensionality of the given inputs `X` ({d})."
            )
        if init.shape[0] > init.shape[1]:
            raise ValueError(
                f"The output dimensionality ({init.shape[0]}) of the given linear transformation `init` cannot be "
                f"greater than its input dimensionality ({init.shape[1]})."
            )
        if self.n_components is not None and self.n_components != init.shape[0]:
            raise ValueError(
                f"The preferred dimensionality of the projected space `n_components` ({self.n_components}) does not "
                f"match the output dimensionality of the given linear transformation `init` ({init.shape[0]})!"
            )

    def _start(self, X, codes):
        if self.warm_start and hasattr(self, "components_"):
            return self.components_
        if isinstance(self.init, np.ndarray):
            return self.init
        (n, d), n_classes = X.shape, int(codes.max()) + 1
        width, init = self.n_components or d, self.init
        if init == "auto":
            init = "lda" if width <= min(d, n_classes - 1) else "pca" if width < min(d, n) else "identity"
        if init == "identity":
            return np.eye(width, d)
        if init == "random":
            return self.random_state_.standard_normal(size=(width, d))
        began = time.perf_counter()
        if self.verbose:
            what = "principal components" if init == "pca" else "most discriminative components"
            print(f"Finding {what}... ", end="", flush=True)
        start = principal_directions(X, width) if init == "pca" else discriminant_directions(X, codes, width)
        if self.verbose:
            print(f"done in {time.perf_counter() - began:5.2f}s", flush=True)
        return start

    def _descend(self, X, rows_loss, start):
        name, last, count = type(self).__name__, {}, {"calls": 0, "steps": 0}
        scale = 1.0 / X.shape[0] if self._scale_by_rows else 1.0
        if self.verbose:
            header = f"{'Iteration':>10} {'Objective Value':>20} {'Time(s)':>10}"
            print(f"[{name}]\n[{name}] {header}\n[{name}] {'-' * len(header)}")

        def both(transformation):
            key = transformation.tobytes()
            if last.get("key") != key:  # the solver asks for the gradient where it has just been
                began = time.perf_counter()
                value, gradient = pair_loss(X, transformation, rows_loss)
                last.update(key=key, found=(scale * value, scale * gradient))
                count["calls"] += 1
                if self.verbose:
                    seconds = time.perf_counter() - began
                    print(f"[{name}] {count['calls']:>10} {abs(value):>20.6e} {seconds:>10.2f}", flush=True)
            return last["found"]

        def after(transformation, step):
            if step.iteration > 0 and self.callback is not None:
                self.callback(transformation.ravel(), step.iteration)
            return False

        return lbfgs(both, True, start, tol=self.tol, max_iter=self.max_iter, callback=after)

    def _report_end(self, found, seconds):
        name = type(self).__name__
        if self.verbose and not found.status.ok:
            warnings.warn(f"[{name}] {self._short_name} did not converge: {found.message}", ConvergenceWarning)
        if self.verbose:
            print(f"[{name}] Training took {seconds:8.2f}s.")

    def transform(self, X):
        """Map rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        embedded : ndarray of shape (n_samples, n_components)
            ``A x`` for each row.
        """
        check_is_fitted(self)
        return check_design(self, X, accept_sparse=False) @ self.components_.T

    def get_feature_names_out(self, input_features=None):
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the columns of X; only checked.

        Returns
        -------
        names : ndarray of str
            Names.
        """
        check_is_fitted(self)
        if input_features is not None:
            input_names(self, input_features)
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in range(self.components_.shape[0])], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def principal_directions(X, width):
    """Directions of the largest variances, as rows."""
    _, _, directions = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return directions[:width]


def discriminant_directions(X, codes, width):
    """Directions that separate the means of the classes best, in units of the spread within classes, as rows.

    Fewer than `width` where the means span less.
    """
    n, counts = X.shape[0], np.bincount(codes)
    if n == len(counts):
        raise ValueError("The number of samples must be more than the number of classes.")
    means = np.stack([np.bincount(codes, weights=column) for column in X.T], axis=1) / counts[:, None]
    within = X - means[codes]
    deviation = within.std(axis=0)
    deviation[deviation == 0] = 1.0
    _, sizes, directions = np.linalg.svd(within / deviation / np.sqrt(n), full_matrices=False)
    rank = int((sizes > NEGLIGIBLE).sum())
    whitening = (directions[:rank] / deviation).T / sizes[:rank]
    between = np.sqrt(counts / max(len(counts) - 1, 1))[:, None] * (means - X.mean(axis=0))
    _, sizes, directions = np.linalg.svd(between @ whitening, full_matrices=False)
    rank = max(1, int((sizes > NEGLIGIBLE * sizes.max(initial=0.0)).sum()))
    return (whitening @ directions.T[:, :rank]).T[:width]
