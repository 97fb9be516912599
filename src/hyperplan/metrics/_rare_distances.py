"""Distances that few need: great circles on a sphere, and Euclidean ones with missing values."""

import numpy as np


def haversine_filler(X, Y):
    """``fill(rows, columns, tile)`` of angles on a sphere between (latitude, longitude) in radians."""
    if X.shape[1] != 2:
        raise ValueError(f"Haversine distance only valid in 2 dimensions, got {X.shape[1]} columns")
    X, Y = X.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)

    def fill(rows, columns, tile):
        a, b = X[rows, None], Y[None, columns]
        half = np.sin(0.5 * (a - b)) ** 2
        np.sqrt(half[..., 0] + np.cos(a[..., 0]) * np.cos(b[..., 0]) * half[..., 1], out=tile)
        np.arcsin(np.minimum(tile, 1.0, out=tile), out=tile)
        tile *= 2.0

    return fill


def nan_euclidean_filler(X, Y):
    """``fill`` of distances over the coordinates that both rows have, scaled up to all; NaN where they share none."""
    known, other = ~np.isnan(X), ~np.isnan(Y)
    X, Y = np.where(known, X, 0.0).astype(np.float64), np.where(other, Y, 0.0).astype(np.float64)

    def fill(rows, columns, tile):
        tile[:] = 0.0
        count = np.zeros(tile.shape)
        for k in range(X.shape[1]):
            both = np.logical_and.outer(known[rows, k], other[columns, k])
            tile += np.where(both, np.subtract.outer(X[rows, k], Y[columns, k]) ** 2, 0.0)
            count += both
        with np.errstate(invalid="ignore", divide="ignore"):
            np.sqrt(np.where(count > 0, tile * (X.shape[1] / count), np.nan), out=tile)

    return fill
