"""Mutual information of two labellings, and the scores that scale it (natural logarithms).

``MI = sum n_ij / n log(n n_ij / (a_i b_j))``; homogeneity divides it by the entropy of the classes, completeness by
that of the clusters, the normalised score by a mean of both, and the adjusted score first subtracts what two random
labellings with the same sizes share on average.
"""

import math

import numpy as np
import scipy.sparse as sp

from hyperplan._base.targets import check_array
from hyperplan.metrics._arguments import Choice, Real, checked
from hyperplan.metrics._contingency import Counts, check_labels, count_labels
from hyperplan.metrics._expected_information import expected_information

MEANS = {
    "min": min,
    "max": max,
    "arithmetic": lambda u, v: (u + v) / 2.0,
    "geometric": lambda u, v: math.sqrt(u * v),
}
MEAN = Choice(*MEANS)
EPS = float(np.finfo(np.float64).eps)


def entropy_of_sizes(sizes) -> float:
    """Entropy of a partition into parts of these sizes."""
    if sizes.shape[0] <= 1:
        return 0.0
    share = sizes / sizes.sum()
    return float(-(share * (np.log(sizes) - math.log(sizes.sum()))).sum())


def information(counts: Counts) -> float:
    """Mutual information of counted labels; rounding never makes it negative."""
    if counts.classes.shape[0] <= 1 or counts.clusters.shape[0] <= 1:
        return 0.0
    total = counts.count.sum()
    share = counts.count / total
    outer = np.log(counts.classes[counts.row]) + np.log(counts.clusters[counts.column])
    terms = share * (np.log(counts.count) - outer + math.log(total))
    terms[np.abs(terms) < EPS] = 0.0
    return max(float(terms.sum()), 0.0)


def mutual_info_score(labels_true, labels_pred, *, contingency=None):
    """Mutual information in nats.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes; not looked at when `contingency` is given.
    labels_pred : array-like of shape (n_samples,)
        Clusters; not looked at when `contingency` is given.
    contingency : {array-like, sparse matrix} of shape (n_classes, n_clusters), default=None
        The table of counts, if it is known.

    Returns
    -------
    mi : float
        At least 0 and at most the smaller of both entropies.

    Examples
    --------
    >>> from hyperplan.metrics import mutual_info_score
    >>> round(mutual_info_score([0, 0, 1, 1], [0, 0, 1, 1]), 4)
    0.6931
    """
    if contingency is None:
        return information(count_labels(*check_labels(labels_true, labels_pred)))
    table = check_array(contingency, accept_sparse=["csr", "csc", "coo"], dtype=[int, np.int32, np.int64])
    row, column, count = sp.find(table) if sp.issparse(table) else (*np.nonzero(table), table[np.nonzero(table)])
    classes, clusters = np.ravel(table.sum(axis=1)), np.ravel(table.sum(axis=0))
    return information(Counts(row, column, count, classes, clusters))


def _count_and_entropies(labels_true, labels_pred):
    counts = count_labels(*check_labels(labels_true, labels_pred))
    return counts, entropy_of_sizes(counts.classes), entropy_of_sizes(counts.clusters)


def _are_trivial(counts: Counts):
    """Both labellings have one label, or there are no points: they agree, though they share no information."""
    return max(counts.classes.shape[0], counts.clusters.shape[0]) <= 1


@checked(beta=Real(ge=0))
def homogeneity_completeness_v_measure(labels_true, labels_pred, *, beta=1.0):
    """Homogeneity, completeness and their weighted harmonic mean.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes.
    labels_pred : array-like of shape (n_samples,)
        Clusters.
    beta : float, at least 0, default=1.0
        Weight of homogeneity: more than 1 weighs completeness more.

    Returns
    -------
    homogeneity : float
        1 when each cluster holds one class only.
    completeness : float
        1 when each class is in one cluster only.
    v_measure : float
        Their mean.

    References
    ----------
    Rosenberg, Hirschberg (2007), V-measure: a conditional entropy-based external cluster evaluation measure.

    Examples
    --------
    >>> from hyperplan.metrics import homogeneity_completeness_v_measure
    >>> homogeneity_completeness_v_measure([0, 0, 1, 1], [0, 0, 1, 2])
    (1.0, 0.6666666666666..., 0.8)
    """
    counts, of_classes, of_clusters = _count_and_entropies(labels_true, labels_pred)
    shared = information(counts)
    homogeneity = shared / of_classes if of_classes else 1.0
    completeness = shared / of_clusters if of_clusters else 1.0
    if homogeneity + completeness == 0.0:
        return homogeneity, completeness, 0.0
    mean = (1 + beta) * homogeneity * completeness / (beta * homogeneity + completeness)
    return homogeneity, completeness, float(mean)


