"""What a report is made from: the format of ``report.json``, and a check that names what is wrong.

The format is written once, as data: a text is one of the ``KINDS``, a list holds the one format of its items, a
dictionary its keys.  A key that ends in ``?`` may be missing or null.  ``docs/report_schema.md`` explains each key.
"""

import math
from collections.abc import Iterator

SCHEMA = "hyperplan/report/1"
SEVERITIES = ("error", "warning", "info")

COLUMN = {
    "name": "text",
    "kind": "text",
    "why?": "text",
    "used?": "flag",
    "missing?": "number",
    "distinct?": "number",
    "edges?": ["number"],
    "counts?": ["number"],
    "top?": ["pair"],
    **{f"{name}?": "number" for name in ("low", "median", "high")},
}
DIFFERENCE = {
    "mean": "number",
    "low": "number",
    "high": "number",
    "p?": "number",
    "p_adjusted?": "number",
    "verdict": "text",
}
CANDIDATE = {
    "name": "text",
    "label": "text",
    "status": "text",
    "rank?": "number",
    "family?": "text",
    "simplicity?": "number",
    "reason?": "text",
    "score?": "number",
    "low?": "number",
    "high?": "number",
    "folds?": ["number"],
    "group?": "text",
    "is_chosen": "flag",
    "is_best": "flag",
    "is_baseline": "flag",
    "difference?": DIFFERENCE,
    "fit_seconds?": "number",
    "predict_seconds?": "number",
    "settings?": "table",
    "tried?": "number",
    "certificate?": {"holds": "flag", "summary": "text", "kind?": "text", "value?": "number", "bound?": "number"},
}
CHOSEN = {
    "name": "text",
    "label": "text",
    "why": "text",
    "settings?": "table",
    "score": {"value": "number", "low?": "number", "high?": "number", "method?": "text", "level?": "number"},
    "other_metrics?": [{"name": "text", "label": "text", "value": "number", "low?": "number", "high?": "number"}],
    "holdout?": {"rows": "number", "value": "number", "low?": "number", "high?": "number", "method?": "text"},
}
CLASSIFICATION = {
    "classes": ["text"],
    "positive?": "text",
    "prevalence?": "number",
    "roc?": [{"class": "text", "fpr": ["number"], "tpr": ["number"], "auc?": "number"}],
    "pr?": [{"class": "text", "recall": ["number"], "precision": ["number"], "average_precision?": "number"}],
    "pr_gain?": [{"class": "text", "recall_gain": ["number"], "precision_gain": ["number"], "auprg?": "number"}],
    "calibration?": {
        "predicted": ["number"],
        "observed": ["number"],
        "counts": ["number"],
        "low": ["number"],
        "high": ["number"],
        "spread?": ["number"],
        "brier?": "number",
    },
    "confusion?": [["number"]],
    "confused?": [{"true": "text", "predicted": "text", "count": "number", "share": "number"}],
    "recalls?": [{"class": "text", "rows": "number", "recall": "number"}],
    "thresholds?": {
        name: ["number or null"] for name in ("threshold", "precision", "recall", "specificity", "f1", "share_flagged")
    },
}
REGRESSION = {
    "true": ["number"],
    "predicted": ["number"],
    "lower?": ["number"],
    "upper?": ["number"],
    "coverage?": "number",
    "level?": "number",
    "residual_edges?": ["number"],
    "residual_counts?": ["number"],
    "residual_std?": "number",
}
DEPENDENCE = {
    "name": "text",
    "kind": "text",
    "grid": ["number or text"],
    "mean": ["number"],
    "low?": ["number"],
    "high?": ["number"],
    "target_class?": "text",
    "density?": ["number"],
}
LEARNING = {
    "sizes": ["number"],
    **{f"{part}{end}": ["number"] for part in ("train", "validation") for end in ("", "_low", "_high")},
}
FINDING = {"code": "text", "severity": "text", "columns": ["text"], "values": "table"}
DOCUMENT = {
    "schema": "text",
    "hyperplan": "text",
    "created": "text",
    "title": "text",
    "task": "text",
    "metric": {"name": "text", "label": "text", "greater_is_better": "flag", "best?": "number", "unit?": "text"},
    "data": {
        "rows": "number",
        "labelled?": "number",
        "unlabelled?": "number",
        "set_aside?": "number",
        "test_rows?": "number",
        "target": {
            "name": "text",
            "classes?": ["text"],
            "edges?": ["number"],
            "counts?": ["number"],
            "mean?": "number",
            "std?": "number",
        },
        "columns": [COLUMN],
    },
    "protocol": {
        "folds": "number",
        "repeats": "number",
        "planned?": "number",
        "splits?": "number",
        "planned_splits?": "number",
        "stopped?": "flag",
        "kind": "text",
        "column?": "text",
        "tuning?": "text",
        "interval?": "text",
        "level": "number",
        "rope?": "number",
        "correction?": "text",
        "seed?": "number",
        "jobs?": "number",
        "budget?": "number",
        "used?": "number",
    },
    "leaderboard": [CANDIDATE],
    "chosen": CHOSEN,
    "classification?": CLASSIFICATION,
    "regression?": REGRESSION,
    "importances?": {
        "method?": "text",
        "columns": [{"name": "text", "mean": "number", "low?": "number", "high?": "number"}],
        "rows?": "number",
        "unmeasured?": ["text"],
    },
    "partial_dependence?": [DEPENDENCE],
    "learning_curve?": LEARNING,
    "bias_variance?": {
        "loss": "text",
        "error": "number",
        "bias": "number",
        "variance": "number",
        "noise?": "number",
    },
    "diagnosis?": [FINDING],
    "audit?": [FINDING],
    "receipt": {
        "data_sha256?": "text",
        "seed?": "number",
        "machine?": "text",
        "python?": "text",
        "packages?": "table",
    },
}

