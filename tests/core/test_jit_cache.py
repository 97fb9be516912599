"""The kernel cache never returns a number computed by an older helper, and never stands in the way."""

import math
import os
import shutil

import pytest

HELPER = """from hyperplan._core.jit import kernel


@kernel
def scale(x):
    return {factor} * x
"""
MIDDLE = """from hyperplan._core.jit import kernel
from hyperplan._math._bottom_kernels import scale


@kernel
def scale_and_shift(x):
    return scale(x) + 1.0
"""
TOP = """import numpy as np

from hyperplan._core.jit import kernel
from hyperplan._math._middle_kernels import scale_and_shift


@kernel
def total(values):
    result = 0.0
    for value in values:
        result += scale_and_shift(value)
    return result
"""
UNRELATED = """from hyperplan._core.jit import fast_kernel


@fast_kernel
def square(x):
    return x * x
"""
CALL = """
import numpy as np
from hyperplan._math._top_kernels import total
from hyperplan._math._unrelated_kernels import square
square(3.0)
print(total(np.array([1.0, 2.0])), sum(total.stats.cache_hits.values()), sum(square.stats.cache_hits.values()))
"""


@pytest.fixture
def copied_package(root, tmp_path):
    """A package `hyperplan` of its own, with three kernel files that call each other, and one that stands apart."""
    package = tmp_path / "path" / "hyperplan"
    shutil.copytree(root / "src" / "hyperplan" / "_core", package / "_core")
    shutil.copy(root / "src" / "hyperplan" / "__init__.py", package)
    kernels = package / "_math"
    kernels.mkdir()
    (kernels / "__init__.py").touch()
    for name, text in (
        ("bottom", HELPER.format(factor="2.0")),
        ("middle", MIDDLE),
        ("top", TOP),
        ("unrelated", UNRELATED),
    ):
        (kernels / f"_{name}_kernels.py").write_text(text)
    return package


@pytest.fixture
def call(copied_package, run_python, tmp_path):
    def run():
        done = run_python(CALL, PYTHONPATH=copied_package.parent, HYPERPLAN_CACHE_DIR=tmp_path / "cache")
        value, hits, unrelated_hits = done.stdout.split()
        return float(value), int(hits), int(unrelated_hits)

    return run


def test_a_fresh_process_never_returns_the_number_of_an_older_helper(copied_package, call):
    assert call() == (8.0, 0, 0)  # 2 * (1 + 2) + 2, compiled
    assert call() == (8.0, 1, 1)  # the same from the cache
    helper = copied_package / "_math" / "_bottom_kernels.py"
    before = helper.stat()
    helper.write_text(HELPER.format(factor="3.0"))
    os.utime(helper, ns=(before.st_atime_ns, before.st_mtime_ns))  # same size, same time: only the text differs
    assert call() == (11.0, 0, 1)  # two imports below `total`; the unrelated kernel is still compiled
    helper.write_text(HELPER.format(factor="2.0"))
    assert call() == (8.0, 1, 1)  # back at the first text, its digest is found again


def test_the_cache_is_not_in_the_source_tree(copied_package, call):
    call()
    assert not list(copied_package.rglob("*.nb[ic]"))


RICH = """import numpy as np

from hyperplan._core.jit import kernel


@kernel
def halves(pair, power):
    if power < 0:
        raise ValueError("negative power")
    result = np.empty(pair.first.shape[0])
    for i in range(result.shape[0]):
        result[i] = (pair.first[i] + pair.second[i]) ** power / 2
    return result, np.log1p(result[2])
"""
PAIR = """from typing import NamedTuple


class Pair(NamedTuple):
    first: object
    second: object
"""
CALL_RICH = """
import sys
import numpy as np
from hyperplan._math._rich_kernels import halves
from hyperplan._math.pair import Pair
pair = Pair(np.arange(3.0), np.ones(3))
for _ in range(3):
    result, total = halves(pair, 2)
assert sys.getrefcount(pair.first) == 2 and sys.getrefcount(result) == 2
try:
    halves(pair, -1)
except ValueError as error:
    print(error)
print(result.tolist(), round(total, 12), sum(halves.stats.cache_hits.values()), "numba.np.arraymath" in sys.modules)
"""


