"""Values that labels of classes may be besides numbers and text: dates, decimals, and what pandas cuts numbers into.

They are written as text, or as the parts they are made of, and read by the constructor of one of these types only.
"""

import datetime
import decimal
from collections.abc import Callable
from typing import Any

import numpy as np

from hyperplan.persistence._errors import ModelFileError

LONGEST = 200  # characters of one value
PLAIN: dict[str, tuple[type, Callable[[Any], str], Callable[[str], object]]] = {
    "date": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "datetime": (datetime.datetime, datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    "decimal": (decimal.Decimal, str, decimal.Decimal),
}
OF_PANDAS = ("Timestamp", "Timedelta", "Interval", "Period")


def label_parts(value) -> list | None:
    """``[kind, parts]`` that `label_of` makes the same value of; None for other things, or where that cannot be."""
    kind = type(value)
    found: Any = next(([name, [write(value)]] for name, (cls, write, _) in PLAIN.items() if kind is cls), None)
    if found is None and kind.__module__.partition(".")[0] == "pandas" and kind.__name__ in OF_PANDAS:
        parts = _PANDAS_PARTS[kind.__name__](value)
        found = [kind.__name__, [part.item() if isinstance(part, np.generic) else part for part in parts]]
    if found is None:
        return None
    try:
        again = label_of(found[0], found[1])
    except (ModelFileError, ValueError):
        return None
    is_same = type(again) is kind and again == value and getattr(again, "tzinfo", 0) == getattr(value, "tzinfo", 0)
    return found if is_same else None


_PANDAS_PARTS = {
    "Timestamp": lambda value: [value.isoformat(), value.unit, None if value.tz is None else str(value.tz)],
    "Timedelta": lambda value: [value.isoformat(), value.unit],
    "Interval": lambda value: [value.left, value.right, value.closed],
    "Period": lambda value: [str(value), value.freqstr],
}


def label_of(kind, parts: list):
    """The value of a kind; an error for what is none."""
    if kind in PLAIN and len(parts) == 1 and _is_short(parts[0]):
        return PLAIN[kind][2](parts[0])
    if kind not in OF_PANDAS or not all(_is_part(part) for part in parts):
        raise ModelFileError(f"The file is damaged or forged: no label is of kind {kind!r:.40}.")
    try:
        import pandas
    except ImportError:
        raise ModelFileError("The labels of the model are values of pandas, which is not installed.") from None
    if kind == "Timestamp":
        found = pandas.Timestamp(parts[0])
        found = found.tz_convert(parts[2]) if parts[2] else found
        return found.as_unit(parts[1])
    if kind == "Timedelta":
        return pandas.Timedelta(parts[0]).as_unit(parts[1])
    return pandas.Interval(*parts) if kind == "Interval" else pandas.Period(*parts)


def _is_part(part) -> bool:
    """Whether a value of pandas may be made of it: a number, a text, or a time as the end of an interval."""
    return part is None or isinstance(part, float | int) or _is_short(part) or type(part).__name__ in OF_PANDAS[:2]


def _is_short(part) -> bool:
    return isinstance(part, str) and len(part) <= LONGEST
