"""Every choice of a competition in one record, and the one TOML file it is read from and written to."""

import datetime
import math
import pathlib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real

from hyperplan._core.open_file import read_small_file
from hyperplan._core.safe_files import PlaceTakenError, write_file
from hyperplan._texts import LANGUAGES, text
from hyperplan.compete._errors import SettingsError, reason_of
from hyperplan.compete._names import nearest_names

KINDS = ("number", "category", "date", "text", "id", "constant", "empty")
TASKS = ("auto", "classification", "regression")
RARE = ("set aside", "merge")  # what becomes of classes with too few rows
READING = ("separator", "quote", "escape", "decimal", "header", "encoding")  # how a delimited text is written
TABLES = ("columns", "formats", "missing", "spellings")  # settings that are tables of columns: sections of the file


def _is_text(value) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_whole(value, low, high) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and low <= value <= high


def _is_seconds(value) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value) and value > 0


def _is_texts(value) -> bool:
    return isinstance(value, tuple) and all(_is_text(name) for name in value)


def _is_label(value) -> bool:
    return isinstance(value, str | bool | Integral) or (isinstance(value, Real) and math.isfinite(value))


def _plain_label(value):
    """A label of another library as a number or a truth value; a date as text."""
    if isinstance(value, datetime.date):
        return str(value).removesuffix(" 00:00:00")
    item = getattr(value, "item", None)
    found = item() if callable(item) else value
    return _plain_label(found) if isinstance(found, datetime.date) else found


def _is_kinds(value) -> bool:
    return isinstance(value, dict) and all(_is_text(name) and kind in KINDS for name, kind in value.items())


def _is_formats(value) -> bool:
    return isinstance(value, dict) and all(_is_text(name) and _is_text(form) for name, form in value.items())


def _is_labels(value) -> bool:
    return isinstance(value, list | tuple) and all(_is_label(item) for item in value)


def _is_missing(value) -> bool:
    return isinstance(value, dict) and all(_is_text(name) and _is_labels(listed) for name, listed in value.items())


def _is_spellings(value) -> bool:
    """Column -> {value: [its other spellings]}."""
    return isinstance(value, dict) and all(_is_text(name) and _is_missing(read) for name, read in value.items())


def _is_reading(value) -> bool:
    return isinstance(value, dict) and all(
        name in READING and isinstance(item, bool if name == "header" else str) for name, item in value.items()
    )


# What each setting may be: a test, the key of the words that describe it, and the values of these words.
RULES = {
    "table": (_is_text, "text", {}),
    "target": (_is_text, "text", {}),
    "test": (_is_text, "text", {}),
    "task": (lambda value: value in TASKS, "choice", {"choices": ", ".join(TASKS)}),
    "metric": (_is_text, "text", {}),
    "positive": (_is_label, "label", {}),
    "time": (_is_seconds, "seconds", {}),
    "out": (_is_text, "text", {}),
    "lang": (lambda value: value in LANGUAGES, "choice", {"choices": ", ".join(LANGUAGES)}),
    "seed": (lambda value: _is_whole(value, 0, 2**32 - 1), "whole", {"low": 0, "high": 2**32 - 1}),
    "n_jobs": (lambda value: _is_whole(value, -1, 1024) and value != 0, "jobs", {}),
    "folds": (lambda value: _is_whole(value, 2, 100), "whole", {"low": 2, "high": 100}),
    "group": (_is_text, "text", {}),
    "time_column": (_is_text, "text", {}),
    "drop_leaks": (lambda value: isinstance(value, bool), "truth", {}),
    "drop": (_is_texts, "texts", {}),
    "colour": (_is_text, "text", {}),
    "rare_classes": (lambda value: value in RARE, "choice", {"choices": ", ".join(RARE)}),
    "rare_rows": (lambda value: _is_whole(value, 1, 10**6), "whole", {"low": 1, "high": 10**6}),
    "rare_name": (_is_text, "text", {}),
    "columns": (_is_kinds, "kinds", {"choices": ", ".join(KINDS)}),
    "formats": (_is_formats, "formats", {}),
    "missing": (_is_missing, "missing", {}),
    "spellings": (_is_spellings, "spellings", {}),
    "reading": (_is_reading, "reading", {"choices": ", ".join(READING)}),
}
# Shown in a comment where a setting has no value.
EXAMPLES = {"table": "table.csv", "target": "price", "test": "test.csv", "metric": "roc_auc", "positive": "yes",
            "n_jobs": 2, "folds": 5, "group": "patient", "time_column": "date", "colour": "species"}  # fmt: skip