def test_a_cached_kernel_runs_without_setting_up_the_compiler(copied_package, run_python, tmp_path):
    (copied_package / "_math" / "_rich_kernels.py").write_text(RICH)
    (copied_package / "_math" / "pair.py").write_text(PAIR)
    environment = {"PYTHONPATH": copied_package.parent, "HYPERPLAN_CACHE_DIR": tmp_path / "cache"}
    expected = "negative power\n[0.5, 2.0, 4.5] {total} {hits} {set_up}\n"
    total = round(math.log(5.5), 12)
    compiled = run_python(CALL_RICH, **environment).stdout
    assert compiled == expected.format(total=total, hits=0, set_up=True)
    loaded = run_python(CALL_RICH, **environment).stdout
    assert loaded == expected.format(total=total, hits=1, set_up=False)


def test_a_name_this_process_does_not_know_sets_up_the_compiler(copied_package, call, run_python, tmp_path):
    call()
    pretend = "from hyperplan._core import jit; jit.llvm.address_of_symbol = lambda name: None\n"
    check = "import sys; assert 'numba.np.arraymath' in sys.modules"
    environment = {"PYTHONPATH": copied_package.parent, "HYPERPLAN_CACHE_DIR": tmp_path / "cache"}
    assert run_python(pretend + CALL + check, **environment).stdout.split() == ["8.0", "1", "1"]


def test_a_second_copy_of_the_package_finds_everything_compiled(copied_package, call, run_python, tmp_path):
    call()
    second = tmp_path / "elsewhere" / "hyperplan"
    shutil.copytree(copied_package, second)
    environment = {"PYTHONPATH": second.parent, "HYPERPLAN_CACHE_DIR": tmp_path / "cache"}
    assert run_python(CALL, **environment).stdout.split() == ["8.0", "1", "1"]


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("keep", [0, 40])
def test_damaged_files_are_compiled_anew(suffix, keep, call, tmp_path):
    call()
    for path in (tmp_path / "cache").rglob(f"*{suffix}"):
        path.write_bytes(path.read_bytes()[:keep])
    assert call() == (8.0, 0, 0)
    assert call() == (8.0, 1, 1)


def test_digest_depends_on_switches_that_change_code(run_python, root):
    code = (
        "import pathlib; from hyperplan._core import jit, _rng_kernels as k;"
        "print(jit.source_digest(pathlib.Path(k.__file__).resolve()))"
    )
    plain = run_python(code, NUMBA_BOUNDSCHECK=None).stdout
    assert plain == run_python(code, NUMBA_BOUNDSCHECK=None).stdout
    assert plain != run_python(code, NUMBA_BOUNDSCHECK="1").stdout


USE = """
import sys, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import numpy as np
    from hyperplan._core._rng_kernels import next_uniform, shuffle_in_place
    values = np.arange(5)
    shuffle_in_place(values, np.array([7], dtype=np.uint64))
    next_uniform(np.array([7], dtype=np.uint64))
ours = [str(w.message) for w in caught if "hyperplan" in str(w.message)]
print(values.sum(), len(ours), ours[0] if ours else "")
"""


