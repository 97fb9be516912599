"""Strips: one interval per table row, as wide as its cell, all on one scale.

The row's name is a text of the table, so that names of any length wrap instead of overlapping; the strip is an SVG
whose places are percentages, so that it fills its cell on a phone and on a desktop without being distorted.
"""

from html import escape

from hyperplan.report._axes import Scale, fitting_ticks
from hyperplan.report._svg import text_box
from hyperplan.report._wording import Wording

HEIGHT = 22
NARROWEST = 190  # units: the tick labels of an axis stay apart in a cell so narrow


def strip_scale(low: float, high: float) -> Scale:
    """A scale in percent of the cell, with a little air at both ends."""
    spare = (high - low) * 0.03 or abs(low) * 0.05 or 0.5
    return Scale(low - spare, high + spare, 0.0, 100.0)


def strip(
    wording: Wording, scale: Scale, low, value, high, tip: str, kind: str = "", reference=None, region=None,
    room: float = NARROWEST,
) -> str:  # fmt: skip
    """One interval with its centre, over the grid, a reference line and a shaded region of values."""
    middle = HEIGHT / 2
    parts = [
        f'<line class="grid" {_at(scale(tick))} y1="0" y2="{HEIGHT}"></line>'
        for tick in _ticks(wording, scale, room)[0]
    ]
    if region:
        left, right = scale(region[0]), scale(region[1])
        parts.append(
            f'<rect class="region" x="{left:.2f}%" y="0" width="{right - left:.2f}%" height="{HEIGHT}"></rect>'
        )
    if reference is not None and scale.holds(reference):
        parts.append(f'<line class="reference" {_at(scale(reference))} y1="0" y2="{HEIGHT}"></line>')
    if low is not None and high is not None:
        ends = f'x1="{scale(low):.2f}%" x2="{scale(high):.2f}%" y1="{middle}" y2="{middle}"'
        parts.append(f'<line class="whisker" {ends}></line>')
    if scale.holds(value):
        parts.append(f'<circle class="dot" cx="{scale(value):.2f}%" cy="{middle}" r="4"></circle>')
    else:
        end, sign = ("0%", "◂") if value < scale.low else ("100%", "▸")
        anchor = "start" if value < scale.low else "end"
        parts.append(f'<text class="beyond" x="{end}" y="{middle + 4}" text-anchor="{anchor}">{sign}</text>')
    shown = escape(tip)
    head = f'<svg class="strip {kind}" height="{HEIGHT}" role="img" aria-label="{shown}"><title>{shown}</title>'
    return f"{head}{''.join(parts)}</svg>"


def strip_axis(wording: Wording, scale: Scale, room: float = NARROWEST) -> str:
    """The tick labels below (or above) a column of strips; they keep apart in ``room`` units."""
    parts, free_from = [], float("-inf")
    for tick, label in zip(*_ticks(wording, scale, room)):
        place = scale(tick)
        anchor = "start" if place < 2.5 else "end" if place > 97.5 else "middle"
        box = text_box(place * room / 100, 12, label, anchor)
        if box.left > free_from:
            parts.append(f'<text class="tick" x="{place:.2f}%" y="12" text-anchor="{anchor}">{escape(label)}</text>')
            free_from = box.right + 4
    return f'<svg class="strip strip-axis" height="16" aria-hidden="true">{"".join(parts)}</svg>'


def _ticks(wording: Wording, scale: Scale, room: float):
    return fitting_ticks(wording, scale.low, scale.high, room, about=5)


def _at(place: float) -> str:
    return f'x1="{place:.2f}%" x2="{place:.2f}%"'
