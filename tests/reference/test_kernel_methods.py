"""Kernel ridge, Nystroem and random features against scikit-learn's; the kernel perceptron against its definition."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.kernel_approximation as peer_maps
import sklearn.svm
from sklearn.base import clone
from sklearn.datasets import make_circles, make_moons
from sklearn.kernel_ridge import KernelRidge as PeerRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict

import hyperplan
import hyperplan.kernel_approximation
import hyperplan.kernel_ridge
import hyperplan.kernels
from hyperplan import thread_limit
from hyperplan.kernels import (
    RBF,
    Kernel,
    KernelPerceptron,
    KernelRidge,
    Linear,
    Normalized,
    Nystroem,
    OnColumns,
    Polynomial,
    RBFSampler,
    Spectrum,
    _kernel_perceptron_walk,
    _kernel_ridge_solve,
)
from hyperplan.linear_model import Perceptron
from hyperplan.persistence._allowed import PLAIN

KERNELS = {
    "linear": {},
    "rbf": {"gamma": 0.3},
    "poly": {"degree": 2, "gamma": 0.5, "coef0": 2.0},
    "polynomial": {},
    "laplacian": {"gamma": 0.2},
    "sigmoid": {"gamma": 0.01},
    "cosine": {},
    "chi2": {"gamma": 0.7},  # scikit-learn's own default fails
    "additive_chi2": {},
}


def table(n=80, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.1, 2.0, size=(n, d))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("kind", ["dense", "float32", "csr", "csc", "weights", "two targets"])
def test_kernel_ridge_is_scikit_learns(name, kind):
    """Both solve one well-conditioned system exactly: condition 1e4 or so times rounding."""
    X, y = table()
    if kind in ("csr", "csc") and name.endswith("chi2"):
        pytest.skip("scikit-learn has these kernels for dense tables only")
    weight = np.linspace(0.0, 2.0, 80) if kind == "weights" else None
    X = {"float32": X.astype(np.float32), "csr": sp.csr_array(X), "csc": sp.csc_array(X)}.get(kind, X)
    y, alpha = (np.column_stack([y, -(y**2)]), [0.5, 2.0]) if kind == "two targets" else (y, 0.5)
    ours = KernelRidge(alpha, kernel=name, **KERNELS[name])
    theirs = PeerRidge(alpha, kernel=name, **KERNELS[name])
    if name.endswith("chi2") or name == "sigmoid":  # not positive definite together with small penalties
        ours.set_params(alpha=200.0), theirs.set_params(alpha=200.0)
    ours.fit(X, y, sample_weight=weight), theirs.fit(X, y, sample_weight=weight)
    tolerance = 2e-3 if kind == "float32" else 1e-8  # scikit-learn computes all in float32 then
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=tolerance, atol=tolerance)
    assert ours.certificate_.holds and ours.dual_coef_.shape == theirs.dual_coef_.shape


def test_kernel_ridge_takes_matrices_functions_and_objects():
    X, y = table()
    expected = PeerRidge(0.5, kernel="rbf", gamma=0.3).fit(X, y).predict(X[:7])
    K = pairwise_kernels(X, metric="rbf", gamma=0.3)
    kept = K.copy()
    model = KernelRidge(0.5, kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(model.predict(K[:7]), expected, rtol=1e-9)
    assert np.array_equal(K, kept)

    def gaussian(x, z, width=1.0):
        return np.exp(-((x - z) ** 2).sum() / width)

    model = KernelRidge(0.5, kernel=gaussian, kernel_params={"width": 1 / 0.3}).fit(X, y)
    np.testing.assert_allclose(model.predict(X[:7]), expected, rtol=1e-9)
    np.testing.assert_allclose(KernelRidge(0.5, kernel=RBF(0.3)).fit(X, y).predict(X[:7]), expected, rtol=1e-9)


def test_large_systems_in_two_precisions_have_all_digits(monkeypatch):
    """The residual proves the digits; answers agree with double precision to the condition number times rounding."""
    monkeypatch.setattr(_kernel_ridge_solve, "SINGLE_FROM", 300)
    X, y = table(400)
    mixed = KernelRidge(0.1, kernel="rbf", gamma=0.3).fit(X, y)
    assert mixed.certificate_.value < 1e-14
    monkeypatch.setattr(_kernel_ridge_solve, "_solve_single", lambda *given: None)
    double = KernelRidge(0.1, kernel="rbf", gamma=0.3).fit(X, y)
    np.testing.assert_allclose(mixed.dual_coef_, double.dual_coef_, atol=1e-9)
    assert np.abs(mixed.dual_coef_ - double.dual_coef_).max() > 0  # two ways indeed


def test_systems_that_single_precision_cannot_solve_are_solved_in_double(monkeypatch):
    monkeypatch.setattr(_kernel_ridge_solve, "SINGLE_FROM", 300)
    X, y = table(400)
    model = KernelRidge(1e-9, kernel="rbf", gamma=0.3).fit(X, y)
    expected = PeerRidge(1e-9, kernel="rbf", gamma=0.3).fit(X, y)
    assert model.certificate_.holds
    np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-5)  # condition number 1e11


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_singular_and_indefinite_systems_warn_and_are_least_squares(alpha):
    rng = np.random.default_rng(1)
    K = rng.normal(size=(30, 30))
    K = K + K.T if alpha else np.ones((30, 30))
    y = rng.normal(size=30)
    with pytest.warns(UserWarning, match="Singular matrix"):
        ours = KernelRidge(alpha, kernel="precomputed").fit(K, y)
    expected = np.linalg.lstsq(K + alpha * np.eye(30), y, rcond=1e-12)[0]
    np.testing.assert_allclose(ours.dual_coef_, expected, rtol=1e-7, atol=1e-9)
    assert ours.certificate_.holds


@pytest.mark.parametrize("weighted", [False, True])
def test_the_intercept_makes_the_weights_sum_to_zero(weighted):
    """The two conditions of the minimum; shifting the targets then shifts the predictions."""
    X, y = table(60)
    weight = np.linspace(0.5, 2.0, 60) if weighted else np.ones(60)
    model = KernelRidge(0.3, kernel="rbf", fit_intercept=True).fit(X, y + 50.0, sample_weight=weight)
    assert abs(model.dual_coef_.sum()) < 1e-10 and model.intercept_ == pytest.approx(50.0, abs=2.0)
    np.testing.assert_allclose(model.predict(X) + 0.3 / weight * model.dual_coef_, y + 50.0, rtol=1e-12)
    pair = KernelRidge(0.3, kernel="rbf", fit_intercept=True).fit(X, np.column_stack([y, y + 50.0]), weight)
    np.testing.assert_allclose(pair.predict(X)[:, 0] + 50.0, model.predict(X), rtol=1e-10)
    assert KernelRidge().fit(X, y).intercept_ == 0.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_leave_one_out_predictions_are_those_of_refits(weighted, intercept):
    X, y = table(40)
    weight = np.linspace(0.5, 2.0, 40) if weighted else None
    plain = KernelRidge(0.3, kernel="rbf", fit_intercept=intercept)
    model = clone(plain).set_params(leave_one_out=True).fit(X, y, sample_weight=weight)
    expected = np.empty(40)
    for kept, out in LeaveOneOut().split(X):
        part = None if weight is None else weight[kept]
        expected[out] = clone(plain).fit(X[kept], y[kept], sample_weight=part).predict(X[out])
    np.testing.assert_allclose(model.loo_prediction_, expected, rtol=1e-9)
    assert not hasattr(model.set_params(leave_one_out=False).fit(X, y), "loo_prediction_")


def test_leave_one_out_of_several_targets_and_blocks():
    X, y = table(600)
    pair = np.column_stack([y, y[::-1]])
    model = KernelRidge([0.3, 3.0], kernel="rbf", leave_one_out=True).fit(X, pair)
    one = KernelRidge(3.0, kernel="rbf", leave_one_out=True).fit(X, pair[:, 1])
    np.testing.assert_allclose(model.loo_prediction_[:, 1], one.loo_prediction_, rtol=1e-9)
    kept = np.delete(np.arange(600), 417)
    refit = KernelRidge(3.0, kernel="rbf").fit(X[kept], pair[kept, 1])
    np.testing.assert_allclose(one.loo_prediction_[417], refit.predict(X[417:418])[0], rtol=1e-9)


def test_kernel_parameters_are_searched():
    X, y = table()
    search = GridSearchCV(KernelRidge(kernel=RBF()), {"kernel__gamma": [1e-3, 1.0], "alpha": [0.1]}, cv=3).fit(X, y)
    assert search.best_params_["kernel__gamma"] == 1.0 and search.best_score_ > 0.8
    precomputed = KernelRidge(0.1, kernel="precomputed")
    folds = cross_val_predict(precomputed, RBF(1.0)(X), y, cv=3)
    np.testing.assert_allclose(folds, cross_val_predict(KernelRidge(0.1, kernel=RBF(1.0)), X, y, cv=3), rtol=1e-9)


@pytest.mark.parametrize(
    "options, error",
    [
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": [1.0, 2.0, 3.0]}, "one penalty"),
        ({"kernel": "gauss"}, "kernel"),
        ({"gamma": -1.0}, "gamma"),
        ({"kernel": "precomputed"}, "square matrix"),
    ],
)
def test_bad_parameters_of_kernel_ridge(options, error):
    X, y = table()
    with pytest.raises(ValueError, match=error):
        KernelRidge(**options).fit(X, y)


# --- maps


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("sparse", [False, True])
def test_nystroem_is_scikit_learns(name, sparse):
    """The same rows for the same seed; features agree up to the root of the smallest eigenvalue times rounding."""
    X, _ = table(60)
    if sparse and name.endswith("chi2"):
        pytest.skip("scikit-learn has these kernels for dense tables only")
    X = sp.csr_array(X) if sparse else X
    options = {**KERNELS[name], "n_components": 4, "random_state": 3}
    ours, theirs = Nystroem(name, **options).fit(X), peer_maps.Nystroem(kernel=name, **options).fit(X)
    assert np.array_equal(ours.component_indices_, theirs.component_indices_)
    found, expected = ours.transform(X), theirs.transform(X)
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


def test_nystroem_with_all_rows_is_exact_and_takes_matrices():
    X, _ = table(50)
    K = RBF(1.0)(X)
    features = Nystroem(RBF(1.0), n_components=50, random_state=0).fit_transform(X)
    np.testing.assert_allclose(features @ features.T, K, atol=1e-8)
    some = Nystroem("precomputed", n_components=20, random_state=0).fit(K)
    expected = Nystroem(RBF(1.0), n_components=20, random_state=0).fit_transform(X)
    np.testing.assert_allclose(some.transform(K), expected, atol=1e-7)
    with pytest.raises(ValueError, match="Don't pass gamma"):
        Nystroem(RBF(1.0), gamma=2.0).fit(X)
    with pytest.warns(UserWarning, match="n_components > n_samples"):
        Nystroem(n_components=51).fit(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_random_features_are_scikit_learns(dtype, sparse):
    X = table(70)[0].astype(dtype)
    X = sp.csr_array(X) if sparse else X
    for gamma in (0.5, "scale", 0.0):
        options = {"gamma": gamma, "n_components": 37, "random_state": 5}
        ours, theirs = RBFSampler(**options).fit(X), peer_maps.RBFSampler(**options).fit(X)
        found, expected = ours.transform(X), theirs.transform(X)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, atol=1e-6 if dtype == np.float32 else 1e-13)


def test_huge_arguments_of_the_cosine_are_left_to_numpy():
    X = table(10)[0] * 1e7
    options = {"gamma": 1.0, "n_components": 20, "random_state": 0}
    expected = peer_maps.RBFSampler(**options).fit_transform(X)
    np.testing.assert_allclose(RBFSampler(**options).fit_transform(X), expected, atol=1e-7)


def test_names_are_where_scikit_learn_has_them():
    assert hyperplan.kernel_ridge.KernelRidge is KernelRidge
    assert hyperplan.kernel_approximation.Nystroem is Nystroem
    assert set(peer_maps.__dict__) >= set(hyperplan.kernel_approximation.__all__)


# --- the perceptron


def naive_perceptron(K, signs, order, max_epochs):
    """Rosenblatt's steps with the whole matrix; returns weights, their mean over visits, mistakes and epochs."""
    dual, total, visits, mistakes = np.zeros(len(K)), np.zeros(len(K)), 0, 0
    epochs = 0
    while epochs < max_epochs:
        before, epochs = mistakes, epochs + 1
        for i in order:
            if signs[i] * (K[i] @ dual) <= 0:
                dual[i] += signs[i]
                mistakes += 1
            total += dual
            visits += 1
        if mistakes == before:
            break
    return dual, total / visits, mistakes, epochs


