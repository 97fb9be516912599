"""The folder of results: what is ours to the last file is replaced, everything else stays as it was."""

import contextlib
import errno
import json
import os
import shutil
import socket
from pathlib import Path

import pytest

from hyperplan.compete import CompetitionError, Settings, read_settings, write_settings
from hyperplan.compete import _output as output
from hyperplan.compete._output import check_folder, write_folder
from hyperplan.explore import ExploreSettings

RECEIPT = {"schema": "hyperplan/receipt/1", "created": "", "settings": {}, "trials": [], "data_sha256": "",
           "versions": {}}  # fmt: skip
EXPLORED = {"schema": "hyperplan/explore-receipt/1", "created": "", "settings": {}, "labels_sha256": "",
            "data_sha256": "", "versions": {}}  # fmt: skip


def write(folder, page="page", receipt=RECEIPT, settings=None, tell=None, during=lambda: None):
    """Results of a run that needs no model."""
    settings = settings or Settings(target="y")
    settings = settings.changed(out=os.path.abspath(folder))

    def fill(beside):
        (beside / "report.html").write_text(page)
        (beside / "model").mkdir()
        (beside / "model" / "model.hyperplan").write_text("model")
        write_settings(settings, beside / "settings.toml")
        during()
        return receipt

    return write_folder(folder, fill, settings, tell)


def tree(folder):
    """Everything below a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        is_file = path.is_file() and not path.is_symlink()
        found[path.relative_to(folder).as_posix()] = path.read_bytes() if is_file else None
    return found


@pytest.fixture
def ours(tmp_path):
    return write(tmp_path / "out")


def check_refused(folder, words):
    before = tree(folder.parent)
    with pytest.raises(CompetitionError, match=words):
        check_folder(folder)
    with pytest.raises(CompetitionError, match=words):
        write(folder, "new")
    assert tree(folder.parent) == before


# What is ours


def test_the_receipt_lists_every_file(ours):
    files = json.loads((ours / "receipt.json").read_text())["files"]
    assert set(files) == {"report.html", "model/model.hyperplan", "settings.toml"}
    assert all(len(digest) == 64 for digest in files.values())


@pytest.mark.parametrize("receipt", [RECEIPT, EXPLORED], ids=["competition", "exploration"])
def test_earlier_results_are_replaced(receipt, tmp_path):
    folder = write(tmp_path / "out", "old", receipt)
    (folder / ".DS_Store").touch()
    (folder / "model" / "Thumbs.db").touch()
    assert write(folder, "new") == folder
    assert (folder / "report.html").read_text() == "new" and os.listdir(tmp_path) == ["out"]
    assert not (folder / ".DS_Store").exists()


def test_a_part_that_was_taken_away_is_no_matter(ours, tmp_path):
    (ours / "report.html").rename(tmp_path / "mine.html")
    shutil.rmtree(ours / "model")
    assert write(ours, "new") and (tmp_path / "mine.html").read_text() == "page"


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "desktop.ini").touch()
    assert (write(tmp_path / "out") / "report.html").exists()


def test_permissions_are_the_usual_ones(ours):
    assert ours.stat().st_mode & 0o777 == 0o777 & ~_mask()
    assert (ours / "receipt.json").stat().st_mode & 0o777 == 0o666 & ~_mask()


def _mask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


# What is not


def _socket(path):
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as server, contextlib.chdir(path.parent):
        server.bind(path.name)


ADDED = {
    "a note": ("note.txt", lambda path: path.write_text("mine")),
    "a note beside the model": ("model/note.txt", lambda path: path.write_text("mine")),
    "hidden": (".git", lambda path: path.mkdir()),
    "an empty folder": ("empty", lambda path: path.mkdir()),
    "a folder": ("thesis", lambda path: (path.mkdir(), (path / "a.tex").write_text("years"))),
    "a link": ("data", lambda path: path.symlink_to("/etc/hostname")),
    "a link to a folder": ("model/more", lambda path: path.symlink_to("..")),
    "a link that leads nowhere": ("nowhere", lambda path: path.symlink_to("absent")),
    "a pipe": ("pipe", os.mkfifo),
    "a socket": ("socket", _socket),
    "a folder named like litter": (".DS_Store", lambda path: path.mkdir()),
}


@pytest.mark.parametrize("added", ADDED)
def test_what_somebody_added_is_named_and_stays(added, ours):
    name, make = ADDED[added]
    make(ours / name)
    check_refused(ours, f"out holds {name}/? besides")


CHANGED = {
    "edited": lambda path: path.write_text("page, with my remarks"),
    "emptied": lambda path: path.write_text(""),
}


@pytest.mark.parametrize("change", CHANGED)
@pytest.mark.parametrize("name", ["report.html", "model/model.hyperplan"])
def test_what_was_changed_is_named_and_stays(name, change, ours):
    CHANGED[change](ours / name)
    check_refused(ours, f"{name} in .*out was changed after it was written")


@pytest.mark.parametrize("name", ["report.html", "settings.toml", "receipt.json", "model"])
def test_a_link_in_the_place_of_a_file_is_not_ours(name, ours, tmp_path):
    """Even if what it leads to has the right content."""
    (ours / name).rename(tmp_path / "moved")
    (ours / name).symlink_to(tmp_path / "moved")
    check_refused(ours, "exists and is no report" if name == "receipt.json" else f"holds {name} besides")


def _with(**changes):
    return json.dumps({**RECEIPT, "files": {}, **changes})


RECEIPTS = {
    "something else": '{"amount": 3}',
    "empty": "",
    "no JSON": "{",
    "a list": "[]",
    "a number": "3",
    "too deep": "[" * 100_000,
    "no text": b"\xff\xfe\x00",
    "another schema": _with(schema="hyperplan/receipt/99"),
    "a schema that is no text": _with(schema=["hyperplan/receipt/1"]),
    "nothing but the schema": json.dumps({"schema": "hyperplan/receipt/1", "files": {}}),
    "files that are no table": _with(files=["report.html"]),
    "files that are null": _with(files=None),
}


@pytest.mark.parametrize("receipt", RECEIPTS)
def test_a_folder_with_any_other_receipt_is_somebody_elses(receipt, tmp_path):
    (tmp_path / "out" / "model").mkdir(parents=True)
    (tmp_path / "out" / "model" / "weights.pt").write_text("weeks of training")
    content = RECEIPTS[receipt]
    (tmp_path / "out" / "receipt.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    check_refused(tmp_path / "out", "exists and is no report of an earlier run")


def test_digests_of_other_types_match_nothing(ours):
    receipt = json.loads((ours / "receipt.json").read_text())
    receipt["files"]["report.html"] = {"sha256": receipt["files"]["report.html"]}
    (ours / "receipt.json").write_text(json.dumps(receipt))
    check_refused(ours, "report.html in .*out was changed")


def test_results_of_versions_without_a_list_are_refused_with_the_reason(ours):
    (ours / "receipt.json").write_text(json.dumps(RECEIPT))
    check_refused(ours, "written by an older version, which did not note its files")


def test_a_receipt_that_is_a_pipe_keeps_nobody_waiting(tmp_path):
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out" / "receipt.json")
    with pytest.raises(CompetitionError, match="exists and is no report"):
        check_folder(tmp_path / "out")


@pytest.mark.parametrize("name", ["report.html", "model/model.hyperplan"])
def test_what_is_read_is_not_replaced(name, ours, tmp_path):
    """It may be one of our own files: last year's predictions as a table."""
    with pytest.raises(CompetitionError, match=f"{name} is read and lies in"):
        check_folder(ours, [ours / name])
    (tmp_path / "link").symlink_to(ours / name)
    with pytest.raises(CompetitionError, match="link is read and lies in"):
        check_folder(ours, [tmp_path / "link"])
    assert check_folder(ours, [tmp_path / "table.csv"]) == ours


