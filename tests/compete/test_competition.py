"""One competition, looked at from all sides: answer, folder, receipt, model, settings, explanations."""

import json
import re
import shutil

import numpy as np
import pytest

from hyperplan._texts import LANGUAGES
from hyperplan.cli import main
from hyperplan.compete import Settings, compete, read_settings, read_table, table_hash
from hyperplan.compete._predict import load_model, predict_table
from hyperplan.compete._question import make_question
from hyperplan.compete._receipt import splits_digest
from hyperplan.compete._verify import verify
from hyperplan.report import answer_sentences, check_document
from hyperplan.report._names import readable
from hyperplan.report._views_models import common_decimals
from hyperplan.report._wording import Wording

pandas = pytest.importorskip("pandas")
NAMES = ["LogisticRegression", "DecisionTreeClassifier", "SelfTrainingClassifier"]


def flowers(n_rows, seed):
    """Two classes that depend on a number and a colour, with gaps; an identifier; a column of one value."""
    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame(
        {
            "id": np.arange(n_rows) + 1000 * seed,
            "length": rng.normal(size=n_rows).round(3),
            "width": rng.normal(size=n_rows).round(3),
            "colour": rng.choice(["red", "green", "blue"], n_rows),
            "planet": "Earth",
        }
    )
    score = 2 * frame["length"] + 2 * (frame["colour"] == "red") + rng.normal(size=n_rows)
    frame["kind"] = np.where(score > 0.5, "rose", "lily")
    frame.loc[rng.random(n_rows) < 0.1, "width"] = np.nan
    return frame


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """``table.csv`` with 30 rows that lack the target among 180, ``test.csv`` with the target."""
    folder = tmp_path_factory.mktemp("flowers")
    table = flowers(180, 1)
    table.loc[np.random.default_rng(0).choice(180, 30, replace=False), "kind"] = None
    table.to_csv(folder / "table.csv", index=False)
    flowers(60, 2).to_csv(folder / "test.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def result(files):
    """A competition on them, its folder written; with few tries it is done long before its time is up."""
    settings = Settings(table=str(files / "table.csv"), test=str(files / "test.csv"), target="kind", time=60, n_jobs=2)
    table, test = read_table(settings.table), read_table(settings.test)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hyperplan.compete._contest.LEVELS", (4,))
        found = compete(table, test=test, settings=settings, title="flowers", candidates=NAMES)
    found.save(files / "out", settings.table)
    return found


def test_the_leaderboard_has_everybody_and_the_model_beats_the_baseline(result):
    table = result.table().set_index("model")
    assert {"Majority class", "Logistic regression", "Self-training logistic regression"} <= set(table.index)
    assert table["chosen"].sum() == 1 and not table.loc["Majority class", "chosen"]
    best = table[table["chosen"]].iloc[0]
    assert best["score"] > 0.8 and best["low"] < best["score"] < best["high"] and best["group"] == "A"
    assert table.loc["Majority class", "score"] == 0.5 and table.loc["Majority class", "group"] != "A"
    assert repr(result).startswith("Competition(flowers: ") and str(result) == "\n".join(result.answer())
    page = result._repr_html_()
    assert page.count("<p ") == len(result.answer()) and "Majority class" in page and "<td>NaN" not in page
    assert len(result.answer()) == 3


def test_the_document_is_valid_and_complete(result, files):
    document = json.loads((files / "out" / "report.json").read_text())
    check_document(document)
    assert document == json.loads(json.dumps(result.document))
    assert document["data"]["labelled"] == 150 and document["data"]["unlabelled"] == 30
    assert document["data"]["test_rows"] == 60 and document["protocol"]["budget"] == 60
    kinds = {column["name"]: column["kind"] for column in document["data"]["columns"]}
    assert kinds["id"] == "id" and kinds["planet"] == "constant" and kinds["colour"] == "category"
    assert document["chosen"]["holdout"]["rows"] == 60 and document["chosen"]["holdout"]["value"] > 0.75
    assert "A10" in {finding["code"] for finding in document["audit"]}
    codes = [finding["code"] for finding in document["diagnosis"]]
    assert "D01" in codes and codes == sorted(codes)
    assert "nan" not in (files / "out" / "report.json").read_text().lower().replace("nano", "")


def test_the_diagnosis_agrees_with_the_leaderboard(result):
    finding = next(f for f in result.document["diagnosis"] if f["code"] == "D01")
    row = next(row for row in result.document["leaderboard"] if row["is_chosen"])
    assert finding["values"]["score"] == pytest.approx(row["score"])
    assert finding["values"]["low"] == pytest.approx(row["low"])
    assert finding["values"]["baseline"] == pytest.approx(0.5) and finding["severity"] == "info"


@pytest.mark.parametrize("language", LANGUAGES)
def test_answer_and_report_in_both_languages(result, language, tmp_path):
    sentences = answer_sentences(result.document, language)
    assert "kind" in sentences[0] and len(sentences) == 3
    page = result.report(tmp_path / "report.html", language).read_text(encoding="utf-8")
    assert f'lang="{language}"' in page and "http://" not in page.replace("http://www.w3.org", "")


def test_predictions_are_written_for_test_and_unlabelled_rows_in_order(result, files):
    test = pandas.read_csv(files / "out" / "predictions.csv")
    rest = pandas.read_csv(files / "out" / "predictions_unlabelled.csv")
    assert list(test.columns) == ["id", "prediction", "probability_lily", "probability_rose"] == list(rest.columns)
    assert len(test) == 60 and len(rest) == 30
    for frame in (test, rest):
        shares = frame[["probability_lily", "probability_rose"]].to_numpy()
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
        np.testing.assert_array_equal(frame["prediction"], np.array(["lily", "rose"])[shares.argmax(axis=1)])
    source = read_table(files / "table.csv")
    again = result.best.predict_proba(source[source["kind"].isna()])
    np.testing.assert_allclose(rest[["probability_lily", "probability_rose"]].to_numpy(), again, atol=1e-12)
    assert (test["prediction"] == read_table(files / "test.csv")["kind"]).mean() > 0.7


def test_the_saved_model_predicts_the_same_bits_with_columns_in_any_order(result, files):
    model = load_model(files / "out")
    frame = read_table(files / "test.csv")
    expected = result.best.predict_proba(frame)
    np.testing.assert_array_equal(model.predict_proba(frame), expected)
    np.testing.assert_array_equal(model.predict_proba(frame[frame.columns[::-1]]), expected)
    answers = predict_table(model, frame.drop(columns=["id", "planet"]))
    assert answers.unused == [] and len(answers.frame) == 60
    again = load_model(files / "out" / "model" / "model.hyperplan")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))


