"""Paths in settings files: found from any folder, and the file that was written is a command wherever one stands."""

import json
import os
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from hyperplan.cli import _compete, _warmup, main
from hyperplan.compete import Settings, candidates, read_settings
from hyperplan.compete._places import settled, source_files, whole_table
from hyperplan.explore import ExploreSettings

pandas = pytest.importorskip("pandas")
pytest.importorskip("rich")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a table, where the command is called; one linear model takes part."""
    monkeypatch.setattr(_warmup, "run", lambda *_, **__: 0)
    monkeypatch.setattr("hyperplan.compete._contest.LEVELS", ())
    monkeypatch.setattr("hyperplan.compete._compete.all_candidates", lambda task, _: candidates(task, ["Ridge"]))
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"a": rng.normal(size=60).round(3), "b": rng.normal(size=60).round(3)})
    folder = tmp_path / "project"
    folder.mkdir()
    frame.assign(y=(3 * frame["a"] + rng.normal(size=60)).round(3)).to_csv(folder / "t.csv", index=False)
    frame.head(7).to_csv(folder / "new.csv", index=False)
    monkeypatch.chdir(folder)
    return folder


def run(*arguments):
    return main(["compete", *map(str, arguments), "--n-jobs", "1", "--time", "1e-6"])


@pytest.mark.parametrize("place", ["project", "report", "elsewhere"])
def test_the_written_settings_are_a_command_anywhere(place, project, tmp_path, monkeypatch, capsys):
    assert run("t.csv", "--target", "y", "--test", "new.csv") == 0
    report = project / "hyperplan-report"
    content = (report / "settings.toml").read_text()
    (report / "settings.toml").write_text(content.replace("seed = 0", "seed = 3  # lucky"))
    before = json.loads((report / "receipt.json").read_text())
    monkeypatch.chdir({"project": project, "report": report, "elsewhere": tmp_path}[place])
    capsys.readouterr()
    assert main(["compete", os.path.relpath(report / "settings.toml")]) == 0, capsys.readouterr().err
    after = json.loads((report / "receipt.json").read_text())
    assert after["settings"]["seed"] == 3 and after["created"] != before["created"]
    assert "seed = 3  # lucky" in (report / "settings.toml").read_text()
    assert {path.name for path in project.iterdir()} == {"t.csv", "new.csv", "hyperplan-report"}
    assert os.listdir(tmp_path) == ["project"] and "old-" not in "".join(os.listdir(report))
    assert main(["verify", str(report), "--split", "0"]) == 0


def test_results_go_elsewhere_when_their_folder_was_taken_meanwhile(project, monkeypatch, capsys):
    assert run("t.csv", "--target", "y") == 0
    note, located = project / "hyperplan-report" / "notes.txt", _compete.located
    monkeypatch.setattr(_compete, "located", lambda settings: (note.write_text("mine"), located(settings))[1])
    capsys.readouterr()
    assert run("t.csv", "--target", "y") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "holds notes.txt besides" in said and "hyperplan-report-2" in said
    assert note.read_text() == "mine" and (project / "hyperplan-report-2" / "receipt.json").exists()


def test_the_table_is_not_among_what_is_replaced(project, capsys):
    assert run("t.csv", "--target", "y", "--test", "new.csv") == 0
    predictions = project / "hyperplan-report" / "predictions.csv"
    before = predictions.read_bytes()
    assert run(predictions, "--target", "prediction") == 2
    assert "predictions.csv is read and lies in hyperplan-report" in capsys.readouterr().err
    assert predictions.read_bytes() == before


# The rules


def test_beside_the_settings_file_first_then_here(tmp_path, monkeypatch):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    monkeypatch.chdir(here)
    told = []

    def found(**settings):
        return settled(Settings(**settings), Path("..") / "there" / "s.toml", lambda **words: told.append(words))

    assert found(table="t.csv").table == str(there / "t.csv")  # where it would be looked for first
    (here / "t.csv").touch()
    assert found(table="t.csv").table == str(here / "t.csv") and not told
    (there / "t.csv").touch()
    assert found(table="t.csv").table == str(there / "t.csv")
    assert told == [{"setting": "table", "taken": str(there / "t.csv"), "other": str(here / "t.csv")}]
    assert found(table=str(here / "t.csv")).table == str(here / "t.csv")
    assert found(test="t.csv").test == str(there / "t.csv") and found().test is None
    assert found(table="~/t.csv").table == os.path.expanduser("~/t.csv")
    assert found(table="https://a.org/t.csv").table == "https://a.org/t.csv"
    assert found(out="results").out == str(there / "results")
    (here / "results").mkdir()
    assert found(out="results").out == str(here / "results")


def test_a_file_that_is_here_and_there_is_said(project, capsys):
    (project / "conf").mkdir()
    (project / "conf" / "t.csv").write_bytes((project / "t.csv").read_bytes())
    (project / "conf" / "s.toml").write_text('table = "t.csv"\ntarget = "y"\n')
    assert run("conf/s.toml") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"{project / 'conf' / 't.csv'} is taken, not {project / 't.csv'}" in said
    assert (project / "hyperplan-report").is_dir()  # nobody said where: here


def test_parts_and_queries_keep_their_meaning(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.parquet").touch()
    (tmp_path / "it's.csv").touch()
    assert whole_table("a.db::some/table") == f"{tmp_path / 'a.db'}::some/table"
    assert whole_table("a.zip::b/c.csv::d") == f"{tmp_path / 'a.zip'}::b/c.csv::d"
    queries = {
        "SELECT * FROM 'a.parquet' WHERE name = 'a.parquet'": "SELECT * FROM '{}/a.parquet' WHERE name = 'a.parquet'",
        "FROM read_csv('it''s.csv', header = true)": "FROM read_csv('{}/it''s.csv', header = true)",
        "select x from \"a.parquet\" join '*.parquet' using (id)": "select x from '{0}/a.parquet' join '{0}/*.parquet' "
        "using (id)",
        "FROM 'https://a.org/a.parquet'": "FROM 'https://a.org/a.parquet'",
        "FROM 'absent.csv'": "FROM 'absent.csv'",
        "WITH data AS (SELECT 1) SELECT * FROM data": "WITH data AS (SELECT 1) SELECT * FROM data",
    }
    queries = {query: wanted.format(tmp_path) for query, wanted in queries.items()}
    assert {query: whole_table(query) for query in queries} == queries
    files = source_files("SELECT * FROM '*.parquet' JOIN \"it's.csv\" USING (id)")
    assert [path.name for path in files] == ["a.parquet", "it's.csv"]


def test_a_query_of_a_settings_file_reads_what_is_beside_it(tmp_path, monkeypatch):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "a.csv").touch()
    monkeypatch.chdir(tmp_path)
    query = "SELECT * FROM 'a.csv'"
    assert settled(Settings(table=query), "conf/s.toml").table == f"SELECT * FROM '{tmp_path}/conf/a.csv'"
    assert settled(ExploreSettings(table=query), tmp_path / "s.toml").table == query


def test_a_part_of_a_database_is_found_from_the_report(project, monkeypatch):
    connection = sqlite3.connect("t.db")
    pandas.read_csv("t.csv").to_sql("sold", connection, index=False)
    connection.close()
    assert run("t.db::sold", "--target", "y") == 0
    monkeypatch.chdir("hyperplan-report")
    assert read_settings("settings.toml").table == f"{project / 't.db'}::sold"
    assert main(["compete", "settings.toml"]) == 0
