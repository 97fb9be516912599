"""Rows that occur more than once: within the table, with different targets, and in the test file."""

import numpy as np

from hyperplan._base.finding import Finding

FIRST_COLUMNS = 4  # compared first, then twice as many each time, among the rows that still agree with another
MANY = 0.005  # share of repeated rows that is worth a warning
ROOMY = 10.0  # times the rows: below, so few combinations of values exist that rows repeat by chance
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def repeated_rows(frame, names: list[str]) -> np.ndarray:
    """A number for each row: equal for rows that agree in all the named columns (missing values agree).

    Rows are compared by 64-bit hashes, a few columns at a time, and those that agree with no other drop out.
    """
    import pandas

    identity = np.arange(len(frame))
    alive, hashes = identity.copy(), np.zeros(len(frame), dtype=np.uint64)
    start, step = 0, FIRST_COLUMNS
    while start < len(names):
        part = frame[names[start : start + step]]
        part = part if len(alive) == len(frame) else part.iloc[alive]
        for _, series in part.items():
            hashes = _mixed(hashes, _bits(series))
        groups, _ = pandas.factorize(hashes)
        kept = np.bincount(groups)[groups] > 1
        alive, hashes, groups = alive[kept], hashes[kept], groups[kept]
        if not len(alive):
            return identity
        start, step = start + step, 2 * step
    if len(alive) and len(names):
        first = np.full(int(groups.max()) + 1, -1)
        first[groups[::-1]] = alive[::-1]
        identity[alive] = first[groups]
    return identity


def _bits(series) -> np.ndarray:
    """64 bits per value, equal for equal values."""
    import pandas

    if series.dtype.kind in "biuf":
        numbers = series.to_numpy(np.float64) + 0.0  # no negative zeros
        return np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)
    codes, _ = pandas.factorize(series)
    return codes.astype(np.int64).view(np.uint64)


def _mixed(hashes, bits) -> np.ndarray:
    hashes = (hashes ^ bits) * MULTIPLIER
    return hashes ^ (hashes >> np.uint64(29))


def by_distinct(columns) -> list[str]:
    """Names of the columns that tell rows apart, those with the most values first; identifiers do not count."""
    used = [column for column in columns if column.kind not in ("id", "constant", "empty")]
    return [column.name for column in sorted(used, key=lambda column: -column.distinct)]


def row_findings(frame, columns, y, task: str, test=None) -> list[Finding]:
    """A01 repeated rows, A02 equal rows with different targets, A25 test rows that are in the table."""
    names = by_distinct(columns)
    if not names or len(frame) < 2:
        return []
    groups = repeated_rows(frame, names)
    findings = []
    is_crowded = _combinations(columns) < ROOMY * len(frame)
    conflicts, alike = _targets_in_groups(groups, y, task)
    if alike:
        share = alike / len(frame)
        severity = "warning" if share >= MANY and not is_crowded else "info"
        findings.append(Finding("A01", severity, (), {"rows": alike, "share": round(share, 5)}))
    if conflicts:
        share = conflicts / len(frame)
        severity = "warning" if share >= 0.01 and not is_crowded else "info"
        findings.append(Finding("A02", severity, (), {"rows": conflicts, "share": round(share, 5)}))
    if test is not None:
        findings += _test_rows(frame, test, names, is_crowded)
    return findings


def _combinations(columns) -> float:
    """How many different rows the values allow; sentences allow any number."""
    used = [column for column in columns if column.kind not in ("id", "constant", "empty")]
    if any(column.kind == "text" for column in used):
        return np.inf
    return float(np.exp(min(sum(np.log(max(column.distinct, 1)) for column in used), 700.0)))


def _targets_in_groups(groups, y, task: str) -> tuple[int, int]:
    """Rows whose twins have another target, and rows that repeat an earlier one with the same target (or none)."""
    import pandas

    sizes = np.bincount(groups, minlength=len(groups))
    twins = np.flatnonzero(sizes[groups] > 1)
    if not len(twins):
        return 0, 0
    target, _ = pandas.factorize(y[twins])
    table = pandas.DataFrame({"group": groups[twins], "target": target})
    known = table[table["target"] >= 0]
    values = known.groupby("group")["target"].nunique()
    conflicts = int(known["group"].isin(values.index[values > 1]).sum())
    return conflicts, int(table.duplicated().sum())


def _test_rows(frame, test, names, is_crowded: bool) -> list[Finding]:
    import pandas

    shared = [name for name in names if name in test.columns]
    if len(shared) < len(names) or not len(test):
        return []
    try:
        both = pandas.concat([frame[names], test[names]], ignore_index=True)
    except (TypeError, ValueError):  # types that do not mix: nothing is equal
        return []
    groups = repeated_rows(both, names)
    count = int(np.isin(groups[len(frame) :], groups[: len(frame)]).sum())
    if not count:
        return []
    share = count / len(test)
    severity = "warning" if share >= 0.01 and not is_crowded else "info"
    return [Finding("A25", severity, (), {"rows": count, "share": round(share, 5)})]
