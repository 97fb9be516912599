"""Scales with round ticks, and the frame of a chart: grid, tick labels, titles of the axes."""

import math
from typing import NamedTuple

from hyperplan.report._svg import SIZE, Canvas, fit_text, text_box, text_width
from hyperplan.report._wording import Wording


class Scale(NamedTuple):
    """A linear map from values to places."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """True if a value is on the scale."""
        return self.low <= value <= self.high


def extent(*groups, margin: float = 0.04) -> tuple[float, float]:
    """The least and greatest of all values (nulls left out), a little apart so that marks are not cut."""
    values = [value for group in groups for value in group or () if value is not None]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    spare = (high - low) * margin or abs(low) * 0.05 or 0.5
    return low - spare, high + spare


def round_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten between two values: as near to so many as there are."""
    raw = (high - low) / max(about, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((factor * power for factor in (1, 2, 5, 10)), key=lambda step: abs(math.log(step / raw)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return list(dict.fromkeys(index * step for index in range(first, last + 1)))


def fitting_ticks(wording: Wording, low: float, high: float, room: float, about: int = 6, whole: bool = False):
    """``(ticks, labels)`` whose labels leave each other air in ``room`` units; ``whole`` where there are no halves."""
    for count in range(about, 0, -1):
        ticks = round_ticks(low, high, count)
        if whole and len(ticks) > 1 and ticks[1] - ticks[0] < 1:
            ticks = [float(tick) for tick in range(math.ceil(low), math.floor(high) + 1)]
        labels = wording.ticks(ticks)
        if len(ticks) < 2 or max(map(text_width, labels)) + 8 <= room * (ticks[1] - ticks[0]) / (high - low):
            break
    return ticks, labels


class Frame(NamedTuple):
    """The two scales of a chart whose frame is drawn."""

    x: Scale
    y: Scale


def draw_frame(
    canvas: Canvas,
    wording: Wording,
    x_range,
    y_range,
    x_title: str,
    y_title: str,
    bottom: float = 40.0,
    whole: bool = False,
    x_ticks=None,
) -> Frame:
    """Grid, ticks and titles; the y title stands above its axis, where it can be read without turning the head.

    ``whole`` says that the x axis counts something; ``x_ticks`` are places and labels of its own.
    """
    y_ticks = round_ticks(*y_range, 5)
    y_labels = wording.ticks(y_ticks)
    left = max([text_width(label) for label in y_labels], default=20.0) + 10
    frame = Frame(Scale(*x_range, left, canvas.width - 12), Scale(*y_range, canvas.height - bottom, SIZE * 2.2))
    for tick, label in zip(y_ticks, y_labels):
        canvas.line("grid", left, frame.y(tick), frame.x.end, frame.y(tick))
        if canvas.is_free(text_box(left - 6, frame.y(tick) + SIZE * 0.35, label, "end")):
            canvas.text("tick", left - 6, frame.y(tick) + SIZE * 0.35, label, "end")
    x_ticks = x_ticks or fitting_ticks(wording, *x_range, frame.x.end - frame.x.start, whole=whole)
    _draw_x_axis(canvas, frame, x_title, *x_ticks)
    canvas.text("axis-title", 2, SIZE, fit_text(y_title, canvas.width - 4))
    return frame


def _draw_x_axis(canvas: Canvas, frame: Frame, title: str, ticks, labels) -> None:
    """Ticks below the chart and the title of the axis below them."""
    floor = frame.y.start
    for tick, label in zip(ticks, labels):
        canvas.line("grid", frame.x(tick), frame.y.end, frame.x(tick), floor)
        half = text_width(label) / 2
        place = min(max(frame.x(tick), half + 1), canvas.width - half - 1)
        if canvas.is_free(text_box(place, floor + SIZE * 1.4, label, "middle"), gap=4.0):
            canvas.text("tick", place, floor + SIZE * 1.4, label, "middle")
    canvas.line("axis", frame.x.start, floor, frame.x.end, floor)
    room = frame.x.end - frame.x.start
    if title:
        canvas.text("axis-title", frame.x.end, floor + SIZE * 2.9, fit_text(title, room), "end")
