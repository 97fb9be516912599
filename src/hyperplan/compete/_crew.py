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
from pathlib import Path
from typing import NamedTuple

ONE_THREAD = {name: "1" for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS")}
TIMED_OUT, CRASHED = "timed out", "crashed"


class Answer(NamedTuple):
    """A finished request: its key, whether it succeeded, and the result or the reason."""

    key: object
    is_ok: bool
    value: object


class Crew:
    """Processes that work on one problem; use as a context.

    Parameters
    ----------
    problem : Problem
        What every worker loads once.
    n_workers : int
        Number of processes, each with one thread.
    first : tuple
        ``(function name, arguments)`` of what each worker does before anything else; its answer is not looked at.
    """

    def __init__(self, problem, n_workers: int, first: tuple):
        self._problem, self._n_workers, self._first = problem, n_workers, first
        self._answers: queue.Queue = queue.Queue()
        self._workers: list[_Worker] = []

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="hyperplan-")  # only this user may look inside
        self._file = Path(self._folder.name) / "problem.pickle"
        with self._file.open("wb") as file:
            pickle.dump(self._problem, file, protocol=pickle.HIGHEST_PROTOCOL)
        self._workers = [_Worker(self._file, self._first, self._answers) for _ in range(self._n_workers)]
        return self

    def __exit__(self, *_):
        for worker in self._workers:
            worker.stop()
        self._folder.cleanup()

    def run(self, requests, deadline: float, is_wanted=lambda key: True):
        """Work through requests ``(key, function name, arguments, seconds allowed)``, yielding answers as they come.

        Requests that have not begun at the deadline, or whose key is not wanted any more, are left out; one that runs
        too long is ended and reported.
        """
        waiting, busy = list(requests), {}
        while waiting or busy:
            now = time.monotonic()
            while waiting and len(busy) < self._n_workers and now < deadline:
                request = waiting.pop(0)
                if not is_wanted(request[0]):
                    continue
                worker = next(worker for worker in self._workers if worker not in busy)
                busy[worker] = (request[0], min(now + request[3], deadline))
                worker.send(request[1], request[2])
            if not busy:
                return
            yield from self._collected(busy)

    def _collected(self, busy):
        """Answers that arrive before the next worker is over time, or the end of that worker."""
        patience = max(0.0, min(limit for _, limit in busy.values()) - time.monotonic())
        with contextlib.suppress(queue.Empty):
            worker, answer = self._answers.get(timeout=min(patience, 0.5))
            if worker in busy:
                key, _ = busy.pop(worker)
                if answer is None:
                    self._replace(worker)
                    answer = (False, CRASHED)
                yield Answer(key, *answer)
        for worker, (key, limit) in list(busy.items()):
            if time.monotonic() > limit:
                del busy[worker]
                self._replace(worker)
                yield Answer(key, False, TIMED_OUT)

    def _replace(self, worker):
        worker.stop()
        self._workers[self._workers.index(worker)] = _Worker(self._file, self._first, self._answers)


class _Worker:
    """One process and the thread that listens to it."""

    def __init__(self, problem_file, first, answers):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "hyperplan.compete._worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **ONE_THREAD, "HYPERPLAN_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C is for the parent, which decides
        )
        self._answers = answers
        self._unheard = 2  # answers to what every worker does at first
        threading.Thread(target=self._listen, daemon=True).start()
        self.send("problem", str(problem_file))
        self.send(*first)

    def send(self, name, arguments):
        """Ask for ``module.function(problem, *arguments)``; a dead process is noticed by the listener."""
        with contextlib.suppress(BrokenPipeError):
            pickle.dump((name, arguments), self._process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()

    def _listen(self):
        while True:
            try:
                answer = pickle.load(self._process.stdout)
            except (EOFError, pickle.UnpicklingError, ValueError, OSError):
                self._answers.put((self, None))
                return
            if self._unheard:
                self._unheard -= 1
            else:
                self._answers.put((self, answer))

    def stop(self):
        """End the process; it holds nothing that must be saved."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()
