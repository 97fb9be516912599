"""Distances between sparse rows, by products of sparse tables."""

import numpy as np

from hyperplan._math.distances import DOUBT


def sparse_filler(X, Y, metric):
    """``fill(rows, columns, tile)`` for CSR tables; `metric` is "euclidean", "manhattan" or "cosine"."""
    return {"euclidean": _euclidean, "manhattan": _manhattan, "cosine": _cosine}[metric](X, Y)


def _squares(X):
    return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()


def _euclidean(X, Y):
    X, Y = X.astype(np.float64), Y.astype(np.float64)
    squares, others = _squares(X), _squares(Y)

    def fill(rows, columns, tile):
        a, b = X[rows], Y[columns]
        sizes = squares[rows, None] + others[None, columns]
        tile[:] = sizes - 2.0 * (a @ b.T).toarray()
        i, j = np.nonzero(tile < DOUBT * sizes)  # digits lost to cancellation: these again from differences
        if i.size:
            gaps = a[i] - b[j]
            tile[i, j] = _squares(gaps)
        np.sqrt(tile, out=tile)

    return fill


def _manhattan(X, Y):
    """Row by row: |x - y| differs from |x| + |y| where both are not zero."""
    X, Y = X.astype(np.float64), Y.astype(np.float64)

    def fill(rows, columns, tile):
        b = Y[columns]
        for i, row in enumerate(range(rows.start, rows.stop)):
            x = X[[row] * b.shape[0]]
            tile[i] = np.asarray(abs(x - b).sum(axis=1)).ravel()

    return fill


def _cosine(X, Y):
    X, Y = _unit_rows(X), _unit_rows(Y)

    def fill(rows, columns, tile):
        np.subtract(1.0, (X[rows] @ Y[columns].T).toarray(), out=tile)
        np.clip(tile, 0.0, 2.0, out=tile)

    return fill


def _unit_rows(X):
    X = X.astype(np.float64)
    norms = np.sqrt(_squares(X))
    norms[norms == 0.0] = 1.0
    X.data = X.data / np.repeat(norms, np.diff(X.indptr))
    return X
