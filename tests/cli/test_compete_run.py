"""``hyperplan compete`` from the table to the folder and back: formats, settings, leaks, rows to predict, terminal."""

import io
import json
import sqlite3
from types import SimpleNamespace

import numpy as np
import pytest

from hyperplan._texts import LANGUAGES, text
from hyperplan.cli import _compete, _warmup, main
from hyperplan.compete import Settings, candidates, compete, read_settings

pandas = pytest.importorskip("pandas")
rich = pytest.importorskip("rich.console")
NO_TIME = "1e-6"  # suffices for the baseline only
LINEAR = {"classification": ["LogisticRegression"], "regression": ["Ridge"]}


def houses(n=120, seed=0):
    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame({"surface": rng.uniform(20, 200, n).round(1), "town": rng.choice(["Lyon", "Nice"], n)})
    price = 3 * frame["surface"] + 50 * (frame["town"] == "Nice") + 40 * rng.normal(size=n)
    return frame.assign(price=price.round(2))


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Nothing is compiled beforehand, one linear model takes part, with its defaults."""
    monkeypatch.setattr(_warmup, "run", lambda *_, **__: 0)
    monkeypatch.setattr("hyperplan.compete._contest.LEVELS", ())
    monkeypatch.setattr("hyperplan.compete._compete.all_candidates", lambda task, _: candidates(task, LINEAR[task]))


@pytest.fixture
def run(tmp_path, capsys):
    """``run(table, *options)``: the command on a table; what it wrote and said."""

    def run(table, *options, status=0):
        assert main(["compete", str(table), "--out", str(tmp_path / "out"), "--n-jobs", "1", *options]) == status
        said = capsys.readouterr()
        files = {path.name: path for path in (tmp_path / "out").iterdir()} if status == 0 else {}
        parts = {name: json.loads(files[f"{name}.json"].read_text()) for name in ("report", "receipt")} if files else {}
        return SimpleNamespace(
            folder=tmp_path / "out", files=files, out=" ".join(said.out.split()), err=said.err, **parts
        )

    return run


# Formats


def write_sqlite(frame, folder):
    connection = sqlite3.connect(folder / "t.db")
    frame.to_sql("sold", connection, index=False)
    frame.head(3).to_sql("other", connection, index=False)
    connection.close()
    return f"{folder / 't.db'}::sold"


def write_excel(frame, folder):
    pytest.importorskip("openpyxl")
    with pandas.ExcelWriter(folder / "t.xlsx") as book:
        frame.head(3).to_excel(book, sheet_name="other", index=False)
        frame.to_excel(book, sheet_name="sold", index=False)
    return f"{folder / 't.xlsx'}::sold"


def write_arrow(kind):
    def write(frame, folder):
        pytest.importorskip("pyarrow")
        getattr(frame, f"to_{kind}")(folder / f"t.{kind}")
        return folder / f"t.{kind}"

    return write


def write_query(frame, folder):
    pytest.importorskip("duckdb")
    path = write_arrow("parquet")(frame, folder)
    return f"SELECT * FROM '{path}'"


def write_text(name, **options):
    def write(frame, folder):
        frame.to_csv(folder / name, index=False, **options)
        return folder / name

    return write


def write_lines(frame, folder):
    frame.to_json(folder / "t.jsonl", orient="records", lines=True)
    return folder / "t.jsonl"


FORMATS = {
    "CSV with semicolons": write_text("t.csv", sep=";"),
    "tabs, compressed": write_text("t.tsv.gz", sep="\t"),
    "Parquet": write_arrow("parquet"),
    "Feather": write_arrow("feather"),
    "Excel": write_excel,
    "JSON lines": write_lines,
    "SQLite": write_sqlite,
    "SQL": write_query,
}


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_from_the_command_to_the_proof(form, run, tmp_path, capsys):
    table = FORMATS[form](houses(), tmp_path)
    found = run(table, "--target", "price", "--time", NO_TIME)
    assert found.report["data"]["rows"] == 120 and found.receipt["settings"]["target"] == "price"
    kinds = {column["name"]: column["kind"] for column in found.report["data"]["columns"]}
    assert kinds == {"surface": "number", "town": "category"}
    assert main(["verify", str(found.folder), "--split", "0"]) == 0  # the receipt says where the table is
    assert capsys.readouterr().out.startswith("identical")


# Settings


def test_the_written_settings_are_a_command(run, tmp_path):
    houses().to_csv(tmp_path / "t.csv", index=False)
    first = run(tmp_path / "t.csv", "--target", "price", "--seed", "3", "--folds", "4", "--time", NO_TIME)
    written = first.files["settings.toml"].read_text()
    (tmp_path / "mine.toml").write_text(written)
    again = run(tmp_path / "mine.toml")
    assert again.receipt["trials"] == first.receipt["trials"] and len(first.receipt["trials"]) % 4 == 0
    assert read_settings(first.files["settings.toml"]) == read_settings(tmp_path / "mine.toml")
    changed = written.replace('surface = "number"', 'surface = "category"').replace(
        '# metric = "roc_auc"', 'metric = "neg_mean_absolute_error"'
    )
    (tmp_path / "mine.toml").write_text(changed)
    other = run(tmp_path / "mine.toml")
    assert "categories: surface, town" in other.out and other.report["metric"]["label"] == "MAE"
    assert other.receipt["splits_sha256"] == first.receipt["splits_sha256"]


def test_what_was_guessed_is_said(run, tmp_path):
    frame = houses().assign(house=[f"H{k}" for k in range(120)], land="France")
    frame.loc[:9, "price"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    said = run(tmp_path / "t.csv", "--target", "price", "--time", NO_TIME, "--drop", "town").out
    for words in ("predict 'price': regression", "compare by R²", "110 rows to learn from, 10 without a value",
                  "numbers: surface", "identifiers (not used): house", "constant (not used): land",
                  "left out: town"):  # fmt: skip
        assert words in said, said


# Leaks


def test_leaks_are_named_and_left_out_with_consent_only(run, tmp_path, capsys):
    noise = np.random.default_rng(1).normal(size=120)
    frame = houses().assign(price=lambda f: f["price"] + 300 * noise, tax=lambda f: 0.05 * f["price"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    kept = run(tmp_path / "t.csv", "--target", "price", "--time", NO_TIME)
    assert "May give the target away: tax" in kept.out and "--drop-leaks" in kept.out
    assert {c["name"] for c in kept.report["data"]["columns"] if c["used"]} == {"surface", "town", "tax"}
    found = [f for f in kept.report["audit"] if "tax" in f["columns"] and f["code"] in ("A03", "A04")]
    assert found and all(f["severity"] != "info" for f in found)
    dropped = run(tmp_path / "t.csv", "--target", "price", "--drop-leaks")
    assert "May give" not in dropped.out and "left out: tax" in dropped.out
    assert {c["name"] for c in dropped.report["data"]["columns"] if c["used"]} == {"surface", "town"}
    assert dropped.receipt["settings"]["drop"] == ["tax"] and main(["verify", str(dropped.folder)]) == 0
    houses(10, 1).drop(columns="price").to_csv(tmp_path / "new.csv", index=False)
    assert main(["predict", str(dropped.folder), str(tmp_path / "new.csv"), "--out", str(tmp_path / "a.csv")]) == 0


# Predictions


def test_numbers_are_predicted_with_intervals_for_rows_without_one(run, tmp_path):
    frame = houses()
    truth = frame["price"].copy()
    frame.loc[::7, "price"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = run(tmp_path / "t.csv", "--target", "price")
    written = pandas.read_csv(found.files["predictions.csv"])
    assert list(written.columns[-3:]) == ["prediction", "lower_90", "upper_90"] and len(written) == 18
    assert (written["lower_90"] < written["prediction"]).all() and (written["prediction"] < written["upper_90"]).all()
    assert f"Predictions: 18 rows in {found.files['predictions.csv']}".replace(" ", "") in found.out.replace(" ", "")
    if found.report["chosen"]["name"] == "Ridge":  # in the order of the rows
        assert np.corrcoef(written["prediction"], truth[::7])[0, 1] > 0.9


# The terminal


@pytest.fixture(scope="module")
def result():
    """A competition of two models and the baseline; one of them had no time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hyperplan.compete._contest.LEVELS", ())
        found = compete(houses(), target="price", time=60, n_jobs=1, candidates=["Ridge"], title="houses")
    row = {"name": "Slow", "label": "Random forest", "status": "skipped", "reason": "slow"}
    found.document["leaderboard"].append(row | dict.fromkeys(("is_chosen", "is_best", "is_baseline"), False))
    return found


