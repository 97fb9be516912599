"""Splitters and searches are scikit-learn's, and load only when asked for."""

import sklearn.experimental.enable_halving_search_cv  # noqa: F401
import sklearn.model_selection as theirs

import hyperplan.model_selection as ours


def test_every_name_of_scikit_learn_is_here():
    assert set(ours.__all__) == set(theirs.__all__)
    assert all(getattr(ours, name) is getattr(theirs, name) for name in theirs.__all__)


def test_importing_the_package_loads_none_of_them(run_python):
    code = "import sys, hyperplan.model_selection, hyperplan.evaluation; print('sklearn' in sys.modules)"
    assert run_python(code).stdout.strip() == "False"
