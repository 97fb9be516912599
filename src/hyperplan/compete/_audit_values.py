"""How values were read: what stands for a missing one, spellings of one value, signs beside numbers, rare classes."""

import numpy as np

from hyperplan._base.finding import Finding
from hyperplan.compete._audit_sample import ENDLESS, Patience
from hyperplan.compete._classes import unknown_classes
from hyperplan.compete._columns_gaps import gap_numbers, number_word
from hyperplan.compete._columns_values import as_words, bare_number, parse_numbers

MOST_COLUMNS, MOST_VALUES = 8, 5  # that a sentence shows


def value_findings(frame, columns, patience: Patience = ENDLESS) -> list[Finding]:
    """A31 values that stand for a missing one, A32 spellings, A34 signs beside numbers, A35 several of them.

    Columns that `patience` has no time for are not counted.
    """
    findings, types = [], dict(zip(map(str, frame.columns), frame.dtypes))
    columns = [column for column in columns if column.name in types]
    gaps = {
        column.name: _counted(_gap_counts(frame[column.name], column))
        for column in columns
        if column.gaps and not patience.ends("A31")
    }
    if gaps := {name: counts for name, counts in gaps.items() if counts}:
        is_number = any(len(gap_numbers(column.gaps)) for column in columns)
        findings.append(_finding("A31", "warning" if is_number else "info", gaps))
    merged = {c.name: _spelling_counts(frame[c.name], c) for c in columns if c.merged and not patience.ends("A32")}
    if merged := {name: shown for name, shown in merged.items() if shown}:
        findings.append(_finding("A32", "info", merged))
    signs = {
        c.name: _sign_counts(frame[c.name])
        for c in columns
        if c.kind == "number" and types[c.name].kind not in "biufM" and not patience.ends("A34", "A35")
    }
    if some := {name: _counted({s: n for s, n in counts.items() if s}) for name, counts in signs.items()}:
        findings += [_finding("A34", "info", shown)] if (shown := {n: c for n, c in some.items() if c}) else []
    mixed = {
        name: _counted({s or "-": n for s, n in counts.items() if s != "()"})
        for name, counts in signs.items()
        if _is_mixed(counts)
    }
    return findings + ([_finding("A35", "warning", mixed)] if mixed else [])


def rare_findings(target: str, rare) -> list[Finding]:
    """A33: classes with too few rows, and what became of them."""
    if rare is None or not rare.counts:
        return []
    values = {
        "classes": len(rare.counts),
        "rows": sum(rare.counts.values()),
        "needed": rare.needed,
        "shown": _counted(rare.counts),
        "into": rare.into,
    }
    return [Finding("A36" if rare.into else "A33", "warning", (target,), values)]


def unknown_findings(target: str, values, classes) -> list[Finding]:
    """A37: rows of the test file whose class is not learnt."""
    counts = unknown_classes(values, classes)
    found = {"classes": len(counts), "rows": sum(counts.values()), "shown": _counted(counts)}
    return [Finding("A37", "warning", (target,), found)] if counts else []


def _finding(code: str, severity: str, shown: dict[str, str]) -> Finding:
    """A finding that lists columns with their values."""
    listed = [f"{name}: {values}" for name, values in list(shown.items())[:MOST_COLUMNS]]
    more = ["..."] if len(shown) > MOST_COLUMNS else []
    return Finding(code, severity, tuple(shown)[:50], {"count": len(shown), "shown": "; ".join([*listed, *more])})


def _counted(counts: dict[str, int]) -> str:
    """``unknown (3), -999 (12)``: some values with their numbers of rows."""
    listed = [f"{value[:40]} ({count})" for value, count in list(counts.items())[:MOST_VALUES]]
    return ", ".join([*listed, "..."] if len(counts) > MOST_VALUES else listed)


def _is_text(series) -> bool:
    return series.dtype.kind not in "biufM"


def _word_counts(series) -> dict[str, int]:
    import pandas

    codes, words = pandas.factorize(as_words(series))
    counts = np.bincount(codes[codes >= 0], minlength=len(words))
    return {str(word): int(count) for word, count in zip(words, counts)}


def _gap_counts(series, column) -> dict[str, int]:
    """Rows by what stands there for a missing value; numbers count however they are written."""
    counts, numbers = {}, gap_numbers(column.gaps)
    if column.kind == "number" and len(numbers):
        values = parse_numbers(series, column.format) if _is_text(series) else series.to_numpy(np.float64)
        counts = {number_word(number): int((values == number).sum()) for number in numbers}
    words = _word_counts(series) if _is_text(series) or column.kind != "number" else {}
    counts |= {gap: words[gap] for gap in column.gaps if gap in words}
    return {gap: count for gap, count in counts.items() if count}


def _spelling_counts(series, column) -> str:
    words = _word_counts(series)
    found = [
        f"{value[:40]} = {_counted({other: words[other] for other in others if other in words})}"
        for value, others in column.merged
        if any(other in words for other in others)
    ]
    return ", ".join(found[:MOST_VALUES]) + (", ..." if len(found) > MOST_VALUES else "")


def _sign_counts(series) -> dict[str, int]:
    """Rows by the sign beside their number, "" for none."""
    counts: dict[str, int] = {}
    for word, count in _word_counts(series).items():
        bare, sign = bare_number(word)
        if any(character.isdigit() for character in bare):
            counts[sign] = counts.get(sign, 0) + count
    return counts


def _is_mixed(counts: dict[str, int]) -> bool:
    """Whether numbers of one column may be of different units: two currencies, or percent beside anything else."""
    units = counts.keys() - {"()"}
    return len(units - {""}) > 1 or ("%" in units and len(units) > 1)
