"""How a delimited text is written: separator, quotes, decimal mark, header; guessed from its first lines.

The separator is the one that cuts most lines into the same number of fields, at least two, header included.  Tabs,
semicolons and bars come before commas, which also stand inside numbers and sentences; blanks and colons come last
and only if they uncover a column of numbers.
"""

import csv
import io
import itertools
import re
from collections import Counter
from typing import NamedTuple

MISSING = (
    "", "NA", "N/A", "n/a", "na", "#N/A", "#N/A N/A", "#NA", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "null",
    "None", "NONE", "none", "?", "-", "--", "---", ".", "..", "*", "\\N", "nil", "missing", "Missing", "MISSING",
    "#VALUE!", "#REF!", "#DIV/0!", "#NUM!", "#NAME?", "NaT", "-1.#IND", "1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip
NONE = "\x01"  # a character no cell contains: separates nothing, or stands for a doubled separator
STRONG, BLANKS = ("\t", ";", "|", NONE, ","), r"\s+"
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
POINT_NUMBER = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
SAMPLE_BYTES, SAMPLE_LINES, SAMPLE_RECORDS = 2**18, 20, 500


class Dialect(NamedTuple):
    """How to cut a text into cells."""

    separator: str  # "" for one column, r"\s+" for runs of blanks
    quote: str = '"'
    escape: str | None = None
    decimal: str = "."
    blank_after_separator: bool = False
    names: tuple[str, ...] = ()  # as written; () if the first line is data
    skipped: int = 0  # lines before the first row of data
    width: int = 0  # cells of a row
    as_text: tuple[int, ...] = ()  # columns of digits that are no numbers: leading zeros, more digits than fit


def sniff(text: str) -> Dialect:
    """The dialect of a text, from its first lines."""
    sample, is_whole = _sample(text)
    preamble, forced = _preamble(sample)
    body = "".join(sample[preamble:])
    quote, escape = _quoting(body)
    separator = forced or _separator(body, quote, escape, is_whole)
    records = _records(body, separator, quote, escape, is_whole)
    while len(records) > 2 and records[0] and records[0][0].startswith("#") and len(records[0]) < len(records[-1]):
        preamble += 1  # a comment before the header
        records = records[1:]
    decimal = _decimal(records, separator)
    names = _header(records, decimal)
    rows = records[1:] if names else records
    width = Counter(map(len, rows)).most_common(1)[0][0] if rows else len(names)
    lines = preamble + _lines_of_header("".join(sample[preamble:]), separator, quote, escape, bool(names))
    return Dialect(
        separator=separator,
        quote=quote,
        escape=escape,
        decimal=decimal,
        blank_after_separator=len(separator) == 1 and f'{separator} "' in body,
        names=tuple(names),
        skipped=lines,
        width=width,
        as_text=tuple(_digits_that_are_text(rows, width)),
    )


def _sample(text: str) -> tuple[list[str], bool]:
    """The first lines (at least some, however long), and whether that is all."""
    end, lines = 0, 0
    while end < len(text) and (lines < SAMPLE_LINES or end < SAMPLE_BYTES):
        found = text.find("\n", end)
        end, lines = (len(text) if found < 0 else found + 1), lines + 1
    return text[:end].splitlines(keepends=True), end == len(text)


def _preamble(sample: list[str]) -> tuple[int, str]:
    """Number of lines before the header (blank ones, ``sep=;``), and the separator they announce."""
    position = 0
    while position < len(sample) - 1 and not sample[position].strip():
        position += 1
    announced = re.fullmatch(r"sep=(.)\s*", sample[position].lstrip("\ufeff")) if sample else None
    return (position + 1, announced[1]) if announced else (position, "")


def _quoting(body: str) -> tuple[str, str | None]:
    double, single = body.count('"'), len(re.findall(r"(?m:^|[,;\t|])'[^'\n]*'(?=[,;\t|\r\n])", body))
    quote = "'" if single > 2 and not double else '"'
    return quote, "\\" if f"\\{quote}" in body and quote * 2 not in body.replace(f",{quote * 2}", "") else None


def _records(body: str, separator: str, quote: str, escape, is_whole: bool) -> list[list[str]]:
    """Cells of the first lines, blank lines left out."""
    if separator == BLANKS:
        found = [cut_at_blanks(line, quote) for line in body.splitlines()[:SAMPLE_RECORDS]]
        return [record for record in found if record]
    reader = csv.reader(
        io.StringIO(body, newline=""),
        delimiter=separator or NONE,
        quotechar=quote,
        escapechar=escape,
        skipinitialspace=True,
    )
    found = []
    try:
        for record in reader:
            if record and (len(record) > 1 or record[0].strip()):
                found.append([cell.strip() for cell in record])
            if len(found) == SAMPLE_RECORDS:
                return found
    except csv.Error:
        return found
    return found if is_whole or len(found) < 3 else found[:-1]  # the last may end in the middle of a quoted cell


def cut_at_blanks(line: str, quote: str) -> list[str]:
    if quote not in line:
        return line.split()
    return [cell.strip(quote) for cell in re.findall(rf"{quote}[^{quote}]*{quote}|\S+", line)]


def _separator(body: str, quote: str, escape, is_whole: bool) -> str:
    first = body.lstrip().partition("\n")[0]
    rare = tuple(c for c in dict.fromkeys(first) if not c.isalnum() and c not in " \t;|,:\"'._-+/()[]{}<>\r\\")
    candidates = (*STRONG, BLANKS, ":", *rare[:5])
    best, best_score = "", 0.0
    for candidate in candidates:
        if candidate != BLANKS and candidate not in body:
            continue
        score = _score(_records(body, candidate, quote, escape, is_whole), candidate in STRONG)
        if score >= 0.95:
            return candidate
        if score > best_score:
            best, best_score = candidate, score
    return best if best_score >= 0.5 else ""


def _score(records: list[list[str]], is_strong: bool) -> float:
    """Share of the lines that have the most common number of cells; halved if the header does not fit them."""
    if not records:
        return 0.0
    counts = Counter(map(len, records[1:] or records))
    width, times = counts.most_common(1)[0]
    if width < 2:
        return 0.0
    if not is_strong:
        rows = [record for record in records[1:] if len(record) == width]
        has_numbers = any(all(NUMBER.fullmatch(row[j]) for row in rows) for j in range(width)) if rows else False
        if not has_numbers:
            return 0.0
    share = times / counts.total()
    return share if len(records[0]) in (width, width - 1) else share / 2


def _decimal(records: list[list[str]], separator: str) -> str:
    """The decimal mark: a comma if cells with one comma are numbers that no thousands separator could write."""
    if separator == ",":
        return "."
    with_comma = [cell for record in records[1:] or records for cell in record if COMMA_NUMBER.fullmatch(cell)]
    with_point = sum(bool(POINT_NUMBER.fullmatch(cell)) for record in records for cell in record)
    unlike_thousands = [cell for cell in with_comma if not re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", cell)]
    if not with_comma or with_point > len(with_comma):
        return "."
    return "," if unlike_thousands or len(with_comma) < 5 else "."


def _header(records: list[list[str]], decimal: str) -> list[str]:
    """The names in the first line, or [] if it is a row of data: it has a number above a column of numbers.

    Numbers that count up evenly (0, 1, 2, ... or years) are names: that is how tables without names are saved.
    """
    if not records:
        return []
    first, rows = records[0], records[1:]
    cells = [cell for cell in first if NUMBER.fullmatch(cell)]
    if not cells or not rows:
        return first
    below = [
        j
        for j, cell in enumerate(first)
        if NUMBER.fullmatch(cell)
        and all(NUMBER.fullmatch(row[j]) for row in rows[:50] if j < len(row) and row[j] not in MISSING)
    ]
    if not below or _counts_up(cells):
        return first
    return []


def _counts_up(cells: list[str]) -> bool:
    if not all(re.fullmatch(r"\d+", cell) for cell in cells):
        return False
    numbers = [int(cell) for cell in cells]
    if len(numbers) == 1:
        return 1900 <= numbers[0] <= 2100
    steps = {b - a for a, b in itertools.pairwise(numbers)}
    return len(steps) == 1 and steps.pop() > 0


def _lines_of_header(body: str, separator: str, quote: str, escape, has_names: bool) -> int:
    """Lines that the header takes (a quoted name may hold a line break)."""
    if not has_names:
        return 0
    if separator == BLANKS:
        return 1
    reader = csv.reader(
        io.StringIO(body, newline=""), delimiter=separator or NONE, quotechar=quote, escapechar=escape,
        skipinitialspace=True,
    )  # fmt: skip
    next(reader, None)
    return reader.line_num


def _digits_that_are_text(rows: list[list[str]], width: int):
    """Columns of digits that a number would spoil: leading zeros (postcodes), more digits than a float holds."""
    pattern = re.compile(r"0\d+|\d{17,}")
    for j in range(width):
        cells = [row[j] for row in rows if j < len(row) and row[j] not in MISSING]
        if any(pattern.fullmatch(cell) for cell in cells) and all(cell.isdigit() for cell in cells):
            yield j
