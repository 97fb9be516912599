"""What goes wrong does not end a competition: bad candidates, Ctrl-C, full disks, folders of others; and same bits."""

import errno
import json
import os
import pathlib
import signal

import numpy as np
import pytest

from hyperplan.compete import CompetitionError, candidates, compete
from hyperplan.compete._crew import CRASHED, TIMED_OUT, Crew
from hyperplan.compete._interrupt import CtrlC
from hyperplan.compete._output import check_folder, write_results
from hyperplan.compete._question import make_question
from hyperplan.compete._receipt import digest, make_receipt
from hyperplan.compete._settings import Settings
from hyperplan.compete._trial import Trial, run_trial

pandas = pytest.importorskip("pandas")
HERE = pathlib.Path(__file__).parent


def table(n_rows=120, seed=0):
    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame(rng.normal(size=(n_rows, 3)).round(3), columns=["a", "b", "c"])
    return frame.assign(y=np.where(frame["a"] + 0.5 * rng.normal(size=n_rows) > 0, "yes", "no"))


@pytest.fixture(scope="module")
def with_bad_ones():
    """A competition where candidates raise, hang, crash and answer nonsense, and two behave."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(HERE))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")]))
        from bad_candidates import BAD

        good = candidates("classification", ["LogisticRegression"])
        patch.setattr("hyperplan.compete._compete.all_candidates", lambda task, names: [*good, *BAD[:4]])
        patch.setattr("hyperplan.compete._contest.LEVELS", ())
        patch.setattr("hyperplan.compete._contest.SLOWEST", 0.04)
        return compete(table(), target="y", time=90, n_jobs=2, title="bad")


def test_bad_candidates_are_reported_and_the_others_are_compared(with_bad_ones):
    rows = with_bad_ones.table().set_index("model")
    assert rows.loc["Logistic regression", "chosen"] and rows.loc["Logistic regression", "status"] == "ok"
    assert rows.loc["Majority class", "status"] == "ok"
    assert rows.loc["Failing", "status"] == "failed" and "a column I cannot stand" in rows.loc["Failing", "reason"]
    assert rows.loc["Crashing", "status"] == "failed" and rows.loc["Crashing", "reason"] == "crashed"
    assert rows.loc["Hanging", "status"] == "skipped" and rows.loc["Hanging", "reason"] == "slow"
    assert rows.loc["Undefined", "status"] == "failed"


def test_a_competition_with_bad_candidates_is_written_whole(with_bad_ones, tmp_path):
    folder = with_bad_ones.save(tmp_path / "out")
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "report.html",
        "report.json",
        "predictions.csv",
        "model",
        "receipt.json",
        "settings.toml",
        "confusion.csv",
    }
    assert (folder / "predictions.csv").read_text() == "prediction,probability_no,probability_yes\n"
    assert list(tmp_path.iterdir()) == [folder]
    assert os.stat(folder).st_mode & 0o777 == 0o755


def test_earlier_results_are_replaced_and_what_others_wrote_is_not(with_bad_ones, tmp_path):
    folder = with_bad_ones.save(tmp_path / "out")
    (folder / "predictions.csv").unlink()
    with_bad_ones.save(folder)
    assert (folder / "predictions.csv").exists() and (folder / "receipt.json").exists()
    (folder / "notes.txt").write_text("of somebody")
    with pytest.raises(CompetitionError, match=r"holds notes.txt besides"):
        with_bad_ones.save(folder)
    assert (folder / "notes.txt").read_text() == "of somebody"
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "only-copy.tex").write_text("years of work")
    with pytest.raises(CompetitionError, match="choose another folder"):
        with_bad_ones.save(tmp_path / "thesis")
    assert (tmp_path / "thesis" / "only-copy.tex").read_text() == "years of work"
    (tmp_path / "file").touch()
    with pytest.raises(CompetitionError, match="choose another folder"):
        check_folder(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    assert with_bad_ones.save(tmp_path / "empty").is_dir()


@pytest.mark.parametrize("step", ["hyperplan.report.write_report", "hyperplan.persistence.save"])
def test_a_full_disk_leaves_the_old_results_or_nothing(with_bad_ones, tmp_path, monkeypatch, step):
    folder = with_bad_ones.save(tmp_path / "out")
    before = (folder / "receipt.json").read_text()

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(step, full)
    with pytest.raises(CompetitionError, match="No space left on device"):
        write_results(with_bad_ones, folder)
    with pytest.raises(CompetitionError, match="No space left on device"):
        write_results(with_bad_ones, tmp_path / "new")
    assert list(tmp_path.iterdir()) == [folder] and (folder / "receipt.json").read_text() == before


def test_a_folder_that_cannot_be_made_is_named(with_bad_ones, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CompetitionError, match="cannot be written"):
        with_bad_ones.save(tmp_path / "file" / "out")


INTERRUPTED = """
import os, signal, sys
from hyperplan.cli import _compete, _warmup, main
from hyperplan.compete import _contest, candidates
from hyperplan.compete import _compete as engine
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever starts the tests may have it ignored
_contest.LEVELS = ()
engine.all_candidates = lambda task, names: candidates(task, ["LogisticRegression"])
_warmup.run = lambda *_, **__: 0
wanted, tell = sys.argv[1], _compete.Progress.__call__
def interrupted(self, phase, **event):
    global wanted
    tell(self, phase, **event)
    if phase == wanted:
        wanted = None
        os.kill(os.getpid(), signal.SIGINT)
