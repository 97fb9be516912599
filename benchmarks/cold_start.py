"""How long a newcomer waits: imports, the command line, and the first fit of each estimator in a new process.

    python benchmarks/cold_start.py [Estimator ...] [--quick] [--no-empty] [--repeats N]

Columns: the first fit (import included) with scikit-learn, with hyperplan and a filled kernel cache, the difference,
and hyperplan with an empty cache (wall and CPU seconds).  Run `hyperplan warmup` before; `--quick` measures one
estimator of each kind once.  Python files are compiled to bytecode beforehand, as
installers do.  The table goes to results/cold_start.json and .md after each estimator; naming some updates their rows.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time

from report import RESULTS, machine

FIT = """
import time; started, cpu = time.perf_counter(), time.process_time()
import warnings; warnings.simplefilter("ignore")
import importlib, sys, numpy as np
rng = np.random.default_rng(0); X = rng.normal(size=(200, 10)); score = X[:, 0] + rng.normal(size=200)
cls = getattr(importlib.import_module({module!r}), {name!r})
model = cls()
tags = model.__sklearn_tags__()
if tags.estimator_type == "classifier": y = (score > 0).astype(int)
else: y = np.exp(score) if tags.target_tags.single_output else np.exp(np.column_stack([score, -score]))
model.fit(X, y)
taken, cpu = time.perf_counter() - started, time.process_time() - cpu
jit = sys.modules.get("hyperplan._core.jit")
misses = sum(sum(kernel.stats.cache_misses.values()) for kernel in jit.kernels) if jit else 0
print(taken, cpu, misses)
"""
LIST = """
import json
from hyperplan.cli._warmup import estimators
for module in ("linear_model", "svm", "preprocessing", "tree", "ensemble"): __import__(f"sklearn.{module}")
print(json.dumps(sorted(estimators())))
"""
QUICK = ("Lasso", "LogisticRegression", "SGDClassifier", "LinearSVC", "StandardScaler", "DecisionTreeClassifier",
         "RandomForestClassifier", "HistGradientBoostingClassifier")  # fmt: skip
LONGEST_FIT = 300  # seconds before a first fit is given up
GOALS = {"import hyperplan": 0.15, "hyperplan --help": 0.3}
COMMANDS = {"import hyperplan": ["-c", "import hyperplan"], "hyperplan --help": ["-m", "hyperplan.cli", "--help"]}
DIFFERENCE_GOAL, EMPTY_GOAL = 0.7, 4.0
JSON, MARKDOWN = RESULTS / "cold_start.json", RESULTS / "cold_start.md"


def environment(bytecode, **more):
    """Variables of a fresh process that finds and leaves its bytecode in a folder of ours."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": bytecode, **more}


