"""What the chosen model looks at, and whether more rows would help; each function runs in a worker.

Models that explain are those of the outer splits, asked about rows they have not seen: an explanation from training
rows would praise what was learnt by heart.
"""

import contextlib
import time

import numpy as np

from hyperplan._core.parallel import thread_limit
from hyperplan.compete import _models
from hyperplan.compete._problem import ALL_ROWS, Problem, some_rows
from hyperplan.compete._trial import certificate_of, final_model, fitted

ROWS = 2000  # on which importances are measured
CURVE_ROWS = 300  # on which dependences are averaged
GRID = 20
MOST_CATEGORIES = 10
TOP = 6  # columns whose dependence is shown, and that are shuffled in any case
FEWER_ROWS = (500, 150)  # on which importances are measured where time is short
BATCH = 8  # columns that are shuffled between two looks at the clock
FEW_CLASSES = 4  # each of so many has a curve of its own
MOST_CURVES = 12
SHARES = (0.125, 0.25, 0.5, 1.0)


def finish(problem: Problem, candidate, n_tries: int, settings, extra: dict, n_jobs: int, count: int | None = None):
    """The final pipeline, its settings and certificate, predictions for the tables of `extra`, and its rows.

    The other workers have nothing to do meanwhile: this one takes their cores, which changes no bit of the result.
    """
    with thread_limit(n_jobs):
        rows = problem.train_rows(ALL_ROWS) if count is None else some_rows(problem, count)
        pipeline, settings = final_model(problem, candidate, n_tries, settings, rows)
        predictions = {name: _models.predict(pipeline, typed, len(problem.classes)) for name, typed in extra.items()}
    return pipeline, settings, certificate_of(pipeline), predictions, len(rows)


