"""Files that are not, or no longer, models are refused with a sentence; nothing in them is ever run."""

import json
import os
import pickle
import zipfile

import numpy as np
import pytest
from persistence_common import forge, forge_arrays, members_of, sign, write_members

import hyperplan
from hyperplan.ensemble import (
    AdaBoostRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from hyperplan.linear_model import Ridge
from hyperplan.persistence import ModelFileError, ModelVersionWarning, describe
from hyperplan.preprocessing import MinMaxScaler, StandardScaler
from hyperplan.tree import DecisionTreeRegressor, MultiwayTreeClassifier

X = np.random.default_rng(0).normal(size=(80, 3))
Y = X[:, 0] + X[:, 1] ** 2


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "model.zip"
    hyperplan.save(Ridge().fit(X, Y), file)
    return file


def check_refused(path, match, **options):
    with pytest.raises(ModelFileError, match=match):
        hyperplan.load(path, **options)


# --- not a model file


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x05\x06" + bytes(18), pickle.dumps(Ridge()), bytes(1000)])
def test_other_files(content, tmp_path):
    (tmp_path / "other").write_bytes(content)
    check_refused(tmp_path / "other", "not a (complete )?model")
    with pytest.raises(ModelFileError):
        describe(tmp_path / "other")


def test_missing_file_is_pythons_own_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        hyperplan.load(tmp_path / "nothing.zip")


def test_a_pickle_inside_is_not_opened(path, tmp_path):
    flag = tmp_path / "was_run"

    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(flag),)

    data = pickle.dumps(Trap())
    for name in ("arrays/0.npy", "model.json"):
        members = {**members_of(path), name: data}
        sign(members)
        write_members(path, members)
        check_refused(path, "file|contents")
    np_file = tmp_path / "trap.npy"
    np.save(np_file, np.array([Trap()], dtype=object), allow_pickle=True)
    members = {**members_of(path), "arrays/0.npy": np_file.read_bytes()}
    sign(members)
    write_members(path, members)
    check_refused(path, "file|contents")
    assert not flag.exists()


# --- the container


@pytest.mark.parametrize(
    "name", ["../evil.py", "/etc/passwd", "arrays/../x.npy", "arrays\\0.npy", "code.py", "arrays/"]
)
def test_strange_member_names(name, path):
    write_members(path, {**members_of(path), name: b""})
    check_refused(path, "member called")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name(path):
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("model.json", b"{}")
    check_refused(path, "two members")


def test_missing_and_additional_members(path):
    members = members_of(path)
    for name in members:
        write_members(path, {key: data for key, data in members.items() if key != name})
        check_refused(path, "no manifest.json|not those that its manifest lists")
    write_members(path, {**members, "arrays/7.npy": b""})
    check_refused(path, "not those that its manifest lists")


def test_changed_numbers_are_found(path):
    members = members_of(path)
    data = bytearray(members["arrays/0.npy"])
    data[-1] ^= 1
    write_members(path, {**members, "arrays/0.npy": bytes(data)})
    check_refused(path, r"changed after it was written: the checksum of arrays/0.npy")


@pytest.mark.parametrize(
    "change, match",
    [
        ({"format": "other"}, "does not say so"),
        ({"version": 2}, "reads up to version 1: install a newer"),
        ({"version": "1"}, "no format version"),
        ({"version": 0}, "no format version"),
        ({"versions": None}, "which versions"),
        ({"members": []}, "does not list"),
        ({"members": {"model.json": {"size": -1, "sha256": ""}}}, "does not list"),
        ({"versions": {"hyperplan": "99.0.0"}}, "written by hyperplan 99.0.0"),
    ],
)
def test_manifests(change, match, path):
    members = members_of(path)
    manifest = {**json.loads(members["manifest.json"]), **change}
    write_members(path, {**members, "manifest.json": json.dumps(manifest).encode()})
    check_refused(path, match)


@pytest.mark.parametrize("manifest", [b"", b"[]", b"[" * 100_000, b"{", b'{"version": NaN}', b"\xff\xfe", b"1" * 5000])
def test_manifests_that_are_no_json(manifest, path):
    write_members(path, {**members_of(path), "manifest.json": manifest})
    check_refused(path, "damaged|not a model")


def test_bombs_are_not_unpacked(path):
    """A file of 100 KiB that announces 100 MiB of zeros: refused by its announced size, before any is unpacked."""
    members = {**members_of(path), "arrays/0.npy": bytes(100 * 2**20)}
    sign(members)
    write_members(path, members)
    assert path.stat().st_size < 2**18
    check_refused(path, r"unpacks to 100.0 MiB, more than the 1.0 MiB allowed", max_bytes=2**20)


