"""Tables in every shape a person may bring: read rightly, or refused with words that help."""

import bz2
import errno
import gzip
import io
import lzma
import pickle
import sqlite3
import zipfile

import numpy as np
import pytest

from hyperplan._texts import LANGUAGES
from hyperplan.compete import TableError, nearest_names, read_table, table_hash, table_notes
from hyperplan.compete._errors import reason_of
from hyperplan.compete._names import unique_names
from hyperplan.compete._tables_dialect import MISSING, sniff
from hyperplan.compete._tables_room import Room
from hyperplan.datasets import table_path

pandas = pytest.importorskip("pandas")
PLAIN = "name,size,price\nred,1,2.5\ngreen,2,3.5\nblue,,4.5\n"


@pytest.fixture
def plain():
    return pandas.DataFrame({"name": ["red", "green", "blue"], "size": [1, 2, np.nan], "price": [2.5, 3.5, 4.5]})


@pytest.fixture
def write(tmp_path):
    """``write(content, name)``: a file of the content; its path."""

    def write(content, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def verify_same(found, expected):
    pandas.testing.assert_frame_equal(
        found, expected, check_dtype=False, check_index_type=False, check_column_type=False
    )


def keys(frame):
    return [note["key"] for note in frame.attrs["notes"]]


# Separators, quotes, decimal marks, headers


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", "^", "::", "||", "~", "\x01"])
def test_any_separator(write, plain, separator):
    verify_same(read_table(write(PLAIN.replace(",", separator))), plain)


def test_runs_of_blanks(write):
    frame = read_table(write("  a   b  c\n 1.5  2 x\n10.25 30 y\n"))
    verify_same(frame, pandas.DataFrame({"a": [1.5, 10.25], "b": [2, 30], "c": ["x", "y"]}))
    assert "separator" in keys(frame)


def test_separator_announced_in_the_first_line(write):
    verify_same(read_table(write("sep=;\na;b\n1;2\n")), pandas.DataFrame({"a": [1], "b": [2]}))


def test_sentences_are_one_column(write):
    frame = read_table(write("remark\nhello world\nfine weather\n"))
    assert list(frame.columns) == ["remark"] and frame["remark"][0] == "hello world"


def test_commas_in_sentences_do_not_hide_the_semicolon(write):
    frame = read_table(write("a;b\nred, green;1\nblue, white;2\n"))
    assert frame["a"].tolist() == ["red, green", "blue, white"]


@pytest.mark.parametrize("header", ["a;b", ""])
def test_decimal_comma(write, header):
    frame = read_table(write(f"{header}\n1,5;-2,25\n10,75;0,5\n"))
    np.testing.assert_array_equal(frame.to_numpy(), [[1.5, -2.25], [10.75, 0.5]])
    assert "decimal_comma" in keys(frame)


def test_thousands_are_not_decimals(write):
    frame = read_table(write("a;b\n" + "".join(f"{k},{100 + k};x\n" for k in range(1, 9))))
    assert frame["a"][0] == "1,101" and "decimal_comma" not in keys(frame)


def test_quotes_line_breaks_and_escapes(write):
    frame = read_table(write('a,"b\nc"\n"x, ""y""\nz",1\nw,2\n'))
    assert list(frame.columns) == ["a", "b c"] and frame["a"][0] == 'x, "y"\nz'
    assert read_table(write('a,b\n"x \\" y",1\nw,2\n'))["a"][0] == 'x " y'
    assert read_table(write("a,b\n'x, y',1\n'w',2\n'v',3\n"))["a"][0] == "x, y"


def test_blanks_after_the_separator(write):
    frame = read_table(write('a, b, c\n1, NA, "x, y"\n2, 4.5, "z"\n'))
    assert frame["c"].tolist() == ["x, y", "z"] and np.isnan(frame["b"][0]) and frame["b"][1] == 4.5
    frame = read_table(write("a, b\nred , NA\n blue, 4\n"))
    assert frame["a"].tolist() == ["red", "blue"] and frame["b"].dtype == float


def test_a_first_line_of_data_is_not_a_header(write):
    frame = read_table(write("5.1,3.5,setosa\n4.9,3.0,setosa\n"))
    assert frame.shape == (2, 3) and list(frame.columns) == ["column_1", "column_2", "column_3"]
    assert "no_header" in keys(frame)


@pytest.mark.parametrize("header", ["0,1,2", "country,2019,2020", ",0,1"])
def test_numbers_that_count_up_are_names(write, header):
    assert read_table(write(f"{header}\nx,3.5,4\ny,2.5,7\n")).shape == (2, 3)


def test_row_names_and_trailing_separators(write):
    frame = read_table(write("a,b\nr1,1,2\nr2,3,4\n"))
    assert list(frame.columns) == ["row_name", "a", "b"] and "row_names" in keys(frame)
    for text in ("a,b,\n1,2,\n3,4,\n", "a,b\n1,2,\n3,4,\n"):
        verify_same(read_table(write(text)), pandas.DataFrame({"a": [1, 3], "b": [2, 4]}))


def test_comments_before_the_header(write):
    verify_same(read_table(write("# made by a machine\na,b\n1,2\n")), pandas.DataFrame({"a": [1], "b": [2]}))


def test_codes_keep_their_zeros_and_long_numbers_their_digits(write):
    frame = read_table(write("zip,card\n01234,12345678901234567\n99999,11111111111111111\n"))
    assert frame["zip"][0] == "01234" and frame["card"][0] == "12345678901234567"


def test_every_way_to_write_a_missing_value(write):
    cells = [marker for marker in MISSING if '"' not in marker]
    frame = read_table(write("x,word,y\n" + "".join(f"{c},{c},1\n" for c in cells) + "1.5,real,1\n"))
    assert frame["x"].dtype == float and frame["x"].isna().sum() == len(cells) == frame["word"].isna().sum()
    assert frame["word"].iloc[-1] == "real"


def test_types_that_the_text_tells(write):
    frame = read_table(
        write("day,at,yes,maybe,none\n2020-01-02,2020-01-02T10:00:00Z,true,true,\n2021-01-02,,false,,\n")
    )
    assert frame["day"].dtype.kind == "M" and frame["at"].dtype.kind == "M" and frame["yes"].dtype == bool
    assert frame["at"][0] == pandas.Timestamp("2020-01-02 10:00") and frame["maybe"][0] == "True"
    assert frame["none"].isna().all()


def test_old_line_ends_and_zero_bytes_after_the_start(write, plain):
    verify_same(read_table(write(PLAIN.replace("\n", "\r"))), plain)
    verify_same(read_table(write(PLAIN.replace("\n", "\r\n"))), plain)


def test_repeated_and_empty_names_are_made_unique(write):
    frame = read_table(write("a,a,,a_2,a\n1,2,3,4,5\n"))
    assert list(frame.columns) == ["a", "a_3", "column_3", "a_2", "a_4"] or len(set(frame.columns)) == 5
    assert "repeated_names" in keys(frame) and "a" in table_notes(frame)[0]


def test_unique_names_never_collide():
    names, repeated = unique_names(["a", "a", "a_2", "a", "", None, 3, 3])
    assert len(set(names)) == 8 and repeated == ["a", "3"] and names[2] == "a_2"


# Encodings


@pytest.mark.parametrize(
    "encoding,key",
    [
        ("utf-8", None),
        ("utf-8-sig", "encoding"),
        ("utf-16", "encoding"),
        ("utf-16-le", "encoding"),
        ("utf-16-be", "encoding"),
        ("utf-32", "encoding"),
        ("cp1252", "encoding_guessed"),
        ("latin-1", "encoding_guessed"),
    ],
)
def test_encodings(write, encoding, key):
    frame = read_table(write("été,ville\n1,Besançon\n2,Nîmes\n3,Paris\n".encode(encoding)))
    assert list(frame.columns) == ["été", "ville"] and frame["ville"][0] == "Besançon"
    assert keys(frame) == ([key] if key else [])


def test_bytes_that_windows_does_not_know_are_latin(write):
    frame = read_table(write(b"a,b\n\xe9\x81,1\nx,2\n"))
    assert frame.attrs["notes"][0]["encoding"] == "Latin-1" and frame.attrs["notes"][0]["line"] == 2


def test_a_few_broken_letters_do_not_spoil_the_others(write):
    text = "a,b\n" + "é,1\n" * 100
    frame = read_table(write(text.encode() + b"\xe9,2\n"))
    assert frame["a"][0] == "é" and keys(frame) == ["encoding_broken"]


# Compression and archives


def compressed(kind, data):
    if kind == "zip":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("folder/table.csv", data)
        return buffer.getvalue()
    if kind == "zst":
        pyarrow = pytest.importorskip("pyarrow")
        return pyarrow.Codec("zstd").compress(data, asbytes=True)
    return {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[kind](data)


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zip", "zst"])
def test_compressed(write, plain, kind):
    verify_same(read_table(write(compressed(kind, PLAIN.encode()), f"table.csv.{kind}")), plain)
    verify_same(read_table(write(compressed(kind, PLAIN.encode()), "no_suffix")), plain)


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zip"])
def test_a_file_cut_off_is_named_so(write, kind):
    with pytest.raises(TableError, match=r"cut\.csv\.\w+ is not a readable .* file"):
        read_table(write(compressed(kind, PLAIN.encode() * 50)[:-15], f"cut.csv.{kind}"))


def test_an_archive_of_several_files_asks_which(write, plain, tmp_path):
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.csv", PLAIN)
        archive.writestr("b.csv", "x\n1\n")
    with pytest.raises(TableError, match=r"several files \(a.csv, b.csv\); name one: two.zip::a.csv"):
        read_table(tmp_path / "two.zip")
    verify_same(read_table(f"{tmp_path / 'two.zip'}::a.csv"), plain)
    with pytest.raises(TableError, match=r"holds no file c.csv"):
        read_table(f"{tmp_path / 'two.zip'}::c.csv")


# Other formats


def test_parquet_and_feather(tmp_path, plain):
    pytest.importorskip("pyarrow")
    plain.to_parquet(tmp_path / "t.parquet")
    plain.to_feather(tmp_path / "t.feather")
    verify_same(read_table(tmp_path / "t.parquet"), plain)
    verify_same(read_table(tmp_path / "t.feather"), plain)


def test_a_parquet_file_cut_off(tmp_path, plain):
    pytest.importorskip("pyarrow")
    plain.to_parquet(tmp_path / "t.parquet")
    data = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(data[:-20])
    with pytest.raises(TableError, match="not a readable parquet file"):
        read_table(tmp_path / "t.parquet")


def test_types_that_only_arrow_has(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table(
        {
            "record": pyarrow.array([{"town": "Lyon", "code": 1}, {"town": "Nice", "code": 2}]),
            "list": [[1, 2], None],
            "decimal": pyarrow.array([1, 2], pyarrow.decimal128(10, 2)),
            "when": pyarrow.array([0, 1], pyarrow.timestamp("us", tz="Europe/Paris")),
            "nothing": pyarrow.nulls(2),
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    frame = read_table(tmp_path / "t.parquet")
    assert frame["record.town"].tolist() == ["Lyon", "Nice"] and frame["list"][0] == "[1, 2]"
    assert frame["decimal"].dtype == float and frame["when"].dtype.kind == "M" and frame["nothing"].isna().all()


def test_excel(tmp_path, plain):
    pytest.importorskip("openpyxl")
    with pandas.ExcelWriter(tmp_path / "t.xlsx") as book:
        plain.to_excel(book, sheet_name="first", index=False)
        pandas.DataFrame({"a": [1], "b": ["NA"]}).to_excel(book, sheet_name="second", index=False)
    frame = read_table(tmp_path / "t.xlsx")
    verify_same(frame, plain)
    assert "first_sheet" in keys(frame)
    second = read_table(f"{tmp_path / 't.xlsx'}::second")
    assert second["a"][0] == 1 and second["b"].isna().all()
    with pytest.raises(TableError, match=r"no sheet 'third'; its sheets: first, second; choose one: t.xlsx::first"):
        read_table(f"{tmp_path / 't.xlsx'}::third")


def test_json_lines(write, plain):
    text = plain.to_json(orient="records", lines=True)
    verify_same(read_table(write(text, "t.jsonl")), plain)
    verify_same(read_table(write(gzip.compress(text.encode()), "t.jsonl.gz")), plain)
    verify_same(read_table(write(plain.to_json(orient="records"), "t.json")), plain)
    verify_same(read_table(write(plain.to_json(), "t.json")), plain)


def test_json_of_records_lists_and_mixed_types(write):
    frame = read_table(write('{"a": 1, "b": {"c": [1, 2]}}\n{"a": "x", "d": true}\n', "t.jsonl"))
    assert (
        frame["a"].tolist() == ["1", "x"] and frame["b.c"][0] == "[1, 2]" and list(frame.columns) == ["a", "b.c", "d"]
    )


def test_broken_json_names_line_and_column(write):
    with pytest.raises(TableError, match=r"line 2, column 6 of t.jsonl is not JSON"):
        read_table(write('{"a": 1}\n{"a":\n', "t.jsonl"))
    with pytest.raises(TableError, match="no table"):
        read_table(write('{"a": [1], "b": [1, 2]}', "t.json"))
    with pytest.raises(TableError, match=r"record 1 of t.json is a int"):
        read_table(write("[1, 2]", "t.json"))


def test_sqlite(tmp_path, plain):
    with sqlite3.connect(tmp_path / "t.db") as connection:
        plain.to_sql("things", connection, index=False)
    connection.close()
    verify_same(read_table(tmp_path / "t.db"), plain)
    verify_same(read_table(f"{tmp_path / 't.db'}::things"), plain)
    verify_same(
        read_table(tmp_path / "t.db", sql="SELECT * FROM things WHERE size = 2"), plain[1:2].reset_index(drop=True)
    )
    with pytest.raises(TableError, match=r"no table 'thing'; its tables: things; choose one: t.db::things"):
        read_table(f"{tmp_path / 't.db'}::thing")
    with pytest.raises(TableError, match=r"query on t.db failed"):
        read_table(tmp_path / "t.db", sql="SELECT nothing FROM things")
    connection = sqlite3.connect(tmp_path / "t.db")
    connection.execute("CREATE TABLE other (a)")
    connection.close()
    with pytest.raises(TableError, match=r"several tables \(things, other\); name one: t.db::things"):
        read_table(tmp_path / "t.db")


def test_sql_over_files(tmp_path, write, plain):
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    plain.to_parquet(tmp_path / "t.parquet")
    frame = read_table(f"SELECT name, price FROM '{tmp_path / 't.parquet'}' WHERE price > 3 ORDER BY price")
    verify_same(frame, plain[["name", "price"]][1:].reset_index(drop=True))
    assert read_table(write(PLAIN), sql="SELECT count(*) AS n FROM data")["n"][0] == 3
    for query in ("SELECT * FROM 'nowhere.parquet'", "SELECT wrong syntax FROM FROM"):
        with pytest.raises(TableError, match="query on SQL failed"):
            read_table(query)


def test_frames_pass_with_plain_names_and_types():
    frame = pandas.DataFrame({1: [1, 2], "t": pandas.to_timedelta(["1D", "2D"]), "n": pandas.array([1, None], "Int64")})
    found = read_table(frame)
    assert list(found.columns) == ["1", "t", "n"] and found["t"].tolist() == [1.0, 2.0] and found["n"].dtype == float
    with pytest.raises(TableError, match="complex"):
        read_table(pandas.DataFrame({"z": [1j]}))


# What cannot be read


@pytest.mark.parametrize(
    "content,match",
    [
        ("", "is empty"),
        ("\n\n  \n", "is empty"),
        ("a,b,c\n", "header of 3 columns but no row"),
        ("a,b,c", "header of 3 columns but no row"),
        ("a,b,c\n1,2,3\n4,5\n", r"line 3 of table.csv has 2 cells where 3 were expected: '4,5'"),
        ("a,b,c\n1,2,3\n4,5,6,7\n8,9,10\n", r"line 3 of table.csv has 4 cells where 3"),
        ("a b c\n1 2 3\n1 2 3\n4 5\n" + "1 2 3\n" * 60, r"line 4 of table.csv has 2 cells where 3"),
        ('a,b\n1,"x\n' + "2,y\n" * 100, r'quote " that opens on line 2'),
        ("<!DOCTYPE html><html><body>404</body></html>", "web page"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
        (b"\x00\x01\x02\x07" * 500, "neither text nor"),
        (b"\xd0\xcf\x11\xe0" + b"\x00" * 600, "xls file"),
        (b"\xff\xfea\x00,", "begins like UTF-16"),
    ],
)
def test_what_is_no_table(write, content, match):
    with pytest.raises(TableError, match=match):
        read_table(write(content))


def test_a_ragged_line_far_below_is_found(write):
    good = "".join(f"{k},x\n" for k in range(50_000))
    with pytest.raises(TableError, match=r"line 50002 of table.csv has 3 cells where 2"):
        read_table(write("a,b\n" + good + "1,2,3\n" + good))


def test_missing_files_and_folders(tmp_path, write):
    write(PLAIN, "penguins.csv")
    with pytest.raises(TableError, match=r"did you mean penguins.csv\?"):
        read_table(tmp_path / "pengiuns.csv")
    with pytest.raises(TableError, match="there is no file"):
        read_table(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(TableError, match=r"there is no file '.*x00'"):
        read_table("\0")
    with pytest.raises(TableError, match="download the table first"):
        read_table("https://example.org/table.csv")


def test_reasons_of_the_system_are_said_in_the_language_of_the_reader(tmp_path):
    error = TableError("unreadable", name="a.csv", reason=reason_of(PermissionError(errno.EACCES, "Permission denied")))
    for one in (error, pickle.loads(pickle.dumps(error))):
        assert str(one) == "a.csv cannot be opened: Permission denied"
        assert one.message("fr") == "impossible d’ouvrir a.csv : accès refusé"
    unknown = TableError("unreadable", name="a.csv", reason=reason_of(OSError("odd")))
    assert unknown.message("fr").endswith(": odd")


def test_hash_of_times_beyond_nanoseconds(write, tmp_path):
    pytest.importorskip("pyarrow")
    frame = read_table(write("until,x\n9999-12-31,1\n2020-01-01,2\n"))
    frame.to_parquet(tmp_path / "table.parquet")
    assert table_hash(read_table(tmp_path / "table.parquet")) == table_hash(frame)
    assert table_hash(read_table(write("until,x\n9998-12-31,1\n2020-01-01,2\n"))) != table_hash(frame)


def test_a_file_beyond_memory_is_refused(write, monkeypatch):
    path = write(PLAIN)
    monkeypatch.setenv("HYPERPLAN_MEMORY_BUDGET", "10")
    with pytest.raises(TableError, match="of memory are free"):
        read_table(path)


def test_errors_speak_each_language_and_survive_pickling(tmp_path):
    with pytest.raises(TableError) as caught:
        read_table(tmp_path / "a.csv")
    words = {language: caught.value.message(language) for language in LANGUAGES}
    assert words["en"] == str(caught.value) and "n’existe pas" in words["fr"]
    assert str(pickle.loads(pickle.dumps(caught.value))) == words["en"]


def test_without_pyarrow_pandas_reads_the_same(write, run_python):
    code = (
        "import sys\nsys.modules['pyarrow'] = None\nfrom hyperplan.compete import TableError, read_table\n"
        "print(read_table(sys.argv[1]).to_csv(index=False))\n"
        "try: read_table(sys.argv[2])\nexcept TableError as error: print(error)"
    )
    ragged = write("a,b,c\n1,2\n1,2,3\n1,2,3\n", "ragged.csv")
    said = run_python(code, write(PLAIN), ragged).stdout
    assert "name,size,price\nred,1.0,2.5\ngreen,2.0,3.5\nblue,,4.5\n" in said
    assert "line 2 of ragged.csv has 2 cells where 3" in said


# Size, hash, names, shipped table


def test_thousands_of_columns(write):
    values = np.arange(30_000.0).reshape(3, 10_000) / 8
    text = ",".join(f"v{j}" for j in range(10_000)) + "\n" + "\n".join(",".join(map(str, row)) for row in values)
    np.testing.assert_array_equal(read_table(write(text)).to_numpy(), values)


def test_sniffing_reads_only_the_beginning():
    dialect = sniff(bytearray(b"a;b\n" + b"1;2\n" * 200_000 + b"broken\n"), Room("table.csv"))
    assert dialect.cutting.separator == ";" and dialect.width == 2


def test_hash_follows_content_not_format(tmp_path, plain, write):
    pytest.importorskip("pyarrow")
    plain.to_parquet(tmp_path / "t.parquet")
    digest = table_hash(read_table(write(PLAIN)))
    assert digest == table_hash(read_table(tmp_path / "t.parquet")) == table_hash(plain) and len(digest) == 64
    changed = [
        plain.assign(price=[2.5, 3.5, 4.6]),
        plain.rename(columns={"size": "sizes"}),
        plain[["size", "name", "price"]],
        plain[::-1],
        plain.assign(name=["red", "gree", "nblue"]),
        plain.assign(size=[1, 2, 0]),
    ]
    assert len({digest, *map(table_hash, changed)}) == 7


def test_hash_of_large_integers_is_exact():
    big = 2**60
    assert table_hash(pandas.DataFrame({"a": [big]})) != table_hash(pandas.DataFrame({"a": [big + 1]}))


def test_nearest_names():
    names = ["PassengerId", "Survived", "Pclass", "prénom", "survival_days"]
    assert nearest_names("survived", names)[0] == "Survived"
    assert nearest_names("prenom", names) == ["prénom"]
    assert nearest_names("passenger id", names)[0] == "PassengerId"
    assert nearest_names("qqq", names) == []


def test_the_shipped_table_has_categories_and_missing_values():
    frame = read_table(table_path("penguins"))
    assert frame.shape == (344, 8) and frame.isna().sum().sum() == 19
    assert (
        sorted(frame["species"].unique()) == ["Adelie", "Chinstrap", "Gentoo"] and frame["body_mass_g"].dtype == float
    )
    with pytest.raises(ValueError, match="there is: penguins"):
        table_path("titanic")