class CheckedSettings:
    """What records of settings share: each value is held to its rule, and copies are made with some values changed."""

    head = "head"  # key of the first comment of the file

    def __post_init__(self):
        if isinstance(self.drop, list):
            object.__setattr__(self, "drop", tuple(self.drop))
        if not isinstance(getattr(self, "positive", ""), str | bool | int | float | None):
            object.__setattr__(self, "positive", _plain_label(self.positive))
        for item in fields(self):
            value, (is_valid, words, values) = getattr(self, item.name), RULES[item.name]
            if value is None and item.default is None:
                continue
            if not is_valid(value):
                _refuse(item.name, value, words, values)

    def changed(self, **values):
        """A copy with the values that are not None, for what the command line adds to a file."""
        return replace(self, **{key: value for key, value in values.items() if value is not None})


@dataclass(frozen=True)
class Settings(CheckedSettings):
    """Every choice of a competition; what is None is guessed from the table.

    Parameters
    ----------
    table, target : str, default=None
        File and name of the column to predict.
    test : str, default=None
        A second file: predictions are written for its rows, and drift is measured against it.
    task : {"auto", "classification", "regression"}, default="auto"
    metric : str, default=None
        Name of a scikit-learn scorer.
    positive : str, number or bool, default=None
        The class that counts as positive when there are two.
    time : float, default=60
        Budget in seconds.
    out : str, default="hyperplan-report"
        Folder of the results.
    lang : {"en", "fr"}, default="en"
    seed : int, default=0
    n_jobs : int, default=None
        Workers; None or -1 means all cores.
    folds : int, default=None
        Parts of the outer cross-validation.
    group, time_column : str, default=None
        Rows of one group stay together; later rows are never used to predict earlier ones.
    drop_leaks : bool, default=False
        Consent to leave out the columns that give the target away.
    drop : sequence of str, default=()
        Columns to leave out.
    rare_classes : {"set aside", "merge"}, default="set aside"
        Rows of a class with too few rows are not learnt from, or are of one class, `rare_name`.
    rare_rows : int, default=2
        A class with fewer rows is rare.
    rare_name : str, default="other"
        Name of the class that rare ones are merged into.
    columns : dict, default={}
        Kind of a column, where the guess is wrong.
    formats : dict, default={}
        How numbers (``"1,234.5"``) or dates (``"%d/%m/%Y"``) of a column are written, where the guess is wrong.
    missing : dict, default={}
        Values of a column that stand for a missing one, instead of the guessed ones; ``[]`` for none.
    spellings : dict, default={}
        Column -> ``{value: [its other spellings]}``, instead of the guessed ones; ``{}`` for none.
    reading : dict, default={}
        How a delimited text is written, where the guess is wrong: separator, quote, escape, decimal, header, encoding
        (`read_table`).

    Examples
    --------
    >>> from hyperplan.compete import Settings
    >>> Settings(target="species", time=30).task
    'auto'
    """

    table: str | None = None
    target: str | None = None
    test: str | None = None
    task: str = "auto"
    metric: str | None = None
    positive: str | float | bool | None = None
    time: float = 60.0
    out: str = "hyperplan-report"
    lang: str = "en"
    seed: int = 0
    n_jobs: int | None = None
    folds: int | None = None
    group: str | None = None
    time_column: str | None = None
    drop_leaks: bool = False
    drop: tuple[str, ...] = ()
    rare_classes: str = "set aside"
    rare_rows: int = 2
    rare_name: str = "other"
    columns: dict = field(default_factory=dict)
    formats: dict = field(default_factory=dict)
    missing: dict = field(default_factory=dict)
    spellings: dict = field(default_factory=dict)
    reading: dict = field(default_factory=dict)


def _refuse(key: str, value, words: str, values: dict) -> None:
    """Raise for a wrong value; in a table of columns the message names the entry."""
    if key in TABLES and isinstance(value, dict):
        name = next(name for name, item in value.items() if not RULES[key][0]({name: item}))
        key, value = f"{key}.{name}", value[name]
        words = "choice" if words == "kinds" else f"{words}_entry"
    raise SettingsError(words, setting=key, found=_shown(value), **values)


def _shown(value) -> str:
    return repr(value)[:80]


def check_names(settings: CheckedSettings, names: Iterable[str]) -> None:
    """Raise if a column that a setting names is not in the table."""
    names = list(names)
    asked = [(key, getattr(settings, key, None)) for key in ("target", "group", "time_column", "colour")]
    asked += [("drop", name) for name in settings.drop]
    asked += [(f"{table}.{name}", name) for table in TABLES for name in getattr(settings, table)]
    known = set(names)
    for key, name in asked:
        if name is None or name in known:
            continue
        if near := nearest_names(name, names):
            raise SettingsError("no_column_near", setting=key, name=name, near=", ".join(near))
        shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
        raise SettingsError("no_column", setting=key, name=name, columns=shown)


