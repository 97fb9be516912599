"""The rules of the clustering competition, without fitting anything, and with methods that fail."""

import numpy as np
import pytest

from hyperplan.explore import _contest as contest
from hyperplan.explore._clock import Clock
from hyperplan.explore._contest import Entry, choose, contenders, run_contest
from hyperplan.explore._judge import NO_GROUPS, Scores
from hyperplan.explore._methods import METHODS, Method, methods, numbers_of_groups, sight_of

K_MEANS, DBSCAN = METHODS[0], METHODS[1]


def entry(method=K_MEANS, separation=0.95, silhouette=0.5, stability=1.0, null=0.5, groups=3, draws=20):
    rng = np.random.default_rng(0)
    made = Entry(method, 0, {}, labels=np.ones(4, dtype=int), scores=Scores(groups, 1.0, silhouette, 9.0, separation))
    made.agreements = [stability] * 3
    made.null = [NO_GROUPS._replace(separation=null + 0.01 * rng.normal(), silhouette=0.3) for _ in range(draws)]
    return made


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (entry(), "real"),
        (entry(stability=0.74), "unstable"),
        (entry(null=0.94, silhouette=0.3), "chance"),
        (entry(null=0.94, silhouette=0.5), "real"),  # silhouette tells what separation cannot
        (entry(separation=0.6), "chance"),  # far above nothing, but neighbours are torn apart
        (entry(groups=1), "one_group"),
        (entry(draws=4), "untested"),
        (Entry(K_MEANS, 0, {}, reason="budget"), "late"),
        (Entry(K_MEANS, 0, {}, reason="ValueError: no"), "failed"),
    ],
)
def test_verdicts(made, verdict):
    assert made.verdict == verdict


def test_which_score_tells():
    assert entry().telling == "separation" and entry(null=0.94).telling == "silhouette"
    assert np.isnan(entry(draws=4).excess) and entry().excess > 20


def test_of_equally_separated_ones_the_larger_silhouette_then_the_simpler_method_is_chosen():
    apart, round_ones, simple = entry(DBSCAN, 0.99, 0.4), entry(DBSCAN, 0.97, 0.6), entry(K_MEANS, 0.97, 0.598)
    torn = entry(K_MEANS, 0.9, 0.9)
    assert choose([apart, torn]) is apart
    assert choose([apart, round_ones, torn]) is round_ones
    assert choose([apart, round_ones, simple, torn]) is simple
    assert choose([entry(stability=0.5)]) is None and choose([]) is None


def test_a_method_sends_few_settings_to_the_tables_without_groups():
    listed = [entry(silhouette=0.1 * k) for k in range(9)] + [entry(DBSCAN), entry(DBSCAN, stability=0.2)]
    kept = contenders(listed)
    assert kept == [listed[8], listed[7], listed[6], listed[5], listed[9]]
    listed[0].null = []
    assert listed[0].verdict == "behind"


def test_short_of_time_each_method_sends_its_best_first():
    listed = [entry(silhouette=0.3), entry(silhouette=0.2), entry(DBSCAN)]
    for one in listed:
        one.seconds = 1.0
    assert contest._affordable(listed, Clock(600.0)) == [listed[0], listed[2], listed[1]]
    assert contest._affordable(listed, Clock(17.0)) == [listed[0], listed[2]]
    assert contest._affordable(listed, Clock(1.0)) == [listed[0]]
    assert contest._affordable([], Clock(1.0)) == []


class Cloud:
    """A reference that is one cloud."""

    def __init__(self, shape):
        self._shape = shape

    def cost(self, number):
        return 0.0

    def points(self, number):
        return np.random.default_rng(number).normal(size=self._shape)


def run(points, listed, seconds=600.0):
    return run_contest(points, Cloud(points.shape), listed, 0, Clock(seconds), lambda **event: None)


@pytest.fixture(scope="module")
def corners():
    rng = np.random.default_rng(0)
    return rng.normal(size=(120, 2)) + 9.0 * np.array([[0, 0], [1, 0], [0, 1]])[np.arange(120) % 3]


def test_groups_that_are_there_are_found_by_every_method_that_likes_them(corners):
    found = run(corners, METHODS)
    assert found.n_refits == contest.REFITS and found.n_draws == contest.DRAWS
    for method in METHODS[:4]:
        best = found.best_of(method)
        assert best.verdict == "real" and best.scores.n_groups == 3, method.name
    assert found.chosen is found.best_of(K_MEANS)
    for code in range(3):
        assert len(set(found.chosen.labels[code::3])) == 1


@pytest.mark.parametrize("d", [1, 2, 5])
def test_where_there_are_none_none_is_chosen(d):
    found = run(np.random.default_rng(100 + d).normal(size=(250, d)), METHODS[:3])
    assert found.chosen is None


def test_a_method_that_fails_is_reported_and_the_others_go_on(corners):
    broken = Method("k_means", "cluster.NoSuchThing", K_MEANS.settings)
    found = run(corners, (broken, DBSCAN))
    assert {one.verdict for one in found.entries if one.method is broken} == {"failed"}
    assert "NoSuchThing" in found.entries[0].reason and found.chosen.method is DBSCAN


def test_without_time_the_first_setting_of_each_method_is_tried_and_nothing_is_believed(corners):
    found = run(corners, METHODS[:2], seconds=1e-9)
    tried = [one for one in found.entries if one.labels is not None]
    assert [one.method for one in tried] == [K_MEANS, DBSCAN] and found.chosen is None
    assert {one.verdict for one in found.entries if one not in tried} == {"late"}


def test_settings_fit_the_rows():
    for n in (10, 12, 40, 500):
        sight = sight_of(np.random.default_rng(0).normal(size=(n, 3)), 0)
        assert numbers_of_groups(sight)[0] == 2 and max(numbers_of_groups(sight)) <= max(2, n // 10)
        for method in METHODS:
            for settings in method.settings(sight):
                labels = method.build(settings).fit_predict(np.random.default_rng(1).normal(size=(n, 3)))
                assert len(labels) == n


def test_unknown_methods_are_named():
    with pytest.raises(ValueError, match=r"no clustering method named kmean; there are k_means, dbscan"):
        methods(["kmean"])
