"""How long kernels were compiled, here and in processes that work for this one: time that no budget pays for.

A budget is for work on a table.  What has to be compiled, once, because it is not in the kernel cache says nothing of
the table: the clock by which budgets are kept stands still meanwhile.
"""

import threading
import time

LONGEST = 300.0  # seconds of one compilation after which it is taken for a process that hangs


class CompileWatch:
    """Adds up the time during which anybody compiles; several at a time count once.

    Parameters
    ----------
    now : callable, default=time.monotonic
        The clock.

    Attributes
    ----------
    tell : callable or None
        Called with True when compiling begins and with False when it ends: a worker passes it on.
    trouble : str
        Why something that was compiled could not be kept; "" if everything was.
    """

    def __init__(self, now=time.monotonic):
        self._now, self._lock = now, threading.Lock()
        self._busy: dict = {}  # who compiles, and since when
        self._since, self._total = 0.0, 0.0
        self.tell, self.trouble = None, ""

    def begin(self, who) -> None:
        """Somebody begins to compile."""
        with self._lock:
            if not self._busy:
                self._since = self._now()
            self._busy[who] = self._busy.get(who, 0) + 1
            is_first = len(self._busy) == 1 and self._busy[who] == 1
        if is_first and self.tell is not None:
            self.tell(True)

    def end(self, who) -> None:
        """Somebody is done, or gone; who did not compile changes nothing."""
        with self._lock:
            if who not in self._busy:
                return
            self._busy[who] -= 1
            if not self._busy[who]:
                del self._busy[who]
            is_last = not self._busy
            if is_last:
                self._total += self._running()
        if is_last and self.tell is not None:
            self.tell(False)

    def add(self, seconds: float) -> None:
        """So much was spent on compiling while nothing else was done, as in a warm-up."""
        with self._lock:
            self._total += seconds

    def _running(self) -> float:
        return min(self._now() - self._since, LONGEST)

    @property
    def seconds(self) -> float:
        """Seconds of compiling so far."""
        with self._lock:
            return self._total + (self._running() if self._busy else 0.0)


compile_watch = CompileWatch()


def working_time() -> float:
    """Seconds on a clock that stands still while kernels are compiled; only differences mean something.

    Examples
    --------
    >>> from hyperplan._core.compiling import working_time
    >>> began = working_time()
    >>> working_time() >= began
    True
    """
    return time.monotonic() - compile_watch.seconds
