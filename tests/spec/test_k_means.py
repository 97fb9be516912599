"""Worked numbers and errata of K-means, its seeds, the choice of K and spectral clustering."""

import itertools
import math

import numpy as np
import pytest

from hyperplan._solvers.k_means import lloyd, rows_of
from hyperplan._solvers.k_means_seeds import draw_by_weight, spread_seeds
from hyperplan.cluster import KMeans, NumberOfClusters, SpectralClustering, kmeans_plusplus
from hyperplan.metrics import calinski_harabasz_score, silhouette_samples, silhouette_score


def blobs(n=60, seed=0):
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    return np.concatenate([rng.normal(size=(n, 2)) + centre for centre in centres])


def objective(X, labels, centres):
    return float(((X - centres[labels]) ** 2).sum())


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("algorithm", ["lloyd", "elkan"])
def test_O1_no_step_raises_the_objective_and_the_end_is_a_fixed_point(seed, algorithm):
    X = np.random.default_rng(seed).uniform(size=(200, 3))
    model = KMeans(7, init="random", n_init=1, tol=0, random_state=seed, algorithm=algorithm).fit(X)
    values = [*model.trace_.objectives, model.inertia_]
    assert all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(values))
    assert values[0] > values[-1]
    gaps = ((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2)
    np.testing.assert_array_equal(model.labels_, gaps.argmin(axis=1))  # cells of a Voronoi diagram
    for c in range(7):
        np.testing.assert_allclose(model.cluster_centers_[c], X[model.labels_ == c].mean(axis=0))
    assert model.inertia_ == pytest.approx(objective(X, model.labels_, model.cluster_centers_))
    assert model.certificate_.holds and model.certificate_.details["ended by"] == "labels that stayed"


def test_O1_the_trace_is_the_objective_of_the_textbook():
    X = blobs(20)
    centres = X[:4].copy()
    model = KMeans(4, init=centres, n_init=1, tol=0).fit(X)
    for found in model.trace_.objectives:
        labels = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        assert found == pytest.approx(objective(X, labels, centres))
        centres = np.stack([X[labels == c].mean(axis=0) for c in range(4)])


def test_V15_ties_go_to_the_smallest_index():
    model = KMeans(2, init=[[0.0], [2.0]], n_init=1, max_iter=1).fit([[0.0], [1.0], [2.0]])
    assert model.trace_.objectives == [1.0]
    np.testing.assert_allclose(model.cluster_centers_, [[0.5], [2.0]])  # the row in the middle went to the first


def test_V15_an_empty_cluster_takes_the_row_that_costs_most():
    X = np.array([[0.0], [1.0], [2.0], [11.0]])
    run = lloyd(rows_of(X), np.array([[1.0], [500.0]]), max_iter=1)
    np.testing.assert_allclose(run.centres, [[1.0], [11.0]])
    assert run.inertia == pytest.approx(2.0)
    weighted = lloyd(rows_of(X, np.array([1000.0, 1.0, 1.0, 1.0])), np.array([[1.0], [500.0]]), max_iter=1)
    np.testing.assert_allclose(weighted.centres[1], [0.0])  # 1000 x 1 costs more than 1 x 100


def test_V15_stops_when_no_label_changes():
    model = KMeans(2, init=[[0.0], [10.0]], n_init=1, tol=0).fit([[0.0], [1.0], [10.0], [11.0]])
    assert model.n_iter_ == 2 and model.inertia_ == 1.0


def test_E34_centres_move_after_all_rows_and_means_fit_squared_distances_only():
    """As printed, with the update inside the loop over rows, a pass can raise J; means can raise sums of |x - c|."""
    X = np.array([[0.0], [0.0], [0.0], [10.0]])
    before, after = np.zeros(1), X.mean(axis=0)
    assert ((X - after) ** 2).sum() < ((X - before) ** 2).sum()
    assert np.abs(X - after).sum() > np.abs(X - before).sum()
    rng, rises = np.random.default_rng(0), 0
    for _ in range(300):
        X, centres = rng.normal(size=(6, 1)), rng.normal(size=(2, 1))
        labels = np.abs(X - centres.T).argmin(axis=1)
        start = objective(X, labels, centres)
        nested, assigned = centres.copy(), np.full(6, -1)
        for i in range(6):
            assigned[i] = np.abs(X[i] - nested[:, 0]).argmin()
            nested[assigned[i]] = X[assigned == assigned[i]].mean(axis=0)
        final = np.abs(X - nested.T).argmin(axis=1)
        rises += objective(X, final, nested) > start
        run = lloyd(rows_of(X), centres, max_iter=1)
        assert run.inertia <= start + 1e-12
    assert rises > 0


def test_O2_T42_next_centres_are_drawn_by_squared_distance():
    closest = np.array([0.0, 1.0, 9.0])
    shares = (np.arange(1000) + 0.5) / 1000
    drawn = draw_by_weight(shares, closest, np.array([10.0]), np.empty(0))
    np.testing.assert_array_equal(np.bincount(drawn, minlength=3), [0, 100, 900])
    # from the function: given that the first centre is 0, the second is 3 nine times as often as 1
    X, counts = np.array([[0.0], [1.0], [3.0]]), np.zeros(3)
    for seed in range(3000):
        _, (first, second) = kmeans_plusplus(X, 2, random_state=seed, n_local_trials=1)
        counts[second] += first == 0
    assert counts[0] == 0
    assert counts[2] / counts.sum() == pytest.approx(0.9, abs=0.04)  # about 1000 draws: four deviations


def test_O2_expected_objective_is_within_the_factor():
    X = np.random.default_rng(1).normal(size=(9, 2))
    best = min(
        sum(((X[np.array(labels) == c] - X[np.array(labels) == c].mean(axis=0)) ** 2).sum() for c in set(labels))
        for labels in itertools.product(range(3), repeat=9)
        if len(set(labels)) == 3
    )
    rows, found = rows_of(X), []
    for seed in range(200):
        chosen = spread_seeds(rows, 3, np.random.RandomState(seed), n_trials=1)
        found.append(((X[:, None] - X[chosen]) ** 2).sum(axis=2).min(axis=1).sum())
    assert best < np.mean(found) <= 8 * (math.log(3) + 2) * best


def test_O3_choice_of_K_by_three_rules():
    X = blobs()
    choice = NumberOfClusters(range(1, 8), random_state=0).fit(X)
    assert choice.choices_ == {"silhouette": 3, "calinski_harabasz": 3, "elbow": 3}
    assert choice.n_clusters_ == 3 and choice.best_model_.n_clusters == 3
    labels = KMeans(4, n_init=3, random_state=0).fit(X).labels_
    four = choice.silhouettes_[3]
    assert four <= silhouette_score(X, labels) + 0.1 and np.isnan(choice.silhouettes_[0])
    model = choice.best_model_
    assert choice.calinski_harabasz_[2] == pytest.approx(calinski_harabasz_score(X, model.labels_))
    assert (np.diff(choice.inertias_) < 0).all()
    np.testing.assert_array_equal(choice.predict(X), choice.labels_)


def test_O3_rules_may_disagree_and_the_asked_one_decides():
    X = np.random.default_rng(0).uniform(size=(150, 2))
    for rule in ("silhouette", "calinski_harabasz", "elbow"):
        choice = NumberOfClusters(range(2, 9), rule=rule, random_state=0).fit(X)
        assert choice.n_clusters_ == choice.choices_[rule] == choice.best_model_.n_clusters


def test_O3_the_plot_marks_each_choice():
    pytest.importorskip("matplotlib")
    axes = NumberOfClusters(range(1, 6), random_state=0).fit(blobs()).plot()
    assert len(axes) == 3
    for one in axes:
        curve, mark = one.lines
        assert len(curve.get_xdata()) == 5 and list(mark.get_xdata()) == [3]
        assert one.get_title(loc="left").endswith(": 3")


def test_O6_V21_rings_that_K_means_cannot_separate():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 150)
    radius = np.where(np.arange(150) < 50, 1.0, 3.0) + 0.05 * rng.normal(size=150)
    X, truth = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), np.arange(150) >= 50
    labels = SpectralClustering(2, gamma=5.0, random_state=0).fit(X).labels_
    assert (labels == truth).all() or (labels == ~truth).all()
    flat = KMeans(2, random_state=0).fit(X).labels_
    assert 0.2 < (flat == truth).mean() < 0.8


