"""Ctrl-C as a wish to finish: noted when it comes, heeded where nothing is lost."""

import signal
import threading


class CtrlC:
    """While active (as a context) the first Ctrl-C is noted only; a second one interrupts at once, as usual.

    Outside of the main thread, where Python lets nobody listen to signals, it does nothing.

    Attributes
    ----------
    is_noted : bool
        Whether Ctrl-C was pressed.

    Examples
    --------
    >>> import os, signal
    >>> from hyperplan.compete._interrupt import CtrlC
    >>> with CtrlC() as ctrl_c:
    ...     os.kill(os.getpid(), signal.SIGINT)
    ...     ctrl_c.is_noted
    True
    """

    def __init__(self):
        self.is_noted = self._is_heeded = False
        self._before = None

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_):
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number, frame):
        if self.is_noted:
            raise KeyboardInterrupt
        self.is_noted = True

    def check(self) -> None:
        """Raise what was noted, once."""
        if self.is_noted and not self._is_heeded:
            self._is_heeded = True
            raise KeyboardInterrupt
