"""The parameter table: what is accepted, and what a wrong argument is told."""

import numpy as np
import pytest

from hyperplan._base import (
    ArrayLike,
    Bool,
    Choice,
    Int,
    InvalidParameterError,
    Jobs,
    Null,
    OneOf,
    Real,
    Seed,
    check_params,
)


@pytest.mark.parametrize(
    "rule, good, bad",
    [
        (Real(ge=0), [0, 0.0, 1e300, np.float32(2)], [-1e-9, "1", None, True, float("nan"), np.nan]),
        (Real(gt=0, lt=1), [0.5, np.float64(0.1)], [0, 1, 1.5]),
        (Real(ge=0, le=1), [0, 1, 0.5], [1.0001, -0.1]),
        (Int(ge=1), [1, 10**9, np.int64(3)], [0, 1.0, "1", True, None]),
        (Choice("a", "b"), ["a", "b"], ["c", None, 1]),
        (Choice("a", None), ["a", None], ["None", 0]),
        (OneOf(Real(ge=0), Choice("auto"), Null), [0.0, "auto", None], [-1, "other", []]),
        (Bool, [True, False, np.True_], [1, 0, "True", None]),
        (Seed, [None, 0, 7, np.int64(3), np.random.RandomState(0)], [-1, 1.5, "0", True]),
        (Jobs, [None, 1, -1], [1.5, "2", True]),
        (ArrayLike, [[1], (1,), np.ones(2)], ["ab", {"a": 1}, 3]),
    ],
    ids=lambda value: str(value)[:30] if not isinstance(value, list) else "",
)
def test_rules_accept_and_reject(rule, good, bad):
    assert all(rule(value) for value in good), [value for value in good if not rule(value)]
    assert not any(rule(value) for value in bad), [value for value in bad if rule(value)]


class Model:
    _params = {"alpha": Real(ge=0), "solver": OneOf(Choice("newton", "lbfgs"), Null)}

    def __init__(self, alpha=1.0, solver=None):
        self.alpha, self.solver = alpha, solver


def test_the_message_names_parameter_class_domain_and_value():
    message = r"The 'alpha' parameter of Model must be a float in the range \[0\.0, inf\)\. Got -1 instead\."
    with pytest.raises(InvalidParameterError, match=message):
        check_params(Model(alpha=-1))
    with pytest.raises(ValueError, match=r"a str among \{'lbfgs', 'newton'\} or None\. Got 'sgd' instead"):
        check_params(Model(solver="sgd"))


def test_the_error_is_what_scikit_learn_raises():
    from sklearn.utils._param_validation import InvalidParameterError as reference

    assert reference.__mro__[1:3] == InvalidParameterError.__mro__[1:3] == (ValueError, TypeError)


def test_good_parameters_pass_in_silence():
    assert check_params(Model(0.5, "newton")) is None
