"""What the command compete refuses before anything runs; single mistakes are data in ``tests/hostile``."""

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


def test_the_command_line_goes_before_the_settings_file(tmp_path):
    from hyperplan.cli._compete import _settings

    path = tmp_path / "settings.toml"
    path.write_text('table = "t.csv"\ntarget = "y"\ntime = 7\ndrop = ["a"]\n')
    options = {"time": 9.0, "drop": None, "lang": None, "drop_leaks": None}
    assert _settings(path, False, options) == Settings(table=str(tmp_path / "t.csv"), target="y", time=9.0, drop=("a",))
    example = _settings(None, True, {"time": 5.0, "target": "species"})
    assert example.table.endswith("penguins.csv.gz") and example.time == 5 and example.target == "species"
