"""From a document to objects: nothing in it is called, imported or trusted.

1. Everything that can change (lists, dictionaries, sets, objects) is made empty.
2. Everything that cannot (tuples, records, numbers) is made from its parts.
3. What was made empty is filled, after its parts have been checked.
4. Objects are checked as a whole, and compute what the file left out.

Classes and functions are looked up in `_allowed`; objects are made without ``__init__``.
"""

import base64
import binascii
import collections
import contextlib
import functools
import inspect
import math

import numpy as np
import scipy.sparse as sp
from scipy.interpolate import BSpline

from hyperplan._base import BaseEstimator, Bunch
from hyperplan._base.plumbing import scorer_named
from hyperplan.persistence import _allowed as allowed
from hyperplan.persistence._arrays import checked_shape, plain_dtype, pool_size, read_pool
from hyperplan.persistence._checks import problem_of
from hyperplan.persistence._encode import MAX_KEY, SPARSE_PARTS, key_size, shadows
from hyperplan.persistence._errors import ModelFileError
from hyperplan.persistence._labels import label_of
from hyperplan.persistence._state import restore

PARTS = ("root", "classes", "pools", "objects")
MAX_POOLS = 900
MAX_HASHED = 10**7  # parts of keys of dictionaries in a file
MAX_ALIKE = 50  # keys of one dictionary with the same hash, which have to be compared one by one
BIT_GENERATORS = {"MT19937": 624, "PCG64": None, "PCG64DXSM": None, "Philox": 4, "SFC64": None}  # largest position


def decode(document, archive):
    """The object of a document whose arrays are in the archive."""
    with only_model_file_errors():
        check_document(document)
        return _Reader(document, read_arrays(document, archive)).root()


@contextlib.contextmanager
def only_model_file_errors():
    """Whatever a strange document makes go wrong inside is a `ModelFileError` outside."""
    try:
        yield
    except (ModelFileError, MemoryError):
        raise
    except RecursionError:
        raise ModelFileError("The file is damaged or forged: its objects are nested too deeply.") from None
    except Exception as error:
        raise ModelFileError(
            f"The contents of the file do not fit together ({type(error).__name__}: {error})."
        ) from error


def check_document(document):
    """An error unless the document has its parts, and each of them its form."""
    _require(isinstance(document, dict) and all(part in document for part in PARTS), "the document lacks a part")
    objects, classes, pools = document["objects"], document["classes"], document["pools"]
    _require(all(isinstance(part, list) for part in (objects, classes, pools)), "the document has another form")
    _require(all(_is_pair(each) and isinstance(each[0], str) for each in objects), "an object has no kind")
    _require(all(_is_pair(each) and _are_names([each[0]]) and _are_names(each[1]) for each in classes), "class names")
    _require(len(pools) <= MAX_POOLS, "too many types of numbers")
    _require(all(_is_pair(each) and _is_count(each[1]) for each in pools), "the types of numbers")


def read_arrays(document, archive) -> dict[int, np.ndarray]:
    """All arrays and NumPy numbers, by the position of their object."""
    dtypes = [plain_dtype(name) for name, _ in document["pools"]]
    layouts = [[] for _ in dtypes]
    for position, (kind, content) in enumerate(document["objects"]):
        if kind == "array" or kind == "scalar":
            number, shape, order = content if kind == "array" else (content, [], "C")
            _require(_is_count(number) and number < len(dtypes) and order in ("C", "F"), "an array has another form")
            layouts[number].append((position, checked_shape(shape, dtypes[number]), order))
    found = {}
    for i, (dtype, wanted) in enumerate(zip(dtypes, layouts)):
        name, length = f"arrays/{i}.npy", sum(math.prod(shape) for _, shape, _ in wanted)
        if length != document["pools"][i][1] or pool_size(dtype, length) != archive.size_of(name):
            raise ModelFileError(f"The file is damaged: the shapes of arrays do not add up to what {name} holds.")
        with archive.stream(name) as stream:
            arrays = read_pool(stream, dtype, [(shape, order) for _, shape, order in wanted])
        found.update(zip((position for position, _, _ in wanted), arrays))
    return found


