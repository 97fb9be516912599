"""``--group`` and ``--time-column``: splits respect them, report and receipt say so, verify repeats them."""

import json
import os
import pathlib

import numpy as np
import pytest

from hyperplan.cli import _warmup, main
from hyperplan.compete import CompetitionError, Settings, candidates, guess_columns, read_table
from hyperplan.compete._columns_order import group_codes, time_codes
from hyperplan.compete._explain import learning
from hyperplan.compete._question import make_question

pandas = pytest.importorskip("pandas")
DATA = pathlib.Path(os.environ.get("HYPERPLAN_DATA", pathlib.Path(__file__).parents[3] / "shared" / "data"))
FEW = {"classification": ["LogisticRegression"], "regression": ["Ridge"]}


def codes(values, coded, kind=None):
    """Codes of a column whose kind is guessed or told."""
    frame = pandas.DataFrame({"when": values})
    column = guess_columns(frame)[0]
    return coded(frame["when"], column if kind is None else column._replace(kind=kind, format="")).tolist()


# What counts as time


def test_numbers_that_are_taken_for_identifiers_are_ordered_as_numbers():
    column = guess_columns(pandas.DataFrame({"instant": np.arange(1, 31)}))[0]
    assert column.kind == "id"
    assert codes(np.arange(30, 0, -1), time_codes, "id") == list(range(29, -1, -1))
    assert codes([str(n) for n in range(1, 31)], time_codes, "category") == list(range(30))


@pytest.mark.parametrize(
    "values",
    [
        ["9.5", "10", "11"],
        ["2 Jan 2019", "1 Feb 2019", "3 Mar 2020"],
        ["31/12/2019", "01/01/2020", "02/01/2020"],
        ["2019-Q4", "2020-Q1", "2020-Q2"],
        ["2019-12", "2020-01", "2020-02"],
        pandas.to_datetime(["2019-12-31", "2020-01-01", "2020-01-02"]),
    ],
    ids=["numbers", "months", "days", "quarters", "year and month", "dates"],
)
def test_times_are_ordered_by_what_they_say(values):
    for kind in (None, "category", "text"):
        assert codes([values[2], values[0], values[1], values[0]], time_codes, kind) == [2, 0, 1, 0]


@pytest.mark.parametrize("values", [["spring", "autumn", "summer"], ["12-2019", "01-2020", "02-2020"]])
def test_words_are_no_times(values):
    with pytest.raises(CompetitionError, match=rf"neither numbers nor dates .for example '{values[0]}'"):
        codes(values * 10, time_codes)


def test_a_missing_time_is_named_with_its_row():
    frame = pandas.DataFrame({"when": [1.5, 2.5, np.nan] * 10, "x": np.arange(30) % 7, "y": np.arange(30) / 8})
    frame.loc[0, "y"] = np.nan
    with pytest.raises(CompetitionError, match=r"10 rows have no time in 'when', the first is row 3"):
        make_question(frame, Settings(target="y", time_column="when"))
    with pytest.raises(CompetitionError, match=r"the first is row 2 .'soon'"):
        codes(["2020-01-01", "soon", *(f"2020-02-{day:02d}" for day in range(1, 29))], time_codes)


def test_rows_without_a_group_stay_together():
    assert codes(["b", None, "a", None], group_codes) == [2, 0, 1, 0]
    assert codes([2.5, np.nan, 1.5, np.nan], group_codes) == [1, 2, 0, 2]


def visits(n_rows=240, seed=0):
    """Patients that come several times, rows in no order; each has a level of its own."""
    rng = np.random.default_rng(seed)
    patient = rng.integers(0, 24, n_rows)
    frame = pandas.DataFrame(
        {
            "patient": [f"P{k:02d}" for k in patient],
            "day": pandas.Timestamp("2021-01-01") + pandas.to_timedelta(rng.permutation(n_rows), "D"),
            "dose": rng.normal(size=n_rows).round(3),
            "pulse": (rng.normal(size=24)[patient] + 0.1 * rng.normal(size=n_rows)).round(3),
        }
    )
    return frame.assign(score=(2 * frame["dose"] + frame["pulse"] + rng.normal(size=n_rows)).round(3))


def test_the_target_cannot_divide_the_rows_nor_can_two_columns():
    for name in ("group", "time_column"):
        with pytest.raises(CompetitionError, match=f"'score' is what is predicted.*{name}="):
            make_question(visits(), Settings(target="score", **{name: "score"}))
    with pytest.raises(CompetitionError, match="leave out group='patient' or time_column='day'"):
        make_question(visits(), Settings(target="score", group="patient", time_column="day"))


def test_a_learning_curve_in_time_learns_from_the_latest_rows():
    frame = visits(200).sort_values("day", ascending=False)
    problem = make_question(frame, Settings(target="score", time_column="day")).problem
    seen = []

    class Watched(type(problem)):
        def rows(self, typed, chosen):
            seen.append(chosen)
            return super().rows(typed, chosen)

    learning(Watched(*problem), candidates("regression", ["Ridge"])[1], {}, 4)
    train = problem.splits[4].train
    for rows in seen[::3]:  # the rows that a model learns from, then those it is judged on
        assert set(rows) <= set(train) and problem.order[rows].min() == problem.order[train].max() - len(rows) + 1