def explain(problem: Problem, candidate, settings: dict, split: int, seconds: float):
    """``(importances, partial dependence)`` as JSON has them, of the model of one split on its test rows."""
    began = time.perf_counter()
    train, test = problem.splits[split]
    pipeline, _ = fitted(problem, candidate, settings, train)
    importances = measured_importances(problem, pipeline, test, seconds - (time.perf_counter() - began))
    typed = problem.rows(problem.typed, test[:: 1 + len(test) // ROWS])
    texts = {column.name for column in problem.columns if column.kind == "text"}  # no value of a text stands for others
    telling = [row["name"] for row in importances["columns"] if row["mean"] > 0 and row["name"] not in texts]
    shown = telling[: max(1, MOST_CURVES // len(shown_classes(problem)))][:TOP]
    return importances, [part for name in shown for part in dependences(problem, pipeline, typed, name)]


def measured_importances(problem: Problem, pipeline, test, seconds: float) -> dict:
    """The loss that follows from shuffling each column, on fewer rows where `seconds` do not suffice for all of them.

    Where even the fewest rows take too long for all columns, the first by an estimate over all of them are measured,
    batch by batch until the time is up, `TOP` in any case; the others are named as not measured.
    """
    import pandas

    from hyperplan.evaluation import permutation_importance

    end = time.perf_counter() + seconds
    rows, repeats = _affordable(problem, pipeline, test, seconds)
    typed = problem.rows(problem.typed, rows)
    names = _leading(problem, pipeline, pipeline.prepare.transform(typed), rows)
    frame = pandas.DataFrame({name: pandas.Series(typed[name]) for name in names})
    asked, score = _Asked(pipeline, typed, len(problem.classes)), _Score(problem.measure)
    found: list[dict] = []
    for first in range(0, len(names), BATCH):
        if first >= TOP and time.perf_counter() > end:
            break
        batch = names[first : first + BATCH]
        part = permutation_importance(
            asked, frame, problem.y[rows], scoring=score, columns=batch, n_repeats=repeats, n_jobs=1
        )
        for name, mean, low, high in zip(part.names, part.importances_mean, part.low, part.high):
            found.append({"name": str(name), "mean": float(mean), "low": float(low), "high": float(high)})
    unmeasured = names[len(found) :]
    found.sort(key=lambda row: -row["mean"])
    return {"method": "permutation", "columns": found, "rows": len(rows), "unmeasured": unmeasured}


def _affordable(problem: Problem, pipeline, test, seconds: float):
    """Test rows, and how often they are shuffled, for which the time suffices for all columns; the fewest if none."""
    count = len(problem.columns) * (1 + 1 / BATCH)
    whole = test[:: 1 + len(test) // ROWS]
    for at_most in (ROWS, *FEWER_ROWS):
        rows = whole[:: -(-len(whole) // at_most)] if len(whole) > at_most else whole
        repeats = 5 if len(rows) <= 40 else 2 if at_most == ROWS else 1
        typed = problem.rows(problem.typed, rows)
        before = time.perf_counter()
        _models.predict(pipeline, typed, len(problem.classes))
        each = time.perf_counter() - before
        if each * repeats * count <= seconds:
            break
        seconds -= each
    return rows, repeats


class _Asked:
    """A pipeline whose predictions, of the kind that measures judge, depend on some columns; the others stay."""

    def __init__(self, pipeline, typed: dict, n_classes: int):
        self.pipeline, self.typed, self.n_classes = pipeline, typed, n_classes

    def fit(self, X, y):
        """Fit the pipeline; scorers ask that a model can do so."""
        self.pipeline.fit(self._arrays(X), y)
        return self

    def predict(self, X):
        """Probabilities or numbers for a frame of typed columns."""
        return _models.predict(self.pipeline, self._arrays(X), self.n_classes)

    def _arrays(self, X) -> dict:
        return self.typed | {name: X[name].to_numpy() for name in X.columns}


class _Score:
    """A measure in the form of a scorer: predictions are then made once for all groups of rows that are left out."""

    def __init__(self, measure):
        self._score_func, self._kwargs, self._sign = measure.score, {}, 1 if measure.greater_is_better else -1

    def __call__(self, model, X, y):
        return self._sign * self._score_func(y, model.predict(X))


def _leading(problem: Problem, pipeline, matrix, rows) -> list[str]:
    """The columns by their weights in the model, the largest first; without weights by correlation with the target."""
    names = [column.name for column in problem.columns]
    weights = _own_weights(pipeline.model)
    if weights is None or len(weights) != len(pipeline.prepare.origins_):
        weights = _correlations(matrix, problem.y[rows], len(problem.classes))
    best = dict.fromkeys(names, 0.0)
    for name, weight in zip(pipeline.prepare.origins_, weights):
        best[name] = max(best[name], float(weight))
    return sorted(names, key=lambda name: -best[name])


def _own_weights(model):
    """Size of the coefficients, or importances, by column of the matrix; None if a model has neither."""
    for name in ("coef_", "feature_importances_"):
        with contextlib.suppress(Exception):
            return np.abs(np.atleast_2d(getattr(model, name))).max(axis=0)
    return None


def _correlations(matrix, y, n_classes: int) -> np.ndarray:
    """Size of the correlation of each column with the target, or with the class where it is largest."""
    matrix = np.nan_to_num(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
    truth = np.eye(n_classes)[y] if n_classes else y[:, None]
    matrix, truth = matrix - matrix.mean(axis=0), truth - truth.mean(axis=0)
    sizes = np.outer(np.linalg.norm(matrix, axis=0), np.linalg.norm(truth, axis=0))
    return np.divide(np.abs(matrix.T @ truth), sizes, out=np.zeros_like(sizes), where=sizes > 0).max(axis=1)


def dependences(problem: Problem, pipeline, typed: dict, name: str) -> list[dict]:
    """Mean predictions when a column is set to each value of a grid, and where the middle 80 % of the rows are.

    A number has one, two classes that of the positive one, a few classes one each; many that of the most frequent.
    """
    n = len(next(iter(typed.values())))
    some = np.arange(n)[:: 1 + n // CURVE_ROWS]
    sample = {key: values[some] for key, values in typed.items()}
    kind, grid, density = _grid(typed[name])
    answers = []
    for value in grid:
        column = np.empty_like(sample[name])
        column[:] = value
        prediction = _models.predict(pipeline, {**sample, name: column}, len(problem.classes))
        answers.append(prediction.reshape(len(some), -1))
    curves = np.array(answers)  # value of the grid, row, class
    return [
        {
            "name": name,
            "kind": kind,
            "grid": [_plain(value) for value in grid],
            "mean": curves[:, :, k].mean(axis=1).tolist(),
            "low": np.quantile(curves[:, :, k], 0.1, axis=1).tolist(),
            "high": np.quantile(curves[:, :, k], 0.9, axis=1).tolist(),
            "target_class": problem.classes[k] if problem.classes else None,
            "density": density,
        }
        for k in shown_classes(problem)
    ]


def shown_classes(problem: Problem) -> list[int]:
    """The classes whose probabilities are drawn."""
    if len(problem.classes) in (0, 2):
        return [min(len(problem.classes), 1)]
    if len(problem.classes) <= FEW_CLASSES:
        return list(range(len(problem.classes)))
    return [int(np.argmax(np.bincount(problem.y)))]


def _grid(values):
    """``(kind, values to set, how dense the rows are at each)``."""
    if values.dtype.kind == "O":
        known = np.array([value for value in values if value is not None], dtype=object)
        levels, counts = np.unique(known.astype(str), return_counts=True)
        top = np.argsort(-counts, kind="stable")[:MOST_CATEGORIES]
        return "category", levels[top].astype(object), counts[top].tolist()
    if values.dtype.kind == "M":
        known = values[~np.isnat(values)].astype("datetime64[s]").astype(np.int64)
    else:
        known = values[np.isfinite(values)]
    grid = np.unique(np.quantile(known, np.linspace(0.02, 0.98, GRID)))
    middles = (grid[1:] - grid[:-1]) / 2 + grid[:-1]
    inside = known[(known >= grid[0]) & (known <= grid[-1])]
    near = np.bincount(np.searchsorted(middles, inside), minlength=len(grid))
    widths = np.diff([grid[0], *middles, grid[-1]]) if len(grid) > 1 else np.ones(1)
    if values.dtype.kind == "M":
        return "date", grid.astype("datetime64[s]").astype(values.dtype), (near / widths).tolist()
    return "number", grid, (near / widths).tolist()


def _plain(value):
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[D]"))
    return value if isinstance(value, str) else float(value)


def learning(problem: Problem, candidate, settings: dict, split: int):
    """``[(rows, score on them, score on the test rows)]`` for growing parts of the training rows."""
    train, test = problem.splits[split]
    rng = np.random.default_rng([problem.seed, split])
    is_mixed = problem.order is None  # with time, the latest rows are the last to be left out
    mixed = rng.permutation(train) if is_mixed else train[np.argsort(problem.order[train], kind="stable")]
    points = []
    for share in SHARES:
        rows = np.sort(mixed[-max(10, int(share * len(mixed))) :])
        if problem.classes and len(np.unique(problem.y[rows])) < 2:
            continue
        pipeline, _ = fitted(problem, candidate, settings, rows)
        some = rows[:: 1 + len(rows) // ROWS]
        scores = [
            problem.measure.score(
                problem.y[part], _models.predict(pipeline, problem.rows(problem.typed, part), len(problem.classes))
            )
            for part in (some, test)
        ]
        points.append((len(rows), *scores))
    return points