class _Reader:
    """Objects by position, made in the order of the steps above."""

    def __init__(self, document, arrays):
        self._document, self._nodes, self.arrays = document, document["objects"], arrays
        self._made, self._under_way, self._classes = {}, set(), {}
        self._hashed = 0

    def root(self):
        for position, (kind, content) in enumerate(self._nodes):
            if kind in SHELLS:
                self._made[position] = SHELLS[kind](self, content)
        for position in range(len(self._nodes)):
            self.thing(position)
        for position, (kind, content) in enumerate(self._nodes):
            if kind in FILLERS:
                FILLERS[kind](self, self._made[position], content)
        records, objects = self._all("record"), self._all("object")
        for thing in [*reversed(records), *reversed(objects)]:  # parts, which stand behind their wholes, come first
            self._check(thing)
        for thing in objects:
            restore(thing)
        return self.value(self._document["root"])

    def _all(self, wanted):
        return [self._made[position] for position, (kind, _) in enumerate(self._nodes) if kind == wanted]

    def _check(self, thing):
        problem = problem_of(thing)
        if problem is not None:
            raise ModelFileError(f"The file is damaged or forged: in an object {type(thing).__name__}, {problem}.")

    def value(self, written):
        """What a JSON value stands for."""
        if written is None or type(written) in (bool, int, float, str):
            return written
        _require(type(written) is list and len(written) == 1 and type(written[0]) is int, "a reference leads nowhere")
        return self.thing(written[0])

    def values(self, written):
        _require(type(written) is list, "a list was expected")
        return [self.value(each) for each in written]

    def thing(self, position):
        """The object at a position, made now if it is not yet."""
        if position in self._made:
            return self._made[position]
        _require(0 <= position < len(self._nodes), "a reference leads nowhere")
        _require(position not in self._under_way, "a tuple contains itself")
        self._under_way.add(position)
        kind, content = self._nodes[position]
        if kind not in READERS:
            raise ModelFileError(f"The file holds an object of kind {kind!r:.40}, which this version does not know.")
        made = READERS[kind](self, content) if kind not in ("array", "scalar") else self._number(position, kind)
        self._under_way.remove(position)
        self._made[position] = made
        return made

    def _number(self, position, kind):
        array = self.arrays[position]
        return array if kind == "array" else array[()]

    def keys(self, values):
        """The values, if they may be keys; parts that tuples share count each time, as they do for hashing."""
        for value in values:
            size = key_size(value)
            self._hashed += size
            _require(size <= MAX_KEY, f"a {type(value).__name__} cannot be a key")
            _require(self._hashed <= MAX_HASHED, "its keys are too large")
        alike = collections.Counter(map(hash, values))
        _require(max(alike.values(), default=0) <= MAX_ALIKE, "too many keys have the same hash")
        return values

    def class_at(self, number, kind):
        """The class of a number in the table; an error unless its objects are written in this way."""
        _require(_is_count(number) and number < len(self._document["classes"]), "a class that is not in the table")
        if number not in self._classes:
            self._classes[number] = allowed.class_named(self._document["classes"][number][0])
        found = self._classes[number]
        _require(kind is None or allowed.kind_of(found) == kind, f"{found.__name__} is no {kind}")
        return found, self._document["classes"][number][1]


# --- what can change: made empty, then filled


def _empty_object(reader, content):
    _require(_is_pair(content) and isinstance(content[1], dict), "an object has another form")
    return object.__new__(reader.class_at(content[0], "object")[0])


def _empty_objects(reader, content):
    _require(type(content) is list and len(content) == 3 and content[1] in ("C", "F"), "an array has another form")
    shape = checked_shape(content[0], np.dtype(object))
    _require(type(content[2]) is list and len(content[2]) == math.prod(shape), "an array of objects lacks some")
    return np.empty(shape, dtype=object, order=content[1])


def _fill_list(reader, target, content):
    target.extend(reader.values(content))


def _fill_set(reader, target, content):
    target.update(reader.keys(reader.values(content)))


def _fill_dict(reader, target, content):
    items = reader.values(content)
    keys = reader.keys(items[::2])
    _require(2 * len(keys) == len(items), "a dictionary has a key without a value")
    for key, value in zip(keys, items[1::2]):
        target[key] = value
    _require(len(target) == len(keys), "a dictionary has a key twice")


