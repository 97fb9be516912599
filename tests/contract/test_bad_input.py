"""Bad input to every linear model: scikit-learn's error or result, in plain words; nothing hangs, no silent NaN."""

import inspect
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
import sklearn.svm
from contract_common import build, data, output

import hyperplan.linear_model
import hyperplan.svm
from hyperplan import testing
from hyperplan._base import is_classifier

FAMILIES = (hyperplan.linear_model, hyperplan.svm)
NAMES = [name for name, _ in testing.all_estimators() if any(hasattr(family, name) for family in FAMILIES)]
QUICK = {"random_state": 0, "cv": 3, "max_iter": 200}

each = pytest.mark.parametrize("name", NAMES)
pytestmark = pytest.mark.filterwarnings("ignore")  # convergence on odd data is not the question here


def model_of(name, **options):
    return build(name, **{**QUICK, **options})


def peer_of(name):
    """scikit-learn's class of the same name with the same options, or None."""
    cls = getattr(sklearn.linear_model, name, None) or getattr(sklearn.svm, name, None)
    if cls is None:
        return None
    known = inspect.signature(cls.__init__).parameters
    return cls(**{option: value for option, value in QUICK.items() if option in known})


def outcome(model, X, y, **options):
    """The error of a fit, or None and the fitted model."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return None, model.fit(X, y, **options)
    except Exception as error:
        return error, None


def agree(name, X, y, **options):
    """Ours raises only where scikit-learn does, the same type; else answers are finite.  Returns our error."""
    error, fitted = outcome(model_of(name), X, y, **options)
    peer = peer_of(name)
    if peer is not None:
        expected, _ = outcome(peer, X, y, **options)
        if expected is not None and error is not None:
            assert isinstance(error, type(expected)) or isinstance(expected, type(error)), (error, expected)
        elif error is not None:
            raise AssertionError("scikit-learn accepts this") from error
    if error is None:
        assert np.isfinite(output(fitted, X)).all()
    else:
        assert isinstance(error, ValueError | TypeError) and len(str(error)) > 15
    return error


@each
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_non_finite_values_are_located(name, bad, sparse):
    X, y = data(name, n=40)
    X[7, 2] = bad
    if sparse:
        if not model_of(name).__sklearn_tags__().input_tags.sparse:
            pytest.skip("takes dense tables only")
        X = sp.csr_array(X)
    with pytest.raises(ValueError, match=r"NaN|infinity") as caught:
        model_of(name).fit(X, y)
    assert "row 7" in str(caught.value) and "column 2" in str(caught.value)


@each
def test_non_finite_target(name):
    X, y = data(name, n=40)
    y = np.asarray(y, dtype=float)
    y[(3,) + (0,) * (y.ndim - 1)] = np.nan
    if model_of(name).__sklearn_tags__().target_tags.required:
        with pytest.raises(ValueError, match=r"NaN|label type"):
            model_of(name).fit(X, y)
    else:
        assert outcome(model_of(name), X, y)[0] is None


@each
def test_non_finite_rows_in_predict(name):
    X, y = data(name, n=60)
    model = model_of(name).fit(X, y)
    X = X[:10].copy()
    X[4, 1] = np.nan
    with pytest.raises(ValueError, match="NaN") as caught:
        output(model, X)
    assert "row 4" in str(caught.value) and "column 1" in str(caught.value)


@pytest.mark.parametrize("name", [name for name in NAMES if is_classifier(build(name))])
def test_one_class(name):
    X, _ = data(name, n=40)
    error = agree(name, X, np.ones(40))
    assert error is None or "class" in str(error)


@each
def test_one_row(name):
    X, y = data(name, n=1)
    agree(name, X, y)


@each
def test_fewer_rows_than_columns(name):
    X, y = data(name, n=12, d=30)
    assert agree(name, X, y) is None


@each
@pytest.mark.parametrize("kind", ["constant", "zero", "duplicated"])
def test_degenerate_columns(name, kind):
    X, y = data(name, n=60)
    X[:, 1] = {"constant": 3.0, "zero": 0.0, "duplicated": X[:, 0]}[kind]
    assert agree(name, X, y) is None


def weighted_names():
    return [name for name in NAMES if "sample_weight" in inspect.signature(build(name).fit).parameters]


@pytest.mark.parametrize("name", weighted_names())
def test_weights_that_sum_to_zero(name):
    X, y = data(name, n=40)
    error, _ = outcome(model_of(name), X, y, sample_weight=np.zeros(40))
    assert isinstance(error, ValueError) and "eight" in str(error)


@pytest.mark.parametrize("name", weighted_names())
def test_negative_weights(name):
    X, y = data(name, n=40)
    weight = np.ones(40)
    weight[5] = -1.0
    error, fitted = outcome(model_of(name), X, y, sample_weight=weight)
    if error is None:  # some of scikit-learn's models take them; then the answers must be numbers
        assert np.isfinite(output(fitted, X)).all()
    else:
        assert isinstance(error, ValueError) and "eight" in str(error)


@pytest.mark.parametrize("name", weighted_names())
@pytest.mark.parametrize("weight", [np.ones(39), np.ones((40, 2)), np.full(40, np.nan), ["a"] * 40])
def test_weights_of_the_wrong_kind(name, weight):
    X, y = data(name, n=40)
    error, _ = outcome(model_of(name), X, y, sample_weight=weight)
    assert isinstance(error, ValueError | TypeError) and len(str(error)) > 15


@pytest.mark.parametrize("name", [name for name in NAMES if is_classifier(build(name))])
@pytest.mark.parametrize("kind", [str, object])
def test_string_and_object_labels(name, kind):
    X, y = data(name, n=80)
    words = np.array(["no", "yes"], dtype=kind)[y]
    model, plain = model_of(name).fit(X, words), model_of(name).fit(X, y)
    assert list(model.classes_) == ["no", "yes"]
    np.testing.assert_array_equal(model.predict(X), np.array(["no", "yes"], dtype=kind)[plain.predict(X)])


@pytest.mark.parametrize("name", [name for name in NAMES if not is_classifier(build(name))])
def test_text_targets_of_a_regression(name):
    X, _ = data(name, n=40)
    if model_of(name).__sklearn_tags__().target_tags.required:
        assert isinstance(outcome(model_of(name), X, np.array(["a", "b"] * 20))[0], ValueError | TypeError)


@each
@pytest.mark.parametrize("case", ["short", "three dimensions", "missing", "empty"])
def test_target_of_the_wrong_shape(name, case):
    X, y = data(name, n=40)
    if not model_of(name).__sklearn_tags__().target_tags.required:
        pytest.skip("has no target")
    wrong = {"short": y[:-1], "three dimensions": np.zeros((40, 2, 2)), "missing": None, "empty": y[:0]}[case]
    error, _ = outcome(model_of(name), X, wrong)
    assert isinstance(error, ValueError | TypeError) and len(str(error)) > 15


BAD_VALUES = {
    "alpha": -1.0, "C": -1.0, "tol": -1.0, "max_iter": -2, "fit_intercept": "maybe", "l1_ratio": 2.0, "eta0": -1.0,
    "epsilon": -1.0, "nu": 3.0, "penalty": "l7", "loss": "none such", "solver": "none such", "power": "high",
}  # fmt: skip


@each
@pytest.mark.parametrize("option", BAD_VALUES)
def test_bad_hyper_parameter_is_named(name, option):
    if option not in inspect.signature(type(build(name)).__init__).parameters:
        pytest.skip("no such option")
    X, y = data(name, n=40)
    error, _ = outcome(model_of(name, **{option: BAD_VALUES[option]}), X, y)
    assert isinstance(error, ValueError | TypeError), f"{option}={BAD_VALUES[option]!r} was accepted"
    text = str(error)
    assert option in text and name in text and str(BAD_VALUES[option]).strip("'") in text, text


@each
@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_extreme_values_end(name, scale):
    """A finite answer or an error that says something: no hang, no silent NaN."""
    X, y = data(name, n=40)
    error, fitted = outcome(model_of(name), X * scale, y)
    if error is None:
        assert np.isfinite(output(fitted, X * scale)).all()
    else:
        assert isinstance(error, ValueError | TypeError | OverflowError | np.linalg.LinAlgError), repr(error)
        assert len(str(error)) > 15


@each
@pytest.mark.parametrize("shape", [(0, 3), (5, 0)])
def test_empty_table(name, shape):
    _, y = data(name, n=max(shape[0], 4))
    with pytest.raises(ValueError, match=r"0 sample|0 feature"):
        model_of(name).fit(np.empty(shape), y[: shape[0]])


@each
def test_one_dimensional_table(name):
    X, y = data(name, n=40)
    with pytest.raises(ValueError, match="2D array"):
        model_of(name).fit(X[:, 0], y)


@each
def test_explicit_zeros_change_nothing(name):
    model = model_of(name)
    if not model.__sklearn_tags__().input_tags.sparse:
        pytest.skip("takes dense tables only")
    X, y = data(name, n=60)
    X = X * (np.abs(X) > 0.5)
    rows, columns = np.indices(X.shape, dtype=np.int32).reshape(2, -1)
    full = sp.csr_array((X.ravel(), (rows, columns)), shape=X.shape)
    assert full.nnz == X.size
    stored, plain = model_of(name).fit(full, y), model_of(name).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(output(stored, X), output(plain, X), rtol=1e-6, atol=1e-8)


@each
def test_wrong_number_of_columns_in_predict(name):
    X, y = data(name, n=60)
    model = model_of(name).fit(X, y)
    with pytest.raises(ValueError, match="features"):
        output(model, X[:, :-1])
