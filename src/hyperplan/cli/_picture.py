"""The demo's picture: scores with intervals for both questions, and a regularisation path."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

INK, BEST, QUIET = "#33475b", "#c2410c", "#9aa5b1"


class CoefficientPath(NamedTuple):
    """Lasso coefficients (features x alphas) of standardised features."""

    alphas: np.ndarray
    coefficients: np.ndarray
    names: list[str]


def lasso_path(question, n_alphas: int = 60) -> CoefficientPath:
    """Lasso fits from the alpha that kills every coefficient down to a thousandth of it."""
    from hyperplan.cli._demo import standardised
    from hyperplan.datasets import load_penguins
    from hyperplan.linear_model import Lasso

    table = load_penguins(target=question.target)
    X = standardised(table.data, table.data)[0]
    largest = np.abs(X.T @ (table.target - table.target.mean())).max() / X.shape[0]
    alphas = largest * np.logspace(0, -3, n_alphas)
    coefficients = [Lasso(alpha=alpha, max_iter=100_000).fit(X, table.target).coef_ for alpha in alphas]
    return CoefficientPath(alphas, np.array(coefficients).T, table.feature_names)


def draw(path: Path, answers, lasso: CoefficientPath) -> Path:
    """Write the picture beside its place and rename it there: never a half-written file."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.5, 8.4), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.1, 1))
    for row, (question, rows) in enumerate(answers):
        _draw_scores(figure.add_subplot(grid[row, 0]), question, rows)
    _draw_path(figure.add_subplot(grid[:, 1]), lasso)
    figure.suptitle("hyperplan on the Palmer penguins (333 rows)", fontsize=15, weight="bold", color=INK)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    figure.savefig(beside, format="png")
    beside.replace(path)
    return path


def _draw_scores(axes, question, rows):
    """One dot and one bar per model, best on top; the baseline in words, since it lies far to the left."""
    baseline, *models = rows
    models = sorted(models, key=lambda row: row.score.value)
    best = models[-1].score.value
    for height, row in enumerate(models):
        colour = BEST if row.score.value == best else INK
        axes.plot([row.score.low, row.score.high], [height, height], color=colour, lw=2.2, solid_capstyle="round")
        axes.plot(row.score.value, height, "o", color=colour, ms=7)
        label = f"{row.score.value:.3f}"
        axes.annotate(
            label, (row.score.value, height), (0, 6), textcoords="offset points", ha="center", color=colour, fontsize=9
        )
    axes.set_yticks(range(len(models)), [row.label for row in models])
    axes.set_ylim(-0.6, len(models) - 0.2)
    baseline_text = f"{baseline.label}: {baseline.score.value:.2f}"
    axes.set_xlabel(f"{question.score_name} on unseen rows, mean and 95 % interval ({baseline_text})", color=INK)
    axes.set_title(question.title, loc="left", weight="bold", color=INK)
    _plain(axes)


def _draw_path(axes, lasso: CoefficientPath):
    """Coefficients against alpha, labelled where they end."""
    axes.axhline(0, color=QUIET, lw=0.8)
    colours = [f"C{i}" for i in range(len(lasso.names))]
    for values, colour in zip(lasso.coefficients, colours):
        axes.plot(lasso.alphas, values, color=colour, lw=2)
    axes.set_xscale("log")
    axes.invert_xaxis()
    ends = lasso.coefficients[:, -1]
    low, high = lasso.coefficients.min(), lasso.coefficients.max()
    for index, height in zip(np.argsort(ends), spread(np.sort(ends), 0.035 * (high - low))):
        text = lasso.names[index].replace("_", " ")
        place = (lasso.alphas[-1], ends[index])
        axes.annotate(
            text,
            place,
            (1.04, height),
            textcoords=("axes fraction", "data"),
            va="center",
            fontsize=10,
            color=colours[index],
            arrowprops={"arrowstyle": "-", "color": colours[index], "lw": 0.6, "shrinkA": 0, "shrinkB": 0},
        )
    axes.set_xlim(right=lasso.alphas[-1])
    axes.set_xlabel("penalty alpha (weaker to the right)")
    axes.set_ylabel("coefficient: grams per standard deviation of the feature")
    axes.set_title("Lasso path: what makes a penguin heavy", loc="left", weight="bold", color=INK)
    _plain(axes)


def spread(heights: np.ndarray, gap: float) -> np.ndarray:
    """Sorted label heights moved apart to at least `gap`, staying as near as possible to where they belong."""
    groups = [[height, 1] for height in heights]  # centre and size of runs of labels that touch
    merged = True
    while merged:
        merged = False
        for i in range(len(groups) - 1):
            (low, n_low), (high, n_high) = groups[i], groups[i + 1]
            if high - low < gap * (n_low + n_high) / 2:
                groups[i : i + 2] = [[(low * n_low + high * n_high) / (n_low + n_high), n_low + n_high]]
                merged = True
                break
    return np.concatenate([centre + gap * (np.arange(size) - (size - 1) / 2) for centre, size in groups])


def _plain(axes):
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)
    axes.grid(axis="x", color="#e4e7eb", lw=0.8)
    axes.set_axisbelow(True)
