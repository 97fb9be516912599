"""OPTICS against scikit-learn: order, reachability, predecessors and clusters; and its cut against DBSCAN."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster
from scipy.spatial.distance import cdist

import hyperplan
from hyperplan.cluster import DBSCAN, OPTICS, cluster_optics_dbscan, cluster_optics_xi, compute_optics_graph

ATTRIBUTES = ("ordering_", "core_distances_", "reachability_", "predecessor_", "labels_")


def clouds(d, n=70, seed=0):
    """Clouds of two densities and noise, shuffled."""
    rng = np.random.default_rng(seed)
    X = np.vstack([0.5 * rng.normal(size=(n, d)), 3 + 0.2 * rng.normal(size=(n, d)), rng.uniform(-3, 6, size=(n, d))])
    return X[rng.permutation(len(X))]


def agree(ours, theirs, rtol=0.0):
    """By default to the bit: both round to 15 decimals, so that differences of the last bits vanish."""
    for name in ATTRIBUTES:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=rtol, err_msg=name)
    if ours.cluster_method == "xi":
        np.testing.assert_array_equal(ours.cluster_hierarchy_, theirs.cluster_hierarchy_)
    else:
        assert not hasattr(ours, "cluster_hierarchy_")


OPTIONS = {
    "all densities": {},
    "finite": {"max_eps": 0.9, "min_samples": 4, "xi": 0.1},
    "cut": {"cluster_method": "dbscan", "eps": 0.5},
    "shares": {"min_samples": 0.05, "min_cluster_size": 0.1},
    "no correction": {"predecessor_correction": False, "xi": 0.02},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_order_and_clusters_are_those_of_scikit_learn(d, options):
    X = clouds(d)
    ours = OPTICS(**options).fit(X)
    agree(ours, sklearn.cluster.OPTICS(**options).fit(X))
    assert ours.certificate_.holds
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)


def test_ties_go_to_the_smaller_row_number():
    X = np.round(2 * clouds(2)) / 2  # a lattice with many duplicates
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn divides by zero
        theirs = sklearn.cluster.OPTICS(min_samples=3).fit(X)
    agree(OPTICS(min_samples=3).fit(X), theirs)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "canberra"])
def test_any_metric(metric):
    X = clouds(3, n=30)
    options = {"metric": metric, "algorithm": "brute"}
    # SciPy and we sum in another order
    agree(OPTICS(**options).fit(X), sklearn.cluster.OPTICS(**options).fit(X), rtol=1e-12)


def test_cosines():
    X = clouds(3, n=30)
    ours, theirs = OPTICS(metric="cosine").fit(X), sklearn.cluster.OPTICS(metric="cosine").fit(X)
    for name in ("core_distances_", "reachability_"):  # 1 - cos loses digits near zero, which changes the order of ties
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-14)


def test_searches_agree():
    X = clouds(3)
    expected = OPTICS(max_eps=2.0).fit(X)
    for algorithm in ("kd_tree", "ball_tree", "brute"):
        agree(OPTICS(max_eps=2.0, algorithm=algorithm).fit(X), expected, rtol=1e-12)
    agree(OPTICS(max_eps=2.0, metric=lambda x, y: np.sqrt(((x - y) ** 2).sum())).fit(X), expected, rtol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_precomputed_distances(sparse):
    X = clouds(2)
    distances = cdist(X, X)
    if sparse:  # what is not stored is out of reach
        rows, columns = np.nonzero(distances < 2.5)
        distances = sp.csr_array((distances[rows, columns], (rows, columns)), shape=distances.shape)
    ours = OPTICS(metric="precomputed", max_eps=2.0).fit(distances)
    agree(ours, sklearn.cluster.OPTICS(metric="precomputed", max_eps=2.0).fit(distances))
    agree(ours, OPTICS(max_eps=2.0).fit(X))
    np.testing.assert_array_equal(ours.predict(distances), ours.labels_)
    Q = np.random.default_rng(1).uniform(-3, 6, size=(40, 2))
    if not sparse:
        np.testing.assert_array_equal(ours.predict(cdist(Q, X)), OPTICS(max_eps=2.0).fit(X).predict(Q))


def test_sparse_rows():
    X = np.where(np.abs(clouds(4)) > 0.3, clouds(4), 0.0)
    dense, sparse = OPTICS(metric="euclidean").fit(X), OPTICS(metric="euclidean").fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.reachability_, dense.reachability_, rtol=1e-7)  # products of rows cancel
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)), sparse.labels_)


@pytest.mark.parametrize("eps", [0.15, 0.3, 0.6, 1.2])
def test_a_cut_is_dbscan_on_core_points(eps):
    X = clouds(2, n=200)
    order = OPTICS(min_samples=6).fit(X)
    cut = cluster_optics_dbscan(
        reachability=order.reachability_, core_distances=order.core_distances_, ordering=order.ordering_, eps=eps
    )
    direct = DBSCAN(eps=eps, min_samples=6).fit(X)
    cores = direct.core_sample_indices_
    np.testing.assert_array_equal(np.flatnonzero(order.core_distances_ <= eps), cores)
    pairs = np.unique(np.column_stack([cut[cores], direct.labels_[cores]]), axis=0)
    assert len(pairs) == direct.labels_.max() + 1 == len(np.unique(pairs[:, 0])) == len(np.unique(pairs[:, 1]))
    assert (cut[direct.labels_ < 0] < 0).all()  # noise stays noise; border points may be emitted before their cluster


def test_functions_give_what_the_class_gives():
    X = clouds(2)
    model = OPTICS(min_samples=4, max_eps=3.0, xi=0.1).fit(X)
    ordering, core, reach, before = compute_optics_graph(
        X, min_samples=4, max_eps=3.0, metric="minkowski", p=2, metric_params=None, algorithm="auto", leaf_size=30,
        n_jobs=None,
    )  # fmt: skip
    for found, name in zip((ordering, core, reach, before), ATTRIBUTES):
        np.testing.assert_array_equal(found, getattr(model, name))
    labels, clusters = cluster_optics_xi(
        reachability=reach, predecessor=before, ordering=ordering, min_samples=4, xi=0.1
    )
    np.testing.assert_array_equal(labels, model.labels_)
    np.testing.assert_array_equal(clusters, model.cluster_hierarchy_)


def test_many_steep_clusters_find_room():
    """More clusters than there is room for at first: a comb of valleys inside each other."""
    reach = np.tile([8.0, 1.0, 1.0, 2.0, 1.0, 1.0, 4.0, 1.0, 1.0], 400)
    reach[0] = np.inf
    arguments = {"reachability": reach, "ordering": np.arange(len(reach)), "min_samples": 2, "xi": 0.05}
    arguments["predecessor"] = np.arange(len(reach)) - 1
    ours, theirs = cluster_optics_xi(**arguments), sklearn.cluster.cluster_optics_xi(**arguments)
    assert len(theirs[1]) > 1024
    np.testing.assert_array_equal(ours[1], theirs[1])
    np.testing.assert_array_equal(ours[0], theirs[0])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("correct", [False, True])
def test_steep_areas_of_random_plots(seed, correct):
    """Plots that no data would give: rises and falls of all sizes, flat parts and infinities."""
    rng = np.random.default_rng(seed)
    n = 400
    reach = np.exp(np.cumsum(rng.choice([-0.5, -0.02, 0.0, 0.02, 0.5], size=n)) % 3.0)
    reach[rng.integers(0, n, 5)] = np.inf
    ordering = rng.permutation(n)
    arguments = {"reachability": reach, "ordering": ordering, "min_samples": 3, "predecessor_correction": correct}
    arguments["predecessor"] = np.where(rng.random(n) < 0.1, -1, rng.integers(0, n, n))
    for xi in (0.01, 0.05, 0.3):
        ours = cluster_optics_xi(xi=xi, **arguments)
        theirs = sklearn.cluster.cluster_optics_xi(xi=xi, **arguments)
        np.testing.assert_array_equal(ours[1], np.reshape(theirs[1], (-1, 2)))
        np.testing.assert_array_equal(ours[0], theirs[0])


def test_new_rows_follow_the_core_distance_rule():
    X = clouds(2)
    model = OPTICS(cluster_method="dbscan", eps=0.5).fit(X)
    Q = np.random.default_rng(2).uniform(-3, 6, size=(300, 2))
    values = np.maximum(cdist(Q, X), model.core_distances_)
    source = values.argmin(axis=1)
    expected = np.where(values.min(axis=1) <= 0.5, model.labels_[source], -1)
    found = model.predict(Q)
    ties = np.isclose(values, values.min(axis=1, keepdims=True), rtol=1e-12).sum(axis=1) > 1
    np.testing.assert_array_equal(found[~ties], expected[~ties])  # of equal ones ours takes the nearest
    assert len(np.unique(found)) > 2
    valleys = OPTICS().fit(X)
    inside = np.flatnonzero(valleys.labels_ >= 0)[:50]
    found = valleys.predict(X[inside] + 1e-9)
    assert (found == valleys.labels_[inside]).mean() > 0.9  # the first points of a valley were reached from outside
    assert (valleys.predict(X + 100.0) == -1).all()


def test_threads_change_nothing():
    X = clouds(3, n=600)
    with hyperplan.thread_limit(1):
        alone = OPTICS().fit(X)
    with hyperplan.thread_limit(3):
        agree(OPTICS().fit(X), alone)


def test_memory_keeps_the_order(tmp_path):
    X = clouds(2)
    first = OPTICS(memory=str(tmp_path)).fit(X)
    assert any(tmp_path.rglob("*.pkl"))
    agree(OPTICS(memory=str(tmp_path)).fit(X), first)
    agree(OPTICS().fit(X), first)


# edges


def test_equal_points_and_too_few_points():
    model = OPTICS(min_samples=3, cluster_method="dbscan", eps=1.0).fit(np.ones((40, 2)))
    assert model.ordering_.tolist() == list(range(40)) and (model.core_distances_ == 0).all()
    assert (model.reachability_[1:] == 0).all() and (model.labels_ == 0).all()
    assert OPTICS(min_samples=3).fit(np.ones((40, 2))).labels_.shape == (40,)
    with pytest.raises(ValueError, match="min_samples must be no greater than the number of samples"):
        OPTICS(min_samples=5).fit([[1.0, 1.0]])
    with pytest.raises(ValueError, match="min_cluster_size must be no greater"):
        OPTICS(min_samples=2, min_cluster_size=9).fit(clouds(2)[:5])


def test_nobody_within_reach():
    X = 10.0 * np.arange(8.0)[:, None]
    with pytest.warns(UserWarning, match="All reachability values are inf"):
        model = OPTICS(min_samples=2, max_eps=1.0).fit(X)
    assert (model.labels_ == -1).all() and (model.predecessor_ == -1).all()
    assert model.ordering_.tolist() == list(range(8)) and model.cluster_hierarchy_.shape == (0, 2)
    assert (model.predict(X + 0.1) == -1).all()


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_huge_and_tiny_coordinates(scale):
    """Fifteen decimals mean nothing there: huge numbers keep all digits, tiny ones become zero."""
    X = clouds(2) * scale
    model = OPTICS(min_samples=4).fit(X)
    assert model.certificate_.holds and np.isfinite(model.reachability_[model.ordering_[1:]]).all()
    if scale > 1:
        np.testing.assert_array_equal(model.ordering_, OPTICS(min_samples=4).fit(clouds(2)).ordering_)


def test_bad_input_is_named():
    X = clouds(2)
    with pytest.raises(ValueError, match=r"Specify an epsilon smaller than 0.15. Got 0.3"):
        OPTICS(max_eps=0.15, eps=0.3, cluster_method="dbscan").fit(X)
    with pytest.raises(ValueError, match="'min_samples' parameter of OPTICS"):
        OPTICS(min_samples=1).fit(X)
    with pytest.raises(ValueError, match="'xi' parameter of cluster_optics_xi"):
        cluster_optics_xi(reachability=X[:, 0], predecessor=X[:, 0], ordering=X[:, 0], min_samples=2, xi=2.0)
    X[3, 0] = np.inf
    with pytest.raises(ValueError, match="row 3, column 0"):
        OPTICS().fit(X)
