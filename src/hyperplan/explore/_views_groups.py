"""What the sections about groups show: the clusterings compared, each group with its facts, rows that stand out."""

import re

from hyperplan.explore._answer import chosen_row
from hyperplan.explore._charts import COLOURS, choice_chart
from hyperplan.explore._views_maps import number_text
from hyperplan.report._charts_strips import strip, strip_axis, strip_scale
from hyperplan.report._wording import UNKNOWN, Wording, brief

SHARES_SHOWN = 12  # columns whose share is shown at once; the others fold away
TELLING = 0.005  # share of a column below which it is not listed
NARROWEST = 0.004  # share of the scale that the reach of tables without groups is drawn with at least


def clusterings_view(document: dict, wording: Wording) -> dict:
    """The best of each method on one scale with tables without groups, every setting, and the choice of K."""
    rows = document["clusterings"]
    best = [row for row in rows if row["is_best"]]
    fine = [row for row in best if row["verdict"] not in ("failed", "late")]
    nulls = [row["null_separation"] for row in fine if row["null_separation"]]
    bounds = [row["separation"] for row in fine] + [null[end] for null in nulls for end in ("low", "high")]
    scale = strip_scale(min([*bounds, 0.5]), 1.0)
    fine.sort(key=lambda row: (not row["is_chosen"], row["verdict"] != "real", -row["separation"], -row["silhouette"]))
    return {
        "rows": [_clustering(row, wording, scale, document) for row in fine],
        "axis": strip_axis(wording, scale),
        "failed": [
            {"label": wording.word("method", row["name"]), "reason": wording.word("reason", row["reason"] or "budget")}
            for row in best
            if row not in fine
        ],
        "all": [_setting(row, wording) for row in rows if row["verdict"] not in ("failed", "late")],
        "choice": choice_view(rows, wording),
        "protocol": wording.say(
            "clusterings.protocol",
            sample=int(document["sample"]),
            refits=int(document["protocol"]["refits"]),
            draws=int(document["protocol"]["draws"]),
            stable=wording.number(document["protocol"]["stable"], 2),
            separated=wording.number(document["protocol"]["separated"], 2),
        ),
    }


def _clustering(row: dict, wording: Wording, scale, document: dict) -> dict:
    label, separation = wording.word("method", row["name"]), wording.number(row["separation"], 2)
    null, has_groups = row["null_separation"], row["groups"] >= 2
    region = (null["low"], null["high"]) if null else None
    if region and region[1] - region[0] < NARROWEST * (scale.high - scale.low):
        region = (region[0], region[0] + NARROWEST * (scale.high - scale.low))
    tip = wording.say("clusterings.tip", method=label, separation=separation, null=_mean(null, wording))
    kind, verdict = "chosen" if row["is_chosen"] else "", wording.word("verdict", row["verdict"])
    stability = wording.number(row["stability"], 2) if row["stability"] is not None else UNKNOWN
    silhouette = wording.number(row["silhouette"], 2)
    shown = {
        "separation": separation,
        "silhouette": silhouette,
        "null_silhouette": wording.say("clusterings.null", value=_mean(row["null_silhouette"], wording))
        if row["null_silhouette"]
        else "",
        "dispersion": wording.number(row["calinski_harabasz"]),
        "outside": wording.percent(1.0 - row["grouped"]),
        "groups": wording.count("clusterings.groups", int(row["groups"])),
    }
    nothing = dict.fromkeys(shown, UNKNOWN) | {"null_silhouette": "", "groups": ""}
    return {
        "label": label,
        "is_chosen": row["is_chosen"],
        "strip": strip(wording, scale, None, row["separation"], None, tip, kind, None, region) if has_groups else "",
        "stability": stability,
        "verdict": verdict,
        "is_real": row["verdict"] == "real",
        "summary": wording.say("clusterings.summary", stability=stability, silhouette=silhouette, verdict=verdict)
        if has_groups
        else verdict,
        **(shown if has_groups else nothing),
    }


def _mean(null: dict | None, wording: Wording) -> str:
    return wording.number(null["mean"], 2) if null else UNKNOWN


def _setting(row: dict, wording: Wording) -> dict:
    return {
        "label": wording.word("method", row["name"]),
        "settings": settings_text(row["settings"]),
        "groups": wording.number(row["groups"]),
        "silhouette": wording.number(row["silhouette"], 2),
        "dispersion": wording.number(row["calinski_harabasz"]),
        "separation": wording.number(row["separation"], 2),
        "stability": wording.number(row["stability"], 2) if row["stability"] is not None else UNKNOWN,
        "verdict": wording.word("verdict", row["verdict"]),
        "is_chosen": row["is_chosen"],
    }


def settings_text(settings: dict) -> str:
    """``n_clusters=3, n_init=5``, without the seed; fractions with three digits."""
    shown = {name: f"{value:.3g}" if isinstance(value, float) else str(value) for name, value in settings.items()}
    return ", ".join(f"{name}={value}" for name, value in shown.items() if name != "random_state")


