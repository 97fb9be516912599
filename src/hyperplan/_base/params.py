"""The parameter table: what each constructor argument may be, checked at the start of `fit`."""

import math
from numbers import Integral
from numbers import Real as RealNumber


class InvalidParameterError(ValueError, TypeError):
    """A constructor argument outside its domain."""


class Real:
    """A real number in an interval; `ge`/`le` are closed ends, `gt`/`lt` open ones."""

    _type, _noun = RealNumber, "float"

    def __init__(self, *, ge=None, gt=None, le=None, lt=None):
        self.ge, self.gt, self.le, self.lt = ge, gt, le, lt

    def __call__(self, value):
        if not isinstance(value, self._type) or isinstance(value, bool) or math.isnan(value):
            return False
        return (
            (self.ge is None or value >= self.ge)
            and (self.gt is None or value > self.gt)
            and (self.le is None or value <= self.le)
            and (self.lt is None or value < self.lt)
        )

    def __str__(self):
        low = f"[{self._show(self.ge)}" if self.ge is not None else f"({self._show(self.gt, '-inf')}"
        high = f"{self._show(self.le)}]" if self.le is not None else f"{self._show(self.lt, 'inf')})"
        article = "an" if self._noun == "int" else "a"
        return f"{article} {self._noun} in the range {low}, {high}"

    def _show(self, end, missing=""):
        return missing if end is None else str(int(end) if self._noun == "int" else float(end))


class Int(Real):
    """An integer in an interval."""

    _type, _noun = Integral, "int"


class Choice:
    """One of some strings (or other hashable constants)."""

    def __init__(self, *options):
        self.options = options

    def __call__(self, value):
        return any(value is option or (isinstance(value, str) and value == option) for option in self.options)

    def __str__(self):
        strings = sorted(o for o in self.options if isinstance(o, str))
        others = [repr(o) for o in self.options if not isinstance(o, str)]
        listed = [f"a str among {{{', '.join(map(repr, strings))}}}"] if strings else []
        return _join(listed + others)


class Is:
    """Anything a predicate accepts, described in words."""

    def __init__(self, predicate, description):
        self.predicate, self.description = predicate, description

    def __call__(self, value):
        return bool(self.predicate(value))

    def __str__(self):
        return self.description


class OneOf:
    """Any of several rules."""

    def __init__(self, *rules):
        self.rules = rules

    def __call__(self, value):
        return any(rule(value) for rule in self.rules)

    def __str__(self):
        return _join([str(rule) for rule in self.rules])


def _join(parts):
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


def _is_bool(value):
    return isinstance(value, bool) or type(value).__name__ == "bool"  # numpy's bool has the same name


def _is_seed(value):
    return (
        value is None
        or (isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0)
        or type(value).__name__ in ("RandomState", "Generator")
    )


Bool = Is(_is_bool, "an instance of 'bool'")
Null = Choice(None)
Seed = Is(_is_seed, "an int in the range [0, 4294967295], an instance of 'numpy.random.RandomState' or None")
ArrayLike = Is(lambda v: hasattr(v, "__len__") and not isinstance(v, str | dict), "an array-like")
Jobs = OneOf(Int(), Null)


def check_params(estimator, table=None):
    """Raise `InvalidParameterError` for the first argument outside its rule in the class's ``_params`` table."""
    for name, rule in (table or estimator._params).items():
        value = getattr(estimator, name)
        if not rule(value):
            raise InvalidParameterError(
                f"The {name!r} parameter of {type(estimator).__name__} must be {rule}. Got {value!r} instead."
            )
