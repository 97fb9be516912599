"""Awkward shapes: many classes, long and foreign names, huge numbers; the page stays small, whole and readable."""

import re

import pytest
from hypothesis import given, strategies

from hyperplan.report import render_report
from hyperplan.report._charts_calibration import calibration_chart
from hyperplan.report._charts_strips import strip_axis, strip_scale
from hyperplan.report._confusion import PAIRS, WHOLE, cells_of, confusion_parts
from hyperplan.report._names import readable
from hyperplan.report._svg import text_box
from hyperplan.report._views_data import CLASSES, FOLDED, folded
from hyperplan.report._views_quality import classification_view
from hyperplan.report._wording import Wording, breakable, brief

ENGLISH = Wording("en")
STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


def with_classes(document, size, matrix=None, is_digest=False):
    """A document of so many classes, each taken for the next now and then."""
    names = [f"class {k}" for k in range(size)]
    matrix = matrix or [[2744 if j == k else 3 * (j == (k + 1) % size) for j in range(size)] for k in range(size)]
    part = document["classification"]
    kept = {kind: [curve | {"class": name} for curve, name in zip(part[kind], names)] for kind in ("roc", "pr")}
    part |= kept | {"pr_gain": None, "thresholds": None, "positive": None, "classes": names, "confusion": matrix}
    if is_digest:
        part |= {"confusion": None, **confusion_parts(cells_of(matrix), names)}
    document["data"]["target"] |= {"classes": names, "counts": [sum(row) for row in matrix]}
    return document


@pytest.mark.parametrize("is_digest", [True, False])
def test_three_hundred_classes_and_two_hundred_columns_make_a_small_page(build, is_digest):
    document = with_classes(build("multiclass"), 300, is_digest=is_digest)
    column = document["data"]["columns"]
    document["data"]["columns"] = [column[k % len(column)] | {"name": f"column {k}"} for k in range(200)]
    document["importances"]["columns"] = [{"name": f"column {k}", "mean": 1 / (k + 1)} for k in range(200)]
    page = render_report(document)
    assert len(page.encode()) < 1_500_000
    assert 'table class="confusion' not in page and "300 classes are too many for a matrix" in page
    assert re.search(r">class 0</th><td[^>]*>class 1</td><td class=\"number\">3</td>", page)


def test_a_matrix_of_few_classes_is_shown_whole_and_a_larger_one_is_not(build):
    for size in (WHOLE, WHOLE + 1):
        page = render_report(with_classes(build("multiclass"), size))
        assert page.count("2,744") == (2 * size if size <= WHOLE else 0), "each cell and its tip"
        assert ('<table class="confusion' in page) == (size <= WHOLE)


def test_of_many_classes_the_worst_pairs_and_classes_are_listed():
    size = 60
    matrix = [[0] * size for _ in range(size)]
    for k in range(size):
        matrix[k][k], matrix[k][(k + 1) % size] = 100 - k, k
    parts = confusion_parts(cells_of(matrix), [str(k) for k in range(size)])
    assert len(parts["confused"]) == PAIRS and len(parts["recalls"]) == size
    assert parts["confused"][0] == {"true": "59", "predicted": "0", "count": 59, "share": 0.59}
    assert [pair["count"] for pair in parts["confused"]] == list(range(59, 59 - PAIRS, -1))
    assert parts["recalls"][10] == {"class": "10", "rows": 100, "recall": 0.9}


def test_a_class_without_rows_has_no_recall_and_one_always_found_is_not_among_the_hardest(build):
    size = WHOLE + 3
    matrix = [[9 * (j == k) for j in range(size)] for k in range(size)]
    matrix[3] = [0] * size
    document = with_classes(build("multiclass"), size, matrix, is_digest=True)
    assert "class 3" not in {item["class"] for item in document["classification"]["recalls"]}
    view = classification_view(readable(document, ENGLISH), ENGLISH)["confusion"]
    assert view["classes"] == [] and view["pairs"] == []
    assert "No row was taken for another class" in render_report(document)


@pytest.mark.parametrize("size", [3, 40])
def test_the_file_of_the_matrix_is_linked_only_if_there_is_one(build, size):
    document = with_classes(build("multiclass"), size)
    assert "confusion.csv" not in render_report(document)
    assert '<a href="confusion.csv">confusion.csv</a>' in render_report(document, "fr", "confusion.csv")


def test_the_hardest_of_the_frequent_are_not_called_the_hardest(build):
    document = with_classes(build("multiclass"), 40)
    curve = document["classification"]["roc"][0]
    document["classification"]["roc"] = [curve | {"class": f"class {k}"} for k in range(30)]
    assert "the hardest of the 30 most frequent classes" in render_report(document)


def test_the_target_shows_its_most_frequent_classes_and_folds_the_others_away(build):
    document = with_classes(build("multiclass"), 500)
    document["data"]["target"]["counts"] = list(range(500))
    page = render_report(document)
    target = page[page.index('class="target"') : page.index('class="cards"')]
    first, folded_part = target.split("<details>")
    assert first.count('class="bar-fill"') == CLASSES and "class 499" in first and "class 479" not in first
    assert folded_part.count('class="bar-fill"') == FOLDED and "+ 80 others" in folded_part
    assert '<p class="soft more on-paper">+ 480 others</p>' in first


