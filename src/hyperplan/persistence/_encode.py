"""From objects to a document: a list of everything that is not a plain value, and references into it.

None, Booleans, whole and finite numbers and text stand for themselves.  Everything else is written once to `objects` as
``[kind, content]`` and referred to as ``[position]``, so that what was shared stays shared and cycles end.
"""

import base64
import collections
import enum
import functools
import inspect
import math
import types
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.interpolate import BSpline

from hyperplan._base import BaseEstimator, Bunch
from hyperplan._base.plumbing import FROZEN, scorer_name
from hyperplan.persistence import _allowed as allowed
from hyperplan.persistence._arrays import Pool, is_plain
from hyperplan.persistence._errors import ModelFileError
from hyperplan.persistence._labels import label_parts
from hyperplan.persistence._state import state_of

MAX_KEY = 10_000
LARGEST_INTEGER = 2**4096
COMPRESSED, COORDINATES, DIAGONALS = ("data", "indices", "indptr"), ("data", "coords"), ("data", "offsets")
SPLINE_PARTS = ("t", "c", "k", "extrapolate", "axis")
SPARSE_PARTS = {"csr": COMPRESSED, "csc": COMPRESSED, "bsr": COMPRESSED, "coo": COORDINATES, "dia": DIAGONALS}
KEYS = (bool, int, float, complex, str, bytes, type(None), np.generic, enum.Enum, np.dtype, type)
ADVICE = {
    "function": "Functions are code: use a named NumPy function, or a transformer class made known by register_class.",
    "pandas": "Keep its values as NumPy arrays, lists or text instead.",
    "sklearn": "Of scikit-learn, pipelines, preprocessing and searches can be saved: take hyperplan's own model.",
    "": "Remove or replace it, or make its class known by hyperplan.persistence.register_class.",
}


class Graph(NamedTuple):
    """A document ready for JSON, and the numbers it refers to."""

    document: dict
    pools: list


def encode(model) -> Graph:
    """The document of an object."""
    writer = _Writer(type(model).__name__)
    try:
        root = writer.value(model)
    except RecursionError:
        raise ModelFileError(
            f"Cannot save {type(model).__name__}: its attributes are nested too deeply at {writer.place()[:200]}."
        ) from None
    pools = [pool for _, pool in writer.pools.values()]
    document = {
        "root": root,
        "classes": [[name, fields] for _, name, fields in writer.classes.values()],
        "pools": [[pool.dtype.str, pool.length] for pool in pools],
        "objects": writer.objects,
    }
    return Graph(document, pools)


