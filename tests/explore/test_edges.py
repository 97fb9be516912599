"""Tables that are hardly tables: a sentence or an honest answer, never a stack trace."""

import pickle

import numpy as np
import pytest

from hyperplan.cli import _warmup, main
from hyperplan.cli._explore import guesses
from hyperplan.explore import ExploreError, ExploreSettings, explore
from hyperplan.explore._explore import read_columns
from hyperplan.explore._maps import intrinsic_dimension, local_dimension
from hyperplan.explore._page import render_report

pandas = pytest.importorskip("pandas")
METHODS = ["k_means", "dbscan"]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def shown(table, **options):
    """The exploration of a table, after its page was made in both languages."""
    found = explore(table, time=600, methods=METHODS, **options)
    assert render_report(found.document, "en") and render_report(found.document, "fr")
    return found


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pandas.DataFrame({"a": [1], "b": [2]}), "1 row"),
        (pandas.DataFrame({"a": [1.0] * 30, "b": ["x"] * 30}), "no column is left"),
        (pandas.DataFrame({"a": [np.nan] * 30}), "no column is left"),
        (pandas.DataFrame({"id": [f"u{k}" for k in range(30)]}), "no column is left"),
    ],
    ids=["one row", "all rows equal", "empty", "identifiers only"],
)
def test_nothing_to_explore_is_said(table, words):
    with pytest.raises(ExploreError, match=words):
        explore(table, time=600)


def test_what_is_said_of_columns_follows_the_language():
    frame = pandas.DataFrame({"id": [f"u{k}" for k in range(30)], "same": [1.0] * 30})
    with pytest.raises(ExploreError) as caught:
        explore(frame, time=600)
    assert "(id: identifier, same: constant)" in str(caught.value)
    assert "(id : identifiant, same : constante)" in caught.value.message("fr")
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.message("fr") == caught.value.message("fr")


@pytest.mark.parametrize("language", ["en", "fr"])
def test_one_column_that_counts_is_one(language):
    frame = pandas.DataFrame({"a": np.sqrt(np.arange(20.0)), "same": [1.0] * 20})
    columns, used = read_columns(frame, ExploreSettings(lang=language))
    line = guesses(columns, used, (20, 2), ExploreSettings(lang=language))[1]
    assert (
        line.strip()
        == {
            "en": "20 rows, 2 columns, 1 counts in distances",
            "fr": "20 lignes, 2 colonnes, dont 1 compte dans les distances",
        }[language]
    )


def test_one_column_with_two_humps_has_two_groups_and_one_map(rng):
    humps = np.concatenate([rng.normal(size=100), rng.normal(size=100) + 8])
    found = shown(pandas.DataFrame({"a": humps}))
    assert found.labels.max() == 2 and len(set(found.labels[:100])) == 1
    assert [drawn["name"] for drawn in found.document["maps"]] == ["pca"]
    assert found.document["dimension"]["estimate"] == 1


def test_one_column_with_one_hump_has_none(rng):
    assert shown(pandas.DataFrame({"a": rng.normal(size=200)})).labels.max() == 1


def test_a_category_by_itself_is_no_group():
    assert shown(pandas.DataFrame({"a": list("ab") * 30})).labels.max() == 1


def test_ten_rows_are_enough_to_look_and_too_few_to_believe(rng):
    found = shown(pandas.DataFrame(rng.normal(size=(10, 2)), columns=["a", "b"]))
    assert found.labels.tolist() == [1] * 10
    assert "X02" in {finding["code"] for finding in found.document["audit"]}


def test_copies_are_found_and_break_nothing(rng):
    found = shown(pandas.DataFrame(np.repeat(rng.normal(size=(15, 2)), 10, axis=0), columns=["a", "b"]))
    copies = next(finding for finding in found.document["audit"] if finding["code"] == "X01")
    assert copies["severity"] == "warning" and copies["values"]["rows"] == 135
    assert (found.outlier_factors > 0).all() and found.coordinates.notna().all().all()


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_very_small_and_very_large_numbers(rng, scale):
    kind = np.arange(90) % 3
    points = rng.normal(size=(90, 2)) + 9.0 * np.eye(3)[kind][:, :2]
    with np.errstate(all="ignore"):
        found = shown(pandas.DataFrame(points * scale, columns=["a", "b"]))
    assert found.labels.max() == 3


