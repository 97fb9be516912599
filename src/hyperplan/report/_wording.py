"""One language: its sentences, plural forms and spaces, on top of its numbers.

Sentences stand in ``_texts/<language>/report.toml`` with ordinary spaces; French gets its unbreakable spaces here,
before names of the user's data are filled in, so that those are shown as they are.  A number has as many digits as the
width of its interval justifies.
"""

import re

from hyperplan._texts import LANGUAGES, area_texts, printable
from hyperplan._texts._numbers import NARROW, UNKNOWN, WIDE, Numbers, decimals_for

__all__ = ["UNKNOWN", "Wording", "brief", "capital", "decimals_for", "typeset", "whole_options"]

ENDS = re.compile(r"(?<=[_./\\:;,|+&)\]])(?=\w)|(?<=[^\W_])(?=_)|(?<=[a-z])(?=[A-Z])")  # of words inside a name
OPTION = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*")  # of the command line


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
    if name[-tail - 1] != " " and " " in end[:-3]:
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


class Wording(Numbers):
    """Sentences and numbers of one language; those of another area of texts go before the report's own."""

    def __init__(self, language: str = "en", area: str = "report"):
        if language not in LANGUAGES:
            raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, got {language!r}")
        super().__init__(language)
        self.areas = tuple(dict.fromkeys((area, "report")))

    def say(self, key: str, **values) -> str:
        """The sentence ``key`` of the texts, filled with values; numbers follow the language."""
        return self.fill(self._find(key), **values)

    def fill(self, pattern: str, **values) -> str:
        """A pattern of this language, filled with values."""
        shown = {name: self.localised(printable(value)) for name, value in values.items()}
        return typeset(pattern, self.language).format(**shown)

    def count(self, key: str, number: int, **values) -> str:
        """The sentence ``key.one`` or ``key.many``, whichever a number asks for; ``{count}`` is that number."""
        return self.say(f"{key}.{'one' if self.is_one(number) else 'many'}", count=number, **values)

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

    def interval(self, low: float | None, high: float | None, decimals: int) -> str:
        """``0.85 to 0.89``"""
        return self.say("interval", low=self.number(low, decimals), high=self.number(high, decimals))
