"""Damaged and forged files by the hundred: a `ModelFileError`, or a model; never another error, never code.

Damage without a new signature must be found, or be in bytes that carry nothing (padding, times): the model is then the
same.  A forger can sign anew, and may change numbers, but what is loaded consists of the types a model consists of, and
predicting with it ends in an answer or an ordinary error, never in memory that is not the model's.
"""

import contextlib
import inspect
import json
import random
import warnings

import numpy as np
import pytest
from persistence_common import difference, members_of, sign, write_members

import hyperplan
from hyperplan._base import BaseEstimator, NotFittedError
from hyperplan.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from hyperplan.linear_model import LogisticRegression
from hyperplan.persistence import ModelFileError, describe
from hyperplan.persistence._allowed import FUNCTIONS, TYPES
from hyperplan.preprocessing import OneHotEncoder, StandardScaler
from hyperplan.tree import DecisionTreeClassifier, MultiwayTreeClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
ODD = [None, True, 0, -1, 7, 2**31, 2**63, 10**30, -0.5, 1e308, "", "x", "<f8", "|O"]
ODD += [[], {}, [0], [-1], [10**9], [[0]]]
PLAIN = (bool, int, float, str, bytes, complex, type(None), slice, np.ndarray, np.generic)
PLAIN += (list, tuple, dict, set, frozenset)
ORDINARY = (LookupError, ValueError, TypeError, AttributeError, NotFittedError, ArithmeticError)


def pipeline():
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline

    columns = ColumnTransformer([("number", StandardScaler(), [0, 1]), ("word", OneHotEncoder(), [2])])
    return make_pipeline(columns, LogisticRegression()).fit(np.column_stack([X[:, :2], X[:, 2].round()]), Y)


def models():
    yield pipeline()
    yield DecisionTreeClassifier(max_depth=3).fit(X, Y)
    yield RandomForestClassifier(3, max_depth=3, random_state=np.random.RandomState(0)).fit(X, Y)
    yield HistGradientBoostingClassifier(max_iter=3, categorical_features=[2]).fit(np.abs(X.round()), Y)
    yield AdaBoostClassifier(n_estimators=3, random_state=0).fit(X, Y)
    yield MultiwayTreeClassifier().fit(X, Y)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """``(model, bytes of its file)`` for some models."""
    folder = tmp_path_factory.mktemp("fuzz")
    found = []
    for model in models():
        hyperplan.save(model, folder / "model.zip")
        found.append((model, (folder / "model.zip").read_bytes()))
    return found


