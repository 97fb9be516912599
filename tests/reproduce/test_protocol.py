"""The protocol: held-out labels stay hidden, errors are counted as the challenge did, scales matter."""

import numpy as np
import pytest

from hyperplan.reproduce import _methods as methods
from hyperplan.reproduce._experiments import same_as_isomap
from hyperplan.reproduce._figures import apart, spread_out
from hyperplan.reproduce._protocol import (
    UNKNOWN,
    answers,
    chosen_inside,
    cross_validated,
    folds,
    gaussian,
    hide,
    paired_difference,
    scaled,
)
from hyperplan.reproduce._store import Store
from hyperplan.reproduce._tables import Table


def clouds(n=60, d=6, gap=2.0, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    return rng.normal(size=(n, d)) + gap * y[:, None], y


def test_folds_are_a_partition_and_seeds_shuffle_anew():
    parts = folds(23, 5, seed=0)
    assert sorted(np.concatenate(parts).tolist()) == list(range(23)) and len(parts) == 5
    assert [part.tolist() for part in parts] == [part.tolist() for part in folds(23, 5, seed=0)]
    assert [part.tolist() for part in parts] != [part.tolist() for part in folds(23, 5, seed=1)]
    assert len(folds(4, 40, seed=0)) == 4  # not more folds than rows


def test_hide_makes_only_the_held_out_labels_unknown_and_leaves_its_argument_alone():
    y = np.array([0, 1, 1, 0])
    assert hide(y, [1, 3]).tolist() == [0, UNKNOWN, 1, UNKNOWN] and y.tolist() == [0, 1, 1, 0]


def test_scalings_do_what_they_say():
    Y = np.random.default_rng(0).normal(size=(50, 3)) * [1.0, 10.0, 100.0] + 5.0
    assert scaled(Y, "none") is Y
    assert np.abs(scaled(Y, "global")).max() == pytest.approx(1.0)
    np.testing.assert_allclose(scaled(Y, "global") * np.abs(Y).max(), Y)
    ranged = scaled(Y, "range")
    np.testing.assert_allclose([ranged.min(axis=0), ranged.max(axis=0)], [[-1] * 3, [1] * 3])
    unit = scaled(np.column_stack([Y, np.ones(50)]), "variance")
    np.testing.assert_allclose(unit.std(axis=0), [1, 1, 1, 0], atol=1e-12)  # a constant column stays one
    with pytest.raises(ValueError, match="how must be one of"):
        scaled(Y, "log")


def test_coordinates_are_asked_with_the_labels_of_the_fold_hidden():
    X, y = clouds()
    seen = []

    def spy(labels):
        seen.append(labels)
        return X

    cross_validated(spy, y, [2], n_folds=4, seeds=2)
    expected = [hide(y, part) for seed in range(2) for part in folds(len(y), 4, seed)]
    assert len(seen) == 8 and all((a == b).all() for a, b in zip(seen, expected))


@pytest.mark.parametrize("stretch", ["before", "after"])
def test_held_out_labels_cannot_leak_into_the_stretch(stretch):
    """Permuting them changes no prediction (E127)."""
    X, y = clouds(50, 4, gap=0.8)
    made = methods.source("isostretch", X, k=5, d=3, stretch=stretch)
    for held_out in folds(len(y), 5, seed=0)[:2]:
        flipped = y.copy()
        flipped[held_out] = 1 - flipped[held_out]
        first, second = (
            answers(gaussian(scaled(made(hide(labels, held_out)), "variance")), labels, held_out)
            for labels in (y, flipped)
        )
        np.testing.assert_array_equal(first, second)
    leaked = methods.embedded("isostretch", X, y, k=5, d=3, stretch=stretch)
    assert not np.allclose(np.abs(leaked), np.abs(made(hide(y, np.arange(len(y))))))  # labels do matter where known


def test_isostretch_without_labels_is_risimap():
    X, _ = clouds(40, 3)
    plain = methods.embedded("risimap", X, k=4, d=3)
    np.testing.assert_allclose(np.abs(methods.embedded("isostretch", X, np.full(40, UNKNOWN), k=4, d=3)), np.abs(plain))


def test_E126_far_coordinates_make_the_kernel_the_identity_and_the_larger_class_the_answer():
    """88 of 200 labels are positive: an error of exactly .44, a balanced error of one half."""
    y = np.random.default_rng(1).permutation(np.repeat([0, 1], [112, 88]))
    Y = np.random.default_rng(0).normal(size=(200, 20)) * 5000 + 3000 * y[:, None]
    plain = cross_validated(lambda _: Y, y, [5, 20], n_folds=10, seeds=2, scaling="none")
    np.testing.assert_allclose(plain.error, 0.44)
    np.testing.assert_allclose(plain.ber, 0.5)
    assert cross_validated(lambda _: Y, y, [20], n_folds=10, seeds=1).error[0, 0] < 0.2


def test_T54_errors_are_balanced_as_the_challenge_counts_them():
    """With 44 positive rows of which one is missed and 56 negative of which four are: .0471, not .05."""
    y = np.repeat([1, 0], [44, 56])
    said = y.copy()
    said[[0, 44, 45, 46, 47]] = 1 - said[[0, 44, 45, 46, 47]]
    from hyperplan.metrics import balanced_error_rate

    assert (
        balanced_error_rate(y, said) == pytest.approx((1 / 44 + 4 / 56) / 2)
        and round((1 / 44 + 4 / 56) / 2, 4) == 0.0471
    )


def test_one_embedding_serves_all_dimensions():
    X, y = clouds(60, 6, gap=0.7)
    together = cross_validated(lambda _: X, y, [2, 4, 99], n_folds=6, seeds=2)
    for j, d in enumerate([2, 4, 6]):  # more than there are means all there are
        alone = cross_validated(lambda _, d=d: X[:, :d], y, [d], n_folds=6, seeds=2)
        np.testing.assert_array_equal(together.error[:, j], alone.error[:, 0])
        np.testing.assert_array_equal(together.wrong[j], alone.wrong[0])
    np.testing.assert_allclose(together.wrong.mean(axis=1), together.error.mean(axis=0))


def test_settings_chosen_inside_do_not_look_at_the_fold():
    X, y = clouds(40, 3, gap=0.9)
    grid = [(1.0, g) for g in (0.01, 0.3, 10.0)]
    _, _, choices = chosen_inside(X, y, n_folds=4, seed=0, grid=grid)
    first = folds(40, 4, seed=0)[0]
    flipped = y.copy()
    flipped[first] = 1 - flipped[first]
    assert chosen_inside(X, flipped, n_folds=4, seed=0, grid=grid)[2][0] == choices[0]
    assert len(choices) == 4 and set(choices) <= set(grid)


def test_paired_differences():
    wrong = np.array([1.0, 0.0, 1.0, 1.0])
    assert paired_difference(wrong, wrong) == (0.0, 0.0)
    mean, deviation = paired_difference(wrong, np.zeros(4))
    assert mean == 0.75 and deviation == pytest.approx(np.std([1, 0, 1, 1], ddof=1) / 2)


@pytest.mark.parametrize("method", [name for name in methods.LABELS if name != "umap"])
def test_every_method_gives_at_most_as_many_coordinates_as_asked_and_they_are_nested(method):
    X, y = clouds(40, 5)
    many, few = (methods.embedded(method, X, y, k=6, d=d) for d in (4, 2))
    if method == "raw":
        assert many is X
        return
    assert many.shape == (40, 4) and few.shape == (40, 2)
    np.testing.assert_allclose(np.abs(many[:, :2]), np.abs(few), atol=1e-6 * np.abs(few).max())


def test_a_rotation_keeps_distances_and_needs_fewer_columns():
    X = np.random.default_rng(0).normal(size=(20, 300))
    Z = methods.same_distances(X)
    assert Z.shape[1] <= 20 and methods.same_distances(Z[:, :5]).shape == (20, 5)
    from hyperplan.metrics.pairwise import euclidean_distances

    np.testing.assert_allclose(euclidean_distances(Z), euclidean_distances(X), atol=1e-6)


def test_bridges_are_one_less_than_pieces():
    X = np.array([0, 1, 2, 10, 11, 12, 30, 31, 32], dtype=float)[:, None]
    assert methods.n_bridges(X, 2) == 2 and methods.n_bridges(X, 4) == 0


def test_a_part_is_kept_until_the_whole_is_there(tmp_path):
    def fails():
        raise KeyboardInterrupt

    def whole(store, second):
        def make():
            return store.part("sum", "key", "a", lambda: 1) + store.part("sum", "key", "b", second)

        return store.once("sum", "key", make)

    with pytest.raises(KeyboardInterrupt):
        whole(Store(tmp_path), fails)
    begun = Store(tmp_path)
    assert begun.results() == {} and not begun.has("sum", "key") and begun.entries["sum"]["parts"] == {"a": 1}
    assert begun.part("sum", "key", "a", fails) == 1  # not made again
    assert begun.part("sum", "other key", "a", lambda: 5) == 5  # unless the settings are others
    assert whole(Store(tmp_path), lambda: 2) == 3
    assert Store(tmp_path).results() == {"sum": 3} and "parts" not in Store(tmp_path).entries["sum"]


def test_copies_are_left_out_where_isomap_and_risimap_are_compared():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    found = same_as_isomap(Table(np.concatenate([X, X[:3]]), np.zeros(63), 63), [8, 12], 3, lambda: None)
    assert found["copies"] == 3 and max(found["largest_difference"]) < 1e-9


def test_names_and_pictures_do_not_overlap():
    heights = np.array([3.0, 1.0, 1.1, 1.05, 9.0])
    places = apart(heights, 0.5)
    assert np.diff(np.sort(places)).min() >= 0.5 - 1e-12 and (np.argsort(places) == np.argsort(heights)).all()
    assert places.mean() == pytest.approx(heights.mean())
    pixels = np.random.default_rng(0).random((300, 2)) * 400
    chosen = pixels[spread_out(pixels, 40.0)]
    gaps = np.abs(chosen[:, None] - chosen[None]).max(axis=2)[~np.eye(len(chosen), dtype=bool)]
    assert len(chosen) > 30 and gaps.min() >= 40.0
