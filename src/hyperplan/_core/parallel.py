"""Threads above serial kernels.  The number of threads never changes a bit of a result.

Work is cut into spans that depend on shapes only, each task runs with single-threaded BLAS whatever the number
of workers, and results come back in the order of the tasks.
"""

import contextlib
import functools
import itertools
import multiprocessing
import multiprocessing.dummy
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

from hyperplan._core.cgroup import cpus_allowed

THREAD_VARIABLE = "HYPERPLAN_NUM_THREADS"

_worker = threading.local()
_limit = threading.local()
_pools: dict[int, ThreadPoolExecutor] = {}
_crew: SimpleQueue = SimpleQueue()  # runs that helpers of `split_map` wait for
_n_helpers = 0
_pools_lock = threading.Lock()


def cpu_count() -> int:
    """Cores this process may use (affinity and the quota of a container respected), or ``HYPERPLAN_NUM_THREADS``."""
    if asked := os.environ.get(THREAD_VARIABLE):
        return max(1, int(asked))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _quota() or cores)


@functools.cache
def _quota() -> int | None:
    """The quota when it was first asked for: it hardly ever changes, and reading it takes longer than a small task."""
    return cpus_allowed()


@contextlib.contextmanager
def thread_limit(n_jobs: int):
    """Use at most `n_jobs` threads for everything inside the block, for the calling thread.

    >>> from hyperplan import thread_limit
    >>> with thread_limit(1):
    ...     pass
    """
    before = getattr(_limit, "value", None)
    _limit.value = int(n_jobs)
    try:
        yield
    finally:
        _limit.value = before


def _inside_other_pool() -> bool:
    """True in a worker of multiprocessing, loky or joblib's threading backend, or of Dask."""
    current = threading.current_thread()
    return (
        multiprocessing.parent_process() is not None
        or isinstance(current, multiprocessing.dummy.DummyProcess)
        or current.name.startswith("Dask")
    )


def effective_n_jobs(n_jobs: int | None = None) -> int:
    """Threads to use: None means all cores (1 inside another pool), negative counts from all cores (-1 = all)."""
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning: use 1 for one thread, -1 for all cores")
    if getattr(_worker, "busy", False):
        return 1
    limit = getattr(_limit, "value", None)
    if n_jobs is None:
        n_jobs = limit or (1 if _inside_other_pool() else cpu_count())
    elif n_jobs < 0:
        n_jobs = max(1, cpu_count() + 1 + n_jobs)
    return n_jobs if limit is None else min(n_jobs, limit)


def spans(n: int, size: int) -> list[slice]:
    """Cut range(n) into slices of `size`.  `size` is part of the algorithm: never derive it from n_jobs."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def thread_map(func, items, n_jobs: int | None = None) -> list:
    """``[func(item) for item in items]``, possibly in threads; BLAS is single-threaded inside `func`.

    Runs in the calling thread when nested in another `thread_map`, for one item, or for one job.  One task
    should be worth a millisecond or more.
    """
    items = list(items)
    n_jobs = min(effective_n_jobs(n_jobs), len(items))
    with single_threaded_blas():
        if n_jobs < 2:
            return [func(item) for item in items]
        return list(_pool(n_jobs).map(functools.partial(_run_marked, func), items))


def split_map(func, items, n_jobs: int | None = None) -> list:
    """`thread_map` for many small items of about equal cost: each thread gets one run of neighbouring items.

    The calling thread works through the first run itself, so that two threads cost but one hand-over; worth it from
    about 0.1 milliseconds of work.
    """
    items = list(items)
    n_jobs = min(effective_n_jobs(n_jobs), len(items)) if len(items) > 1 else 1
    if n_jobs < 2:
        return [func(item) for item in items]
    bounds = [len(items) * j // n_jobs for j in range(n_jobs + 1)]

    def run(items):
        return [func(item) for item in items]

    with single_threaded_blas():
        crew = _helpers(n_jobs - 1)
        answers: SimpleQueue = SimpleQueue()
        for j, (a, b) in enumerate(itertools.pairwise(bounds[1:])):
            crew.put((run, items[a:b], j, answers))
        try:
            results = _run_marked(run, items[: bounds[1]])
        finally:  # also after an error: nobody may still write into the caller's arrays
            others = sorted((answers.get() for _ in range(n_jobs - 1)), key=lambda answer: answer[0])
        for _, found, error in others:
            if error is not None:
                raise error
            results += found
        return results


def _helpers(n: int) -> SimpleQueue:
    """The queue that at least `n` threads wait at.  A pool's futures would cost more than many a run takes."""
    global _n_helpers
    if _n_helpers < n:
        with _pools_lock:
            for _ in range(n - _n_helpers):
                threading.Thread(target=_help, args=(_crew,), name="hyperplan-helper", daemon=True).start()
            _n_helpers = max(_n_helpers, n)
    return _crew


