"""Measure the competition: is the model it chooses as good as the best of its rivals, and is its interval honest?

    python benchmarks/compete.py --data FOLDER --time 60              every table
    python benchmarks/compete.py adult titanic --time 20              some tables
    python benchmarks/compete.py diabetes wdbc --repeats 20 --only hyperplan --time 10 --name compete_coverage
    python benchmarks/compete.py --table                              only rewrite the Markdown from the stored results

The folder of the tables is --data or the variable HYPERPLAN_DATA.  Of each table 30 % of the rows are held out (classes
dealt evenly); each contender learns from the others in a process of its own, one after the other, and predicts the
held-out rows.  The verdict compares the chosen model with the rival that did best on the held-out rows: a paired
bootstrap of the difference, "better" or "worse" when its 95 % interval does not hold zero, else "tied".  Choosing the
best rival on the very rows it is judged by favours the rivals.

"Inside" is whether the announced interval holds the held-out score.  The interval speaks of the expected score; a
held-out score has noise of its own, so that "agrees" also adds the standard error of the latter.
"""

import argparse
import contextlib
import datetime
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import time

import numpy as np

import report
from compete_rivals import PACKAGES, RIVALS, features
from compete_tables import HELD_OUT, TABLES, parts, read

OURS = "hyperplan"
RESAMPLES = 1000
PATIENCE = 240.0  # seconds beyond the budget before a contender is given up
THREADS = {f"{name}_NUM_THREADS": "2" for name in ("OMP", "OPENBLAS", "MKL", "HYPERPLAN")}


def arguments():
    parser = argparse.ArgumentParser(description="Measure the model competition against its rivals.")
    parser.add_argument("tables", nargs="*", help=f"default: all of {', '.join(TABLES)}")
    parser.add_argument(
        "--time", type=float, default=60.0, help="seconds of the competition and of FLAML (%(default)s)"
    )
    parser.add_argument("--repeats", type=int, default=1, help="number of hold-outs, each with its seed (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first hold-out (%(default)s)")
    parser.add_argument("--data", default=os.environ.get("HYPERPLAN_DATA"), help="folder of the tables")
    parser.add_argument("--only", help="contenders, separated by commas")
    parser.add_argument("--out", type=pathlib.Path, default=report.RESULTS, help="folder of the results")
    parser.add_argument("--name", default="compete", help="name of the files of results (%(default)s)")
    parser.add_argument("--table", action="store_true", help="only write the Markdown again")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


# -------------------------------------------------------------------------------------------------------- worker


def work(path: pathlib.Path) -> None:
    """Learn, predict, and leave the answer beside the job; runs in a process of its own."""
    with path.open("rb") as file:
        job = pickle.load(file)
    frame, target = read(job["table"], job["data"])
    train, held = parts(frame, target, job["seed"])
    began = time.monotonic()
    if job["contender"] == OURS:
        answer = run_ours(train, held, target, job)
    else:
        names = TABLES[job["table"]].names
        X, X_held = features(train.drop(columns=target), held.drop(columns=target), names)
        y = train[target].to_numpy()
        run = RIVALS[job["contender"]]
        answer = {"prediction": run(X, y, X_held, job["is_class"], job["metric"], job["time"])}
    answer["seconds"] = time.monotonic() - began
    path.with_suffix(".answer").write_bytes(pickle.dumps(answer))


def run_ours(train, held, target, job) -> dict:
    """The competition, told the target; columns of numbers that are names are declared as for the rivals."""
    from hyperplan.compete import compete

    kinds = {name: "category" for name in TABLES[job["table"]].names}
    found = compete(train, target=target, time=job["time"], seed=job["seed"], columns=kinds, test=held)
    problem = found.question.problem
    classes = [str(label) for label in np.unique(train[target])] if problem.classes else []
    prediction = found.predictions["test"]
    return {
        "prediction": prediction[[f"probability_{name}" for name in classes] or "prediction"].to_numpy(),
        "classes": classes,
        "metric": problem.metric,
        "rows": problem.n_rows,
        "chosen": found.standings.chosen.candidate.name,
        "best": found.standings.best.candidate.name,
        "why": found.standings.why,
        "score": found.standings.score,
        "splits": len(found.standings.chosen.outcomes),
        "board": [
            {key: row.get(key) for key in ("name", "score", "group", "tried", "reason", "fit_seconds", "settings")}
            for row in found.standings.rows
        ],
    }


# -------------------------------------------------------------------------------------------------------- parent


