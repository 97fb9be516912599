"""Random numbers: reproducible, independent of the number of tasks, and of the right distribution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperplan._core._rng_kernels import next_below, next_normal, next_uint64, next_uniform, shuffle_in_place
from hyperplan._core.rng import kernel_state, task_seeds

N = 20_000


@given(seed=st.integers(0, 2**63), few=st.integers(0, 6), more=st.integers(0, 6))
def test_the_seed_of_a_task_does_not_depend_on_how_many_tasks_there_are(seed, few, more):
    assert (task_seeds(seed, few) == task_seeds(seed, few + more)[:few]).all()


def test_task_seeds_differ():
    assert np.unique(np.concatenate([task_seeds(0, 100), task_seeds(1, 100)])).size == 200


def test_splitmix_matches_the_published_stream():
    """First outputs of splitmix64 (Steele, Lea, Flood 2014) for seed 1234567."""
    state = kernel_state(1234567)
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [int(next_uint64(state)) for _ in expected] == expected


def test_uniform_is_uniform():
    state = kernel_state(1)
    draws = np.array([next_uniform(state) for _ in range(N)])
    assert draws.min() >= 0 and draws.max() < 1
    counts = np.histogram(draws, bins=20, range=(0, 1))[0]
    chi2 = ((counts - N / 20) ** 2 / (N / 20)).sum()
    assert chi2 < 43.8  # 99.9 % quantile of chi-square with 19 degrees of freedom; the seed is fixed


def test_normal_has_the_first_four_moments():
    state = kernel_state(2)
    draws = np.array([next_normal(state) for _ in range(N)])
    # four standard errors of each moment: 1, sqrt 2, sqrt 6, sqrt 24 over sqrt N
    assert abs(draws.mean()) < 4 / N**0.5
    assert abs(draws.var() - 1) < 4 * (2 / N) ** 0.5
    assert abs((draws**3).mean()) < 4 * (15 / N) ** 0.5
    assert abs((draws**4).mean() - 3) < 4 * (96 / N) ** 0.5


@pytest.mark.parametrize("n", [1, 2, 7])
def test_below_reaches_every_value_and_no_other(n):
    state = kernel_state(3)
    assert {int(next_below(state, n)) for _ in range(500)} == set(range(n))


@given(n=st.integers(0, 50), seed=st.integers(0, 2**63))
def test_shuffle_is_a_permutation_and_repeats_with_the_seed(n, seed):
    first, again = np.arange(n), np.arange(n)
    shuffle_in_place(first, kernel_state(seed))
    shuffle_in_place(again, kernel_state(seed))
    assert sorted(first) == list(range(n)) and (first == again).all()


def test_shuffle_puts_every_value_everywhere():
    state, counts = kernel_state(4), np.zeros((4, 4))
    for _ in range(4000):
        values = np.arange(4)
        shuffle_in_place(values, state)
        counts[np.arange(4), values] += 1
    assert np.abs(counts - 1000).max() < 5 * (4000 * 0.25 * 0.75) ** 0.5  # five standard deviations
