"""Maps of the rows, the curve of the dimension, and the choice of the number of groups, as inline SVG."""

import math
from typing import NamedTuple

from hyperplan.report._axes import draw_frame, extent
from hyperplan.report._svg import Canvas, text_box
from hyperplan.report._wording import Wording

SIDE, MARGIN, LEAST_HEIGHT = 360.0, 10.0, 150.0
COLOURS = 8  # that can be told apart


class Layer(NamedTuple):
    """Dots of one colour: the class of the colour, the name in the legend, and which dots."""

    kind: str
    name: str
    members: list


def map_chart(key: str, x: list, y: list, layers: list[Layer], title: str, description: str, is_named: bool) -> str:
    """Dots in colours; equal distances on the map are equal in both directions.  Groups carry their number."""
    places, height = _places(x, y)
    canvas = Canvas(key, width=SIDE, height=height)
    canvas.shape("rect", "sea", x=0.5, y=0.5, width=SIDE - 1, height=height - 1, rx=8)
    many = " many" if len(x) > 600 else ""
    for layer in layers:
        if layer.members:
            canvas.dots(f"dots {layer.kind}{many}", [places[k] for k in layer.members])
    for layer in layers if is_named else ():
        if layer.members and layer.kind != "none":
            _name(canvas, layer, [places[k] for k in layer.members])
    return canvas.render(title, description)


def _places(x: list, y: list) -> tuple[list[tuple[float, float]], float]:
    """Places of the dots, and the height of the map: a flat cloud needs less of it."""
    low_x, high_x, low_y, high_y = min(x), max(x), min(y), max(y)
    reach = max(high_x - low_x, high_y - low_y) or 1.0
    scale = (SIDE - 2 * MARGIN) / reach
    height = min(max(scale * (high_y - low_y) + 2 * MARGIN, LEAST_HEIGHT), SIDE)
    left, top = SIDE / 2 - scale * (low_x + high_x) / 2, height / 2 + scale * (low_y + high_y) / 2
    return [(left + scale * a, top - scale * b) for a, b in zip(x, y)], height


def _name(canvas: Canvas, layer: Layer, places) -> None:
    """The number of a group at the dot that is nearest to the middle of its dots, clear of the other numbers."""
    middle = [sorted(values)[len(places) // 2] for values in zip(*places)]
    across, down = min(places, key=lambda place: math.dist(place, middle))  # a group may lie in parts
    across, size = min(max(across, MARGIN), SIDE - MARGIN), 15.0
    for shift in (0.0, 1.6, -1.2, 2.8, -2.4, 4.0, -3.6):  # above the dot first: it may be all there is
        place = down - 0.4 * size + size * shift
        if place >= size and canvas.is_free(text_box(across, place, layer.name, "middle", size)):
            canvas.text("group-name", across, place, layer.name, "middle", size)
            return


def dimension_chart(wording: Wording, curves: list[dict], estimate) -> str:
    """Residual variance against the number of dimensions, one line per way of measuring."""
    canvas = Canvas("dimension-chart", height=280)
    most = max(len(curve["values"]) for curve in curves)
    top = max(max(curve["values"]) for curve in curves)
    titles = wording.say("dimension.axis"), wording.say("dimension.residual")
    frame = draw_frame(canvas, wording, (0.8, most + 0.2), (0.0, max(top, 0.05) * 1.05), *titles, whole=True)
    if estimate:
        canvas.line("reference", frame.x(estimate), frame.y.start, frame.x(estimate), frame.y.end)
    for colour, curve in enumerate(curves):
        points = [(d, value) for d, value in enumerate(curve["values"], start=1)]
        canvas.path(f"curve c{colour}", [(frame.x(d), frame.y(value)) for d, value in points])
        for d, value in points:
            tip = wording.say("dimension.tip", count=d, value=wording.percent(value))
            canvas.shape("circle", f"dot c{colour}", tip, cx=frame.x(d), cy=frame.y(value), r=3)
    return canvas.render(wording.say("dimension.title"), wording.say("dimension.read"))


def choice_chart(wording: Wording, lines: list[dict]) -> str:
    """Silhouette against the number of groups; grey strokes reach over tables without groups."""
    canvas = Canvas("choice-chart", height=280)
    every = [value for line in lines for value in (*line["y"], *(end for span in line["null"] if span for end in span))]
    spans = [k for line in lines for k in line["x"]]
    titles = wording.say("choice.axis"), wording.say("choice.silhouette")
    reach = min(spans) - 0.3, max(spans) + 0.3
    frame = draw_frame(canvas, wording, reach, extent(every, [0.0]), *titles, whole=True)
    for colour, line in enumerate(lines):
        shift = 3.0 * (colour - (len(lines) - 1) / 2)
        for k, span in zip(line["x"], line["null"]):
            if span:
                x = frame.x(k) + shift
                canvas.line("null", x, frame.y(span[0]), x, frame.y(span[1]), wording.say("choice.null_tip"))
        canvas.path(f"curve c{colour}", [(frame.x(k), frame.y(value)) for k, value in zip(line["x"], line["y"])])
        for k, value in zip(line["x"], line["y"]):
            tip = wording.say("choice.tip", method=line["name"], count=int(k), value=wording.number(value, 2))
            canvas.shape("circle", f"dot c{colour}", tip, cx=frame.x(k), cy=frame.y(value), r=3)
    return canvas.render(wording.say("choice.title"), wording.say("choice.read"))
