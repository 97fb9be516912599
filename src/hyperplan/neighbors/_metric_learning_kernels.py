"""Rows of a table of squared distances: losses of learnt metrics, and their derivatives in each distance."""

import numpy as np

from hyperplan._core.jit import fast_kernel, kernel
from hyperplan._math._class_scores_kernels import NO_SHARE
from hyperplan._math._exponential_kernels import vector_exp


@fast_kernel
def softmax_row(row, own):  # OUT: row
    """Squared distances to ``exp(-d_j) / sum_l exp(-d_l)``, with nothing for the row itself."""
    least = np.inf
    row[own] = np.inf
    for j in range(row.shape[0]):
        least = min(least, row[j])
    total = 0.0
    for j in range(row.shape[0]):
        row[j] = vector_exp(least - row[j])
        total += row[j]
    total -= row[own]
    row[own] = 0.0
    for j in range(row.shape[0]):
        share = row[j] / total
        row[j] = 0.0 if share < NO_SHARE else share


@kernel
def nca_rows(codes, first, tile, losses):  # OUT: tile, losses
    """losses[i] = -(chance that row i picks a neighbour of its class); tile: its derivative in each distance."""
    # codes: (n,) intp, tile: (r, n) squared distances of rows first, first + 1, ..., C order, float64; losses: (r,)
    for i in range(tile.shape[0]):
        row, own = tile[i], first + i
        softmax_row(row, own)
        chance = 0.0
        for j in range(row.shape[0]):
            chance += row[j] if codes[j] == codes[own] else 0.0
        for j in range(row.shape[0]):
            row[j] *= (1.0 if codes[j] == codes[own] else 0.0) - chance
        losses[i] = -chance


@kernel
def lmnn_rows(codes, targets, push, first, tile, margins, losses):  # OUT: tile, margins, losses
    """losses[i] = pull of row i's targets and push of all rows of other classes within the margin; tile: derivatives.

    pull: the mean squared distance to the targets, times 1 - push; push: the squared hinge of
    ``1 + d(target) - d(other)``, summed over the others and averaged over the targets.
    """
    # codes: (n,) intp, targets: (n, k) intp, -1 for none; tile: (r, n) squared distances, C order; margins: (k,)
    for i in range(tile.shape[0]):
        row, own, known, widest = tile[i], first + i, 0, 0.0
        for t in range(targets.shape[1]):
            if targets[own, t] >= 0:
                margins[known] = row[targets[own, t]]
                widest = max(widest, 1.0 + margins[known])
                known += 1
        loss = 0.0
        share = 1.0 / max(known, 1)
        for t in range(known):
            loss += (1.0 - push) * share * margins[t]
        pulls = np.full(known, (1.0 - push) * share)
        for j in range(row.shape[0]):
            distance, row[j] = row[j], 0.0
            if codes[j] != codes[own] and distance < widest:
                for t in range(known):
                    excess = 1.0 + margins[t] - distance
                    if excess > 0.0:
                        loss += push * share * excess * excess
                        pulls[t] += 2.0 * push * share * excess
                        row[j] -= 2.0 * push * share * excess
        known = 0
        for t in range(targets.shape[1]):
            if targets[own, t] >= 0:
                row[targets[own, t]] += pulls[known]
                known += 1
        losses[i] = loss
