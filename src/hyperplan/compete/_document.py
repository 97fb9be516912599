"""The JSON document of a competition: everything the report shows, as plain numbers and texts."""

import datetime
import importlib.metadata
import math
import platform

import numpy as np

import hyperplan
from hyperplan.compete._columns_values import typed_values
from hyperplan.compete._measures import MEASURES, rope_of
from hyperplan.compete._quality import bias_variance, classification_quality, histogram, regression_quality
from hyperplan.compete._question import Question
from hyperplan.compete._standings import CORRECTION, LEVEL, Standings, other_metrics, plain_settings
from hyperplan.report._document import SCHEMA

PACKAGES = ("hyperplan", "numpy", "scipy", "numba", "scikit-learn", "pandas")
TOP_VALUES = 6
BARS, MOST_BARS = 12, 32  # of a histogram; the latter of whole numbers
STRETCHED = 1.5  # how many times wider one value in a hundred makes a histogram that is then cut
DAY = 86_400  # seconds
MOST_COLUMNS = 400  # shown with their distribution


def make_document(
    question: Question, standings: Standings, findings, extras: dict, title: str, sha256: str, used: dict, shown: list
):
    """Assemble the document.

    Parameters
    ----------
    question : Question
        What was asked.
    standings : Standings
        Who won.
    findings : dict
        ``audit`` and ``diagnosis``: lists of Finding.
    extras : dict
        What workers found out about the chosen model: settings, certificate, importances, dependence, learning,
        holdout; each may be missing.
    title, sha256 : str
        Name and digest of the table.
    used : dict
        ``seconds``, of these spent on ``compiling`` besides, and ``jobs``.
    shown : list of dict
        The columns at a glance (see `glances`).
    """
    problem, chosen = question.problem, standings.chosen
    document = {
        "schema": SCHEMA,
        "hyperplan": hyperplan.__version__,
        "created": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "title": title,
        "task": problem.task,
        "metric": _metric(problem),
        "data": _data(question, shown),
        "protocol": _protocol(question, standings, used),
        "leaderboard": [_within_reach(row, problem.measure) for row in standings.rows],
        "chosen": _chosen(problem, standings, extras),
        "classification": classification_quality(problem, chosen) if problem.classes else None,
        "regression": None if problem.classes else regression_quality(problem, chosen),
        "importances": extras.get("importances"),
        "partial_dependence": extras.get("dependence", []),
        "learning_curve": extras.get("learning"),
        "bias_variance": bias_variance(problem, chosen),
        "diagnosis": [_finding_within_reach(finding, problem.measure) for finding in findings["diagnosis"]],
        "audit": [finding.as_dict() for finding in findings["audit"]],
        "receipt": {
            "data_sha256": sha256,
            "seed": problem.seed,
            "machine": machine(),
            "python": platform.python_version(),
            "packages": versions(),
        },
    }
    return finite(document)


def machine() -> str:
    """What the computer is, without its name."""
    return f"{platform.system()} {platform.machine()}"


