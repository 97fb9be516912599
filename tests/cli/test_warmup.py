"""The warm-up: it finds every estimator, compiles, and has nothing to do the second time."""

import json

import pytest

from hyperplan.cli import _warmup
from hyperplan.cli._demo import estimator_names


def test_every_exported_estimator_is_found():
    found = _warmup.estimators()
    assert {"linear_model.Lasso", "linear_model.LogisticRegression", "svm.LinearSVC"} <= set(found)
    assert all(hasattr(estimator, "fit") for estimator in found.values())


def test_the_demo_fits_existing_estimators_only():
    assert estimator_names() <= set(_warmup.estimators())


def test_options_come_from_the_parameter_table():
    from hyperplan._base import Choice, Int, OneOf

    class Model:
        _params = {"solver": OneOf(Choice("a", "b", None), Int()), "fit_intercept": Int(), "alpha": Int()}

    assert list(_warmup._variants(Model)) == [{}, {"solver": "a"}, {"solver": "b"}, {"fit_intercept": False}]


@pytest.mark.parametrize("name", sorted(estimator_names()))
def test_warming_one_estimator_works(name):
    assert _warmup.warm_one(name) == ""


def test_what_fails_is_reported():
    assert "AttributeError" in _warmup.warm_one("linear_model.NoSuchThing")


def test_a_second_warmup_has_nothing_to_do(tmp_path, run_python):
    code = "from hyperplan.cli import main; raise SystemExit(main(['warmup', '--family', 'preprocessing']))"
    first = run_python(code, HYPERPLAN_CACHE_DIR=tmp_path, timeout=300)
    assert "preprocessing" in json.loads((tmp_path / "warm.json").read_text())
    again = run_python(code, HYPERPLAN_CACHE_DIR=tmp_path)
    assert "nothing to do" in again.stdout and "nothing to do" not in first.stdout