_compete.Progress.__call__ = interrupted
sys.exit(main(["compete", sys.argv[2], "--target", "y", "--time", "60", "--out", sys.argv[3]]))
"""


@pytest.mark.parametrize("phase", ["screening", "finishing", "writing"])
def test_ctrl_c_finishes_with_what_there_is(phase, tmp_path, run_python):
    table().to_csv(tmp_path / "table.csv", index=False)
    done = run_python(INTERRUPTED, phase, tmp_path / "table.csv", tmp_path / "out", check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr and ("stopped early" in done.stdout) == (phase != "writing")
    receipt = json.loads((tmp_path / "out" / "receipt.json").read_text())
    assert receipt["trials"] and (tmp_path / "out" / "model" / "model.hyperplan").is_file()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_ctrl_c_before_anything_is_known_says_so_and_writes_nothing(tmp_path, run_python):
    table().to_csv(tmp_path / "table.csv", index=False)
    done = run_python(INTERRUPTED, "auditing", tmp_path / "table.csv", tmp_path / "out", check=False)
    assert done.returncode == 130 and done.stderr == "hyperplan: stopped\n"
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_the_second_ctrl_c_is_not_held_back():
    with CtrlC() as ctrl_c:
        os.kill(os.getpid(), signal.SIGINT)
        assert ctrl_c.is_noted
        with pytest.raises(KeyboardInterrupt):
            ctrl_c.check()
        ctrl_c.check()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@pytest.fixture(scope="module")
def problem():
    return make_question(table(), Settings(target="y")).problem


def test_a_crew_answers_reports_and_goes_on(problem, monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    import time

    from bad_candidates import BAD

    failing, hanging, crashing, _, at_once = BAD
    baseline = candidates("classification", [])[0]
    with Crew(2) as crew:
        crew.load(problem, [("_trial.warm", (baseline,)), ("_trial.warm", (at_once,))])
        requests = [
            (candidate.name, "_trial.run_trial", (Trial(candidate, 0),), seconds)
            for candidate, seconds in ((crashing, 60), (hanging, 0.5), (failing, 60), (baseline, 60))
        ]
        answers = {answer.key: answer for answer in crew.run(requests, time.monotonic() + 60)}
        assert answers["Crashing"][1:] == (False, CRASHED) and answers["Hanging"][1:] == (False, TIMED_OUT)
        assert answers["Failing"][1:] == (False, "ValueError: a column I cannot stand")
        assert answers["ConstantClassifier"].is_ok
        late = list(crew.run([("late", "_trial.run_trial", (Trial(baseline, 0),), 60)], time.monotonic() - 1))
        unwanted = list(crew.run(requests[-1:], time.monotonic() + 60, lambda key: False))
        assert late == [] and unwanted == []


def test_trials_are_pure_functions_whatever_the_number_of_workers(problem):
    import time

    listed = [c for c in candidates("classification") if not c.uses_unlabelled]
    requests = [
        ((c.name, split), "_trial.run_trial", (Trial(c, split, 4),), 120) for c in listed[:4] for split in (0, 1)
    ]
    found = []
    for n_workers in (1, 2):
        with Crew(n_workers) as crew:
            crew.load(problem, [])
            answers = {answer.key: answer.value for answer in crew.run(requests, time.monotonic() + 120)}
        found.append({key: (digest(outcome.prediction), outcome.settings) for key, outcome in answers.items()})
    assert found[0] == found[1] and len(found[0]) == 8
    here = run_trial(problem, Trial(listed[1], 1, 4))
    assert digest(here.prediction) == found[0][listed[1].name, 1][0]


def test_hidden_labels_do_not_leak_into_the_semi_supervised_candidate():
    frame = table(200, 3)
    hidden = np.random.default_rng(1).random(200) < 0.4
    question = make_question(frame.assign(y=frame["y"].where(~hidden)), Settings(target="y"))
    problem = question.problem
    assert set(problem.unlabelled) == {"a", "b", "c"} and len(problem.unlabelled["a"]) == hidden.sum()
    candidate = next(c for c in candidates("classification") if c.uses_unlabelled)
    before = run_trial(problem, Trial(candidate, 0))
    y = problem.y.copy()
    y[problem.splits[0].test] = 1 - y[problem.splits[0].test]
    after = run_trial(problem._replace(y=y), Trial(candidate, 0))
    assert digest(after.prediction) == digest(before.prediction) and after.score == pytest.approx(1 - before.score)
    without = run_trial(problem._replace(unlabelled=None), Trial(candidate, 0))
    assert digest(without.prediction) != digest(before.prediction)


def test_the_semi_supervised_candidate_plays_only_where_rows_lack_the_target():
    assert make_question(table(), Settings(target="y")).problem.unlabelled is None
    frame = table()
    frame.loc[:2, "c"] = np.nan
    assert make_question(frame, Settings(target="y")).problem.unlabelled is None


def test_receipts_do_not_depend_on_the_number_of_workers(with_bad_ones):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hyperplan.compete._contest.LEVELS", ())
        other = compete(table(), target="y", time=90, n_jobs=1, candidates=["LogisticRegression"])
    trials = [make_receipt(found, None)["trials"] for found in (with_bad_ones, other)]
    table_of = [{(t["name"], t["split"], t["n_tries"]): t["predictions_sha256"] for t in part} for part in trials]
    common = table_of[0].keys() & table_of[1].keys()
    assert len(common) >= 4 and all(table_of[0][key] == table_of[1][key] for key in common)