def ask(job: dict) -> dict:
    """The answer of a contender, or why there is none."""
    with tempfile.TemporaryDirectory(prefix="hyperplan-compete-") as folder:
        path = pathlib.Path(folder) / "job.pickle"
        path.write_bytes(pickle.dumps(job))
        command = [sys.executable, str(pathlib.Path(__file__).resolve()), "--worker", str(path)]
        limit = job["time"] + PATIENCE
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=limit, env={**os.environ, **THREADS}, check=False
            )
        except subprocess.TimeoutExpired:
            return {"error": f"no answer within {limit:g} s"}
        answer = path.with_suffix(".answer")
        if not answer.exists():
            return {"error": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1][:200]}
        return pickle.loads(answer.read_bytes())


def measure(name: str, seed: int, options, contenders) -> dict:
    """One hold-out of one table: everybody's score, the verdict and the interval."""
    job = {"table": name, "seed": seed, "data": options.data, "time": options.time}
    ours = ask({**job, "contender": OURS})
    if "error" in ours:
        return {"table": name, "seed": seed, "time": options.time, "error": ours["error"]}
    frame, target = read(name, options.data)
    _, held = parts(frame, target, seed)
    job |= {"is_class": bool(ours["classes"]), "metric": ours["metric"]}
    answers = {contender: ask({**job, "contender": contender}) for contender in contenders}
    return {"table": name, "seed": seed, "time": options.time, **judged(ours, answers, held[target].to_numpy())}


def judged(ours: dict, answers: dict, truth) -> dict:
    """Scores, verdict against the best rival, and whether the interval holds the held-out score."""
    from hyperplan.compete._measures import MEASURES
    from hyperplan.evaluation import bootstrap_interval

    measure, y = MEASURES[ours["metric"]], coded(truth, ours["classes"])
    strata = y if ours["classes"] else None
    options = {"method": "percentile", "n_resamples": RESAMPLES, "strata": strata}
    given = {name: row["prediction"] for name, row in answers.items() if "error" not in row}
    scores = {name: measure.score(y, prediction) for name, prediction in given.items()}
    metric, plain, (own,) = measure.resampled(y, [ours["prediction"]])
    held = bootstrap_interval(metric, plain, own, **options)
    row = {
        **{key: ours[key] for key in ("metric", "rows", "chosen", "best", "why", "splits", "board")},
        "held_rows": len(y),
        "score": held.value,
        "held_error": (held.high - held.low) / 2 / 1.96,
        "announced": ours["score"],
        "seconds": {OURS: ours["seconds"], **{name: row.get("seconds") for name, row in answers.items()}},
        "rivals": scores,
        "errors": {name: row["error"] for name, row in answers.items() if "error" in row},
    }
    row |= in_interval(row)
    if scores:
        sign = 1 if measure.greater_is_better else -1
        best = max(scores, key=lambda name: sign * scores[name])
        difference = bootstrap_interval(
            lambda t, a, b: sign * (measure.score(t, a) - measure.score(t, b)),
            y, ours["prediction"], given[best], **options,
        )  # fmt: skip
        row |= {"rival": best, "difference": difference.value, "low": difference.low, "high": difference.high}
        row["verdict"] = "better" if difference.low > 0 else "worse" if difference.high < 0 else "tied"
    return row


def coded(values, classes):
    """Numbers as they are; classes as their positions in `classes`."""
    if not classes:
        return np.asarray(values, dtype=np.float64)
    place = {name: code for code, name in enumerate(classes)}
    return np.array([place[str(value)] for value in values])


def in_interval(row: dict) -> dict:
    """Whether the announced interval holds the held-out score, alone and with the noise of the latter."""
    announced = row["announced"]
    if announced["low"] is None:
        return {"inside": None, "agrees": None}
    gap, half = row["score"] - announced["value"], 1.96 * row["held_error"]
    width = announced["high"] - announced["value"] if gap > 0 else announced["value"] - announced["low"]
    inside = announced["low"] <= row["score"] <= announced["high"]
    return {"inside": bool(inside), "agrees": bool(abs(gap) <= np.hypot(width, half))}


# -------------------------------------------------------------------------------------------------------- results


def store(path: pathlib.Path, row: dict | None) -> dict:
    """Add a row to the results (replacing that of the same table, seed and time) and write JSON and Markdown."""
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"rows": []}
    if row is not None:
        key = ("table", "seed", "time")
        rows = [old for old in results["rows"] if any(old.get(k) != row.get(k) for k in key)]
        order = list(TABLES)
        rows = sorted([*rows, row], key=lambda row: (order.index(row["table"]), row["seed"], row.get("time", 0)))
        today = datetime.date.today().isoformat()
        results = {"machine": report.machine(), "rivals": versions(), "date": today, "held_out": HELD_OUT, "rows": rows}
        replace(path, json.dumps(results, indent=1) + "\n")
    replace(path.with_suffix(".md"), markdown(results))
    return results