def _help(crew):
    """Life of a helper; it keeps nothing of a run while it waits for the next."""
    while True:
        run, items, j, answers = crew.get()
        try:
            answers.put((j, _run_marked(run, items), None))
        except BaseException as error:
            answers.put((j, [], error))
        del run, items, answers


def _run_marked(func, item):
    _worker.busy = True
    try:
        with single_threaded_blas():
            return func(item)
    finally:
        _worker.busy = False


def _pool(n_jobs: int) -> ThreadPoolExecutor:
    with _pools_lock:
        if n_jobs not in _pools:
            _pools[n_jobs] = ThreadPoolExecutor(n_jobs, thread_name_prefix="hyperplan")
        return _pools[n_jobs]


class _BlasGuard:
    """BLAS on one thread inside the block, whichever thread enters it and in whatever order blocks end.

    Two kinds of BLAS must be told apart.  Where the number of threads is process-wide (OpenBLAS with its own
    threads) blocks are counted: the first sets it, the last restores it.  Where it belongs to the calling thread
    (MKL, OpenBLAS on OpenMP) every thread sets and restores its own.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._depth = 0
        self._shared: list = []  # libraries of the first kind
        self._own: list | None = None  # libraries of the second kind; None until the libraries are known
        self._before: list[int] = []
        self._local = threading.local()

    def __enter__(self):
        with self._lock:
            if self._own is None:
                self._find_libraries()
            if self._depth == 0:
                self._before = _set_blas_threads(self._shared, [1] * len(self._shared))
            self._depth += 1
        if self._own:
            stack = self._local.__dict__.setdefault("stack", [])
            stack.append(_set_blas_threads(self._own, [1] * len(self._own)))

    def __exit__(self, *error):
        if self._own:
            _set_blas_threads(self._own, self._local.stack.pop())
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                _set_blas_threads(self._shared, self._before)

    def _find_libraries(self):
        import scipy.linalg  # noqa: F401  loads SciPy's own BLAS, which would otherwise be missed
        from threadpoolctl import ThreadpoolController

        libraries: list[Any] = ThreadpoolController().select(user_api="blas").lib_controllers
        per_thread = [lib.internal_api == "mkl" or getattr(lib, "threading_layer", "") == "openmp" for lib in libraries]
        self._shared = [lib for lib, own in zip(libraries, per_thread) if not own]
        self._own = [lib for lib, own in zip(libraries, per_thread) if own]


def _set_blas_threads(libraries: list, counts: list[int]) -> list[int]:
    """Set the number of threads of each library; returns what it was.

    Newer versions of threadpoolctl let only the first thread that set a process-wide number change it, and silently
    ignore the others; a number that several threads share needs that claim dropped before and after.
    """
    before = [lib.get_num_threads() for lib in libraries]
    for lib, count in zip(libraries, counts):
        release = getattr(lib, "clear_controlling_thread", lambda force: None)
        release(force=True)
        lib.set_num_threads(count)
        release(force=True)
    return before


_blas_guard = _BlasGuard()


def single_threaded_blas() -> _BlasGuard:
    """Context manager: BLAS uses one thread inside the block, whoever else is in such a block."""
    return _blas_guard


def _forget_threads():
    """After a fork the pools' threads are gone and locks may be held by threads that no longer exist."""
    global _pools_lock, _blas_guard, _crew, _n_helpers
    _pools.clear()
    _crew, _n_helpers = SimpleQueue(), 0
    _pools_lock = threading.Lock()
    _blas_guard = _BlasGuard()
    _worker.busy = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
