"""What to try next, and the numbers in a diagnosis: each sentence only where the document gives a reason for it."""

import numpy as np
import pytest

from hyperplan._base.finding import Finding
from hyperplan.compete._document import _finding_within_reach
from hyperplan.compete._measures import MEASURES
from hyperplan.compete._quality import bias_variance
from hyperplan.report import render_report
from hyperplan.report._findings import finding_texts
from hyperplan.report._names import readable
from hyperplan.report._next import next_steps
from hyperplan.report._wording import Wording

ENGLISH, FRENCH = Wording("en"), Wording("fr")


def steps(document, wording=ENGLISH):
    return " ".join(next_steps(readable(document, wording), wording))


def test_every_report_says_how_to_use_the_model_and_that_a_test_file_is_missing(build):
    document = build("binary")
    document["chosen"]["holdout"] = None
    assert "test=" in steps(document) and "<code>hyperplan predict model NEW_ROWS.csv" in render_report(document)
    document["chosen"]["holdout"] = {"rows": 50, "value": 0.8}
    assert "test=" not in steps(document)
    assert steps(document) in render_report(document).replace('<span class="option">', "").replace("</li><li>", " ")


def test_more_time_is_advised_where_it_was_missing(build):
    document = build("binary")
    document["protocol"] |= {"budget": 30.0, "used": 29.0, "planned": 5}
    assert "time=" not in steps(document)
    document["protocol"] |= {"folds": 4, "repeats": 1, "splits": 4, "planned_splits": 10}
    assert "Only 4 of the 10 planned splits were finished" in steps(document) and "time=120" in steps(document)
    late = {"status": "skipped", "reason": "slow", "is_chosen": False, "is_best": False}
    document["leaderboard"].append(document["leaderboard"][-1] | late)
    assert "1 candidate had too little time" in steps(document)
    document["protocol"]["stopped"] = True
    assert "ended before its time was up" in steps(document) and "time=" not in steps(document)


@pytest.mark.parametrize("greater, last, promise", [(True, 0.9, True), (True, 0.801, False), (False, 0.7, True)])
def test_more_rows_are_advised_only_if_the_last_doubling_helped(build, greater, last, promise):
    document = build("binary")
    document["metric"]["greater_is_better"] = greater
    names = [f"{part}{end}" for part in ("train", "validation") for end in ("", "_low", "_high")]
    document["learning_curve"] = {"sizes": [100, 200]} | {name: [0.8, last] for name in names}
    document["diagnosis"] = []
    assert ("More rows may help: from 100 to 200" in steps(document)) == promise
    assert ("seem to bring little" in steps(document)) != promise
    document["diagnosis"] = [{"code": "D09", "severity": "info", "columns": [], "values": {}}]
    assert "ore rows" not in steps(document)


def test_columns_whose_importance_reaches_zero_may_go(build):
    document = build("binary")
    columns = [
        {"name": "a", "mean": 0.1, "low": 0.05, "high": 0.2},
        {"name": "b", "mean": 0.001, "low": -0.01, "high": 0.02},
        {"name": "c", "mean": 0.1, "low": -0.01, "high": 0.3},  # nobody knows
    ]
    document["importances"] = {"columns": columns}
    assert "“b” may be of no use" in steps(document) and "“a”" not in steps(document) and "“c”" not in steps(document)
    document["importances"] = {"columns": columns[:1]}
    assert "may be of no use" not in steps(document)


def test_scores_in_a_diagnosis_have_the_digits_of_the_interval():
    values = {"train": 53612.347, "validation": 61234.5, "gap": 7621.9, "gap_low": -0.00012, "gap_high": 9999.4}
    finding = {"code": "D07", "severity": "info", "columns": [], "values": values}
    message = finding_texts(ENGLISH, "diagnosis", finding, -2)["message"]
    assert "53,600 on the training rows, 61,200" in message and "a gap of 7,600 (0 to 10,000)" in message
    assert "e+" not in finding_texts(ENGLISH, "diagnosis", finding)["message"]
    assert FRENCH.fill("{x:.3g}", x=1.234e-7) == "1,2×10⁻⁷"


def test_a_rival_is_named_in_the_language_of_the_reader():
    values = {"train": 0.9, "validation": 0.8, "rival": "Histogram boosting", "rival_score": 0.85, "gain": 0.05}
    finding = {"code": "D02", "severity": "info", "columns": [], "values": values | {"moves": "C up"}}
    assert "(Boosting par histogrammes)" in finding_texts(FRENCH, "diagnosis", finding)["message"]


def test_intervals_of_a_diagnosis_end_where_scores_end():
    values = {
        "score": 0.97,
        "low": 0.9,
        "high": 1.02,
        "baseline": 0.5,
        "gain": 0.47,
        "gain_low": 0.4,
        "gain_high": 0.52,
    }
    cut = _finding_within_reach(Finding("D01", "info", (), values), MEASURES["roc_auc"])["values"]
    assert cut == values | {"high": 1.0, "gain_high": 0.5}


class Judged:
    """Enough of a problem and an entry: scores on training rows and on others."""

    def __init__(self, train, validation, metric="accuracy"):
        self.measure, self.n_folds, self.classes = MEASURES[metric], 5, ("a", "b")
        self.outcomes = {k: type("Outcome", (), {"train_score": train, "score": validation}) for k in range(5)}


def test_without_repetitions_the_error_is_split_by_the_score_on_training_rows(build):
    known = Judged(0.95, 0.8)
    found = bias_variance(known, known)
    assert found["loss"] == "training_gap" and found["noise"] is None
    np.testing.assert_allclose([found["error"], found["bias"], found["variance"]], [0.2, 0.05, 0.15])
    lucky = Judged(0.7, 0.8)
    assert bias_variance(lucky, lucky)["variance"] == 0.0
    unknown = Judged(float("nan"), 0.8)
    assert bias_variance(unknown, unknown) is None
    page = render_report(build("binary") | {"bias_variance": found})
    assert "A sketch" in page and "Only on new rows" in page and "Forests and nearest neighbours" in page
