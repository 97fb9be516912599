"""Classical scaling and Procrustes: identities and errata (P4, P5, T51, T52, E104, E105, E106, AM13, V17)."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist, squareform

from hyperplan.decomposition import PCA
from hyperplan.manifold import ClassicalMDS, procrustes
from hyperplan.metrics import explained_variance_ratio

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4)) @ np.diag([3.0, 2.0, 1.0, 0.5])
D = squareform(pdist(X))
CENTRED = X - X.mean(axis=0)
H = np.eye(30) - 1.0 / 30


def test_T51_the_centred_matrix_is_that_of_inner_products():
    B = -0.5 * H @ D**2 @ H
    np.testing.assert_allclose(B, CENTRED @ CENTRED.T, atol=1e-12)
    model = ClassicalMDS(4, metric="precomputed").fit(D)
    np.testing.assert_allclose(model.eigenvalues_, 29 * PCA().fit(X).explained_variance_)


def test_P4_distances_are_kept_and_motions_change_nothing():
    model = ClassicalMDS(4, metric="precomputed").fit(D)
    np.testing.assert_allclose(squareform(pdist(model.embedding_)), D, atol=1e-10)
    turn = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
    moved = ClassicalMDS(4).fit(X @ turn + 5.0)
    np.testing.assert_allclose(moved.embedding_, model.embedding_, atol=1e-9)


def test_P4_ratio_is_of_the_positive_eigenvalues():
    manhattan = squareform(pdist(X, "cityblock"))
    values = np.linalg.eigvalsh(-0.5 * H @ manhattan**2 @ H)[::-1]
    model = ClassicalMDS(2, metric="precomputed").fit(manhattan)
    assert values[-1] < 0
    assert model.kept_ratio_ == pytest.approx(values[:2].sum() / values[values > 0].sum())
    assert model.kept_ratio_ == pytest.approx(explained_variance_ratio(values)[:2].sum())


def test_E104_the_mean_of_all_is_over_n_squared():
    """With the sum in its place the centred matrix is not that of inner products."""
    A = -0.5 * D**2
    rows, columns = A.mean(axis=1)[:, None], A.mean(axis=0)
    np.testing.assert_allclose(A - rows - columns + A.mean(), CENTRED @ CENTRED.T, atol=1e-12)
    assert np.abs(A - rows - columns + A.sum() - CENTRED @ CENTRED.T).max() > 100


def test_E105_distances_have_a_negative_eigenvalue_and_B_has_not():
    assert np.linalg.eigvalsh(D)[0] < -1.0  # the trace is zero
    B = -0.5 * H @ D**2 @ H
    values = np.linalg.eigvalsh(B)
    assert values[0] > -1e-10 and (values > 1e-9).sum() == 4  # rank min(D, n - 1)
    wrong = np.linalg.eigvalsh(-0.5 * H @ D @ H)  # without the squares: other coordinates
    assert not np.allclose(wrong[-4:], values[-4:])


def test_E106_duality_of_the_two_eigenvalue_problems():
    values, vectors = np.linalg.eigh(CENTRED @ CENTRED.T)
    value, v = values[-1], vectors[:, -1]
    covariance = CENTRED.T @ CENTRED / 29
    assert value == pytest.approx(29 * np.linalg.eigvalsh(covariance)[-1])
    assert np.linalg.norm(CENTRED.T @ v) ** 2 == pytest.approx(value)
    axis = CENTRED.T @ v / np.sqrt(value)
    np.testing.assert_allclose(np.abs(CENTRED @ axis), np.abs(ClassicalMDS(1).fit_transform(X)[:, 0]), atol=1e-10)


def test_T52_new_points_keep_their_distances():
    """Training points are reproduced, a new point in the space of the coordinates keeps all its distances."""
    plane = X[:, :2]
    distances = squareform(pdist(plane))
    model = ClassicalMDS(2, metric="precomputed").fit(distances)
    np.testing.assert_allclose(model.transform(distances), model.embedding_, atol=1e-12)
    new = RNG.normal(size=(5, 2))
    np.testing.assert_allclose(
        cdist(model.transform(cdist(new, plane)), model.embedding_), cdist(new, plane), atol=1e-12
    )


def test_T52_the_placement_is_the_formula_of_landmarks():
    """Gower's formula is ``-1/2 L# (d^2 - mean d^2)`` with the rows ``v_p / sqrt(lambda_p)`` of L#."""
    model = ClassicalMDS(2, metric="precomputed").fit(D)
    new = RNG.normal(size=(3, 4))
    inverse = (model.embedding_ / model.eigenvalues_).T
    expected = -0.5 * (cdist(new, X) ** 2 - (D**2).mean(axis=0)) @ inverse.T
    np.testing.assert_allclose(model.transform(cdist(new, X)), expected, atol=1e-12)


