"""Charts: labels keep apart and inside, shapes stand where the numbers say."""

import html
import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperplan._texts import LANGUAGES
from hyperplan.report import render_report
from hyperplan.report._axes import Scale, extent, fitting_ticks, round_ticks
from hyperplan.report._charts_bands import dependence_chart, learning_chart
from hyperplan.report._charts_curves import Curve, curve_chart, highlighted, stepped
from hyperplan.report._charts_histogram import histogram
from hyperplan.report._charts_scatter import _spread
from hyperplan.report._charts_strips import NARROWEST, strip, strip_axis, strip_scale
from hyperplan.report._svg import Box, Canvas, fit_text, text_box, text_width
from hyperplan.report._wording import Wording

ENGLISH = Wording("en")
TEXT = re.compile(
    r'<text class="([\w-]+)" x="([-\d.]+)(%?)" y="([-\d.]+)" text-anchor="(\w+)"(?: font-size="([\d.]+)")?>(.*?)</text>'
)


def boxes(svg, width):
    """The boxes of an element's texts; percentages are of ``width``."""
    for _, x, percent, y, anchor, size, text in TEXT.findall(svg):
        place = float(x) * width / 100 if percent else float(x)
        yield text_box(place, float(y), html.unescape(text), anchor, float(size or 11))


def assert_labels_apart(svg):
    width, height = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg).groups())
    found = list(boxes(svg, width))
    for box in found:
        assert box.left >= -0.5 and box.top >= -0.5 and box.right <= width + 0.5 and box.bottom <= height + 0.5, svg
    for one, other in itertools.combinations(found, 2):
        assert not one.overlaps(other), (one, other, svg)


@pytest.mark.parametrize("language", LANGUAGES)
def test_labels_of_all_charts_of_all_documents_keep_apart_and_inside(document, language):
    page = render_report(document, language)
    charts = re.findall(r'<svg class="chart".*?</svg>', page, re.DOTALL)
    for chart in charts:
        assert_labels_apart(chart)
    for axis in re.findall(r'<svg class="strip strip-axis".*?</svg>', page, re.DOTALL):
        found = list(boxes(axis, NARROWEST))
        assert not [pair for pair in itertools.combinations(found, 2) if pair[0].overlaps(pair[1])], axis


def test_few_true_values_are_spread_sideways_and_many_are_not():
    values = [3.0, 4.0, 4.0, 4.0, 6.0] * 30
    moved = _spread(values)
    assert len(set(moved)) == len(values) and max(abs(a - b) for a, b in zip(values, moved)) <= 0.3
    many = [0.1 * index for index in range(50)]
    assert _spread(many) is many and _spread([1.0, 1.0]) == [1.0, 1.0]


reals = st.floats(-1e12, 1e12, allow_nan=False).filter(lambda value: value == 0 or abs(value) > 1e-12)


@given(reals, reals)
def test_ticks_are_round_inside_and_their_labels_keep_apart(first, second):
    low, high = extent([first, second])
    if not low < high:
        return
    ticks = round_ticks(low, high)
    assert 1 <= len(ticks) <= 12 and all(low - 1e-9 * abs(low) <= tick <= high + 1e-9 * abs(high) for tick in ticks)
    kept, labels = fitting_ticks(ENGLISH, low, high, 190)
    ends = [190 * (tick - low) / (high - low) for tick in kept]
    widths = list(map(text_width, labels))
    for i in range(len(kept) - 1):
        assert ends[i] + widths[i] / 2 <= ends[i + 1] - widths[i + 1] / 2


@given(reals, st.floats(1e-6, 1e6), st.integers(2, 12))
def test_a_frame_of_any_range_keeps_its_labels_apart(low, span, points):
    grid = [low + span * i / (points - 1) for i in range(points)]
    if grid[0] == grid[1]:
        return
    part = {"name": "x" * 90, "grid": grid, "mean": grid, "low": None, "high": None, "density": None}
    assert_labels_apart(dependence_chart("key", ENGLISH, part, extent(grid), "y" * 90))


