"""The whole run on small tables: results, figures, page; stopped runs go on; missing tables are named."""

import gzip
import json
import re

import numpy as np
import pytest

import hyperplan.reproduce
from hyperplan.cli import main
from hyperplan.reproduce import FULL, QUICK, reproduce_thesis
from hyperplan.reproduce._plan import Grid
from hyperplan.reproduce._thesis import EXPERIMENTS
from hyperplan.reproduce._verdicts import verdicts

TINY = QUICK._replace(
    arcene=Grid((3, 5), (2, 3), 3, 2),
    arcene_at=(5, 3),
    arcene_connected=12,
    ionosphere=Grid((3, 5), (2, 3), 3, 2),
    ionosphere_at=(5, 3),
    umap_dims=(2,),
    scaling_ks=(5,),
    gammas=3,
    tuning_folds=2,
    readings=((5, 3),),
    madelon_ks=(5,),
    madelon_dims=(2,),
    madelon_rows=50,
    roll_rows=80,
    digits=30,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables of the right form and a few rows."""
    folder, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(0)

    def classes(n, d):
        y = rng.permutation(np.arange(n) % 2)
        return rng.normal(size=(n, d)) + 1.5 * y[:, None], y

    for name, d in (("arcene", 60), ("madelon", 8)):
        (folder / name).mkdir()
        X, y = classes(44, d)
        parts = {
            "X_train": 1000 * X[:30],
            "y_train": 2 * y[:30] - 1,
            "X_valid": 1000 * X[30:],
            "y_valid": 2 * y[30:] - 1,
        }
        np.savez(folder / name / f"{name}.npz", **parts)
    X, y = classes(40, 5)
    (folder / "ionosphere").mkdir()
    with gzip.open(folder / "ionosphere" / "ionosphere.csv.gz", "wt") as file:
        file.writelines(",".join([*map(str, row), "gb"[label]]) + "\n" for row, label in zip(X.tolist(), y))
    angle = rng.uniform(0, np.pi, size=(40, 3))
    (folder / "isomap_faces_32").mkdir()
    faces = np.tanh(angle @ rng.normal(size=(3, 1024)))
    np.savez(folder / "isomap_faces_32" / "isomap_faces_32.npz", X=faces, pose_light=angle)
    (folder / "mnist").mkdir()
    images = (255 * rng.random((35, 28, 28)) ** 3).astype(np.uint8)
    np.savez(folder / "mnist" / "mnist.npz", X_train=images, y_train=np.repeat([2, 3], [32, 3]))
    return folder


@pytest.fixture(scope="module")
def made(folder, tmp_path_factory):
    out, seen = tmp_path_factory.mktemp("out"), []
    outcome = reproduce_thesis(folder, out, plan=TINY, report=lambda *event: seen.append(event))
    return outcome, seen


def test_everything_is_written(made):
    outcome, seen = made
    assert outcome.missing == [] and outcome.n_made == len(EXPERIMENTS) and outcome.n_reused == 0
    names = {path.name for path in outcome.folder.iterdir()}
    figures = {"arcene.png", "ionosphere.png", "scaling.png", "swiss_roll.png", "faces.png", "digits.png"}
    assert names == figures | {"README.md", "results.json", "curves.csv"}
    assert all((outcome.folder / name).read_bytes()[:4] == b"\x89PNG" for name in figures)
    done = [event[0] for event in seen]
    assert done == sorted(done) and seen[-1][0] == seen[-1][1] == sum(one.ticks(TINY) for one in EXPERIMENTS)


def test_each_experiment_ticks_as_often_as_it_says(made):
    _, seen = made
    for one in EXPERIMENTS:
        counted = {event[0] for event in seen if event[2] == one.name}
        assert len(counted) == one.ticks(TINY), one.name


def test_the_page_points_at_files_that_are_there_and_judges_every_claim(made):
    outcome, _ = made
    page = (outcome.folder / "README.md").read_text(encoding="utf-8")
    assert all((outcome.folder / link).is_file() for link in re.findall(r"\]\(([^)]+)\)", page))
    entries = json.loads((outcome.folder / "results.json").read_text())
    found = verdicts({name: entry["result"] for name, entry in entries.items()})
    assert len(found) >= 18 and all(one.claim in page for one in found)
    assert {one.verdict for one in found} <= {"agrees", "partly", "**differs**", "cannot be checked"}


def test_curves_are_a_table(made):
    outcome, _ = made
    header, *lines = (outcome.folder / "curves.csv").read_text().splitlines()
    assert header.split(",")[:5] == ["table", "method", "scaling", "k", "d"]
    errors = [float(line.split(",")[5]) for line in lines]
    assert len(lines) > 30 and all(0 <= error <= 1 for error in errors)
    assert {line.split(",")[1] for line in lines} == {
        "risimap",
        "isostretch",
        "isomap",
        "pca",
        "kernel_pca",
        "lle",
        "umap",
        "raw",
    }


def test_a_second_run_makes_nothing_again(folder, made):
    outcome, _ = made
    before = (outcome.folder / "results.json").read_bytes()
    again = reproduce_thesis(folder, outcome.folder, plan=TINY)
    assert (again.n_made, again.n_reused) == (0, len(EXPERIMENTS))
    assert (outcome.folder / "results.json").read_bytes() == before


def test_the_command_says_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(hyperplan.reproduce, "QUICK", TINY, raising=False)
    monkeypatch.delenv("HYPERPLAN_DATA", raising=False)
    assert main(["reproduce", "thesis", "--quick", "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert all(f"left out: {name}" in said for name in ("ionosphere", "arcene", "madelon", "faces", "digits"))
    assert "--data FOLDER" in said and "README.md" in said
    assert "Left out" in (tmp_path / "out" / "README.md").read_text()


def test_the_command_refuses_a_folder_that_is_not_there(tmp_path, capsys):
    assert main(["reproduce", "thesis", "--data", str(tmp_path / "nowhere"), "--out", str(tmp_path / "out")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_plans_ask_what_can_be_answered():
    for plan in (FULL, QUICK):
        assert plan.arcene_at[0] in plan.arcene.ks and plan.arcene_at[1] in plan.arcene.dims
        assert plan.ionosphere_at[0] in plan.ionosphere.ks and plan.ionosphere_at[1] in plan.ionosphere.dims
        assert max(plan.arcene.dims) <= 100 and plan.arcene_connected == 48