def unwritable_places(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    return {
        "below a file": {"HYPERPLAN_CACHE_DIR": tmp_path / "file" / "cache"},
        "below proc": {"HYPERPLAN_CACHE_DIR": "/proc/hyperplan-cache"},
        "home is no folder": {"HYPERPLAN_CACHE_DIR": None, "XDG_CACHE_HOME": None, "HOME": tmp_path / "file"},
        "home does not exist": {"HYPERPLAN_CACHE_DIR": None, "XDG_CACHE_HOME": None, "HOME": "/proc/nobody"},
    }


PLACES = ["below a file", "below proc", "home is no folder", "home does not exist"]


@pytest.mark.parametrize("place", PLACES)
def test_without_a_writable_cache_kernels_are_shared_in_a_temporary_folder(place, run_python, tmp_path):
    environment = {**unwritable_places(tmp_path)[place], "TMPDIR": tmp_path}
    code = USE + "print(sum(shuffle_in_place.stats.cache_hits.values()))"
    assert run_python(code, **environment).stdout.split() == ["10", "0", "0"]
    assert run_python(code, **environment).stdout.split() == ["10", "0", "1"]
    folder = tmp_path / f"hyperplan-cache-{os.geteuid()}"
    assert folder.stat().st_mode & 0o777 == 0o700 and list(folder.rglob("*.nbc"))


@pytest.mark.parametrize("place", PLACES)
def test_without_any_writable_folder_kernels_work_after_one_clear_warning(place, run_python, tmp_path):
    (tmp_path / f"hyperplan-cache-{os.geteuid()}").symlink_to(tmp_path)  # a trap: not ours
    done = run_python(USE, TMPDIR=tmp_path, **unwritable_places(tmp_path)[place])
    total, count, message = done.stdout.strip().split(" ", 2)
    assert (total, count) == ("10", "1")
    assert "cannot write its kernel cache" in message and "HYPERPLAN_CACHE_DIR" in message
    assert not list(tmp_path.rglob("*.nbc"))


def test_a_cache_that_cannot_be_written_is_still_read(copied_package, call, run_python, tmp_path):
    """As in an image with compiled kernels and a file system that is only read."""
    call()
    refuse = (
        "from hyperplan._core import cache_folder; usual = cache_folder._trouble_writing;"
        "cache_folder._trouble_writing = lambda home: 'Read-only' if home.name == 'cache' else usual(home)\n"
    )
    environment = {"PYTHONPATH": copied_package.parent, "HYPERPLAN_CACHE_DIR": tmp_path / "cache", "TMPDIR": tmp_path}
    before = sorted((tmp_path / "cache").rglob("*.nbc"))
    assert run_python(refuse + CALL, **environment).stdout.split() == ["8.0", "1", "1"]
    assert sorted((tmp_path / "cache").rglob("*.nbc")) == before


def test_a_full_disk_costs_the_cache_and_not_the_result(copied_package, run_python, tmp_path):
    full = (
        "import errno, os; from hyperplan._core import jit; from hyperplan._core.compiling import compile_watch\n"
        "def save(*args): raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))\n"
        "jit._KernelCache._save_overload = save\n"
    )
    environment = {"PYTHONPATH": copied_package.parent, "HYPERPLAN_CACHE_DIR": tmp_path / "cache"}
    done = run_python(full + CALL + "print(compile_watch.trouble, compile_watch.seconds > 0)", **environment)
    assert done.stdout.splitlines() == ["8.0 0 0", "No space left on device True"]


def test_a_folder_of_another_user_does_not_stop_the_import(copied_package, call, run_python, tmp_path):
    """What stands in the place of a digest's folder cannot be written, but nothing is written at import."""
    call()
    for folder in (tmp_path / "cache").iterdir():
        if folder.is_dir():
            shutil.rmtree(folder)
            folder.write_text("not a folder")
    assert call() == (8.0, 0, 0)


def test_compiling_is_timed_and_loading_is_not(copied_package, call, run_python, tmp_path):
    environment = {"PYTHONPATH": copied_package.parent, "HYPERPLAN_CACHE_DIR": tmp_path / "cache"}
    ask = CALL + "from hyperplan._core.compiling import compile_watch; print(compile_watch.seconds > 0)"
    assert run_python(ask, **environment).stdout.split()[-1] == "True"
    assert run_python(ask, **environment).stdout.split()[-1] == "False"


def test_the_cache_follows_the_environment(run_python, tmp_path):
    home = "from hyperplan._core.jit import cache_home; print(cache_home())"
    chosen = run_python(home, HYPERPLAN_CACHE_DIR=tmp_path / "here").stdout.strip()
    assert chosen == str(tmp_path / "here")
    users = run_python(home, HYPERPLAN_CACHE_DIR=None, XDG_CACHE_HOME=tmp_path / "xdg").stdout.strip()
    assert users.startswith(str(tmp_path))
