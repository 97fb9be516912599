"""How a solver ended, as integers that kernels can return."""

from enum import IntEnum


class Status(IntEnum):
    """Outcome of an iterative or direct solve; only the first two mean "as good as asked"."""

    CONVERGED = 0
    EXACT = 1  # a direct method: nothing to iterate
    MAX_ITER = 2
    STALLED = 3  # no step improves the objective at this precision
    DIVERGED = 4  # non-finite objective or iterate
    SEPARABLE = 5  # the optimum is at infinity
    RANK_DEFICIENT = 6  # solved, but the solution is one of many (the one of minimum norm)
    STOPPED = 7  # the caller's callback asked to stop

    @property
    def ok(self) -> bool:
        return self in (Status.CONVERGED, Status.EXACT, Status.RANK_DEFICIENT, Status.STOPPED)
