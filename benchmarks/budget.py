"""Does ``--time`` hold?  Tables that are hard to be on time with, from the start of the process to its end.

    python benchmarks/budget.py                         every table, budgets of 8 and 20 s, compete and explore
    python benchmarks/budget.py megabyte_texts --time 8 --only compete
    python benchmarks/budget.py small --cold            an empty kernel cache, and one that cannot be written

A run is on time when its wall time without what was compiled is at most the budget and a tenth of it, or 2 s.  "CPU" is
that of the process and of all its workers: where it is far below the wall time on all cores, something else ran.
The table goes to results/budget.json and .md; naming some tables or budgets updates their rows.
"""

import argparse
import csv
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

from report import RESULTS, machine

JSON, MARKDOWN = RESULTS / "budget.json", RESULTS / "budget.md"
PATIENCE = 300.0  # seconds beyond the budget before a run is given up
GRACE, SHARE = 2.0, 0.1
WORDS = np.array([f"w{k}" for k in range(5000)])


def _write(path, columns: dict) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))


def _sentences(rng, rows: int, characters: int) -> list[str]:
    """Texts of about so many characters."""
    return [" ".join(WORDS[rng.integers(len(WORDS), size=characters // 6)]) for _ in range(rows)]


def _texts(rows: int, characters: int, columns: int = 1):
    def make(path, rng):
        texts = {f"text {k}": _sentences(rng, rows, characters) for k in range(columns)}
        _write(path, {**texts, "size": rng.normal(size=rows).round(4), "target": rng.integers(2, size=rows)})

    return make


def _numbers(rows: int, columns: int, classes: int = 0, decimals: int = 4):
    def make(path, rng):
        table = rng.normal(size=(rows, columns)).round(decimals)
        score = table[:, 0] - table[:, -1] + rng.normal(size=rows)
        target = np.argsort(np.argsort(score)) * classes // rows if classes else score.round(4)
        target = [f"class {k}" for k in target] if classes else target
        _write(path, {**{f"x{k}": table[:, k] for k in range(columns)}, "target": target})

    return make


def _categories(rows: int, levels: int, columns: int = 3):
    def make(path, rng):
        table = {f"code {k}": [f"c{v}" for v in rng.integers(levels, size=rows)] for k in range(columns)}
        _write(path, {**table, "size": rng.normal(size=rows).round(4), "target": rng.integers(2, size=rows)})

    return make


def _written_numbers(rows: int, columns: int):
    """Numbers as people write them, which only the audit and the guesses can make numbers."""

    def make(path, rng):
        table = {f"x{k}": [f"$ {v:,.2f}" for v in 1e5 * rng.normal(size=rows)] for k in range(columns)}
        _write(path, {**table, "target": rng.integers(2, size=rows)})

    return make


TABLES = {
    "small": _numbers(300, 5, 2),
    "megabyte_texts": _texts(40, 1_000_000),
    "long_texts": _texts(200, 200_000),
    "many_text_columns": _texts(300, 3_000, 40),
    "many_texts": _texts(20_000, 1_000),
    "categories": _categories(50_000, 5_000),
    "wide": _numbers(50, 20_000, 2),
    "tall": _numbers(1_000_000, 5),
    "classes": _numbers(30_000, 10, 300),
    "hundred_megabytes": _numbers(700_000, 20, 2, 5),
    "written_numbers": _written_numbers(60_000, 30),
}


def run(command: str, table: pathlib.Path, budget: float, folder: pathlib.Path, variables: dict) -> dict:
    """One run: seconds and verdict."""
    out = folder / "out"
    words = [sys.executable, "-m", "hyperplan.cli", command, str(table), "--time", f"{budget:g}", "--out", str(out)]
    words += ["--target", "target"] if command == "compete" else []
    before, began = _cpu(), time.perf_counter()
    try:
        done = subprocess.run(words, capture_output=True, text=True, env=variables, timeout=budget + PATIENCE)
        status, said = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        status, said = "given up", ""
    wall, cpu = time.perf_counter() - began, _cpu() - before
    found = json.loads((out / "report.json").read_text())["protocol"] if status == 0 else {}
    compiled = found.get("compiling", 0.0)
    on_time = status == 0 and wall - compiled <= budget + max(GRACE, SHARE * budget)
    return {"wall": round(wall, 1), "cpu": round(cpu, 1), "compiling": compiled, "status": status, "on_time": on_time,
            "said": said[-300:] if status else ""}  # fmt: skip


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def variables_of(kind: str, folder: pathlib.Path) -> dict:
    """The environment of a run: the usual cache, an empty one, or a home that cannot be written."""
    more = {"warm": {}, "empty": {"HYPERPLAN_CACHE_DIR": str(folder / "cache")}}
    if kind == "unwritable":
        (folder / "file").write_text("no folder")
        (folder / "tmp").mkdir(mode=0o700, exist_ok=True)
        more[kind] = {"HYPERPLAN_CACHE_DIR": str(folder / "file" / "cache"), "TMPDIR": str(folder / "tmp")}
    return {**os.environ, **more[kind]}


def markdown(rows: dict) -> str:
    """The stored table."""
    about = machine()
    lines = ["# Budgets", "", f"{about['cpu']}, Python {about['python']}.", ""]
    lines += ["| run | budget | wall | CPU | compiling | on time |", "|---|---:|---:|---:|---:|---|"]
    for name, row in rows.items():
        verdict = "yes" if row["on_time"] else f"no ({row['status']})" if row["status"] else "no"
        lines.append(
            f"| {name.rpartition(' ')[0]} | {row['budget']:g} | {row['wall']:.1f} | {row['cpu']:.1f} | "
            f"{row['compiling']:.1f} | {verdict} |"
        )
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Measure whether budgets hold.")
    parser.add_argument("tables", nargs="*", help=f"default: all of {', '.join(TABLES)}")
    parser.add_argument("--time", type=float, action="append", help="budget; may be repeated (8 and 20)")
    parser.add_argument("--only", choices=("compete", "explore"), help="one of the commands")
    parser.add_argument("--cold", action="store_true", help="with an empty cache and with none that can be written")
    parser.add_argument("--keep", type=pathlib.Path, help="folder where tables are made once and kept")
    options = parser.parse_args()
    rows = json.loads(JSON.read_text()) if JSON.exists() else {}
    with tempfile.TemporaryDirectory() as scratch:
        tables = options.keep or pathlib.Path(scratch)
        tables.mkdir(exist_ok=True)
        for name in options.tables or TABLES:
            path = tables / f"{name}.csv"
            if not path.exists():
                TABLES[name](path, np.random.default_rng(0))
            for command in [options.only] if options.only else ["compete", "explore"]:
                for kind in ("empty", "unwritable") if options.cold else ("warm",):
                    for budget in options.time or [8.0, 20.0]:
                        key = f"{command} {name} {kind} {budget:g}"
                        with tempfile.TemporaryDirectory() as folder:
                            place = pathlib.Path(folder)
                            rows[key] = {"budget": budget} | run(
                                command, path, budget, place, variables_of(kind, place)
                            )
                        shown = {name: value for name, value in rows[key].items() if value != ""}
                        print(f"{key:<44}", json.dumps(shown), flush=True)
                        RESULTS.mkdir(exist_ok=True)
                        JSON.write_text(json.dumps(rows, indent=1) + "\n")
                        MARKDOWN.write_text(markdown(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
