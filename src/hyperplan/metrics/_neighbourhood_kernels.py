"""Ranks of neighbours, row by row of a strip of distances."""

from hyperplan._core.jit import fast_kernel, view_kernel


@fast_kernel
def count_nearer(row, limit, place):
    """How many entries are below `limit`, or equal to it and before `place`."""
    count = 0
    for j in range(row.shape[0]):
        count += row[j] < limit
    for j in range(place):
        count += row[j] == limit
    return count


@view_kernel
def excess_ranks(found, judged, first, nearest, excess):  # OUT: nearest, excess
    """excess[i] = sum over the k neighbours j of row i in `found` of max(0, rank of j in `judged` - k).

    Row i of the strip is point first + i, no neighbour of itself; equal distances count in the order of points.
    """
    # found, judged: (n, m) distances, C order; nearest: (k,) scratch; excess: (n,)
    n, m, k = found.shape[0], found.shape[1], nearest.shape[0]
    for i in range(n):
        row, other = found[i], judged[i]
        filled = 0
        for j in range(m):
            if j == first + i or (filled == k and row[j] >= row[nearest[k - 1]]):
                continue
            place = min(filled, k - 1)
            while place > 0 and row[nearest[place - 1]] > row[j]:
                nearest[place] = nearest[place - 1]
                place -= 1
            nearest[place] = j
            filled = min(filled + 1, k)
        excess[i] = 0.0
        for place in range(filled):
            j = nearest[place]
            rank = count_nearer(other, other[j], j) + 1
            itself = other[first + i]
            if itself < other[j] or (itself == other[j] and first + i < j):
                rank -= 1
            excess[i] += max(0, rank - k)
