"""Histograms: with axes for residuals and targets, small ones for the columns of the data."""

import itertools
from html import escape

from hyperplan.report._axes import draw_frame
from hyperplan.report._svg import Canvas, length
from hyperplan.report._wording import Wording


def histogram(
    key: str, wording: Wording, edges: list, counts: list, x_title: str, title: str, zero: bool = False
) -> str:
    """Bars over intervals; ``zero`` draws a reference line at 0."""
    canvas = Canvas(key, height=260)
    span = (edges[0], edges[-1]) if edges[-1] > edges[0] else (edges[0] - 0.5, edges[0] + 0.5)
    frame = draw_frame(canvas, wording, span, (0.0, max(max(counts), 1) * 1.05), x_title, wording.say("axis.rows"))
    for left, right, count in zip(edges, edges[1:], counts):
        start, end, top = frame.x(left), max(frame.x(right), frame.x(left) + 0.5), frame.y(count)
        canvas.shape(
            "rect", "bar", f"{_range(wording, left, right)}: {wording.number(count)}",
            x=start + 0.5, y=top, width=max(end - start - 1, 0.5), height=frame.y.start - top,
        )  # fmt: skip
    if zero and span[0] < 0 < span[1]:
        canvas.line("reference", frame.x(0), frame.y.end, frame.x(0), frame.y.start)
    return canvas.render(title)


def spark(wording: Wording, edges: list, counts: list, label: str, names: list[str] | None = None) -> str:
    """A histogram the size of a word, for a card of the data's columns; bars have ``names`` or those of their edges."""
    most = max(counts, default=0) or 1
    wide = 200 / max(len(counts), 1)
    names = names or [_range(wording, left, right) for left, right in itertools.pairwise(edges)]
    bars = []
    for index, (name, count) in enumerate(zip(names, counts)):
        height = max(44 * count / most, 1.0 if count else 0.0)
        where = f'x="{length(index * wide + 0.6)}" y="{length(44 - height)}"'
        size = f'width="{length(max(wide - 1.2, 0.6))}" height="{length(height)}"'
        tip = escape(f"{name}: {wording.number(count)}")
        bars.append(f'<rect class="bar" {where} {size}><title>{tip}</title></rect>')
    head = (
        f'<svg class="spark" viewBox="0 0 200 45" preserveAspectRatio="none" role="img" aria-label="{escape(label)}">'
    )
    return f'{head}{"".join(bars)}<line class="axis" x1="0" y1="44.5" x2="200" y2="44.5"></line></svg>'


def _range(wording: Wording, left: float, right: float) -> str:
    first, last = wording.ticks([left, right]) if right > left else (wording.scientific(left),) * 2
    return wording.say("interval", low=first, high=last)
