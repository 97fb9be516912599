"""Several workers: requests in, answers out as they come, nobody over time, nobody lost.

Times are those of `working_time`: while a worker compiles, nobody's time runs.
"""

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from hyperplan._core.cache_folder import cache_place
from hyperplan._core.compiling import compile_watch, working_time
from hyperplan._core.scratch import ScratchFolder
from hyperplan.compete._errors import CompetitionError, reason_of
from hyperplan.compete._interrupt import CtrlC

ONE_THREAD = {name: "1" for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS")}
TIMED_OUT, CRASHED = "timed out", "crashed"
COMPILING = "compiling"  # instead of whether a request succeeded: a worker begins to compile, or is done
SLOW_START = 120.0  # seconds that one step of the preparation may take: compiling is slow, hanging is forever
SPARE_LEAD = 4.0  # seconds before a deadline when a spare worker starts: those who are cut off are replaced at once
MOST_DEATHS = 5  # of workers that only load and prepare: then something is wrong with all of them
LATEST = 5.0  # seconds beyond its time that the preparation is waited for when nobody is ready: something hangs there
PROBLEM = "problem.pickle"
GLANCE = 0.25  # seconds between looks at the clock and at Ctrl-C


class Answer(NamedTuple):
    """A finished request: its key, whether it succeeded, and the result or the reason."""

    key: object
    is_ok: bool
    value: object


class _Job(NamedTuple):
    """A request that a worker is busy with, and when it is ended at the latest."""

    key: object
    end: float


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
        self._is_last, self._deaths = False, 0

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

    def load(self, problem, first: list, deadline: float = float("inf")) -> None:
        """Give the problem to every worker and let it prepare.

        What has to be compiled is compiled once where workers share a cache: each does a part of the preparation, then
        the parts of the others.

        Parameters
        ----------
        problem : Problem
            What every worker loads once.
        first : list of tuple
            ``(function name, arguments)`` of what each worker does before anything else.  A worker that dies or hangs
            at it is replaced by one that skips it.
        deadline : float
            Of `working_time`: then nobody is waited for any more but the first; who is not ready begins later.
        """
        self._file = self._scratch.place(PROBLEM)
        try:
            with self._file.open("wb") as file:
                pickle.dump(problem, file, protocol=pickle.HIGHEST_PROTOCOL)
        except OSError as error:
            raise CompetitionError("no_scratch", reason=reason_of(error)) from None
        n_parts = 1 if cache_place().home is None else self.n_workers
        parts = [first[number::n_parts] for number in range(n_parts)]
        for worker in self._workers:
            worker.load(self._file)
        for turn in range(min(n_parts, 2)):
            for number, worker in enumerate(self._workers):
                own = number % n_parts
                others = [step for other, part in enumerate(parts) if other != own for step in part]
                worker.prepare(others if turn else parts[own])
            self._wait(deadline)

    def _wait(self, deadline: float) -> None:
        """Until all workers are ready; when time is over, until one is: without it there is no answer."""
        while not all(worker.is_ready for worker in self._workers):
            late = working_time() - deadline
            if late >= 0 and any(worker.is_ready or (worker.is_loaded and late > LATEST) for worker in self._workers):
                return
            self._ctrl_c.check()
            time.sleep(GLANCE / 10)
            self._replace_lost()

    def await_worker(self) -> None:
        """Until a worker is ready for a request, however long that takes."""
        while not any(worker.is_ready and not worker.is_dead for worker in self._workers):
            self._ctrl_c.check()
            time.sleep(GLANCE / 10)
            self._replace_lost()

    def _replace_lost(self) -> None:
        """Others in the places of workers that died or hang before they were ready."""
        for worker in list(self._workers):
            if worker.is_dead or (not worker.is_ready and working_time() > worker.heard + SLOW_START):
                self._deaths += not worker.was_cut_off
                if self._deaths > MOST_DEATHS:
                    raise CompetitionError("no_workers")
                self._replace(worker)

    def run(self, requests, deadline: float, is_wanted=lambda key: True, is_last=False):
        """Work through requests ``(key, function name, arguments, seconds allowed)``, yielding answers as they come.

        Requests that have not begun at the deadline (of `working_time`), or whose key is not wanted any more, are left
        out; one that runs too long is ended and reported.  Ctrl-C is raised here, between two answers.  After the last
        requests nobody is replaced: new workers would only take time from what is left to do.
        """
        self._is_last = is_last
        waiting, busy = list(requests), {}
        try:
            while waiting or busy:
                self._ctrl_c.check()
                self._hand_out(waiting, busy, deadline, is_wanted)
                if busy:
                    yield from self._collected(busy, deadline)
                elif not waiting or working_time() >= deadline:
                    return
                else:  # nobody is ready
                    time.sleep(GLANCE / 10)
                    self._replace_lost()
        finally:
            for worker in busy:  # what they do is not wanted any more
                self._cut_off(worker)

    def _hand_out(self, waiting, busy, deadline, is_wanted) -> None:
        """Requests for those who have nothing to do; whoever is not ready yet gets none, and nothing is taken back."""
        for worker in list(self._workers):
            worker = self._replace(worker) if worker.is_dead and worker not in busy else worker
            while worker.is_ready and worker not in busy and waiting and working_time() < deadline:
                key, name, arguments, allowed = waiting.pop(0)
                if is_wanted(key):
                    busy[worker] = _Job(key, min(working_time() + allowed, deadline))
                    worker.send(name, arguments)

    def _collected(self, busy, deadline):
        """Answers that arrive before the next worker is over time, or the end of that worker."""
        now = working_time()
        if self._spare is None and not self._is_last and deadline - now < SPARE_LEAD:
            self._spare = _Worker(self._answers)
            self._spare.load(self._file)
        patience = max(0.0, min(job.end for job in busy.values()) - now)
        with contextlib.suppress(queue.Empty):
            worker, answer = self._answers.get(timeout=min(patience, GLANCE))
            if worker in busy:
                job = busy.pop(worker)
                if answer is None:
                    self._cut_off(worker)
                    answer = (False, CRASHED)
                yield Answer(job.key, *answer)
        for worker, job in list(busy.items()):
            if working_time() > job.end:
                del busy[worker]
                self._cut_off(worker)
                yield Answer(job.key, False, TIMED_OUT)

    def _cut_off(self, worker) -> None:
        """End a worker; another takes its place unless nothing is left to do."""
        worker.was_cut_off = True
        if self._is_last:
            worker.stop()
        else:
            self._replace(worker)

    def _replace(self, worker) -> "_Worker":
        """Another worker in the place of one that is no good; it loads the problem and prepares nothing."""
        worker.stop()
        new, self._spare = self._spare, None
        if new is None:
            new = _Worker(self._answers)
            new.load(self._file)
        self._workers[self._workers.index(worker)] = new
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
        self.is_dead = self.is_loaded = self.was_cut_off = False
        self.heard = working_time()
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def is_ready(self) -> bool:
        """Whether it has loaded the problem and prepared."""
        return self._unheard == 0

    def load(self, problem_file) -> None:
        """Load the problem."""
        self.heard = working_time()
        self.send("problem", str(problem_file))

    def prepare(self, first) -> None:
        """Do something of which only the end matters."""
        self._unheard += len(first)
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
                compile_watch.end(self)
                self._answers.put((self, None))
                return
            if answer[0] == COMPILING:
                _note_compiling(self, *answer[1:])
            elif self._unheard:
                self.heard, self.is_loaded = working_time(), True
                self._unheard -= 1
            else:
                self._answers.put((self, answer))

    def stop(self) -> None:
        """End the process; it holds nothing that must be saved."""
        self.is_dead = True
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()


def _note_compiling(worker: _Worker, is_on: bool, trouble: str) -> None:
    """What a worker compiles, or could not keep, as if it were done here."""
    compile_watch.trouble = trouble or compile_watch.trouble
    (compile_watch.begin if is_on else compile_watch.end)(worker)