def test_the_receipt_names_what_decides_the_numbers(result, files):
    receipt = json.loads((files / "out" / "receipt.json").read_text())
    assert receipt["schema"] == "hyperplan/receipt/1" and receipt["settings"]["seed"] == 0
    assert len(receipt["data_sha256"]) == len(receipt["splits_sha256"]) == 64
    assert receipt["test_sha256"] == table_hash(result.question.test) != receipt["data_sha256"]
    assert receipt["versions"]["numpy"] == np.__version__ and receipt["budget"]["seconds"] == 60
    names = {trial["name"] for trial in receipt["trials"]}
    assert {"ConstantClassifier", "LogisticRegression"} <= names
    assert receipt["splits_sha256"] == splits_digest(result.question.problem)


def test_verify_says_identical_for_every_candidate(result, files):
    for name in ("ConstantClassifier", "LogisticRegression", "SelfTrainingClassifier"):
        verdicts = list(verify(files / "out", name=name, split=1))
        assert [found.verdict for found in verdicts] == ["identical"] and verdicts[0].n_predictions == 30


def test_the_command_verify(result, files, capsys, tmp_path):
    assert main(["verify", str(files / "out"), "--split", "0"]) == 0
    assert "identical" in capsys.readouterr().out
    shutil.copytree(files / "out", tmp_path / "copy")
    receipt = json.loads((tmp_path / "copy" / "receipt.json").read_text())
    for trial in receipt["trials"]:
        trial["predictions_sha256"], trial["score"] = "0" * 64, trial["score"] + 0.01
    (tmp_path / "copy" / "receipt.json").write_text(json.dumps(receipt))
    assert main(["verify", str(tmp_path / "copy"), "--split", "0"]) == 1
    assert capsys.readouterr().out.startswith("differs")
    for trial in receipt["trials"]:
        trial["score"] -= 0.01 - 1e-9
    (tmp_path / "copy" / "receipt.json").write_text(json.dumps(receipt))
    assert main(["verify", str(tmp_path / "copy"), "--split", "0", "--lang", "fr"]) == 0
    assert "tolérance" in capsys.readouterr().out


PRINTED = ("LogisticRegression", "logisticregression", "Logistic regression", "LOGISTIC REGRESSION",
           "Régression logistique", "regression logistique")  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_verify_takes_the_names_that_are_printed(result, files, capsys, name):
    assert main(["verify", str(files / "out"), "--model", name, "--split", "0"]) == 0
    assert capsys.readouterr().out.startswith("identical: Logistic regression, split 0")