@pytest.mark.parametrize("kept", [0, 10_000])
@pytest.mark.parametrize("variant", ["vanilla", "averaged"])
def test_kernel_perceptron_takes_rosenblatts_steps(kept, variant, monkeypatch):
    monkeypatch.setattr(_kernel_perceptron_walk, "KEPT_ROWS", kept)
    X, y = make_moons(600, noise=0.08, random_state=0)
    model = KernelPerceptron(gamma=4.0, shuffle=False, variant=variant).fit(X, y)
    dual, mean, mistakes, epochs = naive_perceptron(RBF(4.0)(X) + 1.0, 2 * y - 1, range(600), 100)
    assert (model.n_mistakes_, model.n_iter_) == (mistakes, epochs)
    expected = np.zeros(600)
    expected[model.support_] = model.dual_coef_[0]
    np.testing.assert_allclose(expected, mean if variant == "averaged" else dual, atol=1e-10)
    np.testing.assert_allclose(model.decision_function(X), (RBF(4.0)(X) + 1.0) @ expected, atol=1e-8)
    assert model.certificate_.holds and model.score(X, y) == 1.0


def test_linear_kernel_perceptron_is_the_perceptron():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X @ [1.0, 2.0, -1.0] > 0.2, "up", "down")
    ours = KernelPerceptron("linear", shuffle=False, n_iter_no_change=1000, max_iter=1000).fit(X, y)
    other = Perceptron(shuffle=False, tol=None).fit(X, y)
    assert ours.n_mistakes_ == other.n_mistakes_
    np.testing.assert_allclose(ours.dual_coef_ @ ours.support_vectors_, other.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.intercept_, other.intercept_, rtol=1e-9)


