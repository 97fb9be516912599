"""Columns of a table that stand beside its predictions, so that everybody knows which row an answer is about."""

from hyperplan.compete._errors import CompetitionError
from hyperplan.compete._names import nearest_names, unique_names


def kept_columns(frame, ids, asked=None, all_of_them: bool = False) -> list[str]:
    """Columns that stand beside the predictions: all, those that were asked for, or the identifiers of rows.

    Parameters
    ----------
    frame : DataFrame
    ids : sequence of str
        Columns that identified rows in training.
    asked : sequence of str, default=None
        Names, each alone or several with commas between them; a name may contain commas itself.
    all_of_them : bool, default=False
        Every column of the table.
    """
    names = [str(name) for name in frame.columns]
    if all_of_them:
        return names
    if asked is None:
        return [name for name in names if name in ids]
    return list(dict.fromkeys(name for text in asked for name in _named(text, names)))


def _named(text: str, names: list[str]) -> list[str]:
    """The names in a text with commas between them; of names that contain commas, the longest that fits."""
    parts, found = text.split(","), []
    while parts:
        for length in range(len(parts), 0, -1):
            name = ",".join(parts[:length])
            if match := next((one for one in (name, name.strip()) if one in names), None):
                found.append(match)
                parts = parts[length:]
                break
        else:
            raise _absent(parts[0].strip(), names)
    return found


def _absent(name: str, names: list[str]) -> CompetitionError:
    if near := nearest_names(name, names):
        return CompetitionError("keep_absent", name=name, near=", ".join(near))
    shown = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    return CompetitionError("keep_absent_far", name=name, columns=shown)


def with_kept(frame, kept, answers, reserved=()):
    """``(kept columns and answers side by side, new names of kept columns that would have the name of an answer)``."""
    import pandas

    if not len(kept):
        return answers, {}
    taken = [*answers.columns, *reserved]
    given = unique_names([*taken, *kept])[0][len(taken) :]
    beside = frame[list(kept)].reset_index(drop=True).set_axis(given, axis=1)
    renamed = {old: new for old, new in zip(kept, given) if old != new}
    return pandas.concat([beside, answers.reset_index(drop=True)], axis=1), renamed
