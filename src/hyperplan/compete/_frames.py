"""Tables and targets that somebody has in memory: frames of any library, arrays, lists."""

import os

import numpy as np
import scipy.sparse as sp

from hyperplan._core.memory import require_memory
from hyperplan._texts.extras import required
from hyperplan.compete._errors import CompetitionError
from hyperplan.compete._tables import named_frame, plain_types, read_table


def as_frame(X, reading=None):
    """A frame with text names for columns and plain types, from a file or from memory; arrays get x0, x1, ...

    How a file is written may be given (`read_table`).
    """
    return read_table(X, **(reading or {})) if isinstance(X, str | os.PathLike) else read_table(memory_frame(X))


def plain_frame(X):
    """The same for rows to predict: from memory, and there may be none."""
    return plain_types(named_frame(memory_frame(X)))


def memory_frame(X):
    """A pandas frame of a table of any library, with the types it has there."""
    pandas = required("pandas")
    X = X.to_pandas() if hasattr(X, "to_pandas") else X
    if isinstance(X, pandas.DataFrame):
        return X
    if isinstance(X, pandas.Series):
        return X.to_frame(X.name if X.name is not None else "x0")
    if isinstance(X, dict) or (isinstance(X, list) and X and isinstance(X[0], dict)) or _has_fields(X):
        return pandas.DataFrame(X)
    if sp.issparse(X):
        require_memory(8.0 * X.shape[0] * X.shape[1], "The table with its zeros", "give fewer columns")
        X = X.toarray()
    array = np.ma.filled(X.astype(np.float64), np.nan) if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2:
        raise CompetitionError("table_form", found=_form(X))
    # A list of rows has columns of several types, an array has one.
    frame = pandas.DataFrame(X if isinstance(X, list) and array.dtype.kind in "OUS" else array)
    return frame.set_axis([f"x{j}" for j in range(array.shape[1])], axis=1)


def _has_fields(X) -> bool:
    return isinstance(X, np.ndarray) and X.dtype.names is not None


def target_values(y):
    """The target as a pandas series with the types it was given in, missing values as None or what stands for them."""
    pandas = required("pandas")
    y = y.to_pandas() if hasattr(y, "to_pandas") else y
    if isinstance(y, pandas.DataFrame):
        if y.shape[1] != 1:
            raise CompetitionError("target_form", found=_form(y))
        y = y.iloc[:, 0]
    if isinstance(y, pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray):
        return pandas.Series(y).reset_index(drop=True)
    if isinstance(y, str):
        raise CompetitionError("target_name", name=y)
    array = np.asarray(y)
    if isinstance(y, np.ma.MaskedArray):
        array = array.astype(object)
        array[np.ma.getmaskarray(y)] = None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise CompetitionError("target_form", found=_form(y))
    if array.dtype.kind in "US" and not isinstance(y, np.ndarray):  # NumPy turns what is mixed into text
        array = np.empty(len(array), dtype=object)
        array[:] = [value[0] if isinstance(value, list | tuple) else value for value in y]
    array = array.astype(object) if array.dtype.kind == "S" else array
    return pandas.Series(array, dtype=object if array.dtype == object else None)  # not what pandas makes of objects


def _form(value) -> str:
    """What somebody gave, in a few words."""
    shape = getattr(value, "shape", None)
    return type(value).__name__ if shape is None else f"{type(value).__name__} {tuple(shape)}"
