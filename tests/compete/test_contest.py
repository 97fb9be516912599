"""The contest with a clock and workers of its own: who plays, how many settings they try, when it ends."""

from types import SimpleNamespace

import numpy as np
import pytest

from hyperplan._base.candidate import Candidate, Range
from hyperplan.compete import _contest
from hyperplan.compete._columns import Column
from hyperplan.compete._contest import (
    FEWER,
    LEVELS,
    PROBE,
    Contest,
    Entry,
    run_contest,
)
from hyperplan.compete._contest_splits import FEWEST_SPLITS, _enough, keep_common_splits
from hyperplan.compete._crew import TIMED_OUT, Answer
from hyperplan.compete._folds import make_splits
from hyperplan.compete._problem import Problem
from hyperplan.compete._search import search_cost
from hyperplan.compete._standings import make_standings
from hyperplan.compete._trial import Outcome

SPACE = {"depth": Range(1, 9)}


class Clock:
    """Goes on only when somebody works."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


class Model:
    """How a made-up candidate behaves: seconds of a fit, score, and what happens instead of an answer."""

    def __init__(self, name, seconds, score, *, simplicity=50, space=SPACE, trouble=None, effort=1.0, real_effort=None,
                 most_rows=None, rounds=None, real_seconds=None):  # fmt: skip
        shared = {"space": space, "effort": effort, "most_rows": most_rows, "rounds": rounds}
        self.candidate = Candidate(f"made.{name}", "regression", name, simplicity, "trees", (seconds, 0.0), **shared)
        self.seconds, self.score, self.trouble = real_seconds or seconds, score, trouble
        self.real_effort = real_effort

    def work(self, problem, trial):
        fits = 1.0
        if trial.n_tries > 1:
            fits += search_cost(len(problem.splits[trial.split].train), trial.n_tries)
            fits *= self.real_effort or self.candidate.effort
        score = self.score + 0.001 * trial.split + 0.01 * (trial.n_tries > 1)
        test = problem.splits[trial.split].test
        seconds = self.seconds * fits
        return Outcome(np.zeros(len(test)), score, score, {}, seconds, 0.0, seconds, None)


class FakeCrew:
    """One worker that needs no processes: it moves the clock instead of working."""

    def __init__(self, problem, models, clock):
        self.problem, self.clock = problem, clock
        self.models = {model.candidate.name: model for model in models}
        self.done = []

    def here(self, problem, trial):
        """A trial in the process of the contest, which nobody can end."""
        model = self.models[trial.candidate.name]
        if model.trouble == "error":
            raise ValueError("made up")
        outcome = model.work(problem, trial)
        self.clock.now += outcome.seconds
        return outcome

    def run(self, requests, deadline, is_wanted=lambda key: True):
        for key, _, (trial,), allowed in requests:
            if self.clock.now >= deadline or not is_wanted(key):
                continue
            model = self.models[trial.candidate.name]
            if model.trouble == "ctrl-c" and trial.split > 0:
                raise KeyboardInterrupt
            if model.trouble == "error":
                yield Answer(key, False, "ValueError: made up")
                continue
            outcome = model.work(self.problem, trial)
            limit = min(allowed, deadline - self.clock.now)
            self.clock.now += min(outcome.seconds, limit)
            self.done.append((trial.candidate.name, trial.split, trial.n_tries))
            yield Answer(key, True, outcome) if outcome.seconds <= limit else Answer(key, False, TIMED_OUT)


@pytest.fixture
def play(monkeypatch):
    def run(models, budget, n=1000, repeats=1):
        y = np.arange(n, dtype=np.float64)
        splits = make_splits(y, "plain", 5, repeats, 0)
        problem = Problem("regression", (), {}, y, (), "r2", splits, 5, None, None, 0)
        clock = Clock()
        monkeypatch.setattr(_contest, "working_time", clock.monotonic)
        crew = FakeCrew(problem, models, clock)
        monkeypatch.setattr(_contest, "run_trial", crew.here)
        events = []
        began = clock.now
        candidates = [model.candidate for model in models]
        contest = run_contest(problem, candidates, crew, began + budget, 1, lambda **event: events.append(event))
        entries = {entry.candidate.name: entry for entry in contest.entries}
        return SimpleNamespace(
            contest=contest, entries=entries, crew=crew, events=events, used=clock.now - began, problem=problem
        )

    return run


def baseline(**how):
    return Model("Mean", 0.001, 0.0, simplicity=0, space={}, **how)


def test_with_time_enough_everybody_finishes_all_splits(play):
    found = play([baseline(), Model("A", 0.1, 0.7), Model("B", 0.1, 0.8)], budget=10_000, repeats=2)
    assert all(sorted(entry.outcomes) == list(range(10)) for entry in found.contest.left())
    assert len(found.contest.left()) == 3 and not found.contest.was_interrupted
    assert {found.entries[name].n_tries for name in "AB"} == {LEVELS[-1]} and found.entries["Mean"].n_tries == 1


@pytest.mark.parametrize("budget", [3, 10, 30, 100])
def test_the_budget_is_kept_and_the_splits_are_shared(play, budget):
    models = [baseline(), Model("A", 0.4, 0.7, simplicity=10), Model("B", 0.2, 0.8), Model("C", 0.8, 0.9, effort=2.5)]
    found = play(models, budget)
    assert found.used <= budget + 1e-9
    left = found.contest.left()
    assert len({tuple(sorted(entry.outcomes)) for entry in left}) == 1
    assert len(left[0].outcomes) >= FEWEST_SPLITS and "Mean" in {entry.candidate.name for entry in left}


def test_the_cheapest_are_screened_first(play):
    found = play([Model("Slow", 2.0, 0.9), Model("Quick", 0.1, 0.5), baseline()], budget=60)
    assert [name for name, _, _ in found.crew.done[:2]] == ["Quick", "Slow"]


@pytest.mark.parametrize("budget", [-5.0, 0.0, 1e-4, 0.5])
def test_the_baseline_runs_whatever_the_budget(play, budget):
    """Also where the clock of a busy machine has passed the deadline before anything began."""
    found = play([baseline(real_seconds=3.0), Model("A", 1.0, 0.7), Model("B", 2.0, 0.8)], budget, repeats=2)
    assert [entry.candidate.name for entry in found.contest.left()] == ["Mean"]
    assert sorted(found.entries["Mean"].outcomes) == list(range(10))
    assert {(found.entries[name].status, found.entries[name].reason) for name in "AB"} == {("skipped", "budget")}
    standings = make_standings(found.contest)
    assert standings.chosen is standings.best is found.entries["Mean"] and standings.why == "only"
    assert [(row["name"], row["status"]) for row in standings.rows] == [
        ("Mean", "ok"),
        ("A", "skipped"),
        ("B", "skipped"),
    ]


def test_a_baseline_that_takes_the_whole_budget_is_neither_slow_nor_too_large(play):
    slow = baseline(real_seconds=100.0, most_rows=1)
    found = play([slow, Model("A", 0.1, 0.7)], budget=60)
    assert found.entries["Mean"].status == "ok" and len(found.entries["Mean"].outcomes) == 5
    assert found.entries["A"].reason == "budget"


def test_a_baseline_that_fails_says_why_and_ends_nothing(play):
    found = play([baseline(trouble="error"), Model("A", 0.1, 0.7)], budget=60)
    assert (found.entries["Mean"].status, found.entries["Mean"].reason) == ("failed", "ValueError: made up")
    assert len(found.entries["A"].outcomes) == 5


def test_models_that_saw_one_split_are_judged_on_it_though_the_baseline_saw_all(play):
    found = play([baseline(), Model("A", 4.0, 0.7, space={}), Model("B", 4.0, 0.8, space={})], budget=11)
    assert {e.candidate.name: list(e.outcomes) for e in found.contest.left()} == {"Mean": [0], "A": [0], "B": [0]}
    assert make_standings(found.contest).chosen is found.entries["B"]


def test_the_poor_and_slow_make_room_for_the_search_of_the_good(play):
    found = play([baseline(), Model("Good", 1.0, 0.9), Model("Poor", 8.0, 0.5)], budget=60, n=10_000)
    assert (found.entries["Poor"].status, found.entries["Poor"].reason) == ("skipped", "slow")
    assert found.entries["Good"].n_tries > 1 and found.entries["Good"].status == "ok"


def test_a_slow_leader_does_not_drive_its_rivals_out(play):
    """Alone it would have beaten nobody, and on one split, for there is not time for more of it."""
    models = [baseline(), Model("Leader", 9.0, 0.9, space={}), Model("Good", 1.0, 0.8, space={}),
              Model("Fair", 1.0, 0.7, space={}), Model("Poor", 8.0, 0.5, space={})]  # fmt: skip
    found = play(models, budget=60, n=10_000)
    names = {entry.candidate.name for entry in found.contest.left()}
    assert names == {"Mean", "Leader", "Good", "Fair"} and found.entries["Poor"].reason == "slow"
    assert len(found.entries["Leader"].outcomes) == len(found.entries["Good"].outcomes) >= 3


def test_those_who_made_room_for_nothing_are_compared_on_the_split_they_saw(play):
    """The screening takes nearly all the time: nobody sees a second split, everybody has seen the first."""
    models = [baseline(), *(Model(name, 2.0, score) for name, score in (("A", 0.7), ("B", 0.8), ("C", 0.6)))]
    found = play(models, budget=7)
    left = {entry.candidate.name: list(entry.outcomes) for entry in found.contest.left()}
    assert left == {"Mean": [0], "A": [0], "B": [0], "C": [0]}
    assert {entry.n_tries for entry in found.contest.left()} == {1}
    standings = make_standings(found.contest)
    assert standings.chosen is found.entries["B"] and standings.score["method"] == "one_split"


def test_the_poor_and_cheap_stay(play):
    found = play([baseline(), Model("Good", 1.0, 0.9), Model("Poor", 0.05, 0.5)], budget=60)
    assert found.entries["Poor"].status == "ok"


def test_the_more_promising_tries_more(play):
    found = play([baseline(), Model("Third", 0.5, 0.6), Model("First", 0.5, 0.8), Model("Second", 0.5, 0.7)], budget=90)
    tries = [found.entries[name].n_tries for name in ("First", "Second", "Third")]
    assert tries == sorted(tries, reverse=True) and tries[0] > tries[-1] >= 1


def test_dear_searches_are_planned_as_such(play):
    cheap, dear = (play([baseline(), Model("A", 0.5, 0.8, effort=effort)], budget=60, n=10_000) for effort in (1, 4))
    assert cheap.entries["A"].n_tries > dear.entries["A"].n_tries


def test_the_screened_split_is_judged_again_with_searched_settings(play):
    found = play([baseline(), Model("A", 0.1, 0.7)], budget=200)
    assert found.entries["A"].n_tries > 1
    assert found.entries["A"].outcomes[0].score == pytest.approx(0.71)


def test_a_search_that_takes_too_long_costs_the_search_and_not_the_candidate(play):
    found = play([baseline(), Model("A", 0.2, 0.7), Model("Dear", 0.2, 0.9, real_effort=40.0)], budget=300)
    dear = found.entries["Dear"]
    assert (dear.status, dear.n_tries, len(dear.outcomes)) == ("ok", 1, 5)
    assert dear.outcomes[0].score == pytest.approx(0.9) and found.entries["A"].n_tries > 1


def test_a_search_that_takes_too_long_is_made_again_with_fewer_tries(play):
    found = play([baseline(), Model("A", 0.2, 0.9, real_effort=3.5)], budget=300)
    levels = [n_tries for name, split, n_tries in found.crew.done if name == "A" and split == 0]
    entry = found.entries["A"]
    assert (entry.status, len(entry.outcomes)) == ("ok", 5)
    assert levels[0] == 1 and 1 < entry.n_tries == levels[-1] <= levels[-2] // FEWER
    assert {round(outcome.score - 0.001 * split, 6) for split, outcome in entry.outcomes.items()} == {0.91}


def test_a_search_whose_cost_nobody_knows_is_tried_on_the_first_split(play):
    models = [baseline(), Model("A", 0.3, 0.7), Model("Grows", 0.3, 0.8, rounds=("max_iter", 9), real_effort=5.0)]
    found = play(models, budget=150, n=10_000)
    grown = found.entries["Grows"]
    assert found.crew.done[2] == ("Grows", 0, PROBE) and grown.probed.score == pytest.approx(0.81)
    assert grown.status == "ok" and grown.n_tries > 1 and len(grown.outcomes) == 5
    tried = [n_tries for name, _, n_tries in found.crew.done if name == "Grows"]
    assert max(tried) == grown.n_tries and tried.count(grown.n_tries) == 5  # nothing that was begun took too long


def test_a_probe_that_is_what_the_plan_asks_for_is_not_repeated(play):
    models = [baseline(), Model("Grows", 0.3, 0.8, rounds=("max_iter", 9), real_effort=13.0)]
    found = play(models, budget=120, n=10_000)
    assert found.entries["Grows"].n_tries == PROBE and len(found.entries["Grows"].outcomes) == 5
    assert found.crew.done.count(("Grows", 0, PROBE)) == 1


def test_a_probe_without_an_end_leaves_the_defaults(play):
    models = [baseline(), Model("A", 0.2, 0.7), Model("Grows", 0.5, 0.9, rounds=("max_iter", 9), real_effort=1e3)]
    found = play(models, budget=60, n=10_000)
    grown = found.entries["Grows"]
    assert (grown.status, grown.n_tries, grown.probed, len(grown.outcomes)) == ("ok", 1, None, 5)


def test_a_failure_is_reported_and_ends_nothing(play):
    found = play([baseline(), Model("Broken", 0.1, 0.9, trouble="error"), Model("A", 0.1, 0.7)], budget=60)
    broken = found.entries["Broken"]
    assert (broken.status, broken.reason) == ("failed", "ValueError: made up")
    assert len(found.entries["A"].outcomes) == 5


def test_too_slow_for_the_screening(play):
    found = play([baseline(), Model("Endless", 1e6, 0.9), Model("A", 0.1, 0.7)], budget=60)
    assert (found.entries["Endless"].status, found.entries["Endless"].reason) == ("skipped", "slow")
    assert len(found.entries["A"].outcomes) == 5


def test_a_cost_far_beyond_its_model_is_not_waited_for(play):
    found = play([baseline(), Model("Wide", 0.1, 0.9, real_seconds=20.0), Model("A", 0.1, 0.7)], budget=60)
    assert (found.entries["Wide"].status, found.entries["Wide"].reason) == ("skipped", "slow")
    assert found.entries["A"].n_tries > LEVELS[0]


def test_a_table_with_more_columns_than_a_candidate_takes():
    y = np.arange(100.0)
    codes = Column("code", "category", "few", "object", 0.0, 900, ())
    columns = (codes, Column("size", "number", "numbers", "float64", 0.0, 100, ()))
    problem = Problem("regression", columns, {}, y, (), "r2", make_splits(y, "plain", 5, 1, 0), 5, None, None, 0)
    contest = Contest(problem, [], None, 0.0, 1)
    candidate = Model("A", 0.1, 0.7).candidate
    assert not contest._is_too_large(candidate)
    assert not contest._is_too_large(candidate._replace(most_columns=100))  # trees see the codes as one column
    assert contest._is_too_large(candidate._replace(most_columns=900, preparation="linear"))
    assert not contest._is_too_large(candidate._replace(most_columns=901, preparation="linear"))


def test_a_table_with_more_rows_than_a_candidate_takes(play):
    models = [baseline(), Model("Few", 0.1, 0.9, most_rows=999), Model("Many", 0.1, 0.7, most_rows=1000)]
    found = play(models, budget=60, n=1000)
    assert (found.entries["Few"].status, found.entries["Few"].reason) == ("skipped", "slow")
    assert "Few" not in {name for name, _, _ in found.crew.done} and len(found.entries["Many"].outcomes) == 5


def test_the_leader_stays_when_others_got_farther():
    y = np.arange(100.0)
    problem = Problem("regression", (), {}, y, (), "r2", make_splits(y, "plain", 5, 1, 0), 5, None, None, 0)
    names = ("A", "B", "C", "Leader")
    entries = [Entry(Model(name, 0.1, 0.7).candidate) for name in names]
    for entry, count, score in zip(entries, (5, 5, 5, 3), (0.5, 0.5, 0.5, 0.9)):
        entry.outcomes = {split: Outcome(np.zeros(20), score, score, {}, 0, 0, 0, None) for split in range(count)}
    contest = Contest(problem, entries, None, 0.0, 1)
    keep_common_splits(contest)
    assert [len(entry.outcomes) for entry in contest.left()] == [3, 3, 3, 3]


@pytest.mark.parametrize(
    ("counts", "needed"),
    [([5, 5, 5, 5], 5), ([5, 4, 4, 4], 4), ([5, 5, 5, 1], 5), ([1, 1, 0], 1), ([10, 10, 10, 7], 10), ([], 0)],
)
def test_the_last_splits_are_not_worth_most_of_the_candidates(counts, needed):
    assert _enough(counts) == needed


def test_the_baseline_stays_when_a_slow_candidate_got_farther():
    y = np.arange(100.0)
    problem = Problem("regression", (), {}, y, (), "r2", make_splits(y, "plain", 5, 1, 0), 5, None, None, 0)
    entries = [Entry(model.candidate) for model in (baseline(), Model("A", 0.1, 0.7), Model("B", 0.1, 0.8))]
    for entry, count in zip(entries, (3, 5, 5)):
        entry.outcomes = {split: Outcome(np.zeros(20), 0.5, 0.5, {}, 0, 0, 0, None) for split in range(count)}
    contest = Contest(problem, entries, None, 0.0, 1)
    keep_common_splits(contest)
    assert [sorted(entry.outcomes) for entry in contest.left()] == [[0, 1, 2]] * 3


def test_ctrl_c_keeps_what_there_is(play):
    found = play([baseline(), Model("A", 0.1, 0.7, trouble="ctrl-c", space={})], budget=60)
    assert found.contest.was_interrupted
    assert list(found.entries["A"].outcomes) == [0] == list(found.entries["Mean"].outcomes)


def test_progress_is_told_with_its_phase(play):
    found = play([baseline(), Model("A", 0.1, 0.7)], budget=60)
    phases = [event["phase"] for event in found.events]
    assert phases == sorted(phases, key=["screening", "running"].index) and set(phases) == {"screening", "running"}
    last = found.events[-1]
    assert last["done"] == last["total"]


def test_time_that_is_left_goes_into_a_longer_search_of_the_best(play):
    quick = Model("Quick", 1.0, 0.8, effort=8.0, real_effort=1.0)  # searches take an eighth of what was feared
    found = play([baseline(), quick], budget=130)
    first = next(n_tries for _, _, n_tries in found.crew.done if n_tries > 1)
    assert found.entries["Quick"].n_tries > first and found.used <= 130
    assert sorted(found.entries["Quick"].outcomes) == list(range(5))


def test_a_longer_search_that_does_not_end_changes_nothing(play):
    class Stubborn(Model):
        """The more is tried, the longer each try takes."""

        def work(self, problem, trial):
            found = super().work(problem, trial)
            return found._replace(seconds=found.seconds * (50 if trial.n_tries > self.known else 1))

    model = Stubborn("A", 1.0, 0.8, effort=8.0, real_effort=1.0)
    model.known = next(n for _, _, n in play([baseline(), model_like(model)], budget=130).crew.done if n > 1)
    found = play([baseline(), model], budget=130)
    entry = found.entries["A"]
    assert max(n_tries for _, _, n_tries in found.crew.done) > model.known  # it was begun
    assert (entry.status, entry.n_tries, sorted(entry.outcomes)) == ("ok", model.known, list(range(5)))


def model_like(model):
    """The same model as it behaves in short searches."""
    return Model(model.candidate.name, 1.0, 0.8, effort=8.0, real_effort=1.0)


def test_time_is_for_those_that_may_win_before_the_others(play):
    models = [baseline(), Model("Far", 0.1, 0.5), Model("Near", 1.0, 0.8)]
    found = play(models, budget=60)
    alone = play([baseline(), Model("Near", 1.0, 0.8)], budget=60)
    assert 1 < found.entries["Near"].n_tries == alone.entries["Near"].n_tries


def test_a_slow_second_does_not_take_the_quicker_ones_along(play):
    second, third = Model("Second", 3.0, 0.8, space={}), Model("Third", 0.5, 0.7, space={})
    found = play([baseline(), Model("First", 2.4, 0.9, space={}), second, third], budget=16.5)
    assert {entry.candidate.name for entry in found.contest.left()} == {"Mean", "First", "Third"}
    assert (found.entries["Second"].status, found.entries["Second"].reason) == ("skipped", "slow")
