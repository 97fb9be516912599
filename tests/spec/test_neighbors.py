"""Local rules by hand (H1, H2, H6, V6, TH13), and what the errata say about distances (E33, E52)."""

import gzip
import os
import pathlib

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from hyperplan.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    kneighbors_graph,
)

DATA = pathlib.Path(os.environ.get("HYPERPLAN_DATA", pathlib.Path(__file__).parents[3] / "shared" / "data"))
ALGORITHMS = ("brute", "kd_tree", "ball_tree")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_H1_the_majority_of_the_nearest(algorithm):
    X, y = [[0.0], [1.0], [2.0], [10.0], [11.0]], ["b", "b", "a", "a", "a"]
    model = KNeighborsClassifier(3, algorithm=algorithm).fit(X, y)
    assert model.predict([[0.4], [9.0]]).tolist() == ["b", "a"]
    np.testing.assert_allclose(model.predict_proba([[0.4]]), [[1 / 3, 2 / 3]])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_V6_ties_go_to_the_smaller_distance_then_index_and_votes_to_the_first_class(algorithm):
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    model = NearestNeighbors(algorithm=algorithm).fit(X)
    assert model.kneighbors([[0.0, 0.0]], 3, return_distance=False).tolist() == [[0, 1, 2]]
    assert model.kneighbors([[0.0, 0.1]], 2, return_distance=False).tolist() == [[1, 0]]
    vote = KNeighborsClassifier(4, algorithm=algorithm).fit(X, ["z", "z", "a", "a"])
    assert vote.predict([[0.0, 0.0]]).tolist() == ["a"]  # two against two: the first in order


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_H2_weights_of_votes_and_means(algorithm):
    X, y = np.array([[0.0], [1.0], [4.0]]), np.array([0.0, 10.0, 100.0])
    model = KNeighborsRegressor(3, weights="distance", algorithm=algorithm).fit(X, y)
    weights = 1.0 / np.array([2.0, 1.0, 2.0])
    assert model.predict([[2.0]])[0] == pytest.approx(weights @ y / weights.sum(), rel=1e-14)
    assert model.predict([[4.0]])[0] == 100.0  # a row that is met counts alone
    assert KNeighborsRegressor(3, algorithm=algorithm).fit(X, y).predict([[2.0]])[0] == pytest.approx(110 / 3)
    vote = KNeighborsClassifier(3, weights="distance", algorithm=algorithm).fit(X, ["near", "far", "far"])
    assert vote.predict([[0.1]]).tolist() == ["near"]


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0, np.inf])
def test_H6_E33_the_sum_runs_over_the_coordinates_not_up_to_p(p):
    """With a sum up to p the Manhattan distance would see one coordinate."""
    x, y = np.array([1.0, -2.0, 3.0, 0.5, 7.0]), np.array([0.0, 1.0, 2.5, -4.0, 3.0])
    expected = np.abs(x - y).max() if np.isinf(p) else (np.abs(x - y) ** p).sum() ** (1 / p)
    for algorithm in ALGORITHMS:
        found = NearestNeighbors(n_neighbors=1, p=p, algorithm=algorithm).fit([y]).kneighbors([x])[0]
        assert found[0, 0] == pytest.approx(expected, rel=1e-14)


def test_H6_E52_cosine_on_the_sphere_is_half_the_squared_distance_and_no_metric():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    cosine = NearestNeighbors(n_neighbors=5, metric="cosine").fit(X).kneighbors()
    plain = NearestNeighbors(n_neighbors=5).fit(X).kneighbors()
    np.testing.assert_allclose(cosine[0], plain[0] ** 2 / 2, rtol=1e-12)
    assert np.array_equal(cosine[1], plain[1])
    quarter = np.array([[1.0, 0.0], [np.sqrt(0.5), np.sqrt(0.5)], [0.0, 1.0]])
    d = (
        NearestNeighbors(n_neighbors=3, metric="cosine")
        .fit(quarter)
        .kneighbors_graph(quarter, mode="distance")
        .toarray()
    )
    assert d[0, 2] > d[0, 1] + d[1, 2] + 0.4  # the way over the middle is shorter


def test_H3_mahalanobis_neighbours_are_euclidean_ones_after_whitening():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 3)) @ np.array([[3.0, 0.0, 0.0], [1.0, 0.2, 0.0], [0.5, 0.3, 1.0]])
    inverse = np.linalg.inv(np.cov(X, rowvar=False))
    found = NearestNeighbors(n_neighbors=4, metric="mahalanobis", metric_params={"VI": inverse}).fit(X).kneighbors()
    white = NearestNeighbors(n_neighbors=4).fit(X @ np.linalg.cholesky(inverse)).kneighbors()
    assert np.array_equal(found[1], white[1])
    np.testing.assert_allclose(found[0], white[0], rtol=1e-10)


def test_TH13_more_rows_and_more_but_relatively_fewer_neighbours_approach_the_bayes_risk():
    """The Bayes rule errs on 10 % of these rows; K = sqrt(n) closes in on it, one neighbour does not (Cover, Hart)."""
    rng = np.random.default_rng(0)

    def draw(n):
        X = rng.uniform(-1, 1, size=(n, 2))
        return X, (X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) < 0.1)

    test, truth = draw(20_000)
    errors = {}
    for n in (50, 1000, 20_000):
        X, y = draw(n)
        for name, k in (("root", int(np.sqrt(n))), ("one", 1)):
            errors[name, n] = 1.0 - KNeighborsClassifier(k).fit(X, y).score(test, truth)
    assert errors["root", 50] > errors["root", 1000] > errors["root", 20_000] > 0.09
    assert errors["root", 20_000] < 0.115
    assert errors["one", 20_000] == pytest.approx(2 * 0.1 * 0.9, abs=0.02)  # 2 p (1 - p)


def test_duplicated_points_with_different_labels_are_decided_by_vote():
    X, y = np.zeros((5, 2)), ["b", "b", "a", "a", "a"]
    for algorithm in ALGORITHMS:
        model = KNeighborsClassifier(2, algorithm=algorithm).fit(X, y)
        assert model.predict([[0.0, 0.0]]).tolist() == ["b"]  # the two first rows
        assert model.set_params(n_neighbors=5, weights="distance").predict([[0.0, 0.0]]).tolist() == ["a"]


def test_one_class_and_empty_neighbourhoods():
    assert KNeighborsClassifier(1).fit([[0.0], [1.0]], ["a", "a"]).predict([[5.0]]).tolist() == ["a"]
    model = RadiusNeighborsClassifier(0.5, outlier_label="most_frequent").fit([[0.0], [1.0], [1.2]], ["x", "y", "y"])
    assert model.predict([[0.1], [9.0]]).tolist() == ["x", "y"]


def ionosphere():
    path = DATA / "ionosphere" / "ionosphere.csv.gz"
    if not path.exists():
        pytest.skip("the table is not here")
    lines = [line.split(",") for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    return np.array([line[:34] for line in lines if line[0][:1].isdigit()], dtype=float)


def test_T59_E131_the_union_graph_of_ionosphere_is_connected_from_two_neighbours_on():
    X = ionosphere()
    assert X.shape == (351, 34)
    pieces = {}
    for k in (1, 2, 3):
        graph = kneighbors_graph(X, k)
        pieces[k] = connected_components(graph.maximum(graph.T), directed=False)[0]
        if k == 3:
            mutual = connected_components(graph.minimum(graph.T), directed=False)[0]
    assert pieces == {1: 46, 2: 1, 3: 1} and mutual == 227
