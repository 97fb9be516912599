"""Sums by class in one pass over the rows: what naive Bayes, discriminant analysis and mixtures are made of.

Every dense X is C-ordered (n, d), in float32 or float64; `codes` (n,) is the class of each row and `weight` is (n,), or
empty when all rows count once.  Outputs are float64 and added to, so that panels of rows may follow each other.
"""

from hyperplan._core.jit import fast_kernel


@fast_kernel
def add_class_totals(X, codes, weight, counts, totals):
    # X is C-ordered (n, d); counts (k,) and totals (k, d) are OUT; returns the number of negative entries
    negative = 0.0
    for i in range(X.shape[0]):
        c = codes[i]
        w = weight[i] if weight.shape[0] > 0 else 1.0
        row, total = X[i], totals[c]
        counts[c] += w
        for j in range(row.shape[0]):
            x = row[j]
            total[j] += w * x
            negative += 1.0 if x < 0.0 else 0.0
    return negative


@fast_kernel
def add_class_counts(X, codes, weight, threshold, counts, totals):
    # X is C-ordered (n, d); counts (k,) and totals (k, d) are OUT: weights of the entries above the threshold,
    # NaN where a NaN or an infinity was
    for i in range(X.shape[0]):
        c = codes[i]
        w = weight[i] if weight.shape[0] > 0 else 1.0
        row, total = X[i], totals[c]
        counts[c] += w
        for j in range(row.shape[0]):
            total[j] += (w if row[j] > threshold else 0.0) + 0.0 * row[j]  # the last term spreads NaN


@fast_kernel
def add_sparse_totals(matrix, codes, weight, counts, totals):
    # matrix is CSR (n, d); counts (k,) and totals (k, d) are OUT; returns the number of negative entries
    negative = 0.0
    for i in range(matrix.n_rows):
        c = codes[i]
        w = weight[i] if weight.shape[0] > 0 else 1.0
        total = totals[c]
        counts[c] += w
        for e in range(matrix.indptr[i], matrix.indptr[i + 1]):
            x = matrix.data[e]
            total[matrix.indices[e]] += w * x
            negative += 1.0 if x < 0.0 else 0.0
    return negative


@fast_kernel
def add_class_squares(X, codes, weight, shift, counts, sums, squares):
    # X is C-ordered (n, d), shift (k, d); counts (k,), sums and squares (k, d) of X - shift[class] are OUT
    for i in range(X.shape[0]):
        c = codes[i]
        w = weight[i] if weight.shape[0] > 0 else 1.0
        row, centre, total, square = X[i], shift[c], sums[c], squares[c]
        counts[c] += w
        for j in range(row.shape[0]):
            z = row[j] - centre[j]
            total[j] += w * z
            square[j] += w * z * z


@fast_kernel
def add_present_squares(X, codes, weight, shift, counts, sums, squares):
    # X is C-ordered (n, d) with NaN for missing; counts, sums and squares, all (k, d), are OUT: NaN is left out
    for i in range(X.shape[0]):
        c = codes[i]
        w = weight[i] if weight.shape[0] > 0 else 1.0
        row, centre, count, total, square = X[i], shift[c], counts[c], sums[c], squares[c]
        for j in range(row.shape[0]):
            x = row[j]
            present = x == x
            z = x - centre[j] if present else 0.0
            count[j] += w if present else 0.0
            total[j] += w * z
            square[j] += w * z * z


@fast_kernel
def add_category_counts(X, codes, weight, offsets, totals):
    # X is C-ordered (n, q), whole numbers, negative for missing; totals (all categories, k) is OUT;
    # category v of column j is row offsets[j] + v of totals
    for i in range(X.shape[0]):
        c = codes[i]
        w = weight[i] if weight.shape[0] > 0 else 1.0
        row = X[i]
        for j in range(row.shape[0]):
            if row[j] >= 0:
                totals[offsets[j] + row[j], c] += w


@fast_kernel
def gather_rows(X, order, shift, out):
    # X is C-ordered (n, d), order (r,) row numbers, shift (d,); out (r, d) is OUT: the rows of X minus the shift
    for r in range(order.shape[0]):
        row, target = X[order[r]], out[r]
        for j in range(row.shape[0]):
            target[j] = row[j] - shift[j]
