"""Clusterings judged by the spread within and between clusters: Calinski-Harabasz and Davies-Bouldin.

Both need the means of the clusters and one more pass over the points, where silhouettes need all distances.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import FLOATS
from hyperplan._core.parallel import single_threaded_blas, spans
from hyperplan._math.distances import learn_metric, pairwise, prepare
from hyperplan.metrics._silhouette import check_points_and_labels, encoded_clusters

BLOCK = 1 << 14  # rows whose differences are held at a time


class Clusters(NamedTuple):
    """Sizes, means, and sums over points of the distance and of the squared distance to the mean of their cluster."""

    sizes: np.ndarray
    means: np.ndarray
    distances: np.ndarray
    squares: np.ndarray


def describe_clusters(X, labels) -> Clusters:
    """Two passes over checked points: means, then distances to them."""
    codes, sizes = encoded_clusters(labels, X.shape[0])
    parts = np.ones(codes.shape[0]), codes, np.arange(codes.shape[0] + 1)
    members = sp.csr_array(parts, shape=(codes.shape[0], sizes.shape[0]))
    middle = X.mean(axis=0, dtype=np.float64)
    sums = np.zeros((sizes.shape[0], X.shape[1]))
    for rows in spans(X.shape[0], BLOCK):
        sums += members[rows].T @ (X[rows] - middle)
    means = sums / sizes[:, None] + middle
    distances, squares = np.zeros(sizes.shape[0]), np.zeros(sizes.shape[0])
    for rows in spans(X.shape[0], BLOCK):
        gaps = X[rows] - means[codes[rows]]
        square = np.einsum("ij,ij->i", gaps, gaps)
        squares += np.bincount(codes[rows], weights=square, minlength=sizes.shape[0])
        distances += np.bincount(codes[rows], weights=np.sqrt(square), minlength=sizes.shape[0])
    return Clusters(sizes, means, distances, squares)


def calinski_harabasz_score(X, labels):
    """Variance ratio: ``(tr B / (k - 1)) / (tr W / (n - k))``, between clusters over within clusters.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    labels : array-like of shape (n_samples,)
        Cluster of each point.

    Returns
    -------
    score : float
        Not bounded; larger is better.  1 when no cluster has any spread.

    References
    ----------
    Calinski, Harabasz (1974), A dendrite method for cluster analysis.

    Examples
    --------
    >>> from hyperplan.metrics import calinski_harabasz_score
    >>> calinski_harabasz_score([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1])
    200.0
    """
    X, labels = check_points_and_labels(X, labels, dtype=FLOATS)
    found = describe_clusters(X, labels)
    n, n_clusters = X.shape[0], found.sizes.shape[0]
    within = found.squares.sum()
    gaps = found.means - X.mean(axis=0, dtype=np.float64)
    between = (found.sizes[:, None] * gaps**2).sum()
    return 1.0 if within == 0.0 else float(between * (n - n_clusters) / (within * (n_clusters - 1.0)))


def davies_bouldin_score(X, labels):
    """Mean over clusters of the worst ``(s_i + s_j) / d_ij``: spreads over the distance of the means.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    labels : array-like of shape (n_samples,)
        Cluster of each point.

    Returns
    -------
    score : float
        At least 0; smaller is better.

    References
    ----------
    Davies, Bouldin (1979), A cluster separation measure.

    Examples
    --------
    >>> from hyperplan.metrics import davies_bouldin_score
    >>> davies_bouldin_score([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1])
    0.1
    """
    X, labels = check_points_and_labels(X, labels, dtype=FLOATS)
    found = describe_clusters(X, labels)
    spread = found.distances / found.sizes
    metric = learn_metric("euclidean", found.means)
    with single_threaded_blas():
        apart = pairwise(metric, prepare(found.means, metric))
    if np.allclose(spread, 0.0) or np.allclose(apart, 0.0):
        return 0.0
    apart[apart == 0.0] = np.inf
    return float(((spread[:, None] + spread) / apart).max(axis=1).mean())