def versions() -> dict[str, str]:
    """Versions of the packages that decide numbers."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def finite(value):
    """The same document in plain types, with null for numbers that JSON cannot write."""
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, np.ndarray):
        return finite(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _metric(problem) -> dict:
    measure = problem.measure
    return {
        "name": measure.name,
        "label": measure.label,
        "greater_is_better": measure.greater_is_better,
        "best": measure.best,
        "unit": "",
    }


def _protocol(question, standings, used) -> dict:
    problem, n_splits = question.problem, len(standings.chosen.outcomes)
    return {
        "folds": min(problem.n_folds, n_splits),
        "repeats": max(1, n_splits // problem.n_folds),
        "planned": problem.n_folds,
        "splits": n_splits,
        "planned_splits": len(problem.splits),
        "kind": question.kind,
        "column": question.settings.time_column or question.settings.group,
        "tuning": "successive halving inside each training part",
        "interval": "corrected_t",
        "level": LEVEL,
        "rope": rope_of(problem.measure, problem.y),
        "correction": CORRECTION,
        "seed": problem.seed,
        "jobs": used["jobs"],
        "budget": float(question.settings.time),
        "used": round(used["seconds"], 2),
        "compiling": round(used["compiling"], 2),
        "stopped": used["stopped"],
    }


def _within_reach(part: dict, measure) -> dict:
    """A score whose interval ends at the best and at the worst possible value: beyond there is nothing to cover."""
    top, bottom = (measure.best, measure.worst) if measure.greater_is_better else (measure.worst, measure.best)
    cut = {}
    if top is not None and part.get("high") is not None:
        cut["high"] = min(part["high"], top)
    if bottom is not None and part.get("low") is not None:
        cut["low"] = max(part["low"], bottom)
    return part | cut


def _finding_within_reach(finding, measure) -> dict:
    """A finding as JSON has it, whose score and gain over the baseline have intervals that end where scores end."""
    values = _within_reach(dict(finding.values), measure)
    if measure.best is not None and {"baseline", "gain_high"} <= values.keys():
        values["gain_high"] = min(values["gain_high"], abs(measure.best - values["baseline"]))
    return finding.as_dict() | {"values": values}


def _chosen(problem, standings, extras) -> dict:
    chosen = standings.chosen
    return {
        "name": chosen.candidate.name,
        "label": chosen.candidate.label,
        "settings": plain_settings(extras.get("settings", {})),
        "why": standings.why,
        "score": _within_reach(standings.score, problem.measure),
        "other_metrics": [_within_reach(other, MEASURES[other["name"]]) for other in other_metrics(problem, chosen)],
        "holdout": _within_reach(extras["holdout"], problem.measure) if extras.get("holdout") else None,
        "fitted_rows": extras.get("rows", problem.n_rows),
    }


def glances(question: Question) -> list[dict]:
    """Every column but the target at a glance, in the order of the table."""
    used, whole = {column.name for column in question.problem.columns}, question.is_labelled.all()
    typed = question.problem.typed if whole else {}
    return [
        column_glance(question.frame, column, k, typed.get(column.name)) | {"used": column.name in used}
        for k, column in enumerate(question.columns)
    ]


def _data(question: Question, shown: list) -> dict:
    problem, labelled, rows = question.problem, int(question.is_labelled.sum()), len(question.frame)
    aside = int(question.rare.is_aside.sum())
    return {
        "rows": rows,
        "labelled": labelled,
        "unlabelled": rows - labelled - aside,
        "set_aside": aside,
        "test_rows": 0 if question.test is None else len(question.test),
        "target": _target(question.settings.target, problem),
        "columns": shown,
    }


def _target(name, problem) -> dict:
    if problem.classes:
        counts = np.bincount(problem.y, minlength=len(problem.classes))
        return {"name": name, "classes": list(problem.classes), "counts": counts.tolist()}
    counts, edges = histogram(problem.y, 20)
    mean, spread = float(problem.y.mean()), float(problem.y.std())
    return {"name": name, "edges": edges.tolist(), "counts": counts.tolist(), "mean": mean, "std": spread}


def column_glance(frame, column, position: int, values=None) -> dict:
    """A column at a glance: a histogram of numbers and dates, the most frequent categories.

    Its typed `values` may be given where they are known: to read them from texts takes long.
    """
    found = {"name": column.name, "kind": column.kind, "why": column.why, "missing": column.missing,
             "distinct": column.distinct, "edges": None, "counts": None, "top": None}  # fmt: skip
    if position >= MOST_COLUMNS:
        return found
    if column.kind in ("number", "date"):
        values = typed_values(frame[column.name], column) if values is None else values
        if column.kind == "date":
            values = values[~np.isnat(values)].astype("datetime64[s]").astype(np.int64) / DAY
        found |= _histogram(values[np.isfinite(values)])
    elif column.kind in ("category", "text", "id", "constant"):
        top = frame[column.name].value_counts().head(TOP_VALUES)
        found["top"] = [[str(value)[:60], int(count)] for value, count in top.items()]
    return found


def _histogram(values) -> dict:
    """Bars, ends and median; few whole numbers have a bar each, values far from all others count to the last."""
    if not values.size:
        return {}
    if not math.isfinite(float(values.max()) - float(values.min())):  # as wide as floats reach
        quarter = _histogram(values / 4)
        scaled = {name: 4 * quarter[name] for name in ("low", "median", "high")}
        return quarter | scaled | {"edges": [4 * edge for edge in quarter["edges"]]}
    low, median, high = np.quantile(values, [0.0, 0.5, 1.0])
    if high - low < MOST_BARS and (values == np.round(values)).all():
        edges = np.arange(low - 0.5, high + 1.0)
    else:
        first, last = np.quantile(values, [0.005, 0.995])
        is_stretched = high - low > STRETCHED * (last - first)
        edges = np.linspace(*((first, last) if is_stretched else (low, high)), BARS + 1)
    counts, edges = np.histogram(np.clip(values, edges[0], edges[-1]), bins=edges if edges[0] < edges[-1] else BARS)
    return {"edges": edges.tolist(), "counts": counts.tolist(), "low": low, "median": median, "high": high}
