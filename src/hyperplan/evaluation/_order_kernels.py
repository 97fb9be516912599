"""Metrics of the order of scores under many weightings of the rows.

`weights` is C-ordered, one weighting per row; `order` sorts the scores ascending, and `positive` (1.0 or 0.0) and
`starts` (does a new score begin here?) stand in that order.  Rows of equal score are taken together.
"""

import numpy as np

from hyperplan._core.jit import kernel


@kernel
def roc_areas(weights, order, positive, starts, area):  # area OUT, NaN where a class has no weight
    n = order.shape[0]
    for b in range(weights.shape[0]):
        below, above, wins = 0.0, 0.0, 0.0
        tied_positive, tied_negative = 0.0, 0.0
        for i in range(n):
            if starts[i]:
                wins += tied_positive * (below + 0.5 * tied_negative)
                below += tied_negative
                above += tied_positive
                tied_positive = 0.0
                tied_negative = 0.0
            weight = weights[b, order[i]]
            share = weight * positive[i]
            tied_positive += share
            tied_negative += weight - share
        wins += tied_positive * (below + 0.5 * tied_negative)
        total = (below + tied_negative) * (above + tied_positive)
        area[b] = wins / total if total > 0.0 else np.nan


@kernel
def average_precisions(weights, order, positive, starts, area):  # area OUT, NaN where no positive row has weight
    n = order.shape[0]
    for b in range(weights.shape[0]):
        found, flagged, area_sum, before = 0.0, 0.0, 0.0, 0.0
        for i in range(n - 1, -1, -1):  # from the highest score down
            weight = weights[b, order[i]]
            found += weight * positive[i]
            flagged += weight
            if starts[i]:
                if found > before:
                    area_sum += (found - before) * found / flagged
                before = found
        area[b] = area_sum / found if found > 0.0 else np.nan
