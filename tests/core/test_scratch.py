"""Temporary folders: removed in the end, swept when their owner died, and nobody else's ever touched."""

import json
import os
import signal
import subprocess
import sys

import pytest

from hyperplan._core import scratch as module
from hyperplan._core.scratch import LOCK, PREFIX, ScratchFolder, sweep

pytest.importorskip("fcntl")
OWNER = """
import sys, time
from hyperplan._core.scratch import ScratchFolder
with ScratchFolder(sys.argv[1], ["data", "results"]) as scratch:
    scratch.place("data").write_text("pickled rows")
    scratch.place("results").mkdir()
    (scratch.place("results") / "page").write_text("...")
    print(scratch.path, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def owner(tmp_path):
    """A process that holds a scratch folder in `tmp_path`; ``(process, its folder)``."""
    command = [sys.executable, "-c", OWNER, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    yield process, tmp_path / os.path.basename(process.stdout.readline().strip())
    process.kill()
    process.wait()
    process.stdout.close()


def killed(owner):
    owner[0].send_signal(signal.SIGKILL)
    owner[0].wait()
    return owner[1]


def test_it_is_private_and_gone_in_the_end(tmp_path):
    with ScratchFolder(tmp_path, ["data", "more"]) as scratch:
        scratch.place("data").write_text("x")
        scratch.place("more").mkdir()
        (scratch.place("more") / "y").write_text("y")
        assert os.stat(scratch.path).st_mode & 0o777 == 0o700
        with pytest.raises(ValueError, match="'other' is not among"):
            scratch.place("other")
    assert not os.listdir(tmp_path)


def test_the_living_are_left_alone_and_the_dead_are_swept(owner, tmp_path):
    folder = owner[1]
    sweep(tmp_path)
    assert (folder / "data").read_text() == "pickled rows"
    killed(owner)
    assert (folder / "data").exists()
    with ScratchFolder(tmp_path, []) as own:
        assert os.listdir(tmp_path) == [own.path.name]


def test_what_somebody_put_there_stays(owner, tmp_path):
    folder = killed(owner)
    (folder / "note.txt").write_text("mine")
    sweep(tmp_path)
    assert (folder / "note.txt").read_text() == "mine" and not (folder / "data").exists()


def test_links_in_it_are_removed_and_not_followed(owner, tmp_path):
    folder = killed(owner)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "page").write_text("years")
    (folder / "data").unlink()
    (folder / "data").symlink_to(tmp_path / "thesis" / "page")
    (folder / "results" / "page").unlink()
    (folder / "results").rmdir()
    (folder / "results").symlink_to(tmp_path / "thesis")
    sweep(tmp_path)
    assert not folder.exists() and (tmp_path / "thesis" / "page").read_text() == "years"


CHANGES = {
    "another name": lambda folder: folder.rename(folder.with_name("hyperplan-mydata")),
    "a name that looks like ours": lambda folder: folder.rename(folder.with_name(f"{PREFIX}mine")),
    "open to others": lambda folder: folder.chmod(0o755),
    "no lock": lambda folder: (folder / LOCK).unlink(),
    "an empty lock": lambda folder: (folder / LOCK).write_text(""),
    "another magic": lambda folder: (folder / LOCK).write_text('{"magic": "mine"}'),
    "no JSON": lambda folder: (folder / LOCK).write_text("{"),
    "a list": lambda folder: (folder / LOCK).write_text("[]"),
    "the lock of another folder": lambda folder: _told(folder, inode=1),
    "names outside": lambda folder: _told(folder, names=["../precious"]),
    "the parent": lambda folder: _told(folder, names=[".."]),
    "names that are none": lambda folder: _told(folder, names=[1]),
    "a pipe for a lock": lambda folder: ((folder / LOCK).unlink(), os.mkfifo(folder / LOCK)),
    "a link for a lock": lambda folder: _linked(folder / LOCK),
}


def _told(folder, **changes):
    told = json.loads((folder / LOCK).read_text())
    (folder / LOCK).write_text(json.dumps({**told, **changes}))


def _linked(path):
    path.rename(path.parent.parent / "lock")
    path.symlink_to(path.parent.parent / "lock")


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_not_surely_ours_stays(change, owner, tmp_path):
    folder = killed(owner)
    (tmp_path / "precious").write_text("years")
    CHANGES[change](folder)
    sweep(tmp_path)
    left = [path.read_text() for path in tmp_path.glob("*/data")]
    assert left == ["pickled rows"] and (tmp_path / "precious").read_text() == "years"


def test_a_link_of_such_a_name_is_not_followed(owner, tmp_path):
    folder = killed(owner)
    aside = folder.rename(tmp_path / "aside")
    folder.symlink_to(aside)
    sweep(tmp_path)
    assert (aside / "data").exists() and folder.is_symlink()


def test_a_folder_of_another_user_stays(owner, tmp_path, monkeypatch):
    folder = killed(owner)
    monkeypatch.setattr(module.os, "geteuid", lambda: os.getuid() + 1)
    sweep(tmp_path)
    assert (folder / "data").exists()


def test_without_locks_nothing_is_swept(owner, tmp_path, monkeypatch):
    folder = killed(owner)
    monkeypatch.setattr(module, "fcntl", None)
    with ScratchFolder(tmp_path, ["data"]) as own:
        own.place("data").write_text("x")
    assert (folder / "data").exists() and not own.path.exists()


def test_a_file_system_without_locks_marks_nothing(tmp_path, monkeypatch):
    """What was never locked does not look dead to the next run."""

    def refuse(*_):
        raise OSError("no locks available")

    monkeypatch.setattr(module.fcntl, "flock", refuse)
    with ScratchFolder(tmp_path, ["data"]) as own:
        own.place("data").write_text("x")
        monkeypatch.undo()
        sweep(tmp_path)
        assert own.place("data").exists()


def test_a_parent_that_is_not_there_is_no_matter(tmp_path):
    sweep(tmp_path / "absent")
    assert not os.listdir(tmp_path)
