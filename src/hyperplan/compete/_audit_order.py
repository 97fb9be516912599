"""Rows that are not independent: one entity in several rows, rows in order of time, dates."""

import numpy as np

from hyperplan._base.finding import Finding
from hyperplan.compete._audit_sample import USED, as_floats
from hyperplan.compete._columns import is_id_name, name_parts
from hyperplan.compete._columns_values import typed_values

ENTITIES = {"patient", "subject", "customer", "user", "client", "person", "participant", "household", "store", "shop",
            "session", "device", "machine", "school", "employee", "animal", "player", "author", "site", "account",
            "member", "respondent", "student", "hospital", "sujet", "personne", "magasin", "batch"}  # fmt: skip
NUMBERED = {"id", "name", "nom", "number", "no", "nr", "num", "code", "key"}
ALIKE, CERTAIN = 0.1, 5.0  # share of the possible likeness of neighbours, and its standard errors
SORTED = 0.95
PINNED = 0.5  # share of the other columns that an entity decides
MOST_ROWS, MOST_CANDIDATES, MOST_OTHERS = 20_000, 10, 20


def order_findings(frame, columns, target, y, task, *, group=None, time_column=None, test=None) -> list[Finding]:
    """A14 entities in several rows, A15 neighbours alike, A16 dates that are not used as time."""
    findings = [] if group else _entities(frame, columns, y)
    dates = [column for column in columns if column.kind == "date" and column.name != time_column]
    codes = _codes(y, task)
    likeness, z = neighbour_likeness(codes, task)
    if likeness >= ALIKE and z >= CERTAIN and not time_column:
        severity = "info" if _is_sorted(codes, task, likeness) else "warning"
        findings.append(Finding("A15", severity, (target,), {"likeness": round(likeness, 3)}))
    if dates and not time_column:
        findings.append(_dated(frame, dates, y, task, test))
    return findings


def _codes(y, task: str) -> np.ndarray:
    """Labelled targets in the order of the rows: codes of classes, or ranks."""
    import pandas

    codes, _ = pandas.factorize(y) if task == "classification" else (None, None)
    if codes is not None:
        return codes[codes >= 0]
    known = y[np.isfinite(y)]
    return np.argsort(np.argsort(known, kind="stable"), kind="stable")


def neighbour_likeness(codes: np.ndarray, task: str) -> tuple[float, float]:
    """How alike the targets of neighbouring rows are, 0 by chance and 1 at most, and by how many standard errors.

    Classes: share of equal neighbours beyond chance, whose error is that of a random order of the same classes (for
    two classes the runs test of Wald and Wolfowitz); ranks: their correlation with the next one.
    """
    n = len(codes)
    if n < 20:
        return 0.0, 0.0
    if task == "classification":
        shares = np.bincount(codes) / n
        chance, cubes = float((shares**2).sum()), float((shares**3).sum())
        if len(shares) < 2:
            return 0.0, 0.0
        equal = float((codes[1:] == codes[:-1]).mean())
        error = np.sqrt(max(chance - 2 * cubes + chance**2, 1e-12) / n)
        return (equal - chance) / (1 - chance), (equal - chance) / error
    correlation = float(np.corrcoef(codes[1:], codes[:-1])[0, 1])
    return correlation, correlation * np.sqrt(n)


def _is_sorted(codes, task: str, likeness: float) -> bool:
    """Whether the rows are sorted by the target: classes in blocks, or ranks that only grow or fall."""
    if task == "classification":
        return likeness >= SORTED or int((codes[1:] != codes[:-1]).sum()) + 1 == len(np.unique(codes))
    steps = np.diff(codes)
    return bool(max((steps > 0).mean(), (steps < 0).mean()) > SORTED)


def _dated(frame, dates, y, task: str, test) -> Finding:
    """A16: a warning if the target follows the date, or if the test file lies after the table."""
    names, likeness, is_later = tuple(column.name for column in dates), 0.0, 0.0
    is_known = np.array([v is not None for v in y]) if task == "classification" else np.isfinite(y)
    rows = np.flatnonzero(is_known)[:MOST_ROWS]
    worst = dates[0].name
    for column in dates[:5]:
        days = as_floats(typed_values(frame[column.name].iloc[rows], column))
        order = rows[np.argsort(days, kind="stable")]
        found, z = neighbour_likeness(_codes(y[order], task), task)
        if z >= CERTAIN and found > likeness:
            likeness, worst = found, column.name
        if test is not None and column.name in test.columns:
            new = as_floats(typed_values(test[column.name], column))
            if np.isfinite(new).any() and np.isfinite(days).any():
                is_later = max(is_later, float((new[np.isfinite(new)] > np.nanmax(days)).mean()))
    severity = "warning" if likeness >= ALIKE or is_later >= 0.9 else "info"
    values = {"column": worst, "likeness": round(max(likeness, 0.0), 3), "later": round(is_later, 3)}
    return Finding("A16", severity, names, values)


def _entities(frame, columns, y) -> list[Finding]:
    """A14: columns whose values name things that occur in several rows."""
    n = len(frame)
    suspects = []
    for column in columns:
        each = n * (1 - column.missing) / max(column.distinct, 1)
        if column.kind in ("id", "category", "number") and 1.02 <= each <= n / 10 and column.distinct >= 10:
            is_named = is_id_name(column.name) or _names_entity(column.name)
            if column.kind == "number" and not is_named:
                continue
            suspects.append((not is_named, column.distinct, column, each))
    suspects.sort(key=lambda item: (item[0], -item[1]))
    found = []
    for is_unnamed, _, column, each in suspects[:MOST_CANDIDATES]:
        pinned = _pinned_share(frame, columns, column)
        if not is_unnamed or (pinned >= PINNED and each >= 2):
            found.append((column, each, pinned))
    if not found:
        return []
    column, each, pinned = max(found, key=lambda item: item[2])
    values = {"column": column.name, "entities": column.distinct, "each": round(each, 2), "decided": round(pinned, 3)}
    severity = "warning" if pinned >= PINNED or each < 5 else "info"
    return [Finding("A14", severity, tuple(item[0].name for item in found), values)]


def _names_entity(name: str) -> bool:
    """Whether a name is that of an entity (``patient``, ``store number``), not of something about it."""
    parts = [part for part in name_parts(name) if part.isalpha()]
    if {"of", "de", "per", "par"} & set(parts):
        return False
    if parts and parts[-1] in NUMBERED:
        parts = parts[:-1]
    return bool(parts) and parts[-1] in ENTITIES


def _pinned_share(frame, columns, entity) -> float:
    """Share of the other varied columns that hardly ever change within an entity of several rows."""
    import pandas

    part = frame.iloc[:MOST_ROWS]
    codes, _ = pandas.factorize(part[entity.name])
    others = [c for c in columns if c.name != entity.name and c.kind in USED and c.distinct > 2]
    sizes = np.bincount(codes[codes >= 0])
    several = (codes >= 0) & (sizes[codes] > 1)
    if not others or not several.any():
        return 0.0
    pinned = looked = 0
    for column in others[:MOST_OTHERS]:
        values, _ = pandas.factorize(part[column.name])
        share_of_top = np.bincount(values + 1).max() / len(values)
        if share_of_top > 0.9:
            continue
        looked += 1
        pairs = pandas.DataFrame({"entity": codes[several], "value": values[several]}).drop_duplicates()
        pinned += len(pairs) <= 1.05 * pairs["entity"].nunique()
    return pinned / looked if looked else 0.0
