"""Several workers: requests in, answers out as they come, nobody over time, nobody lost."""

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from hyperplan._core.scratch import ScratchFolder
from hyperplan.compete._errors import CompetitionError, reason_of
from hyperplan.compete._interrupt import CtrlC

ONE_THREAD = {name: "1" for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS")}
TIMED_OUT, CRASHED = "timed out", "crashed"
SLOW_START = 120.0  # seconds that one step of the preparation may take: compiling is slow, hanging is forever
SPARE_LEAD = 4.0  # seconds before a deadline when a spare worker starts: those who are cut off are replaced at once
MOST_DEATHS = 5  # of workers that only load and prepare: then something is wrong with all of them
PROBLEM = "problem.pickle"
GLANCE = 0.25  # seconds between looks at the clock and at Ctrl-C


class Answer(NamedTuple):
    """A finished request: its key, whether it succeeded, and the result or the reason."""

    key: object
    is_ok: bool
    value: object


@dataclass
class _Job:
    """A request on its way: its clock starts when the worker has loaded the problem."""

    key: object
    allowed: float
    began: float | None = None

    def end(self, deadline: float) -> float:
        return deadline if self.began is None else min(self.began + self.allowed, deadline)


class Crew:
    """Processes that work on one problem; use as a context, then `load` the problem.

    Starting them early lets them import what they need while the table is looked at.

    Parameters
    ----------
    n_workers : int
        Number of processes, each with one thread.
    ctrl_c : CtrlC, default=None
        Asked whether to stop; None means never.
    """

    def __init__(self, n_workers: int, ctrl_c: CtrlC | None = None):
        self.n_workers, self._ctrl_c = n_workers, ctrl_c or CtrlC()
        self._answers: queue.Queue = queue.Queue()
        self._workers: list[_Worker] = []
        self._spare: _Worker | None = None
        self._file: Path | None = None
        self._closing = contextlib.ExitStack()

    def __enter__(self):
        try:
            self._scratch = self._closing.enter_context(ScratchFolder(tempfile.gettempdir(), [PROBLEM]))
            for _ in range(self.n_workers):
                self._workers.append(_Worker(self._answers))
        except OSError as error:
            self.__exit__()
            raise CompetitionError("no_scratch", reason=reason_of(error)) from None
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            for worker in (*self._workers, *([self._spare] if self._spare else ())):
                worker.stop()
        finally:
            self._closing.close()

    def load(self, problem, first: list) -> float:
        """Give the problem to every worker and let it prepare; returns the seconds that were spent on compiling.

        Parameters
        ----------
        problem : Problem
            What every worker loads once.
        first : list of tuple
            ``(function name, arguments)`` of what each worker does before anything else; each answers with the seconds
            it spent on compiling.  A worker that dies or hangs at it is replaced by one that skips it.
        """
        self._file = self._scratch.place(PROBLEM)
        try:
            with self._file.open("wb") as file:
                pickle.dump(problem, file, protocol=pickle.HIGHEST_PROTOCOL)
        except OSError as error:
            raise CompetitionError("no_scratch", reason=reason_of(error)) from None
        for worker in self._workers:
            worker.load(self._file, first)
        deaths = 0
        while not all(worker.is_ready for worker in self._workers):
            self._ctrl_c.check()
            time.sleep(GLANCE / 10)
            for worker in list(self._workers):
                if worker.is_dead or (not worker.is_ready and time.monotonic() > worker.heard + SLOW_START):
                    deaths += 1
                    if deaths > MOST_DEATHS:
                        raise CompetitionError("no_workers")
                    self._replace(worker)
        return max(worker.compiled for worker in self._workers)

    def run(self, requests, deadline: float, is_wanted=lambda key: True):
        """Work through requests ``(key, function name, arguments, seconds allowed)``, yielding answers as they come.

        Requests that have not begun at the deadline, or whose key is not wanted any more, are left out; one that runs
        too long is ended and reported.  Ctrl-C is raised here, between two answers.
        """
        waiting, busy = list(requests), {}
        try:
            while waiting or busy:
                self._ctrl_c.check()
                self._hand_out(waiting, busy, deadline, is_wanted)
                if not busy:
                    return
                yield from self._collected(busy, deadline)
        finally:
            for worker in busy:  # what they do is not wanted any more
                self._replace(worker)

    def _hand_out(self, waiting, busy, deadline, is_wanted) -> None:
        while waiting and len(busy) < self.n_workers and time.monotonic() < deadline:
            key, name, arguments, allowed = waiting.pop(0)
            if is_wanted(key):
                worker = next(worker for worker in self._workers if worker not in busy)
                worker = self._replace(worker) if worker.is_dead else worker
                busy[worker] = _Job(key, allowed)
                worker.send(name, arguments)

    def _collected(self, busy, deadline):
        """Answers that arrive before the next worker is over time, or the end of that worker."""
        now = time.monotonic()
        if self._spare is None and deadline - now < SPARE_LEAD:
            self._spare = _Worker(self._answers)
        for worker, job in busy.items():
            if job.began is None and worker.is_ready:
                job.began = now
        patience = max(0.0, min(job.end(deadline) for job in busy.values()) - now)
        with contextlib.suppress(queue.Empty):
            worker, answer = self._answers.get(timeout=min(patience, GLANCE))
            if worker in busy:
                job = busy.pop(worker)
                if answer is None:
                    self._replace(worker)
                    answer = (False, CRASHED)
                yield Answer(job.key, *answer)
        for worker, job in list(busy.items()):
            if time.monotonic() > job.end(deadline):
                del busy[worker]
                self._replace(worker)
                yield Answer(job.key, False, TIMED_OUT)

    def _replace(self, worker) -> "_Worker":
        """Another worker in the place of one that is no good; it loads the problem and prepares nothing."""
        worker.stop()
        new, self._spare = self._spare or _Worker(self._answers), None
        self._workers[self._workers.index(worker)] = new
        new.load(self._file, [])
        return new


class _Worker:
    """One process and the thread that listens to it."""

    def __init__(self, answers):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "hyperplan.compete._worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **ONE_THREAD, "HYPERPLAN_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C is for the parent, which decides
        )
        self._answers = answers
        self._unheard = 1  # answers to what it does at first: loading the problem is one
        self.compiled = 0.0
        self.is_dead = False
        self.heard = time.monotonic()
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def is_ready(self) -> bool:
        """Whether it has loaded the problem and prepared."""
        return self._unheard == 0

    def load(self, problem_file, first) -> None:
        """Load the problem and prepare."""
        self.heard = time.monotonic()
        self._unheard += len(first)
        self.send("problem", str(problem_file))
        for name, arguments in first:
            self.send(name, arguments)

    def send(self, name, arguments) -> None:
        """Ask for ``module.function(problem, *arguments)``; a dead process is noticed by the listener."""
        with contextlib.suppress(BrokenPipeError, OSError):
            pickle.dump((name, arguments), self._process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()

    def _listen(self):
        while True:
            try:
                answer = pickle.load(self._process.stdout)
            except (EOFError, pickle.UnpicklingError, ValueError, OSError):
                self.is_dead = True
                self._answers.put((self, None))
                return
            if self._unheard:
                self.compiled += answer[1] if answer[0] and answer[1] else 0.0
                self.heard = time.monotonic()
                self._unheard -= 1
            else:
                self._answers.put((self, answer))

    def stop(self) -> None:
        """End the process; it holds nothing that must be saved."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()
