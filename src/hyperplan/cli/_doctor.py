"""``hyperplan doctor``: everything one needs to know when something is slow or does not start."""

import contextlib
import importlib.metadata
import platform
from pathlib import Path

import hyperplan
from hyperplan._core import jit, memory, parallel
from hyperplan._core.cache_folder import cache_place
from hyperplan.cli._cache import measure

PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "scikit-learn", "threadpoolctl", "pandas", "matplotlib", "rich")
VECTOR_FLAGS = ("sse4_2", "avx", "avx2", "fma", "f16c", "bmi2", "asimd", "sve", "sve2")


def run() -> int:
    """Print one line per fact."""
    facts = [("hyperplan", hyperplan.__version__), ("python", f"{platform.python_version()} on {platform.system()}")]
    facts += [(name, _version(name)) for name in PACKAGES]
    facts += [("cpu", _cpu_name()), ("cpu features", _cpu_features()), ("threads", _threads())]
    facts += [("blas", line) for line in _blas()]
    facts += _cache_facts()
    facts.append(
        ("memory budget", f"{memory.human_bytes(memory.available_bytes())} ({memory.BUDGET_VARIABLE} overrides)")
    )
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        print(f"{name:<{width}}  {value}")
    return 0


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _cpu_info(field: str) -> str:
    """A field of the first core in /proc/cpuinfo; "" where there is none."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.lower().startswith(field):
                return line.partition(":")[2].strip()
    return ""


def _cpu_name() -> str:
    return _cpu_info("model name") or platform.processor() or platform.machine()


def _cpu_features() -> str:
    flags = _cpu_info("flags").split() or _cpu_info("features").split()
    if known := [flag for flag in flags if flag in VECTOR_FLAGS or flag.startswith("avx512")]:
        return " ".join(known)
    import numpy as np

    found = np.show_config(mode="dicts").get("SIMD Extensions", {})
    return " ".join(found.get("baseline", []) + found.get("found", []))


def _threads() -> str:
    return f"{parallel.effective_n_jobs()} for kernels ({parallel.THREAD_VARIABLE} overrides)"


def _blas() -> list[str]:
    import scipy.linalg  # loads SciPy's own BLAS, so that it is listed too
    from threadpoolctl import threadpool_info

    assert scipy.linalg is not None
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return [
        f"{pool['internal_api']} {pool['version']} ({pool.get('architecture', '?')}, {pool['num_threads']} threads)"
        for pool in pools
    ] or ["none found"]


def _cache_facts() -> list[tuple[str, str]]:
    place = cache_place()
    home, state = place.home or place.readable or jit.cache_home(), "writable"
    if place.home is None:
        state = f"NOT writable ({place.trouble}): kernels compile anew in each process; set {jit.CACHE_VARIABLE}"
    elif place.trouble:
        state = f"instead: {jit.cache_home()} is NOT writable ({place.trouble}); set {jit.CACHE_VARIABLE}"
    current, stale = measure(home)
    held = f"{current.entries} kernels in {len(current.folders)} folders, {memory.human_bytes(current.size)}"
    left = f"{stale.entries} kernels of other versions, {memory.human_bytes(stale.size)} (hyperplan cache --prune)"
    return [("kernel cache", f"{home} ({state})"), ("cached", held), ("stale", left)]
