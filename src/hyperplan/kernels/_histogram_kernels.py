"""Chi-squared sums of rows of counts."""

from hyperplan._core.jit import kernel


@kernel
def chi_squared_sums(a, b, out):  # OUT: out
    """``out[i, j] = -sum_k (a_ik - b_jk)^2 / (a_ik + b_jk)``, columns where both are zero left out."""
    # a: (m, d), b: (n, d), out: (m, n), C order, float64
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            total = 0.0
            for k in range(a.shape[1]):
                size = a[i, k] + b[j, k]
                gap = a[i, k] - b[j, k]
                total -= gap * gap / size if size != 0.0 else 0.0
            out[i, j] = total
