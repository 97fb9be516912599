"""What kernels are: functions of two rows with an algebra, evaluated in rectangles that nobody has to keep.

A kernel is positive (Mercer's condition) when every matrix ``K_ij = k(x_i, x_j)`` has no negative eigenvalue; then it
is an inner product of features, ``k(x, y) = <phi(x), phi(y)>``, and has lengths, distances and angles.  Sums, products
and non-negative multiples of positive kernels are positive.
"""

import importlib
import inspect

import numpy as np

from hyperplan._base import FLOATS, check_array, check_params
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import spans, thread_map
from hyperplan._math.gram import make_symmetric

BLOCK_ENTRIES = 1 << 20  # kernel values that are made, used and forgotten together
NEGATIVE_SQUARE = 1e-8  # share of the largest |k(x, x)| that a squared distance may be negative by rounding


def count_rows(table):
    """Number of objects in a table, which may be sparse or a list."""
    return table.shape[0] if hasattr(table, "shape") else len(table)


def row_blocks(n_rows, width):
    """Slices of rows whose rectangles of that width are worth one task each."""
    return spans(n_rows, max(16, BLOCK_ENTRIES // max(1, width)))


def mirror(matrix):
    """Make a matrix that is symmetric up to rounding exactly so, block by block."""
    for rows in spans(matrix.shape[0], 512):
        make_symmetric(matrix[rows, rows])
        matrix[rows.stop :, rows] = matrix[rows, rows.stop :].T


def _algebra():
    """The module of sums and products, which derive from `Kernel`."""
    return importlib.import_module("hyperplan.kernels._algebra")


class Kernel:
    """Base of all kernels; call one on tables of rows to get the matrix of its values.

    To write a kernel of your own, wrap a function of two rows in `FromFunction`, or derive from this class and give it
    `_against` (rectangles) and `_diag` (values of rows with themselves).

    Examples
    --------
    >>> from hyperplan.kernels import RBF, Polynomial
    >>> kernel = RBF(gamma=0.5) + 2 * Polynomial(degree=2, gamma=1.0)
    >>> kernel
    RBF(gamma=0.5) + 2 * Polynomial(degree=2, gamma=1.0)
    >>> kernel([[0.0], [1.0]]).round(3).tolist()
    [[3.0, 2.607], [2.607, 9.0]]
    """

    _params: dict = {}

    # --- values

    def __call__(self, X, Y=None):
        """The matrix of values: `gram` with its defaults, as scikit-learn's support vector machines call kernels."""
        return self.gram(X, Y)

    def gram(self, X, Y=None, *, dtype=None, n_jobs=None):
        """Matrix of ``k(x_i, y_j)``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
            Rows (texts or other objects for kernels of those).
        Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
            Rows to compare with; None means X, and is computed once per pair.
        dtype : {float32, float64}, default=None
            Precision; None means float32 for float32 tables and else float64.
        n_jobs : int, default=None
            Threads; they change no bit.

        Returns
        -------
        K : ndarray of shape (n_samples_X, n_samples_Y)
            Kernel values.
        """
        self._check()
        X = self._table(X)
        other = X if Y is None else self._table(Y)
        self._check_widths(X, other)
        shape = count_rows(X), count_rows(other)
        dtype = _precision(dtype, X, other)
        require_memory(
            float(shape[0]) * shape[1] * dtype.itemsize,
            f"the {shape[0]} x {shape[1]} matrix of kernel values",
            "take fewer rows, dtype=float32, sums by expansion() or a map (Nystroem, RBFSampler)",
        )
        out = np.empty(shape, dtype=dtype)
        if Y is None:
            self._fill_square(X, out, n_jobs)
        else:
            self._fill(X, other, out, n_jobs)
        return out

    def diag(self, X):
        """``k(x_i, x_i)``, without the other values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            Diagonal of ``gram(X)``.
        """
        self._check()
        return np.asarray(self._diag(self._table(X)), dtype=np.float64)

    def expansion(self, X, anchors, coef, *, n_jobs=None):
        """``f(x_i) = sum_j coef_j k(x_i, anchor_j)``: what every kernel method answers (the representer theorem).

        The matrix of kernel values is never held.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        anchors : {array-like, sparse matrix} of shape (n_anchors, n_features)
            Centres.
        coef : array-like of shape (n_anchors,) or (n_anchors, n_outputs)
            Weights.
        n_jobs : int, default=None
            Threads; they change no bit.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Sums.
        """
        self._check()
        X, anchors, coef = self._table(X), self._table(anchors), np.asarray(coef, dtype=np.float64)
        self._check_widths(X, anchors)
        if count_rows(anchors) != coef.shape[0]:
            raise ValueError(f"{count_rows(anchors)} anchors need as many weights, got {coef.shape[0]}")
        return self._expand(X, anchors, coef, n_jobs)

    # --- geometry in the space of features

    def norm(self, X):
        """Lengths ``sqrt(k(x, x))`` of the rows' features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        lengths : ndarray of shape (n_samples,)
            Lengths.
        """
        return np.sqrt(_no_negatives(self.diag(X), self))

    def distance(self, X, Y=None):
        """Distances ``sqrt(k(x, x) + k(y, y) - 2 k(x, y))`` between the rows' features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
            Rows.
        Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
            Rows to compare with; None means X.

        Returns
        -------
        distances : ndarray of shape (n_samples_X, n_samples_Y)
            Distances.
        """
        squares, others = self.diag(X), self.diag(X if Y is None else Y)
        values = self.gram(X, Y, dtype=np.float64)
        values *= -2.0
        values += squares[:, None]
        values += others
        size = max(np.abs(squares).max(initial=0.0), np.abs(others).max(initial=0.0))
        if values.size and values.min() < -NEGATIVE_SQUARE * size:
            i, j = np.unravel_index(values.argmin(), values.shape)
            raise ValueError(
                f"{self!r} is no positive kernel: rows {i} and {j} would have the squared distance "
                f"{values[i, j]:.4g} (mercer_check says more)"
            )
        np.sqrt(np.maximum(values, 0.0, out=values), out=values)
        if Y is None:
            np.fill_diagonal(values, 0.0)
        return values

    def cosine(self, X, Y=None):
        """Cosines ``k(x, y) / sqrt(k(x, x) k(y, y))`` of the angles between the rows' features (0 for lengths 0).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
            Rows.
        Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
            Rows to compare with; None means X.

        Returns
        -------
        cosines : ndarray of shape (n_samples_X, n_samples_Y)
            Cosines.
        """
        left = self.norm(X)
        right = left if Y is None else self.norm(Y)
        values = self.gram(X, Y, dtype=np.float64)
        values /= np.where(left > 0, left, 1.0)[:, None]
        values /= np.where(right > 0, right, 1.0)
        return values

    def feature_map(self, X):
        """Features whose inner products are the kernel's values, where they are finitely many.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        features : ndarray of shape (n_samples, n_map)
            Features.
        """
        raise ValueError(
            f"{type(self).__name__} has no finite feature map that is known: approximate it by Nystroem "
            "(or RBFSampler, for RBF)"
        )

    # --- parameters, as estimators have them

    def get_params(self, deep=True):
        """Parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether those of kernels inside come too, as ``left__gamma``.

        Returns
        -------
        params : dict
            Names and values.
        """
        found = {name: getattr(self, name) for name in self._defaults()}
        inside = {name: value for name, value in found.items() if deep and isinstance(value, Kernel)}
        for name, kernel in inside.items():
            found.update({f"{name}__{key}": value for key, value in kernel.get_params().items()})
        return found

    def set_params(self, **params):
        """Set parameters, also those of kernels inside.

        Parameters
        ----------
        **params : dict
            Names as in `get_params`, and values.

        Returns
        -------
        self
            The kernel.
        """
        for name, value in params.items():
            own, _, inner = name.partition("__")
            if own not in self._defaults():
                known = ", ".join(self._defaults()) or "none"
                raise ValueError(f"Invalid parameter {own!r} for kernel {self!r}. Valid parameters are: {known}.")
            if inner:
                getattr(self, own).set_params(**{inner: value})
            else:
                setattr(self, own, value)
        return self

    @classmethod
    def _defaults(cls):
        if cls.__init__ is object.__init__:
            return {}
        return {name: item.default for name, item in list(inspect.signature(cls.__init__).parameters.items())[1:]}

    def __repr__(self):
        changed = {
            name: getattr(self, name)
            for name, default in self._defaults().items()
            if not _same(getattr(self, name), default)
        }
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    # --- algebra

    def __add__(self, other):
        return _algebra().add(self, other)

    def __radd__(self, other):
        return _algebra().add(other, self)

    def __mul__(self, other):
        return _algebra().multiply(self, other)

    def __rmul__(self, other):
        return self.__mul__(other)

    def __eq__(self, other):
        """Kernels are equal when their classes and parameters are."""
        if type(self) is not type(other):
            return False
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        return all(_same(value, theirs[name]) for name, value in mine.items())

    __hash__ = None  # parameters can be set: equal kernels may differ later

    # --- for the kernels themselves

    def _check(self):
        check_params(self)

    def _table(self, X):
        return check_array(X, accept_sparse="csr", dtype=FLOATS, order="C")

    def _check_widths(self, X, Y):
        if hasattr(X, "shape") and hasattr(Y, "shape") and X.shape[1:] != Y.shape[1:]:
            raise ValueError(f"rows of X have {X.shape[1]} columns, rows of Y have {Y.shape[1]}")

    def _against(self, Y, dtype):
        """A function ``write(X, out)`` that fills rectangles of values between any rows and those of Y."""
        raise TypeError(f"{type(self).__name__} does not say how it is computed: give it a method _against")

    def _diag(self, X):
        raise TypeError(f"{type(self).__name__} does not say what k(x, x) is: give it a method _diag")

    def _fill(self, X, Y, out, n_jobs=None):
        write = self._against(Y, out.dtype)
        thread_map(lambda rows: write(X[rows], out[rows]), row_blocks(*out.shape), n_jobs)

    def _fill_square(self, X, out, n_jobs=None):
        self._fill(X, X, out, n_jobs)
        mirror(out)  # rounding may differ on both sides of the diagonal

    def _expand(self, X, anchors, coef, n_jobs=None):
        write = self._against(anchors, _precision(None, X, anchors))
        out = np.empty((count_rows(X), *coef.shape[1:]))

        def run(rows):
            values = np.empty((rows.stop - rows.start, coef.shape[0]), dtype=_precision(None, X, anchors))
            write(X[rows], values)
            out[rows] = values @ coef

        thread_map(run, row_blocks(out.shape[0], coef.shape[0]), n_jobs)
        return out


def _precision(dtype, X, Y):
    if dtype is None:
        single = getattr(X, "dtype", None) == np.float32 and getattr(Y, "dtype", None) == np.float32
        return np.dtype(np.float32 if single else np.float64)
    if np.dtype(dtype) not in FLOATS:
        raise ValueError(f"dtype must be float32 or float64, got {dtype!r}")
    return np.dtype(dtype)


def _same(one, other):
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return one is other or bool(one == other)


def _no_negatives(squares, kernel):
    if squares.size and squares.min() < 0:
        row = int(squares.argmin())
        raise ValueError(f"{kernel!r} is no positive kernel: k(x, x) = {squares[row]:.4g} for row {row}")
    return squares