def test_announced_size_counts_not_the_stated_one(path):
    """The zip directory says 10 bytes where there are more: reading stops there."""
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("model.json")
    place = content.rfind(b"model.json") - 46 + 24  # the size in the central directory
    assert int.from_bytes(content[place : place + 4], "little") == info.file_size
    content[place : place + 4] = (10).to_bytes(4, "little")
    path.write_bytes(content)
    check_refused(path, "does not have the size")


def test_memory_budget(path, monkeypatch):
    monkeypatch.setenv("HYPERPLAN_MEMORY_BUDGET", "100")
    check_refused(path, "more than the 80 B allowed")


def test_another_scikit_learn_is_named_in_a_warning(path):
    hyperplan.save(MinMaxScaler().fit(X), path)
    members = members_of(path)
    manifest = json.loads(members["manifest.json"])
    manifest["versions"]["scikit-learn"] = "1.2.3"
    write_members(path, {**members, "manifest.json": json.dumps(manifest).encode()})
    with pytest.warns(ModelVersionWarning, match=r"scikit-learn 1\.2\.3"):
        assert hyperplan.load(path).n_features_in_ == 3


def test_what_an_earlier_version_wrote_and_no_longer_fits(path):
    forge(path, lambda document: document["classes"][0].__setitem__(0, "hyperplan.linear_model.Gone"))
    members = members_of(path)
    manifest = json.loads(members["manifest.json"])
    manifest["versions"]["hyperplan"] = "0.0.9"
    write_members(path, {**members, "manifest.json": json.dumps(manifest).encode()})
    check_refused(path, r"Gone.*written by hyperplan 0\.0\.9: load it there")


# --- the document


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "builtins.eval",
        "subprocess.Popen",
        "sklearn.tree.DecisionTreeClassifier",
        "sklearn.pipeline.Memory",
        "hyperplan.cli.main",
        "hyperplan.cli.__main__.main",
        "hyperplan.testing.all_estimators",
        "hyperplan._core.jit.pickle",
        "hyperplan.linear_model._ridge.Nothing",
        "hyperplan.linear_model.numpy.ndarray",
        "hyperplan._core.parallel.ThreadPoolExecutor",
        "hyperplan",
        "",
        "tests.nowhere.Thing",
    ],
)
def test_classes_that_may_not_be_loaded(name, path):
    check_refused(forge(path, lambda document: document["classes"][0].__setitem__(0, name)), "may not be loaded")


@pytest.mark.parametrize("name", ["os.system", "numpy.load", "builtins.exec", "sklearn.feature_selection.os"])
def test_functions_that_may_not_be_loaded(name, path):
    check_refused(forge(path, lambda document: document["objects"].append(["function", name])), "may not be loaded")


def test_attributes_cannot_replace_methods(path):
    for name in ("predict", "__class__", "__dict__", "fit", "_more_tags", "get_params"):

        def edit(document, name=name):
            next(content for kind, content in document["objects"] if kind == "object")[1][name] = 1

        if hasattr(Ridge, name) or name.startswith("__"):
            check_refused(forge(path, edit), "has no attribute")


