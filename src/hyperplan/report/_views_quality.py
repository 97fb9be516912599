"""What the sections about the chosen model's errors show: curves and tables of a classifier, plots of a regression."""

import operator

from hyperplan.report._charts_calibration import calibration_chart
from hyperplan.report._charts_curves import Curve, curve_chart, highlighted, stepped
from hyperplan.report._charts_histogram import histogram
from hyperplan.report._charts_scatter import prediction_chart, residual_chart
from hyperplan.report._charts_thresholds import LINES, threshold_chart
from hyperplan.report._views_confusion import confusion_view
from hyperplan.report._wording import UNKNOWN, Wording, brief, decimals_for

TABLE_STEPS = 9  # thresholds that the table shows


def classification_view(document: dict, wording: Wording) -> dict | None:
    """Everything that is drawn about a classifier, or None."""
    found = document["classification"]
    if found is None:
        return None
    return {
        "positive": found["positive"],
        "curves": _curve_views(found, wording),
        "calibration": _calibration(found, wording),
        "confusion": confusion_view(found, wording),
        "thresholds": _thresholds(found, wording),
    }


def _curve_views(found: dict, wording: Wording) -> list[dict]:
    prevalence = found["prevalence"]
    level = ((0.0, prevalence), (1.0, prevalence)) if prevalence is not None and found["positive"] is not None else None
    kinds = (
        ("roc", "fpr", "tpr", "auc", ((0.0, 0.0), (1.0, 1.0))),
        ("pr", "recall", "precision", "average_precision", level),
        ("pr_gain", "recall_gain", "precision_gain", "auprg", None),
    )
    shown = [_curve_view(found[kind], wording, kind, *names) for kind, *names in kinds if found[kind]]
    for view in shown:
        known = len(view["legend"]) + len(view["rest"])
        is_whole = known >= len(found["classes"])
        view["all"] = wording.say("quality.all_classes" if is_whole else "quality.frequent_classes", count=known)
        view["hardest"] = wording.say("quality.hardest" if is_whole else "quality.hardest_frequent", count=known)
    return shown


def _curve_view(parts: list, wording: Wording, kind: str, x: str, y: str, value: str, reference) -> dict:
    drawn = stepped if kind == "pr" else lambda *points: points
    curves = [Curve(part["class"], *drawn(part[x], part[y]), part[value]) for part in parts]
    titles = [wording.say(f"curve.{kind}.{name}") for name in ("x", "y", "title")]
    colours = highlighted(curves)
    legend = [
        {"colour": colours.get(index), "name": brief(curve.name), "value": wording.number(curve.value, 3)}
        for index, curve in enumerate(curves)
    ]
    return {
        "title": titles[2],
        "read": wording.say(f"curve.{kind}.read_many" if kind == "pr" and not reference else f"curve.{kind}.read"),
        "svg": curve_chart(kind.replace("_", "-"), wording, curves, *titles, reference),
        "summary": wording.say(f"curve.{kind}.value"),
        "legend": [entry for entry in legend if entry["colour"] is not None],
        "rest": [entry for entry in legend if entry["colour"] is None],
    }


def _calibration(found: dict, wording: Wording) -> dict | None:
    parts = found["calibration"]
    if not parts or not parts["predicted"]:
        return None
    is_binary = found["positive"] is not None
    read = [wording.say("calibration.read" if is_binary else "calibration.read_many"), wording.say("calibration.lines")]
    if parts["spread"]:
        read.append(wording.say("calibration.bars"))
    fewest, most = min(parts["counts"]), max(parts["counts"])
    dots = wording.count("calibration.dots", most)
    if fewest < most:
        dots = wording.say("calibration.dots_between", fewest=fewest, most=most)
    if is_binary:
        note = wording.say("calibration.brier", brier=wording.number(parts["brier"], 3))
    else:
        rows = sum(parts["counts"]) or 1
        means = (sum(map(operator.mul, parts[name], parts["counts"])) / rows for name in ("predicted", "observed"))
        shown = dict(zip(("confidence", "accuracy"), map(wording.percent, means)))
        note = wording.say("calibration.confidence", **shown)
    return {"svg": calibration_chart(wording, parts), "read": " ".join(read), "note": f"{dots} {note}"}


