"""One file at a time: what is there stays unless it was given up, and there is never half of the new one."""

import errno
import os
import pickle
import stat

import pytest

from hyperplan._core import safe_files
from hyperplan._core.safe_files import PlaceTakenError, check_place, write_file


def put(text):
    return lambda beside: beside.write_text(text)


def test_a_new_file_is_whole_and_alone(tmp_path):
    path = tmp_path / "a.csv"
    assert write_file(path, put("new")) == path and path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.csv"] and os.stat(path).st_nlink == 1


def test_the_usual_mask_decides_who_may_read(tmp_path):
    before = os.umask(0o077)
    try:
        path = write_file(tmp_path / "a.csv", put("new"))
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


@pytest.mark.parametrize("why", ["exists", "protected", "special"])
def test_what_is_in_the_way_stays(why, tmp_path):
    path = tmp_path / "mine"
    path.mkdir() if why == "special" else path.write_text("mine")
    never = [path] if why == "protected" else []
    with pytest.raises(PlaceTakenError) as caught:
        write_file(path, pytest.fail, force=why != "exists", never=never)  # refused before the work
    assert caught.value.why == why and str(path) in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.why, str(again)) == (why, str(caught.value))
    assert path.is_dir() if why == "special" else path.read_text() == "mine"
    assert os.listdir(tmp_path) == ["mine"]


def test_force_replaces_and_keeps_what_was_private_private(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    path.chmod(0o600)
    write_file(path, put("new"), force=True)
    assert path.read_text() == "new" and stat.S_IMODE(path.stat().st_mode) == 0o600


def test_our_own_files_are_replaced_unasked(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("ours: old")
    write_file(path, put("ours: new"), is_ours=lambda found: found.read_text().startswith("ours"))
    assert path.read_text() == "ours: new"
    path.write_text("theirs")
    with pytest.raises(PlaceTakenError):
        write_file(path, put("ours"), is_ours=lambda found: found.read_text().startswith("ours"))
    assert path.read_text() == "theirs"


@pytest.mark.parametrize("link", ["symbolic", "hard", "chain", "folder", "dots"])
def test_no_link_leads_around_what_is_protected(link, tmp_path):
    (tmp_path / "data").mkdir()
    table = tmp_path / "data" / "table.csv"
    table.write_text("mine")
    other = tmp_path / "other.csv"
    if link == "symbolic":
        other.symlink_to(table)
    elif link == "hard":
        os.link(table, other)
    elif link == "chain":
        (tmp_path / "middle").symlink_to(table)
        other.symlink_to("middle")
    elif link == "folder":
        (tmp_path / "elsewhere").symlink_to(tmp_path / "data")
        other = tmp_path / "elsewhere" / "table.csv"
    else:
        other = tmp_path / "data" / ".." / "data" / "table.csv"
    with pytest.raises(PlaceTakenError) as caught:
        write_file(other, put("new"), force=True, never=[table])
    assert caught.value.why == "protected" and table.read_text() == "mine"


def test_what_is_protected_need_not_be_there(tmp_path):
    with pytest.raises(PlaceTakenError):
        write_file(tmp_path / "b", put("x"), never=[tmp_path / "a", tmp_path / "c" / ".." / "b"])
    assert not os.listdir(tmp_path)


def test_links_stay_links(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(PlaceTakenError):
        write_file(tmp_path / "link", put("new"))
    write_file(tmp_path / "link", put("new"), force=True)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "new"
    (tmp_path / "nowhere").symlink_to("absent")
    write_file(tmp_path / "nowhere", put("new"))
    assert (tmp_path / "nowhere").is_symlink() and (tmp_path / "absent").read_text() == "new"


@pytest.mark.parametrize("special", ["fifo", "device"])
def test_devices_and_pipes_are_not_replaced(special, tmp_path):
    path = tmp_path / "pipe" if special == "fifo" else "/dev/null"
    if special == "fifo":
        os.mkfifo(path)
    with pytest.raises(PlaceTakenError) as caught:
        check_place(path, force=True)
    assert caught.value.why == "special" and not stat.S_ISREG(os.stat(path).st_mode)


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_appears_meanwhile_stays(has_links, tmp_path, monkeypatch):
    """Between the last look and the moment when the name is given."""
    path = tmp_path / "a.csv"
    if not has_links:
        monkeypatch.setattr(safe_files.os, "link", _no_links)
    looked = safe_files.check_place

    def too_late(*arguments, **options):
        found = looked(*arguments, **options)
        if (beside := list(tmp_path.glob(".hyperplan-scratch-*/a.csv"))) and beside[0].exists():
            path.write_text("somebody was faster")
        return found

    monkeypatch.setattr(safe_files, "check_place", too_late)
    with pytest.raises(PlaceTakenError):
        write_file(path, put("new"))
    assert path.read_text() == "somebody was faster" and os.listdir(tmp_path) == ["a.csv"]


def _no_links(*_):
    raise OSError(errno.EPERM, "no links here")


def test_without_hard_links_files_are_moved(tmp_path, monkeypatch):
    monkeypatch.setattr(safe_files.os, "link", _no_links)
    assert write_file(tmp_path / "a", put("new")).read_text() == "new" and os.listdir(tmp_path) == ["a"]

    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(safe_files.os, "replace", full)
    with pytest.raises(OSError, match="full"):
        write_file(tmp_path / "b", put("new"))
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt(), ValueError("no")])
def test_nothing_is_left_of_a_file_that_fails(error, tmp_path):
    (tmp_path / "old").write_text("old")

    def fail(beside):
        beside.write_text("hal")
        raise error

    for name in ("old", "new"):
        with pytest.raises(type(error)):
            write_file(tmp_path / name, fail, force=True)
    assert os.listdir(tmp_path) == ["old"] and (tmp_path / "old").read_text() == "old"


def test_a_long_name_has_room(tmp_path):
    path = tmp_path / ("n" * 250 + ".csv")
    assert write_file(path, put("new")).read_text() == "new"
