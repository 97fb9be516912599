"""What the page shows of confusions: a matrix of few classes, the worst pairs and classes of many."""

from hyperplan.report._confusion import WHOLE, cells_of, confusion_parts
from hyperplan.report._wording import Wording

DENSE = 9  # classes above which cells show counts only
BROAD = 4  # classes above which a matrix needs the width of two charts
LONG_NAME, SHORT_NAME = 10, 3  # characters: with longer names three classes need it; shorter ones are not turned
SHOWN = 15  # pairs, and classes, of a matrix too large to show


def confusion_view(found: dict, wording: Wording) -> dict | None:
    """The matrix, or lists of what is worst in it, or None."""
    matrix, classes = found["confusion"], found["classes"]
    if matrix and len(classes) > WHOLE:  # as documents held it before
        found = found | confusion_parts(cells_of(matrix), classes)
    if found["recalls"]:
        return _large(found, wording)
    return _whole(matrix, classes, wording) if matrix else None


def _large(found: dict, wording: Wording) -> dict:
    pairs = [
        {
            "true": pair["true"],
            "predicted": pair["predicted"],
            "count": wording.number(pair["count"]),
            "share": wording.percent(pair["share"]),
        }
        for pair in found["confused"][:SHOWN]
    ]
    worst = sorted(found["recalls"], key=lambda item: (item["recall"], -item["rows"]))[:SHOWN]
    classes = [
        {"name": item["class"], "rows": wording.number(item["rows"]), "recall": wording.percent(item["recall"])}
        for item in worst
        if item["recall"] < 1
    ]
    read = wording.say("confusion.read_large", count=len(found["classes"]))
    return {
        "is_large": True,
        "title": wording.say("confusion.title_large"),
        "read": read,
        "pairs": pairs,
        "classes": classes,
    }


def _whole(matrix: list, classes: list[str], wording: Wording) -> dict:
    is_dense = len(classes) > DENSE
    return {
        "is_large": False,
        "title": wording.say("confusion.title"),
        "read": wording.say("confusion.read_wide" if is_dense else "confusion.read"),
        "classes": classes,
        "rows": [_row(true, counts, classes, wording) for true, counts in enumerate(matrix)],
        "dense": is_dense,
        "broad": len(classes) > BROAD or (len(classes) > 2 and max(map(len, classes)) > LONG_NAME),
        "short": max(map(len, classes)) <= SHORT_NAME,
    }


def _row(true: int, counts: list, classes: list[str], wording: Wording) -> dict:
    total = sum(counts)
    cells = [
        {
            "count": wording.number(count),
            "share": wording.percent(count / (total or 1)),
            "weight": f"{min(count / (total or 1), 1) * 0.5:.3f}",
            "right": true == guess,
            "empty": count == 0,
            "tip": wording.say("confusion.tip", true=classes[true], predicted=classes[guess], count=count),
        }
        for guess, count in enumerate(counts)
    ]
    return {"name": classes[true], "total": wording.number(total), "cells": cells}
