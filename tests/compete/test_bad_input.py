"""Bad input from the file to the folder: what is written is whole, what cannot be done is a sentence.

Most runs here have a budget that suffices for the baseline only, which is what makes them quick.  Mistakes that are
noticed before anything runs are in ``tests/cli/test_compete.py``, how files are read in ``test_tables.py``.
"""

import errno
import json
import os

import numpy as np
import pytest

from hyperplan.cli import _warmup, main
from hyperplan.compete import CompetitionError, Settings, TableError, candidates, compete
from hyperplan.compete._compete import _asked, as_frame
from hyperplan.compete._crew import Crew
from hyperplan.compete._output import check_folder
from hyperplan.compete._quality import histogram
from hyperplan.compete._question import make_question
from hyperplan.compete._trial import Trial, run_trial

pandas = pytest.importorskip("pandas")
NO_TIME = 1e-6
FILES = {"report.html", "report.json", "predictions.csv", "model", "receipt.json", "settings.toml"}
LINEAR = {"classification": ["LogisticRegression"], "regression": ["Ridge"]}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """``run(content, *options)``: exit status, what was said, what went wrong, the document of the report or None."""
    monkeypatch.setattr(_warmup, "run", lambda *_, **__: 0)
    monkeypatch.setattr("hyperplan.compete._compete.all_candidates", lambda task, _: candidates(task, LINEAR[task]))

    def run(content, *options):
        (tmp_path / "table.csv").write_bytes(content)
        command = ["compete", str(tmp_path / "table.csv"), "--out", str(tmp_path / "out"), "--n-jobs", "1"]
        status = main([*command, "--time", str(NO_TIME), *options])
        said = capsys.readouterr()
        assert "Traceback" not in said.err and {path.name for path in tmp_path.iterdir()} <= {"table.csv", "out"}
        document = None
        if status == 0:
            names = {path.name for path in (tmp_path / "out").iterdir()}
            assert names - {"confusion.csv"} == FILES  # of classes only
            document = json.loads((tmp_path / "out" / "report.json").read_text())
        return status, said.out, said.err, document

    return run


def kinds(document) -> dict:
    return {column["name"]: column["kind"] for column in document["data"]["columns"]}


def ugly(n=120, seed=0):
    """Numbers with infinities, a mixture of numbers and words, an empty column, and two useful ones."""
    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame({"size": rng.normal(size=n).round(3), "colour": rng.choice(["red", "blue"], n)})
    frame["holes"] = np.where(rng.random(n) < 0.5, np.nan, rng.normal(size=n))
    frame["endless"] = rng.normal(size=n)
    frame.loc[::10, "endless"], frame.loc[5::10, "endless"] = np.inf, -np.inf
    frame["mixed"] = [str(k) if k % 3 else f"about {k}" for k in rng.integers(0, 30, n)]
    frame["nothing"] = np.nan
    frame["number"] = 2 * frame["size"] + (frame["colour"] == "red") + 0.3 * rng.normal(size=n)
    return frame.assign(label=np.where(frame["number"] > 0.5, "high", "low"))


# The budget


@pytest.mark.parametrize("target", ["label", "number"])
def test_a_budget_for_nobody_ends_with_the_baseline_and_a_sentence(run, target, tmp_path):
    other = {"label": "number", "number": "label"}[target]
    status, said, _, document = run(ugly().drop(columns=other).to_csv(index=False).encode(), "--target", target)
    rows = {row["name"]: row["status"] for row in document["leaderboard"]}
    assert status == 0 and list(rows.values()) == ["ok", "skipped"] and next(iter(rows)).startswith("Constant")
    assert "was too short for any model" in " ".join(said.split()) and "no time left" in said
    assert main(["verify", str(tmp_path / "out")]) == 0


# Columns


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_candidate_takes_infinite_mixed_and_empty_columns(task):
    target, other = ("label", "number") if task == "classification" else ("number", "label")
    frame = as_frame(ugly().drop(columns=other))
    problem = _asked(frame, Settings(target=target), None)[0].problem
    assert {column.name for column in problem.columns} == {"size", "colour", "holes", "endless", "mixed"}
    for candidate in candidates(task):
        if not candidate.uses_unlabelled:
            outcome = run_trial(problem, Trial(candidate, 0))
            assert np.isfinite(outcome.prediction).all() and np.isfinite(outcome.score), candidate.name


def test_many_rows_with_categories_are_no_reason_to_give_up():
    """Columns of zeros and ones add up to one: a covariance that is hardly shrunk is nearly singular."""
    rng, n = np.random.default_rng(0), 100_000
    frame = pandas.DataFrame({"a": rng.normal(size=n), "k": rng.choice(["x", "y", "z"], n)})
    frame["y"] = np.where(frame["a"] + (frame["k"] == "x") + rng.normal(size=n) > 0, "yes", "no")
    problem = make_question(frame, Settings(target="y")).problem
    names = ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "GaussianNB"]
    for candidate in [c for c in candidates("classification") if c.name in names]:
        assert run_trial(problem, Trial(candidate, 0)).score > 0.8, candidate.name


