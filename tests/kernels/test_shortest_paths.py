"""Shortest paths against SciPy's and against naive twins, to the last bit, at the borders of batches and tiles."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra

from hyperplan._math import _shortest_paths_kernels as k
from hyperplan._math import shortest_paths as s

SIZES = [1, 2, k.LANES - 1, k.LANES, k.LANES + 1, 3 * k.LANES + 7]


def random_graph(n, seed=0, degree=3, parts=1):
    """Directed edges inside `parts` runs of nodes, some of length zero, both directions of some edges."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(n, size=degree * n)
    size = -(-n // parts)
    columns = np.minimum(rows // size * size + rng.integers(size, size=degree * n), n - 1)
    columns = np.where(columns // size == rows // size, columns, rows)
    lengths = rng.exponential(size=degree * n)
    lengths[rng.random(degree * n) < 0.05] = 0.0
    _, first = np.unique(rows * n + columns, return_index=True)
    return sp.csr_array((lengths[first], (rows[first], columns[first])), shape=(n, n))


def reference(graph):
    """SciPy's answer for the undirected graph; the shorter of two directions counts."""
    return dijkstra(s.as_matrix(s.roads(graph)), directed=False)


@pytest.mark.parametrize("n", SIZES)
def test_all_pairs_are_scipys_to_the_last_bit(n):
    graph = random_graph(n, n)
    assert np.array_equal(s.shortest_paths(graph), reference(graph))


def test_components_are_infinitely_far_apart():
    graph = random_graph(90, 1, parts=3)
    count, labels = connected_components(graph, directed=False)
    found = s.shortest_paths(graph)
    assert count >= 3
    assert np.array_equal(np.isinf(found), labels[:, None] != labels)
    assert np.array_equal(found, reference(graph))


@pytest.mark.parametrize("count", [1, 3, 40, 100])
def test_some_sources_give_rows_of_the_whole(count):
    """Few sources go through the heap, many through sweeps; repeated ones are answered each time."""
    graph = random_graph(120, 2)
    sources = np.random.default_rng(count).integers(120, size=count)
    assert np.array_equal(s.shortest_paths(graph, sources), reference(graph)[sources])


def test_threads_and_types_and_given_memory():
    graph = random_graph(400, 3, degree=2)
    alone = s.shortest_paths(graph, n_jobs=1)
    assert np.array_equal(s.shortest_paths(graph, n_jobs=3), alone)
    narrow = s.shortest_paths(graph, dtype=np.float32)
    assert narrow.dtype == np.float32 and np.array_equal(narrow, alone.astype(np.float32))
    out = np.empty((400, 400))
    assert s.shortest_paths(graph, out=out) is out and np.array_equal(out, alone)


def test_an_edge_is_the_union_of_both_directions():
    graph = sp.csr_array(np.array([[0.0, 5.0, 0.0], [2.0, 9.0, 0.0], [1.0, 0.0, 0.0]]))
    edges = s.roads(graph)
    assert s.as_matrix(edges).toarray().tolist() == [[0.0, 2.0, 1.0], [2.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    zero = sp.csr_array((np.array([0.0]), (np.array([0]), np.array([1]))), shape=(2, 2))
    assert s.shortest_paths(zero).tolist() == [[0.0, 0.0], [0.0, 0.0]]  # an explicit zero is an edge


@pytest.mark.parametrize("n", [1, 2, 33])
def test_floyd_and_warshall_agree_up_to_the_order_of_sums(n):
    graph = random_graph(n, n + 5)
    np.testing.assert_allclose(s.floyd_warshall(graph), reference(graph), rtol=1e-13)


def test_a_point_outside_hangs_on_its_neighbours():
    graph = random_graph(60, 4)
    whole = reference(graph)
    expected = np.minimum(0.3 + whole[7], 0.1 + whole[20])
    np.testing.assert_allclose(s.paths_from(s.roads(graph), [7, 20], [0.3, 0.1]), expected, rtol=1e-13)


def naive_cut_edges(graph):
    edges = sp.triu(s.as_matrix(s.roads(graph)), format="coo")
    n, whole = graph.shape[0], connected_components(graph, directed=False)[0]
    found = []
    for e in range(edges.nnz):
        rest = np.arange(edges.nnz) != e
        left = sp.csr_array((np.ones(rest.sum()), (edges.row[rest], edges.col[rest])), shape=(n, n))
        count, labels = connected_components(left, directed=False)
        if count > whole:
            sizes = np.bincount(labels)
            i, j = int(edges.row[e]), int(edges.col[e])
            found.append((i, j, int(min(sizes[labels[i]], sizes[labels[j]]))))
    return sorted(found)


@pytest.mark.parametrize("seed", range(4))
def test_cut_edges_are_those_without_which_parts_fall_off(seed):
    graph = random_graph(40, seed, degree=1, parts=1 + seed % 2)
    pairs, sizes = s.cut_edges(s.roads(graph))
    assert [(*pair, size) for pair, size in zip(pairs.tolist(), sizes.tolist())] == naive_cut_edges(graph)
    assert len(pairs) > 0


def test_long_detours_are_found():
    """A ring of twelve nodes with a chord: round the chord it takes 6, round an edge of the ring 5.5."""
    ring = np.arange(12)
    rows, columns = np.append(ring, 0), np.append((ring + 1) % 12, 6)
    lengths = np.append(np.ones(12), 0.5)
    edges = s.roads(sp.csr_array((lengths, (rows, columns)), shape=(12, 12)))
    assert s.long_detours(edges, 11.0).tolist() == [[0, 6]]  # 6 > 11 * 0.5, and 5.5 behind a ring edge
    assert s.long_detours(edges, 13.0).tolist() == []
    assert len(s.long_detours(edges, 1.5)) == 13


def test_bad_graphs_and_sources_are_refused():
    line = sp.csr_array(np.diag([1.0, 2.0], 1))
    with pytest.raises(ValueError, match="square"):
        s.shortest_paths(sp.csr_array(np.ones((2, 3))))
    for bad in (-1.0, np.nan):
        with pytest.raises(ValueError, match="row 1"):
            s.shortest_paths(sp.csr_array(np.diag([1.0, bad], 1)))
    with pytest.raises(ValueError, match="between 0 and 2"):
        s.shortest_paths(line, [3])
    with pytest.raises(ValueError, match="node numbers"):
        s.shortest_paths(line, [0.5])


def test_batches_hold_each_source_once():
    graph = s.roads(random_graph(200, 6, parts=2))
    wanted = np.arange(0, 200, 2, dtype=np.int32)
    grouped, bounds = s._batches(graph, wanted)
    assert sorted(grouped.tolist()) == wanted.tolist() and bounds[0] == 0 and bounds[-1] == len(wanted)
    assert np.diff(bounds).min() > 0 and np.diff(bounds).max() <= k.LANES
