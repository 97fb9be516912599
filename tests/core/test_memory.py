"""The memory budget: refused with numbers and advice, never killed."""

import pytest

from hyperplan._core.memory import (
    BUDGET_VARIABLE,
    BudgetVariableError,
    MemoryBudgetError,
    available_bytes,
    human_bytes,
    require_memory,
    resident_bytes,
    room_left,
)


def test_what_fits_is_allowed_and_what_does_not_is_refused_with_advice(monkeypatch):
    monkeypatch.setenv(BUDGET_VARIABLE, "1000")
    require_memory(900, "the table", "be frugal")
    with pytest.raises(
        MemoryBudgetError, match=r"the Gram matrix would need 2\.0 KiB.*1000 B are available: use fewer"
    ):
        require_memory(2048, "the Gram matrix", "use fewer columns")


def test_it_is_a_memory_error(monkeypatch):
    monkeypatch.setenv(BUDGET_VARIABLE, "1")
    with pytest.raises(MemoryError):
        require_memory(2, "x", "y")


def test_the_budget_may_be_written_in_scientific_notation(monkeypatch):
    monkeypatch.setenv(BUDGET_VARIABLE, "2e9")
    assert available_bytes() == 2_000_000_000


@pytest.mark.parametrize(
    "written, count",
    [("4GB", 4e9), ("4 gb", 4e9), ("4g", 4e9), ("1.5GiB", 1.5 * 2**30), ("512Mi", 2**29), (" 1e6 ", 1e6), ("3B", 3)],
)
def test_the_budget_may_have_a_unit(monkeypatch, written, count):
    monkeypatch.setenv(BUDGET_VARIABLE, written)
    assert available_bytes() == count


@pytest.mark.parametrize("written", ["much", "-1", "0", "nan", "inf", "1e400", "4 GB of it", "4,5GB", "0x10", "1_000"])
def test_rubbish_in_the_variable_is_named(monkeypatch, written):
    monkeypatch.setenv(BUDGET_VARIABLE, written)
    with pytest.raises(BudgetVariableError, match=r"such as 4GB, 512MiB or 2e9 \(bytes\), got "):
        available_bytes()


def test_of_a_budget_the_process_itself_is_taken_off(monkeypatch):
    monkeypatch.setenv(BUDGET_VARIABLE, "1")
    assert room_left() == 0
    monkeypatch.setenv(BUDGET_VARIABLE, "1e12")
    if (held := resident_bytes()) is not None:
        assert abs(room_left() - (1e12 - held)) < 1e8 and held > 1e6


def test_without_a_budget_the_machine_is_asked(monkeypatch):
    monkeypatch.delenv(BUDGET_VARIABLE, raising=False)
    assert 2**20 < available_bytes() <= 2**62


def test_nothing_can_hold_an_exabyte(monkeypatch):
    monkeypatch.delenv(BUDGET_VARIABLE, raising=False)
    with pytest.raises(MemoryBudgetError):
        require_memory(1e18, "all data there is", "sample")


@pytest.mark.parametrize(
    "count, text",
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (2**30, "1.0 GiB"), (2**45, "32.0 TiB")],
)
def test_human_bytes(count, text):
    assert human_bytes(count) == text
