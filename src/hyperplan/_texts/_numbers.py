"""Numbers as a language writes them: separators, signs, digits, units of time; and which plural they ask for."""

import math
import re
from numbers import Integral, Real

NARROW, WIDE = "\u202f", "\u00a0"  # unbreakable spaces: inside numbers and before ; ! ? %, and before : and in quotes
MINUS = "\u2212"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
UNKNOWN = "–"
SMALL, LARGE = 9.5e-4, 999_500.0  # sizes between which three digits are read without a power of ten


def decimals_for(width: float | None) -> int:
    """Decimals that show half an interval's width with two digits; negative ones mean tens, hundreds, ..."""
    if not width or width <= 0:
        return 3
    return 1 - math.floor(math.log10(width / 2) + 1e-9)


class Numbers:
    """Numbers of one language."""

    def __init__(self, language: str = "en"):
        self.language = language
        self.french = language == "fr"

    def is_one(self, number: float) -> bool:
        """True if a noun counted by this number is singular."""
        return abs(number) < 2 if self.french else number == 1

    def localised(self, value, decimals: int | None = None):
        """A value for a sentence, where a number follows the language; with ``decimals`` of them wherever the sentence
        asks for some digits."""
        if isinstance(value, bool | Localised) or not isinstance(value, Real):
            return value
        if isinstance(value, Integral) and abs(value) > 10**300:  # no float holds it
            return str(value)
        return Localised(value, self, decimals)

    def number(self, value: float | None, decimals: int = 0) -> str:
        """A number with so many decimals (negative: rounded to tens, ...); far from 1 as a power of ten."""
        if value is None:
            return UNKNOWN
        size = math.floor(math.log10(abs(value))) if value else 0
        if decimals > 6 or size >= 9:
            if value and not -4 <= size < 9:
                return self.scientific(value, min(max(decimals + size, 0), 3))
            decimals = 6
        rounded = round(value, decimals) if decimals < 0 else value
        return self.local(f"{rounded + 0.0:,.{max(decimals, 0)}f}")

    def ungrouped(self, value: float, decimals: int = 0) -> str:
        """A number; one of four digits, which may be a year, has no separator."""
        return self.local(f"{value + 0.0:.{decimals}f}") if abs(value) < 9999.5 else self.number(value, decimals)

    def compact(self, value: float) -> str:
        """Three digits, as a power of ten where zeros would hide them."""
        if value and not SMALL <= abs(value) < LARGE:
            return self.scientific(value)
        shown = f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
        return self.local(shown)

    def local(self, plain: str) -> str:
        """A number as Python prints it, with this language's separators and a true minus sign."""
        if not float(re.sub(r"[,%]", "", plain) or 0):
            plain = plain.replace("-", "")
        plain = plain.replace("-", MINUS)
        if self.french:
            plain = plain.replace(",", NARROW).replace(".", ",").replace("%", f"{NARROW}%")
        return plain

    def percent(self, share: float | None, decimals: int | None = None) -> str:
        """A share as a percentage; near 0 and 1 with a decimal more, so that "0%" means none and "100%" all."""
        if share is None:
            return UNKNOWN
        if decimals is None:
            decimals = 1 if 0 < share < 0.0995 or 0.9905 < share < 1 else 0
        if 0 < share < 0.0005 or 0.9995 < share < 1:
            bound = "0.1%" if share < 0.5 else "99.9%"
            return f"{'<' if share < 0.5 else '>'}{WIDE}{self.local(bound)}"
        return self.local(f"{share * 100:.{decimals}f}%")

    def signed(self, value: float | None, decimals: int) -> str:
        """A difference, with its sign."""
        shown = self.number(value, decimals)
        positive = value is not None and value > 0 and any(digit in shown for digit in "123456789")
        return f"+{shown}" if positive else shown

    def seconds(self, value: float | None) -> str:
        """A duration in the unit people would use."""
        if value is None:
            return UNKNOWN
        if value < 0.00005:
            return f"<{WIDE}{self.number(0.1, 1)}{WIDE}ms"
        if value < 0.9995:
            return f"{self.number(value * 1000, 0 if value >= 0.01 else 1)}{WIDE}ms"
        if value < 99.5:
            return f"{self.number(value, 1 if value < 9.95 else 0)}{WIDE}s"
        if value >= 600:
            return f"{self.number(value / 60)}{WIDE}min"
        minutes, rest = divmod(round(value), 60)
        return f"{minutes}{WIDE}min{WIDE}{rest}{WIDE}s" if rest else f"{minutes}{WIDE}min"

    def probability(self, value: float | None) -> str:
        """A p-value: three decimals, and never zero."""
        if value is None:
            return UNKNOWN
        return f"<{WIDE}{self.number(0.001, 3)}" if value < 0.001 else self.number(value, 3)

    def ticks(self, values) -> list[str]:
        """The labels of evenly spaced ticks on an axis."""
        largest = max(map(abs, values), default=0.0)
        step = values[1] - values[0] if len(values) > 1 else largest or 1.0
        if largest >= 1e9 or step < 1e-5:
            sizes = [math.floor(math.log10(size) + 1e-9) for size in (largest, step) if size > 0]
            digits = max(0, sizes[0] - sizes[-1]) if sizes else 0
            return [self.scientific(value, digits) for value in values]
        scale, unit = next(
            ((s, u) for least, s, u in ((1e6, 1e6, "M"), (1e4, 1e3, "k")) if largest >= least), (1.0, "")
        )
        places = max(0, -math.floor(math.log10(step / scale) + 1e-9))
        shown = [self.local(f"{value / scale:.{places}f}") for value in values]
        return [f"{label}{NARROW}{unit}" if unit and value else label for label, value in zip(shown, values)]

    def scientific(self, value: float, digits: int | None = None) -> str:
        """``2×10⁻⁶``; the mantissa has so many decimals, by default one where it is not whole."""
        if not value:
            return "0"
        mantissa, _, size = f"{value:.{1 if digits is None else digits}e}".partition("e")  # rounded: never 10×10⁻⁴
        if digits is None:
            mantissa = mantissa.removesuffix(".0")
        return f"{self.local(mantissa)}×10{str(int(size)).translate(SUPERSCRIPTS)}"


class Localised(float):
    """A number whose format in a sentence (``{share:.1%}``) follows the language.

    ``{rows:row|rows}`` is the form of a word that the number asks for.
    """

    def __new__(cls, value, numbers: Numbers, decimals=None):
        self = super().__new__(cls, value)
        self.exact, self.numbers, self.decimals = value, numbers, decimals
        return self

    def __format__(self, form: str) -> str:
        if "|" in form:
            one, many = form.split("|")
            return one if self.numbers.is_one(self.exact) else many
        if not form:
            form = ",d" if isinstance(self.exact, Integral) else ".3g"
        if form.endswith("d"):
            return self.numbers.local(format(round(self.exact), form))
        if form.endswith("g") and self.decimals is not None:
            return self.numbers.number(self.exact, self.decimals)
        shown = format(self.exact, form)
        if "e" in shown:  # as people write it
            return self.numbers.number(float(shown)) if "e+" in shown else self.numbers.scientific(self.exact)
        return self.numbers.local(shown)

    def __str__(self) -> str:
        return format(self, "")

    def __repr__(self) -> str:
        return repr(self.exact)
