"""Figures of the results: curves with their spread, and maps with what they map."""

import io
import itertools

import numpy as np

from hyperplan.reproduce._methods import LABELS
from hyperplan.reproduce._store import write_bytes
from hyperplan.reproduce._verdict import within

INK, GRID = "#33475b", "#e4e7eb"
COLOURS = {
    "risimap": "#0072b2",
    "isostretch": "#d55e00",
    "isomap": "#56b4e9",
    "pca": "#009e73",
    "kernel_pca": "#aa4499",
    "lle": "#e69f00",
    "umap": "#000000",
}
MARKS = {
    "risimap": "o-",
    "isostretch": "D--",
    "isomap": "s:",
    "pca": "^-",
    "kernel_pca": "v--",
    "lle": "P-.",
    "umap": "X:",
}
SCALED = {
    "none": ("as they are", "#d55e00", "o-"),
    "global": ("divided by one constant", "#aa4499", "s--"),
    "range": ("each on [-1, 1]", "#009e73", "^-."),
    "variance": ("each to variance 1", "#0072b2", "D-"),
    "input": ("table divided by its largest entry", "#000000", "X:"),
}
MOST = {"arcene": 40, "ionosphere": 30}  # neighbours in the grid of the thesis
NAMES = {"arcene": "ARCENE, 200 labelled rows", "ionosphere": "Ionosphere, 351 rows"}


def draw(results, tables, folder) -> list[str]:
    """Write each figure whose results are there; returns the names of the files."""
    made = []
    for name in NAMES:
        if f"{name}_risimap" in results:
            made.append(_write(folder, f"{name}.png", errors(results, name)))
    if "arcene_scaling" in results and "arcene_gamma" in results:
        made.append(_write(folder, "scaling.png", scaling(results)))
    if "roll" in results:
        made.append(_write(folder, "swiss_roll.png", roll(results["roll"], tables["roll"])))
    if "faces" in results:
        made.append(
            _write(folder, "faces.png", pictures(results["faces"], tables["faces"].X, 32, "698 faces, 6 neighbours"))
        )
    if "digits" in results:
        title = f"{results['digits']['n']} digits 2, 6 neighbours"
        made.append(_write(folder, "digits.png", pictures(results["digits"], tables["digits"].X, 28, title)))
    return made


def _write(folder, name, figure):
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    write_bytes(folder / name, buffer.getvalue())
    return name


def _panels(count, width=4.9, **options):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * count, 4.4), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    return figure, figure.subplots(1, count, **options)


def _dress(axes, title, x, y):
    axes.set_title(title, loc="left", weight="bold", color=INK, fontsize=11)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)
    axes.grid(color=GRID, lw=0.8)
    axes.set_axisbelow(True)


def _band(axes, x, mean, spread, style, colour, label, **more):
    mean, spread = 100 * np.asarray(mean), 100 * np.asarray(spread)
    axes.plot(x, mean, style, color=colour, ms=4, label=label, **more)
    axes.fill_between(x, mean - spread, mean + spread, color=colour, alpha=0.15, lw=0)


def errors(results, name):
    """Error against dimension for each neighbourhood, for each method, and against the neighbourhood."""
    figure, (left, middle, right) = _panels(3)
    ours = results[f"{name}_risimap"]
    shades = [0.25 + 0.75 * i / max(1, len(ours["k"]) - 1) for i in range(len(ours["k"]))]
    for i, shade in enumerate(shades):
        left.plot(ours["d"], 100 * np.asarray(ours["error"][i]), "-", color=COLOURS["risimap"], alpha=shade, lw=1.2)
    ends, reach = 100 * np.asarray([row[-1] for row in ours["error"]]), 100 * np.ptp(ours["error"])
    for k, end, place in zip(ours["k"], ends, apart(ends, 0.035 * reach)):
        arrow = {"arrowstyle": "-", "color": GRID, "shrinkA": 0, "shrinkB": 0}
        where = (ours["d"][-1] + 0.06 * np.ptp(ours["d"]), place)
        left.annotate(f"k={k}", (ours["d"][-1], end), where, fontsize=7, color=INK, va="center", arrowprops=arrow)
    grid = within(ours, MOST[name])
    mean, label = np.mean(grid["error"], axis=0), f"mean over k up to {max(grid['k'])}"
    left.plot(ours["d"], 100 * mean, "o-", color=INK, lw=2.2, ms=4, label=label)
    _dress(left, f"RISIMAP on {NAMES[name]}", "dimensions", "cross-validated error in %")
    left.legend(frameon=False, fontsize=9)
    methods(middle, results, name)
    neighbourhoods(right, results, name)
    return figure


def apart(values, least):
    """Places for names at these heights, in the same order and at least so far from each other."""
    order, places = np.argsort(values, kind="stable"), np.array(values, dtype=float)
    for below, above in itertools.pairwise(order):
        places[above] = max(places[above], places[below] + least)
    return places - (places.mean() - np.mean(values))


def methods(axes, results, name):
    """All methods at one neighbourhood; bands are the spread over seeds of the folds."""
    k = results[f"{name}_methods"]["risimap"]["k"] if f"{name}_methods" in results else None
    for method in ("risimap", "isostretch"):
        found = results.get(f"{name}_{method}")
        if found is not None:
            i = found["k"].index(k) if k in found["k"] else 0
            label = f"{LABELS[method]}, k={found['k'][i]}"
            _band(axes, found["d"], found["error"][i], found["spread"][i], MARKS[method], COLOURS[method], label)
    for method, found in results.get(f"{name}_others", {}).items():
        if method == "raw":
            axes.axhline(100 * found["error"][0][0], color=INK, ls=":", lw=1.5, label=LABELS["raw"])
            continue
        label = LABELS[method] + (f", k={found['k'][0]}" if found["k"][0] else "")
        _band(axes, found["d"], found["error"][0], found["spread"][0], MARKS[method], COLOURS[method], label)
    _dress(axes, "Methods; bands: spread over seeds", "dimensions", "cross-validated error in %")
    axes.legend(frameon=False, fontsize=8, ncols=2)


