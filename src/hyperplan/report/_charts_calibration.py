"""Calibration: observed against predicted frequency with intervals, above how often each probability was predicted."""

from hyperplan.report._axes import draw_frame
from hyperplan.report._svg import SIZE, Canvas, text_width
from hyperplan.report._wording import Wording

COUNTS = 46.0  # height of the strip with the counts


def calibration_chart(wording: Wording, found: dict) -> str:
    """Points with intervals around the diagonal of perfect calibration; bars below count the rows, if that is known."""
    canvas = Canvas("calibration", height=300)
    titles = wording.say("calibration.predicted"), wording.say("calibration.observed")
    spread = found["spread"] or []
    frame = draw_frame(canvas, wording, (0.0, 1.0), (0.0, 1.0), *titles, bottom=40 + (COUNTS if spread else 0.0))
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
    if spread:
        _draw_spread(canvas, wording, frame, spread)
    title = wording.say("calibration.title")
    return canvas.render(title, wording.say("calibration.read"))


def _draw_spread(canvas: Canvas, wording: Wording, frame, spread: list) -> None:
    """A histogram of the predicted probabilities; the highest bar has its count."""
    floor, most = canvas.height - 2, max(spread) or 1
    for part, count in enumerate(spread):
        ends = part / len(spread), (part + 1) / len(spread)
        left, right, height = frame.x(ends[0]), frame.x(ends[1]), (COUNTS - 16) * count / most
        between = wording.say("interval", low=wording.percent(ends[0], 0), high=wording.percent(ends[1], 0))
        tip = f"{between}: {wording.count('rows', count)}"
        if count:
            top = max(height, 1.0)
            canvas.shape("rect", "bar", tip, x=left + 0.5, y=floor - top, width=right - left - 1, height=top)
    canvas.line("axis", frame.x.start, floor, frame.x.end, floor)
    label = wording.number(most)
    if text_width(label) < frame.x.start - 4:
        canvas.text("tick", frame.x.start - 6, floor - COUNTS + 16 + SIZE * 0.8, label, "end")
    else:
        highest = (spread.index(most) + 0.5) / len(spread)
        half = text_width(label) / 2
        place = min(max(frame.x(highest), frame.x.start + half), frame.x.end - half)
        canvas.text("tick", place, floor - COUNTS + 13, label, "middle")
