"""The exponential function as arithmetic, so that loops over it use whole vector registers.

``exp(x) = 2^k exp(r)`` with k the integer nearest to ``x / log 2`` and ``|r| <= log(2) / 2``, where Taylor's polynomial
of degree 13 is exact to rounding.  Without a vector library the compiler calls libm for one number at a time, which is
several times slower.
"""

import numpy as np

from hyperplan._core.jit import kernel

LARGEST = 708.0  # exp(708) is finite, exp(-708) a normal number
LOG2_E = 1.4426950408889634
LOG_2_HIGH, LOG_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # log 2; k LOG_2_HIGH is exact


@kernel
def vector_exp(x):
    """exp(x) within 4 units in the last place for |x| <= 708; beyond, the value at the border."""
    x = min(max(x, -LARGEST), LARGEST)
    k = np.floor(x * LOG2_E + 0.5)
    r = (x - k * LOG_2_HIGH) - k * LOG_2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * np.int64((np.int64(k) + 1023) << 52).view(np.float64)
