"""Products of a shifted matrix that is read once and never copied, and its scaled panels in either precision.

Every matrix `A` is C-ordered: a Fortran-ordered design is handed over transposed.  The entry that counts is
``A[i, j] - row_shift[i] - column_shift[j]``; sums are float64.
"""

from hyperplan._core.jit import fast_kernel

STRIP = 1024  # columns of a strip: what is added to stays in the first-level cache


@fast_kernel
def shifted_dots(A, row_shift, column_shift, right, out):
    # A is C-ordered (r, c), right (k, c); out (k, r) is OUT
    for i in range(A.shape[0]):
        shift = row_shift[i]
        for t in range(right.shape[0]):
            total = 0.0
            for j in range(A.shape[1]):
                total += (A[i, j] - shift - column_shift[j]) * right[t, j]
            out[t, i] = total


@fast_kernel
def shifted_combination(A, row_shift, column_shift, left, out):
    # A is C-ordered (r, c), left (k, r); out (k, c) is OUT and added to.  Four rows at a time, strip by strip.
    rows, columns = A.shape
    whole = rows - rows % 4
    for t in range(left.shape[0]):
        for start in range(0, columns, STRIP):
            stop = min(start + STRIP, columns)
            for i in range(0, whole, 4):
                a, b, c, d = left[t, i], left[t, i + 1], left[t, i + 2], left[t, i + 3]
                p, q, r, s = row_shift[i], row_shift[i + 1], row_shift[i + 2], row_shift[i + 3]
                for j in range(start, stop):
                    m = column_shift[j]
                    first = a * (A[i, j] - m - p) + b * (A[i + 1, j] - m - q)
                    out[t, j] += first + (c * (A[i + 2, j] - m - r) + d * (A[i + 3, j] - m - s))
            for i in range(whole, rows):
                a = left[t, i]
                for j in range(start, stop):
                    out[t, j] += a * (A[i, j] - row_shift[i] - column_shift[j])


@fast_kernel
def scaled_panel(A, row_shift, column_shift, row_factor, column_factor, row_start, column_start, out):
    # A is C-ordered; out (either precision) is OUT: the block of A at (row_start, column_start), shifted and scaled
    for r in range(out.shape[0]):
        i = row_start + r
        shift, factor = row_shift[i], row_factor[i]
        for c in range(out.shape[1]):
            j = column_start + c
            out[r, c] = (A[i, j] - shift - column_shift[j]) * (factor * column_factor[j])