def test_a_tick_label_differs_from_its_neighbours():
    for low, high in ((0, 1), (0.8612, 0.8634), (0, 1e6), (990000, 1010000), (1990, 2024), (-3e-7, 5e-7), (1e10, 3e10)):
        labels = ENGLISH.ticks(round_ticks(low, high))
        assert len(labels) == len(set(labels)), labels


def test_canvas_escapes_texts_and_names():
    canvas = Canvas("key")
    canvas.text("tick", 10, 20, "<b>&")
    canvas.line("grid", 0, 0, 1, 1, tip="<i>")
    svg = canvas.render("<u>", "<s>")
    assert not re.search(r"<(b|i|u|s)>", svg) and "&lt;b&gt;&amp;" in svg and "&lt;u&gt;" in svg


def test_text_boxes_and_fitting():
    assert text_width("价格", 10) == 20 and text_width("e\u0301", 10) == text_width("e", 10)
    assert text_width(fit_text("a long name of a column", 60)) <= 60 and fit_text("short", 60) == "short"
    middle, end = text_box(50, 10, "abc", "middle"), text_box(50, 10, "abc", "end")
    assert (middle.left + middle.right) / 2 == pytest.approx(50) and end.right == pytest.approx(50)
    assert Box(0, 0, 10, 10).overlaps(Box(9, 9, 20, 20)) and not Box(0, 0, 10, 10).overlaps(Box(10, 0, 20, 10))
    assert Box(0, 0, 10, 10).overlaps(Box(11, 0, 20, 10), gap=2)


def test_scale_maps_ends_and_holds_back_what_is_beyond():
    scale = Scale(10.0, 20.0, 100.0, 0.0)
    assert [scale(value) for value in (10, 15, 20, 99)] == [100, 50, 0, 0]
    assert scale.holds(20) and not scale.holds(20.1)


def test_a_curve_passes_through_its_points():
    svg = curve_chart("roc", ENGLISH, [Curve("1", [0, 0.5, 1], [0, 1, 1], 0.75)], "x", "y", "title", ((0, 0), (1, 1)))
    points = [tuple(map(float, point.split(","))) for point in re.search(r'points="([^"]+)"', svg)[1].split()]
    (left, bottom), (middle, top), (right, same) = points
    assert middle == pytest.approx((left + right) / 2, abs=0.11) and top == same < bottom
    assert "0.750" in svg


def test_of_many_curves_the_lowest_are_highlighted():
    few = [Curve(str(i), [], [], 0.9) for i in range(6)]
    assert highlighted(few) == {i: i for i in range(6)}
    many = [Curve(str(i), [], [], 0.9 - 0.01 * (i % 5)) for i in range(10)] + [Curve("x", [], [], None)]
    assert set(highlighted(many)) == {4, 9, 3}


def test_bars_are_as_high_as_their_counts():
    svg = histogram("h", ENGLISH, [0, 1, 2, 3], [1, 2, 4], "x", "title")
    heights = [float(value) for value in re.findall(r'class="bar"[^>]* height="([\d.]+)"', svg)]
    assert heights[1] == pytest.approx(2 * heights[0], abs=0.2) and heights[2] == pytest.approx(4 * heights[0], abs=0.3)


def test_a_histogram_of_one_value_is_drawn():
    assert_labels_apart(histogram("h", ENGLISH, [3.0, 3.0], [7], "x", "title"))


def test_a_strip_stands_where_its_numbers_are_and_marks_what_is_beyond():
    scale = strip_scale(0.0, 1.0)
    svg = strip(ENGLISH, scale, 0.2, 0.5, 0.8, "tip", reference=0.1)
    assert 'cx="50.00%"' in svg
    left, right = map(float, re.search(r'class="whisker" x1="([\d.]+)%" x2="([\d.]+)%"', svg).groups())
    assert left + right == pytest.approx(100) and right - left == pytest.approx(60 / 1.06, abs=0.02)
    assert "◂" in strip(ENGLISH, scale, -9.0, -8.0, -7.0, "tip") and "▸" in strip(ENGLISH, scale, 7.0, 8.0, 9.0, "tip")
    assert "aria-hidden" in strip_axis(ENGLISH, scale)


