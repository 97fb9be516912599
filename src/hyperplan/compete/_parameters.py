"""Settings as keyword parameters: a function declares one for each field of its record, and gets the record."""

import functools
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def with_settings(kind: type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Gather keyword parameters that are fields of a record into the parameter `settings`.

    A record given as ``settings=`` counts where no parameter is given; what is given counts even if it is the default.
    The function declares the parameters for readers, `help` and type checkers, with the defaults of the record; it
    reads `settings` only.  A new field needs a parameter and a line of its docstring, which a test asks for.

    Parameters
    ----------
    kind : type
        `Settings` or a record like it.
    """
    known = {item.name: item for item in fields(kind)}

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        declared = set(function.__kwdefaults__ or {}) & known.keys() - {"test"}  # rows to predict, not their file

        @functools.wraps(function)
        def asked(*args, settings=None, **given):
            chosen = {name: value for name, value in given.items() if name in declared}
            chosen = {name: value for name, value in chosen.items() if value is not None or _may_be_none(known[name])}
            whole = kind(**chosen) if settings is None else replace(settings, **chosen)
            return function(*args, settings=whole, **given)

        return asked

    return decorate


def _may_be_none(item) -> bool:
    """Whether None is a value: where the default is a new dictionary, it only stands for that."""
    return item.default_factory is MISSING