# Lists that are read side by side: (where, names, how many items more the first has).
PARALLEL = (
    ("classification.roc", ("fpr", "tpr"), 0),
    ("classification.pr", ("recall", "precision"), 0),
    ("classification.pr_gain", ("recall_gain", "precision_gain"), 0),
    ("classification.calibration", ("predicted", "observed", "counts", "low", "high"), 0),
    ("classification.thresholds", tuple(CLASSIFICATION["thresholds?"]), 0),
    ("regression", ("true", "predicted", "lower", "upper"), 0),
    ("regression", ("residual_edges", "residual_counts"), 1),
    ("partial_dependence", ("grid", "mean", "low", "high", "density"), 0),
    ("learning_curve", tuple(LEARNING), 0),
    ("data.target", ("classes", "counts"), 0),
    ("data.target", ("edges", "counts"), 1),
    ("data.columns", ("edges", "counts"), 1),
)
CHOICES = {
    "schema": (SCHEMA,),
    "task": ("classification", "regression"),
    "leaderboard[].status": ("ok", "failed", "skipped"),
    "chosen.why": ("simplest_tied", "best", "only"),
    "audit[].severity": SEVERITIES,
    "diagnosis[].severity": SEVERITIES,
    "partial_dependence[].kind": ("number", "category", "date"),
}


def check_document(document: dict) -> None:
    """Raise a `ValueError` that names the first key of a report's document that is missing or wrong.

    Parameters
    ----------
    document : dict
        The content of ``report.json``; ``docs/report_schema.md`` describes it.

    Examples
    --------
    >>> from hyperplan.report import check_document
    >>> check_document({"schema": "hyperplan/report/1"})
    Traceback (most recent call last):
    ...
    ValueError: report document: hyperplan is missing; it must be a text
    """
    check_form(document, DOCUMENT, CHOICES)
    for where, problem in (*_unequal_lengths(document), *_contradictions(document)):
        raise ValueError(f"report document: {where} {problem}")


def check_form(document: dict, form: dict, choices: dict) -> None:
    """Raise a `ValueError` that names the first key that is missing, of the wrong kind or none of the choices."""
    for where, problem in _problems(document, form, "", choices):
        raise ValueError(f"report document: {where or 'the whole'} {problem}")


def completed(value, form=None):
    """A checked document with every optional key present: missing ones are null, missing lists of objects are empty."""
    form = DOCUMENT if form is None else form
    if isinstance(form, list) and not isinstance(form[0], str):
        return [completed(item, form[0]) for item in value or ()]
    if not isinstance(form, dict) or value is None:
        return value
    return {key.removesuffix("?"): completed(value.get(key.removesuffix("?")), inner) for key, inner in form.items()}


