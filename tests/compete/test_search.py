"""The search of settings: what is tried, in which rounds, and that it finds what it should."""

import numpy as np
import pytest

from hyperplan._base.candidate import Candidate, Range
from hyperplan.compete._columns import guess_columns
from hyperplan.compete._columns_values import typed_values
from hyperplan.compete._folds import make_splits
from hyperplan.compete._problem import ALL_ROWS, Problem
from hyperplan.compete._registry import candidates
from hyperplan.compete._search import (
    EVEN_CLASSES,
    KEPT,
    SMALL,
    drawn_settings,
    inner_splits,
    rounds,
    search,
    search_cost,
    settings_for_metric,
    settings_to_try,
)

TREE = Candidate(
    "tree.DecisionTreeRegressor",
    "regression",
    "Tree",
    20,
    "trees",
    (0.01, 0.1),
    {"max_depth": 1, "random_state": 0},
    {"max_depth": Range(1, 8, whole=True)},
    portfolio=({"max_depth": 6},),
)
BOOSTING = next(c for c in candidates("regression") if c.name == "HistGradientBoostingRegressor")


def table(n, seed=0):
    import pandas

    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    return frame, np.sin(3 * frame["a"].to_numpy()) + 0.05 * rng.normal(size=n)


def problem(n=300, metric="r2", y=None, groups=None, order=None):
    frame, target = table(n)
    y, classes = (target, ()) if y is None else (y, tuple(str(k) for k in np.unique(y)))
    columns = guess_columns(frame)
    typed = {column.name: typed_values(frame[column.name], column) for column in columns}
    task = "classification" if classes else "regression"
    splits = make_splits(y, "plain", 5, 1, 0)
    return Problem(task, columns, typed, y, classes, metric, splits, 5, groups, order, 0)


def test_defaults_then_known_then_drawn():
    rng = np.random.default_rng(0)
    tried = settings_to_try(BOOSTING, 9, rng)
    known = [dict(settings) for settings in BOOSTING.portfolio]
    assert tried[: 1 + len(known)] == [{}, *known] and len(tried) == 9
    assert all(set(settings) == set(BOOSTING.space) for settings in tried[1 + len(known) :])
    assert settings_to_try(BOOSTING, 2, rng) == [{}, known[0]]


def test_draws_cover_each_slice_of_a_range_once():
    depths = sorted(s["max_depth"] for s in drawn_settings(TREE, 7, np.random.default_rng(3)))
    assert len(depths) == 7 and depths[0] <= 2 and depths[-1] >= 7 and max(np.diff(depths)) <= 2


@pytest.mark.parametrize("space", [Range(1e-3, 10, log=True), Range(2.0, 3.0), Range(3, 60, log=True, whole=True)])
def test_ranges_are_kept(space):
    values = [space.draw(share) for share in np.linspace(0, 0.999, 50)]
    assert min(values) == pytest.approx(space.low) and max(values) <= space.high and values == sorted(values)
    assert all(type(value) is (int if space.whole else float) for value in values)


@pytest.mark.parametrize("n_rows", [100, SMALL, SMALL + 1, 100_000])
def test_last_round_judges_on_everything(n_rows):
    for n_tries in (4, 9, 18, 72):
        stages = rounds(n_rows, n_tries)
        shares, counts = zip(*stages)
        assert shares[-1] == 1 and list(shares) == sorted(shares) and list(counts) == sorted(counts)
        assert 1 < len(stages) <= 3 and (n_rows > SMALL or counts[-1] == 4)


def test_cost_grows_with_tries_and_is_that_of_the_fits():
    costs = [search_cost(20_000, n) for n in (1, 4, 9, 18, 72)]
    assert costs[0] == 0 and costs == sorted(costs)
    # four tries on a third of the rows, then the best and the defaults on all, each on four fifths
    assert costs[1] == pytest.approx(0.8 * (4 / KEPT + 2))


def test_finds_the_deeper_tree_and_says_so():
    found = search(problem(), TREE, ALL_ROWS, 4)
    assert found.settings["max_depth"] > 2 and found.tried == 4


def test_same_answer_each_time():
    noisy = problem()._replace(y=np.random.default_rng(1).normal(size=300))
    for candidate, n_tries in ((TREE, 12), (BOOSTING, 2)):
        assert search(noisy, candidate, 1, n_tries) == search(noisy, candidate, 1, n_tries)


def test_one_try_is_the_defaults():
    assert search(problem(), TREE, ALL_ROWS, 1).settings == {}


def test_boosting_finds_its_number_of_rounds():
    rng = np.random.default_rng(0)
    quick = BOOSTING._replace(rounds=("max_iter", 60))
    noise = problem()._replace(y=rng.normal(size=300))
    few = search(noise, quick, ALL_ROWS, 2).settings["max_iter"]
    many = search(problem(), quick, ALL_ROWS, 2).settings["max_iter"]
    assert few < 10 < many <= 60


def test_settings_that_fail_are_not_chosen():
    broken = TREE._replace(defaults={"random_state": 0}, portfolio=({"max_depth": -1}, {"max_depth": 5}))
    assert search(problem(), broken, ALL_ROWS, 3).settings != {"max_depth": -1}


def test_rare_classes_count_more_where_the_metric_counts_classes():
    y = (np.arange(300) % 10 == 0).astype(int) + (np.arange(300) % 30 == 0)
    asked = problem(y=y, metric="balanced_accuracy")
    supports = {c.name: settings_for_metric(asked, c) for c in candidates("classification")}
    assert supports["RandomForestClassifier"] == {"class_weight": "balanced"} and supports["ConstantClassifier"] == {}
    assert settings_for_metric(asked._replace(metric="neg_log_loss"), candidates("classification")[-1]) == {}
    assert EVEN_CLASSES[0] == asked.metric


def test_inner_splits_keep_groups_together_and_time_in_order():
    groups, order = np.arange(300) // 10, np.arange(300)[::-1]
    rng = np.random.default_rng(0)
    for train, test in inner_splits(problem(groups=groups), np.arange(300), rng):
        assert not set(groups[train]) & set(groups[test])
    for train, test in inner_splits(problem(order=order), np.arange(300), rng):
        assert order[train].max() < order[test].min()


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_candidate_can_be_built_with_what_it_lists(task):
    rng = np.random.default_rng(0)
    for candidate in candidates(task):
        known = candidate.build({}).get_params()
        for settings in [*candidate.portfolio, *drawn_settings(candidate, 3, rng)]:
            assert set(settings) <= set(known), candidate.name
            candidate.build(settings)
        assert candidate.rounds is None or candidate.rounds[0] in known
