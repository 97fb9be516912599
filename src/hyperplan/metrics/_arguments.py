"""The arguments of metrics: what each may be, checked on entry.

A metric states its rules in one decorator; only arguments that are passed are looked at, since defaults are right.
"""

import functools
import inspect
import numbers

import numpy as np
import scipy.sparse as sp

from hyperplan._base.params import Bool, Choice, Int, InvalidParameterError, Is, Null, OneOf, Real


def _is_array_like(value):
    if sp.issparse(value) or np.isscalar(value) or isinstance(value, dict) or getattr(value, "ndim", 1) == 0:
        return False
    return hasattr(value, "__len__") or hasattr(value, "shape") or hasattr(value, "__array__")


def _is_zero_or_one(value):
    return isinstance(value, numbers.Real) and (value in (0, 1))


def _is_nan(value):
    return isinstance(value, numbers.Real) and bool(np.isnan(value))


Array = Is(_is_array_like, "an array-like")
ArrayOrNone = OneOf(Array, Null)
ArrayOrSparse = OneOf(Array, Is(sp.issparse, "a sparse matrix"))
Nan = Is(_is_nan, "numpy.nan")
Average = Choice("micro", "macro", "samples", "weighted", "binary", None)
Label = Is(
    lambda value: value is None or isinstance(value, numbers.Real | str | np.bool_),
    "an instance of 'float', an instance of 'str', an instance of 'bool' or None",
)
ZeroDivision = OneOf(Is(_is_zero_or_one, "a float among {0.0, 1.0}"), Nan, Choice("warn"))

__all__ = [
    "Array",
    "ArrayOrNone",
    "ArrayOrSparse",
    "Average",
    "Bool",
    "Choice",
    "Int",
    "Is",
    "Label",
    "Nan",
    "Null",
    "OneOf",
    "Real",
    "ZeroDivision",
    "checked",
]


def checked(**rules):
    """Decorator: raise `InvalidParameterError` for the first argument outside its rule.

    >>> @checked(depth=Int(ge=0))
    ... def dig(depth=1):
    ...     return depth
    >>> dig(2)
    2
    >>> dig(depth=-1)
    Traceback (most recent call last):
    ...
    hyperplan._base.params.InvalidParameterError: The 'depth' parameter of dig must be an int in the range [0, inf).
    Got -1 instead.
    """

    def decorate(func):
        names = tuple(inspect.signature(func).parameters)

        @functools.wraps(func)
        def call(*args, **kwargs):
            for name, value in (*zip(names, args), *kwargs.items()):
                rule = rules.get(name)
                if rule is not None and not rule(value):
                    raise InvalidParameterError(
                        f"The {name!r} parameter of {func.__name__} must be {rule}. Got {value!r} instead."
                    )
            return func(*args, **kwargs)

        return call

    return decorate
