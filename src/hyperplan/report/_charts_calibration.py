"""Calibration: observed against predicted frequency with intervals, above the number of rows in each bin."""

from hyperplan.report._axes import draw_frame
from hyperplan.report._svg import SIZE, Canvas, text_width
from hyperplan.report._wording import Wording

COUNTS = 46.0  # height of the strip with the counts


def calibration_chart(wording: Wording, found: dict) -> str:
    """Points with intervals around the diagonal of perfect calibration; bars below count the rows."""
    canvas = Canvas("calibration", height=300)
    titles = wording.say("calibration.predicted"), wording.say("calibration.observed")
    frame = draw_frame(canvas, wording, (0.0, 1.0), (0.0, 1.0), *titles, bottom=40 + COUNTS)
    canvas.line("reference", frame.x(0), frame.y(0), frame.x(1), frame.y(1))
    rows = list(zip(*(found[name] for name in ("predicted", "observed", "counts", "low", "high"))))
    canvas.path("curve thin c0", [(frame.x(p), frame.y(o)) for p, o, *_ in rows])
    for predicted, observed, count, low, high in rows:
        tip = wording.say(
            "calibration.tip",
            predicted=wording.percent(predicted),
            observed=wording.percent(observed),
            low=wording.percent(low),
            high=wording.percent(high),
            count=count,
        )
        canvas.line("whisker", frame.x(predicted), frame.y(low), frame.x(predicted), frame.y(high), tip)
        canvas.shape("circle", "dot", tip, cx=frame.x(predicted), cy=frame.y(observed), r=3.5)
    _draw_counts(canvas, wording, frame, rows)
    title = wording.say("calibration.title")
    return canvas.render(title, wording.say("calibration.read"))


def _draw_counts(canvas: Canvas, wording: Wording, frame, rows) -> None:
    floor, most = canvas.height - 2, max((row[2] for row in rows), default=1) or 1
    for predicted, _, count, *_ in rows:
        height = (COUNTS - 16) * count / most
        tip = wording.count("rows", count)
        left = min(max(frame.x(predicted) - 4, frame.x.start), frame.x.end - 8)
        canvas.shape("rect", "bar", tip, x=left, y=floor - height, width=8, height=height)
    canvas.line("axis", frame.x.start, floor, frame.x.end, floor)
    label = wording.number(most)
    if text_width(label) < frame.x.start - 4:
        canvas.text("tick", frame.x.start - 6, floor - COUNTS + 16 + SIZE * 0.8, label, "end")
