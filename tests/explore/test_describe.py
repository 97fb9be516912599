"""Facts about groups are true of all their rows, and say what can be seen in their numbers."""

import io

import numpy as np
import pytest

from hyperplan.cli._explore import clusterings
from hyperplan.compete._columns import guess_columns
from hyperplan.explore import explore
from hyperplan.explore._answer import _sizes
from hyperplan.explore._clock import Clock
from hyperplan.explore._describe import describe
from hyperplan.explore._views_groups import fact_text, outliers_view
from hyperplan.report._axes import fitting_ticks
from hyperplan.report._wording import Wording

pandas = pytest.importorskip("pandas")
GROUPS = np.repeat([1, 2], 100)


def facts_about(frame, group):
    _, described, _ = describe(frame, guess_columns(frame), GROUPS, 0, Clock(600.0))
    return {fact["column"]: fact for fact in described[group - 1]["facts"]}


def test_a_level_of_the_few_known_rows_is_not_a_level_of_all():
    """Of group 1 one row in a hundred has a boat: that is no share of 100 %, and to have none is what is special."""
    boat = np.array([None] * 100 + list("AB") * 50, dtype=object)
    boat[0] = "A"
    fact = facts_about(pandas.DataFrame({"boat": boat, "size": np.arange(200.0)}), 1)["boat"]
    assert fact["level"] is None and fact["value"] == 0.99 and fact["others"] == 0.0
    assert fact_text(fact | {"effect": 1.0}, Wording("en", "explore")) == "boat = missing: 99% (others 0%)"
    assert "manquant" in fact_text(fact, Wording("fr", "explore"))


def test_equal_medians_give_way_to_means():
    rng = np.random.default_rng(0)
    died = np.concatenate([rng.random(100) < 0.05, rng.random(100) < 0.45]) * 3.0 + rng.normal(size=200) * 1e-9
    died = np.round(died, 3)
    frame = pandas.DataFrame({"died": died, "size": np.where(GROUPS == 1, 5.0, 9.0) + rng.random(200)})
    found = facts_about(frame, 1)
    assert np.median(died[:100]) == np.median(died[100:])
    assert found["died"]["by"] == "mean" and found["died"]["value"] == pytest.approx(died[:100].mean())
    assert found["size"]["by"] == "median" and found["size"]["value"] == np.median(frame["size"][:100])
    said = fact_text(found["died"], Wording("en", "explore"))
    assert "lower on average" in said and "en moyenne" in fact_text(found["died"], Wording("fr", "explore"))


@pytest.mark.parametrize(
    ("count", "said"), [(2, "10 and 20"), (5, "10, 20, 30, 40 and 50"), (9, "10 to 90")], ids=["two", "five", "nine"]
)
def test_sizes_of_groups_are_listed_or_spanned_and_never_cut(count, said):
    assert said in _sizes([10 * (place + 1) for place in range(count)], Wording("en", "explore"))


def test_counts_have_no_halves_on_their_axis():
    ticks, labels = fitting_ticks(Wording("en"), 0.8, 2.2, 400, whole=True)
    assert ticks == [1.0, 2.0] and labels == ["1", "2"]
    assert fitting_ticks(Wording("en"), 0.8, 10.2, 400, whole=True)[0] == [2.0, 4.0, 6.0, 8.0, 10.0]


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(120, 2)) + 9.0 * np.eye(2)[np.arange(120) % 2]
    points[5] = 40.5, -40.25
    return explore(pandas.DataFrame(points, columns=["a", "b"]), time=600, methods=["k_means", "spectral"])


def test_values_of_rows_that_stand_out_follow_the_language(found):
    english, french = (outliers_view(found.document, Wording(name, "explore"))["rows"][0] for name in ("en", "fr"))
    assert {item["value"] for item in english["columns"]} == {"40.5", "\u221240.25"}
    assert {item["value"] for item in french["columns"]} == {"40,5", "\u221240,25"}


@pytest.mark.parametrize("language", ["en", "fr"])
def test_names_of_methods_are_whole_in_a_narrow_terminal(found, language):
    from rich.console import Console

    page = io.StringIO()
    Console(file=page, width=80).print(clusterings(found.document, language))
    assert "\u2026" not in page.getvalue()
    assert ("Partitionnement" if language == "fr" else "Spectral") in page.getvalue()
