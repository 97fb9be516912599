"""Findings of the audit and the diagnosis as sentences: their texts stand in ``_texts/<language>/<area>.toml``."""

from hyperplan._texts import area_texts
from hyperplan.report._document import SEVERITIES
from hyperplan.report._wording import Wording, brief

SCORES = {
    *("score", "low", "high", "baseline", "perfect", "best", "worst", "best_score", "rival_score"),
    *("train", "validation", "half", "full", "drop"),
    *(f"{name}{end}" for name in ("gain", "gap") for end in ("", "_low", "_high")),
}  # values in the unit of the metric


def finding_texts(wording: Wording, area: str, finding: dict, decimals: int | None = None) -> dict:
    """``title``, ``message`` and ``advice`` of a finding, with its code, severity and columns.

    Scores have so many ``decimals``; without, as many digits as the sentence says.  A note asks for nothing, so it has
    no advice.  A document may come from a later version whose codes have no text here: such a finding shows what it
    holds.
    """
    names, total = [wording.quote(brief(name)) for name in finding["columns"]], finding["values"].get("count")
    columns = wording.listing(names, at_most=8, total=total if isinstance(total, int) else None)
    values = {**finding["values"], "columns": columns}
    if decimals is not None:
        values |= {name: wording.localised(values[name], decimals) for name in SCORES & values.keys()}
    if isinstance(values.get("rival"), str):
        values["rival"] = wording.word("model", values["rival"])
    shown = {"area": area, "code": finding["code"], "severity": finding["severity"], "columns": finding["columns"]}
    try:
        patterns = area_texts(area, wording.language)[finding["code"]]
        texts = {part: wording.fill(patterns[part], **values) for part in ("title", "message", "advice")}
        return shown | texts | ({"advice": ""} if finding["severity"] == "info" else {})
    except (KeyError, FileNotFoundError):
        held = "; ".join(f"{name} = {value}" for name, value in finding["values"].items())
        return shown | {"title": finding["code"], "message": " · ".join(filter(None, (columns, held))), "advice": ""}


def by_severity(wording: Wording, area: str, findings: list[dict], decimals: int | None = None) -> list[dict]:
    """All findings of an area, the worst first."""
    order = sorted(findings, key=lambda finding: SEVERITIES.index(finding["severity"]))
    return [finding_texts(wording, area, finding, decimals) for finding in order]
