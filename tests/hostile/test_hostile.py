"""Hostile cases from ``cases/*.toml``: the right exit status, the right words, and no file of the user touched.

The README beside this file says how a case is written.
"""

import base64
import bz2
import contextlib
import gzip
import html
import io
import json
import lzma
import os
import re
import runpy
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import pytest

pandas = pytest.importorskip("pandas")
pytest.importorskip("rich")
pytest.importorskip("jinja2")

from hyperplan._texts import speaking_to_command  # noqa: E402
from hyperplan.cli import _warmup, main  # noqa: E402
from hyperplan.compete import candidates, compete, read_table  # noqa: E402

HERE = Path(__file__).resolve().parent
MAKERS = runpy.run_path(str(HERE / "makers.py"))
PATIENCE = 120  # seconds after which a case counts as one that hangs
NEVER = ("Traceback", "something went wrong that should not have")
QUICK = {"classification": ["LogisticRegression"], "regression": ["Ridge"]}
REPORTS = {"classes": ("rows_of", 2), "several": ("rows_of", 3), "numbers": ("rows_of", 0), "clear": ("clear_rows", 2),
           "clear numbers": ("clear_rows", 0)}  # fmt: skip
KERNELS = "hyperplan-cache-"  # compiled ones, kept among temporary files where nothing else can be written
KEYS = {"name", "command", "exit", "says", "hides", "new", "changed", "files", "environment", "process", "peak_mb",
        "folder", "candidates", "holds", "table", "needs"}  # fmt: skip


def load_cases() -> dict[str, dict]:
    """All cases by name; a name that stands twice or a key nobody knows is a mistake in the data."""
    found: dict[str, dict] = {}
    for path in sorted((HERE / "cases").glob("*.toml")):
        for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            name = f"{path.stem}: {case['name']}"
            assert name not in found and case.keys() <= KEYS, f"{name}: twice, or unknown {case.keys() - KEYS}"
            found[name] = case
    return found


CASES = load_cases()


def test_names_are_unique_and_there_are_many():
    assert len({name.partition(": ")[2] for name in CASES}) == len(CASES)


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """``reports(kind)``: the folder of a small competition, made once (see `REPORTS`)."""
    made: dict[str, Path] = {}

    def report(kind: str) -> Path:
        if kind not in made:
            folder = tmp_path_factory.mktemp("reports") / kind
            folder.mkdir()
            maker, classes = REPORTS[kind]
            MAKERS[maker](folder / "table.csv", n=60, classes=classes)
            frame = read_table(folder / "table.csv")
            names = QUICK["classification" if classes else "regression"]
            with pytest.MonkeyPatch.context() as patch:  # with few tries it is done long before its time is up
                patch.setattr("hyperplan.compete._contest.LEVELS", (1,))
                result = compete(frame, target="y", time=60, candidates=names, n_jobs=1)
            result.save(folder / "report", str(folder / "table.csv"))
            made[kind] = folder / "report"
        return made[kind]

    return report


def put(path: Path, content, reports) -> None:
    """Make one file of a case."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8", newline="")
        return
    content = dict(content)
    mode = content.pop("mode", None)
    ((kind, value), *more) = content.items()
    if kind == "text":
        path.write_text(value, encoding="utf-8", newline="")
    elif kind == "base64":
        path.write_bytes(base64.b64decode(value))
    elif kind == "pack":
        _pack(path, value, content["text"])
    elif kind == "make":
        MAKERS[value](path, **dict(more))
    elif kind == "report":
        shutil.copytree(reports(value), path)
    else:
        _special(path, kind, value)
    if mode is not None:
        path.chmod(int(mode, 8))


def _pack(path: Path, packing: str, text: str) -> None:
    data = text.encode()
    if packing == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("table.csv", data)
        return
    path.write_bytes({"gzip": gzip, "bz2": bz2, "xz": lzma}[packing].compress(data))


def _special(path: Path, kind: str, value) -> None:
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as server, contextlib.chdir(path.parent):
            server.bind(path.name)  # by its short name: addresses have room for about 100 letters
    elif kind == "link":
        path.symlink_to(value)
    elif kind == "hardlink":
        path.hardlink_to(path.parent / value)
    else:
        raise ValueError(f"no such kind of file: {kind}")


def listing(folder: Path) -> dict[str, object]:
    """Everything in a folder: kind and content of each entry."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name, mode = str(path.relative_to(folder)), path.lstat().st_mode
        if stat.S_ISREG(mode):
            size = path.stat().st_size
            found[name] = path.read_bytes() if size < 2**26 and os.access(path, os.R_OK) else size
        else:
            found[name] = (stat.S_IFMT(mode), os.readlink(path) if stat.S_ISLNK(mode) else None)
    return found


