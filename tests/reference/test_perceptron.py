"""The perceptron against scikit-learn's."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as peer
from sklearn.datasets import load_digits

from hyperplan import linear_model as ours

pytestmark = pytest.mark.filterwarnings("ignore:Maximum number of iteration")


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


@pytest.mark.parametrize("penalty", [None, "l2", "l1", "elasticnet"])
@pytest.mark.parametrize("sparse", [False, True])
def test_same_steps(digits, penalty, sparse):
    X, y = digits
    X = sp.csr_array(X) if sparse else X
    options = dict(penalty=penalty, alpha=1e-3, shuffle=False, tol=None, max_iter=4)
    a, b = (m.Perceptron(**options).fit(X, y) for m in (ours, peer))
    # pixel counts and unit steps: sums of integers are exact without penalty
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=0 if penalty is None and not sparse else 1e-6, atol=1e-6)
    np.testing.assert_array_equal(a.predict(X), b.predict(X))


def test_stops_early_at_the_weights_scikit_learn_ends_with():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = X @ [1.0, 2.0, -1.0] > 0
    X[y] += 0.2
    a, b = (m.Perceptron(shuffle=False, tol=None, max_iter=200).fit(X, y) for m in (ours, peer))
    assert a.n_iter_ < b.n_iter_ == 200
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-12)


def test_accuracy_on_digits(digits):
    X, y = digits
    scores = {v: ours.Perceptron(variant=v, max_iter=20, tol=None).fit(X, y).score(X, y)
              for v in ("vanilla", "pocket", "averaged")}  # fmt: skip
    stock = peer.Perceptron(max_iter=20, tol=None).fit(X, y).score(X, y)
    assert min(scores.values()) > stock - 0.05  # other random orders of the rows
    assert scores["pocket"] >= scores["vanilla"] - 0.02  # least error per class, not of the vote


def test_averaged_is_the_mean_of_all_weights():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    model = ours.Perceptron(variant="averaged", shuffle=False, tol=None, max_iter=2).fit(X, y)
    w, total = np.zeros(3), np.zeros(3)
    for _ in range(2):
        for x, label in zip(np.column_stack([X, np.ones(30)]), 2 * y - 1, strict=True):
            w = ours.update_weight(w, x, label)
            total += w
    np.testing.assert_allclose(np.r_[model.coef_[0], model.intercept_], total / 60, rtol=1e-12)


def test_partial_fit_adds_mistakes(digits):
    X, y = digits
    model = ours.Perceptron(shuffle=False)
    counts = [model.partial_fit(X, y, classes=np.arange(10)).n_mistakes_ for _ in range(3)]
    assert 0 < counts[0] < counts[1] < counts[2]
    whole = ours.Perceptron(shuffle=False, tol=None, max_iter=3).fit(X, y)
    assert counts[2] == whole.n_mistakes_
    np.testing.assert_array_equal(model.coef_, whole.coef_)


def test_pocket_needs_plain_training():
    with pytest.raises(ValueError, match="penalty=None"):
        ours.Perceptron(variant="pocket", penalty="l2").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="'variant' parameter of Perceptron"):
        ours.Perceptron(variant="best").fit([[0.0], [1.0]], [0, 1])


def test_function_refuses_nonsense():
    for options, message in (
        (dict(order="sorted"), "order"),
        (dict(epoch=0), "epoch"),
        (dict(rho=-1.0), "rho"),
    ):
        with pytest.raises(ValueError, match=message):
            ours.perceptron([[0.0], [1.0]], [0, 1], **options)
    with pytest.raises(ValueError, match="two classes"):
        ours.perceptron([[0.0], [1.0], [2.0]], [0, 1, 2])
