"""A table for a terminal of any width: columns that do not fit go, the least important first; names stay whole."""

from typing import NamedTuple

COMFORT = 22  # characters of a name before it is broken into lines, while other columns can still go


class Column(NamedTuple):
    """Cells below a name.

    The first column holds names and takes the room that is left.  Of the others, that with the largest ``drop`` goes
    first where there is no room; those with 0 go only before a word of a name would be broken, and extras already where
    a name would be broken into lines.  Only texts are broken into lines, and at words.
    """

    name: str
    cells: list[str]
    drop: int = 0
    justify: str = "right"
    is_text: bool = False
    is_extra: bool = False

    @property
    def least(self) -> int:
        """Characters below which a word or a number would be broken."""
        words = [word for cell in self.cells for word in (cell.split() if self.is_text else [cell])]
        return _widest([*words, *self.name.split()])

    @property
    def most(self) -> int:
        """Characters that hold every cell on one line."""
        return _widest([self.name, *self.cells])


def fitting_columns(columns: list[Column], width: int) -> list[Column]:
    """The columns that fit into so many characters, in their order; the first two stay in any case."""
    names, kept = columns[0], list(columns)
    if names.most + _room_of(kept) > width:
        kept = [column for column in kept if not column.is_extra]
    while min(names.most, COMFORT) + _room_of(kept) > width and any(column.drop for column in kept):
        kept.remove(max(kept, key=lambda column: column.drop))
    whole = max((word for word in map(_width, " ".join(names.cells).split()) if word <= COMFORT), default=1)
    while whole + _room_of(kept) > width and len(kept) > 2:
        kept.pop()
    return kept


def fitting_table(title: str, columns: list[Column], styles: list[str], width: int):
    """A table that is at most so wide, with the columns that fit; ``styles`` are those of its rows."""
    from rich.table import Table
    from rich.text import Text

    kept = fitting_columns(columns, width)
    names = max(min(kept[0].most, width - _room_of(kept)), 1)
    spare = width - _room_of(kept) - names
    table = Table(title=Text(title), title_justify="left", title_style="bold", **_looks())
    table.add_column(kept[0].name, width=names, overflow="fold")
    for column in kept[1:]:
        more = min(column.most - column.least, max(spare, 0))
        spare -= more
        table.add_column(column.name, width=column.least + more, justify=column.justify, overflow="fold")
    for cells, style in zip(zip(*(column.cells for column in kept)), styles):
        table.add_row(*map(Text, cells), style=style)  # a name is no markup
    return table


def has_column(table, name: str) -> bool:
    """True if a table has kept a column."""
    return any(column.header == name for column in table.columns)


def _room_of(columns: list[Column]) -> int:
    """Characters of everything but the first column's names."""
    return sum(column.least for column in columns[1:]) + _frame(len(columns))


def _frame(n_columns: int) -> int:
    """Characters between and around so many columns."""
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table

    table, console = Table(**_looks()), Console(width=1000)
    for _ in range(n_columns):
        table.add_column("", width=1)
    return Measurement.get(console, console.options, table).maximum - n_columns


def _looks() -> dict:
    from rich.box import SIMPLE_HEAD

    return {"box": SIMPLE_HEAD, "padding": (0, 0, 0, 1)}


def _widest(texts) -> int:
    return max(map(_width, texts), default=0)


def _width(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)
