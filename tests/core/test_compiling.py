"""The clock of budgets stands still while anybody compiles, and only then."""

import pytest

from hyperplan._core import compiling
from hyperplan._core.compiling import CompileWatch, working_time


class Time:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Time()


def test_several_who_compile_at_a_time_count_once(clock):
    watch = CompileWatch(clock)
    watch.begin("first")
    clock.now += 3
    watch.begin("second")
    clock.now += 4
    watch.end("first")
    clock.now += 5
    assert watch.seconds == 12.0
    watch.end("second")
    clock.now += 50
    assert watch.seconds == 12.0


def test_one_who_compiles_parts_within_parts_is_done_at_the_end(clock):
    watch, told = CompileWatch(clock), []
    watch.tell = told.append
    watch.begin("one")
    watch.begin("one")
    clock.now += 1
    watch.end("one")
    clock.now += 1
    watch.end("one")
    assert watch.seconds == 2.0 and told == [True, False]


def test_somebody_who_is_gone_ends_once(clock):
    watch = CompileWatch(clock)
    watch.end("never began")
    watch.begin("worker")
    clock.now += 2
    watch.end("worker")
    watch.end("worker")
    assert watch.seconds == 2.0


def test_a_compiler_that_hangs_does_not_stop_the_clock_for_ever(clock):
    watch = CompileWatch(clock)
    watch.begin("worker")
    clock.now += 10 * compiling.LONGEST
    assert watch.seconds == compiling.LONGEST


def test_working_time_stands_still_while_something_is_compiled(clock, monkeypatch):
    watch = CompileWatch(clock)
    monkeypatch.setattr(compiling, "compile_watch", watch)
    monkeypatch.setattr(compiling.time, "monotonic", clock)
    before = working_time()
    clock.now += 1
    watch.begin("somebody")
    clock.now += 40
    watch.end("somebody")
    clock.now += 2
    assert working_time() - before == 3.0