def loaded(path):
    """The model, or None if the file was refused; any other error fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return [hyperplan.load(path, max_bytes=2**24)]
        except ModelFileError:
            return None


def check_damage(data, model, path):
    path.write_bytes(data)
    again = loaded(path)
    assert again is None or difference(model, again[0]) is None


def test_flipped_bits(files, tmp_path):
    generator = random.Random(1)
    for model, content in files:
        for _ in range(100):
            data = bytearray(content)
            for _ in range(generator.choice((1, 1, 1, 4))):
                data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
            check_damage(bytes(data), model, tmp_path / "model.zip")


def test_every_byte_of_headers_and_directory(files, tmp_path):
    """The last 400 bytes (directory, end record) and the first 64."""
    model, content = files[1]
    for place in [*range(64), *range(len(content) - 400, len(content))]:
        value = content[place] ^ (0xFF if place % 2 else 0x01)
        check_damage(content[:place] + bytes([value]) + content[place + 1 :], model, tmp_path / "model.zip")


def test_truncated(files, tmp_path):
    generator = random.Random(2)
    for model, content in files:
        for length in [0, 1, len(content) - 1, *(generator.randrange(len(content)) for _ in range(20))]:
            check_damage(content[:length], model, tmp_path / "model.zip")
            check_damage(content[length:], model, tmp_path / "model.zip")


def test_blocks_moved_and_repeated(files, tmp_path):
    generator = random.Random(3)
    for model, content in files:
        for _ in range(20):
            a, b, c = sorted(generator.randrange(len(content)) for _ in range(3))
            for data in (content[:a] + content[b:c] + content[a:b] + content[c:], content[:b] + content[a:]):
                check_damage(data, model, tmp_path / "model.zip")


def test_swapped_members(files, tmp_path):
    path = tmp_path / "model.zip"
    for model, content in files:
        path.write_bytes(content)
        members = members_of(path)
        names = list(members)
        for i, one in enumerate(names):
            for other in names[:i]:
                swapped = {**members, one: members[other], other: members[one]}
                write_members(path, swapped)
                again = loaded(path)
                assert again is None or difference(model, again[0]) is None


def mutate(value, generator, depth=0):
    """A JSON value changed in one place."""
    if isinstance(value, list | dict) and value and (depth == 0 or generator.random() < 0.85):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = generator.choice(keys)
        copy = value.copy()
        what = generator.random()
        if what < 0.04:
            del copy[key]
        elif what < 0.08 and isinstance(value, dict):
            copy[generator.choice(["predict", "__class__", "x", "n_features_in_", "fit"])] = copy.pop(key)
        elif what < 0.08:
            copy.insert(key, generator.choice(value))
        else:
            copy[key] = mutate(copy[key], generator, depth + 1)
        return copy
    if type(value) is int and generator.random() < 0.5:
        return value + generator.choice((-1, 1, 2, -value - 1))
    return generator.choice(ODD)


def check_types(thing, seen=None):
    """All that was loaded is data or an object of an allowed class."""
    seen = {} if seen is None else seen
    if id(thing) in seen:
        return
    seen[id(thing)] = thing
    module = type(thing).__module__.partition(".")[0]
    if inspect.isclass(thing) or inspect.isroutine(thing) or isinstance(thing, np.ufunc):
        assert thing in FUNCTIONS.values() or thing in TYPES.values() or module == "sklearn"
        return
    assert isinstance(thing, PLAIN) or module in ("hyperplan", "sklearn", "numpy", "scipy"), thing
    if isinstance(thing, dict):
        parts = [*thing.keys(), *thing.values()]
    elif isinstance(thing, list | tuple | set | frozenset):
        parts = list(thing)
    else:
        parts = list(vars(thing).values()) if hasattr(thing, "__dict__") and not isinstance(thing, type) else []
    for part in parts:
        check_types(part, seen)


def check_answers(model):
    """Predicting ends, with an answer or with an ordinary error; a crash would end the tests."""
    if isinstance(model, BaseEstimator) and hasattr(type(model), "predict"):
        with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.suppress(*ORDINARY):
            warnings.simplefilter("ignore")
            model.predict(np.abs(X.round()))


@pytest.mark.parametrize("which", range(6))
def test_edited_documents_signed_anew(which, files, tmp_path):
    generator, path = random.Random(which), tmp_path / "model.zip"
    path.write_bytes(files[which][1])
    members = members_of(path)
    document = json.loads(members["model.json"])
    n_loaded = 0
    for _ in range(150):
        edited = mutate(document, generator)
        for _ in range(generator.choice((0, 0, 1, 3))):
            edited = mutate(edited, generator)
        forged = {**members, "model.json": json.dumps(edited).encode()}
        sign(forged)
        write_members(path, forged)
        again = loaded(path)
        if again is not None:
            n_loaded += 1
            check_types(again[0])
            check_answers(again[0])
    assert 0 < n_loaded < 150  # some edits only change numbers, and most are refused


@pytest.mark.parametrize("which", range(6))
def test_edited_numbers_signed_anew(which, files, tmp_path):
    """Numbers in trees, bins and coefficients replaced at random: kernels stay inside their arrays."""
    generator, path = np.random.default_rng(which), tmp_path / "model.zip"
    path.write_bytes(files[which][1])
    members = members_of(path)
    arrays = [name for name, data in members.items() if name.startswith("arrays/") and len(data) > 128]
    values = np.array([0, 1, 2, 3, 5, 17, 255, 2**31 - 1, -1, -2, -3, -4, -100, 2**62], dtype=np.int64)
    outcomes = []
    for _ in range(80):
        name = generator.choice(arrays)
        (path.parent / "numbers.npy").write_bytes(members[name])
        numbers = np.load(path.parent / "numbers.npy", allow_pickle=False)
        for place in generator.integers(numbers.size, size=generator.integers(1, 4)):
            with np.errstate(all="ignore"):
                numbers[place] = generator.choice(values).astype(numbers.dtype)
        forged = {**members, name: members[name][: -numbers.nbytes] + numbers.tobytes()}
        sign(forged)
        write_members(path, forged)
        again = loaded(path)
        outcomes.append(again is not None)
        if again is not None:
            check_answers(again[0])
    assert any(outcomes)


def test_edited_manifests(files, tmp_path):
    generator, path = random.Random(4), tmp_path / "model.zip"
    model, content = files[1]
    path.write_bytes(content)
    members = members_of(path)
    manifest = json.loads(members["manifest.json"])
    for _ in range(150):
        write_members(path, {**members, "manifest.json": json.dumps(mutate(manifest, generator)).encode()})
        again = loaded(path)
        assert again is None or difference(model, again[0]) is None


def test_describe_refuses_the_same_way(files, tmp_path):
    generator, path = random.Random(5), tmp_path / "model.zip"
    for _, content in files:
        path.write_bytes(content)
        members = members_of(path)
        document = json.loads(members["model.json"])
        for _ in range(60):
            forged = {**members, "model.json": json.dumps(mutate(document, generator)).encode()}
            sign(forged)
            write_members(path, forged)
            with contextlib.suppress(ModelFileError):
                assert json.dumps(describe(path))
