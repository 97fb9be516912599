"""What the sections about the data and the protocol show: target, a card per column, how it was measured, receipt."""

import datetime
import functools
import itertools
import math

from hyperplan.report._answer import is_compared, splits_planned, splits_text
from hyperplan.report._charts_histogram import histogram, spark
from hyperplan.report._wording import Wording

CARDS = 24  # columns shown at once; the others fold away
CLASSES = 20  # of the target, shown at once
FOLDED = 400  # tiles or bars that fold away; more are counted only
EPOCH = datetime.date(1970, 1, 1)
TOP = 4  # frequent values on a card


def data_view(document: dict, wording: Wording) -> dict:
    """Counts of rows and columns, the target, the columns."""
    data = document["data"]
    cards = [column_card(column, wording, data["rows"]) for column in data["columns"]]
    used = sum(column["used"] is not False for column in data["columns"])
    facts = [wording.count("rows", data["rows"]), wording.say("data.columns", count=len(cards), used=used)]
    others = ("unlabelled", "set_aside", "test_rows")
    facts += [wording.count(f"data.{name}", data[name]) for name in others if data[name]]
    return {
        "facts": facts,
        "target": _target(data["target"], wording),
        **folded(cards, CARDS, wording, "cards"),
    }


def folded(items: list, most: int, wording: Wording, name: str = "rows") -> dict:
    """What is shown at once, what folds away below it, and how many are neither; paper shows the first part only."""
    hidden, unseen = len(items) - most, len(items) - most - FOLDED
    return {
        name: items[:most],
        "rest": items[most : most + FOLDED],
        "others": wording.count("others", hidden) if hidden > 0 else "",
        "unseen": wording.count("others", unseen) if unseen > 0 else "",
    }


def _target(target: dict, wording: Wording) -> dict:
    view = {"name": target["name"], "bars": [], "rest": [], "others": "", "unseen": "", "svg": ""}
    counts = target["counts"]
    if target["classes"] and counts:
        total, most = sum(counts) or 1, max(counts) or 1
        bars = list(zip(target["classes"], counts))
        if len(bars) > CLASSES:
            bars.sort(key=lambda bar: -bar[1])
        view |= folded([_bar(*bar, total, most, wording) for bar in bars], CLASSES, wording, "bars")
    elif target["edges"] and counts:
        title = wording.say("data.target", name=target["name"])
        view["svg"] = histogram("target-histogram", wording, target["edges"], counts, target["name"], title)
    return view


def _bar(name, count: float, total: float, most: float, wording: Wording) -> dict:
    return {
        "name": str(name),
        "count": wording.number(count),
        "share": wording.percent(count / total),
        "width": f"{100 * count / most:.1f}",
    }


def column_card(column: dict, wording: Wording, rows: float) -> dict:
    facts = [wording.say("data.unused")] if column["used"] is False else []
    if column["distinct"] is not None:
        facts.append(wording.count("data.distinct", int(column["distinct"])))
    if column["missing"]:
        facts.append(wording.say("data.missing", share=wording.percent(column["missing"])))
    card = {
        "name": column["name"],
        "kind": wording.word("kind", column["kind"]),
        "why": wording.known("columns.why", column["why"] or ""),
        "facts": facts,
        "sparse": bool(column["missing"] and column["missing"] >= 0.2),
        "svg": "",
        "range": ("", ""),
        "bars": [],
        "more": "",
    }
    if column["edges"] and column["counts"]:
        label = wording.say("data.histogram", name=column["name"])
        card["svg"] = spark(wording, column["edges"], column["counts"], label, _bar_names(column, wording))
        card["range"] = _range(column, wording)
    elif column["top"] and max(count for _, count in column["top"]) > 1:
        top = column["top"]
        present = rows * (1 - (column["missing"] or 0.0)) or 1
        most = max(count for _, count in top)
        card["bars"] = [_bar(name, count, max(present, most), most, wording) for name, count in top[:TOP]]
        hidden = int(column["distinct"] or len(top)) - len(card["bars"])
        card["more"] = wording.count("others", hidden) if hidden > 0 else ""
    return card


def _range(column: dict, wording: Wording) -> list[str]:
    """The ends of a histogram, marked where values lie beyond, with the median between them."""
    edges, low, high = column["edges"], column["low"], column["high"]
    inset = 0.5 if _has_bar_each(edges) else 0.0
    ends = [_place(column, value, wording) for value in (edges[0] + inset, edges[-1] - inset)]
    if low is not None and low < edges[0]:
        ends[0] = f"≤\u00a0{ends[0]}"
    if high is not None and high > edges[-1]:
        ends[1] = f"≥\u00a0{ends[1]}"
    if column["median"] is None or column["kind"] == "date":
        return ends
    return [ends[0], wording.say("data.median", value=_place(column, column["median"], wording)), ends[1]]


