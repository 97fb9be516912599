"""One numbered observation about data or a model: what the audit and the diagnosis return."""

from typing import NamedTuple

SEVERITIES = ("error", "warning", "info")


class Finding(NamedTuple):
    """What a check saw; the words stand in `_texts/<language>/<area>.toml` under the code.

    Attributes
    ----------
    code : str
        Number of the check: ``"A01"``... for audits of data, ``"D01"``... for diagnoses of models.
    severity : {"error", "warning", "info"}
        "error": the results are not to be trusted; "warning": something should change; "info": a fact.
    columns : tuple of str
        Columns concerned, () for none.
    values : dict
        Flat dictionary of JSON numbers and strings that the texts are filled with.

    Examples
    --------
    >>> from hyperplan._base.finding import Finding
    >>> Finding("D04", "warning", (), {"gap": 0.21}).as_dict()
    {'code': 'D04', 'severity': 'warning', 'columns': [], 'values': {'gap': 0.21}}
    """

    code: str
    severity: str
    columns: tuple[str, ...] = ()
    values: dict = {}

    def as_dict(self) -> dict:
        """The finding as JSON has it."""
        return {**self._asdict(), "columns": list(self.columns), "values": dict(self.values)}
