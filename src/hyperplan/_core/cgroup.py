"""Limits of the control groups around this process: containers and job schedulers set them on Linux.

A limit may stand at any level, from the group of the process to the outermost one, and the tightest holds.  Both
versions of the interface are read.  In a container the path of the process may be that of the host: folders that are
not there say nothing, and the root of what is mounted is the container's own group.
"""

import math
import pathlib

MOUNT = pathlib.Path("/sys/fs/cgroup")
MEMBERSHIP = pathlib.Path("/proc/self/cgroup")
MEMORY_FILES = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))


def memory_left() -> int | None:
    """Bytes that the groups still allow, or None without a limit.

    Pages of files are no use of memory here: the kernel gives them back when asked, as it counts them itself in the
    memory available on the whole machine.
    """
    left = []
    for folder in _folders("memory"):
        for limit_file, used_file in MEMORY_FILES:
            limit, used = _number(folder / limit_file), _number(folder / used_file)
            if limit is not None and used is not None:
                left.append(limit - used + _file_pages(folder))
    return min(left) if left else None


def cpus_allowed() -> int | None:
    """Processors that the quotas of the groups amount to, rounded up, or None without a quota."""
    shares = []
    for folder in _folders("cpu"):
        quota, _, period = _text(folder / "cpu.max").partition(" ")
        if not quota:
            quota, period = _text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us")
        if quota.isdigit() and period.isdigit() and int(period) > 0:
            shares.append(int(quota) / int(period))
    return max(1, math.ceil(min(shares))) if shares else None


def _folders(controller: str) -> list[pathlib.Path]:
    """The groups around this process that a controller may limit, the innermost first."""
    found = []
    for line in _text(MEMBERSHIP).splitlines():
        _, controllers, group = (*line.split(":", 2), "", "")[:3]
        if controllers and controller not in controllers.split(","):
            continue
        root = MOUNT / controller if controllers else MOUNT
        folder = root / group.lstrip("/")
        while folder != root:
            found.append(folder)
            folder = folder.parent
        found.append(root)
    return found


def _file_pages(folder: pathlib.Path) -> int:
    """Bytes of file pages in a group, those of the groups inside it included."""
    fields = dict(line.split(" ", 1) for line in _text(folder / "memory.stat").splitlines() if " " in line)
    total = "total_" if "total_inactive_file" in fields else ""  # the older interface has both, this one inclusive
    pages = (fields.get(f"{total}{kind}_file", "0") for kind in ("inactive", "active"))
    return sum(int(count) for count in pages if count.isdigit())


def _number(path: pathlib.Path) -> int | None:
    text = _text(path)
    return int(text) if text.isdigit() else None


def _text(path: pathlib.Path) -> str:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""
