"""One exploration, looked at from all sides: answer, groups, maps, folder, page in both languages, new rows."""

import html.parser
import json
import os
import re

import numpy as np
import pytest

from hyperplan._texts import LANGUAGES
from hyperplan.cli import main
from hyperplan.explore import ExploreSettings, explore
from hyperplan.explore._form import readable
from hyperplan.explore._page import render_report
from hyperplan.metrics import adjusted_rand_score

pandas = pytest.importorskip("pandas")
pytest.importorskip("jinja2")
METHODS = ["k_means", "dbscan"]
PARTS = {"receipt.json", "report.html", "report.json", "clusters.csv", "coordinates.csv", "settings.toml"}


def animals(n_rows=150, seed=0):
    """Three kinds that differ in two numbers and a colour, with gaps; an identifier, a constant, one strange row."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n_rows) % 3
    frame = pandas.DataFrame(
        {
            "id": np.arange(n_rows) + 1000,
            "length": rng.normal(size=n_rows) + 8.0 * (kind == 1),
            "weight": rng.normal(size=n_rows) + 8.0 * (kind == 2),
            "colour": np.array(["red", "green", "<b>blue</b>"])[kind],
            "planet": "Earth",
            "seen": pandas.Timestamp("2020-01-01") + pandas.to_timedelta(rng.integers(0, 300, n_rows), unit="D"),
        }
    )
    frame.loc[rng.random(n_rows) < 0.05, "weight"] = np.nan
    frame.loc[7, ["length", "weight"]] = [40.0, -30.0]
    return frame


@pytest.fixture(scope="module")
def result():
    return explore(animals(), time=600, methods=METHODS, title="animals & more")


@pytest.fixture(scope="module")
def folder(result, tmp_path_factory):
    return result.save(tmp_path_factory.mktemp("explored") / "out", "animals.csv")


def test_the_groups_that_are_there_are_found(result):
    others = np.arange(150) != 7
    # a row whose weight is missing may fall to another group: two of 149 do
    assert adjusted_rand_score(np.arange(150)[others] % 3, result.labels[others]) > 0.9
    chosen = result.table().query("chosen")
    assert len(chosen) == 1 and chosen["verdict"].item() == "real" and chosen["groups"].item() == 3
    assert repr(result) == "Exploration(animals & more: 3 groups, 150 rows)"


def test_groups_that_are_one_of_the_columns_are_said_to_be(result):
    alike = result.document["like_groups"]
    assert [item["name"] for item in alike] == ["colour"] and alike[0]["used"] and 0.9 < alike[0]["agreement"] < 1
    found = next(finding for finding in result.document["audit"] if finding["code"] == "X07")
    assert found["severity"] == "warning" and found["columns"] == ["colour"]
    for language, words in (("en", "nearly the values of “colour”"), ("fr", "presque les valeurs de «")):
        first = result.answer(language)[0]
        assert words in first and "drop=" in first


def test_groups_that_are_a_column_nobody_measured_by_are_confirmed_by_it():
    frame = animals().drop(index=7).assign(kind=np.delete(np.arange(150) % 3, 7) * 10)
    frame["weight"] = frame["weight"].fillna(0.0) + 30.0 * (frame["kind"] == 20)
    found = explore(frame, time=600, methods=METHODS, drop=("colour", "kind"))
    alike = {item["name"]: item for item in found.document["like_groups"]}
    assert set(alike) == {"colour", "kind"} and alike["kind"] == {"name": "kind", "agreement": 1.0, "used": False}
    assert next(item for item in found.document["audit"] if item["code"] == "X07")["severity"] == "info"
    first = found.answer("en")[0]
    assert "exactly the values of" in first and "took no part in the distances" in first and "drop=" not in first


def test_what_counts_and_what_does_not(result):
    used = {column["name"]: column["used"] for column in result.document["data"]["columns"]}
    assert used == {"id": False, "length": True, "weight": True, "colour": True, "planet": False, "seen": True}
    assert result.document["space"]["used"] == 4


def test_the_strange_row_stands_out_and_is_explained(result):
    worst = result.document["outliers"]["rows"][0]
    assert worst["row"] == 8 == int(np.argmax(result.outlier_factors)) + 1
    assert {item["name"] for item in worst["columns"][:2]} == {"length", "weight"} and worst["columns"][0]["value"]
    assert "row 8" in result.answer("en")[2]


def test_the_groups_are_described_by_what_makes_them_different(result):
    shares = {item["name"]: item["share"] for item in result.document["differences"]}
    assert shares["colour"] > 0.9 and min(shares["length"], shares["weight"]) > 0.5 > 0.1 > shares["seen"]
    levels = {fact["level"] for group in result.document["groups"] for fact in group["facts"] if fact["level"]}
    assert levels == {"red", "green", "<b>blue</b>"}


def test_maps_have_a_place_for_every_row_and_say_how_far_they_can_be_trusted(result):
    names = [drawn["name"] for drawn in result.document["maps"]]
    assert names[0] == "pca" and names[1] in ("isomap", "risimap") and names[2] == "umap"
    assert result.coordinates.shape == (150, 6) and np.isfinite(result.coordinates.to_numpy()).all()
    for drawn in result.document["maps"]:
        assert 0.5 < drawn["values"]["trustworthiness"] <= 1.0 and 0.5 < drawn["values"]["continuity"] <= 1.0
        assert drawn["placed"] == 150 and len(drawn["x"]) == len(drawn["y"]) == 150


def test_rows_that_were_seen_are_given_to_their_group_again(result):
    np.testing.assert_array_equal(result.predict(animals()), result.labels)
    new = animals(30, seed=1).drop(index=7)
    assert adjusted_rand_score(new.index % 3, result.predict(new)) > 0.8  # the same, of 29


def test_the_answer_in_both_languages(result):
    english, french = result.answer("en"), result.answer("fr")
    assert len(english) == len(french) == 3
    assert "3 groups" in english[0] and "found again" in english[0] and "3 groupes" in french[0]
    assert "“colour”" in english[1] and "« colour »" in french[1].replace("\u00a0", " ").replace("\u202f", " ")
    assert str(result) == "\n".join(english)


def test_the_folder_is_whole(result, folder):
    assert {path.name for path in folder.iterdir()} == PARTS
    clusters = pandas.read_csv(folder / "clusters.csv")
    assert list(clusters) == ["row", "cluster", "outlier_factor"] and clusters["row"].tolist() == list(range(1, 151))
    np.testing.assert_array_equal(clusters["cluster"], result.labels)
    places = pandas.read_csv(folder / "coordinates.csv")
    assert list(places)[:3] == ["row", "pca_1", "pca_2"]
    np.testing.assert_allclose(places.drop(columns="row"), result.coordinates, rtol=1e-5)
    receipt = json.loads((folder / "receipt.json").read_text())
    assert receipt["schema"] == "hyperplan/explore-receipt/1" and receipt["table"] == os.path.abspath("animals.csv")
    assert readable(json.loads((folder / "report.json").read_text()))["title"] == "animals & more"


def test_an_older_folder_is_replaced_and_a_folder_of_somebody_else_is_not(result, folder, tmp_path):
    (folder / "clusters.csv").unlink()
    result.save(folder)
    assert {path.name for path in folder.iterdir()} == PARTS
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="holds notes"):
        result.save(folder)
    (folder / "notes.txt").unlink()
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(ValueError, match="choose another folder"):
        result.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


class Page(html.parser.HTMLParser):
    """Tags balanced, identifiers and what is asked from elsewhere collected."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.asked, self.words = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids += [values["id"]] if "id" in values else []
        self.asked += [values[key] for key in ("src", "href") if key in values]
        if tag not in ("meta", "br", "wbr", "link", "img", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_is_balanced_needs_nothing_else_and_shows_texts_as_they_are(result, language):
    text = render_report(result.document, language)
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.asked)
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", text)
    assert "<b>blue</b>" not in text and "<b>blue</b>" in "".join(page.words)
    assert f'lang="{language}"' in text and "{" not in re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)
    for section in ("answer", "maps", "dimension", "clusterings", "groups", "outliers", "audit", "data", "protocol"):
        assert section in page.ids