def test_infinite_missing_text_and_dates_together(rng):
    n = 80
    words = np.array(["late", "broken", "fast", "slow", "blue", "red", "cheap", "heavy"])
    frame = pandas.DataFrame(
        {
            "number": np.where(np.arange(n) == 3, np.inf, rng.normal(size=n)),
            "gaps": np.where(rng.random(n) < 0.5, np.nan, rng.normal(size=n)),
            "when": pandas.Timestamp("2021-05-01") + pandas.to_timedelta(rng.integers(0, 90, n), unit="D"),
            "said": [" ".join(rng.choice(words, 7)) for _ in range(n)],
            "flag": rng.random(n) < 0.5,
        }
    )
    found = shown(frame)
    assert found.document["space"]["used"] >= 4 and np.isfinite(found.outlier_factors).all()


def test_more_columns_than_rows_are_measured_along_components(rng):
    frame = pandas.DataFrame(rng.normal(size=(40, 90)), columns=[f"c{k}" for k in range(90)])
    found = shown(frame)
    assert found.document["space"]["dimensions"] <= 39 and found.document["space"]["kept"] <= 1.0
    assert "X03" in {finding["code"] for finding in found.document["audit"]}


def test_what_spoils_distances_is_named(rng):
    first = rng.normal(size=200)
    frame = pandas.DataFrame(
        {
            "first": first,
            "twice": 2 * first + 1e-3 * rng.normal(size=200),
            "tail": rng.lognormal(sigma=3, size=200),
            "hollow": np.where(np.arange(200) < 6, rng.normal(size=200), np.nan),
        }
    )
    found = {finding["code"]: finding for finding in shown(frame).document["audit"]}
    assert set(found["X04"]["columns"]) == {"first", "twice"} and found["X06"]["values"]["worst"] == "tail"
    assert found["X05"]["columns"] == ["hollow"]


@pytest.mark.parametrize(
    ("curve", "local", "expected"),
    [([], None, None), ([0.001, 0.0], None, 1), ([0.001, 0.0], 2.0, 2), ([0.5, 0.01, 0.009, 0.008], 2.0, 2)],
)
def test_where_the_curve_bends(curve, local, expected):
    assert intrinsic_dimension(curve, local) == expected


def test_the_second_opinion_counts_neighbours(rng):
    sheet = np.column_stack([rng.random(400), rng.random(400)]) @ rng.normal(size=(2, 6))
    assert local_dimension(sheet) == pytest.approx(2.0, abs=0.3)
    assert local_dimension(np.ones((100, 2))) is None


MISTAKES = {
    "no such file": (None, [], "there is no file"),
    "empty file": (b"", [], "empty"),
    "one row": (b"a,b\n1,2\n", [], "at least 10 are needed"),
    "all equal": (b"a,b\n" + b"1,2\n" * 30, [], "no column is left"),
    "column to drop that is not there": (b"size,b\n" + b"1,2\n2,3\n" * 9, ["--drop", "sise"], "did you mean size?"),
    "colour that is not there": (b"size,b\n" + b"1,2\n2,3\n" * 9, ["--colour", "sise"], "did you mean size?"),
    "everything left out": (b"a,b\n" + b"1,2\n2,3\n" * 9, ["--drop", "a", "--drop", "b"], "no column is left"),
    "no time": (b"a,b\n" + b"1,2\n2,3\n" * 9, ["--time", "0"], "above 0"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_get_a_sentence(mistake, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(_warmup, "run", lambda *_, **__: 0)
    content, options, words = MISTAKES[mistake]
    if content is not None:
        (tmp_path / "table.csv").write_bytes(content)
    assert main(["explore", str(tmp_path / "table.csv"), "--out", str(tmp_path / "out"), *options]) == 2
    said = capsys.readouterr().err
    assert said.startswith("hyperplan: ") and words in said and said.count("\n") == 1, said
    assert not (tmp_path / "out").exists()


def test_no_table_and_a_receipt_that_cannot_be_verified(tmp_path, capsys):
    assert main(["explore"]) == 2
    assert "say which table" in capsys.readouterr().err
    (tmp_path / "receipt.json").write_text('{"schema": "hyperplan/explore-receipt/1"}')
    assert main(["verify", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("hyperplan: ")
