"""What every estimator promises: scikit-learn's checks, and our own."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
from contract_common import ESTIMATORS, FAST, TIGHT, build, data, fit, fitted_state, output
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from hyperplan._base import Certificate

RANDOM_ORDER = "visits rows in a random order: a repeated row is visited at other moments than a weighted one"
DRAWN = "draws rows at random: a repeated row is drawn more often than a weighted one"
COUNTED = "a leaf needs at least 20 rows, and copies are rows: min_samples_leaf counts them as scikit-learn's does"
RESPLIT = "chooses its penalty on folds, and repeating rows moves the folds"
LEFT_OUT = "leaves one row out, and with copies the other copies stay"
SCALED = "gamma='scale' looks at all rows alike; with a number for gamma weights are copies (reference/test_svm.py)"
NOT_AS_COPIES = {
    "SGDClassifier": RANDOM_ORDER,
    "SGDRegressor": RANDOM_ORDER,
    "SGDOneClassSVM": RANDOM_ORDER,
    "Perceptron": RANDOM_ORDER,
    **dict.fromkeys(("SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM", "MultipleKernelSVC"), SCALED),
    "LassoCV": RESPLIT,
    "ElasticNetCV": RESPLIT,
    "LogisticRegressionCV": RESPLIT,
    "MultiTaskElasticNetCV": RESPLIT,
    "MultiTaskLassoCV": RESPLIT,
    "NadarayaWatsonClassifier": LEFT_OUT,
    "NadarayaWatsonRegressor": LEFT_OUT,
    "RidgeCV": LEFT_OUT,
    "RidgeClassifierCV": LEFT_OUT,
    "AdaBoostRegressor": DRAWN,
    "MiniBatchKMeans": DRAWN,
    "CalibratedClassifierCV": "calibrates on folds, and repeating rows moves the folds",
    "BaggingClassifier": DRAWN,
    "BaggingRegressor": DRAWN,
    "HistGradientBoostingClassifier": COUNTED,
    "HistGradientBoostingRanker": COUNTED,
    "HistGradientBoostingRegressor": COUNTED,
    "RandomForestClassifier": DRAWN,
    "RandomForestRegressor": DRAWN,
}

# Estimators excused from a check of scikit-learn's, each with a written reason.
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
DIRECT = "a direct solver makes no iterations, and n_iter_ is None as scikit-learn documents it"
EXCUSED: dict[str, dict[str, str]] = {
    **{name: dict.fromkeys(WEIGHTS, why) for name, why in NOT_AS_COPIES.items() if why in (RANDOM_ORDER, DRAWN)},
    **{name: dict.fromkeys(WEIGHTS, why) for name, why in NOT_AS_COPIES.items() if why == SCALED},
    "NuSVC": {
        **dict.fromkeys(WEIGHTS, SCALED),
        "check_class_weight_classifiers": "class_weight has no effect, as in scikit-learn: there is no C to multiply",
    },
    "NadarayaWatsonClassifier": {WEIGHTS[0]: LEFT_OUT},
    "NadarayaWatsonRegressor": {WEIGHTS[0]: LEFT_OUT},
    "Ridge": {"check_non_transformer_estimators_n_iter": DIRECT},
    "RidgeClassifier": {"check_non_transformer_estimators_n_iter": DIRECT},
    "KMeans": dict.fromkeys(WEIGHTS, "starts from rows drawn at random, and the check shuffles the copies"),
    "LogisticRegressionCV": {"check_sparsify_coefficients": "the check has too few rows per class for five folds"},
}
SEARCHED = "rows are kept and searched, nothing is optimised"
NOTHING_TO_OPTIMISE = {
    "ClassMaps": "one map per class; what is optimised stands in the maps' certificates",
    "NeighbourGraph": SEARCHED,
    "SeparableCoordinates": "coordinates are chosen one by one by their scores, greedily and without a promise",
    "SubsampledMap": "a map of a sample; what is optimised stands in its certificate",
    "HistogramClassifier": "rows are counted, and the vote in each cell is the best answer by definition",
    "KernelDensity": "kernels are summed, with an error that atol and rtol bound; nothing is optimised",
    "KNeighborsClassifier": SEARCHED,
    "KNeighborsRegressor": SEARCHED,
    "KNeighborsTransformer": SEARCHED,
    "LocalOutlierFactor": SEARCHED,
    "NearestCentroid": "means or medians are computed, nothing is optimised",
    "NearestNeighbors": SEARCHED,
    "RadiusNeighborsClassifier": SEARCHED,
    "RadiusNeighborsRegressor": SEARCHED,
    "RadiusNeighborsTransformer": SEARCHED,
    "StandardScaler": "means and deviations are computed, nothing is optimised",
    "Nystroem": "rows are drawn and the root of their kernel matrix is taken, nothing is optimised",
    "RBFSampler": "directions are drawn at random, nothing is optimised",
    "PolynomialFeatures": "monomials are listed, nothing is optimised",
    "VotingClassifier": "answers are averaged; what is optimised stands in the members' certificates",
    "VotingRegressor": "answers are averaged; what is optimised stands in the members' certificates",
}
SEPARABLE = {"Perceptron", "KernelPerceptron"}  # promises something about separable rows only

by_name = pytest.mark.parametrize("name", sorted(ESTIMATORS))


def weighted():
    return [n for n in sorted(ESTIMATORS) if "sample_weight" in inspect.signature(ESTIMATORS[n].fit).parameters]


def settings(model):
    """Parameters as text: members of ensembles are equal when their parameters are."""
    return {key: repr(value) for key, value in model.get_params().items()}


@parametrize_with_checks(
    [build(name) for name in sorted(ESTIMATORS)],
    expected_failed_checks=lambda estimator: EXCUSED.get(type(estimator).__name__, {}),
)
@pytest.mark.filterwarnings("ignore")  # scikit-learn's checks provoke warnings on purpose
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_excuses_are_about_existing_estimators_and_say_something():
    reasons = [*NOT_AS_COPIES.items(), *NOTHING_TO_OPTIMISE.items()]
    reasons += [(name, reason) for name, checks in EXCUSED.items() for reason in checks.values()]
    for name, reason in reasons:
        assert name in ESTIMATORS and len(reason) > 20, name


@pytest.mark.parametrize("name", [name for name in weighted() if name not in NOT_AS_COPIES])
def test_weight_w_means_w_copies(name):
    X, y = data(name)
    copies = np.random.default_rng(1).integers(0, 4, size=X.shape[0])
    heavy = fit(build(name, **TIGHT), X, y, sample_weight=copies.astype(float))
    many = fit(build(name, **TIGHT), np.repeat(X, copies, axis=0), np.repeat(y, copies, axis=0))
    expected = output(many, X)
    # both fits are within 1e-10 of one optimum in objective, so within its square root in the scores
    np.testing.assert_allclose(output(heavy, X), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())


@by_name
def test_fitting_twice_is_fitting_once(name):
    """The second data set has another shape, so that anything left over from the first would show."""
    once, twice = build(name, **FAST), build(name, **FAST)
    fit(twice, *data(name, n=90, d=4, seed=5))
    X, y = data(name)
    assert fitted_state(fit(twice, X, y)) == fitted_state(fit(once, X, y))
    assert settings(twice) == settings(build(name, **FAST))


@by_name
def test_fit_leaves_its_input_alone_and_takes_read_only_arrays(name):
    X, y = data(name)
    expected = fitted_state(fit(build(name, **FAST), X.copy(), y.copy()))
    X.setflags(write=False)
    y.setflags(write=False)
    kept = X.copy(), y.copy()
    assert fitted_state(fit(build(name, **FAST), X, y)) == expected
    assert (kept[0] == X).all() and (y == kept[1]).all()


@by_name
def test_memory_order_does_not_matter(name):
    X, y = data(name)
    rows, columns = build(name, **TIGHT), build(name, **TIGHT)
    expected = output(fit(rows, X, y), X)
    found = output(fit(columns, np.asfortranarray(X), y), X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())  # rounding, amplified


@by_name
def test_float32_gives_nearly_the_same_answers(name):
    X, y = data(name)
    narrow = X.astype(np.float32)
    expected = output(fit(build(name, **FAST), narrow.astype(np.float64), y), X)
    found = output(fit(build(name, **FAST), narrow, y), narrow)
    # float32 has 7 digits; the fits agree to the default tolerance of the solvers, about 3 digits
    np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.02 * np.abs(expected).max())


@by_name
def test_pandas_and_polars_frames_are_arrays_with_names(name):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = data(name)
    names = [f"feature {i}" for i in range(X.shape[1])]
    expected = output(fit(build(name, **TIGHT), X, y), X)
    for frame in (pandas.DataFrame(X, columns=names), polars.DataFrame(X, schema=names)):
        model = fit(build(name, **TIGHT), frame, y)
        assert list(model.feature_names_in_) == names
        # frames come as columns, that is another order of the same sums: rounding, amplified
        np.testing.assert_allclose(output(model, frame), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


@by_name
def test_pickle_and_clone(name):
    X, y = data(name)
    model = fit(build(name, **FAST), X, y)
    again = pickle.loads(pickle.dumps(model))
    assert fitted_state(again) == fitted_state(model)
    assert output(again, X).tobytes() == output(model, X).tobytes()
    assert str(getattr(again, "certificate_", "")) == str(getattr(model, "certificate_", ""))
    copy = clone(model)
    assert settings(copy) == settings(model) and not fitted_state(copy)


@by_name
def test_one_row_is_answered_as_in_a_batch(name):
    X, y = data(name)
    model = fit(build(name, **FAST), X, y)
    together = output(model, X)
    alone = np.concatenate([np.atleast_1d(output(model, X[i : i + 1])) for i in range(20)])
    # a matrix product may add the terms of a row in another order: rounding only
    np.testing.assert_allclose(alone, together[:20], rtol=1e-10, atol=1e-10 * np.abs(together).max())


@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - set(NOTHING_TO_OPTIMISE)))
def test_a_converged_fit_carries_a_certificate_that_holds(name):
    X, y = data(name, n=300)
    if name in SEPARABLE:
        y = (X[:, 0] > 0).astype(np.intp)
        X[:, 0] += np.where(y == 1, 1.0, -1.0)
    model = build(name, random_state=0, cv=3, max_iter=10_000)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert isinstance(model.certificate_, Certificate)
    assert model.certificate_.kind and model.certificate_.guarantee
    assert not [w for w in caught if issubclass(w.category, ConvergenceWarning)]
    assert model.certificate_.holds, str(model.certificate_)
