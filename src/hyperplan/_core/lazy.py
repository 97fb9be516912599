"""Imports that cost as little as they can: names loaded on first use, and no garbage collection meanwhile."""

import ast
import contextlib
import gc
import importlib
import pathlib
import sys


@contextlib.contextmanager
def collector_paused():
    """No garbage collection inside the block.

    What an import creates stays, so that a collector which walks through it again and again finds nothing: with
    scikit-learn loaded each such walk takes 80 ms, and loading scikit-learn and Numba a sixth longer.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def lazy_names(package: str):
    """``__getattr__, __dir__, __all__`` of a package whose names are imported when they are first asked for.

    The table of names is the package's own ``if TYPE_CHECKING:`` block, so that editors, type checkers and readers
    see plain import lines.
    """
    module = sys.modules[package]
    where = _imports_for_type_checkers(pathlib.Path(module.__file__ or "").read_text(encoding="utf-8"))
    parts = {source.rpartition(".")[2]: source for source, _ in where.values() if source.startswith(f"{package}.")}

    def __getattr__(name):
        if name not in where and name not in parts:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with collector_paused():
            source, original = where.get(name) or (parts[name], None)
            value = importlib.import_module(source)
        value = value if original is None else getattr(value, original)
        setattr(module, name, value)
        return value

    def __dir__():
        return sorted({*where, *vars(module).get("__all__", ())})

    return __getattr__, __dir__, sorted(where)


def _imports_for_type_checkers(text: str) -> dict[str, tuple[str, str]]:
    """``{name: (module, name there)}`` of the imports below ``if TYPE_CHECKING:``."""
    found = {}
    for block in ast.parse(text).body:
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING":
            for line in block.body:
                if isinstance(line, ast.ImportFrom):
                    found.update({item.asname or item.name: (line.module or "", item.name) for item in line.names})
    return found
