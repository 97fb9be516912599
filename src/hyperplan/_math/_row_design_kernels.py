"""Products of a shifted matrix that is read once and never copied, and its scaled panels in either precision.

Every matrix `A` is C-ordered: a Fortran-ordered design is handed over transposed.  The entry that counts is
``A[i, j] - row_shift[i] - column_shift[j]``; sums are float64.  Four rows at a time share the loads of what belongs to
columns; inner loops run over slices from 0, where the compiler sees that no index is negative.
"""

from hyperplan._core.jit import fast_kernel

STRIP = 8192  # columns of a strip: what is added to stays in the second-level cache


@fast_kernel
def shifted_dots(A, row_shift, column_shift, right, out):
    # A is C-ordered (r, c), right (k, c); out (k, r) is OUT
    rows, columns = A.shape
    whole = rows - rows % 4
    for t in range(right.shape[0]):
        v = right[t]
        for i in range(0, whole, 4):
            a, b, c, d = A[i], A[i + 1], A[i + 2], A[i + 3]
            p, q, r, s = row_shift[i], row_shift[i + 1], row_shift[i + 2], row_shift[i + 3]
            ta = tb = tc = td = 0.0
            for j in range(columns):
                m, x = column_shift[j], v[j]
                ta += (a[j] - m - p) * x
                tb += (b[j] - m - q) * x
                tc += (c[j] - m - r) * x
                td += (d[j] - m - s) * x
            out[t, i], out[t, i + 1], out[t, i + 2], out[t, i + 3] = ta, tb, tc, td
        for i in range(whole, rows):
            a, p, total = A[i], row_shift[i], 0.0
            for j in range(columns):
                total += (a[j] - p - column_shift[j]) * v[j]
            out[t, i] = total


@fast_kernel
def shifted_combination(A, row_shift, column_shift, left, out):
    # A is C-ordered (r, c), left (k, r); out (k, c) is OUT and added to, strip by strip
    rows, columns = A.shape
    whole = rows - rows % 4
    for t in range(left.shape[0]):
        for start in range(0, columns, STRIP):
            stop = min(start + STRIP, columns)
            shift, o = column_shift[start:stop], out[t, start:stop]
            for i in range(0, whole, 4):
                a, b = A[i, start:stop], A[i + 1, start:stop]
                c, d = A[i + 2, start:stop], A[i + 3, start:stop]
                wa, wb, wc, wd = left[t, i], left[t, i + 1], left[t, i + 2], left[t, i + 3]
                p, q, r, s = row_shift[i], row_shift[i + 1], row_shift[i + 2], row_shift[i + 3]
                for j in range(stop - start):
                    m = shift[j]
                    first = wa * (a[j] - m - p) + wb * (b[j] - m - q)
                    o[j] += first + (wc * (c[j] - m - r) + wd * (d[j] - m - s))
            for i in range(whole, rows):
                a, w, p = A[i, start:stop], left[t, i], row_shift[i]
                for j in range(stop - start):
                    o[j] += w * (a[j] - p - shift[j])


@fast_kernel
def scaled_panel(A, row_shift, column_shift, row_factor, column_factor, row_start, column_start, out):
    # A is C-ordered; out (either precision) is OUT: the block of A at (row_start, column_start), shifted and scaled
    width = out.shape[1]
    shift = column_shift[column_start : column_start + width]
    scale = column_factor[column_start : column_start + width]
    for r in range(out.shape[0]):
        i = row_start + r
        a, o = A[i, column_start : column_start + width], out[r]
        p, factor = row_shift[i], row_factor[i]
        for c in range(width):
            o[c] = (a[c] - p - shift[c]) * (factor * scale[c])
