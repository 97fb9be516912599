"""Both languages say the same things with the same values."""

import re
import string

import pytest

from hyperplan._texts import FOLDER, LANGUAGES, area_texts, text

AREAS = sorted({path.stem for path in FOLDER.rglob("*.toml")})


def flat(table, prefix=""):
    for key, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def fields(pattern):
    """Names and formats of the values in a text."""
    return {(name, form) for _, name, form, _ in string.Formatter().parse(pattern) if name is not None}


@pytest.mark.parametrize("area", AREAS)
def test_languages_have_the_same_keys_and_values(area):
    first = dict(flat(area_texts(area, LANGUAGES[0])))
    for language in LANGUAGES[1:]:
        other = dict(flat(area_texts(area, language)))
        assert first.keys() == other.keys()
        assert {key: {name for name, _ in fields(value)} for key, value in first.items()} == {
            key: {name for name, _ in fields(value)} for key, value in other.items()
        }


def test_a_language_nobody_wrote_is_refused():
    with pytest.raises(ValueError, match="language must be one of en, fr"):
        text("audit.title", "de")


@pytest.mark.parametrize("area", AREAS)
def test_french_apostrophes_are_curved(area):
    straight = {key: value for key, value in flat(area_texts(area, "fr")) if re.search(r"\w'[\w{«]", value)}
    assert not straight
