"""Open what a user named without surprises: folders, devices and sockets are refused, nothing waits for ever.

Opening a named pipe waits for somebody to write into it, and a device such as ``/dev/zero`` never ends.  So the kind is
looked at first, the file is opened without waiting, and the kind is looked at again, as somebody may have swapped it.
"""

import errno
import io
import os
import select
import stat
import time
from typing import BinaryIO

WRITER_WAIT = 1.0  # seconds for a writer that waits for us in its own open to be let in
SILENCE = 60.0  # seconds that a pipe may stay silent: a query in front of it may think before its first row
SMALL_FILE = 64 * 2**20  # bytes; settings and receipts have some thousands
_SYSTEM_CODES = {"folder": errno.EISDIR, "device": errno.ENODEV, "socket": errno.ENXIO, "pipe": errno.ESPIPE,
                 "no_writer": errno.EPIPE, "silent": errno.ETIMEDOUT, "large": errno.EFBIG}  # fmt: skip
_REASONS = {
    "folder": "it is a folder, not a file",
    "device": "it is a device, not a file",
    "socket": "it is a socket, not a file",
    "pipe": "it is a pipe, not a file",
    "no_writer": "it is a pipe that nobody writes into",
    "silent": "it is a pipe that stayed silent for a minute",
    "large": "it is too large for a file of its kind",
}


class OddFileError(OSError):
    """What was named is no file to read; `kind` is folder, device, socket, pipe, no_writer, silent or large."""

    def __init__(self, kind: str, path):
        super().__init__(_SYSTEM_CODES[kind], _REASONS[kind], os.fspath(path))
        self.kind = kind

    def __reduce__(self):
        return OddFileError, (self.kind, self.filename)


def open_file(path, *, pipes: bool = False) -> BinaryIO:
    """Open a regular file for reading, at once.

    Parameters
    ----------
    path : str or path
    pipes : bool, default=False
        Whether a pipe that somebody writes into will do (``<(zcat x.gz)``, ``/dev/stdin``).

    Returns
    -------
    file : binary file
        Read it until its end: the size of a pipe is not known, and that of a file may change.

    Raises
    ------
    OddFileError
        A folder, a device, a socket, or a pipe that will not do.
    OSError
        As `open` raises it.

    Examples
    --------
    >>> from hyperplan._core.open_file import OddFileError, open_file
    >>> try:
    ...     open_file("/dev/zero")
    ... except OddFileError as error:
    ...     print(error.kind)
    device
    """
    _check_kind(os.stat(path), path, pipes)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0))
    try:
        found = os.fstat(descriptor)
        _check_kind(found, path, pipes)
        raw = _Pipe(descriptor, path) if stat.S_ISFIFO(found.st_mode) else io.FileIO(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise
    return io.BufferedReader(raw)


def read_small_file(path, limit: int = SMALL_FILE) -> bytes:
    """All bytes of a regular file that ought to be small: settings, a receipt, a list.

    Examples
    --------
    >>> import tempfile
    >>> from hyperplan._core.open_file import read_small_file
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     read_small_file(file.name)
    b''
    """
    with open_file(path) as file:
        data = file.read(limit + 1) or b""  # None from files of the kernel that have nothing to say now
    if len(data) > limit:
        raise OddFileError("large", path)
    return data


def _check_kind(found: os.stat_result, path, pipes: bool) -> None:
    mode = found.st_mode
    if stat.S_ISDIR(mode):
        raise OddFileError("folder", path)
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OddFileError("device", path)
    if stat.S_ISSOCK(mode):
        raise OddFileError("socket", path)
    if stat.S_ISFIFO(mode) and not pipes:
        raise OddFileError("pipe", path)


class _Pipe(io.RawIOBase):
    """The reading end of a pipe: waits for bytes, but not for ever."""

    def __init__(self, descriptor: int, path):
        self._descriptor, self._path = descriptor, path
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    def readable(self) -> bool:
        """Yes."""
        return True

    def fileno(self) -> int:
        """The descriptor."""
        return self._descriptor

    def readinto(self, buffer) -> int:
        """Some bytes, or 0 when the last writer has gone."""
        end = time.monotonic() + SILENCE
        while True:
            events = self._poll.poll(1000 * WRITER_WAIT)
            try:
                count = os.readv(self._descriptor, [buffer])
            except BlockingIOError:  # there is a writer, but nothing to read
                if time.monotonic() > end:
                    raise OddFileError("silent", self._path) from None
                continue
            if not count and not events:  # a writer that left is an event: nobody came at all
                raise OddFileError("no_writer", self._path)
            return count

    def close(self) -> None:
        """Let go of the pipe."""
        if not self.closed:
            os.close(self._descriptor)
        super().close()
