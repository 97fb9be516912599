"""Small real tables that ship with the package, for examples and tests."""

from hyperplan.datasets._files import table_path
from hyperplan.datasets._penguins import load_penguins

__all__ = ["load_penguins", "table_path"]
