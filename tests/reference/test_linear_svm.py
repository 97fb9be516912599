"""LinearSVC, LinearSVR and l1_min_c against liblinear at a tight tolerance."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm as reference
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning

from hyperplan import thread_limit
from hyperplan.svm import LinearSVC, LinearSVR, l1_min_c

SHAPES = [(200, 12), (40, 90)]
CLASSIFIERS = [("l2", "squared_hinge"), ("l2", "hinge"), ("l1", "squared_hinge")]


def classification(n, d, seed=0, classes=2):
    X, y = make_classification(
        n, d, n_informative=min(4, d), n_classes=classes, n_redundant=0, flip_y=0.1, random_state=seed, shuffle=False
    )
    return X, y


def objective(model, X, y, C, weight=1.0):
    """The penalised objective that both libraries minimise, the intercept's weight included."""
    X = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    scores = X @ model.coef_.ravel() + model.intercept_
    w = np.append(model.coef_.ravel(), model.intercept_ / model.intercept_scaling)
    if isinstance(model, (LinearSVR, reference.LinearSVR)):
        loss = np.maximum(np.abs(y - scores) - model.epsilon, 0.0)
    else:
        loss = np.maximum(1.0 - np.where(y == np.max(y), 1.0, -1.0) * scores, 0.0)
    power = 2 if model.loss.startswith("squared") else 1
    penalty = np.abs(w).sum() if getattr(model, "penalty", "l2") == "l1" else 0.5 * w @ w
    return penalty + C * (weight * loss**power).sum()


