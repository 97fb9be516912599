"""The files themselves: whole or not at all, always the same bytes, near the size of their numbers."""

import doctest
import io
import json
import os
import zipfile

import numpy as np
import pytest
from persistence_common import members_of

import hyperplan
from hyperplan.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from hyperplan.linear_model import LogisticRegression, Ridge
from hyperplan.persistence import ModelFileError, describe, load, save

X = np.random.default_rng(0).normal(size=(300, 5))
Y = X[:, 0] + np.sin(X[:, 1])


@pytest.fixture
def model():
    return Ridge().fit(X, Y)


def test_the_package_offers_both_functions():
    assert hyperplan.save is save and hyperplan.load is load


def test_existing_folders_get_a_file_of_their_own(model, tmp_path):
    save(model, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["model.zip"]
    assert load(tmp_path).coef_.tobytes() == load(str(tmp_path / "model.zip")).coef_.tobytes()


def test_text_paths_and_links(model, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real.zip")
    save(model, str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real.zip").is_file()
    assert load(str(tmp_path / "link")).alpha == 1.0


def test_new_files_have_the_usual_permissions(model, tmp_path):
    (tmp_path / "usual").touch()
    save(model, tmp_path / "model.zip")
    assert (tmp_path / "model.zip").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("broken", ["replace", "fsync"])
def test_a_failed_save_leaves_the_old_file_and_nothing_else(broken, model, tmp_path, monkeypatch):
    path = tmp_path / "model.zip"
    save(model, path)
    before = path.read_bytes()

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, broken, fail)
        with pytest.raises(OSError, match="No space left"):
            save(Ridge(alpha=2.0), path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_a_model_that_cannot_be_saved_leaves_the_old_file(model, tmp_path):
    path = tmp_path / "model.zip"
    save(model, path)
    before = path.read_bytes()
    with pytest.raises(ModelFileError, match=r"Ridge\.alpha is of type function"):
        save(Ridge(alpha=lambda: 1), path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_missing_folder_is_pythons_own_error(model, tmp_path):
    with pytest.raises(FileNotFoundError):
        save(model, tmp_path / "no" / "model.zip")


def test_bytes_do_not_depend_on_process_or_time(tmp_path, run_python):
    code = (
        "import sys, hyperplan\nfrom hyperplan.linear_model import LogisticRegression\n"
        "model = LogisticRegression(class_weight={'b': 1, 'a': 2})\n"
        "model.note_ = {'x', 'y', 'z', 'some', 'more', 'words'}\n"
        "hyperplan.save(model, sys.argv[1])"
    )
    for i in range(2):
        run_python(code, tmp_path / f"{i}.zip", PYTHONHASHSEED=str(i))
    assert (tmp_path / "0.zip").read_bytes() == (tmp_path / "1.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "0.zip") as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_members_are_json_and_plain_npy(model, tmp_path):
    save(model, tmp_path)
    members = members_of(tmp_path / "model.zip")
    assert {"model.json", "manifest.json", "arrays/0.npy"} <= members.keys()
    for name, data in members.items():
        if name.endswith(".json"):
            assert json.loads(data)
        else:
            assert np.load(io.BytesIO(data), allow_pickle=False).ndim == 1


def test_files_are_not_larger_than_their_numbers(tmp_path):
    """A forest of 200 trees: few members, no JSON per node, and less than the memory of the arrays of its trees."""
    forest = RandomForestRegressor(200, max_depth=6, random_state=0).fit(X, Y)
    save(forest, tmp_path)
    members = members_of(tmp_path / "model.zip")
    numbers = sum(array.nbytes for nodes in forest._nodes() for array in nodes)
    assert len(members) <= 10 and len(members["model.json"]) < 200 * 1000
    assert (tmp_path / "model.zip").stat().st_size < 0.6 * numbers
    noise = np.random.default_rng(0).normal(size=200_000)
    save({"noise": noise}, tmp_path)
    assert (tmp_path / "model.zip").stat().st_size < noise.nbytes + 2000


def test_description(tmp_path):
    labels = np.array(["no", "yes"])[(Y > 0).astype(int)]
    save(LogisticRegression(C=np.float64(0.5), tol=1e-6).fit(X, labels), tmp_path)
    about = describe(tmp_path)
    assert about["class"] == "hyperplan.linear_model.LogisticRegression"
    assert about["parameters"]["C"] == 0.5 and about["parameters"]["tol"] == 1e-6
    assert about["n_features"] == 5 and about["classes"] == ["no", "yes"] and about["columns"] is None
    assert about["format"] == 1 and about["versions"]["hyperplan"] == hyperplan.__version__
    assert set(about["versions"]) == {"hyperplan", "scikit-learn", "numpy", "scipy", "python"}
    assert about["file_bytes"] == (tmp_path / "model.zip").stat().st_size < about["unpacked_bytes"]
    assert json.loads(json.dumps(about)) == about


def test_description_makes_no_model(tmp_path, monkeypatch):
    from hyperplan.persistence import _decode

    save(HistGradientBoostingClassifier(max_iter=2).fit(X, Y > 0), tmp_path)
    monkeypatch.setattr(_decode, "_Reader", None)
    monkeypatch.setattr(_decode.allowed, "class_named", None)
    assert describe(tmp_path)["class"] == "hyperplan.ensemble.HistGradientBoostingClassifier"


def test_page_about_model_files_tells_the_truth(root):
    result = doctest.testfile(str(root / "docs" / "persistence.md"), module_relative=False)
    assert result.attempted >= 8 and result.failed == 0
