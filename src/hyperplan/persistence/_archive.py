"""The container of a model: a zip file with a manifest that lists every member with its size and SHA-256.

Written beside the target and renamed, always with the same bytes for the same model.  Reading trusts nothing: names,
number and sizes of the members are checked before anything is unpacked, the digests while it is.
"""

import contextlib
import errno
import hashlib
import json
import os
import pathlib
import re
import zipfile
from typing import NamedTuple

from hyperplan._core.memory import available_bytes, human_bytes
from hyperplan._core.open_file import open_file
from hyperplan._core.safe_files import write_file
from hyperplan.persistence._errors import ModelFileError

FORMAT = "hyperplan/model"
VERSION = 1  # of the format: raised when older programs could not read newer files
MODEL_FILE = "model.zip"  # the file in a folder given as path
COMPETITION_FILES = ("model/model.hyperplan", "model.hyperplan")  # in the folder of a competition, in its `model`
MANIFEST, DOCUMENT = "manifest.json", "model.json"
NAMES = re.compile(r"manifest\.json|model\.json|arrays/[0-9]{1,4}\.npy")
MAX_MEMBERS = 1000
MAX_MANIFEST, MAX_DOCUMENT = 2**20, 2**29
JSON_GROWTH = (
    32  # bytes of objects that a byte of JSON may become: an empty list, of three characters, takes 64 and more
)
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first time a zip file can have
MEMORY_SHARE = 0.8  # of the memory that is free, which a model may fill


class Member(NamedTuple):
    """A file to be: `chunks` are its bytes in pieces, `size` their number."""

    name: str
    size: int
    chunks: object
    deflate: bool


def file_of(path) -> pathlib.Path:
    """The file to be written for a path: in a folder, `model.zip`."""
    path = pathlib.Path(path)
    return path / MODEL_FILE if path.is_dir() else path


def found_file(path) -> pathlib.Path:
    """The file to be read for a path: in a folder, `model.zip` or the model that a competition put there."""
    path = pathlib.Path(path)
    if not path.is_dir():
        return path
    places = (MODEL_FILE, *COMPETITION_FILES)
    found = next((path / place for place in places if (path / place).is_file()), None)
    if found is None:
        raise FileNotFoundError(
            errno.ENOENT, f"There is no model in this folder (none of {', '.join(places)})", str(path)
        )
    return found


# --- writing


def write_archive(path, members, about, force=False):
    """Write the members and a manifest with `about` to a new file, then put it in place: all of it or nothing."""

    def write(beside):
        with open(beside, "xb") as file, zipfile.ZipFile(file, "w") as archive:
            listed = {member.name: _write_member(archive, member) for member in members}
            manifest = {"format": FORMAT, "version": VERSION, **about, "members": listed}
            text = to_json(manifest)
            _write_member(archive, Member(MANIFEST, len(text), [text], True))

    write_file(path, write, force=force, is_ours=_is_model)


def _is_model(path) -> bool:
    """Whether a file is a model, of whatever version, or nothing yet: what may be replaced unasked."""
    if not os.path.getsize(path):
        return True
    try:
        with zipfile.ZipFile(path) as archive:
            is_small = archive.getinfo(MANIFEST).file_size <= MAX_MANIFEST
            return is_small and from_json(archive.read(MANIFEST)).get("format") == FORMAT
    except Exception:  # whatever a damaged or foreign file makes zipfile raise
        return False


def _write_member(archive, member):
    info = zipfile.ZipInfo(member.name, LONG_AGO)
    info.compress_type = zipfile.ZIP_DEFLATED if member.deflate else zipfile.ZIP_STORED
    if member.name != DOCUMENT:
        info._compresslevel = 1  # numbers shrink nearly as much as at level 6, three times as fast
    info.external_attr, info.create_system = 0o644 << 16, 3
    info.file_size = member.size  # tells zipfile whether the member needs 64-bit sizes
    digest = hashlib.sha256()
    with archive.open(info, "w") as target:
        for chunk in member.chunks:
            digest.update(chunk)
            target.write(chunk)
    return {"size": member.size, "sha256": digest.hexdigest()}


