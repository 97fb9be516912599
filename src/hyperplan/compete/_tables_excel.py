"""A sheet of a workbook, row by row, so that its memory can be counted."""

import warnings
import zipfile

from hyperplan._texts.extras import required
from hyperplan.compete._errors import TableError
from hyperplan.compete._names import nearest_names, unique_names
from hyperplan.compete._tables_bytes import Source, bytes_file, first_line, listed
from hyperplan.compete._tables_dialect import MISSING
from hyperplan.compete._tables_room import Room

STRING_GROWTH = 4  # memory for a byte of the list of shared texts, measured on texts of 5 to 20 letters
CELL_BYTES = 120  # memory for a cell while its row is read: two references and a number or short text
ROWS_AT_ONCE = 1000


def read_excel(source: Source) -> tuple:
    """``(frame, notes)`` of a sheet: the one named after ``::``, or the first that is shown and holds something."""
    import pandas

    rows, notes = _sheet_rows(source)
    width = max(map(len, rows), default=0)
    source.room.require(16 * width * len(rows))
    cells = pandas.DataFrame([row + [None] * (width - len(row)) for row in rows], dtype=object)
    cells = cells.dropna(how="all").dropna(how="all", axis=1)
    if len(cells) < 2:
        raise TableError("empty" if cells.empty else "header_only", name=source.name, columns=cells.shape[1])
    names, repeated = unique_names([None if pandas.isna(cell) else cell for cell in cells.iloc[0]])
    if repeated:
        notes.append({"key": "repeated_names", "names": ", ".join(repeated[:10]), "count": len(repeated)})
    return cells.iloc[1:].set_axis(names, axis=1).reset_index(drop=True).infer_objects(), notes


def _sheet_rows(source: Source) -> tuple[list[list], list[dict]]:
    """The cells of the sheet, and which sheet was taken where that was a choice."""
    openpyxl = required("openpyxl")
    try:
        with bytes_file(source.data) as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that no table needs
            _require_strings(file, source.room)
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            try:
                sheets = [sheet.title for sheet in book.worksheets]
                if not sheets:
                    raise TableError("no_sheets", name=source.name)
                if source.part:
                    return _rows(_named(book, sheets, source), source.room), []
                return _first_filled(book, sheets, source)
            finally:
                book.close()
    except (TableError, MemoryError):
        raise
    except Exception as error:  # openpyxl raises what XML, zip and its own parsing happen to raise
        raise TableError("damaged", name=source.name, kind="Excel", reason=first_line(error)) from None


def _require_strings(file, room: Room) -> None:
    """Room for the shared texts, which are read as one; the sizes in an archive are those that will be unpacked."""
    with zipfile.ZipFile(file) as archive:
        size = max((i.file_size for i in archive.infolist() if i.filename.endswith("sharedStrings.xml")), default=0)
        styles = max((i.file_size for i in archive.infolist() if i.filename.endswith("styles.xml")), default=0)
    room.require(STRING_GROWTH * size + 20 * styles)
    file.seek(0)


def _named(book, sheets: list[str], source: Source):
    if source.part in sheets:
        return book[source.part]
    near = nearest_names(source.part, sheets)
    raise TableError(
        "no_sheet", name=source.name, part=source.part, sheets=listed(sheets), first=near[0] if near else sheets[0]
    )


def _first_filled(book, sheets: list[str], source: Source) -> tuple[list[list], list[dict]]:
    """The first sheet that is not hidden and has a row of data; hidden ones come last."""
    order = sorted(book.worksheets, key=lambda sheet: sheet.sheet_state != "visible")
    chosen, rows = order[0], []
    for sheet in order:
        rows = _rows(sheet, source.room)
        if len(rows) > 1:
            chosen = sheet
            break
    if len(sheets) == 1:
        return rows, []
    other = next(name for name in sheets if name != chosen.title)
    note = {"sheet": chosen.title, "sheets": listed(sheets), "name": source.name, "other": other}
    return rows, [{"key": "first_sheet" if chosen.title == sheets[0] else "other_sheet", **note}]


def _rows(sheet, room: Room) -> list[list]:
    """The rows that hold something, without the empty cells at their ends."""
    sheet.reset_dimensions()  # what a file says about them may be anything
    rows, count = [], 0
    for values in sheet.iter_rows(values_only=True):
        cells = [None if isinstance(value, str) and value.strip() in MISSING else value for value in values]
        while cells and cells[-1] is None:
            cells.pop()
        if not cells:
            continue
        rows.append(cells)
        count += len(cells)
        if len(rows) % ROWS_AT_ONCE == 0 or len(cells) > ROWS_AT_ONCE:
            room.require(16 * count + CELL_BYTES * len(cells) * ROWS_AT_ONCE)
    return rows
