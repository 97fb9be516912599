"""What the tests of model files share: deep comparison, and files that were changed after they were written."""

import hashlib
import io
import json
import math
import types
import zipfile

import numpy as np
import scipy.sparse as sp

import hyperplan
from hyperplan.persistence._arrays import npy_header


def round_trip(thing, folder):
    """The thing after a way through a file."""
    path = folder / "thing.zip"
    hyperplan.save(thing, path)
    return hyperplan.load(path)


def difference(one, other, place="model", pairs=None):
    """Where two object graphs differ, to the bit and in what they share; None if they do not."""
    pairs = ({}, {}) if pairs is None else pairs
    if type(one) is not type(other):
        return f"{place}: {type(one)} against {type(other)}"
    if one is None or isinstance(one, bool | int | str | bytes | type | types.FunctionType | np.ufunc):
        return None if one == other else f"{place}: {one!r} against {other!r}"
    if isinstance(one, float | np.generic):
        return None if np.asarray(one).tobytes() == np.asarray(other).tobytes() else f"{place}: {one} against {other}"
    if id(one) in pairs[0] or id(other) in pairs[1]:
        return None if pairs[0].get(id(one)) is other and pairs[1].get(id(other)) is one else f"{place} is shared"
    pairs[0][id(one)], pairs[1][id(other)] = other, one
    return _inner_difference(one, other, place, pairs)


def _inner_difference(one, other, place, pairs):
    if isinstance(one, np.ndarray) and one.dtype != object and not isinstance(one, np.ma.MaskedArray):
        contiguous = one.flags.c_contiguous or one.flags.f_contiguous
        same = (one.dtype, one.shape) == (other.dtype, other.shape) and one.tobytes() == other.tobytes()
        same_order = not contiguous or one.flags.f_contiguous == other.flags.f_contiguous
        return None if same and same_order else f"{place}: array differs"
    for name, a, b in _parts(one, other):
        found = difference(a, b, f"{place}{name}", pairs)
        if found is not None:
            return found
    return None


def _parts(one, other):
    """``(name, part, part)`` of containers, objects and arrays of objects."""
    if isinstance(one, np.ma.MaskedArray):
        return [(".data", one.data, other.data), (".mask", np.asarray(one.mask), np.asarray(other.mask))]
    if isinstance(one, np.ndarray):
        return [("[]", list(one.ravel()), list(other.ravel())), (".shape", one.shape, other.shape)]
    if sp.issparse(one):
        return [(".parts", sorted(_parts_of_sparse(one)), sorted(_parts_of_sparse(other)))]
    if isinstance(one, np.random.RandomState | np.random.Generator):
        return [(".state", str(_state(one)), str(_state(other)))]
    if isinstance(one, list | tuple):
        pairs = [(f"[{i}]", a, b) for i, (a, b) in enumerate(zip(one, other))]
        return [*pairs, (".length", len(one), len(other))]
    if isinstance(one, set | frozenset | range | slice | complex | np.dtype):
        return [("", str(one == other), "True")]
    if isinstance(one, dict):
        keys = [(".keys", [repr(key) for key in one], [repr(key) for key in other])]
        return keys + [(f"[{a!r}]", one[a], other[b]) for a, b in zip(one, other)]
    a, b = one.__getstate__() or {}, other.__getstate__() or {}
    names = [(".attributes", sorted(a), sorted(b))]
    return names + [(f".{name}", a[name], b[name]) for name in a if name in b]


def _parts_of_sparse(matrix):
    coordinates = matrix.tocoo()
    values = [str(np.asarray(part).tolist()) for part in (coordinates.row, coordinates.col, coordinates.data)]
    return [str(matrix.shape), str(matrix.dtype), matrix.format, *values]


def _state(generator):
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return [np.asarray(part).tolist() for part in generator.get_state()]


def members_of(path):
    """``{name: bytes}`` of a model file."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_members(path, members):
    """A zip file with these members as they are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def forge(path, edit, target=None):
    """Change the document of a file by `edit(document)` (and its arrays) and sign the file anew, as a forger would."""
    members = members_of(path)
    document = json.loads(members["model.json"])
    edited = edit(document)
    members["model.json"] = json.dumps(document if edited is None else edited).encode()
    sign(members)
    write_members(target or path, members)
    return target or path


def sign(members):
    """A manifest with the right sizes and digests for these members."""
    manifest = json.loads(members.pop("manifest.json"))
    listed = {name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in members.items()}
    members["manifest.json"] = json.dumps({**manifest, "members": listed}).encode()


def forge_arrays(path, change, target=None):
    """Give arrays of a file other numbers or shapes and sign it anew: ``change(name, array)`` is an array, or None.

    Names are ways from the root: ".tree_.feature", ".estimators_[0].coef_".
    """
    members = members_of(path)
    document = json.loads(members["model.json"])
    names, parts = _ways(document), [[] for _ in document["pools"]]
    pools = [np.load(io.BytesIO(members[f"arrays/{i}.npy"]), allow_pickle=False) for i in range(len(parts))]
    for position, (kind, content) in enumerate(document["objects"]):
        if kind in ("array", "scalar"):
            number, shape, order = content if kind == "array" else (content, [], "C")
            old, pools[number] = np.split(pools[number], [math.prod(shape)])
            new = change(names.get(position, ""), old.reshape(shape, order=order)) if kind == "array" else None
            if new is not None:
                content[1], old = list(new.shape), new.astype(old.dtype).ravel(order=order)
            parts[number].append(old)
    for i, found in enumerate(parts):
        whole = np.concatenate(found)
        document["pools"][i][1] = whole.size
        members[f"arrays/{i}.npy"] = npy_header(whole.dtype, whole.size) + whole.tobytes()
    members["model.json"] = json.dumps(document).encode()
    sign(members)
    write_members(target or path, members)
    return target or path


def _ways(document):
    """Position of each object to the way that leads to it."""
    found, pending = {}, [(document["root"], "")]
    while pending:
        reference, way = pending.pop(0)
        if type(reference) is not list or reference[0] in found:
            continue
        found[reference[0]] = way
        kind, content = document["objects"][reference[0]]
        if kind == "object":
            pending += [(value, f"{way}.{name}") for name, value in content[1].items()]
        elif kind == "record":
            pending += [(value, f"{way}.{name}") for name, value in zip(document["classes"][content[0]][1], content[1])]
        elif kind in ("list", "tuple", "dict", "objects"):
            pending += [(value, f"{way}[{i}]") for i, value in enumerate(content[2] if kind == "objects" else content)]
        elif kind == "sparse":
            pending += [(value, f"{way}<{i}>") for i, value in enumerate(content[2])]
    return found
