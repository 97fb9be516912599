"""What the pictures of this package share: colours that people with any colour vision can tell apart, plain axes."""

import numpy as np

from hyperplan._texts.extras import required

INK, GRID = "#33475b", "#e4e7eb"
BLUE, ORANGE = "#0072b2", "#d55e00"


def new_axes(width=6.4, height=4.2):
    """Axes of a figure that belongs to no window."""
    agg, drawing = required("matplotlib.backends.backend_agg"), required("matplotlib.figure")
    figure = drawing.Figure(figsize=(width, height), layout="constrained")
    agg.FigureCanvasAgg(figure)
    return figure.subplots()


def dress(axes, grid="y"):
    """No frame, a light grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)
    axes.grid(axis=grid, color=GRID, lw=0.8)
    axes.set_axisbelow(True)
    return axes


def draw_intervals(labels, values, low, high, xlabel, axes=None):
    """A dot and a line per row, the first row on top."""
    axes = new_axes(6.4, 1.2 + 0.32 * len(labels)) if axes is None else axes
    heights = np.arange(len(labels))[::-1]
    axes.axvline(0, color=INK, lw=0.8)
    axes.hlines(heights, low, high, color=BLUE, lw=2)
    axes.plot(values, heights, "o", color=BLUE, ms=7)
    axes.set_yticks(heights, labels)
    axes.set_ylim(-0.7, len(labels) - 0.3)
    axes.set_xlabel(xlabel, color=INK)
    return dress(axes, "x")


def draw_bands(x, bands, xlabel, ylabel, axes=None, log=False):
    """Lines with shaded intervals; `bands` is a list of ``(label, values, low, high)``."""
    axes = new_axes() if axes is None else axes
    for (label, values, low, high), colour, style in zip(bands, (BLUE, ORANGE), ("--s", "-o")):
        axes.fill_between(x, low, high, color=colour, alpha=0.18, lw=0)
        axes.plot(x, values, style, color=colour, lw=2, ms=6, label=label)
    if log:
        axes.set_xscale("log")
    axes.set_xlabel(xlabel, color=INK)
    axes.set_ylabel(ylabel, color=INK)
    axes.legend(frameon=False)
    return dress(axes, "y")
