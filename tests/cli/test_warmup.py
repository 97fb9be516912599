"""The warm-up: it finds every estimator, compiles, and has nothing to do the second time."""

import json

import pytest

from hyperplan._base import Choice
from hyperplan.cli import _warmup
from hyperplan.cli._warmup_compete import candidate_names, warm_candidate
from hyperplan.linear_model import Lasso


def test_every_exported_estimator_is_found():
    found = _warmup.estimators()
    assert {"linear_model.Lasso", "linear_model.LogisticRegression", "svm.LinearSVC"} <= set(found)
    assert all(hasattr(estimator, "fit") for estimator in found.values())


def test_options_come_from_the_parameter_table():
    from hyperplan._base import Int, OneOf

    class Model:
        _params = {"solver": OneOf(Choice("a", "b", None), Int()), "fit_intercept": Int(), "alpha": Int()}

    assert list(_warmup._variants(Model)) == [{}, {"solver": "a"}, {"solver": "b"}, {"fit_intercept": False}]


@pytest.mark.parametrize("name", candidate_names())
def test_warming_a_candidate_works(name):
    assert warm_candidate(name) == ""


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


LARGE_FITS = """
import importlib, sys, warnings
import numpy as np, scipy.sparse as sp
from hyperplan._core import jit
warnings.simplefilter("ignore")
rng = np.random.default_rng(1)

def sets(family):
    shapes = [(90_000, 9), (500, 150)] if family in ("tree", "ensemble") else [(90_000, 25), (700, 2_600)]
    for n, d in shapes:
        X = rng.normal(size=(n, d))
        score = X[:, :4].sum(axis=1) + rng.normal(size=n)
        yield X, score
        yield X.astype(np.float32), score
    if family not in ("tree", "ensemble"):
        X = sp.random_array((5_000, 4_000), density=0.005, format="csr", rng=rng)
        yield X, X @ rng.normal(size=4_000)

for name in sys.argv[1:]:
    family, _, cls = name.partition(".")
    estimator = getattr(importlib.import_module(f"hyperplan.{family}"), cls)
    limits = {"n_estimators": 3, "max_iter": 5} if family == "ensemble" else {}
    limits = {key: value for key, value in limits.items() if key in estimator().get_params()}
    for X, score in sets(family):
        classify = estimator().__sklearn_tags__().estimator_type == "classifier"
        for y in [(score > 0).astype(int), np.digitize(score, [-1.0, 1.0])] if classify else [score]:
            estimator(**limits).fit(X, y).predict(X)
            misses = [kernel.__name__ for kernel in jit.kernels if sum(kernel.stats.cache_misses.values())]
            assert not misses, (name, X.shape, X.dtype, len(np.unique(y)), misses)
print(sum(sum(kernel.stats.cache_hits.values()) for kernel in jit.kernels))
"""


@pytest.mark.parametrize(
    "name",
    [
        "linear_model.Lasso",
        "linear_model.Ridge",
        "linear_model.LogisticRegression",
        "linear_model.SGDClassifier",
        "svm.LinearSVC",
        "svm.LinearSVR",
        "tree.DecisionTreeClassifier",
        "tree.DecisionTreeRegressor",
        "ensemble.RandomForestClassifier",
        "ensemble.GradientBoostingRegressor",
        "ensemble.HistGradientBoostingClassifier",
    ],
)
def test_after_the_warmup_large_fits_compile_nothing(name, run_python):
    """The size of the data decides which algorithm runs: sizes that the warm-up did not use need nothing new."""
    assert _warmup.warm_one(name) == ""
    assert int(run_python(LARGE_FITS, name, timeout=600).stdout) > 0


def test_an_option_that_is_refused_alone_comes_with_one_that_helps():
    class Model:
        _params = {"solver": Choice("plain", "clever"), "penalty": Choice("l2", "l1")}

        def __init__(self, solver="plain", penalty="l2"):
            if solver == "plain" and penalty == "l1":
                raise ValueError

        def __sklearn_tags__(self):
            return Lasso().__sklearn_tags__()

        def fit(self, X, y):
            return self

    accepted = list(_warmup._accepted(Model))
    assert accepted[0] == {} and {"penalty": "l1", "solver": "clever"} in accepted and {"penalty": "l1"} not in accepted


def test_what_fails_is_reported():
    assert "AttributeError" in _warmup.warm_one("linear_model.NoSuchThing")


def test_a_second_warmup_has_nothing_to_do(tmp_path, run_python):
    code = "from hyperplan.cli import main; raise SystemExit(main(['warmup', '--family', 'preprocessing']))"
    first = run_python(code, HYPERPLAN_CACHE_DIR=tmp_path, timeout=300)
    assert "preprocessing" in json.loads((tmp_path / "warm.json").read_text())
    again = run_python(code, HYPERPLAN_CACHE_DIR=tmp_path)
    assert "nothing to do" in again.stdout and "nothing to do" not in first.stdout
