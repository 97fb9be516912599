"""The documents tell the truth: examples run, names exist, tests exist."""

import ast
import doctest
import importlib
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYLLABUS = (ROOT / "docs" / "syllabus.md").read_text(encoding="utf-8")
GUIDE = sorted((ROOT / "docs" / "guide").glob("*.md"))
FAMILIES = (
    "linear_model",
    "svm",
    "tree",
    "ensemble",
    "preprocessing",
    "metrics",
    "model_selection",
    "evaluation",
    "compete",
    "explore",
    "kernels",
    "neighbors",
    "naive_bayes",
    "discriminant_analysis",
    "mixture",
    "multiclass",
    "calibration",
    "linalg",
    "decomposition",
    "random_projection",
    "cluster",
    "manifold",
)
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in SYLLABUS.splitlines()
    if line.startswith("| ") and not line.startswith("| id ")
]
COVERED = (
    [f"C{i}" for i in range(1, 14)]
    + [f"D{i}" for i in range(1, 19)]
    + [f"LR{i}" for i in range(1, 12)]
    + [f"F{i}" for i in (1, 2, 3, 4, 5, 6, 12)]
    + [f"G{i}" for i in range(1, 7)]
    + ["A14", "V1", "V2", "V3", "V5", "T38", "T45", "T47", "T49", "T53", "T58"]
    + [f"T{i:02}" for i in range(5, 14)]
    + [f"I{i}" for i in range(1, 18)]
    + [f"J{i}" for i in (*range(1, 10), 13, 14)]
    + [f"K{i}" for i in range(1, 20)]
    + ["V7", "V8", "V10", "V11", "V12", *(f"T{i}" for i in range(14, 26))]
    + ["X2", "X3", "X9", "X11", "X12"]
    + [
        f"E{i:02}"
        for i in (*range(1, 13), *range(44, 50), 53, 55, *range(70, 74), *range(75, 78), 82, 85, 90, 91, 92, 97)
    ]
    + [f"E{i}" for i in (*range(17, 28), *range(62, 70), 86, 95, 96)]
    + [f"A{i}" for i in range(2, 24)]
    + ["TH1", "TH17", "E56", "E100", "E101"]
    + [f"B{i}" for i in range(1, 16)]
    + ["J10", "J11", "J12", "T01", "T02", "T03", "T04", "T54", "X5"]
    + [f"E{i}" for i in (13, 14, 15, 16, 37, 52, 57, 74, 123)]
    + [*(f"F{i}" for i in range(7, 12)), "P3", "V4", "T26", "T48", "T57", "E50", "E60", "E80", "E81", "E103"]
    + [f"M{i}" for i in (*range(1, 8), 9, 10, 11)]
    + ["H3", "H4", "H5", "F13", "E83", "E84"]
    + ["H1", "H2", "H6", "TH13", "V6", "T59", "E33"]
    + ["L11", "T50", "E32", "E114", "E115"]
    + [*(f"L{i}" for i in (1, 2, 3, 4, 5, 6, 8, 9, 10, 13)), "V13", "T43", "T44", "X4", "X13"]
    + [f"E{i}" for i in (28, 29, 30, 31, 87, 88, 89)]
    + [f"P{i}" for i in (1, 2, *range(6, 12))]
    + [*(f"O{i}" for i in range(1, 7)), "V15", "V16", "V21", "T39", "T40", "T41", "T42", "X6", "E34", "E35", "E36"]
    + [f"R{i}" for i in range(1, 8)]
    + ["T27", "T33", "T34", "T35", "T36", "V23", "Q7", "X7", "X19", "X23"]
    + [f"E{i}" for i in (38, 39, 40, 41, 42, 102, 119, 120, 121)]
    + ["P4", "P5", *(f"Q{i}" for i in (*range(1, 7), *range(8, 18))), *(f"TH{i}" for i in range(7, 13)), "T28", "T29"]
    + ["V17", "V18", "V19", "V20", "V22", "T37", "T51", "T52", "T55", "T56", "T60", "X8", "X18"]
    + [f"E{i}" for i in (43, *range(104, 114), 116, 117, 118, *range(122, 132))]
    + ["X17", "X20", "X21", "X22", "AM9", "AM10", "AM11", "AM14", "AM15", "AM16"]
)


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def test_readme_examples_run():
    result = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert result.attempted >= 8 and result.failed == 0


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_guide_examples_run(page):
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted >= 10 and result.failed == 0


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.stem)
def test_guide_names_exist(page):
    """Class and function names in the tables of the guide are public names of some family."""
    words = re.findall(r"`(?:\w+\.)*([A-Z][a-z]\w+)", page.read_text(encoding="utf-8"))
    families = [importlib.import_module(f"hyperplan.{name}") for name in FAMILIES]
    assert len(words) > 5 and not [word for word in words if not any(hasattr(module, word) for module in families)]


@pytest.mark.parametrize("page", [ROOT / "README.md", *GUIDE], ids=lambda page: page.stem)
def test_pages_point_at_files_that_exist(page):
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    assert links and not [link for link in links if "://" not in link and not (page.parent / link).exists()]


def test_readme_and_guide_show_every_page_and_picture():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for page in GUIDE:
        assert f"docs/guide/{page.name}" in readme
        assert f"({page.stem}.png)" in page.read_text(encoding="utf-8")


def test_readme_has_its_benchmark_section():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert text.index("<!-- benchmarks: begin -->") < text.index("<!-- benchmarks: end -->")


def test_every_topic_of_this_release_has_a_row():
    listed = {identifier.strip() for row in ROWS for identifier in row[0].split(",")}
    assert set(COVERED) <= listed


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_syllabus_row_names_an_object_that_imports_and_a_test_that_exists(row):
    _, topic, objects, proofs = row
    assert topic and names(objects) and names(proofs)
    for name in names(objects):
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(f"hyperplan.{module}"), attribute), name
    for node in names(proofs):
        file, _, function = node.partition("::")
        tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
        assert function in {item.name for item in tree.body if isinstance(item, ast.FunctionDef)}, node


def test_versions_agree():
    import hyperplan

    for file, pattern in (("pyproject.toml", r'^version = "(.+)"'), ("CITATION.cff", r"^version: (.+)$")):
        found = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
        assert found and found[1] == hyperplan.__version__, file
    assert f"## {hyperplan.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
