"""What the sections about maps show: each map by group and by a column, with what can be trusted; the dimension."""

import datetime

from hyperplan.explore._answer import chosen_row
from hyperplan.explore._charts import COLOURS, Layer, dimension_chart, map_chart
from hyperplan.report._wording import Wording, brief


def maps_view(document: dict, wording: Wording) -> dict:
    """Each map twice: by group, and by the values of a column."""
    groups, colour = group_layers(document, wording), colour_layers(document, wording)
    views = []
    for found in document["maps"]:
        label = wording.word("map", found["name"])
        charts = []
        for part, layers in (("group", groups), ("colour", colour)):
            if layers and found["x"]:
                title = wording.say(f"maps.by_{part}", map=label, name=(document["colour"] or {}).get("name", ""))
                described = "; ".join(f"{layer.name}: {wording.number(len(layer.members))}" for layer in layers)
                key = f"map-{found['name']}-{part}"
                chart = map_chart(key, found["x"], found["y"], layers, title, described, part == "group")
                charts.append({"title": wording.say(f"maps.{part}", name=_colour_name(document)), "svg": chart,
                               "legend": _legend(layers, part, wording)})  # fmt: skip
        views.append({"label": label, "note": _map_note(found, wording, document), "charts": charts})
    absent = [
        wording.say("maps.absent", map=wording.word("map", item["name"]), reason=wording.word("reason", item["reason"]))
        for item in document["absent_maps"]
    ]
    return {"maps": views, "absent": absent, "notes": _colour_notes(document, wording)}


def _colour_name(document: dict) -> str:
    return brief(document["colour"]["name"], 40) if document["colour"] else ""


def _map_note(found: dict, wording: Wording, document: dict) -> list[str]:
    values = found["values"]
    notes = []
    if values.get("kept") is not None:
        notes.append(wording.say("maps.kept", share=wording.percent(values["kept"])))
    if found["name"] == "risimap":
        notes.append(wording.say("maps.parts", count=int(values["parts"])))
    if values.get("trustworthiness") is not None:
        trust, together = (wording.number(values[key], 2) for key in ("trustworthiness", "continuity"))
        notes.append(wording.say("maps.faithful", trust=trust, continuity=together))
    rows = document["data"]["rows"]
    if found["placed"] < rows:
        notes.append(wording.say("maps.unplaced", count=int(rows - found["placed"])))
    elif found["learnt_on"] < rows and found["name"] != "pca":
        notes.append(wording.say("maps.learnt_on", count=int(found["learnt_on"])))
    return notes


def group_layers(document: dict, wording: Wording) -> list[Layer]:
    """Dots by group; rows in no group are grey and lie below."""
    if chosen_row(document) is None:
        return []
    codes = document["shown"]["groups"]
    layers = [Layer("none", wording.say("maps.no_group"), [k for k, code in enumerate(codes) if code == 0])]
    for code in range(1, int(chosen_row(document)["groups"]) + 1):
        members = [k for k, found in enumerate(codes) if found == code]
        layers.append(Layer(f"g{(code - 1) % COLOURS + 1}", str(code), members))
    return [layer for layer in layers if layer.members]


def colour_layers(document: dict, wording: Wording) -> list[Layer]:
    """Dots by the values of a column: a colour per category, or five shades for a number."""
    colour = document["colour"]
    if not colour:
        return []
    members: dict[int, list] = {}
    for k, code in enumerate(colour["codes"]):
        members.setdefault(int(code), []).append(k)
    layers = [Layer("none", wording.say("maps.missing"), members.get(-1, []))]
    if colour["levels"]:
        for code, level in enumerate(colour["levels"]):
            name = level or wording.say("maps.other_values")
            layers.append(Layer(f"g{code % COLOURS + 1}", name, members.get(code, [])))
    else:
        for code, (low, high) in enumerate(zip(colour["edges"], colour["edges"][1:])):
            layers.append(Layer(f"q{code + 1}", _range(wording, colour["kind"], low, high), members.get(code, [])))
    return [layer for layer in layers if layer.members]


def _range(wording: Wording, kind: str, low: float, high: float) -> str:
    low, high = (number_text(wording, kind, end) for end in (low, high))
    return low if low == high else wording.say("interval", low=low, high=high)


def number_text(wording: Wording, kind: str, value: float) -> str:
    """A number, or the day that a date's number of days stands for."""
    if kind == "date":
        return (datetime.date(1970, 1, 1) + datetime.timedelta(days=round(value))).isoformat()
    return wording.local(f"{value:.0f}") if 1000 <= abs(value) < 10_000 else wording.compact(value)


def _legend(layers: list[Layer], part: str, wording: Wording) -> list[dict]:
    """Names of the colours; grey comes last."""
    order = sorted(layers, key=lambda layer: layer.kind == "none")
    return [{"kind": layer.kind, "name": brief(_legend_name(layer, part, wording), 40)} for layer in order]


def _legend_name(layer: Layer, part: str, wording: Wording) -> str:
    return wording.say("maps.group_name", name=layer.name) if part == "group" and layer.kind != "none" else layer.name


def _colour_notes(document: dict, wording: Wording) -> list[str]:
    colour, notes = document["colour"], []
    shown, rows = len(document["shown"]["rows"]), document["data"]["rows"]
    if shown < rows:
        notes.append(wording.say("maps.shown", count=shown, rows=int(rows)))
    if colour and not colour["used"]:
        notes.append(wording.say("maps.unused", name=brief(colour["name"])))
    if colour and colour["agreement"] is not None:
        key = "maps.agreement" if colour["used"] else "maps.agreement_unused"
        notes.append(wording.say(key, name=brief(colour["name"]), value=wording.number(colour["agreement"], 2)))
    return notes


def dimension_view(document: dict, wording: Wording) -> dict | None:
    """The curve of residual variances, and what it says."""
    curves = [curve for curve in document["dimension"]["curves"] if curve["values"]]
    if not curves or max(len(curve["values"]) for curve in curves) < 2:
        return None
    estimate = document["dimension"]["estimate"]
    by, local = wording.word("curve", document["dimension"]["by"] or ""), document["dimension"]["local"]
    return {
        "svg": dimension_chart(wording, curves, estimate),
        "legend": [wording.word("curve", curve["name"]) for curve in curves],
        "says": wording.count("dimension.says", int(estimate), by=by) if estimate else "",
        "local": wording.say("dimension.local", value=wording.number(local, 1)) if local else "",
    }
