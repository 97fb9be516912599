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


FIRST_FITS = """
import importlib, sys, warnings
import numpy as np, scipy.sparse as sp
from hyperplan._core import jit
warnings.simplefilter("ignore")
rng = np.random.default_rng(1)
X = rng.normal(size=(90, 5))
y = (X[:, 0] + rng.normal(size=90) > 0).astype(int)
frozen = X.copy(order="F")
frozen.setflags(write=False)
for name in sys.argv[1:]:
    family, _, cls = name.partition(".")
    estimator = getattr(importlib.import_module(f"hyperplan.{family}"), cls)
    for data in (X, np.asfortranarray(X), frozen, X.astype(np.float32), sp.csr_array(X)):
        estimator().fit(data, y)
        misses = [(kernel.__name__, list(kernel.stats.cache_misses)) for kernel in jit.kernels
                  if sum(kernel.stats.cache_misses.values())]
        assert not misses, (name, data.dtype, getattr(data, "flags", "sparse"), misses)
print(sum(sum(kernel.stats.cache_hits.values()) for kernel in jit.kernels))
"""


def test_after_the_warmup_a_first_fit_compiles_nothing(run_python):
    names = [f"linear_model.{name}" for name in ("ElasticNet", "LogisticRegression", "Ridge")] + ["svm.LinearSVC"]
    assert [_warmup.warm_one(name) for name in names] == [""] * len(names)
    assert int(run_python(FIRST_FITS, *names).stdout) > len(names)


def test_what_fails_is_reported():
    assert "AttributeError" in _warmup.warm_one("linear_model.NoSuchThing")


def test_a_second_warmup_has_nothing_to_do(tmp_path, run_python):
    code = "from hyperplan.cli import main; raise SystemExit(main(['warmup', '--family', 'preprocessing']))"
    first = run_python(code, HYPERPLAN_CACHE_DIR=tmp_path, timeout=300)
    assert "preprocessing" in json.loads((tmp_path / "warm.json").read_text())
    again = run_python(code, HYPERPLAN_CACHE_DIR=tmp_path)
    assert "nothing to do" in again.stdout and "nothing to do" not in first.stdout
