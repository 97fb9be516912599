"""Isomap and its relatives against scikit-learn, against each other, and at the edges of what they take."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.manifold
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs, make_s_curve, make_swiss_roll
from sklearn.pipeline import make_pipeline

from hyperplan._core.memory import MemoryBudgetError
from hyperplan.manifold import (
    RISIMAP,
    CIsomap,
    ClassMaps,
    Isomap,
    Isostretch,
    LandmarkIsomap,
    SeparableCoordinates,
    SubsampledMap,
)
from hyperplan.manifold._scaling import CentredSquares, residual_variances, scale_classically
from hyperplan.metrics import residual_variance
from hyperplan.neighbors import KNeighborsClassifier


def check_same_map(a, b, tolerance=1e-7):
    """Columns agree up to sign; `tolerance` is relative to the largest coordinate."""
    signs = np.sign((a * b).sum(axis=0))
    np.testing.assert_allclose(a * signs, b, rtol=0, atol=tolerance * np.abs(b).max())


@pytest.fixture(scope="module")
def roll():
    return make_swiss_roll(500, random_state=0)[0]


@pytest.mark.parametrize("options", [{"n_neighbors": 8}, {"n_neighbors": None, "radius": 5.0}], ids=["k", "radius"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_map_is_scikit_learns(roll, options, dtype):
    X = roll.astype(dtype)
    ours, theirs = Isomap(**options).fit(X), sklearn.manifold.Isomap(**options).fit(X)
    assert ours.dist_matrix_.dtype == theirs.dist_matrix_.dtype == dtype
    # float64: the same sums, so the same lengths; eigenvectors to the tolerance of two iterations.  float32: 7 digits
    np.testing.assert_allclose(ours.dist_matrix_, theirs.dist_matrix_, rtol=1e-12 if dtype == np.float64 else 1e-6)
    loose = 1e-7 if dtype == np.float64 else 1e-4
    check_same_map(ours.embedding_, theirs.embedding_, loose)
    new = X[:20] + dtype(0.01)
    assert ours.transform(new).dtype == dtype
    check_same_map(ours.transform(new), theirs.transform(new), loose)
    # scikit-learn subtracts large sums in float32; ours are float64
    np.testing.assert_allclose(ours.reconstruction_error(), theirs.reconstruction_error(), rtol=10 * loose)
    np.testing.assert_allclose(ours.kernel_pca_.eigenvalues_, theirs.kernel_pca_.eigenvalues_, rtol=1e-6)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "cosine"])
def test_other_metrics_are_scikit_learns(metric):
    X = make_s_curve(150, random_state=1)[0] + 3.0
    ours, theirs = (kind(n_neighbors=10, metric=metric).fit(X) for kind in (Isomap, sklearn.manifold.Isomap))
    np.testing.assert_allclose(ours.dist_matrix_, theirs.dist_matrix_, rtol=1e-9, atol=1e-12)
    check_same_map(ours.embedding_, theirs.embedding_)


@pytest.mark.parametrize("kind", [Isomap, CIsomap, RISIMAP, LandmarkIsomap, Isostretch, SubsampledMap])
@pytest.mark.parametrize("options", [{}, {"n_neighbors": None, "radius": 0.6}], ids=["k", "radius"])
def test_rows_of_the_fit_keep_their_place(kind, options):
    X = make_s_curve(200, random_state=0)[0]
    X[7] = X[3]  # equal rows too
    y = (X[:, 0] > 0).astype(int)
    model = kind(Isomap(**options), random_state=0) if kind is SubsampledMap else kind(**options)
    model.set_params(**({"random_state": 0} if "random_state" in model.get_params() else {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Y = model.fit_transform(X, y)
    np.testing.assert_allclose(model.transform(X), Y, rtol=0, atol=1e-7 * np.abs(Y).max())
    np.testing.assert_allclose(Y[7], Y[3], rtol=0, atol=1e-9 * np.abs(Y).max())


@pytest.mark.parametrize("solver", ["dense", "arpack", "householder-ql", "givens-qr", "jacobi"])
def test_all_solvers_and_path_methods_agree(solver):
    X = make_s_curve(90, random_state=2)[0]
    expected = Isomap(n_neighbors=7).fit(X)
    for path_method in ("D", "FW"):
        found = Isomap(n_neighbors=7, eigen_solver=solver, path_method=path_method).fit(X)
        np.testing.assert_allclose(found.dist_matrix_, expected.dist_matrix_, rtol=1e-12)
        check_same_map(found.embedding_, expected.embedding_)
        assert found.certificate_.holds


def test_many_components_by_iteration_and_directly():
    X = np.random.default_rng(0).normal(size=(400, 12))
    direct, iterated = (Isomap(n_components=20, eigen_solver=s).fit(X) for s in ("dense", "arpack"))
    values = direct.kernel_pca_.eigenvalues_
    np.testing.assert_allclose(iterated.kernel_pca_.eigenvalues_, values, rtol=1e-8)
    check_same_map(iterated.embedding_, direct.embedding_, 1e-6)


def test_scaling_and_its_certificate_against_the_whole_matrix():
    X = np.random.default_rng(1).normal(size=(350, 5))
    distances = cdist(X, X)
    H = np.eye(350) - 1 / 350
    B = -0.5 * H @ distances**2 @ H
    operator = CentredSquares(distances)
    np.testing.assert_allclose(operator.matrix(), B, atol=1e-11)
    np.testing.assert_allclose(operator.squared_norm(), (B**2).sum(), rtol=1e-12)
    block = np.random.default_rng(2).normal(size=(350, 3))
    np.testing.assert_allclose(operator.times(block), B @ block, atol=1e-10)
    found = scale_classically(distances, 5)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(B)[::-1][:5], rtol=1e-10)
    np.testing.assert_allclose(cdist(found.coordinates, found.coordinates), distances, atol=1e-8)
    assert found.residual < 1e-9


def test_residual_variances_are_those_of_the_metric():
    X = make_swiss_roll(300, random_state=1)[0]
    model = Isomap(n_neighbors=8, n_components=3).fit(X)
    expected = [residual_variance(model.dist_matrix_, model.embedding_[:, :d], metric="precomputed") for d in (1, 2, 3)]
    np.testing.assert_allclose(model.residual_variance_, expected, atol=1e-10)
    np.testing.assert_allclose(residual_variances(model.dist_matrix_, model.embedding_, n_jobs=1), expected, atol=1e-10)
    assert model.certificate_.details["residual variance"] == model.residual_variance_[-1]


@pytest.mark.parametrize("solver", ["auto", "dense", "arpack"])
def test_threads_change_no_bit(roll, solver):
    one, three = (Isomap(n_neighbors=8, eigen_solver=solver, n_jobs=jobs).fit(roll) for jobs in (1, 3))
    assert np.array_equal(one.embedding_, three.embedding_)
    assert np.array_equal(one.transform(roll[:70] + 0.1), three.transform(roll[:70] + 0.1))


def test_sparse_rows_and_given_distances_are_the_same_map():
    X = np.abs(np.random.default_rng(3).normal(size=(120, 4)))
    expected = Isomap().fit(X)
    check_same_map(Isomap().fit_transform(sp.csr_array(X)), expected.embedding_)
    given = Isomap(metric="precomputed").fit(cdist(X, X))
    check_same_map(given.embedding_, expected.embedding_)
    check_same_map(given.transform(cdist(X[:9] + 0.1, X)), expected.transform(X[:9] + 0.1))


def test_a_graph_in_pieces_is_joined_as_scikit_learn_does_and_says_so():
    X = make_blobs(90, centers=4, cluster_std=0.5, random_state=0)[0]
    with pytest.warns(UserWarning, match="number of connected components of the neighbors graph is"):
        ours = Isomap(n_neighbors=4).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = sklearn.manifold.Isomap(n_neighbors=4).fit(X)
    np.testing.assert_allclose(ours.dist_matrix_, theirs.dist_matrix_, rtol=1e-12)
    count = ours.graph_.n_connected_components_
    assert len(ours.bridges_) == count * (count - 1) // 2 > 0
    assert ours.certificate_.details["bridges"] == len(ours.bridges_)
    graph = ours.nbrs_.kneighbors_graph(mode="distance")
    for kind in (Isomap, RISIMAP):
        with pytest.raises(RuntimeError, match="number of connected components"):
            kind(n_neighbors=3, metric="precomputed").fit(graph)


def test_memory_is_asked_for_before_it_is_taken(monkeypatch):
    monkeypatch.setenv("HYPERPLAN_MEMORY_BUDGET", "5e6")
    X = np.random.default_rng(0).uniform(size=(1000, 2))
    with pytest.raises(MemoryBudgetError, match="LandmarkIsomap"):
        Isomap().fit(X)
    assert LandmarkIsomap(n_neighbors=8, n_landmarks=20, random_state=0).fit(X).embedding_.shape == (1000, 2)


# ---------------------------------------------------------------- landmarks


@pytest.mark.parametrize("landmarks", ["maxmin", "random", "clusters", "listed"])
def test_landmarks_give_nearly_the_whole_map(roll, landmarks):
    whole = Isomap(n_neighbors=10).fit(roll)
    chosen = np.arange(0, 500, 8) if landmarks == "listed" else landmarks
    model = LandmarkIsomap(n_neighbors=10, n_landmarks=60, landmarks=chosen, random_state=0).fit(roll)
    assert model.geodesics_.shape == (500, 63 if landmarks == "listed" else 60)
    for a, b in zip(model.embedding_.T, whole.embedding_.T):
        assert abs(np.corrcoef(a, b)[0, 1]) > (0.95 if landmarks == "random" else 0.99)
    if landmarks != "clusters":
        np.testing.assert_array_equal(model.geodesics_, whole.dist_matrix_[model.landmarks_].T)


def test_all_rows_as_landmarks_are_isomap(roll):
    model = LandmarkIsomap(n_neighbors=9, landmarks=np.arange(500)).fit(roll)
    check_same_map(model.embedding_, Isomap(n_neighbors=9).fit(roll).embedding_)


def test_farthest_landmarks_spread_and_seeds_repeat():
    X = np.random.default_rng(5).uniform(size=(300, 2))
    spread = LandmarkIsomap(n_landmarks=12, random_state=0).fit(X)
    drawn = LandmarkIsomap(n_landmarks=12, landmarks="random", random_state=0).fit(X)
    assert spread.geodesics_.min(axis=1).max() < drawn.geodesics_.min(axis=1).max()
    again = LandmarkIsomap(n_landmarks=12, random_state=0, n_jobs=1).fit(X)
    assert np.array_equal(again.embedding_, spread.embedding_)


def test_landmarks_that_are_no_rows_are_refused():
    X = np.random.default_rng(6).uniform(size=(50, 2))
    for bad in ([0, 0, 1], [50], [-1, 2], [0.5], []):
        with pytest.raises(ValueError, match="landmarks"):
            LandmarkIsomap(landmarks=bad).fit(X)


# ---------------------------------------------------------------- conformal map


def test_conformal_map_undoes_an_uneven_stretch():
    """A flat sheet of even spacing under z -> exp(z): Isomap sees the stretched one, the conformal map does not."""
    rng = np.random.default_rng(7)
    flat = rng.uniform([0.0, 0.0], [2.0, 2.0], size=(900, 2))
    stretched = np.exp(flat[:, 0])[:, None] * np.column_stack([np.cos(flat[:, 1]), np.sin(flat[:, 1])])
    errors = {}
    for kind in (Isomap, CIsomap):
        distances = kind(n_neighbors=12).fit(stretched).dist_matrix_
        errors[kind] = 1 - np.corrcoef(distances.ravel(), cdist(flat, flat).ravel())[0, 1] ** 2
    assert errors[CIsomap] < 0.02 < 0.1 < errors[Isomap]


# ---------------------------------------------------------------- labels beside maps


def test_separable_coordinates_find_the_classes():
    rng = np.random.default_rng(8)
    y = rng.integers(3, size=200)
    X = rng.normal(size=(200, 8)) * 5.0
    X[:, 5] += 20.0 * (y == 1)
    X[:, 2] += 20.0 * (y == 2)
    for criterion in ("knn", "fisher"):
        model = SeparableCoordinates(2, criterion=criterion).fit(X, y)
        assert set(model.selected_.tolist()) == {2, 5}
        np.testing.assert_array_equal(model.transform(X), X[:, model.selected_])
    hidden = np.where(np.arange(200) < 100, y, -1)
    other = np.where(np.arange(200)[:, None] < 100, X, rng.permuted(X, axis=0))
    for table in (X, other):  # rows without a label have no say
        assert SeparableCoordinates(2).fit(table, hidden).selected_.tolist() == model_order(X[:100], y[:100])
    with pytest.raises(ValueError, match="two rows with a known label"):
        SeparableCoordinates().fit(X, np.full(200, -1))


def model_order(X, y):
    return SeparableCoordinates(2).fit(X, y).selected_.tolist()


def test_one_map_for_each_class():
    X, y = make_blobs(150, centers=3, n_features=4, random_state=0)
    words = np.array(["a", "b", "c"], dtype=object)[y]
    model = ClassMaps(Isomap(n_components=2)).fit(X, words)
    assert model.transform(X).shape == (150, 6) and list(model.classes_) == ["a", "b", "c"]
    own = Isomap(n_components=2).fit(X[y == 1])
    check_same_map(model.transform(X)[y == 1][:, 2:4], own.embedding_)
    assert len(model.get_feature_names_out()) == 6
    with pytest.warns(UserWarning, match="n_neighbors=3"):
        ClassMaps(Isomap(n_components=1)).fit(X[y == 0][:40], np.r_[np.zeros(36), np.ones(4)])
    with pytest.raises(ValueError, match="a map needs three"):
        ClassMaps().fit(X[:20], np.r_[np.zeros(19), 1])


@pytest.mark.parametrize("choice", ["random", "stratified", "clusters"])
def test_a_map_of_a_sample_places_all_rows(choice):
    X = make_s_curve(500, random_state=0)[0]
    y = (X[:, 1] > 1.5).astype(int)
    model = SubsampledMap(Isomap(n_neighbors=8), n_samples=250, choice=choice, random_state=0).fit(X, y)
    whole = Isomap(n_neighbors=10).fit_transform(X)
    for a, b in zip(model.embedding_.T, whole.T):
        assert abs(np.corrcoef(a, b)[0, 1]) > 0.97
    if choice == "stratified":
        assert abs(y[model.sample_].sum() - y.sum() / 2) <= 1


def test_maps_in_front_of_a_classifier():
    X, along = make_s_curve(200, random_state=1)
    y = np.digitize(along, [-1.5, 1.5])
    for step in (Isomap(), CIsomap(), RISIMAP(), Isostretch(), LandmarkIsomap(random_state=0)):
        model = make_pipeline(step, KNeighborsClassifier()).fit(X[:150], y[:150])
        assert model.score(X[150:], y[150:]) > 0.9


# ---------------------------------------------------------------- edges


@pytest.mark.parametrize("kind", [Isomap, CIsomap, RISIMAP, Isostretch, LandmarkIsomap])
def test_too_few_rows_are_an_error_that_says_so(kind):
    for n in (1, 5):
        with pytest.raises(ValueError, match="n_neighbors"):
            kind().fit(np.arange(float(n))[:, None])


@pytest.mark.parametrize("kind", [Isomap, RISIMAP])
def test_more_components_than_the_rows_have_dimensions(kind):
    X = np.arange(12.0)[:, None]
    with pytest.warns(UserWarning, match="n_components=3, but only 1 eigenvalue"):
        Y = kind(n_neighbors=3, n_components=3).fit_transform(X)
    assert Y.shape == (12, 1)
    np.testing.assert_allclose(np.abs(np.diff(Y[:, 0])), 1.0)


@pytest.mark.filterwarnings("ignore")
def test_equal_rows():
    """All equal: one coordinate, zero.  Many equal ones: those of scikit-learn, and RISIMAP sees each once."""
    same = np.ones((10, 3))
    Y = Isomap(n_neighbors=3).fit_transform(same)
    assert Y.shape == (10, 1) and not Y.any()
    with pytest.raises(ValueError, match="of which 1 are different"):
        RISIMAP(n_neighbors=3).fit(same)
    X = np.repeat(np.random.default_rng(9).normal(size=(15, 2)), 4, axis=0)
    ours, theirs = Isomap(n_neighbors=6).fit(X), sklearn.manifold.Isomap(n_neighbors=6).fit(X)
    assert np.isfinite(ours.embedding_).all() and np.isfinite(theirs.embedding_).all()
    model = RISIMAP(n_neighbors=4).fit(X)
    assert model.dist_matrix_.shape == (15, 15) and model.embedding_.shape == (60, 2)
    check_same_map(model.embedding_[::4], RISIMAP(n_neighbors=4).fit(X[::4]).embedding_)


@pytest.mark.filterwarnings("ignore")
def test_isolated_rows_and_empty_balls():
    X = np.array([[0.0], [1.0], [2.0], [50.0], [99.0]])
    model = RISIMAP(n_neighbors=None, radius=1.0, n_components=1).fit(X)
    assert model.bridges_.tolist() == [[2, 3], [3, 4]] or sorted(model.bridges_.tolist()) == [[2, 3], [3, 4]]
    np.testing.assert_allclose(np.diff(model.embedding_[:, 0]) * np.sign(model.embedding_[-1, 0]), np.diff(X[:, 0]))
    far = model.transform([[200.0]])[0, 0] * np.sign(model.embedding_[-1, 0])
    np.testing.assert_allclose(far - np.abs(model.embedding_[-1, 0]), 101.0)
    lonely = RISIMAP(n_neighbors=None, radius=0.1, n_components=1).fit(X)  # no edges at all: a spanning tree
    assert len(lonely.bridges_) == 4 and lonely.graph_.graph_.nnz == 0


def test_distances_that_are_no_metric_have_negative_eigenvalues():
    """Random numbers are no distances: their geodesics are, but not Euclidean; what exists is returned."""
    rng = np.random.default_rng(10)
    raw = rng.uniform(size=(30, 30))
    raw = np.triu(raw, 1) + np.triu(raw, 1).T
    with pytest.warns(UserWarning, match="eigenvalue"):
        model = Isomap(n_neighbors=10, n_components=30, metric="precomputed").fit(raw)
    assert 2 <= model.embedding_.shape[1] < 30
    A = model.dist_matrix_
    assert (A[:, :, None] + A[None] >= A[:, None] - 1e-12).all()


def test_constant_columns_and_one_column_change_nothing():
    X = np.random.default_rng(11).normal(size=(60, 2))
    wide = np.column_stack([X, np.full(60, 7.0)])
    check_same_map(Isomap().fit_transform(wide), Isomap().fit_transform(X), 1e-9)


def test_bad_values_are_located():
    X = np.random.default_rng(12).normal(size=(30, 3))
    X[4, 1] = np.nan
    for kind in (Isomap, RISIMAP, Isostretch, LandmarkIsomap):
        with pytest.raises(ValueError, match="row 4, column 1"):
            kind().fit(X)
    model = RISIMAP().fit(np.nan_to_num(X))
    with pytest.raises(ValueError, match="features"):
        model.transform(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="Both n_neighbors and radius"):
        RISIMAP(5, 1.0).fit(X)


def test_labels_of_the_wrong_kind_are_refused():
    X = np.random.default_rng(13).normal(size=(30, 3))
    with pytest.raises(ValueError, match="Unknown label type"):
        Isostretch().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        Isostretch().fit(X, [0, 1])
