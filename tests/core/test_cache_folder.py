"""Left-over kernels go when nobody has used them for a month, and nothing else goes."""

import os
import time

import pytest

from hyperplan._core import cache_folder

DAY = 86400.0
OLD, RECENT, KEPT = "0" * 16, "1" * 16, "2" * 16


def age(path, days):
    os.utime(path, (time.time() - days * DAY,) * 2)


@pytest.fixture
def home(tmp_path):
    """Two digests unused for 40 days, one for 20, and things that are not ours."""
    for name, days in ((OLD, 40), (RECENT, 20), (KEPT, 40), ("thesis", 400)):
        (tmp_path / name / "sub").mkdir(parents=True)
        (tmp_path / name / "sub" / "kernel.nbc").write_bytes(b"x")
        age(tmp_path / name, days)
    (tmp_path / ("3" * 16)).write_text("a file")
    age(tmp_path / ("3" * 16), 400)
    return tmp_path


def names(home):
    return sorted(path.name for path in home.iterdir() if path.name != cache_folder.PRUNE_STAMP)


def test_unused_digests_are_removed_and_nothing_else(home):
    before = names(home)
    assert [folder.name for folder in cache_folder.prune(home, {KEPT})] == [OLD]
    assert names(home) == [name for name in before if name != OLD]


def test_pruning_happens_at_most_once_a_day(home):
    cache_folder.prune(home, {OLD, KEPT})
    assert cache_folder.prune(home, set()) == []
    age(home / cache_folder.PRUNE_STAMP, 1.1)
    assert {folder.name for folder in cache_folder.prune(home, set())} == {OLD, KEPT}


def test_a_clock_that_was_wrong_does_not_stop_pruning(home):
    (home / cache_folder.PRUNE_STAMP).touch()
    age(home / cache_folder.PRUNE_STAMP, -1000)
    assert cache_folder.prune(home, {KEPT})


def test_use_is_remembered(home):
    cache_folder.mark_used(home / OLD)
    assert cache_folder.prune(home, {KEPT}) == []
    stamp = (home / OLD).stat().st_mtime
    cache_folder.mark_used(home / OLD)
    assert (home / OLD).stat().st_mtime == stamp  # less than a day ago: left alone


def test_trouble_with_the_folder_is_no_error(tmp_path, monkeypatch):
    cache_folder.mark_used(tmp_path / "missing")
    assert cache_folder.prune(tmp_path / "missing", set()) == []
    assert cache_folder.digest_folders(tmp_path / "missing") == []


def test_compiling_prunes_other_versions_and_using_marks_this_one(home, run_python):
    code = (
        "import numpy as np; from hyperplan._core import jit, _rng_kernels as k;"
        "k.next_uniform(np.array([7], dtype=np.uint64));"
        "print(sum(k.next_uniform.stats.cache_misses.values()), *sorted(jit._used))"
    )
    misses, *used = run_python(code, HYPERPLAN_CACHE_DIR=home).stdout.split()
    assert misses == "1" and used
    assert OLD not in names(home) and KEPT not in names(home) and {RECENT, "thesis", *used} <= set(names(home))
    for digest in used:
        age(home / digest, 40)
    assert run_python(code, HYPERPLAN_CACHE_DIR=home).stdout.split() == ["0", *used]
    assert all((home / digest).stat().st_mtime > time.time() - DAY for digest in used)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """A directory for temporary files with room for a cache, while the usual place cannot be written."""
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "tmp").mkdir(mode=0o700)
    monkeypatch.setattr(cache_folder.tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv(cache_folder.CACHE_VARIABLE, str(tmp_path / "file" / "cache"))
    cache_folder._place_for.cache_clear()
    yield tmp_path / "tmp" / f"hyperplan-cache-{os.geteuid()}"
    cache_folder._place_for.cache_clear()


def test_a_folder_for_temporary_files_takes_the_place_of_one_that_cannot_be_written(temporary):
    place = cache_folder.cache_place()
    assert place == (temporary, None, "Not a directory")
    assert temporary.stat().st_mode & 0o777 == 0o700


def trap(kind, folder, monkeypatch):
    if kind == "link":
        folder.symlink_to(folder.parent, target_is_directory=True)
    elif kind == "file":
        folder.write_text("")
    elif kind == "open to others":
        folder.mkdir()
        folder.chmod(0o770)
    elif kind == "readable by others":
        folder.mkdir()
        folder.chmod(0o755)
    elif kind == "of another user":
        folder.mkdir(mode=0o700)
        mine = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
        folder.rename(folder.with_name(f"hyperplan-cache-{mine + 1}"))
    elif kind == "above without a sticky bit":
        folder.parent.chmod(0o777)
    elif kind == "above of another user":
        usual, above = type(folder).stat, folder.parent
        other = os.stat_result((0o41777, 1, 1, 1, 54321, 0, 0, 0, 0, 0))
        monkeypatch.setattr(type(folder), "stat", lambda path, **how: other if path == above else usual(path, **how))


KINDS = ("link", "file", "open to others", "readable by others", "of another user", "above without a sticky bit",
         "above of another user")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_temporary_folder_that_somebody_else_could_have_written_is_refused(kind, temporary, monkeypatch):
    trap(kind, temporary, monkeypatch)
    assert cache_folder.cache_place() == (None, None, "Not a directory")


def test_a_sticky_directory_for_temporary_files_is_trusted(temporary):
    temporary.parent.chmod(0o1777)
    assert cache_folder.cache_place().home == temporary


def test_a_disk_without_room_counts_as_not_writable(temporary, monkeypatch, tmp_path):
    monkeypatch.setenv(cache_folder.CACHE_VARIABLE, str(tmp_path / "full"))
    usual = cache_folder.tempfile.TemporaryFile

    def made(dir):
        file = usual(dir=dir)
        if dir == tmp_path / "full":
            file.close()
            return open("/dev/full", "wb", buffering=0)
        return file

    monkeypatch.setattr(cache_folder.tempfile, "TemporaryFile", made)
    assert cache_folder.cache_place() == (temporary, None, "No space left on device")


def test_without_a_home_nothing_is_made_in_the_working_folder(temporary, monkeypatch, tmp_path):
    monkeypatch.delenv(cache_folder.CACHE_VARIABLE)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.chdir(tmp_path)
    assert cache_folder.cache_place().home == temporary
    assert not (tmp_path / "~").exists()
