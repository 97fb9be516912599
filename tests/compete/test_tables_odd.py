"""Texts at the edge of what a table is, files that are none, and memory that is not there."""

import csv
import gzip
import io
import os
import sqlite3
import threading
import zipfile

import numpy as np
import pytest

from hyperplan.compete import CompetitionError, TableError, compete, read_table, table_notes
from hyperplan.compete._new_rows import read_new_rows, reading_of
from hyperplan.compete._table_memory import require_table_memory
from hyperplan.compete._tables_dialect import SAMPLE_BYTES
from hyperplan.explore import explore

pandas = pytest.importorskip("pandas")


@pytest.fixture
def write(tmp_path):
    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def keys(frame):
    return [note["key"] for note in frame.attrs["notes"]]


def csv_text(rows):
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue()


# Cells of any length


def test_long_quoted_texts_with_quotes_commas_and_line_breaks(write):
    texts = [f'He said "no" , "yes" {k}\n' * (1 + 7 * k % 190) for k in range(300)]
    frame = read_table(write(csv_text([["id", "text", "y"], *([k, text, k % 2] for k, text in enumerate(texts))])))
    assert frame["text"].tolist() == [text.strip() for text in texts] and frame.attrs["notes"] == []


@pytest.mark.parametrize("size", [SAMPLE_BYTES - 8, SAMPLE_BYTES, 3 * 2**23])
def test_a_cell_longer_than_the_sample_and_than_a_block(write, size):
    cell = ("x" * 98 + '\n"') * (size // 100) + "." * (size % 100 + 1)
    frame = read_table(write(csv_text([["a", "b"], [cell, 1], ["short", 2]])))
    assert frame["a"].tolist() == [cell, "short"] and frame["b"].tolist() == [1, 2]


def test_a_quote_inside_a_cell_opens_nothing(write):
    frame = read_table(write('size,name\n5" pipe,a\n6,b\n'))
    assert frame["size"].tolist() == ['5" pipe', "6"] and keys(frame) == ["stray_quotes"]


def test_a_backslash_at_the_end_of_a_quoted_cell_is_a_backslash(write):
    frame = read_table(write('path,n\n"C:\\dir\\",1\n"D:\\",2\n'))
    assert frame["path"].tolist() == ["C:\\dir\\", "D:\\"] and keys(frame) == []


def test_escapes_that_begin_after_the_sample(write):
    rows = "".join(f'"plain {k}",{k}\n' for k in range(30_000))
    frame = read_table(write("a,b\n" + rows + '"with \\" one",7\n'))
    assert frame["a"].iloc[-1] == 'with " one' and "escape" in keys(frame)


@pytest.mark.parametrize("before", [0, 3, 40_000])
def test_a_quote_that_is_never_closed_is_named_with_its_line(write, before):
    rows = "x,1\n" * before
    with pytest.raises(TableError, match=rf'quote " that opens on line {before + 2:,} of table.csv is never closed'):
        read_table(write("a,b\n" + rows + '"x,1\n' + "y,2\n" * 100))


def test_the_open_quote_is_that_of_the_last_cell_not_of_the_row(write):
    with pytest.raises(TableError, match=r"opens on line 3 "):
        read_table(write('a,b\n"two\nlines","open\nz,1\n'))


def test_lines_of_blanks_between_rows(write):
    assert len(read_table(write("a,b\n1,2\n   \n\n3,4\n"))) == 2


def test_titles_and_comments_above_the_header_are_left_out_and_said(write):
    frame = read_table(write("Sales 2024\na,b,c\n1,2,3\n4,5,6\n"))
    assert list(frame.columns) == ["a", "b", "c"] and "Sales 2024" in table_notes(frame)[0]
    assert "lines_above" in keys(read_table(write("# made\na,b\n1,2\n")))


def test_two_separators_that_fit_are_a_doubt(write):
    frame = read_table(write("a;b,c\n1;2,3\n4;5,6\n"))
    assert "separator_doubt" in keys(frame) and frame.shape == (2, 2)


def test_doubled_separators_inside_quotes_stay(write):
    frame = read_table(write('a::b\n"x::y"::1\nz::2\n'))
    assert frame["a"].tolist() == ["x::y", "z"] and frame["b"].tolist() == [1, 2]


# What is given is not guessed


def test_what_is_given_is_not_guessed(write):
    path = write("a;b\n1,5;x\n")
    assert read_table(path, separator="|").columns.tolist() == ["a;b"]
    assert read_table(path, decimal=".")["a"].tolist() == ["1,5"]
    assert read_table(path, header=False)["column_1"].tolist() == ["a", "1,5"]
    assert read_table(path, separator="")["a;b"].tolist() == ["1,5;x"]
    assert read_table(write("a,b\n'x,1\n'y,2\n"), quote="")["a"].tolist() == ["'x", "'y"]
    assert read_table(write("a\né\n".encode("cp437")), encoding="cp437")["a"].tolist() == ["é"]


def test_every_cell_as_it_stands_there(write):
    path = write("a,b\n 007 ,NA\n?,\n")
    assert read_table(path, as_text=True).to_numpy().tolist() == [[" 007 ", "NA"], ["?", ""]]


@pytest.mark.parametrize(
    "options,match",
    [
        ({"separator": "\n"}, "separator must be a letter or mark"),
        ({"quote": "''"}, "quote must be a letter or mark"),
        ({"separator": ";", "quote": ";"}, "must differ"),
        ({"decimal": "'"}, "decimal must be"),
        ({"header": 1}, "header must be true or false"),
        ({"encoding": "klingon"}, "there is no encoding 'klingon'"),
        ({"encoding": "base64"}, "there is no encoding 'base64'"),
        ({"encoding": "ascii"}, "byte 3 is not"),
    ],
)
def test_dialects_that_make_no_sense(write, options, match):
    with pytest.raises(TableError, match=match):
        read_table(write("a\né\n"[0:1] + "\n\né\n"), **options)


def test_a_text_with_zero_bytes_far_below(write):
    frame = read_table(write(b"a,b\n" + b"1,x\n" * 2000 + b"2,y\0z\n"))
    assert frame["b"].iloc[-1] == "yz" and keys(frame) == ["zero_bytes"]


def test_new_rows_are_read_with_the_columns_of_the_model_in_mind(write, tmp_path):
    one = write("5.1,3.5\n", "one.csv")  # alone it looks like a header
    frame = read_new_rows(one, ["column_1", "column_2"])
    assert frame["column_1"].tolist() == [5.1] and keys(frame) == ["no_header_needed"]
    words = write("red,big\nblue,small\n", "words.csv")
    assert len(read_new_rows(words, ["column_1"])) == 2
    assert list(read_new_rows(words, ["red"]).columns) == ["red", "big"]
    years = write("2.5,1\n3.5,4\n", "numbers.csv")
    assert list(read_new_rows(years, ["2.5", "1"]).columns) == ["2.5", "1"]
    with pytest.raises(TableError, match="no row of data"):
        read_new_rows(write("a,b\n", "none.csv"), ["a"])
    (tmp_path / "settings.toml").write_text('[reading]\nseparator = ";"\n')
    (tmp_path / "model").mkdir()
    assert reading_of(tmp_path) == reading_of(tmp_path / "model") == {"separator": ";"}
    assert reading_of(tmp_path / "model" / "model.hyperplan") == {"separator": ";"}
    assert reading_of(tmp_path / "elsewhere" / "x" / "y") == {}


# Files that are none


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices are those of Unix")
def test_devices_pipes_and_streams(tmp_path):
    for path, match in (("/dev/zero", "is a device"), ("/dev/null", "is a device"), (tmp_path, "is a folder")):
        with pytest.raises(TableError, match=match):
            read_table(path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(TableError, match="a pipe that nobody writes into"):
        read_table(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(b"a,b\n1,2\n"),))
    writer.start()
    assert read_table(pipe)["b"].tolist() == [2]
    writer.join()


def test_a_file_with_colons_in_its_name(write):
    assert read_table(write("a\n1\n", "a::b.csv"))["a"].tolist() == [1]


@pytest.mark.parametrize(
    "member,kind", [("content.xml", "OpenDocument"), ("xl/workbook.bin", "xlsb"), ("Index/Document.iwa", "Numbers")]
)
def test_workbooks_of_other_programs(tmp_path, member, kind):
    with zipfile.ZipFile(tmp_path / "book.zip", "w") as archive:
        archive.writestr("mimetype", "x")
        archive.writestr(member, "x")
    with pytest.raises(TableError, match=f"is a {kind} file"):
        read_table(tmp_path / "book.zip")


# Sheets and tables to choose from


def test_hidden_and_empty_sheets_are_passed_over(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "empty"
    secret, data = book.create_sheet("secret"), book.create_sheet("data")
    for sheet, value in ((secret, 1), (data, 2)):
        sheet.append(["a", "b"])
        sheet.append([value, None])
        sheet.append([value, "x"])
    secret.sheet_state = "hidden"
    book.save(tmp_path / "t.xlsx")
    frame = read_table(tmp_path / "t.xlsx")
    assert frame["a"].tolist() == [2, 2] and frame["b"].isna().tolist() == [True, False]
    assert keys(frame) == ["other_sheet"] and "t.xlsx::empty" in table_notes(frame)[0]
    assert read_table(f"{tmp_path / 't.xlsx'}::secret")["a"].tolist() == [1, 1]
    with pytest.raises(TableError, match=r"no sheet 'Data'; its sheets: empty, secret, data; choose one: t.xlsx::data"):
        read_table(f"{tmp_path / 't.xlsx'}::Data")


def test_databases_views_changes_in_a_second_file_and_locks(tmp_path, monkeypatch):
    path = tmp_path / "t.db"
    connection = sqlite3.connect(path, isolation_level=None)
    with pytest.raises(TableError, match="is empty"):
        read_table(path)
    connection.execute("PRAGMA user_version = 1")
    with pytest.raises(TableError, match="without tables"):
        read_table(path)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("CREATE TABLE sqlites (a)")
    connection.execute("INSERT INTO sqlites VALUES (1)")  # stands in the second file only
    assert read_table(path)["a"].tolist() == [1]
    connection.execute("CREATE VIEW both AS SELECT a, a + 1 AS b FROM sqlites")
    with pytest.raises(TableError, match=r"several tables \(sqlites, both\); name one: t.db::sqlites"):
        read_table(path)
    assert read_table(f"{path}::both")["b"].tolist() == [2]
    connection.close()
    before = sorted(os.listdir(tmp_path))
    assert read_table(f"{path}::both")["b"].tolist() == [2] and sorted(os.listdir(tmp_path)) == before
    packed = tmp_path / "t.db.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_table(f"{packed}::both")["b"].tolist() == [2]
    plain = tmp_path / "locked.db"
    connection = sqlite3.connect(plain, isolation_level=None)
    connection.execute("CREATE TABLE t (a)")
    connection.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr("hyperplan.compete._tables_sqlite.LOCK_WAIT", 0.05)
    with pytest.raises(TableError, match="is locked by another program"):
        read_table(plain)
    connection.close()


# Memory


def test_rubbish_in_the_budget_is_a_sentence(write, monkeypatch):
    monkeypatch.setenv("HYPERPLAN_MEMORY_BUDGET", "lots")
    with pytest.raises(TableError, match="such as 4GB"):
        read_table(write("a\n1\n"))


# What `getrusage` says would count the process that started this one.
PEAK = "1024 * int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the peak is read from /proc")


def bomb(path, kind):
    """A small file of much: about 600 MB of text, or of values."""
    if kind == "gz":
        with gzip.open(path, "wb", 1) as file:
            for _ in range(150):
                file.write(b"1,2,some text\n" * 300_000)
    elif kind == "sparse":
        with path.open("wb") as file:
            file.write(b"a,b\n")
            file.truncate(2**34)
    elif kind == "xlsx":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/workbook.xml", "<x/>")
            with archive.open("xl/sharedStrings.xml", "w") as file:
                for _ in range(60):
                    file.write(b"<si><t>x</t></si>" * 250_000)
    else:
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import feather, parquet

        few = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 5000, pyarrow.int32()), ["x" * 1_000_000])
        if kind == "dictionary":
            parquet.write_table(pyarrow.table({"a": few}), path)
        else:
            zeros = pyarrow.table({"a": pyarrow.array(np.zeros(80_000_000))})
            if kind == "feather":
                feather.write_feather(zeros, path, compression="zstd")
            else:
                parquet.write_table(zeros, path)


