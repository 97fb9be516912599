"""Both languages say the same things with the same values."""

import re
import string

import pytest

from hyperplan._texts import FOLDER, LANGUAGES, area_texts, text
from hyperplan._texts._numbers import Numbers

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


def texts_of(language):
    return {f"{area}.{key}": value for area in AREAS for key, value in flat(area_texts(area, language))}


@pytest.mark.parametrize("language", LANGUAGES)
def test_nobody_writes_a_plural_in_brackets(language):
    assert not {key: value for key, value in texts_of(language).items() if re.search(r"\w\((s|es|x)\)", value)}


NEVER = {"sizes": "40, 30 and 30", "kind": "Excel", "ratio": 12.5, "half": 100, "full": 200}  # is any of them 1


def said(pattern, number, language):
    """A text whose values are all the same number."""
    values = {name: number for _, name, _, _ in string.Formatter().parse(pattern) if name} | NEVER
    return pattern.format(**{name: Numbers(language).localised(value) for name, value in values.items()})


NOUNS = {
    "en": (
        ("class", "file", "model", "value", "part", "candidate"),
        ("classes", "files", "models", "values", "parts", "candidates"),
    ),
    "fr": (
        ("fichier", "modèle", "valeur", "part", "candidat"),
        ("fichiers", "modèles", "valeurs", "parts", "candidats"),
    ),
}


def words_by_number(language):
    """Nouns that some text has in both forms: ``{"row": "rows"}``."""
    forms = dict(zip(*NOUNS[language]))
    for pattern in texts_of(language).values():
        for one, many in re.findall(r"\{\w+:([^|{}]*)\|([^{}]*)\}", pattern):
            if one and many:
                forms[one.split()[0]] = many.split()[0]
    for key, value in texts_of(language).items():
        if key.endswith(".one") and value.startswith("{count} "):
            many = texts_of(language)[key.removesuffix("one") + "many"]
            forms[value.split()[1].strip(".:;")] = many.split()[1].strip(".:;")
    return {
        one: many
        for one, many in forms.items()
        if len(one) > 2 and one != many and many[:2] == one[:2] and many[-1] in "sx"
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_is_never_followed_by_a_plural_nor_several_by_a_singular(language):
    """Every text, with every value set to 1 and then to 2: no "1 rows", no "2 row"."""
    forms = words_by_number(language)
    assert {"en": "row", "fr": "ligne"}[language] in forms and len(forms) > 20
    plural, singular = ("|".join(map(re.escape, words)) for words in (set(forms.values()) - set(forms), forms))
    wrong = {}
    for key, pattern in texts_of(language).items():
        one, two = said(pattern, 1, language), said(pattern, 2, language)
        few = not key.endswith(".many") and re.search(rf"(?<![\w,.-])1 (?:{plural})(?!\w)", one)
        many = not key.endswith(".one") and re.search(rf"(?<![\w,.-])2 (?:{singular})(?!\w)", two)
        if few or many:
            wrong[key] = one if few else two
    assert not wrong
