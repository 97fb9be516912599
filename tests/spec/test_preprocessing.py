"""Worked numbers of the polynomial features."""

import math

import numpy as np
import pytest

from hyperplan.preprocessing import PolynomialFeatures, polynomial_features


@pytest.mark.parametrize("d, degree, columns", [(2, 1, 3), (2, 2, 6), (2, 3, 10), (5, 3, 56)])
def test_t05_number_of_monomials(d, degree, columns):
    X = np.ones((1, d))
    assert polynomial_features(X, degree).shape[1] == columns == math.comb(d + degree, degree)
    assert PolynomialFeatures(degree).fit(X).n_output_features_ == columns
    assert polynomial_features(X, degree, interactions=False).shape[1] == 1 + d * degree


def test_t05_order_of_monomials():
    a, b = 2.0, 3.0
    expected = [1, a, b, a * a, a * b, b * b, a**3, a * a * b, a * b * b, b**3]
    np.testing.assert_array_equal(polynomial_features([[a, b]], 3)[0], expected)


def test_a14_pure_powers():
    np.testing.assert_array_equal(polynomial_features([[2.0, 3.0]], 3, interactions=False)[0], [1, 2, 3, 4, 9, 8, 27])


def projectile(x, g=9.81, speed=10.0, angle=math.pi / 4, height=2.0):
    return -g / (2 * speed**2 * math.cos(angle) ** 2) * x**2 + x * math.tan(angle) + height


def test_t06_e02_projectile():
    """The linear term of the trajectory is x tan(angle); with the speed as a further factor it would be 49.5475."""
    assert projectile(5.0) == pytest.approx(4.5475, abs=1e-12)
    x = np.linspace(0, 8, 30)
    theta = np.linalg.lstsq(polynomial_features(x[:, None], 2), projectile(x), rcond=None)[0]
    # three exact coefficients from noise-free data: only the conditioning of the fit limits the digits
    np.testing.assert_allclose(theta, [2.0, 1.0, -9.81 / 100], rtol=1e-10)
    assert math.sqrt(-9.81 / (2 * theta[2] * math.cos(math.pi / 4) ** 2)) == pytest.approx(10.0, rel=1e-9)


def test_polynomial_features_refuses_bad_degrees():
    for degree in (-1, 1.5, True):
        with pytest.raises(ValueError, match="non-negative integer"):
            polynomial_features([[1.0]], degree)
