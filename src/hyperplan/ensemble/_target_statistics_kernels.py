"""Running means of the target by category.  No X here: one column of codes and the rows in some order."""

import math

from hyperplan._core.jit import kernel


@kernel
def ordered_means(order, codes, target, weight, smoothing, sums, counts, out):
    # OUT: sums, counts (zero before), out.  codes: int64, negative for missing; weight may be empty (all 1)
    """out[i] = smoothed mean of the target over the rows of the same category that stand before row i in `order`."""
    weighted = weight.shape[0] > 0
    for t in range(order.shape[0]):
        i = order[t]
        code = codes[i]
        if code < 0:
            out[i] = math.nan
        else:
            out[i] = sums[code] / (counts[code] + smoothing)
            w = weight[i] if weighted else 1.0
            sums[code] += w * target[i]
            counts[code] += w