def fit_tight(model, X, y, **options):
    """liblinear as far as it gets: its tolerance is not a gap, and it may stop at max_iter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.set_params(tol=1e-8, max_iter=20_000).fit(X, y, **options)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("penalty, loss", CLASSIFIERS)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_classifier_objective(shape, penalty, loss, sparse, weighted):
    X, y = classification(*shape)
    X = sp.csr_array(X) if sparse else X
    weight = np.random.default_rng(1).uniform(0, 2, shape[0]) if weighted else None
    options = {"penalty": penalty, "loss": loss, "C": 0.3, "intercept_scaling": 2.0}
    ours = LinearSVC(**options).fit(X, y, sample_weight=weight)
    theirs = fit_tight(reference.LinearSVC(**options, random_state=0), X, y, sample_weight=weight)
    factor = 1.0 if weight is None else weight
    best = objective(theirs, X, y, 0.3, factor)
    # the default tol promises 1e-4; solvers aim a hundred times lower
    assert objective(ours, X, y, 0.3, factor) <= best * (1 + 2e-6)
    assert ours.certificate_.holds and ours.certificate_.value <= 1e-5
    assert ours.certificate_.details["dual"] <= best * (1 + 1e-12)
    if loss == "squared_hinge" and penalty == "l2":
        # strongly convex and smooth: equal objectives mean equal coefficients (liblinear's 1e-8 is relative)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("sparse", [False, True])
def test_regressor_objective(shape, loss, epsilon, sparse):
    X, y = make_regression(*shape, n_informative=5, noise=5.0, random_state=0)
    y = y / 10
    X = sp.csr_matrix(X) if sparse else X
    options = {"loss": loss, "C": 0.5, "epsilon": epsilon, "intercept_scaling": 3.0}
    ours = LinearSVR(**options).fit(X, y)
    theirs = fit_tight(reference.LinearSVR(**options, random_state=0), X, y)
    assert objective(ours, X, y, 0.5) <= objective(theirs, X, y, 0.5) * (1 + 2e-6)
    assert ours.certificate_.holds
    assert ours.intercept_.shape == (1,) and ours.coef_.shape == (shape[1],)


@pytest.mark.parametrize("dual", [True, False])
def test_dual_and_primal_are_the_same_fit(dual):
    X, y = classification(60, 10)
    auto = LinearSVC().fit(X, y)
    np.testing.assert_array_equal(LinearSVC(dual=dual).fit(X, y).coef_, auto.coef_)


def test_crammer_singer():
    X, y = load_iris(return_X_y=True)
    ours = LinearSVC(multi_class="crammer_singer", tol=1e-5, max_iter=20_000).fit(X, y)
    theirs = fit_tight(reference.LinearSVC(multi_class="crammer_singer", random_state=0), X, y)

    def value(model):
        scores = X @ model.coef_.T + model.intercept_
        own = scores[np.arange(len(y)), y]
        scores = scores + 1
        scores[np.arange(len(y)), y] -= 1
        return 0.5 * ((model.coef_**2).sum() + (model.intercept_**2).sum()) + (scores.max(axis=1) - own).sum()

    assert value(ours) <= value(theirs) * (1 + 1e-5)
    sparse = LinearSVC(multi_class="crammer_singer", tol=1e-5, max_iter=20_000).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, ours.coef_, atol=2e-2)  # sqrt(2 * gap) bounds the distance
    two = LinearSVC(multi_class="crammer_singer").fit(X[:100], y[:100])
    assert two.coef_.shape == (1, 4) and two.intercept_.shape == (1,)


def test_crammer_singer_by_coordinate_descent_on_wide_data():
    rng = np.random.default_rng(0)
    X = sp.random(200, 1500, density=0.02, format="csr", random_state=0, data_rvs=rng.standard_normal)
    y = np.argmax(X @ rng.standard_normal((1500, 3)), axis=1)
    for data in (X, X.toarray()):
        model = LinearSVC(multi_class="crammer_singer", random_state=0).fit(data, y)
        assert model.certificate_.holds
        assert model.score(data, y) == 1.0  # more columns than rows: separable


@pytest.mark.parametrize("penalty, loss", CLASSIFIERS)
def test_more_classes_and_class_weights(penalty, loss):
    X, y = classification(150, 10, classes=3)
    labels = np.array(["a", "b", "c"])[y]
    options = {"penalty": penalty, "loss": loss, "class_weight": "balanced", "C": 0.1}
    weight = np.random.default_rng(0).uniform(0.5, 2, 150)
    ours = LinearSVC(**options).fit(X, labels, sample_weight=weight)
    theirs = fit_tight(reference.LinearSVC(**options, random_state=0), X, labels, sample_weight=weight)
    assert ours.coef_.shape == (3, 10) and list(ours.classes_) == ["a", "b", "c"]
    # the hinge loss has no curvature: the distance is only bounded by the square root of liblinear's gap
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)


@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_extreme_costs_are_certified(C, loss):
    X, y = classification(80, 6)
    model = LinearSVC(C=C, loss=loss).fit(X, y)
    assert model.certificate_.holds
    assert np.isfinite(model.coef_).all()


def test_float32_fortran_and_readonly_give_the_float64_fit():
    X, y = classification(120, 7)
    X = X.astype(np.float32)
    base = LinearSVC().fit(X.astype(np.float64), y)
    frozen = np.asfortranarray(X)
    frozen.setflags(write=False)
    for variant in (X, frozen, sp.csc_array(X)):
        # the same numbers in another container: only the order of sums may differ
        np.testing.assert_allclose(LinearSVC().fit(variant, y).coef_, base.coef_, rtol=1e-8, atol=1e-10)


def test_same_bits_for_any_number_of_threads():
    X, y = classification(30_000, 12, classes=3)
    y[y == 2] = 1
    for loss in ("squared_hinge", "hinge"):
        with thread_limit(1):
            one = LinearSVC(loss=loss).fit(X, y)
        with thread_limit(3):
            three = LinearSVC(loss=loss).fit(X, y)
        np.testing.assert_array_equal(one.coef_, three.coef_)


def test_wide_sparse_takes_coordinate_descent():
    rng = np.random.default_rng(0)
    X = sp.random(900, 4000, density=0.01, format="csr", random_state=0, data_rvs=rng.standard_normal)
    y = np.where(X @ rng.standard_normal(4000) > 0, 1, 0)
    for loss in ("hinge", "squared_hinge"):
        ours = LinearSVC(loss=loss, random_state=0).fit(X, y)
        theirs = fit_tight(reference.LinearSVC(loss=loss, random_state=0), X, y)
        assert ours.certificate_.holds
        assert objective(ours, X, y, 1.0) <= objective(theirs, X, y, 1.0) * (1 + 1e-4)  # tol


def test_max_iter_is_respected_and_reported():
    X, y = classification(300, 20)
    for loss in ("hinge", "squared_hinge"):
        with pytest.warns(ConvergenceWarning, match="relative"):
            model = LinearSVC(loss=loss, max_iter=1, C=100.0).fit(X, y)
        assert model.n_iter_ == 1 and not model.certificate_.holds
    with pytest.warns(ConvergenceWarning, match="LinearSVR failed to converge"):
        LinearSVR(max_iter=0).fit(X, y)


@pytest.mark.parametrize(
    "options", [{"penalty": "l1", "loss": "hinge"}, {"penalty": "l1", "dual": True}, {"loss": "hinge", "dual": False}]
)
def test_unsupported_combinations(options):
    for Model in (LinearSVC, reference.LinearSVC):
        with pytest.raises(ValueError, match="Unsupported set of arguments"):
            Model(**options).fit([[0.0], [1.0]], [0, 1])


def test_bad_data():
    X, y = classification(30, 4)
    with pytest.raises(ValueError, match="at least 2 classes"):
        LinearSVC().fit(X, np.zeros(30))
    X[7, 2] = np.nan
    with pytest.raises(ValueError, match="row 7, column 2"):
        LinearSVC().fit(X, y)
    with pytest.raises(ValueError, match="epsilon"):
        LinearSVR(epsilon=-1.0).fit(X, y)
    zero = LinearSVC().fit(np.zeros((6, 2)), [0, 1] * 3)
    np.testing.assert_array_equal(zero.coef_, 0.0)
    duplicated = LinearSVC(loss="hinge").fit(np.ones((6, 3)), [0, 1, 1] * 2)
    assert duplicated.certificate_.holds


def test_huge_values_end():
    X, y = classification(30, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for loss in ("hinge", "squared_hinge"):
            model = LinearSVC(loss=loss).fit(X * 1e150, y)
            assert model.n_iter_ <= model.max_iter  # no endless fit
            assert model.certificate_.holds == np.isfinite(model.certificate_.value) * (
                model.certificate_.value <= 1e-4
            )


def test_sparsify_and_densify():
    X, y = classification(60, 8)
    model = LinearSVC(penalty="l1", C=0.05).fit(X, y)
    dense = model.coef_.copy()
    scores = model.decision_function(X)
    assert sp.issparse(model.sparsify().coef_)
    np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.densify().coef_, dense)


@pytest.mark.parametrize("loss", ["squared_hinge", "log"])
@pytest.mark.parametrize("classes", [2, 3])
def test_l1_min_c(loss, classes):
    X, y = classification(80, 10, classes=classes)
    for data in (X, sp.csr_array(X)):
        bound = l1_min_c(data, y, loss=loss, intercept_scaling=3.0)
        assert bound == pytest.approx(reference.l1_min_c(X, y, loss=loss, intercept_scaling=3.0), rel=1e-12)
    if loss == "squared_hinge":
        options = {"penalty": "l1", "intercept_scaling": 3.0}
        assert not LinearSVC(C=bound * 0.999, **options).fit(X, y).coef_.any()
        above = LinearSVC(C=bound * 1.01, **options).fit(X, y)
        assert above.coef_.any() or above.intercept_.any()
    with pytest.raises(ValueError, match="Ill-posed"):
        l1_min_c([[0, 0], [0, 0]], [0, 1])
    with pytest.raises(ValueError, match="'loss' parameter"):
        l1_min_c(X, y, loss="hinge")


def test_verbose_prints_the_gap(capsys):
    LinearSVR(verbose=1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    assert "duality gap" in capsys.readouterr().out


@pytest.mark.parametrize("shape", [(60, 50), (40, 120), (200, 10)])
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_l1_with_many_collinear_columns_and_a_large_cost(shape, as_sparse, C):
    """Nearly a linear programme: liblinear runs out of iterations there, and must never end lower than we do."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape) @ (np.eye(shape[1]) + 0.5 * rng.standard_normal((shape[1], shape[1])))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    data = sp.csr_matrix(X) if as_sparse else X
    ours = LinearSVC(penalty="l1", C=C).fit(data, y)  # warns, which is an error here, unless the gap is below tol
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = reference.LinearSVC(penalty="l1", dual=False, C=C, random_state=0, max_iter=5000).fit(X, y)

    def objective(model):
        miss = np.maximum(0.0, 1.0 - (2 * y - 1) * (X @ model.coef_[0] + model.intercept_[0]))
        return np.abs(model.coef_).sum() + np.abs(model.intercept_).sum() + C * (miss**2).sum()

    assert objective(ours) <= objective(theirs) * (1 + 1e-6)  # the gap aimed at, 1e-2 * tol
    assert ours.certificate_.details["primal"] == pytest.approx(objective(ours), rel=1e-9)
    assert ours.n_iter_ <= 1000


@pytest.mark.parametrize("max_iter", [0, 1, 15, 40])
def test_l1_stops_at_max_iter_with_a_valid_gap(max_iter):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 100))
    y = (X[:, 0] + rng.standard_normal(80) > 0).astype(int)
    best = LinearSVC(penalty="l1", C=100.0).fit(X, y).certificate_.details["primal"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearSVC(penalty="l1", C=100.0, max_iter=max_iter).fit(X, y)
    assert model.n_iter_ <= max_iter
    details = model.certificate_.details
    assert details["dual"] <= best * (1 + 1e-6) and details["primal"] >= best * (1 - 1e-6)
