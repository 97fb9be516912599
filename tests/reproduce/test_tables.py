"""Tables come from a folder of the user, in two forms."""

import gzip

import numpy as np
import pytest

from hyperplan.reproduce._store import Store, key_of
from hyperplan.reproduce._tables import SOURCES, coded, data_folder, load, swiss_roll


def test_labels_of_the_challenge_are_not_mistaken_for_unknown_ones():
    assert coded([-1, 1, 1, -1]).tolist() == [0, 1, 1, 0] and coded(["g", "b"]).tolist() == [1, 0]


def test_the_challenge_is_read_from_arrays_and_from_text(tmp_path):
    rng = np.random.default_rng(0)
    parts = {f"X_{part}": rng.integers(0, 999, (n, 4)).astype(np.uint16) for part, n in (("train", 3), ("valid", 2))}
    parts |= {"y_train": np.array([-1, 1, 1]), "y_valid": np.array([1, -1])}
    (tmp_path / "arcene").mkdir()
    assert load("arcene", tmp_path) is None
    for part in ("train", "valid"):
        np.savetxt(tmp_path / "arcene" / f"arcene_{part}.data", parts[f"X_{part}"], fmt="%d")
        np.savetxt(tmp_path / "arcene" / f"arcene_{part}.labels", parts[f"y_{part}"], fmt="%d")
    text = load("arcene", tmp_path)
    np.savez(tmp_path / "arcene" / "arcene.npz", **parts)
    packed = load("arcene", tmp_path)
    for table in (text, packed):
        np.testing.assert_array_equal(table.X, np.concatenate([parts["X_train"], parts["X_valid"]]))
        assert table.y.tolist() == [0, 1, 1, 1, 0] and table.n_train == 3 and table.X.dtype == np.float64


def test_ionosphere_with_and_without_a_header(tmp_path):
    (tmp_path / "ionosphere").mkdir()
    (tmp_path / "ionosphere" / "ionosphere.data").write_text("1,0.5,g\n0,-0.25,b\n")
    plain = load("ionosphere", tmp_path)
    with gzip.open(tmp_path / "ionosphere" / "ionosphere.csv.gz", "wt") as file:
        file.write("a01,a02,class\n1,0.5,g\n0,-0.25,b\n")
    packed = load("ionosphere", tmp_path)
    for table in (plain, packed):
        assert table.X.tolist() == [[1, 0.5], [0, -0.25]] and table.y.tolist() == [1, 0]


def test_a_folder_without_tables_has_none_and_no_folder_neither(tmp_path, monkeypatch):
    assert all(load(name, tmp_path) is None for name in SOURCES)
    monkeypatch.delenv("HYPERPLAN_DATA", raising=False)
    assert data_folder() is None and load("arcene", None) is None
    monkeypatch.setenv("HYPERPLAN_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    with pytest.raises(FileNotFoundError, match="does not exist"):
        data_folder(tmp_path / "nowhere")


def test_the_sheet_is_rolled():
    table = swiss_roll(200)
    np.testing.assert_allclose(np.hypot(table.X[:, 0], table.X[:, 2]), table.y[:, 0])
    np.testing.assert_array_equal(table.X[:, 1], table.y[:, 1])


def test_results_are_kept_unless_settings_change(tmp_path):
    store, calls = Store(tmp_path), []

    def count():
        calls.append(1)
        return {"value": len(calls)}

    assert store.once("a", key_of(1), count) == {"value": 1}
    assert Store(tmp_path).once("a", key_of(1), count) == {"value": 1}
    assert Store(tmp_path).once("a", key_of(2), count) == {"value": 2}
    again = Store(tmp_path)
    again.keep_only(["b"])
    assert Store(tmp_path).entries == {} and [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_a_file_of_other_things_is_not_overwritten(tmp_path):
    (tmp_path / "results.json").write_text("my notes")
    with pytest.raises(ValueError, match="not a file of results"):
        Store(tmp_path)
    assert (tmp_path / "results.json").read_text() == "my notes"
