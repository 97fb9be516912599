"""Sums and differences of a few columns per row: products with a matrix of signs."""

from hyperplan._core.jit import fast_kernel

LANES = 4  # rows that go together: one vector register of doubles


@fast_kernel
def interleave(X, first, panel):  # OUT: panel
    # X: (n, d) in C order; panel: (d, LANES) gets rows first, first + 1, ... in its columns, zeros beyond the last
    n, d = X.shape
    if first + LANES <= n:
        for j in range(d):
            panel[j, 0] = X[first, j]
            panel[j, 1] = X[first + 1, j]
            panel[j, 2] = X[first + 2, j]
            panel[j, 3] = X[first + 3, j]
        return
    for lane in range(LANES):
        for j in range(d):
            panel[j, lane] = X[first + lane, j] if first + lane < n else 0.0


@fast_kernel
def signed_sums(X, starts, middles, columns, scale, panel, out):  # OUT: panel, out
    # X: (n, d) in C order; component c adds columns[starts[c]:middles[c]] and subtracts columns[middles[c]:starts[c+1]]
    n, k = X.shape[0], middles.shape[0]
    for first in range(0, n, LANES):
        interleave(X, first, panel)
        rows = min(LANES, n - first)
        for c in range(k):
            a = 0.0
            b = 0.0
            e = 0.0
            f = 0.0
            for t in range(starts[c], middles[c]):
                j = columns[t]
                a += panel[j, 0]
                b += panel[j, 1]
                e += panel[j, 2]
                f += panel[j, 3]
            for t in range(middles[c], starts[c + 1]):
                j = columns[t]
                a -= panel[j, 0]
                b -= panel[j, 1]
                e -= panel[j, 2]
                f -= panel[j, 3]
            out[first, c] = scale * a
            if rows > 1:
                out[first + 1, c] = scale * b
            if rows > 2:
                out[first + 2, c] = scale * e
            if rows > 3:
                out[first + 3, c] = scale * f
