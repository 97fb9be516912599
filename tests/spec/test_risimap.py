"""RISIMAP and Isostretch by the letter: worked numbers (T52, T55, T56, T59, T60), readings, errata E116-E131."""

import gzip
import os
import pathlib

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs, make_s_curve
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from hyperplan.manifold import RISIMAP, Isomap, Isostretch, NeighbourGraph
from hyperplan.manifold._isostretch import label_codes, stretched
from hyperplan.neighbors import KNeighborsClassifier
from hyperplan.preprocessing import StandardScaler
from hyperplan.svm import SVC

DATA = pathlib.Path(os.environ.get("HYPERPLAN_DATA", pathlib.Path(__file__).parents[3] / "shared" / "data"))
TOY = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])


def in_pieces(n=120, seed=0):
    """Four clouds that small neighbourhoods do not join, and their labels in pairs of clouds."""
    X, cloud = make_blobs(n, centers=4, n_features=3, cluster_std=0.7, random_state=seed)
    return X, cloud % 2


def check_same_map(a, b, tolerance=1e-9):
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * np.abs(b).max())


def test_T55_AM3_paths_are_measured_again_after_the_bridge():
    model = RISIMAP(None, 1.0, n_components=1).fit(TOY)
    assert model.bridges_.tolist() == [[2, 3]] and model.bridge_lengths_.tolist() == [8.0]
    assert model.dist_matrix_[0, 5] == 12.0
    np.testing.assert_allclose(model.kernel_pca_.eigenvalues_, [154.0])
    np.testing.assert_allclose(np.diff(np.sort(model.embedding_[:, 0])), np.diff(TOY[:, 0]))


def test_T55_E117_the_literal_kernel_has_spurious_dimensions():
    """Every pair across components at the bare length of the bridge: the numbers that this package does not give."""
    A = np.abs(TOY - TOY.T)
    A[:3, 3:] = A[3:, :3] = 8.0
    H = np.eye(6) - 1 / 6
    values = np.linalg.eigvalsh(-0.5 * H @ A**2 @ H)[::-1]
    np.testing.assert_allclose(values[:3], [94.0, 2.0, 2.0], atol=0.01)
    assert values[-1] < -0.004
    assert (RISIMAP(None, 1.0, n_components=1).fit(TOY).dist_matrix_ >= np.abs(TOY - TOY.T)).all()


def test_T56_AM5_short_distances_double_and_long_ones_hardly_change():
    np.testing.assert_allclose(stretched([1.0, 3.0, 10.0], 1.0), [2.0, 3.0 + 1 / 3, 10.1])
    grid = stretched(np.linspace(1.0, 20.0, 200), 1.0)
    assert (np.diff(grid) > 0).all()
    assert stretched([0.0], 0.5).tolist() == [1.0]  # equal rows: the least value


def test_E118_the_literal_stretch_shrinks_distances():
    X, y = in_pieces()
    E, A = cdist(X, X), Isomap(n_neighbors=119).fit(X).dist_matrix_
    model = RISIMAP(6, n_components=2).fit(X)
    different = y[:, None] != y
    literal = (E**2 + E[E > 0].min() ** 2) / np.where(model.dist_matrix_ > 0, model.dist_matrix_, 1.0)
    assert (literal < model.dist_matrix_)[different].mean() > 0.5
    ours = Isostretch(6, n_components=2).fit(X, y).dist_matrix_
    assert (ours >= model.dist_matrix_).all() and A.shape == ours.shape


@pytest.mark.parametrize("kind", [RISIMAP, Isostretch])
def test_a_connected_graph_is_isomap(kind):
    X = make_s_curve(150, random_state=0)[0]
    model, plain = kind(8).fit(X), Isomap(n_neighbors=8).fit(X)
    assert len(model.bridges_) == 0
    np.testing.assert_array_equal(model.dist_matrix_, plain.dist_matrix_)
    np.testing.assert_array_equal(model.embedding_, plain.embedding_)


def test_AM2_bridges_are_edges_of_the_spanning_tree_or_one_for_each_pair():
    X, _ = in_pieces()
    tree = minimum_spanning_tree(cdist(X, X)).toarray()
    model = RISIMAP(5).fit(X)
    count = model.graph_.n_connected_components_
    assert count >= 3 and len(model.bridges_) == count - 1 == model.certificate_.details["bridges"]
    assert ((tree + tree.T)[tuple(model.bridges_.T)] > 0).all()
    assert model.certificate_.details["components of the graph"] == count
    pairs = RISIMAP(5, reconnect="all_pairs").fit(X)
    assert len(pairs.bridges_) == count * (count - 1) // 2
    assert {tuple(b) for b in model.bridges_.tolist()} <= {tuple(b) for b in pairs.bridges_.tolist()}
    assert (pairs.dist_matrix_ <= model.dist_matrix_ + 1e-12).all()


