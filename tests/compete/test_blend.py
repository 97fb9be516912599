"""Mixtures: who is a member, that a trial of a mixture is what its members' trials say, that it saves and loads."""

import numpy as np
import pytest

from hyperplan._base.candidate import Candidate
from hyperplan.compete._blend import add_blend, blend_candidate, blend_entry, chosen_members
from hyperplan.compete._columns import guess_columns
from hyperplan.compete._columns_values import typed_values
from hyperplan.compete._contest import Contest, Entry
from hyperplan.compete._folds import make_splits
from hyperplan.compete._problem import Problem
from hyperplan.compete._registry import candidates
from hyperplan.compete._standings import plain_settings
from hyperplan.compete._trial import Outcome, Trial, final_model, run_trial


def asked(task="regression", n=150):
    import pandas

    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "c": rng.choice(list("xyz"), n)})
    columns = guess_columns(frame)
    typed = {column.name: typed_values(frame[column.name], column) for column in columns}
    y = np.abs(frame["a"].to_numpy()) + frame["b"].to_numpy() + (frame["c"] == "x").to_numpy() + rng.normal(size=n)
    y = y if task == "regression" else (y > 0.8).astype(np.intp)
    classes, metric = ((), "r2") if task == "regression" else (("no", "yes"), "roc_auc")
    splits = make_splits(y, "plain", 3, 1, 0)
    return Problem(task, columns, typed, y, classes, metric, splits, 3, None, None, 0), frame


def made(problem, name, errors, simplicity=50):
    """An entry that is off by `errors`."""
    entry = Entry(Candidate(f"made.{name}", problem.task, name, simplicity, "trees", (0.1, 0.1)))
    for split, (_, test) in enumerate(problem.splits):
        prediction = problem.y[test] + errors[test]
        score = problem.measure.score(problem.y[test], prediction)
        entry.outcomes[split] = Outcome(prediction, score, score, {}, 0.1, 0.1, 0.2, None)
    return entry


def contest(problem, *entries):
    return Contest(problem, list(entries), crew=None, deadline=0.0, n_workers=1)


def test_those_whose_errors_cancel_are_mixed_and_others_not():
    problem, _ = asked()
    rng = np.random.default_rng(1)
    errors = rng.normal(size=(2, problem.n_rows))
    first, twin = made(problem, "First", errors[0]), made(problem, "Twin", 1.01 * errors[0])
    other, poor = made(problem, "Other", errors[1]), made(problem, "Poor", 9 + errors[1])
    entries = [twin, first, poor, other]
    members = chosen_members(problem, entries)
    assert {member.candidate.name for member in members} >= {"Other"} and poor not in members
    found = contest(problem, made(problem, "Mean", np.zeros(problem.n_rows), simplicity=0), *entries)
    add_blend(found)
    blend = found.entries[-1]
    assert blend.candidate.simplicity == 90 and np.mean([o.score for o in blend.outcomes.values()]) > max(
        np.mean([o.score for o in entry.outcomes.values()]) for entry in entries
    )
    assert "Mean" not in {member.name for member, _ in blend.candidate.members}


def test_no_mixture_when_nobody_improves_the_best():
    problem, _ = asked()
    errors = np.random.default_rng(1).normal(size=problem.n_rows)
    found = contest(problem, made(problem, "Best", 0.1 * errors), made(problem, "Poor", 5 + errors))
    add_blend(found)
    assert len(found.entries) == 2


def test_who_errs_less_has_more_votes():
    problem, _ = asked()
    errors = np.random.default_rng(1).normal(size=(2, problem.n_rows))
    good, other = made(problem, "Good", 0.6 * errors[0]), made(problem, "Other", errors[1])
    votes = [entry.candidate.name for entry in chosen_members(problem, [other, good])]
    assert votes[0] == "Good" and votes.count("Good") > votes.count("Other") >= 1
    blend = blend_entry(problem, [good, other, good])
    test = problem.splits[0].test
    expected = problem.y[test] + (2 * 0.6 * errors[0][test] + errors[1][test]) / 3
    assert np.allclose(blend.outcomes[0].prediction, expected, rtol=1e-12)
    assert [member.name for member, _ in blend.candidate.members] == ["Good", "Other", "Good"]


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_trial_of_the_mixture_is_the_mean_of_its_members_trials(task):
    problem, _ = asked(task)
    names = ("Ridge", "DecisionTreeRegressor", "LogisticRegression", "DecisionTreeClassifier")
    members = [(candidate, 4) for candidate in candidates(task) if candidate.name in names]
    entries = []
    for candidate, n_tries in members:
        entry = Entry(candidate, n_tries=n_tries)
        entry.outcomes = {split: run_trial(problem, Trial(candidate, split, n_tries)) for split in range(3)}
        entries.append(entry)
    blend = blend_entry(problem, [*entries, entries[0]])
    again = run_trial(problem, Trial(blend_candidate(task, blend.candidate.members), 1, blend.n_tries))
    assert np.array_equal(again.prediction, blend.outcomes[1].prediction)
    assert again.settings == blend.outcomes[1].settings and again.score == blend.outcomes[1].score


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_the_final_mixture_saves_and_loads(task, tmp_path):
    import hyperplan

    problem, frame = asked(task)
    names = ("Ridge", "DecisionTreeRegressor", "LogisticRegression", "DecisionTreeClassifier")
    members = [(candidate, 1) for candidate in candidates(task) if candidate.name in names]
    pipeline, settings = final_model(problem, blend_candidate(task, members), 1)
    hyperplan.save(pipeline, tmp_path / "model.zip")
    loaded = hyperplan.load(tmp_path / "model.zip")
    assert np.array_equal(loaded.predict(frame), pipeline.predict(frame))
    assert set(settings) == {member.name for member, _ in members}


def test_settings_of_members_are_shown_by_name():
    shown = plain_settings({"Ridge": {"alpha": 0.123456}, "DecisionTreeRegressor": {}})
    assert shown == {"Ridge.alpha": 0.1235, "DecisionTreeRegressor": "-"}
