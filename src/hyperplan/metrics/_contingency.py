"""Two labellings of the same points: how often each pair of labels occurs, and how many pairs of points agree.

All scores of a clustering against known classes are functions of these counts.  A table is kept sparse: two
labellings of n points share at most n pairs of labels.
"""

import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base.targets import check_array, check_consistent_length, type_of_target
from hyperplan.metrics._arguments import Bool, Null, OneOf, Real, checked
from hyperplan.metrics._labels import Column, codes_among, read_labels

DENSE = 4  # tables of at most this many times n entries are counted in place, larger ones by sorting


class Counts(NamedTuple):
    """Pairs (row, column) of labels that occur, how often, and the sizes of the classes and of the clusters."""

    row: np.ndarray
    column: np.ndarray
    count: np.ndarray
    classes: np.ndarray
    clusters: np.ndarray


def check_labels(labels_true, labels_pred):
    """Two arrays of labels of equal length; numbers that are no labels are taken, with a warning."""
    checked_labels, kinds = [], []
    for labels in (labels_true, labels_pred):
        labels = check_array(labels, ensure_2d=False, ensure_min_samples=0, dtype=None)
        kinds.append(type_of_target(labels))
        checked_labels.append(labels)
    if "continuous" in kinds:
        warnings.warn(
            f"Clustering metrics expects discrete values but received {kinds[0]} values for label, and {kinds[1]} "
            "values for target",
            UserWarning,
            stacklevel=3,
        )
    for name, labels in zip(("labels_true", "labels_pred"), checked_labels):
        if labels.ndim != 1:
            raise ValueError(f"{name} must be 1D: shape is {labels.shape!r}")
    check_consistent_length(*checked_labels)
    return checked_labels


def _codes(labels):
    """Position of each label among the sorted distinct ones, and their number."""
    labels = np.asarray(labels)
    column = read_labels(labels) if labels.ndim == 1 and labels.dtype.kind in "biuU" and labels.size else None
    if isinstance(column, Column):
        return codes_among(column, column.distinct), column.distinct.shape[0]
    distinct, codes = np.unique(labels, return_inverse=True)
    return codes, distinct.shape[0]


def count_labels(labels_true, labels_pred) -> Counts:
    """The sparse table of two checked labellings."""
    (first, n_classes), (second, n_clusters) = _codes(labels_true), _codes(labels_pred)
    keys = first.astype(np.int64, copy=False) * n_clusters + second
    if n_classes * n_clusters <= DENSE * keys.shape[0]:
        table = np.bincount(keys, minlength=n_classes * n_clusters)
        places = np.flatnonzero(table)
        count = table[places]
    else:
        places, count = np.unique(keys, return_counts=True)
    row, column = np.divmod(places, max(n_clusters, 1))
    classes = np.bincount(first, minlength=n_classes)
    return Counts(row, column, count.astype(np.int64, copy=False), classes, np.bincount(second, minlength=n_clusters))


@checked(eps=OneOf(Real(ge=0), Null), sparse=Bool)
def contingency_matrix(labels_true, labels_pred, *, eps=None, sparse=False, dtype=np.int64):
    """How many points have each class (row) and each cluster (column).

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes.
    labels_pred : array-like of shape (n_samples,)
        Clusters.
    eps : float, default=None
        Number to add to all entries; not with `sparse`.
    sparse : bool, default=False
        Whether to return a CSR matrix.
    dtype : numeric type, default=numpy.int64
        Type of the counts; floating when `eps` is given.

    Returns
    -------
    contingency : ndarray or CSR matrix of shape (n_classes, n_clusters)
        Labels are in sorted order.

    Examples
    --------
    >>> from hyperplan.metrics.cluster import contingency_matrix
    >>> contingency_matrix([0, 0, 1, 1, 2, 2], [1, 0, 2, 1, 0, 2])
    array([[1, 1, 0],
           [0, 1, 1],
           [1, 0, 1]])
    """
    if eps is not None and sparse:
        raise ValueError("Cannot set 'eps' when sparse=True")
    counts = count_labels(labels_true, labels_pred)
    shape = counts.classes.shape[0], counts.clusters.shape[0]
    if sparse:
        return sp.csr_matrix((counts.count, (counts.row, counts.column)), shape=shape, dtype=dtype)
    table = np.zeros(shape, dtype=dtype)
    table[counts.row, counts.column] = counts.count
    return table if eps is None else table + eps


def pair_confusion_matrix(labels_true, labels_pred):
    """Ordered pairs of points by whether they share a class (row) and a cluster (column).

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes.
    labels_pred : array-like of shape (n_samples,)
        Clusters.

    Returns
    -------
    C : ndarray of shape (2, 2), int64
        ``[[apart in both, together in clusters only], [together in classes only, together in both]]``.

    Examples
    --------
    >>> from hyperplan.metrics import pair_confusion_matrix
    >>> pair_confusion_matrix([0, 0, 1, 1], [0, 0, 1, 2])
    array([[8, 0],
           [2, 2]])
    """
    counts = count_labels(*check_labels(labels_true, labels_pred))
    n = int(counts.count.sum())
    same_both = int((counts.count**2).sum())
    same_class, same_cluster = int((counts.classes**2).sum()), int((counts.clusters**2).sum())
    apart = n * n - same_class - same_cluster + same_both
    return np.array([[apart, same_cluster - same_both], [same_class - same_both, same_both - n]], dtype=np.int64)
