"""Lists of the best scores from the leaves of projection trees."""

from hyperplan._core.jit import view_kernel
from hyperplan._math._brute_kernels import BLOCK, any_above, is_in


@view_kernel
def keep_best(scores, members, best, places):  # OUT: best, places
    """Offer the rows of a leaf to each other's lists; a row is in a list at most once, and never in its own."""
    # scores: (m, m) float32, C order; members: (m,) int32; best: (n, size) float32, falling; places: (n, size) int32
    last = best.shape[1] - 1
    for i in range(members.shape[0]):
        me = members[i]
        least = best[me, last]
        for start in range(0, members.shape[0], BLOCK):
            stop = min(start + BLOCK, members.shape[0])
            if any_above(scores[i, start:stop], least):
                for j in range(start, stop):
                    value, other = scores[i, j], members[j]
                    if value > least and other != me and not is_in(places[me], other):
                        spot = last
                        while spot > 0 and best[me, spot - 1] < value:
                            best[me, spot], places[me, spot] = best[me, spot - 1], places[me, spot - 1]
                            spot -= 1
                        best[me, spot], places[me, spot] = value, other
                        least = best[me, last]
