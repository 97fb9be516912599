"""Tables written for other programs: formats by ending, and no text that a spreadsheet would run."""

import csv
import gzip

import numpy as np
import pytest

pandas = pytest.importorskip("pandas")

from hyperplan.compete import CompetitionError  # noqa: E402
from hyperplan.compete._table_output import (  # noqa: E402
    ENDINGS,
    check_ending,
    is_formula,
    without_formulas,
    write_numbers,
    write_table,
)

RUN = ("=1+1", "=cmd|' /C calc'!A0", "@SUM(A1)", "+1+cmd", "-2+3", "--1", "-a", "\t=1", "\r=1", "\n=1", "  =1+1",
       "\uff1d1+1", "-1e", "-5;=1", "=")  # fmt: skip
HARMLESS = ("-5", "+3.2e5", "-1,234.5", "-1.234,5", "-.5", "-5 %", "-$12.50", "- 5", "-", "+",
            "a=b", "", " ", "'=1", "a@b.c", "1-2", "-inf", "\u22125", "5")  # fmt: skip


@pytest.mark.parametrize("cell", RUN)
def test_formulas_are_escaped(cell):
    assert is_formula(cell)


@pytest.mark.parametrize("cell", HARMLESS)
def test_numbers_and_ordinary_texts_stay(cell):
    assert not is_formula(cell)


def hostile():
    return pandas.DataFrame(
        {
            "=name": ["=1+1", "plain", None, "-5"],
            "id": [-5, 3, -7, 0],
            "mixed": pandas.Series(["@x", 3, None, -2.5], dtype=object),
            "kind": pandas.Categorical(["=a", "b", "=a", "b"]),
            "day": pandas.date_range("2020-01-01", periods=4),
            "share": [0.1, -1e-300, np.nan, 1e300],
        }
    )


def test_cells_and_names_are_escaped_in_text_and_nothing_else(tmp_path):
    frame = hostile()
    before = frame.copy(deep=True)
    write_table(frame, tmp_path / "safe.csv")
    with open(tmp_path / "safe.csv", newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    assert names == ["'=name", "id", "mixed", "kind", "day", "share"]
    columns = dict(zip(names, zip(*rows)))
    assert columns["'=name"] == ("'=1+1", "plain", "", "-5") and columns["id"] == ("-5", "3", "-7", "0")
    assert columns["mixed"] == ("'@x", "3", "", "-2.5") and columns["kind"] == ("'=a", "b", "'=a", "b")
    assert columns["share"] == ("0.1", "-1e-300", "", "1e+300")
    write_table(frame, tmp_path / "raw.csv", escape=False)
    assert (tmp_path / "raw.csv").read_text(encoding="utf-8").startswith("=name,id")
    pandas.testing.assert_frame_equal(frame, before)
    assert without_formulas(frame[["id"]]).equals(frame[["id"]])


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_can_be_read_again(tmp_path, ending):
    if ending in (".parquet", ".feather"):
        pytest.importorskip("pyarrow")
    path = tmp_path / f"table{ending.upper() if ending == '.csv' else ending}"
    write_table(hostile(), path)
    read = {".parquet": pandas.read_parquet, ".feather": pandas.read_feather}.get(ending)
    separator = "\t" if ending == ".tsv" else ","
    frame = read(path) if read else pandas.read_csv(path, sep=separator)
    assert frame["id"].tolist() == [-5, 3, -7, 0] and frame.shape == (4, 6)
    assert frame.columns[0] == ("=name" if read else "'=name")  # only text is opened by spreadsheets
    assert str(frame["mixed"][3]) == "-2.5"


def test_the_same_table_is_packed_to_the_same_bytes(tmp_path):
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_table(hostile(), tmp_path / name / "a.csv.gz")
        found.append((tmp_path / name / "a.csv.gz").read_bytes())
    assert found[0] == found[1] and gzip.decompress(found[0]).startswith(b"'=name")
    assert found[0][4:8] == bytes(4)  # no time of day


@pytest.mark.parametrize("name", ["a.xlsx", "a.txt", "a", "", ".csv", "a.csv.zip", "a.parquet.gz", "csv"])
def test_other_endings_are_refused_with_those_that_there_are(name):
    with pytest.raises(CompetitionError, match=r"\.csv, \.csv\.gz, \.tsv, \.parquet, \.feather"):
        check_ending(name)


def test_numbers_are_written_with_six_digits_as_formatting_would(tmp_path):
    values = np.array([1.23456789, -2.0 / 3.0e7, 123456789.0, 0.0, np.nan, 1e300 / 3, 1.0, 0.1 + 0.2])
    frame = pandas.DataFrame({"row": np.arange(1, 9), "a": values})
    write_numbers(frame, tmp_path / "n.csv")
    text = (tmp_path / "n.csv").read_text()
    assert text.startswith("row,a\n1,1.23457\n") and "8,0.3\n" in text and '"' not in text
    cells = [line.split(",")[1] for line in text.splitlines()[1:]]
    for value, cell in zip(values[:4].tolist() + values[6:].tolist(), cells[:4] + cells[6:]):
        assert float(cell) == float(f"{value:.6g}")
    assert cells[4] == "" and float(cells[5]) == values[5]  # beyond the exact powers of ten all digits are kept
