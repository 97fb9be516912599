"""Tables with numbers and categories at once, as two arrays: numbers with NaN, and codes with -1 for missing."""

import math
from typing import NamedTuple

import numpy as np

CATEGORY_TYPES = ("category", "object", "str", "string", "bool", "boolean")
POLARS_CATEGORY_TYPES = ("Categorical", "Enum", "String", "Utf8", "Boolean")
MISSING, UNSEEN = -1, -2
LARGEST_EXACT = 2**53  # whole numbers up to it are floats without rounding


class MixedColumns(NamedTuple):
    """Which columns are categories, and the sorted categories of each of these."""

    is_category: np.ndarray  # (d,) bool
    categories: list  # one array per categorical column


class MixedRows(NamedTuple):
    """Rows of a table: numbers (n, p) with NaN for missing, codes (n, q) with `MISSING` and `UNSEEN`."""

    numbers: np.ndarray
    codes: np.ndarray


def is_frame(X) -> bool:
    """Whether X is a data frame (pandas, polars): columns with names and types."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def category_mask(X, categorical_features):
    """Boolean mask of the categorical columns; None if there is none and X is no frame (an array of numbers)."""
    n_features = X.shape[1] if hasattr(X, "shape") and len(X.shape) == 2 else None
    if isinstance(categorical_features, str):  # "from_dtype"
        return np.array([_is_category_type(kind) for kind in list(X.dtypes)], dtype=bool) if is_frame(X) else None
    if categorical_features is None:
        return np.zeros(n_features, dtype=bool) if is_frame(X) else None
    wanted = np.asarray(categorical_features)
    n_features = np.shape(X)[1] if n_features is None else n_features
    if wanted.size == 0:
        return np.zeros(n_features, dtype=bool)
    if wanted.dtype.kind == "b":
        if wanted.shape != (n_features,):
            raise ValueError(
                f"categorical_features set as a boolean mask must have shape (n_features,), got: {wanted.shape}"
            )
        return wanted
    if wanted.dtype.kind in "iu":
        if wanted.max() >= n_features or wanted.min() < 0:
            raise ValueError("categorical_features set as integer indices must be in [0, n_features - 1]")
        return np.isin(np.arange(n_features), wanted)
    if not is_frame(X):
        raise ValueError("categorical_features holds names, but X has no column names: give indices or a boolean mask.")
    names = list(X.columns)
    strange = [name for name in wanted.tolist() if name not in names]
    if strange:
        raise ValueError(f"categorical_features names {strange[0]!r}, which is not a column of X. Columns: {names}")
    return np.isin(np.arange(n_features), [names.index(name) for name in wanted.tolist()])


def _is_category_type(kind) -> bool:
    text = str(kind)
    return text in CATEGORY_TYPES or text.startswith(POLARS_CATEGORY_TYPES)


def _column(X, j):
    """Column j of a frame or of an array."""
    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    return X.to_series(j) if hasattr(X, "to_series") else X[:, j]


def _is_missing(value) -> bool:
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or type(value).__name__ in ("NAType", "NaTType")
    )


def _floats(column, where):
    """A column as float64, NaN for missing; the error names the value that is not a number."""
    values = np.asarray(column)
    if values.dtype.kind in "fiub":
        floats = values.astype(np.float64)
    else:
        floats = np.empty(values.shape[0])
        for i, value in enumerate(values.tolist()):
            try:
                floats[i] = math.nan if _is_missing(value) else float(value)
            except (TypeError, ValueError):
                raise ValueError(
                    f"could not convert string to float: row {i} of {where} has {value!r}; name the column in "
                    "categorical_features if it holds categories."
                ) from None
    infinite = np.flatnonzero(np.isinf(floats))
    if infinite.size:
        raise ValueError(f"Input X contains infinity: row {infinite[0]} of {where}.")
    return floats


def _name(X, j):
    return f"column {j} ({X.columns[j]!r})" if is_frame(X) else f"column {j}"


def learn_columns(X, mask, before=None) -> MixedColumns:
    """The categories of the columns of a training table, and those of rows `before`."""
    categories = []
    for place, j in enumerate(np.flatnonzero(mask)):
        present = {value for value in np.asarray(_column(X, j)).tolist() if not _is_missing(value)}
        categories.append(_sorted_categories(present if before is None else present.union(before[place].tolist())))
    return MixedColumns(mask, categories)


def _sorted_categories(present):
    """Sorted, types apart, but whole numbers as floats beside floats: a column with holes has no others."""
    kinds = {type(value) for value in present}
    if kinds == {int, float} and all(abs(value) <= LARGEST_EXACT for value in present if type(value) is int):
        present, kinds = {float(value) for value in present}, {float}
    known = sorted(present, key=lambda value: (type(value).__name__, value))
    return np.array(known) if len(kinds) == 1 else np.array(known, dtype=object)


def read_rows(X, columns) -> MixedRows:
    """Numbers and codes of a table."""
    X = X if is_frame(X) else np.asarray(X)
    n = X.shape[0]
    of_numbers, of_codes = np.flatnonzero(~columns.is_category), np.flatnonzero(columns.is_category)
    numbers = np.empty((n, of_numbers.shape[0]))
    for place, j in enumerate(of_numbers):
        numbers[:, place] = _floats(_column(X, j), _name(X, j))
    codes = np.empty((n, of_codes.shape[0]), dtype=np.int64)
    for place, j in enumerate(of_codes):
        codes[:, place] = _codes(np.asarray(_column(X, j)).tolist(), columns.categories[place])
    return MixedRows(numbers, codes)


def _codes(values, known):
    places = {value: code for code, value in enumerate(known.tolist())}
    return [MISSING if _is_missing(value) else places.get(value, UNSEEN) for value in values]


def first_unseen(X, rows, columns):
    """Words for the first category that training did not see; "" if there is none."""
    unseen = np.argwhere(rows.codes == UNSEEN)
    if not len(unseen):
        return ""
    row, place = unseen[0]
    j = int(np.flatnonzero(columns.is_category)[place])
    X = X if is_frame(X) else np.asarray(X)
    value = np.asarray(_column(X, j)).tolist()[row]
    return f"row {row} of {_name(X, j)} has the category {value!r}"
