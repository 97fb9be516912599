"""Values that stand for a missing one: words among numbers, signs among words, and numbers such as -999.

What programs write for "no value" (an empty cell, NA, NaN, NULL) is missing when a table is read.  What people write is
guessed here, column by column, said, and kept with the column, so that new rows are read the same way.
"""

import math

import numpy as np

# Say everywhere that a value is missing.
NULLS = {"?", "??", "???", "-", "--", "---", "–", "—", ".", "..", "...", "…", "n/a", "n.a.", "n.a", "n/d", "n.d.",
         "#n/a", "#na", "#n/a n/a", "#value!", "#ref!", "#div/0!", "#num!", "#name?", "#null!", "(null)", "[null]",
         "<null>", "(na)", "na", "nan", "null", "missing", "not available", "not recorded", "no data", "manquant",
         "manquante", "non renseigné", "non renseignée", "non disponible"}  # fmt: skip
NAMES = {"Na", "Nan"}  # sodium, a grandmother: only written so
# Say it among numbers and dates; among words they may be a category as good as any.
WORDS = {"*", "**", "x", "_", "/", "\\", "none", "nil", "nd", "nr", "n.r.", "unknown", "unk", "unkn", "unspecified",
         "undefined", "undetermined", "not applicable", "not known", "not reported", "not stated", "not given",
         "not measured", "not tested", "not done", "no answer", "no value", "refused", "declined", "withheld", "tbd",
         "tba", "tbc", "pending", "invalid", "error", "err", "empty", "blank", "void", "inconnu", "inconnue", "aucun",
         "aucune", "indéterminé", "indéterminée", "absent", "absente", "sans objet", "s.o.", "vide", "non connu",
         "ne sait pas", "nsp", "unbekannt", "keine", "k.a.", "desconocido", "sin dato", "sconosciuto"}  # fmt: skip
LONGEST = max(map(len, NULLS | WORDS))
AMOUNTS = "0123456789$€£"  # none of them begins so
SIGNED = {"+", "++", "+++", "+/-", "±"}  # beside these a minus sign is an answer, not a gap
MINUSES = {"-", "--", "---", "–", "—"}
# Numbers that programs fill gaps with; -32768 and the like only where they lie very far from all others.
FILLS = (32767, 65535, 2147483647, 4294967295, 1e20, 1e30, 1e31, 9.969209968386869e36, 3.4028234663852886e38,
         1.7976931348623157e308)  # fmt: skip
SMALL = 30_000  # all of them are larger
# Measured on 127 public tables (3 197 columns): in 49 columns the smallest or the largest value is such a number, and
# by these rules it is a gap in none of them.  Rightly so in 44; ages of 99 and drug codes of 999 in one table are gaps
# that nothing tells from values.  At half the distances the 99999 that caps capital gains (1.4 ranges) would be one.
FAR, VERY_FAR, SURELY_FAR = 3.0, 5.0, 10.0  # distance to the nearest other value, in ranges of all others
LEAST_OTHERS, MANY_OTHERS = 2, 20  # distinct values beside the gap
USUAL = 0.2  # share of the rows from which -1 below all others is no value


def found_nulls(words) -> list[str]:
    """The words that say everywhere that a value is missing, in their order; a minus beside a plus does not."""
    has_signs = not SIGNED.isdisjoint(words)
    return [word for word in _short(words) if _is_null(word) and not (has_signs and word in MINUSES)]


def found_words(words) -> list[str]:
    """The words that say among numbers or dates that a value is missing, in their order."""
    return [word for word in _short(words) if _is_null(word) or word.casefold() in WORDS]


def _is_null(word: str) -> bool:
    return word.casefold() in NULLS and word not in NAMES


def says_missing(words, gaps=()) -> np.ndarray:
    """Whether each word stands for a missing value among numbers: those decided on, and those that say so."""
    said = {*gaps, *found_words({word for word in words if word})}
    return np.fromiter((word is None or word in said for word in words), dtype=bool, count=len(words))


def _short(words):
    return (word for word in words if len(word) <= LONGEST and word[:1] not in AMOUNTS)


