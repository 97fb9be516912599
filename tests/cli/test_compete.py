"""The commands compete, predict and verify as people get them wrong: a sentence, exit status 2, nothing written."""

import numpy as np
import pytest

from hyperplan.cli import _warmup, main
from hyperplan.compete import Settings

pandas = pytest.importorskip("pandas")


@pytest.fixture(autouse=True)
def _is_warm(monkeypatch):
    """Nothing is compiled for a mistake."""
    monkeypatch.setattr(_warmup, "run", lambda *_, **__: 0)


def rows(n=40, **columns):
    rng = np.random.default_rng(0)
    frame = {"size": rng.normal(size=n).round(3), "weight": rng.normal(size=n).round(3), "y": ["a", "b"] * (n // 2)}
    return pandas.DataFrame({**frame, **columns}).drop(columns=[name for name, v in columns.items() if v is None])


def csv(frame):
    return frame.to_csv(index=False).encode()


MISTAKES = {
    "no such file": (None, [], "there is no file"),
    "empty file": (b"", [], "empty"),
    "header only": (b"a,b,y\n", [], "has a header of 3 columns but no row of data"),
    "one row": (b"a,b,y\n1,2,3\n", [], "only 1 rows have a value of 'y'; at least 10 are needed"),
    "wrong target": (csv(rows().rename(columns={"y": "Outcome"})), ["--target", "outcome"], "did you mean Outcome?"),
    "far target": (csv(rows()), ["--target", "zebra"], "the columns are size, weight, y"),
    "one class": (csv(rows(y="a")), [], "the same value 'a' in all rows"),
    "one number": (csv(rows(y=1.5)), ["--task", "regression"], "the same value 1.5 in all rows"),
    "target all missing": (csv(rows(y=np.nan)), [], "has no value in any row"),
    "class of one row": (csv(rows(y=["a"] * 39 + ["b"])), [], "the class 'b' of 'y' has only 1 row(s)"),
    "words for numbers": (csv(rows()), ["--task", "regression"], "'a'"),
    "unknown metric": (csv(rows()), ["--metric", "roc_ac"], "roc_auc"),
    "metric of the other task": (csv(rows()), ["--metric", "r2"], "does not fit this classification"),
    "unknown class": (csv(rows()), ["--positive", "c"], "the class 'c' is not among the values of the target: a, b"),
    "group that is not there": (csv(rows()), ["--group", "sise"], "did you mean size?"),
    "one group": (csv(rows(house=1)), ["--group", "house"], "has 1 group(s) only"),
    "time that is not there": (csv(rows()), ["--time-column", "date"], "\"time_column\" names the column 'date'"),
    "nothing left": (csv(rows()), ["--drop", "size", "--drop", "weight"], "no column is left to learn from"),
    "target left out": (csv(rows()), ["--drop", "y"], "'y' is what is predicted; it cannot be given as --drop as well"),
    "target alone": (csv(rows(size=None, weight=None)), [], "the table has no column besides 'y'"),
    "numbers beyond squares": (csv(rows(y=np.linspace(1, 9, 40) * 1e300)), [], "the values of 'y' go up to 9e+300"),
    "numbers without squares": (csv(rows(y=np.linspace(1, 9, 40) / 1e300)), [], "differ by 8e-300 at most"),
    "no time": (csv(rows()), ["--time", "0"], '"time" must be a number of seconds above 0'),
    "one fold": (csv(rows()), ["--folds", "1"], '"folds" must be a whole number from 2 to 100'),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_get_a_sentence(mistake, tmp_path, capsys):
    content, options, words = MISTAKES[mistake]
    if content is not None:
        (tmp_path / "table.csv").write_bytes(content)
    options = options if "--target" in options else ["--target", "y", *options]
    status = main(["compete", str(tmp_path / "table.csv"), "--out", str(tmp_path / "out"), *options])
    said = capsys.readouterr()
    assert status == 2 and said.err.startswith("hyperplan: ") and words in said.err, said.err
    assert "Traceback" not in said.err and said.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] in ([], ["table.csv"])


def test_mistakes_are_told_in_french(tmp_path, capsys):
    (tmp_path / "table.csv").write_bytes(csv(rows(y="a")))
    assert main(["compete", str(tmp_path / "table.csv"), "--target", "y", "--lang", "fr", "--out", "x"]) == 2
    assert "même valeur" in capsys.readouterr().err


def test_no_table_and_no_target(tmp_path, capsys):
    assert main(["compete"]) == 2
    assert "say which table" in capsys.readouterr().err
    (tmp_path / "table.csv").write_bytes(csv(rows()))
    assert main(["compete", str(tmp_path / "table.csv")]) == 2
    assert "say which column to predict" in capsys.readouterr().err


def test_a_folder_of_somebody_else_is_refused_before_anything_is_read(tmp_path, capsys):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "only-copy.tex").write_text("years of work")
    assert main(["compete", str(tmp_path / "absent.csv"), "--target", "y", "--out", str(tmp_path / "thesis")]) == 2
    assert "choose another folder with --out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "words"),
    [({"size": None}, "size"), ({"size": ["long", "short"] * 20}, "For example long")],
    ids=["column missing", "words for numbers"],
)
def test_a_test_file_that_does_not_fit_is_refused(changed, words, tmp_path, capsys):
    (tmp_path / "table.csv").write_bytes(csv(rows()))
    (tmp_path / "test.csv").write_bytes(csv(rows(**changed)))
    options = ["--target", "y", "--test", str(tmp_path / "test.csv"), "--out", str(tmp_path / "out")]
    assert main(["compete", str(tmp_path / "table.csv"), *options]) == 2
    said = capsys.readouterr().err
    assert words in said and "test file" in said and not (tmp_path / "out").exists()
    # what is left out may be missing
    from hyperplan.compete._compete import _asked, as_frame

    dropped = Settings(target="y", drop=("size",))
    assert _asked(as_frame(rows()), dropped, as_frame(rows(**changed)))[0].problem.n_rows == 40


def test_settings_files_with_mistakes(tmp_path, capsys):
    path = tmp_path / "settings.toml"
    path.write_text('tagret = "y"\n')
    assert main(["compete", str(path)]) == 2
    assert 'unknown setting "tagret"; did you mean target' in capsys.readouterr().err
    path.write_text("target = y\n")
    assert main(["compete", str(path)]) == 2
    assert "not valid TOML" in capsys.readouterr().err
    assert main(["compete", str(tmp_path / "absent.toml")]) == 2
    assert "there is no settings file" in capsys.readouterr().err


def test_the_command_line_goes_before_the_settings_file(tmp_path):
    from hyperplan.cli._compete import _settings

    path = tmp_path / "settings.toml"
    path.write_text('table = "t.csv"\ntarget = "y"\ntime = 7\ndrop = ["a"]\n')
    options = {"time": 9.0, "drop": None, "lang": None, "drop_leaks": None}
    assert _settings(path, False, options) == Settings(table="t.csv", target="y", time=9.0, drop=("a",))
    example = _settings(None, True, {"time": 5.0, "target": "species"})
    assert example.table.endswith("penguins.csv.gz") and example.time == 5 and example.target == "species"
