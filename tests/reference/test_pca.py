"""Principal components are scikit-learn's, whatever the way to them."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.decomposition as theirs

from hyperplan import thread_limit
from hyperplan.decomposition import PCA
from hyperplan.decomposition._pca import EIGEN_SOLVERS

RNG = np.random.default_rng(0)


def table(n, d, rank=None, seed=0):
    rng = np.random.default_rng(seed)
    rank = min(n, d) if rank is None else rank
    scales = 0.8 ** np.arange(rank)
    return (rng.normal(size=(n, rank)) * scales) @ rng.normal(size=(rank, d)) + rng.normal(size=d)


SHAPES = {"tall": (300, 12), "wide": (30, 200), "square": (80, 80), "one column": (50, 1), "two rows": (2, 5)}
ATTRIBUTES = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_")


def compare(mine, other, atol):
    for name in ATTRIBUTES:
        np.testing.assert_allclose(getattr(mine, name), getattr(other, name), atol=atol, err_msg=name)
    assert mine.noise_variance_ == pytest.approx(other.noise_variance_, abs=atol)
    assert mine.n_components_ == other.n_components_ and mine.n_samples_ == other.n_samples_


@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "arpack", "randomized"])
@pytest.mark.parametrize("shape", SHAPES)
def test_all_ways_lead_to_the_same_axes(shape, solver):
    X = table(*SHAPES[shape])
    few = max(1, min(4, min(X.shape) - 1))
    if solver == "arpack" and few == min(X.shape):
        pytest.skip("the Lanczos iteration is for fewer components than there are")
    mine = PCA(few, svd_solver=solver, random_state=0).fit(X)
    other = theirs.PCA(few, svd_solver="full").fit(X)
    # variances agree to 1e-6 of the largest for the iterative ways, to rounding for the others
    compare(mine, other, 1e-5 if solver in ("arpack", "randomized") else 1e-9)
    np.testing.assert_allclose(mine.transform(X), other.transform(X), atol=1e-5)
    np.testing.assert_allclose(
        mine.inverse_transform(mine.transform(X)), other.inverse_transform(other.transform(X)), atol=1e-5
    )
    assert mine.certificate_.holds


@pytest.mark.parametrize("n_components", [None, 0, 3, 0.5, 0.999, "mle"])
@pytest.mark.parametrize("solver", ["full", "covariance_eigh"])
def test_how_many_components(n_components, solver):
    X = table(120, 10) + 0.05 * RNG.normal(size=(120, 10))
    mine = PCA(n_components, svd_solver=solver).fit(X)
    compare(mine, theirs.PCA(n_components, svd_solver=solver).fit(X), 1e-9)
    assert mine.certificate_.holds


@pytest.mark.parametrize("whiten", [False, True])
def test_whitening_and_the_way_back(whiten):
    X = table(200, 8)
    mine, other = PCA(5, whiten=whiten).fit(X), theirs.PCA(5, whiten=whiten).fit(X)
    np.testing.assert_allclose(mine.transform(X), other.transform(X), atol=1e-8)
    np.testing.assert_allclose(mine.fit_transform(X), mine.transform(X), atol=1e-10)
    Z = RNG.normal(size=(3, 5))
    np.testing.assert_allclose(mine.inverse_transform(Z), other.inverse_transform(Z), atol=1e-8)
    if whiten:
        np.testing.assert_allclose(np.cov(mine.transform(X).T), np.eye(5), atol=1e-8)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("n_components", [2, 5, None])
def test_the_gaussian_model(n_components, whiten):
    X = table(150, 6) + 0.1 * RNG.normal(size=(150, 6))
    mine, other = PCA(n_components, whiten=whiten).fit(X), theirs.PCA(n_components, whiten=whiten).fit(X)
    np.testing.assert_allclose(mine.get_covariance(), other.get_covariance(), atol=1e-9)
    np.testing.assert_allclose(mine.get_precision(), other.get_precision(), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(mine.score_samples(X), other.score_samples(X), rtol=1e-7)
    assert mine.score(X) == pytest.approx(other.score(X))


@pytest.mark.parametrize("solver", ["auto", "arpack", "covariance_eigh"])
@pytest.mark.parametrize("shape", [(300, 20), (40, 100)])
def test_sparse_tables_are_never_centred(solver, shape):
    X = sp.random(*shape, density=0.2, random_state=np.random.default_rng(0), format="csr")
    mine = PCA(3, svd_solver=solver, random_state=0).fit(X)
    other = theirs.PCA(3, svd_solver="full").fit(X.toarray())
    compare(mine, other, 1e-7)
    np.testing.assert_allclose(mine.transform(X), other.transform(X.toarray()), atol=1e-7)
    with pytest.raises(TypeError, match="sparse"):
        PCA(3, svd_solver="full").fit(X)


@pytest.mark.parametrize("eigen_solver", EIGEN_SOLVERS)
def test_eigen_solvers_of_our_own(eigen_solver):
    X = table(100, 12)
    mine = PCA(4, eigen_solver=eigen_solver).fit(X)
    compare(mine, theirs.PCA(4).fit(X), 1e-9)
    assert mine.certificate_.details["solver"] == ("full" if eigen_solver == "lapack" else "covariance_eigh")


def test_single_precision_in_single_precision_out():
    X = table(500, 10).astype(np.float32)
    mine = PCA(3).fit(X)
    assert mine.components_.dtype == mine.transform(X).dtype == np.float32
    np.testing.assert_allclose(mine.components_, theirs.PCA(3).fit(X.astype(float)).components_, atol=1e-4)


def test_a_large_mean_costs_no_digits():
    X = table(400, 5) + 1e7
    expected = theirs.PCA(3).fit(X - 1e7).explained_variance_
    for solver in ("full", "covariance_eigh", "randomized"):
        model = PCA(3, svd_solver=solver, random_state=0).fit(X)
        np.testing.assert_allclose(model.explained_variance_, expected, rtol=1e-6)


def test_threads_change_no_bit():
    X = table(2000, 300, rank=40)
    for solver in ("covariance_eigh", "randomized"):
        with thread_limit(1):
            alone = PCA(5, svd_solver=solver, random_state=0).fit(X).components_
        for n_jobs in (2, 3, 4):
            with thread_limit(n_jobs):
                assert (PCA(5, svd_solver=solver, random_state=0).fit(X).components_ == alone).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_krylov_space_of_a_large_table(order):
    X = np.asarray(table(1500, 1200, rank=60), order=order)
    mine = PCA(10, random_state=0).fit(X)
    assert mine.certificate_.details["solver"] == "randomized" and mine.certificate_.holds
    other = theirs.PCA(10, svd_solver="arpack", random_state=0).fit(X)
    np.testing.assert_allclose(mine.explained_variance_, other.explained_variance_, rtol=1e-6)


def test_edges():
    same = np.ones((6, 3))
    model = PCA().fit(same)
    assert (model.explained_variance_ == 0).all() and np.isfinite(model.transform(same)).all()
    with pytest.raises(ValueError, match="between 0 and min"):
        PCA(7, svd_solver="full").fit(same)
    with pytest.raises(ValueError, match="strictly less"):
        PCA(3, svd_solver="arpack").fit(same)
    with pytest.raises(ValueError, match="mle"):
        PCA("mle", svd_solver="full").fit(np.ones((2, 3)))
    with pytest.raises(ValueError, match="cannot be a string"):
        PCA("mle", svd_solver="arpack").fit(same)
    lines = np.outer(np.arange(5.0), [1.0, 2.0, 3.0])  # rank one: more components than variance
    model = PCA(3, svd_solver="covariance_eigh").fit(lines)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-10)
    assert (model.explained_variance_[1:] < 1e-12).all()
    wide = PCA(3, svd_solver="covariance_eigh").fit(np.outer([1.0, 2.0, 4.0], np.arange(8.0)))
    np.testing.assert_allclose(wide.components_ @ wide.components_.T, np.eye(3), atol=1e-10)
