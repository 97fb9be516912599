"""The page that compares: a table of claims, tables of numbers, and how they were made."""

import csv
import io

from hyperplan.reproduce._methods import LABELS
from hyperplan.reproduce._store import write_text
from hyperplan.reproduce._tables import SOURCES
from hyperplan.reproduce._verdicts import percent, verdicts

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
- Each coordinate is scaled to unit variance (see "Which scaling?"), then a support vector machine with C = 1 and
  gamma = 1/d, libsvm's defaults of 2004, is trained on the labelled rows.
- Errors are cross-validated over shuffled folds; "±" is the deviation over the seeds of the shuffle, which is *not* a
  standard error of the error rate: with 200 rows that is about 2.7 points, with 351 about 1.2. Differences between
  methods are therefore taken row by row.
- The lowest point of a curve is chosen by the data that judge it: read it as optimistic.
- Kernel PCA: Gaussian, gamma one over the median squared distance. UMAP: its defaults, seed 0. LLE: its defaults.
"""
SCALING = """\
The thesis names none. RISIMAP on ARCENE, gamma = 1/d, errors by dimension: coordinates as they are ("none"), divided by
their largest entry ("global"), each on [-1, 1] ("range"), each with variance 1 ("variance"), or as they are after the
table was divided by its largest entry ("input"):
"""
NOT_DONE = """\
## What is not here

- The 700 unlabelled test rows of ARCENE, which the copies used here lack, and the challenge's server.
- The hands of Isomap's paper, and the faces at 64 x 64 pixels: 32 x 32 were available.
- The kernel of Isostretch as printed, `(d_G^2 + e^2) / d_X` with two different distances: it shortens most of the
  distances that it should lengthen.
"""


def write_page(store, missing, folder) -> None:
    """``README.md`` and ``curves.csv``."""
    results = store.results()
    parts = [INTRODUCTION, _made(store), _missing(missing), _verdict_table(results)]
    parts += [_methods(results, name, title) for name, title in (("ionosphere", "Ionosphere"), ("arcene", "ARCENE"))]
    parts += [_scaling(results), _readings(results), _madelon(results), _maps(results), PROTOCOL, NOT_DONE]
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
    rows = [[one.claim, one.thesis, one.measured, one.verdict, one.why] for one in verdicts(results)]
    return "## What agrees and what does not\n\n" + _table(["claim", "thesis", "here", "verdict", "why"], rows)


def _methods(results, name, title):
    if f"{name}_methods" not in results:
        return ""
    rows = []
    for method, row in results[f"{name}_methods"].items():
        gap = "" if method == "risimap" else f"{100 * row['difference']:+.1f} ± {100 * row['standard_error']:.1f}"
        error = f"{percent(row['error'])} ± {100 * row['spread']:.1f}"
        rows.append([LABELS[method], row["k"] or "", row["d"], error, percent(row["ber"]), gap])
    header = ["method", "k", "d", "error", "balanced error", "difference to RISIMAP, row by row (± standard error)"]
    text = f"## {title}: methods at one setting, fixed beforehand\n\n{_table(header, rows)}"
    return text + f"\n![Errors on {title} against dimension and neighbourhood]({name}.png)\n"


def _scaling(results):
    if "arcene_scaling" not in results:
        return ""
    found = results["arcene_scaling"]
    rows = []
    for how, one in found.items():
        for k, errors in zip(one["k"], one["error"]):
            rows.append([how, k, *(percent(value) for value in errors)])
    text = f"## Which scaling?\n\n{SCALING}\n"
    text += _table(["scaling", "k", *(f"d = {d}" for d in found["none"]["d"])], rows)
    if "arcene_gamma" in results:
        text += "\nA constant scale is another gamma. Searched over four orders of magnitude, C = 1:\n\n"
        text += _gammas(results)
    return text + "\n![Error against dimension by scaling, and against gamma](scaling.png)\n"


def _gammas(results):
    rows = []
    for one in results["arcene_gamma"]["curves"]:
        lowest = min(range(len(one["error"])), key=one["error"].__getitem__)
        best = f"{percent(one['error'][lowest])} ± {100 * one['spread'][lowest]:.1f} (gamma {one['gamma'][lowest]:.2g})"
        default = f"{percent(one['default_error'])} (gamma {one['default_gamma']:.2g})"
        chosen = f"{percent(one['chosen_error'])} (gamma {one['chosen_gamma']:.2g})"
        rows.append([one["scaling"], one["k"], one["d"], default, best, chosen])
    return _table(["scaling", "k", "d", "gamma = 1/d", "best gamma", "gamma chosen by inner folds"], rows)


def _readings(results):
    if "arcene_readings" not in results:
        return ""
    rows = []
    for row in results["arcene_readings"]["rows"]:
        error = f"{percent(row['error'])} ± {100 * row['spread']:.1f}"
        gap = f"{100 * row['difference']:+.1f} ± {100 * row['standard_error']:.1f}"
        rows.append([row["k"], row["d"], row["reading"], row["labels"], error, gap if row["difference"] else ""])
    text = "## Readings of Isostretch (ARCENE, 20 folds)\n\n"
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
        text += f"\nBalls of radius 4.2 leave the digits in {found['ball_bridges'] + 1} pieces; "
        text += f"six neighbours, on the map, in {found['bridges'] + 1}.\n"
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
