"""Clusters by density: the course's worked numbers, what its definitions must say, and nested densities."""

import numpy as np

from hyperplan.cluster import DBSCAN, OPTICS, KMeans, cluster_optics_dbscan
from hyperplan.metrics import adjusted_rand_score, calinski_harabasz_score, silhouette_score

T40 = np.array([0.0, 1.0, 2.0, 3.0, 10.0])[:, None]
T41 = np.array([-2.0, -1.5, -1.0, 0.0, 1.0, 1.5, 2.0])[:, None]


def test_T40_core_distances_count_the_point_itself():
    model = OPTICS(min_samples=3).fit(T40)
    assert model.core_distances_.tolist() == [2.0, 1.0, 1.0, 2.0, 8.0]
    clusters = DBSCAN(eps=1.0, min_samples=3).fit(T40)
    assert clusters.core_sample_indices_.tolist() == [1, 2]
    assert clusters.labels_.tolist() == [0, 0, 0, 0, -1]
    assert clusters.certificate_.details == {"clusters": 1, "core points": 2, "border points": 2, "noise": 1}


def test_T41_a_border_point_of_two_clusters_belongs_to_the_first_that_reaches_it():
    counts = (np.abs(T41 - T41.T) <= 1.0).sum(axis=1)
    assert counts.tolist() == [3, 3, 4, 3, 4, 3, 3]
    model = DBSCAN(eps=1.0, min_samples=4).fit(T41)
    assert T41[model.core_sample_indices_, 0].tolist() == [-1.0, 1.0]
    assert model.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1]
    backwards = DBSCAN(eps=1.0, min_samples=4).fit(T41[::-1])  # the scan order decides
    assert backwards.labels_[::-1].tolist() == [1, 1, 1, 0, 0, 0, 0]
    assert model.certificate_.value == 1.0


def test_E35_whoever_is_reachable_from_a_member_is_one():
    """Maximality: a in C and b reachable from a make b a member; the printed converse would accept {-1} alone."""
    model = DBSCAN(eps=1.0, min_samples=4).fit(T41)
    for core in model.core_sample_indices_:
        near = np.abs(T41[:, 0] - T41[core, 0]) <= 1.0
        same = model.labels_[near] == model.labels_[core]
        shared = near & (T41[:, 0] == 0.0)  # the one point that both clusters reach
        assert (same | shared[near]).all()
    assert np.bincount(model.labels_).min() > 1 and model.labels_[3] >= 0


def test_E36_at_least_min_samples_and_by_reachability():
    """MinPts points suffice (not more than MinPts), the queue is by reachability, and no second run is needed."""
    model = OPTICS(min_samples=3, max_eps=1.0).fit(T40)
    assert np.isfinite(model.core_distances_).tolist() == [False, True, True, False, False]  # three within 1, not four
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = OPTICS(min_samples=5).fit(X)
    place = np.argsort(model.ordering_)
    for step, row in enumerate(model.ordering_[1:], start=1):  # nobody who waited could be reached at less
        done = model.ordering_[:step]
        gaps = np.sqrt(((X[:, None] - X[done]) ** 2).sum(axis=2))
        best = np.maximum(gaps, model.core_distances_[done]).min(axis=1)
        waiting = place >= step
        assert model.reachability_[row] <= best[waiting].min() * (1 + 1e-12)
    for eps in (0.2, 0.4):
        cut = cluster_optics_dbscan(
            reachability=model.reachability_, core_distances=model.core_distances_, ordering=model.ordering_, eps=eps
        )
        direct = DBSCAN(eps=eps, min_samples=5).fit(X)
        cores = direct.core_sample_indices_
        same = direct.labels_[cores][:, None] == direct.labels_[cores]
        np.testing.assert_array_equal(cut[cores][:, None] == cut[cores], same)


def test_V16_clusters_from_zero_noise_minus_one_and_ties_by_index():
    X = np.array([[5.0], [0.0], [0.5], [5.5], [6.0], [1.0], [20.0]])
    labels = DBSCAN(eps=0.5, min_samples=3).fit_predict(X)
    assert labels.tolist() == [1, 0, 0, 1, 1, 0, -1]  # row 2 is the first core point
    ordering = OPTICS(min_samples=3).fit(np.array([[0.0], [10.0], [-10.0], [25.0]])).ordering_
    assert ordering.tolist() == [0, 1, 2, 3]  # rows 1 and 2 are both reached at 10


def test_X6_nested_densities_need_two_radii_or_one_reachability_plot():
    """A dense cloud within a loose one: either radius of DBSCAN finds one of them, the plot of OPTICS both."""
    rng = np.random.default_rng(0)
    dense, loose = 2.0 * rng.normal(size=(150, 2)), 50.0 * rng.normal(size=(150, 2))
    X, is_dense = np.vstack([dense, loose]), np.arange(300) < 150
    small, large = DBSCAN(eps=1.6, min_samples=8).fit(X), DBSCAN(eps=30.0, min_samples=8).fit(X)
    assert (small.labels_[is_dense] == 0).mean() > 0.9 and (small.labels_[~is_dense] == -1).mean() > 0.9
    assert (large.labels_ == 0).mean() > 0.9
    model = OPTICS(min_samples=20, xi=0.2).fit(X)
    sizes = np.diff(model.cluster_hierarchy_, axis=1).ravel() + 1
    assert sizes[-1] > 280 and 140 <= sizes[0] <= 190
    reach = model.reachability_
    assert np.median(reach[is_dense]) < 0.25 * np.median(reach[~is_dense])


def test_X5_density_finds_two_moons_and_both_scores_prefer_the_halves_of_K_means():
    rng = np.random.default_rng(0)
    angle, upper = rng.uniform(0, np.pi, 600), np.arange(600) % 2 == 0
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    X[~upper] = [1.0, 0.5] - X[~upper]
    X += 0.05 * rng.normal(size=X.shape)
    moons, halves = DBSCAN(eps=0.2, min_samples=5).fit_predict(X), KMeans(2, random_state=0).fit_predict(X)
    assert adjusted_rand_score(upper, moons) == 1.0 and adjusted_rand_score(upper, halves) < 0.6
    assert silhouette_score(X, halves) > silhouette_score(X, moons) + 0.1
    assert calinski_harabasz_score(X, halves) > 1.5 * calinski_harabasz_score(X, moons)
