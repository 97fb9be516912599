"""Several classes from two: the same answers as scikit-learn's wrappers around the same members."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model
import sklearn.multiclass
import sklearn.naive_bayes
import sklearn.svm
import sklearn.tree
from sklearn.exceptions import ConvergenceWarning

from hyperplan.linear_model import LogisticRegression, Ridge, SGDClassifier
from hyperplan.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from hyperplan.svm import LinearSVC
from hyperplan.tree import DecisionTreeClassifier

PAIRS = [
    (OneVsRestClassifier, sklearn.multiclass.OneVsRestClassifier),
    (OneVsOneClassifier, sklearn.multiclass.OneVsOneClassifier),
    (OutputCodeClassifier, sklearn.multiclass.OutputCodeClassifier),
]
BASES = [
    sklearn.linear_model.LogisticRegression(),
    sklearn.svm.LinearSVC(random_state=0),
    sklearn.tree.DecisionTreeClassifier(max_depth=3, random_state=0),
]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, size=300)
    return rng.normal(size=(300, 5)) + np.eye(4, 5)[y] * 2, np.array(["a", "b", "c", "d"])[y]


def made(cls, estimator):
    return cls(estimator, random_state=0) if "Output" in cls.__name__ else cls(estimator)


@pytest.mark.parametrize("ours, theirs", PAIRS)
@pytest.mark.parametrize("base", BASES, ids=lambda base: type(base).__name__)
def test_foreign_members_give_the_same_answers(ours, theirs, base, data):
    """Members are the same objects with the same seeds, so that nothing may differ but rounding of sums of votes."""
    X, y = data
    one, other = made(ours, base).fit(X, y), made(theirs, base).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    for method in ("predict_proba", "decision_function"):
        assert hasattr(one, method) == hasattr(other, method)
        if hasattr(one, method):
            np.testing.assert_allclose(getattr(one, method)(X), getattr(other, method)(X), rtol=1e-12, atol=1e-14)
    if hasattr(other, "code_book_"):
        np.testing.assert_array_equal(one.code_book_, other.code_book_)


@pytest.mark.parametrize("ours, theirs", PAIRS[:2])
def test_two_classes(ours, theirs, data):
    X, y = data
    y = y < "c"
    base = sklearn.linear_model.LogisticRegression()
    one, other = made(ours, base).fit(X, y), made(theirs, base).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), rtol=1e-12)


def test_several_labels_per_row(data):
    X, y = data
    Y = np.column_stack([y == "a", y < "c", X[:, 0] > 0]).astype(int)
    base = sklearn.linear_model.LogisticRegression()
    for targets in (Y, sp.csr_matrix(Y)):
        one = OneVsRestClassifier(base).fit(X, targets)
        other = sklearn.multiclass.OneVsRestClassifier(base).fit(X, targets)
        found, expected = one.predict(X), other.predict(X)
        assert one.multilabel_ and sp.issparse(found) == sp.issparse(expected)
        dense = [table.toarray() if sp.issparse(table) else table for table in (found, expected)]
        np.testing.assert_array_equal(*dense)
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-12)


def test_a_label_that_all_rows_have():
    X, Y = np.arange(12.0).reshape(6, 2), np.array([[1, 0, 1], [1, 1, 0]] * 3)
    with pytest.warns(UserWarning, match="Label 0 is present in all training examples"):
        model = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    assert (model.predict(X)[:, 0] == 1).all() and (model.predict_proba(X)[:, 0] == 1.0).all()
    assert model.certificate_.holds


@pytest.mark.parametrize("cls", [OneVsRestClassifier, OneVsOneClassifier])
def test_batches(cls, data):
    X, y = data
    theirs = getattr(sklearn.multiclass, cls.__name__)
    y = np.searchsorted(np.unique(y), y)  # scikit-learn's one against one loses its way among strings here
    X, base = np.abs(X), sklearn.naive_bayes.MultinomialNB()
    one, other = cls(base), theirs(base)
    for part in (slice(0, 150), slice(150, 300)):
        one.partial_fit(X[part], y[part], classes=np.unique(y))
        other.partial_fit(X[part], y[part], classes=np.unique(y))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    with pytest.raises(ValueError, match="Mini-batch contains"):
        one.partial_fit(X[:2], [0, 9])
    with pytest.raises(ValueError, match="not the same as on last call"):
        one.partial_fit(X[:2], y[:2], classes=[0, 1])


def test_our_batches_too(data):
    X, y = data
    model = OneVsRestClassifier(SGDClassifier(random_state=0)).partial_fit(X, y, classes=np.unique(y))
    assert np.mean(model.partial_fit(X, y).predict(X) == y) > 0.6


@pytest.mark.parametrize(
    "cls, n_members", [(OneVsRestClassifier, 4), (OneVsOneClassifier, 6), (OutputCodeClassifier, 6)]
)
def test_certificates_are_gathered(cls, n_members, data):
    X, y = data
    model = made(cls, LinearSVC()).fit(X, y)
    certificate = model.certificate_
    assert certificate.holds and certificate.details["fits"] == certificate.details["holding"] == n_members
    shares = [one.value / one.bound for one in (member.certificate_ for member in model.estimators_) if one.bound > 0]
    assert certificate.value / certificate.bound == pytest.approx(max(shares))
    stopped = made(cls, LogisticRegression(max_iter=1, solver="lbfgs"))
    with pytest.warns(ConvergenceWarning):
        assert not stopped.fit(X, y).certificate_.holds


def test_foreign_members_have_no_certificate(data):
    model = OneVsRestClassifier(sklearn.svm.LinearSVC()).fit(*data)
    assert not hasattr(model, "certificate_")


def test_threads_change_no_bit(data):
    X, y = data
    for cls in (OneVsRestClassifier, OneVsOneClassifier):
        one, two = (cls(LogisticRegression(), n_jobs=n).fit(X, y).decision_function(X) for n in (1, 2))
        assert one.tobytes() == two.tobytes()


def test_regressors_are_members_too(data):
    X, y = data
    model = OneVsRestClassifier(Ridge()).fit(X, y)
    peer = sklearn.multiclass.OneVsRestClassifier(sklearn.linear_model.Ridge()).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    assert not hasattr(model, "predict_proba") and not hasattr(model, "decision_function")


def test_bad_input_is_named(data):
    X, y = data
    with pytest.raises(ValueError, match="only one class is present"):
        OneVsOneClassifier(LinearSVC()).fit(X, np.zeros(300))
    with pytest.raises(ValueError, match=r"code_size=0\.1 leaves no bit"):
        OutputCodeClassifier(LinearSVC(), code_size=0.1).fit(X, y)
    with pytest.raises(ValueError, match="'estimator' parameter of OutputCodeClassifier"):
        OutputCodeClassifier(Ridge()).fit(X, y)
    with pytest.raises(ValueError, match="extra keyword arguments"):
        OneVsRestClassifier(LinearSVC()).fit(X, y, sample_weight=np.ones(300))


def test_trees_vote(data):
    X, y = data
    model = OutputCodeClassifier(DecisionTreeClassifier(random_state=0), code_size=4, random_state=0).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.95
