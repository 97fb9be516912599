"""Random projections are scikit-learn's for the same seed; what is added keeps its promises."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.random_projection as theirs

import hyperplan.random_projection as ours
from hyperplan import thread_limit

X = np.random.default_rng(0).normal(size=(700, 400))
SHARED = ["GaussianRandomProjection", "SparseRandomProjection"]
ALL = [*SHARED, "KaneNelsonRandomProjection"]


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sp.csr_matrix, lambda X: X.astype(np.float32)])
def test_the_same_seed_gives_the_same_matrix_and_projection(name, kind):
    given = kind(X)
    options = {"n_components": 30, "random_state": 3, "compute_inverse_components": True}
    mine, other = getattr(ours, name)(**options).fit(given), getattr(theirs, name)(**options).fit(given)
    np.testing.assert_array_equal(dense(mine.components_), dense(other.components_))
    # the sums are taken in another order
    tolerance = 1e-4 if given.dtype == np.float32 else 1e-12
    projected, expected = mine.transform(given), other.transform(given)
    assert sp.issparse(projected) == sp.issparse(expected) and projected.dtype == expected.dtype
    np.testing.assert_allclose(dense(projected), dense(expected), atol=tolerance)
    back = mine.inverse_transform(dense(projected))
    np.testing.assert_allclose(back, other.inverse_transform(dense(expected)), atol=100 * tolerance)


@pytest.mark.parametrize("density", [1.0, 1 / 3, 0.05, "auto"])
def test_densities(density):
    options = {"n_components": 20, "density": density, "random_state": 0, "dense_output": True}
    mine, other = ours.SparseRandomProjection(**options), theirs.SparseRandomProjection(**options)
    np.testing.assert_allclose(mine.fit_transform(X), other.fit_transform(X), atol=1e-12)
    assert mine.density_ == other.density_


def test_dimensions_as_scikit_learn_counts_them():
    for n in (2, 10, 500, [1e4, 1e6]):
        for eps in (0.01, 0.1, 0.5, 0.99):
            expected = theirs.johnson_lindenstrauss_min_dim(n, eps=eps)
            np.testing.assert_array_equal(ours.johnson_lindenstrauss_min_dim(n, eps=eps), expected)


@pytest.mark.parametrize("name", ALL)
def test_distances_are_kept_as_promised(name):
    wide = np.random.default_rng(1).normal(size=(40, 5000))
    model = getattr(ours, name)(eps=0.3, random_state=0).fit(wide)
    assert model.n_components_ == ours.johnson_lindenstrauss_min_dim(40, eps=0.3)
    certificate = model.certificate_
    assert certificate.holds and certificate.bound == pytest.approx(0.3, abs=0.01)
    assert 0 < certificate.details["smallest_ratio"] < 1 < certificate.details["largest_ratio"]


@pytest.mark.parametrize("name", ALL)
def test_norms_are_kept_on_average(name):
    vector = np.zeros((1, 50))
    vector[0, :3] = 1.0  # few large entries: the hard case of sparse projections
    draws = [getattr(ours, name)(10, random_state=seed).fit(vector) for seed in range(300)]
    squares = [float((dense(model.transform(vector)) ** 2).sum()) for model in draws]
    assert np.mean(squares) == pytest.approx(3.0, rel=0.3)


def test_every_column_of_kane_and_nelson_has_as_many_signs():
    model = ours.KaneNelsonRandomProjection(50, n_nonzeros=7, random_state=0).fit(X)
    matrix = dense(model.components_)
    assert ((matrix != 0).sum(axis=0) == 7).all() and model.n_nonzeros_ == 7
    np.testing.assert_allclose(np.abs(matrix[matrix != 0]), 1 / np.sqrt(7))
    np.testing.assert_allclose(model.transform(X), X @ matrix.T, atol=1e-12)
    assert ours.KaneNelsonRandomProjection(3, random_state=0).fit(X).n_nonzeros_ == 3
    with pytest.raises(ValueError, match="lower n_nonzeros"):
        ours.KaneNelsonRandomProjection(3, n_nonzeros=4).fit(X)


def test_threads_change_no_bit():
    model = ours.SparseRandomProjection(40, density=0.05, random_state=0).fit(X)
    with thread_limit(1):
        alone = model.transform(X)
    for n_jobs in (2, 3, 4):
        with thread_limit(n_jobs):
            assert (model.transform(X) == alone).all()


def test_components_that_are_no_signs_any_more_still_work():
    model = ours.SparseRandomProjection(10, density=0.05, random_state=0).fit(X)
    model.components_.data[0] *= 2
    np.testing.assert_allclose(model.transform(X), X @ dense(model.components_).T, atol=1e-12)


def test_edges():
    with pytest.warns(UserWarning, match="n_features < n_components"):
        ours.GaussianRandomProjection(500, random_state=0).fit(X)
    with pytest.raises(ValueError, match="larger than the original space with n_features=400: give n_components"):
        ours.GaussianRandomProjection().fit(X)
    with pytest.raises(ValueError, match="invalid"):
        ours.GaussianRandomProjection().fit(X[:1])
    with pytest.raises(ValueError, match="between 0 and 1"):
        ours.johnson_lindenstrauss_min_dim(10, eps=1.0)
    same = np.ones((5, 20))
    certificate = ours.SparseRandomProjection(3, random_state=0).fit(same).certificate_
    assert certificate.value == 0.0 and certificate.details["pairs"] == 0
    few = ours.GaussianRandomProjection(2, random_state=0).fit(X).certificate_
    assert few.bound == np.inf and "lemma asks" in few.guarantee