class _Writer:
    """Walks through an object; `path` says where it is, for errors."""

    def __init__(self, name):
        self.objects, self.classes, self.pools, self.path = [], {}, {}, [name]
        self._positions, self._alive = {}, []

    def place(self):
        return "".join(self.path)

    def value(self, thing):
        """The thing itself if JSON has it, else a reference."""
        kind = type(thing)
        if thing is None or kind in (bool, str):
            return thing
        if kind is int and abs(thing) < LARGEST_INTEGER:
            return thing
        if kind is float and math.isfinite(thing):
            return thing
        identity = repr(thing) if kind is float else id(thing)  # all NaN are one
        position = self._positions.get(identity)
        if position is None:
            position = self._positions[identity] = len(self.objects)
            self._alive.append(thing)  # no other object gets this id meanwhile
            self.objects.append(None)
            self.objects[position] = self._write(thing, kind)
        return [position]

    def at(self, label, thing):
        """A part, with its place remembered."""
        self.path.append(label)
        written = self.value(thing)
        self.path.pop()
        return written

    def each(self, things):
        return [self.at(f"[{i}]", thing) for i, thing in enumerate(things)]

    def _write(self, thing, kind):
        if kind in WRITERS:
            return WRITERS[kind](self, thing)
        for general, write in GENERAL_WRITERS:
            if isinstance(thing, general):
                return write(self, thing)
        return self._write_object(thing, kind)

    def _write_object(self, thing, kind):
        if kind.__module__.startswith("pandas.") and kind.__name__ == "NAType":  # in columns of objects
            return ["constant", "pandas.NA"]
        if (label := label_parts(thing)) is not None:
            return ["label", [label[0], self.each(label[1])]]
        number = self.class_number(kind)
        if number is None:
            scorer = scorer_name(thing) if kind.__module__.startswith("sklearn.metrics") else None
            return ["scorer", scorer] if scorer is not None else self.refuse(thing)
        if allowed.kind_of(kind) == "enum":
            return ["enum", [number, thing.name]]
        if allowed.kind_of(kind) == "record":
            return ["record", [number, [self.at(f".{name}", value) for name, value in zip(thing._fields, thing)]]]
        state = {name: value for name, value in state_of(thing).items() if name != "_sklearn_version"}
        for name in state:
            if not isinstance(name, str) or shadows(kind, name):
                self.refuse(thing, f"its attribute {name!r} hides a method of the class")
        return ["object", [number, {name: self.at(f".{name}", value) for name, value in state.items()}]]

    def class_number(self, cls):
        """Position of a class in the table; None if its objects may not be written."""
        if cls not in self.classes:
            name = allowed.class_name(cls)
            if name is None:
                return None
            names = list(getattr(cls, "_fields", ()))
            if issubclass(cls, BaseEstimator):
                names = sorted(inspect.signature(cls).parameters)
            self.classes[cls] = (len(self.classes), name, names)
        return self.classes[cls][0]

    def refuse(self, thing, why=""):
        kind = type(thing)
        full = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        is_function = callable(thing) and not inspect.isclass(thing) and not hasattr(thing, "fit")
        key = "function" if is_function else kind.__module__.partition(".")[0]
        raise ModelFileError(
            f"Cannot save the model: {self.place()} is of type {full}{': ' + why if why else ''}.  "
            f"{ADVICE.get(key, ADVICE[''])}"
        )


@functools.lru_cache(maxsize=10_000)
def shadows(cls, name) -> bool:
    """Whether an attribute of this name would take the place of a method."""
    if f"{cls.__module__}.{cls.__qualname__}" == FROZEN:  # all names but one are those of the model inside
        return name != "estimator"
    return name.startswith("__") or callable(inspect.getattr_static(cls, name, None))


# --- values


def _float(writer, number):
    return ["float", repr(number)]


def _complex(writer, number):
    return ["complex", [repr(number.real), repr(number.imag)]]


def _bytes(writer, data):
    return ["bytes", base64.b64encode(data).decode("ascii")]


def _slice(writer, part):
    return ["slice", [writer.value(item) for item in (part.start, part.stop, part.step)]]


def _range(writer, part):
    return ["range", [part.start, part.stop, part.step]]


def _type(writer, cls):
    name = allowed.type_name(cls)
    if name is not None:
        return ["type", name]
    number = writer.class_number(cls)
    return writer.refuse(cls) if number is None else ["class", number]


def _dtype(writer, dtype):
    if not is_plain(dtype) and dtype.str != "|O":
        writer.refuse(dtype)
    return ["dtype", dtype.str]


def _function(writer, function):
    name = allowed.function_name(function)
    return writer.refuse(function) if name is None else ["function", name]


# --- containers


def _sequence(name):
    return lambda writer, things: [name, writer.each(things)]


def _set(name):
    def write(writer, things):  # in an order that does not depend on the hashes of this process
        return [name, [writer.at("{...}", _as_key(writer, thing)) for thing in sorted(things, key=repr)]]

    return write


def _dict(name):
    def write(writer, mapping):
        flat = []
        for key, value in mapping.items():
            flat += [writer.at(".keys()", _as_key(writer, key)), writer.at(f"[{key!r:.40}]", value)]
        return [name, flat]

    return write


def _as_key(writer, key):
    """The key itself; an error if it may not be one."""
    if key_size(key) > MAX_KEY:
        writer.refuse(key, "it cannot be a key of a dictionary or an element of a set")
    return key