def _fill_objects(reader, target, content):
    flat = target.reshape(-1, order="A") if target.ndim else target.reshape(1)
    for i, value in enumerate(reader.values(content[2])):
        flat[i] = value


def _fill_object(reader, target, content):
    cls, state = type(target), content[1]
    for name in state:
        _require(name.isidentifier() and not shadows(cls, name), f"{cls.__name__} has no attribute {name!r:.40}")
    values = {name: reader.value(written) for name, written in state.items()}
    if issubclass(cls, BaseEstimator):
        values = {**_missing_parameters(cls, values), **values}
    vars(target).update(values)


def _missing_parameters(cls, values):
    """Defaults of parameters that came after the file was written."""
    missing = {name: p for name, p in _parameters(cls).items() if name not in values}
    for name, parameter in missing.items():
        is_needed = parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
        _require(not is_needed, f"{cls.__name__} lacks its parameter {name}")
    return {name: p.default for name, p in missing.items() if p.default is not p.empty}


@functools.cache
def _parameters(cls):
    return dict(inspect.signature(cls).parameters)


SHELLS = {
    "list": lambda reader, content: [],
    "dict": lambda reader, content: {},
    "ordered": lambda reader, content: collections.OrderedDict(),
    "bunch": lambda reader, content: Bunch(),
    "set": lambda reader, content: set(),
    "objects": _empty_objects,
    "object": _empty_object,
}
FILLERS = {
    "list": _fill_list,
    "dict": _fill_dict,
    "ordered": _fill_dict,
    "bunch": _fill_dict,
    "set": _fill_set,
    "objects": _fill_objects,
    "object": _fill_object,
}


# --- what cannot change: made from its parts


def _record(reader, content):
    _require(_is_pair(content), "a record has another form")
    cls, fields = reader.class_at(content[0], "record")
    values = reader.values(content[1])
    _require(len(values) == len(fields) and set(fields) <= set(cls._fields), f"{cls.__name__} has other fields")
    given = {**cls._field_defaults, **dict(zip(fields, values))}
    _require(len(given) == len(cls._fields), f"{cls.__name__} lacks a field")
    return tuple.__new__(cls, [given[name] for name in cls._fields])


def _enum(reader, content):
    _require(_is_pair(content) and isinstance(content[1], str), "an enum has another form")
    cls, _ = reader.class_at(content[0], "enum")
    _require(content[1] in cls.__members__, f"{cls.__name__} has no member {content[1]!r:.40}")
    return cls.__members__[content[1]]


def _frozenset(reader, content):
    return frozenset(reader.keys(reader.values(content)))


def _type(reader, content):
    _require(isinstance(content, str) and content in allowed.TYPES, f"no type is called {content!r:.40}")
    return allowed.TYPES[content]


def _dtype(reader, content):
    return np.dtype(object) if content == "|O" else plain_dtype(content)


def _float(reader, content):
    _require(content in ("nan", "inf", "-inf"), "a number has another form")
    return {"nan": np.nan, "inf": math.inf, "-inf": -math.inf}[content]


def _complex(reader, content):
    _require(_is_pair(content) and all(isinstance(part, str) for part in content), "a number has another form")
    return complex(float(content[0]), float(content[1]))


def _bytes(reader, content):
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise ModelFileError("The file is damaged: bytes have another form.") from None


def _slice(reader, content):
    values = reader.values(content)
    _require(len(values) == 3, "a slice has another form")
    return slice(*values)


def _range(reader, content):
    _require(type(content) is list and len(content) == 3 and all(type(n) is int for n in content), "a range")
    return range(*content)


def _constant(reader, content):
    if content == "pandas.NA":
        try:
            import pandas
        except ImportError:
            raise ModelFileError("The model holds missing values of pandas, which is not installed.") from None
        return pandas.NA
    _require(content == "Ellipsis", f"no constant is called {content!r:.40}")
    return Ellipsis


def _label(reader, content):
    _require(_is_pair(content) and isinstance(content[0], str), "a label has another form")
    return label_of(content[0], reader.values(content[1]))


def _scorer(reader, content):
    found = scorer_named(content) if isinstance(content, str) else None
    _require(found is not None, f"scikit-learn has no scorer {content!r:.40}")
    return found


