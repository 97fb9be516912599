"""UMAP by the course: weights, their union, errata, what parameters do (Q11 to Q13, T37, E43, X8)."""

import numpy as np
import pytest
import scipy.sparse as sp

from hyperplan.manifold import UMAP
from hyperplan.manifold import _umap_graph as graphs
from hyperplan.manifold._umap_layout import find_ab_params

FAST = {"n_epochs": 100, "random_state": 0}


def blobs(n=60, d=5, k=3, gap=8.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), n // k)
    return rng.normal(size=(len(y), d)) + gap * rng.normal(size=(k, d))[y], y


def lists(distances):
    distances = np.atleast_2d(np.asarray(distances, dtype=float))
    n, k = distances.shape
    return graphs.Neighbours(distances, np.tile(np.arange(1, k + 1), (n, 1)))


def test_T37_scale_of_four_neighbours():
    A, sigmas, rhos = graphs.one_sided(lists([1, 2, 3, 4]), 5, 4)
    q = np.exp(-1 / sigmas[0])
    assert rhos[0] == 1.0 and sigmas[0] == pytest.approx(1.641018, abs=1e-4)  # the sum is met to 1e-5
    assert q == pytest.approx(0.543689, abs=1e-5)
    np.testing.assert_allclose(A.toarray()[0, 1:], [1, q, q**2, q**3], rtol=1e-6)


def test_T37_union_intersection_and_mixture():
    A = sp.csr_array(np.array([[0, 0.5], [0.2, 0]], np.float32))
    for mix, expected in ((1.0, 0.6), (0.0, 0.1), (0.25, 0.225)):
        B = graphs.two_sided(A, mix).toarray()
        np.testing.assert_allclose(B, [[0, expected], [expected, 0]], rtol=1e-6)


def test_Q11_weights_are_at_most_one_and_only_their_union_is_symmetric():
    X, _ = blobs()
    found = graphs.search(X, 10, "euclidean", {}, approximate=False, seed=0, n_jobs=1)
    A, _, rhos = graphs.one_sided(found, len(X), 10)
    assert A.max() == 1.0 and A.min() >= 0.0 and abs(A - A.T).max() > 0.1
    np.testing.assert_allclose(np.asarray(A.sum(axis=1)), np.log2(10), atol=2e-5)
    assert np.array_equal(rhos, found.distances[:, 0])
    B = UMAP(n_neighbors=10, **FAST).fit(X).graph_
    assert abs(B - B.T).max() == 0.0 and B.max() <= 1.0 and B.diagonal().max() == 0.0
    np.testing.assert_allclose(B.toarray(), graphs.two_sided(A).toarray())


def test_Q11_curve_is_fitted_to_the_smallest_distance():
    x = np.linspace(0, 3, 300)
    last = np.inf
    for min_dist in (0.0, 0.1, 0.5, 0.9):
        a, b = find_ab_params(1.0, min_dist)
        wanted = np.where(x < min_dist, 1.0, np.exp(-(x - min_dist)))

        def error(a, b, wanted=wanted):
            return ((1 / (1 + a * x ** (2 * b)) - wanted) ** 2).sum()

        assert error(a, b) <= min(error(a * s, b * t) for s in (0.98, 1.02) for t in (0.98, 1.02))
        assert a < last  # the farther rows stay apart, the wider the curve
        last = a


def test_E43_rho_is_the_nearest_neighbour_and_not_the_farthest():
    A, _, rhos = graphs.one_sided(lists([[1, 2, 3, 4], [2, 4, 6, 8]]), 5, 4)
    assert rhos.tolist() == [1.0, 2.0]
    np.testing.assert_allclose(A.toarray()[0], A.toarray()[1], rtol=1e-4)  # weights do not depend on the unit


@pytest.mark.parametrize("distances", [[1, 2], [1, 1, 1, 5], [3, 3, 3, 3]])
def test_E43_without_a_solution_the_scale_is_its_floor(distances):
    """Two neighbours, or log2 k of them at the distance of the nearest: the sum is too large for any sigma."""
    A, sigmas, _ = graphs.one_sided(lists(distances), len(distances) + 1, len(distances))
    assert sigmas[0] == pytest.approx(1e-3 * np.mean(distances))
    nearest = np.asarray(distances) == min(distances)
    assert A.toarray()[0, 1:][nearest].tolist() == [1.0] * nearest.sum()
    assert A.toarray()[0, 1:][~nearest].sum() < 1e-6


def test_E43_copies_of_a_row_do_not_count_as_the_nearest():
    A, sigmas, rhos = graphs.one_sided(lists([0, 0, 2, 3, 4, 5, 6, 7]), 9, 8)
    assert rhos[0] == 2.0 and A.toarray()[0, 1:4].tolist() == [1.0, 1.0, 1.0]
    A, sigmas, rhos = graphs.one_sided(lists([0, 0, 0]), 4, 3)
    assert rhos[0] == sigmas[0] == 0.0 and A.toarray()[0, 1:].tolist() == [1.0, 1.0, 1.0]


