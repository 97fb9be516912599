"""Scores of clusterings and of embeddings beside scikit-learn's."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.manifold
import sklearn.metrics as reference
import sklearn.metrics.cluster as reference_cluster

import hyperplan.metrics as ours
import hyperplan.metrics.cluster as ours_cluster
from hyperplan import thread_limit
from hyperplan.metrics import _silhouette

from .metrics_common import assert_same_outcome, assert_same_value, outcome

TWO_LABELLINGS = [
    "adjusted_mutual_info_score",
    "adjusted_rand_score",
    "completeness_score",
    "fowlkes_mallows_score",
    "homogeneity_completeness_v_measure",
    "homogeneity_score",
    "mutual_info_score",
    "normalized_mutual_info_score",
    "pair_confusion_matrix",
    "rand_score",
    "v_measure_score",
]
OF_POINTS = ["silhouette_score", "silhouette_samples", "calinski_harabasz_score", "davies_bouldin_score"]
LABELLINGS = {
    "alike": (np.repeat([0, 1, 2], 20), np.repeat([5, 3, 9], 20)),
    "random": tuple(np.random.default_rng(0).integers(0, [[4], [6]], (2, 80))),
    "words": (np.array(["a", "b"])[np.arange(30) % 2], np.array(["x", "y", "z"])[np.arange(30) % 3]),
    "one cluster": (np.zeros(10, int), np.zeros(10, int)),
    "one against many": (np.zeros(10, int), np.arange(10)),
    "all apart": (np.arange(10), np.arange(10)),
    "negative": (np.array([-1, -1, 0, 3]), np.array([0, -2, -2, 0])),
    "one point": ([1], [2]),
    "none": ([], []),
}
# Sums of at most 24 logarithms of shares, which nearly cancel in adjusted scores: both lose the last four digits.
INFORMATION = {"rtol": 1e-9, "atol": 1e-12}


@pytest.mark.parametrize("name", TWO_LABELLINGS)
@pytest.mark.parametrize("kind", LABELLINGS)
def test_two_labellings(name, kind):
    if (name, kind) == ("mutual_info_score", "none"):
        assert ours.mutual_info_score([], []) == 0.0  # scikit-learn stumbles over the maximum of nothing
        return
    assert_same_outcome(name, *LABELLINGS[kind], of=reference_cluster, tolerance=INFORMATION)
    assert_same_outcome(name, *LABELLINGS[kind][::-1], of=reference_cluster, tolerance=INFORMATION)


@pytest.mark.parametrize("name", TWO_LABELLINGS)
@pytest.mark.parametrize("bad", [([0, 1], [0]), ([[0, 1]], [0, 1]), ([0, np.nan], [0, 1])])
def test_bad_labellings(name, bad):
    assert_same_outcome(name, *bad, of=reference_cluster)


def test_labellings_that_look_like_numbers_are_warned_about():
    rng = np.random.default_rng(1)
    assert_same_outcome("rand_score", rng.random(20), rng.random(20))


@pytest.mark.parametrize("average_method", ["min", "geometric", "arithmetic", "max"])
def test_means_of_entropies(average_method):
    for name in ("adjusted_mutual_info_score", "normalized_mutual_info_score"):
        labels = LABELLINGS["random"]
        assert_same_outcome(name, *labels, average_method=average_method, tolerance=INFORMATION)
    for beta in (0.3, 1.0, 2.0):
        for name in ("v_measure_score", "homogeneity_completeness_v_measure"):
            assert_same_outcome(name, *LABELLINGS["random"], beta=beta, tolerance=INFORMATION)


@pytest.mark.parametrize("options", [{}, {"eps": 0.5}, {"sparse": True}, {"dtype": np.float32}])
def test_contingency(options):
    for kind in ("random", "words"):
        found = ours_cluster.contingency_matrix(*LABELLINGS[kind], **options)
        expected = reference_cluster.contingency_matrix(*LABELLINGS[kind], **options)
        assert sp.issparse(found) == sp.issparse(expected) and found.dtype == expected.dtype
        np.testing.assert_array_equal(*(sp.csr_array(table).toarray() for table in (found, expected)))
    for bad in ({"eps": 0.5, "sparse": True}, {"eps": -1}):
        results = [outcome(m.contingency_matrix, [0, 1], [0, 1], **bad)[1:] for m in (ours_cluster, reference_cluster)]
        assert results[0] == results[1] and results[0][0] is not None


def clusters(n=150, d=3, k=4, dtype=np.float64):
    rng = np.random.default_rng(2)
    labels = rng.integers(0, k, n)
    return (rng.normal(size=(n, d)) + 2 * rng.normal(size=(k, d))[labels]).astype(dtype), labels


@pytest.mark.parametrize("name", OF_POINTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_points_and_clusters(name, dtype):
    """Silhouettes: distances of scikit-learn come from inner products and lose digits by cancellation."""
    X, labels = clusters(dtype=dtype)
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-7, "atol": 1e-9}
    found, expected = (getattr(module, name)(X, labels) for module in (ours, reference))
    np.testing.assert_allclose(found, expected, **tolerance)
    words = np.array(["d", "a", "c", "b"])[labels]
    np.testing.assert_allclose(
        getattr(ours, name)(X, words), found, rtol=1e-12, atol=1e-14
    )  # clusters in another order


@pytest.mark.parametrize("name", OF_POINTS)
@pytest.mark.parametrize(
    "X, labels",
    [
        (np.zeros((4, 2)), [0, 0, 0, 0]),
        (np.zeros((4, 2)), [0, 1, 2, 3]),
        (np.zeros((4, 2)), [0, 0, 1, 1]),
        (np.array([[0.0], [0.0], [5.0], [5.0]]), [0, 0, 1, 1]),
        (np.array([[0.0], [1.0], [5.0]]), [0, 0, 1]),
        (np.zeros((4, 2)), [0, 1]),
        (np.array([[np.nan], [1.0], [2.0]]), [0, 0, 1]),
        (np.arange(4.0), [0, 0, 1, 1]),
    ],
)
def test_edges(name, X, labels):
    assert_same_outcome(name, X, labels)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "chebyshev", "canberra", "sqeuclidean"])
def test_silhouettes_of_other_distances(metric):
    X, labels = clusters()
    tolerance = {"rtol": 1e-7, "atol": 1e-9}
    assert_same_outcome("silhouette_samples", X, labels, metric=metric, tolerance=tolerance)
    distances = reference.pairwise_distances(X, metric=metric)
    np.fill_diagonal(distances, 0)
    assert_same_outcome("silhouette_samples", distances, labels, metric="precomputed", tolerance=tolerance)


def test_silhouettes_of_sparse_rows_functions_and_samples():
    X, labels = clusters(n=60)
    X = np.where(X > 0.5, X, 0.0)
    tolerance = {"rtol": 1e-7, "atol": 1e-9}
    assert_same_outcome("silhouette_samples", sp.csr_array(X), labels, tolerance=tolerance)
    assert_same_outcome("silhouette_samples", X, labels, metric=lambda a, b: np.abs(a - b).max(), tolerance=tolerance)
    sparse = sp.csr_array(reference.pairwise_distances(X))
    assert_same_outcome("silhouette_samples", sparse, labels, metric="precomputed", tolerance=tolerance)
    for options in ({"sample_size": 30, "random_state": 3}, {"sample_size": 1, "random_state": 0}):
        assert_same_outcome("silhouette_score", X, labels, tolerance=tolerance, **options)
    bad = reference.pairwise_distances(X) + 1.0
    assert_same_outcome("silhouette_samples", bad, labels, metric="precomputed")
    assert_same_outcome("silhouette_samples", bad[:, :5], labels, metric="precomputed")


def test_silhouettes_in_tiles(monkeypatch):
    """The same whatever the tile; the same bits whatever the number of threads."""
    X, labels = clusters(n=700)
    whole = reference.silhouette_samples(X, labels)
    for tile in (32, 64, 1000):
        monkeypatch.setattr(_silhouette, "TILE", tile)
        found = []
        for threads in (1, 2, 3):
            with thread_limit(threads):
                found.append(ours.silhouette_samples(X, labels))
        assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
        np.testing.assert_allclose(found[0], whole, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "precomputed"])
def test_trustworthiness(metric):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 5))
    given = reference.pairwise_distances(X) if metric == "precomputed" else X
    for k in (1, 5, 29):
        found = ours.trustworthiness(given, X[:, :2], n_neighbors=k, metric=metric)
        expected = sklearn.manifold.trustworthiness(given, X[:, :2], n_neighbors=k, metric=metric)
        assert found == pytest.approx(expected, rel=1e-12)
    results = [outcome(m.trustworthiness, X, X[:, :2], n_neighbors=30) for m in (ours, sklearn.manifold)]
    assert results[0][1] == results[1][1] == "ValueError"


def test_continuity_is_trustworthiness_with_the_roles_exchanged():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(50, 4))
    expected = sklearn.manifold.trustworthiness(X[:, :2], X, n_neighbors=6)
    assert ours.continuity(X, X[:, :2], n_neighbors=6) == pytest.approx(expected, rel=1e-12)
    assert_same_value(ours.continuity(X, X), 1.0)
