"""Findings of the audit and the diagnosis as sentences: their texts stand in ``_texts/<language>/<area>.toml``."""

from hyperplan._texts import area_texts
from hyperplan.report._document import SEVERITIES
from hyperplan.report._wording import Wording, brief


def finding_texts(wording: Wording, area: str, finding: dict) -> dict:
    """``title``, ``message`` and ``advice`` of a finding, with its code, severity and columns.

    A note asks for nothing, so it has no advice.  A document may come from a later version whose codes have no text
    here: such a finding shows what it holds.
    """
    columns = wording.listing((wording.quote(brief(name)) for name in finding["columns"]), at_most=8)
    values = {**finding["values"], "columns": columns}
    shown = {"area": area, "code": finding["code"], "severity": finding["severity"], "columns": finding["columns"]}
    try:
        patterns = area_texts(area, wording.language)[finding["code"]]
        texts = {part: wording.fill(patterns[part], **values) for part in ("title", "message", "advice")}
        return shown | texts | ({"advice": ""} if finding["severity"] == "info" else {})
    except (KeyError, FileNotFoundError):
        held = "; ".join(f"{name} = {value}" for name, value in finding["values"].items())
        return shown | {"title": finding["code"], "message": " · ".join(filter(None, (columns, held))), "advice": ""}


def by_severity(wording: Wording, area: str, findings: list[dict]) -> list[dict]:
    """All findings of an area, the worst first."""
    order = sorted(findings, key=lambda finding: SEVERITIES.index(finding["severity"]))
    return [finding_texts(wording, area, finding) for finding in order]
