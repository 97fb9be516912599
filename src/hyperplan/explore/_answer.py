"""The answer in three sentences: whether there are groups, what the table is like, what to beware of."""

from hyperplan.explore._form import readable
from hyperplan.report._document import SEVERITIES
from hyperplan.report._findings import finding_texts
from hyperplan.report._wording import Wording, brief

LISTED = 8  # groups whose sizes are listed
EXACTLY = 0.9995  # agreement that is shown as 1.00 and is no rounding of less
SHOWN = 2  # findings that the answer names; the others are counted


def answer_sentences(document: dict, language: str = "en") -> list[str]:
    """The three sentences that a report begins with and a terminal ends with."""
    return sentences(readable(document), Wording(language, "explore"))


def sentences(document: dict, wording: Wording) -> list[str]:
    """The three sentences of a readable document."""
    return [groups_sentence(document, wording), shape_sentence(document, wording), trust_sentence(document, wording)]


def chosen_row(document: dict) -> dict | None:
    """The clustering that was chosen; None for no groups."""
    return next((row for row in document["clusterings"] if row["is_chosen"]), None)


def best_attempt(document: dict) -> dict | None:
    """The clustering that came nearest: of the best of each method one that was compared, then the most stable."""
    rows = [row for row in document["clusterings"] if row["is_best"] and row["groups"] >= 2]
    return max(
        rows, key=lambda row: (row["verdict"] == "chance", row["stability"] or 0.0, row["separation"]), default=None
    )


def groups_sentence(document: dict, wording: Wording) -> str:
    """Whether there are groups, who found them and why they are believed."""
    row = chosen_row(document)
    if row is not None:
        sizes = [group["rows"] for group in document["groups"]]
        found = wording.say(
            "answer.groups",
            count=row["groups"],
            sizes=_sizes(sizes, wording),
            method=wording.word("method", row["name"]),
            stability=wording.number(row["stability"], 2),
            **_against(row, wording),
        )
        left = int(document["ungrouped"])
        more = [_column_clause(document, wording), wording.count("answer.ungrouped", left) if left else ""]
        return " ".join(filter(None, (found, *more)))
    attempt = best_attempt(document)
    if attempt is None:
        return wording.say("answer.one_group")
    why = attempt["verdict"] if attempt["verdict"] in ("unstable", "chance") else "untested"
    return wording.say(
        f"answer.{why}",
        count=attempt["groups"],
        method=wording.word("method", attempt["name"]),
        stability=wording.number(attempt["stability"], 2),
        stable=wording.number(document["protocol"]["stable"], 2),
        **_against(attempt, wording),
    )


def _column_clause(document: dict, wording: Wording) -> str:
    """That the groups are the values of a column, if they are: of one that took part in the distances, if one did."""
    alike = document["like_groups"]
    if not alike:
        return ""
    item = max(alike, key=lambda item: (item["used"], item["agreement"]))
    how = wording.say("answer.exactly" if item["agreement"] > EXACTLY else "answer.nearly")
    value = wording.number(item["agreement"], 2)
    key = "answer.column_used" if item["used"] else "answer.column_unused"
    return wording.say(key, how=how, name=brief(item["name"], 40), value=value)


def _sizes(sizes: list, wording: Wording) -> str:
    if len(sizes) <= LISTED:
        return wording.listing([wording.number(size) for size in sizes], at_most=LISTED)
    return wording.say("answer.from_to", least=wording.number(min(sizes)), most=wording.number(max(sizes)))


def _against(row: dict, wording: Wording) -> dict:
    """The telling score, and what it is in tables without groups."""
    name = row["telling"] or "separation"
    null = (row[f"null_{name}"] or {}).get("mean")
    return {"score": wording.word("score", name), "value": wording.number(row[name], 2),
            "null": wording.number(null, 2)}  # fmt: skip


def shape_sentence(document: dict, wording: Wording) -> str:
    """What the groups differ in, how many dimensions there are, and which map is the most faithful."""
    used = int(document["space"]["used"])
    parts = []
    telling = [item for item in document["differences"] if item["share"] >= 0.1]
    if chosen_row(document) and telling:
        names = wording.listing([wording.quote(brief(item["name"], 40)) for item in telling[:3]])
        parts.append(wording.say("answer.differ", columns=names))
    if document["dimension"]["estimate"] is not None and used > 1:
        estimate = int(document["dimension"]["estimate"])
        parts.append(wording.count("answer.dimension", estimate, columns=wording.count("columns", used)))
    else:
        parts.append(wording.say("answer.no_dimension", columns=wording.count("columns", used)))
    if faithful := best_map(document):
        trust = wording.number(faithful["values"]["trustworthiness"], 2)
        parts.append(wording.say("answer.map", map=wording.word("map", faithful["name"]), trust=trust))
    text = parts[0]
    for part in parts[1:]:
        text = wording.say("semicolon", first=text, last=part)
    return text[:1].upper() + text[1:] + "."


def best_map(document: dict) -> dict | None:
    """The map whose neighbourhoods can be trusted most."""
    rows = [row for row in document["maps"] if row["values"].get("trustworthiness") is not None]
    return max(rows, key=lambda row: row["values"]["trustworthiness"], default=None)


def trust_sentence(document: dict, wording: Wording) -> str:
    """Rows that stand out, and the gravest findings of the audit."""
    outliers = document["outliers"]
    count = int(outliers["count"])
    if not outliers["judged"]:
        first = wording.say("answer.no_outliers_known")
    elif not count:
        first = wording.say("answer.no_outliers")
    else:
        row = str(int(outliers["rows"][0]["row"])) if outliers["rows"] else ""
        expected = ""
        if outliers["expected"] is not None:
            expected = wording.say("answer.expected", count=round(outliers["expected"]))
        first = wording.count("answer.outliers", count, row=row, expected=expected)
    grave = [finding for finding in findings(document, wording) if finding["severity"] != "info"]
    if not grave:
        return f"{first} {wording.say('answer.sound')}"
    names = [wording.say("answer.named", title=found["title"], code=found["code"]) for found in grave[:SHOWN]]
    if len(grave) > SHOWN:
        names.append(wording.count("answer.more_findings", len(grave) - SHOWN))
    return f"{first} {wording.say('answer.beware', findings=wording.listing(names))}"


def findings(document: dict, wording: Wording) -> list[dict]:
    """The findings of the audit in words, the worst first; checks of the competition have their words there."""
    order = sorted(document["audit"], key=lambda finding: SEVERITIES.index(finding["severity"]))
    return [finding_texts(wording, "explore" if found["code"][0] == "X" else "audit", found) for found in order]
