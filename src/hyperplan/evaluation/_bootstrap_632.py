"""The .632 and .632+ bootstrap: the prediction error of a learner from fits on resamples.

With `apparent` the error on the training rows themselves (too small), and `out_of_bag` the mean error of each row
under fits on resamples that do not hold it (too large: such resamples hold 63 % of the distinct rows)::

    .632  =  0.368 apparent + 0.632 out_of_bag

A learner that memorises has apparent = 0, and .632 is then too small.  The correction measures how far it overfits,
on a scale where `no_information` is the error if answers had nothing to do with the features (every answer paired
with every prediction)::

    R = (out_of_bag - apparent) / (no_information - apparent), within [0, 1]
    w = 0.632 / (1 - 0.368 R)
    .632+ = (1 - w) apparent + w min(out_of_bag, no_information)

References
----------
Efron, Tibshirani (1997), Improvements on cross-validation: the .632+ bootstrap method, JASA 92.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._base import check_consistent_length, is_classifier, seed_from
from hyperplan._base.members import is_own, member_map, seeded_copy
from hyperplan._core.parallel import spans
from hyperplan._core.rng import task_seeds
from hyperplan.evaluation._resamples import Sampler
from hyperplan.evaluation._tables import as_table, rows_of


class Bootstrap632(NamedTuple):
    """Errors (smaller is better).

    Attributes
    ----------
    plus : float
        The .632+ estimate.
    plain : float
        The .632 estimate.
    apparent, out_of_bag, no_information : float
        What they are made of.
    overfitting : float
        R, from 0 (none) to 1 (as bad as no information).
    weight : float
        w, from .632 to 1.
    """

    plus: float
    plain: float
    apparent: float
    out_of_bag: float
    no_information: float
    overfitting: float
    weight: float

    def __str__(self):
        return (
            f".632+ error {self.plus:.4g} (.632: {self.plain:.4g}; training rows {self.apparent:.4g}, "
            f"rows left out {self.out_of_bag:.4g}, overfitting {self.overfitting:.2f})"
        )


def bootstrap_632(estimator, X, y, *, loss="auto", n_resamples: int = 100, random_state=0, n_jobs=None) -> Bootstrap632:
    """bootstrap_632(estimator, X, y, *, loss="auto", n_resamples=100, random_state=0, n_jobs=None)
    -> Bootstrap632(plus, plain, apparent, out_of_bag, no_information, overfitting, weight)

    Prediction error of a learner by the .632 and .632+ bootstrap.

    Parameters
    ----------
    estimator : classifier or regressor
    X, y : data
    loss : {"auto", "zero_one", "squared"} or callable, default="auto"
        ``loss(y_true, y_pred)`` gives a number per row.  "auto": 0/1 for classifiers, squared for regressors.
    n_resamples : int, default=100
    random_state : int, RandomState or None, default=0
    n_jobs : int, optional
        Threads; None means all cores for estimators of this package.

    Examples
    --------
    >>> from hyperplan.datasets import load_penguins
    >>> from hyperplan.evaluation import bootstrap_632
    >>> from hyperplan.tree import DecisionTreeClassifier
    >>> X, y = load_penguins(return_X_y=True)
    >>> found = bootstrap_632(DecisionTreeClassifier(random_state=0), X, y, n_resamples=20)
    >>> found.apparent < found.plain <= found.plus <= found.out_of_bag
    True
    """
    X, y = as_table(X), np.asarray(y)
    check_consistent_length(X, y)
    if n_resamples < 2:
        raise ValueError(f"n_resamples must be at least 2, got {n_resamples!r}")
    rows_loss = _rows_loss(loss, estimator)
    sampler = Sampler(len(y), strata=y if is_classifier(estimator) else None)

    def errors(seed):
        counts = sampler.counts(1, int(seed))[0].astype(np.intp)
        drawn, out = np.repeat(np.arange(len(y)), counts), np.flatnonzero(counts == 0)
        losses = np.full(len(y), np.nan)
        if out.size:
            model = seeded_copy(estimator, int(seed % 2**32)).fit(rows_of(X, drawn), y[drawn])
            losses[out] = rows_loss(y[out], model.predict(rows_of(X, out)))
        return losses

    seeds = task_seeds(seed_from(random_state), n_resamples + 1)
    losses = np.array(member_map(errors, seeds[:-1], n_jobs, own=is_own(estimator)))
    judged = ~np.isnan(losses).all(axis=0)
    if not judged.any():
        raise ValueError("no row was left out of a resample: raise n_resamples")
    out_of_bag = float(np.nanmean(losses[:, judged], axis=0).mean())  # row by row first, as in the paper
    predicted = np.asarray(seeded_copy(estimator, int(seeds[-1] % 2**32)).fit(X, y).predict(X))
    apparent = float(np.mean(rows_loss(y, predicted)))
    return _combine(apparent, out_of_bag, _no_information(rows_loss, y, predicted))


def _combine(apparent, out_of_bag, no_information) -> Bootstrap632:
    capped = min(out_of_bag, no_information)
    rate = (capped - apparent) / (no_information - apparent) if capped > apparent else 0.0
    weight = 0.632 / (1 - 0.368 * rate)
    plain = 0.368 * apparent + 0.632 * out_of_bag
    plus = (1 - weight) * apparent + weight * capped
    return Bootstrap632(plus, plain, apparent, out_of_bag, no_information, rate, weight)


def _no_information(rows_loss, y, predicted):
    """Mean loss over all pairs of an answer and a prediction, a few answers at a time."""
    n = len(y)
    total = 0.0
    for span in spans(n, max(1, (1 << 20) // n)):
        block = y[span]
        total += float(np.sum(rows_loss(np.repeat(block, n), np.tile(predicted, block.size))))
    return total / n**2


def _rows_loss(loss, estimator):
    if loss == "auto":
        loss = "zero_one" if is_classifier(estimator) else "squared"
    named = {
        "zero_one": lambda y, p: (np.asarray(y) != np.asarray(p)).astype(np.float64),
        "squared": lambda y, p: (np.asarray(y, dtype=np.float64) - p) ** 2,
    }
    if loss in named:
        return named[loss]
    if not callable(loss):
        raise ValueError(f"loss must be 'auto', 'zero_one', 'squared' or a function of (y_true, y_pred); got {loss!r}")
    return loss
