"""Out-of-bag answers: each training row is judged by the members that did not draw it.

Rows that all members drew are left out.
"""

import warnings
from typing import NamedTuple

import numpy as np

from hyperplan._core.parallel import spans
from hyperplan.ensemble._bagging_draws import out_of_bag
from hyperplan.ensemble._bagging_members import MEMBERS_PER_WAVE


class OutOfBag(NamedTuple):
    """Sums of the answers and number of members per row; `curve` is the error after each member."""

    total: np.ndarray
    count: np.ndarray
    curve: np.ndarray

    @property
    def known(self):
        return self.count > 0


def out_of_bag_answers(crowd, plan, seeds, answer, error) -> OutOfBag:
    """Sums of ``answer(t, rows)`` (one line per row) over the members; ``error(total, count, known)`` is the curve."""
    total, count, curve = None, np.zeros(plan.n_rows), []

    def task(t):
        missed = np.flatnonzero(out_of_bag(plan, seeds[t]))
        return missed, answer(t, missed) if missed.size else None

    for wave in spans(len(seeds), MEMBERS_PER_WAVE):
        for missed, values in crowd.all(task, range(wave.start, wave.stop)):
            if values is not None:
                values = np.asarray(values, dtype=np.float64).reshape(missed.size, -1)
                total = np.zeros((plan.n_rows, values.shape[1])) if total is None else total
                total[missed] += values
                count[missed] += 1.0
            curve.append(error(total, count, count > 0) if count.any() else np.nan)
    if total is None:
        total = np.zeros((plan.n_rows, 1))
    if (count == 0).any():
        warnings.warn(
            "Some inputs do not have OOB scores. This probably means too few estimators were used to compute any "
            f"reliable oob estimates. {int((count == 0).sum())} of {plan.n_rows} rows were drawn by all estimators and "
            "are left out of the score."
        )
    return OutOfBag(total, count, np.array(curve))