def test_an_ugly_table_from_the_file_to_the_folder(run):
    status, _, _, document = run(ugly().drop(columns="number").to_csv(index=False).encode(), "--target", "label")
    assert status == 0 and kinds(document)["nothing"] == "empty" and kinds(document)["mixed"] == "category"
    found = {finding["code"]: finding["columns"] for finding in document["audit"]}
    assert "endless" in found["A17"] and "nothing" in found["A07"] and "mixed" in found["A18"]


def test_letters_of_another_encoding(run):
    frame = ugly().drop(columns="number").rename(columns={"size": "âge"}).replace({"red": "rougeâtre"})
    status, said, _, document = run(frame.to_csv(index=False).encode("latin-1"), "--target", "label")
    assert status == 0 and kinds(document)["âge"] == "number" and "not UTF-8" in said
    values = dict(next(c["top"] for c in document["data"]["columns"] if c["name"] == "colour"))
    assert set(values) == {"rougeâtre", "blue"}


def test_columns_of_the_same_name(run, tmp_path):
    content = ugly()[["size", "holes", "label"]].set_axis(["x", "x", "label"], axis=1).to_csv(index=False)
    status, said, _, document = run(content.encode(), "--target", "label")
    assert status == 0 and list(kinds(document)) == ["x", "x_2"] and "x" in said
    settings = (tmp_path / "out" / "settings.toml").read_text()
    assert 'x = "number"' in settings and 'x_2 = "number"' in settings


