"""``hyperplan predict``: nothing of the user is overwritten, odd rows and drift are said, answers know their rows."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pandas = pytest.importorskip("pandas")
pytest.importorskip("jinja2")

from hyperplan.cli import main  # noqa: E402
from hyperplan.compete import _predict, compete  # noqa: E402
from hyperplan.compete._places import source_files  # noqa: E402
from hyperplan.compete._predict import load_model, predict_table  # noqa: E402
from hyperplan.persistence import save  # noqa: E402


def rows(n=120, seed=0):
    draw = np.random.default_rng(seed)
    size = draw.normal(size=n)
    frame = pandas.DataFrame(
        {
            "customer_id": [f"c-{seed}-{k:05d}" for k in range(n)],
            "size": size,
            "price": draw.exponential(size=n),
            "town": draw.choice(["Lyon", "Paris", "Nice"], n),
            "note, long": draw.choice(["=1+1", "@home", "fine"], n),
        }
    )
    return frame.assign(kind=np.where(size + 0.3 * draw.normal(size=n) > 0, "=yes", "no"), weight=10 + 3 * size)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Folders of two small competitions: ``kind`` (one class begins like a formula) and ``weight``."""
    folder = tmp_path_factory.mktemp("reports")
    rows().to_csv(folder / "table.csv", index=False)
    for target, other, name in (("kind", "weight", "LogisticRegression"), ("weight", "kind", "Ridge")):
        frame = rows().drop(columns=other)
        frame.loc[::17, target] = None
        with pytest.MonkeyPatch.context() as patch:  # with few tries it is done long before its time is up
            patch.setattr("hyperplan.compete._contest.LEVELS", (1,))
            compete(frame, target=target, time=60, candidates=[name], n_jobs=1).save(folder / target)
    return folder


@pytest.fixture
def predict(reports, tmp_path, capsys, monkeypatch):
    """``predict(target, frame or file, *options)``: exit status, what was said, what was written."""
    monkeypatch.chdir(tmp_path)

    def run(target, table, *options, out="answers.csv"):
        if not isinstance(table, str):
            table.to_csv("new.csv", index=False)
            table = "new.csv"
        status = main(["predict", str(reports / target), table, "--out", out, *options])
        said = capsys.readouterr()
        written = pandas.read_csv(out) if status == 0 and out.endswith(".csv") else None
        return status, said, written

    return run


def test_the_input_is_never_overwritten_not_even_by_force_or_through_a_link(predict, tmp_path):
    new = rows(40, 1)
    for out in ("new.csv", "link.csv", "hard.csv", "../" + tmp_path.name + "/new.csv"):
        new.to_csv("new.csv", index=False)
        before = (tmp_path / "new.csv").read_bytes()
        for name in ("link.csv", "hard.csv"):
            (tmp_path / name).unlink(missing_ok=True)
        (tmp_path / "link.csv").symlink_to("new.csv")
        (tmp_path / "hard.csv").hardlink_to(tmp_path / "new.csv")
        status, said, _ = predict("kind", "new.csv", "--force", out=out)
        assert status == 2 and "never overwritten" in said.err and (tmp_path / "new.csv").read_bytes() == before


def test_a_file_that_exists_is_replaced_only_on_request(predict, tmp_path):
    (tmp_path / "answers.csv").write_text("mine")
    status, said, _ = predict("kind", rows(40, 1))
    assert status == 2 and "--force" in said.err and (tmp_path / "answers.csv").read_text() == "mine"
    assert predict("kind", rows(40, 1), "--force")[0] == 0
    assert len(pandas.read_csv(tmp_path / "answers.csv")) == 40
    assert sorted(os.listdir(tmp_path)) == ["answers.csv", "new.csv"]


def test_neither_the_model_nor_the_table_inside_a_database_is_overwritten(predict, reports, tmp_path):
    import sqlite3

    with sqlite3.connect(tmp_path / "new.csv") as database:  # whatever its name says
        rows(40, 1).to_sql("mine", database, index=False)
    database.close()
    before = (tmp_path / "new.csv").read_bytes()
    status, said, _ = predict("kind", "new.csv::mine", "--force", out="new.csv")
    assert status == 2 and "never overwritten" in said.err and (tmp_path / "new.csv").read_bytes() == before
    model = reports / "kind" / "model" / "model.hyperplan"
    copy = tmp_path / "model.csv"
    copy.hardlink_to(model)
    rows(40, 1).to_csv("rows.csv", index=False)
    assert predict("kind", "rows.csv", "--force", out="model.csv")[0] == 2
    assert load_model(model).target == "kind"


def test_files_of_a_query_are_inputs_too():
    found = source_files("SELECT * FROM 'no.csv' JOIN 'other.csv' USING (id)")
    assert [str(path) for path in found] == ["no.csv", "other.csv"]
    assert [str(path) for path in source_files("a.db::b")] == ["a.db::b", "a.db"]