# From the command to the report and back


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """``run(frame, target, option, column)``: a competition of a linear model; folder, receipt, page, what was said."""
    monkeypatch.setattr(_warmup, "run", lambda *_, **__: 0)
    monkeypatch.setattr("hyperplan.compete._contest.LEVELS", ())
    monkeypatch.setattr("hyperplan.compete._compete.all_candidates", lambda task, _: candidates(task, FEW[task]))

    def run(frame, target, option, column, *more):
        frame.to_csv(tmp_path / "table.csv", index=False)
        command = ["compete", str(tmp_path / "table.csv"), "--target", target, option, column, "--n-jobs", "1"]
        assert main([*command, "--out", str(tmp_path / "out"), *more]) == 0, capsys.readouterr().err
        receipt = json.loads((tmp_path / "out" / "receipt.json").read_text())
        return tmp_path / "out", receipt, (tmp_path / "out" / "report.html").read_text(), capsys.readouterr().out

    return run


def verify_all(folder, capsys):
    assert main(["verify", str(folder)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) >= 3 and all(line.startswith("identical") for line in said[:-1])
    assert said[-1].endswith(": identical")


def check_groups(folder, receipt, name):
    frame = read_table(receipt["table"])
    problem = make_question(frame, Settings(**{k: v for k, v in receipt["settings"].items() if v is not None})).problem
    labels = frame[name].astype(str).to_numpy()
    for train, test in problem.splits:
        assert len(train) + len(test) == problem.n_rows and not set(labels[train]) & set(labels[test])
    assert receipt["settings"]["group"] == name and name not in {column.name for column in problem.columns}


def check_time(folder, receipt, name, times):
    frame = read_table(receipt["table"])
    problem = make_question(frame, Settings(**{k: v for k, v in receipt["settings"].items() if v is not None})).problem
    assert receipt["settings"]["time_column"] == name and len(problem.splits) == problem.n_folds >= 4
    for train, test in problem.splits:
        assert times[train].max() < times[test].min()
    lasts = [times[split.test].max() for split in problem.splits]
    assert lasts == sorted(lasts) and lasts[-1] == times.max()


def test_groups_from_the_command_to_the_report_and_back(run, capsys):
    folder, receipt, page, said = run(visits(), "score", "--group", "patient")
    assert "groups kept together (patient)" in " ".join(said.split())
    assert "5 folds that keep groups together (column “patient”)" in page
    document = json.loads((folder / "report.json").read_text())
    assert document["protocol"]["kind"] == "grouped" and document["protocol"]["column"] == "patient"
    assert "A14" not in {finding["code"] for finding in document["audit"]}
    check_groups(folder, receipt, "patient")
    verify_all(folder, capsys)
    # the group is not needed to predict
    visits(20, 1).drop(columns=["patient", "score"]).to_csv(folder.parent / "new.csv", index=False)
    out = folder.parent / "new_out.csv"
    assert main(["predict", str(folder), str(folder.parent / "new.csv"), "--out", str(out)]) == 0
    assert len(pandas.read_csv(out)) == 20


def test_time_from_the_command_to_the_report_and_back(run, capsys):
    folder, receipt, page, said = run(visits(), "score", "--time-column", "day", "--lang", "fr")
    assert "lignes récentes prédites à partir des anciennes (day)" in " ".join(said.split())
    assert "toujours des lignes postérieures (colonne «\u00a0day\u00a0»)" in page
    check_time(folder, receipt, "day", read_table(receipt["table"])["day"].to_numpy())
    verify_all(folder, capsys)
    receipt["settings"]["time_column"] = None  # splits of another question are noticed
    (folder / "receipt.json").write_text(json.dumps(receipt))
    assert main(["verify", str(folder)]) == 2
    assert "the splits of its settings are others" in capsys.readouterr().err


def real(path):
    if not (DATA / path).exists():
        pytest.skip(f"the table {path} is not in the folder HYPERPLAN_DATA")
    return read_table(DATA / path)


@pytest.mark.parametrize("column", ["dteday", "instant"])
def test_bikes_by_time(run, capsys, column):
    frame = real("bike_sharing/bike_sharing_hour.csv.gz").iloc[::6].drop(columns=["casual", "registered"])
    folder, receipt, page, _ = run(frame.sample(frac=1, random_state=0), "cnt", "--time-column", column)
    assert f"predicting later rows (column “{column}”)" in page
    check_time(folder, receipt, column, read_table(receipt["table"])[column].to_numpy())
    verify_all(folder, capsys)


def test_vowels_by_speaker(run, capsys):
    """The same fifteen people speak every vowel: new speakers are harder than new rows of known ones."""
    frame = real("r_mlbench_kernlab/mlbench_vowel.csv.gz")
    folder, receipt, page, _ = run(frame, "Class", "--group", "V1")
    assert "(column “V1”)" in page
    check_groups(folder, receipt, "V1")
    verify_all(folder, capsys)


def test_titanic_by_ticket(run, capsys):
    frame = real("titanic/titanic3_1309.csv.gz").drop(columns=["boat", "body", "name"])
    folder, receipt, page, _ = run(frame, "survived", "--group", "ticket")
    assert "(column “ticket”)" in page
    check_groups(folder, receipt, "ticket")
    verify_all(folder, capsys)