@pytest.mark.parametrize(
    "node, match",
    [
        (["list", [[99999]]], "leads nowhere"),
        (["list", [[-1]]], "leads nowhere"),
        (["list", [[0.5]]], "leads nowhere"),
        (["list", {}], "a list was expected"),
        (["list", [{}]], "leads nowhere"),
        (["tuple", [["own"]]], "contains itself"),
        (["frozenset", [["own"]]], "contains itself"),
        (["spell", 1], "does not know"),
        (["dict", [1]], "key without a value"),
        (["dict", [1, 2, True, 3]], "key twice"),
        (["dict", [[0], 1]], "cannot be a key"),
        (["array", [0, [-1], "C"]], "not the shape"),
        (["array", [0, [2**61, 2**61], "C"]], "no memory could hold"),
        (["array", [0, [10**9], "C"]], "do not add up"),
        (["array", [0, [True], "C"]], "not the shape"),
        (["array", [0, [1] * 40, "C"]], "not the shape"),
        (["array", [0, [0], "Q"]], "another form"),
        (["array", [77, [0], "C"]], "another form"),
        (["array", 5], "do not fit together"),
        (["objects", [[10**12], "C", []]], "lacks some"),
        (["objects", [[-1], "C", []]], "not the shape"),
        (["record", [0, []]], "is no record"),
        (["enum", [0, "x"]], "is no enum"),
        (["object", ["x", {}]], "not in the table"),
        (["object", [0, []]], "another form"),
        (["dtype", "O8"], "type of numbers"),
        (["dtype", "f8,f8"], "type of numbers"),
        (["type", "os.system"], "no type is called"),
        (["float", "1e5"], "another form"),
        (["bytes", "%%%"], "another form"),
        (["sparse", ["csr_matrix", [2, 2], [[0], [0], [0]]]], "damaged|fit together"),
        (["sparse", ["load_npz", [2, 2], [1, 2, 3]]], "no sparse matrix"),
        (["random", ["RandomState", 3]], "no random generator"),
        (["range", [1, 2, 0]], "fit together"),
        (["constant", "__import__"], "no constant"),
        (["scorer", "os"], "no scorer"),
        (["slice", [1]], "slice"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_objects_that_do_not_fit(node, match, path):
    def edit(document):
        own = len(document["objects"])
        document["objects"].append(json.loads(json.dumps(node).replace('"own"', str(own))))

    check_refused(forge(path, edit), match)


@pytest.mark.parametrize("part", ["root", "classes", "pools", "objects"])
@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [[]], [1], [["a"]], [[1, 2, 3]]])
def test_documents_of_another_form(part, value, path):
    try:
        hyperplan.load(forge(path, lambda document: {**document, part: value}))
    except ModelFileError:
        return
    assert part == "root"  # the root may be any value: it is then what is loaded


def test_missing_parameters_take_their_defaults(path):
    def edit(document):
        state = next(content for kind, content in document["objects"] if kind == "object")[1]
        del state["positive"]

    assert hyperplan.load(forge(path, edit)).positive is False


def test_nested_shared_tuples_do_not_explode(path):
    """Sixty levels of pairs that share their halves are 2^60 values for a hash: refused before it is computed."""

    def edit(document):
        objects = document["objects"]
        objects.append(["tuple", [1, 2]])
        for _ in range(60):
            objects.append(["tuple", [[len(objects) - 1], [len(objects) - 1]]])
        objects.append(["dict", [[len(objects) - 1], 1]])
        document["root"] = [len(objects) - 1]

    check_refused(forge(path, edit), "cannot be a key")
    assert describe(path)["class"] is None


@pytest.mark.parametrize("kind", ["dict", "set", "frozenset"])
def test_keys_that_collide_are_refused(kind, path):
    """Multiples of 2^61 - 1 have the hash 0: n of them in a dictionary take n^2 / 2 comparisons, minutes a megabyte."""
    keys = [i * (2**61 - 1) for i in range(1, 20_000)]
    written = [part for key in keys for part in (key, 0)] if kind == "dict" else keys

    def edit(document):
        document["objects"].append([kind, written])

    check_refused(forge(path, edit), "same hash")
    hyperplan.save({-1: 1, -2: 2, **dict.fromkeys(keys[:20])}, path)  # a few may
    assert len(hyperplan.load(path)) == 22


def test_documents_that_would_fill_the_memory(path, monkeypatch):
    """Empty lists take twenty times the memory of their text."""
    forge(path, lambda document: document.update(more=[[] for _ in range(100_000)]))
    size = len(members_of(path)["model.json"])
    monkeypatch.setenv("HYPERPLAN_MEMORY_BUDGET", str(20 * size))
    check_refused(path, "unpacks to")
    hyperplan.load(path, max_bytes=2 * size)  # for those who trust the file


def test_deep_nesting_is_refused(path):
    def edit(document):
        objects = document["objects"]
        first = len(objects)
        objects += [["tuple", [[first + i + 1]]] for i in range(5000)] + [["tuple", []]]

    check_refused(forge(path, edit), "nested too deeply")
    deep = []
    for _ in range(20_000):
        deep = [deep]
    with pytest.raises(ModelFileError, match="nested too deeply"):
        hyperplan.save(deep, path)


# --- numbers that compiled code trusts


def forged_array(model, path, find, change):
    """Save a model, change one of its arrays in the file, and sign it anew."""
    hyperplan.save(model, path)
    again = hyperplan.load(path)
    array = find(again)
    array[...] = change(array)
    hyperplan.save(again, path)
    return path


def forged_forest(name, path, change, monkeypatch):
    """Save a forest that says that an array of its second tree is another."""
    forest = RandomForestRegressor(2, random_state=0).fit(X, Y)
    trees = list(forest._nodes())
    getattr(trees[1], name)[...] = change(getattr(trees[1], name))
    monkeypatch.setattr(RandomForestRegressor, "_nodes", lambda self: iter(trees))
    hyperplan.save(forest, path)
    return path


@pytest.mark.parametrize(
    "change",
    [lambda a: a + 10_000, lambda a: np.where(a >= 0, 0, a), lambda a: np.where(a >= 0, a[0], a), lambda a: -a],
    ids=["outside", "endless", "shared", "negative"],
)
@pytest.mark.parametrize("side", ["children_left", "children_right"])
def test_trees_whose_children_lead_elsewhere(change, side, path, monkeypatch):
    tree = DecisionTreeRegressor(max_depth=3).fit(X, Y)
    check_refused(forged_array(tree, path, lambda model: getattr(model.tree_, side), change), "do not form a tree")
    check_refused(forged_forest(side, path, change, monkeypatch), "do not form a tree")
    boosted = HistGradientBoostingRegressor(max_iter=2).fit(X, Y)
    name = side.removeprefix("children_")
    check_refused(
        forged_array(boosted, path, lambda m: getattr(m._model.trees[1][0], name), change), "do not form a tree"
    )


@pytest.mark.parametrize(
    "model, find",
    [
        (DecisionTreeRegressor(max_depth=3), lambda model: model.tree_.feature),
        (GradientBoostingRegressor(n_estimators=2), lambda model: model.estimators_[1, 0].tree_.feature),
        (HistGradientBoostingRegressor(max_iter=2), lambda model: model._model.trees[1][0].feature),
    ],
    ids=lambda value: type(value).__name__,
)
def test_splits_by_columns_that_there_are_not(model, find, path):
    check_refused(
        forged_array(model.fit(X, Y), path, find, lambda a: np.where(a >= 0, 3, a)), "column that there is not"
    )


def test_splits_of_forests_by_columns_that_there_are_not(path, monkeypatch):
    forged = forged_forest("feature", path, lambda a: np.where(a >= 0, 3, a), monkeypatch)
    check_refused(forged, "column that there is not")


def test_multiway_trees(path):
    model = MultiwayTreeClassifier().fit(X, Y > 1)
    find = lambda loaded: loaded.tree_.first_child  # noqa: E731
    check_refused(forged_array(model, path, find, lambda a: np.where(a >= 0, a + 1, a)), "do not form a tree")
    check_refused(
        forged_array(model, path, lambda loaded: loaded.tree_.feature, lambda a: a * 0 + 9), "column that there"
    )


def test_multiway_tables_serve_one_node_each(path):
    """Many nodes with one long table would take hours to check."""
    codes = np.random.default_rng(0).integers(0, 4, size=(200, 3)).astype(float)
    model = MultiwayTreeClassifier(categorical_features=[0, 1, 2]).fit(codes, codes.sum(axis=1) > 4)
    assert np.sum(model.tree_.table_start >= 0) > 2
    hyperplan.save(model, path)
    assert hyperplan.load(path).predict(codes).tolist() == model.predict(codes).tolist()

    def one_for_all(name, array):
        new = {"table": np.full(1000, -1), "n_values": np.full(3, 1000), "table_start": np.minimum(array, 0)}
        return new.get(name.rpartition(".")[2])

    check_refused(forge_arrays(path, one_for_all), "leads out")


@pytest.mark.parametrize(
    "model", [RandomForestRegressor(2), GradientBoostingRegressor(n_estimators=2), AdaBoostRegressor(n_estimators=2)]
)
def test_trees_have_numbers_of_their_own(model, path):
    """A small file could otherwise hold a thousand trees of one large array, which are packed one after another."""
    hyperplan.save(model.fit(X, Y), path)

    def edit(document):
        objects, classes = document["objects"], document["classes"]
        kept = [i for i, (name, _) in enumerate(classes) if name.endswith(("Nodes", "Tree"))]
        trees = [content for kind, content in objects if kind in ("object", "record") and content[0] in kept]
        trees[1][1] = trees[0][1]

    check_refused(forge(path, edit), "the same numbers")


def test_scalers_need_a_number_per_column(path):
    hyperplan.save(StandardScaler().fit(X), path)

    def edit(document):
        state = next(content for kind, content in document["objects"] if kind == "object")[1]
        state["n_features_in_"] = 4

    check_refused(forge(path, edit), "one number per column")


def test_positions_of_random_generators(path):
    for generator in (np.random.RandomState(0), np.random.Generator(np.random.Philox(0))):
        hyperplan.save(generator, path)

        def edit(document):
            for kind, content in document["objects"]:
                if kind == "tuple" and content[:1] in (["pos"], ["buffer_pos"]):
                    content[1] = 100_000

        check_refused(forge(path, edit), "position")


def test_sparse_matrices_with_indices_outside(path):
    import scipy.sparse as sp

    for change in (lambda m: m.indices.__setitem__(0, 99), lambda m: m.indptr.__setitem__(1, 99)):
        matrix = sp.csr_matrix(np.eye(3))
        change(matrix)
        hyperplan.save(matrix, path)
        check_refused(path, "do not fit together")
