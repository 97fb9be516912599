"""Every kind of value that attributes have: exact after a way through a file, shared and circular where it was."""

import collections
import math

import numpy as np
import pytest
import scipy.sparse as sp
from persistence_common import difference, round_trip

from hyperplan._base import BaseEstimator, Bunch, Labels, Status, Step, Trace, TransformerMixin
from hyperplan.persistence import ModelFileError, register_class

NUMBERS = [0, -1, 2**63, -(2**200), True, 0.1, -0.0, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, 1 + 2j]
DTYPES = ["?", "i1", "u8", "<i4", ">i4", "f2", "f4", ">f8", "c8", "c16", "S3", "U4", "M8[ns]", "m8[s]"]


@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_numbers(value, tmp_path):
    again = round_trip([value], tmp_path)[0]
    assert type(again) is type(value) and repr(again) == repr(value)


def test_nan(tmp_path):
    again = round_trip({"x": math.nan, "y": [float("nan")]}, tmp_path)
    assert math.isnan(again["x"]) and again["y"][0] is again["x"]


@pytest.mark.parametrize(
    "value",
    ["", "é\n\0", "\ud800", "汉字" * 50, b"\x00\xff", (), [], {}, set(), frozenset({1, "a"}), range(2, 9, 3), Ellipsis],
)
def test_texts_and_containers(value, tmp_path):
    again = round_trip((value,), tmp_path)[0]
    assert type(again) is type(value) and again == value


def test_keys_of_any_kind_in_their_order(tmp_path):
    keys = [3, "3", 2.5, None, False, (1, ("a", 2.0)), b"b", frozenset({1})]
    keys += [np.int64(7), np.str_("n"), Status.SEPARABLE]
    mapping = {key: i for i, key in enumerate(keys)}
    again = round_trip(mapping, tmp_path)
    assert list(again) == keys and [type(key) for key in again] == [type(key) for key in keys]
    assert again[(1, ("a", 2.0))] == 5


def test_kinds_of_dictionaries(tmp_path):
    for mapping in (collections.OrderedDict(b=1, a=2), Bunch(b=1, a=2)):
        again = round_trip(mapping, tmp_path)
        assert type(again) is type(mapping) and list(again.items()) == list(mapping.items())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays(dtype, shape, order, tmp_path):
    numbers = np.arange(math.prod(shape)).reshape(shape) % 2
    array = np.asarray(numbers.astype("i8").astype(dtype), order=order)
    assert difference([array], round_trip([array], tmp_path)) is None


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_numbers(dtype, tmp_path):
    number = np.ones(1, dtype="i8").astype(dtype)[0]
    again = round_trip({"x": number}, tmp_path)["x"]
    assert type(again) is type(number) and again.dtype == number.dtype and again == number


def test_special_floats_in_arrays_keep_their_bits(tmp_path):
    array = np.array([np.nan, -np.nan, np.inf, -0.0, 5e-324])
    assert round_trip(array, tmp_path).tobytes() == array.tobytes()


def test_slices_of_arrays_become_whole_arrays(tmp_path):
    whole = np.arange(24.0).reshape(4, 6)
    again = round_trip([whole[::2, 1:4], whole.T, whole[:, 3]], tmp_path)
    assert np.array_equal(again[0], whole[::2, 1:4]) and np.array_equal(again[2], whole[:, 3])
    assert again[1].flags.f_contiguous


def test_arrays_of_objects(tmp_path):
    array = np.array([["a", None], [np.float64(2), [1, 2]]], dtype=object)
    again = round_trip([array, array[1, 1]], tmp_path)
    assert again[0].dtype == object and again[0].shape == (2, 2) and again[0][1, 1] is again[1]
    assert difference(array, again[0]) is None
    assert round_trip(np.array("x", dtype=object), tmp_path)[()] == "x"


def test_missing_values_of_pandas(tmp_path):
    pandas = pytest.importorskip("pandas")
    again = round_trip(np.array(["a", pandas.NA, None, np.nan], dtype=object), tmp_path)
    assert again[1] is pandas.NA and again[2] is None and math.isnan(again[3])


def test_masked_arrays(tmp_path):
    for array in (np.ma.MaskedArray([1.0, 2.0], mask=[True, False]), np.ma.MaskedArray([1, 2], fill_value=7)):
        again = round_trip(array, tmp_path)
        assert difference(array, again) is None and again.fill_value == array.fill_value


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_matrices(kind, format, index, tmp_path):
    dense = np.array([[0.0, 2.0, 0.0, 0.0], [1.0, 0.0, 0.0, 3.0]])
    matrix = getattr(sp, f"{format}_{kind}")(dense)
    if format in ("csr", "csc"):
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    again = round_trip([matrix, matrix], tmp_path)
    assert type(again[0]) is type(matrix) and again[0] is again[1]
    assert np.array_equal(again[0].toarray(), dense)
    assert getattr(again[0], "indices", matrix.data).dtype == getattr(matrix, "indices", matrix.data).dtype


