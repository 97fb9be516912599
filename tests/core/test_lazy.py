"""Names load when they are asked for, and only what they need."""

import gc
import importlib
import pickle
import sys

import pytest

from hyperplan._core.lazy import collector_paused, lazy_names

LAZY = ("linear_model", "svm", "preprocessing", "optimize")


def test_the_collector_is_paused_and_comes_back_as_it_was():
    with collector_paused():
        with collector_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), collector_paused():
        1 / 0  # noqa: B018
    assert gc.isenabled()


@pytest.mark.parametrize("family", LAZY)
def test_every_listed_name_exists_and_nothing_else_does(family):
    module = importlib.import_module(f"hyperplan.{family}")
    assert module.__all__ == sorted(module.__all__) == dir(module)
    everything = {}
    exec(f"from hyperplan.{family} import *", everything)
    assert set(module.__all__) <= set(everything)
    with pytest.raises(AttributeError, match=f"module 'hyperplan.{family}' has no attribute 'nonsense'"):
        module.nonsense  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        exec(f"from hyperplan.{family} import nonsense")


def test_classes_keep_their_home_for_pickle():
    from hyperplan.linear_model import Lasso

    assert pickle.loads(pickle.dumps(Lasso)) is Lasso


def test_private_modules_can_be_reached_as_attributes(run_python):
    code = "import hyperplan; print(hyperplan.linear_model._elastic_net.Lasso.__name__)"
    assert run_python(code).stdout == "Lasso\n"


def test_renamed_imports_are_found(tmp_path, monkeypatch):
    package = tmp_path / "lazy_example"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from typing import TYPE_CHECKING\nfrom hyperplan._core.lazy import lazy_names\n"
        "if TYPE_CHECKING:\n    from math import tau as circle\n"
        "__getattr__, __dir__, __all__ = lazy_names(__name__)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("lazy_example")
    assert module.__all__ == ["circle"] and round(module.circle, 2) == 6.28
    assert lazy_names("lazy_example")[2] == ["circle"]
    del sys.modules["lazy_example"]


def test_one_estimator_loads_neither_the_family_nor_what_scikit_learn_does_not_need(run_python):
    code = (
        "import sys; from hyperplan.linear_model import Ridge\n"
        "unwanted = ['sklearn.metrics', 'sklearn.model_selection', 'hyperplan._solvers._sgd_kernels', "
        "'hyperplan.linear_model._logistic_cv']\n"
        "print([name for name in unwanted if name in sys.modules])"
    )
    assert run_python(code).stdout.strip() == "[]"
