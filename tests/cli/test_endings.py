"""Runs that are ended from outside: by SIGTERM, SIGHUP, SIGKILL, at any moment; no data and no process stay behind."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import hyperplan

pandas = pytest.importorskip("pandas")
pytest.importorskip("fcntl")
pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found in /proc")
SOURCES = Path(hyperplan.__file__).parents[1]
STATUS = {signal.SIGTERM: 143, signal.SIGHUP: 129}

# A model that says in a file when its fit has begun, and never ends it.
ENDLESS = """
import os, pathlib, time
from hyperplan._base.candidate import Candidate
from hyperplan.compete import ConstantClassifier

class Endless(ConstantClassifier):
    def fit(self, X, y):
        (pathlib.Path(os.environ["TMPDIR"]) / f"fit-{os.getpid()}").touch()
        time.sleep(3600)

class EndlessCandidate(Candidate):
    def build(self, settings):
        return Endless()

ONE = EndlessCandidate("endless", "classification", "Endless", 5, "linear", (10.0, 0.0))
"""
COMMAND = """
import sys
from endless import ONE
from hyperplan.cli import _warmup, main
from hyperplan.compete import _compete as engine, candidates
engine.all_candidates = lambda task, names: [*candidates(task, []), ONE]
_warmup.run = lambda *_, **__: 0
sys.exit(main(sys.argv[1:]))
"""
PYTHON = """
import signal, sys
from endless import ONE
from hyperplan.compete import _compete as engine, candidates, compete
engine.all_candidates = lambda task, names: [*candidates(task, []), ONE]
def mine(number, frame):
    print("my handler", file=sys.stderr)
    sys.exit(7)
if sys.argv[1] == "mine":
    signal.signal(signal.SIGTERM, mine)
try:
    compete("table.csv", target="y", time=300, n_jobs=1)
finally:
    print("my finally", file=sys.stderr)
"""


class Run:
    """A process with a temporary folder, and what it says."""

    def __init__(self, folder, code, *arguments):
        self.temp, self._said = folder / "temp", tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            env={**os.environ, "TMPDIR": str(self.temp), "PYTHONPATH": f"{folder}{os.pathsep}{SOURCES}"},
            stdout=subprocess.DEVNULL,
            stderr=self._said,
            cwd=folder,
            start_new_session=True,
        )

    def wait_for_fit(self, number=1):
        """Until so many fits have begun among the runs with this temporary folder; returns the processes that fit."""
        _wait(lambda: len(list(self.temp.glob("fit-*"))) >= number or self.process.poll() is not None, 120)
        assert self.process.poll() is None, self.said()
        return {int(path.name.partition("-")[2]) for path in self.temp.glob("fit-*")}

    def data(self):
        """Tables in the temporary folder."""
        return set(self.temp.glob(".hyperplan-scratch-*/problem.pickle"))

    def end(self, number):
        """Exit status after a signal."""
        self.process.send_signal(number)
        return self.process.wait(60)

    def said(self):
        self._said.seek(0)
        return self._said.read()

    def left(self):
        """Numbers of the processes that still have this temporary folder in their environment."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if f"TMPDIR={self.temp}\0".encode() in path.read_bytes():
                    found.append(int(path.parent.name))
        return found

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for number in self.left():  # of tests that failed
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        self._said.close()


def _wait(is_done, seconds=60):
    until = time.monotonic() + seconds
    while not is_done() and time.monotonic() < until:
        time.sleep(0.02)
    assert is_done()


@pytest.fixture
def start(tmp_path):
    """``start(code, *arguments)`` in a folder with a table."""
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.normal(size=(60, 2)).round(3), columns=["a", "b"])
    frame.assign(y=["yes", "no"] * 30).to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "endless.py").write_text(ENDLESS)
    (tmp_path / "temp").mkdir()
    runs = []

    def start(code, *arguments):
        runs.append(Run(tmp_path, code, *arguments))
        return runs[-1]

    yield start
    for run in runs:
        run.close()


def arguments(out="out"):
    return ("compete", "table.csv", "--target", "y", "--time", "300", "--n-jobs", "1", "--out", out)


@pytest.mark.parametrize("number", STATUS, ids=lambda number: number.name)
def test_a_signal_leaves_nothing_and_says_one_line(number, start, tmp_path):
    run = start(COMMAND, *arguments())
    run.wait_for_fit()
    assert run.data()
    run.process.send_signal(number)  # twice at once, as some programs that limit the time of others do
    assert run.end(number) == STATUS[number]
    assert run.said() == f"hyperplan: stopped by the signal {number.name}\n"
    _wait(lambda: not run.left())
    assert not list(run.temp.glob(".*")) and not (tmp_path / "out").exists()


def test_what_was_killed_is_swept_by_the_next_run_and_the_living_are_not(start, tmp_path):
    living = start(COMMAND, *arguments("living"))
    fits = living.wait_for_fit()
    of_the_living = living.data()
    killed = start(COMMAND, *arguments("killed"))
    (fit,) = killed.wait_for_fit(2) - fits
    mine = tmp_path / "temp" / "hyperplan-mydata"
    mine.mkdir()
    (mine / "problem.pickle").write_text("mine")
    assert killed.end(signal.SIGKILL) == -signal.SIGKILL
    _wait(lambda: fit not in living.left())  # the worker ends in the middle of its fit
    (of_the_dead,) = living.data() - of_the_living
    third = start(COMMAND, *arguments("third"))
    third.wait_for_fit(3)
    assert of_the_living < living.data() and not of_the_dead.parent.exists()
    for run in (third, living):
        assert run.end(signal.SIGTERM) == 143
    _wait(lambda: not living.left())
    assert not living.data() and (mine / "problem.pickle").read_text() == "mine"


@pytest.mark.parametrize("handler", ["none", "mine"])
def test_in_python_the_signal_takes_its_course_afterwards(handler, start):
    run = start(PYTHON, handler)
    run.wait_for_fit()
    status = run.end(signal.SIGTERM)
    _wait(lambda: not run.left())
    assert (status, run.said()) == ((7, "my handler\nmy finally\n") if handler == "mine" else (-signal.SIGTERM, ""))
    assert not list(run.temp.glob(".*"))


def test_an_ignored_signal_stays_ignored(start):
    """``nohup hyperplan compete ...`` goes on when the terminal is closed."""
    run = start("import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + COMMAND, *arguments())
    run.wait_for_fit()
    run.process.send_signal(signal.SIGHUP)
    assert run.end(signal.SIGTERM) == 143 and "SIGTERM" in run.said()
