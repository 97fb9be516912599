"""Values behind their spelling: numbers and dates written as text, categories written as numbers.

A format is decided once, on the table that is learnt from, and kept with the column: a new table of three rows is read
the same way, whatever its rows would suggest.
"""

import enum
import re

import numpy as np

from hyperplan.compete._columns_blocks import float_views, without_notes
from hyperplan.compete._columns_gaps import without_gaps

LOOKED_AT = 2000  # distinct values that decide a format
GLANCED_AT = 2000  # characters of a value that decide what it is: no number and no date is as long
DECIDED = 0.95  # share of the values that must fit a format
CURRENCY = (
    r"(?:US|CA|AU|NZ|HK|[ACRS])?\$|[€£¥₹₽₩₺₪₫฿₴₦₱]"
    r"|(?i:USD|EUR|GBP|CHF|JPY|CNY|RMB|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|BRL|MXN|ZAR|RUB|TRY|KRW|SGD|HKD)"
)
LONGEST_NUMBER = 400  # characters
BLANK = r"[ \u00a0\u2007\u2009\u202f]"
SIGNED = re.compile(  # a number with a currency or percent sign, in any usual order
    rf"(?P<open>\()?{BLANK}*(?P<before>[+-])?{BLANK}*(?P<left>{CURRENCY})?{BLANK}*(?P<after>[+-])?{BLANK}*"
    rf"(?P<digits>[\d.,]\S*?|\d{{1,3}}(?:[ \u00a0\u2007\u2009\u202f'’]\d{{3}})+\S*?|[Ii][Nn][Ff](?:inity)?){BLANK}*"
    rf"(?P<right>{CURRENCY}|[%‰])?{BLANK}*(?P<close>\))?"
)
SIMPLE = re.compile(r"([$€£¥]?)(-?[0-9.,]*[0-9])")  # most numbers, told in a tenth of the time
THOUSANDS = re.compile(r"(?<=\d)[ \u00a0\u2007\u2009\u202f'’](?=\d{3})")
NUMBERS = {  # name of a format: what fits it, its thousands separator, its decimal mark
    "1234.5": (r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:inf|Inf|INF|[Ii]nfinity)", "", "."),
    "1,234.5": (r"[+-]?\d{1,3}(?:,\d{2,3})*,\d{3}(?:\.\d*)?|[+-]?(?:\d+\.?\d*|\.\d+)", ",", "."),
    "1.234,5": (r"[+-]?\d{1,3}(?:\.\d{3})*(?:,\d*)?|[+-]?\d+(?:,\d*)?", ".", ","),
}
MONTHS = r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
DATES = (  # what fits it, and its formats, the likelier first
    (r"\d{4}-\d{1,2}-\d{1,2}", ("%Y-%m-%d",)),
    (r"\d{4}/\d{1,2}/\d{1,2}", ("%Y/%m/%d",)),
    (r"\d{4}\.\d{1,2}\.\d{1,2}", ("%Y.%m.%d",)),
    (r"\d{1,2}/\d{1,2}/\d{4}", ("%d/%m/%Y", "%m/%d/%Y")),
    (r"\d{1,2}/\d{1,2}/\d{2}", ("%d/%m/%y", "%m/%d/%y")),
    (r"\d{1,2}-\d{1,2}-\d{4}", ("%d-%m-%Y", "%m-%d-%Y")),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", ("%d.%m.%Y",)),
    (r"\d{1,2}\.\d{1,2}\.\d{2}", ("%d.%m.%y",)),
    (rf"\d{{1,2}}-{MONTHS}-\d{{4}}", ("%d-%b-%Y",)),
    (rf"\d{{1,2}}-{MONTHS}-\d{{2}}", ("%d-%b-%y",)),
    (rf"\d{{1,2}} {MONTHS} \d{{4}}", ("%d %b %Y", "%d %B %Y")),
    (rf"{MONTHS} \d{{1,2}}, \d{{4}}", ("%b %d, %Y", "%B %d, %Y")),
    (rf"{MONTHS} \d{{4}}", ("%b %Y", "%B %Y")),
    (r"\d{8}", ("%Y%m%d",)),
)
TIMES = (
    ("", ""),
    (r"[ T]\d{1,2}:\d{2}", " %H:%M"),
    (r"[ T]\d{1,2}:\d{2}:\d{2}", " %H:%M:%S"),
    (r"[ T]\d{1,2}:\d{2}:\d{2}\.\d+", " %H:%M:%S.%f"),
    (r" \d{1,2}:\d{2} ?(?i:[ap]m)", " %I:%M %p"),
    (r" \d{1,2}:\d{2}:\d{2} ?(?i:[ap]m)", " %I:%M:%S %p"),
)


