"""Lines with a band of uncertainty: partial dependence of a number, and the learning curve."""

import datetime

from hyperplan.report._axes import draw_frame, extent
from hyperplan.report._svg import Canvas
from hyperplan.report._wording import Wording, capital

DOTS = 8  # so few values of a column are marked


def dependence_chart(key: str, wording: Wording, part: dict, y_range, y_title: str) -> str:
    """The mean prediction as one column, of numbers or dates, moves, over where the rows are."""
    canvas = Canvas(key, height=210)
    grid, ticks = part["grid"], None
    if part.get("kind") == "date":
        days = [datetime.date.fromisoformat(day).toordinal() for day in grid]
        ends = [0, -1] if days[0] < days[-1] else [0]
        grid, ticks = days, ([days[end] for end in ends], [part["grid"][end] for end in ends])
    span = (min(grid), max(grid)) if min(grid) < max(grid) else extent(grid)
    is_whole = all(float(value).is_integer() for value in grid)
    frame = draw_frame(canvas, wording, span, y_range, "", y_title, bottom=22, whole=is_whole, x_ticks=ticks)
    _draw_density(canvas, frame, grid, part["density"])
    _draw_line(canvas, frame, "c0", grid, part["mean"], part["low"], part["high"])
    if len(grid) <= DOTS:
        for x, mean in zip(grid, part["mean"]):
            canvas.shape("circle", "dot", cx=frame.x(x), cy=frame.y(mean), r=3)
    return canvas.render(part["name"], wording.say("dependence.read"))


def learning_chart(wording: Wording, curve: dict, metric: str, is_loss: bool = False) -> str:
    """Training and validation score against the number of training rows."""
    names = [f"{part}{end}" for part in ("train", "validation") for end in ("", "_low", "_high")]
    canvas = Canvas("learning-chart", height=280)
    top = max(curve["sizes"])
    span = (0.0, top * 1.02)
    frame = draw_frame(
        canvas, wording, span, extent(*(curve[name] for name in names)), wording.say("learning.rows"), capital(metric)
    )
    for colour, part in (("c0", "validation"), ("c1", "train")):
        _draw_line(canvas, frame, colour, curve["sizes"], *(curve[f"{part}{end}"] for end in ("", "_low", "_high")))
        for size, value in zip(curve["sizes"], curve[part]):
            tip = wording.say("learning.tip", size=size, value=wording.number(value, 3))
            canvas.shape("circle", f"dot {colour}", tip, cx=frame.x(size), cy=frame.y(value), r=3)
    return canvas.render(
        wording.say("learning.title"), wording.say("learning.read_low" if is_loss else "learning.read")
    )


def _draw_line(canvas: Canvas, frame, colour: str, x, mean, low, high) -> None:
    if low and high:
        upper = [(frame.x(a), frame.y(b)) for a, b in zip(x, high)]
        lower = [(frame.x(a), frame.y(b)) for a, b in zip(x, low)]
        canvas.path(f"band {colour}", upper + lower[::-1], closed=True)
    canvas.path(f"curve {colour}", [(frame.x(a), frame.y(b)) for a, b in zip(x, mean)])


def _draw_density(canvas: Canvas, frame, grid, density) -> None:
    """Where the rows are, as a low hill on the axis."""
    if density and max(density) > 0:
        floor, most = frame.y.start, max(density)
        hill = [(frame.x(x), floor - 26 * value / most) for x, value in zip(grid, density)]
        canvas.path("hill", [(frame.x(grid[0]), floor), *hill, (frame.x(grid[-1]), floor)], closed=True)