@given(strategies.integers(0, 900), strategies.integers(1, 30))
def test_nothing_is_lost_by_folding(number, most):
    part = folded(list(range(number)), most, ENGLISH)
    shown = part["rows"] + part["rest"]
    assert shown == list(range(len(shown))) and len(part["rows"]) == min(number, most)
    assert bool(part["unseen"]) == (number > len(shown)) and bool(part["others"]) == (number > most)


# Numbers and names


def test_numbers_of_a_matrix_do_not_break(build):
    page = render_report(with_classes(build("multiclass"), WHOLE))
    style = STYLE.search(page)[1].partition("/* A phone")[0]
    rules = {}
    for selector, rule in re.findall(r"([^{}]+)\{([^{}]*)\}", style):
        rules[selector.strip()] = rules.get(selector.strip(), "") + rule
    assert "white-space: nowrap" in rules[".confusion th, .confusion td"]
    assert "white-space: nowrap" in rules[".number"] and "white-space: nowrap" in rules[".figures .big"]
    assert "position: sticky" in rules[".scroll tbody th"]
    assert "overflow-wrap: break-word" in page and "overflow-wrap: anywhere;\n" not in page


def test_wide_tables_scroll_in_their_own_box(document):
    page = render_report(document)
    for start in (found.start() for found in re.finditer('<table class="confusion', page)):
        assert page[:start].endswith('">') and 'class="scroll" tabindex="0" role="region"' in page[start - 120 : start]


@pytest.mark.parametrize(
    "name, wanted",
    [
        ("measurement_of_site", "measurement<wbr>_<wbr>of<wbr>_<wbr>site"),
        ("HistGradientBoosting", "Hist<wbr>Gradient<wbr>Boosting"),
        ("a/b.c", "a/<wbr>b.<wbr>c"),
        ("<b>_x", "&lt;b&gt;<wbr>_<wbr>x"),
        ("plain words", "plain words"),
        ("-0.5", "-0.<wbr>5"),
    ],
)
def test_names_may_break_where_their_words_end(name, wanted):
    shown = str(breakable(name))
    assert re.sub("<wbr>", "", shown) == re.sub("<wbr>", "", wanted)
    assert shown.count("<wbr>") <= wanted.count("<wbr>")
    assert ("<wbr>" in shown) == ("<wbr>" in wanted)


def test_a_name_is_shortened_between_words():
    name = "the quite long name of a class of things that somebody typed 1"
    assert brief(name, 48) == "the quite long name of a class…somebody typed 1"
    assert brief(name[:-2], 40) == "the quite long name of a…typed"
    assert brief("x" * 100, 20) == "x" * 13 + "…" + "x" * 6
    assert all(len(brief(name, most)) <= most for most in range(8, 70))


# Calibration


def chart_of(counts, spread=None):
    bins = len(counts)
    places = [(k + 0.5) / bins for k in range(bins)]
    part = {"predicted": places, "observed": places, "low": [0.0] * bins, "high": [1.0] * bins, "counts": counts}
    return part | {"brier": 0.1, "spread": spread}


def test_bars_of_equal_height_are_not_drawn_and_the_number_is_said(build):
    document = build("binary")
    document["classification"]["calibration"] = chart_of([89] * 10)
    shown = classification_view(readable(document, ENGLISH), ENGLISH)["calibration"]
    assert 'class="bar"' not in shown["svg"] and "bars" not in shown["read"]
    assert shown["note"].startswith("Each dot stands for 89 rows. Brier")
    document["classification"]["calibration"] = chart_of([1])
    shown = classification_view(readable(document, ENGLISH), ENGLISH)["calibration"]
    assert shown["note"].startswith("Each dot stands for 1 row.")


def test_bars_show_where_the_predicted_probabilities_are(build):
    document = build("binary")
    document["classification"]["calibration"] = chart_of([30, 31, 30], [80, 0, 1, *[0] * 16, 10])
    shown = classification_view(readable(document, ENGLISH), ENGLISH)["calibration"]
    heights = [float(height) for height in re.findall(r'class="bar"[^>]* height="([\d.]+)"', shown["svg"])]
    assert heights == [30.0, 1.0, pytest.approx(30 / 8, abs=0.1)]
    assert "0% to 5%: 80 rows" in shown["svg"] and "bars below" in shown["read"]
    assert "30 to 31 rows" in shown["note"]


@pytest.mark.parametrize("most", [7, 999, 123_456_789])
def test_the_highest_bar_has_its_count(most):
    chart = calibration_chart(ENGLISH, chart_of([most] * 2, [most, 0, 0, 0]))
    assert f">{most:,}</text>" in chart


# Strips


@pytest.mark.parametrize("room", [105.0, 190.0])
@pytest.mark.parametrize("low, high", [(0.12, 0.78), (-1e-7, 3e-7), (0.0, 5e11), (1990.0, 2024.0)])
def test_labels_of_a_strip_keep_apart_in_the_room_there_is(low, high, room):
    axis = strip_axis(ENGLISH, strip_scale(low, high), room)
    found = re.findall(r'x="([\d.]+)%" y="12" text-anchor="(\w+)">([^<]*)<', axis)
    boxes = [text_box(float(place) * room / 100, 12, label, anchor) for place, anchor, label in found]
    assert boxes and not any(a.overlaps(b, 3.0) for k, a in enumerate(boxes) for b in boxes[:k])
