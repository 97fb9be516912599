"""Results in one file, written after each experiment: a run that was stopped goes on where it was."""

import datetime
import hashlib
import json
import os
import time
from pathlib import Path

NOBODYS = {".DS_Store", "Thumbs.db", "desktop.ini"}  # what file browsers leave behind


class Store:
    """Experiments by name, each with the key of what it depends on.

    Examples
    --------
    >>> import tempfile
    >>> from hyperplan.reproduce._store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = Store(folder).once("sum", "a", lambda: 1 + 1)
    ...     again = Store(folder).once("sum", "a", lambda: 1 / 0)
    >>> first, again
    (2, 2)
    """

    FILE = "results.json"

    def __init__(self, folder):
        self.path = Path(folder) / self.FILE
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.entries: dict[str, dict] = {}
        if self.path.is_file():
            try:
                self.entries = json.loads(self.path.read_text(encoding="utf-8"))
            except ValueError:
                self.entries = None
            if not isinstance(self.entries, dict) or not all(map(_is_entry, self.entries.values())):
                raise ValueError(f"{self.path} is not a file of results; move it away to begin anew")
        elif foreign := sorted({path.name for path in self.path.parent.iterdir()} - NOBODYS):
            shown = ", ".join(foreign[:5])
            raise ValueError(f"{self.path.parent} holds {shown} and no earlier results; choose another folder")

    def has(self, name, key) -> bool:
        """Whether this experiment was made with these settings."""
        entry = self.entries.get(name, {})
        return entry.get("key") == key and "result" in entry

    def once(self, name, key, compute):
        """The stored result, or a new one."""
        if not self.has(name, key):
            before = self._begun(name, key)["seconds"]
            began = time.perf_counter()
            result = compute()
            seconds = round(before + time.perf_counter() - began, 2)
            today = datetime.date.today().isoformat()
            self.entries[name] = {"key": key, "date": today, "seconds": seconds, "result": result}
            self.write()
        return self.entries[name]["result"]

    def part(self, name, key, label, compute):
        """A part of an experiment that takes long, kept until the whole is there."""
        entry = self._begun(name, key)
        if label not in entry["parts"]:
            began = time.perf_counter()
            entry["parts"][label] = compute()
            entry["seconds"] += time.perf_counter() - began
            self.entries[name] = entry
            self.write()
        return entry["parts"][label]

    def _begun(self, name, key) -> dict:
        """What there is of an experiment that is not finished."""
        entry = self.entries.get(name, {})
        is_begun = entry.get("key") == key and "parts" in entry
        return entry if is_begun else {"key": key, "seconds": 0.0, "parts": {}}

    def keep_only(self, names) -> None:
        """Forget experiments that are no longer part of the run."""
        if set(self.entries) - set(names):
            self.entries = {name: entry for name, entry in self.entries.items() if name in names}
            self.write()

    def results(self) -> dict:
        """Results by name, of the experiments that are finished."""
        return {name: entry["result"] for name, entry in self.entries.items() if "result" in entry}

    def write(self) -> None:
        """One experiment per line."""
        lines = [f"{json.dumps(name)}: {json.dumps(entry, allow_nan=False)}" for name, entry in self.entries.items()]
        write_text(self.path, "{\n" + ",\n".join(lines) + "\n}\n")


def _is_entry(entry) -> bool:
    return isinstance(entry, dict) and "key" in entry and ("result" in entry or "parts" in entry)


def key_of(*parts) -> str:
    """Short digest of anything JSON can hold."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def write_text(path, text) -> None:
    """Beside its place first, then renamed: never half a file."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path, content) -> None:
    """The same for bytes."""
    path = Path(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