def test_identifiers_stand_beside_the_answers(predict):
    new = rows(40, 1)
    _, said, written = predict("kind", new)
    assert list(written.columns) == ["customer_id", "prediction", "probability_=yes", "probability_no"]
    assert written["customer_id"].tolist() == new["customer_id"].tolist()
    assert set(written["prediction"]) == {"'=yes", "no"} and "40 rows predicted" in said.out and said.err == ""
    _, _, written = predict("weight", new, "--force")
    assert list(written.columns) == ["customer_id", "prediction", "lower_90", "upper_90"]
    assert (written["lower_90"] <= written["prediction"]).all() and (written["prediction"] <= written["upper_90"]).all()


def test_the_competition_writes_the_same_columns(reports, predict):
    missing = rows()[::17]
    for target in ("kind", "weight"):
        own = pandas.read_csv(reports / target / "predictions.csv")
        _, _, written = predict(target, missing, "--force")
        pandas.testing.assert_frame_equal(own, written, rtol=1e-12)


def test_columns_to_keep(predict):
    new = rows(40, 1)
    for options, names in {
        ("--keep", "size"): ["size"],
        ("--keep", "town,size"): ["town", "size"],
        ("--keep", "town, size ,town"): ["town", "size"],
        ("--keep", "note, long"): ["note, long"],
        ("--keep", "size,note, long,town"): ["size", "note, long", "town"],
        ("--keep", "town", "--keep", "weight"): ["town", "weight"],
        ("--keep-all",): list(new.columns),
    }.items():
        status, _, written = predict("kind", new, "--force", *options)
        assert status == 0 and list(written.columns[:-3]) == names
    assert written["note, long"].isin(["'=1+1", "'@home", "fine"]).all()
    _, _, raw = predict("kind", new, "--force", "--keep-all", "--no-escape")
    assert raw["note, long"].isin(["=1+1", "@home", "fine"]).all() and set(raw["prediction"]) == {"=yes", "no"}


NOT_THERE = {
    "siez": "did you mean size?",
    "size,Twon": "did you mean town?",
    "": "the columns are customer_id, size",
    "zzz": "the columns are",
}


@pytest.mark.parametrize(("asked", "words"), NOT_THERE.items())
def test_a_column_that_is_not_there_is_not_kept(predict, tmp_path, asked, words):
    status, said, _ = predict("kind", rows(40, 1), "--keep", asked)
    assert status == 2 and words in said.err and not (tmp_path / "answers.csv").exists()


def test_a_kept_column_with_the_name_of_an_answer_is_renamed_and_said(predict):
    new = rows(40, 1).assign(prediction="mine", warnings="old")
    _, said, written = predict("kind", new, "--keep", "prediction,warnings", "--warnings")
    assert list(written.columns) == ["prediction_2", "warnings_2", "prediction", "probability_=yes", "probability_no",
                                     "warnings"]  # fmt: skip
    assert "'prediction_2'" in said.err and "'warnings_2'" in said.err and set(written["prediction_2"]) == {"mine"}


def odd(n=20):
    new = rows(n, 1).astype({"size": object})
    new.loc[1, ["size", "price", "town", "note, long"]] = None
    new.loc[2, ["town", "note, long"]] = ["Atlantis", "=new"]
    new.loc[3, "town"] = "Atlantis"
    new.loc[4, ["size", "price"]] = ["inf", -np.inf]
    new.loc[5, "size"] = "1e300"
    new.loc[6, "size"] = "ten"
    new.loc[7, "size"] = "9" * 400
    return new


def test_odd_rows_are_counted_and_named(predict):
    _, said, written = predict("weight", odd(), "--warnings")
    lines = said.err.splitlines()
    for words in (
        "1 row has no value in any column that the model uses (row 2)",
        "1 row has only categories that were not seen in training (row 3)",
        "not seen in training, in town (row 4)",
        "2 rows have an infinite number in size and price (rows 5, 8)",
        "1 row lies far outside the training range in size (row 6)",
        "in size (row 7), which counts",
    ):
        assert sum(words in line for line in lines) == 1, words
    assert len(lines) == 6 and np.isfinite(written[["prediction", "lower_90", "upper_90"]].to_numpy()).all()
    cells = written["warnings"].fillna("").tolist()
    assert cells[0] == "" and cells[1] == "no value" and cells[2] == "only categories not seen in training"
    assert cells[3] == "category not seen in training: town" and cells[4] == "infinite: size and price"
    assert cells[5] == "far outside the training range: size" and cells[6] == "no number or date: size"
    assert cells[7] == "infinite: size" and set(cells[8:]) == {""}


