"""The audit of a table that is to be explored: findings X01 to X08, and those of the competition about columns.

Severities are those of every audit: "warning" means that something should be decided, "info" a fact.
"""

import numpy as np

from hyperplan._base.finding import SEVERITIES, Finding
from hyperplan.compete._audit_columns import column_findings
from hyperplan.compete._audit_rows import by_distinct, repeated_rows
from hyperplan.compete._audit_sample import ENDLESS, Patience, as_floats, draw_rows, draw_sample, sample_size
from hyperplan.compete._audit_values import value_findings

MANY_COPIES = 0.005
FEW_ROWS = 50
ALIKE = 0.95  # correlation
LONG_TAIL, VERY_LONG = 3.0, 6.0  # skewness
MOST_SHOWN = 50
MOST_NUMBERS = 500  # columns whose correlations are looked at
WITHOUT_TARGET = ("A07",)  # checks of the competition whose words speak of a target; X05 says the same without


def audit_table(frame, columns, seed: int, patience: Patience = ENDLESS, unseen: int = 0) -> list[Finding]:
    """Look for what spoils distances between rows.

    Parameters
    ----------
    frame : DataFrame
        The table.
    columns : sequence of Column
        The columns that are not left out.
    seed : int
        Of the sample of rows that is looked at.
    patience : Patience
        Checks that have not begun when it ends are left out, and A29 names them.
    unseen : int, default=0
        Columns of the table that are not looked at.
    """
    sample = draw_sample(frame, columns, draw_rows(len(frame), sample_size(len(columns)), seed))
    findings = value_findings(frame, columns, patience)
    findings += [f for f in column_findings(frame, columns, sample, patience) if f.code not in WITHOUT_TARGET]
    findings += _few_rows(frame, columns) + _empty(columns)
    findings += [] if patience.ends("X01") else _copies(frame, columns)
    findings += [] if patience.ends("X04", "X06") else _numbers(sample)
    findings += [Finding("X08", "warning", (), {"count": unseen, "seen": len(columns)})] if unseen else []
    findings += [Finding("A29", "warning", (), {"codes": ", ".join(patience.left_out)})] if patience.left_out else []
    return sorted(findings, key=lambda finding: (SEVERITIES.index(finding.severity), finding.code))


def groups_findings(alike: list[dict]) -> list[Finding]:
    """X07: the groups are the values of a column; worth a warning where that column took part in the distances."""
    if not alike:
        return []
    severity = "warning" if any(item["used"] for item in alike) else "info"
    best = max(alike, key=lambda item: (item["used"], item["agreement"]))
    values = {"count": len(alike), "best": best["name"], "agreement": round(best["agreement"], 4)}
    return [Finding("X07", severity, tuple(item["name"] for item in alike)[:MOST_SHOWN], values)]


def _copies(frame, columns) -> list[Finding]:
    """X01: rows that repeat an earlier one."""
    names = by_distinct(columns)
    if not names:
        return []
    groups = repeated_rows(frame, names)
    count = int((groups != np.arange(len(frame))).sum())
    share = count / len(frame)
    severity = "warning" if share >= MANY_COPIES else "info"
    return [Finding("X01", severity, (), {"rows": count, "share": round(share, 5)})] if count else []


def _few_rows(frame, columns) -> list[Finding]:
    """X02: few rows; X03: fewer rows than columns."""
    n_rows, n_used = len(frame), len(by_distinct(columns))
    findings = []
    if n_rows < FEW_ROWS:
        findings.append(Finding("X02", "warning", (), {"rows": n_rows, "needed": FEW_ROWS}))
    if n_used > n_rows:
        findings.append(Finding("X03", "warning", (), {"rows": n_rows, "count": n_used}))
    return findings


def _empty(columns) -> list[Finding]:
    """X05: columns that are nearly empty."""
    empty = [column for column in columns if column.missing >= 0.9]
    if not empty:
        return []
    severity = "warning" if any(column.kind != "empty" for column in empty) else "info"
    worst = round(max(column.missing for column in empty), 5)
    names = tuple(column.name for column in empty[:MOST_SHOWN])
    return [Finding("X05", severity, names, {"count": len(empty), "share": worst})]


def _numbers(sample) -> list[Finding]:
    """X04: numbers that say the same; X06: numbers with a long tail."""
    listed = [column for column in sample.columns if column.kind == "number" and column.distinct > 2][:MOST_NUMBERS]
    if not listed:
        return []
    scores, skewness = [], {}
    for column in listed:
        values = as_floats(sample.values[column.name])
        known = np.isfinite(values)
        values = values / (float(np.abs(values[known]).max(initial=0.0)) or 1.0)
        spread = float(values[known].std()) if known.any() else 0.0
        z = np.where(known, values - (values[known].mean() if known.any() else 0.0), 0.0) / (spread or 1.0)
        scores.append(z)
        skewness[column.name] = float((z**3).mean()) if spread else 0.0
    return _alike([column.name for column in listed], np.column_stack(scores)) + _long_tails(skewness)


def _alike(names, scores) -> list[Finding]:
    likeness = np.abs(scores.T @ scores) / len(scores)
    norms = np.sqrt(np.maximum(np.diag(likeness), 1e-12))
    likeness = np.triu(likeness / np.outer(norms, norms), 1)
    pairs = np.argwhere(likeness >= ALIKE)
    if not len(pairs):
        return []
    first, second = np.unravel_index(int(np.argmax(likeness)), likeness.shape)
    named = tuple(names[k] for k in sorted(set(pairs.ravel().tolist())))[:MOST_SHOWN]
    values = {"count": len(pairs), "first": names[first], "second": names[second]}
    return [Finding("X04", "warning", named, values | {"correlation": round(float(likeness[first, second]), 3)})]


def _long_tails(skewness: dict) -> list[Finding]:
    tails = {name: value for name, value in skewness.items() if abs(value) >= LONG_TAIL}
    if not tails:
        return []
    worst = max(tails, key=lambda name: abs(tails[name]))
    values = {"count": len(tails), "worst": worst, "skewness": round(tails[worst], 1)}
    severity = "warning" if abs(tails[worst]) >= VERY_LONG else "info"
    return [Finding("X06", severity, tuple(tails)[:MOST_SHOWN], values)]
