"""A saved model and a new table: the same columns are needed, in any order; what is missing or odd is named."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from hyperplan.compete._audit_drift import changed_types
from hyperplan.compete._competition import prediction_frame
from hyperplan.compete._errors import CompetitionError, TableError, reason_of
from hyperplan.compete._kept_columns import with_kept
from hyperplan.compete._names import nearest_names
from hyperplan.compete._preparation import USED
from hyperplan.compete._row_notes import Notes, joined, row_notes
from hyperplan.compete._table_model import TableModel
from hyperplan.compete._training import Training, drifted_columns

PLACES = ("model/model.hyperplan", "model.hyperplan")
SPAN = 50_000  # rows that are prepared and predicted at once: memory does not grow with the table


class Answers(NamedTuple):
    """What there is to say of a new table.

    Attributes
    ----------
    frame : DataFrame
        A row per row of the table: kept columns, then predictions.
    unused : list of str
        Columns that the model does not use.
    renamed : dict
        Kept columns that have another name here, because a prediction has theirs.
    notes : dict
        Rows to be doubted (see `row_notes`).
    drifted : list of str
        Columns that are not distributed as in training, the farthest first.
    """

    frame: object
    unused: list[str]
    renamed: dict[str, str]
    notes: Notes
    drifted: list[str]


def model_file(path) -> Path:
    """Where the model of a competition is: in its folder, or the file itself."""
    path = Path(path)
    if not path.is_dir():
        return path
    return next((path / place for place in PLACES if (path / place).is_file()), path / PLACES[0])


def load_model(path) -> TableModel:
    """The model of a competition, from its folder or its file."""
    from hyperplan.persistence import ModelFileError, load

    path = model_file(path)
    try:
        model = load(path)
    except FileNotFoundError:
        raise CompetitionError("model_absent", path=path) from None
    except OSError as error:
        raise CompetitionError("not_a_model", path=path, reason=reason_of(error)) from None
    except ModelFileError as error:
        raise CompetitionError("not_a_model", path=path, reason=error) from None
    if not isinstance(model, TableModel):
        raise CompetitionError("not_a_model", path=path, reason=f"it holds a {type(model).__name__}")
    return model


def predict_table(model: TableModel, frame, kept=(), tell=None, reserved=()) -> Answers:
    """The answers of a model for the rows of a table.

    Parameters
    ----------
    model : TableModel
    frame : DataFrame
    kept : sequence of str
        Columns of the table that stand before the predictions.
    tell : callable, default=None
        Told how many rows are done after each span, if there are several.
    reserved : sequence of str
        Names that kept columns give up, besides those of the predictions.
    """
    _check_columns(model, frame)
    needed = {column.name for column in model.columns if column.kind in USED}
    training = training_of(model)
    values, notes = [], []
    for first in range(0, max(len(frame), 1), SPAN):
        part = frame.iloc[first : first + SPAN] if len(frame) > SPAN else frame
        values.append(model.predict_proba(part) if model.classes else model.predict(part))
        notes.append((first, row_notes(part, model.columns, training)))
        if tell is not None and len(frame) > SPAN:
            tell(min(first + SPAN, len(frame)))
    answers = prediction_frame(model, np.concatenate(values))
    beside, renamed = with_kept(frame, kept, answers, reserved)
    return Answers(
        beside,
        [str(name) for name in frame.columns if name not in needed and name != model.target],
        renamed,
        joined(notes),
        drifted_columns(training, model.columns, frame) if training else [],
    )


def training_of(model: TableModel) -> Training | None:
    """The summary of the training rows; None in files of earlier versions, or if it was fitted again since."""
    return None if hasattr(model, "refitted_") else getattr(model, "training", None)


def id_columns(model: TableModel) -> tuple[str, ...]:
    """Columns that identified rows in training."""
    training = getattr(model, "training", None)
    return training.ids if training is not None else ()


def _check_columns(model: TableModel, frame) -> None:
    """Raise if columns are missing or of another kind."""
    needed = [column.name for column in model.columns if column.kind in USED]
    absent = [name for name in needed if name not in frame.columns]
    if absent:
        unused = [str(name) for name in frame.columns if name not in needed]
        near = {name: nearest_names(name, unused) for name in absent}
        shown = ", ".join(f"{name} ({', '.join(near[name])}?)" if near[name] else name for name in absent)
        raise TableError("columns_absent", columns=shown, count=len(absent))
    for finding in changed_types(frame, model.columns):
        example = finding.values["example"]
        raise CompetitionError("types_changed", columns=", ".join(finding.columns), example=example)
