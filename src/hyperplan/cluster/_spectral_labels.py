"""From coordinates of a graph's nodes to clusters, and the rule that gives new coordinates their cluster.

Three ways: K-means; the rotation that brings the rows nearest to unit vectors, found by turns (Yu, Shi, 2003); the same
in one go from pivots of a QR factorisation (Damle, Minden, Ying, 2019).
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg as la

from hyperplan._base import check_random_state
from hyperplan._solvers.k_means import nearest_centres
from hyperplan.cluster._k_means import k_means

RESTARTS, MOST_TURNS = 30, 20


class LabelRule(NamedTuple):
    """How coordinates become labels.

    Attributes
    ----------
    kind : str
        "kmeans": the nearest of `matrix`; "discretize" and "cluster_qr": the largest entry after the rotation `matrix`,
        with its sign or without.
    matrix : ndarray
        Centres or a rotation.
    columns : ndarray
        Factors of the columns, before rows are brought to length one ("discretize").
    """

    kind: str
    matrix: np.ndarray
    columns: np.ndarray

    def __call__(self, coordinates):
        """Labels of rows of coordinates."""
        if self.kind == "kmeans":
            return nearest_centres(np.ascontiguousarray(coordinates), self.matrix)
        if self.kind == "cluster_qr":
            return np.abs(coordinates @ self.matrix).argmax(axis=1)
        return (unit_rows(coordinates * self.columns) @ self.matrix).argmax(axis=1)


def unit_rows(rows):
    """Rows of length one; zero rows stay."""
    length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    return rows / np.where(length > 0, length, 1.0)


def label_by_k_means(coordinates, n_clusters, *, n_init, random_state, verbose):
    """Labels and rule by K-means."""
    options = {"n_init": n_init, "random_state": random_state, "verbose": verbose}
    centres, labels, _ = k_means(coordinates, n_clusters, **options)
    return labels, LabelRule("kmeans", centres, np.empty(0))


def cluster_qr(coordinates):
    """Labels and rule from the rows that a QR factorisation with pivots picks.

    >>> labels, rule = cluster_qr(np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]))
    >>> bool(labels[0] == labels[1] != labels[2]), bool((rule(np.eye(2)) == labels[[0, 2]]).all())
    (True, True)
    """
    k = coordinates.shape[1]
    pivots = la.qr(coordinates.T, mode="r", pivoting=True, check_finite=False)[1]
    left, _, right = la.svd(coordinates[pivots[:k]].T, check_finite=False)
    rule = LabelRule("cluster_qr", left @ right, np.empty(0))
    return rule(coordinates), rule


def discretize(coordinates, random_state=None):
    """Labels and rule from the rotation under which rows are nearest to unit vectors.

    >>> labels, rule = discretize(np.array([[1.0, 0.1], [0.9, 0.1], [0.1, 1.0]]), random_state=0)
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """
    random_state = check_random_state(random_state)
    n = coordinates.shape[0]
    lengths = np.sqrt((coordinates**2).sum(axis=0))
    signs = np.where(coordinates[0] > 0, -1.0, 1.0)  # the first row into one corner: a start that does not turn with it
    columns = signs * np.sqrt(n) / np.where(lengths > 0, lengths, 1.0)
    rows = unit_rows(coordinates * columns)
    for _ in range(RESTARTS):
        rotation = _turned(rows, _first_rotation(rows, random_state))
        if rotation is not None:
            rule = LabelRule("discretize", rotation, columns)
            return (rows @ rotation).argmax(axis=1), rule
    raise la.LinAlgError("SVD did not converge")


def _first_rotation(rows, random_state):
    """A random row and then the rows that are most orthogonal to those before, as columns."""
    n, k = rows.shape
    rotation, overlap = np.zeros((k, k)), np.zeros(n)
    rotation[:, 0] = rows[random_state.randint(n)]
    for j in range(1, k):
        overlap += np.abs(rows @ rotation[:, j - 1])
        rotation[:, j] = rows[overlap.argmin()]
    return rotation


def _turned(rows, rotation):
    """Labels and the best rotation for them by turns, until the objective stays; None if a factorisation fails."""
    n, k = rows.shape
    before = 0.0
    for turn in range(MOST_TURNS + 1):
        labels = (rows @ rotation).argmax(axis=1)
        sums = np.stack([np.bincount(labels, weights=rows[:, j], minlength=k) for j in range(k)], axis=1)
        try:
            left, values, right = np.linalg.svd(sums)
        except np.linalg.LinAlgError:
            return None
        objective = 2.0 * (n - values.sum())
        if abs(objective - before) < np.finfo(float).eps or turn == MOST_TURNS:
            break
        before, rotation = objective, right.T @ left.T
    return rotation