def test_types_and_functions(tmp_path):
    things = [float, np.float32, object, np.number, np.dtype("f4"), np.dtype(object), np.log1p, np.mean, slice(1, None)]
    again = round_trip(things, tmp_path)
    assert all(a is b for a, b in zip(things, again) if not isinstance(a, np.dtype | slice))
    assert again[4] == things[4] and again[5] == things[5] and again[8] == things[8]


@pytest.mark.parametrize("name", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_random_generators_go_on_where_they_were(name, tmp_path):
    generator = np.random.Generator(getattr(np.random, name)(3))
    generator.integers(10, size=5, dtype=np.uint32)
    again = round_trip(generator, tmp_path)
    assert again.integers(2**40, size=9).tolist() == generator.integers(2**40, size=9).tolist()
    bits = getattr(np.random, name)(4)
    assert round_trip(bits, tmp_path).random_raw() == bits.random_raw()


def test_random_state_keeps_its_half_used_normal(tmp_path):
    state = np.random.RandomState(0)
    state.normal()
    shared = round_trip([state, state], tmp_path)
    assert shared[0] is shared[1] and shared[0].normal(size=4).tolist() == state.normal(size=4).tolist()


def test_records_enums_and_traces(tmp_path):
    trace = Trace()
    trace(1, 2.0, 0.5)
    labels = Labels(np.array(["a", "b"]), np.array([0, 1, 1]))
    again = round_trip([Status.SEPARABLE, Step(1, 2.0, 3.0), trace, labels], tmp_path)
    assert again[0] is Status.SEPARABLE and again[1] == Step(1, 2.0, 3.0) and type(again[1]) is Step
    assert again[2].objectives == [2.0] and difference(labels, again[3]) is None


def test_what_is_shared_stays_shared(tmp_path):
    array, inner = np.arange(3.0), [1]
    pair = (inner, array)
    thing = {"a": array, "b": [array, inner], "c": pair, "d": pair}
    again = round_trip(thing, tmp_path)
    assert again["a"] is again["b"][0] is again["c"][1] and again["b"][1] is again["c"][0]
    assert again["c"] is again["d"] and difference(thing, again) is None


def test_cycles(tmp_path):
    ring = [1]
    ring.append({"ring": ring, "pair": (ring, 2)})
    again = round_trip(ring, tmp_path)
    assert again[1]["ring"] is again and again[1]["pair"][0] is again
    inside = []
    record = Step(1, inside, 0.0)
    inside.append(record)  # the record contains a list that contains the record
    again = round_trip(record, tmp_path)
    assert again.objective[0] is again


@register_class
class Preparation(TransformerMixin, BaseEstimator):
    """Like a transformer that another package brings along."""

    def __init__(self, columns=None):
        self.columns = columns

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        self.kinds_ = {"a": ("number", 0), 1: "category", ("b", 2): None}
        self.steps_ = [("fill", {"a": np.float64(0.5)}), ("codes", {("a", 1): np.arange(2)})]
        self.names_ = np.array(["x", "y"], dtype=object)
        return self

    def transform(self, X):
        return np.asarray(X, dtype=float) * self.steps_[0][1]["a"]


class Unknown:
    """Not registered."""


def test_registered_class_in_a_pipeline(tmp_path):
    from sklearn.pipeline import Pipeline

    from hyperplan.linear_model import Ridge

    X = np.random.default_rng(0).normal(size=(20, 2))
    model = Pipeline([("prepare", Preparation(["x", "y"])), ("estimator", Ridge())]).fit(X, X[:, 0])
    again = round_trip(model, tmp_path)
    assert difference(model, again) is None
    assert again.predict(X).tobytes() == model.predict(X).tobytes()


def test_unregistered_class_is_refused_with_its_place(tmp_path):
    with pytest.raises(ModelFileError, match=r"Preparation\.columns\['x'\]\[1\].*Unknown.*register_class"):
        round_trip(Preparation({"x": [0, Unknown()]}), tmp_path)


def test_register_class_wants_an_importable_class():
    with pytest.raises(TypeError, match="needs a class"):
        register_class(Preparation())

    class Inner:
        pass

    with pytest.raises(ValueError, match="inside a function"):
        register_class(Inner)
