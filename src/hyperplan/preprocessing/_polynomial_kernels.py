"""Monomials of the rows of a C-ordered array, float32 or float64."""

from hyperplan._core.jit import kernel


@kernel
def monomials(X, first, segments, scratch, out):  # scratch, out OUT
    """Row i of `out`: the last monomials of the full list, after the constant where there is one.

    `first` is 1 if the list starts with the constant.  A segment (start, stop, feature, to) multiplies the monomials
    start..stop-1 by one feature and appends them at position `to`.  `scratch` holds one row of the monomials that are
    multiplied further; where nothing is left out, a row of `out` takes its place.
    """
    n_full, n_out = scratch.shape[0], out.shape[1]
    gap = n_full - n_out
    for i in range(X.shape[0]):
        if gap == 0:
            expand_row(X[i], first, segments, n_full, out[i])
        else:
            expand_row(X[i], first, segments, n_full, scratch)
            for k in range(first):
                out[i, k] = scratch[k]
            for k in range(first, n_out):
                out[i, k] = scratch[gap + k]


@kernel
def expand_row(x, first, segments, n_full, row):  # row OUT: all monomials of x
    if first:
        row[0] = 1
    if n_full > first:
        for j in range(x.shape[0]):
            row[first + j] = x[j]
    for s in range(segments.shape[0]):
        start, to = segments[s, 0], segments[s, 3]
        count = segments[s, 1] - start
        multiply(row[start : start + count], x[segments[s, 2]], row[to : to + count])


@kernel
def multiply(source, factor, target):  # target OUT = source * factor; they do not overlap
    for k in range(source.shape[0]):
        target[k] = source[k] * factor


@kernel
def plain_columns(X, first, out):  # out OUT: its lines of degree 0 and 1
    """`X` (n, d) and `out` (n_full, n) are C-ordered, one line of `out` per monomial."""
    if first:
        for i in range(X.shape[0]):
            out[0, i] = 1
    if out.shape[0] > first:
        for j in range(X.shape[1]):
            for i in range(X.shape[0]):
                out[first + j, i] = X[i, j]


@kernel
def monomial_lines(first, segments, out):  # out OUT: the lines that the segments append; those below are there
    for s in range(segments.shape[0]):
        start, to = segments[s, 0], segments[s, 3]
        factor = out[first + segments[s, 2]]
        for k in range(segments[s, 1] - start):
            multiply_lines(out[start + k], factor, out[to + k])


@kernel
def multiply_lines(source, factor, target):  # target OUT = source * factor
    for i in range(source.shape[0]):
        target[i] = source[i] * factor[i]


@kernel
def count_monomials(indptr, first, degree, distinct, out):  # out OUT (n + 1,): where the rows of the result begin
    """`distinct` is 1 for products of different columns only."""
    out[0] = 0
    for i in range(indptr.shape[0] - 1):
        m = indptr[i + 1] - indptr[i]
        count = first + m
        if degree > 1:
            count += m * (m - 1) // 2 if distinct else m * (m + 1) // 2
        if degree > 2:
            count += m * (m - 1) * (m - 2) // 6 if distinct else m * (m + 1) * (m + 2) // 6
        out[i + 1] = out[i] + count


@kernel
def sparse_monomials(X, first, degree, distinct, shift, rows, indptr, indices, data):  # indices, data OUT
    """Rows rows[0]..rows[1]-1 of a CompressedMatrix by rows with sorted columns, expanded to degree 3 at most.

    Column j times the monomial in place c stands in place ``c + shift[0, j]`` (degree 2) or ``c + shift[1, j]``
    (degree 3).
    """
    for i in range(rows[0], rows[1]):
        begin, end, p = X.indptr[i], X.indptr[i + 1], indptr[i]
        if first:
            indices[p], data[p] = 0, 1
            p += 1
        for a in range(begin, end):
            indices[p], data[p] = first + X.indices[a], X.data[a]
            p += 1
        if degree > 1:
            for a in range(begin, end):
                to, factor = first + shift[0, X.indices[a]], X.data[a]
                for b in range(a + distinct, end):
                    indices[p], data[p] = to + X.indices[b], factor * X.data[b]
                    p += 1
        if degree > 2:
            for a in range(begin, end):
                for b in range(a + distinct, end):
                    to = first + shift[1, X.indices[a]] + shift[0, X.indices[b]]
                    factor = X.data[a] * X.data[b]
                    for c in range(b + distinct, end):
                        indices[p], data[p] = to + X.indices[c], factor * X.data[c]
                        p += 1