def test_O6_V21_coordinates_are_eigenvectors_of_the_scaled_affinities_with_zero_diagonal():
    X = blobs(15)
    model = SpectralClustering(3, gamma=0.3, random_state=0).fit(X)
    W = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    np.fill_diagonal(W, 0.0)
    root = np.sqrt(W.sum(axis=1))
    values, vectors = np.linalg.eigh(W / root / root[:, None])
    np.testing.assert_allclose(model.eigenvalues_, 1.0 - values[::-1][:3], atol=1e-9)
    for k in range(3):
        expected = vectors[:, -1 - k] / root
        found = model.embedding_[:, k]
        np.testing.assert_allclose(np.abs(found @ expected), found @ found, rtol=1e-6)
        np.testing.assert_allclose(found, expected * np.sign(found @ expected), atol=1e-7)


def test_T39_scores_of_two_pairs():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    labels = KMeans(2, random_state=0).fit_predict(X)
    assert labels[0] == labels[1] != labels[2] == labels[3]
    expected = [0.904762, 0.894737, 0.894737, 0.904762]
    np.testing.assert_allclose(silhouette_samples(X, labels), expected, atol=5e-7)
    choice = NumberOfClusters([2, 3], random_state=0).fit(X)
    assert choice.silhouettes_[0] == pytest.approx(0.899749, abs=5e-7)
    assert choice.calinski_harabasz_[0] == pytest.approx(200.0, rel=1e-12)