def read_command(path: str) -> int:
    """Read a table; print its notes and its content."""
    from hyperplan.compete import TableError, table_notes

    try:
        frame = read_table(path)
    except TableError as error:
        print(f"hyperplan: {error}", file=sys.stderr)
        return 2
    print("\n".join(table_notes(frame)))
    rows = frame.astype(object).where(frame.notna(), "").astype(str).to_numpy().tolist()
    print(json.dumps({"columns": list(frame.columns), "rows": rows}))
    return 0


def ask_command(path: str, *options: str) -> int:
    """Go as far as the question; print what was guessed and found."""
    from hyperplan._texts import text
    from hyperplan.cli import build_parser
    from hyperplan.cli._compete import _settings, guesses
    from hyperplan.compete import table_notes
    from hyperplan.compete._compete import _asked
    from hyperplan.compete._errors import SpokenError

    chosen = vars(build_parser().parse_args(["compete", path, *options]))
    language = chosen["lang"] or "en"
    try:
        settings = _settings(
            chosen.pop("table"), chosen.pop("example"), {k: chosen[k] for k in chosen if k != "command"}
        )
        frame = read_table(settings.table)
        test = None if settings.test is None else read_table(settings.test)
        question, findings = _asked(frame, settings, test)
    except SpokenError as error:
        print(f"hyperplan: {error.message(language)}", file=sys.stderr)
        return 2
    print("\n".join([*table_notes(frame, language), *guesses(question, language)]))
    for finding in findings:
        words = text(f"audit.{finding.code}.message", language, columns=", ".join(finding.columns), **finding.values)
        print(finding.code, words)
    return 0


def draw_command(path: str, language: str = "en") -> int:
    """Print what the terminal and the page show of a document, and whether the page is a small one."""
    from rich.console import Console

    from hyperplan.cli._compete import leaderboard
    from hyperplan.report import render_report
    from hyperplan.report._names import readable
    from hyperplan.report._wording import Wording

    document = json.loads(Path(path).read_text(encoding="utf-8"))
    try:
        page = render_report(document, language, "confusion.csv")
    except ValueError as error:
        print(f"hyperplan: {error}", file=sys.stderr)
        return 2
    console = Console(file=sys.stdout)
    console.print(leaderboard(readable(document, Wording(language)), language, console.width))
    print(html.unescape(re.sub("<[^>]*>", " ", re.sub(r"(?s)<wbr>|<(style|script).*?</\1>", "", page))))
    print("a small page" if len(page.encode()) < 1_500_000 else "a large page")
    return 0


class Hanging(BaseException):
    """A case takes too long; no handler of errors may take it for one."""


@contextlib.contextmanager
def no_hanging():
    """A case that takes too long fails instead of stopping everything."""

    def ring(number, frame):
        raise Hanging(f"still running after {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run_here(command: list[str]) -> tuple[int, str]:
    """Exit status and output of a command in this process."""
    out = io.StringIO()
    inner = {"read": read_command, "ask": ask_command, "draw": draw_command}.get(command[0] if command else "")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), no_hanging():
        try:
            with speaking_to_command():
                status = inner(*command[1:]) if inner else main(command)
        except SystemExit as leaving:  # how argparse ends
            status = int(leaving.code or 0)
    return status, out.getvalue()