def to_json(value) -> bytes:
    """Compact JSON in ASCII; numbers that are not finite are refused."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


# --- reading


class Archive:
    """An opened model file whose table of contents has been checked; a context manager."""

    def __init__(self, file, max_bytes=None):
        try:
            self._zip = zipfile.ZipFile(file)
            self._infos = _checked_names(self._zip.infolist())
        except ModelFileError:
            raise
        except Exception as error:
            raise ModelFileError(f"This is not a complete model file: {_said(error)}.") from error
        self.manifest = self._read_manifest()
        self._check_sizes(max_bytes)

    def _read_manifest(self):
        if MANIFEST not in self._infos:
            raise ModelFileError(f"This zip file is not a model: it has no {MANIFEST}.")
        if self._infos[MANIFEST].file_size > MAX_MANIFEST:
            raise ModelFileError(f"The file is damaged: its {MANIFEST} is too large.")
        try:
            manifest = from_json(self._zip.read(MANIFEST))
        except ModelFileError:
            raise
        except Exception as error:
            raise ModelFileError(f"The file is damaged: its {MANIFEST} cannot be read ({_said(error)}).") from error
        return _checked_manifest(manifest)

    def _check_sizes(self, max_bytes):
        listed = self.manifest["members"]
        if listed.keys() != self._infos.keys() - {MANIFEST} or DOCUMENT not in listed:
            raise ModelFileError("The file is damaged: its members are not those that its manifest lists.")
        for name, entry in listed.items():
            if entry["size"] != self._infos[name].file_size:
                raise ModelFileError(f"The file is damaged: {name} does not have the size that the manifest states.")
        if listed[DOCUMENT]["size"] > MAX_DOCUMENT:
            raise ModelFileError(f"The file announces {human_bytes(listed[DOCUMENT]['size'])} in {DOCUMENT}: refused.")
        total = sum(entry["size"] for entry in listed.values())
        limit = int(MEMORY_SHARE * available_bytes()) if max_bytes is None else max_bytes
        grown = 0 if max_bytes is not None else JSON_GROWTH * listed[DOCUMENT]["size"]
        if total + grown > limit:
            raise ModelFileError(
                f"The file unpacks to {human_bytes(total + grown)}, more than the {human_bytes(limit)} allowed: free "
                "memory, or pass a larger max_bytes if you trust the file."
            )

    def size_of(self, name) -> int:
        """Bytes of a member; an error if there is none of this name."""
        if name not in self.manifest["members"]:
            raise ModelFileError(f"The file is damaged: it has no {name}.")
        return self.manifest["members"][name]["size"]

    @contextlib.contextmanager
    def stream(self, name):
        """A member as a stream; an error at the end unless all was read and the digest is right."""
        size = self.size_of(name)
        try:
            with self._zip.open(name) as source:
                stream = _Stream(source, name)
                yield stream
                stream.finish(size, self.manifest["members"][name]["sha256"])
        except (ModelFileError, MemoryError):
            raise
        except Exception as error:
            raise ModelFileError(f"The file is damaged: {name} cannot be read ({_said(error)}).") from error

    def document(self):
        """The JSON of the model."""
        with self.stream(DOCUMENT) as stream:
            text = stream.read(self.size_of(DOCUMENT))
        return from_json(text)

    def close(self):
        """Let go of the file."""
        self._zip.close()


class _Stream:
    """A member being read: every byte goes through the digest."""

    def __init__(self, source, name):
        self._source, self._name = source, name
        self._digest, self._count = hashlib.sha256(), 0

    def read(self, n) -> bytes:
        """Exactly n bytes."""
        data = self._source.read(n)
        if len(data) != n:
            raise ModelFileError(f"The file is damaged: {self._name} ends too early.")
        self._digest.update(data)
        self._count += n
        return data

    def readinto(self, buffer):
        """Fill a buffer of bytes."""
        done = 0
        while done < len(buffer):
            n = self._source.readinto(buffer[done:])
            if not n:
                raise ModelFileError(f"The file is damaged: {self._name} ends too early.")
            done += n
        self._digest.update(buffer)
        self._count += done

    def finish(self, size, sha256):
        """Check that all bytes were read and are those that were written."""
        if self._count != size or self._source.read(1):
            raise ModelFileError(f"The file is damaged: {self._name} is longer than what the model uses.")
        if self._digest.hexdigest() != sha256:
            raise ModelFileError(f"The file was changed after it was written: the checksum of {self._name} is wrong.")


@contextlib.contextmanager
def opened(path, max_bytes=None):
    """The archive at a path; errors of the file system (no such file, no permission) are Python's own."""
    with open_file(found_file(path)) as file, contextlib.closing(Archive(file, max_bytes)) as archive:
        yield archive


def from_json(text):
    """A JSON value; NaN and infinity, which JSON does not have, are refused."""

    def refuse(name):
        raise ValueError(f"{name} is not JSON")

    try:
        return json.loads(text.decode("ascii"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"The file is damaged: its JSON cannot be read ({_said(error)}).") from error


def _checked_names(infos):
    """``{name: entry}``; an error for names, kinds of compression or numbers of members that we never write."""
    if len(infos) > MAX_MEMBERS:
        raise ModelFileError(f"This is not a model file: it has {len(infos)} members.")
    found = {}
    for info in infos:
        if NAMES.fullmatch(info.filename) is None or info.orig_filename != info.filename:
            raise ModelFileError(f"This is not a model file: it has a member called {info.filename!r:.60}.")
        if info.filename in found:
            raise ModelFileError(f"The file is damaged or forged: it has two members called {info.filename!r}.")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 0x1:
            raise ModelFileError(f"The file is damaged or forged: {info.filename} is packed in an unknown way.")
        found[info.filename] = info
    return found


def _checked_manifest(manifest):
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError("This zip file is not a model: its manifest does not say so.")
    version, versions, listed = (manifest.get(key) for key in ("version", "versions", "members"))
    if type(version) is not int or version < 1:
        raise ModelFileError("The file is damaged: its manifest has no format version.")
    if version > VERSION:
        raise ModelFileError(
            f"The file has format version {version}; this hyperplan reads up to version {VERSION}: install a newer one."
        )
    if not isinstance(versions, dict) or not all(isinstance(text, str) for text in versions.values()):
        raise ModelFileError("The file is damaged: its manifest does not say which versions wrote it.")
    if not isinstance(listed, dict) or not all(_is_entry(entry) for entry in listed.values()):
        raise ModelFileError("The file is damaged: its manifest does not list its members.")
    return manifest


def _is_entry(entry):
    if not isinstance(entry, dict) or type(entry.get("size")) is not int or entry["size"] < 0:
        return False
    return isinstance(entry.get("sha256"), str)


def _said(error):
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
