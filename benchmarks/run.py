"""Measure hyperplan against its peers.

    python benchmarks/run.py                         every family, large data (slow)
    python benchmarks/run.py linear --size medium    one family
    python benchmarks/run.py lasso_wide ridge_tall   some workloads
    python benchmarks/run.py --list                  what there is
    python benchmarks/run.py --readme                only rewrite the README's table from the stored results

Each measurement is a fresh process; the contenders of a workload take turns, and the best of the rounds counts.
Results go to benchmarks/results/<family>.json and .md; a workload that is run again replaces its old rows.
"""

import argparse
import datetime
import importlib
import json
import pathlib
import sys
import time

import harness
import report

FAMILIES = tuple(path.stem for path in sorted((harness.HERE / "cases").glob("*.py")) if not path.stem.startswith("_"))
COMPILERS = ("hyperplan", "skglm", "umap")  # libraries that compile on first use


def arguments():
    parser = argparse.ArgumentParser(description="Measure hyperplan against its peers.")
    parser.add_argument("names", nargs="*", help="families or workloads (default: all)")
    parser.add_argument("--size", choices=("small", "medium", "large"), default="large")
    parser.add_argument("--rounds", type=int, default=3, help="processes per contender (%(default)s)")
    parser.add_argument("--seconds", type=float, default=10.0, help="time for repetitions in a process (%(default)s)")
    parser.add_argument("--limit", type=float, default=180.0, help="seconds before a process is given up (%(default)s)")
    parser.add_argument("--quiet", type=float, default=60.0, help="seconds to wait for a quiet machine (%(default)s)")
    parser.add_argument("--only", help="contenders, separated by commas")
    parser.add_argument("--no-compile", action="store_true", help="leave out the runs with empty kernel caches")
    parser.add_argument("--out", type=pathlib.Path, default=report.RESULTS, help="folder of the results")
    parser.add_argument("--list", action="store_true", help="list workloads and contenders")
    parser.add_argument("--readme", action="store_true", help="rewrite the README's table from stored results")
    return parser.parse_args()


def chosen(names):
    """``[(family, case name, case)]`` in the order of the tables."""
    sys.path.insert(0, str(harness.HERE))
    known = [(family, name) for family in FAMILIES for name in importlib.import_module(f"cases.{family}").CASES]
    unknown = set(names) - set(FAMILIES) - {name for _, name in known}
    if unknown:
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; see --list")
    wanted = [(f, n) for f, n in known if not names or f in names or n in names]
    return [(family, name, harness.load_case(family, name)) for family, name in wanted]


def installed(case, only):
    """Contenders whose package is there; says which are not."""
    found = []
    for name in case.contenders:
        if only and name not in only:
            continue
        package = name.partition("-")[0]
        try:
            importlib.import_module(package)
        except ImportError:
            print(f"  {name}: not installed, left out")
            continue
        found.append(name)
    return found


def run_case(family, name, case, options):
    """All contenders of one workload, interleaved; returns the entry for the results."""
    for size in {"small", options.size}:
        state, complaint = harness.spawn({"family": family, "case": name, "data": size, "cold": False}, 600)
        if state != "ok":
            raise SystemExit(f"data of {name}: {state} {complaint}")
    contenders = installed(case, options.only.split(",") if options.only else None)
    rows = {}
    for round_number in range(options.rounds):
        for contender in contenders:
            row = rows.setdefault(contender, {"status": "ok"})
            if row["status"] != "ok":
                continue
            job = {"family": family, "case": name, "contender": contender, "size": options.size}
            noise = harness.wait_for_quiet(options.quiet)
            state, result = harness.spawn({**job, "cold": False, "seconds": options.seconds}, options.limit)
            if state != "ok":
                row.update({"status": state, "error": result} if "fit_s" not in row else {})
            else:
                keep_best(row, result)
            line = f"fit {result['fit_s']:.4f}  predict {result['apply_s']:.4f}" if state == "ok" else result
            print(
                f"  round {round_number + 1}  {contender:<17} {state:<7} {line}  (others: {noise:.1f} cores)",
                flush=True,
            )
    if not options.no_compile:
        for contender in contenders:
            if contender.partition("-")[0] in COMPILERS and rows[contender]["status"] == "ok":
                job = {"family": family, "case": name, "contender": contender, "size": "small", "cold": True}
                state, result = harness.spawn(job, options.limit)
                rows[contender]["cold_s"] = result["import_s"] + result["first_s"] if state == "ok" else None
                print(
                    f"  empty caches {contender}: {rows[contender]['cold_s'] if state == 'ok' else result}", flush=True
                )
    return {
        "date": datetime.date.today().isoformat(),
        "shape": shape_text(case.sizes[options.size]),
        "lower_is_better": case.lower_is_better,
        "slack": case.slack,
        "applies": case.apply is not None,
        "contenders": rows,
    }


def keep_best(row, result):
    """Smallest times over the rounds; memory and quality of the first."""
    for key in ("fit_s", "apply_s", "import_s", "first_s"):
        row[key] = min(row.get(key, float("inf")), result[key])
    row.setdefault("extra_mb", result["extra_mb"])
    row.setdefault("quality", result["quality"])


def shape_text(size):
    numbers = [size[key] for key in ("n", "d") if key in size]
    return " x ".join(f"{v // 1000}k" if v >= 1000 and v % 1000 == 0 else str(v) for v in numbers)


def store(folder, family, name, entry):
    """Write JSON and Markdown of a family, keeping the rows of other workloads."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{family}.json"
    results = json.loads(path.read_text()) if path.exists() else {"cases": {}}
    results["machine"] = report.machine()
    results["cases"][name] = entry
    order = list(importlib.import_module(f"cases.{family}").CASES)
    results["cases"] = {key: results["cases"][key] for key in order if key in results["cases"]}
    path.write_text(json.dumps(results, indent=1) + "\n")
    path.with_suffix(".md").write_text(report.markdown(family, results), encoding="utf-8")


def main():
    options = arguments()
    if options.readme and not options.names:
        report.write_readme()
        return
    started = time.time()
    for family, name, case in chosen(options.names):
        if options.list:
            print(f"{family:<10} {name:<18} {shape_text(case.sizes[options.size]):<12} {', '.join(case.contenders)}")
            continue
        print(f"[{time.time() - started:5.0f} s] {name} ({shape_text(case.sizes[options.size])})", flush=True)
        entry = run_case(family, name, case, options)
        store(options.out, family, name, entry)
        ours, best, peer, _ = report.verdict(entry)
        if ours is not None and best is not None:
            print(f"  -> {ours:.4f} s against {best:.4f} s ({peer}): ratio {ours / best:.2f}", flush=True)
        elif ours is None:
            qualities = {who: row.get("quality") for who, row in entry["contenders"].items()}
            print(f"  -> hyperplan failed or is not of equal quality: {qualities}", flush=True)
    if options.readme:
        report.write_readme()


if __name__ == "__main__":
    main()