def test_X8_more_neighbours_make_a_denser_graph_of_fewer_pieces():
    X, _ = blobs(90, 2, 3, gap=20.0)
    few, many = (UMAP(n_neighbors=k, **FAST).fit(X) for k in (4, 40))
    assert few.graph_.nnz < 0.5 * many.graph_.nnz
    assert few.n_connected_components_ >= 3 and many.n_connected_components_ == 1


def spread_of_classes(places, y):
    """Mean distance to the own class's mean, in mean distances between those means."""
    means = np.stack([places[y == c].mean(axis=0) for c in np.unique(y)])
    within = np.linalg.norm(places - means[np.searchsorted(np.unique(y), y)], axis=1).mean()
    between = np.linalg.norm(means[:, None] - means[None], axis=2).sum() / (len(means) * (len(means) - 1))
    return within / between


def test_Q12_labels_separate_classes_that_overlap():
    X, y = blobs(150, 5, 3, gap=0.7)
    plain = UMAP(**FAST).fit_transform(X)
    told = UMAP(**FAST).fit_transform(X, y)
    assert spread_of_classes(told, y) < 0.6 * spread_of_classes(plain, y)


def test_Q12_some_labels_separate_less_than_all_and_more_than_none():
    X, y = blobs(150, 5, 3, gap=0.7)
    some = np.where(np.arange(150) % 2 == 0, y, -1)
    spreads = [spread_of_classes(UMAP(**FAST).fit_transform(X, t), y) for t in (None, some, y)]
    assert spreads[0] > spreads[1] > spreads[2]


def test_Q12_unknown_is_minus_one_or_nan_or_none_and_names_of_classes_do_not_matter():
    X, y = blobs(45)
    some = np.where(np.arange(45) % 3 == 0, -1, y)
    expected = UMAP(**FAST).fit_transform(X, some)
    texts = np.array(["a", "b", "c"], dtype=object)[y]
    texts[some < 0] = None
    for other in (np.where(some < 0, np.nan, some), texts, np.where(some < 0, -1, some + 10)):
        assert np.array_equal(UMAP(**FAST).fit_transform(X, other), expected)
    assert np.array_equal(UMAP(**FAST).fit_transform(X, np.full(45, -1)), UMAP(**FAST).fit_transform(X))


def test_Q12_the_weight_of_the_labels_goes_from_nothing_to_all():
    X, y = blobs(60, 5, 3, gap=0.5)
    between = []
    for weight in (0.0, 0.5, 1.0):
        B = UMAP(target_weight=weight, **FAST).fit(X, y).graph_.tocoo()
        between.append(float(B.data[y[B.row] != y[B.col]].sum()))
    assert between[0] > between[1] > between[2] == 0.0


def test_Q12_numeric_targets_order_the_layout():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 6)), rng.uniform(size=200)

    def told(weight):
        places = UMAP(target_metric="euclidean", target_weight=weight, **FAST).fit_transform(X, y)
        design = np.column_stack([places, places**2, np.ones(200)])
        return 1 - ((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2).sum() / ((y - y.mean()) ** 2).sum()

    assert told(0.9) > told(0.1) + 0.2


def test_Q13_smaller_min_dist_makes_tighter_groups():
    X, _ = blobs(150, 5, 3)
    tight, loose = (UMAP(min_dist=m, **FAST).fit_transform(X) for m in (0.0, 0.9))

    def nearest(places):
        gaps = np.linalg.norm(places[:, None] - places[None], axis=2)
        return np.median(np.sort(gaps, axis=1)[:, 1])

    assert nearest(tight) < 0.5 * nearest(loose)


def test_Q13_a_small_mix_ratio_lets_go_of_outliers():
    X, _ = blobs(60, 5, 1)
    X = np.vstack([X, np.full((1, 5), 40.0)])
    degrees = [np.asarray(UMAP(set_op_mix_ratio=s, **FAST).fit(X).graph_.sum(axis=1)) for s in (1.0, 0.2)]
    shares = [degree[-1] / degree[:-1].mean() for degree in degrees]
    assert shares[1] < 0.6 * shares[0]


def test_Q11_not_convex_seeds_differ_and_each_lowers_its_loss():
    X, _ = blobs(90)
    models = [UMAP(random_state=seed).fit(X) for seed in (0, 1)]
    assert not np.allclose(models[0].embedding_, models[1].embedding_)
    for model in models:
        assert model.certificate_.holds and "not convex" in model.certificate_.guarantee
        assert model.certificate_.value < 0.9 * model.certificate_.bound
