"""Tables from results: one row per contender, and one line per workload for the README."""

import importlib.metadata
import json
import pathlib
import platform
import statistics

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE / "results"
README = HERE.parent / "README.md"
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"
OURS = "hyperplan"
PACKAGES = (
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "scikit-learn-intelex",
    "celer",
    "skglm",
    "snapml",
    "python_glmnet",
    "statsmodels",
    "lightgbm",
    "xgboost",
    "catboost",
    "shap",
    "faiss-cpu",
    "pykdtree",
    "dbscan",
    "umap-learn",
)


def machine():
    """What the numbers depend on; nothing that identifies the machine."""
    model = platform.processor() or platform.machine()
    info = pathlib.Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = f"{len(names)} x {names[0]}" if names else model
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {"cpu": model, "python": platform.python_version(), "versions": versions}


def total(row):
    """Seconds that count: fit and predict."""
    return row["fit_s"] + row["apply_s"]


def is_equal(row, rows, lower_is_better, slack):
    """Whether a contender's quality is as good as the best one's."""
    name = next(iter(row["quality"]))
    values = [other["quality"][name] for other in rows]
    best = min(values) if lower_is_better else max(values)
    worse = (row["quality"][name] - best) if lower_is_better else (best - row["quality"][name])
    return worse <= slack * max(abs(best), 1e-300)


def verdict(entry):
    """``(ours, best equal peer, its name, scikit-learn)`` in seconds; None where absent."""
    rows = {name: row for name, row in entry["contenders"].items() if row["status"] == "ok"}
    everyone = list(rows.values())
    equal = {n for n, r in rows.items() if is_equal(r, everyone, entry["lower_is_better"], entry["slack"])}
    peers = {name: total(row) for name, row in rows.items() if not name.startswith(OURS) and name in equal}
    best = min(peers, key=peers.get) if peers else None
    ours = total(rows[OURS]) if OURS in equal else None
    plain = [
        total(row)
        for name, row in rows.items()
        if name.startswith("sklearn") and "sklearnex" not in name and name in equal
    ]
    return ours, peers.get(best), best, min(plain) if plain else None


def seconds(value):
    """Three digits are more than a benchmark deserves."""
    if value is None:
        return "-"
    return (
        f"{value:.0f}"
        if value >= 100
        else f"{value:.1f}"
        if value >= 10
        else f"{value:.2f}"
        if value >= 1
        else f"{value:.3f}"
    )


def ratio(value, reference):
    return "-" if value is None or reference is None else f"{value / reference:.2f}"


def markdown(family, results):
    """The whole table of a family."""
    facts = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    lines = [
        f"# Benchmarks: {family}",
        "",
        f"{facts['cpu']}, Python {facts['python']}, {versions}.",
        "Best of several rounds, contenders interleaved, each in a fresh process with two threads. `ratio` is fit +",
        "predict over that of the fastest peer of equal quality (below 1: we are faster); `first` is the first call of",
        "a new process on tiny data with caches, `compile` the same without (import included). A quality in",
        "parentheses is not equal to the best.",
        "",
        "| workload | data | contender | fit s | predict s | ratio | extra MB | first s | compile s | quality | date |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---|---|",
    ]
    for name, entry in results["cases"].items():
        rows = {n: r for n, r in entry["contenders"].items() if r["status"] == "ok"}
        _, reference, _, _ = verdict(entry)
        for contender in sorted(rows, key=lambda n: total(rows[n])):
            row = rows[contender]
            quality = " ".join(f"{key} {value:.6g}" for key, value in row["quality"].items())
            fair = is_equal(row, list(rows.values()), entry["lower_is_better"], entry["slack"])
            cells = [
                name,
                entry["shape"],
                f"**{contender}**" if contender == OURS else contender,
                seconds(row["fit_s"]),
                seconds(row["apply_s"]) if entry["applies"] else "-",
                ratio(total(row), reference),
                f"{row['extra_mb']:.0f}",
                seconds(row["first_s"]),
                seconds(row.get("cold_s")),
                quality if fair else f"({quality})",
                entry["date"],
            ]
            lines.append(f"| {' | '.join(cells)} |")
        for contender, row in entry["contenders"].items():
            if row["status"] != "ok":
                cells = [name, entry["shape"], contender, row["status"], *[""] * 5, row.get("error", ""), entry["date"]]
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def stock(entry, plain):
    """scikit-learn's time, or why there is none."""
    ran_out = any(row["status"] == "timeout" for n, row in entry["contenders"].items() if n.startswith("sklearn"))
    return "timeout" if plain is None and ran_out else seconds(plain)


def stored():
    """``(family, results)`` of every family that has been measured."""
    for path in sorted(RESULTS.glob("*.json")):
        results = json.loads(path.read_text())
        if all("contenders" in entry for entry in results.get("cases", {"": {}}).values()):
            yield path.stem, results


def readme_section():
    """One line per family, and folded away one line per workload."""
    families = list(stored())
    if not families:
        return "Run `make bench` to fill this table on your machine."
    lines = [
        "| family | workloads | times faster than the best peer: median | least | most |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [summary_row(family, results) for family, results in families]
    for family, results in families:
        lines += ["", *family_table(family, results)]
    return "\n".join(lines)


def gains(results):
    """How many times faster than the best peer of equal quality, for each workload where both have a time."""
    found = [(ours, best) for ours, best, _, _ in map(verdict, results["cases"].values())]
    return [best / ours for ours, best in found if ours is not None and best is not None]


def summary_row(family, results):
    known = gains(results)
    numbers = [statistics.median(known), min(known), max(known)] if known else []
    cells = [f"[{family}](benchmarks/results/{family}.md)", str(len(results["cases"])), *(f"{v:.1f}" for v in numbers)]
    return f"| {' | '.join(cells)} |"


def family_table(family, results):
    """The folded table of a family."""
    dates = sorted({entry["date"] for entry in results["cases"].values()})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    lines = [
        "<details>",
        f"<summary>{family}: {results['machine']['cpu']}, {when}, two threads, fit + predict in seconds</summary>",
        "",
        "| workload | data | hyperplan | best peer | | scikit-learn | times faster than the best peer |",
        "|---|---|---:|---:|---|---:|---:|",
    ]
    for name, entry in results["cases"].items():
        ours, best, peer, plain = verdict(entry)
        gain = "-" if ours is None or best is None else f"{best / ours:.1f}"
        cells = [name, entry["shape"], seconds(ours), seconds(best), peer or "-", stock(entry, plain), gain]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", "</details>"]


def write_readme():
    """Put the section between its two comments in the README."""
    text = README.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    if not rest or BEGIN not in text or END not in text:
        raise SystemExit(f"README.md lacks the lines {BEGIN} and {END}")
    README.write_text(f"{head}{BEGIN}\n{readme_section()}\n{END}{tail}", encoding="utf-8")
