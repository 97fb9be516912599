"""Panels of rows for tall designs: the residual of a solution and its correlations in one reading, sampled rows.

Columns are taken about a `shift` near their means, so that sums of squares keep their digits; what the shift leaves of
the means is removed by the caller.  `sums` receives, weighted, the sums of 1, r, r^2, r t, t and t^2 with
``t = y - y_shift`` and ``r = t - (x - shift)'w``.  Inner loops run over slices from 0, where the compiler sees that no
index is negative.
"""

from hyperplan._core.jit import fast_kernel, kernel

PANEL = 1024  # rows whose residuals and used columns stay in the second-level cache


@fast_kernel
def add_target_sums(y, weight, y_shift, top, size, r, sums):
    """Add the sums over rows top <= i < top + size of which r holds the residuals, and weight those."""
    # r and sums are OUT
    total = first = second = mixed = target = target2 = 0.0
    rows, weights = y[top : top + size], weight[top : top + size]
    for i in range(size):
        s = weights[i]
        t = rows[i] - y_shift
        total += s
        first += s * r[i]
        second += s * r[i] * r[i]
        mixed += s * r[i] * t
        target += s * t
        target2 += s * t * t
        r[i] *= s
    sums[0] += total
    sums[1] += first
    sums[2] += second
    sums[3] += mixed
    sums[4] += target
    sums[5] += target2


@fast_kernel
def subtract_columns(X, shift, used, w, top, size, r):
    """r -= sum over the used columns of w_j (x_j - shift_j), for rows top <= i < top + size, four columns at a time."""
    # X is F-ordered; r is OUT
    m = used.shape[0]
    whole = m - m % 4
    for k in range(0, whole, 4):
        a, b, c, d = used[k], used[k + 1], used[k + 2], used[k + 3]
        wa, wb, wc, wd = w[a], w[b], w[c], w[d]
        sa, sb, sc, sd = shift[a], shift[b], shift[c], shift[d]
        xa, xb = X[top : top + size, a], X[top : top + size, b]
        xc, xd = X[top : top + size, c], X[top : top + size, d]
        for i in range(size):
            r[i] -= wa * (xa[i] - sa) + wb * (xb[i] - sb) + wc * (xc[i] - sc) + wd * (xd[i] - sd)
    for k in range(whole, m):
        j = used[k]
        x, weight, mean = X[top : top + size, j], w[j], shift[j]
        for i in range(size):
            r[i] -= weight * (x[i] - mean)


@fast_kernel
def correlate_column(X, weight, j, shift, top, size, r):
    """(sum of (x_j - shift) r, weighted sum of x_j - shift) over rows top <= i < top + size."""
    # X is F-ordered
    product = total = 0.0
    column, weights = X[top : top + size, j], weight[top : top + size]
    for i in range(size):
        x = column[i] - shift
        product += x * r[i]
        total += x * weights[i]
    return product, total


@fast_kernel
def correlate_four(X, weight, j, shift, top, size, r, c):
    """Add the sums of `correlate_column` for the columns j to j + 3 to c: memory is read as fast as it comes."""
    # X is F-ordered; c is OUT
    pa = pb = pc = pd = ta = tb = tc = td = 0.0
    sa, sb, sc, sd = shift[j], shift[j + 1], shift[j + 2], shift[j + 3]
    columns, weights = X[top : top + size], weight[top : top + size]
    ca, cb, cc, cd = columns[:, j], columns[:, j + 1], columns[:, j + 2], columns[:, j + 3]
    for i in range(size):
        rho, s = r[i], weights[i]
        xa, xb, xc, xd = ca[i] - sa, cb[i] - sb, cc[i] - sc, cd[i] - sd
        pa += xa * rho
        pb += xb * rho
        pc += xc * rho
        pd += xd * rho
        ta += xa * s
        tb += xb * s
        tc += xc * s
        td += xd * s
    c[0, j] += pa
    c[0, j + 1] += pb
    c[0, j + 2] += pc
    c[0, j + 3] += pd
    c[1, j] += ta
    c[1, j + 1] += tb
    c[1, j + 2] += tc
    c[1, j + 3] += td