# What comes in while the results are made


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("name", ["note.txt", "report.html", "settings.toml"])
def test_what_comes_in_meanwhile_stays(name, late, ours, tmp_path, monkeypatch):
    """While the results are written, or between the last look and the moment when the folder is moved."""

    def come(folder=ours):
        (folder / name).write_text("just saved")

    if late:
        rename = Path.rename
        monkeypatch.setattr(
            Path, "rename", lambda self, target: (come(self) if self == ours else None, rename(self, target))[1]
        )
    with pytest.raises(CompetitionError, match=f"holds {name} besides"):
        write(ours, "new", during=lambda: None if late else come())
    assert (ours / name).read_text() == "just saved" and os.listdir(tmp_path) == ["out"]


def test_what_comes_in_at_the_very_end_is_left_in_sight_and_said(ours, tmp_path, monkeypatch):
    looked, told = output._check_same, []

    def come(aside, *rest):
        looked(aside, *rest)
        (aside / "note.txt").write_text("just saved")

    monkeypatch.setattr(output, "_check_same", come)
    write(ours, "new", tell=told.append)
    (left,) = tmp_path.glob("out-old-*")
    assert (left / "note.txt").read_text() == "just saved" and (ours / "report.html").read_text() == "new"
    assert len(told) == 1 and str(left) in told[0]


# Failures


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt(), ValueError("no")])
def test_a_failure_leaves_the_old_results_or_nothing(error, ours, tmp_path):
    before = tree(tmp_path)

    def fail():
        raise error

    for name in ("out", "new"):
        with pytest.raises(CompetitionError if isinstance(error, OSError) else type(error)):
            write(tmp_path / name, "new", during=fail)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("is_inside", [False, True])