def test_verify_names_the_nearest_models(result, files, capsys):
    assert main(["verify", str(files / "out"), "--model", "Logistik regresion"]) == 2
    assert "did you mean Logistic regression" in capsys.readouterr().err
    assert main(["verify", str(files / "out"), "--model", "MajorityClass2", "--lang", "fr"]) == 2
    assert "vouliez-vous dire Classe majoritaire" in capsys.readouterr().err
    assert main(["verify", str(files / "out"), "--model", "xyz", "--lang", "fr"]) == 2
    assert "Régression logistique" in capsys.readouterr().err


@pytest.mark.parametrize("language", LANGUAGES)
def test_verify_ends_with_the_score_of_the_report(result, files, capsys, tmp_path, language):
    wording = Wording(language)
    document = readable(result.document, wording)
    rows = [row for row in document["leaderboard"] if row["status"] == "ok"]
    row = next(row for row in rows if row["name"] == "LogisticRegression")
    score, label = wording.number(row["score"], common_decimals(rows)), row["label"]
    assert f">{score}<" in result.report(tmp_path / "report.html", language).read_text(encoding="utf-8")
    assert main(["verify", str(files / "out"), "--model", "LogisticRegression", "--lang", language]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith(label) and document["metric"]["label"] in line and line.count(score) == 2
    assert line.endswith("identical" if language == "en" else "identique")
    assert ("." in score) == (language == "en") and ("," in score) == (language == "fr")


def test_verify_sees_a_report_that_is_not_that_of_the_receipt(result, files, capsys, tmp_path):
    shutil.copytree(files / "out", tmp_path / "copy")
    report = json.loads((tmp_path / "copy" / "report.json").read_text())
    for row in report["leaderboard"]:
        row["score"] = 0.999
    (tmp_path / "copy" / "report.json").write_text(json.dumps(report))
    assert main(["verify", str(tmp_path / "copy"), "--model", "Majority class"]) == 1
    said = capsys.readouterr().out.splitlines()[-1]
    assert re.fullmatch(r"Majority class: ROC AUC 0.5000 over \d+ splits; the report says 0.9990: not the same", said)
    assert main(["verify", str(tmp_path / "copy"), "--model", "Majority class", "--split", "2"]) == 0
    said = capsys.readouterr().out.splitlines()[-1]
    assert re.search(r"over 1 split of \d+; the receipt says 0.50+: identical$", said)
    for broken in ("", "[]", "{", '{"schema": "hyperplan/report/1"}'):
        (tmp_path / "copy" / "report.json").write_text(broken)
        assert main(["verify", str(tmp_path / "copy"), "--model", "Majority class"]) == 0
        assert "the receipt says 0.5000: identical" in capsys.readouterr().out


def test_verify_does_not_call_a_forged_score_identical(result, files, capsys, tmp_path):
    receipt = json.loads((files / "out" / "receipt.json").read_text())
    for trial in receipt["trials"]:
        trial["score"] += 0.01
    (tmp_path / "receipt.json").write_text(json.dumps(receipt))
    assert main(["verify", str(tmp_path / "receipt.json"), "--split", "0"]) == 1
    assert capsys.readouterr().out.startswith("differs")
    assert main(["verify", str(tmp_path / "receipt.json"), "--split", "99"]) == 2
    assert re.search(r"has no split 99 of \w+; its splits are 0 to \d+", capsys.readouterr().err)


def test_verify_refuses_other_data_and_what_is_no_receipt(result, files, capsys, tmp_path):
    other = flowers(180, 3)
    other.to_csv(tmp_path / "other.csv", index=False)
    assert main(["verify", str(files / "out"), "--table", str(tmp_path / "other.csv")]) == 2
    assert "its content has changed" in capsys.readouterr().err
    assert main(["verify", str(files / "out"), "--table", str(tmp_path / "nowhere.csv")]) == 2
    assert "nowhere.csv" in capsys.readouterr().err
    (tmp_path / "receipt.json").write_text('{"schema": "something else"}')
    assert main(["verify", str(tmp_path / "receipt.json")]) == 2
    assert "no receipt" in capsys.readouterr().err
    assert main(["verify", str(files / "out"), "--model", "Oracle"]) == 2
    assert "it has no trial of Oracle" in capsys.readouterr().err


BROKEN = {  # what somebody may do to a receipt
    "a setting nobody knows": lambda receipt: receipt["settings"].update(colour="red"),
    "a setting out of range": lambda receipt: receipt["settings"].update(folds=1),
    "no choice": lambda receipt: receipt.pop("chosen"),
    "a table that is a number": lambda receipt: receipt.update(table=3),
    "trials that are words": lambda receipt: receipt.update(trials=["all"]),
    "a trial without a split": lambda receipt: receipt["trials"][0].pop("split"),
    "a split that is not there": lambda receipt: receipt["trials"][0].update(split=99),
    "another seed": lambda receipt: receipt["settings"].update(seed=5),
    "no table": lambda receipt: receipt.update(table=None),
    "a member that is a list": lambda receipt: receipt["trials"][0].update(members=[[["a"], 1]]),
    "a member without a number": lambda receipt: receipt["trials"][0].update(members=[["LogisticRegression", "all"]]),
    "more tries than anybody has time for": lambda receipt: receipt["trials"][0].update(n_tries=10**9),
    "a split that is true": lambda receipt: receipt["trials"][0].update(split=True),
    "a score beyond floats": lambda receipt: receipt["trials"][0].update(score=10**400),
    "nothing chosen that was tried": lambda receipt: receipt.update(chosen="Oracle"),
    "no trials": lambda receipt: receipt.update(trials=[]),
    "settings of another table": lambda receipt: receipt["settings"].update(target="Zielspalte"),
    "columns of kinds nobody knows": lambda receipt: receipt["settings"].update(columns={"length": "colour"}),
}


@pytest.mark.parametrize("change", BROKEN)
def test_verify_says_what_is_wrong_with_a_receipt(result, files, capsys, tmp_path, change):
    receipt = json.loads((files / "out" / "receipt.json").read_text())
    BROKEN[change](receipt)
    (tmp_path / "receipt.json").write_text(json.dumps(receipt))
    for language in LANGUAGES:
        assert main(["verify", str(tmp_path), "--lang", language]) == 2
        said = capsys.readouterr().err
        assert said.startswith("hyperplan: ") and said.count("\n") == 1 and "Traceback" not in said


def test_a_trial_without_a_defined_score_can_be_verified(result, files, tmp_path, capsys):
    receipt = json.loads((files / "out" / "receipt.json").read_text())
    for trial in receipt["trials"]:
        trial["score"] = None
    (tmp_path / "receipt.json").write_text(json.dumps(receipt))
    assert main(["verify", str(tmp_path), "--split", "0"]) == 0
    assert capsys.readouterr().out.startswith("identical")


def test_the_written_settings_ask_the_same_question_again(result, files):
    settings = read_settings(files / "out" / "settings.toml")
    assert settings.target == "kind" and settings.time == 60 and settings.columns["colour"] == "category"
    again = make_question(read_table(settings.table), settings, read_table(settings.test))
    before = result.question
    assert again.problem.columns == before.problem.columns and again.columns == before.columns
    assert again.problem.metric == before.problem.metric and again.problem.classes == before.problem.classes
    assert splits_digest(again.problem) == splits_digest(before.problem)
    np.testing.assert_array_equal(again.problem.y, before.problem.y)


def test_the_command_predict(result, files, capsys, tmp_path):
    out = tmp_path / "answers.csv"
    assert main(["predict", str(files / "out"), str(files / "test.csv"), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "60 rows predicted" in said and "id and planet" in said
    expected = pandas.read_csv(files / "out" / "predictions.csv")
    pandas.testing.assert_frame_equal(pandas.read_csv(out), expected)
    assert list(tmp_path.iterdir()) == [out]


def test_the_command_predict_names_missing_and_renamed_columns(result, files, capsys, tmp_path):
    frame = pandas.read_csv(files / "test.csv").rename(columns={"length": "Length (cm)"}).drop(columns="colour")
    frame.to_csv(tmp_path / "renamed.csv", index=False)
    assert main(["predict", str(files / "out"), str(tmp_path / "renamed.csv"), "--out", str(tmp_path / "a.csv")]) == 2
    said = capsys.readouterr().err
    assert "length (Length (cm)?)" in said and "colour" in said and "Traceback" not in said
    assert not (tmp_path / "a.csv").exists()
    assert main(["predict", str(tmp_path), str(files / "test.csv")]) == 2
    assert "is no model of a competition" in capsys.readouterr().err
    assert main(["predict", str(files / "out"), str(files / "test.csv"), "--out", str(tmp_path / "no" / "a.csv")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_words_in_a_column_of_numbers_are_named(result, files, capsys, tmp_path):
    frame = pandas.read_csv(files / "test.csv").assign(length="long")
    frame.to_csv(tmp_path / "words.csv", index=False)
    assert main(["predict", str(files / "out"), str(tmp_path / "words.csv"), "--out", str(tmp_path / "a.csv")]) == 2
    said = capsys.readouterr().err
    assert "length" in said and "long" in said and not (tmp_path / "a.csv").exists()
