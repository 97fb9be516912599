"""``hyperplan warmup``: compile every kernel once, so that nobody waits for the compiler later.

The registry is the package itself: every estimator that a family exports is fitted on tiny data, in the dtypes, memory
orders and sparse formats it accepts and once per string option in its parameter table.  What is already in the
cache costs milliseconds.  When all is done a stamp with the digest of the package's sources is left in the cache: the
next warm-up finds it and has nothing to do.
"""

import concurrent.futures
import contextlib
import hashlib
import importlib
import inspect
import json
import multiprocessing
import os
import sys
import time
import warnings
from pathlib import Path

from hyperplan._core import jit
from hyperplan._core.parallel import cpu_count
from hyperplan.cli._cache import STAMP_NAME, measure

FAMILIES = ("linear_model", "svm", "preprocessing", "optimize", "tree", "ensemble")
OPTION_NAMES = (
    "solver",
    "algorithm",
    "loss",
    "objective",
    "penalty",
    "selection",
    "precompute",
    "kernel",
    "gcv_mode",
    "multi_class",
)
REJECTED = (ValueError, TypeError, AttributeError, ArithmeticError, MemoryError)  # a combination an estimator refuses


def run(family: str | None) -> int:
    """Warm the whole package, one family, or (``demo``) what `hyperplan demo` fits."""
    if family not in (None, "demo", *FAMILIES):
        print(f"hyperplan: no family {family!r}; choose one of {', '.join(FAMILIES)}, demo", file=sys.stderr)
        return 2
    started, key = time.perf_counter(), family or "all"
    home = jit.writable_cache_home()
    digest = package_digest()
    if home is not None and _is_warm(home, key, digest):
        print(f"kernels are warm ({measure(home).current.entries} compiled, nothing to do)")
        return 0
    names = selected(family)
    with progress(len(names)) as advance:
        for name, error in _fit_everywhere(names, advance):
            if error:
                print(f"hyperplan: warming {name} failed: {error}", file=sys.stderr)
                return 1
    if home is not None:
        _write_stamp(home, key, digest)
        print(f"{measure(home).current.entries} kernels compiled and cached in {time.perf_counter() - started:.1f} s")
    return 0


def estimators() -> dict[str, type]:
    """``{"family.Class": class}`` for every estimator of the package."""
    from hyperplan.testing import all_estimators

    return {f"{cls.__module__.split('.')[1]}.{name}": cls for name, cls in all_estimators()}


def selected(family: str | None) -> list[str]:
    """Names to warm."""
    if family == "demo":
        from hyperplan.cli._demo import estimator_names

        return sorted(estimator_names())
    return [name for name in estimators() if family is None or name.startswith(f"{family}.")]


def package_digest() -> str:
    """Digest of all sources and of the machine: what the stamp stands for."""
    stamp = hashlib.sha256(jit.source_digest(Path(jit.__file__).resolve()).encode())
    for path in sorted(jit.PACKAGE_ROOT.rglob("*.py")):
        stamp.update(path.read_bytes())
    return stamp.hexdigest()[:16]


def _is_warm(home: Path, key: str, digest: str) -> bool:
    with contextlib.suppress(OSError, ValueError):
        stamp = json.loads((home / STAMP_NAME).read_text())
        folders = stamp.get("folders", [])
        return digest in (stamp.get(key), stamp.get("all")) and all((home / name).is_dir() for name in folders)
    return False


def _write_stamp(home: Path, key: str, digest: str) -> None:
    known = {}
    with contextlib.suppress(OSError, ValueError):
        known = json.loads((home / STAMP_NAME).read_text())
    known = {name: value for name, value in known.items() if value == digest}
    known.update({key: digest, "folders": [name for name in sorted(jit.current_digests()) if (home / name).is_dir()]})
    beside = home / f"{STAMP_NAME}.{os.getpid()}"
    beside.write_text(json.dumps(known))
    beside.replace(home / STAMP_NAME)


@contextlib.contextmanager
def progress(total: int):
    """Yields ``advance(name, step)``: a bar with rich, one line per estimator without it."""
    try:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        yield lambda name, step: print(f"compiled {name}", flush=True) if step else None
        return
    columns = (
        TextColumn("compiling"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns) as bar:
        task = bar.add_task("", total=total)
        yield lambda name, step: bar.update(task, description=name, advance=step)


def _fit_everywhere(names: list[str], advance):
    """Warm each estimator in one of several fresh processes; yields ``(name, error message)`` as they finish."""
    workers = min(cpu_count(), len(names))
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(workers, mp_context=spawn) as pool:
        running = {pool.submit(warm_one, name): name for name in names}
        waiting = list(names)
        advance(", ".join(waiting[:workers]), 0)
        for future in concurrent.futures.as_completed(running):
            waiting.remove(running[future])
            advance(", ".join(waiting[:workers]), 1)
            yield running[future], future.result()


def warm_one(name: str) -> str:
    """Fit one estimator in every way; returns "" or what went wrong with the plainest one."""
    family, _, class_name = name.partition(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            estimator = getattr(importlib.import_module(f"hyperplan.{family}"), class_name)
            _use(estimator(), *next(_inputs(estimator)))
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        for options in _variants(estimator):
            for X, y in _inputs(estimator):
                with contextlib.suppress(*REJECTED):
                    _use(estimator(**options), X, y)
    return ""


def _use(model, X, y):
    """Call everything that runs a kernel: fit (with and without weights), partial_fit, predict, transform."""
    model.fit(X, y)
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(model, method):
            getattr(model, method)(X)
    if "sample_weight" in inspect.signature(model.fit).parameters:
        import numpy as np

        model.fit(X, y, sample_weight=np.linspace(1.0, 2.0, X.shape[0]))
    if hasattr(model, "partial_fit"):
        model.partial_fit(X, y)


def _variants(estimator):
    """Keyword sets: the defaults, then each string option of the parameter table by itself."""
    yield {}
    for name, rule in getattr(estimator, "_params", {}).items():
        if name in OPTION_NAMES:
            for option in _options(rule):
                yield {name: option}
        elif name == "fit_intercept":
            yield {name: False}


def _options(rule):
    for part in getattr(rule, "rules", [rule]):
        yield from (option for option in getattr(part, "options", ()) if isinstance(option, str))


def _inputs(estimator):
    """Tiny training sets ``(X, y)``: both orders, float32, sparse; two and three classes, two targets.

    Read-only arrays and strided targets need no turn of their own: they reach kernels as writable, contiguous ones.
    """
    import numpy as np
    import scipy.sparse as sp

    from hyperplan._base import is_classifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3))
    score = X @ [1.0, -1.0, 0.5] + rng.normal(size=24)
    positive = np.exp(0.3 * score)  # some families want positive targets
    pair = np.column_stack([positive, positive[::-1]])
    tags = estimator().__sklearn_tags__().target_tags
    if is_classifier(estimator()):
        targets = [(score > 0).astype(np.intp), np.digitize(score, [-0.7, 0.7])]
    elif estimator().__sklearn_tags__().estimator_type == "ranker":
        targets = [np.digitize(score, [-0.7, 0.7])]
    else:
        targets = [positive, pair] if tags.single_output else [pair]
    for y in targets:
        for values in (X, X.astype(np.float32)):
            yield values, y
            yield np.asfortranarray(values), y
            yield sp.csr_array(values), y
            yield sp.csc_array(values), y
        yield rng.normal(size=(24, 40)), y
