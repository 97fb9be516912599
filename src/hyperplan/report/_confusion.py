"""What a confusion matrix of many classes comes down to: the pairs confused most, and how often each class is found."""

from collections.abc import Iterable

WHOLE = 12  # classes of a matrix that is kept and shown whole: more cells than these nobody reads, nor has room for
PAIRS = 40  # of a larger one: pairs that are kept, the most frequent


def confusion_parts(cells: Iterable[tuple[int, int, int]], classes: list[str]) -> dict:
    """``confused`` and ``recalls`` of a document.

    Parameters
    ----------
    cells : iterable of (true, predicted, count)
        The cells of the matrix that are not zero, with the positions of their classes.
    classes : list of str

    Returns
    -------
    dict
        ``confused``: the most frequent pairs, each with its share of the rows of that truth; ``recalls``: every class
        that has rows, with their number and the share that was found.
    """
    cells = [cell for cell in cells if cell[2]]
    rows, found = [0] * len(classes), [0] * len(classes)
    for true, predicted, count in cells:
        rows[true] += count
        found[true] += count if true == predicted else 0
    errors = sorted((cell for cell in cells if cell[0] != cell[1]), key=lambda cell: (-cell[2], cell[0], cell[1]))
    return {
        "confused": [
            {"true": classes[true], "predicted": classes[predicted], "count": count, "share": count / rows[true]}
            for true, predicted, count in errors[:PAIRS]
        ],
        "recalls": [
            {"class": name, "rows": total, "recall": right / total}
            for name, total, right in zip(classes, rows, found)
            if total
        ],
    }


def cells_of(matrix: list[list[float]]) -> Iterable[tuple[int, int, float]]:
    """The cells of a matrix with one row per true class."""
    return ((true, guess, count) for true, counts in enumerate(matrix) for guess, count in enumerate(counts))
