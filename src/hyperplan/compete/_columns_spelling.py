"""Values that are one but for their spelling: case, blanks, forms of Unicode.

YES, yes and Yes are one answer; AA, Aa and aa are three genotypes, a and A may be two codes.  Blanks and forms of
Unicode never make a difference; case makes none for words, but for codes it does, and for every value of a column in
which it tells codes apart.
"""

import re
import unicodedata

TRUTHS = ({"yes", "no"}, {"y", "n"}, {"true", "false"}, {"t", "f"}, {"oui", "non"}, {"vrai", "faux"}, {"o", "n"},
          {"on", "off"}, {"ja", "nein"}, {"si", "no"}, {"sí", "no"})  # fmt: skip
SHORTEST = 3  # letters of a word; shorter ones are codes
LONG = 5  # letters from which an odd case (iPhone) is that of a name, not of a code
INVISIBLE = dict.fromkeys([0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF])  # soft hyphen, zero-width characters
PAIRED = re.compile(r"(?:(\w)\1)+")  # aa, aabb: two alleles of each gene


def spaced(word: str) -> str:
    """A word in one form of Unicode, with single blanks and nothing invisible: its case is left."""
    if word.isascii() and "  " not in word and "\t" not in word and "\n" not in word:
        return word.strip()
    return " ".join(unicodedata.normalize("NFC", word.translate(INVISIBLE)).split())


def spelling_key(word: str) -> str:
    """What all spellings of a word have in common."""
    return unicodedata.normalize("NFC", spaced(word).casefold())


def guess_spellings(words, counts) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """``((value, (its other spellings)), ...)``: which values of a column are one.

    Parameters
    ----------
    words : sequence of str
        Distinct values.
    counts : sequence of int
        How often each occurs: the most frequent spelling is the value.
    """
    by_key: dict[str, list[int]] = {}
    for position, word in enumerate(words):
        by_key.setdefault(spelling_key(word), []).append(position)
    shared = {key: places for key, places in by_key.items() if len(places) > 1}
    if not shared:
        return ()
    is_truth = any(set(by_key) <= pair for pair in TRUTHS)
    by_case = {key: {spaced(words[place]) for place in places} for key, places in shared.items()}
    is_code = not is_truth and any(len(forms) > 1 and not _is_word(key, forms) for key, forms in by_case.items())
    groups = []
    for places in shared.values():
        groups += _by_blanks(words, places) if is_code else [places]
    return tuple(_named(words, counts, places) for places in groups if len(places) > 1)


def _is_word(key: str, forms: set[str]) -> bool:
    """Whether spellings that differ in case are those of a word: all small, all large, or large initials."""
    n_letters = sum(character.isalpha() for character in key)
    if n_letters > 1 and any(key in pair for pair in TRUTHS):
        return True
    if n_letters < SHORTEST or PAIRED.fullmatch(key):
        return False
    odd = [form for form in forms if form not in (form.lower(), form.upper(), form.capitalize(), form.title())]
    return len(odd) <= (1 if n_letters >= LONG else 0)


def _by_blanks(words, places) -> list[list[int]]:
    """Positions of words that differ in blanks and forms of Unicode only."""
    groups: dict[str, list[int]] = {}
    for place in places:
        groups.setdefault(spaced(words[place]), []).append(place)
    return list(groups.values())


def _named(words, counts, places) -> tuple[str, tuple[str, ...]]:
    """The most frequent spelling, of equally frequent ones that with more small letters, and the others."""
    ordered = sorted(places, key=lambda place: (-int(counts[place]), words[place].swapcase()))
    return words[ordered[0]], tuple(words[place] for place in ordered[1:])


def new_spellings(words, values) -> dict[str, str]:
    """Which words that nobody has seen yet are spellings of a known value: of one value only, by the same rules.

    Examples
    --------
    >>> from hyperplan.compete._columns_spelling import new_spellings
    >>> new_spellings(["YES", "maybe", "A"], ["yes", "no", "a"])
    {'YES': 'yes'}
    """
    by_key: dict[str, list[str]] = {}
    for value in values:
        by_key.setdefault(spelling_key(value), []).append(value)
    found = {}
    for word in words:
        known = by_key.get(spelling_key(word), ())
        forms = {spaced(word), *map(spaced, known)}
        if len(known) == 1 and (len(forms) == 1 or _is_word(spelling_key(word), forms)):
            found[word] = known[0]
    return found
