"""Standings from scores that are known: ties, the simplest of the tied, bias correction, what did not finish."""

import numpy as np
import pytest

from hyperplan._base.candidate import Candidate
from hyperplan.compete._contest import Contest, Entry
from hyperplan.compete._errors import CompetitionError
from hyperplan.compete._folds import make_splits
from hyperplan.compete._problem import Problem
from hyperplan.compete._standings import LEVEL, make_standings, other_metrics, plain_settings, pooled, score_interval
from hyperplan.compete._trial import Outcome
from hyperplan.evaluation import corrected_t_interval

N, FOLDS = 500, 5
BASE = np.array([0.90, 0.85, 0.88, 0.91, 0.86])


def number_problem(n=N, metric="r2", seed=0):
    y = np.random.default_rng(seed).normal(size=n)
    return Problem("regression", (), {}, y, (), metric, make_splits(y, "plain", FOLDS, 1, 0), FOLDS, None, None, 0)


def class_problem(n=N):
    y = np.random.default_rng(0).integers(0, 2, n)
    splits = make_splits(y, "stratified", FOLDS, 1, 0)
    return Problem("classification", (), {}, y, ("no", "yes"), "accuracy", splits, FOLDS, None, None, 0)


def entry(problem, name, prediction, simplicity, scores=None, n_splits=FOLDS):
    """An entry that made a prediction for every row; scores are computed unless they are given."""
    made = Entry(Candidate(f"made.{name}", problem.task, name, simplicity, "trees", (0.1, 0.1)))
    for split in range(n_splits):
        test = problem.splits[split].test
        score = problem.measure.score(problem.y[test], prediction[test]) if scores is None else scores[split]
        made.outcomes[split] = Outcome(prediction[test], score, score, {"depth": 2}, 0.5, 0.1, 0.6, None)
    return made


def noisy(problem, spread, seed):
    return problem.y + spread * np.random.default_rng(seed).normal(size=problem.n_rows)


def standings(problem, *entries):
    return make_standings(Contest(problem, list(entries), crew=None, deadline=0.0, n_workers=1))


def test_a_clear_winner_is_chosen_whatever_it_is():
    problem = number_problem()
    simple, best = (
        entry(problem, "Simple", noisy(problem, 0.6, 1), 10),
        entry(problem, "Best", noisy(problem, 0.2, 2), 90),
    )
    found = standings(problem, simple, best)
    assert found.chosen is found.best is best and found.why == "best"
    assert [row["name"] for row in found.rows] == ["Best", "Simple"] and [row["group"] for row in found.rows] == [
        "A",
        "B",
    ]
    assert found.rows[1]["difference"]["verdict"] == "worse" and found.rows[0]["difference"] is None


def test_of_equals_the_simplest_is_chosen_with_its_own_score():
    problem = number_problem()
    unsteady = {"C": [0.012, -0.01, 0.0, 0.005, -0.005], "A": [-0.02, 0.01, 0.01, -0.01, 0.01], "B": [0.0] * FOLDS}
    ranks = {"C": 90, "A": 10, "B": 50}
    entries = [entry(problem, name, noisy(problem, 0.3, 1), ranks[name], BASE + unsteady[name]) for name in unsteady]
    found = standings(problem, *entries)
    assert found.chosen is entries[1] and found.best is entries[0] and found.why == "simplest_tied"
    assert {row["group"] for row in found.rows} == {"A"}
    row = next(row for row in found.rows if row["is_chosen"])
    assert (found.score["value"], found.score["method"]) == (row["score"], "corrected_t")


def test_a_small_loss_on_every_split_is_no_tie_even_inside_the_rope():
    problem = number_problem()
    simple = entry(problem, "Simple", noisy(problem, 0.3, 1), 10, BASE - 0.004)
    best = entry(problem, "Best", noisy(problem, 0.3, 2), 70, BASE)
    found = standings(problem, simple, best)
    assert found.rows[1]["group"] == "A" and found.rows[1]["difference"]["verdict"] == "equivalent"
    assert found.chosen is best


def test_an_unsteady_loss_of_less_than_its_standard_error_is_a_tie():
    problem = number_problem()
    simple = entry(problem, "Simple", noisy(problem, 0.3, 1), 10, BASE + [-0.03, 0.02, -0.02, 0.02, 0.0])
    best = entry(problem, "Best", noisy(problem, 0.3, 2), 70, BASE)
    found = standings(problem, simple, best)
    assert found.chosen is simple and found.best is best and found.why == "simplest_tied"


