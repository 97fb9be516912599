"""Data at the door: located errors, weights, labels."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from hyperplan._base import (
    BaseEstimator,
    check_design,
    check_finite,
    check_training,
    check_weight,
    class_weighted,
    encode_labels,
    seed_from,
)

X = np.arange(12.0).reshape(4, 3)
Y = np.array([0.0, 1.0, 2.0, 3.0])


class Model(BaseEstimator):
    pass


def spoiled(value, container):
    table = X.copy()
    table[2, 1] = value
    return container(table)


@pytest.mark.parametrize("value, word", [(np.nan, "NaN"), (np.inf, "infinity")])
@pytest.mark.parametrize("container", [np.array, sp.csr_array, sp.csc_matrix], ids=["dense", "csr", "csc"])
def test_a_bad_value_is_located(value, word, container):
    with pytest.raises(ValueError, match=rf"(?s){word}.*1 such value, the first at row 2, column 1: impute"):
        check_training(Model(), spoiled(value, container), Y)


def test_a_bad_value_in_a_frame_is_located_by_its_column_name():
    frame = pd.DataFrame(spoiled(np.nan, np.array), columns=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"row 2, column 1 \('b'\)"):
        check_design(Model(), frame, reset=True)


def test_a_bad_target_is_not_blamed_on_the_features():
    with pytest.raises(ValueError, match="Input y contains NaN") as error:
        check_training(Model(), X, [0.0, np.nan, 1.0, 2.0])
    assert "row" not in str(error.value)


def test_the_deferred_check_gives_the_same_error():
    bad = spoiled(np.nan, np.array)
    checked = check_training(Model(), bad, Y, ensure_all_finite=False)
    with pytest.raises(ValueError, match="row 2, column 1"):
        check_finite(Model(), checked.X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_keep_their_width_and_their_memory(dtype):
    table = X.astype(dtype)
    checked = check_training(Model(), table, Y).X
    assert checked.dtype == dtype and np.shares_memory(checked, table)


def test_integers_become_float64():
    assert check_training(Model(), X.astype(int), Y).X.dtype == np.float64


def test_weights():
    assert check_weight(None, X) is None
    assert check_weight(2, X).tolist() == [2.0] * 4
    assert check_weight([1, 0, 2, 3], X).dtype == np.float64
    with pytest.raises(ValueError, match="row 1 has -3"):
        check_weight([1, -3, 2, -1], X)
    assert check_weight([1, -3, 2, -1], X, allow_negative=True)[1] == -3
    with pytest.raises(ValueError, match="at least one non-zero"):
        check_weight(np.zeros(4), X)
    with pytest.raises(ValueError, match=r"sample_weight\.shape == \(3,\), expected \(4,\)"):
        check_weight(np.ones(3), X)
    with pytest.raises(ValueError, match="Sample weights must be 1D array or scalar"):
        check_weight(np.ones((4, 1)), X)


def test_labels_of_any_kind_become_sorted_codes():
    labels = encode_labels(np.array(["b", "a", "c", "a"], dtype=object))
    assert labels.classes.tolist() == ["a", "b", "c"] and labels.codes.tolist() == [1, 0, 2, 0]
    assert labels.codes.dtype == np.intp


def test_one_class_and_continuous_targets_are_refused():
    with pytest.raises(ValueError, match=r"Judge needs samples of at least 2 classes.*only one class: 5"):
        encode_labels(np.array([5, 5]), estimator_name="Judge")
    with pytest.raises(ValueError, match="continuous"):
        encode_labels(np.array([0.5, 1.5]))


def test_class_weights_multiply_row_weights():
    y = np.array([0, 0, 0, 1])
    labels = encode_labels(y)
    assert class_weighted(None, None, labels, y) is None
    balanced = class_weighted(None, "balanced", labels, y)
    np.testing.assert_allclose(balanced, [2 / 3, 2 / 3, 2 / 3, 2.0], rtol=1e-15)  # n / (classes * count), exact
    both = class_weighted(np.array([1.0, 2.0, 3.0, 4.0]), {0: 10, 1: 1}, labels, y)
    assert both.tolist() == [10.0, 20.0, 30.0, 4.0]


def test_seeds_follow_random_state():
    assert seed_from(3) == seed_from(3) != seed_from(4)
    assert seed_from(np.random.RandomState(3)) == seed_from(3)
    assert 0 <= seed_from(None) < 2**63