def number_gaps(values: np.ndarray, counts: np.ndarray) -> list[float]:
    """Numbers that stand for a missing value, among the distinct finite values of a column and their counts.

    Only the smallest and the largest values are looked at, and only numbers that people and programs use so: nines
    (-99, 999, -99.9), sevens and eights from three digits on, limits of number types; -1 and -9 below zero where
    nothing else is.  They must lie far from all others, measured by the range of these, and mostly be repeated:

    - among values that are never negative, a negative one of two nines or more that is repeated is a gap at any
      distance;
    - others must lie three ranges away, 99 five (surveys: 1 to 5, 99); a single one ten, and below zero;
    - -1 below other whole numbers, at least 20 of them, is a gap if it is the most frequent value by far.

    So 999 among prices of 500 to 1500, an age of 99, -1 among -1, 0, 1, and incomes cut at 99999 stay what they are.
    """
    known = np.isfinite(values)
    values, counts = np.asarray(values, dtype=np.float64)[known], counts[known]
    order = np.argsort(values)
    values, counts = values[order], counts[order]
    first, last = 0, len(values)
    while first < last and may_be_gap(values[first]):
        first += 1
    while last > first and may_be_gap(values[last - 1], values[last:]):
        last -= 1
    if last - first < LEAST_OTHERS or last - first == len(values):
        return []
    others, usual = values[first:last], counts[first:last]
    suspects = [*range(first), *range(last, len(values))]
    return [float(values[k]) for k in suspects if _is_gap(values[k], counts[k], others, usual)]


def _nines(value: float) -> int:
    """How many nines a number consists of (7 and 8 from three digits on); 0 if it does not."""
    if not abs(value) < 1e12:
        return 0
    digits = f"{abs(value):.10g}".replace(".", "")
    is_one_digit = len(set(digits)) == 1 and digits[0] in "789"
    return len(digits) if is_one_digit and (digits[0] == "9" or len(digits) >= 3) else 0


def _is_fill(value: float) -> bool:
    return abs(value) > SMALL and any(
        math.isclose(abs(value), fill, rel_tol=1e-6) for fill in (*FILLS, 32768, 2147483648)
    )


def may_be_gap(value: float, larger=()) -> bool:
    """Whether a number is one that people or programs use for a missing value, at the end of a column."""
    if value == -1 or _is_fill(value):
        return True
    n_nines = _nines(value)
    if n_nines >= 2 or value == -9:
        return True
    return any(value == code - step and _nines(code) >= 2 for code in larger for step in (1, 2))  # 97, 98 beside 99


def _is_gap(value: float, count: int, others, usual) -> bool:
    """Whether a suspect is far enough from `others`, which occur `usual` times."""
    low, high = float(others[0]), float(others[-1])
    reach, distance = high - low, max(low - value, value - high)
    is_below_zero = value < 0 <= low
    if value == -1:
        is_whole = bool((others == np.round(others)).all())
        is_usual = count >= USUAL * (count + usual.sum()) and count > 2 * usual.max()
        return is_below_zero and is_whole and is_usual and len(others) >= MANY_OTHERS
    if _is_fill(value):
        return distance >= SURELY_FAR * reach
    if value == -9:
        return is_below_zero and count >= 2 and distance >= FAR * reach
    if is_below_zero and count >= 2:
        return True
    if abs(value) < 100 and value == round(value):
        return count >= 2 and distance >= VERY_FAR * reach
    return distance >= FAR * reach if count >= 2 else is_below_zero and distance >= SURELY_FAR * reach


def number_word(value: float) -> str:
    """A number as the canonical text that `as_words` gives it."""
    return str(int(value)) if value == round(value) and abs(value) < 2**63 else str(value)


def gap_numbers(gaps) -> np.ndarray:
    """Those of the values that are numbers."""
    found = []
    for word in gaps:
        try:
            number = float(word)
        except ValueError:
            continue
        if math.isfinite(number):
            found.append(number)
    return np.array(found)


def without_gaps(numbers: np.ndarray, gaps) -> np.ndarray:
    """Numbers with nan where they stand for a missing value; the array itself if there is none of them."""
    is_gap = np.isin(numbers, gap_numbers(gaps)) if gaps else np.zeros(0, dtype=bool)
    return np.where(is_gap, np.nan, numbers) if is_gap.any() else numbers
