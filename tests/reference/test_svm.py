"""Kernel support vector machines against scikit-learn's (libsvm)."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.datasets import load_diabetes, load_iris, make_classification

import hyperplan
from hyperplan import svm
from hyperplan._solvers import kernel_svm, kernel_svm_blocks

KERNELS = ["linear", "poly", "rbf", "sigmoid"]
TIGHT = {"tol": 1e-5}  # libsvm's kernel values have seven digits: it does not end at much smaller tolerances


def pair(name, **options):
    return getattr(svm, name)(**options), getattr(sklearn.svm, name)(**options)


def iris():
    data = load_iris()
    return (data.data - data.data.mean(axis=0)) / data.data.std(axis=0), data.target


def wine_like(n=150, seed=0, n_classes=2):
    return make_classification(n, 8, n_informative=5, n_classes=n_classes, flip_y=0.1, random_state=seed, class_sep=0.8)


def assert_same_machine(ours, theirs):
    """Both violate the optimality conditions by at most 1e-5: nearly free vectors may differ, scores hardly."""
    assert len(np.setxor1d(ours.support_, theirs.support_)) <= 0.03 * ours.support_.size
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-3, atol=1e-3)
    assert ours.shape_fit_ == theirs.shape_fit_ and ours.fit_status_ == theirs.fit_status_ == 0
    assert ours.dual_coef_.shape == (theirs.dual_coef_.shape[0], ours.support_.size)
    assert ours.n_support_.dtype == theirs.n_support_.dtype and ours.n_support_.shape == theirs.n_support_.shape
    assert ours.n_support_.sum() == ours.support_.size and ours.support_.dtype == theirs.support_.dtype


@pytest.mark.parametrize("kernel", KERNELS)
def test_two_classes(kernel):
    X, y = wine_like()
    ours, theirs = pair("SVC", kernel=kernel, C=1.0, **TIGHT)
    ours.fit(X, y)
    theirs.fit(X, y)
    if kernel != "sigmoid":  # not positive: both stop at stationary points, which need not be the same
        assert_same_machine(ours, theirs)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
        assert np.array_equal(ours.support_vectors_, X[ours.support_])
    if kernel == "rbf":  # strictly positive: the coefficients are unique
        dense = [np.zeros(y.size), np.zeros(y.size)]
        for values, model in zip(dense, (ours, theirs)):
            values[model.support_] = model.dual_coef_[0]
        np.testing.assert_allclose(*dense, atol=2e-3)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.97
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_three_classes(kernel, shape):
    X, y = iris()
    ours, theirs = pair("SVC", kernel=kernel, decision_function_shape=shape, **TIGHT)
    ours.fit(X, y)
    theirs.fit(X, y)
    assert_same_machine(ours, theirs)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


def test_string_labels_and_weights():
    X, y = wine_like(n_classes=3)
    labels = np.array(["low", "middle", "top"])[y]
    weight = np.random.default_rng(0).uniform(0.1, 2.0, size=y.size)
    for options in ({"class_weight": "balanced"}, {"class_weight": {"low": 3.0}}):
        ours, theirs = pair("SVC", **options, **TIGHT)
        ours.fit(X, labels, sample_weight=weight)
        theirs.fit(X, labels, sample_weight=weight)
        np.testing.assert_allclose(ours.class_weight_, theirs.class_weight_)
        assert_same_machine(ours, theirs)
        assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_rows_of_weight_zero_or_less_take_no_part():
    X, y = wine_like(n_classes=3)
    weight = np.random.default_rng(0).uniform(0.1, 2.0, size=y.size)
    weight[:20], weight[20:25] = 0.0, -1.0
    some = svm.SVC(gamma=0.1).fit(X, y, sample_weight=weight)
    rest = svm.SVC(gamma=0.1).fit(X[25:], y[25:], sample_weight=weight[25:])
    assert np.array_equal(some.support_, rest.support_ + 25)  # libsvm numbers the rows that are left
    np.testing.assert_allclose(some.decision_function(X), rest.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("name", ["SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM"])
def test_a_weight_of_w_means_w_copies(name):
    X, y = wine_like(n=80)
    copies = np.random.default_rng(1).integers(0, 4, size=80)
    heavy, many = (getattr(svm, name)(gamma=0.2, tol=1e-9) for _ in range(2))
    heavy.fit(X, y, sample_weight=copies)
    many.fit(np.repeat(X, copies, axis=0), np.repeat(y, copies))
    method = "predict" if name.endswith("R") else "decision_function"
    np.testing.assert_allclose(getattr(heavy, method)(X), getattr(many, method)(X), atol=1e-6)


@pytest.mark.parametrize(("kernel", "nu"), [("rbf", 0.2), ("rbf", 0.5), ("linear", 0.6)])
def test_nu_classification(kernel, nu):
    X, y = wine_like(n_classes=3)
    ours, theirs = pair("NuSVC", kernel=kernel, nu=nu, **TIGHT)
    ours.fit(X, y)
    theirs.fit(X, y)
    # scores are divided by the margin, which is small here: so are the errors of both
    scale = np.abs(theirs._decision_function(X)).max()
    np.testing.assert_allclose(ours._pair_scores(X), theirs._decision_function(X), atol=2e-3 * scale)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-2)
    assert ours.certificate_.details["gap"] < 1e-2 * ours.certificate_.details["primal"]


def test_infeasible_nu():
    X, y = wine_like()
    y = (np.arange(y.size) < 15).astype(int)
    for model in pair("NuSVC", nu=0.5):
        with pytest.raises(ValueError, match="specified nu is infeasible"):
            model.fit(X, y)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_regression(kernel):
    X, y = load_diabetes(return_X_y=True)
    X, y = (X / X.std(axis=0))[:150], (y[:150] - y.mean()) / y.std()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=150)
    ours, theirs = pair("SVR", kernel=kernel, epsilon=0.2, C=2.0, **TIGHT)
    ours.fit(X, y, sample_weight=weight)
    theirs.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-3)
    assert_same_machine(ours, theirs)
    assert ours.n_iter_ > 0 and isinstance(ours.n_iter_, int)


@pytest.mark.parametrize("nu", [0.1, 0.5, 0.9])
def test_nu_regression(nu):
    X, y = load_diabetes(return_X_y=True)
    X, y = (X / X.std(axis=0))[:150], (y[:150] - y.mean()) / y.std()
    ours, theirs = pair("NuSVR", nu=nu, C=2.0, **TIGHT)
    ours.fit(X, y)
    theirs.fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-3)
    outside = np.mean(np.abs(y - ours.predict(X)) > ours.epsilon_ + 1e-4)
    assert outside <= nu <= ours.support_.size / y.size + 1e-9
    assert ours.certificate_.details["gap"] < 1e-3 * ours.certificate_.details["primal"]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("nu", [0.05, 0.5])
def test_one_class(kernel, nu):
    X, _ = wine_like(n=120)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=120)
    ours, theirs = pair("OneClassSVM", kernel=kernel, nu=nu, **TIGHT)
    ours.fit(X, sample_weight=weight)
    theirs.fit(X, sample_weight=weight)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(ours.offset_, theirs.offset_, rtol=1e-4, atol=1e-4)
    is_clear = np.abs(theirs.decision_function(X)) > 1e-3
    assert np.array_equal(ours.predict(X)[is_clear], theirs.predict(X)[is_clear])


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, sp.coo_array])
@pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM"])
@pytest.mark.parametrize("kernel", KERNELS[:3])
def test_sparse_rows(container, name, kernel):
    X, y = wine_like(n=90)
    X[np.abs(X) < 0.7] = 0.0
    sparse, dense = (getattr(svm, name)(kernel=kernel, **TIGHT) for _ in range(2))
    sparse.fit(container(X), y)
    dense.fit(X, y)
    assert sp.issparse(sparse.support_vectors_) and sp.issparse(sparse.dual_coef_)
    method = "predict" if name == "SVR" else "decision_function"
    expected = getattr(dense, method)(X)
    np.testing.assert_allclose(getattr(sparse, method)(container(X)), expected, atol=1e-3)
    np.testing.assert_allclose(getattr(sparse, method)(X), expected, atol=1e-3)
    with pytest.raises(ValueError, match="trained on dense data"):
        dense.predict(container(X))


def test_precomputed_and_callable_kernels_are_the_named_one():
    X, y = iris()
    gamma = 0.3
    K = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))
    named = svm.SVC(gamma=gamma, **TIGHT).fit(X, y)
    given = svm.SVC(kernel="precomputed", **TIGHT).fit(K, y)
    called = svm.SVC(kernel=lambda A, B: np.exp(-gamma * ((A[:, None] - B) ** 2).sum(axis=2)), **TIGHT).fit(X, y)
    for other, rows in ((given, K), (called, X)):
        np.testing.assert_allclose(other.decision_function(rows), named.decision_function(X), atol=1e-4)
    with pytest.raises(ValueError, match="features"):
        given.predict(K[:, :-1])
    with pytest.raises(ValueError, match="square matrix"):
        svm.SVC(kernel="precomputed").fit(K[:, :-1], y)
    with pytest.raises(TypeError, match="Sparse precomputed"):
        svm.SVC(kernel="precomputed").fit(sp.csr_array(K), y)


@pytest.fixture
def small_blocks(monkeypatch):
    """Working sets from 100 rows on, so that small data goes through many rounds and sets rows aside."""
    monkeypatch.setattr(kernel_svm, "WHOLE", 100)
    monkeypatch.setattr(kernel_svm_blocks, "WORKING_SET", 32)
    monkeypatch.setattr(kernel_svm_blocks, "LEAST_SET", 16)
    monkeypatch.setattr(kernel_svm_blocks, "QUIET_ROUNDS", 3)
    monkeypatch.setattr(kernel_svm_blocks, "LEAST_SHARE", 0.05)


@pytest.mark.parametrize("name", ["SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM"])
@pytest.mark.parametrize("cache_size", [1e-6, 200])
@pytest.mark.parametrize("shrinking", [True, False])
def test_working_sets_reach_the_same_optimum(name, cache_size, shrinking, small_blocks):
    X, y = wine_like(n=600, seed=3)
    y = y + 0.1 * X[:, 0] if name.endswith("R") else y
    ours, theirs = pair(name, cache_size=cache_size, shrinking=shrinking, tol=1e-3)
    ours.fit(X, y)
    theirs.fit(X, y)
    assert ours.certificate_.holds
    method = "predict" if name.endswith("R") else "decision_function"
    expected = getattr(theirs, method)(X)
    # both violate the optimality conditions by up to 1e-3, in scores that are about 1 (sums of weights for one class)
    scale = 1.0 if name != "OneClassSVM" else np.abs(expected).max()
    np.testing.assert_allclose(getattr(ours, method)(X), expected, atol=1e-2 * scale)


def test_working_sets_in_double_precision_are_as_tight_as_asked(small_blocks):
    X, y = wine_like(n=400, seed=1)
    ours, theirs = pair("SVC", **TIGHT)
    ours.set_params(tol=1e-8)
    assert_same_machine(ours.fit(X, y), theirs.fit(X, y))
    assert ours.certificate_.value <= 1e-8


def test_threads_do_not_change_a_bit(small_blocks):
    X, y = wine_like(n=900, seed=2)
    fits = []
    for n_jobs in (1, 2, 3):
        with hyperplan.thread_limit(n_jobs):
            model = svm.SVC().fit(X, y)
            fits.append((model.dual_coef_.tobytes(), model.decision_function(X).tobytes()))
    assert fits[0] == fits[1] == fits[2]


def test_rows_beyond_the_whole_matrix():
    X, y = make_classification(2600, 10, n_informative=6, flip_y=0.15, random_state=0)
    ours, theirs = pair("SVC")
    ours.fit(X, y)
    theirs.fit(X, y)
    assert ours.certificate_.holds and ours.n_iter_[0] > 0
    # single precision and a tolerance of 1e-3: scores agree to a few thousandths
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-2)
    assert abs(ours.support_.size - theirs.support_.size) <= 0.01 * ours.support_.size


@pytest.mark.parametrize("name", ["SVC", "NuSVC"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities(name, n_classes):
    X, y = wine_like(n=300, n_classes=n_classes)
    model = getattr(svm, name)(probability=True, random_state=0).fit(X, y)
    p = model.predict_proba(X)
    assert p.shape == (300, n_classes) and (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(p))
    again = getattr(svm, name)(probability=True, random_state=0).fit(X, y)
    assert np.array_equal(again.predict_proba(X), p)
    loss = -np.log(p[np.arange(300), y]).mean()
    with pytest.warns(FutureWarning):
        peer = getattr(sklearn.svm, name)(probability=True, random_state=0).fit(X, y)
    # ours has no constant in the sigmoid; on balanced classes that costs next to nothing
    assert loss < -np.log(peer.predict_proba(X)[np.arange(300), y]).mean() + 0.05


def test_no_probabilities_without_asking():
    X, y = wine_like()
    model = svm.SVC().fit(X, y)
    assert not hasattr(model, "predict_proba") and model.probA_.size == 0


def test_the_cache_asks_for_its_memory_first(monkeypatch):
    X, y = make_classification(2600, 10, random_state=0)
    monkeypatch.setenv("HYPERPLAN_MEMORY_BUDGET", "1000000")
    with pytest.raises(MemoryError, match="lower cache_size"):
        svm.SVC(cache_size=100).fit(X, y)