def versions() -> dict:
    """Versions of the rivals' packages that are installed."""
    found = {}
    for package in ("lightgbm", "scikit-learn", "flaml"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found


def replace(path: pathlib.Path, text: str) -> None:
    """Write beside and rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def markdown(results: dict) -> str:
    """The table of verdicts, a line per hold-out, and the sums."""
    names = [name for name in RIVALS if any(name in row.get("rivals", {}) for row in results["rows"])]
    head = ["table", "rows", "metric", "chosen", "held out", "announced", *names, "difference", "verdict", "inside"]
    lines = ["# The competition against its rivals", "", *_explanation(results), ""]
    lines += [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [_line(row, names) for row in results["rows"]]
    return "\n".join([*lines, "", *_sums(results["rows"]), ""])


def _explanation(results):
    rivals = ", ".join(f"{name} {version}" for name, version in results.get("rivals", {}).items())
    machine = f"{results.get('machine', {}).get('cpu', '')}, {results.get('date', '')}; {rivals}."
    return [
        f'{machine}  {HELD_OUT:.0%} of the rows held out.  "Difference" is the score of the chosen model minus that of',
        "the best rival (bold) on the held-out rows, positive when ours is better, with the 95 % interval of a paired",
        'bootstrap; "inside" whether the announced interval holds the held-out score ((yes): only with the noise of',
        "the held-out score added).  Written by `benchmarks/compete.py`.",
    ]


def _line(row, names):
    title = row["table"] + (f" ({row['seed']})" if row["seed"] else "")
    if "error" in row:
        return f"| {title} | | | {row['error']} |"
    announced = row["announced"]
    span = "-" if announced["low"] is None else f"{announced['low']:.4f} to {announced['high']:.4f}"
    rivals = [_score(row["rivals"].get(name), name == row.get("rival")) for name in names]
    compared = ["", ""]
    if "verdict" in row:
        compared = [f"{row['difference']:+.4f} ({row['low']:+.4f} to {row['high']:+.4f})", row["verdict"]]
    inside = {None: "-", True: "yes"}.get(row["inside"], "(yes)" if row["agrees"] else "no")
    cells = [title, str(row["rows"]), row["metric"], row["chosen"], f"{row['score']:.4f}", span, *rivals, *compared]
    return f"| {' | '.join([*cells, inside])} |"


def _score(value, is_best):
    return "-" if value is None else f"**{value:.4f}**" if is_best else f"{value:.4f}"


def _sums(rows):
    verdicts = [row["verdict"] for row in rows if "verdict" in row]
    counts = ", ".join(f"{name} {verdicts.count(name)}" for name in ("better", "tied", "worse"))
    known = [row for row in rows if row.get("inside") is not None]
    inside, agrees = sum(row["inside"] for row in known), sum(row["agrees"] for row in known)
    seconds = [row["seconds"][OURS] for row in rows if "seconds" in row]
    lines = [f"Verdicts: {counts}, of {len(verdicts)}."] if verdicts else []
    if known:
        lines.append(
            f"Held-out score in the announced interval: {inside} of {len(known)}; with its own noise: {agrees}."
        )
    if seconds:
        lines.append(f"Seconds of the competition, reports not written: at most {max(seconds):.1f}.")
    return lines


def progress(row: dict) -> str:
    """One line about a hold-out."""
    if "error" in row:
        return f"{row['table']:<20} {row['error']}"
    compared = f"{row['verdict']:<7}{row['difference']:+.4f} ({row['rival']})" if "verdict" in row else ""
    return (
        f"{row['table']:<20} seed {row['seed']:<3} {row['metric']:<20} {row['score']:.4f} by {row['chosen']:<32} "
        f"{compared}  inside {row['inside']}  agrees {row['agrees']}  {row['seconds'][OURS]:.0f} s"
    )


def main():
    options = arguments()
    if options.worker:
        return work(pathlib.Path(options.worker))
    path = options.out / f"{options.name}.json"
    if options.table:
        store(path, None)
        return None
    unknown = set(options.tables) - set(TABLES)
    if unknown or not options.data:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}" if unknown else "where are the tables? --data FOLDER")
    wanted = options.only.split(",") if options.only else list(RIVALS)
    contenders = [name for name in RIVALS if name in wanted and importlib.util.find_spec(PACKAGES[name])]
    print(f"rivals: {', '.join(contenders) or 'none'}", flush=True)
    for seed in range(options.seed, options.seed + options.repeats):
        for name in options.tables or TABLES:
            row = measure(name, seed, options, contenders)
            store(path, row)
            print(progress(row), flush=True)
    print("\n".join(_sums(json.loads(path.read_text(encoding="utf-8"))["rows"])))
    return None


if __name__ == "__main__":
    main()
