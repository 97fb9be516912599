"""One language: its sentences, plural forms, spaces and numbers.

Sentences stand in ``_texts/<language>/report.toml`` with ordinary spaces; French gets its unbreakable spaces here,
before names of the user's data are filled in, so that those are shown as they are.  A number has as many digits as the
width of its interval justifies.
"""

import math
import re

from hyperplan._texts import LANGUAGES, area_texts, printable

NARROW, WIDE = "\u202f", "\u00a0"  # unbreakable spaces: inside numbers and before ; ! ? %, and before : and in quotes
MINUS = "\u2212"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
UNKNOWN = "–"
ENDS = re.compile(r"(?<=[_./\\:;,|+&)\]])(?=\w)|(?<=[^\W_])(?=_)|(?<=[a-z])(?=[A-Z])")  # of words inside a name
OPTION = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*")  # of the command line


def decimals_for(width: float | None) -> int:
    """Decimals that show half an interval's width with two digits; negative ones mean tens, hundreds, ..."""
    if not width or width <= 0:
        return 3
    return 1 - math.floor(math.log10(width / 2) + 1e-9)


def typeset(sentence: str, language: str) -> str:
    """A sentence with curved apostrophes and the unbreakable spaces that its language asks for."""
    sentence = sentence.replace("'", "’").replace("± ", f"±{WIDE}")
    if language != "fr":
        return sentence
    sentence = re.sub(r" (?=[;!?%](\W|$))", NARROW, sentence)
    return re.sub(r" (?=[:»])|(?<=«) ", WIDE, sentence)


