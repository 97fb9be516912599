"""Kernel rules that a machine can check; what the cache digest relies on is among them."""

import ast
import pathlib
import re

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "src" / "hyperplan"
FILES = sorted(PACKAGE.rglob("*.py"))
KERNEL_FILES = [path for path in FILES if re.fullmatch(r"_\w*kernels\.py", path.name)]
ALLOWED = re.compile(r"numpy|math|typing|hyperplan\._core\.jit|hyperplan(\.\w+)*\._\w*kernels")
MAX_PARAMETERS, MAX_LINES = 12, 80

by_name = pytest.mark.parametrize("path", KERNEL_FILES, ids=lambda path: str(path.relative_to(PACKAGE)))


def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def kernels(path):
    """Functions under one of the decorators of `_core.jit`."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef):
            names = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
            if names & {"kernel", "fast_kernel", "inner_kernel", "view_kernel"}:
                yield node


def test_kernels_live_in_kernel_files():
    elsewhere = [path for path in FILES if path not in KERNEL_FILES and any(kernels(path))]
    assert elsewhere == []
    assert sum(1 for path in KERNEL_FILES for _ in kernels(path)) > 0


@by_name
def test_kernels_are_small(path):
    for kernel in kernels(path):
        arguments = kernel.args
        assert len(arguments.posonlyargs + arguments.args + arguments.kwonlyargs) <= MAX_PARAMETERS, kernel.name
        assert not arguments.vararg and not arguments.kwarg, kernel.name
        assert kernel.end_lineno - kernel.lineno < MAX_LINES, kernel.name


@by_name
def test_imports_are_what_the_digest_follows(path):
    """Top level, absolute, ``from module import name``, kernel files only: a change below changes the digest."""
    module = tree(path)
    found = [node for node in ast.walk(module) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert all(node in module.body for node in found), "an import inside a function escapes the digest"
    for node in found:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module]
        for name in names:
            assert ALLOWED.fullmatch(name or ""), name
            if name.startswith("hyperplan"):
                assert isinstance(node, ast.ImportFrom) and node.level == 0, name
                target = PACKAGE.joinpath(*name.split(".")[1:]).with_suffix(".py")
                assert target.is_file(), name


@by_name
def test_no_hidden_state_and_no_parallel_compiler(path):
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Attribute):
            assert ast.unparse(node) != "np.random", "hidden per-thread state"
        if isinstance(node, ast.Global | ast.Nonlocal):
            raise AssertionError(f"{path.name}:{node.lineno}: kernels read no changing globals")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_prange_jitclass_or_parallel_true(path):
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            assert name not in ("prange", "jitclass"), name
        if isinstance(node, ast.keyword) and node.arg == "parallel":
            assert not getattr(node.value, "value", True), "parallel=True"