def test_AM13_only_positive_eigenvalues_are_kept():
    manhattan = squareform(pdist(X[:12], "cityblock"))
    centre = np.eye(12) - 1.0 / 12
    positive = int((np.linalg.eigvalsh(-0.5 * centre @ manhattan**2 @ centre) > 1e-9).sum())
    with pytest.warns(UserWarning, match=f"only {positive} positive"):
        model = ClassicalMDS(12, metric="precomputed").fit(manhattan)
    assert model.embedding_.shape == (12, positive) and np.isfinite(model.embedding_).all()


@pytest.mark.parametrize("scaling", [True, False])
def test_P5_the_optimum_is_found(scaling):
    """Whatever orthogonal matrix, scale and shift one tries, the rest is not smaller."""
    A, B = RNG.normal(size=(20, 3)), RNG.normal(size=(20, 3))
    best = procrustes(A, B, scaling=scaling)
    np.testing.assert_allclose(best.rotation @ best.rotation.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(best(B), best.aligned, atol=1e-12)
    left = ((A - best.aligned) ** 2).sum()
    assert best.disparity == pytest.approx(left / ((A - A.mean(axis=0)) ** 2).sum())
    for _ in range(200):
        turn = np.linalg.qr(best.rotation + 0.1 * RNG.normal(size=(3, 3)))[0]
        scale = best.scale * (1.0 + 0.1 * RNG.normal()) if scaling else 1.0
        moved = scale * B @ turn
        assert ((A - A.mean(axis=0) - moved + moved.mean(axis=0)) ** 2).sum() >= left - 1e-9


def test_P5_motions_are_undone_and_scales_if_asked():
    turn = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
    moved = 2.5 * X @ turn - 3.0
    back = procrustes(X, moved)
    np.testing.assert_allclose(back.aligned, X, atol=1e-10)
    assert back.scale == pytest.approx(0.4) and back.disparity < 1e-20
    rigid = procrustes(X, moved, scaling=False)
    assert rigid.scale == 1.0 and rigid.disparity == pytest.approx(1.5**2)


def test_P5_reflections_can_be_refused():
    mirrored = X * [-1.0, 1.0, 1.0, 1.0]
    assert procrustes(X, mirrored).disparity < 1e-20
    proper = procrustes(X, mirrored, reflection=False)
    assert proper.disparity > 0.01 and np.linalg.det(proper.rotation) == pytest.approx(1.0)


def test_P5_edges():
    assert procrustes(X, np.ones((30, 4))).disparity == pytest.approx(1.0)  # one point cannot follow
    assert procrustes(np.ones((3, 2)), np.zeros((3, 2))).disparity == 0.0
    line = procrustes(X[:, :2], X[:, :1])  # filled up with zeros
    assert line.aligned.shape == (30, 2)
    for A, B in ((X, X[:5]), (X[:, :2], X)):
        with pytest.raises(ValueError, match="Rows must correspond"):
            procrustes(A, B)


def test_V17_signs_are_fixed():
    np.testing.assert_allclose(ClassicalMDS().fit_transform(-X), ClassicalMDS().fit_transform(X), atol=1e-10)
    embedding = ClassicalMDS(metric="precomputed").fit_transform(D)
    assert (embedding[np.abs(embedding).argmax(axis=0), [0, 1]] > 0).all()
