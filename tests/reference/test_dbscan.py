"""DBSCAN against scikit-learn: the same labels and core points, whatever the search, the metric and the weights."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster
from scipy.spatial.distance import cdist

import hyperplan
from hyperplan.cluster import DBSCAN, dbscan
from hyperplan.cluster._dbscan_grid import cluster_on_grid
from hyperplan.cluster._dbscan_space import equal_rows

RADIUS = {1: 0.02, 2: 0.25, 3: 0.5, 4: 0.9, 7: 1.4}


def clouds(d, n=150, seed=0):
    """Two clouds and noise, shuffled."""
    rng = np.random.default_rng(seed)
    X = np.vstack([0.5 * rng.normal(size=(n, d)), 3 + 0.5 * rng.normal(size=(n, d)), rng.uniform(-3, 6, size=(n, d))])
    return X[rng.permutation(len(X))]


def agree(ours, theirs):
    """Labels are integers: no tolerance."""
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_array_equal(ours.core_sample_indices_, theirs.core_sample_indices_)


@pytest.mark.parametrize("algorithm", ["auto", "kd_tree", "ball_tree", "brute"])
@pytest.mark.parametrize("d", RADIUS)
def test_labels_are_those_of_scikit_learn(d, algorithm):
    X, rng = clouds(d), np.random.default_rng(1)
    for weight in (None, rng.integers(0, 4, len(X)).astype(float), rng.normal(size=len(X)) + 1.0):
        theirs = sklearn.cluster.DBSCAN(eps=RADIUS[d], min_samples=6).fit(X, sample_weight=weight)
        ours = DBSCAN(eps=RADIUS[d], min_samples=6, algorithm=algorithm).fit(X, sample_weight=weight)
        agree(ours, theirs)
        np.testing.assert_array_equal(ours.components_, theirs.components_)
        np.testing.assert_array_equal(ours.predict(X), ours.labels_)
    assert ours.labels_.max() > 0


METRICS = {
    "manhattan": {}, "chebyshev": {}, "minkowski": {"p": 3}, "seuclidean": {"metric_params": {"V": [1.0, 4.0]}},
    "cosine": {"eps": 0.002}, "canberra": {}, "sqeuclidean": {}, "correlation": {"eps": 1e-9}, "l1": {},
    "mahalanobis": {"metric_params": {"VI": np.array([[2.0, 0.5], [0.5, 1.0]])}},
}  # fmt: skip


@pytest.mark.parametrize("metric", METRICS)
def test_any_metric(metric):
    X = clouds(2, n=80)
    options = {"eps": 0.3, "min_samples": 5, "metric": metric, **METRICS[metric]}
    ours, theirs = DBSCAN(**options).fit(X), sklearn.cluster.DBSCAN(**options).fit(X)
    agree(ours, theirs)
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)


def test_great_circles_and_functions():
    X = np.radians(np.random.default_rng(2).uniform(-20, 20, size=(300, 2)))
    for algorithm in ("auto", "ball_tree", "brute"):
        options = {"eps": 0.03, "min_samples": 4, "metric": "haversine", "algorithm": algorithm}
        ours, theirs = DBSCAN(**options).fit(X), sklearn.cluster.DBSCAN(**options).fit(X)
        agree(ours, theirs)
        np.testing.assert_array_equal(ours.predict(X), ours.labels_)

    def largest(x, y):
        return np.abs(x - y).max()

    X = X[:100]
    agree(
        DBSCAN(eps=0.04, metric=largest, min_samples=3).fit(X),
        sklearn.cluster.DBSCAN(eps=0.04, metric="chebyshev", min_samples=3).fit(X),
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("sparse", [False, True])
def test_precomputed_distances_need_not_be_symmetric(dtype, sparse):
    """Clusters spread along rows, so that the order of the scan decides what a one-way street belongs to."""
    rng = np.random.default_rng(3)
    X = clouds(2, n=60)
    distances = cdist(X, X)
    distances *= rng.uniform(0.7, 1.3, size=distances.shape)
    np.fill_diagonal(distances, 0.0)
    distances = distances.astype(dtype)
    if sparse:
        distances = sp.csr_array(np.where(distances < 1.0, distances, 0.0))
    for weight in (None, rng.integers(0, 3, len(X)).astype(float)):
        options = {"eps": 0.3, "min_samples": 5, "metric": "precomputed"}
        ours = DBSCAN(**options).fit(distances, sample_weight=weight)
        agree(ours, sklearn.cluster.DBSCAN(**options).fit(distances, sample_weight=weight))
    assert ours.labels_.max() > 0


def test_a_limit_of_narrow_distances_is_as_narrow():
    distances = np.full((3, 3), 0.1, np.float32)
    np.fill_diagonal(distances, 0.0)
    options = {"eps": 0.1, "min_samples": 2, "metric": "precomputed"}
    assert DBSCAN(**options).fit_predict(distances).tolist() == [0, 0, 0]
    agree(DBSCAN(**options).fit(distances), sklearn.cluster.DBSCAN(**options).fit(distances))


def test_predict_from_precomputed_distances():
    X = clouds(2, n=60)
    Q = np.random.default_rng(4).uniform(-3, 6, size=(50, 2))
    plain, given = DBSCAN(eps=0.4).fit(X), DBSCAN(eps=0.4, metric="precomputed").fit(cdist(X, X))
    np.testing.assert_array_equal(given.predict(cdist(Q, X)), plain.predict(Q))
    np.testing.assert_array_equal(given.predict(cdist(X, X)), plain.labels_)
    far = cdist(X, X)
    rows, columns = np.nonzero(far < 1.0)
    graph = sp.csr_array((far[rows, columns], (rows, columns)), shape=far.shape)  # with stored zeros
    stored = DBSCAN(eps=0.4, metric="precomputed").fit(graph)
    np.testing.assert_array_equal(stored.labels_, plain.labels_)
    np.testing.assert_array_equal(stored.predict(graph), plain.labels_)
    with pytest.raises(ValueError, match="n_indexed"):
        given.predict(np.zeros((2, 3)))


def test_new_rows_belong_to_the_nearest_core_point_within_the_radius():
    X = clouds(2)
    model = DBSCAN(eps=0.3).fit(X)
    Q = np.random.default_rng(5).uniform(-3, 6, size=(400, 2))
    distances = cdist(Q, model.components_)
    nearest = distances.argmin(axis=1)
    core_labels = model.labels_[model.core_sample_indices_]
    expected = np.where(distances.min(axis=1) <= 0.3, core_labels[nearest], -1)
    np.testing.assert_array_equal(model.predict(Q), expected)
    assert len(np.unique(expected)) > 2


def test_rows_of_a_learnt_metric_are_measured_as_in_the_fit():
    """The variances are those of the fit, not of its core points."""
    X = clouds(2) * [1.0, 10.0]
    model = DBSCAN(eps=0.2, metric="seuclidean").fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    same = DBSCAN(eps=0.2, metric="seuclidean", metric_params={"V": X.var(axis=0, ddof=1)}).fit(X)
    np.testing.assert_array_equal(same.predict(X + 0.05), model.predict(X + 0.05))


def test_sparse_rows():
    X = np.where(np.abs(clouds(4)) > 0.3, clouds(4), 0.0)
    dense, sparse = DBSCAN(eps=0.9).fit(X), DBSCAN(eps=0.9).fit(sp.csr_array(X))
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)
    assert sp.issparse(sparse.components_)
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)), dense.labels_)
    np.testing.assert_array_equal(sparse.predict(X), dense.predict(sp.csr_array(X)))


def test_threads_change_nothing_on_the_tree_and_on_all_pairs():
    X = clouds(5, n=900)
    for algorithm in ("auto", "brute", "ball_tree"):
        with hyperplan.thread_limit(1):
            alone = DBSCAN(eps=1.1, algorithm=algorithm).fit(X)
        with hyperplan.thread_limit(3):
            agree(DBSCAN(eps=1.1, algorithm=algorithm).fit(X), alone)


# edges


@pytest.mark.parametrize("algorithm", ["auto", "kd_tree", "brute"])
def test_one_point_equal_points_and_isolated_points(algorithm):
    options = {"eps": 1.0, "algorithm": algorithm}
    assert dbscan([[1.0, 2.0]], min_samples=1, **options)[1].tolist() == [0]
    assert dbscan([[1.0, 2.0]], min_samples=2, **options)[1].tolist() == [-1]
    core, labels = dbscan(np.ones((500, 2)), min_samples=500, **options)
    assert len(core) == 500 and (labels == 0).all()
    assert (dbscan(np.ones((500, 2)), min_samples=501, **options)[1] == -1).all()
    isolated = 10.0 * np.arange(40.0)[:, None]
    assert (dbscan(isolated, min_samples=2, **options)[1] == -1).all()
    assert dbscan(isolated, min_samples=1, **options)[1].tolist() == list(range(40))


@pytest.mark.parametrize("algorithm", ["auto", "kd_tree", "brute"])
def test_points_at_exactly_the_radius_are_neighbours(algorithm):
    grid = np.stack(np.meshgrid(np.arange(20.0), np.arange(15.0)), axis=-1).reshape(-1, 2)
    assert (dbscan(grid, eps=1.0, min_samples=3, algorithm=algorithm)[1] == 0).all()
    assert (dbscan(grid, eps=np.nextafter(1.0, 0.0), min_samples=3, algorithm=algorithm)[1] == -1).all()
    for scale in (0.1, 1e-3, 1e7):  # steps that are not representable
        ours = DBSCAN(eps=scale, min_samples=5, algorithm=algorithm).fit(scale * grid)
        agree(ours, sklearn.cluster.DBSCAN(eps=scale, min_samples=5, algorithm="kd_tree").fit(scale * grid))


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_huge_and_tiny_coordinates(scale):
    """Squares that would overflow or vanish; scikit-learn's do."""
    X = clouds(2)
    expected = DBSCAN(eps=0.25).fit(X).labels_
    for algorithm in ("auto", "kd_tree", "brute"):
        found = DBSCAN(eps=0.25 * scale, algorithm=algorithm).fit(X * scale)
        np.testing.assert_array_equal(found.labels_, expected)
        np.testing.assert_array_equal(found.predict(X * scale), expected)


