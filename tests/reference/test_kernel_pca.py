"""Kernel principal components are scikit-learn's, and those of a linear kernel are principal components."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.decomposition as theirs

from hyperplan.decomposition import PCA, KernelPCA
from hyperplan.decomposition._kernel_pca import OWN
from hyperplan.kernels import RBF, Linear

X = np.random.default_rng(0).normal(size=(80, 5))
NEW = np.random.default_rng(1).normal(size=(7, 5))
KERNELS = {
    "linear": {},
    "poly": {"kernel": "poly", "degree": 2, "gamma": 0.3},
    "rbf": {"kernel": "rbf", "gamma": 0.4},
    "rbf with the default gamma": {"kernel": "rbf"},
    "cosine": {"kernel": "cosine"},
    "function": {"kernel": lambda a, b: float(a @ b) ** 2},
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("n_components", [3, None])
def test_kernels(name, n_components):
    options = {"n_components": n_components, "eigen_solver": "dense", **KERNELS[name]}
    mine, other = KernelPCA(**options).fit(X), theirs.KernelPCA(**options).fit(X)
    keep = other.eigenvalues_ > 1e-8 * other.eigenvalues_[0]  # beyond, eigenvectors are rounding
    np.testing.assert_allclose(mine.eigenvalues_[: keep.sum()], other.eigenvalues_[keep], rtol=1e-7)
    assert np.ndim(mine.eigenvalues_) == 1 and mine.transform(NEW).shape[1] == mine.eigenvalues_.size
    if n_components:
        np.testing.assert_allclose(mine.transform(NEW), other.transform(NEW), atol=1e-8)
        np.testing.assert_allclose(mine.fit_transform(X), other.fit_transform(X), atol=1e-8)
    np.testing.assert_allclose(mine.fit_transform(X), mine.transform(X), atol=1e-6)
    assert mine.certificate_.holds


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack", "randomized", *OWN])
def test_eigen_solvers_agree(solver):
    wide = np.random.default_rng(2).normal(size=(260, 6))
    options = {"kernel": "rbf", "gamma": 0.1}
    mine = KernelPCA(4, eigen_solver=solver, random_state=0, **options).fit(wide)
    other = theirs.KernelPCA(4, eigen_solver="dense", **options).fit(wide)
    np.testing.assert_allclose(mine.eigenvalues_, other.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(
        mine.transform(NEW[:, [0, 1, 2, 3, 4, 0]]), other.transform(NEW[:, [0, 1, 2, 3, 4, 0]]), atol=1e-6
    )


def test_a_linear_kernel_gives_principal_components():
    scores = PCA(3).fit(X)
    mine = KernelPCA(3).fit(X)
    np.testing.assert_allclose(np.abs(mine.transform(NEW)), np.abs(scores.transform(NEW)), atol=1e-9)
    np.testing.assert_allclose(mine.eigenvalues_, scores.explained_variance_ * (len(X) - 1))


def test_kernel_objects_and_given_matrices():
    by_name = KernelPCA(3, kernel="rbf", gamma=0.4).fit(X)
    by_object = KernelPCA(3, kernel=RBF(0.4)).fit(X)
    np.testing.assert_array_equal(by_name.eigenvalues_, by_object.eigenvalues_)
    kernel = RBF(0.4) + 0.5 * Linear()
    mixed, given = KernelPCA(3, kernel=kernel).fit(X), KernelPCA(3, kernel="precomputed").fit(kernel(X))
    np.testing.assert_allclose(given.transform(kernel(NEW, X)), mixed.transform(NEW), atol=1e-10)


def test_the_way_back():
    options = {"kernel": "rbf", "gamma": 0.1, "fit_inverse_transform": True, "alpha": 0.01}
    mine, other = KernelPCA(4, **options).fit(X), theirs.KernelPCA(4, **options).fit(X)
    expected = other.inverse_transform(other.transform(NEW))
    np.testing.assert_allclose(mine.inverse_transform(mine.transform(NEW)), expected, atol=1e-7)
    with pytest.raises(Exception, match="fit_inverse_transform"):
        KernelPCA(2).fit(X).inverse_transform(X[:, :2])
    with pytest.raises(ValueError, match="precomputed"):
        KernelPCA(2, kernel="precomputed", fit_inverse_transform=True).fit(X @ X.T)


def test_sparse_rows():
    rows = sp.random(60, 8, density=0.4, random_state=np.random.default_rng(0), format="csr")
    dense = KernelPCA(3, kernel="rbf").fit(rows.toarray())
    np.testing.assert_allclose(
        KernelPCA(3, kernel="rbf").fit(rows).transform(rows), dense.transform(rows.toarray()), atol=1e-9
    )


def test_what_is_not_positive_is_refused():
    with pytest.raises(ValueError, match="negative eigenvalues"):
        KernelPCA(kernel="precomputed").fit([[1.0, 5.0, 0.0], [5.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="negative eigenvalues"):
        KernelPCA(1, kernel="precomputed", eigen_solver="randomized").fit([[1.0, 5.0], [5.0, 1.0]])
    with pytest.raises(ValueError, match="square"):
        KernelPCA(kernel="precomputed").fit(X)


def test_equal_rows_have_no_components():
    same = np.ones((6, 2))
    assert KernelPCA().fit(same).transform(same).shape == (6, 0)
    assert (KernelPCA(2).fit(same).transform(same) == 0).all()
