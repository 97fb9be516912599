"""Rows and columns of arrays, sparse matrices and frames, without changing their kind."""

import numpy as np


def as_table(X):
    """Frames, arrays and sparse matrices as they are; lists as an array."""
    return X if hasattr(X, "shape") else np.asarray(X)


def rows_of(table, rows):
    """Some rows of a table or of a vector, by position."""
    return table.iloc[rows] if hasattr(table, "iloc") else table[rows]


def column_names(table) -> list:
    """Names of a frame's columns; for an array their numbers."""
    return list(table.columns) if hasattr(table, "columns") else list(range(table.shape[1]))


def with_rows_permuted(table, positions, order):
    """A copy whose columns at `positions` come from the rows `order`, together; a frame keeps its types."""
    if hasattr(table, "iloc"):
        copy = table.copy()
        for position in positions:
            column = table.iloc[order, position]
            column.index = table.index
            copy.isetitem(position, column)
        return copy
    if hasattr(table, "with_columns"):  # polars
        names = [table.columns[position] for position in positions]
        return table.with_columns([table[name][order].alias(name) for name in names])
    copy = np.array(table)
    copy[:, positions] = table[np.ix_(order, positions)]
    return copy
