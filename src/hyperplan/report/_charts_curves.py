"""Curves in the unit square: ROC, precision-recall and precision-recall-gain, one line per class."""

from typing import NamedTuple

from hyperplan.report._axes import draw_frame
from hyperplan.report._svg import Canvas
from hyperplan.report._wording import Wording

NAMED = 6  # so many lines can be told apart by colour and dashes
WORST = 3  # of more lines, so many are named


class Curve(NamedTuple):
    """A line: its name, its points, and the number that sums it up."""

    name: str
    x: list
    y: list
    value: float | None


def highlighted(curves: list[Curve]) -> dict[int, int]:
    """Which curves have a colour of their own: all if they are few, else those with the lowest values."""
    if len(curves) <= NAMED:
        return {index: index for index in range(len(curves))}
    order = sorted(range(len(curves)), key=lambda i: (curves[i].value is None, curves[i].value))
    return {index: colour for colour, index in enumerate(order[:WORST])}


def stepped(x: list, y: list) -> tuple[list, list]:
    """A curve that keeps the precision of a recall until the next: what average precision adds up.

    Straight lines between the points would promise precisions that no threshold gives.
    """
    places = [(left, height) for left, height in zip(x, y[1:])], list(zip(x[1:], y[1:]))
    points = [point for pair in zip(*places) for point in pair] or list(zip(x, y))
    return [point[0] for point in points], [point[1] for point in points]


def curve_chart(
    key: str, wording: Wording, curves: list[Curve], x_title: str, y_title: str, title: str, reference
) -> str:
    """Curves over a dashed ``reference``: the two ends of the line that knowing nothing would give."""
    canvas = Canvas(key, height=300)
    frame = draw_frame(canvas, wording, (0.0, 1.0), (0.0, 1.0), x_title, y_title)
    if reference:
        (x1, y1), (x2, y2) = reference
        canvas.line("reference", frame.x(x1), frame.y(y1), frame.x(x2), frame.y(y2))
    colours = highlighted(curves)
    for index in sorted(range(len(curves)), key=lambda i: i in colours):
        curve = curves[index]
        kind = f"curve c{colours[index]}" if index in colours else "curve faint"
        tip = curve.name if curve.value is None else f"{curve.name}: {wording.number(curve.value, 3)}"
        canvas.path(kind, [(frame.x(x), frame.y(y)) for x, y in zip(curve.x, curve.y)], tip=tip)
    described = "; ".join(f"{curve.name} {wording.number(curve.value, 3)}" for curve in curves[:30])
    return canvas.render(title, described)
