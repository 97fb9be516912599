"""Multiple kernel learning (L10): weights, their certificate, and kernels that are never held as a whole."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from hyperplan._base import ConvergenceWarning
from hyperplan._core.memory import MemoryBudgetError
from hyperplan._solvers import kernel_svm
from hyperplan._solvers.kernel_svm_source import DenseRows
from hyperplan.svm import SVC, MultipleKernelSVC, _multiple_kernel_solve
from hyperplan.svm._multiple_kernel_solve import lowest_point, next_weights


def noisy(n=200, seed=0):
    return make_classification(n, 6, n_informative=4, flip_y=0.15, random_state=seed)


def test_L10_one_kernel_is_svc():
    X, y = noisy()
    gamma = 0.2
    single = MultipleKernelSVC(
        [lambda A, B: np.exp(-gamma * ((A[:, None] - B) ** 2).sum(axis=2))], normalize=False, tol=1e-6
    ).fit(X, y)
    plain = SVC(gamma=gamma, tol=1e-7).fit(X, y)
    assert single.weights_.tolist() == [1.0]
    np.testing.assert_allclose(single.decision_function(X), plain.decision_function(X), atol=1e-4)
    assert np.array_equal(single.predict(X), plain.predict(X))


def test_L10_weights_find_the_kernel_that_matters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    y = X[:, 0] ** 2 + X[:, 1] ** 2 > 1.4
    useful = [
        lambda A, B, c=c: np.exp(-((A[:, None, c] - B[None, :, c]) ** 2).sum(axis=2)) for c in ([0, 1], [2, 3], [4, 5])
    ]
    model = MultipleKernelSVC(useful, C=5.0, tol=1e-3).fit(X, y)
    assert model.weights_.sum() == pytest.approx(1.0) and (model.weights_ >= 0).all()
    assert model.weights_[0] > 0.6 and model.certificate_.holds
    # no single kernel, and not their mean, has a lower objective
    for weights in np.vstack([np.eye(3), np.full(3, 1 / 3)]):
        K = sum(w * kernel(X, X) for w, kernel in zip(weights, useful))
        other = SVC(kernel="precomputed", C=5.0, tol=1e-6).fit(K, y).certificate_.details["primal"]
        assert model.certificate_.details["primal"] <= other * (1 + 2e-3)


@pytest.mark.parametrize("classes", [2, 3])
def test_L10_held_or_made_anew_kernels_give_the_same_machine(classes, monkeypatch):
    X, y = make_classification(150, 6, n_informative=4, n_classes=classes, random_state=1)
    held = MultipleKernelSVC(C=5.0).fit(X, y)
    monkeypatch.setenv("HYPERPLAN_MEMORY_BUDGET", "1e6")
    again = MultipleKernelSVC(C=5.0).fit(X, y)
    assert again.decision_function(X).tobytes() == held.decision_function(X).tobytes()
    monkeypatch.setenv("HYPERPLAN_MEMORY_BUDGET", "1e5")
    with pytest.raises(MemoryBudgetError, match="Sums of kernels of"):
        MultipleKernelSVC(C=5.0).fit(X, y)


def test_L10_many_rows_never_make_a_whole_matrix(monkeypatch):
    """The same optimum where kernel rows are made a few at a time, also for functions of the caller."""
    X, y = noisy()
    kernels = ["linear", "rbf", lambda A, B: (1.0 + A @ B.T) ** 2]
    whole = MultipleKernelSVC(kernels, C=2.0).fit(X, y)
    for module in (_multiple_kernel_solve, kernel_svm):
        monkeypatch.setattr(module, "WHOLE", 50)
    monkeypatch.setattr(DenseRows, "square", None)
    monkeypatch.setattr(_multiple_kernel_solve.FunctionRows, "square", None)
    parts = MultipleKernelSVC(kernels, C=2.0).fit(X, y)
    assert parts.certificate_.holds and whole.certificate_.holds
    primal, other = (model.certificate_.details["primal"] for model in (parts, whole))
    assert primal == pytest.approx(other, rel=2e-3)  # both within 1e-3 of the optimum
    np.testing.assert_allclose(parts.weights_, whole.weights_, atol=0.05)  # the optimum is flat in the weights


def test_L10_planes_below_the_objective():
    """The level method: lowest point by vertices of the simplex, next weights by their optimality conditions."""
    heights, slopes = np.array([1.0, 2.0]), np.array([[0.0, 1.0], [3.0, 0.0]])  # max(1 - d2, 2 - 3 d1) on d1 + d2 = 1
    lowest, bound = lowest_point(heights, slopes)
    np.testing.assert_allclose(lowest, [0.5, 0.5], atol=1e-7)
    assert bound == pytest.approx(0.5, abs=1e-9)
    # 2 - 3 d1 <= 0.8 first holds at d1 = 0.4, 1 - d2 <= 0.8 up to d1 = 0.8
    np.testing.assert_allclose(next_weights(np.array([0.0, 1.0]), heights, slopes, 0.8, lowest), [0.4, 0.6], atol=1e-9)
    np.testing.assert_allclose(next_weights(np.array([0.9, 0.1]), heights, slopes, 0.8, lowest), [0.8, 0.2], atol=1e-9)
    assert next_weights(np.array([0.9, 0.1]), heights, slopes, 0.3, lowest) is lowest  # no weights are that low


def test_L10_the_gap_is_reported_at_max_iter():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning):
        model = MultipleKernelSVC(C=5.0, tol=1e-9, max_iter=2).fit(X, y)
    assert model.n_iter_ == 3 and not model.certificate_.holds
    tight = MultipleKernelSVC(C=5.0, tol=1e-6).fit(X, y).certificate_.details
    found = model.certificate_.details
    assert found["dual"] <= tight["primal"] and found["primal"] >= tight["dual"]


def test_L10_three_classes_and_bad_kernels():
    X, y = make_classification(120, 6, n_informative=4, n_classes=3, random_state=0)
    model = MultipleKernelSVC(C=5.0).fit(X, y)
    assert model.score(X, y) > 0.8 and model.decision_function(X).shape == (120, 3)
    with pytest.raises(ValueError, match=r"kernels\[1\]"):
        MultipleKernelSVC(["linear", "cubic"]).fit(X, y)
    with pytest.raises(ValueError, match="at least one kernel"):
        MultipleKernelSVC([]).fit(X, y)


def test_L10_a_tolerance_beyond_the_digits_ends_with_the_gap_reported():
    X, y = noisy(80)
    with pytest.warns(ConvergenceWarning):
        model = MultipleKernelSVC(tol=1e-15, max_iter=100_000).fit(X, y)
    assert model.n_iter_ < 1000 and not model.certificate_.holds
    assert model.certificate_.value < 1e-4  # relative gap
