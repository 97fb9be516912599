"""The ways to coordinates that are compared, under one signature."""

import warnings

import numpy as np

from hyperplan import manifold
from hyperplan.decomposition import PCA, KernelPCA
from hyperplan.metrics.pairwise import euclidean_distances

LABELS = {
    "risimap": "RISIMAP",
    "isostretch": "Isostretch",
    "isomap": "Isomap",
    "pca": "PCA",
    "kernel_pca": "kernel PCA",
    "lle": "LLE",
    "umap": "UMAP",
    "raw": "no reduction",
}
WITH_NEIGHBOURS = ("risimap", "isostretch", "isomap", "lle", "umap")
NESTED = ("risimap", "isostretch", "isomap", "pca", "kernel_pca", "lle")  # d coordinates are the first d of more


def same_distances(X) -> np.ndarray:
    """Rows with fewer coordinates and the same distances, if there are more columns than rows: a rotation."""
    return PCA(svd_solver="full").fit_transform(X) if X.shape[1] > X.shape[0] else X


def fitted(method, X, labels, *, k, d, **options):
    """The model; `labels` has -1 where they are unknown, and only Isostretch looks at them."""
    d = min(d, len(X) - 1)
    if method == "pca":
        return PCA(min(d, X.shape[1]), svd_solver="full").fit(X)
    if method == "kernel_pca":
        squares = euclidean_distances(X, squared=True)
        middle = float(np.median(squares[np.triu_indices(len(X), 1)]))
        return KernelPCA(d, kernel="rbf", gamma=1.0 / middle, eigen_solver="dense").fit(X)
    if method == "lle":
        d = min(d, X.shape[1])
        return manifold.LocallyLinearEmbedding(n_neighbors=k, n_components=d, eigen_solver="dense", **options).fit(X)
    if method == "umap":
        return manifold.UMAP(n_neighbors=k, n_components=d, random_state=0, **options).fit(X)
    if method == "isostretch":
        return manifold.Isostretch(n_neighbors=k, n_components=d, **options).fit(X, labels)
    chosen = manifold.RISIMAP if method == "risimap" else manifold.Isomap
    return chosen(n_neighbors=k, n_components=d, **options).fit(X)


def different_rows(X) -> tuple[np.ndarray, np.ndarray]:
    """The first row of each kind, in the order of the table, and which of them each row is."""
    _, first, kind = np.unique(X, axis=0, return_index=True, return_inverse=True)
    rows = np.sort(first)
    return rows, np.searchsorted(rows, first)[kind.ravel()]


def embedded(method, X, labels=None, *, k=None, d, **options) -> np.ndarray:
    """Coordinates of all rows, at most d of them.

    Rows that occur twice are mapped once, as in the thesis: RISIMAP and Isostretch see to that, for Isomap it is here.
    """
    if method == "raw":
        return X
    if method == "isomap":
        rows, place = different_rows(X)
        if len(rows) < len(X):
            return embedded(method, X[rows], k=k, d=d, **options)[place]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer coordinates than asked for: counted by who asks
        model = fitted(method, X, labels, k=k, d=d, **options)
        return model.embedding_ if hasattr(model, "embedding_") else model.transform(X)


def source(method, X, *, k=None, d, **options):
    """``coordinates(labels)`` as the protocol wants it: made once unless the method uses labels."""
    if method == "isostretch":
        return lambda labels: embedded(method, X, labels, k=k, d=d, **options)
    Y = embedded(method, X, k=k, d=d, **options)
    return lambda labels: Y


def n_bridges(X, k) -> int:
    """Edges that RISIMAP adds: one less than the graph of k neighbours has components."""
    return len(manifold.RISIMAP(n_neighbors=k, n_components=1).fit(X).bridges_)
