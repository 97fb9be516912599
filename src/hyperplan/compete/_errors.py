"""Errors that a person is meant to read: what is wrong, where, what to do, in each language."""

import errno

from hyperplan._core.open_file import OddFileError
from hyperplan._texts import LANGUAGES, area_texts, option, text


class SpokenError(ValueError):
    """An error whose words stand in `_texts`; ``str(error)`` is English, `message` speaks the language asked for.

    Parameters
    ----------
    key : str
        Name of the text below ``errors`` of the class's area.
    **values
        What the braces of the text are filled with.
    """

    area = "tables"

    def __init__(self, key: str, **values):
        self.key, self.values = key, values
        super().__init__(self.message())

    def message(self, language: str = "en") -> str:
        """The words in a language."""
        return text(f"{self.area}.errors.{self.key}", language, **_spoken(self.values, language))

    def __reduce__(self):
        return _rebuilt, (type(self), self.key, self.values)


def _rebuilt(kind, key, values):
    return kind(key, **values)


def _spoken(values: dict, language: str) -> dict:
    return {
        name: value.said(language) if isinstance(value, KindsOfColumns | ModelNames | SystemReason | Option) else value
        for name, value in values.items()
    }


class SystemReason(str):
    """Why the system refused something, as a value of an error: English as it stands, else by its key."""

    key = ""

    def said(self, language: str) -> str:
        """The reason in a language, if it is one of those that have words."""
        return area_texts("tables", language)["reasons"].get(self.key, str(self))


def reason_of(error: OSError) -> SystemReason:
    """What an error of the system says, for people."""
    reason = SystemReason(error.strerror or str(error) or type(error).__name__)
    reason.key = error.kind if isinstance(error, OddFileError) else errno.errorcode.get(error.errno or 0, "")
    return reason


class Option(str):
    """An option as a value of an error, by its name on the command line: said as whoever asks has to write it."""

    def said(self, language: str) -> str:
        """``--time-column`` or ``time_column=``"""
        return option(self)


class KindsOfColumns(tuple):
    """Names of columns and their kinds, as a value of an error: the words follow its language."""

    def said(self, language: str) -> str:
        """``size: constant, name: identifier``"""
        colon = " : " if language == "fr" else ": "
        return ", ".join(f"{name}{colon}{text(f'columns.kind.{kind}', language)}" for name, kind in self)


class ModelNames(tuple):
    """Names of models, as a value of an error: the words follow its language."""

    def said(self, language: str) -> str:
        """``Random forest, Extra trees``"""
        return ", ".join(_model_name(label, language) for label in self)


def names_of_model(label: str) -> list[str]:
    """What a model is called, in each language."""
    return [_model_name(label, language) for language in LANGUAGES]


def _model_name(label: str, language: str) -> str:
    return area_texts("report", language)["word"]["model"].get(label, label)


class TableError(SpokenError):
    """A table that cannot be read, or a question that does not fit it.

    Examples
    --------
    >>> from hyperplan.compete import TableError, read_table
    >>> try:
    ...     read_table("no_such_folder/penguins.csv")
    ... except TableError as error:
    ...     print(error)
    there is no file no_such_folder/penguins.csv; check the path
    """

    area = "tables"


class SettingsError(SpokenError):
    """A setting that is unknown, of the wrong type or out of range; the message names the key.

    Examples
    --------
    >>> from hyperplan.compete import Settings, SettingsError
    >>> try:
    ...     Settings(target="y", folds=1)
    ... except SettingsError as error:
    ...     print(error)
    setting "folds" must be a whole number from 2 to 100, got 1
    """

    area = "settings"


class AuditError(SpokenError):
    """A finding of the audit without whose remedy no competition is possible; the key is its code.

    Examples
    --------
    >>> from hyperplan.compete import AuditError
    >>> print(str(AuditError("A22", columns="age", count=1)).partition(".")[0])
    The test file lacks columns that models learn from: age
    """

    def message(self, language: str = "en") -> str:
        """What was found and what to do, in a language."""
        parts = (text(f"audit.{self.key}.{part}", language, **self.values) for part in ("message", "advice"))
        return " ".join(parts)


class CompetitionError(SpokenError):
    """A question that cannot be answered, or an answer that cannot be written; the message says what to do.

    Examples
    --------
    >>> import pandas
    >>> from hyperplan.compete import CompetitionError, compete
    >>> try:
    ...     compete(pandas.DataFrame({"rooms": [1.0, 2.0], "price": [3.0, 4.0]}), target="prize")
    ... except CompetitionError as error:
    ...     print(error)
    there is no column 'prize' to predict; did you mean price?
    """

    area = "compete"
