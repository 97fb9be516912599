"""What the library tells people, in English and French.

Each language is a folder of TOML files, one per area (``audit``, ``diagnosis``, ``report``, ...); a text is found by
``"area.key"`` and filled with values like a format string.  Numbers are formatted by whoever passes them, or by the
format in the braces; `tests/arch/test_texts.py` holds the languages to the same keys and the same values.
"""

import functools
import tomllib
from pathlib import Path

LANGUAGES = ("en", "fr")
FOLDER = Path(__file__).parent


def text(key: str, language: str = "en", **values) -> str:
    """The text ``"area.key"`` (deeper tables: ``"area.table.key"``) in a language, its braces filled with values."""
    area, *path = key.split(".")
    found = area_texts(area, language)
    for step in path:
        found = found[step]
    return found.format(**values)


@functools.cache
def area_texts(area: str, language: str = "en") -> dict:
    """All texts of an area, as nested dictionaries."""
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, got {language!r}")
    return tomllib.loads((FOLDER / language / f"{area}.toml").read_text(encoding="utf-8"))
