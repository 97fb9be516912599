"""Isomap by hand (Q1-Q5, Q8, Q14-Q17, TH7, TH8, TH10-TH12), and what the errata say about it."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_s_curve, make_swiss_roll

from hyperplan._math.shortest_paths import floyd_warshall, shortest_paths
from hyperplan.decomposition import PCA
from hyperplan.kernels import mercer_check
from hyperplan.manifold import (
    RISIMAP,
    CIsomap,
    ClassMaps,
    Isomap,
    Isostretch,
    LandmarkIsomap,
    NeighbourGraph,
    SeparableCoordinates,
    SubsampledMap,
    ball_volume,
    cosine_bound,
    in_convex_hull,
    isomap_density,
    isomap_radius,
    shell_share,
)


def cloud(n=60, d=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) * np.arange(d, 0, -1)


def up_to_signs(a, b):
    return np.abs(a * np.sign((a * b).sum(axis=0)) - b).max() / np.abs(b).max()


def test_Q1_all_neighbours_make_classical_scaling_which_is_pca():
    X = cloud()
    pca = PCA(3).fit_transform(X)
    assert up_to_signs(Isomap(n_neighbors=59, n_components=3).fit_transform(X), pca) < 1e-10
    widest = cdist(X, X).max() * (1 + 1e-12)  # the search rounds otherwise than SciPy
    assert up_to_signs(Isomap(n_neighbors=None, radius=widest, n_components=3).fit_transform(X), pca) < 1e-10


def test_Q1_a_flat_sheet_is_rolled_out_and_a_spiral_keeps_its_length():
    X, arc = make_swiss_roll(800, random_state=0)
    flat = np.column_stack([0.5 * (arc * np.sqrt(1 + arc**2) + np.arcsinh(arc)), X[:, 1]])
    found = Isomap(n_neighbors=10).fit(X)
    assert 1 - np.corrcoef(found.dist_matrix_.ravel(), cdist(flat, flat).ravel())[0, 1] ** 2 < 0.002
    assert (
        found.residual_variance_[1]
        < 0.005
        < 0.2
        < 1 - np.corrcoef(cdist(X, X).ravel(), cdist(flat, flat).ravel())[0, 1]
    )


def test_E107_coordinates_scale_each_eigenvector_by_its_own_root_and_distances_are_squared():
    X = cloud(40)
    model = Isomap(n_neighbors=6, n_components=3).fit(X)
    n, A = 40, model.dist_matrix_
    H = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * H @ (A * A) @ H)
    expected = vectors[:, ::-1][:, :3] * np.sqrt(values[::-1][:3])
    assert up_to_signs(model.embedding_, expected) < 1e-9
    without_square = np.linalg.eigh(-0.5 * H @ A @ H)[0][::-1][:3]
    assert np.abs(model.kernel_pca_.eigenvalues_ / without_square - 1).min() > 0.5


def test_Q2_E110_floyd_warshall_and_dijkstra_agree():
    graph = NeighbourGraph(4).fit(cloud(70, seed=1)).graph_
    np.testing.assert_allclose(floyd_warshall(graph), shortest_paths(graph), rtol=1e-13)


def test_Q4_E113_conformal_edges_are_scaled_before_paths_are_measured():
    X = cloud(50, 2, seed=2)
    model = CIsomap(n_neighbors=6).fit(X)
    plain = NeighbourGraph(6).fit(X)
    means = plain.kneighbors()[0].mean(axis=1)
    edges = plain.graph_.tocoo()
    scaled = plain.graph_.copy()
    scaled.data = edges.data / np.sqrt(means[edges.row] * means[edges.col])
    np.testing.assert_allclose(model.dist_matrix_, shortest_paths(scaled), rtol=1e-12)
    after = Isomap(n_neighbors=6).fit(X).dist_matrix_ / np.sqrt(np.outer(means, means))
    assert np.abs(after - model.dist_matrix_).max() > 0.1 * model.dist_matrix_.max()


def test_Q5_T52_landmark_scaling_is_the_out_of_sample_formula():
    """With the centred kernel of Q8 and with the formula of landmark scaling: the same coordinates."""
    X = cloud(80, 3, seed=3)
    model = LandmarkIsomap(n_neighbors=79, n_components=3, landmarks=np.arange(0, 80, 4)).fit(X)
    squares = model.landmark_distances_**2
    m = len(squares)
    H = np.eye(m) - 1 / m
    values, vectors = np.linalg.eigh(-0.5 * H @ squares @ H)
    values, vectors = values[::-1][:3], vectors[:, ::-1][:, :3]
    by_landmarks = -0.5 * (model.geodesics_**2 - squares.mean(axis=0)) @ (vectors / np.sqrt(values))
    assert up_to_signs(model.embedding_, by_landmarks) < 1e-10
    np.testing.assert_allclose(cdist(model.embedding_, model.embedding_), cdist(X, X), atol=1e-10)


def test_Q8_T52_rows_of_the_fit_and_new_rows_in_their_plane_are_exact_for_straight_distances():
    rng = np.random.default_rng(4)
    plane = rng.normal(size=(2, 5))
    X, new = rng.normal(size=(50, 2)) @ plane, rng.normal(size=(6, 2)) @ plane
    model = Isomap(metric="precomputed", n_neighbors=49).fit(cdist(X, X))
    placed = model._scaling.place(cdist(new, X))
    np.testing.assert_allclose(cdist(placed, model.embedding_), cdist(new, X), atol=1e-12)
    np.testing.assert_allclose(model._scaling.place(cdist(X, X)), model.embedding_, atol=1e-12)


def test_Q14_chosen_eigenvectors_classify_better_than_leading_ones():
    """The classes differ along the weakest direction, which the first coordinates do not show."""
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=200)
    X = rng.normal(size=(200, 4)) * [9.0, 7.0, 5.0, 0.3]
    X[:, 3] += 3.0 * y
    coordinates = Isomap(n_neighbors=60, n_components=8).fit_transform(X)
    chosen = SeparableCoordinates(1).fit(coordinates, y)
    assert chosen.selected_[0] >= 2 and chosen.scores_[0] > 0.95
    assert SeparableCoordinates(1).fit(coordinates[:, :1], y).scores_[0] < 0.65


def test_Q15_maps_of_classes_stand_side_by_side():
    X, y = cloud(80), np.repeat([0, 1], 40)
    Y = ClassMaps(Isomap(n_components=2)).fit_transform(X, y)
    for label in (0, 1):
        own = Isomap(n_components=2).fit_transform(X[y == label])
        assert up_to_signs(Y[y == label][:, 2 * label : 2 * label + 2], own) < 1e-7


def test_Q16_O7_a_sample_or_centres_carry_the_map():
    X, _ = make_s_curve(600, random_state=1)
    whole = Isomap(n_neighbors=10).fit_transform(X)
    for choice in ("random", "clusters"):
        model = SubsampledMap(Isomap(n_neighbors=8), n_samples=300, choice=choice, random_state=0).fit(X)
        shares = [np.corrcoef(a, b)[0, 1] ** 2 for a, b in zip(model.embedding_.T, whole.T)]
        assert min(shares) > 0.9, choice
        np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)


def test_Q17_the_residual_curve_bends_at_the_dimension():
    X, _ = make_swiss_roll(700, random_state=2)
    curve = Isomap(n_neighbors=10).fit(X).residual_curve(6)
    assert curve.dimension == 2 and (np.diff(curve.residual[:2]) < 0).all()
    assert "<- bend" in str(curve).splitlines()[2]
    angle = np.linspace(0, 3, 100)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    assert Isomap(n_neighbors=2).fit(arc).residual_curve(5).dimension == 1


def test_TH7_T28_volumes_of_balls():
    expected = [2, 3.141593, 4.188790, 4.934802, 5.263789, 5.167713, 4.724766, 4.058712]
    np.testing.assert_allclose(ball_volume(np.arange(1, 9)), expected, atol=5e-7)
    assert round(ball_volume(20), 7) == 0.0258069
    np.testing.assert_allclose(ball_volume([3, 6], p=1), [2**3 / 6, 2**6 / 720])
    np.testing.assert_allclose(ball_volume(4, 3.0, p=np.inf), 6.0**4)
    for n, ratio in ((10, 0.98349), (100, 0.99833)):
        asymptotic = math.sqrt(2 / (2 * math.pi * n)) * (2 * math.gamma(1.5) * math.sqrt(2 * math.e / n)) ** n
        assert round(min(asymptotic / ball_volume(n), ball_volume(n) / asymptotic), 5) == ratio


def test_TH8_T28_shells_hold_nearly_everything():
    assert round(1 - shell_share(10, 0.1), 6) == 0.348678
    assert 1 - shell_share(100, 0.1) == pytest.approx(2.656e-5, rel=1e-3)


def test_TH10_T29_random_directions_are_nearly_orthogonal():
    assert [round(cosine_bound(n), 5) for n in (10, 100, 1000)] == [1.09467, 0.46036, 0.17437]
    directions = np.random.default_rng(6).normal(size=(2, 4000, 100))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    cosines = (directions[0] * directions[1]).sum(axis=1)
    assert np.mean(np.abs(cosines) >= cosine_bound(100)) <= 1 / 100
    assert abs(100 * np.mean(cosines**2) - 1) < 0.1


def test_TH11_nothing_lies_in_the_hull_in_many_dimensions():
    rng = np.random.default_rng(7)
    shares = [in_convex_hull(rng.normal(size=(150, d)), rng.normal(size=(20, d))).mean() for d in (2, 60)]
    assert shares[0] > 0.7 and shares[1] == 0.0
    X = rng.normal(size=(30, 3))
    assert in_convex_hull(X, X[:5]).all() and in_convex_hull(X, X.mean(axis=0)[None]).all()
    assert not in_convex_hull(X, 1.01 * X[[np.argmax(np.linalg.norm(X, axis=1))]]).any()


def test_TH12_E108_E109_the_density_grows_as_balls_shrink():
    """Dividing by the volume of the small balls, not multiplying by it, which tends to minus infinity."""
    assert round(isomap_density(0.1, 2, lengthening=0.5, failure=0.01)) == 122207
    printed = math.log(1 / 0.01 * ball_volume(2, 0.5 * 0.1 / 16)) / ball_volume(2, 0.5 * 0.1 / 8)
    assert round(printed) == -47155
    densities = [isomap_density(radius, 2) for radius in (0.4, 0.2, 0.1, 0.05)]
    assert densities[0] > 0 and (np.diff(densities) > 0).all()
    assert isomap_radius(1.0, 0.2, 0.05) == 0.2
    assert isomap_radius(2.0, 9.0, 0.05) == pytest.approx(2 / math.pi * 2 * math.sqrt(1.2))


def test_E130_a_closed_curve_has_no_isometric_line_and_no_straight_projection_either():
    """One dimension is too few for a circle whatever the method; its geodesics need more than the plane, too."""
    t = np.linspace(0.0, 2 * np.pi, 80, endpoint=False)
    curve = Isomap(n_neighbors=2, n_components=4).fit(np.column_stack([np.cos(t), np.sin(t)])).residual_variance_
    assert curve[0] > 0.3 and 1e-4 < curve[1] < 0.05


@pytest.mark.parametrize("kind", [Isomap, RISIMAP, Isostretch])
def test_M8_kernels_of_geodesics_follow_the_data_and_need_not_be_positive(kind):
    """Around a circle paths are arcs: no points in any space have these distances, and more rows change the values."""
    angle = np.linspace(0.0, 2 * np.pi, 40, endpoint=False)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    sides = angle > np.pi
    fit = (
        (lambda rows: kind(n_neighbors=2).fit(X[rows], sides[rows]))
        if kind is Isostretch
        else (lambda rows: kind(n_neighbors=2).fit(X[rows]))
    )
    model, half = fit(slice(None)), fit(slice(None, None, 2))
    centring = np.eye(40) - 1.0 / 40
    kernel = -0.5 * centring @ model.dist_matrix_**2 @ centring
    check = mercer_check(0.5 * (kernel + kernel.T))
    assert not check.holds and check.smallest < -1e-3 * check.largest
    assert np.abs(half.dist_matrix_ - model.dist_matrix_[::2, ::2]).max() > 1e-3
