"""Optional packages: imported where they are needed, and if one is absent, how to install it is said."""

import importlib
from typing import Any

from hyperplan._texts import text

# The extra of hyperplan that installs a package; packages of no extra are installed by their name.
EXTRAS = {"pandas": "report", "jinja2": "report", "matplotlib": "report", "rich": "cli", "pyarrow": "tables",
          "openpyxl": "tables"}  # fmt: skip


class MissingExtraError(ImportError):
    """An optional package is not installed; the message says which command installs it.

    Parameters
    ----------
    name : str
        Of the package.
    """

    def __init__(self, name: str):
        super().__init__(name=name)
        self.msg = self.message()

    def message(self, language: str = "en") -> str:
        """The words in a language."""
        extra = EXTRAS.get(self.name or "")
        return text(
            "tables.errors.needs", language, package=self.name, what=f"hyperplan[{extra}]" if extra else self.name
        )

    def __str__(self) -> str:
        return self.msg

    def __reduce__(self):
        return type(self), (self.name,)


def required(module: str) -> Any:
    """Import an optional module, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        if (error.name or package).partition(".")[0] != package:
            raise  # it is there, but what it needs itself is not
        raise MissingExtraError(package) from None
