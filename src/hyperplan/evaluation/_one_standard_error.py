"""The one-standard-error rule: Occam's razor with a number on it.

Among the models whose mean score lies within one standard error of the best mean, take the simplest; of equally simple
ones the best.  "Simple" is not measured here: the caller states the order as one number per model, smaller is
simpler.  The standard error is the corrected one (`corrected_standard_error`), since the splits share training rows.

`paired=False` is the rule of the book: the standard error of the best model's score.  `paired=True` takes that of each
model's difference from the best, which does not contain the difficulty of the splits: a stricter rule.

This is the first razor of Domingos (1999): of models that generalise alike, the simple one is preferred for its
simplicity.  It does not claim that simple models generalise better.

References
----------
Breiman, Friedman, Olshen, Stone (1984), Classification and regression trees, section 3.4.3.
Domingos (1999), The role of Occam's razor in knowledge discovery, Data Mining and Knowledge Discovery 3.
"""

from typing import NamedTuple

import numpy as np

from hyperplan.evaluation._checks import check_share, score_table
from hyperplan.evaluation._compare_models import best_column
from hyperplan.evaluation._corrected_t import corrected_standard_error


class Choice(NamedTuple):
    """The chosen model, the best one, and the models the choice was made among (simplest first)."""

    model: object
    best: object
    eligible: tuple
    score: float
    best_score: float
    standard_error: float

    def __str__(self):
        if self.model == self.best:
            return f"{self.model} ({self.score:.4g}) is the best, and none within one standard error is simpler"
        return (
            f"{self.model} ({self.score:.4g}) is the simplest of {len(self.eligible)} models within one standard error "
            f"({self.standard_error:.2g}) of {self.best} ({self.best_score:.4g})"
        )


def one_standard_error(
    scores,
    simplicity,
    test_share: float,
    *,
    paired: bool = False,
    greater_is_better: bool = True,
) -> Choice:
    """one_standard_error(scores, simplicity, test_share, *, paired=False, greater_is_better=True)
    -> Choice(model, best, eligible, score, best_score, standard_error)

    The simplest model within one corrected standard error of the best.

    Parameters
    ----------
    scores : mapping of name -> J scores, frame or array with J rows (splits) and a column per model
    simplicity : mapping of name -> number, or numbers in the order of the models
        The order of simplicity: smaller is simpler (a rank, a number of parameters, a training time).
    test_share : float
        n_test / n_train of one split.
    paired : bool, default=False
        Standard error of the difference from the best instead of that of the best score.
    greater_is_better : bool, default=True
        False for errors.

    Examples
    --------
    >>> from hyperplan.evaluation import one_standard_error
    >>> scores = {"mean": [0.0, 0.01, 0.0, 0.0], "ridge": [0.8, 0.7, 0.75, 0.7], "forest": [0.81, 0.72, 0.74, 0.71]}
    >>> print(one_standard_error(scores, {"mean": 0, "ridge": 1, "forest": 60}, 1 / 3))
    ridge (0.7375) is the simplest of 2 models within one standard error (0.034) of forest (0.745)
    """
    names, table = score_table(scores)
    order = _order(simplicity, names)
    check_share(test_share)
    sign = 1 if greater_is_better else -1
    best = best_column(table, greater_is_better)
    means = table.mean(axis=0)
    losses = sign * (means[best] - means)
    errors = np.full(len(names), corrected_standard_error(table[:, best], test_share))
    if paired:
        errors = np.array([corrected_standard_error(table[:, best] - column, test_share) for column in table.T])
    eligible = sorted(np.flatnonzero(losses <= errors), key=lambda i: (order[i], losses[i]))
    chosen = eligible[0]
    error = errors[chosen] if paired and chosen != best else corrected_standard_error(table[:, best], test_share)
    return Choice(
        names[chosen],
        names[best],
        tuple(names[i] for i in eligible),
        float(means[chosen]),
        float(means[best]),
        float(error),
    )


def _order(simplicity, names):
    if hasattr(simplicity, "keys"):
        if missing := [name for name in names if name not in simplicity]:
            raise ValueError(f"simplicity lacks {', '.join(map(repr, missing))}")
        simplicity = [simplicity[name] for name in names]
    order = np.asarray(simplicity, dtype=np.float64)
    if order.shape != (len(names),) or np.isnan(order).any():
        raise ValueError(f"simplicity must be one number per model ({len(names)}), got shape {order.shape}")
    return order
