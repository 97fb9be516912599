"""Memory while a table is read: asked for before each step, refused with a sentence instead of being killed.

The limit is that of `hyperplan._core.memory`: a budget counts all memory that the process holds, the interpreter and
its libraries included; without one, what the machine and its control groups leave.
"""

from hyperplan._core.memory import BudgetVariableError, asked_budget, human_bytes, room_left
from hyperplan.compete._errors import TableError

MARGIN = 0.9  # of what a machine has free, which others want too; a budget is ours alone


class Room:
    """What reading one table may take.

    Parameters
    ----------
    name : str
        What the table is called in errors.
    """

    def __init__(self, name: str):
        self.name = name
        try:
            self._share = 1.0 if asked_budget() is not None else MARGIN
        except BudgetVariableError as error:
            raise TableError("budget", found=error.found) from None

    def left(self) -> int:
        """Bytes that may still be taken."""
        return int(self._share * room_left())

    def require(self, needed: float) -> None:
        """Raise unless so many bytes more may be taken."""
        left = self.left()
        if needed > left:
            raise TableError("memory", name=self.name, size=human_bytes(needed), free=human_bytes(left))