def _masked(reader, content):
    data, mask, fill_value = reader.values(content)
    _require(isinstance(data, np.ndarray), "a masked array has no data")
    if mask is None:
        return np.ma.MaskedArray(data, fill_value=fill_value)
    _require(isinstance(mask, np.ndarray) and mask.dtype == bool and mask.shape == data.shape, "a mask does not fit")
    return np.ma.MaskedArray(data, mask=mask, fill_value=fill_value)


def _sparse(reader, content):
    _require(type(content) is list and len(content) == 3, "a sparse matrix has another form")
    name, shape, parts = content[0], content[1], reader.values(content[2])
    known = [f"{format}_{kind}" for format in SPARSE_PARTS for kind in ("matrix", "array")]
    _require(name in known, f"no sparse matrix is called {name!r:.40}")
    shape = checked_shape(shape, np.dtype(np.int8))
    flat = [*parts[:1], *(parts[1] if isinstance(parts[1], tuple) else parts[1:])]
    _require(all(isinstance(part, np.ndarray) and part.dtype.kind in "biufc" for part in flat), "a sparse matrix")
    made = getattr(sp, name)(tuple(parts), shape=shape)
    if name[:3] in ("csr", "csc", "bsr"):
        made.indices, made.indptr = parts[1:]  # the constructor may have changed their type
        made.check_format(full_check=True)
    return made


def _spline(reader, content):
    t, c, k, extrapolate, axis = reader.values(content)
    _require(all(isinstance(part, np.ndarray) and part.dtype.kind == "f" for part in (t, c)), "a spline")
    _require(type(k) is int and type(axis) is int and extrapolate in (True, False, "periodic"), "a spline")
    return BSpline(t, c, k, extrapolate, axis)


def _random(reader, content):
    _require(_is_pair(content) and content[0] in ("RandomState", "Generator", "BitGenerator"), "a random generator")
    state = _thawed(reader.value(content[1]))
    name = state.get("bit_generator") if isinstance(state, dict) else None
    _require(name in BIT_GENERATORS, f"no random generator is called {name!r:.40}")
    inner = state.get("state")
    _require(isinstance(inner, dict), "the state of a random generator")
    last = BIT_GENERATORS[name]  # NumPy reads wherever the position points
    position = inner.get("pos", 0) if name == "MT19937" else state.get("buffer_pos", 0)
    _require(last is None or (type(position) is int and 0 <= position <= last), "a random generator's position")
    for words, length in (("key", 624 if name == "MT19937" else 2), ("counter", 4)):
        _require(np.size(inner.get(words, np.zeros(length))) == length, "the state of a random generator")
    made = getattr(np.random, name)(0)
    if content[0] == "RandomState":
        made = np.random.RandomState(made)
        made.set_state(state)
        return made
    made.state = state
    return np.random.Generator(made) if content[0] == "Generator" else made


def _thawed(state, depth=0):
    if not isinstance(state, tuple):
        return state
    pairs = all(isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in state)
    _require(pairs and len(state) < 16 and depth < 3, "the state of a random generator")
    return {key: _thawed(value, depth + 1) for key, value in state}


READERS = {
    "array": None,
    "scalar": None,
    "tuple": lambda reader, content: tuple(reader.values(content)),
    "frozenset": _frozenset,
    "record": _record,
    "enum": _enum,
    "class": lambda reader, content: reader.class_at(content, None)[0],
    "type": _type,
    "dtype": _dtype,
    "function": lambda reader, content: allowed.function_named(content),
    "scorer": _scorer,
    "label": _label,
    "constant": _constant,
    "float": _float,
    "complex": _complex,
    "bytes": _bytes,
    "slice": _slice,
    "range": _range,
    "masked": _masked,
    "sparse": _sparse,
    "spline": _spline,
    "random": _random,
}


# --- small checks


def _is_pair(value):
    return type(value) is list and len(value) == 2


def _is_count(value):
    return type(value) is int and value >= 0


def _are_names(value):
    return type(value) is list and all(isinstance(name, str) for name in value)


def _require(condition, what):
    if not condition:
        raise ModelFileError(f"The file is damaged or forged: {what}.")