def choice_view(rows: list[dict], wording: Wording) -> dict | None:
    """Silhouettes of the methods that are told the number of groups."""
    lines = []
    for name in dict.fromkeys(row["name"] for row in rows):
        told = [(_told(row), row) for row in rows if row["name"] == name and row["verdict"] not in ("failed", "late")]
        told = [(k, row) for k, row in told if k is not None]
        if len(told) >= 2:
            nulls = (row["null_silhouette"] for _, row in told)
            spans = [(null["low"], null["high"]) if null else None for null in nulls]
            lines.append({"name": wording.word("method", name), "x": [k for k, _ in told],
                          "y": [row["silhouette"] for _, row in told], "null": spans})  # fmt: skip
    if not lines:
        return None
    return {"svg": choice_chart(wording, lines), "legend": [line["name"] for line in lines]}


def _told(row: dict) -> int | None:
    return row["settings"].get("n_clusters", row["settings"].get("n_components"))


def _undescribed(document: dict, wording: Wording) -> str:
    count = int(document["undescribed"] or 0)
    return wording.count("groups.undescribed", count) if count else ""


def groups_view(document: dict, wording: Wording) -> dict | None:
    """Each group with its facts, and the columns by the share that the groups explain."""
    if chosen_row(document) is None:
        return None
    rows = document["data"]["rows"]
    shares = [item for item in document["differences"] if item["share"] >= TELLING]
    bars = [_bar(item, wording) for item in shares]
    return {
        "cards": [
            {
                "title": wording.say("maps.group_name", name=str(int(group["group"]))),
                "kind": f"g{(int(group['group']) - 1) % COLOURS + 1}",
                "size": wording.count("rows", int(group["rows"])),
                "share": wording.percent(group["rows"] / rows),
                "facts": [fact_text(fact, wording) for fact in group["facts"]],
            }
            for group in document["groups"]
        ],
        "bars": bars[:SHARES_SHOWN],
        "rest": bars[SHARES_SHOWN:],
        "undescribed": _undescribed(document, wording),
        "ungrouped": wording.count("groups.ungrouped", int(document["ungrouped"])) if document["ungrouped"] else "",
    }


def _bar(item: dict, wording: Wording) -> dict:
    width = f"{100 * item['share']:.1f}"
    return {"name": item["name"], "count": wording.percent(item["share"]), "share": "", "width": width}


def fact_text(fact: dict, wording: Wording) -> str:
    """What is special about a group in a column."""
    name = brief(fact["column"], 50)
    if fact["kind"] == "category":
        shares = (wording.percent(fact[key]) for key in ("value", "others"))
        level = wording.say("maps.missing") if fact["level"] is None else brief(fact["level"], 40)
        return wording.say("groups.category", column=name, level=level,
                           value=next(shares), others=next(shares))  # fmt: skip
    key = "groups.higher" if fact["effect"] > 0 else "groups.lower"
    key += "_mean" if fact["by"] == "mean" else ""
    value, others = (number_text(wording, fact["kind"], fact[part]) for part in ("value", "others"))
    return wording.say(key, column=name, value=value, others=others)


def outliers_view(document: dict, wording: Wording) -> dict:
    """The rows that stand out most."""
    outliers, has_groups = document["outliers"], chosen_row(document) is not None
    limit, numbers = wording.number(outliers["limit"], 1), _number_columns(document)
    count = wording.count("outliers.count", int(outliers["count"]), limit=limit)
    expected = ""
    if outliers["expected"] is not None:
        expected = wording.count("outliers.expected", round(outliers["expected"]))
    return {
        "count": count if outliers["judged"] else wording.say("outliers.unknown"),
        "expected": expected,
        "has_groups": has_groups,
        "sampled": wording.say("outliers.sampled", count=int(outliers["learnt_on"]))
        if outliers["learnt_on"] < outliers["judged"]
        else "",
        "rows": [
            {
                "row": str(int(row["row"])),
                "factor": wording.number(row["factor"], 2),
                "group": str(int(row["group"])) if row["group"] else UNKNOWN,
                "columns": [
                    {"name": brief(item["name"], 40), "value": _own_value(item, numbers, wording)}
                    for item in row["columns"]
                ],
            }
            for row in outliers["rows"]
        ],
    }


def _number_columns(document: dict) -> set[str]:
    return {column["name"] for column in document["data"]["columns"] if column["kind"] == "number"}


def _own_value(item: dict, numbers: set[str], wording: Wording) -> str:
    """A value as the table has it; a number in the way of the language."""
    value = item["value"]
    if item["name"] in numbers and re.fullmatch(r"-?\d+(\.\d+)?", value):
        return wording.local(value)
    return value or wording.say("maps.missing")
