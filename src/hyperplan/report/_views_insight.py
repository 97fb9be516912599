"""What the sections about the chosen model's workings show: importances, dependence, learning, bias and variance."""

from hyperplan.report._axes import extent
from hyperplan.report._charts_bands import dependence_chart, learning_chart
from hyperplan.report._charts_strips import strip, strip_axis, strip_scale
from hyperplan.report._views_data import folded
from hyperplan.report._wording import Wording, brief, decimals_for

BESIDE = 105.0  # units that a strip has at least in a table that stands beside another chart
IMPORTANT = 20  # columns shown at once; the others fold away


def importances_view(document: dict, wording: Wording) -> dict | None:
    """Columns with the loss that follows from shuffling them, the most important first."""
    found = document["importances"]
    if not found or not found["columns"]:
        return None
    columns = sorted(found["columns"], key=lambda column: -column["mean"])
    bounds = [column[name] for column in columns for name in ("low", "mean", "high") if column[name] is not None]
    scale, decimals = strip_scale(min([*bounds, 0.0]), max([*bounds, 0.0])), _widest(columns)
    rows = [_importance_row(column, wording, scale, decimals) for column in columns]
    return {
        **folded(rows, IMPORTANT, wording),
        "axis": strip_axis(wording, scale),
        "measured": _measured(found, wording),
    }


def _measured(found: dict, wording: Wording) -> str:
    """That all columns were measured, or which were not and why; nothing if the document does not tell."""
    if found["rows"] is None or found["unmeasured"] is None:
        return ""
    count, left = len(found["columns"]), found["unmeasured"]
    if not left:
        return wording.say("importances.all", count=count, rows=int(found["rows"]))
    names = wording.listing([wording.quote(brief(name, 40)) for name in left], at_most=8)
    values = {"all": count + len(left), "missing": len(left), "rows": int(found["rows"])}
    return wording.say("importances.some", count=count, columns=names, **values)


def dependence_note(document: dict, wording: Wording) -> str:
    """Which of many classes the curves are about; nothing where each class has its own, or there are two."""
    shown, count = {part["target_class"] for part in document["partial_dependence"]}, _class_count(document)
    if len(shown) != 1 or count < 3:
        return ""
    return wording.say("dependence.one_class", name=brief(shown.pop(), 40), count=count)


def _class_count(document: dict) -> int:
    return len((document["classification"] or {}).get("classes") or ())


def _widest(columns: list[dict]) -> int:
    """Digits for all from the widest interval: small losses then show as near nothing, which they are."""
    return decimals_for(max((c["high"] - c["low"] for c in columns if c["low"] is not None), default=None))


def _importance_row(column: dict, wording: Wording, scale, decimals: int) -> dict:
    shown = wording.number(column["mean"], decimals)
    low, high = column["low"], column["high"]
    interval = wording.interval(low, high, decimals) if low is not None else ""
    tip = wording.say("leaderboard.tip", model=column["name"], score=shown, interval=interval)
    kind = "faded" if low is not None and low <= 0 else ""
    return {
        "name": column["name"],
        "mean": shown,
        "interval": interval,
        "strip": strip(wording, scale, low, column["mean"], high, tip, kind, 0.0),
    }


def dependence_view(document: dict, wording: Wording) -> list[dict]:
    """One chart per column, all with the same vertical scale, so that effects can be compared."""
    parts = [part for part in document["partial_dependence"] if part["grid"]]
    if not parts:
        return []
    both = extent(*(part[name] for part in parts for name in ("mean", "low", "high")))
    if document["task"] == "classification":  # probabilities
        both = max(both[0], 0.0), min(both[1], 1.0)
    views = []
    for index, part in enumerate(parts):
        y_title = _dependence_title(document, wording, part)
        if part["kind"] != "category":
            shown = {"svg": dependence_chart(f"dependence-{index}", wording, part, both, y_title)}
        else:
            shown = {"svg": "", **_categories(part, wording, both)}
        views.append({"name": part["name"], "title": y_title, **shown})
    return views


def _dependence_title(document: dict, wording: Wording, part: dict) -> str:
    if part["target_class"] is not None:
        return wording.say("dependence.probability", name=brief(part["target_class"], 30))
    return wording.say("dependence.prediction", target=brief(document["data"]["target"]["name"], 30))


def _categories(part: dict, wording: Wording, both) -> dict:
    scale = strip_scale(*both)
    decimals = decimals_for((both[1] - both[0]) / 5)
    low, high = part["low"] or [None] * len(part["grid"]), part["high"] or [None] * len(part["grid"])
    rows = []
    for name, left, mean, right in zip(map(str, part["grid"]), low, part["mean"], high):
        tip = wording.say("dependence.tip", name=name, value=wording.number(mean, decimals))
        rows.append(
            {
                "name": name,
                "mean": wording.number(mean, decimals),
                "strip": strip(wording, scale, left, mean, right, tip, room=BESIDE),
            }
        )
    return {"rows": rows, "axis": strip_axis(wording, scale, BESIDE)}


def learning_view(document: dict, wording: Wording) -> dict | None:
    """The learning curve, or None."""
    curve, metric = document["learning_curve"], document["metric"]
    if not curve or not curve["sizes"]:
        return None
    return {"svg": learning_chart(wording, curve, metric["label"], not metric["greater_is_better"])}


def bias_variance_view(document: dict, wording: Wording) -> dict | None:
    """The parts of the error as shares of one bar, and which is largest."""
    found = document["bias_variance"]
    if not found:
        return None
    parts = [(name, found[name]) for name in ("bias", "variance", "noise") if found[name] is not None]
    total = sum(max(value, 0.0) for _, value in parts) or 1.0
    decimals = decimals_for(found["error"] / 2 if found["error"] else None)
    names, larger = _part_names(found), "bias" if found["bias"] >= found["variance"] else "variance"
    is_sketch = found["loss"] == "training_gap"
    values = {"error": wording.number(found["error"], decimals), "metric": document["metric"]["label"]}
    return {
        "parts": [
            {
                "name": wording.word("error_part", names[name]),
                "kind": name,
                "value": wording.number(value, decimals),
                "share": wording.percent(max(value, 0.0) / total),
                "width": f"{100 * max(value, 0.0) / total:.2f}",
            }
            for name, value in parts
        ],
        "read": wording.say("bias_variance.read_sketch", **values)
        if is_sketch
        else wording.say("bias_variance.read", loss=wording.word("loss", found["loss"]), **values),
        "advice": wording.say(f"bias_variance.{names[larger]}"),
    }


def _part_names(found: dict) -> dict[str, str]:
    """What the parts are called: who tells bias from noise needs the truth, variance needs repetitions."""
    if found["loss"] == "training_gap":
        return {"bias": "training", "variance": "unseen", "noise": "noise"}
    bias = "bias" if found["noise"] is not None else "bias_noise"
    return {"bias": bias, "variance": "variance", "noise": "noise"}
