"""One compilation serves all arrays that differ in flags only, and the alias behind it is safe."""

import numpy as np
import pytest
import scipy.sparse as sp

from hyperplan._core import jit
from hyperplan._core.arrays import compressed, kernel_view
from hyperplan.linear_model import Lasso, LogisticRegression, PoissonRegressor
from hyperplan.preprocessing import StandardScaler
from hyperplan.svm import LinearSVC


def frozen(array):
    view = array.view()
    view.setflags(write=False)
    return view


def compiled():
    """Compiled or loaded signatures so far."""
    return sum(len(kernel.overloads) for kernel in jit.kernels)


@pytest.mark.skipif(bool(jit._settings.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize("model", [Lasso(), LogisticRegression(), PoissonRegressor(), LinearSVC(), StandardScaler()])
@pytest.mark.parametrize("order", ["C", "F"])
def test_read_only_data_and_strided_targets_compile_nothing_new(model, order):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(size=(60, 4)), order=order)
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(np.float64)
    weight = rng.uniform(1, 2, size=60)
    extra = {} if isinstance(model, Lasso) else {"sample_weight": weight}
    expected = model.fit(X, y, **extra).__dict__
    count = compiled()
    table = np.column_stack([y, y])
    extra = {name: frozen(value) for name, value in extra.items()}
    again = type(model)().fit(frozen(X), frozen(table)[:, 0], **extra).__dict__
    assert compiled() == count
    for name in ("coef_", "intercept_", "mean_", "var_"):
        if name in expected:
            assert np.array_equal(expected[name], again[name])


@pytest.mark.parametrize("array", [np.zeros(0), np.arange(6.0).reshape(2, 3).T, np.arange(8, dtype=np.int32)[::2]])
def test_the_alias_is_the_same_memory(array):
    assert kernel_view(array) is array
    alias = kernel_view(frozen(array))
    assert alias.flags.writeable and not frozen(array).flags.writeable
    assert (alias.shape, alias.dtype) == (array.shape, array.dtype)
    assert alias.strides == array.strides or not array.size
    assert alias.ctypes.data == array.ctypes.data and np.array_equal(alias, array)


def test_the_alias_keeps_the_memory_alive():
    alias = kernel_view(frozen(np.full(1000, 7.0)))
    np.full(1000, 8.0)
    assert (alias == 7.0).all()


@pytest.mark.parametrize("thing", [None, 3.0, np.array(["a", "b"]), np.array([object()])])
def test_what_is_no_array_of_numbers_stays(thing):
    if isinstance(thing, np.ndarray):
        thing.setflags(write=False)
    assert kernel_view(thing) is thing


def test_sparse_matrices_are_passed_as_writable_aliases():
    matrix = sp.csr_array(np.eye(3))
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.setflags(write=False)
    record = compressed(matrix)
    assert record.data.flags.writeable and np.shares_memory(record.data, matrix.data)
    assert not matrix.data.flags.writeable
