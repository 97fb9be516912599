"""The page that compares: a table of claims, tables of numbers, and how they were made."""

import csv
import io

from hyperplan.reproduce._methods import LABELS
from hyperplan.reproduce._plan import FULL
from hyperplan.reproduce._store import write_text
from hyperplan.reproduce._tables import SOURCES
from hyperplan.reproduce._verdict import AGREES, DIFFERS, PARTLY, UNKNOWN, percent
from hyperplan.reproduce._verdicts import verdicts

INTRODUCTION = """\
# RISIMAP and Isostretch, made again

F. Payette's thesis (2004) repairs Isomap on graphs that fall into pieces (RISIMAP: the shortest missing edges are
added) and lengthens short distances between rows of different classes (Isostretch), then classifies the coordinates
with a Gaussian support vector machine. This page makes its experiments again with `hyperplan.manifold` and
`hyperplan.svm`:

    hyperplan reproduce thesis --data FOLDER

The tables are public but not ours to ship: FOLDER (or the variable HYPERPLAN_DATA) must have them. `results.json`
holds every number below, `curves.csv` the curves.
"""
PROTOCOL = """\
## Protocol

- All rows, labelled or held out, are embedded together; the labels of held-out rows are hidden from Isostretch in
  every fold.
- Graph: an edge if either row is among the k nearest of the other. Bridges: the shortest edges between components, as
  in a minimum spanning tree, never stretched. Stretch: `d + e^2 / d` on edges between different known labels, `e` the
  smallest distance. Paths afterwards.
- Coordinates are nested: one decomposition serves all dimensions. Only those with positive eigenvalues exist.
- Rows that occur twice are mapped once.
- Each coordinate is scaled to unit variance (see "Which scaling?"), then a support vector machine with C = 1 and
  gamma = 1/d, libsvm's defaults of 2004, is trained on the labelled rows.
- Errors are cross-validated over shuffled folds ({folds}).
  "Validated 40 times" is read as 40 folds. "±" is the deviation over the seeds of the shuffle, which is *not* a
  standard error of the error rate: with 200 rows that is about 2.7 points, with 351 about 1.2. Differences between
  methods are therefore taken row by row.
- The lowest point of a curve is chosen by the data that judge it: read it as optimistic.
- Kernel PCA: Gaussian, gamma one over the median squared distance. UMAP: its defaults, seed 0. LLE: its defaults.
"""
SCALING = """\
The thesis names none. RISIMAP, gamma = 1/d, errors by dimension: coordinates as they are ("none"), divided by their
largest entry ("global"), each on [-1, 1] ("range"), each with variance 1 ("variance"), or as they are after the table
was divided by its largest entry ("input").
"""
NOT_DONE = """\
## What is not here

- The 700 unlabelled test rows of ARCENE, which the copies used here lack, and the challenge's server.
- The hands of Isomap's paper, and the faces at 64 x 64 pixels: 32 x 32 were available. (The thesis gives the digits
  4096 dimensions: they have 28 x 28 = 784.)
- The kernel of Isostretch as printed, `(d_G^2 + e^2) / d_X` with two different distances: it shortens most of the
  distances that it should lengthen.
"""


def write_page(store, missing, folder, plan=FULL) -> None:
    """``README.md`` and ``curves.csv``."""
    results = store.results()
    parts = [INTRODUCTION, _made(store), _missing(missing), _verdict_table(results)]
    parts += [_methods(results, name, title) for name, title in (("ionosphere", "Ionosphere"), ("arcene", "ARCENE"))]
    parts += [_scaling(results), _readings(results, plan), _madelon(results), _maps(results)]
    parts += [PROTOCOL.replace("{folds}", _folds(plan)), NOT_DONE]
    write_text(folder / "README.md", "\n".join(part for part in parts if part))
    write_text(folder / "curves.csv", _curves(results))


def _table(header, rows) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines) + "\n"


