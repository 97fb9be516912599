"""Threads: order, nesting, errors, and the same bits for any number of them."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperplan
from hyperplan._core import parallel
from hyperplan._core.parallel import effective_n_jobs, single_threaded_blas, spans, split_map, thread_limit, thread_map


@given(n=st.integers(0, 5000), size=st.integers(1, 1200))
def test_spans_cover_every_index_once_in_order(n, size):
    pieces = spans(n, size)
    covered = [i for piece in pieces for i in range(piece.start, piece.stop)]
    assert covered == list(range(n))
    assert all(piece.stop - piece.start == size for piece in pieces[:-1])


@given(items=st.lists(st.integers(), max_size=40), n_jobs=st.integers(1, 5))
def test_thread_map_is_map(items, n_jobs):
    assert thread_map(lambda item: item * 3 + 1, items, n_jobs) == [item * 3 + 1 for item in items]


@given(items=st.lists(st.integers(), max_size=40), n_jobs=st.integers(1, 5))
def test_split_map_is_map(items, n_jobs):
    assert split_map(lambda item: item * 3 + 1, items, n_jobs) == [item * 3 + 1 for item in items]


@pytest.mark.parametrize("culprit", [0, 3])
def test_split_map_waits_for_everybody_before_an_error_reaches_the_caller(culprit):
    done = []

    def task(i):
        if i == culprit:
            raise ValueError(i)
        time.sleep(0.02)
        done.append(i)

    with pytest.raises(ValueError, match=str(culprit)):
        split_map(task, range(4), 4)
    assert sorted(done) == [i for i in range(4) if i != culprit]
    assert split_map(lambda i: i, range(4), 4) == [0, 1, 2, 3]


def test_results_come_in_the_order_of_the_items_not_of_finishing():
    def late_first(i):
        time.sleep(0.02 * (3 - i))
        return i

    assert thread_map(late_first, range(4), 4) == [0, 1, 2, 3]


def test_nested_maps_run_in_their_worker():
    def inner(i):
        name = threading.current_thread().name
        return thread_map(lambda j: threading.current_thread().name == name and effective_n_jobs(8) == 1, range(3), 8)

    assert thread_map(inner, range(6), 3) == [[True] * 3] * 6


def test_an_error_in_a_task_reaches_the_caller_and_leaves_the_pool_usable():
    def fails(i):
        if i == 3:
            raise KeyError("task 3")
        return i

    for n_jobs in (1, 2):
        with pytest.raises(KeyError, match="task 3"):
            thread_map(fails, range(8), n_jobs)
        assert thread_map(abs, [-1, -2], n_jobs) == [1, 2]


def test_thread_limit_is_nested_and_restored():
    free = effective_n_jobs()
    with hyperplan.thread_limit(3):
        assert (effective_n_jobs(), effective_n_jobs(8), effective_n_jobs(2)) == (3, 3, 2)
        with thread_limit(1):
            assert effective_n_jobs(-1) == 1
        assert effective_n_jobs() == 3
    assert effective_n_jobs() == free


def test_thread_limit_concerns_the_calling_thread_only():
    seen = []
    with thread_limit(1):
        other = threading.Thread(target=lambda: seen.append(effective_n_jobs(2)))
        other.start()
        other.join()
    assert seen == [2]


def test_n_jobs_counts_as_in_scikit_learn(monkeypatch):
    monkeypatch.setenv(parallel.THREAD_VARIABLE, "4")
    assert [effective_n_jobs(n) for n in (None, 1, 2, -1, -2, -9)] == [4, 1, 2, 4, 3, 1]
    with pytest.raises(ValueError, match="n_jobs=0"):
        effective_n_jobs(0)


@pytest.mark.parametrize("n_jobs", [2, 3, 4])
def test_block_sums_have_the_same_bits_for_any_number_of_threads(n_jobs):
    """Chunks depend on the shape only and are merged in order, BLAS inside them runs on one thread."""
    X = np.random.default_rng(0).normal(size=(3 * 700 + 7, 30))

    def gram(jobs):
        return sum(thread_map(lambda rows: X[rows].T @ X[rows], spans(X.shape[0], 700), jobs))

    assert gram(1).tobytes() == gram(n_jobs).tobytes()


def blas_threads():
    from threadpoolctl import threadpool_info

    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_blas_is_single_threaded_inside_and_restored_after():
    before = blas_threads()
    assert thread_map(lambda _: blas_threads(), range(3), 2) == [{1}] * 3
    assert thread_map(lambda _: blas_threads(), range(1), 1) == [{1}]
    assert blas_threads() == before


def test_blas_guards_of_two_threads_overlap_without_losing_the_setting():
    before, entered, leave = blas_threads(), threading.Event(), threading.Event()

    def hold():
        with single_threaded_blas():
            entered.set()
            leave.wait(10)

    other = threading.Thread(target=hold)
    with single_threaded_blas():
        other.start()
        assert entered.wait(10)
    assert blas_threads() == {1}  # the other thread is still inside
    leave.set()
    other.join()
    assert blas_threads() == before