def as_words(series):
    """Values as canonical text, None where missing or blank: 3 and 3.0 are "3", True is "True"; trimmed."""
    import pandas

    if series.dtype == object or isinstance(series.dtype, pandas.CategoricalDtype):
        codes, values = pandas.factorize(series)
        words = np.array([as_word(value) or None for value in values] + [None], dtype=object)
        return words[codes]  # missing values have the code -1, which is the last
    if series.dtype.kind in "biuf":
        codes, values = pandas.factorize(series)
        words = np.array([as_word(value) for value in values.tolist()] + [None], dtype=object)
        return words[codes]
    if series.dtype.kind == "M":
        words = series.astype("str").to_numpy(dtype=object, copy=True)
    else:
        words = series.str.strip().to_numpy(dtype=object, copy=True)
    words[(series.isna() | (words == "")).to_numpy(bool)] = None
    return words


def beginnings(series):
    """A column whose texts are cut where they are too long to be anything but texts."""
    is_words = series.dtype.kind not in "biufM" and hasattr(series, "str") and len(series)
    if not is_words or not (series.astype("str").str.len() > GLANCED_AT).any():
        return series
    return series.astype("str").str.slice(0, GLANCED_AT)


def as_word(value) -> str:
    """A value as canonical text."""
    value = value.value if isinstance(value, enum.Enum) else value
    value = value.decode("utf-8", errors="replace") if isinstance(value, bytes) else value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return str(int(value))
    return str(value).strip()


def bare_number(word: str) -> tuple[str, str]:
    """A word without what is no part of its number, and the currency or percent sign or the brackets that were there.

    Signs stand before or behind, blanks and apostrophes between groups of three digits; brackets around an amount are
    a minus.  A word that is not such a number stays as it is.

    Examples
    --------
    >>> from hyperplan.compete._columns_values import bare_number
    >>> bare_number("(1,234.50)"), bare_number("-5 %"), bare_number("1 234,50 €"), bare_number("5 kg")
    (('-1,234.50', '()'), ('-5', '%'), ('1234,50', '€'), ('5 kg', ''))
    """
    word = word.replace("\u2212", "-")
    if len(word) > LONGEST_NUMBER:
        return word, ""
    if simple := SIMPLE.fullmatch(word):
        return simple[2], simple[1]
    found = SIGNED.fullmatch(word)
    if found is None:
        return word, ""
    part = found.groupdict(default="")
    signs = part["before"] + part["after"] + ("-" if part["open"] else "")
    is_odd = bool(part["open"]) != bool(part["close"]) or len(signs) > 1 or bool(part["left"] and part["right"])
    if is_odd or not any(character.isdigit() or character in "iI" for character in part["digits"]):
        return word, ""
    unit = (part["left"] or part["right"]).upper()
    return signs + THOUSANDS.sub("", part["digits"]), unit or ("()" if part["open"] else "")


def number_format(words: list[str]) -> tuple[str, float]:
    """The format that most words fit, and their share; digits with leading zeros are codes and fit none."""
    words = [bare_number(word)[0] for word in words[:LOOKED_AT]]
    if not words or any(re.fullmatch(r"0\d+", word) for word in words):
        return "", 0.0
    shares = {}
    for name, (pattern, _, _) in NUMBERS.items():
        fits = re.compile(pattern)
        shares[name] = sum(bool(fits.fullmatch(word)) for word in words) / len(words)
        if shares[name] == 1.0:
            break
    best = max(shares, key=shares.get)
    return best, shares[best]


def parse_numbers(series, form: str) -> np.ndarray:
    """Floats of a text column by a format; nan where a value is missing or no number."""
    import pandas

    pattern, thousands, decimal = NUMBERS[form or "1234.5"]
    codes, values = pandas.factorize(as_words(series))
    words = _bare_words(values)
    fits = words.str.fullmatch(pattern).fillna(False).to_numpy(bool)
    if thousands:
        words = words.str.replace(thousands, "", regex=False)
    if decimal != ".":
        words = words.str.replace(decimal, ".", regex=False)
    numbers = pandas.to_numeric(words, errors="coerce").to_numpy(np.float64, copy=True)
    numbers[~fits] = np.nan
    return np.append(numbers, np.nan)[codes]


def _bare_words(values):
    """Words without what is no part of their numbers (`bare_number`), the simple ones all at once."""
    import pandas

    words = pandas.Series(values, dtype="str")
    is_simple = (words.str.fullmatch(SIMPLE.pattern) & (words.str.len() <= LONGEST_NUMBER)).to_numpy(bool)
    bare = words.str.lstrip("$€£¥")
    if not is_simple.all():
        others = np.flatnonzero(~is_simple)
        bare.iloc[others] = [bare_number(values[place])[0] for place in others]
    return bare


