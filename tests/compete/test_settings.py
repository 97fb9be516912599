"""Settings: read as written, refused by name, never half a file."""

import dataclasses
import os
import tomllib

import hypothesis
import pytest
from hypothesis import strategies as st

from hyperplan._texts import LANGUAGES, area_texts
from hyperplan.compete import Column, Settings, SettingsError, check_names, read_settings, read_table, write_settings
from hyperplan.compete._settings import EXAMPLES, KINDS, RULES, settings_text, toml_key, toml_string
from hyperplan.explore import ExploreSettings

FULL = Settings(
    table="données\\é.csv",
    target='a "quoted" name',
    test="SELECT * FROM 'x.parquet'",
    task="regression",
    metric="r2",
    positive=1,
    time=12.5,
    out="out folder",
    lang="fr",
    seed=7,
    n_jobs=2,
    folds=10,
    group="g",
    time_column="t",
    drop_leaks=True,
    drop=("x", "y\nz"),
    rare_classes="merge",
    rare_rows=3,
    rare_name="the rest",
    formats={"plain": "1.234,5", "é": "%d %m"},
    missing={"plain": [-999, 1e30, "unknown", True], "none": []},
    spellings={"a.b": {"yes": ["YES", "y e s"], "é": []}, "apart": {}},
    columns={"plain": "number", "a.b": "category", "é": "date"},
)


@pytest.mark.parametrize(
    "settings",
    [Settings(), FULL, Settings(target="y", positive=True), ExploreSettings(colour="species", drop=("x",))],
    ids=["none", "all", "some", "explore"],
)
def test_round_trip(tmp_path, settings):
    write_settings(settings, tmp_path / "new folder" / "settings.toml")
    assert read_settings(tmp_path / "new folder" / "settings.toml", type(settings)) == settings


@hypothesis.given(st.text(), st.text(min_size=1))
def test_any_text_survives(value, key):
    value, key = (word.encode("utf-8", "replace").decode() for word in (value, key))
    assert tomllib.loads(f"{toml_key(key)} = {toml_string(value)}") == {key: value}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_line_is_explained_in_each_language(language):
    words, named = area_texts("settings", language)["comments"], set()
    for kind in (Settings, ExploreSettings):
        lines = settings_text(kind(lang=language)).splitlines()
        named |= {item.name for item in dataclasses.fields(kind)}
        for item in dataclasses.fields(kind):
            assert any(words[item.name] in line for line in lines), item.name
    assert set(RULES) == named


def test_values_that_are_not_set_are_shown_as_valid_examples():
    live = [line.removeprefix("# ") for line in settings_text(Settings()).splitlines() if " = " in line]
    found = tomllib.loads("\n".join(live))
    assert found["metric"] == EXAMPLES["metric"] and Settings(**found).folds == 5


def test_guessed_kinds_are_listed_with_their_reasons(tmp_path):
    columns = [Column("age", "number", "number", "float64", 0.0, 3), Column("my id", "id", "id_name", "int64", 0.0, 9)]
    write_settings(Settings(columns={"my id": "category"}), tmp_path / "s.toml", columns)
    text = (tmp_path / "s.toml").read_text(encoding="utf-8")
    assert 'age = "number"  # numbers' in text and '"my id" = "category"\n' in text
    assert read_settings(tmp_path / "s.toml").columns == {"age": "number", "my id": "category"}


def test_guessed_readings_are_listed_and_what_was_asked_stands_instead(tmp_path):
    columns = [
        Column("age", "number", "number", "float64", 0.0, 3, gaps=("-999", "1e+30", "unknown", "007")),
        Column("day", "date", "date_text", "str", 0.0, 3, format="%d/%m/%Y"),
        Column("y", "category", "few_words", "str", 0.0, 2, merged=(("yes", ("YES", "Yes")),)),
    ]
    asked = Settings(target="y", missing={"day": []}, formats={"day": "%m/%d/%Y"})
    write_settings(asked, tmp_path / "s.toml", columns)
    found = read_settings(tmp_path / "s.toml")
    assert found.columns == {"age": "number", "day": "date"}
    assert found.missing == {"age": [-999, 1e30, "unknown", "007"], "day": []}
    assert found.formats == {"day": "%m/%d/%Y"} and found.spellings == {"y": {"yes": ["YES", "Yes"]}}


