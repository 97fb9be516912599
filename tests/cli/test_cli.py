"""The command line, as a newcomer uses it."""

import re

import pytest

from hyperplan._texts.extras import MissingExtraError, required
from hyperplan.cli import build_parser, main


def test_version_and_help(capsys):
    import hyperplan

    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0 and capsys.readouterr().out == f"hyperplan {hyperplan.__version__}\n"
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert all(name in text for name in ("compete", "predict", "verify", "warmup", "doctor", "cache"))


@pytest.mark.parametrize("arguments", [[], ["dance"], ["compete", "--seed", "x"], ["warmup", "--family"]])
def test_wrong_command_lines_are_refused_with_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        build_parser().parse_args(arguments)
    assert stop.value.code == 2 and "usage: hyperplan" in capsys.readouterr().err


def test_a_missing_extra_is_named():
    with pytest.raises(MissingExtraError, match=r"no_such_package_here is needed.*pip install 'no_such_package_here'"):
        required("no_such_package_here.part")


def test_compete_without_rich_says_what_to_install(run_python):
    code = "import sys; sys.modules['rich'] = None; from hyperplan.cli import main; sys.exit(main(['compete']))"
    done = run_python(code, check=False)
    assert done.returncode == 2 and "pip install 'hyperplan[cli]'" in done.stderr and "Traceback" not in done.stderr


def test_doctor_states_the_facts(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("HYPERPLAN_MEMORY_BUDGET", "1e9")
    assert main(["doctor"]) == 0
    lines = dict(line.split(None, 1) for line in capsys.readouterr().out.splitlines() if line[:4] != "cpu " or line)
    for name in ("hyperplan", "numpy", "numba", "scikit-learn", "cpu", "threads", "blas", "cached"):
        assert lines[name].strip()
    assert "953.7 MiB" in lines["memory"]


def test_doctor_says_when_the_cache_cannot_be_written(run_python, tmp_path):
    (tmp_path / "file").touch()
    done = run_python("from hyperplan.cli import main; main(['doctor'])", HYPERPLAN_CACHE_DIR=tmp_path / "file" / "x")
    assert "NOT writable" in done.stdout and done.stderr == ""


def test_clearing_the_cache_removes_digests_only(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HYPERPLAN_CACHE_DIR", str(tmp_path))
    digest = tmp_path / "0123456789abcdef" / "sub"
    digest.mkdir(parents=True)
    (digest / "kernel.nbc").write_bytes(b"x" * 2048)
    (tmp_path / "warm.json").write_text("{}")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "only-copy.tex").write_text("years of work")
    (tmp_path / "0123456789abcdeg").mkdir()
    assert main(["cache"]) == 0
    text = capsys.readouterr().out
    assert "1 compiled kernels, 2.0 KiB" in text and "stale: 1 of them, 2.0 KiB" in text
    assert main(["cache", "--clear"]) == 0
    assert "freed 2.0 KiB" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0123456789abcdeg", "thesis"]
    assert (tmp_path / "thesis" / "only-copy.tex").read_text() == "years of work"


def test_pruning_leaves_the_kernels_of_these_sources(tmp_path, monkeypatch, capsys):
    from hyperplan._core.jit import current_digests

    monkeypatch.setenv("HYPERPLAN_CACHE_DIR", str(tmp_path))
    current = sorted(current_digests())[0]
    for name in (current, "0123456789abcdef"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.nbc").write_bytes(b"x" * 1024)
    (tmp_path / "warm.json").write_text("{}")
    assert main(["cache", "--prune"]) == 0
    assert "removed 1 compiled kernels, freed 1.0 KiB" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([current, "warm.json"])
    assert main(["cache"]) == 0
    assert "stale" not in capsys.readouterr().out


def test_warmup_refuses_an_unknown_family(capsys):
    assert main(["warmup", "--family", "poetry"]) == 2
    assert "no family 'poetry'" in capsys.readouterr().err


def test_what_nobody_foresaw_is_a_sentence_too(monkeypatch, capsys):
    def fail(**_):
        raise ZeroDivisionError("by\nnothing")

    monkeypatch.setattr("hyperplan.cli._verify.run", fail)
    assert main(["verify", "receipt.json", "--lang", "fr"]) == 3
    said = capsys.readouterr().err
    assert (
        re.search(r"ZeroDivisionError: by nothing \(test_cli.py:\d+\) ; c’est un défaut", said)
        and len(said.splitlines()) == 1
    )
    monkeypatch.setenv("HYPERPLAN_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["verify", "receipt.json"])


def test_letters_that_a_terminal_lacks_are_no_reason_to_stop(run_python):
    code = "import sys; from hyperplan.cli import main; sys.exit(main(['verify', 'nulle part', '--lang', 'fr']))"
    found = run_python(code, PYTHONIOENCODING="ascii", check=False)
    assert found.returncode == 2 and "nulle part n?est pas le re?u" in found.stderr, found.stderr