@pytest.mark.parametrize("reconnect", ["mst", "all_pairs"])
def test_geodesics_are_finite_a_metric_and_not_shorter_than_straight_lines(reconnect):
    X, y = in_pieces(60)
    A = RISIMAP(4, reconnect=reconnect).fit(X).dist_matrix_
    assert np.isfinite(A).all() and (cdist(X, X) <= A + 1e-12).all()
    assert (A[:, :, None] + A[None] >= A[:, None] - 1e-9).all()
    S = Isostretch(4, reconnect=reconnect).fit(X, y).dist_matrix_
    assert (S >= A).all() and (S > A).any()


def test_AM8_bridges_are_never_stretched():
    model = Isostretch(None, 1.0, n_components=1).fit(TOY, [0, 0, 0, 1, 1, 1])
    assert model.bridge_lengths_.tolist() == [8.0] and model.dist_matrix_[0, 5] == 12.0 and model.n_stretched_ == 0


def test_AM6_the_floor_is_the_smallest_positive_distance():
    X, y = in_pieces()
    E = cdist(X, X)
    assert Isostretch(3).fit(X, y).floor_ == pytest.approx(E[E > 0].min(), rel=1e-12)


def test_AM4_stretch_after_lengthens_all_pairs_of_different_labels():
    X, y = in_pieces(80)
    y = np.where(np.arange(80) % 5 == 0, -1, y)
    plain, after = RISIMAP(5).fit(X).dist_matrix_, Isostretch(5, stretch="after").fit(X, y)
    floor = plain[plain > 0].min()
    changed = (y[:, None] >= 0) & (y >= 0) & (y[:, None] != y)
    expected = np.where(changed, plain + floor**2 / np.where(plain > 0, plain, 1), plain)
    np.testing.assert_allclose(after.dist_matrix_, expected, rtol=1e-12)
    assert after.floor_ == floor and after.n_stretched_ == changed.sum() // 2


def test_AM12_edges_of_unknown_rows_stay_and_all_unknown_is_risimap():
    X, y = in_pieces()
    plain = RISIMAP(6).fit(X)
    for unknown in (np.full(120, -1), np.full(120, np.nan), None, np.full(120, None)):
        model = Isostretch(6).fit(X, unknown)
        np.testing.assert_array_equal(model.embedding_, plain.embedding_)
    some = np.where(np.arange(120) % 2 == 0, y, -1)
    assert (Isostretch(6).fit(X, some).dist_matrix_ <= Isostretch(6).fit(X, y).dist_matrix_).all()


def test_names_of_labels_do_not_matter():
    X, y = in_pieces()
    expected = Isostretch(6).fit(X, y).embedding_
    words = np.array(["yes", "no"])[y]
    mixed = np.where(y == 0, "a", "b").astype(object)
    for labels in (1 - y, words, mixed, y + 0.0, list(y), y.astype(bool)):
        np.testing.assert_array_equal(Isostretch(6).fit(X, labels).embedding_, expected)
    mixed[3] = None
    half = y + 0.0
    half[3] = np.nan
    np.testing.assert_array_equal(Isostretch(6).fit(X, mixed).embedding_, Isostretch(6).fit(X, half).embedding_)
    assert label_codes(["a", "b", "a"], 3).tolist() == [0, 1, 0]


def test_scale_order_and_place_of_the_rows_carry_over():
    X, y = in_pieces()
    order = np.random.default_rng(0).permutation(120)
    for model in (RISIMAP(5), Isostretch(5)):
        base = model.fit(X, y).embedding_
        check_same_map(model.fit(3.0 * X, y).embedding_, 3.0 * base)
        moved = model.fit(X[order], y[order]).embedding_
        signs = np.sign((moved * base[order]).sum(axis=0))
        check_same_map(moved * signs, base[order], 1e-7)
        check_same_map(model.fit(X + 100.0, y).dist_matrix_, model.fit(X, y).dist_matrix_, 1e-10)


def test_AM7_equal_rows_become_one_and_get_one_place():
    X, y = in_pieces()
    X = np.concatenate([X, X[:10]])
    agree, contradict = np.concatenate([y, y[:10]]), np.concatenate([y, 1 - y[:10]])
    model = Isostretch(5).fit(X, agree)
    assert model.dist_matrix_.shape == (120, 120) and model.row_map_[120:].tolist() == list(range(10))
    np.testing.assert_array_equal(model.embedding_[120:], model.embedding_[:10])
    np.testing.assert_array_equal(model.embedding_[:120], Isostretch(5).fit(X[:120], y).embedding_)
    unknown = np.where(np.arange(120) < 10, -1, y)
    np.testing.assert_array_equal(
        Isostretch(5).fit(X, contradict).embedding_[:120], Isostretch(5).fit(X[:120], unknown).embedding_
    )


