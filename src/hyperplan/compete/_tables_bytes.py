"""From a path to plain bytes: what may be opened, compression, archives, kind of file."""

import bz2
import gzip
import io
import lzma
import os
import pathlib
import re
import stat
import zipfile
import zlib
from typing import NamedTuple

from hyperplan._core.open_file import OddFileError, open_file
from hyperplan._texts.extras import required
from hyperplan.compete._errors import TableError, reason_of
from hyperplan.compete._names import nearest_names
from hyperplan.compete._tables_room import Room

COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
KINDS = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"FEA1": "feather",
    b"SQLite format 3\x00": "sqlite",
    b"\xd0\xcf\x11\xe0": "xls",
    b"\x89HDF": "hdf5",
    b"%PDF": "pdf",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "rar",
}
UNREADABLE = ("xls", "hdf5", "pdf", "7z", "rar")
ZIP = b"PK\x03\x04"
BLOCK = 4 * 2**20
DEEPEST = 8  # files packed in packed files; more are made by nobody but a prankster
ADDRESS = re.compile(r"(https?|ftp|s3|gs):/", re.IGNORECASE)  # one slash: paths know no empty parts


class Source(NamedTuple):
    """A file that was found.

    Attributes
    ----------
    name : str
        For people.
    data : bytearray
        Its bytes without compression; empty if it is to be read where it is.
    kind : str
        text, json, parquet, feather, excel or sqlite.
    part : str
        What stands after ``::``, or "".
    room : Room
        What reading may still take.
    path : str
        The file itself, if the kind is read where it is; else "".
    """

    name: str
    data: bytearray
    kind: str
    part: str
    room: Room
    path: str = ""


class BytesFile(io.RawIOBase):
    """Bytes as a file that is read where they are: `io.BytesIO` would copy them."""

    def __init__(self, data, start: int = 0):
        self._view, self._place = memoryview(data)[start:], 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer) -> int:
        """Some bytes, or 0 at the end."""
        piece = self._view[self._place : self._place + len(buffer)]
        buffer[: len(piece)] = piece
        self._place += len(piece)
        return len(piece)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: len(self._view)}[whence]
        self._place = min(max(0, base + offset), len(self._view))
        return self._place

    def close(self) -> None:
        """Let go of the bytes, so that they may grow again."""
        if not self.closed:
            self._view.release()
        super().close()


def bytes_file(data, start: int = 0) -> io.BufferedReader:
    """A buffered binary file over bytes in memory."""
    return io.BufferedReader(BytesFile(data, start), 2**16)


def split_part(path) -> tuple[str, str]:
    """Name of the file and the part after ``::``; a file may have colons in its name."""
    name, _, part = str(path).partition("::")
    return (str(path), "") if part and "\0" not in str(path) and os.path.exists(str(path)) else (name, part)


def open_source(path) -> Source:
    """The bytes of a file without its compression, and what kind of file it is by its first bytes and its name."""
    name, part = split_part(path)
    shown = inner = pathlib.Path(name).name
    room = Room(shown)
    data, is_file = _file_bytes(name, room)
    if is_file and data.startswith(b"SQLite format 3\x00"):
        return Source(shown, bytearray(), "sqlite", part, room, name)
    for _ in range(DEEPEST):
        if not data:
            raise TableError("empty", name=shown)
        if packing := _first_match(data, COMPRESSED):
            data = _unpacked(data, packing, room)
            inner = re.sub(r"\.(gz|gzip|bz2|xz|zst|zstd)$", "", inner, flags=re.IGNORECASE)
        elif data.startswith(ZIP) and not _is_excel(data, shown):
            data, inner, part = _from_zip(data, room, part)
        else:
            return Source(shown, data, _kind(data, inner, shown), part, room)
    raise TableError("packed_deep", name=shown, count=DEEPEST)


def _file_bytes(name: str, room: Room) -> tuple[bytearray, bool]:
    """The bytes of a file or pipe (only the first of an SQLite file), and whether it is a regular file."""
    path = pathlib.Path(name)
    if ADDRESS.match(str(path)):
        raise TableError("address", name=path)
    if "\0" in name:
        raise TableError("no_file", name=ascii(name))
    try:
        with open_file(path, pipes=True) as file:
            found = os.fstat(file.fileno())
            is_file = stat.S_ISREG(found.st_mode)
            if is_file and file.peek(16)[:16] == b"SQLite format 3\x00":
                return bytearray(file.read(16)), True
            if is_file:
                room.require(found.st_size)
            return _drained(file, room), is_file
    except FileNotFoundError:
        try:
            near = nearest_names(path.name, [entry.name for entry in path.parent.iterdir()])
        except OSError:
            near = []
        if near:
            raise TableError("no_file_near", name=path, near=", ".join(near)) from None
        raise TableError("no_file", name=path) from None
    except OddFileError as error:
        raise TableError(f"odd_{error.kind}", name=path) from None
    except OSError as error:
        raise TableError("unreadable", name=path, reason=reason_of(error)) from None


