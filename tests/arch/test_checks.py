"""Numbered checks agree everywhere: the code that finds them, the texts in both languages, the page about them."""

import doctest
import pathlib
import re

import pytest

from hyperplan._texts import LANGUAGES, area_texts

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "hyperplan"
AREAS = {
    "audit": ("A", "compete/_audit*.py"),
    "diagnosis": ("D", "*/_diagnos*.py"),
    "explore": ("X", "explore/_findings.py"),
}

by_area = pytest.mark.parametrize("area", AREAS)


def codes_in_texts(area, language="en"):
    return {key for key in area_texts(area, language) if re.fullmatch(rf"{AREAS[area][0]}\d\d", key)}


@by_area
def test_code_and_texts_have_the_same_checks(area):
    letter, files = AREAS[area]
    source = "".join(path.read_text(encoding="utf-8") for path in sorted(PACKAGE.glob(files)))
    found = set(re.findall(rf'"({letter}\d\d)"', source))
    assert found and all(codes_in_texts(area, language) == found for language in LANGUAGES)
    assert found == {f"{letter}{i:02}" for i in range(1, len(found) + 1)}


@by_area
@pytest.mark.parametrize("language", LANGUAGES)
def test_each_check_has_title_message_and_advice(area, language):
    for code in codes_in_texts(area, language):
        texts = area_texts(area, language)[code]
        assert set(texts) == {"title", "message", "advice"} and texts["title"] and texts["message"], code


@by_area
def test_page_has_a_section_for_each_check_in_order(area):
    page = (ROOT / "docs" / f"checks_{area}.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## ([ADX]\d\d) (.+)$", page, re.MULTILINE)
    texts = area_texts(area, "en")
    assert sections == [(code, texts[code]["title"]) for code in sorted(codes_in_texts(area))]
    for body in re.split(r"^## [ADX]\d\d .+$", page, flags=re.MULTILINE)[1:]:
        assert len(body.split()) >= 4


def test_examples_of_the_page_run():
    result = doctest.testfile(str(ROOT / "docs" / "checks_diagnosis.md"), module_relative=False)
    assert result.attempted >= 8 and result.failed == 0


def test_advice_on_the_page_is_in_the_tables():
    """Parameters that the page names are moved by some family, and the tables of the page have a row for each kind."""
    from hyperplan.evaluation._advice_tables import FAMILIES

    page = (
        (ROOT / "docs" / "checks_diagnosis.md").read_text(encoding="utf-8").partition("## Which parameter to move")[2]
    )
    named = {word for line in page.splitlines() if line.startswith("|") for word in re.findall(r"`([a-zC]\w*)`", line)}
    moved = {move.parameter for family in FAMILIES for moves in family.moves.values() for move in moves}
    assert len(named) > 15 and named <= moved