def test_T52_AM11_new_rows_hang_on_plain_edges_and_stretched_paths():
    X, y = in_pieces()
    model = Isostretch(4, n_components=3).fit(X, y)
    new = X[:7] + 0.05
    E = cdist(new, X)
    near = np.argsort(E, axis=1)[:, :4]
    D = np.stack([(E[q, z][:, None] + model.dist_matrix_[z]).min(axis=0) for q, z in enumerate(near)])
    S = model.dist_matrix_**2
    kernel = -0.5 * (D**2 - S.mean(axis=0) - (D**2).mean(axis=1, keepdims=True) + S.mean())
    pca = model.kernel_pca_
    expected = kernel @ pca.eigenvectors_ / np.sqrt(pca.eigenvalues_)
    np.testing.assert_allclose(model.transform(new), expected, atol=1e-9)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)


def test_E127_hidden_labels_cannot_leak():
    """Predictions for rows whose labels are hidden stay the same whatever those labels are."""
    X, y = in_pieces(100)
    hidden = np.random.default_rng(1).permutation(100)[:40]
    shuffled = y.copy()
    shuffled[hidden] = np.random.default_rng(2).permutation(y[hidden])
    assert (shuffled != y).any()
    answers = []
    for labels in (y, shuffled):
        known = labels.copy()
        known[hidden] = -1
        Y = StandardScaler().fit_transform(Isostretch(5, n_components=4).fit_transform(X, known))
        seen = np.setdiff1d(np.arange(100), hidden)
        answers.append(SVC().fit(Y[seen], labels[seen]).predict(Y[hidden]))
    np.testing.assert_array_equal(answers[0], answers[1])
    assert (answers[0] == y[hidden]).mean() > 0.9


def test_E127_folds_of_a_pipeline_never_see_the_held_out_labels():
    """Other labels of the rows of a fold change no answer about that fold."""
    X, y = in_pieces(100, seed=3)
    model = make_pipeline(Isostretch(5, n_components=3), StandardScaler(), KNeighborsClassifier())
    part_of = np.arange(100) % 4
    splits = [(np.flatnonzero(part_of != part), np.flatnonzero(part_of == part)) for part in range(4)]
    said = cross_val_predict(model, X, y, cv=splits)
    for _, held_out in splits:
        other = y.copy()
        other[held_out] = 1 - other[held_out]
        np.testing.assert_array_equal(cross_val_predict(model, X, other, cv=splits)[held_out], said[held_out])
    assert (said == y).mean() > 0.9


def test_AM9_neighbours_by_number_or_within_a_radius_inclusive():
    """Of points 1 apart, a radius of exactly 1 joins neighbours; a hair less leaves each by itself."""
    line = np.arange(6.0)[:, None]
    for model in (RISIMAP(None, 1.0, n_components=1), Isostretch(None, 1.0, n_components=1)):
        found = model.fit(line, [0, 0, 0, 1, 1, 1])
        assert len(found.bridges_) == 0 and found.graph_.graph_.nnz == 10
        assert len(model.set_params(radius=np.nextafter(1.0, 0.0)).fit(line, [0] * 6).bridges_) == 5
    np.testing.assert_array_equal(
        RISIMAP(2, n_components=1).fit(TOY).dist_matrix_, RISIMAP(None, 2.0, n_components=1).fit(TOY).dist_matrix_
    )


def test_AM10_AM14_all_rows_in_one_map_or_new_rows_placed_on_it():
    """Transductive: rows without labels carry paths.  Inductive: they do not, and each is placed by itself."""
    X, y = in_pieces(100, seed=4)
    new = np.arange(100) % 5 == 0
    together = Isostretch(5, n_components=3).fit(X, np.where(new, -1, y))
    apart = Isostretch(5, n_components=3).fit(X[~new], y[~new])
    assert together.dist_matrix_.shape == (100, 100) and apart.dist_matrix_.shape == (80, 80)
    assert not np.allclose(together.dist_matrix_[np.ix_(~new, ~new)], apart.dist_matrix_)
    before = apart.embedding_.copy()
    places = apart.transform(X[new])
    np.testing.assert_array_equal(apart.embedding_, before)
    alone = np.concatenate([apart.transform(row[None]) for row in X[new]])
    np.testing.assert_allclose(alone, places, atol=1e-9 * np.abs(before).max())


def test_AM13_more_dimensions_than_positive_eigenvalues_are_said():
    X, _ = in_pieces(60)
    with pytest.warns(UserWarning, match="eigenvalue"):
        model = RISIMAP(4, n_components=59).fit(X)
    assert model.embedding_.shape[1] < 59 and (model.kernel_pca_.eigenvalues_ > 0).all()


