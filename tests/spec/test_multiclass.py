"""A17: several classes from two."""

import numpy as np
import pytest

from hyperplan.linear_model import LogisticRegression
from hyperplan.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier


def three_blobs(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), n)
    return np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])[y] + rng.normal(size=(3 * n, 2)), y


def test_A17_one_against_the_rest_is_an_argmax_of_scores():
    X, y = three_blobs()
    model = OneVsRestClassifier(LogisticRegression()).fit(X, y)
    scores = [LogisticRegression().fit(X, y == k).decision_function(X) for k in range(3)]
    np.testing.assert_allclose(model.decision_function(X), np.column_stack(scores), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(model.predict(X), np.argmax(scores, axis=0))


def test_A17_one_against_one_is_a_vote_of_pairs():
    X, y = three_blobs()
    model = OneVsOneClassifier(LogisticRegression()).fit(X, y)
    votes = np.zeros((len(y), 3))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        rows = (y == i) | (y == j)
        wins = LogisticRegression().fit(X[rows], y[rows] == j).predict(X)
        votes[np.arange(len(y)), np.where(wins, j, i)] += 1
    assert np.abs(model.decision_function(X) - votes).max() < 1 / 3
    clear = votes.max(axis=1) == 2
    np.testing.assert_array_equal(model.predict(X)[clear], votes.argmax(axis=1)[clear])


def test_A17_a_code_with_distance_three_survives_one_wrong_member():
    """With words that differ in at least three places, one wrong bit never changes the nearest word."""
    X, y = three_blobs(seed=1)
    model = OutputCodeClassifier(LogisticRegression(C=1e4), code_size=5, random_state=1).fit(X, y)
    book = model.code_book_
    apart = min((book[a] != book[b]).sum() for a in range(3) for b in range(a))
    assert apart >= 3
    for word in range(3):
        for bit in range(book.shape[1]):
            received = book[word].copy()
            received[bit] *= -1
            assert ((book - received) ** 2).sum(axis=1).argmin() == word


@pytest.mark.parametrize("cls", [OneVsRestClassifier, OneVsOneClassifier, OutputCodeClassifier])
def test_A17_all_reductions_solve_an_easy_problem(cls):
    X, y = three_blobs()
    options = {"random_state": 0, "code_size": 4} if cls is OutputCodeClassifier else {}
    assert np.mean(cls(LogisticRegression(), **options).fit(X, y).predict(X) == y) > 0.9
