"""Records of a delimited text, one after the other, by the csv module: cells of any length, one record at a time.

It is the slow and patient reader: the beginning of a text for the guesses, the whole of it where the fast reader is in
doubt, and texts that are written so oddly that they are put down again in the plain form (RFC 4180) first.
"""

import csv
import io
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from hyperplan.compete._errors import TableError
from hyperplan.compete._tables_bytes import BLOCK, bytes_file
from hyperplan.compete._tables_room import Room

BLANKS = r"\s+"  # as a separator: runs of blanks
SPARE = "\x01\x02\x03\x04\x05\x06\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1c\x1d\x1e\x1f\x7f"
CELL_GROWTH = 12  # bytes of memory for a letter of a cell while the csv module collects it
LINE_BREAK = re.compile(r"\r\n|\r|\n")


class Cutting(NamedTuple):
    """How lines are cut into cells.

    Attributes
    ----------
    separator : str
        "" for one column, `BLANKS` for runs of blanks, one letter or several.
    quote : str
        "" if there are no quotes.
    escape : str
        The letter before a quote or separator that is meant as such; "" if there is none.
    skips_blanks : bool
        Whether blanks after a separator do not belong to the cell, so that a quote may follow them.
    """

    separator: str
    quote: str = '"'
    escape: str = ""
    skips_blanks: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it is what RFC 4180 describes, but for the letters: the fast readers know that."""
        letters = (self.separator, self.quote)
        return not self.escape and not self.skips_blanks and all(len(c) <= 1 and c.isascii() for c in letters)


class OpenQuoteError(Exception):
    """A quote that is never closed; ``args[0]`` is the line where it opens."""


def spare_letter(data: bytearray, *taken: str) -> str:
    """A control character that the text does not contain."""
    return next((c for c in SPARE if c not in taken and c.encode() not in data), SPARE[0])


def text_lines(data: bytearray, start: int = 0) -> io.TextIOWrapper:
    """The lines of a UTF-8 text from a byte on, with their ends (any of the three kinds)."""
    return io.TextIOWrapper(bytes_file(data, start), encoding="utf-8", errors="replace", newline="")


def records(
    data: bytearray, cutting: Cutting, room: Room, start: int = 0, *, strict: bool = False
) -> Iterator[tuple[int, int, int, list[str]]]:
    """``(first line, last line, bytes up to its end, cells)`` of each record but blank lines; lines count from 1.

    Raises `OpenQuoteError` at the end of a text that ends inside a quoted cell, and `csv.Error` if it is to be strict
    and something follows a closing quote.
    """
    with text_lines(data, start) as lines:
        if cutting.separator == BLANKS:
            yield from _cut_at_blanks(lines, cutting.quote)
            return
        one = cutting.separator if len(cutting.separator) == 1 else spare_letter(data, cutting.quote, cutting.escape)
        feed = _Feed(lines, room, cutting.separator if len(cutting.separator) > 1 else "", one)
        reader = csv.reader(feed, strict=strict, **_csv_options(cutting, one))
        _lift_limit()
        first = 1
        for cells in reader:
            if feed.is_over:
                if cells:
                    after = len(LINE_BREAK.findall(cells[-1].removesuffix("\n").removesuffix("\r")))
                    raise OpenQuoteError(max(first, feed.count - after))
                return
            if cells:
                if feed.doubled:
                    cells = [cell.replace(one, feed.doubled) for cell in cells]
                yield first, feed.count, feed.offset, cells
            first = feed.count + 1
            feed.begun = feed.offset


class _Feed:
    """Lines for the csv module: counted, and at the end an empty one, which tells a cell that was never closed."""

    def __init__(self, lines, room: Room, doubled: str, one: str):
        self._lines, self._room, self.doubled, self._one = lines, room, doubled, one
        self.count = self.offset = self.begun = 0
        self.is_over, self._asked = False, 16 * BLOCK

    def __iter__(self):
        return self

    def __next__(self) -> str:
        if self.is_over:
            raise StopIteration
        line = next(self._lines, "")
        if not line:
            self.is_over = True
            return ""
        self.count += 1
        self.offset += len(line) if line.isascii() else len(line.encode("utf-8", errors="replace"))
        if self.offset - self.begun > self._asked:  # one record, and it grows
            self._room.require(CELL_GROWTH * self._asked)
            self._asked *= 2
        return line.replace(self.doubled, self._one) if self.doubled else line


def _csv_options(cutting: Cutting, one: str) -> dict:
    options = {"delimiter": one, "escapechar": cutting.escape or None, "skipinitialspace": cutting.skips_blanks}
    if not cutting.quote:
        return {**options, "quoting": csv.QUOTE_NONE, "quotechar": None}
    return {**options, "quotechar": cutting.quote}


def _lift_limit() -> None:
    """No cell is too long."""
    try:
        csv.field_size_limit(sys.maxsize)
    except OverflowError:  # where a C long has 32 bits
        csv.field_size_limit(2**31 - 1)


def _cut_at_blanks(lines, quote: str) -> Iterator[tuple[int, int, int, list[str]]]:
    offset = 0
    for number, line in enumerate(lines, start=1):
        offset += len(line.encode("utf-8", errors="replace"))
        if cells := cut_at_blanks(line, quote):
            yield number, number, offset, cells


def cut_at_blanks(line: str, quote: str) -> list[str]:
    """The words of a line; words in quotes stay together."""
    if not quote or quote not in line:
        return line.split()
    letter = re.escape(quote)
    return [cell.strip(quote) for cell in re.findall(rf"{letter}[^{letter}]*{letter}|\S+", line)]


def is_blank(cells: list[str]) -> bool:
    """Whether a line holds nothing but blanks; where rows have several cells it is no row."""
    return len(cells) == 1 and not cells[0].strip()


def checked_rows(data: bytearray, cutting: Cutting, room: Room, start: int, first_line: int, width: int):
    """The cells of each row; an error that names the line of the first row of another width, or of an open quote."""
    try:
        for line, _, _, cells in records(data, cutting, room, start):
            if len(cells) != width:
                if is_blank(cells):
                    continue
                joint = cutting.separator if len(cutting.separator) == 1 else " "
                key = "too_many_cells" if len(cells) > width else "too_few_cells"
                raise TableError(
                    key, name=room.name, line=first_line + line - 1, found=len(cells), expected=width,
                    shown=joint.join(cells)[:80],
                )  # fmt: skip
            yield cells
    except OpenQuoteError as error:
        line = first_line + error.args[0] - 1
        raise TableError("open_quote", name=room.name, line=line, quote=cutting.quote) from None


def plain_text(data: bytearray, cutting: Cutting, room: Room, start: int, first_line: int, width: int) -> bytearray:
    """The rows put down again as RFC 4180 has them: commas, doubled quotes."""
    found, pieces = bytearray(), io.StringIO(newline="")
    writer = csv.writer(pieces, lineterminator="\r\n")
    for cells in checked_rows(data, cutting, room, start, first_line, width):
        writer.writerow(cells)
        if pieces.tell() > BLOCK:
            room.require(4 * pieces.tell())
            found += pieces.getvalue().encode("utf-8", errors="replace")
            pieces.seek(0)
            pieces.truncate()
    found += pieces.getvalue().encode("utf-8", errors="replace")
    return found