def date_format(words: list[str]) -> tuple[str, bool]:
    """The format of dates that the words fit ("" for none), and whether day and month might be exchanged."""
    words = [word for word in words[:LOOKED_AT] if word]
    if not words:
        return "", False
    for pattern, formats in DATES:
        if not re.match(pattern, words[0]):
            continue
        for time_pattern, time_format in TIMES:
            fits = re.compile(pattern + time_pattern + r"(?:Z|[+-]\d{2}:?\d{2})?")
            if sum(bool(fits.fullmatch(word)) for word in words) >= DECIDED * len(words):
                return _likeliest([form + time_format for form in formats], words)
    return "", False


def _likeliest(formats: list[str], words: list[str]) -> tuple[str, bool]:
    """The format that reads most words; of two that read all, the one in which the rows are in better order."""
    import pandas

    read = {form: parse_dates(pandas.Series(words, dtype="str"), form) for form in formats}
    known = {form: int(dates.notna().sum()) for form, dates in read.items()}
    most = max(known.values())
    good = [form for form in formats if known[form] == most]
    if most < DECIDED * len(words):
        return "", False
    if len(good) == 1 or read[good[0]].equals(read[good[1]]):
        return good[0], False
    ordered = {form: int((read[form].diff().dt.total_seconds() >= 0).sum()) for form in good}
    return max(good, key=ordered.get), True


def parse_dates(series, form: str):
    """Times of a column by a format, without zone; NaT where a value is missing or no such date."""
    import pandas

    if series.dtype.kind == "M":
        return _nanoseconds(series)
    words = pandas.Series(as_words(series), index=series.index, dtype="str").str.replace("T", " ", regex=False)
    words = words.str.replace(r"(?:Z|(?<=\d:\d\d)[+-]\d{2}:?\d{2})$", "", regex=True)
    if "%p" in form:
        words = words.str.replace(r"(?<=\d)(?=[apAP][mM]$)", " ", regex=True)
    return _nanoseconds(pandas.to_datetime(words, format=form or "ISO8601", errors="coerce"))


def _nanoseconds(dates):
    """Times in nanoseconds, which reach from 1678 to 2261: what lies beyond, such as 9999-12-31, is moved to the end.

    So it stays the earliest or the latest of all, as it was meant.
    """
    import pandas

    if dates.dtype == "datetime64[ns]":
        return dates
    return dates.clip(pandas.Timestamp(1678, 1, 1), pandas.Timestamp(2261, 12, 31)).astype("datetime64[ns]")


def typed_values(series, column):
    """The values of a column by its kind: floats, times, or text with None for missing values.

    Parameters
    ----------
    series : pandas.Series
        Of the table that was learnt from, or of a new one.
    column : Column
        What `guess_columns` made of it: how numbers and dates are written, which values stand for a missing one,
        which spellings are one value.

    Returns
    -------
    values : ndarray
        float64 for a number, datetime64[ns] for a date, otherwise objects: str or None.
    """
    if column.kind == "number":
        is_number = series.dtype.kind in "biuf"
        numbers = series.to_numpy(np.float64) if is_number else parse_numbers(series, column.format)
        return without_gaps(numbers, column.gaps)
    if column.kind == "date":
        dates = parse_dates(series, column.format).to_numpy("datetime64[ns]")
        return np.where(np.isin(as_words(series), column.gaps), np.datetime64("NaT"), dates) if column.gaps else dates
    return read_words(as_words(series), column)


def typed_columns(frame, columns) -> dict[str, np.ndarray]:
    """The values of several columns of a frame by their kinds (see `typed_values`)."""
    names, frame = frame.columns, without_notes(frame)
    floats = {str(names[position]): values for position, values in float_views(frame).items()}
    typed = {}
    for column in columns:
        is_read = column.kind == "number" and not column.gaps and column.name in floats
        typed[column.name] = floats[column.name] if is_read else typed_values(frame[column.name], column)
    return typed


def read_words(words: np.ndarray, column) -> np.ndarray:
    """Words by what was decided about a column: None where they stand for a missing value, one spelling for each."""
    import pandas

    if not column.gaps and not column.merged:
        return words
    codes, values = pandas.factorize(words)
    gaps, spelling = set(column.gaps), {other: value for value, others in column.merged for other in others}
    read = [None if value in gaps else spelling.get(value, value) for value in values]
    return np.array([*read, None], dtype=object)[codes]


def typed_frame(frame, columns):
    """A frame of the given columns, each by its kind (see `typed_values`); ids, constants and empty ones left out."""
    import pandas

    used = [column for column in columns if column.kind in ("number", "category", "date", "text")]
    values = typed_columns(frame, used)
    series = {
        column.name: pandas.Series(values[column.name], dtype=object if column.kind in ("category", "text") else None)
        for column in used
    }
    return pandas.DataFrame(series, index=frame.index if not used else None)
