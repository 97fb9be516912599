"""From a path to plain bytes and text: compression, kind of file, encoding."""

import bz2
import codecs
import gzip
import io
import lzma
import pathlib
import re
import zipfile
import zlib
from typing import NamedTuple

from hyperplan._core.memory import available_bytes
from hyperplan.compete._errors import TableError, reason_of
from hyperplan.compete._names import nearest_names

COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
KINDS = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"FEA1": "feather",
    b"SQLite format 3\x00": "sqlite",
    b"\xd0\xcf\x11\xe0": "xls",
    b"\x89HDF": "hdf5",
    b"%PDF": "pdf",
}
MARKS = (  # longest first: the mark of UTF-32 begins like that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
BLOCK = 64 * 2**20
ADDRESS = re.compile(r"(https?|ftp|s3|gs):/", re.IGNORECASE)  # one slash: paths know no empty parts
COPIES = 3  # a table needs about this many times its bytes while it is read


class Source(NamedTuple):
    """A file that was found: its name for people, its bytes, its kind, and the part after ``::`` (or "")."""

    name: str
    data: bytes
    kind: str
    part: str


def open_source(path) -> Source:
    """The bytes of a file without its compression, and what kind of file it is by its first bytes and its name."""
    name, _, part = str(path).partition("::")
    data = _file_bytes(pathlib.Path(name))
    shown = inner = pathlib.Path(name).name
    for _ in range(3):  # a compressed file in a compressed file is as much as anybody makes by accident
        if not data:
            raise TableError("empty", name=shown)
        packing = _first_match(data, COMPRESSED)
        if packing:
            data = _unpacked(data, packing, shown)
            inner = re.sub(r"\.(gz|gzip|bz2|xz|zst|zstd)$", "", inner, flags=re.IGNORECASE)
        elif data[:4] == b"PK\x03\x04" and not _is_excel(data):
            data, inner, part = _from_zip(data, shown, part)
        else:
            break
    return Source(shown, data, _kind(data, inner, shown), part)


def _file_bytes(path: pathlib.Path) -> bytes:
    if ADDRESS.match(str(path)):
        raise TableError("address", name=path)
    if "\0" in str(path):
        raise TableError("no_file", name=ascii(str(path)))
    try:
        if path.is_dir():
            raise TableError("folder", name=path)
        _require_room(path.stat().st_size, path)
        return path.read_bytes()
    except FileNotFoundError:
        try:
            near = nearest_names(path.name, [entry.name for entry in path.parent.iterdir()])
        except OSError:
            near = []
        if near:
            raise TableError("no_file_near", name=path, near=", ".join(near)) from None
        raise TableError("no_file", name=path) from None
    except OSError as error:
        raise TableError("unreadable", name=path, reason=reason_of(error)) from None


def _require_room(size: int, name) -> None:
    free = available_bytes()
    if size * COPIES > free:
        raise TableError("memory", name=name, size=f"{size / 1e6:.0f} MB", free=f"{free / 1e6:.0f} MB")


def _first_match(data: bytes, table: dict) -> str | None:
    return next((kind for start, kind in table.items() if data.startswith(start)), None)


def _unpacked(data: bytes, packing: str, name: str) -> bytes:
    try:
        if packing == "zstd":
            import pyarrow

            return _drained(pyarrow.CompressedInputStream(pyarrow.BufferReader(data), "zstd"), name)
        opener = {"gzip": gzip.GzipFile, "bzip2": bz2.BZ2File, "xz": lzma.LZMAFile}[packing]
        key = {"fileobj": io.BytesIO(data)} if packing == "gzip" else {"filename": io.BytesIO(data)}
        with opener(**key) as stream:
            return _drained(stream, name)
    except ImportError:
        raise TableError("needs", name=name, package="pyarrow") from None
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError("damaged", name=name, kind=packing, reason=_reason(error)) from None


def _drained(stream, name: str) -> bytes:
    blocks, size = [], 0
    while block := stream.read(BLOCK):
        blocks.append(block)
        size += len(block)
        if len(blocks) % 4 == 0:
            _require_room(size, name)
    return b"".join(blocks)


def _is_excel(data: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return any(name.startswith("xl/") for name in archive.namelist())
    except zipfile.BadZipFile:
        return False


def _from_zip(data: bytes, name: str, part: str) -> tuple[bytes, str, str]:
    """Bytes and name of the one file of an archive (or the one named after ``::``), and what is left of the part."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [
                item.filename
                for item in archive.infolist()
                if not item.is_dir() and not item.filename.startswith("__MACOSX") and item.file_size
            ]
            chosen, _, rest = part.partition("::")
            if chosen and chosen not in members and len(members) == 1:
                chosen, rest = "", part  # the part names a table or a sheet inside the one file
            if chosen and chosen not in members:
                raise TableError("zip_member", name=name, member=chosen, members=_listed(members))
            if not chosen and len(members) != 1:
                key = "zip_empty" if not members else "zip_many"
                raise TableError(key, name=name, members=_listed(members), first=members[0] if members else "")
            chosen = chosen or members[0]
            _require_room(archive.getinfo(chosen).file_size, name)
            return archive.read(chosen), pathlib.PurePosixPath(chosen).name, rest
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        if "password" in str(error):
            raise TableError("zip_password", name=name) from None
        raise TableError("damaged", name=name, kind="zip", reason=_reason(error)) from None


def _listed(names) -> str:
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:200]


def _kind(data: bytes, inner: str, name: str) -> str:
    """What is in the bytes: parquet, feather, sqlite, excel, json or text; an error for what is no table."""
    kind = _first_match(data, KINDS)
    if data[:4] == b"PK\x03\x04":
        return "excel"
    if kind in ("xls", "hdf5", "pdf"):
        raise TableError("unsupported", name=name, kind=kind)
    if kind:
        return kind
    if data[257:262] == b"ustar":
        raise TableError("unsupported", name=name, kind="tar")
    start = data[:2048].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")):
        raise TableError("web_page", name=name)
    if start.startswith(b"version https://git-lfs"):
        raise TableError("pointer", name=name)
    suffix = pathlib.PurePosixPath(inner).suffix.lower()
    if suffix in (".json", ".jsonl", ".ndjson") or start.startswith((b'{"', b'[{"', b"[ {", b"[\n")):
        return "json"
    return "text"


def decoded(data: bytes, name: str) -> tuple[str, dict | None]:
    """Text of the bytes, and what to say about the encoding (None for plain UTF-8).

    UTF-8 is tried first, as text in another encoding is hardly ever valid UTF-8; bytes that are mostly UTF-8 with a
    few broken places keep the rest; otherwise Windows-1252, or Latin-1 where that has no letter for a byte.
    """
    for mark, encoding in MARKS:
        if data.startswith(mark):
            try:
                return data.decode(encoding), {"key": "encoding", "encoding": _spoken(encoding)}
            except UnicodeDecodeError as error:
                raise TableError("undecodable", name=name, encoding=_spoken(encoding), byte=error.start) from None
    if b"\x00" in data[:4096]:
        return _without_mark(data, name)
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = f"0x{data[error.start]:02x}"
    mended = data.decode("utf-8", errors="replace")
    broken, foreign = mended.count("\ufffd"), sum(len(run) for run in re.findall(r"[^\x00-\x7f]+", mended))
    if broken < 0.05 * foreign:
        return mended, {"key": "encoding_broken", "line": line, "count": broken}
    for encoding in ("cp1252", "latin-1"):
        try:
            return data.decode(encoding), {
                "key": "encoding_guessed", "encoding": _spoken(encoding), "line": line, "byte": byte,
            }  # fmt: skip
        except UnicodeDecodeError:
            continue
    raise AssertionError("Latin-1 has a letter for every byte")


def _without_mark(data: bytes, name: str) -> tuple[str, dict]:
    """UTF-16 without its mark: every other byte of Western text is zero; anything else with zeros is no text."""
    start = data[:4096]
    even, odd = start[::2].count(0) / (len(start) / 2), start[1::2].count(0) / (len(start) / 2)
    if max(even, odd) > 0.6 and min(even, odd) < 0.1:
        encoding = "utf-16-le" if odd > even else "utf-16-be"
        try:
            return data.decode(encoding), {"key": "encoding", "encoding": _spoken(encoding)}
        except UnicodeDecodeError:
            pass
    raise TableError("binary", name=name)


def _spoken(encoding: str) -> str:
    names = {"utf-8-sig": "UTF-8 (BOM)", "cp1252": "Windows-1252", "latin-1": "Latin-1"}
    return names.get(encoding, encoding.upper())
