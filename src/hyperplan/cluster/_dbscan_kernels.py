"""Kernels that all ways of DBSCAN share: sets that are joined, and clusters that spread along rows of neighbours."""

import numpy as np

from hyperplan._core.jit import inner_kernel, kernel, view_kernel


@inner_kernel
def root(parents, i):  # OUT: parents
    """The name of the set that i is in; halves the way there."""
    while parents[i] != i:
        parents[i] = parents[parents[i]]
        i = parents[i]
    return i


@inner_kernel
def unite(parents, i, j):  # OUT: parents
    """Join two sets; the smaller root stays."""
    a, b = root(parents, i), root(parents, j)
    if a < b:
        parents[b] = a
    elif b < a:
        parents[a] = b


@view_kernel
def first_rows(parents, nodes, rows, cores, firsts):  # OUT: parents, firsts
    """firsts[set] = smallest row number of a core point in the set; afterwards every parent is a root."""
    # parents, firsts: (m,) int64; nodes, rows: (n,) the set's member and the row at each position; cores: (n,) bool
    for i in range(parents.shape[0]):
        parents[i] = root(parents, i)
    for i in range(nodes.shape[0]):
        if cores[i]:
            top = parents[nodes[i]]
            firsts[top] = min(firsts[top], np.int64(rows[i]))


@inner_kernel
def spread_from(start, label, starts, columns, values, limit, cores, labels, shared, queue):  # OUT: labels ... queue
    """Give the label to all that core points reach from `start` and nobody had reached; returns nothing.

    A border point that another cluster had reached before is marked as shared.
    """
    queue[0], size = start, 1
    labels[start] = label
    while size > 0:
        size -= 1
        i = queue[size]
        for place in range(starts[i], starts[i + 1]):
            j = columns[place]
            if values[place] > limit:
                continue
            if labels[j] == -1:
                labels[j] = label
                if cores[j]:
                    queue[size] = j
                    size += 1
            elif labels[j] != label and not cores[j]:
                shared[j] = True


@kernel
def spread_in_graph(starts, columns, values, limit, cores, labels, shared):  # OUT: labels, shared
    """Clusters of a CSR matrix of distances, numbered by their first core points."""
    # starts: (n + 1,), columns, values: (nnz,); cores, shared: (n,) bool; labels: (n,) int64, all -1
    queue, n_clusters = np.empty(labels.shape[0], np.int64), 0
    for i in range(labels.shape[0]):
        if cores[i] and labels[i] == -1:
            spread_from(i, n_clusters, starts, columns, values, limit, cores, labels, shared, queue)
            n_clusters += 1


@kernel
def spread_in_matrix(distances, limit, cores, labels, shared):  # OUT: labels, shared
    """Clusters of a matrix of distances, numbered by their first core points; rows need not equal columns."""
    # distances: (n, n) C order, float32 or float64; the others as for `spread_in_graph`
    n = labels.shape[0]
    queue, n_clusters = np.empty(n, np.int64), 0
    for i in range(n):
        if not cores[i] or labels[i] != -1:
            continue
        queue[0], size = i, 1
        labels[i] = n_clusters
        while size > 0:
            size -= 1
            row = queue[size]
            for j in range(n):
                if distances[row, j] > limit:
                    continue
                if labels[j] == -1:
                    labels[j] = n_clusters
                    if cores[j]:
                        queue[size] = j
                        size += 1
                elif labels[j] != n_clusters and not cores[j]:
                    shared[j] = True
        n_clusters += 1


@view_kernel
def weigh_graph(starts, columns, values, limit, weights, first, stop, totals):  # OUT: totals
    """Weight within the limit of each row of a CSR matrix; without weights every entry counts once."""
    # as for `spread_in_graph`; weights: (n,) or empty; totals: (n,) float64
    for i in range(first, stop):
        total = 0.0
        for place in range(starts[i], starts[i + 1]):
            if values[place] <= limit:
                total += weights[columns[place]] if weights.shape[0] > 0 else 1.0
        totals[i] = total


@view_kernel
def weigh_tile(tile, limit, weights, totals):  # OUT: totals
    """Add the weight within the limit of each row of a rectangle of distances."""
    # tile: (m, w) C order; weights: (w,) or empty; totals: (m,) float64
    for i in range(tile.shape[0]):
        if weights.shape[0] > 0:
            total = 0.0
            for j in range(tile.shape[1]):
                total += weights[j] if tile[i, j] <= limit else 0.0
            totals[i] += total
        else:
            count = 0
            for j in range(tile.shape[1]):
                count += tile[i, j] <= limit
            totals[i] += count


@view_kernel
def link_tile(tile, limit, first_row, first_column, parents):  # OUT: parents
    """Join the sets of all pairs of a rectangle of distances that are within the limit."""
    # tile: (m, w) C order; parents: (n,) int64
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            if tile[i, j] <= limit:
                unite(parents, first_row + i, first_column + j)


@view_kernel
def offer_labels(tile, limit, core_labels, labels, shared):  # OUT: labels, shared
    """The smallest label of the core points (columns) within the limit of each row; shared where there are several."""
    # tile: (m, w) C order; core_labels: (w,) int64; labels: (m,) int64, -1 where nothing was found yet
    for i in range(tile.shape[0]):
        for j in range(tile.shape[1]):
            if tile[i, j] <= limit:
                label = core_labels[j]
                if labels[i] == -1:
                    labels[i] = label
                elif labels[i] != label:
                    labels[i], shared[i] = min(labels[i], label), True