def brief(name: str, most: int = 60) -> str:
    """A name short enough to stand in a sentence: its beginning and its end, where long names often differ."""
    if len(name) <= most:
        return name
    tail = most // 3
    head, end = name[: most - tail - 1], name[-tail:]
    if name[len(head)] != " " and " " in head[len(head) // 2 :]:  # rather a word less than half a word
        head = head[: head.rindex(" ")]
    if name[-tail - 1] != " " and " " in end[: tail // 2]:
        end = end[end.index(" ") :]
    return f"{head.rstrip()}…{end.lstrip()}"


def whole_options(sentence: str):
    """A sentence as HTML in which no option of the command line is broken at its hyphens."""
    from markupsafe import Markup, escape

    return Markup(OPTION.sub(r'<span class="option">\g<0></span>', str(escape(sentence))))


def breakable(name: str):
    """A name as HTML that may be broken where its words end, also those of ``snake_case`` and ``camelCase``."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in ENDS.split(name))


def capital(name: str) -> str:
    """A name as a heading has it."""
    return name[:1].upper() + name[1:]


class Wording:
    """Sentences and numbers of one language; those of another area of texts go before the report's own."""

    def __init__(self, language: str = "en", area: str = "report"):
        if language not in LANGUAGES:
            raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, got {language!r}")
        self.language = language
        self.areas = tuple(dict.fromkeys((area, "report")))
        self.french = language == "fr"

    # Sentences

    def say(self, key: str, **values) -> str:
        """The sentence ``key`` of the texts, filled with values; numbers follow the language."""
        return self.fill(self._find(key), **values)

    def fill(self, pattern: str, **values) -> str:
        """A pattern of this language, filled with values."""
        return typeset(pattern, self.language).format(**{name: self._value(value) for name, value in values.items()})

    def count(self, key: str, number: int, **values) -> str:
        """The sentence ``key.one`` or ``key.many``, whichever a number asks for; ``{count}`` is that number."""
        one = number in (0, 1) if self.french else number == 1
        return self.say(f"{key}.{'one' if one else 'many'}", count=number, **values)

    def word(self, table: str, value: str) -> str:
        """The word for one of a fixed set of values, or the value itself if nobody translated it."""
        tables = (area_texts(area, self.language).get("word", {}).get(table, {}) for area in self.areas)
        found = next((words[value] for words in tables if value in words), value)
        return typeset(found, self.language)

    def known(self, table: str, value: str) -> str:
        """The text that ``"area.table"`` has for a key, or the key itself: it may come from a later version."""
        area, _, name = table.partition(".")
        return typeset(area_texts(area, self.language)[name].get(value, value), self.language)

    def listing(self, names, at_most: int = 4, total: int | None = None) -> str:
        """``a, b and c``; more than ``at_most`` end in "and 12 others", counted from ``total`` if not all are named."""
        names = list(names)
        if len(names) > at_most:
            hidden = max(len(names), total or 0) - at_most + 1
            names = [*names[: at_most - 1], self.count("others", hidden)]
        if len(names) < 2:
            return "".join(names)
        return self.say("and", first=", ".join(names[:-1]), last=names[-1])

    def quote(self, name: str) -> str:
        """A name in quotation marks."""
        return self.say("quote", name=name)

    def _find(self, key: str) -> str:
        """The text of a key in the first area that has it."""
        for area in self.areas:
            found = area_texts(area, self.language)
            for step in key.split("."):
                found = found.get(step) if isinstance(found, dict) else None
            if isinstance(found, str):
                return found
        raise KeyError(key)

    def _value(self, value):
        if isinstance(value, bool | _Localised) or not isinstance(value, int | float):
            return printable(value)
        return _Localised(value, self)

    def rounded(self, value, decimals: int):
        """A value for a sentence: a number has so many decimals wherever the sentence asks for some digits of it."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return _Localised(value, self, decimals) if is_number else value

    # Numbers

    def number(self, value: float | None, decimals: int = 0) -> str:
        """A number with so many decimals (negative: rounded to tens, ...); far from 1 as a power of ten."""
        if value is None:
            return UNKNOWN
        size = math.floor(math.log10(abs(value))) if value else 0
        if decimals > 6 or size >= 9:
            digits = min(max(decimals + size, 0), 3)
            if value and not -4 <= size < 9:
                return f"{self.number(value / 10.0**size, digits)}×10{str(size).translate(SUPERSCRIPTS)}"
            decimals = 6
        rounded = round(value, decimals) if decimals < 0 else value
        return self.local(f"{rounded + 0.0:,.{max(decimals, 0)}f}")

    def ungrouped(self, value: float, decimals: int = 0) -> str:
        """A number; one of four digits, which may be a year, has no separator."""
        return self.local(f"{value + 0.0:.{decimals}f}") if abs(value) < 9999.5 else self.number(value, decimals)

    def compact(self, value: float) -> str:
        """Three digits, as a power of ten where zeros would hide them."""
        if value and not 1e-3 <= abs(value) < 1e6:
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

    def interval(self, low: float | None, high: float | None, decimals: int) -> str:
        """``0.85 to 0.89``"""
        return self.say("interval", low=self.number(low, decimals), high=self.number(high, decimals))

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
            return [self.scientific(value) for value in values]
        scale, unit = next(
            ((s, u) for least, s, u in ((1e6, 1e6, "M"), (1e4, 1e3, "k")) if largest >= least), (1.0, "")
        )
        places = max(0, -math.floor(math.log10(step / scale) + 1e-9))
        shown = [self.local(f"{value / scale:.{places}f}") for value in values]
        return [f"{label}{NARROW}{unit}" if unit and value else label for label, value in zip(shown, values)]

    def scientific(self, value: float) -> str:
        """``2×10⁻⁶``"""
        if not value:
            return "0"
        size = math.floor(math.log10(abs(value)) + 1e-9)
        mantissa = value / 10.0**size
        shown = self.number(mantissa, 0 if abs(mantissa - round(mantissa)) < 0.05 else 1)
        return f"{shown}×10{str(size).translate(SUPERSCRIPTS)}"


class _Localised(float):
    """A number whose format in a sentence (``{share:.1%}``) follows the language."""

    def __new__(cls, value, wording, decimals=None):
        self = super().__new__(cls, value)
        self.exact, self.wording, self.decimals = value, wording, decimals
        return self

    def __format__(self, form: str) -> str:
        if not form:
            form = ",d" if isinstance(self.exact, int) else ".3g"
        if form.endswith("d"):
            return self.wording.local(format(round(self.exact), form))
        if form.endswith("g") and self.decimals is not None:
            return self.wording.number(self.exact, self.decimals)
        shown = format(self.exact, form)
        if "e" in shown:  # as people write it
            return self.wording.number(float(shown)) if "e+" in shown else self.wording.scientific(self.exact)
        return self.wording.local(shown)

    def __str__(self) -> str:
        return format(self, "")
