"""The model competition: a table and a question in, an answer that can be defended out."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.compete._audit import audit, blocking_findings, leaking_columns
    from hyperplan.compete._baselines import ConstantClassifier, ConstantRegressor
    from hyperplan.compete._columns import Column, guess_columns
    from hyperplan.compete._columns_task import Guess, guess_metric, guess_task, typed_target
    from hyperplan.compete._columns_told import with_kinds
    from hyperplan.compete._columns_values import typed_frame, typed_values
    from hyperplan.compete._compete import compete
    from hyperplan.compete._competition import Competition
    from hyperplan.compete._errors import AuditError, CompetitionError, SettingsError, TableError
    from hyperplan.compete._models import TablePipeline
    from hyperplan.compete._names import nearest_names
    from hyperplan.compete._preparation import TablePreparation
    from hyperplan.compete._registry import candidates
    from hyperplan.compete._semi_supervised import SelfTrainingClassifier
    from hyperplan.compete._settings import Settings, check_names, read_settings, write_settings
    from hyperplan.compete._table_blend import TableBlend
    from hyperplan.compete._table_model import TableModel
    from hyperplan.compete._tables import read_table, table_hash, table_notes

__getattr__, __dir__, __all__ = lazy_names(__name__)