@needs_proc
@pytest.mark.parametrize("kind", ["gz", "sparse", "xlsx", "dictionary", "parquet", "feather"])
def test_bombs_are_refused_within_the_budget(tmp_path, run_python, kind):
    path = tmp_path / f"bomb.{kind}"
    bomb(path, kind)
    code = (
        "import os, sys\nfrom hyperplan.compete import TableError, read_table\n"
        "os.environ['HYPERPLAN_MEMORY_BUDGET'] = '400MB'\n"
        "try: read_table(sys.argv[1])\nexcept TableError as error: print(error)\n"
        f"print('peak', {PEAK})"
    )
    said = run_python(code, path).stdout
    assert f"reading bomb.{kind} needs" in said and "of memory are free" in said
    assert int(said.split("peak")[1]) < 1.1 * 400e6


@needs_proc
def test_what_fits_the_budget_is_read_within_it(tmp_path, run_python):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n" + "".join(f"{k},{k / 7:.6f},text {k}\n" for k in range(300_000)))
    code = (
        "import os, sys\nfrom hyperplan.compete import read_table\n"
        "os.environ['HYPERPLAN_MEMORY_BUDGET'] = '350MB'\n"
        f"print(len(read_table(sys.argv[1])), 'peak', {PEAK})"
    )
    rows, peak = run_python(code, path).stdout.split("peak")
    assert int(rows) == 300_000 and int(peak) < 1.1 * 350e6


