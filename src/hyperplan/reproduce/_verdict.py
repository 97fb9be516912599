"""One line of the table of claims, and how its numbers are taken and said."""

from typing import NamedTuple

AGREES, PARTLY, DIFFERS, UNKNOWN = "agrees", "partly", "**differs**", "cannot be checked"


class Verdict(NamedTuple):
    """One line of the table."""

    claim: str
    thesis: str
    measured: str
    verdict: str
    why: str


def percent(value, digits=1) -> str:
    """A share as a percentage."""
    return f"{100 * value:.{digits}f} %"


def within(curves, most) -> dict:
    """The curves of at most so many neighbours; of all if there are no others."""
    rows = [i for i, k in enumerate(curves["k"]) if k <= most] or range(len(curves["k"]))
    picked = {name: [curves[name][i] for i in rows] for name in ("k", "error", "spread")}
    return {"d": curves["d"], **picked}
