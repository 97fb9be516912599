"""Multidimensional scaling against scikit-learn, against its definition, and at the edges."""

import warnings

import numpy as np
import pytest
import sklearn.manifold
from scipy.spatial.distance import cdist, pdist, squareform

import hyperplan
from hyperplan.decomposition import PCA, KernelPCA
from hyperplan.manifold import MDS, ClassicalMDS, procrustes, smacof
from hyperplan.manifold._mds_scaling import SOLVERS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)) @ np.diag([3.0, 2.0, 1.0, 0.5, 0.2])
D = squareform(pdist(X))


def up_to_signs(found, expected, **tolerance):
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found * signs, expected, **tolerance)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "chebyshev"])
def test_classical_scaling_is_scikit_learns(metric):
    ours, theirs = ClassicalMDS(3, metric=metric).fit(X), sklearn.manifold.ClassicalMDS(3, metric=metric).fit(X)
    # both ask LAPACK for eigenvectors of matrices that differ by rounding
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(ours.embedding_, theirs.embedding_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.dissimilarity_matrix_, theirs.dissimilarity_matrix_, atol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
def test_all_eigen_solvers_agree(solver):
    expected = ClassicalMDS(2, metric="precomputed", eigen_solver="dense").fit(D)
    found = ClassicalMDS(2, metric="precomputed", eigen_solver=solver).fit(D)
    np.testing.assert_allclose(found.embedding_, expected.embedding_, atol=1e-8)
    assert found.certificate_.holds


def test_pca_is_classical_scaling_is_kernel_pca_with_a_linear_kernel():
    """The identity: one table of coordinates, three ways."""
    scaled = ClassicalMDS(3, metric="precomputed").fit(D)
    components = PCA(3).fit(X)
    up_to_signs(components.transform(X), scaled.embedding_, atol=1e-9)
    up_to_signs(KernelPCA(3, kernel="linear").fit_transform(X), scaled.embedding_, atol=1e-9)
    np.testing.assert_allclose(scaled.eigenvalues_, (len(X) - 1) * components.explained_variance_)


def test_rows_and_distances_give_the_same_model():
    rows, distances = ClassicalMDS(2).fit(X), ClassicalMDS(2, metric="precomputed").fit(D)
    new = RNG.normal(size=(7, 5))
    np.testing.assert_allclose(rows.embedding_, distances.embedding_, atol=1e-9)
    np.testing.assert_allclose(rows.transform(new), distances.transform(cdist(new, X)), atol=1e-9)
    assert rows.kept_ratio_ == pytest.approx(distances.kept_ratio_)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "seuclidean", "mahalanobis", "minkowski"])
def test_training_rows_come_back_to_where_they_are(metric):
    model = ClassicalMDS(2, metric=metric, metric_params={"p": 3} if metric == "minkowski" else None)
    np.testing.assert_allclose(model.fit_transform(X), model.transform(X), atol=1e-9)


def test_blocks_of_distances_in_threads_give_the_same_bits():
    points = RNG.normal(size=(700, 3))
    found = []
    for n_jobs in (1, 2, 3):
        with hyperplan.thread_limit(n_jobs):
            model = ClassicalMDS(2, metric="manhattan", eigen_solver="krylov").fit(points)
            found.append(model.embedding_.tobytes() + model.transform(points[:9]).tobytes())
    assert len(set(found)) == 1


def test_iterations_on_many_rows_agree_with_lapack():
    points = RNG.normal(size=(600, 3))
    iterated = ClassicalMDS(2, metric="manhattan").fit(points)
    direct = ClassicalMDS(2, metric="manhattan", eigen_solver="dense").fit(points)
    np.testing.assert_allclose(iterated.eigenvalues_, direct.eigenvalues_, rtol=1e-9)
    up_to_signs(iterated.embedding_, direct.embedding_, atol=1e-6)
    details, exact = iterated.certificate_.details, direct.certificate_.details
    # Ritz values lie inside the spectrum, and the trace is the positive sum less the negative one
    assert exact["lowest eigenvalue"] <= details["lowest eigenvalue"] < 0.0
    assert details["positive sum"] == pytest.approx(exact["positive sum"] - exact["negative sum"])
    assert direct.kept_ratio_ <= iterated.kept_ratio_
    assert details["strain"] == pytest.approx(exact["strain"])