def read_settings(path, kind: type = Settings):
    """Settings of a kind from a TOML file; keys that are absent keep their defaults."""
    path = pathlib.Path(path)
    try:
        found = tomllib.loads(read_small_file(path).decode("utf-8-sig"))
    except FileNotFoundError:
        raise SettingsError("no_file", name=path) from None
    except OSError as error:
        raise SettingsError("unreadable", name=path, reason=reason_of(error)) from None
    except UnicodeDecodeError as error:
        raise SettingsError("toml", name=path, reason=f"byte {error.start} is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise SettingsError("toml", name=path, reason=error) from None
    known = [item.name for item in fields(kind)]
    for key in found:
        if key not in known:
            near = nearest_names(key, known)
            words = {"near": ", ".join(near)} if near else {"known": ", ".join(known)}
            raise SettingsError("unknown_near" if near else "unknown", setting=key, name=path.name, **words)
    return kind(**found)


def write_settings(settings: CheckedSettings, path, columns=(), reading=None, *, force: bool = False) -> None:
    """Write settings as TOML with a comment on each line, in one step: the old file or the new one, never half.

    Parameters
    ----------
    settings : Settings
    path : str or path
    columns : sequence of Column, default=()
        Guessed columns (`guess_columns`), the target's may be among them: kinds are listed with their reasons, and
        formats, missing values and spellings where there are any, so that all can be corrected.
    reading : dict, default=None
        How the file was found to be written (``frame.attrs["reading"]``), shown in comments.
    force : bool, default=False
        Replace a file that is there and says something else; it is an error otherwise.
    """
    path = pathlib.Path(path)
    content = settings_text(settings, columns, reading)

    def write(beside: pathlib.Path) -> None:
        beside.write_text(content, encoding="utf-8", newline="\n")

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, write, force=force, is_ours=lambda found: found.read_bytes() == content.encode())
    except PlaceTakenError as error:
        raise SettingsError(f"file_{error.why}", name=path) from None
    except OSError as error:
        raise SettingsError("unwritable", name=path, reason=reason_of(error)) from None


def settings_text(settings: CheckedSettings, columns=(), reading=None) -> str:
    """The TOML text of settings, in their language."""
    language = settings.lang
    lines = [f"# {text(f'settings.comments.{settings.head}', language)}", ""]
    for item in fields(settings):
        if item.name in (*TABLES, "reading"):
            continue
        value, remark = getattr(settings, item.name), text(f"settings.comments.{item.name}", language)
        shown = toml_value(EXAMPLES[item.name] if value is None else value)
        lines.append(f"{'# ' if value is None else ''}{item.name} = {shown}  # {remark}")
    lines += _reading_lines(settings, reading or {})
    guessed = {
        "columns": {column.name: column.kind for column in columns if column.name != getattr(settings, "target", None)},
        "formats": {column.name: column.format for column in columns if column.format},
        "missing": {column.name: gap_values(column.gaps) for column in columns if column.gaps},
        "spellings": {column.name: dict(column.merged) for column in columns if column.merged},
    }
    why = {column.name: text(f"columns.why.{column.why}", language) for column in columns}
    for table, found in guessed.items():
        lines += ["", f"# {text(f'settings.comments.{table}', language)}", f"[{table}]"]
        for name, value in (found | getattr(settings, table)).items():
            is_guess = table == "columns" and found.get(name) == value
            lines.append(f"{toml_key(name)} = {toml_value(value)}" + (f"  # {why[name]}" if is_guess else ""))
    return "\n".join(lines) + "\n"


def _reading_lines(settings: CheckedSettings, found: dict) -> list[str]:
    """How the file is written: what was said, and in comments what was guessed."""
    lines = ["", f"# {text('settings.comments.reading', settings.lang)}", "[reading]"]
    for name in READING:
        if name in settings.reading:
            lines.append(f"{name} = {toml_value(settings.reading[name])}")
        elif name in found:
            lines.append(f"# {name} = {toml_value(found[name])}")
    return lines


def gap_values(gaps) -> list:
    """What stands for missing values as the file shows it: numbers as numbers."""
    return [_as_number(word) for word in gaps]


def _as_number(word: str):
    for kind in (int, float):
        try:
            number = kind(word)
        except ValueError:
            continue
        return number if str(number) == word else word
    return word


def toml_value(value) -> str:
    """A text, number, truth value, list or table of these as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, dict):
        inside = ", ".join(f"{toml_key(str(key))} = {toml_value(item)}" for key, item in value.items())
        return f"{{{inside}}}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return repr(int(value)) if isinstance(value, Integral) else repr(float(value))


def toml_string(value: str) -> str:
    """A basic string: quotes, backslashes and control characters escaped."""
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(short.get(c) or (c if c.isprintable() or c == " " else _escaped(c)) for c in value) + '"'


def _escaped(character: str) -> str:
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        return "?"  # half a character, which no file can hold
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def toml_key(name: str) -> str:
    """A key, bare where TOML allows it."""
    is_bare = bool(name) and name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()
    return name if is_bare else toml_string(name)