def shown(width, draw):
    console = rich.Console(file=io.StringIO(), width=width, color_system=None)
    draw(console)
    return console.file.getvalue()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [60, 80, 140])
def test_the_terminal_shows_the_leaderboard_and_the_answer(result, language, width):
    said = shown(width, lambda console: _compete._show(console, result, language))
    assert max(map(len, said.splitlines())) <= width
    words = " ".join(said.split())
    labels = {
        "en": ("Ridge regression", "Mean", "Random forest"),
        "fr": ("Régression ridge", "Moyenne", "Forêt aléatoire"),
    }
    assert all(label in words for label in labels[language])
    assert text("compete.reasons.slow", language) in words
    if width != 80:  # there it depends on the names
        assert (text("compete.table.fit", language) in words) == (width > 80)
    for sentence in result.answer(language):
        assert " ".join(sentence.split()) in words


def test_numbers_on_the_terminal_are_those_of_the_document(result):
    said = shown(140, lambda console: _compete._show(console, result, "en"))
    for row in result.document["leaderboard"][:2]:
        line = next(line for line in said.splitlines() if line.strip().startswith(row["label"]))
        numbers = [
            float(word) for word in line.replace("−", "-").split() if word.replace("-", "").replace(".", "").isdigit()
        ]
        assert numbers[0] == pytest.approx(row["score"], abs=0.006)
        assert numbers[1] == pytest.approx(row["low"], abs=0.006) and numbers[2] == pytest.approx(
            row["high"], abs=0.006
        )


@pytest.mark.parametrize(("elapsed", "left"), [(0, 60), (45.25, 15), (75, 0)])
def test_the_time_left_is_that_of_the_budget(elapsed, left, monkeypatch):
    monkeypatch.setattr(_compete, "working_time", lambda: 100.0 + elapsed)
    progress = _compete.Progress(rich.Console(file=io.StringIO()), Settings(target="y", time=60), began=100.0)
    task = SimpleNamespace()
    progress._tick(task)
    assert task.description == f"about {left} s left" and task.completed == min(elapsed, 60)