def is_number(value) -> bool:
    """True for finite numbers; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


KINDS = {
    "number": (is_number, "a finite number"),
    "number or null": (lambda value: value is None or is_number(value), "a finite number or null"),
    "number or text": (lambda value: isinstance(value, str) or is_number(value), "a finite number or a text"),
    "text": (lambda value: isinstance(value, str), "a text"),
    "flag": (lambda value: isinstance(value, bool), "true or false"),
    "table": (lambda value: isinstance(value, dict), "an object"),
    "pair": (
        lambda value: isinstance(value, list | tuple) and len(value) == 2 and is_number(value[1]),
        "a pair of a value and its count",
    ),
}


def _problems(value, form, where: str, choices: dict) -> Iterator[tuple[str, str]]:
    """What in a value differs from its format, as ``(where, problem)``."""
    if isinstance(form, str):
        fits, name = KINDS[form]
        if not fits(value):
            yield where, f"must be {name}, got {_shown(value)}"
        elif _general(where) in choices and value not in choices[_general(where)]:
            yield where, f"must be one of {', '.join(choices[_general(where)])}, got {_shown(value)}"
    elif isinstance(form, list):
        if not isinstance(value, list | tuple):
            yield where, f"must be a list, got {_shown(value)}"
            return
        for index, item in enumerate(value):
            yield from _problems(item, form[0], f"{where}[{index}]", choices)
    elif not isinstance(value, dict):
        yield where, f"must be an object, got {_shown(value)}"
    else:
        for key, inner in form.items():
            name = key.removesuffix("?")
            inside = f"{where}.{name}" if where else name
            if value.get(name) is not None:
                yield from _problems(value[name], inner, inside, choices)
            elif not key.endswith("?"):
                what = (
                    KINDS[inner][1] if isinstance(inner, str) else "a list" if isinstance(inner, list) else "an object"
                )
                yield inside, f"is {'null' if name in value else 'missing'}; it must be {what}"


def _unequal_lengths(document: dict) -> Iterator[tuple[str, str]]:
    for where, names, more in PARALLEL:
        for place, part in _parts(document, where):
            lengths = {name: len(part[name]) for name in names if part.get(name) is not None}
            wanted = {length - more * (name == names[0]) for name, length in lengths.items()}
            if len(wanted) > 1:
                sizes = ", ".join(f"{name} {length}" for name, length in lengths.items())
                rule = f"{names[0]} must have {more} more than the others" if more else "they must be equally long"
                yield place, f"has lists of different lengths ({sizes}): {rule}"


def _contradictions(document: dict) -> Iterator[tuple[str, str]]:
    for index, row in enumerate(document["leaderboard"]):
        if row["status"] == "ok" and row.get("score") is None:
            yield f"leaderboard[{index}].score", "is missing although the status is ok"
    if not any(row["status"] == "ok" for row in document["leaderboard"]):
        yield "leaderboard", "must hold at least one candidate whose status is ok"
    found = document.get("classification") or {}
    matrix = found.get("confusion")
    if matrix and any(len(row) != len(matrix) for row in (*matrix, found["classes"])):
        yield "classification.confusion", f"must have one row and one column per class ({len(found['classes'])})"


def _parts(document, where: str) -> Iterator[tuple[str, dict]]:
    """The dictionaries at a dotted place, with their own places; lists on the way are walked through."""
    found = [("", document)]
    for step in where.split("."):
        inside = [(f"{place}.{step}" if place else step, part[step]) for place, part in found if part.get(step)]
        found = []
        for place, part in inside:
            items = enumerate(part) if isinstance(part, list) else ()
            found += (
                [(f"{place}[{index}]", item) for index, item in items] if isinstance(part, list) else [(place, part)]
            )
    yield from found


def _general(where: str) -> str:
    """``leaderboard[3].status`` as ``leaderboard[].status``."""
    return "".join("[]" if part.startswith("[") else part for part in _pieces(where))


def _pieces(where: str) -> list[str]:
    return where.replace("[", "\0[").replace("]", "]\0").split("\0")


def _shown(value) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
