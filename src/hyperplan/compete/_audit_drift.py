"""Differences between the table and the test file: columns, types, categories, distributions.

Numbers are compared by the largest distance of their distribution functions (Kolmogorov-Smirnov), categories by
chi-square; p-values are corrected for the number of columns (Holm), and a difference must also be large enough to
matter: population stability index ``sum (p - q) log(p / q)`` over bins, 0.1 noticeable, 0.25 large.  A classifier that
tells rows of the two files apart (adversarial validation) sees what single columns do not.
"""

import numpy as np
from scipy.special import chdtrc, kolmogorov

from hyperplan._base.finding import Finding
from hyperplan.compete._audit_sample import (
    ENDLESS,
    Patience,
    Sample,
    as_floats,
    bins_of,
    draw_rows,
    draw_sample,
    sample_size,
)
from hyperplan.compete._columns_gaps import says_missing
from hyperplan.compete._columns_values import as_words, read_words, typed_values

LEVEL = 0.01
NOTICEABLE, LARGE = 0.1, 0.25  # of the stability index
FAR = 0.1  # of the distance of distribution functions
TELLING, VERY_TELLING = 0.6, 0.75  # of the area under the ROC curve
CERTAIN = 4.0
STABILITY_BINS = 10
CLASSIFIER_ROWS, CLASSIFIER_COLUMNS = 2000, 100
MOST_SHOWN = 50


def drift_findings(
    frame, test, columns, sample: Sample, target: str, seed: int = 0, patience: Patience = ENDLESS
) -> list[Finding]:
    """A11-A13, A22, A27, A28."""
    findings = _columns_that_differ(frame, test, columns, target)
    shared = [column for column in columns if column.name in test.columns]
    findings += changed_types(test, shared)
    if not len(test) or not shared or patience.ends("A11", "A12", "A13"):
        return findings
    findings += _unseen(frame, test, shared)
    other = draw_sample(test, shared, draw_rows(len(test), sample_size(len(columns)), seed))
    drifts = column_drifts(sample, other)
    if drifted := {name: drift for name, drift in drifts.items() if drift[2]}:
        worst = max(drifted, key=lambda name: drifted[name][0])
        index, p_value, _ = drifted[worst]
        severity = "warning" if index >= LARGE else "info"
        names = sorted(drifted, key=lambda name: -drifted[name][0])[:MOST_SHOWN]
        values = {"count": len(drifted), "worst": worst, "index": round(index, 3), "p": float(f"{p_value:.2g}")}
        findings.append(Finding("A11", severity, tuple(names), values))
    return findings + _adversarial(sample, other, drifts, seed)


def _columns_that_differ(frame, test, columns, target: str) -> list[Finding]:
    wanted = [column.name for column in columns if column.kind not in ("id", "constant", "empty")]
    absent = [name for name in wanted if name not in test.columns]
    extra = [str(name) for name in test.columns if name not in frame.columns and name != target]
    findings = [Finding("A22", "error", tuple(absent[:MOST_SHOWN]), {"count": len(absent)})] if absent else []
    if extra:
        findings.append(Finding("A28", "info", tuple(extra[:MOST_SHOWN]), {"count": len(extra)}))
    return findings


def changed_types(test, columns) -> list[Finding]:
    """A27: numbers and dates that are words in the test file."""
    names, example = [], ""
    for column in columns:
        series = test[column.name]
        if column.kind not in ("number", "date") or series.dtype.kind in ("biuf" if column.kind == "number" else "M"):
            continue
        is_lost = np.isnan(as_floats(typed_values(series, column)))
        odd = np.flatnonzero(is_lost & ~says_missing(as_words(series), column.gaps))
        if len(odd) > 0.1 * max(int(series.notna().sum()), 1):
            example = example or str(series.iloc[odd[0]])[:40]
            names.append(column.name)
    if not names:
        return []
    return [Finding("A27", "error", tuple(names[:MOST_SHOWN]), {"count": len(names), "example": example})]


def _unseen(frame, test, columns) -> list[Finding]:
    """A13: categories of the test file that the table does not have."""
    import pandas

    shares, examples = {}, {}
    for column in columns:
        if column.kind != "category":
            continue
        known = set(read_words(as_words(pandas.Series(pandas.unique(frame[column.name]))), column))
        words = read_words(as_words(test[column.name]), column)
        levels, counts = np.unique(words[[word is not None for word in words]].astype(str), return_counts=True)
        new = np.array([level not in known for level in levels], dtype=bool)
        if new.any():
            shares[column.name] = counts[new].sum() / len(test)
            examples[column.name] = str(levels[new][0])[:40]
    if not shares:
        return []
    worst = max(shares, key=shares.get)
    values = {"count": len(shares), "worst": worst, "share": round(float(shares[worst]), 5), "example": examples[worst]}
    return [Finding("A13", "warning" if shares[worst] >= 0.05 else "info", tuple(shares)[:MOST_SHOWN], values)]


def column_drifts(first: Sample, second: Sample) -> dict[str, tuple[float, float, bool]]:
    """For each column in both: stability index, adjusted p-value, whether the difference is certain and large."""
    from hyperplan.evaluation import adjust_p_values

    found = {}
    for column in first.columns:
        if column.name in second.values:
            found[column.name] = _drift(column, first.values[column.name], second.values[column.name])
    if not found:
        return {}
    adjusted = adjust_p_values(np.array([p for _, _, p in found.values()]), "holm")
    return {
        name: (index, float(p), bool(p < LEVEL and (index >= NOTICEABLE or distance >= FAR)))
        for (name, (index, distance, _)), p in zip(found.items(), adjusted)
    }


