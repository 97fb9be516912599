"""A small canvas for inline SVG: shapes, texts whose size is known well enough to keep them apart, a title for readers.

Colours and strokes are classes of the page's style sheet, so that a chart follows light, dark and print.  Lengths are
in units of the view box; charts are 360 wide, the width of a phone.
"""

import unicodedata
from html import escape
from typing import NamedTuple

SIZE = 11.0  # of texts, in units of the view box
ASCENT, DESCENT = 0.78, 0.22  # of a line of text, in em
NARROW, BROAD = set(" .,:;'|!()[]{}ijltfrI/\\-\u202f\u00a0"), set("mwMW@%—…")


class Box(NamedTuple):
    """A rectangle that a text covers."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Box", gap: float = 0.0) -> bool:
        """True if two boxes share a place, or lie side by side with less than ``gap`` between them."""
        across = self.left < other.right + gap and other.left < self.right + gap
        return across and self.top < other.bottom and other.top < self.bottom


def text_width(text: str, size: float = SIZE) -> float:
    """About the width of a text in a wide sans-serif font: rather too much than too little."""
    return size * sum(_em(character) for character in text)


def _em(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if character in NARROW:
        return 0.37
    if character in BROAD:
        return 0.96
    return 0.70 if character.isupper() else 0.62


def text_box(x: float, y: float, text: str, anchor: str = "start", size: float = SIZE) -> Box:
    """The rectangle of a text whose baseline starts, is centred or ends at ``(x, y)``."""
    width = text_width(text, size)
    left = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
    return Box(left, y - ASCENT * size, left + width, y + DESCENT * size)


def fit_text(text: str, width: float, size: float = SIZE) -> str:
    """A text that is at most so wide; what is cut off leaves an ellipsis."""
    if text_width(text, size) <= width:
        return text
    kept = text
    while kept and text_width(kept + "…", size) > width:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def length(value: float) -> str:
    """A coordinate with one decimal."""
    return f"{value:.1f}".removesuffix(".0").replace("-0.0", "0")


class Canvas:
    """Shapes and texts in order; `render` makes the element, with a title and a description for screen readers.

    ``key`` is unique on the page: the title and the description are found by it.
    """

    def __init__(self, key: str, width: float = 360.0, height: float = 270.0):
        self.key, self.width, self.height = key, width, height
        self.parts: list[str] = []
        self.boxes: list[Box] = []

    def shape(self, tag: str, kind: str, tip: str = "", **attributes) -> None:
        """One element of the class ``kind``; ``tip`` appears where the pointer rests."""
        texts = {name: length(value) if isinstance(value, float | int) else value for name, value in attributes.items()}
        shown = "".join(f' {name.replace("_", "-")}="{escape(text)}"' for name, text in texts.items())
        inside = f"<title>{escape(tip)}</title></{tag}>" if tip else f"</{tag}>"
        self.parts.append(f'<{tag} class="{kind}"{shown}>{inside}')

    def line(self, kind: str, x1: float, y1: float, x2: float, y2: float, tip: str = "") -> None:
        """A straight line."""
        self.shape("line", kind, tip, x1=x1, y1=y1, x2=x2, y2=y2)

    def path(self, kind: str, points, closed: bool = False, tip: str = "") -> None:
        """A line through points; those that fall on the one before are left out.

        An area may come back to a place that it has passed: there a band has no width.
        """
        places = _distinct(points)
        if places:
            steps = " ".join(f"{x},{y}" for x, y in places)
            self.shape("polygon" if closed else "polyline", kind, tip, points=steps)

    def dots(self, kind: str, points) -> None:
        """Many dots in one element: lines of length nothing with round ends."""
        places = dict.fromkeys((length(x), length(y)) for x, y in points)
        self.shape("path", kind, d="".join(f"M{x} {y}h0" for x, y in places))

    def text(self, kind: str, x: float, y: float, text: str, anchor: str = "start", size: float = SIZE) -> None:
        """A text; its box is kept, so that others can stay clear of it."""
        self.boxes.append(text_box(x, y, text, anchor, size))
        where = f'x="{length(x)}" y="{length(y)}" text-anchor="{anchor}" font-size="{length(size)}"'
        self.parts.append(f'<text class="{kind}" {where}>{escape(text)}</text>')

    def is_free(self, box: Box, gap: float = 2.0) -> bool:
        """True if a box is on the canvas and clear of all texts so far."""
        inside = box.left >= 0 and box.top >= 0 and box.right <= self.width and box.bottom <= self.height
        return inside and not any(box.overlaps(other, gap) for other in self.boxes)

    def render(self, title: str, description: str = "") -> str:
        """The SVG element."""
        names = f"{self.key}-title {self.key}-desc" if description else f"{self.key}-title"
        head = f'<title id="{self.key}-title">{escape(title)}</title>'
        if description:
            head += f'<desc id="{self.key}-desc">{escape(description)}</desc>'
        box = f"0 0 {length(self.width)} {length(self.height)}"
        return (
            f'<svg class="chart" viewBox="{box}" role="img" aria-labelledby="{names}">{head}{"".join(self.parts)}</svg>'
        )


def _distinct(points) -> list[tuple[str, str]]:
    kept: list[tuple[str, str]] = []
    for x, y in points:
        place = (length(x), length(y))
        if not kept or kept[-1] != place:
            kept.append(place)
    return kept
