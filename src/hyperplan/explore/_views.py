"""Everything the page shows, from a readable document: here the answer, the data and the protocol."""

from hyperplan.explore._answer import best_attempt, chosen_row, findings, sentences
from hyperplan.explore._views_groups import clusterings_view, groups_view, outliers_view
from hyperplan.explore._views_maps import dimension_view, maps_view
from hyperplan.report._views_data import CARDS, column_card, created, folded
from hyperplan.report._wording import Wording


def make_views(document: dict, wording: Wording) -> dict:
    """Everything the template shows, by the name it uses."""
    return {
        "sentences": sentences(document, wording),
        "created": created(document, wording),
        "figures": figures_view(document, wording),
        "maps": maps_view(document, wording),
        "dimension": dimension_view(document, wording),
        "clusterings": clusterings_view(document, wording),
        "groups": groups_view(document, wording),
        "outliers": outliers_view(document, wording),
        "audit": findings(document, wording),
        "data": data_view(document, wording),
        "protocol": protocol_view(document, wording),
    }


def figures_view(document: dict, wording: Wording) -> list[dict]:
    """The key figures below the answer."""
    row, outliers, protocol = chosen_row(document), document["outliers"], document["protocol"]
    attempt = best_attempt(document)
    is_known = attempt is None or attempt["verdict"] in ("unstable", "chance")
    groups = wording.number(row["groups"]) if row else wording.say("answer.none" if is_known else "answer.not_known")
    figures = [_figure(wording, "groups", groups, wording.word("method", row["name"]) if row else "")]
    if row:
        figures.append(_figure(wording, "stability", wording.number(row["stability"], 2), wording.say("answer.of_one")))
    dimension = document["dimension"]["estimate"]
    if dimension is not None:
        columns = wording.say("answer.of", what=wording.count("columns", int(document["space"]["used"])))
        figures.append(_figure(wording, "dimension", wording.number(dimension), columns))
    if outliers["judged"]:
        rows = wording.say("answer.of", what=wording.count("rows", int(outliers["judged"])))
        figures.append(_figure(wording, "outliers", wording.number(outliers["count"]), rows))
    budget = wording.say("answer.key_budget", budget=wording.seconds(protocol["budget"]))
    figures.append(_figure(wording, "time", wording.seconds(protocol["used"]), budget))
    return figures


def _figure(wording: Wording, key: str, value: str, note: str) -> dict:
    return {"name": wording.say(f"answer.key_{key}"), "value": value, "note": note}


def data_view(document: dict, wording: Wording) -> dict:
    """Counts of rows and columns, and a card per column."""
    data = document["data"]
    cards = [column_card(column, wording, data["rows"]) for column in data["columns"]]
    used = int(document["space"]["used"])
    unseen = int(data["unseen"] or 0)
    columns = wording.say("guesses.columns", count=len(cards) + unseen, used=used)
    facts = [wording.count("rows", data["rows"]), columns]
    facts += [wording.count("guesses.unseen", unseen)] if unseen else []
    return {"facts": facts, **folded(cards, CARDS, wording, "cards")}


def protocol_view(document: dict, wording: Wording) -> dict:
    """How distances were measured and with what, and the receipt."""
    space, protocol, receipt = document["space"], document["protocol"], document["receipt"]
    key = "protocol.components" if space["kept"] < 1.0 else "protocol.plain"
    distances = wording.say(key, features=int(space["features"]), dimensions=int(space["dimensions"]),
                            kept=wording.percent(space["kept"]))  # fmt: skip
    budget, used = wording.seconds(protocol["budget"]), wording.seconds(protocol["used"])
    n_rows, unseen = int(document["data"]["rows"]), int(document["data"]["unseen"] or 0)
    n_columns = len(document["data"]["columns"]) + unseen
    columns = wording.say("protocol.columns_text", count=int(space["used"]), all=n_columns)
    learnt_on = int(space["learnt_on"] or n_rows)
    if space["kept"] < 1.0 and learnt_on < n_rows:
        learnt = wording.say("protocol.components_rows", count=learnt_on, rows=n_rows)
        distances = wording.say("semicolon", first=distances, last=learnt)
    rows = [
        ("columns", columns),
        ("unseen", wording.count("guesses.unseen", unseen) if unseen else ""),
        ("distances", distances),
        ("sample", wording.say("protocol.sample_text", count=int(document["sample"]), rows=n_rows)),
        ("null", wording.say("protocol.null_text")),
        ("budget", wording.count("protocol.budget_text", int(protocol["jobs"]), budget=budget, used=used)),
        ("stopped", wording.say("protocol.stopped_text") if protocol["was_interrupted"] else ""),
        ("seed", str(int(protocol["seed"]))),
    ]
    packages = ", ".join(f"{name} {version}" for name, version in (receipt["packages"] or {}).items())
    machine = [
        ("data_sha256", receipt["data_sha256"]),
        ("machine", receipt["machine"]),
        ("python", receipt["python"]),
        ("packages", packages),
        ("version", document["hyperplan"]),
        ("created", created(document, wording)),
    ]
    return {
        "rows": [(wording.say(f"protocol.{name}"), value) for name, value in rows if value],
        "receipt": [(name, wording.say(f"protocol.{name}"), value) for name, value in machine if value],
    }
