"""Every stage knows its end: a deadline that it is given, or a size that follows from the budget."""

import numpy as np
import pytest

from hyperplan.compete import _audit_sample
from hyperplan.compete._audit_sample import Patience
from hyperplan.compete._columns import guess_columns
from hyperplan.explore import ExploreSettings, _clock, explore
from hyperplan.explore._clock import Clock
from hyperplan.explore._describe import FIRST_COLUMNS, columns_like_groups, describe
from hyperplan.explore._explore import read_columns
from hyperplan.explore._findings import audit_table
from hyperplan.explore._limits import (
    COMPONENT_ROWS,
    LEAST_COLUMNS,
    OUTLIER_ROWS,
    columns_within,
    component_rows,
    outlier_rows,
)
from hyperplan.explore._maps import draw_maps
from hyperplan.explore._null import Reference
from hyperplan.explore._outliers import expected_share, outlier_factors
from hyperplan.explore._page import render_report
from hyperplan.explore._space import Space

pandas = pytest.importorskip("pandas")


class Hand:
    """A clock whose hand is moved by the test."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        for module in (_clock, _audit_sample):
            monkeypatch.setattr(module, "working_time", lambda: self.now)


@pytest.fixture
def hand(monkeypatch):
    return Hand(monkeypatch)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def over(hand):
    """The clock of a budget that is used up."""
    clock = Clock(8.0)
    hand.now = 100.0
    return clock


def wide_frame(rng, n_rows, n_columns):
    return pandas.DataFrame(rng.normal(size=(n_rows, n_columns)), columns=[f"c{k}" for k in range(n_columns)])


def test_a_deadline_is_a_share_of_the_budget_from_the_beginning(hand):
    hand.now = 5.0
    clock = Clock(8.0, spent=3.0)
    assert clock.deadline(0.5) == 6.0
    patience = Patience(clock.deadline(0.5))
    assert not patience.is_over
    hand.now = 6.5
    assert patience.is_over


def test_the_audit_leaves_out_what_it_has_no_time_for_and_says_so(rng, over):
    frame = pandas.DataFrame({"a": [1.0, -999.0] * 30, "b": rng.normal(size=60)})
    found = {f.code: f for f in audit_table(frame, guess_columns(frame), 0, Patience(over.deadline(0.6)))}
    assert {"X01", "X04", "X06"} <= set(found["A29"].values["codes"].split(", ")) and "X01" not in found
    assert "X01" in {f.code for f in audit_table(frame[["a"]], guess_columns(frame[["a"]]), 0)}


def test_values_are_not_counted_when_time_is_over(over):
    frame = pandas.DataFrame({"age": [*range(20, 60), -999, -999], "rate": [f"{k % 9} %" for k in range(42)]})
    found = {f.code: f for f in audit_table(frame, guess_columns(frame), 0, Patience(over.deadline(0.6)))}
    assert {"A31", "A34", "A35"} <= set(found["A29"].values["codes"].split(", "))
    assert not {"A31", "A34"} & found.keys()


def test_groups_are_described_by_some_columns_when_time_is_over(rng, over):
    groups = np.repeat([1, 2], 50)
    frame = wide_frame(rng, 100, 40)
    shares, described, left = describe(frame, guess_columns(frame), groups, 0, over)
    assert len(shares) == FIRST_COLUMNS and left == 20 and len(described) == 2
    assert describe(frame, guess_columns(frame), groups, 0, Clock(1e9))[2] == 0


def test_columns_are_held_against_groups_while_there_is_time(over):
    groups = np.repeat([1, 2], 50)
    frame = pandas.DataFrame(
        {f"c{k}": np.tile(["a", "b"], 50) for k in range(30)} | {"same": np.repeat(["a", "b"], 50)}
    )
    assert columns_like_groups(frame, guess_columns(frame), set(), groups, over) == []
    assert columns_like_groups(frame, guess_columns(frame), set(), groups, Clock(1e9))[0]["name"] == "same"


def test_outliers_are_not_looked_for_when_their_cost_is_more_than_is_left(rng, over):
    points = rng.normal(size=(2000, 120))
    factors, learnt_on = outlier_factors(points, 0, over)
    assert learnt_on == 0 and np.isnan(factors).all()
    few, learnt_on = outlier_factors(points[:100], 0, over)
    assert learnt_on == 100 and np.isfinite(few).all()


def test_tables_without_groups_are_learnt_when_they_are_asked_for(rng, over):
    frame = wide_frame(rng, 40, 30)
    columns = guess_columns(frame)
    space = Space(frame, columns, 0, 8.0)
    reference = Reference(space, space.typed(frame), 0)
    assert reference.cost(0) > 0.0
    assert expected_share(reference, 0, over) is None
    assert reference.cost(0) > 0.0  # nothing was drawn
    reference.points(0)
    assert reference.cost(0) == 0.0 and reference.cost(1) > 0.0


def test_maps_whose_cost_is_more_than_is_left_are_absent(rng, hand):
    clock = Clock(8.0)
    hand.now = 6.5  # there is time, but not for these
    maps, absent = draw_maps(rng.normal(size=(1500, 3)), 0, clock, lambda **event: None)
    assert [drawn.name for drawn in maps] == ["pca"]
    assert absent == [{"name": "isomap", "reason": "budget"}, {"name": "umap", "reason": "budget"}]


def test_components_are_learnt_on_rows_by_the_budget(rng, monkeypatch):
    monkeypatch.setattr("hyperplan.explore._space.component_rows", lambda seconds, width: int(seconds))
    frame = wide_frame(rng, 120, 70)
    assert Space(frame, guess_columns(frame), 0, 80.0).learnt_on == 80
    assert Space(frame, guess_columns(frame), 0, 1e9).learnt_on == 120


def test_sizes_grow_with_the_budget_and_have_ends():
    assert component_rows(0.001, 10**6) == COMPONENT_ROWS[0] and component_rows(1e6, 100) == COMPONENT_ROWS[1]
    assert outlier_rows(0.001, 50) == OUTLIER_ROWS[0] and outlier_rows(1e6, 50) == OUTLIER_ROWS[1]
    assert COMPONENT_ROWS[0] < component_rows(8.0, 5000) < COMPONENT_ROWS[1]
    assert outlier_rows(8.0, 50) < outlier_rows(60.0, 50)


def test_of_very_many_columns_those_that_settings_name_are_kept():
    names = [f"c{k}" for k in range(1000)]
    settings = ExploreSettings(time=1, colour="c999", columns={"c500": "category"}, drop=[f"c{k}" for k in range(700)])
    places = columns_within(names, settings)
    assert len(places) == LEAST_COLUMNS and places == sorted(places)
    assert set(range(700, 1000)) | {500} <= set(places)
    assert columns_within(names, settings) == places
    assert columns_within(names, settings.changed(time=10.0)) == list(range(1000))


def test_columns_that_are_not_looked_at_are_said_everywhere(rng, capsys):
    frame = wide_frame(rng, 30, LEAST_COLUMNS + 1)
    columns, used = read_columns(frame, ExploreSettings(time=1))
    assert len(columns) == len(used) == LEAST_COLUMNS
    found = explore(frame, time=1, methods=["k_means"])
    assert found.document["data"]["unseen"] == 1
    assert next(f for f in found.document["audit"] if f["code"] == "X08")["values"]["count"] == 1
    for language, words in (("en", "1 column is not looked at"), ("fr", "1 colonne n’est pas examinée")):
        assert words in render_report(found.document, language)
    assert found.predict(frame).tolist() == [1] * 30