def test_an_unsteady_loser_does_not_pass_a_steadier_one():
    problem = number_problem()
    steady = entry(problem, "Steady", noisy(problem, 0.3, 1), 50, BASE - 0.002)
    unsteady = entry(problem, "Unsteady", noisy(problem, 0.3, 2), 10, BASE + [-0.2, 0.1, -0.1, 0.1, 0.085])
    best = entry(problem, "Best", noisy(problem, 0.3, 3), 90, BASE)
    assert standings(problem, unsteady, best).chosen is unsteady
    assert standings(problem, steady, unsteady, best).chosen is best


def test_letters_do_not_go_back_for_an_unsteady_loser():
    problem = number_problem()
    steady = entry(problem, "Steady", noisy(problem, 0.3, 1), 50, BASE - 0.02)
    unsteady = entry(problem, "Unsteady", noisy(problem, 0.3, 2), 10, BASE + [-0.2, 0.1, -0.1, 0.1, -0.05])
    best = entry(problem, "Best", noisy(problem, 0.3, 3), 90, BASE)
    found = standings(problem, steady, unsteady, best)
    assert found.chosen is best
    assert {row["name"]: row["group"] for row in found.rows} == {"Best": "A", "Steady": "B", "Unsteady": "B"}


def test_simplicity_is_not_bought_with_a_loss_that_people_mind():
    problem = number_problem()
    simple = entry(problem, "Simple", noisy(problem, 0.3, 1), 10, BASE + [-0.05, 0.02, -0.04, 0.03, 0.005])
    best = entry(problem, "Best", noisy(problem, 0.3, 2), 70, BASE)
    found = standings(problem, simple, best)
    assert found.rows[1]["group"] == "A" and found.rows[1]["score"] == pytest.approx(found.rows[0]["score"] - 0.007)
    assert found.chosen is best


def test_errors_are_ranked_the_other_way_round():
    problem = number_problem(metric="neg_root_mean_squared_error")
    bad, good = entry(problem, "Bad", noisy(problem, 0.6, 1), 10), entry(problem, "Good", noisy(problem, 0.2, 2), 50)
    found = standings(problem, bad, good)
    assert found.best is good and [row["rank"] for row in found.rows] == [1, 2]
    assert found.rows[0]["score"] < found.rows[1]["score"] and found.rows[1]["difference"]["mean"] > 0


def test_intervals_are_the_corrected_ones():
    problem = number_problem()
    scores = [0.9, 0.8, 0.85, 0.87, 0.91]
    found = standings(problem, entry(problem, "Only", noisy(problem, 0.3, 1), 10, scores))
    known = corrected_t_interval(scores, problem.mean_test_share(), level=LEVEL)
    assert (found.rows[0]["low"], found.rows[0]["high"]) == (known.low, known.high) and found.why == "only"
    assert found.score["method"] == "corrected_t" and found.score["value"] == pytest.approx(np.mean(scores))


def test_repetitions_do_not_narrow_the_interval_beyond_what_one_knows():
    problem = number_problem()
    once = np.array([0.9, 0.8, 0.85, 0.87, 0.91])
    plain, repeated = score_interval(problem, once), score_interval(problem, np.tile(once, 4))
    known = corrected_t_interval(np.tile(once, 4), problem.mean_test_share(), level=LEVEL)
    assert plain.high - plain.low > repeated.high - repeated.low > 1.3 * (known.high - known.low)
    assert repeated.value == pytest.approx(plain.value)


def test_the_best_of_many_guesses_gets_its_luck_taken_back():
    """Forty coins: the luckiest looks better than chance; the corrected score says one half."""
    problem = class_problem()
    rng = np.random.default_rng(5)
    guesses = [np.column_stack([1 - p, p]) for p in rng.random((40, N))]
    coins = [entry(problem, f"Coin{k}", guess, 50 + k) for k, guess in enumerate(guesses)]
    luckiest = max(coins, key=lambda coin: np.mean([outcome.score for outcome in coin.outcomes.values()]))
    luckiest.candidate = luckiest.candidate._replace(simplicity=1)  # so that it is not passed over for a simpler one
    luck = np.mean([outcome.score for outcome in luckiest.outcomes.values()])
    found = standings(problem, *coins)
    assert found.chosen is found.best is luckiest and found.score["method"] == "bootstrap_bias_corrected"
    assert luck > 0.54 > found.score["value"]
    width = found.rows[0]["high"] - found.rows[0]["low"]
    assert found.score["high"] - found.score["low"] == pytest.approx(width)


