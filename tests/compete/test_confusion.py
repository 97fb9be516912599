"""Which classes are taken for which: counts, their file, and bins of calibration."""

import csv

import numpy as np
import pytest

from hyperplan import metrics
from hyperplan.compete._confusion import confusion_section, counted, write_confusion
from hyperplan.compete._quality import BINS, _calibration
from hyperplan.report._confusion import WHOLE


def test_counts_are_those_of_the_matrix():
    random = np.random.default_rng(0)
    true, predicted = random.integers(0, 7, (2, 500))
    section = confusion_section(counted(true, predicted, 7), list("abcdefg"))
    assert section == {"confusion": metrics.confusion_matrix(true, predicted, labels=np.arange(7)).tolist()}


def test_a_hundred_thousand_classes_need_no_square_of_memory():
    labels = np.arange(100_000)
    section = confusion_section(counted(labels, (labels + 1) % 100_000, 100_000), [str(k) for k in labels])
    assert section["confusion"] is None and len(section["recalls"]) == 100_000


def test_the_digest_begins_where_the_matrix_ends():
    for size in (WHOLE, WHOLE + 1):
        section = confusion_section([(0, 1, 4), (1, 1, 2)], [str(k) for k in range(size)])
        assert (section["confusion"] is None) == (size > WHOLE)
    assert section["confused"] == [{"true": "0", "predicted": "1", "count": 4, "share": 1.0}]
    assert section["recalls"] == [{"class": "0", "rows": 4, "recall": 0.0}, {"class": "1", "rows": 2, "recall": 1.0}]


def test_the_file_holds_every_pair_and_no_formula(tmp_path):
    classes = ["=cmd|'/C calc'!A0", "-x", 'quote " and, comma', "-5", "line\nbreak"]
    cells = [(k, (k + 1) % 5, 3) for k in range(5)] + [(0, 0, 1)]
    write_confusion(cells, classes, tmp_path / "confusion.csv")
    with open(tmp_path / "confusion.csv", encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["true", "predicted", "count", "share_of_true"]
    assert [row[0] for row in rows[:5]] == ["'=cmd|'/C calc'!A0", "'-x", 'quote " and, comma', "-5", "line\nbreak"]
    assert rows[0] == ["'=cmd|'/C calc'!A0", "'-x", "3", "0.75"] and rows[5][2:] == ["1", "0.25"]


def test_rows_with_the_same_probability_share_a_dot():
    score = np.repeat([0.2, 0.5, 0.9], [200, 30, 70])
    truth = np.random.default_rng(0).random(300) < score
    found = _calibration(truth, score)
    np.testing.assert_allclose(found["predicted"], [0.2, 0.5, 0.9])
    assert found["counts"] == [200, 30, 70]
    assert found["observed"] == [float(truth[score == value].mean()) for value in (0.2, 0.5, 0.9)]
    shuffled = np.random.default_rng(1).permutation(300)
    assert _calibration(truth[shuffled], score[shuffled])["observed"] == found["observed"], "order means nothing"


@pytest.mark.parametrize("rows", [1, 2, 19, 60, 1000])
def test_dots_stand_for_all_rows_and_the_spread_counts_them(rows):
    score = np.random.default_rng(rows).random(rows)
    found = _calibration(score > 0.5, score)
    assert sum(found["counts"]) == sum(found["spread"]) == rows and len(found["counts"]) <= BINS
    assert max(found["counts"]) - min(found["counts"]) <= 1


def test_one_probability_for_all_is_one_dot():
    found = _calibration(np.arange(50) % 2 == 0, np.full(50, 0.5))
    assert found["predicted"] == [0.5] and found["observed"] == [0.5] and found["counts"] == [50]
