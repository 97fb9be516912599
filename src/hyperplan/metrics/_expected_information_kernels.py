"""Mutual information of two random labellings with given sizes, in the mean."""

import math

from hyperplan._core.jit import view_kernel

NEGLIGIBLE = 1e-20  # a probability this small, relative to the largest one, and all beyond it


@view_kernel
def expected_terms(classes, clusters, log_factorial, terms):  # OUT: terms
    """terms[i] = sum over clusters j, over overlaps m, of P(m) m / n log(n m / (a_i b_j)).

    The overlap is hypergeometric.  Its probabilities rise to one peak and fall again: the sum starts there, multiplies
    by quotients of neighbours, and ends on both sides where they vanish.
    """
    # classes: (r,) and clusters: (c,) int64 sizes; log_factorial: (n + 1,); terms: (r,)
    n = log_factorial.shape[0] - 1
    for i in range(classes.shape[0]):
        a = classes[i]
        total = 0.0
        for j in range(clusters.shape[0]):
            b = clusters[j]
            low, high = max(0, a + b - n), min(a, b)
            peak = min(max(int((a + 1.0) * (b + 1.0) / (n + 2.0)), low), high)
            top = log_factorial[a] + log_factorial[b] + log_factorial[n - a] + log_factorial[n - b] - log_factorial[n]
            rest = log_factorial[peak] + log_factorial[a - peak] + log_factorial[b - peak]
            largest = math.exp(top - rest - log_factorial[n - a - b + peak])
            shift = math.log(n / (float(a) * float(b)))
            least = NEGLIGIBLE * largest
            p, m = largest, peak
            while m <= high and p > least:
                if m > 0:
                    total += p * m * (shift + math.log(float(m)))
                p *= (float(a - m) * float(b - m)) / (float(m + 1) * float(n - a - b + m + 1))
                m += 1
            p, m = largest, peak
            while m > low and p > least:
                p *= (float(m) * float(n - a - b + m)) / (float(a - m + 1) * float(b - m + 1))
                m -= 1
                if m > 0:
                    total += p * m * (shift + math.log(float(m)))
        terms[i] = total / n