@pytest.mark.parametrize("step", range(9))
def test_a_failing_move_brings_the_old_results_back(step, is_inside, ours, tmp_path, monkeypatch):
    """Whichever of the moves it is."""
    if is_inside:
        monkeypatch.chdir(ours)
    before, rename, count = tree(tmp_path), Path.rename, 0

    def fail(self, target):
        nonlocal count
        count += 1
        if count == step + 1:
            raise OSError(errno.EIO, "no")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with contextlib.suppress(CompetitionError):
        write(ours, "new")
    if count > step:
        assert tree(tmp_path) == before
    else:
        assert (ours / "report.html").read_text() == "new"


# Folders that stay where they are


@pytest.mark.parametrize("why", ["here", "mounted", "in a folder of others"])
def test_a_folder_that_cannot_be_moved_is_filled_where_it_is(why, ours, tmp_path, monkeypatch):
    if why == "here":
        monkeypatch.chdir(ours)
    elif why == "mounted":
        monkeypatch.setattr(Path, "is_mount", lambda self: self == ours)
    else:
        access = os.access
        monkeypatch.setattr(output.os, "access", lambda path, mode: path != tmp_path and access(path, mode))
    inode = ours.stat().st_ino
    write(ours, "new")
    assert ours.stat().st_ino == inode and (ours / "report.html").read_text() == "new"
    assert set(os.listdir(ours)) == {"receipt.json", "report.html", "settings.toml", "model"}
    assert os.listdir(tmp_path) == ["out"] and check_folder(ours) == ours
    (ours / "model" / "note.txt").write_text("mine")
    check_refused(ours, "holds model/note.txt besides")


def test_a_folder_around_the_current_one_is_refused(ours, monkeypatch):
    monkeypatch.chdir(ours / "model")
    with pytest.raises(CompetitionError, match="you are in a folder inside it"):
        check_folder(ours)


def test_a_link_to_a_folder_stays_a_link(ours, tmp_path):
    (tmp_path / "link").symlink_to("out")
    write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (ours / "report.html").read_text() == "new"
    (tmp_path / "nowhere").symlink_to("absent")
    write(tmp_path / "nowhere", "new")
    assert (tmp_path / "nowhere").is_symlink() and (tmp_path / "absent" / "report.html").exists()


# Words that people wrote


def edit(folder, old, new):
    path = folder / "settings.toml"
    content = path.read_text()
    assert old in content
    path.write_text(content.replace(old, new))
    return path.read_text()


def test_edited_settings_that_are_those_of_the_run_stay_as_they_are(ours):
    words = edit(ours, "time = 60.0", "time = 5.0  # my boss is waiting\n#")
    write(ours, "new", settings=read_settings(ours / "settings.toml"), tell=pytest.fail)
    assert (ours / "settings.toml").read_text() == words and (ours / "report.html").read_text() == "new"
    write(ours, "newer", settings=read_settings(ours / "settings.toml"), tell=pytest.fail)  # and they are ours now
    assert (ours / "report.html").read_text() == "newer"


def test_edited_settings_of_another_run_are_kept_beside(ours):
    told, texts = [], {}
    for k, name in enumerate(["settings.edited.toml", "settings.edited.2.toml", "settings.edited.3.toml"]):
        texts[name] = edit(ours, "time = 60.0", f"time = {k}.5")
        write(ours, "new", tell=told.append)
        assert "time = 60.0" in (ours / "settings.toml").read_text()
        assert {name: (ours / name).read_text() for name in texts} == texts
        assert len(told) == k + 1 and name in told[-1]
    edit(ours, "time = 60.0", "time = 1.5")
    write(ours, "new", tell=told.append)
    assert len(told) == 3 and {name: (ours / name).read_text() for name in texts} == texts  # the same words, once
    (ours / "settings.edited.toml").write_text("# edited once more")
    write(ours, "new")
    assert (ours / "settings.edited.toml").read_text() == "# edited once more"


@pytest.mark.parametrize("words", ["not = [toml", "", "tagret = 'y'"])
def test_settings_that_nobody_can_read_are_kept_too(words, ours):
    (ours / "settings.toml").write_text(words)
    with pytest.warns(UserWarning, match=r"kept as settings\.edited\.toml"):
        write(ours, "new")
    assert (ours / "settings.edited.toml").read_text() == words
    assert check_folder(ours) == ours


def test_settings_of_an_exploration_are_compared_as_such(tmp_path):
    folder = write(tmp_path / "out", receipt=EXPLORED, settings=ExploreSettings())
    edit(folder, "seed = 0", "seed = 7")
    write(folder, "new", EXPLORED, read_settings(folder / "settings.toml", ExploreSettings), tell=pytest.fail)
    assert "seed = 7" in (folder / "settings.toml").read_text()