def test_more_components_than_rank_warns_and_returns_what_exists():
    flat = np.column_stack([X[:, :2], X[:, 0] + X[:, 1]])
    for model in (ClassicalMDS(4), ClassicalMDS(4, eigen_solver="dense")):
        with pytest.warns(UserWarning, match="only 2 positive eigenvalues"):
            model.fit(flat)
        assert model.embedding_.shape == (60, 2) and model.transform(flat[:3]).shape == (3, 2)
        assert list(model.get_feature_names_out()) == ["classicalmds0", "classicalmds1"]
    assert model.kept_ratio_ == pytest.approx(1.0)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_equal_points_have_one_coordinate_of_zeros(n):
    with pytest.warns(UserWarning, match="only 0 positive"):
        model = ClassicalMDS().fit(np.ones((n, 3)))
    assert (model.embedding_ == 0.0).all() and model.embedding_.shape == (n, 1)
    assert np.isfinite(model.transform([[1.0, 2.0, 3.0]])).all()


def test_one_dimension_and_duplicates():
    line = np.array([[0.0], [1.0], [1.0], [4.0]])
    found = ClassicalMDS(1).fit_transform(line)
    np.testing.assert_allclose(np.abs(found - found[0])[:, 0], line[:, 0])


def test_distances_that_are_not_metric_are_reported():
    """No points have distances 1, 1 and 3: the triangle does not close, and B has a negative eigenvalue."""
    broken = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [3.0, 1.0, 0.0]])
    with pytest.warns(UserWarning, match="positive eigenvalues"):
        model = ClassicalMDS(2, metric="precomputed").fit(broken)
    values = np.linalg.eigvalsh(-0.5 * (np.eye(3) - 1 / 3) @ broken**2 @ (np.eye(3) - 1 / 3))
    details = model.certificate_.details
    assert details["lowest eigenvalue"] == pytest.approx(values[0]) and details["lowest eigenvalue"] < 0
    assert details["negative sum"] == pytest.approx(-values[values < 0].sum())
    assert "not Euclidean" in str(model.certificate_)


@pytest.mark.parametrize(
    "bad, message",
    [
        ([[0.0, 1.0], [2.0, 0.0]], "must be symmetric"),
        ([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0]], "2-dimensional and square"),
        ([[0.0, -1.0], [-1.0, 0.0]], "row 0, column 1"),
        ([[1.0, 2.0], [2.0, 0.0]], "row 0 is at distance 1 of itself"),
        ([[0.0, np.nan], [np.nan, 0.0]], "NaN"),
    ],
)
def test_bad_distances_are_named(bad, message):
    for model in (ClassicalMDS(metric="precomputed"), MDS(metric="precomputed", init="random")):
        with pytest.raises(ValueError, match=message):
            model.fit(np.array(bad))


def test_bad_queries_are_named():
    model = ClassicalMDS(metric="precomputed").fit(D)
    with pytest.raises(ValueError, match="negative"):
        model.transform(-D[:2])
    with pytest.raises(ValueError, match="features"):
        model.transform(D[:2, :5])
    with pytest.raises(AttributeError, match="before fit"):
        ClassicalMDS().dissimilarity_matrix_  # noqa: B018


@pytest.mark.parametrize("steps", [1, 2, 5, 20])
@pytest.mark.parametrize("metric", [True, False])
def test_steps_are_scikit_learns(steps, metric):
    """From one start, step by step: the formulas are the same, so is all but rounding."""
    options = {"metric": metric, "max_iter": steps, "eps": 0.0, "init": RNG.normal(size=(60, 2))}
    points, stress = smacof(D, **options)
    expected, expected_stress = sklearn.manifold.smacof(D, **options)
    np.testing.assert_allclose(points, expected, rtol=1e-6, atol=1e-8)
    assert stress == pytest.approx(expected_stress, rel=1e-7)


@pytest.mark.parametrize("normalized", [True, False, "auto"])
@pytest.mark.parametrize("metric", [True, False])
def test_runs_end_where_scikit_learns_do(metric, normalized):
    options = {"metric": metric, "n_init": 2, "random_state": 3, "normalized_stress": normalized, "eps": 1e-5}
    points, stress, n_iter = smacof(D, return_n_iter=True, max_iter=500, **options)
    expected, expected_stress, steps = sklearn.manifold.smacof(D, return_n_iter=True, max_iter=500, **options)
    assert n_iter == steps and stress == pytest.approx(expected_stress, rel=1e-5)
    np.testing.assert_allclose(points, expected, atol=1e-3)


