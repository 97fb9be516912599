"""Texts that a spreadsheet would take for formulas."""

import re

STARTS = ("=", "@", "\t", "\r")
NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?%?")


def harmless(text: str) -> str:
    """A text that no spreadsheet runs as a formula: one that it would run begins with an apostrophe.

    Examples
    --------
    >>> from hyperplan.compete._spreadsheet import harmless
    >>> harmless("=1+1"), harmless("-5"), harmless("-x")
    ("'=1+1", '-5', "'-x")
    """
    is_signed = text.startswith(("+", "-")) and not NUMBER.fullmatch(text)
    return f"'{text}" if text.startswith(STARTS) or is_signed else text