# What a process writes down when it ends.  The system's own account of a child counts the memory of its parent, too.
PEAK = """import atexit, os, re
def note():
    with open("/proc/self/status") as status, open(os.environ["PEAK_FILE"], "w") as file:
        file.write(re.search(r"VmHWM:\\s*(\\d+)", status.read())[1])
atexit.register(note)
"""


def run_apart(command: list[str], environment) -> tuple[int, str, float]:
    """The same in a process of its own, with the megabytes it had in memory at most."""
    code = "import sys; from hyperplan.cli import main; sys.exit(main(sys.argv[1:]))"
    if command[0] in ("read", "ask"):
        code = f"import sys; sys.path.insert(0, {str(HERE)!r}); import test_hostile as t; "
        code += "from hyperplan._texts import speaking_to_command as to_command\nwith to_command(): "
        code += "sys.exit({'read': t.read_command, 'ask': t.ask_command}[sys.argv[1]](*sys.argv[2:]))"
    with tempfile.TemporaryFile("w+") as said, tempfile.NamedTemporaryFile("w+") as peak:
        process = subprocess.Popen(
            [sys.executable, "-c", PEAK + code, *command],
            stdout=said,
            stderr=said,
            stdin=subprocess.DEVNULL,
            env={**environment, "PEAK_FILE": peak.name},
        )
        with no_hanging():
            try:
                process.wait()
            except Hanging:
                process.kill()
                process.wait()
                raise
        said.seek(0)
        kilobytes = int(peak.read() or 0)
        return process.returncode, said.read(), kilobytes / 1024


@pytest.mark.parametrize("name", CASES)
def test_hostile(name, tmp_path, monkeypatch, reports):
    case = CASES[name]
    if "needs" in case:
        pytest.importorskip(case["needs"])
    here, scratch = tmp_path / "here", tmp_path / "scratch"
    here.mkdir(), scratch.mkdir()
    for file, content in case.get("files", {}).items():
        put(here / file, content, reports)
    before = listing(here)
    monkeypatch.chdir(here / case.get("folder", "."))
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(tempfile, "tempdir", None)
    for variable, value in case.get("environment", {}).items():
        monkeypatch.setenv(variable, value) if value else monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(_warmup, "run", lambda *_, **__: 0)
    chosen = case.get("candidates")
    monkeypatch.setattr(
        "hyperplan.compete._compete.all_candidates", lambda task, _=None: candidates(task, chosen or QUICK[task])
    )
    if case.get("process"):
        status, said, peak = run_apart(case["command"], dict(os.environ))
        assert "peak_mb" not in case or 0 < peak <= case["peak_mb"], f"{peak:.0f} MB"
    else:
        status, said = run_here(case["command"])
    check(case, status, said, before, listing(here), here)
    left = sorted(path.name for path in scratch.iterdir() if not path.name.startswith(KERNELS))
    assert not left, f"left in the temporary folder: {left}"


def check(case: dict, status: int, said: str, before: dict, after: dict, here: Path) -> None:
    """Hold what happened to what the case says."""
    folded = " ".join(said.split())
    assert status == case.get("exit", 0), said
    for words in case.get("says", ()):
        assert words in folded, f"{words!r} is not in: {said}"
    for words in (*NEVER, *case.get("hides", ())):
        assert words not in folded, f"{words!r} is in: {said}"
    changed = case.get("changed", [])
    for name, content in before.items():
        if name.partition("/")[0] not in changed and name not in changed:
            assert name in after and after[name] == content, f"{name} was changed"
    extra = {name for name in after.keys() - before.keys()}
    allowed = (*case.get("new", ()), *changed)
    extra = {name for name in extra if name not in allowed and name.partition("/")[0] not in allowed}
    assert not extra, f"new files: {sorted(extra)}"
    for name, texts in case.get("holds", {}).items():
        content = (here / name).read_text(encoding="utf-8")
        for words in texts:
            assert words in content, f"{words!r} is not in {name}: {content[:2000]}"
    if "table" in case:
        found = json.loads(said.strip().splitlines()[-1])
        assert found["columns"] == case["table"]["columns"]
        assert found["rows"] == case["table"]["rows"]
