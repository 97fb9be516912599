"""What the competition compiles: each candidate is fitted as the competition fits it, and in no other way.

Its matrices are dense rows of float64, or sparse ones for linear models with many columns.  Warming the candidates'
classes in all the ways that they offer would take several times as long.
"""

import warnings

import numpy as np

TABLES = ((300, 3), (1_600, 400), (70_000, 3))  # rows, and categories of a column: many make linear models' rows sparse
SETTINGS = 3  # drawn from a candidate's space, beside its defaults
FEW = {"n_estimators": 3, "max_iter": 4, "max_leaf_nodes": 16}


def candidate_names() -> list[str]:
    """Paths of the candidates that learn something."""
    from hyperplan.compete import candidates

    listed = candidates("classification") + candidates("regression")
    return sorted({candidate.path for candidate in listed if candidate.simplicity > 0})


def warm_candidate(path: str) -> str:
    """Fit the candidates of a class on small and large tables; returns "" or what went wrong."""
    from hyperplan.compete import candidates

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for candidate in candidates("classification") + candidates("regression"):
                if candidate.path == path:
                    _warm(candidate)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return ""


def _warm(candidate) -> None:
    from hyperplan.compete import guess_columns
    from hyperplan.compete._models import build, predict
    from hyperplan.compete._search import drawn_settings

    drawn = drawn_settings(candidate, SETTINGS, np.random.default_rng(0)) if candidate.space else []
    known = candidate.build({}).get_params()
    few = {name: value for name, value in FEW.items() if name in known and candidate.preparation != "linear"}
    for rows, levels in TABLES:
        most = rows if candidate.most_rows is None else candidate.most_rows // 2  # half of what it takes: in seconds
        frame, score = _table(min(rows, most), levels)
        columns = guess_columns(frame)
        for y in _targets(candidate.task, score):
            for settings in [{}, *drawn] if rows == TABLES[0][0] else [{}]:
                pipeline = build(candidate, {**settings, **few}, columns).fit(frame, y)
                predict(pipeline, pipeline.prepare.typed(frame), len(np.unique(y)) if y.dtype.kind == "i" else 0)
            if "class_weight" in known:  # what some metrics ask for
                build(candidate, {**few, "class_weight": "balanced"}, columns).fit(frame, y)
            if candidate.rounds is not None:  # what a search does
                build(candidate, {**few, "early_stopping": True}, columns).fit(frame, y, held=(frame, y))


def _table(rows: int, levels: int):
    """Numbers with and without missing values, and categories; and a number that follows from them."""
    import pandas

    rng = np.random.default_rng(0)
    table = {f"number {k}": rng.normal(size=rows) for k in range(6)}
    score = table["number 0"] - table["number 1"] + rng.normal(size=rows)
    table["number 0"] = np.where(rng.random(rows) < 0.1, np.nan, table["number 0"])
    table["category"] = np.array([f"c{k}" for k in range(levels)])[rng.integers(levels, size=rows)]
    return pandas.DataFrame(table), score


def _targets(task: str, score):
    if task == "regression":
        return [score]
    return [(score > 0).astype(np.intp), np.digitize(score, [-0.7, 0.7])]
