"""How the chosen model errs, from its out-of-fold predictions: curves, calibration, confusion, residuals."""

import numpy as np

from hyperplan import metrics
from hyperplan.compete._confusion import confusion_section, counted
from hyperplan.compete._contest import Entry
from hyperplan.compete._problem import Problem
from hyperplan.compete._standings import pooled

CURVE_POINTS, FEWER_POINTS = 200, 60  # the latter where there are many curves
FEW_CURVES, MOST_CURVES = 8, 30  # classes with a curve of their own, the most frequent ones
BINS = 10
SPREAD = 20  # equal parts of the scale of probabilities in which rows are counted
SAME = 1e-9  # between probabilities that a model means to be equal
MOST_POINTS = 1500
INTERVAL_LEVEL = 0.9


def judged(problem: Problem, entry: Entry):
    """``(rows, truth, predictions)`` of the first repetition, for rows that were judged."""
    prediction = pooled(problem, entry)
    rows = np.flatnonzero(~np.isnan(prediction.reshape(problem.n_rows, -1)[:, 0]))
    return rows, problem.y[rows], prediction[rows]


def classification_quality(problem: Problem, entry: Entry) -> dict:
    """The section ``classification`` of the report."""
    _, y, shares = judged(problem, entry)
    n_classes = len(problem.classes)
    is_binary = n_classes == 2
    counts = np.bincount(y, minlength=n_classes)
    shown = [1] if is_binary else [int(k) for k in np.argsort(-counts, kind="stable")[:MOST_CURVES] if counts[k]]
    label = np.argmax(shares, axis=1)
    return {
        "classes": list(problem.classes),
        "positive": problem.classes[1] if is_binary else None,
        "prevalence": float(counts[1] / len(y)) if is_binary else None,
        "roc": [_roc(problem, y == k, shares[:, k], k) for k in shown if 0 < counts[k] < len(y)],
        "pr": [_precision_recall(problem, y == k, shares[:, k], k) for k in shown if counts[k]],
        "pr_gain": [_gain(problem, y == k, shares[:, k], k) for k in shown if 0 < counts[k] < len(y)],
        "calibration": _calibration(y == shown[0], shares[:, shown[0]])
        if is_binary
        else _calibration(label == y, shares.max(axis=1)),
        **confusion_section(counted(y, label, n_classes), list(problem.classes)),
        "thresholds": _thresholds(y == 1, shares[:, 1]) if is_binary else None,
    }


def confusion_cells(problem: Problem, entry: Entry) -> list[tuple[int, int, int]]:
    """``(true, predicted, count)`` of the pairs of classes that occur."""
    _, y, shares = judged(problem, entry)
    return counted(y, np.argmax(shares, axis=1), len(problem.classes))


def histogram(values: np.ndarray, n_bins: int) -> tuple[np.ndarray, np.ndarray]:
    """``(counts, edges)``: fewer bins where so many cannot be told apart, as those of 1e17 and 1e17 + 16."""
    low, high = float(values.min()), float(values.max())
    if not np.isfinite(high - low):  # as wide as floats reach
        counts, edges = histogram(values / 4, n_bins)
        return counts, 4 * edges
    while n_bins > 1:
        try:
            return np.histogram(values, bins=n_bins)
        except ValueError:
            n_bins //= 2
    return np.array([len(values)]), np.array([low, high if high > low else np.nextafter(low, np.inf)])


def _thinned(problem, *curves):
    """So many points of curves that they look whole, both ends among them."""
    n, most = len(curves[0]), CURVE_POINTS if len(problem.classes) <= FEW_CURVES else FEWER_POINTS
    keep = np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int))
    return [np.asarray(curve, dtype=np.float64)[keep].tolist() for curve in curves]


def _roc(problem, truth, score, k):
    false_rate, true_rate, _ = metrics.roc_curve(truth, score)
    fpr, tpr = _thinned(problem, false_rate, true_rate)
    return {"class": problem.classes[k], "fpr": fpr, "tpr": tpr, "auc": float(metrics.roc_auc_score(truth, score))}


def _precision_recall(problem, truth, score, k):
    precision, recall, _ = metrics.precision_recall_curve(truth, score)
    recall, precision = _thinned(problem, recall[::-1], precision[::-1])
    average = float(metrics.average_precision_score(truth, score))
    return {"class": problem.classes[k], "recall": recall, "precision": precision, "average_precision": average}


def _gain(problem, truth, score, k):
    precision, recall, *_ = metrics.precision_recall_gain_curve(truth, score)
    finite = np.isfinite(precision) & np.isfinite(recall) & (recall >= 0) & (precision > -1)
    order = np.argsort(recall[finite], kind="stable")
    recall, precision = _thinned(problem, recall[finite][order], precision[finite][order]) if finite.any() else ([], [])
    area = float(metrics.auprg_score(truth, score))
    return {"class": problem.classes[k], "recall_gain": recall, "precision_gain": precision, "auprg": area}


