"""Pool adjacent violators: the least-squares increasing sequence, in one pass."""

from hyperplan._core.jit import kernel


@kernel
def merge_equal(x, y, weight, gap, starts):  # OUT: y, weight, starts
    """Replace runs of x closer than `gap` to their first by one point with their mean; returns how many are left.

    Places 0, 1, ... of y and weight get the means and the sums; starts[k] is where run k begins in x.
    """
    # x: (n,) sorted, weight > 0; all (n,) float64, starts intp
    count = 0
    i = 0
    while i < x.shape[0]:
        first, total, mass = i, 0.0, 0.0
        while i < x.shape[0] and x[i] - x[first] < gap:
            total += weight[i] * y[i]
            mass += weight[i]
            i += 1
        y[count], weight[count], starts[count] = total / mass, mass, first
        count += 1
    return count


@kernel
def pool_adjacent(y, weight, mean, mass, size):  # OUT: mean, mass, size
    """Blocks of the increasing least-squares fit; returns their number.

    Block b has ``size[b]`` neighbours, the value mean[b] and the weight mass[b]; means increase strictly.
    """
    # y, weight, mean, mass: (n,) float64, size: (n,) intp
    last = -1
    for i in range(y.shape[0]):
        last += 1
        mean[last], mass[last], size[last] = y[i], weight[i], 1
        while last > 0 and mean[last - 1] >= mean[last]:
            both = mass[last - 1] + mass[last]
            mean[last - 1] += (mean[last] - mean[last - 1]) * (mass[last] / both)
            mass[last - 1] = both
            size[last - 1] += size[last]
            last -= 1
    return last + 1
