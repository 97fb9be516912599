"""What the library tells people, in English and French.

Each language is a folder of TOML files, one per area (``audit``, ``diagnosis``, ``report``, ...); a text is found by
``"area.key"`` and filled with values like a format string.  Numbers are written as the language does, in the format
that stands in the braces: ``{share:.1%}``, ``{line:d}`` (no separator of thousands).  A word that depends on a number
has both forms there: ``{rows} {rows:row|rows}``; where whole sentences differ, the text is a table of ``one`` and
``many``, and `hyperplan.report._wording.Wording.count` takes the one that fits.  `tests/arch/test_texts.py` holds the
languages to the same keys and the same values, and every counted noun to its two forms.
"""

import functools
import re
import tomllib
from pathlib import Path

from hyperplan._texts._numbers import Numbers

# Characters that steer a terminal or turn the direction of writing: in a name they would forge what is shown.
STEERING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
LANGUAGES = ("en", "fr")
FOLDER = Path(__file__).parent


def text(key: str, language: str = "en", **values) -> str:
    """The text ``"area.key"`` (deeper tables: ``"area.table.key"``) in a language, its braces filled with values."""
    area, *path = key.split(".")
    found = area_texts(area, language)
    for step in path:
        found = found[step]
    numbers = Numbers(language)
    return found.format(**{name: numbers.localised(printable(value)) for name, value in values.items()})


def printable(value):
    """A value of a sentence as it may be shown: text of somebody's table is one line and steers nothing.

    >>> from hyperplan._texts import printable
    >>> printable("two\\nlines"), printable("\\x1b[2Jcleared"), printable(3)
    ('two lines', '\ufffd[2Jcleared', 3)
    """
    value = str(value) if isinstance(value, Path) else value
    if not isinstance(value, str) or value.isprintable():
        return value
    return re.sub(r"[\t\r\n]+", " ", STEERING.sub("\ufffd", value))


@functools.cache
def area_texts(area: str, language: str = "en") -> dict:
    """All texts of an area, as nested dictionaries."""
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, got {language!r}")
    return tomllib.loads((FOLDER / language / f"{area}.toml").read_text(encoding="utf-8"))