def test_a_radius_too_small_for_a_grid():
    X = np.vstack([clouds(2), clouds(2)])  # every point twice
    X[0] = 1e12
    assert cluster_on_grid(X, 1e-9, 2.0) is None
    found = DBSCAN(eps=1e-9, min_samples=2).fit(X)
    assert len(found.core_sample_indices_) == len(X) - 2
    agree(found, sklearn.cluster.DBSCAN(eps=1e-9, min_samples=2).fit(X))


def test_crowded_cells_that_are_just_too_far_apart_take_no_quadratic_time():
    """Two crowds of 30 000 points in neighbouring cells: 9e8 pairs, of which none is near."""
    rng = np.random.default_rng(6)
    heights = rng.uniform(0, 0.5, size=(2, 30_000))
    X = np.vstack([np.column_stack([x + 1e-9 * rng.random(30_000), y]) for x, y in zip((0.0, 1.0 + 1e-6), heights)])
    assert np.unique(dbscan(X, eps=1.0, min_samples=5)[1]).tolist() == [0, 1]
    X[30_000:, 0] -= 2e-6
    assert (dbscan(X, eps=1.0, min_samples=5)[1] == 0).all()


def test_counts_do_not_overflow_and_memory_stays_linear(monkeypatch):
    """70 000 equal points have 4.9e9 pairs, more than an int32 counts, and lists of them would not fit anywhere."""
    monkeypatch.setenv("HYPERPLAN_MEMORY_BUDGET", "1e8")
    model = DBSCAN(eps=1.0, min_samples=70_000).fit(np.zeros((70_000, 2)))
    assert (model.labels_ == 0).all() and model.certificate_.details["core points"] == 70_000