def test_E116_paths_inside_and_an_edge_then_a_path_outside():
    """What the printed lines mean once both symbols are exchanged: straight lines serve edges alone."""
    X, y = in_pieces()
    for model in (RISIMAP(5).fit(X), Isostretch(5).fit(X, y)):
        E, A = cdist(X, X), model.dist_matrix_
        own = model.graph_.graph_.toarray() > 0
        assert (A[~own & (E > 0)] > E[~own & (E > 0)]).mean() > 0.9
        if type(model) is RISIMAP:
            np.testing.assert_allclose(A[own], E[own], rtol=1e-12)
        new = X[:1] + 0.05
        near = np.argsort(cdist(new, X)[0])[:5]
        D = (cdist(new, X)[0, near][:, None] + A[near]).min(axis=0)
        np.testing.assert_allclose(model._scaling.place(D[None]), model.transform(new), atol=1e-9)


def test_E129_a_bridge_can_join_the_wrong_places():
    """Two arms of a U without its bend, nearest where they are open: the bridge closes the wrong end."""
    x = np.arange(0.0, 6.0, 0.25)
    upper, lower = np.column_stack([x, 2.0 + 0.1 * x]), np.column_stack([x, np.zeros_like(x)])
    model = RISIMAP(None, 0.5, n_components=1).fit(np.concatenate([lower, upper]))
    assert model.graph_.n_connected_components_ == 2 and model.bridges_.tolist() == [[0, len(x)]]
    assert model.dist_matrix_[0, len(x)] == 2.0  # along the U it is more than twice the length of an arm
    assert model.certificate_.details["bridges"] == 1


def test_remark_iii_columns_have_their_largest_entry_positive():
    X, y = in_pieces()
    for column in Isostretch(5, n_components=4).fit(X, y)._scaling.vectors.T:
        assert column[np.abs(column).argmax()] > 0


def test_E125_two_components_need_room_for_two_neighbourhoods():
    """Each component has at least k + 1 rows: no graph of n rows is in pieces for 2 (k + 1) > n."""
    X = np.concatenate([np.zeros((10, 2)), np.full((10, 2), 1e6)]) + np.random.default_rng(4).normal(size=(20, 2))
    assert NeighbourGraph(9).fit(X).n_connected_components_ == 2
    assert NeighbourGraph(10).fit(X).n_connected_components_ == 1


def ionosphere():
    path = DATA / "ionosphere" / "ionosphere.csv.gz"
    if not path.exists():
        pytest.skip("the table is not here")
    lines = [line.split(",") for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    rows = [line for line in lines if line[0][:1].isdigit()]
    return np.array([line[:34] for line in rows], dtype=float), np.array([line[34].strip() for line in rows])


def test_T59_E131_ionosphere():
    X, y = ionosphere()
    assert {k: NeighbourGraph(k).fit(X).n_connected_components_ for k in (1, 2, 3)} == {1: 46, 2: 1, 3: 1}
    model = Isostretch(15, n_components=10).fit(X, y)
    assert round(model.floor_, 7) == 0.0999650 and len(model.unique_rows_) == 350 and len(model.bridges_) == 0
    plain = RISIMAP(15, n_components=10).fit(X)
    np.testing.assert_array_equal(plain.embedding_[model.unique_rows_], Isomap(n_neighbors=15, n_components=10).fit(
        X[model.unique_rows_]).embedding_)  # fmt: skip
    assert np.median(np.abs(model.dist_matrix_ / np.where(plain.dist_matrix_ > 0, plain.dist_matrix_, 1) - 1)) < 0.01
    assert len(RISIMAP(1).fit(X).bridges_) == RISIMAP(1).fit(X).graph_.n_connected_components_ - 1 >= 44


def test_T60_E125_arcene():
    path = DATA / "arcene" / "arcene.npz"
    if not path.exists():
        pytest.skip("the table is not here")
    with np.load(path) as table:
        X = np.concatenate([table[name] for name in sorted(table.files) if name.lower().startswith("x")]).astype(float)
        y = np.concatenate([table[name] for name in sorted(table.files) if name.lower().startswith("y")]).ravel()
    assert X.shape == (200, 10_000) and (y > 0).sum() == 88
    E = cdist(X, X)
    components = {
        k: NeighbourGraph(k, metric="precomputed").fit(E).n_connected_components_ for k in (1, 2, 5, 20, 30, 48)
    }
    assert components == {1: 42, 2: 4, 5: 3, 20: 3, 30: 2, 48: 1}
    model = Isostretch(5, n_components=30).fit(X, (y > 0).astype(int))
    assert sorted(np.bincount(model.components_).tolist()) == [48, 68, 84] and len(model.bridges_) == 2
    assert round(model.floor_, 1) == 3033.2 and len(model.unique_rows_) == 200
    with pytest.warns(UserWarning, match="eigenvalue"):
        whole = RISIMAP(6, n_components=199).fit(X)
    assert 105 <= whole.embedding_.shape[1] <= 117
