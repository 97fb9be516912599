"""The threshold trade-off: what precision, recall and the others become as the threshold moves."""

from hyperplan.report._axes import draw_frame
from hyperplan.report._svg import Canvas
from hyperplan.report._wording import Wording

LINES = ("precision", "recall", "specificity", "f1", "share_flagged")


def threshold_chart(wording: Wording, found: dict, chosen: int) -> str:
    """One line per quantity; a vertical mark stands at the threshold of index ``chosen``, and a script can move it."""
    canvas = Canvas("thresholds", height=300)
    frame = draw_frame(
        canvas, wording, (0.0, 1.0), (0.0, 1.0), wording.say("threshold.axis"), wording.say("threshold.value")
    )
    for colour, name in enumerate(LINES):
        for points in _runs(found["threshold"], found[name]):
            places = [(frame.x(x), frame.y(y)) for x, y in points]
            canvas.path(f"curve c{colour}", places, tip=wording.word("quantity", name))
    x = frame.x(found["threshold"][chosen])
    canvas.shape(
        "line", "mark", id=f"{canvas.key}-mark", x1=x, y1=frame.y.end, x2=x, y2=frame.y.start,
        data_start=frame.x.start, data_end=frame.x.end,
    )  # fmt: skip
    return canvas.render(wording.say("threshold.title"), wording.say("threshold.read"))


def _runs(x: list, y: list):
    """Stretches of points without a null (a precision of nothing flagged)."""
    run: list = []
    for point in zip(x, y):
        if point[1] is None:
            if run:
                yield run
            run = []
        else:
            run.append(point)
    if run:
        yield run
