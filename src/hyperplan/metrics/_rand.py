"""Agreement of two labellings counted in pairs of points: Rand, adjusted Rand, Fowlkes-Mallows."""

import math

from hyperplan.metrics._contingency import pair_confusion_matrix


def rand_score(labels_true, labels_pred):
    """Share of pairs of points that both labellings put together or both put apart.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes.
    labels_pred : array-like of shape (n_samples,)
        Clusters.

    Returns
    -------
    score : float
        Between 0 and 1; 1 for equal partitions, whatever their labels.

    Examples
    --------
    >>> from hyperplan.metrics import rand_score
    >>> rand_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    table = pair_confusion_matrix(labels_true, labels_pred)
    agree, total = int(table.diagonal().sum()), int(table.sum())
    return 1.0 if agree == total else agree / total


def adjusted_rand_score(labels_true, labels_pred):
    """Rand score moved and scaled, so that its mean is 0 for random labels and its maximum 1.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes.
    labels_pred : array-like of shape (n_samples,)
        Clusters.

    Returns
    -------
    score : float
        Between -0.5 and 1.

    References
    ----------
    Hubert, Arabie (1985), Comparing partitions, Journal of Classification 2.

    Examples
    --------
    >>> from hyperplan.metrics import adjusted_rand_score
    >>> round(adjusted_rand_score([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """
    (apart, joined), (split, together) = pair_confusion_matrix(labels_true, labels_pred).tolist()
    if joined == 0 and split == 0:
        return 1.0
    above = 2.0 * (together * apart - split * joined)
    return above / ((together + split) * (split + apart) + (together + joined) * (joined + apart))


def fowlkes_mallows_score(labels_true, labels_pred):
    """Geometric mean of precision and recall of "these two points belong together".

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes.
    labels_pred : array-like of shape (n_samples,)
        Clusters.

    Returns
    -------
    score : float
        Between 0 and 1; 0 when no pair is together in both.

    References
    ----------
    Fowlkes, Mallows (1983), A method for comparing two hierarchical clusterings.

    Examples
    --------
    >>> from hyperplan.metrics import fowlkes_mallows_score
    >>> fowlkes_mallows_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    (_, joined), (split, together) = pair_confusion_matrix(labels_true, labels_pred).tolist()
    if together == 0:
        return 0.0
    return math.sqrt(together / (together + joined)) * math.sqrt(together / (together + split))