def _made(store):
    dates = sorted({entry["date"] for entry in store.entries.values()})
    seconds = sum(entry["seconds"] for entry in store.entries.values())
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    made = f"Made on {when}; {len(store.entries)} experiments took {seconds:.0f} s together"
    return f"{made} (by the clock on the wall, whatever else the machine did).\n"


def _missing(missing):
    if not missing:
        return ""
    lines = [f"- {name}: {SOURCES[name]}" for name in missing]
    return "**Left out**, because the table was not in the folder:\n\n" + "\n".join(lines) + "\n"


def _verdict_table(results):
    found = verdicts(results)
    count = {word: sum(one.verdict == word for one in found) for word in (AGREES, PARTLY, DIFFERS, UNKNOWN)}
    said = f"Of {len(found)} claims {count[AGREES]} agree, {count[PARTLY]} agree partly, {count[DIFFERS]} differ and "
    said += f"{count[UNKNOWN]} cannot be checked with what is public.\n"
    table = _table(["claim", "thesis", "here", "verdict", "why"], [list(one) for one in found])
    return f"## What agrees, what does not, and why\n\n{said}\n{table}"


def _methods(results, name, title):
    if f"{name}_methods" not in results:
        return ""
    rows = []
    for method, row in results[f"{name}_methods"].items():
        gap = "" if method == "risimap" else f"{100 * row['difference']:+.1f} ± {100 * row['standard_error']:.1f}"
        error = f"{percent(row['error'])} ± {100 * row['spread']:.1f}"
        rows.append([LABELS[method], row["k"] or "", row["d"], error, percent(row["ber"]), gap])
    header = ["method", "k", "d", "error", "balanced error", "difference to RISIMAP, row by row (± standard error)"]
    text = f"## {title}: methods at one setting, fixed beforehand\n\n{_table(header, rows)}\n"
    text += _told_apart(results[f"{name}_methods"])
    return text + f"\n![Errors on {title} against dimension and neighbourhood]({name}.png)\n"


def _told_apart(rows) -> str:
    """Which methods differ from RISIMAP by more than two standard errors."""
    groups = {"fewer errors": [], "more errors": [], "not told apart": []}
    for method, row in rows.items():
        gap, wide = row["difference"], 2 * row["standard_error"]
        if method != "risimap":
            groups["fewer errors" if gap < -wide else "more errors" if gap > wide else "not told apart"].append(method)
    said = [f"{word}: {', '.join(LABELS[one] for one in names)}" for word, names in groups.items() if names]
    return f"Against RISIMAP, by two standard errors: {'; '.join(said)}.\n"


def _folds(plan) -> str:
    """How errors were estimated, table by table."""
    tables = (("Ionosphere", plan.ionosphere), ("ARCENE", plan.arcene))
    return "; ".join(f"{name}: {grid.folds} folds, {grid.seeds} seeds" for name, grid in tables)


def _scaling(results):
    if "arcene_scaling" not in results:
        return ""
    text = f"## Which scaling?\n\n{SCALING}\nARCENE:\n\n{_scaled(results['arcene_scaling'])}"
    if "ionosphere_scaling" in results:
        text += f"\nIonosphere, whose largest entry is 1:\n\n{_scaled(results['ionosphere_scaling'])}"
    if "arcene_gamma" in results:
        text += "\nA constant scale is another gamma. ARCENE, searched over four orders of magnitude, C = 1:\n\n"
        text += _gammas(results)
    return text + "\n![Error against dimension by scaling, and against gamma](scaling.png)\n"


def _scaled(found) -> str:
    rows = []
    for how, one in found.items():
        for k, errors in zip(one["k"], one["error"]):
            rows.append([how, k, *(percent(value) for value in errors)])
    return _table(["scaling", "k", *(f"d = {d}" for d in found["none"]["d"])], rows)


