"""Sums of distances by cluster, while the tiles of distances pass by."""

from hyperplan._core.jit import fast_kernel, view_kernel


@fast_kernel
def add_up(values):
    """Sum of a contiguous array."""
    total = 0.0
    for j in range(values.shape[0]):
        total += values[j]
    return total


@view_kernel
def absorb(tile, first, codes, own, sizes, running, within, nearest):  # OUT: running, within, nearest
    """Add columns first, first + 1, ... of a strip of distances, whose columns are sorted by cluster.

    A cluster is finished when all its columns have passed: its sum is then the row's own (`within`), or its mean is
    compared with the nearest so far.  `running` carries the sum of an unfinished cluster to the next tile.
    """
    # tile: (n, m) C order; codes: cluster of each column of the strip (sorted); own: cluster of each row; sizes: rows
    # of each cluster; running, within, nearest: (n,), `running` zero and `nearest` infinite at the start of a strip
    n, m, n_columns = tile.shape[0], tile.shape[1], codes.shape[0]
    start = 0
    while start < m:
        cluster = codes[first + start]
        stop = start + 1
        while stop < m and codes[first + stop] == cluster:
            stop += 1
        is_finished = first + stop == n_columns or codes[first + stop] != cluster
        for i in range(n):
            total = running[i] + add_up(tile[i, start:stop])
            running[i] = total
            if is_finished:
                running[i] = 0.0
                if cluster == own[i]:
                    within[i] = total
                elif total / sizes[cluster] < nearest[i]:
                    nearest[i] = total / sizes[cluster]
        start = stop
