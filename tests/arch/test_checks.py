"""Numbered checks agree everywhere: the code that finds them, the texts in both languages, the page about them."""

import pathlib
import re

import pytest

from hyperplan._texts import LANGUAGES, area_texts

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "hyperplan"
AREAS = {"audit": ("A", "compete/_audit*.py"), "diagnosis": ("D", "evaluation/_diagnose*.py")}

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
    sections = re.findall(r"^## ([AD]\d\d) (.+)$", page, re.MULTILINE)
    texts = area_texts(area, "en")
    assert sections == [(code, texts[code]["title"]) for code in sorted(codes_in_texts(area))]
    for body in re.split(r"^## [AD]\d\d .+$", page, flags=re.MULTILINE)[1:]:
        assert len(body.split()) >= 4