def homogeneity_score(labels_true, labels_pred):
    """Share of the entropy of the classes that the clusters explain.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes.
    labels_pred : array-like of shape (n_samples,)
        Clusters.

    Returns
    -------
    homogeneity : float
        1 when each cluster holds one class only.

    Examples
    --------
    >>> from hyperplan.metrics import homogeneity_score
    >>> homogeneity_score([0, 0, 1, 1], [0, 1, 2, 3])
    1.0
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred)[0]


def completeness_score(labels_true, labels_pred):
    """Share of the entropy of the clusters that the classes explain.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes.
    labels_pred : array-like of shape (n_samples,)
        Clusters.

    Returns
    -------
    completeness : float
        1 when each class is in one cluster only.

    Examples
    --------
    >>> from hyperplan.metrics import completeness_score
    >>> completeness_score([0, 0, 1, 1], [0, 0, 0, 0])
    1.0
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred)[1]


@checked(beta=Real(ge=0))
def v_measure_score(labels_true, labels_pred, *, beta=1.0):
    """Harmonic mean of homogeneity and completeness; with beta = 1 the normalised mutual information.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes.
    labels_pred : array-like of shape (n_samples,)
        Clusters.
    beta : float, at least 0, default=1.0
        Weight of homogeneity: more than 1 weighs completeness more.

    Returns
    -------
    v_measure : float
        Between 0 and 1.

    Examples
    --------
    >>> from hyperplan.metrics import v_measure_score
    >>> v_measure_score([0, 0, 1, 1], [0, 0, 1, 2])
    0.8
    """
    return homogeneity_completeness_v_measure(labels_true, labels_pred, beta=beta)[2]


@checked(average_method=MEAN)
def normalized_mutual_info_score(labels_true, labels_pred, *, average_method="arithmetic"):
    """Mutual information divided by a mean of the entropies.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes.
    labels_pred : array-like of shape (n_samples,)
        Clusters.
    average_method : {"min", "geometric", "arithmetic", "max"}, default="arithmetic"
        Which mean.

    Returns
    -------
    nmi : float
        Between 0 and 1; not corrected for chance: more clusters score more.

    Examples
    --------
    >>> from hyperplan.metrics import normalized_mutual_info_score
    >>> normalized_mutual_info_score([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    """
    counts, of_classes, of_clusters = _count_and_entropies(labels_true, labels_pred)
    if _are_trivial(counts):
        return 1.0
    shared = information(counts)
    return shared / MEANS[average_method](of_classes, of_clusters) if shared else 0.0


@checked(average_method=MEAN)
def adjusted_mutual_info_score(labels_true, labels_pred, *, average_method="arithmetic"):
    """Mutual information beyond chance, as a share of what is possible beyond chance.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes.
    labels_pred : array-like of shape (n_samples,)
        Clusters.
    average_method : {"min", "geometric", "arithmetic", "max"}, default="arithmetic"
        Which mean of the entropies bounds the information.

    Returns
    -------
    ami : float
        1 for equal partitions, 0 on average for random ones; may be negative.

    References
    ----------
    Vinh, Epps, Bailey (2010), Information theoretic measures for clusterings comparison, JMLR 11.

    Examples
    --------
    >>> from hyperplan.metrics import adjusted_mutual_info_score
    >>> adjusted_mutual_info_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    counts, of_classes, of_clusters = _count_and_entropies(labels_true, labels_pred)
    if _are_trivial(counts):
        return 1.0
    if min(counts.classes.shape[0], counts.clusters.shape[0]) == 1:
        return 0.0
    by_chance = expected_information(counts.classes, counts.clusters)
    possible = MEANS[average_method](of_classes, of_clusters) - by_chance
    return _away_from_zero(information(counts) - by_chance) / _away_from_zero(possible)


def _away_from_zero(x):
    """At least eps in size: 0/0 (each point by itself in both labellings) is 1."""
    return min(x, -EPS) if x < 0 else max(x, EPS)
