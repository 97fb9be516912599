"""What makes groups different: for each column how much of it the groups explain, and for each group what is its own.

There are no p-values here: groups that were made to differ do differ, and a test of that would only restate it.
"""

import numpy as np

from hyperplan.compete._audit_sample import as_floats, draw_rows, sample_size
from hyperplan.compete._columns_values import typed_values
from hyperplan.metrics import adjusted_rand_score

DESCRIBED = ("number", "category", "date")
MOST_LEVELS = 50  # of a category; the rest is one level
FIRST_COLUMNS = 20  # that are looked at although time is over
DESCRIBE_END = 0.97  # share of the budget
FACTS = 4  # about each group
LIKE_GROUPS = 0.9  # adjusted Rand index from which on groups are said to be the values of a column
MOST_CODES = 20  # values of a number that may be codes of something
NOTICEABLE = 0.4  # standard deviations between a group and the other rows that are worth a word


def describe(frame, columns, labels, seed: int, clock) -> tuple[list[dict], list[dict], int]:
    """How much of each column the groups explain (the most first), facts about each group, columns without time.

    Parameters
    ----------
    frame : DataFrame
        The table.
    columns : sequence of Column
        Its columns.
    labels : ndarray of shape (n_rows,)
        Groups 1, 2, ...; 0 for none.
    seed : int
        Of the sample of rows that is looked at.
    clock : Clock
        The budget: the first columns are described in any case, the others while there is time.
    """
    listed = [column for column in columns if column.kind in DESCRIBED]
    rows = draw_rows(len(frame), sample_size(len(listed)), seed)
    part, groups = frame[[column.name for column in listed]].iloc[rows], labels[rows]
    shares, facts = [], {code: [] for code in range(1, int(labels.max(initial=0)) + 1)}
    for place, column in enumerate(listed):
        if place >= FIRST_COLUMNS and not clock.has(DESCRIBE_END):
            break
        values = typed_values(part[column.name], column)
        look = _look_at_levels if column.kind == "category" else _look_at_numbers
        share, found = look(column, values, groups, facts.keys())
        shares.append({"name": column.name, "kind": column.kind, "share": share})
        for code, fact in found:
            facts[code].append(fact)
    shares.sort(key=lambda item: -item["share"])
    described = [
        {
            "group": code,
            "rows": int((labels == code).sum()),
            "facts": sorted(found, key=lambda fact: -abs(fact["effect"]))[:FACTS],
        }
        for code, found in facts.items()
    ]
    return shares, described, len(listed) - len(shares)


def _look_at_numbers(column, values, groups, codes):
    """Share of the variance between groups; for each group its median and that of the other rows.

    Where medians do not show the difference, as in a column of zeros and ones, means are given.
    """
    numbers = as_floats(values)
    known = np.isfinite(numbers) & (groups > 0)
    plain, g = numbers[known], groups[known]
    x = plain / (float(np.abs(plain).max(initial=0.0)) or 1.0)  # squares of very large numbers do not exist
    spread = float(x.std()) if x.size else 0.0
    if spread == 0.0:
        return 0.0, []
    counts = np.bincount(g)
    means = np.bincount(g, x) / np.maximum(counts, 1)
    share = float((counts * (means - x.mean()) ** 2).sum() / (x.size * spread**2))
    found = []
    for code in codes:
        inside, outside = x[g == code], x[g != code]
        if not inside.size or not outside.size:
            continue
        effect = float((inside.mean() - outside.mean()) / spread)
        if abs(effect) >= NOTICEABLE:
            inner, outer = (float(np.median(part)) for part in (plain[g == code], plain[g != code]))
            by = "median" if (inner > outer if effect > 0 else inner < outer) else "mean"
            if by == "mean":
                largest = float(np.abs(plain).max())
                inner, outer = float(inside.mean()) * largest, float(outside.mean()) * largest
            found.append((code, {"column": column.name, "kind": column.kind, "effect": effect, "value": inner,
                                 "others": outer, "level": None, "by": by}))  # fmt: skip
    return min(share, 1.0), found


def _look_at_levels(column, values, groups, codes):
    """Squared association (Cramér's V); for each group the level that is most over-represented.

    Shares are of all rows: to be missing is a level too, without a name.
    """
    import pandas

    grouped = groups > 0
    level, names = pandas.factorize(values[grouped])  # -1 where there is no value
    if len(names) < 2:
        return 0.0, []
    table = np.zeros((len(names) + 1, int(groups.max()) + 1))
    np.add.at(table, (level, groups[grouped]), 1.0)  # what is missing is counted last
    order = np.argsort(-table[:-1].sum(axis=1), kind="stable")[:MOST_LEVELS]
    missing, rare = table[-1:], np.delete(table[:-1], order, axis=0).sum(axis=0, keepdims=True)
    shown = [*(str(names[place])[:60] for place in order), None]
    listed, sizes = np.vstack([table[order], missing]), table.sum(axis=0)
    found = []
    for code in codes:
        others = sizes.sum() - sizes[code]
        if not sizes[code] or not others:
            continue
        p, q = listed[:, code] / sizes[code], (listed.sum(axis=1) - listed[:, code]) / others
        everywhere = listed.sum(axis=1) / sizes.sum()
        effects = (p - q) / np.sqrt(np.maximum(everywhere * (1.0 - everywhere), 1e-12))
        best = int(np.argmax(effects))
        if effects[best] >= NOTICEABLE:
            found.append((code, {"column": column.name, "kind": "category", "effect": float(effects[best]),
                                 "value": float(p[best]), "others": float(q[best]),
                                 "level": shown[best], "by": "share"}))  # fmt: skip
    return _association(np.vstack([table[order], rare])), found


def _association(table) -> float:
    """Chi-square of a table of counts over its largest possible value."""
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    chi_square = float(((table - expected) ** 2 / expected).sum())
    return min(chi_square / (table.sum() * (min(table.shape) - 1)), 1.0)


def _may_be_codes(column) -> bool:
    return column.kind == "number" and 2 <= column.distinct <= MOST_CODES


def columns_like_groups(frame, columns, used, labels, clock) -> list[dict]:
    """The columns whose values are the groups, or nearly so: name, agreement, whether distances saw it; best first.

    Categories and numbers of few values are compared, those that are left out as well; to be missing is a value too.
    """
    import pandas

    grouped = labels > 0
    if len(np.unique(labels[grouped])) < 2:
        return []
    found = []
    listed = [column for column in columns if column.kind == "category" or _may_be_codes(column)]
    for place, column in enumerate(listed):
        if place >= FIRST_COLUMNS and not clock.has(DESCRIBE_END):
            break
        codes, _ = pandas.factorize(typed_values(frame[column.name], column)[grouped])
        agreement = float(adjusted_rand_score(codes, labels[grouped]))
        if agreement >= LIKE_GROUPS:
            found.append({"name": column.name, "agreement": agreement, "used": column.name in used})
    return sorted(found, key=lambda item: -item["agreement"])


def agreement_with(frame, column, labels) -> float | None:
    """Adjusted Rand index of the groups and the values of a category; None for other kinds."""
    if column is None or column.kind != "category" or labels.max(initial=0) < 2:
        return None
    words = typed_values(frame[column.name], column)
    known = np.array([word is not None for word in words], dtype=bool)
    if not known.any():
        return None
    return float(adjusted_rand_score(words[known].astype(str), labels[known]))
