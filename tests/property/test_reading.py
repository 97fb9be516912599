"""Random tables written by the csv module come back as they were, cell by cell."""

import csv
import io
import tempfile

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hyperplan.compete import TableError, read_table, table_notes
from hyperplan.compete._names import unique_names

pytest.importorskip("pandas")
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
ODD = st.sampled_from(
    ['"', "'", ",", ";", "\t", "|", "\n", "\r", "\r\n", " ", "\\", '" , "', '""', "é", "1", "#", "\x01"]
)
CELL = st.one_of(
    st.text(LETTERS, max_size=6),
    st.lists(ODD, max_size=6).map("".join),
    st.sampled_from(["", " ", "NA", "?", "007", "1.50", "1,5", "true", "2020-01-02", "-", "sep=;", "#", "\ufeff"]),
    st.tuples(ODD, st.integers(1, 3000)).map(lambda pair: pair[0] * pair[1]),
)
DIALECTS = st.fixed_dictionaries(
    {
        "delimiter": st.sampled_from([",", ";", "\t", "|", ":", " ", "~", "§", "\x01", "a"]),
        "quotechar": st.sampled_from(['"', "'", "´"]),
        "doublequote": st.booleans(),
        "escapechar": st.sampled_from([None, "\\", "!"]),
        "quoting": st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
        "lineterminator": st.sampled_from(["\n", "\r\n", "\r"]),
    }
)
FAST = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@st.composite
def tables(draw):
    """Rows of one width, the first of them the header."""
    width, height = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    return draw(st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=height, max_size=height))


def written(rows, dialect):
    """The text of a table, or None where the csv module itself does not bring it back (it leaves some "\\r" bare)."""
    text = io.StringIO(newline="")
    try:
        csv.writer(text, **dialect).writerows(rows)
        text.seek(0)
        found = list(csv.reader(text, **{**dialect, "quoting": csv.QUOTE_MINIMAL}))
    except csv.Error:
        return None
    return text.getvalue() if found == rows else None


def read_back(text, **options):
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        file.write(text.encode())
        file.flush()
        return read_table(file.name, as_text=True, **options)


def cells_of(frame):
    return [list(row) for row in frame.itertuples(index=False, name=None)]


@FAST
@given(tables(), DIALECTS, st.booleans())
@example([["a", "b"], ["x" * 300_000, 'y "" , "" z\n' * 50_000]], {}, True)
@example([['"' * 9], [""], [" "]], {"lineterminator": "\r"}, False)
@example([["1", "2"]], {}, False)
def test_with_the_dialect_given_tables_come_back_equal(rows, dialect, header):
    dialect = (
        {**dialect} if dialect.get("doublequote", True) or dialect["escapechar"] else {**dialect, "doublequote": True}
    )
    text = written(rows, dialect)
    if text is None or text.startswith("\ufeff") or (header and len(rows) < 2):
        return
    said = {
        "separator": dialect.get("delimiter", ","),
        "quote": dialect.get("quotechar", '"'),
        "escape": dialect.get("escapechar") or "",
        "header": header,
        "decimal": ".",
        "encoding": "utf-8",
    }
    frame = read_back(text, **said)
    assert cells_of(frame) == (rows[1:] if header else rows)
    if header:
        assert list(frame.columns) == unique_names(rows[0])[0]


@st.composite
def usual_tables(draw):
    """Tables with names such as people give, and cells of any kind."""
    width, height = draw(st.integers(1, 5)), draw(st.integers(1, 8))
    names = [f"name {j}" for j in range(width)]
    return [names, *draw(st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=height, max_size=height))]


@FAST
@given(
    usual_tables(),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_with_the_dialect_guessed_tables_come_back_equal_or_the_doubt_is_said(rows, delimiter, quoting, lines):
    text = written(rows, {"delimiter": delimiter, "quoting": quoting, "lineterminator": lines})
    if text is None:
        return
    frame = read_back(text)
    if cells_of(frame) != rows[1:]:
        assert table_notes(frame)


@FAST
@given(st.text(st.one_of(ODD.map(lambda c: c[0]), LETTERS), max_size=200))
def test_any_text_is_read_or_refused_with_a_sentence(text):
    try:
        frame = read_back(text)
    except TableError:
        return
    assert len(frame) and len(frame.columns)
