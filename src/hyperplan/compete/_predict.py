"""A saved model and a new table: the same columns are needed, in any order; what is missing is named."""

from pathlib import Path

from hyperplan.compete._audit_drift import changed_types
from hyperplan.compete._competition import prediction_frame
from hyperplan.compete._errors import AuditError, CompetitionError, TableError, reason_of
from hyperplan.compete._names import nearest_names
from hyperplan.compete._preparation import USED
from hyperplan.compete._table_model import TableModel

PLACES = ("model/model.hyperplan", "model.hyperplan")


def load_model(path) -> TableModel:
    """The model of a competition, from its folder or its file."""
    from hyperplan.persistence import ModelFileError, load

    path = Path(path)
    if path.is_dir():
        path = next((path / place for place in PLACES if (path / place).is_file()), path / PLACES[0])
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


def predict_table(model: TableModel, frame):
    """``(frame of predictions, names of columns that are not used)``."""
    needed = [column.name for column in model.columns if column.kind in USED]
    absent = [name for name in needed if name not in frame.columns]
    if absent:
        unused = [str(name) for name in frame.columns if name not in needed]
        near = {name: nearest_names(name, unused) for name in absent}
        shown = ", ".join(f"{name} ({', '.join(near[name])}?)" if near[name] else name for name in absent)
        raise TableError("columns_absent", columns=shown, count=len(absent))
    for finding in changed_types(frame, model.columns):
        raise AuditError(finding.code, columns=", ".join(finding.columns), **finding.values)
    unused = [str(name) for name in frame.columns if name not in needed and name != model.target]
    values = model.predict_proba(frame) if model.classes else model.predict(frame)
    return prediction_frame(model, values), unused
