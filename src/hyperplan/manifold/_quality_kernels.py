"""Ranks of some columns in rows of distances, without sorting them."""

from hyperplan._core.jit import kernel


@kernel
def rank_excess(tile, first, chosen, excess):  # OUT: excess
    """``excess[i] = sum over the chosen columns j of max(0, rank of tile[i, j] in its row - number chosen)``.

    Row i is that of point ``first + i``, whose own column does not count; of equal distances the first is nearer.
    """
    # tile: (m, n) float64, C order; chosen: (m, k) int64; excess: (m,) int64
    k = chosen.shape[1]
    for i in range(tile.shape[0]):
        own, total = first + i, 0
        for c in range(k):
            j = chosen[i, c]
            limit, nearer = tile[i, j], 0
            for other in range(j):
                nearer += tile[i, other] <= limit
            for other in range(j, tile.shape[1]):
                nearer += tile[i, other] < limit
            if own < j:
                nearer -= tile[i, own] <= limit
            elif own > j:
                nearer -= tile[i, own] < limit
            total += max(nearer + 1 - k, 0)
        excess[i] = total
