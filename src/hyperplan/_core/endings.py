"""Signals that end a process, as an exception: what is temporary is removed on the way out."""

import signal
import threading
import time

ENDINGS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGXCPU") if hasattr(signal, name)]
PATIENCE = 5.0  # seconds for tidying up before the same wish is heeded again: some send it twice at once


class Ended(SystemExit):
    """The process was told to end by a signal; its exit status is the one of shells, 128 and the number."""

    def __init__(self, number: int):
        super().__init__(128 + number)
        self.number = number

    @property
    def name(self) -> str:
        """Name of the signal."""
        return signal.Signals(self.number).name


class EndSignals:
    """While active (as a context) signals that end a process raise `Ended`, so that nothing temporary stays behind.

    Signals that somebody handles or ignores already are left to them, and so is everything outside of the main thread.

    Parameters
    ----------
    is_sent_again : bool, default=True
        Send the signal again afterwards, when it has its usual effect: it ends the process.

    Attributes
    ----------
    number : int or None
        The signal that came.

    Examples
    --------
    >>> import os, signal
    >>> from hyperplan._core.endings import Ended, EndSignals
    >>> try:
    ...     with EndSignals(is_sent_again=False):
    ...         os.kill(os.getpid(), signal.SIGTERM)
    ... except Ended as error:
    ...     error.name, error.code
    ('SIGTERM', 143)
    """

    def __init__(self, is_sent_again: bool = True):
        self._is_sent_again = is_sent_again
        self._held: list = []
        self.number, self._until = None, 0.0

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            for number in ENDINGS:
                if signal.getsignal(number) is signal.SIG_DFL:
                    signal.signal(number, self._end)
                    self._held.append(number)
        return self

    def __exit__(self, *_):
        for number in self._held:
            signal.signal(number, signal.SIG_DFL)
        self._held.clear()
        if self.number is not None and self._is_sent_again:
            signal.raise_signal(self.number)

    def _end(self, number, frame):
        now = time.monotonic()
        if now >= self._until:
            self.number, self._until = number, now + PATIENCE
            raise Ended(number)
