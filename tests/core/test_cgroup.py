"""Limits of containers and job schedulers, read from folders like those of the kernel."""

import pytest

from hyperplan._core import cgroup, memory, parallel

GB = 10**9


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """``machine(membership, {"path of a file": "its text"})`` puts a process into control groups of our own."""
    monkeypatch.setattr(cgroup, "MOUNT", tmp_path)
    monkeypatch.setattr(cgroup, "MEMBERSHIP", tmp_path / "membership")

    def make(membership, files):
        (tmp_path / "membership").write_text(membership)
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")

    return make


def limits(folder, limit, used, **pages):
    """The memory files of a group of the newer interface."""
    stat = "\n".join(f"{name} {count}" for name, count in pages.items())
    prefix = f"{folder}/" if folder else ""
    return {f"{prefix}memory.max": limit, f"{prefix}memory.current": used, f"{prefix}memory.stat": stat}


def test_without_groups_there_is_no_limit(machine, tmp_path):
    assert cgroup.memory_left() is None and cgroup.cpus_allowed() is None  # no membership file: not Linux
    machine("0::/\n", {})
    assert cgroup.memory_left() is None and cgroup.cpus_allowed() is None
    machine("0::/box\n", {"memory.max": "max", "box/memory.max": "max", "box/cpu.max": "max 100000"})
    assert cgroup.memory_left() is None and cgroup.cpus_allowed() is None


def test_the_tightest_of_all_levels_holds(machine):
    """A scheduler limits a slice around the group of the process, which has no limit of its own."""
    files = {
        **limits("slice/job/step", "max", 1 * GB),
        **limits("slice/job", 4 * GB, 1 * GB),
        **limits("slice", 8 * GB, 6 * GB),
        "slice/job/step/cpu.max": "max 100000",
        "slice/job/cpu.max": "250000 100000",
        "slice/cpu.max": "800000 100000",
    }
    machine("0::/slice/job/step\n", files)
    assert cgroup.memory_left() == 2 * GB
    assert cgroup.cpus_allowed() == 3  # two and a half


def test_pages_of_files_are_given_back(machine):
    """A container that has read many files is not full: the kernel drops their pages when memory is asked for."""
    machine("0::/\n", limits("", 8 * GB, 7 * GB, anon=1 * GB, inactive_file=4 * GB, active_file=2 * GB, shmem=3 * GB))
    assert cgroup.memory_left() == 7 * GB


def test_the_older_interface(machine):
    membership = "7:cpu,cpuacct:/box\n5:memory:/box\n1:name=systemd:/box\n0::/\n"
    files = {
        "memory/box/memory.limit_in_bytes": 3 * GB,
        "memory/box/memory.usage_in_bytes": 2 * GB,
        "memory/box/memory.stat": f"inactive_file 1\ntotal_inactive_file {GB // 2}\ntotal_active_file 0",
        "memory/memory.limit_in_bytes": 2**63 - 4096,  # how it writes "no limit"
        "memory/memory.usage_in_bytes": 9 * GB,
        "cpu/box/cpu.cfs_quota_us": "150000",
        "cpu/box/cpu.cfs_period_us": "100000",
        "cpu/cpu.cfs_quota_us": "-1",
        "cpu/cpu.cfs_period_us": "100000",
    }
    machine(membership, files)
    assert cgroup.memory_left() == 1 * GB + GB // 2
    assert cgroup.cpus_allowed() == 2


def test_in_a_container_the_path_is_that_of_the_host(machine):
    files = {"memory/memory.limit_in_bytes": 2 * GB, "memory/memory.usage_in_bytes": GB}
    machine("5:memory:/docker/0123abcd\n0::/system.slice/docker.service\n", files)
    assert cgroup.memory_left() == GB


@pytest.mark.parametrize("membership", ["", "0:", "::\n", "0::/../elsewhere\n"])
def test_what_cannot_be_read_is_no_limit(machine, membership):
    machine(membership, {"memory.max": "plenty", "memory.current": "x", "cpu.max": "many 0"})
    assert cgroup.memory_left() is None and cgroup.cpus_allowed() is None


def test_the_budget_and_the_threads_follow(machine, monkeypatch):
    monkeypatch.delenv(memory.BUDGET_VARIABLE, raising=False)
    monkeypatch.delenv(parallel.THREAD_VARIABLE, raising=False)
    machine("0::/box\n", {**limits("box", 100_000_000, 40_000_000), "box/cpu.max": "100000 100000"})
    parallel._quota.cache_clear()
    try:
        assert memory.available_bytes() == 60_000_000
        with pytest.raises(memory.MemoryBudgetError, match=r"57\.2 MiB are available: take fewer rows"):
            memory.require_memory(58_000_000, "the table", "take fewer rows")
        assert parallel.cpu_count() == 1
        monkeypatch.setenv(parallel.THREAD_VARIABLE, "3")
        assert parallel.cpu_count() == 3
    finally:
        parallel._quota.cache_clear()
