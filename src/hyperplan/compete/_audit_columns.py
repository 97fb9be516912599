"""Columns by themselves: of no use, hard to use, or damaged."""

import hashlib

import numpy as np

from hyperplan._base.finding import Finding
from hyperplan.compete._audit_sample import ENDLESS, Patience, Sample
from hyperplan.compete._columns_gaps import says_missing
from hyperplan.compete._columns_values import as_words, number_format, parse_numbers
from hyperplan.compete._preparation import MOST_CHARACTERS

NEARLY_EMPTY = 0.9
MANY_LEVELS, FEW_ROWS_EACH = 100, 10.0
MOST_SHOWN = 50  # columns in a finding
MIXED_LOW, MIXED_HIGH = 0.05, 0.95


def column_findings(frame, columns, sample: Sample, patience: Patience = ENDLESS) -> list[Finding]:
    """A05-A07, A17-A19, A26, A30."""
    findings = []
    for code, kinds in (("A05", ("id",)), ("A06", ("constant",))):
        if names := [column.name for column in columns if column.kind in kinds]:
            findings.append(_listing(code, "info", names))
    empty = [column for column in columns if column.missing >= NEARLY_EMPTY]
    if empty:
        worst = max(column.missing for column in empty)
        severity = "warning" if any(column.kind != "empty" for column in empty) else "info"
        findings.append(_listing("A07", severity, [column.name for column in empty], share=round(worst, 5)))
    findings += _infinite(frame, columns)
    findings += _long(frame, columns)
    findings += _mixed(frame, columns, patience)
    rows = max(len(frame), 1)
    many = [c for c in columns if c.kind == "category" and c.distinct > 20 and _is_high(c, rows)]
    if many:
        top = max(many, key=lambda column: column.distinct)
        findings.append(_listing("A19", "info", [c.name for c in many], top=top.name, distinct=top.distinct))
    return findings if patience.ends("A26") else findings + _identical(frame, sample)


def _is_high(column, rows: int) -> bool:
    return column.distinct >= MANY_LEVELS or rows * (1 - column.missing) / column.distinct < FEW_ROWS_EACH


def _listing(code: str, severity: str, names: list[str], **values) -> Finding:
    return Finding(code, severity, tuple(names[:MOST_SHOWN]), {"count": len(names), **values})


def _infinite(frame, columns) -> list[Finding]:
    floats = frame[[column.name for column in columns if column.kind == "number"]].select_dtypes("float")
    with np.errstate(all="ignore"):
        sums = floats.sum().to_numpy()  # not finite if a value is not: most columns need no second look
    counts = {}
    for name in floats.columns[~np.isfinite(sums)]:
        if infinite := int(np.isinf(floats[name].to_numpy()).sum()):
            counts[str(name)] = infinite
    return [_listing("A17", "warning", list(counts), cells=sum(counts.values()))] if counts else []


def _long(frame, columns) -> list[Finding]:
    """A30: texts of which only the beginning is learnt from."""
    texts = [column.name for column in columns if column.kind == "text"]
    longest = {name: int(frame[name].astype("str").str.len().max()) for name in texts}
    names = [name for name in texts if longest[name] > MOST_CHARACTERS]
    if not names:
        return []
    values = {"characters": MOST_CHARACTERS, "longest": max(longest.values())}
    return [_listing("A30", "info", names, **values)]


def _mixed(frame, columns, patience: Patience) -> list[Finding]:
    """Columns that hold both numbers and words."""
    names, example, row = [], "", 0
    types = dict(zip(map(str, frame.columns), frame.dtypes))
    for column in columns:
        is_settled = types[column.name].kind in "biufM" or column.kind not in ("number", "category")
        if is_settled or column.distinct < 10:
            continue
        if patience.ends("A18"):
            break
        series = frame[column.name]
        found = _first_odd_value(series, column)
        if found is not None:
            names.append(column.name)
            if len(names) == 1:
                row, example = found
    if not names:
        return []
    return [_listing("A18", "warning", names, column=names[0], row=row, example=example)]


def _first_odd_value(series, column) -> tuple[int, str] | None:
    """Row and text of the first value that is no number in a column of numbers, or a number among words."""
    import pandas

    if column.kind == "number":
        is_gap = says_missing(as_words(series), column.gaps)
        odd = np.flatnonzero(np.isnan(parse_numbers(series, column.format)) & ~is_gap)
        return (int(odd[0]) + 1, str(series.iloc[odd[0]])[:40]) if len(odd) else None
    words = [word for word in as_words(pandas.Series(pandas.unique(series.dropna())[:2000])) if word]
    form, share = number_format(words)
    if not MIXED_LOW <= share <= MIXED_HIGH:
        return None
    is_number = ~np.isnan(parse_numbers(series.iloc[:20_000], form))
    wanted = is_number if is_number.mean() < 0.5 else ~is_number & series.iloc[:20_000].notna().to_numpy()
    rows = np.flatnonzero(wanted)
    return (int(rows[0]) + 1, str(series.iloc[rows[0]])[:40]) if len(rows) else None


def _identical(frame, sample: Sample) -> list[Finding]:
    """Columns that repeat another one: equal on the sample, then in full."""
    seen: dict[bytes, str] = {}
    repeats = []
    for column in sample.columns:
        digest = _digest(sample.values[column.name])
        first = seen.setdefault(digest, column.name)
        if first != column.name and (len(sample.rows) == len(frame) or _equal(frame[first], frame[column.name])):
            repeats.append((column.name, first))
    if not repeats:
        return []
    names = [name for name, _ in repeats]
    return [_listing("A26", "info", names, column=repeats[0][0], first=repeats[0][1])]


def _digest(values) -> bytes:
    import pandas

    if values.dtype == object:
        codes, levels = pandas.factorize(values)
        return hashlib.sha256(codes.tobytes() + "\x1f".join(map(str, levels)).encode("utf-8", "replace")).digest()
    return hashlib.sha256(
        str(values.dtype).encode() + (values + 0 if values.dtype.kind == "f" else values).tobytes()
    ).digest()


def _equal(first, second) -> bool:
    known = first.notna().to_numpy() & second.notna().to_numpy()
    same_gaps = (first.isna().to_numpy() == second.isna().to_numpy()).all()
    return bool(same_gaps and (first.to_numpy()[known] == second.to_numpy()[known]).all())