def _drift(column, old, new) -> tuple[float, float, float]:
    """Stability index, distance of distribution functions (0 for categories) and p-value of one column."""
    bins, n_bins = bins_of(column, np.concatenate([old, new]))
    old_counts = np.bincount(bins[: len(old)], minlength=n_bins).astype(np.float64)
    new_counts = np.bincount(bins[len(old) :], minlength=n_bins).astype(np.float64)
    if column.kind == "category":
        return stability_index(old_counts, new_counts), 0.0, chi_square(old_counts, new_counts)
    coarse = np.concatenate([[0], 1 + np.arange(n_bins - 1) * STABILITY_BINS // max(n_bins - 1, 1)])
    index = stability_index(np.bincount(coarse, old_counts), np.bincount(coarse, new_counts))
    distance, p_numbers = _distance_of_bins(old_counts[1:], new_counts[1:])
    if distance >= FAR / 2:
        distance, p_numbers = kolmogorov_smirnov(as_floats(old), as_floats(new))
    gaps = np.array([[old_counts[0], old_counts[1:].sum()], [new_counts[0], new_counts[1:].sum()]])
    return index, distance, min(1.0, 2 * min(p_numbers, chi_square(*gaps)))


def stability_index(old, new) -> float:
    """Population stability index of two lists of counts; half a row is added to each bin so that it stays finite."""
    filled = (old + new) > 0
    p = (old[filled] + 0.5) / (old[filled] + 0.5).sum()
    q = (new[filled] + 0.5) / (new[filled] + 0.5).sum()
    return float(((p - q) * np.log(p / q)).sum())


def chi_square(old, new) -> float:
    """p-value of the chi-square test that two lists of counts have one distribution; rare bins are joined."""
    total = old + new
    rare = total < 10
    if rare.any():
        old = np.append(old[~rare], old[rare].sum())
        new = np.append(new[~rare], new[rare].sum())
        total = old + new
    filled = total > 0
    old, new, total = old[filled], new[filled], total[filled]
    if len(total) < 2 or not old.sum() or not new.sum():
        return 1.0
    share = old.sum() / total.sum()
    expected = share * total
    statistic = ((old - expected) ** 2 / (expected * (1 - share))).sum()
    return float(chdtrc(len(total) - 1, statistic))


def _distance_of_bins(old, new) -> tuple[float, float]:
    """The distance seen at the borders of the bins only: never larger than the true one, and cheap."""
    if not old.sum() or not new.sum():
        return 0.0, 1.0
    distance = float(np.abs(np.cumsum(old) / old.sum() - np.cumsum(new) / new.sum()).max())
    return distance, float(kolmogorov(np.sqrt(old.sum() * new.sum() / (old.sum() + new.sum())) * distance))


def kolmogorov_smirnov(old, new) -> tuple[float, float]:
    """Largest distance of two empirical distribution functions and its asymptotic p-value."""
    old, new = np.sort(old[np.isfinite(old)]), np.sort(new[np.isfinite(new)])
    if not len(old) or not len(new):
        return 0.0, 1.0
    points = np.concatenate([old, new])
    below = np.searchsorted(old, points, side="right") / len(old)
    distance = float(np.abs(below - np.searchsorted(new, points, side="right") / len(new)).max())
    return distance, float(kolmogorov(np.sqrt(len(old) * len(new) / (len(old) + len(new))) * distance))


def _adversarial(first: Sample, second: Sample, drifts: dict, seed: int) -> list[Finding]:
    """A12: how well a classifier tells the rows of the two files apart."""
    names = sorted(drifts, key=lambda name: -drifts[name][0])
    kinds = {column.name: column for column in first.columns}
    names = [name for name in names if kinds[name].kind != "date"][:CLASSIFIER_COLUMNS]
    size = min(len(first.rows), len(second.rows), CLASSIFIER_ROWS)
    if not names or size < 30:
        return []
    old = draw_rows(len(first.rows), size, seed)
    new = draw_rows(len(second.rows), size, seed + 1)
    blocks = []
    for name in names:
        values = np.concatenate([first.values[name][old], second.values[name][new]])
        blocks.append(bins_of(kinds[name], values)[0])
    X = np.column_stack(blocks).astype(np.float64)
    y = np.repeat([0, 1], [len(old), len(new)])
    area, error = told_apart(X, y, seed)
    if area < TELLING or area - 0.5 < CERTAIN * error:
        return []
    severity = "warning" if area >= VERY_TELLING else "info"
    return [Finding("A12", severity, tuple(names[:5]), {"auc": round(area, 3), "rows": 2 * size})]


def told_apart(X, y, seed: int) -> tuple[float, float]:
    """Cross-validated area under the ROC curve of boosted trees, and its standard error under no difference."""
    from hyperplan.ensemble import HistGradientBoostingClassifier
    from hyperplan.metrics import roc_auc_score

    half = np.random.default_rng(seed).permutation(len(y)) % 2
    areas = []
    for k in (0, 1):
        model = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=8, early_stopping=False, random_state=0)
        model.fit(X[half != k], y[half != k])
        areas.append(roc_auc_score(y[half == k], model.predict_proba(X[half == k])[:, 1]))
    positive, negative = int(y.sum()), int(len(y) - y.sum())
    error = np.sqrt((positive + negative + 1) / (12 * positive * negative))
    return float(np.mean(areas)), float(error)