def test_a_scale_of_equal_values_has_a_width():
    for value in (0.0, 0.5, -3e9):
        assert strip_scale(value, value).low < value < strip_scale(value, value).high


def test_learning_curve_of_one_size_is_drawn():
    curve = {"sizes": [50]} | {f"{p}{e}": [0.5] for p in ("train", "validation") for e in ("", "_low", "_high")}
    assert_labels_apart(learning_chart(ENGLISH, curve, "ROC AUC"))


def test_a_band_without_width_in_places_keeps_its_shape():
    part = {
        "name": "a",
        "grid": [0.0, 1.0, 2.0],
        "mean": [0.2, 0.5, 0.6],
        "low": [0.2, 0.3, 0.6],
        "high": [0.2, 0.7, 0.6],
    }
    drawn = dependence_chart("d", ENGLISH, part | {"density": None}, (0.0, 1.0), "y")
    (points,) = re.findall(r'<polygon class="band c0" points="([^"]+)"', drawn)
    places = points.split()
    assert len(places) == 5  # there and back: only the turn at the right end has one place instead of two
    assert places[0] == places[-1]


def test_precision_is_drawn_in_steps_that_add_up_to_average_precision():
    recall, precision = [0.0, 0.25, 0.5, 1.0], [1.0, 1.0, 0.5, 0.3]
    x, y = stepped(recall, precision)
    area = sum((right - left) * height for left, right, height in zip(x, x[1:], y))
    assert area == pytest.approx(0.25 * 1.0 + 0.25 * 0.5 + 0.5 * 0.3)
    assert (x[0], x[-1]) == (0.0, 1.0)
    assert stepped([0.5], [0.7]) == ([0.5], [0.7])


@pytest.mark.parametrize("high", [1.1, 1.4, 2.2, 3.3, 5.6, 7.9, 9.9])
def test_an_axis_has_enough_ticks(high):
    assert 3 <= len(round_ticks(0.0, high, 5)) <= 9


def test_an_axis_of_probabilities_ends_where_they_end(build):
    document = build("binary")
    part = {"name": "a", "kind": "number", "grid": [0.0, 1.0], "mean": [0.0, 1.0], "low": None, "high": None}
    document["partial_dependence"] = [part | {"density": None, "target_class": "1"}]
    page = render_report(document)
    drawn = page[page.index('aria-labelledby="dependence-0') :]
    floor = re.search(r'<line class="axis" x1="[^"]+" y1="([^"]+)"', drawn)[1]
    curve = re.search(r'<polyline class="curve c0" points="[^,]+,([^ ]+)', drawn)[1]
    assert curve == floor


def test_dates_stand_on_the_axis_where_they_are_in_time():
    grid = ["2011-01-01", "2011-01-11", "2011-12-31"]
    part = {"name": "day", "kind": "date", "grid": grid, "mean": [0.0, 1.0, 0.0], "low": None, "high": None}
    drawn = dependence_chart("d", ENGLISH, part | {"density": [3.0, 2.0, 1.0]}, (0.0, 1.0), "y")
    assert_labels_apart(drawn)
    assert ">2011-01-01</text>" in drawn and ">2011-12-31</text>" in drawn and ">2011-01-11</text>" not in drawn
    first, middle, last = map(float, re.findall(r'<circle class="dot" cx="([\d.]+)"', drawn))
    assert (middle - first) / (last - first) == pytest.approx(10 / 364, abs=0.001)
    assert_labels_apart(
        dependence_chart("d", ENGLISH, part | {"grid": grid[:1], "mean": [0.5], "density": None}, (0.0, 1.0), "y")
    )


def test_whole_numbers_on_an_axis_have_no_halves():
    part = {"name": "a", "kind": "number", "grid": [0.0, 1.0], "mean": [0.2, 0.5], "low": None, "high": None}
    drawn = dependence_chart("d", ENGLISH, part | {"density": None}, (0.0, 1.0), "y")
    assert ">1</text>" in drawn and drawn.count(">0.5</text>") + drawn.count(">0.6</text>") <= 1
