"""Shared by all tests: where things are, and how to run Python in a fresh process."""

import os
import pathlib
import subprocess
import sys

import hypothesis
import pytest

# The first example may compile a kernel, and the machine may be busy: time says nothing about correctness here.
hypothesis.settings.register_profile("hyperplan", deadline=None)
hypothesis.settings.load_profile("hyperplan")

ROOT = pathlib.Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def run_python():
    """``run_python(code, timeout=60, check=True, **environment)``: a fresh interpreter; None removes a variable."""

    def run(code, *arguments, timeout=120, check=True, options=(), **environment):
        merged = {**os.environ, **environment}
        merged = {name: str(value) for name, value in merged.items() if value is not None}
        command = [sys.executable, *options, *(("-c", code) if code else ()), *map(str, arguments)]
        done = subprocess.run(command, env=merged, cwd=ROOT, timeout=timeout, capture_output=True, text=True)
        if check and done.returncode:
            raise AssertionError(f"exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    return run
