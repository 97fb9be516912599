"""Scatter plots of a regression: predicted against true values with intervals, residuals against predictions."""

import itertools

from hyperplan.report._axes import draw_frame, extent
from hyperplan.report._svg import Canvas
from hyperplan.report._wording import Wording

INTERVALS = 120  # so many prediction intervals can be seen apart
FEW_VALUES = 20  # so many true values or fewer are columns of dots, which are spread sideways
GOLDEN = 0.6180339887498949  # multiples of it, modulo one, fill an interval evenly


def prediction_chart(wording: Wording, found: dict, target: str) -> str:
    """Each row is a dot at its true and predicted value; evenly chosen rows show their interval too."""
    true, predicted = found["true"], found["predicted"]
    both = extent(true, predicted)
    canvas = Canvas("predictions", height=330)
    titles = wording.say("prediction.true", target=target), wording.say("prediction.predicted", target=target)
    frame = draw_frame(canvas, wording, both, both, *titles)
    canvas.line("reference", frame.x(both[0]), frame.y(both[0]), frame.x(both[1]), frame.y(both[1]))
    places = _spread(true)
    if found["lower"] and found["upper"]:
        order = sorted(range(len(true)), key=true.__getitem__)
        for index in order[:: max(len(order) // INTERVALS, 1)]:
            x = frame.x(places[index])
            canvas.line("whisker faint", x, frame.y(found["lower"][index]), x, frame.y(found["upper"][index]))
    canvas.dots(_dots(len(true)), [(frame.x(x), frame.y(y)) for x, y in zip(places, predicted)])
    return canvas.render(wording.say("prediction.title"), wording.say("prediction.read"))


def residual_chart(wording: Wording, found: dict, target: str) -> str:
    """True minus predicted value against the prediction: a good model leaves a cloud without a shape."""
    residuals = [true - predicted for true, predicted in zip(found["true"], found["predicted"])]
    canvas = Canvas("residuals", height=330)
    titles = wording.say("prediction.predicted", target=target), wording.say("residual.axis")
    frame = draw_frame(canvas, wording, extent(found["predicted"]), extent(residuals, [0.0]), *titles)
    canvas.line("reference", frame.x.start, frame.y(0), frame.x.end, frame.y(0))
    places = [(frame.x(x), frame.y(y)) for x, y in zip(found["predicted"], residuals)]
    canvas.dots(_dots(len(residuals)), places)
    return canvas.render(wording.say("residual.title"), wording.say("residual.read"))


def _spread(values: list) -> list:
    """The values; if they are few, moved sideways by a little, so that dots do not hide each other."""
    known = sorted(set(values))
    if not 1 < len(known) <= FEW_VALUES:
        return values
    reach = 0.6 * min(high - low for low, high in itertools.pairwise(known))
    return [value + reach * (index * GOLDEN % 1 - 0.5) for index, value in enumerate(values)]


def _dots(number: int) -> str:
    return "dots many" if number > 300 else "dots"