def best_command(arguments, variables, repeats=5):
    """Smallest wall time of an interpreter with these arguments."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=variables)
        times.append(time.perf_counter() - started)
    return min(times)


def first_fit(module, name, variables):
    """Wall and CPU seconds of import and first fit in a fresh process, and kernels compiled; Nones if it fails."""
    command = [sys.executable, "-c", FIT.format(module=module, name=name)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=LONGEST_FIT)
    except subprocess.TimeoutExpired:
        return None, None, 0
    if done.returncode:
        return None, None, 0
    taken, cpu, misses = done.stdout.split()
    return float(taken), float(cpu), int(misses)


def measure(path, bytecode, repeats, with_empty):
    """One row: scikit-learn and hyperplan in turns, best of some; then once with an empty cache."""
    family, _, name = path.partition(".")
    peers, warm, compiled = [], [], 0
    for _ in range(repeats):
        peers.append(first_fit(f"sklearn.{family}", name, environment(bytecode))[0])
        taken, _, compiled = first_fit(f"hyperplan.{family}", name, environment(bytecode))
        warm.append(taken)
    row = {"scikit-learn": _least(peers), "warm": _least(warm), "compiled": compiled, "empty": None, "empty_cpu": None}
    if with_empty:
        with tempfile.TemporaryDirectory() as folder:
            variables = environment(bytecode, HYPERPLAN_CACHE_DIR=folder)
            row["empty"], row["empty_cpu"], _ = first_fit(f"hyperplan.{family}", name, variables)
    row["date"] = datetime.date.today().isoformat()
    return row


def _least(values):
    return None if None in values else min(values)


def difference(row):
    """What hyperplan costs beyond scikit-learn; None without a namesake there."""
    known = row["warm"] is not None and row["scikit-learn"] is not None
    return row["warm"] - row["scikit-learn"] if known else None


def cells(row):
    """The numbers of a row as text."""
    values = (row["scikit-learn"], row["warm"], difference(row), row["empty"], row.get("empty_cpu"))
    return ["-" if value is None else f"{value:+.2f}" if i == 2 else f"{value:.2f}" for i, value in enumerate(values)]


def markdown(results):
    """The stored table."""
    about = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    lines = ["# Cold start", "", f"{about['cpu']}, Python {about['python']}, {versions}.", ""]
    for label, seconds in results["commands"].items():
        lines.append(f"- `{label}`: {seconds:.3f} s (goal {GOALS[label]} s), interpreter included")
    lines += [
        "",
        "Seconds of import and first fit in a new process: scikit-learn's class, hyperplan with a filled kernel cache,",
        f"the difference (goal {DIFFERENCE_GOAL} s), and hyperplan with an empty cache (goal {EMPTY_GOAL:.0f} s),",
        "there also the CPU seconds.",
        "",
        "| estimator | scikit-learn | hyperplan | difference | empty cache | its CPU | date |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    lines += [f"| {path} | {' | '.join(cells(row))} | {row['date']} |" for path, row in results["first_fit"].items()]
    return "\n".join(lines) + "\n"


def store(results):
    """Write both files, each in one step."""
    RESULTS.mkdir(exist_ok=True)
    for path, text in ((JSON, json.dumps(results, indent=1) + "\n"), (MARKDOWN, markdown(results))):
        beside = path.with_name(f"{path.name}.{os.getpid()}")
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)


def main():
    parser = argparse.ArgumentParser(description="Measure what a newcomer waits for.")
    parser.add_argument("names", nargs="*", help="estimators, e.g. Lasso (default: all)")
    parser.add_argument("--no-empty", action="store_true", help="leave out the runs with an empty kernel cache")
    parser.add_argument("--repeats", type=int, default=2, help="runs of which the best counts (%(default)s)")
    parser.add_argument("--quick", action="store_true", help=f"measure only {', '.join(QUICK)}, once")
    options = parser.parse_args()
    if options.quick:
        options.names, options.repeats = options.names or list(QUICK), 1
    with tempfile.TemporaryDirectory() as bytecode:
        run(options, bytecode)


def run(options, bytecode):
    """Measure, print and store."""
    command = [sys.executable, "-c", LIST]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment(bytecode))
    paths = json.loads(done.stdout)
    chosen = [path for path in paths if not options.names or path.partition(".")[2] in options.names]
    if unknown := set(options.names) - {path.partition(".")[2] for path in paths}:
        raise SystemExit(f"no such estimator: {', '.join(sorted(unknown))}")
    commands = {}
    for label, arguments in COMMANDS.items():
        commands[label] = best_command(arguments, environment(bytecode))
        print(f"{label:<18} {commands[label]:.3f} s (goal {GOALS[label]} s), interpreter included", flush=True)
    known = json.loads(JSON.read_text()).get("first_fit", {}) if JSON.exists() else {}
    rows = {path: row for path, row in known.items() if path in paths}
    titles = f"{'first fit':<42} {'scikit-learn':>12} {'warm':>8} {'difference':>10} {'empty':>8} {'its CPU':>8}"
    print(f"\n{titles}   (goals: +0.7 s, 4 s)")
    started = time.perf_counter()
    for i, path in enumerate(chosen, 1):
        row = measure(path, bytecode, options.repeats, not options.no_empty)
        if options.no_empty:
            row.update({key: known.get(path, {}).get(key) for key in ("empty", "empty_cpu")})
        rows[path] = row
        store({"machine": machine(), "commands": commands, "first_fit": dict(sorted(rows.items()))})
        shown = cells(row)
        note = f"  {row['compiled']} kernels were not in the cache" if row["compiled"] else ""
        label = f"{i}/{len(chosen)} {path}"
        print(f"{label:<42} {shown[0]:>12} {shown[1]:>8} {shown[2]:>10} {shown[3]:>8} {shown[4]:>8}{note}", flush=True)
    print(f"\n{MARKDOWN.relative_to(RESULTS.parent)} written, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
