"""Tables with categories: which columns hold them, and every column as numbers.

A categorical column becomes codes 0, 1, ... in the order of its sorted values.  Missing values (None, NaN) become NaN;
a value that was not there in `fit` becomes the number of known categories, which no training row has.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import ArrayLike, Choice, OneOf, check_array, check_design

CATEGORICAL_FEATURES = OneOf(ArrayLike, Choice("from_dtype", None))
MOST_CATEGORIES = 2**24  # codes are compared as float32


class Table(NamedTuple):
    """Sorted values of each categorical column, None for columns of numbers."""

    categories: list

    @property
    def n_values(self):
        """Number of categories by column, 0 for numbers."""
        return np.array([0 if known is None else len(known) for known in self.categories], dtype=np.int64)


def categorical_mask(X, wanted):
    """Which columns are categorical, from a mask, indices, names or the types; None without any."""
    if wanted is None:
        return None
    X = _as_table(X)
    n_features = X.shape[1]
    names = getattr(X, "columns", None)
    if isinstance(wanted, str):
        mask = np.array([_holds_categories(_column(X, j)) for j in range(n_features)], dtype=bool)
        return mask if mask.any() else None
    wanted = np.asarray(wanted)
    if wanted.size == 0:
        return None
    if wanted.dtype.kind == "b":
        if wanted.shape != (n_features,):
            raise ValueError(f"categorical_features is a mask of shape {wanted.shape}, but X has {n_features} features")
        return wanted if wanted.any() else None
    if wanted.dtype.kind in "iu":
        if wanted.min() < 0 or wanted.max() >= n_features:
            raise ValueError(f"categorical_features must be indices in [0, {n_features - 1}], got {wanted.tolist()}")
        return np.isin(np.arange(n_features), wanted)
    unknown = [name for name in wanted.tolist() if names is None or name not in list(names)]
    if unknown:
        seen = "X has no feature names" if names is None else f"X has {list(names)}"
        raise ValueError(f"categorical_features names {unknown[0]!r}, but {seen}: use names, indices or a mask")
    return np.isin(np.asarray(names, dtype=object), wanted)


def learn_table(estimator, X, mask):
    """Numbers of the training table, float64 of shape (n, d), and how to read others alike."""
    raw = _as_table(X)
    n, d = raw.shape
    found, numbers = [None] * d, np.empty((n, d), order="F")
    for j in range(d):
        column = _column(raw, j)
        if mask[j]:
            found[j] = _known(column)
            numbers[:, j] = _codes(column, found[j])
        else:
            numbers[:, j] = _numbers(column, j)
    check_array(numbers, ensure_all_finite="allow-nan", input_name="X", estimator=estimator)
    _remember_names(estimator, X, reset=True)
    return numbers, Table(found)


def read_table(estimator, X, table: Table):
    """Numbers of another table."""
    _remember_names(estimator, X, reset=False)
    raw = _as_table(X)
    numbers = np.empty(raw.shape, order="F")
    for j, known in enumerate(table.categories):
        column = _column(raw, j)
        numbers[:, j] = _numbers(column, j) if known is None else _codes(column, known)
    return check_array(numbers, ensure_all_finite="allow-nan", input_name="X", estimator=estimator)


def _remember_names(estimator, X, reset):
    check_design(estimator, X if hasattr(X, "columns") else _as_table(X), reset=reset, skip_check_array=True)


def _as_table(X):
    """Data frames as they are, anything else as a two-dimensional array that keeps its strings and numbers apart."""
    if sp.issparse(X):
        raise TypeError("Sparse data was passed for X, but categorical columns need a dense table: use X.toarray()")
    if hasattr(X, "columns") and hasattr(X, "shape"):
        return X
    table = np.asarray(X)
    if table.dtype.kind in "USO":
        table = np.asarray(X, dtype=object)
    if table.ndim != 2:
        raise ValueError(f"Expected 2D array, got {table.ndim}D array instead: reshape your data")
    return table


def _column(X, j):
    """One column as an array of numbers or of objects."""
    column = X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]
    kind = str(getattr(column, "dtype", "")).lower()
    if kind.startswith(("categor", "enum", "str", "object")):
        return np.asarray(column, dtype=object)
    column = np.asarray(column)
    return column if column.dtype.kind in "biuf" else column.astype(object)


def _holds_categories(column):
    """Objects with at least one string, or pandas and polars categories (which arrive as objects too)."""
    return column.dtype.kind == "O" and any(isinstance(item, str) for item in column)


def _is_missing(item):
    return item is None or type(item).__name__ in ("NAType", "NaTType") or (isinstance(item, float) and item != item)


def _known(column):
    """Sorted values that are not missing."""
    if column.dtype.kind != "O":
        found = np.unique(column)
        found = found[~np.isnan(found)] if found.dtype.kind == "f" else found
    else:
        values = {item for item in map(_hashable, column) if not _is_missing(item)}
        try:
            ordered = sorted(values)
        except TypeError:  # of several types
            ordered = sorted(values, key=lambda item: (type(item).__name__, str(item)))
        found = np.empty(len(ordered), dtype=object)
        found[:] = ordered
    if len(found) >= MOST_CATEGORIES:
        raise ValueError(f"A categorical column has {len(found)} values, at most {MOST_CATEGORIES - 1} are possible")
    return found


def _codes(column, known):
    """Position in `known`; NaN for missing values, ``len(known)`` for unknown ones."""
    if known.dtype.kind != "O" and column.dtype.kind != "O":
        place = np.searchsorted(known, column)
        inside = np.minimum(place, max(len(known) - 1, 0))
        same = known[inside] == column if len(known) else np.zeros(column.shape[0], dtype=bool)
        codes = np.where(same, inside, len(known)).astype(np.float64)
        if column.dtype.kind == "f":
            codes[np.isnan(column)] = np.nan
        return codes
    lookup = {item: code for code, item in enumerate(known.tolist())}
    found = [np.nan if _is_missing(item) else lookup.get(item, len(known)) for item in map(_hashable, column)]
    return np.array(found, dtype=np.float64)


def _hashable(item):
    if isinstance(item, dict | list | set):
        raise TypeError(f"A category argument must be a string or a number, got {type(item).__name__}: {item!r}")
    return item


def _numbers(column, j):
    """Floats; missing values of any kind become NaN."""
    if column.dtype.kind != "O":
        return column
    try:
        return np.array([np.nan if _is_missing(item) else float(item) for item in column])
    except ValueError as error:
        raise ValueError(f"{error} in column {j}: name the column in categorical_features") from None
