"""Bayesian correlated t: how probable it is that one model is better, worse, or practically the same.

The differences of two models' scores over J splits are taken as normal with a common correlation
rho = n_test / (n_test + n_train) from the overlap of the splits.  With the matching (noninformative) prior the
posterior of the mean difference is a Student distribution::

    St(mean, (1/J + rho / (1 - rho)) s^2, J - 1 degrees of freedom),    rho / (1 - rho) = n_test / n_train

that is, the corrected resampled t read as a probability; with rope = 0 the probability of the less likely side equals
half of the two-sided p-value.

References
----------
Corani, Benavoli (2015), A Bayesian approach for comparing cross-validated algorithms, Machine Learning 100.
Benavoli, Corani, Demsar, Zaffalon (2017), Time for a change, JMLR 18.
"""

from typing import NamedTuple

import numpy as np

from hyperplan.evaluation._checks import check_level, check_scores
from hyperplan.evaluation._corrected_t import corrected_standard_error, corrected_t_interval


class Posterior(NamedTuple):
    """Probabilities about the mean difference a - b, and its posterior mean and credible interval.

    Attributes
    ----------
    left : float
        P(difference < -rope): b is better.
    rope : float
        P(-rope <= difference <= rope): practically equivalent.
    right : float
        P(difference > rope): a is better.
    mean, low, high : float
    """

    left: float
    rope: float
    right: float
    mean: float
    low: float
    high: float

    def __str__(self):
        return f"P(second better) {self.left:.3f}, P(equivalent) {self.rope:.3f}, P(first better) {self.right:.3f}"


def bayesian_correlated_t(
    scores_a, scores_b, test_share: float, *, rope: float = 0.0, level: float = 0.95
) -> Posterior:
    """bayesian_correlated_t(scores_a, scores_b, test_share, *, rope=0.0, level=0.95)
    -> Posterior(left, rope, right, mean, low, high)

    Posterior probabilities that the second model is better, both are practically equivalent, the first is better.

    Parameters
    ----------
    scores_a, scores_b : arrays of J numbers
        Scores on the same splits, larger is better.
    test_share : float
        n_test / n_train of one split.
    rope : float, default=0
        Half width of the region of practical equivalence.
    level : float, default=0.95
        Of the credible interval.

    Examples
    --------
    >>> from hyperplan.evaluation import bayesian_correlated_t
    >>> print(bayesian_correlated_t([0.82, 0.80, 0.81, 0.83], [0.80, 0.79, 0.80, 0.80], 1 / 3, rope=0.005))
    P(second better) 0.027, P(equivalent) 0.066, P(first better) 0.907
    """
    from scipy.special import stdtr

    check_level(level)
    if not rope >= 0:
        raise ValueError(f"rope is the half width of a region around zero, at least 0; got {rope!r}")
    first, second = check_scores(scores_a), check_scores(scores_b)
    if first.shape != second.shape:
        raise ValueError(f"both models must be scored on the same splits, got {first.size} and {second.size} scores")
    differences = first - second
    mean, low, high = corrected_t_interval(differences, test_share, level=level)[:3]
    error = corrected_standard_error(differences, test_share)
    if error == 0:
        left, right = float(mean < -rope), float(mean > rope)
    else:
        ends = (np.array([-rope, -rope]) + [-mean, mean]) / error
        left, right = (float(tail) for tail in stdtr(differences.size - 1, ends))
    return Posterior(left, max(0.0, 1 - left - right), right, mean, low, high)
