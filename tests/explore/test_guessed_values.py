"""What is guessed about values is said on the terminal and on the page, and can be changed in the settings file."""

import tomllib

import numpy as np
import pytest

from hyperplan.cli import _warmup, main
from hyperplan.explore import _explore, explore
from hyperplan.explore._methods import METHODS
from hyperplan.explore._page import render_report

pandas = pytest.importorskip("pandas")
SAID = {
    "en": ["read as missing (rows): age: -999 (4)", "read as one value (rows): answer: yes = YES (4)",
           "read without their sign (rows): price: $ (30), € (10); rate: % (36)",
           "perhaps not of one unit"],
    "fr": ["lues comme manquantes (lignes) : age: -999 (4)",
           "lues comme une seule valeur (lignes) : answer: yes = YES (4)",
           "lus sans leur signe (lignes) : price: $ (30), € (10); rate: % (36)",
           "peut-être pas dans la même unité"],
}  # fmt: skip


def table():
    """Forty people: ages with -999, answers in two spellings, prices in two currencies, rates with and without %."""
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, 40)
    age[::10] = -999
    answer = np.array(["yes", "no"] * 20, dtype=object)
    answer[:8:2] = "YES"
    price = [f"{'€' if k % 4 == 3 else '$'}{value:.2f}" for k, value in enumerate(rng.uniform(5, 90, 40))]
    rate = [f"{value:.1f}" + ("" if k % 10 == 5 else " %") for k, value in enumerate(rng.uniform(1, 9, 40))]
    return pandas.DataFrame({"age": age, "answer": answer, "price": price, "rate": rate})


@pytest.mark.parametrize("language", ["en", "fr"])
def test_terminal_page_and_settings_say_how_values_are_read(tmp_path, monkeypatch, capsys, language):
    monkeypatch.setattr(_warmup, "run", lambda *_, **__: 0)
    monkeypatch.setattr(_explore, "all_methods", lambda names: METHODS[:1])
    monkeypatch.setenv("COLUMNS", "300")
    table().to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "out"
    command = ["explore", str(tmp_path / "t.csv"), "--time", "600", "--lang", language, "--out", str(out)]
    assert main(command) == 0
    said = capsys.readouterr().out
    for words in SAID[language]:
        assert words in said
    page = (out / "report.html").read_text(encoding="utf-8")
    for code in ("A31", "A32", "A34", "A35"):
        assert code in page
    settings = tomllib.loads((out / "settings.toml").read_text(encoding="utf-8"))
    assert settings["missing"] == {"age": [-999]} and settings["spellings"] == {"answer": {"yes": ["YES"]}}


def test_what_the_settings_say_is_done_and_nothing_is_found_any_more():
    given = {"missing": {"age": []}, "spellings": {"answer": {}}}
    usual, told = (explore(table(), time=600, methods=["k_means"], **asked) for asked in ({}, given))
    kinds = {column["name"]: column for column in told.document["data"]["columns"]}
    assert kinds["age"]["missing"] == 0.0 and kinds["answer"]["distinct"] == 3
    codes = [{finding["code"] for finding in found.document["audit"]} for found in (usual, told)]
    assert {"A31", "A32", "A34", "A35"} <= codes[0] and codes[1] & {"A31", "A32", "A34", "A35"} == {"A34", "A35"}


def test_a_column_that_is_left_out_is_not_spoken_of():
    found = explore(table(), time=600, methods=["k_means"], drop=["price", "rate"])
    assert not {"A34", "A35"} & {finding["code"] for finding in found.document["audit"]}
    assert render_report(found.document, "fr")
