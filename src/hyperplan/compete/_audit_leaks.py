"""Columns that give the target away: alone they predict it too well, or they are the target under another name.

Each column alone predicts the target by the mean of its bin (quantiles of a number, levels of a category, missing
values a bin of their own), learnt on the other folds: a one-column tree whose leaves are the bins, for which sums by
fold and bin are all that is needed.  What looks suspicious is tried again by a real one-column tree.  The score is a
skill: 0 for guessing, 1 for a perfect prediction; Gini coefficient (twice the ROC AUC minus one, the mean over the
classes) for classes, the coefficient of determination for a number.
"""

import numpy as np

from hyperplan._base.finding import Finding
from hyperplan.compete._audit_sample import ENDLESS, Patience, Sample, as_floats, bins_of

FOLDS = 3
PRIOR_ROWS = 1.0  # weight of the overall mean in that of a bin
PERFECT, TOO_GOOD = 0.999, 0.98  # skills nothing honest has, and hardly anything
STANDS_OUT, LEAD = 0.85, 0.35  # a smaller skill is suspicious if the next column is so far behind
DOUBTFUL = 0.7  # skills below are not worth a second look
SECOND_LOOKS = 12
MOST_CLASSES = 10
ENOUGH_ROWS = 20
ROWS_PER_RANGE = 5  # on average; with fewer, ranges do not overlap by chance


def leak_findings(
    sample: Sample, y: np.ndarray, task: str, seed: int = 0, patience: Patience = ENDLESS
) -> list[Finding]:
    """A03 for columns that predict too well alone, A04 for those that are the target itself.

    Parameters
    ----------
    sample : Sample
        Labelled rows.
    y : ndarray
        Their target: codes of classes, or floats.
    task : {"classification", "regression"}
    """
    if len(y) < ENOUGH_ROWS:
        return []
    copies = []
    for column in sample.columns:
        if patience.ends("A04"):
            break
        copies += [column.name] if is_copy(column, sample.values[column.name], y, task) else []
    skills = column_skills(sample, y, task, seed, patience)
    others = {name: skill for name, skill in skills.items() if name not in copies}
    findings = []
    if copies:
        findings.append(Finding("A04", "error", tuple(copies), {"count": len(copies)}))
    if leaks := _suspects(others):
        best = max(leaks, key=others.get)
        rest = max((skill for name, skill in others.items() if name not in leaks), default=0.0)
        values = {"count": len(leaks), "best": best, "skill": _rounded(others[best]), "next": _rounded(rest)}
        severity = "error" if others[best] >= PERFECT else "warning"
        findings.append(Finding("A03", severity, tuple(leaks), values))
    return findings


def _rounded(value: float) -> float:
    return round(float(value), 4)


def _suspects(skills: dict[str, float]) -> list[str]:
    """Names of the columns whose skill is too good, best first."""
    order = sorted(skills, key=skills.get, reverse=True)
    too_good = [name for name in order if skills[name] >= TOO_GOOD]
    rest = order[len(too_good) :]
    if rest and skills[rest[0]] >= STANDS_OUT:
        following = skills[rest[1]] if len(rest) > 1 else 0.0
        if skills[rest[0]] - following >= LEAD:
            too_good.append(rest[0])
    return too_good


def column_skills(sample: Sample, y, task: str, seed: int = 0, patience: Patience = ENDLESS) -> dict[str, float]:
    """Skill of each column alone, cross-validated; of the first columns where there is no time for all."""
    fold = np.random.default_rng(seed).permutation(len(y)) % FOLDS
    skill = class_skill if task == "classification" else number_skill
    skills = {}
    for column in sample.columns:
        if patience.ends("A03"):
            break
        bins, n_bins = bins_of(column, sample.values[column.name])
        skills[column.name] = skill(bins, n_bins, fold, y)
    doubtful = sorted((name for name in skills if skills[name] >= DOUBTFUL), key=skills.get, reverse=True)
    for name in doubtful[:SECOND_LOOKS]:
        values = sample.values[name]
        if values.dtype != object:
            skills[name] = max(skills[name], tree_skill(as_floats(values), fold, y, task))
    return skills


def class_skill(bins, n_bins: int, fold, y) -> float:
    """Mean over the classes of the Gini coefficient of bin means learnt on the other folds."""
    n_classes = int(y.max()) + 1
    cell = fold * n_bins + bins
    counts = np.bincount(cell * n_classes + y, minlength=FOLDS * n_bins * n_classes)
    counts = counts.reshape(FOLDS, n_bins, n_classes).astype(np.float64)
    others = counts.sum(axis=0) - counts
    share = np.bincount(y, minlength=n_classes) / len(y)
    means = (others + PRIOR_ROWS * share) / (others.sum(axis=2, keepdims=True) + PRIOR_ROWS)
    totals = counts.sum(axis=2).ravel()
    common = np.argsort(-share, kind="stable")[:MOST_CLASSES]
    return float(np.mean([_gini(means[..., k].ravel(), counts[..., k].ravel(), totals) for k in common]))


