"""The format of report.json: good documents pass, bad ones are told where they are bad, the page explains every key."""

import json
import math
import re

import pytest

from hyperplan.report import check_document
from hyperplan.report._document import DOCUMENT, completed


def test_good_documents_pass_also_after_a_round_trip_through_json(document):
    check_document(json.loads(json.dumps(document, allow_nan=False)))


def paths(form, where=""):
    """Every dotted place of the format, with whether it may be missing."""
    if isinstance(form, list):
        yield from paths(form[0], f"{where}[]")
    elif isinstance(form, dict):
        for key, inner in form.items():
            place = f"{where}.{key}".strip(".")
            yield place
            yield from paths(inner, place)


REQUIRED = [path for path in paths(DOCUMENT) if not path.endswith("?")]


def remove(part, steps, where=""):
    """Delete the first thing at a path and say where that was; "" if there is none."""
    (step, *rest), more = steps, "" if not where else "."
    if step == "[]":
        return next(filter(None, (remove(item, rest, f"{where}[{i}]") for i, item in enumerate(part or ()))), "")
    if not isinstance(part, dict) or step not in part:
        return ""
    if rest:
        return remove(part[step], rest, f"{where}{more}{step}")
    del part[step]
    return f"{where}{more}{step}"


@pytest.mark.parametrize("path", REQUIRED)
def test_every_required_key_is_missed_by_name(path, build):
    steps = path.replace("?", "").replace("[]", ".[]").split(".")
    for builder in ("binary", "regression", "crowded"):
        document = build(builder)
        if place := remove(document, steps):
            with pytest.raises(ValueError, match=rf"report document: {re.escape(place)} is missing"):
                check_document(document)
            return
    pytest.fail(f"no document has {path}")


@pytest.mark.parametrize(
    "path, value, message",
    [
        (("schema",), "hyperplan/report/9", "schema must be one of hyperplan/report/1"),
        (("task",), "clustering", "task must be one of classification, regression, got 'clustering'"),
        (("leaderboard",), {}, r"leaderboard must be a list, got \{\}"),
        (("leaderboard", 2, "score"), math.nan, r"leaderboard\[2\].score must be a finite number, got nan"),
        (("leaderboard", 2, "score"), None, r"leaderboard\[2\].score is missing although the status is ok"),
        (("leaderboard", 1, "status"), "done", r"leaderboard\[1\].status must be one of ok, failed, skipped"),
        (("leaderboard", 1, "is_chosen"), 1, r"leaderboard\[1\].is_chosen must be true or false, got 1"),
        (("metric",), 3, "metric must be an object, got 3"),
        (("chosen", "score", "value"), True, "chosen.score.value must be a finite number, got True"),
        (
            ("classification", "confusion"),
            [[1, 2]],
            "classification.confusion must have one row and one column per class",
        ),
        (("classification", "roc", 0, "tpr"), [0.5], r"classification.roc\[0\] has lists of different lengths"),
        (("data", "columns", 0, "edges"), [0, 1], r"data.columns\[0\] has lists of different lengths .*1 more"),
        (("data", "target", "counts"), [1], "data.target has lists of different lengths"),
        (("data", "columns", 2, "top"), [["male"]], r"top\[0\] must be a pair of a value and its count"),
        (("audit", 0, "severity"), "fatal", r"audit\[0\].severity must be one of error, warning, info"),
        (("audit", 0, "columns"), "Cabin", r"audit\[0\].columns must be a list"),
    ],
)
def test_wrong_values_are_named(path, value, message, build):
    document = build("binary")
    *steps, last = path
    part = document
    for step in steps:
        part = part[step]
    part[last] = value
    with pytest.raises(ValueError, match=message):
        check_document(document)


def test_a_document_without_any_score_is_refused(build):
    document = build("only_baselines")
    document["leaderboard"][0] |= {"status": "failed", "score": None}
    with pytest.raises(ValueError, match="at least one candidate whose status is ok"):
        check_document(document)


def test_something_that_is_no_document_is_refused():
    with pytest.raises(ValueError, match="the whole must be an object"):
        check_document([])


def test_completed_documents_have_every_key_and_keep_what_they_had(build):
    document = completed(build("bare"))
    assert document["classification"] is None and document["audit"] == [] and document["partial_dependence"] == []
    assert document["leaderboard"][0]["certificate"] is None
    assert document["leaderboard"][0]["score"] == build("bare")["leaderboard"][0]["score"]


def test_the_page_of_the_format_names_every_key(root):
    page = (root / "docs" / "report_schema.md").read_text(encoding="utf-8")
    keys = {re.sub(r"\?", "", path).rpartition(".")[2] for path in paths(DOCUMENT)}
    assert not [key for key in sorted(keys) if f"`{key}`" not in page]