def test_kernel_perceptron_of_three_classes_matrices_and_threads():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 2))
    y = np.digitize(np.hypot(*X.T), [0.8, 1.5])
    X *= (1 + 0.3 * y)[:, None]  # rings with gaps
    with thread_limit(1):
        alone = KernelPerceptron(gamma=2.0).fit(X, y)
    model = KernelPerceptron(gamma=2.0, n_jobs=2).fit(X, y)
    assert model.dual_coef_.shape[0] == 3 and model.score(X, y) > 0.99
    assert np.array_equal(alone.dual_coef_, model.dual_coef_)
    given = KernelPerceptron("precomputed").fit(RBF(2.0)(X), y)
    assert np.array_equal(given.predict(RBF(2.0)(X)), model.predict(X)) and given.n_mistakes_ == model.n_mistakes_


def test_rows_that_contradict_each_other_end_by_patience():
    X, y = np.zeros((10, 1)), np.arange(10) % 2
    model = KernelPerceptron(gamma=1.0, n_iter_no_change=3).fit(X, y)
    assert model.n_iter_ <= 5 and not model.certificate_.holds and np.isnan(model.certificate_.bound)
    with pytest.raises(ValueError, match="one class"):
        KernelPerceptron().fit(X, np.ones(10))


# --- kernel objects where others call them


