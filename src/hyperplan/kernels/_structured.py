"""Kernels of things that are no rows of numbers: texts, anything a function can compare, matrices made elsewhere."""

from collections import Counter

import numpy as np
import scipy.sparse as sp

from hyperplan._base import Bool, Int, Is, Null, OneOf, check_array
from hyperplan.kernels._kernel import Kernel, count_rows


class FromFunction(Kernel):
    """``k(x, y) = function(x, y)`` for objects of any kind: rows, sets, graphs, trees.

    Parameters
    ----------
    function : callable
        Takes two objects, returns a number.
    symmetric : bool, default=True
        Whether ``function(x, y) = function(y, x)``: then each pair is computed once.
    options : dict, default=None
        Keyword arguments of the function.

    Examples
    --------
    >>> from hyperplan.kernels import FromFunction
    >>> common = FromFunction(lambda a, b: len(a & b))
    >>> common([{"red", "green"}, {"green"}]).tolist()
    [[2.0, 1.0], [1.0, 1.0]]
    """

    _params = {
        "function": Is(callable, "a callable"),
        "symmetric": Bool,
        "options": OneOf(Is(lambda v: isinstance(v, dict), "a dict"), Null),
    }

    def __init__(self, function, *, symmetric=True, options=None):
        self.function = function
        self.symmetric = symmetric
        self.options = options

    def _table(self, X):
        if sp.issparse(X):
            return X.toarray()  # functions get rows
        if hasattr(X, "to_numpy"):
            return X.to_numpy()
        return X if hasattr(X, "__len__") and hasattr(X, "__getitem__") else list(X)

    def _check_widths(self, X, Y):
        pass

    def _value(self, x, y):
        value = np.asarray(self.function(x, y, **(self.options or {})), dtype=np.float64)
        if value.size != 1 or not np.isfinite(value).all():
            raise ValueError(f"the function of FromFunction must return one finite number, got {value}")
        return float(value.reshape(()))

    def _against(self, Y, dtype):
        def write(X, out):
            for i in range(out.shape[0]):
                for j in range(out.shape[1]):
                    out[i, j] = self._value(X[i], Y[j])

        return write

    def _fill(self, X, Y, out, n_jobs=None):
        self._against(Y, out.dtype)(X, out)  # Python functions run one at a time

    def _fill_square(self, X, out, n_jobs=None):
        if not self.symmetric:
            self._fill(X, X, out)
            return
        for i in range(out.shape[0]):
            for j in range(i, out.shape[0]):
                out[i, j] = out[j, i] = self._value(X[i], X[j])

    def _diag(self, X):
        return np.array([self._value(X[i], X[i]) for i in range(count_rows(X))])


class Spectrum(Kernel):
    """Number of pairs of equal substrings of a length: the inner product of counts of substrings.

    Parameters
    ----------
    length : int, default=3
        Length of the substrings.

    References
    ----------
    Leslie, Eskin, Noble (2002), The spectrum kernel: a string kernel for SVM protein classification.

    Examples
    --------
    >>> from hyperplan.kernels import Spectrum
    >>> Spectrum(2)(["banana", "ananas"]).tolist()
    [[9.0, 8.0], [8.0, 9.0]]
    """

    _params = {"length": Int(ge=1)}

    def __init__(self, length=3):
        self.length = length

    def _table(self, X):
        texts = np.asarray(X, dtype=object)
        texts = texts[:, 0] if texts.ndim == 2 and texts.shape[1] == 1 else texts
        wrong = [i for i, text in enumerate(texts) if not isinstance(text, str)] if texts.ndim == 1 else [0]
        if wrong:
            raise ValueError(f"Spectrum compares texts: object {wrong[0]} is {texts[wrong[0]]!r:.60}")
        return texts

    def _counts(self, texts, places):
        """Sparse table of counts; `places` numbers the substrings, and grows."""
        data, columns, starts = [], [], [0]
        for text in texts:
            found = Counter(text[i : i + self.length] for i in range(len(text) - self.length + 1))
            columns += [places.setdefault(part, len(places)) for part in found]
            data += found.values()
            starts.append(len(data))
        shape = (len(starts) - 1, max(1, len(places)))
        return sp.csr_array((np.array(data, dtype=np.float64), np.array(columns, dtype=np.int64), starts), shape=shape)

    def _against(self, Y, dtype):
        places: dict = {}
        counts = self._counts(Y, places)

        def write(X, out):
            known = dict(places)  # substrings that Y does not have get further columns, which count for nothing
            out[...] = (self._counts(X, known)[:, : counts.shape[1]] @ counts.T).toarray()

        return write

    def _diag(self, X):
        counts = self._counts(X, {})
        return np.asarray(counts.multiply(counts).sum(axis=1)).ravel()

    def feature_map(self, X):
        """Sparse counts of the substrings of X, in alphabetical order."""
        self._check()
        texts = self._table(X)
        parts = sorted({text[i : i + self.length] for text in texts for i in range(len(text) - self.length + 1)})
        return self._counts(texts, {part: place for place, part in enumerate(parts)})


class Precomputed(Kernel):
    """Values that were computed elsewhere: the table is the matrix itself.

    Examples
    --------
    >>> from hyperplan.kernels import Precomputed
    >>> Precomputed().diag([[2.0, 1.0], [1.0, 3.0]]).tolist()
    [2.0, 3.0]
    """

    def _table(self, X):
        return np.asarray(check_array(X, order="C"), dtype=np.float64)

    def gram(self, X, Y=None, *, dtype=None, n_jobs=None):
        """A copy of the matrix X; it already holds the values for the rows of a fit, which Y would be."""
        if Y is not None:
            raise ValueError("Precomputed has no values of its own: X is the matrix, and Y must be None")
        return self._table(X).astype(np.float64 if dtype is None else dtype)

    def _check_widths(self, X, Y):
        pass

    def _against(self, Y, dtype):
        def write(X, out):
            if X.shape[1] != out.shape[1]:
                raise ValueError(f"the matrix of kernel values has {X.shape[1]} columns instead of {out.shape[1]}")
            out[...] = X

        return write

    def _diag(self, X):
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"a matrix of kernel values of rows with themselves is square, got {X.shape}")
        return np.diagonal(X).copy()