def _thresholds(found: dict, wording: Wording) -> dict | None:
    """The chart, a short table, and all texts that the slider can show."""
    parts = found["thresholds"]
    if not parts or not parts["threshold"]:
        return None
    points = parts["threshold"]
    chosen = min(range(len(points)), key=lambda index: abs(points[index] - 0.5))
    rows = [_threshold_row(parts, index, wording, found["prevalence"]) for index in range(len(points))]
    every = sorted({round(step * (len(points) - 1) / (TABLE_STEPS - 1)) for step in range(TABLE_STEPS)} | {chosen})
    return {
        "svg": threshold_chart(wording, parts, chosen),
        "names": [wording.word("quantity", name) for name in LINES],
        "rows": [rows[index] | {"chosen": index == chosen} for index in every],
        "slider": {
            "chosen": chosen,
            "rows": [[row["at"], row["place"], row["sentence"], *row["values"]] for row in rows],
        },
        "sentence": rows[chosen]["sentence"],
        "now": rows[chosen],
    }


def _threshold_row(parts: dict, index: int, wording: Wording, prevalence: float | None) -> dict:
    """One threshold, and what it means for a thousand rows."""
    threshold, recall, flagged = (parts[name][index] for name in ("threshold", "recall", "share_flagged"))
    sentence = ""
    if prevalence is not None and recall is not None and flagged is not None:
        caught = min(round(1000 * recall * prevalence), round(1000 * flagged))
        values = {"flagged": round(1000 * flagged), "right": caught, "missed": round(1000 * prevalence) - caught}
        sentence = wording.say("threshold.thousand", **values, wrong=values["flagged"] - caught)
    return {
        "at": wording.number(threshold, 2),
        "place": round(threshold, 4),
        "values": [
            wording.percent(parts[name][index]) if name != "f1" else _plain(parts[name][index], wording)
            for name in LINES
        ],
        "sentence": sentence,
    }


def _plain(value, wording: Wording) -> str:
    return UNKNOWN if value is None else wording.number(value, 2)


def _typical_errors(found: dict, wording: Wording) -> str:
    """How far off half of the predictions are, how far nine in ten, and the standard deviation."""
    errors = sorted(abs(true - predicted) for true, predicted in zip(found["true"], found["predicted"]))
    half, most = (errors[min(int(share * len(errors)), len(errors) - 1)] for share in (0.5, 0.9))
    decimals = decimals_for(half or most)
    typical = wording.say("residual.typical", half=wording.number(half, decimals), most=wording.number(most, decimals))
    if found["residual_std"] is None:
        return typical
    spread = wording.say("residual.std", std=wording.number(found["residual_std"], decimals))
    return f"{typical} {spread}"


def regression_view(document: dict, wording: Wording) -> dict | None:
    """Everything that is drawn about a regression, or None."""
    found, target = document["regression"], document["data"]["target"]["name"]
    if found is None or not found["true"]:
        return None
    edges, counts = found["residual_edges"], found["residual_counts"]
    return {
        "predictions": prediction_chart(wording, found, target),
        "residuals": residual_chart(wording, found, target),
        "histogram": histogram(
            "residual-histogram",
            wording,
            edges,
            counts,
            wording.say("residual.axis"),
            wording.say("residual.spread"),
            True,
        )
        if counts
        else "",
        "spread": _typical_errors(found, wording),
        "coverage": wording.say(
            "prediction.coverage", coverage=wording.percent(found["coverage"]), level=wording.percent(found["level"])
        )
        if found["coverage"] is not None and found["level"] is not None
        else "",
    }
