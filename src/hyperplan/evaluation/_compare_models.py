"""Paired comparison of models scored on the same splits.

The scores of two models on one split share its test rows and its training rows, so that their *difference* varies far
less than either.  For each pair: the corrected resampled t test of the J differences (see `corrected_t_test`),
p-values adjusted for the number of pairs, and a verdict in words:

1. "equivalent": the interval of the difference lies inside the region of practical equivalence [-rope, rope];
2. "better" or "worse": the adjusted p-value is below 1 - level, and the mean difference is larger than rope;
3. "tied": neither; the data cannot tell.

When models are compared with the best of k, the best was found on the same scores.  What still holds with the
Bonferroni correction: the model that is truly best is called "worse" with a chance of at most 1 - level, because some
other model would have to beat it by that margin (a union over k - 1 one-sided tests; Hsu 1984).  Holm's correction
rejects more, and simulations show that it keeps this.

References
----------
Nadeau, Bengio (2003), Machine Learning 52.  Hsu (1984), Constrained simultaneous confidence intervals for multiple
comparisons with the best, Annals of Statistics 12.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from hyperplan.evaluation._adjust import CORRECTIONS, adjust_p_values
from hyperplan.evaluation._checks import check_choice, check_level, check_share, score_table
from hyperplan.evaluation._corrected_t import corrected_t_interval, corrected_t_test

VERDICTS = ("better", "worse", "equivalent", "tied")


class Difference(NamedTuple):
    """How one model compares with another; `mean`, `low` and `high` are the model's score minus the reference's."""

    model: object
    reference: object
    mean: float
    low: float
    high: float
    p: float
    p_adjusted: float
    verdict: str

    def __str__(self):
        return (
            f"{self.model} is {self.verdict} ({self.mean:+.4g} [{self.low:+.4g}, {self.high:+.4g}], "
            f"adjusted p {self.p_adjusted:.3g}) compared with {self.reference}"
        )


def compare_models(
    scores,
    test_share: float,
    *,
    reference=None,
    rope: float = 0.0,
    level: float = 0.95,
    correction: str = "holm",
    greater_is_better: bool = True,
) -> list[Difference]:
    """compare_models(scores, test_share, *, reference=None, rope=0.0, level=0.95, correction="holm",
    greater_is_better=True) -> list of Difference(model, reference, mean, low, high, p, p_adjusted, verdict)

    Paired corrected resampled t tests on the same splits, in the order of the models.

    Parameters
    ----------
    scores : mapping of name -> J scores, frame or array with J rows (splits) and a column per model
    test_share : float
        n_test / n_train of one split.
    reference : name, "all" or None
        Whom the others are compared with: None the best mean score, "all" every pair.
    rope : float, default=0
        Half width of the region of practical equivalence, in units of the score: differences that nobody minds.
    level : float, default=0.95
        Of each interval, and 1 minus the level of the tests.
    correction : {"holm", "bonferroni", "benjamini_hochberg", "none"}
    greater_is_better : bool
        False for errors.  It decides which mean is best and what "better" means; differences keep their sign.

    Examples
    --------
    >>> from hyperplan.evaluation import compare_models
    >>> scores = {"tree": [0.80, 0.82, 0.79, 0.81, 0.80], "forest": [0.86, 0.87, 0.86, 0.88, 0.85]}
    >>> print(compare_models(scores, 0.25)[0])
    tree is worse (-0.06 [-0.07862, -0.04138], adjusted p 0.000864) compared with forest
    """
    check_choice("correction", correction, CORRECTIONS)
    test_share, level = check_share(test_share), check_level(level)
    if not rope >= 0:
        raise ValueError(f"rope is the half width of a region around zero, at least 0; got {rope!r}")
    names, table = score_table(scores)
    pairs = _pairs(names, table, reference, greater_is_better)
    differences = [table[:, i] - table[:, j] for i, j in pairs]
    p_values = [corrected_t_test(difference, test_share)[1] for difference in differences]
    rows = []
    for (i, j), difference, p, adjusted in zip(pairs, differences, p_values, adjust_p_values(p_values, correction)):
        mean, low, high = corrected_t_interval(difference, test_share, level=level)[:3]
        gain = mean if greater_is_better else -mean
        verdict = _verdict(gain, max(-low, high), adjusted < 1 - level, rope)
        rows.append(Difference(names[i], names[j], mean, low, high, p, float(adjusted), verdict))
    return rows


def _verdict(gain, farthest_end, is_significant, rope):
    if farthest_end <= rope:
        return "equivalent"
    if is_significant and abs(gain) > rope:
        return "better" if gain > 0 else "worse"
    return "tied"


def _pairs(names, table, reference, greater_is_better):
    """Column numbers ``(model, reference)`` of each comparison."""
    if isinstance(reference, str) and reference == "all" and "all" not in names:
        return list(combinations(range(len(names)), 2))
    if reference is None:
        chosen = best_column(table, greater_is_better)
    elif reference in names:
        chosen = names.index(reference)
    else:
        raise ValueError(f"reference {reference!r} is not among the models: {', '.join(map(str, names))}")
    return [(i, chosen) for i in range(len(names)) if i != chosen]


def best_column(table, greater_is_better) -> int:
    """The column with the best mean; the first of equals."""
    means = table.mean(axis=0)
    return int(np.argmax(means) if greater_is_better else np.argmin(means))
