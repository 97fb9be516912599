"""Bytes of a text in any encoding to UTF-8, block by block: no copy of a text that is UTF-8 already."""

import codecs
import re

from hyperplan.compete._errors import TableError
from hyperplan.compete._tables_bytes import BLOCK, wide_encoding
from hyperplan.compete._tables_room import Room

MARKS = (  # longest first: the mark of UTF-32 begins like that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
MOSTLY_RIGHT = 0.05  # broken letters among the foreign ones of a text that is UTF-8 all the same


def as_utf8(data: bytearray, room: Room, encoding: str | None = None) -> tuple[bytearray, dict | None]:
    """The text as UTF-8 without a mark, and what to say about its encoding (None for plain UTF-8, or if it is given).

    UTF-8 is tried first, as text in another encoding is hardly ever valid UTF-8; bytes that are mostly UTF-8 with a
    few broken places keep the rest; otherwise Windows-1252, or Latin-1 where that has no letter for a byte.
    """
    if encoding is not None:
        return _given(data, room, encoding), None
    for mark, name in MARKS:
        if data.startswith(mark):
            note = {"key": "encoding", "encoding": _spoken(name), "codec": name}
            if name == "utf-8-sig":
                del data[: len(mark)]
                return _checked(data, room, "utf-8", _spoken(name)), note
            return _recoded(data, room, name), note
    if 0 in data[:4096]:
        name = wide_encoding(bytes(data[:4096]))
        if name is None:
            raise TableError("binary", name=room.name)
        try:
            return _recoded(data, room, name), {"key": "encoding", "encoding": _spoken(name), "codec": name}
        except TableError as error:
            raise error if error.key == "memory" else TableError("binary", name=room.name) from None
    place = first_broken(data)
    if place is None:
        return data, None
    return _mended(data, room, place)


def first_broken(data: bytearray) -> int | None:
    """Where the first byte stands that is not UTF-8, or None."""
    if data.isascii():
        return None
    view, place = memoryview(data), 0
    while place < len(data):
        end = min(place + BLOCK, len(data))
        try:
            done = codecs.utf_8_decode(view[place:end], "strict", end == len(data))[1]
        except UnicodeDecodeError as error:
            return place + error.start
        place += done
    return None


def _given(data: bytearray, room: Room, encoding: str) -> bytearray:
    """A text in the encoding that somebody named, its mark removed."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)
    except (LookupError, UnicodeError):
        raise TableError("encoding_unknown", encoding=encoding) from None
    if name in ("utf-8", "utf-8-sig"):
        if data.startswith(codecs.BOM_UTF8):
            del data[:3]
        return _checked(data, room, "utf-8", "UTF-8")
    return _recoded(data, room, name)


def _checked(data: bytearray, room: Room, name: str, spoken: str) -> bytearray:
    place = first_broken(data)
    if place is not None:
        raise TableError("undecodable", name=room.name, encoding=spoken, byte=place)
    return data


def _recoded(data: bytearray, room: Room, encoding: str, errors: str = "strict") -> bytearray:
    """A text from one encoding to UTF-8; the old bytes are let go of as they are read."""
    room.require(1.5 * len(data))  # a letter of one byte may take three, but few do
    decoder, found, place = codecs.getincrementaldecoder(encoding)(errors), bytearray(), 0
    while place < len(data):
        end = min(place + BLOCK, len(data))
        pending = len(decoder.getstate()[0])
        try:
            piece = decoder.decode(bytes(data[place:end]), end == len(data))
        except UnicodeDecodeError as error:
            where = max(0, place - pending + error.start)
            raise TableError("undecodable", name=room.name, encoding=_spoken(encoding), byte=where) from None
        found += piece.encode("utf-8", errors="replace")
        place = end
        room.require(2 * BLOCK)
    return found


def _mended(data: bytearray, room: Room, place: int) -> tuple[bytearray, dict]:
    """A text that is not UTF-8 at a place: mostly UTF-8, or the encoding of Western Windows."""
    line, byte = data.count(b"\n", 0, place) + 1, f"0x{data[place]:02x}"
    mended = _recoded(data, room, "utf-8", "replace")
    broken = mended.count("\ufffd".encode()) - data.count("\ufffd".encode())
    foreign = sum(len(found[0].decode()) for found in re.finditer(rb"[\x80-\xff]+", mended))
    if broken < MOSTLY_RIGHT * foreign:
        return mended, {"key": "encoding_broken", "line": line, "count": broken}
    del mended
    for encoding in ("cp1252", "latin-1"):
        try:
            found = _recoded(data, room, encoding)
        except TableError as error:
            if error.key == "memory":
                raise
            continue
        said = {"encoding": _spoken(encoding), "codec": encoding, "line": line, "byte": byte}
        return found, {"key": "encoding_guessed", **said}
    raise AssertionError("Latin-1 has a letter for every byte")


def _spoken(encoding: str) -> str:
    names = {"utf-8-sig": "UTF-8 (BOM)", "cp1252": "Windows-1252", "latin-1": "Latin-1", "iso8859-1": "Latin-1"}
    return names.get(encoding, encoding.upper())