def _gammas(results):
    rows = []
    for one in results["arcene_gamma"]["curves"]:
        lowest = min(range(len(one["error"])), key=one["error"].__getitem__)
        best = f"{percent(one['error'][lowest])} ± {100 * one['spread'][lowest]:.1f} (gamma {one['gamma'][lowest]:.2g})"
        default = f"{percent(one['default_error'])} (gamma {one['default_gamma']:.2g})"
        chosen = f"{percent(one['chosen_error'])} (gamma {one['chosen_gamma']:.2g})"
        rows.append([one["scaling"], one["k"], one["d"], default, best, chosen])
    return _table(["scaling", "k", "d", "gamma = 1/d", "best gamma", "gamma chosen by inner folds"], rows)


def _readings(results, plan):
    if "arcene_readings" not in results:
        return ""
    rows = []
    for row in results["arcene_readings"]["rows"]:
        error = f"{percent(row['error'])} ± {100 * row['spread']:.1f}"
        gap = f"{100 * row['difference']:+.1f} ± {100 * row['standard_error']:.1f}"
        reading = "none: RISIMAP" if row["reading"] == "risimap" else row["reading"]
        rows.append([row["k"], row["d"], reading, row["labels"], error, "" if row["reading"] == "risimap" else gap])
    text = f"## Readings of Isostretch (ARCENE, {min(20, plan.arcene.folds)} folds)\n\n"
    text += "Edges lengthened before the paths are found, or the lengths of the paths after.\n\n"
    return text + _table(["k", "d", "stretch", "held-out labels", "error", "difference to RISIMAP"], rows)


def _madelon(results):
    if "madelon" not in results:
        return ""
    found, rows = results["madelon"], []
    for row in found["rows"]:
        bers = [percent(value) for value in row["ber"]]
        rows.append(
            [LABELS[row["method"]], row["k"], *bers, f"{row['embedding_seconds']:.1f}", f"{row['seconds']:.1f}"]
        )
    dims = [f"d = {d}" for d in found["rows"][0]["d"]]
    text = f"## MADELON, {found['n']} rows: balanced error on the 600 validation rows\n\n"
    return text + _table(["method", "k", *dims, "embedding, s", "with all machines, s"], rows)


def _maps(results):
    text = ""
    if "roll" in results:
        trust = ", ".join(f"{name} {value:.3f}" for name, value in results["roll"]["trust"].items())
        shares = " and ".join(percent(value) for value in results["roll"]["explained"])
        text += f"A linear function of Isomap's two coordinates explains {shares} of the sheet's length and height; "
        text += f"trustworthiness of ten neighbours: {trust}.\n\n![A rolled sheet and its maps](swiss_roll.png)\n"
    if "faces" in results:
        ours, plain = ([percent(v) for v in results["faces"][key]] for key in ("explained", "explained_by_pca"))
        text += "\nShares of the variance of the two angles and the light explained linearly by three coordinates: "
        text += f"{', '.join(ours)} (Isomap), {', '.join(plain)} (PCA).\n\n![Faces on their map](faces.png)\n"
    if "digits" in results:
        found = results["digits"]
        whole = "make one of them" if found["bridges"] == 0 else f"leave {found['bridges'] + 1}"
        text += f"\nBalls of radius 4.2 leave the digits in {found['ball_bridges'] + 1} pieces; "
        text += f"six neighbours {whole}.\n"
        text += "\n![Digits on their map](digits.png)\n"
    return f"## Maps\n\n{text}" if text else ""


def _curves(results) -> str:
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(["table", "method", "scaling", "k", "d", "error", "spread", "ber", "ber_spread"])
    for table, method, found in _all_curves(results):
        for i, k in enumerate(found["k"]):
            for j, d in enumerate(found["d"]):
                values = [f"{found[name][i][j]:.5f}" for name in ("error", "spread", "ber", "ber_spread")]
                writer.writerow([table, method, found["scaling"], k or "", d, *values])
    return lines.getvalue()


def _all_curves(results):
    for table in ("ionosphere", "arcene"):
        for method in ("risimap", "isostretch"):
            if f"{table}_{method}" in results:
                yield table, method, results[f"{table}_{method}"]
        for method, found in results.get(f"{table}_others", {}).items():
            yield table, method, found
        for how, found in results.get(f"{table}_scaling", {}).items():
            if how != "variance":  # which is above
                yield table, "risimap", found
