"""The memory budget: ask before allocating, refuse with advice instead of being killed."""

import math
import os
import pathlib
import re

from hyperplan._core.cgroup import memory_left

BUDGET_VARIABLE = "HYPERPLAN_MEMORY_BUDGET"
NEGLIGIBLE = 16 * 2**20  # bytes not worth a look at the system, which takes a millisecond or two


UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
         "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}  # fmt: skip
AMOUNT = re.compile(r"\s*\+?((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*((?:[kmgt]i?)?)b?\s*", re.IGNORECASE)


class MemoryBudgetError(MemoryError):
    """The work would need more memory than this process may use."""


class BudgetVariableError(ValueError):
    """The variable of the budget holds no amount of memory, but what `found` says."""

    def __init__(self, found: str):
        super().__init__(
            f"{BUDGET_VARIABLE} must be an amount of memory such as 4GB, 512MiB or 2e9 (bytes), got {found!r}"
        )
        self.found = found


def asked_budget() -> int | None:
    """Bytes that ``HYPERPLAN_MEMORY_BUDGET`` allows, or None if it is not set: ``2e9``, ``4GB``, ``512 MiB``."""
    asked = os.environ.get(BUDGET_VARIABLE, "").strip()
    if not asked:
        return None
    found = AMOUNT.fullmatch(asked)
    amount = float(found[1]) * UNITS[found[2].lower()] if found else math.nan
    if not 1 <= amount < 2**62:
        raise BudgetVariableError(asked[:40])
    return int(amount)


def _system_free() -> int | None:
    try:
        for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, AttributeError, OSError):
        return None


def available_bytes() -> int:
    """Bytes this process may still allocate: ``HYPERPLAN_MEMORY_BUDGET``, cgroup limit, free memory; the least."""
    if (asked := asked_budget()) is not None:
        return asked
    known = [free for free in (memory_left(), _system_free()) if free is not None]
    return max(0, min(known)) if known else 2**62


def room_left() -> int:
    """Bytes that this process may still take: of a budget, what its resident memory leaves of it."""
    asked, held = asked_budget(), resident_bytes()
    if asked is None or held is None:
        return available_bytes()
    return max(0, asked - held)


def resident_bytes() -> int | None:
    """Bytes that this process holds in memory now, libraries included; None where the system does not tell."""
    try:
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def require_memory(needed: float, what: str, advice: str) -> None:
    """Raise `MemoryBudgetError` unless `needed` bytes fit in 90 % of what is available.

    >>> from hyperplan._core.memory import require_memory
    >>> require_memory(1000, "the Gram matrix", "use fewer columns")
    """
    if needed < NEGLIGIBLE and not os.environ.get(BUDGET_VARIABLE):
        return
    free = available_bytes()
    if needed > 0.9 * free:
        raise MemoryBudgetError(
            f"{what} would need {human_bytes(needed)} of memory, {human_bytes(free)} are available: {advice}"
        )


def human_bytes(n: float) -> str:
    """1536 -> '1.5 KiB'."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(n) < 1024:
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1024
    return f"{n:.1f} TiB"
