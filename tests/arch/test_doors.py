"""Who may import what: Numba and scikit-learn have one door each, and a bare import opens neither."""

import ast
import pathlib

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "src" / "hyperplan"
FILES = sorted(PACKAGE.rglob("*.py"))
HEAVY = ("numba", "llvmlite", "sklearn", "scipy", "numpy", "pandas", "matplotlib", "rich", "joblib")


def imports(path):
    """``(module, names)`` of each import statement anywhere in a file; relative ones keep their dots."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), [alias.name for alias in node.names]


def test_the_package_was_found():
    assert len(FILES) > 20


def test_numba_is_imported_in_one_file_only():
    offenders = {
        str(path.relative_to(PACKAGE))
        for path in FILES
        for module, _ in imports(path)
        if module.partition(".")[0] in ("numba", "llvmlite")
    }
    assert offenders == {"_core/jit.py"}


def test_scikit_learn_is_imported_under_base_only_and_by_public_names():
    for path in FILES:
        for module, names in imports(path):
            if module.partition(".")[0] == "sklearn":
                assert PACKAGE / "_base" in path.parents, path
                assert not any(part.startswith("_") for part in module.split(".") + names), (path, module, names)


@pytest.mark.parametrize("optional", ["pandas", "matplotlib", "rich", "polars", "jinja2", "pyarrow", "duckdb"])
def test_optional_packages_are_imported_inside_functions(optional):
    for path in FILES:
        top_level = [n for n in ast.parse(path.read_text()).body if isinstance(n, ast.Import | ast.ImportFrom)]
        modules = [a.name for n in top_level if isinstance(n, ast.Import) for a in n.names]
        modules += [n.module or "" for n in top_level if isinstance(n, ast.ImportFrom)]
        assert not any(module.partition(".")[0] == optional for module in modules), path


def test_imports_are_absolute():
    assert not [(path, module) for path in FILES for module, _ in imports(path) if module.startswith(".")]


def test_bare_import_loads_nothing_heavy(run_python):
    code = f"import sys, hyperplan; print(sorted(set(sys.modules) & set({HEAVY})))"
    assert run_python(code).stdout.strip() == "[]"


def test_bare_import_costs_less_than_150_ms_of_cpu(run_python):
    """CPU seconds of the process, not wall time, so that a busy machine does not fail the test; best of three."""
    code = "import time; a = time.process_time(); import hyperplan; print(time.process_time() - a)"
    assert min(float(run_python(code).stdout) for _ in range(3)) < 0.15


def test_help_answers_without_numba_and_scikit_learn(run_python):
    code = (
        "import sys\nfrom hyperplan.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit as stop: assert stop.code == 0\n"
        f"print(sorted(set(sys.modules) & set({HEAVY})))"
    )
    assert run_python(code).stdout.strip().endswith("[]")
