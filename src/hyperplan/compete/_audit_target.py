"""The target: values it takes, how often, how far they reach."""

import numpy as np

from hyperplan._base.finding import Finding

UNEVEN_SHARE, RARE_SHARE, RARE_ROWS = 0.1, 0.01, 50
FEW_ROWS = 50
FAR = 10.0  # robust standard deviations
SKEWED = 2.0
SHOWN = 5


def target_findings(target: str, y: np.ndarray, task: str, folds: int) -> list[Finding]:
    """A08-A10, A20, A21, A23, A24: `y` holds words and None, or floats and nan."""
    is_known = np.array([value is not None for value in y]) if task == "classification" else np.isfinite(y)
    known = y[is_known]
    findings = _missing(target, y, task, is_known)
    n_rows = len(known)
    if n_rows < 2 * folds:
        values = {"rows": n_rows, "folds": folds, "needed": 2 * folds}
        return [*findings, Finding("A24", "error", (target,), values)]
    if n_rows < FEW_ROWS:
        findings.append(Finding("A24", "warning", (target,), {"rows": n_rows, "folds": folds, "needed": FEW_ROWS}))
    levels, counts = np.unique(known.astype(str) if task == "classification" else known, return_counts=True)
    if len(levels) == 1:
        return [*findings, Finding("A23", "error", (target,), {"value": str(levels[0]), "rows": n_rows})]
    return findings + (_classes(target, levels, counts, folds) if task == "classification" else _numbers(target, known))


def _missing(target, y, task, is_known) -> list[Finding]:
    infinite = 0 if task == "classification" else int(np.isinf(y).sum())
    missing = len(y) - int(is_known.sum())
    if not missing:
        return []
    values = {"rows": missing, "share": round(missing / len(y), 5), "infinite": infinite}
    return [Finding("A10", "warning" if infinite else "info", (target,), values)]


def _classes(target, levels, counts, folds: int) -> list[Finding]:
    findings, shares = [], counts / counts.sum()
    rare = counts < folds
    if rare.any():
        shown = ", ".join(f"{level} ({count})" for level, count in zip(levels[rare][:SHOWN], counts[rare]))
        values = {"classes": int(rare.sum()), "rows": int(counts[rare].sum()), "folds": folds, "shown": shown}
        findings.append(Finding("A09", "warning", (target,), values))
    least = int(np.argmin(counts))
    if shares[least] < UNEVEN_SHARE * 2 / len(levels):
        severity = "warning" if shares[least] < RARE_SHARE or counts[least] < RARE_ROWS else "info"
        values = {
            "smallest": str(levels[least]),
            "rows": int(counts[least]),
            "share": round(float(shares[least]), 5),
            "largest": str(levels[np.argmax(counts)]),
            "majority": round(float(shares.max()), 5),
        }
        findings.append(Finding("A08", severity, (target,), values))
    return findings


def _numbers(target, y) -> list[Finding]:
    findings = []
    skew = _skewness(y)
    is_skewed = y.min() > 0 and skew > SKEWED and abs(_skewness(np.log(y))) < skew / 2
    if is_skewed:
        values = {"skewness": round(skew, 2), "log_skewness": round(_skewness(np.log(y)), 2)}
        findings.append(Finding("A21", "info", (target,), values))
    middle, spread = _robust(np.log(y) if is_skewed else y)
    if spread > 0:
        distance = np.abs((np.log(y) if is_skewed else y) - middle) / spread
        count = int((distance > FAR).sum())
        if 0 < count <= 0.05 * len(y):
            values = {
                "rows": count,
                "share": round(count / len(y), 5),
                "farthest": float(y[np.argmax(distance)]),
                "distance": round(float(distance.max()), 1),
                "median": float(np.median(y)),
            }
            findings.append(Finding("A20", "warning", (target,), values))
    return findings


def _skewness(y) -> float:
    centred = y - y.mean()
    spread = np.sqrt(np.mean(centred**2))
    return float(np.mean((centred / spread) ** 3)) if spread > 0 else 0.0


def _robust(y) -> tuple[float, float]:
    """Median and robust standard deviation: from the median distance, or where that is 0 from the quartiles."""
    middle = float(np.median(y))
    spread = 1.4826 * float(np.median(np.abs(y - middle)))
    if spread == 0:
        low, high = np.quantile(y, [0.25, 0.75])
        spread = float(high - low) / 1.349
    return middle, spread
