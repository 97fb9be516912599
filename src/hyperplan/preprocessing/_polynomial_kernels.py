"""Monomials of the rows of a C-ordered array, float32 or float64."""

from hyperplan._core.jit import kernel


@kernel
def monomials(X, first, segments, scratch, out):  # scratch, out OUT
    """Row i of `out`: the last monomials of the full list, after the constant where there is one.

    `first` is 1 if the list starts with the constant.  A segment (start, stop, feature, to) multiplies the monomials
    start..stop-1 by one feature and appends them at position `to`.  `scratch` holds one row of the full list.
    """
    d = X.shape[1]
    n_full, n_out = scratch.shape[0], out.shape[1]
    if first:
        scratch[0] = 1
    for i in range(X.shape[0]):
        if n_full > first:
            for j in range(d):
                scratch[first + j] = X[i, j]
        for s in range(segments.shape[0]):
            start, to = segments[s, 0], segments[s, 3]
            factor = X[i, segments[s, 2]]
            for k in range(segments[s, 1] - start):
                scratch[to + k] = scratch[start + k] * factor
        for k in range(first):
            out[i, k] = scratch[k]
        for k in range(first, n_out):
            out[i, k] = scratch[n_full - n_out + k]