def test_ten_thousand_columns(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = [",".join(f"{value:.3f}" for value in row) for row in rng.normal(size=(40, 10_000))]
    header = ",".join(f"v{j}" for j in range(10_000))
    lines = [f"{header},y", *(f"{row},{'ab'[k % 2]}" for k, row in enumerate(rows))]
    status, said, _, document = run("\n".join(lines).encode(), "--target", "y")
    assert status == 0 and len(document["data"]["columns"]) == 10_000
    assert "numbers: v0, v1, v2, v3, v4, v5, v6, v7, ... (10000)" in " ".join(said.split())
    assert (tmp_path / "out" / "report.html").stat().st_size < 20e6


# Rows


def test_a_million_rows(run, tmp_path):
    rng = np.random.default_rng(0)
    block = pandas.DataFrame(rng.normal(size=(1000, 3)).round(3), columns=["a", "b", "c"])
    block = block.assign(y=np.where(block["a"] > 0, "yes", "no")).to_csv(index=False).encode()
    header, _, body = block.partition(b"\n")
    status, _, _, document = run(header + b"\n" + 1000 * body, "--target", "y")
    assert status == 0 and document["data"]["labelled"] == 1_000_000
    assert document["leaderboard"][0]["is_baseline"] and len(document["leaderboard"][0]["folds"]) == 5
    assert (tmp_path / "out" / "report.html").stat().st_size < 2e6


N = 120
TIME, A = np.arange(N), np.random.default_rng(0).normal(size=N).round(3)
FOLDS = {  # targets that are constant in some part of the cross-validation
    "later rows of one class": (np.where((TIME < 40) & (TIME % 2 == 0), "yes", "no"), {"time_column": "t"}),
    "a class that comes later": (np.where(TIME > 100, "new", np.where(A > 0, "yes", "no")), {"time_column": "t"}),
    "all judged rows of one class": (np.where(TIME < 60, "yes", "no"), {"time_column": "t", "folds": 2}),
    "groups of one class": (np.where(TIME // 12 % 2, "yes", "no"), {"group": "g"}),
    "a class of two rows": (np.where(TIME < 2, "rare", np.where(A > 0, "yes", "no")), {}),
    "two rows of two classes": (np.where(TIME < 2, "yes", "no"), {}),
    "later numbers that do not change": (np.where(TIME < 40, A, 1.0), {"time_column": "t"}),
}


@pytest.mark.parametrize("case", FOLDS)
def test_a_target_that_is_constant_in_a_fold(case, tmp_path, monkeypatch):
    monkeypatch.setattr("hyperplan.compete._contest.LEVELS", ())
    y, options = FOLDS[case]
    frame = pandas.DataFrame({"a": A, "b": A[::-1], "t": TIME, "g": TIME // 12, "y": y})
    names = ["Ridge"] if y.dtype.kind == "f" else ["LogisticRegression"]
    found = compete(frame, target="y", time=60, n_jobs=1, candidates=names, **options)
    scores = found.table().query("status == 'ok'")["score"]
    assert len(scores) >= 1 and np.isfinite(scores).all()
    assert (found.save(tmp_path / "out") / "report.html").is_file() and len(found.answer()) == 3


# The disk


FULL = """
import resource, sys
from hyperplan.cli import _warmup, main
from hyperplan.compete import _compete as engine, candidates
_warmup.run = lambda *_, **__: 0
engine.all_candidates = lambda task, names: candidates(task, ["LogisticRegression"])
most = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
sys.exit(main(["compete", sys.argv[2], "--target", "y", "--time", "1e-6", "--n-jobs", "1", "--out", sys.argv[3]]))
"""


@pytest.mark.parametrize(
    ("most", "words"),
    [(4_000, "no room for temporary files"), (40_000, "cannot be written to")],
    ids=["no room for the workers", "no room for the report"],
)
def test_a_disk_that_takes_no_more(most, words, tmp_path, run_python):
    """Files cannot grow beyond a size: what a full disk does, at different times."""
    pytest.importorskip("resource", reason="this system has no limits of files")
    frame = pandas.DataFrame({"a": A, "b": A[::-1], "y": np.where(A > 0, "yes", "no")})
    frame.to_csv(tmp_path / "table.csv", index=False)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = run_python(FULL, most, tmp_path / "table.csv", tmp_path / "out", check=False, TMPDIR=scratch)
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert words in done.stderr and done.stderr.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"table.csv", "scratch"} and not list(scratch.iterdir())
    assert ("Majority class" in done.stdout) == (most > 4_000)  # the answer is told where it is known


def test_processes_that_cannot_be_started_leave_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    began = []

    class Worker:
        def __init__(self, answers):
            if began:
                raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
            began.append(self)

        def stop(self):
            began.append("stopped")

    monkeypatch.setattr("hyperplan.compete._crew._Worker", Worker)
    with pytest.raises(CompetitionError, match="Resource temporarily unavailable"), Crew(2):
        pass
    assert began[1:] == ["stopped"] and not list(tmp_path.iterdir())


def test_a_full_disk_leaves_no_half_of_predictions(tmp_path, monkeypatch, capsys):
    found = compete(ugly().drop(columns="number"), target="label", time=NO_TIME, n_jobs=1, candidates=[])
    found.save(tmp_path / "out")
    ugly(20).to_csv(tmp_path / "new.csv", index=False)

    def half(self, file, **_):
        file.write_text("prediction\n")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pandas.DataFrame, "to_csv", half)
    command = ["predict", str(tmp_path / "out"), str(tmp_path / "new.csv"), "--out", str(tmp_path / "new_out.csv")]
    assert main(command) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"out", "new.csv"}


# Folders


def test_a_folder_that_cannot_be_made_is_refused_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(CompetitionError, match="Not a directory"):
        check_folder(tmp_path / "file" / "out")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(CompetitionError, match=r"cannot be written to .*Permission denied"):
        check_folder(tmp_path / "new" / "out")
    assert not (tmp_path / "new").exists()


def test_results_go_where_a_link_leads(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    found = compete(ugly().drop(columns="number"), target="label", time=NO_TIME, n_jobs=1, candidates=[])
    for _ in range(2):
        assert found.save(tmp_path / "link") == tmp_path / "link"
    assert (tmp_path / "real" / "receipt.json").is_file() and (tmp_path / "link").is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"real", "link"}


def test_the_table_is_read_whole_before_the_folder_is_touched(run, tmp_path):
    """A folder of earlier results stays when the new run is a mistake."""
    good = ugly().drop(columns="number").to_csv(index=False).encode()
    assert run(good, "--target", "label")[0] == 0
    before = (tmp_path / "out" / "receipt.json").read_text()
    assert run(good, "--target", "lable")[0] == 2
    assert run(b"a,b\n", "--target", "a")[0] == 2
    assert (tmp_path / "out" / "receipt.json").read_text() == before


# Numbers at the ends of what floats reach


@pytest.mark.parametrize("values", [[1e308, -1e308], [1e17, 1e17 + 16, 1e17 + 32], [1e-310, 3e-310, 2e-310, 0.0]])
def test_columns_at_the_ends_of_floats(run, values):
    table = pandas.DataFrame(
        {"a": [values[k % len(values)] for k in range(N)], "b": A, "y": np.where(A > 0, "yes", "no")}
    )
    status, _, said, document = run(table.to_csv(index=False).encode(), "--target", "y")
    assert status == 0 and not said
    glance = document["data"]["columns"][0]
    assert sum(glance["counts"]) == N and glance["edges"][0] <= min(values) and max(values) <= glance["edges"][-1]


@pytest.mark.parametrize("values", [np.array([1e308, -1e308, 5e307]), 1e17 + 16 * np.arange(3.0), np.full(4, 1e300)])
def test_every_value_is_in_a_bar(values):
    counts, edges = histogram(values, 20)
    assert counts.sum() == len(values) and len(edges) == len(counts) + 1 and np.isfinite(edges).all()
    assert edges[0] <= values.min() and values.max() <= edges[-1] and edges[0] < edges[-1]


def test_the_model_of_an_array_takes_arrays(monkeypatch):
    monkeypatch.setattr("hyperplan.compete._contest.LEVELS", ())
    X, y = np.column_stack([A, A[::-1]]), np.where(A > 0, "yes", "no")
    best = compete(X, y, time=60, n_jobs=1, candidates=["LogisticRegression"]).best
    expected = best.predict(pandas.DataFrame(X, columns=["x0", "x1"]))
    assert (best.predict(X) == expected).all() and best.predict_proba(X).shape == (N, 2)
    with pytest.raises(TableError, match="lacks 1 column"):
        best.predict(X[:, :1])