def test_bad_input_is_named():
    X = clouds(2)
    with pytest.raises(ValueError, match="'eps' parameter of DBSCAN"):
        DBSCAN(eps=0.0).fit(X)
    with pytest.raises(ValueError, match="'min_samples' parameter of DBSCAN"):
        dbscan(X, min_samples=0)
    with pytest.raises(ValueError, match="square"):
        DBSCAN(metric="precomputed").fit(X)
    with pytest.raises(ValueError, match="Negative values"):
        DBSCAN(metric="precomputed").fit(-np.ones((3, 3)))
    with pytest.raises(ValueError, match="sample_weight"):
        DBSCAN().fit(X, sample_weight=np.ones(3))
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match="row 7, column 1"):
        DBSCAN().fit(X)


def test_metric_parameters_as_scikit_learn_takes_them():
    X = clouds(2, n=50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = DBSCAN(metric="minkowski", metric_params={"p": 1}, p=None).fit(X)
    with pytest.warns(SyntaxWarning, match="Parameter p is found"):
        two = DBSCAN(metric="minkowski", metric_params={"p": 1}, p=2).fit(X)
    agree(one, DBSCAN(metric="manhattan").fit(X))
    agree(two, one)


def test_equal_rows_are_found_in_dense_and_sparse_tables():
    X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0]])
    Q = np.array([[0.0, 1.0], [2.0, 1e-300], [2.0, 0.0]])
    assert equal_rows(X, Q).tolist() == [0, -1, 1] or equal_rows(X, Q).tolist() == [0, 1, 1]  # 1e-300 squared is zero
    assert equal_rows(sp.csr_array(X), sp.csr_array(Q)).tolist() == [0, -1, 1]
    assert equal_rows(X[:0], Q).tolist() == [-1, -1, -1]


def test_certificate_counts_the_points_with_a_choice():
    points = np.array([-2, -1.5, -1, 0, 1, 1.5, 2])[:, None]
    certificate = DBSCAN(eps=1.0, min_samples=4).fit(points).certificate_
    assert certificate.value == 1.0 and certificate.bound == 5.0 and certificate.holds
    assert certificate.details == {"clusters": 2, "core points": 2, "border points": 5, "noise": 0}
    for algorithm in ("kd_tree", "brute"):
        assert DBSCAN(eps=1.0, min_samples=4, algorithm=algorithm).fit(points).certificate_ == certificate
    given = DBSCAN(eps=1.0, min_samples=4, metric="precomputed").fit(cdist(points, points))
    assert given.certificate_ == certificate