@pytest.mark.parametrize(
    "text,match",
    [
        ("folds = 1", r'"folds" must be a whole number from 2 to 100, got 1'),
        ("folds = true", r'"folds" must be a whole number'),
        ("folds = 2.5", r'"folds" must be a whole number'),
        ('task = "clustering"', r'"task" must be one of auto, classification, regression, got \'clustering\''),
        ("time = 0", r'"time" must be a number of seconds above 0'),
        ("time = inf", r'"time" must be a number of seconds above 0'),
        ('time = "60"', r'"time" must be a number of seconds above 0, got \'60\''),
        ("seed = -1", r'"seed" must be a whole number from 0'),
        ("n_jobs = 0", r'"n_jobs" must be a number of workers'),
        ('lang = "de"', r'"lang" must be one of en, fr'),
        ('drop_leaks = "yes"', r'"drop_leaks" must be true or false'),
        ('drop = "a"', r'"drop" must be a list of column names'),
        ("drop = [1]", r'"drop" must be a list of column names'),
        ('target = ""', r'"target" must be a text that is not empty'),
        ("positive = [1]", r'"positive" must be a value of the target'),
        ('columns = "a"', r'"columns" must be a table of column = kind'),
        ('[columns]\nage = "numeric"', r'"columns.age" must be one of number, category'),
        ("rare_rows = 0", r'"rare_rows" must be a whole number from 1'),
        ('rare_classes = "drop"', r'"rare_classes" must be one of set aside, merge, got \'drop\''),
        ("[formats]\nage = 3", r'"formats.age" must be a format, such as'),
        ("missing = 3", r'"missing" must be a table of column'),
        ('[missing]\nage = "unknown"', r'"missing.age" must be a list of values'),
        ("[missing]\nage = [nan]", r'"missing.age" must be a list of values'),
        ('[spellings]\nage = ["a"]', r'"spellings.age" must be a table of value'),
        ('[spellings]\nage = {yes = "YES"}', r'"spellings.age" must be a table of value'),
        ('traget = "y"', r'unknown setting "traget"; did you mean target'),
        ("zzz = 1", r'unknown setting "zzz"; the settings are: table, target'),
        ("target = y", r"s.toml is not valid TOML: .*line 1"),
    ],
)
def test_wrong_settings_are_refused_by_name(tmp_path, text, match):
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(SettingsError, match=match):
        read_settings(tmp_path / "s.toml")


def test_files_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(SettingsError, match="no settings file"):
        read_settings(tmp_path / "none.toml")
    with pytest.raises(SettingsError, match="cannot be opened"):
        read_settings(tmp_path)
    (tmp_path / "latin.toml").write_bytes('target = "é"'.encode("latin-1"))
    with pytest.raises(SettingsError, match="byte 10 is not UTF-8"):
        read_settings(tmp_path / "latin.toml")
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="cannot be written"):
        write_settings(Settings(), tmp_path / "file" / "s.toml")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    write_settings(Settings(target="old"), tmp_path / "s.toml")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(SettingsError, match="No space left on device"):
        write_settings(Settings(target="new"), tmp_path / "s.toml", force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]
    assert read_settings(tmp_path / "s.toml").target == "old"


def test_other_settings_are_replaced_when_asked_only(tmp_path):
    path = tmp_path / "s.toml"
    for _ in range(2):  # a cell of a notebook, run twice
        write_settings(Settings(target="old"), path)
    with pytest.raises(SettingsError, match=r"says something else; choose another name, or pass force=True"):
        write_settings(Settings(target="new"), path)
    assert read_settings(path).target == "old"
    write_settings(Settings(target="new"), path, force=True)
    assert read_settings(path).target == "new"
    with pytest.raises(SettingsError, match="is a folder"):
        write_settings(Settings(), tmp_path, force=True)


def test_the_command_line_adds_to_a_file():
    settings = Settings(target="y", time=10).changed(time=None, metric="r2", drop_leaks=True)
    assert settings == Settings(target="y", time=10, metric="r2", drop_leaks=True)
    with pytest.raises(SettingsError, match='"folds"'):
        settings.changed(folds=0)


def test_columns_named_in_settings_must_exist():
    names = ["Survived", "Pclass", "Age"]
    check_names(Settings(target="Survived", drop=("Age",), columns={"Pclass": "category"}), names)
    with pytest.raises(SettingsError, match=r'"target" names the column \'survive\'.* did you mean Survived\?'):
        check_names(Settings(target="survive"), names)
    with pytest.raises(SettingsError, match=r'"columns.qqq" names .* its columns: Survived, Pclass, Age'):
        check_names(Settings(columns={"qqq": "number"}), names)
    with pytest.raises(SettingsError, match='"group"'):
        check_names(Settings(group="Agee"), names)


def test_kinds_are_those_of_the_columns():
    assert set(KINDS) == set(area_texts("columns")["kind"])


def test_how_the_file_is_written_is_guessed_shown_and_changeable(tmp_path):
    pandas = pytest.importorskip("pandas")
    (tmp_path / "t.csv").write_text("a;b\n1,5;x\n2,5;y\n")
    frame = read_table(tmp_path / "t.csv")
    assert frame.attrs["reading"] == {
        "separator": ";", "quote": '"', "escape": "", "decimal": ",", "header": True, "encoding": "utf-8",
    }  # fmt: skip
    assert read_table(frame).attrs["reading"] == frame.attrs["reading"]
    path = tmp_path / "settings.toml"
    write_settings(Settings(table="t.csv", reading={"decimal": "."}), path, reading=frame.attrs["reading"])
    written = path.read_text()
    assert '# separator = ";"' in written and '\ndecimal = "."' in written and "# header = true" in written
    again = read_settings(path)
    assert again.reading == {"decimal": "."}
    said = read_table(tmp_path / "t.csv", **again.reading)
    pandas.testing.assert_series_equal(said["a"], pandas.Series(["1,5", "2,5"], name="a"), check_dtype=False)


@pytest.mark.parametrize("reading", [{"sep": ";"}, {"header": "no"}, {"quote": 3}, ["separator"]])
def test_readings_that_are_none(reading):
    with pytest.raises(SettingsError, match=r'"reading" must be a table of separator, quote'):
        Settings(reading=reading)
