"""The result of a diagnosis: findings, verdicts, words."""

import html
from typing import NamedTuple

from hyperplan._texts import text
from hyperplan._texts.extras import required
from hyperplan.evaluation._diagnose_checks import Case, check_all
from hyperplan.evaluation._diagnose_numbers import Measurements

# the gravest first; a note is no verdict
VERDICTS = {
    "leaking": ("D05", "D14"),
    "overfit": ("D03",),
    "underfit": ("D02",),
    "unstable": ("D04",),
    "too_good": ("D06",),
    "useless": ("D01",),
}


class Diagnosis(NamedTuple):
    """Findings about a model; printing it gives them in words.

    Attributes
    ----------
    name : str
        Class of the model.
    findings : list of Finding
        Numbered checks (docs/checks_diagnosis.md), the facts among them with severity "info".
    verdicts : tuple of str
        Of "leaking", "overfit", "underfit", "unstable", "too_good" and "useless" those that apply, the gravest first;
        ("fine",) if none does.
    measurements : Measurements
        The numbers behind the findings.
    language : {"en", "fr"}
        Of the words.
    """

    name: str
    findings: list
    verdicts: tuple
    measurements: Measurements
    language: str

    @property
    def verdict(self) -> str:
        """The gravest verdict."""
        return self.verdicts[0]

    def say(self, finding, part="message", language=None) -> str:
        """Title, message or advice of a finding in words."""
        values = {**finding.values, "columns": ", ".join(finding.columns)}
        return text(f"diagnosis.{finding.code}.{part}", language or self.language, **values)

    def frame(self):
        """A pandas frame with a row per finding."""
        pd = required("pandas")
        parts = ("title", "message", "advice")
        rows = [
            {
                "code": f.code,
                "severity": f.severity,
                "columns": ", ".join(f.columns),
                **{p: self.say(f, p) for p in parts},
            }
            for f in self.findings
        ]
        return pd.DataFrame(rows)

    @property
    def headline(self) -> str:
        """The model and its verdicts in a sentence."""
        verdicts = "; ".join(self._words(f"verdict.{verdict}") for verdict in self.verdicts)
        return self._words("head", name=self.name, verdicts=verdicts)

    def _words(self, key, **values):
        return text(f"diagnosis.{key}", self.language, **values)

    def __str__(self):
        lines = [self.headline]
        for finding in self.findings:
            values = {part: self.say(finding, part) for part in ("title", "message")}
            severity = self._words(f"severity.{finding.severity}")
            lines.append(self._words("line", code=finding.code, severity=severity, **values))
            if finding.severity != "info":
                lines.append(f"    {self.say(finding, 'advice')}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self):
        return f"<p>{html.escape(self.headline)}</p>" + self.frame()._repr_html_()


def make_diagnosis(model, found: Measurements, level, language) -> Diagnosis:
    """Run all checks on measurements."""
    findings = check_all(Case(model, found, level))
    grave = {finding.code for finding in findings if finding.severity != "info"}
    verdicts = tuple(word for word, codes in VERDICTS.items() if grave.intersection(codes)) or ("fine",)
    return Diagnosis(type(model).__name__, findings, verdicts, found, language)
