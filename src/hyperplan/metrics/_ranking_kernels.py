"""Metrics of rankings, row by row."""

import numpy as np

from hyperplan._core.jit import view_kernel


@view_kernel
def coverages(truth, scores, values):  # OUT: values
    """How far down the ranking one must go to meet all relevant labels (ties are met together)."""
    # truth: (n, k) uint8; scores: (n, k) float64, both C order; values: (n,) float64
    for i in range(truth.shape[0]):
        lowest, any_relevant = np.inf, False
        for j in range(truth.shape[1]):
            if truth[i, j]:
                lowest = min(lowest, scores[i, j])
                any_relevant = True
        depth = 0
        for j in range(truth.shape[1]):
            depth += any_relevant and scores[i, j] >= lowest
        values[i] = depth


@view_kernel
def ranking_precisions(truth, scores, order, values):  # OUT: values
    """Mean over the relevant labels of the share of relevant ones among the labels ranked at least as high."""
    # order: (n, k) int64, labels by ascending score; the rest as in `coverages`
    n_labels = truth.shape[1]
    for i in range(truth.shape[0]):
        relevant, total, tied = 0, 0.0, 0
        for j in range(n_labels):
            label = order[i, n_labels - 1 - j]
            tied += truth[i, label]
            is_last = j == n_labels - 1
            if is_last or scores[i, order[i, n_labels - 2 - j]] != scores[i, label]:
                relevant += tied
                total += tied * (relevant / (j + 1))
                tied = 0
        values[i] = 1.0 if relevant in (0, n_labels) else total / relevant


@view_kernel
def ranking_losses(truth, scores, order, values):  # OUT: values
    """Share of the pairs (relevant, irrelevant) whose relevant label does not score higher."""
    # as in `ranking_precisions`
    n_labels = truth.shape[1]
    for i in range(truth.shape[0]):
        wrong, relevant, irrelevant, tied = 0, 0, 0, 0
        for j in range(n_labels):
            label = order[i, j]
            if truth[i, label]:
                relevant += 1
            else:
                tied += 1
            if j == n_labels - 1 or scores[i, order[i, j + 1]] != scores[i, label]:
                wrong += relevant * tied
                irrelevant += tied
                tied = 0
        pairs = relevant * irrelevant
        values[i] = wrong / pairs if pairs else 0.0


@view_kernel
def top_hits(scores, codes, k, hits):  # OUT: hits
    """Whether the true class is among the k best; of equal scores the later column ranks higher."""
    # scores: (n, c) float64, C order; codes: (n,) int64; hits: (n,) bool
    for i in range(scores.shape[0]):
        true, better = codes[i], 0
        for j in range(scores.shape[1]):
            better += scores[i, j] > scores[i, true] or (scores[i, j] == scores[i, true] and j > true)
        hits[i] = better < k


@view_kernel
def tied_gains(gains, scores, order, discount_sums, values):  # OUT: values
    """Discounted gains; tied labels share the discounts of the places they fill."""
    # gains: (n, k) float64; order: labels by ascending score; discount_sums[j]: sum of the first j discounts
    n_labels = gains.shape[1]
    for i in range(gains.shape[0]):
        first, total, tied = 0, 0.0, 0.0
        for j in range(n_labels):
            label = order[i, n_labels - 1 - j]
            tied += gains[i, label]
            is_last = j == n_labels - 1
            if is_last or scores[i, order[i, n_labels - 2 - j]] != scores[i, label]:
                total += tied / (j + 1 - first) * (discount_sums[j + 1] - discount_sums[first])
                first, tied = j + 1, 0.0
        values[i] = total
