"""The only file that talks to Numba: two decorators and one cache rule.

Numba's own cache looks at the file a kernel is written in, not at the helpers it calls: after an upgrade
it can return numbers computed by the *old* helper.  Here every kernel file has a digest of its own text and,
transitively, of the kernel files it imports; the cache folder carries that digest in its name.  A change
anywhere below a kernel therefore leads to a new folder, and leaves the unrelated kernels compiled.
"""

import functools
import hashlib
import os
import pathlib
import re
import sys
import tempfile
import threading
import warnings
from typing import Any

import numba
import numpy as np

PACKAGE_ROOT = pathlib.Path(__file__).resolve().parents[1]
CACHE_VARIABLE = "HYPERPLAN_CACHE_DIR"
_IMPORT = re.compile(r"^from\s+hyperplan\.([\w.]+)\s+import", re.MULTILINE)
_REASSOCIATE = {"reassoc", "contract", "nsz", "arcp"}
_settings: Any = numba.config  # its attributes come from environment variables, which type checkers cannot see

_cache_dir_lock = threading.Lock()  # two threads may import kernel files at the same time

kernels: list = []  # every compiled function in order of definition; `hyperplan doctor` counts them


def cache_home() -> pathlib.Path:
    """The folder that holds all digests: ``HYPERPLAN_CACHE_DIR``, or the user's cache directory."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return pathlib.Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "hyperplan"


def imported_kernel_files(path: pathlib.Path) -> list[pathlib.Path]:
    """The package's modules that a kernel file imports (kernel files import at the top, absolutely)."""
    found = []
    for dotted in _IMPORT.findall(path.read_text(encoding="utf-8")):
        target = PACKAGE_ROOT.joinpath(*dotted.split("."))
        found.append(target / "__init__.py" if target.is_dir() else target.with_suffix(".py"))
    return found


@functools.cache
def source_digest(path: pathlib.Path) -> str:
    """Digest of a kernel file, of everything it imports, of this file and of the Numba and CPU at hand."""
    stamp = hashlib.sha256(f"{numba.__version__} {_host()}".encode())
    pending, seen = [path, pathlib.Path(__file__).resolve()], set()
    while pending:
        current = pending.pop(0)
        if current not in seen:
            seen.add(current)
            stamp.update(current.read_bytes())
            pending += imported_kernel_files(current)
    return stamp.hexdigest()[:16]


@functools.cache
def _host() -> str:
    """What compiled code depends on besides its source: the CPU, and the switches that change code."""
    import llvmlite.binding as llvm

    switches = (_settings.BOUNDSCHECK, _settings.OPT, _settings.CPU_NAME)
    return f"{llvm.get_host_cpu_name()} {sys.implementation.cache_tag} {switches}"


@functools.cache
def writable_cache_home() -> pathlib.Path | None:
    """`cache_home()` if files can be created there, else None after one warning."""
    home = cache_home()
    try:
        home.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=home).close()
    except OSError as error:
        warnings.warn(
            f"hyperplan cannot write its kernel cache to {home} ({error.strerror}); kernels are compiled anew in "
            f"each process. Set {CACHE_VARIABLE} to a writable folder to avoid the wait.",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return home


def _compile(func, **options):
    compiled = numba.njit(nogil=True, error_model="numpy", **options)(func)
    if _settings.DISABLE_JIT:  # `compiled` is `func`; like compiled code it must not warn (random numbers wrap around)
        compiled = np.errstate(all="ignore")(compiled)
    kernels.append(compiled)
    home = None if _settings.DISABLE_JIT else writable_cache_home()
    if home is not None:
        path = pathlib.Path(func.__code__.co_filename).resolve()
        with _cache_dir_lock:
            saved, _settings.CACHE_DIR = _settings.CACHE_DIR, str(home / source_digest(path))
            try:
                compiled.enable_caching()
            finally:
                _settings.CACHE_DIR = saved
    return compiled


def kernel(func):
    """Compile on first call: serial, GIL released, division by zero gives inf, IEEE order of operations."""
    return _compile(func)


def fast_kernel(func):
    """A `kernel` whose sums may be reordered and fused (so they vectorise).

    For leaf reductions only: NaN and infinities keep their meaning, the rounding of sums does not depend on
    the data or on threads, but differs from the textbook order.
    """
    return _compile(func, fastmath=_REASSOCIATE)