def test_kernel_objects_are_kernels_of_scikit_learns_support_vectors():
    X, y = make_circles(120, noise=0.05, factor=0.4, random_state=0)
    kernel = 0.5 * RBF(1.0) + 0.5 * Polynomial(2, gamma=1.0)
    model = sklearn.svm.SVC(kernel=kernel).fit(X, y)
    assert model.score(X, y) == 1.0 and clone(model).kernel == kernel
    words = ["abab", "baba", "abba", "cdcd", "dcdc", "ccdd"]
    texts = sklearn.svm.SVC(kernel="precomputed").fit(Spectrum(1)(words), [0, 0, 0, 1, 1, 1])
    assert texts.predict(Spectrum(1)(["aabb", "dddc"], words)).tolist() == [0, 1]


def test_linear_kernel_ridge_is_ridge():
    X, y = table()
    dual = KernelRidge(0.7, kernel=Linear()).fit(X, y)
    weights = np.linalg.solve(X.T @ X + 0.7 * np.eye(4), X.T @ y)
    np.testing.assert_allclose(dual.predict(X), X @ weights, rtol=1e-9)


def test_models_with_kernel_objects_are_saved_and_loaded(tmp_path):
    X, y = table()
    kernel = RBF(0.5) + 2 * Polynomial(2) * OnColumns(Normalized(Linear()), [0, 2])
    model = KernelRidge(0.1, kernel=kernel).fit(X, y)
    hyperplan.save(model, tmp_path / "model.hpl")
    again = hyperplan.load(tmp_path / "model.hpl")
    assert again.kernel == kernel and np.array_equal(again.predict(X), model.predict(X))
    function = KernelRidge(0.1, kernel=lambda a, b: a @ b).fit(X, y)
    with pytest.raises(ValueError, match="Functions are code"):
        hyperplan.save(function, tmp_path / "function.hpl")


def test_model_files_know_every_kernel():
    classes = [getattr(hyperplan.kernels, name) for name in hyperplan.kernels.__all__]
    names = {cls.__name__ for cls in classes if isinstance(cls, type) and issubclass(cls, Kernel) and cls is not Kernel}
    assert len(names) >= 19 and {f"hyperplan.kernels.{name}" for name in names} <= PLAIN


def test_estimators_show_and_refuse_parameters_of_kernels():
    model = KernelRidge(kernel=RBF(1.0) + 2 * Polynomial(2))
    assert repr(model) == "KernelRidge(kernel=RBF(gamma=1.0) + 2 * Polynomial(degree=2))"
    assert model.get_params()["kernel__right__kernel__degree"] == 2
    with pytest.raises(ValueError, match=r"Invalid parameter 'width' for kernel RBF\(gamma=1.0\)"):
        model.set_params(kernel__left__width=3.0)
    copy = clone(model)
    assert copy.kernel == model.kernel and copy.kernel is not model.kernel
