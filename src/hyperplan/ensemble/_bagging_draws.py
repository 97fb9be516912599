"""Which rows and columns each member of a bagged ensemble sees.

Each member draws from its own seed, first columns and then rows, by the same calls as scikit-learn's: for the same
`random_state` both packages draw the same.  In m draws with replacement from m rows a given row is missed with
probability ``(1 - 1/m)^m``, about 0.368.
"""

import warnings
from numbers import Integral
from typing import NamedTuple

import numpy as np

from hyperplan._base import check_random_state
from hyperplan._base.members import sample_without_replacement


class Plan(NamedTuple):
    """How to draw; `weight` is None where every row is as likely."""

    n_rows: int
    n_columns: int
    rows_drawn: int
    columns_drawn: int
    bootstrap: bool
    bootstrap_columns: bool
    weight: np.ndarray | None

    @property
    def all_columns(self):
        """Whether each member sees the columns as they are."""
        return not self.bootstrap_columns and self.columns_drawn == self.n_columns


def draw(plan, seed):
    """Column and row numbers of the member with this seed."""
    random_state = check_random_state(seed)
    columns = _numbers(random_state, plan.bootstrap_columns, plan.n_columns, plan.columns_drawn)
    if plan.weight is None:
        return columns, _numbers(random_state, plan.bootstrap, plan.n_rows, plan.rows_drawn)
    shares = plan.weight / plan.weight.sum()
    return columns, random_state.choice(plan.n_rows, plan.rows_drawn, replace=plan.bootstrap, p=shares)


def _numbers(random_state, replace, population, size):
    if replace:
        return random_state.randint(0, population, size)
    return sample_without_replacement(population, size, random_state=random_state)


def out_of_bag(plan, seed):
    """Whether each row was missed by the member with this seed."""
    missed = np.ones(plan.n_rows, dtype=bool)
    missed[draw(plan, seed)[1]] = False
    return missed


def rows_to_draw(max_samples, n_rows, weight) -> int:
    """Size of a member's sample; a share is one of the rows, or of the sum of the weights."""
    if max_samples is None:
        return n_rows
    if isinstance(max_samples, Integral):
        return int(max_samples)
    total = n_rows if weight is None else weight.sum()
    what = "the number of samples" if weight is None else "the total sum of sample weights"
    size = max(int(max_samples * total), 1)
    if size < max(10, n_rows ** (1 / 3)):
        warnings.warn(
            f"Using the fractional value max_samples={max_samples} when {what} is {total} results in a low number "
            f"({size}) of bootstrap samples. We recommend passing `max_samples` as an integer instead."
        )
    return size


def columns_to_draw(max_features, n_columns) -> int:
    """Number of a member's columns, given as such or as a share."""
    count = int(max_features if isinstance(max_features, Integral) else max_features * n_columns)
    if count > n_columns:
        raise ValueError(f"max_features must be <= n_features, got {count} of {n_columns}")
    return max(1, count)