def _gini(score, positive, total) -> float:
    """Twice the area under the ROC curve of cells with so many positive rows, minus one."""
    filled = total > 0
    score, positive, negative = score[filled], positive[filled], (total - positive)[filled]
    _, place = np.unique(score, return_inverse=True)
    positive, negative = np.bincount(place, positive), np.bincount(place, negative)
    pairs = positive.sum() * negative.sum()
    if pairs == 0:
        return 0.0
    below = np.cumsum(negative) - negative
    return float(2 * (positive * (below + negative / 2)).sum() / pairs - 1)


def number_skill(bins, n_bins: int, fold, y) -> float:
    """Coefficient of determination of bin means learnt on the other folds."""
    cell = fold * n_bins + bins
    centred = y - y.mean()
    counts = np.bincount(cell, minlength=FOLDS * n_bins).reshape(FOLDS, n_bins)
    sums = np.bincount(cell, centred, minlength=FOLDS * n_bins).reshape(FOLDS, n_bins)
    means = (sums.sum(axis=0) - sums) / (counts.sum(axis=0) - counts + PRIOR_ROWS)
    total = centred @ centred
    return float((2 * means * sums - means**2 * counts).sum() / total) if total > 0 else 0.0


def tree_skill(numbers, fold, y, task: str) -> float:
    """The same by one-column trees: finer than bins where the column is almost the target."""
    from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor

    model = DecisionTreeClassifier if task == "classification" else DecisionTreeRegressor
    known = numbers[np.isfinite(numbers)]
    X = np.where(np.isfinite(numbers), numbers, (known.min() if len(known) else 0.0) - 1.0)[:, None]
    predicted = []
    for k in range(FOLDS):
        tree = model(min_samples_leaf=3, random_state=0).fit(X[fold != k], y[fold != k])
        answer = tree.predict_proba(X[fold == k]) if task == "classification" else tree.predict(X[fold == k])
        predicted.append((np.flatnonzero(fold == k), answer, getattr(tree, "classes_", None)))
    if task == "regression":
        wrong = sum(((y[rows] - answer) ** 2).sum() for rows, answer, _ in predicted)
        return float(1 - wrong / ((y - y.mean()) ** 2).sum())
    scores = np.zeros((len(y), int(y.max()) + 1))
    for rows, answer, classes in predicted:
        scores[np.ix_(rows, classes)] = answer
    common = np.argsort(-np.bincount(y), kind="stable")[:MOST_CLASSES]
    ones = np.ones(len(y))
    return float(np.mean([_gini(scores[:, k], (y == k).astype(float), ones) for k in common]))


def is_copy(column, values, y, task: str) -> bool:
    """Whether a column is the target renamed, transformed in order, rounded, or cut into ranges."""
    import pandas

    if task == "classification" and column.distinct > 2 * (int(y.max()) + 1):
        return False
    has_ranges = column.distinct * ROWS_PER_RANGE <= len(y)
    if task == "regression" and not has_ranges and not _may_grow(column, values, y):
        return False
    codes, levels = pandas.factorize(values)
    known = codes >= 0
    if known.sum() < max(ENOUGH_ROWS, 0.9 * len(y)) or len(levels) < 2:
        return False
    codes, target = codes[known], y[known]
    if task == "classification":
        classes = np.unique(target)
        if len(levels) != len(classes):
            return False
        pairs = np.unique(codes * (int(y.max()) + 1) + target)
        return len(pairs) == len(classes)
    if np.bincount(codes).min() < 5 and len(levels) == 2:
        return False
    if column.kind != "category" and _is_monotone(as_floats(values)[known], target):
        return True
    return has_ranges and _are_ranges(codes, len(levels), target)


def _may_grow(column, values, target, size: int = 60) -> bool:
    """Whether a number goes up or down with the target in the first rows: most columns do not, and need no more."""
    if column.kind == "category":
        return False
    numbers = as_floats(values[: 4 * size])
    known = np.flatnonzero(np.isfinite(numbers))[:size]
    return _is_monotone(numbers[known], target[known])


def _is_monotone(numbers, target) -> bool:
    """Whether the column goes up (or down) with the target; one may be coarser than the other."""
    return any((np.diff(signed[np.lexsort((signed, target))]) >= 0).all() for signed in (numbers, -numbers))


def _are_ranges(codes, n_levels: int, target) -> bool:
    """Whether the levels cut the target into ranges that do not overlap."""
    low, high = np.full(n_levels, np.inf), np.full(n_levels, -np.inf)
    np.minimum.at(low, codes, target)
    np.maximum.at(high, codes, target)
    order = np.argsort(low, kind="stable")
    return bool((high[order][:-1] < low[order][1:]).all())
