"""Scaling and polynomial features against scikit-learn's own classes."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.preprocessing as reference

from hyperplan import preprocessing, thread_limit

rng = np.random.default_rng(0)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_scaler_moments_and_values(order, dtype, weighted):
    X = (rng.standard_normal((501, 7)) * np.arange(1, 8) + 100).astype(dtype, order=order)
    weight = rng.uniform(0, 2, 501) if weighted else None
    ours = preprocessing.StandardScaler().fit(X, sample_weight=weight)
    theirs = reference.StandardScaler().fit(X, sample_weight=weight)
    # both sum in float64; 1e-9 leaves room for a mean of 100 against a spread of 1 (their weighted sums are float32)
    loose = 1e-5 if dtype == np.float32 else 1e-9
    np.testing.assert_allclose(ours.mean_, theirs.mean_, rtol=loose)
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=loose)
    assert np.asarray(ours.n_samples_seen_).dtype == np.asarray(theirs.n_samples_seen_).dtype
    out = ours.transform(X)
    assert out.dtype == dtype
    assert out.flags.f_contiguous == (order == "F")
    np.testing.assert_allclose(out, theirs.transform(X), rtol=0, atol=2e-4 if dtype == np.float32 else 1e-9)
    np.testing.assert_allclose(ours.inverse_transform(out), X, rtol=1e-5 if dtype == np.float32 else 1e-12)


def test_scaler_partial_fit_equals_fit():
    X = rng.standard_normal((300, 4)) + 5
    whole = preprocessing.StandardScaler().fit(X)
    parts = preprocessing.StandardScaler()
    for block in np.split(X, [10, 11, 150]):
        parts.partial_fit(block)
    np.testing.assert_allclose(parts.mean_, whole.mean_, rtol=1e-13)  # rounding of three merges
    np.testing.assert_allclose(parts.var_, whole.var_, rtol=1e-12)
    assert parts.n_samples_seen_ == 300


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 199])
def test_scaler_panel_borders(n):
    X = rng.standard_normal((n, 3))
    scaler = preprocessing.StandardScaler().fit(X)
    np.testing.assert_allclose(scaler.mean_, X.mean(axis=0), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(scaler.var_, X.var(axis=0), rtol=1e-12, atol=1e-30)


def test_scaler_keeps_digits_of_large_means():
    X = rng.standard_normal((5000, 2)) + 1e9
    # one-pass sums of squares would lose all digits: 1e18 against 1
    np.testing.assert_allclose(preprocessing.StandardScaler().fit(X).var_, X.var(axis=0), rtol=1e-10)


def test_scaler_missing_values_follow_scikit_learn():
    X = rng.standard_normal((50, 3))
    X[3, 1] = np.nan
    ours, theirs = preprocessing.StandardScaler().fit(X), reference.StandardScaler().fit(X)
    np.testing.assert_array_equal(ours.n_samples_seen_, theirs.n_samples_seen_)
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    more = rng.standard_normal((9, 3))
    np.testing.assert_allclose(ours.partial_fit(more).var_, theirs.partial_fit(more).var_)


@pytest.mark.parametrize("method", ["fit", "transform", "inverse_transform"])
def test_scaler_refuses_infinity(method):
    X = rng.standard_normal((9, 2))
    scaler = preprocessing.StandardScaler().fit(X)
    X[4, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        getattr(scaler, method)(X)


def test_scaler_in_place_frames_and_sparse():
    X = rng.standard_normal((40, 3))
    scaler = preprocessing.StandardScaler(copy=False).fit(X)
    assert scaler.transform(X) is X
    frame = pd.DataFrame(rng.standard_normal((40, 3)), columns=list("abc"))
    out = preprocessing.StandardScaler().set_output(transform="pandas").fit_transform(frame)
    np.testing.assert_allclose(out, reference.StandardScaler().fit_transform(frame), atol=1e-13)
    assert list(out.columns) == list("abc")
    S = sp.random(50, 4, density=0.3, format="csr", random_state=0)
    ours = preprocessing.StandardScaler(with_mean=False).fit_transform(S)
    np.testing.assert_array_equal(ours.toarray(), reference.StandardScaler(with_mean=False).fit_transform(S).toarray())
    with pytest.raises(ValueError, match="Cannot center sparse matrices"):
        preprocessing.StandardScaler().fit(S)


def test_scaler_same_bits_for_any_number_of_threads():
    X = rng.standard_normal((60_000, 40))  # several blocks
    with thread_limit(1):
        one = preprocessing.StandardScaler().fit(X)
    with thread_limit(3):
        three = preprocessing.StandardScaler().fit(X)
    assert np.array_equal(one.mean_, three.mean_) and np.array_equal(one.var_, three.var_)


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, (1, 1), (2, 3), (0, 2), (3, 3)])
@pytest.mark.parametrize("interaction_only", [False, True])
@pytest.mark.parametrize("include_bias", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_polynomial_equals_scikit_learn_bit_for_bit(degree, interaction_only, include_bias, dtype):
    if degree == 0 and not include_bias:
        pytest.skip("empty output is an error, tested below")
    X = rng.standard_normal((23, 4)).astype(dtype)
    options = {"degree": degree, "interaction_only": interaction_only, "include_bias": include_bias}
    ours = preprocessing.PolynomialFeatures(**options).fit_transform(X)
    theirs = reference.PolynomialFeatures(**options).fit_transform(X)
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours, theirs)


def test_polynomial_errors_and_other_paths():
    with pytest.raises(ValueError, match="empty output"):
        preprocessing.PolynomialFeatures(0, include_bias=False).fit([[1.0]])
    X = rng.standard_normal((6, 3))
    model = preprocessing.PolynomialFeatures(2).fit(X)
    bad = X.copy()
    bad[1, 2] = np.nan
    with pytest.raises(ValueError, match="row 1, column 2"):
        model.transform(bad)
    assert preprocessing.PolynomialFeatures(2, order="F").fit_transform(X).flags.f_contiguous
    sparse = model.transform(sp.csr_array(X))
    np.testing.assert_allclose(sparse.toarray(), model.transform(X), rtol=1e-15)


@pytest.mark.parametrize("name", ["LabelEncoder", "OneHotEncoder", "OrdinalEncoder", "MinMaxScaler", "RobustScaler"])
def test_re_exports_are_scikit_learns(name):
    assert getattr(preprocessing, name) is getattr(reference, name)


@pytest.mark.parametrize("degree", [1, 2, 3, (0, 2), (2, 3)])
@pytest.mark.parametrize("options", [{}, {"interaction_only": True}, {"include_bias": False}], ids=str)
@pytest.mark.parametrize("n", [1, 7, 600])
def test_polynomial_sparse_rows_and_column_order(degree, options, n):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 5)) * (rng.random((n, 5)) < 0.5)
    ours, theirs = preprocessing.PolynomialFeatures(degree, **options), reference.PolynomialFeatures(degree, **options)
    for kind in (sp.csr_array, sp.csr_matrix, sp.csc_array):
        for dtype in (np.float32, np.float64):
            found, expected = ours.fit_transform(kind(X.astype(dtype))), theirs.fit_transform(kind(X.astype(dtype)))
            assert type(found) is type(expected) and found.dtype == expected.dtype
            np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-6 if dtype == np.float32 else 1e-14)
    shuffled = sp.csr_array((X[0][::-1].copy(), np.arange(5)[::-1].copy(), [0, 5]), shape=(1, 5))  # unsorted columns
    np.testing.assert_allclose(ours.fit_transform(shuffled).toarray(), theirs.fit_transform(X[:1]), rtol=1e-14)
    ours.set_params(order="F"), theirs.set_params(order="F")
    found = ours.fit_transform(X)
    assert found.flags.f_contiguous
    np.testing.assert_allclose(found, theirs.fit_transform(X), rtol=1e-14)  # the same products in the same order
