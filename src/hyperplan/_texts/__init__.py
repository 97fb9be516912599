"""What the library tells people, in English and French.

Each language is a folder of TOML files, one per area (``audit``, ``diagnosis``, ``report``, ...); a text is found by
``"area.key"`` and filled with values like a format string.  Numbers are written as the language does, in the format
that stands in the braces: ``{share:.1%}``, ``{line:d}`` (no separator of thousands).  A word that depends on a number
has both forms there: ``{rows} {rows:row|rows}``; where whole sentences differ, the text is a table of ``one`` and
``many``, and `hyperplan.report._wording.Wording.count` takes the one that fits.  `tests/arch/test_texts.py` holds the
languages to the same keys and the same values, and every counted noun to its two forms.
"""

import contextlib
import contextvars
import functools
import re
import tomllib
from pathlib import Path
from typing import Any

from hyperplan._texts._numbers import Numbers

# Characters that steer a terminal or turn the direction of writing: in a name they would forge what is shown.
STEERING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
LANGUAGES = ("en", "fr")
FOLDER = Path(__file__).parent
# An option of the command in a text, with what follows as its value: a brace, a word in capitals or a number.
OPTION = re.compile(r"--(?P<name>[a-z][a-z-]*)(?: (?P<value>\{[^}]*\}|[A-Z]{2,}|\d+))?")
RENAMED = {"out": "folder"}  # options that have another name in Python
FLAGS = ("drop-leaks", "force")  # options without a value
NUMBERS = ("time", "n-jobs", "folds", "seed")  # options whose value is no text
_is_command = contextvars.ContextVar("_is_command", default=False)


def text(key: str, language: str = "en", **values) -> str:
    """The text ``"area.key"`` (deeper tables: ``"area.table.key"``) in a language, its braces filled with values."""
    area, *path = key.split(".")
    found: Any = area_texts(area, language)
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


def area_texts(area: str, language: str = "en") -> dict:
    """All texts of an area for whoever asks, as nested dictionaries."""
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, got {language!r}")
    return _area_texts(area, language, _is_command.get())


@functools.cache
def _area_texts(area: str, language: str, is_command: bool) -> dict:
    found = tomllib.loads((FOLDER / language / f"{area}.toml").read_text(encoding="utf-8"))
    return found if is_command else _in_python(found)


@contextlib.contextmanager
def speaking_to_command():
    """Inside, texts name options as the command line has them; outside, as parameters of Python."""
    token = _is_command.set(True)
    try:
        yield
    finally:
        _is_command.reset(token)


def option(name: str) -> str:
    """What whoever asks calls an option: ``--time-column``, or ``time_column=`` in Python."""
    return f"--{name}" if _is_command.get() else f"{_parameter(name)}="


def _in_python(found):
    if isinstance(found, dict):
        return {key: _in_python(value) for key, value in found.items()}
    return OPTION.sub(_as_parameter, found) if isinstance(found, str) else found


def _as_parameter(match) -> str:
    """``--group {name}`` as ``group={name!r}``, ``--drop`` as ``drop=``, ``--drop-leaks`` as ``drop_leaks=True``."""
    name, value = match["name"], match["value"]
    if value is None:
        value = "True" if name in FLAGS else ""
    elif name not in NUMBERS:
        value = f"{value[:-1]}!r}}" if value.startswith("{") else repr(value)
    return f"{_parameter(name)}={value}"


def _parameter(name: str) -> str:
    return RENAMED.get(name, name).replace("-", "_")
