"""How long a command has been running: what its user waits for begins before the first line of Python."""

import os
import time
from pathlib import Path

_IMPORTED = time.monotonic()
STAT = Path("/proc/self/stat")
STARTED = 22  # the field of the time of the start, in ticks since the machine's
LONGEST_START = 15.0  # seconds; a process that is older was something else before, such as a script that calls us last


def process_age() -> float:
    """Seconds since this process was started; where the system does not tell, since this file was imported.

    Examples
    --------
    >>> from hyperplan._core.process_age import process_age
    >>> process_age() >= 0.0
    True
    """
    since_import = time.monotonic() - _IMPORTED
    try:
        fields = STAT.read_text().rpartition(")")[2].split()  # the name of the process may hold blanks and brackets
        started = int(fields[STARTED - 3]) / os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, ValueError, IndexError, AttributeError):
        return since_import
    return age if since_import <= age <= since_import + LONGEST_START else since_import


class CommandStart:
    """When the command began that is running; a call of `main` from Python begins when it is made."""

    def __init__(self):
        self._began = None

    def note(self, is_process: bool) -> None:
        """A command begins: as a process of its own, or within one."""
        self._began = time.monotonic() - (process_age() if is_process else 0.0)

    @property
    def seconds(self) -> float:
        """Seconds since then; 0 without a command."""
        return 0.0 if self._began is None else time.monotonic() - self._began


command_start = CommandStart()
