"""The graph of neighbours: unions, components, and what its report says about graphs whose faults are known."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.neighbors import kneighbors_graph, radius_neighbors_graph

from hyperplan.manifold import NeighbourGraph
from hyperplan.manifold._bridges import find_bridges


def union(graph):
    """Edges of either direction, explicit zeros included."""
    ones = sp.csr_array((np.ones(graph.nnz), graph.indices, graph.indptr), shape=graph.shape)
    lengths = graph.maximum(graph.T).toarray()
    return lengths, (ones.maximum(ones.T).toarray() > 0)


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree", "ball_tree"])
def test_edges_are_the_union_of_scikit_learns_lists(algorithm):
    X = np.random.default_rng(0).normal(size=(80, 3))
    graph = NeighbourGraph(4, algorithm=algorithm).fit(X)
    lengths, exists = union(sp.csr_array(kneighbors_graph(X, 4, mode="distance")))
    np.testing.assert_allclose(graph.graph_.toarray(), lengths, rtol=1e-12)
    assert graph.graph_.nnz == exists.sum()
    ball = NeighbourGraph(None, 0.9, algorithm=algorithm).fit(X)
    np.testing.assert_allclose(
        ball.graph_.toarray(), radius_neighbors_graph(X, 0.9, mode="distance").toarray(), rtol=1e-12
    )
    assert ball.n_connected_components_ == connected_components(ball.graph_)[0]


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "chebyshev"])
def test_other_metrics_and_given_distances(metric):
    X = np.random.default_rng(1).normal(size=(50, 4))
    distances = cdist(X, X, "cityblock" if metric == "manhattan" else metric)
    np.fill_diagonal(distances, 0.0)
    direct = NeighbourGraph(3, metric=metric).fit(X)
    given = NeighbourGraph(3, metric="precomputed").fit(distances)
    np.testing.assert_allclose(direct.graph_.toarray(), given.graph_.toarray(), rtol=1e-10, atol=1e-14)


def test_equal_rows_have_edges_of_length_zero():
    graph = NeighbourGraph(1).fit([[0.0], [0.0], [5.0], [5.0]])
    assert graph.graph_.nnz == 4 and graph.graph_.data.tolist() == [0.0] * 4
    assert graph.n_connected_components_ == 2


def test_approximate_neighbours_are_nearly_the_true_ones():
    X = np.random.default_rng(2).normal(size=(600, 8))
    exact, near = NeighbourGraph(10).fit(X), NeighbourGraph(10, algorithm="approximate").fit(X)
    shared = (exact.graph_ > 0).multiply(near.graph_ > 0).sum()
    assert shared > 0.9 * exact.graph_.nnz
    assert near.report().missed < 0.1


def two_circles(n=40, gap=0.5):
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.concatenate([circle, circle + [2.0 + gap, 0.0]])


def test_report_of_two_circles():
    report = NeighbourGraph(2).fit(two_circles()).report()
    assert report.n_components == 2 and not report.is_connected and report.component_sizes.tolist() == [40, 40]
    assert len(report.cut_edges) == 0 and report.n_edges == 80
    assert "components: 2 (40, 40 rows)" in str(report)
    assert np.isnan(report.dimension)  # both neighbours are equally far: no scale to compare
    assert report.geodesic_bytes == 8 * 80 * 80 and report.graph_bytes > 12 * 160


def test_a_bridge_and_a_short_circuit_are_seen():
    """A spiral whose turns come near each other at one place: the edge that jumps there is the only suspect."""
    angle = np.linspace(0.0, 4 * np.pi, 200)
    spiral = np.column_stack([(1 + angle) * np.cos(angle), (1 + angle) * np.sin(angle)])
    assert len(NeighbourGraph(4).fit(spiral).report().suspects) == 0
    inner = int(np.argmin(np.abs(angle - 2.0)))
    outer = int(np.argmin(np.abs(angle - 2.0 - 2 * np.pi)))
    spiral[inner] = spiral[outer] * 0.985  # a row that noise has thrown on the next turn
    report = NeighbourGraph(4).fit(spiral).report()
    joins = {tuple(edge) for edge in report.suspects.tolist()}
    assert joins and all(inner in edge for edge in joins)
    line = np.concatenate([np.arange(5.0), 7.0 + np.arange(5.0)])[:, None]
    cut = NeighbourGraph(None, 2.5).fit(line).report()
    assert cut.n_components == 2
    cut = NeighbourGraph(None, 3.0).fit(line).report()
    assert cut.cut_edges.tolist() == [[4, 5]] and cut.cut_sizes.tolist() == [5]


def test_the_dimension_of_uniform_rows_is_about_right():
    rng = np.random.default_rng(3)
    for d in (1, 2, 4):
        X = rng.uniform(size=(1500, d)) @ rng.normal(size=(d, 6))
        assert abs(NeighbourGraph(10).fit(X).dimension() - d) < 0.12 * d
    assert np.isnan(NeighbourGraph(1).fit(X[:10]).dimension())  # one distance has no scale


@pytest.mark.parametrize("how", ["mst", "all_pairs"])
def test_bridges_against_all_distances(how):
    """Several components: Kruskal's rule gives edges of the minimum spanning tree, the other one edge per pair."""
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.normal(size=(70, 3)) + 15 * rng.normal(size=3) for _ in range(7)])
    graph = NeighbourGraph(3).fit(X)
    labels, distances = graph.component_labels_, cdist(X, X)
    count = graph.n_connected_components_
    assert count >= 7
    pairs, lengths = find_bridges(graph.nbrs_, labels, how)
    np.testing.assert_allclose(lengths, distances[tuple(pairs.T)], rtol=1e-12)
    assert (np.diff(lengths) >= 0).all() and (pairs[:, 0] < pairs[:, 1]).all()
    if how == "mst":
        tree = minimum_spanning_tree(distances).toarray()
        assert len(pairs) == count - 1 and ((tree + tree.T)[tuple(pairs.T)] > 0).all()
    else:
        assert len(pairs) == count * (count - 1) // 2
        for a in range(count):
            for b in range(a + 1, count):
                block = distances[np.ix_(labels == a, labels == b)]
                assert np.isclose(lengths, block.min(), rtol=1e-12).any()
    again = find_bridges(graph.nbrs_, labels, how, n_jobs=3)
    assert np.array_equal(again.pairs, pairs) and np.array_equal(again.lengths, lengths)