@kernel
def residual_panel_by_columns(X, y, weight, shift, y_shift, used, w, first, last, r, sums, c):
    """Add the sums over rows first <= i < last to `sums`, ``c[0] += (X - shift)'S r``, ``c[1] += (X - shift)'S 1``."""
    # X is F-ordered; r is work space of PANEL numbers; sums and c are OUT
    whole = X.shape[1] - X.shape[1] % 4
    for top in range(first, last, PANEL):
        size = min(PANEL, last - top)
        for i in range(size):
            r[i] = y[top + i] - y_shift
        subtract_columns(X, shift, used, w, top, size, r)
        add_target_sums(y, weight, y_shift, top, size, r, sums)
        for j in range(0, whole, 4):
            correlate_four(X, weight, j, shift, top, size, r, c)
        for j in range(whole, X.shape[1]):
            product, total = correlate_column(X, weight, j, shift[j], top, size, r)
            c[0, j] += product
            c[1, j] += total


@fast_kernel
def row_product(x, shift, w):
    total = 0.0
    for j in range(x.shape[0]):
        total += (x[j] - shift[j]) * w[j]
    return total


@kernel
def residual_panel_by_rows(X, y, weight, shift, y_shift, used, w, first, last, r, sums, c):
    """As `residual_panel_by_columns` for rows that are contiguous; `used` is not needed."""
    # X is C-ordered; r is work space of PANEL numbers; sums and c are OUT
    product, total = c[0], c[1]
    for top in range(first, last, PANEL):
        size = min(PANEL, last - top)
        for i in range(size):
            x = X[top + i]
            s = weight[top + i]
            r[i] = y[top + i] - y_shift - row_product(x, shift, w)
            rho = s * r[i]
            for j in range(x.shape[0]):
                value = x[j] - shift[j]
                product[j] += rho * value
                total[j] += s * value
        add_target_sums(y, weight, y_shift, top, size, r, sums)


@kernel
def gather_panel(X, shift, root, columns, first, last, Z):
    """Z[i] = root * (x - shift) of the chosen columns, for rows first <= i < last, in float64."""
    # X and Z are both F-ordered or both C-ordered; Z is OUT
    roots = root[first:last]
    if X.strides[0] <= X.strides[1]:
        for k in range(columns.shape[0]):
            j = columns[k]
            m, x, z = shift[j], X[first:last, j], Z[:, k]
            for i in range(last - first):
                z[i] = roots[i] * (x[i] - m)
    else:
        for i in range(last - first):
            x, s = X[first + i], root[first + i]
            for k in range(columns.shape[0]):
                j = columns[k]
                Z[i, k] = s * (x[j] - shift[j])


@kernel
def sample_panel(X, y, root, shift, y_shift, starts, size, Z):
    """Rows ``root * [x - shift, 1, y - y_shift]`` of the blocks of `size` rows that begin at `starts`."""
    # X and Z are both F-ordered or both C-ordered; Z is OUT, of any precision
    d = X.shape[1]
    if X.strides[0] <= X.strides[1]:
        for j in range(d):
            for b in range(starts.shape[0]):
                top, out = starts[b], b * size
                m, x, z, roots = shift[j], X[top : top + size, j], Z[out : out + size, j], root[top : top + size]
                for i in range(size):
                    z[i] = roots[i] * (x[i] - m)
    for b in range(starts.shape[0]):
        top, out = starts[b], b * size
        for i in range(size):
            s = root[top + i]
            if X.strides[0] > X.strides[1]:
                for j in range(d):
                    Z[out + i, j] = s * (X[top + i, j] - shift[j])
            Z[out + i, d] = s
            Z[out + i, d + 1] = s * (y[top + i] - y_shift)
