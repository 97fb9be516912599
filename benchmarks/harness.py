"""Measuring one contender on one workload in a process of its own.

Started by `run.py` as ``python harness.py JOB`` where JOB is JSON; the last line of the output is the result.
"""

import contextlib
import hashlib
import importlib
import inspect
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE / "data"
THREADS = 2
SEED = 7
MARK = "RESULT "
QUIET_LEVEL = 0.12  # cores used by others, below which the machine counts as quiet


def load_case(family, name):
    """A workload by name; its module needs only NumPy."""
    sys.path.insert(0, str(HERE))
    return importlib.import_module(f"cases.{family}").CASES[name]


# ---------------------------------------------------------------------------------------------------------- data


def data_folder(case, size):
    """Named after what determines the data: generator, arguments, seed, and the generators' text."""
    generator = inspect.unwrap(case.generate)
    text = [(HERE / "cases" / "_data.py").read_text(), inspect.getsource(generator)]
    key = json.dumps([generator.__module__, generator.__qualname__, case.sizes[size], SEED, text], sort_keys=True)
    return DATA / hashlib.sha256(key.encode()).hexdigest()[:16]


def ensure_data(case, size):
    """Generate once, keep as .npy files, sparse matrices as .npz."""
    import numpy as np
    import scipy.sparse as sp

    folder = data_folder(case, size)
    if (folder / "numbers.json").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    made = case.generate(np.random.default_rng(SEED), **case.sizes[size])
    numbers = {}
    for name, value in made.items():
        if isinstance(value, np.ndarray):
            np.save(folder / f"{name}.npy", value)
        elif sp.issparse(value):
            sp.save_npz(folder / f"{name}.npz", value, compressed=False)
        else:
            numbers[name] = value
    (folder / "numbers.json").write_text(json.dumps(numbers))


def load_data(case, size):
    """The arrays and numbers of one size as attributes."""
    import numpy as np
    import scipy.sparse as sp

    folder = data_folder(case, size)
    arrays = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    arrays |= {path.stem: sp.load_npz(path) for path in folder.glob("*.npz")}
    return SimpleNamespace(**json.loads((folder / "numbers.json").read_text()), **arrays)


# -------------------------------------------------------------------------------------------------------- worker


def use_once(case, build, data):
    """Build, fit and apply; returns the model, its output, and the seconds of both steps."""
    model = build(data)
    start = time.perf_counter()
    model.fit(data.X, data.y)
    fit_seconds = time.perf_counter() - start
    if case.apply is None:
        return model, None, fit_seconds, 0.0
    method, _, where = case.apply.partition("@")
    rows = data.X if where == "X" or not hasattr(data, "Xt") else data.Xt
    start = time.perf_counter()
    output = getattr(model, method)(rows)
    return model, output, fit_seconds, time.perf_counter() - start


def memory_mb(field):
    """VmRSS (now) or VmHWM (high-water mark) of this process in MB."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    return 0.0


def measure(job):
    """One worker: import, first call on small data, then up to three timed repetitions on the real data."""
    case = load_case(job["family"], job["case"])
    build = case.contenders[job["contender"]]
    small = load_data(case, "small")
    start = time.perf_counter()
    build(small)
    imported = time.perf_counter() - start
    start = time.perf_counter()
    use_once(case, build, small)
    result = {"import_s": imported, "first_s": time.perf_counter() - start}
    if job["cold"]:
        return result
    data = load_data(case, job["size"])
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # restart the high-water mark
    before, fits, applies = memory_mb("VmRSS"), [], []
    began = time.perf_counter()
    while len(fits) < 3 and (not fits or time.perf_counter() - began + fits[-1] < job["seconds"]):
        model = output = None
        model, output, fit_seconds, apply_seconds = use_once(case, build, data)
        if not fits:
            result["extra_mb"] = max(0.0, memory_mb("VmHWM") - before)
        fits.append(fit_seconds)
        applies.append(apply_seconds)
    quality = case.quality(model, data, output)
    return {**result, "fit_s": min(fits), "apply_s": min(applies), "quality": {k: float(v) for k, v in quality.items()}}


# -------------------------------------------------------------------------------------------------------- parent


def busy_seconds():
    """CPU seconds used so far by everything on this machine (Linux; else 0)."""
    try:
        fields = [int(x) for x in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    except OSError:
        return 0.0
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def wait_for_quiet(limit):
    """Hold until other processes use almost nothing, at most `limit` seconds; returns the cores they use."""
    end, level = time.time() + limit, 0.0
    while True:
        before = busy_seconds()
        time.sleep(0.4)
        level = (busy_seconds() - before) / 0.4
        if level < QUIET_LEVEL or time.time() > end:
            return level
        time.sleep(0.6)


def environment(**more):
    """Two threads for everybody, and no chatter."""
    names = ("OMP", "OPENBLAS", "MKL", "NUMBA", "HYPERPLAN")
    threads = {f"{name}_NUM_THREADS": str(THREADS) for name in names}
    return {**os.environ, **threads, "PYTHONWARNINGS": "ignore", "TQDM_DISABLE": "1", **more}


def spawn(job, limit):
    """Run one worker; returns ("ok", result), ("timeout", after how long) or ("error", its last line)."""
    with tempfile.TemporaryDirectory(prefix="hyperplan-cold-") as empty:
        caches = {"HYPERPLAN_CACHE_DIR": empty, "NUMBA_CACHE_DIR": empty} if job["cold"] else {}
        process = subprocess.Popen(
            [sys.executable, str(HERE / "harness.py"), json.dumps(job)],
            env=environment(**caches),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, complaint = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # the group this worker leads: itself and its own pool
            process.communicate()
            return "timeout", f"no result within {limit:g} s"
    lines = [line for line in out.splitlines() if line.startswith(MARK)]
    if process.returncode or not lines:
        return "error", (complaint.strip().splitlines() or [f"exit {process.returncode}"])[-1][:200]
    return "ok", json.loads(lines[-1][len(MARK) :])


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    if given.get("data"):
        ensure_data(load_case(given["family"], given["case"]), given["data"])
        print(MARK + "{}")
    else:
        print(MARK + json.dumps(measure(given)))