def key_size(key) -> int:
    """Number of values in a key; more than allowed if its hash depends on attributes, which come late at loading."""
    pending, n = [key], 0
    while pending and n <= MAX_KEY:
        part = pending.pop()
        n += 1
        if isinstance(part, tuple | frozenset):
            pending.extend(part)
        elif not isinstance(part, KEYS):
            return MAX_KEY + 1
    return n + len(pending)


# --- arrays


def _array(writer, array):
    array = _with_room(array)
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    if array.dtype == object:
        return ["objects", [list(array.shape), order, writer.each(array.ravel(order))]]
    if not is_plain(array.dtype):
        writer.refuse(array, f"arrays of {array.dtype} cannot be written")
    return ["array", [_pooled(writer, array), list(array.shape), order]]


def _scalar(writer, number):
    array = _with_room(np.asarray(number))
    if not is_plain(array.dtype):
        writer.refuse(number)
    return ["scalar", _pooled(writer, array)]


def _with_room(array):
    """Text of no length, which .npy does not have, as text of length one."""
    return array.astype(array.dtype.kind + "1") if array.dtype.itemsize == 0 and array.dtype.kind in "SU" else array


def _pooled(writer, array):
    """Number of the pool that the array was added to."""
    if array.dtype not in writer.pools:
        writer.pools[array.dtype] = (len(writer.pools), Pool(array.dtype, []))
    number, pool = writer.pools[array.dtype]
    pool.arrays.append(array)
    return number


def _masked(writer, array):
    mask = None if array.mask is np.ma.nomask else np.array(array.mask)
    parts = (np.asarray(array.data), mask, array.fill_value)
    return ["masked", [writer.at(name, part) for name, part in zip((".data", ".mask", ".fill_value"), parts)]]


def _sparse(writer, matrix):
    name = type(matrix).__name__
    if matrix.format not in SPARSE_PARTS or getattr(sp, name, None) is not type(matrix):
        writer.refuse(matrix, "of sparse matrices, csr, csc, coo, bsr and dia can be saved")
    parts = [writer.at(f".{part}", getattr(matrix, part)) for part in SPARSE_PARTS[matrix.format]]
    return ["sparse", [name, list(matrix.shape), parts]]


def _spline(writer, spline):
    return ["spline", [writer.at(f".{name}", getattr(spline, name)) for name in SPLINE_PARTS]]


def _random(writer, generator):
    if isinstance(generator, np.random.RandomState):
        state = generator.get_state(legacy=False)
    else:
        state = generator.state if isinstance(generator, np.random.BitGenerator) else generator.bit_generator.state
    kind = type(generator).__name__ if not isinstance(generator, np.random.BitGenerator) else "BitGenerator"
    return ["random", [kind, writer.at(".state", _frozen(state))]]


def _frozen(state):
    """Nested dictionaries as nested tuples of pairs."""
    if not isinstance(state, dict):
        return state.item() if isinstance(state, np.generic) else state
    return tuple((key, _frozen(value)) for key, value in state.items())


WRITERS = {
    list: _sequence("list"),
    tuple: _sequence("tuple"),
    set: _set("set"),
    frozenset: _set("frozenset"),
    dict: _dict("dict"),
    collections.OrderedDict: _dict("ordered"),
    Bunch: _dict("bunch"),
    float: _float,
    complex: _complex,
    bytes: _bytes,
    slice: _slice,
    range: _range,
    np.ndarray: _array,
    np.memmap: lambda writer, array: _array(writer, np.asarray(array)),
    np.ma.MaskedArray: _masked,
    type(Ellipsis): lambda writer, _: ["constant", "Ellipsis"],
}
"""By exact type."""

GENERAL_WRITERS = (
    (np.generic, _scalar),
    (np.dtype, _dtype),
    (type, _type),
    ((types.FunctionType, types.BuiltinFunctionType, np.ufunc, type(np.mean)), _function),
    ((np.random.RandomState, np.random.Generator, np.random.BitGenerator), _random),
    ((sp.spmatrix, sp.sparray), _sparse),
    (BSpline, _spline),
    (collections.UserList, lambda writer, things: ["list", writer.each(things)]),
)
"""By the first class that fits."""
