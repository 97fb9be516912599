"""``hyperplan demo``: the linear family on a real table, with intervals, certificates and one picture.

Two questions about the Palmer penguins: how heavy is a penguin (regression), and is it female or male
(classification)?  Every model sees the same repeated 5-fold splits, with features standardised on the training part.
"""

import importlib
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hyperplan.cli import require_extra
from hyperplan.evaluation._corrected_t import corrected_t_interval
from hyperplan.evaluation._interval import Interval
from hyperplan.evaluation._splits import repeated_folds

N_FOLDS = 5


class Model(NamedTuple):
    """A row of the table: where the class lives (below `hyperplan`) and how it is built; no path = baseline."""

    label: str
    path: str = ""
    options: dict = {}

    def build(self):
        family, _, name = self.path.partition(".")
        return getattr(importlib.import_module(f"hyperplan.{family}"), name)(**self.options)


class Question(NamedTuple):
    """What is asked of the table, and who answers."""

    title: str
    target: str
    score_name: str
    models: tuple[Model, ...]


class Answer(NamedTuple):
    """How one model did."""

    label: str
    score: Interval
    milliseconds: float
    certificate: str  # one word


LM = "linear_model."
MASS = Question(
    "How heavy is a penguin?",
    "body_mass_g",
    "R²",
    (
        Model("always the mean"),
        Model("LinearRegression", LM + "LinearRegression"),
        Model("Ridge", LM + "Ridge", {"alpha": 1.0}),
        Model("Lasso", LM + "Lasso", {"alpha": 5.0}),
        Model("ElasticNet", LM + "ElasticNet", {"alpha": 0.05}),
        Model("HuberRegressor", LM + "HuberRegressor", {"max_iter": 1000}),
        Model("QuantileRegressor", LM + "QuantileRegressor", {"alpha": 0.0}),
        Model("GammaRegressor", LM + "GammaRegressor", {"alpha": 1e-3, "max_iter": 1000}),
        Model("SGDRegressor", LM + "SGDRegressor", {"random_state": 0}),
        Model("LinearSVR", "svm.LinearSVR", {"C": 100.0, "max_iter": 100_000}),
    ),
)
SEX = Question(
    "Is the penguin female or male?",
    "sex",
    "accuracy",
    (
        Model("the more frequent sex"),
        Model("LogisticRegression", LM + "LogisticRegression"),
        Model(
            "LogisticRegression (l1)", LM + "LogisticRegression", {"l1_ratio": 1.0, "solver": "saga", "max_iter": 5000}
        ),
        Model("RidgeClassifier", LM + "RidgeClassifier"),
        Model("SGDClassifier (hinge)", LM + "SGDClassifier", {"random_state": 0}),
        Model("Perceptron", LM + "Perceptron", {"random_state": 0}),
        Model("LinearSVC", "svm.LinearSVC", {"max_iter": 10_000}),
    ),
)
QUESTIONS = (MASS, SEX)


def estimator_names() -> set[str]:
    """What the demo fits, as ``family.Class``: `hyperplan warmup --family demo` compiles these."""
    return {model.path for question in QUESTIONS for model in question.models if model.path} | {
        "preprocessing.StandardScaler"
    }


def run(out: str, repeats: int) -> int:
    """Answer both questions, print a table for each, write the picture."""
    console = require_extra("rich.console", "cli").Console()
    require_extra("matplotlib", "report")
    from hyperplan.cli._picture import draw, lasso_path

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    answers: list[tuple[Question, list[Answer]]] = []
    with _progress(console) as bar:
        task = bar.add_task("", total=sum(len(question.models) for question in QUESTIONS))
        for question in QUESTIONS:
            rows = []
            for model in question.models:
                bar.update(task, description=model.label)
                rows.append(evaluate(question, model, repeats))
                bar.advance(task)
            answers.append((question, rows))
        bar.update(task, description="drawing")
        picture = draw(folder / "penguins.png", answers, lasso_path(MASS))
    for question, rows in answers:
        console.print(_table(question, rows, repeats))
    console.print(
        f"Intervals: corrected resampled t, 95 %, over {repeats} x {N_FOLDS} folds. "
        "Certificates are those of the fit on all rows (void: its assumption is not met, as for a perceptron when no "
        "plane separates the classes); print(model.certificate_) explains one."
    )
    console.print(f"Picture: {picture}", soft_wrap=True)
    return 0


def evaluate(question: Question, model: Model, repeats: int) -> Answer:
    """Cross-validated scores of one model, the median time of a fit, and the certificate of a fit on all rows."""
    X, y = _data(question)
    classes = y.dtype.kind != "f"
    strata = np.unique(y, return_inverse=True)[1] if classes else np.zeros(y.shape[0], dtype=np.intp)
    scores, seconds = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that did not converge says so in the certificate column
        for test in repeated_folds(strata, N_FOLDS, repeats):
            train = np.setdiff1d(np.arange(y.shape[0]), test)
            X_train, X_test = standardised(X[train], X[test])
            prediction, elapsed = _fit_predict(model, X_train, y[train], X_test)
            scores.append(_score(y[test], prediction, classes))
            seconds.append(elapsed)
        word = _certificate(model, standardised(X, X)[0], y)
    interval = corrected_t_interval(scores, 1 / (N_FOLDS - 1))
    return Answer(model.label, interval, 1000 * float(np.median(seconds)), word)


def standardised(X_train, X_test):
    """Both parts scaled by the means and deviations of the first."""
    from hyperplan.preprocessing import StandardScaler

    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), scaler.transform(X_test)


def _data(question: Question):
    from hyperplan.datasets import load_penguins

    return load_penguins(target=question.target, return_X_y=True)


def _fit_predict(model: Model, X, y, X_test):
    started = time.perf_counter()
    if not model.path:
        constant = y.mean() if y.dtype.kind == "f" else max(np.unique(y), key=lambda label: (y == label).sum())
        return np.full(X_test.shape[0], constant), time.perf_counter() - started
    fitted = model.build().fit(X, y)
    elapsed = time.perf_counter() - started
    return fitted.predict(X_test), elapsed


def _score(truth, prediction, classes: bool) -> float:
    """Share of right labels, or R² = 1 - residual sum of squares / total sum of squares."""
    if classes:
        return float(np.mean(truth == prediction))
    return float(1 - np.sum((truth - prediction) ** 2) / np.sum((truth - truth.mean()) ** 2))


def _certificate(model: Model, X, y) -> str:
    """One word: "holds", "fails", "void" when its assumption is not met, "-" for the baseline."""
    if not model.path:
        return "-"
    certificate = model.build().fit(X, y).certificate_
    return "void" if np.isnan(certificate.bound) else "holds" if certificate.holds else "fails"


def _progress(console):
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("fitting"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, TextColumn("{task.description}"), console=console, transient=True)


def _table(question: Question, rows: list[Answer], repeats: int):
    from rich.table import Table

    table = Table(title=f"{question.title} ({question.score_name}, {repeats} x {N_FOLDS} folds)", title_justify="left")
    table.add_column("model", no_wrap=True)
    for name in (question.score_name, "95 % interval", "fit ms"):
        table.add_column(name, justify="right")
    table.add_column("certificate")
    best = max(row.score.value for row in rows)
    for row in rows:
        style = "bold" if row.score.value == best else ""
        ends = f"{row.score.low:.3f} .. {row.score.high:.3f}"
        time_text = f"{row.milliseconds:.2f}" if row.certificate != "-" else "-"
        table.add_row(row.label, f"{row.score.value:.3f}", ends, time_text, row.certificate, style=style)
    return table
