"""Probabilities from scores: a sigmoid per pair of classes, and one distribution that agrees best with all pairs."""

import numpy as np

STEEPEST, FLATTEST = -1e3, -1e-6  # slopes are negative: a larger score makes the first class more probable
LEAST = 1e-7  # probabilities of pairs stay away from 0 and 1


def sigmoid_slope(scores, signs):
    """Slope A of Platt's sigmoid ``1 / (1 + exp(A score))``, fitted to labels softened by the prior counts.

    Newton's method with halved steps on the log loss, which is convex in A.  There is no constant: the sigmoid is 1/2
    where the machine is undecided, so that the more probable class is the predicted one.
    """
    positives, negatives = float((signs > 0).sum()), float((signs < 0).sum())
    target = np.where(signs > 0, (positives + 1.0) / (positives + 2.0), 1.0 / (negatives + 2.0))
    slope = 0.0
    loss = _log_loss(slope, scores, target)
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(np.clip(slope * scores, -700.0, 700.0)))
        gradient = scores @ (target - p)
        if abs(gradient) < 1e-6 * scores.size:
            break
        step = -gradient / (scores**2 @ (p * (1.0 - p)) + 1e-12)
        while abs(step) > 1e-12 and _log_loss(slope + step, scores, target) > loss + 1e-4 * step * gradient:
            step *= 0.5
        slope += step
        loss = _log_loss(slope, scores, target)
    return float(np.clip(slope, STEEPEST, FLATTEST))


def _log_loss(slope, scores, target):
    margin = slope * scores
    return float(np.sum(np.logaddexp(0.0, -margin) + target * margin))


def couple(first, n_classes):
    """Distributions over classes from probabilities of pairs (Wu, Lin, Weng 2004, second method).

    ``minimise sum_{i, j} (r_ji p_i - r_ij p_j)^2`` over distributions p, where r_ij is the probability of i in the pair
    (i, j): the minimiser is positive and solves a linear system.
    """
    n = first.shape[0]
    r = np.zeros((n, n_classes, n_classes))
    column = 0
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            r[:, i, j] = np.clip(first[:, column], LEAST, 1.0 - LEAST)
            r[:, j, i] = 1.0 - r[:, i, j]
            column += 1
    system = np.zeros((n, n_classes + 1, n_classes + 1))
    system[:, :-1, :-1] = -r * r.transpose(0, 2, 1)
    diagonal = np.arange(n_classes)
    system[:, diagonal, diagonal] = (r**2).sum(axis=1)
    system[:, -1, :-1] = system[:, :-1, -1] = 1.0
    right = np.zeros((n, n_classes + 1, 1))
    right[:, -1] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :-1, 0], 0.0)
    return p / p.sum(axis=1, keepdims=True)


def put_predicted_first(p, winners):
    """Exchange the largest probability with that of the predicted class where they are not the same."""
    rows, best = np.arange(p.shape[0]), p.argmax(axis=1)
    p = p.copy()
    p[rows, best], p[rows, winners] = p[rows, winners], p[rows, best]
    return p
