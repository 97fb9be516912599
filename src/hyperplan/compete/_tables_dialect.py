"""How a delimited text is written: separator, quotes, decimal mark, header; guessed from its first records.

The separator is the one that cuts most lines into the same number of fields, at least two, header included.  Tabs,
semicolons and bars come before commas, which also stand inside numbers and sentences; blanks and colons come last
and only if they uncover a column of numbers.  What is given is not guessed.
"""

import csv
import itertools
import re
from collections import Counter
from typing import NamedTuple

from hyperplan.compete._columns_gaps import found_words
from hyperplan.compete._tables_records import BLANKS, Cutting, OpenQuoteError, is_blank, records, text_lines
from hyperplan.compete._tables_room import Room

# What programs write where there is no value.  What people write ("?", "none", "-") is guessed for each column later,
# where it can be said and changed: see `_columns_gaps`.
MISSING = (
    "", "NA", "#N/A", "#N/A N/A", "#NA", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "\\N", "NaT", "#VALUE!",
    "#REF!", "#DIV/0!", "#NUM!", "#NAME?", "-1.#IND", "1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip
STRONG = ("\t", ";", "|", "\x01", ",")
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
POINT_NUMBER = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
SAMPLE_BYTES, SAMPLE_RECORDS = 2**18, 20  # at least so many of both, whatever their length ...
MOST_RECORDS = 500  # ... but not more than this
SURE = 0.95  # share of the records with the same number of cells that settles the separator


class Given(NamedTuple):
    """What somebody said about a text; None is guessed."""

    separator: str | None = None  # "" for one column
    quote: str | None = None  # "" for no quotes
    escape: str | None = None  # "" for no escapes
    decimal: str | None = None
    header: bool | None = None
    encoding: str | None = None


GUESSED = Given()


def _is_gap(cell: str) -> bool:
    """Whether a cell says that there is no value."""
    return cell in MISSING or bool(found_words([cell]))


class Dialect(NamedTuple):
    """How to cut a text into cells, and what to say about the guesses."""

    cutting: Cutting
    decimal: str = "."
    names: tuple[str, ...] = ()  # as written; () if the first line is data
    start: int = 0  # bytes before the first row of data
    skipped: int = 0  # lines before the first row of data
    width: int = 0  # cells of a row
    as_text: tuple[int, ...] = ()  # columns of digits that are no numbers: leading zeros, more digits than fit
    notes: tuple[dict, ...] = ()


class _Sample(NamedTuple):
    """The first records of a text: where each ends (line, bytes), its cells, and whether the last is never closed."""

    ends: list[tuple[int, int]]
    cells: list[list[str]]
    is_open: bool = False


def sniff(data: bytearray, room: Room, given: Given = GUESSED) -> Dialect:
    """The dialect of a UTF-8 text, from its first records."""
    notes: list[dict] = []
    lines, start, announced = _preamble(data, given)
    if announced:
        notes.append({"key": "separator_announced", "separator": announced})
    cutting, doubt = _cutting(data, start, room, given, announced)
    notes += doubt
    sample = _sample(data, start, cutting, room)
    above = _lines_above(sample.cells) if given.separator is None else 0
    if above:
        notes.append({"key": "lines_above", "count": above, "first": sample.cells[0][0][:60]})
    ends, found = [(0, 0), *sample.ends][above:], sample.cells[above:]
    trimmed = [
        [cell.strip() for cell in record] for record in found if not is_blank(record) or len(record) > 1
    ] or found
    decimal = given.decimal or _decimal(trimmed, cutting.separator)
    has_names = _has_header(trimmed) if given.header is None else given.header
    names = found[0] if has_names and found else []
    rows = trimmed[1:] if has_names else trimmed
    end = ends[1 if has_names and found else 0] if ends else (0, 0)
    width = Counter(map(len, rows)).most_common(1)[0][0] if rows else len(names)
    return Dialect(
        cutting=cutting,
        decimal=decimal,
        names=tuple(names),
        start=start + end[1],
        skipped=lines + end[0],
        width=width,
        as_text=tuple(_digits_that_are_text(rows, width)),
        notes=tuple(notes),
    )


def _preamble(data: bytearray, given: Given) -> tuple[int, int, str]:
    """Lines and bytes before the header (blank lines, ``sep=;``), and the separator they announce."""
    count = offset = 0
    with text_lines(data) as lines:
        for line in lines:
            size = len(line.encode("utf-8", errors="replace"))
            announced = re.fullmatch(r"sep=(.)\s*", line) if given.separator is None else None
            if announced:
                return count + 1, offset + size, announced[1]
            if line.strip("\r\n" if given.separator is not None else "\r\n \t"):  # a cell may be a blank
                break
            count, offset = count + 1, offset + size
    return (count, offset, "") if offset < len(data) else (0, 0, "")


def _sample(data: bytearray, start: int, cutting: Cutting, room: Room, *, strict: bool = False) -> _Sample:
    """The first records, however long; one that is never closed is left out."""
    ends, found = [], []
    try:
        for _, last, offset, cells in records(data, cutting, room, start, strict=strict):
            ends.append((last, offset))
            found.append(cells)
            if len(found) >= MOST_RECORDS or (len(found) >= SAMPLE_RECORDS and offset >= SAMPLE_BYTES):
                break
    except OpenQuoteError:
        return _Sample(ends, found, True)
    return _Sample(ends, found)


def _cutting(data: bytearray, start: int, room: Room, given: Given, announced: str) -> tuple[Cutting, list[dict]]:
    """How to cut, and what is doubtful about it."""
    head = bytes(data[start : start + SAMPLE_BYTES]).decode("utf-8", errors="ignore")
    quote = _quote(head) if given.quote is None else given.quote
    plain = Cutting("", quote, given.escape or "")
    notes, separator = [], announced or given.separator
    if separator is None:
        separator, other = _separator(data, start, plain, room, head)
        if other:
            notes.append({"key": "separator_doubt", "separator": shown(separator), "other": shown(other)})
    cutting = plain._replace(separator=separator)
    if given.quote is None and quote == "'":
        notes.append({"key": "quote", "quote": quote})
    if not quote or separator == BLANKS:
        return cutting, notes
    if given.escape is None and f"\\{quote}" in head and not _is_regular(data, start, cutting, room):
        escaped = cutting._replace(escape="\\")
        if _is_regular(data, start, escaped, room):
            return escaped, [*notes, {"key": "escape", "escape": "\\"}]
    if given.quote is None and len(separator) == 1 and separator != " " and f"{separator} {quote}" in head:
        sample = _sample(data, start, cutting, room)
        if any(_is_quoted_after_blanks(cell, quote) for record in sample.cells for cell in record):
            return cutting._replace(skips_blanks=True), [*notes, {"key": "blanks_skipped", "quote": quote}]
    return cutting, notes


def _is_quoted_after_blanks(cell: str, quote: str) -> bool:
    """Whether a cell was written as blanks and a quote: such quotes belong to the writing, not to the cell."""
    return cell.startswith(" ") and cell.lstrip(" ").startswith(quote)


def _is_regular(data: bytearray, start: int, cutting: Cutting, room: Room) -> bool:
    """Whether all the first records have one width and nothing follows a closing quote."""
    try:
        found = [cells for cells in _sample(data, start, cutting, room, strict=True).cells if not is_blank(cells)]
    except csv.Error:
        return False
    return len(set(map(len, found))) == 1


def _quote(head: str) -> str:
    single = len(re.findall(r"(?m:^|[,;\t|])'[^'\n]*'(?=[,;\t|\r\n])", head))
    return "'" if single > 2 and '"' not in head else '"'


def _separator(data: bytearray, start: int, plain: Cutting, room: Room, head: str) -> tuple[str, str]:
    """The separator, and another one that would cut the text as evenly (or "")."""
    first = head.lstrip().partition("\n")[0]
    rare = tuple(c for c in dict.fromkeys(first) if not c.isalnum() and c not in " \t;|,:\"'._-+/()[]{}<>\r\\")
    best, best_score, other = "", 0.0, ""
    for candidate in (*STRONG, BLANKS, ":", *rare[:5]):
        if candidate != BLANKS and data.find(candidate.encode(), start) < 0:
            continue
        is_strong = candidate in STRONG
        if best_score >= SURE and not is_strong:
            break
        skips = candidate not in (BLANKS, " ")
        cutting = plain._replace(separator=candidate, skips_blanks=skips)
        score = _score(*_lenient_sample(data, start, cutting, room), is_strong)
        if score > best_score:
            best, best_score, other = candidate, score, best if best_score >= SURE else ""
        elif score >= SURE:
            other = other or candidate
    if best_score < 0.5:
        return "", ""
    return _doubled(head, best), other if other in STRONG else ""


def _lenient_sample(data: bytearray, start: int, cutting: Cutting, room: Room) -> tuple[list[list[str]], float]:
    """The first records that are not blank, and how much their quotes are to be trusted, from 0 to 1."""
    try:
        sample, trust = _sample(data, start, cutting, room, strict=True), 1.0
    except csv.Error:
        sample, trust = _sample(data, start, cutting, room), 0.9
    return [cells for cells in sample.cells if not is_blank(cells)], 0.5 if sample.is_open else trust


def _doubled(head: str, separator: str) -> str:
    """The separator twice, if it always stands twice in the header (``::``, ``||``)."""
    header = head.lstrip().partition("\n")[0]
    if len(separator) != 1 or separator == "\t" or separator * 2 not in header:
        return separator
    return separator * 2 if header.count(separator) == 2 * header.count(separator * 2) else separator


def _score(found: list[list[str]], trust: float, is_strong: bool) -> float:
    """Share of the lines that have the most common number of cells; halved if the header does not fit them.

    A header with one name less fits, as rows may have names, but a separator with which all fit comes first.
    """
    if not found:
        return 0.0
    counts = Counter(map(len, found[1:] or found))
    width, times = counts.most_common(1)[0]
    if width < 2:
        return 0.0
    if not is_strong:
        rows = [record for record in found[1:] if len(record) == width]
        is_number = (all(NUMBER.fullmatch(row[j].strip()) for row in rows) for j in range(width))
        if not rows or not any(is_number):
            return 0.0
    share = times / counts.total() * trust
    if len(found[0]) == width:
        return share
    if len(found[0]) == width - 1 and share >= SURE:
        return 0.99 * SURE
    return share / 2 if len(found) > 2 else 0.0


def _lines_above(found: list[list[str]]) -> int:
    """Records before the header: comments, and titles of one cell above rows of three or more."""
    if len(found) < 3:
        return 0
    width, count = Counter(map(len, found)).most_common(1)[0][0], 0
    while len(found) > count + 2 and len(found[count]) < width:
        is_comment, is_title = found[count][0].startswith("#"), len(found[count]) == 1 and width > 2
        if not is_comment and not is_title:
            break
        count += 1
    return count


def _decimal(found: list[list[str]], separator: str) -> str:
    """The decimal mark: a comma if cells with one comma are numbers that no thousands separator could write."""
    if separator == ",":
        return "."
    with_comma = [cell for record in found[1:] or found for cell in record if COMMA_NUMBER.fullmatch(cell)]
    with_point = sum(bool(POINT_NUMBER.fullmatch(cell)) for record in found for cell in record)
    unlike_thousands = [cell for cell in with_comma if not re.fullmatch(r"[+-]?[1-9]\d{0,2},\d{3}", cell)]
    if not with_comma or with_point > len(with_comma):
        return "."
    return "," if unlike_thousands or len(with_comma) < 5 else "."


def _has_header(found: list[list[str]]) -> bool:
    """Whether the first record holds names: it has no number above a column of numbers.

    Numbers that count up evenly (0, 1, 2, ... or years) are names: that is how tables without names are saved.
    """
    if not found:
        return False
    first, rows = found[0], found[1:]
    cells = [cell for cell in first if NUMBER.fullmatch(cell)]
    if not cells or not rows or _counts_up(cells):
        return True
    return not any(
        NUMBER.fullmatch(cell)
        and all(NUMBER.fullmatch(row[j]) for row in rows[:50] if j < len(row) and not _is_gap(row[j]))
        for j, cell in enumerate(first)
    )


def _counts_up(cells: list[str]) -> bool:
    if not all(re.fullmatch(r"[0-9]{1,18}", cell) for cell in cells):
        return False
    numbers = [int(cell) for cell in cells]
    if len(numbers) == 1:
        return 1900 <= numbers[0] <= 2100
    steps = {b - a for a, b in itertools.pairwise(numbers)}
    return len(steps) == 1 and steps.pop() > 0


def _digits_that_are_text(rows: list[list[str]], width: int):
    """Columns of digits that a number would spoil: leading zeros (postcodes), more digits than a float holds."""
    pattern = re.compile(r"0\d+|\d{17,}")
    for j in range(width):
        cells = [row[j] for row in rows if j < len(row)]
        if any(map(pattern.fullmatch, cells)) and all(cell.isdigit() or _is_gap(cell) for cell in cells):
            yield j


def shown(separator: str) -> str:
    """A separator for people."""
    return {"\t": "tab", BLANKS: "blanks", "\x01": "\\x01", "": "nothing"}.get(separator, separator)
