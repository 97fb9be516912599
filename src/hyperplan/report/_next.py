"""What to try next: steps that the numbers of a document suggest, beside the advice of its findings."""

from hyperplan.report._answer import (
    ENOUGH,
    OUT_OF_TIME,
    TIMES_MORE,
    chosen_row,
    score_decimals,
    splits_done,
    splits_planned,
    was_cut_short,
)
from hyperplan.report._wording import Wording, brief


def next_steps(document: dict, wording: Wording) -> list[str]:
    """Sentences, those that promise most first."""
    steps = [_time(document, wording), _rows(document, wording), _columns(document, wording)]
    if document["chosen"]["holdout"] is None:
        steps.append(wording.say("next.holdout"))
    return [step for step in steps if step]


def _time(document: dict, wording: Wording) -> str:
    """More time, if some candidates or folds had none."""
    protocol = document["protocol"]
    late = sum(row["status"] != "ok" and row["reason"] in OUT_OF_TIME for row in document["leaderboard"])
    if protocol["budget"] is None or not (late or was_cut_short(document)):
        return ""
    if protocol["stopped"]:
        return wording.say("next.stopped")
    more = str(max(ENOUGH, round(TIMES_MORE * protocol["budget"])))
    if late:
        return wording.count("next.time", late, more=more)
    return wording.say("next.folds", splits=splits_done(document), planned=splits_planned(document), more=more)


def _rows(document: dict, wording: Wording) -> str:
    """Whether the last doubling of the training rows was worth it; nothing if a finding says so already."""
    curve, metric = document["learning_curve"], document["metric"]
    if not curve or len(curve["sizes"]) < 2 or any(finding["code"] == "D09" for finding in document["diagnosis"]):
        return ""
    before, after = curve["validation"][-2:]
    gain = after - before if metric["greater_is_better"] else before - after
    decimals = score_decimals(document["chosen"]["score"])
    values = {
        "metric": metric["label"],
        "before": wording.number(before, decimals),
        "after": wording.number(after, decimals),
        "half": wording.number(curve["sizes"][-2]),
        "full": wording.number(curve["sizes"][-1]),
        "target": brief(document["data"]["target"]["name"]),
    }
    worth = document["protocol"]["rope"] or 0.0
    return wording.say("next.rows" if gain > worth else "next.no_rows", **values)


def _columns(document: dict, wording: Wording) -> str:
    """Columns that the model may not need: without them it loses nothing that matters, as far as one can tell."""
    found = document["importances"]
    columns = found["columns"] if found and not chosen_row(document)["is_baseline"] else []
    worth = document["protocol"]["rope"] or 0.0
    idle = [
        brief(column["name"])
        for column in columns
        if column["low"] is not None and column["low"] <= 0 and column["mean"] <= worth
    ]
    if not 0 < len(idle) < len(columns):
        return ""
    return wording.count("next.columns", len(idle), columns=wording.listing(map(wording.quote, idle)))