def _has_bar_each(edges: list) -> bool:
    """True if each whole number has a bar of its own."""
    return all(edge % 1 == 0.5 for edge in edges) and all(b - a == 1 for a, b in itertools.pairwise(edges))


def _bar_names(column: dict, wording: Wording) -> list[str]:
    """What each bar of a column's histogram counts."""
    if _has_bar_each(column["edges"]):
        return [_place(column, edge + 0.5, wording) for edge in column["edges"][:-1]]
    places = [_place(column, edge, wording) for edge in column["edges"]]
    return [wording.say("interval", low=low, high=high) for low, high in itertools.pairwise(places)]


def _place(column: dict, value: float, wording: Wording) -> str:
    """A value of a column with the digits that its histogram can show; days since 1970 as a date."""
    edges = column["edges"]
    span = abs(edges[-1] - edges[0])
    if column["kind"] == "date":
        return str(EPOCH + datetime.timedelta(days=math.floor(value)))
    if span < 0.01:
        return wording.compact(value)
    is_whole = all(float(edge).is_integer() for edge in (edges[0], edges[-1], value)) or _has_bar_each(edges)
    if is_whole and float(value).is_integer():
        return wording.ungrouped(value)
    return wording.ungrouped(value, 0 if span >= 100 else 1 if span >= 10 else 2 if span >= 1 else 3)


def protocol_view(document: dict, wording: Wording) -> dict:
    """How it was measured, in words, and the receipt."""
    protocol, receipt, method = document["protocol"], document["receipt"], document["chosen"]["score"]["method"]
    rows = [
        ("folds", _folds(document, wording)),
        ("tuning", wording.word("tuning", protocol["tuning"]) if protocol["tuning"] else ""),
        ("interval", _interval(document, wording) if is_compared(document) else ""),
        ("selection", "" if method == protocol["interval"] else wording.word("method", method or "")),
        ("comparison", _comparison(protocol, wording) if is_compared(document) else ""),
        ("budget", _budget(protocol, wording)),
        ("seed", "" if protocol["seed"] is None else str(protocol["seed"])),
    ]
    machine = [
        ("data_sha256", receipt["data_sha256"]),
        ("machine", receipt["machine"]),
        ("python", receipt["python"]),
        ("packages", ", ".join(f"{name} {version}" for name, version in (receipt["packages"] or {}).items())),
        ("version", document["hyperplan"]),
        ("created", created(document, wording)),
    ]
    return {
        "rows": [(wording.say(f"protocol.{name}"), value) for name, value in rows if value],
        "receipt": [(name, wording.say(f"protocol.{name}"), value) for name, value in machine if value],
    }


def created(document: dict, wording: Wording) -> str:
    """The day and minute of the report, as the document says it, without the letter between them."""
    day, _, hour = document["created"].partition("T")
    return f"{day} {hour[:5]}{' UTC' if document['created'].endswith('Z') else ''}".strip()


def _folds(document: dict, wording: Wording) -> str:
    """On how many splits candidates were tested, and how rows were to be dealt."""
    protocol = document["protocol"]
    folds = int(protocol["planned"] or protocol["folds"])
    repeats = max(1, splits_planned(document) // folds) if protocol["planned_splits"] else int(protocol["repeats"])
    plan = wording.say(
        "protocol.folds_text",
        splits=splits_text(document, wording),
        folds=folds,
        kind=wording.word("folds", protocol["kind"]),
    )
    if protocol["column"]:
        plan = wording.say("protocol.folds_by", folds=plan, name=protocol["column"])
    return plan if repeats <= 1 else wording.say("protocol.repeated", folds=plan, repeats=repeats)


def _interval(document: dict, wording: Wording) -> str:
    protocol = document["protocol"]
    if not protocol["interval"]:
        return ""
    level = wording.percent(protocol["level"], 0)
    return wording.say("protocol.interval_text", level=level, method=wording.word("method", protocol["interval"]))


def _comparison(protocol: dict, wording: Wording) -> str:
    texts = [wording.say("protocol.paired")]
    if protocol["correction"]:
        texts.append(wording.say("protocol.correction_text", method=wording.word("correction", protocol["correction"])))
    if protocol["rope"]:
        texts.append(wording.say("protocol.rope_text", rope=wording.compact(protocol["rope"])))
    return functools.reduce(lambda first, last: wording.say("semicolon", first=first, last=last), texts)


def _budget(protocol: dict, wording: Wording) -> str:
    if protocol["budget"] is None:
        return ""
    budget, used = wording.seconds(protocol["budget"]), wording.seconds(protocol["used"])
    if protocol["used"] is None:
        return budget
    jobs = int(protocol["jobs"] or 1)
    return wording.count("protocol.budget_text", jobs, budget=budget, used=used)
