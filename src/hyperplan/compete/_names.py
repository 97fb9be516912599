"""Names of columns: made unique, compared, and the nearest to a misspelt one."""

import difflib
import unicodedata
from collections.abc import Iterable, Sequence


def nearest_names(name: str, names: Iterable[str], count: int = 3) -> list[str]:
    """The names most like a misspelt one, best first; none if nothing is close.

    Case, accents, spaces and underscores do not count; then containing or being contained, then similar letters.

    Examples
    --------
    >>> from hyperplan.compete import nearest_names
    >>> nearest_names("survived", ["Pclass", "Survived", "Sex", "survival_days"])
    ['Survived', 'survival_days']
    """
    wanted, scored = folded(name), []
    for position, candidate in enumerate(names):
        other = folded(str(candidate))
        likeness = 1.0 if other == wanted else difflib.SequenceMatcher(None, wanted, other).ratio()
        short, long = sorted((wanted, other), key=len)
        if len(short) >= 3 and short in long:
            likeness = max(likeness, 0.8)
        if likeness >= 0.6:
            scored.append((-likeness, position, str(candidate)))
    return [candidate for _, _, candidate in sorted(scored)[:count]]


def folded(name: str) -> str:
    """A name without case, accents, spaces and punctuation (unless nothing else is left)."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c)).casefold()
    return "".join(c for c in plain if c.isalnum()) or plain


def unique_names(names: Sequence) -> tuple[list[str], list[str]]:
    """Names as text, stripped, the empty ones numbered, the repeated ones numbered too; and which were repeated."""
    wanted = [" ".join(str("" if name is None else name).split()) for name in names]
    wanted = [name or f"column_{position}" for position, name in enumerate(wanted, start=1)]
    taken, given, repeated = set(wanted), [], []
    seen: dict[str, int] = {}
    for name in wanted:
        seen[name] = seen.get(name, 0) + 1
        if seen[name] == 1:
            given.append(name)
            continue
        repeated += [name] if seen[name] == 2 else []
        number = seen[name]
        while f"{name}_{number}" in taken:
            number += 1
        taken.add(f"{name}_{number}")
        given.append(f"{name}_{number}")
    return given, repeated