def test_ties_go_to_the_first_rows():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]])
    graph = NeighbourGraph(1).fit(X)
    for how in ("mst", "all_pairs"):
        assert find_bridges(graph.nbrs_, graph.component_labels_, how).pairs.tolist() == [[0, 2]]


def test_new_rows_hang_on_neighbours_on_their_equals_or_on_the_nearest():
    graph = NeighbourGraph(2).fit([[0.0], [1.0], [3.0], [10.0]])
    lists = graph.links([[1.0], [2.5]])
    assert lists.starts.tolist() == [0, 1, 3] and lists.rows.tolist() == [1, 2, 1]
    ball = NeighbourGraph(None, 1.0).fit([[0.0], [1.0], [3.0], [10.0]])
    lists = ball.links(np.array([[0.5], [6.0], [20.0]]))
    assert lists.starts.tolist() == [0, 2, 3, 4] and lists.rows.tolist() == [0, 1, 2, 3]
    assert lists.distances.tolist() == [0.5, 0.5, 3.0, 10.0]


def test_one_rule_and_enough_rows():
    X = np.arange(6.0)[:, None]
    with pytest.raises(ValueError, match="Both n_neighbors and radius"):
        NeighbourGraph(3, 1.0).fit(X)
    with pytest.raises(ValueError, match="Neither"):
        NeighbourGraph(None).fit(X)
    with pytest.raises(ValueError, match="n_neighbors"):
        NeighbourGraph(6).fit(X)
    with pytest.raises(ValueError, match="row 2, column 0"):
        NeighbourGraph(1).fit([[0.0], [1.0], [np.nan]])
