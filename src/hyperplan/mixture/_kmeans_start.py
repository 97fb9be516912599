"""Where EM begins: rows spread out by k-means++, or the clusters that Lloyd's iterations make of them."""

import numpy as np

from hyperplan._math._class_scores_kernels import diagonal_scores
from hyperplan._math.class_moments import class_moments, class_totals
from hyperplan._math.class_scores import fill_scores, winners

MOST_STEPS = 300
TOLERANCE = 1e-4  # times the mean variance: movement of all centres, squared, at which the iterations stop


def closeness(X, centres):
    """Minus half the squared distances of rows to centres, (n, k)."""
    ones, zeros = np.ones(centres.shape), np.zeros(centres.shape[0])

    def fill(rows, out):
        diagonal_scores(rows, centres, ones, zeros, out)

    return fill_scores(X, centres.shape[0], fill)


def spread_rows(X, n_clusters, random_state):
    """Row numbers of centres by greedy k-means++: each the best of some drawn by their squared distance to the others.

    References
    ----------
    Arthur, Vassilvitskii (2007), k-means++: the advantages of careful seeding.
    """
    n = X.shape[0]
    trials = 2 + int(np.log(n_clusters))
    chosen = np.empty(n_clusters, dtype=np.intp)
    chosen[0] = random_state.choice(n, p=np.full(n, 1.0 / n))
    closest = -2.0 * closeness(X, X[chosen[:1]].astype(np.float64))[:, 0]
    for c in range(1, n_clusters):
        drawn = random_state.uniform(size=trials) * closest.sum()
        candidates = np.minimum(np.searchsorted(np.cumsum(closest), drawn), n - 1)
        distances = np.minimum(-2.0 * closeness(X, X[candidates].astype(np.float64)), closest[:, None])
        best = int(distances.sum(axis=0).argmin())
        chosen[c], closest = candidates[best], distances[:, best].copy()
    return chosen


def kmeans_labels(X, n_clusters, random_state):
    """Cluster of each row after Lloyd's iterations from k-means++ centres.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        C-ordered rows.
    n_clusters : int
        Number of clusters, at most n.
    random_state : RandomState
        Draws the first centres.

    Returns
    -------
    labels : ndarray of shape (n,)
        Clusters; a cluster that loses all its rows restarts at the row farthest from its centre.
    """
    everyone = class_moments(X, np.zeros(X.shape[0], dtype=np.intp), 1)
    tolerance = TOLERANCE * float(everyone.square.mean()) / X.shape[0]
    X = X - everyone.mean[0]  # the sums of a cluster keep more digits
    centres = X[spread_rows(X, n_clusters, random_state)]
    labels = None
    for _ in range(MOST_STEPS):
        scores = closeness(X, centres)
        before, labels = labels, winners(scores)
        if before is not None and np.array_equal(before, labels):
            return labels
        moved = _centres(X, labels, scores, n_clusters)
        shift = float(((moved - centres) ** 2).sum())
        centres = moved
        if shift <= tolerance:
            break
    return winners(closeness(X, centres))


def _centres(X, labels, scores, n_clusters):
    """Means of the clusters; the rows farthest from their centres replace empty ones."""
    totals = class_totals(X, labels, n_clusters)
    count, total = totals.count, totals.total
    empty = np.flatnonzero(count == 0)
    if empty.size:
        far = np.argsort(scores[np.arange(X.shape[0]), labels], kind="stable")[: empty.size]
        total[labels[far]] -= X[far]
        count[labels[far]] -= 1
        total[empty], count[empty] = X[far], 1
    return total / np.where(count > 0, count, 1.0)[:, None]
