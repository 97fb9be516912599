"""Committees: who learns from which rows, that the mean answers, and what happens with few rows or rare classes."""

import numpy as np
import pytest

from hyperplan.compete._columns import guess_columns
from hyperplan.compete._columns_values import typed_values
from hyperplan.compete._committee import (
    FROM_TRIES,
    PARTS,
    PARTS_OF_MANY,
    PLACES,
    committee_settings,
    fit_committee,
    forms_committee,
    is_committee,
)
from hyperplan.compete._folds import make_splits
from hyperplan.compete._problem import ALL_ROWS, Problem
from hyperplan.compete._registry import candidates
from hyperplan.compete._search import search, search_cost, trial_cost
from hyperplan.compete._table_blend import TableBlend
from hyperplan.compete._trial import Trial, final_model, run_trial


def boosting(task):
    found = next(c for c in candidates(task) if c.name.startswith("HistGradientBoosting"))
    return found._replace(rounds=("max_iter", 40))


def asked(task="regression", n=160, groups=None, order=None, y=None):
    import pandas

    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    columns = guess_columns(frame)
    typed = {column.name: typed_values(frame[column.name], column) for column in columns}
    numbers = np.sin(2 * frame["a"].to_numpy()) + 0.3 * rng.normal(size=n)
    if y is None:
        y = numbers if task == "regression" else (numbers > 0).astype(np.intp)
    classes = () if task == "regression" else tuple(str(k) for k in range(int(y.max()) + 1))
    metric = "r2" if task == "regression" else "neg_log_loss"
    splits = make_splits(y, "plain", 4, 1, 0)
    return Problem(task, columns, typed, y, classes, metric, splits, 4, groups, order, 0), frame


SETTINGS = committee_settings(
    [{"max_leaf_nodes": 4}, {"max_leaf_nodes": 8}, {"max_leaf_nodes": 6}, {"max_leaf_nodes": 3}]
)


def test_only_growing_models_after_a_long_search_and_without_time():
    problem, _ = asked()
    ridge = next(c for c in candidates("regression") if c.name == "Ridge")
    grower = boosting("regression")
    assert forms_committee(problem, grower, FROM_TRIES) and not forms_committee(problem, grower, FROM_TRIES - 1)
    assert not forms_committee(problem, ridge, 72)
    assert not forms_committee(problem._replace(order=np.arange(160)), grower, 72)
    assert list(SETTINGS.items())[1] == ("second", {"max_leaf_nodes": 8}) and list(SETTINGS) == list(PLACES)
    assert is_committee(grower, SETTINGS) and not is_committee(grower, {"max_leaf_nodes": 4})


def test_cost_counts_the_members():
    problem, _ = asked()
    grower = boosting("regression")
    assert trial_cost(problem, grower, 5000, 18) == search_cost(5000, 18) + PARTS
    assert trial_cost(problem, grower, 50_000, 18) == search_cost(50_000, 18) + PARTS_OF_MANY
    assert trial_cost(problem, grower, 5000, 4) == search_cost(5000, 4) + 1
    assert trial_cost(problem, grower, 5000, 1) == 1


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_members_take_the_settings_in_turn_and_answer_by_their_mean(task):
    problem, frame = asked(task)
    found = fit_committee(problem, boosting(task), SETTINGS, np.arange(problem.n_rows))
    leaves = [member.model.max_leaf_nodes for member in found.members]
    assert leaves == [(4, 8, 6)[i % 3] for i in range(PARTS)]
    assert all(member.n_rows_ == problem.n_rows - problem.n_rows // PARTS for member in found.members)
    ask = "predict" if task == "regression" else "predict_proba"
    single = [getattr(member, ask)(frame) for member in found.members]
    assert np.allclose(getattr(found, ask)(frame), np.mean(single, axis=0), rtol=1e-12)
    assert max(np.ptp(single, axis=0).ravel()) > 0.01  # they do differ


def test_groups_stay_together():
    groups = np.repeat(np.arange(4), 40)
    problem, _ = asked(groups=groups)
    found = fit_committee(problem, boosting("regression"), SETTINGS, np.arange(160))
    assert [member.n_rows_ for member in found.members] == [120] * 4


def test_a_class_with_one_row_is_known_to_those_who_saw_it():
    y = (np.arange(80) % 2).astype(np.intp)
    y[7] = 2
    problem, frame = asked("classification", n=80, y=y)
    found = fit_committee(problem, boosting("classification"), SETTINGS, np.arange(80))
    known = [len(member.classes_) for member in found.members]
    assert sorted(set(known)) == [2, 3] and found.classes_.tolist() == [0, 1, 2]
    shares = found.predict_proba(frame)
    assert shares.shape == (80, 3) and np.allclose(shares.sum(axis=1), 1)
    assert set(found.predict(frame)) <= {0, 1, 2}


def test_too_few_rows_for_parts_end_in_one_model():
    problem, frame = asked("classification", n=20, y=(np.arange(20) == 3).astype(np.intp))
    found = fit_committee(problem, boosting("classification"), SETTINGS, np.array([3, 4]))
    assert len(found.members) == 1 and found.predict_proba(frame).shape == (20, 2)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_trial_ends_in_a_committee_that_is_the_same_each_time_and_can_be_kept(task, tmp_path):
    import hyperplan

    problem, frame = asked(task)
    candidate = boosting(task)
    outcomes = [run_trial(problem, Trial(candidate, 1, FROM_TRIES)) for _ in range(2)]
    assert np.array_equal(outcomes[0].prediction, outcomes[1].prediction)
    assert outcomes[0].settings == search(problem, candidate, 1, FROM_TRIES).settings
    assert 1 <= len(outcomes[0].settings) <= len(PLACES)
    model, _ = final_model(problem, candidate, FROM_TRIES)
    assert isinstance(model, TableBlend) and type(model.model).__name__ == candidate.name
    hyperplan.save(model, tmp_path / "model.zip")
    assert np.array_equal(hyperplan.load(tmp_path / "model.zip").predict(frame), model.predict(frame))


def test_with_time_one_model_answers():
    problem, _ = asked(order=np.arange(160))
    settings = search(problem, boosting("regression"), ALL_ROWS, FROM_TRIES).settings
    assert not is_committee(boosting("regression"), settings) and settings["max_iter"] >= 1
