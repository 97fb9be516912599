"""Random Fourier features: ``scale cos(z + offset)``, in place, with cosines as arithmetic so that loops vectorise.

``cos(x) = (-1)^k cos(r)`` with k the integer nearest to ``x / pi`` and ``|r| <= pi / 2``, where Taylor's polynomial is
exact to rounding.  The subtraction of ``k pi`` in three parts keeps the digits for arguments up to `LARGEST`.
"""

import numpy as np

from hyperplan._core.jit import kernel

LARGEST = 1e5  # |z + offset| up to which double precision keeps its digits
LARGEST_SINGLE = 4e3
_PI_HIGH, _PI_MIDDLE, _PI_LOW = 3.1415925025939941, 1.5099578831723193e-07, 1.0780605716316238e-14
_F = np.float32
_HIGH, _MIDDLE, _LOW = _F(3.140625), _F(9.67502593994140625e-4), _F(1.509957990978376432e-7)
_INVERSE_PI, _HALF, _ONE, _TWO = _F(0.3183098861837907), _F(0.5), _F(1.0), _F(2.0)
_C1, _C2, _C3 = _F(-1.0 / 2.0), _F(1.0 / 24.0), _F(-1.0 / 720.0)
_C4, _C5, _C6 = _F(1.0 / 40320.0), _F(-1.0 / 3628800.0), _F(1.0 / 479001600.0)


@kernel
def double_cos(x):
    """cos(x) with an absolute error of a few 1e-16 for |x| <= 1e5."""
    k = np.floor(x * 0.3183098861837907 + 0.5)
    r = ((x - k * _PI_HIGH) - k * _PI_MIDDLE) - k * _PI_LOW
    s = r * r
    p = 1.0 / 2432902008176640000.0
    p = p * s - 1.0 / 6402373705728000.0
    p = p * s + 1.0 / 20922789888000.0
    p = p * s - 1.0 / 87178291200.0
    p = p * s + 1.0 / 479001600.0
    p = p * s - 1.0 / 3628800.0
    p = p * s + 1.0 / 40320.0
    p = p * s - 1.0 / 720.0
    p = p * s + 1.0 / 24.0
    p = p * s - 0.5
    p = p * s + 1.0
    return p * (1.0 - 2.0 * (k - 2.0 * np.floor(0.5 * k)))


@kernel
def single_cos(x):
    """cos(x) in single precision with an absolute error of a few 1e-7 for |x| <= 4e3."""
    k = np.floor(x * _INVERSE_PI + _HALF)
    r = ((x - k * _HIGH) - k * _MIDDLE) - k * _LOW
    s = r * r
    p = _C6 * s + _C5
    p = p * s + _C4
    p = p * s + _C3
    p = p * s + _C2
    p = p * s + _C1
    p = p * s + _ONE
    return p * (_ONE - _TWO * (k - _TWO * np.floor(_HALF * k)))


@kernel
def fourier_double(offset, scale, out):  # OUT: out
    """``out = scale cos(out + offset)``, row by row; float64."""
    # out: (n, m), C order
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = scale * double_cos(out[i, j] + offset[j])


@kernel
def fourier_single(offset, scale, out):  # OUT: out
    """``out = scale cos(out + offset)``, row by row; float32."""
    # out: (n, m), C order
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = scale * single_cos(out[i, j] + offset[j])
