"""What a user waits for begins with the process, unless the process was something else before."""

import time

import pytest

from hyperplan._core import process_age
from hyperplan._core.process_age import CommandStart


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Pretend that this process was started so many seconds ago, and imported us 1 s ago."""

    def pretend(seconds, name="python"):
        ticks = round((time.clock_gettime(time.CLOCK_BOOTTIME) - seconds) * process_age.os.sysconf("SC_CLK_TCK"))
        (tmp_path / "stat").write_text(f"1 ({name}) S " + "0 " * 18 + f"{ticks} 0 0\n")
        monkeypatch.setattr(process_age, "STAT", tmp_path / "stat")
        monkeypatch.setattr(process_age, "_IMPORTED", time.monotonic() - 1.0)

    return pretend


@pytest.mark.parametrize("name", ["python", "a (odd) name"])
def test_the_start_of_the_process_counts(started, name):
    started(3.0, name)
    assert 2.9 < process_age.process_age() < 60.0 and process_age.process_age() >= 2.9


def test_a_script_that_ends_by_calling_us_does_not_count(started):
    started(500.0)
    assert 1.0 <= process_age.process_age() < 400.0


@pytest.mark.parametrize("said", ["", "1 (python) S 0", "no numbers at all)"])
def test_a_system_that_does_not_tell_is_no_error(started, said):
    started(3.0)
    process_age.STAT.write_text(said)
    assert process_age.process_age() >= 1.0


def test_a_command_within_a_process_begins_when_it_is_called(started):
    started(8.0)
    start = CommandStart()
    assert start.seconds == 0.0
    start.note(is_process=True)
    as_process = start.seconds
    start.note(is_process=False)
    assert as_process > 7.9 and start.seconds < as_process
