"""What `hyperplan predict` says of the rows it answered, in the language of the reader."""

import numpy as np

from hyperplan.compete._predict import Answers
from hyperplan.compete._row_notes import Notes, noted_rows
from hyperplan.report._wording import Wording

SHOWN_ROWS, SHOWN_COLUMNS, SHOWN_UNUSED = 5, 5, 20
COLUMN = "warnings"


def note_lines(answers: Answers, language: str) -> list[str]:
    """A line for each kind of odd rows, and one for drift."""
    wording = Wording(language, "predict")
    lines = [wording.say("renamed", old=old, new=new) for old, new in answers.renamed.items()]
    for code, parts in answers.notes.items():
        rows = noted_rows(parts)
        shown = ", ".join(str(row + 1) for row in rows[:SHOWN_ROWS]) + (", ..." if len(rows) > SHOWN_ROWS else "")
        places = wording.count("rows", len(rows), rows=shown)
        columns = wording.listing(_most_noted(parts), SHOWN_COLUMNS)
        lines.append(wording.count(code, len(rows), rows=places, columns=columns))
    if answers.drifted:
        names = wording.listing(answers.drifted, SHOWN_COLUMNS)
        lines.append(wording.count("drift", len(answers.drifted), names=names))
    return lines


def _most_noted(parts: dict) -> list[str]:
    return sorted(parts, key=lambda name: -len(parts[name]))


def warning_cells(notes: Notes, n_rows: int, language: str) -> np.ndarray:
    """For each row what is odd about it, in a few words; empty for most."""
    wording = Wording(language, "predict")
    cells: dict[int, list[str]] = {}
    for code, parts in notes.items():
        names: dict[int, list[str]] = {}
        for name, rows in parts.items():
            for row in rows.tolist():
                names.setdefault(row, []).append(name)
        for row, columns in names.items():
            said = wording.say(f"cell.{code}", columns=wording.listing(columns, SHOWN_COLUMNS))
            cells.setdefault(row, []).append(said)
    found = np.full(n_rows, "", dtype=object)
    for row, said in cells.items():
        found[row] = "; ".join(said)
    return found


def closing_lines(answers: Answers, path, language: str) -> list[str]:
    """Which columns were not used, and where the answers are."""
    wording = Wording(language, "predict")
    lines = [wording.say("extra", columns=wording.listing(answers.unused, SHOWN_UNUSED))] if answers.unused else []
    return [*lines, wording.count("done", len(answers.frame), path=str(path))]