def neighbourhoods(axes, results, name):
    """Error averaged over the dimensions, against the neighbourhood."""
    for method in ("risimap", "isostretch"):
        found = results.get(f"{name}_{method}")
        if found is not None:
            mean, spread = np.mean(found["error"], axis=1), np.mean(found["spread"], axis=1)
            _band(axes, found["k"], mean, spread, MARKS[method], COLOURS[method], LABELS[method])
    axes.set_xscale("log")
    ks = results[f"{name}_risimap"]["k"]
    axes.set_xticks(ks, [str(k) for k in ks])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    _dress(axes, "Averaged over the dimensions", "neighbours k", "cross-validated error in %")
    axes.legend(frameon=False, fontsize=9)


def scaling(results):
    """What the machine sees under five scalings, and under every constant one at once."""
    figure, (left, right) = _panels(2, width=6.2)
    found = results["arcene_scaling"]
    for how, (label, colour, style) in SCALED.items():
        _band(left, found[how]["d"], found[how]["error"][0], found[how]["spread"][0], style, colour, label)
    left.axhline(44, color=INK, ls=":", lw=1.2, label="always the larger class: 44 %")
    _dress(left, f"gamma = 1/d, k = {found['none']['k'][0]}", "dimensions", "cross-validated error in %")
    left.set_ylim(bottom=0)
    left.legend(frameon=False, fontsize=9)
    for one in results["arcene_gamma"]["curves"]:
        label, colour, _ = SCALED[one["scaling"]]
        style = "o-" if one["d"] == results["arcene_gamma"]["curves"][0]["d"] else "D--"
        _band(right, one["gamma"], one["error"], one["spread"], style, colour, f"{label}, d={one['d']}")
        right.plot(one["default_gamma"], 100 * one["default_error"], "*", color=colour, ms=13, mec=INK, mew=0.6)
    right.axhline(44, color=INK, ls=":", lw=1.2)
    right.set_xscale("log")
    right.set_ylim(bottom=0)
    _dress(right, "Every gamma (stars: 1/d)", "gamma", "cross-validated error in %")
    right.legend(frameon=False, fontsize=9, loc="lower center")
    return figure


def residuals(axes, found):
    """Residual variance against dimension; circles are the elbows."""
    for name, label, style, colour in (
        ("isomap", "Isomap, geodesic distances", "o-", COLOURS["risimap"]),
        ("mds", "MDS, straight distances", "s--", COLOURS["isostretch"]),
    ):
        values = found["residual"][name]
        axes.plot(range(1, len(values) + 1), values, style, color=colour, ms=4, label=label)
        if name in found["elbow"]:
            at = found["elbow"][name]
            axes.plot(at, values[at - 1], "o", ms=13, mfc="none", color=colour, clip_on=False)
    axes.set_ylim(bottom=0)
    _dress(axes, "Residual variance (circle: elbow)", "dimensions", "1 - correlation squared")
    axes.legend(frameon=False, fontsize=9)


def roll(found, table):
    """The sheet, its two maps and the curve that tells its dimension."""
    figure, (first, second, third, fourth) = _panels(4, width=4.2)
    colour = table.y[:, 0]
    spec = first.get_subplotspec()
    first.remove()
    space = figure.add_subplot(spec, projection="3d")
    space.scatter(*table.X.T, c=colour, s=6, cmap="viridis")
    space.view_init(12, -75)
    space.set_yticks([0, 10, 20])
    space.set_xticks([-10, 0, 10])
    space.set_title(f"{len(table.X)} points of a rolled sheet", loc="left", weight="bold", color=INK, fontsize=11)
    for axes, name, title in ((second, "places", "Isomap, 10 neighbours"), (third, "lle", "LLE, 12 neighbours")):
        axes.scatter(*np.transpose(found[name]), c=colour, s=6, cmap="viridis")
        _dress(axes, title, "first coordinate", "second coordinate")
    residuals(fourth, found)
    return figure


def pictures(found, X, side, title):
    """A map with some of the images at their places, and the curve that tells the dimension."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    figure, (left, right) = _panels(2, width=6.6, width_ratios=(1.35, 1))
    places = np.asarray(found["places"])[:, :2]
    left.plot(*places.T, ".", color=COLOURS["risimap"], ms=3, alpha=0.6)
    left.margins(0.08)
    _dress(left, title, "first coordinate", "second coordinate")
    residuals(right, found)
    figure.draw_without_rendering()  # pixels are known only then
    for row in spread_out(left.transData.transform(places), 1.15 * 0.8 * side * figure.dpi / 72):
        image = X[row].reshape(side, side)
        image = image.T if side == 32 else image  # the faces are stored by columns
        box = AnnotationBbox(OffsetImage(image, zoom=0.8, cmap="gray"), places[row], pad=0.05, bboxprops={"lw": 0.4})
        left.add_artist(box)
    return figure


def spread_out(pixels, side):
    """Positions of points whose squares do not overlap: always the one farthest from those chosen."""
    chosen, gaps = [0], np.abs(pixels - pixels[0]).max(axis=1)
    while gaps.max() >= side:
        chosen.append(int(gaps.argmax()))
        gaps = np.minimum(gaps, np.abs(pixels - pixels[chosen[-1]]).max(axis=1))
    return chosen