def test_a_document_with_a_mistake_is_refused_by_name(result):
    with pytest.raises(ValueError, match="clusterings"):
        render_report({**result.document, "clusterings": [{"name": "k_means"}]}, "en")


def test_the_same_seed_finds_the_same_whatever_the_number_of_threads(result):
    again = explore(animals(), time=600, methods=METHODS, n_jobs=1)
    np.testing.assert_array_equal(again.labels, result.labels)
    np.testing.assert_array_equal(again.coordinates.to_numpy(), result.coordinates.to_numpy())
    np.testing.assert_array_equal(again.outlier_factors, result.outlier_factors)
    drop = {"seconds", "settings"}
    first, second = (
        [{key: row[key] for key in row if key not in drop} for row in found.document["clusterings"]]
        for found in (result, again)
    )
    assert first == second


def test_a_column_that_is_left_out_may_colour_the_maps(result):
    found = explore(animals(), time=600, methods=["k_means"], drop=["colour"], colour="colour")
    colour = found.document["colour"]
    assert colour["name"] == "colour" and not colour["used"] and colour["agreement"] > 0.95
    assert "never saw it" in render_report(found.document, "en")


def test_a_large_table_is_looked_at_in_part_and_placed_whole():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(6000, 3)) + 9.0 * (np.arange(6000) % 2)[:, None]
    found = explore(points, time=600, methods=["k_means"])
    assert found.document["sample"] == 1500 and len(found.labels) == 6000
    assert adjusted_rand_score(np.arange(6000) % 2, found.labels) == 1.0
    assert found.coordinates.notna().all().all() and np.isfinite(found.outlier_factors).all()


def test_no_time_is_said_and_nothing_is_invented():
    found = explore(animals(), settings=ExploreSettings(time=1e-3), methods=METHODS)
    assert set(found.labels) == {1} and found.document["absent_maps"][0]["reason"] == "budget"
    assert "not known" in found.answer("en")[0] and "no time" in found.answer("en")[0]
    assert len(found.answer("fr")) == 3 and render_report(found.document, "fr")


def test_the_command_writes_and_shows_the_answer(tmp_path, monkeypatch, capsys):
    from hyperplan.cli import _warmup
    from hyperplan.explore import _explore

    monkeypatch.setattr(_warmup, "run", lambda *_, **__: 0)
    monkeypatch.setattr(_explore, "all_methods", lambda names: [m for m in all_methods() if m.name in METHODS])
    from hyperplan.explore._methods import methods as all_methods

    animals().to_csv(tmp_path / "animals.csv", index=False)
    options = ["--out", str(tmp_path / "out"), "--time", "600", "--lang", "fr", "--drop", "seen"]
    assert main(["explore", str(tmp_path / "animals.csv"), *options]) == 0
    said = capsys.readouterr().out
    assert "3 groupes" in said and "report.html" in said and "K-moyennes" in said
    assert {path.name for path in (tmp_path / "out").iterdir()} == PARTS
    assert 'lang="fr"' in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    again = ["explore", str(tmp_path / "out" / "settings.toml"), "--out", str(tmp_path / "again")]
    assert main(again) == 0
    first, second = ((tmp_path / name / "clusters.csv").read_bytes() for name in ("out", "again"))
    assert first == second
