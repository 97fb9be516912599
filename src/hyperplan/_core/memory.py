"""The memory budget: ask before allocating, refuse with advice instead of being killed."""

import os
import pathlib

from hyperplan._core.cgroup import memory_left

BUDGET_VARIABLE = "HYPERPLAN_MEMORY_BUDGET"
NEGLIGIBLE = 16 * 2**20  # bytes not worth a look at the system, which takes a millisecond or two


class MemoryBudgetError(MemoryError):
    """The work would need more memory than this process may use."""


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
    if asked := os.environ.get(BUDGET_VARIABLE):
        return int(float(asked))
    known = [free for free in (memory_left(), _system_free()) if free is not None]
    return max(0, min(known)) if known else 2**62


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
