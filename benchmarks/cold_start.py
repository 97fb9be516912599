"""How long a newcomer waits: imports, the command line, and the first fit of each estimator in a new process.

    python benchmarks/cold_start.py [Estimator ...] [--no-empty]

Columns: the first fit (import included) with scikit-learn, with hyperplan and a filled kernel cache, and with
hyperplan and an empty one.  Run `hyperplan warmup` before.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

FIT = """
import time; started = time.perf_counter()
import warnings; warnings.simplefilter("ignore")
import importlib, numpy as np
rng = np.random.default_rng(0); X = rng.normal(size=(200, 10)); score = X[:, 0] + rng.normal(size=200)
cls = getattr(importlib.import_module({module!r}), {name!r})
model = cls()
tags = model.__sklearn_tags__()
if tags.estimator_type == "classifier": y = (score > 0).astype(int)
else: y = np.exp(score) if tags.target_tags.single_output else np.exp(np.column_stack([score, -score]))
model.fit(X, y)
print(time.perf_counter() - started)
"""
LIST = """
import json
from hyperplan.cli._warmup import estimators
print(json.dumps(sorted(estimators())))
"""
TARGETS = {"import hyperplan": 0.15, "hyperplan --help": 0.3}


def best(command, repeats=3, **environment):
    """Smallest wall time of a command over some runs."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
        times.append(time.perf_counter() - started)
    return min(times)


def first_fit(module, name, repeats=3, **environment):
    """Seconds of import and first fit in a fresh process; None if that class does not exist there."""
    times = []
    for _ in range(repeats):
        command = [sys.executable, "-c", FIT.format(module=module, name=name)]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
        if done.returncode:
            return None
        times.append(float(done.stdout))
    return min(times)


def main():
    parser = argparse.ArgumentParser(description="Measure what a newcomer waits for.")
    parser.add_argument("names", nargs="*", help="estimators, e.g. Lasso (default: all)")
    parser.add_argument("--no-empty", action="store_true", help="leave out the runs with an empty kernel cache")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()

    bare = best([sys.executable, "-c", "pass"])
    for label, arguments in (
        ("import hyperplan", ["-c", "import hyperplan"]),
        ("hyperplan --help", ["-m", "hyperplan.cli", "--help"]),
    ):
        taken = best([sys.executable, *arguments])
        print(f"{label:<18} {taken:.3f} s, of which the interpreter {bare:.3f} s (goal {TARGETS[label]} s)")

    listed = json.loads(subprocess.run([sys.executable, "-c", LIST], check=True, capture_output=True, text=True).stdout)
    print(
        f"\n{'first fit':<34} {'scikit-learn':>12} {'warm':>8} {'difference':>10} {'empty':>8}   (goals: +0.7 s, 4 s)"
    )
    for path in listed:
        family, _, name = path.partition(".")
        if options.names and name not in options.names:
            continue
        peer = first_fit(f"sklearn.{family}", name, options.repeats)
        warm = first_fit(f"hyperplan.{family}", name, options.repeats)
        empty = None
        if not options.no_empty:
            with tempfile.TemporaryDirectory() as folder:
                empty = first_fit(f"hyperplan.{family}", name, 1, HYPERPLAN_CACHE_DIR=folder)
        difference = warm - peer if warm is not None and peer is not None else None
        cells = [f"{value:.2f}" if value is not None else "-" for value in (peer, warm, difference, empty)]
        print(f"{path:<34} {cells[0]:>12} {cells[1]:>8} {cells[2]:>10} {cells[3]:>8}", flush=True)


if __name__ == "__main__":
    main()