def _drained(stream, room: Room) -> bytearray:
    """All bytes of a stream; stops when a copy of them in another form, which every format needs, has no room."""
    data = bytearray()
    while True:
        room.require(len(data) + 2 * BLOCK)
        block = stream.read(BLOCK)
        if not block:
            return data
        data += block
        if len(data) == len(block):
            check_binary(data, room.name)


def check_binary(data: bytearray, name: str) -> None:
    """Raise for bytes that neither are text nor begin like a format: endless zeros need not be read to their end."""
    start = bytes(data[:4096])
    known = start.startswith((*COMPRESSED, *KINDS, ZIP, b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff"))
    if b"\x00" in start and not known and data[257:262] != b"ustar" and not wide_encoding(start):
        raise TableError("binary", name=name)


def wide_encoding(start: bytes) -> str | None:
    """UTF-16 without its mark: every other byte of Western text is zero; anything else with zeros is no text."""
    pairs = len(start) // 2 or 1
    even, odd = start[::2].count(0) / pairs, start[1::2].count(0) / pairs
    if max(even, odd) > 0.6 and min(even, odd) < 0.1:
        return "utf-16-le" if odd > even else "utf-16-be"
    return None


def _first_match(data: bytearray, table: dict) -> str | None:
    return next((kind for start, kind in table.items() if data.startswith(start)), None)


def _unpacked(data: bytearray, packing: str, room: Room) -> bytearray:
    try:
        if packing == "zstd":
            pyarrow = required("pyarrow")
            source = pyarrow.BufferReader(pyarrow.py_buffer(data))
            with pyarrow.CompressedInputStream(source, "zstd") as stream:
                return _drained(stream, room)
        opener = {"gzip": gzip.GzipFile, "bzip2": bz2.BZ2File, "xz": lzma.LZMAFile}[packing]
        with bytes_file(data) as file, opener(**{"fileobj" if packing == "gzip" else "filename": file}) as stream:
            return _drained(stream, room)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError("damaged", name=room.name, kind=packing, reason=first_line(error)) from None


def _is_excel(data: bytearray, name: str) -> bool:
    """Whether an archive is a workbook; those of other programs are refused by their kind."""
    try:
        with bytes_file(data) as file, zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError):
        return False
    for kind, member in (("xlsb", "xl/workbook.bin"), ("Numbers", "Index/Document.iwa")):
        if member in names:
            raise TableError("unsupported", name=name, kind=kind)
    if "content.xml" in names and "mimetype" in names:
        raise TableError("unsupported", name=name, kind="OpenDocument")
    return any(name.startswith("xl/") for name in names)


def _from_zip(data: bytearray, room: Room, part: str) -> tuple[bytearray, str, str]:
    """Bytes and name of the one file of an archive (or the one named after ``::``), and what is left of the part."""
    name = room.name
    try:
        with bytes_file(data) as file, zipfile.ZipFile(file) as archive:
            members = [
                item.filename
                for item in archive.infolist()
                if not item.is_dir() and not item.filename.startswith("__MACOSX") and item.file_size
            ]
            chosen, _, rest = part.partition("::")
            if chosen and chosen not in members and len(members) == 1:
                chosen, rest = "", part  # the part names a table or a sheet inside the one file
            if chosen and chosen not in members:
                raise TableError("zip_member", name=name, member=chosen, members=listed(members), first=members[0])
            if not chosen and len(members) != 1:
                key = "zip_empty" if not members else "zip_many"
                raise TableError(key, name=name, members=listed(members), first=members[0] if members else "")
            chosen = chosen or members[0]
            room.require(archive.getinfo(chosen).file_size)
            with archive.open(chosen) as stream:
                return _drained(stream, room), pathlib.PurePosixPath(chosen).name, rest
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError) as error:
        if "password" in str(error):
            raise TableError("zip_password", name=name) from None
        raise TableError("damaged", name=name, kind="zip", reason=first_line(error)) from None


def listed(names) -> str:
    """The first names, for an error."""
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")


def first_line(error: Exception) -> str:
    """What an error of another library says, in short."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:200]


def _kind(data: bytearray, inner: str, name: str) -> str:
    """What is in the bytes: parquet, feather, sqlite, excel, json or text; an error for what is no table."""
    if data.startswith(ZIP):
        return "excel"
    kind = _first_match(data, KINDS)
    if kind in UNREADABLE:
        raise TableError("unsupported", name=name, kind=kind)
    if kind:
        return kind
    if data[257:262] == b"ustar":
        raise TableError("unsupported", name=name, kind="tar")
    start = bytes(data[:2048]).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")):
        raise TableError("web_page", name=name)
    if start.startswith(b"version https://git-lfs"):
        raise TableError("pointer", name=name)
    suffix = pathlib.PurePosixPath(inner).suffix.lower()
    if suffix in (".json", ".jsonl", ".ndjson") or start.startswith((b'{"', b'[{"', b"[ {", b"[\n")):
        return "json"
    return "text"
