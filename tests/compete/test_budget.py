"""Every stage knows when to end: texts are read in part, checks and fits have deadlines, compiling is no fault."""

from types import SimpleNamespace

import numpy as np
import pandas
import pytest

from hyperplan._core.compiling import compile_watch, working_time
from hyperplan.cli import _compiling, _warmup
from hyperplan.compete import TablePreparation, _finish, _preparation, audit, guess_columns
from hyperplan.compete import _crew as crews
from hyperplan.compete._audit_sample import Patience
from hyperplan.compete._columns_values import GLANCED_AT, beginnings
from hyperplan.compete._crew import TIMED_OUT, Answer
from hyperplan.compete._errors import CompetitionError
from hyperplan.compete._preparation import MOST_CHARACTERS
from hyperplan.compete._problem import Problem, some_rows


@pytest.fixture
def megabytes():
    """Forty texts of a megabyte each."""
    rng = np.random.default_rng(0)
    words = [" ".join(f"w{k}" for k in rng.integers(3000, size=600)) for _ in range(40)]
    return pandas.DataFrame({"text": [(word + " ") * (1_000_000 // len(word)) for word in words]})


def test_of_a_megabyte_only_the_beginning_is_looked_at(megabytes, monkeypatch):
    handled = []

    class Counting:
        def findall(self, text):
            handled.append(len(text))
            return text.split()

    (column,) = guess_columns(megabytes)
    assert column.kind == "text"
    monkeypatch.setattr(_preparation, "WORD", Counting())
    matrix = TablePreparation([column]).fit_transform(megabytes)
    assert len(handled) == 80 and max(handled) <= MOST_CHARACTERS
    assert np.ptp(matrix[:, -1]) > 0  # lengths are those of the whole texts


def test_what_decides_a_kind_is_bounded(megabytes):
    cut = beginnings(megabytes["text"])
    assert cut.str.len().max() == GLANCED_AT
    short = pandas.Series(["1", "2"])
    assert beginnings(short) is short
    numbers = pandas.Series([1.5, 2.5])
    assert beginnings(numbers) is numbers


def test_long_texts_are_said(megabytes):
    frame = megabytes.assign(y=["a", "b"] * 20)
    (found,) = [f for f in audit(frame, guess_columns(frame, "y"), "y", "classification") if f.code == "A30"]
    assert found.columns == ("text",) and found.values["characters"] == MOST_CHARACTERS
    frame["text"] = frame["text"].str.slice(0, MOST_CHARACTERS)
    assert not [f for f in audit(frame, guess_columns(frame, "y"), "y", "classification") if f.code == "A30"]


def test_a_model_of_an_earlier_version_reads_whole_texts():
    column = guess_columns(pandas.DataFrame({"t": [f"one two three {k}" for k in range(20)]}))[0]
    tail = np.array(["x " * MOST_CHARACTERS + "three"], dtype=object)
    prepare = TablePreparation([column]).fit(pandas.DataFrame({"t": [f"one two three {k}" for k in range(20)]}))
    place = prepare.feature_names_.index("t: three")
    assert prepare.transform({"t": tail})[0, place] == 0.0
    del prepare.encoders_[0]["characters"]
    assert prepare.transform({"t": tail})[0, place] == 1.0


def table(n=60):
    rng = np.random.default_rng(0)
    y = np.array(["a", "b"])[rng.integers(2, size=n)]
    return pandas.DataFrame({"x": rng.normal(size=n), "copy": y, "words": [f"{k % 30}?" for k in range(n)], "y": y})


def test_an_audit_without_time_names_what_it_left_out():
    frame = table()
    columns = guess_columns(frame, "y")
    whole = audit(frame, columns, "y", "classification")
    assert "A04" in {f.code for f in whole} and "A29" not in {f.code for f in whole}
    found = {f.code: f for f in audit(frame, columns, "y", "classification", deadline=working_time() - 1.0)}
    assert "A04" not in found
    codes = found["A29"].values["codes"].split(", ")
    assert {"A01", "A03", "A04", "A14", "A18", "A26"} <= set(codes) and len(set(codes)) == len(codes)


def test_an_audit_without_time_still_forbids_what_is_impossible():
    frame = table().assign(y="a")
    found = audit(frame, guess_columns(frame, "y"), "y", "classification", deadline=working_time() - 1.0)
    assert {f.code for f in found if f.severity == "error"} == {"A23"}
    frame = table()
    found = audit(frame, guess_columns(frame, "y"), "y", "classification", test=frame[["copy"]], deadline=0.0)
    assert "A22" in {f.code for f in found}


def test_patience_ends_when_time_does(monkeypatch):
    patience = Patience(100.0)
    monkeypatch.setattr("hyperplan.compete._audit_sample.working_time", lambda: 99.0)
    assert not patience.ends("A01")
    monkeypatch.setattr("hyperplan.compete._audit_sample.working_time", lambda: 101.0)
    assert patience.ends("A01", "A02") and patience.ends("A02") and patience.left_out == ["A01", "A02"]


def problem_of(y, classes=(), order=None):
    return Problem("classification" if classes else "regression", (), {}, y, classes, "r2", (), 5, None, order, 0)


def test_a_part_of_the_rows_has_every_class_in_its_share():
    y = np.repeat([0, 1, 2], [900, 95, 5])
    rows = some_rows(problem_of(y, ("a", "b", "c")), 100)
    assert np.bincount(y[rows]).tolist() == [90, 10, 1] and (np.diff(rows) > 0).all()
    assert (rows == some_rows(problem_of(y, ("a", "b", "c")), 100)).all()


def test_a_part_of_the_rows_is_the_latest_where_there_is_time():
    order = np.arange(50)[::-1]
    assert some_rows(problem_of(np.arange(50.0), order=order), 7).tolist() == list(range(7))
    assert len(some_rows(problem_of(np.arange(50.0)), 80)) == 50


class OneWorker:
    """A crew whose fits take as many seconds as they have rows, divided by a speed."""

    def __init__(self, speed, clock):
        self.speed, self.clock, self.n_workers, self.asked = speed, clock, 2, []

    def await_worker(self):
        pass

    def run(self, requests, deadline):
        ((key, name, arguments, allowed),) = requests
        assert name == "_explain.finish" and deadline == pytest.approx(self.clock.now + allowed)
        rows = arguments[-1] or 10_000
        seconds = rows / self.speed
        self.asked.append((arguments[-1], allowed))
        self.clock.now += min(seconds, allowed)
        is_ok = seconds <= allowed
        yield Answer(key, is_ok, ("pipeline", {}, None, {}, rows) if is_ok else TIMED_OUT)


@pytest.fixture
def finish(monkeypatch):
    """The final fit of a model whose trials took so many seconds, with so many left, on a machine of some speed."""

    def run(trial_seconds, left, speed):
        clock = SimpleNamespace(now=1000.0)
        monkeypatch.setattr(_finish, "working_time", lambda: clock.now)
        monkeypatch.setattr(_finish, "_tables_to_predict", lambda question: {})
        outcome = SimpleNamespace(
            fit_seconds=trial_seconds, predict_seconds=0.0, prediction=[0.0], score=1.0, settings={}
        )
        chosen = SimpleNamespace(outcomes={0: outcome}, candidate=SimpleNamespace(name="Model"), n_tries=1)
        crew = OneWorker(speed, clock)
        question = SimpleNamespace(problem=problem_of(np.arange(10_000.0)))
        found = _finish._final(question, chosen, crew, None, clock.now + left)
        return found["rows"], crew.asked, clock.now - 1000.0

    return run


def test_the_final_fit_has_all_rows_when_there_is_time(finish):
    assert finish(trial_seconds=1.0, left=3.0, speed=8000)[:2] == (10_000, [(None, 3.0)])


def test_without_time_for_all_rows_the_final_fit_has_a_part(finish):
    rows, asked, used = finish(trial_seconds=8.0, left=2.0, speed=1000)
    assert 500 < rows < 2000 and len(asked) == 1 and used <= 2.0


def test_a_final_fit_that_takes_longer_than_foreseen_is_made_again_with_few_rows(finish):
    rows, asked, used = finish(trial_seconds=1.0, left=2.0, speed=1000)
    assert [asked[0], asked[1][0]] == [(None, 2.0), 4000] and rows == 4000 and used == 6.0


def test_a_final_fit_that_fails_says_why(finish, monkeypatch):
    monkeypatch.setattr(OneWorker, "run", lambda self, requests, deadline: [Answer("final", False, "ValueError: no")])
    with pytest.raises(CompetitionError, match="ValueError: no"):
        finish(trial_seconds=1.0, left=2.0, speed=1000)


@pytest.fixture
def watch(monkeypatch):
    """A watch of our own in the places that look at it."""
    own = type(compile_watch)()
    for module in (crews, _compiling, _warmup):
        monkeypatch.setattr(module, "compile_watch", own)
    return own


def test_what_a_worker_compiles_counts_as_if_it_were_done_here(watch):
    worker, told = object(), []
    watch.tell = told.append
    crews._note_compiling(worker, True, "")
    crews._note_compiling(worker, False, "No space left on device")
    assert told == [True, False] and watch.seconds > 0 and watch.trouble == "No space left on device"


PLACES = {
    "kept": ("/home/cache", None, ""),
    "elsewhere": ("/tmp/cache", None, "Permission denied"),
    "lost": (None, None, "Permission denied"),
}


@pytest.mark.parametrize("language", ["en", "fr"])
@pytest.mark.parametrize("kind", PLACES)
def test_compiling_is_said_for_what_it_is(kind, language, watch, monkeypatch):
    monkeypatch.setattr(_compiling, "cache_place", lambda: _place(*PLACES[kind]))
    assert _compiling.compiling_note(language) == ""  # nothing was compiled
    watch.add(43.2)
    said = _compiling.compiling_note(language)
    assert "43 s" in said and ("HYPERPLAN_CACHE_DIR" in said) == (kind != "kept")
    assert ("Permission denied" in said) == (kind != "kept")
    assert PLACES[kind][0] is None or PLACES[kind][0] in said


def _place(home, readable, trouble):
    return SimpleNamespace(home=home, readable=readable, trouble=trouble)


def test_what_could_not_be_kept_is_said_although_the_folder_looked_good(watch, monkeypatch):
    monkeypatch.setattr(_compiling, "cache_place", lambda: _place("/home/cache", None, ""))
    watch.add(10.0)
    watch.trouble = "No space left on device"
    assert "No space left on device" in _compiling.compiling_note("en")


def test_a_command_without_a_cache_warms_nothing(monkeypatch):
    monkeypatch.setattr(_warmup.jit, "writable_cache_home", lambda: None)
    monkeypatch.setattr(_warmup, "_fit_everywhere", lambda *arguments: pytest.fail("nobody would find it"))
    assert _warmup.run("compete", quiet=True) == 0


def test_a_warm_up_counts_as_compiling_and_survives_a_full_disk(watch, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(_warmup.jit, "writable_cache_home", lambda: tmp_path)
    monkeypatch.setattr(_warmup, "_fit_everywhere", lambda names, advance, warm: [(name, "") for name in names])

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_warmup, "_write_stamp", full)
    assert _warmup.run("compete", quiet=True) == 0
    assert watch.seconds > 0 and watch.trouble == "No space left on device"
