"""A kernel that another kernel calls becomes a part of it; alone it is compiled only when Python asks."""

import gc

import numpy as np
import pytest

from hyperplan._core import jit

pytestmark = pytest.mark.skipif(bool(jit._settings.DISABLE_JIT), reason="nothing is compiled")


@jit.kernel
def halve(x, out):  # OUT: out
    if x < 0.0:
        raise ValueError("negative")
    out[0] = 0.5 * x


@jit.kernel
def halve_all(values, out):  # OUT: out
    for i in range(values.shape[0]):
        halve(values[i], out[i:])


@jit.kernel
def total(values):
    result = 0.0
    for value in values:
        result += value
    return result


@jit.kernel
def total_and_ends(values):
    return total(values) + total(values[:1]) + total(values[1:])


@jit.kernel
def impossible(values):
    return values.no_such_attribute


@jit.inner_kernel
def inside(x):
    return x + 1.0


@jit.kernel
def around(x):
    return inside(x) * 2.0


def test_a_part_is_not_compiled_alone_until_python_calls_it():
    out = np.empty(3)
    halve_all(np.array([2.0, 4.0, 6.0]), out)
    assert out.tolist() == [1.0, 2.0, 3.0]
    assert not halve.overloads and not sum(halve.stats.cache_misses.values()) + sum(halve.stats.cache_hits.values())
    halve(5.0, out)
    assert out[0] == 2.5 and len(halve.overloads) == 1


def test_an_error_in_a_part_reaches_python():
    with pytest.raises(ValueError, match="negative"):
        halve_all(np.array([-2.0]), np.empty(1))


def test_what_python_called_before_is_taken_in_as_it_is():
    assert total(np.arange(4.0)) == 6.0
    assert total_and_ends(np.arange(4.0)) == 12.0
    assert len(total.overloads) == 1


def test_an_inner_kernel_has_no_entrance():
    assert around(1.0) == 4.0
    with pytest.raises(TypeError, match="no entrance for Python"):
        inside(1.0)


@pytest.mark.parametrize("enabled", [True, False])
def test_compiling_leaves_the_garbage_collector_as_it_was(enabled):
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        with pytest.raises(Exception, match="no_such_attribute"):
            impossible(np.zeros(2))
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()