def test_ties_and_missing_values_of_the_ordinal_form():
    whole = np.round(D * 2)
    np.fill_diagonal(whole, 0.0)
    whole[3, 7] = whole[7, 3] = 0.0
    options = {"metric": False, "max_iter": 6, "eps": 0.0, "init": RNG.normal(size=(60, 2))}
    np.testing.assert_allclose(
        smacof(whole, **options)[0], sklearn.manifold.smacof(whole, **options)[0], rtol=1e-5, atol=1e-7
    )


def test_the_stress_never_rises():
    start = RNG.normal(size=(60, 2))
    stresses = [smacof(D, init=start, max_iter=steps, eps=0.0)[1] for steps in range(1, 12)]
    assert (np.diff(stresses) < 0).all()
    points, stress = smacof(D, init=start, max_iter=5, eps=0.0)
    assert stress == pytest.approx(((pdist(points) - pdist(X)) ** 2).sum())


def test_coincident_points_do_no_harm():
    start = np.zeros((60, 2))
    start[0, 0] = 1.0
    points, stress = smacof(D, init=start)
    assert np.isfinite(points).all() and np.isfinite(stress)
    everything, stress = smacof(np.zeros((4, 4)), random_state=0)
    assert stress == 0.0 and np.ptp(everything, axis=0).max() == 0.0


@pytest.mark.parametrize("metric_mds", [True, False])
def test_new_rows_go_where_their_distances_fit(metric_mds):
    plane = RNG.normal(size=(50, 2))
    model = MDS(init="classical_mds", metric_mds=metric_mds, max_iter=2000, eps=1e-12).fit(plane)
    new = RNG.normal(size=(8, 2))
    placed = model.transform(new)
    alignment = procrustes(model.embedding_, plane)
    # the ordinal form knows distances only by the steps of an increasing function
    np.testing.assert_allclose(placed, alignment(new), atol=1e-6 if metric_mds else 0.1)
    assert (model.transform(plane) == model.embedding_).all()


def test_a_new_row_is_at_a_minimum():
    model = MDS(2, init="classical_mds").fit(X)
    new = RNG.normal(size=(1, 5))
    wanted = cdist(new, X)[0]

    def misfit(point):
        return ((np.linalg.norm(model.embedding_ - point, axis=1) - wanted) ** 2).sum()

    best = model.transform(new)[0]
    around = [best + 0.01 * np.array([np.cos(t), np.sin(t)]) for t in np.linspace(0, 6.28, 12)]
    assert misfit(best) < min(map(misfit, around))


def test_precomputed_distances_of_new_rows():
    model = MDS(metric="precomputed", init="classical_mds").fit(D)
    plain = MDS(init="classical_mds").fit(X)
    new = RNG.normal(size=(3, 5))
    np.testing.assert_allclose(model.transform(cdist(new, X)), plain.transform(new), atol=1e-7)


def test_starts_and_warnings():
    with pytest.warns(FutureWarning, match="default value of `init`"):
        MDS(random_state=0).fit(X)
    with pytest.warns(UserWarning, match="performing only one init"):
        smacof(D, init=np.zeros((60, 2)) + X[:, :2], n_init=3)
    with pytest.raises(ValueError, match="init matrix should be of shape"):
        smacof(D, init=np.zeros((5, 2)))
    with pytest.warns(UserWarning, match="square matrix"):
        MDS(init="random", random_state=0, max_iter=1000).fit(X[:5])
    with pytest.warns(sklearn.exceptions.ConvergenceWarning, match="raise max_iter"):
        assert not MDS(init="random", random_state=0, max_iter=2).fit(X).certificate_.holds
    with pytest.raises(ValueError, match="at least one dissimilarity"):
        smacof(np.zeros((4, 4)), metric=False)


def test_a_better_start_needs_fewer_steps():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = MDS(init="random", random_state=0).fit(X)
        given = MDS(init="classical_mds").fit(X)
    assert given.n_iter_ < drawn.n_iter_ and given.certificate_.holds
    assert given.stress_ <= 1.01 * drawn.stress_


def test_more_coordinates_than_classical_scaling_has():
    flat = RNG.normal(size=(20, 1))
    assert MDS(3, init="classical_mds").fit_transform(flat).shape == (20, 3)