def test_odd_rows_in_french(predict):
    _, said, written = predict("weight", odd(), "--warnings", "--lang", "fr")
    assert "1 ligne n’a aucune valeur" in said.err and "2 lignes ont un nombre infini dans size et price" in said.err
    assert "20 lignes prédites" in said.out and written["warnings"][1] == "aucune valeur"


CELLS = ("", "1e300", "-1e308", "inf", "nan", "1e999", "9" * 400, str(2**63), str(2**70), "1e-320", "5e-324", "0x10",
         "1_000", "1,5", "12%", "abc", "=1+1", "\ufeff", "'", '"', "true", "9999-12-31", "\u0661\u0662", "½", "∞", "-",
         "NULL", "a\nb", "Lyon", "Atlantis", "\u202e1", "\x1b[2J")  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_cells_of_whatever_text_break_the_command(reports, tmp_path, capsys, data):
    frame = rows(data.draw(st.sampled_from([1, 2, 30])), 7).astype(object)
    for name in data.draw(st.sets(st.sampled_from(list(frame.columns)))):
        share = data.draw(st.sampled_from([1, 2, 11]))
        frame[name] = [data.draw(st.sampled_from(CELLS)) if k % share == 0 else v for k, v in enumerate(frame[name])]
    frame.to_csv(tmp_path / "wild.csv", index=False)
    target = data.draw(st.sampled_from(["kind", "weight"]))
    where = [str(reports / target), str(tmp_path / "wild.csv"), "--out", str(tmp_path / "wild_answers.csv")]
    status = main(["predict", *where, "--force", "--warnings", "--keep-all"])
    said = capsys.readouterr()
    assert status in (0, 2) and "should not have" not in said.err and "\x1b" not in said.err + said.out
    if status == 0:
        written = pandas.read_csv(tmp_path / "wild_answers.csv")
        numbers = written[[name for name in written if name.startswith(("probability_", "lower_", "upper_"))]]
        assert len(written) == len(frame) and np.isfinite(numbers.to_numpy()).all()


def test_drift_is_one_line_and_silence_means_none(predict):
    assert predict("kind", rows(60, 3))[1].err == ""
    assert predict("kind", rows().sample(50, random_state=1), "--force")[1].err == ""
    assert predict("kind", rows(5, 4).assign(town="Nice"), "--force")[1].err == ""  # five rows tell nothing
    moved = rows(60, 3).assign(size=lambda frame: frame["size"] + 1.5, town="Nice")
    said = predict("kind", moved, "--force")[1].err
    assert said.count("\n") == 1 and said.startswith("drift: 2 columns") and "size" in said and "town" in said
    assert "dérive\xa0: 2 colonnes" in predict("kind", moved, "--force", "--lang", "fr")[1].err


def test_files_of_earlier_versions_load_and_say_nothing(reports, predict, tmp_path):
    model = load_model(reports / "kind")
    del model.training
    save(model, tmp_path / "old.hyperplan")
    rows(60, 3).assign(size=9.0, town="Atlantis").to_csv("new.csv", index=False)
    assert main(["predict", "old.hyperplan", "new.csv", "--out", "answers.csv"]) == 0
    assert list(pandas.read_csv("answers.csv").columns) == ["prediction", "probability_=yes", "probability_no"]


def test_answers_as_parquet_and_packed(predict, tmp_path):
    pytest.importorskip("pyarrow")
    assert predict("kind", rows(40, 1), out="a.parquet")[0] == 0
    assert set(pandas.read_parquet(tmp_path / "a.parquet")["prediction"]) == {"=yes", "no"}  # nobody runs Parquet
    assert predict("kind", rows(40, 1), out="a.csv.gz")[0] == 0
    assert len(pandas.read_csv(tmp_path / "a.csv.gz")) == 40
    status, said, _ = predict("kind", rows(40, 1), out="a.xlsx")
    assert status == 2 and ".parquet" in said.err and not (tmp_path / "a.xlsx").exists()


def test_a_table_is_answered_in_spans_with_the_same_answers(reports, monkeypatch):
    model, frame, told = load_model(reports / "weight"), rows(100, 5), []
    whole = predict_table(model, frame)
    monkeypatch.setattr(_predict, "SPAN", 30)
    parts = predict_table(model, frame, tell=told.append)
    pandas.testing.assert_frame_equal(parts.frame, whole.frame, rtol=1e-12)
    assert told == [30, 60, 90, 100] and parts.notes == whole.notes


def test_progress_is_for_terminals(predict, monkeypatch):
    monkeypatch.setattr(_predict, "SPAN", 10)
    assert predict("kind", rows(40, 1))[1].err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert "40 of 40 rows\n" in predict("kind", rows(40, 1), "--force")[1].err