@needs_proc
def test_a_table_that_its_competition_could_not_hold_is_refused_before(monkeypatch):
    frame = pandas.DataFrame({"c": ["red", "blue"] * 200_000, "x": np.arange(400_000.0)})
    from hyperplan._core.memory import resident_bytes

    held = resident_bytes()
    monkeypatch.setenv("HYPERPLAN_MEMORY_BUDGET", str(held + 4 * 10**9))
    require_table_memory([frame], 4)
    monkeypatch.setenv("HYPERPLAN_MEMORY_BUDGET", str(held + 180 * 10**6))
    with pytest.raises(CompetitionError, match=r"with one worker it is .*n_jobs=1"):
        require_table_memory([frame], 4)
    monkeypatch.setenv("HYPERPLAN_MEMORY_BUDGET", str(held + 20 * 10**6))
    with pytest.raises(CompetitionError, match=r"for 400,000 rows and 2 columns.*drop"):
        compete(frame, target="c", time=2, n_jobs=1)
    with pytest.raises(CompetitionError, match=r"for 400,000 rows and 2 columns"):
        explore(frame, time=2)


def test_queries_stay_within_the_budget(monkeypatch):
    pytest.importorskip("duckdb")
    monkeypatch.setenv("HYPERPLAN_MEMORY_BUDGET", "700MB")
    with pytest.raises(TableError, match="memory"):
        read_table("SELECT i, i * 2 AS j FROM range(500000000) AS t(i) ORDER BY j DESC")
    with pytest.raises(TableError, match="of memory are free"):
        read_table("SELECT i, i * 2 AS j FROM range(100000000) AS t(i)")
