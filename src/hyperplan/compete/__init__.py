"""The model competition: a table and a question in, an answer that can be defended out."""

from typing import TYPE_CHECKING

from hyperplan._core.lazy import lazy_names

if TYPE_CHECKING:
    from hyperplan.compete._columns import Column, guess_columns
    from hyperplan.compete._columns_task import Guess, guess_metric, guess_task, typed_target
    from hyperplan.compete._columns_values import typed_frame, typed_values
    from hyperplan.compete._errors import SettingsError, TableError
    from hyperplan.compete._names import nearest_names
    from hyperplan.compete._settings import Settings, check_names, read_settings, write_settings
    from hyperplan.compete._tables import read_table, table_hash, table_notes

__getattr__, __dir__, __all__ = lazy_names(__name__)
