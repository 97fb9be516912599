"""H4: the histogram rule; E83: the positive class needs more than one half."""

import numpy as np
import pytest

from hyperplan.neighbors import HistogramClassifier
from hyperplan.neighbors import _histogram as module


def test_H4_shares_are_counts_in_cells():
    rng = np.random.default_rng(0)
    X, y = rng.random((500, 2)), rng.integers(0, 3, size=500)
    X[0], X[1] = 0.0, 1.0
    model = HistogramClassifier(bins=4).fit(X, y)
    cells = np.minimum((X * 4).astype(int), 3)
    for i in (0, 1, 17, 300):
        together = (cells == cells[i]).all(axis=1)
        shares = np.bincount(y[together], minlength=3) / together.sum()
        np.testing.assert_allclose(model.predict_proba(X[i : i + 1])[0], shares)
    assert model.n_cells_ == 16 and model.cell_weights_.sum() == 500


def test_H4_no_rule_that_is_constant_on_cells_has_fewer_training_errors():
    rng = np.random.default_rng(1)
    X, y = rng.random((200, 1)), rng.integers(0, 2, size=200)
    model = HistogramClassifier(bins=8).fit(X, y)
    cells = model.cells(X)
    least = sum(min((y[cells == c] == 0).sum(), (y[cells == c] == 1).sum()) for c in range(model.n_cells_))
    assert (model.predict(X) != y).sum() == least


def test_E83_a_tie_is_no_majority():
    X = np.array([[0.1], [0.2], [0.8], [0.9], [0.95]])
    model = HistogramClassifier(bins=2).fit(X, [-1, 1, 1, 1, -1])
    assert model.predict([[0.15], [0.85]]).tolist() == [-1, 1]  # one half in the first cell, two thirds in the second
    np.testing.assert_allclose(model.predict_proba([[0.15], [0.85]])[:, 1], [1 / 2, 2 / 3])


@pytest.mark.parametrize("empty, expected", [("prior", [0.75, 0.25]), ("uniform", [0.5, 0.5])])
def test_H4_empty_cells_have_a_default(empty, expected):
    X = np.array([[0.0], [0.1], [0.9], [1.0]])
    model = HistogramClassifier(bins=5, empty=empty).fit(X, ["a", "a", "a", "b"])
    assert model.cells([[0.5]]).tolist() == [-1]
    np.testing.assert_allclose(model.predict_proba([[0.5]]), [expected])
    assert model.predict([[0.5]]).tolist() == ["a"]


def test_H4_outer_cells_have_no_end():
    X = np.array([[0.0], [1.0]])
    model = HistogramClassifier(bins=3).fit(X, [0, 1])
    assert model.predict([[-1e9], [1e9]]).tolist() == [0, 1]


def test_quantiles_put_equally_many_rows_into_intervals():
    X = np.exp(np.random.default_rng(0).normal(size=(1000, 1)) * 3)
    model = HistogramClassifier(bins=10, strategy="quantile").fit(X, np.zeros(1000, dtype=int))
    assert model.n_cells_ == 10 and (np.abs(model.cell_weights_ - 100) <= 1).all()


def test_more_cells_than_an_integer_can_count(monkeypatch):
    """The same cells, whether they are numbered once or anew every few columns."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 6)), rng.integers(0, 2, size=300)
    plain = HistogramClassifier(bins=3).fit(X, y)
    expected = plain.predict_proba(X + 0.1)
    monkeypatch.setattr(module, "MOST", 50)
    folded = HistogramClassifier(bins=3).fit(X, y)
    assert len(folded._tables) > 1 and folded.n_cells_ == plain.n_cells_
    np.testing.assert_array_equal(folded.predict_proba(X + 0.1), expected)
    wide = HistogramClassifier(bins=2).fit(rng.normal(size=(50, 200)), y[:50])
    assert wide.n_cells_ == 50


def test_weights_are_copies():
    rng = np.random.default_rng(0)
    X, y, copies = rng.random((100, 2)), rng.integers(0, 2, size=100), rng.integers(0, 4, size=100)
    for strategy in ("uniform", "quantile"):
        heavy = HistogramClassifier(strategy=strategy).fit(X, y, sample_weight=copies)
        many = HistogramClassifier(strategy=strategy).fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
        np.testing.assert_allclose(heavy.predict_proba(X), many.predict_proba(X))


def test_constant_columns_have_one_interval():
    X = np.column_stack([np.ones(6), np.arange(6.0)])
    model = HistogramClassifier(bins=2).fit(X, [0, 0, 0, 1, 1, 1])
    assert len(model.edges_[0]) == 0 and model.predict(X).tolist() == [0, 0, 0, 1, 1, 1]