@pytest.mark.parametrize("n_groups", [2, 3, 40])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_luck_of_the_best_is_taken_back_with_many_groups_and_with_few(task, n_groups):
    """Of two groups, a resample often leaves none out: then single rows are resampled."""
    problem = (class_problem() if task == "classification" else number_problem())._replace(
        groups=np.arange(N) % n_groups
    )
    rng = np.random.default_rng(5)
    made = (
        rng.normal(size=(20, N)) if task == "regression" else [np.column_stack([1 - p, p]) for p in rng.random((20, N))]
    )
    entries = [entry(problem, f"Guess{k}", guess, 50 + k) for k, guess in enumerate(made)]
    best = max(entries, key=lambda one: np.mean([outcome.score for outcome in one.outcomes.values()]))
    best.candidate = best.candidate._replace(simplicity=1)
    found = standings(problem, *entries)
    assert found.chosen is best and found.score["method"] == "bootstrap_bias_corrected"
    assert found.score["value"] < found.rows[0]["score"]


def test_where_resamples_have_no_defined_score_the_plain_one_is_kept():
    y = (np.arange(40) >= 38).astype(int)
    splits = make_splits(y, "stratified", 2, 1, 0)
    problem = Problem("classification", (), {}, y, ("no", "yes"), "roc_auc", splits, 2, None, None, 0)
    right = np.column_stack([0.9 - 0.6 * y, 0.1 + 0.6 * y])
    found = standings(
        problem, entry(problem, "Right", right, 10, n_splits=2), entry(problem, "Wrong", 1 - right, 20, n_splits=2)
    )
    assert found.chosen.candidate.name == "Right" and found.score["method"] == "corrected_t"
    assert found.score["value"] == 1.0


def test_one_split_gives_scores_without_intervals():
    problem = number_problem()
    entries = [entry(problem, "A", noisy(problem, 0.6, 1), 10, n_splits=1),
               entry(problem, "B", noisy(problem, 0.2, 2), 50, n_splits=1)]  # fmt: skip
    found = standings(problem, *entries)
    assert found.chosen is entries[1] and found.score["low"] is None and found.score["method"] == "one_split"
    assert all(row["low"] is None and row["group"] is None for row in found.rows)


def test_absent_entries_stand_at_the_end_with_their_reason():
    problem = number_problem()
    good, slow, undefined = (entry(problem, name, noisy(problem, 0.3, 1), 10) for name in ("Good", "Slow", "Undefined"))
    slow.drop("skipped", "slow")
    undefined.outcomes[0] = undefined.outcomes[0]._replace(score=np.nan)
    found = standings(problem, slow, undefined, good)
    assert [row["name"] for row in found.rows] == ["Good", "Slow", "Undefined"]
    assert [(row["status"], row["reason"]) for row in found.rows[1:]] == [
        ("skipped", "slow"),
        ("failed", "no defined score"),
    ]


def test_nobody_left_is_an_error_that_names_the_reasons():
    problem = number_problem()
    broken = entry(problem, "Broken", noisy(problem, 0.3, 1), 10)
    broken.drop("failed", "made up")
    with pytest.raises(CompetitionError, match="Broken: made up"):
        standings(problem, broken)


def test_pooled_predictions_are_those_of_the_split_that_judged_the_row():
    problem = number_problem()
    prediction = noisy(problem, 0.3, 1)
    assert (pooled(problem, entry(problem, "A", prediction, 10)) == prediction).all()
    some = pooled(problem, entry(problem, "A", prediction, 10, n_splits=2))
    assert np.isnan(some).sum() == N - sum(len(problem.splits[k].test) for k in range(2))


def test_other_metrics_leave_out_the_one_that_was_asked():
    problem = number_problem()
    found = other_metrics(problem, entry(problem, "A", noisy(problem, 0.3, 1), 10))
    assert "r2" not in {row["name"] for row in found} and all(row["low"] < row["value"] < row["high"] for row in found)


def test_settings_are_plain():
    assert plain_settings({"a": 0.123456, "b": 3, "c": "x"}) == {"a": 0.1235, "b": 3, "c": "x"}