def _calibration(truth, score) -> dict:
    """Shares of the truth in bins of about equal counts of rows, with exact binomial intervals.

    Rows with the same probability share a bin: which of them came first means nothing.
    """
    from hyperplan.evaluation import binomial_interval

    order = np.argsort(score, kind="stable")
    parts = np.split(order, _cuts(score[order], min(BINS, max(2, len(order) // 10))))
    intervals = [binomial_interval(int(truth[part].sum()), len(part)) for part in parts]
    return {
        "predicted": [float(score[part].mean()) for part in parts],
        "observed": [float(truth[part].mean()) for part in parts],
        "counts": [len(part) for part in parts],
        "low": [float(interval.low) for interval in intervals],
        "high": [float(interval.high) for interval in intervals],
        "spread": np.histogram(score, SPREAD, (0.0, 1.0))[0].tolist(),
        "brier": float(np.mean((score - truth) ** 2)),
    }


def _cuts(ordered: np.ndarray, n_bins: int) -> list[int]:
    """Where to cut sorted values into about so many bins of equal counts, never between equal values."""
    between = np.flatnonzero(np.diff(ordered) > SAME) + 1
    wanted = [len(ordered) * k / n_bins for k in range(1, n_bins)]
    return sorted({int(between[np.argmin(np.abs(between - place))]) for place in wanted}) if len(between) else []


def _thresholds(truth, score) -> dict:
    """What each threshold would give; null where nothing is flagged."""
    grid = np.linspace(0.02, 0.98, 49)
    rows = {name: [] for name in ("threshold", "precision", "recall", "specificity", "f1", "share_flagged")}
    for threshold in grid:
        flagged = score >= threshold
        hits, wrong, missed = (flagged & truth).sum(), (flagged & ~truth).sum(), (~flagged & truth).sum()
        values = (
            threshold,
            hits / (hits + wrong) if hits + wrong else None,
            hits / (hits + missed) if hits + missed else None,
            1 - wrong / (~truth).sum() if (~truth).any() else None,
            2 * hits / (2 * hits + wrong + missed) if hits + wrong + missed else None,
            flagged.mean(),
        )
        for name, value in zip(rows, values):
            rows[name].append(None if value is None else float(value))
    return rows


def residual_quantiles(problem: Problem, entry: Entry, level: float = INTERVAL_LEVEL) -> np.ndarray:
    """How far the truth lay below and above the out-of-fold predictions: ends of distribution-free intervals.

    Cross-conformal: with n errors the ends are those of rank ``floor((1 - level) / 2 (n + 1))`` from either side.
    Reference: Vovk (2015), Cross-conformal predictors, Annals of Mathematics and Artificial Intelligence 74.
    """
    _, y, prediction = judged(problem, entry)
    errors = np.sort(y - prediction)
    rank = max(1, int((1 - level) / 2 * (len(errors) + 1)))
    return np.array([errors[rank - 1], errors[-rank]])


def regression_quality(problem: Problem, entry: Entry) -> dict:
    """The section ``regression`` of the report; the coverage of each fold is that of the other folds' quantiles."""
    rows, y, prediction = judged(problem, entry)
    low, high = residual_quantiles(problem, entry)
    some = np.arange(len(y))[:: 1 + len(y) // MOST_POINTS]
    errors = y - prediction
    counts, edges = histogram(errors, min(30, max(5, int(np.sqrt(len(errors))))))
    return {
        "true": y[some].tolist(),
        "predicted": prediction[some].tolist(),
        "lower": (prediction[some] + low).tolist(),
        "upper": (prediction[some] + high).tolist(),
        "coverage": _coverage(problem, entry, rows, errors),
        "level": INTERVAL_LEVEL,
        "residual_edges": edges.tolist(),
        "residual_counts": counts.tolist(),
        "residual_std": float(errors.std()),
    }


def _coverage(problem, entry, rows, errors) -> float:
    part = np.full(problem.n_rows, -1)
    for split in entry.outcomes:
        if split < problem.n_folds:
            part[problem.splits[split].test] = split
    part, inside = part[rows], []
    for split in np.unique(part):
        others = np.sort(errors[part != split])
        if not len(others):
            return float("nan")
        rank = max(1, int((1 - INTERVAL_LEVEL) / 2 * (len(others) + 1)))
        mine = errors[part == split]
        inside.append((mine >= others[rank - 1]) & (mine <= others[-rank]))
    return float(np.concatenate(inside).mean())


def bias_variance(problem: Problem, entry: Entry) -> dict | None:
    """How much of the error comes from the choice of training rows: rows are predicted once in each repetition.

    Squared error: ``error = variance + (bias and noise)``, the variance that of predictions for one row.  Classes: the
    bias is the error of the mean probabilities of all repetitions, the net variance (Domingos) what is left of the
    error; of two repetitions no majority could be told.
    """
    n_repeats = len(entry.outcomes) // problem.n_folds
    if n_repeats < 2:
        return _training_gap(problem, entry)
    whole = np.array([pooled(problem, entry, repeat) for repeat in range(n_repeats)])
    if problem.classes:
        labels = whole.argmax(axis=2)
        error = float((labels != problem.y).mean())
        bias = min(error, float((whole.mean(axis=0).argmax(axis=1) != problem.y).mean()))
        return {"loss": "zero_one", "error": error, "bias": bias, "variance": error - bias, "noise": None}
    error = float(np.mean((whole - problem.y) ** 2))
    variance = float(whole.var(axis=0, ddof=1).mean())
    return {"loss": "squared", "error": error, "bias": max(0.0, error - variance), "variance": variance, "noise": None}


def _training_gap(problem: Problem, entry: Entry) -> dict | None:
    """A sketch from one repetition: how far from perfect the score is on training rows, and how much further on others.

    The first part is what the model cannot follow (bias and noise), the second what it learnt of single rows and cannot
    use (variance); a model that knows its rows by heart has only the second.
    """
    best = problem.measure.best
    train, validation = (
        np.mean([getattr(outcome, name) for outcome in entry.outcomes.values()]) for name in ("train_score", "score")
    )
    if best is None or not np.isfinite([train, validation]).all():
        return None
    error = float(abs(best - validation))
    bias = min(error, float(abs(best - train)))
    return {"loss": "training_gap", "error": error, "bias": bias, "variance": error - bias, "noise": None}
