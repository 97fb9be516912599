"""Callbacks of scikit-learn on the fits that report their steps: progress, scores on the way, an early end."""

import numpy as np
import pytest

from hyperplan.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRanker, HistGradientBoostingRegressor
from hyperplan.linear_model import LogisticRegression

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
SCORE = X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * RNG.normal(size=120)
WORDS = np.where(SCORE > 0, "yes", "no")
FEW = {"max_iter": 6, "min_samples_leaf": 5, "random_state": 0}


class Recorder:
    """Keeps what it is shown after each iteration and asks to stop after some."""

    def __init__(self, stop_after=None):
        self.stop_after, self.life, self.shown = stop_after, [], []

    def setup(self, estimator, context):
        self.life.append("setup")

    def teardown(self, estimator, context):
        self.life.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.life += ["fit"] if context.parent is None else []

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        if context.parent is None or fitted_estimator is None:
            return False
        self.shown.append((X, y, metadata, fitted_estimator))
        return len(self.shown) == self.stop_after


FITS = {
    "classes": (HistGradientBoostingClassifier(**FEW), X, WORDS),
    "several classes": (HistGradientBoostingClassifier(**FEW), X, np.digitize(SCORE, [-0.5, 0.5])),
    "numbers": (HistGradientBoostingRegressor(**FEW), X, SCORE),
    "logistic": (LogisticRegression(C=10.0), X, WORDS),
    "softmax": (LogisticRegression(), X, np.digitize(SCORE, [-0.5, 0.5])),
}


@pytest.mark.parametrize("name", FITS)
def test_each_iteration_is_reported_with_a_model_that_answers(name):
    model, rows, y = FITS[name]
    recorder = Recorder()
    model.set_callbacks(recorder).fit(rows, y)
    model.set_callbacks()
    assert recorder.life == ["setup", "fit", "teardown"]
    assert len(recorder.shown) >= 2
    if hasattr(model, "n_trees_per_iteration_"):
        assert len(recorder.shown) == model.n_iter_ == 6
    scores = [fitted.score(*shown) for *shown, _, fitted in recorder.shown]
    assert scores[-1] == model.score(rows, y) > scores[0] - 0.05
    assert all(fitted is not model for *_, fitted in recorder.shown)
    plain = type(model)(**model.get_params()).fit(rows, y)
    # a listener changes nothing of a boosted fit; a logistic one takes the steps it can report, to the same optimum
    np.testing.assert_allclose(plain.predict(rows) == y, model.predict(rows) == y)


@pytest.mark.parametrize("name", ["classes", "numbers", "logistic"])
def test_a_callback_ends_the_fit(name):
    model, rows, y = FITS[name]
    recorder = Recorder(stop_after=2)
    model.set_callbacks(recorder).fit(rows, y)
    model.set_callbacks()
    assert len(recorder.shown) == 2 and np.max(model.n_iter_) == 2
    assert recorder.shown[-1][-1].score(rows, y) == model.score(rows, y)


def test_rows_are_shown_as_they_were_given_and_without_those_held_out():
    """Categories and labels as words: a model asked about codes would answer nonsense."""
    pandas = pytest.importorskip("pandas")
    colour = np.array(["red", "green", "blue"])[np.digitize(SCORE, [-0.7, 0.7])]
    frame = pandas.DataFrame({"x": X[:, 1], "colour": pandas.Categorical(colour), "z": X[:, 2]}, index=range(7, 127))
    weight = np.linspace(0.5, 1.5, 120)
    recorder = Recorder()
    model = HistGradientBoostingClassifier(early_stopping=True, validation_fraction=0.25, **FEW)
    model.set_callbacks(recorder).fit(frame, list(WORDS), weight)
    rows, y, metadata, fitted = recorder.shown[-1]
    assert rows.shape == (90, 3) and list(rows.columns) == ["x", "colour", "z"] and set(y) == {"yes", "no"}
    np.testing.assert_array_equal(metadata["sample_weight"], weight[rows.index - 7])
    np.testing.assert_array_equal(np.asarray(y), WORDS[rows.index - 7])
    assert fitted.score(rows, y) > 0.9


def test_a_ranking_is_shown_with_its_queries():
    recorder = Recorder()
    grades, queries = np.digitize(SCORE, [-0.5, 0.8]), np.repeat(np.arange(12), 10)
    model = HistGradientBoostingRanker(**FEW).set_callbacks(recorder)
    model.fit(X, grades, qid=queries)
    rows, y, metadata, fitted = recorder.shown[-1]
    assert fitted.score(rows, y, **metadata) == model.score(X, grades, qid=queries)


def test_scores_on_the_way():
    monitor = callback.ScoringMonitor(scoring="accuracy")
    HistGradientBoostingClassifier(**FEW).set_callbacks(monitor).fit(X, WORDS)
    found = [row["accuracy"] for row in monitor.get_logs().data if "accuracy" in row]
    assert len(found) >= 6 and found[-1] > 0.9


def test_a_progress_bar_is_drawn_to_its_end(capsys):
    pytest.importorskip("rich")
    HistGradientBoostingRegressor(**FEW).set_callbacks(callback.ProgressBar()).fit(X, SCORE)
    shown = capsys.readouterr().out
    assert "HistGradientBoostingRegressor - fit" in shown and "100%" in shown
