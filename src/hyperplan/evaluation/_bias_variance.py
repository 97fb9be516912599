"""Bias, variance and noise: where the error of a learner comes from.

At a point x, over training samples (and the learner's own randomness), with h the prediction and y the answer:

Squared loss, f(x) = E[y | x]::

    E (y - h)^2 = (E h - f)^2  +  Var h  +  Var(y | x)
                    bias          variance     noise

0/1 loss (Domingos): with y* the most probable label and the *main* prediction m, the most frequent one,
bias = 1{m != y*}, variance = P(h != m), noise = P(y != y*).  Variance hurts where the learner is unbiased and helps
where it is biased, so that the error is not their sum::

    P(h != y) = bias + net variance + net noise,
    net variance = P(h != y*) - bias,     net noise = P(h != y) - P(h != y*)

By simulation, when samples can be drawn: everything is measured; with the truth, bias and noise are told apart.
By bootstrap, when there is one table: the learner is fitted on resamples of the rows and judged on the rows left
out.  The noise cannot be told from the bias then and is counted there; resamples hold 63 % of the distinct rows, so
that the variance is somewhat larger than that of a fit on all rows.

References
----------
Geman, Bienenstock, Doursat (1992), Neural Computation 4.  Domingos (2000), A unified bias-variance decomposition, ICML.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._base import check_consistent_length, is_classifier, seed_from
from hyperplan._base.members import is_own, member_map, seeded_copy
from hyperplan._core.rng import task_seeds
from hyperplan.evaluation._checks import check_choice
from hyperplan.evaluation._resamples import Sampler
from hyperplan.evaluation._tables import as_table, rows_of


class BiasVariance(NamedTuple):
    """The parts of the expected loss, as means over the test points.

    Attributes
    ----------
    loss : "squared" or "zero_one"
    error : float
        Expected loss: bias + net_variance + net_noise (net_noise counts as 0 if unknown).
    bias : float
        For squared loss the squared bias (an unbiased estimate, which may fall a little below zero).  Includes the
        noise when that is unknown.
    variance : float
    noise : float or None
        None if unknown.
    net_variance, net_noise : float
        What variance and noise add to the error; for squared loss the variance and the noise themselves.
    n_rounds : int
        Fits that were made.
    """

    loss: str
    error: float
    bias: float
    variance: float
    noise: float | None
    net_variance: float
    net_noise: float
    n_rounds: int

    def __str__(self):
        noise = "" if self.noise is None else f" + noise {self.net_noise:.4g}"
        bias = "bias" if self.noise is not None else "bias and noise"
        return f"error {self.error:.4g} = {bias} {self.bias:.4g} + variance {self.net_variance:.4g}{noise}"


def bias_variance(
    estimator,
    data,
    *,
    truth=None,
    test=None,
    loss: str = "auto",
    n_rounds: int = 100,
    random_state=0,
    n_jobs=None,
) -> BiasVariance:
    """bias_variance(estimator, data, *, truth=None, test=None, loss="auto", n_rounds=100, random_state=0, n_jobs=None)
    -> BiasVariance(loss, error, bias, variance, noise, net_variance, net_noise, n_rounds)

    Decompose the error of a learner.

    Parameters
    ----------
    estimator : classifier or regressor
        Copied for every fit, with random states of its own.
    data : callable or pair (X, y)
        ``data(rng) -> (X, y)`` draws a fresh sample (simulation); a pair is resampled (bootstrap).
    truth : callable, optional
        For simulations.  ``truth(X)`` gives the means E[y | x]; for 0/1 loss the probabilities of the classes (a column
        per class, in sorted order), or labels if there is no noise.
    test : pair (X, y), optional
        Where to decompose, for simulations; default: one more sample.  y gives the noise of the squared loss.
    loss : {"auto", "squared", "zero_one"}, default="auto"
        "auto": 0/1 for classifiers, squared for regressors.
    n_rounds : int, default=100
        Number of fits.
    random_state : int, RandomState or None, default=0
    n_jobs : int, optional
        Threads; None means all cores for estimators of this package.

    Examples
    --------
    A straight line through a parabola is biased and steady.

    >>> import numpy as np
    >>> from hyperplan.evaluation import bias_variance
    >>> from hyperplan.linear_model import LinearRegression
    >>> def draw(rng):
    ...     X = rng.uniform(-1, 1, size=(50, 1))
    ...     return X, X[:, 0] ** 2 + rng.normal(scale=0.1, size=50)
    >>> found = bias_variance(LinearRegression(), draw, truth=lambda X: X[:, 0] ** 2)
    >>> found.bias > 10 * found.variance
    True
    """
    check_choice("loss", loss, ("auto", "squared", "zero_one"))
    if loss == "auto":
        loss = "zero_one" if is_classifier(estimator) else "squared"
    if n_rounds < 2:
        raise ValueError(f"a variance needs n_rounds of at least 2, got {n_rounds!r}")
    seeds = task_seeds(seed_from(random_state), n_rounds + 1)
    if callable(data):
        predictions, y, expected = _simulate(estimator, data, truth, test, seeds, n_jobs)
    elif truth is not None or test is not None:
        raise ValueError("truth and test go with a function that draws samples; data is a table")
    else:
        (predictions, y), expected = _bootstrap(estimator, *data, seeds, n_jobs), None
    parts = _squared if loss == "squared" else _zero_one
    return BiasVariance(loss, *parts(predictions, y, expected), n_rounds)


def _simulate(estimator, draw, truth, test, seeds, n_jobs):
    """Predictions (rounds x test points) of fits on fresh samples, the answers, and the truth at the test points."""
    X_test, y_test = draw(np.random.default_rng(int(seeds[-1]))) if test is None else test
    X_test = as_table(X_test)

    def fit(seed):
        X, y = draw(np.random.default_rng(int(seed)))
        return np.asarray(seeded_copy(estimator, int(seed % 2**32)).fit(X, y).predict(X_test))

    predictions = np.array(member_map(fit, seeds[:-1], n_jobs, own=is_own(estimator)))
    return predictions, np.asarray(y_test), None if truth is None else np.asarray(truth(X_test))


def _bootstrap(estimator, X, y, seeds, n_jobs):
    """Predictions (rounds x rows) of fits on resamples, masked where the row was in the resample; the answers."""
    X, y = as_table(X), np.asarray(y)
    check_consistent_length(X, y)
    sampler = Sampler(len(y), strata=y if is_classifier(estimator) else None)

    def fit(seed):
        counts = sampler.counts(1, int(seed))[0].astype(np.intp)
        drawn = np.repeat(np.arange(len(y)), counts)
        model = seeded_copy(estimator, int(seed % 2**32)).fit(rows_of(X, drawn), y[drawn])
        return np.asarray(model.predict(X)), counts > 0

    answers, inside = map(np.array, zip(*member_map(fit, seeds[:-1], n_jobs, own=is_own(estimator))))
    judged = (~inside).sum(axis=0) >= 2
    if not judged.any():
        raise ValueError("no row was left out of two resamples: raise n_rounds")
    return np.ma.array(answers, mask=inside)[:, judged], y[judged]


def _squared(predictions, y, expected):
    predictions = predictions.astype(np.float64)
    count = np.ma.count(predictions, axis=0)
    target = y.astype(np.float64) if expected is None else expected.astype(np.float64)
    variance = np.asarray(predictions.var(axis=0, ddof=1))
    bias = (np.asarray(predictions.mean(axis=0)) - target) ** 2 - variance / count  # the mean of few fits varies too
    noise = None if expected is None else float(np.mean((y - target) ** 2))
    parts = float(bias.mean()), float(variance.mean())
    return sum(parts) + (noise or 0.0), *parts, noise, parts[1], noise or 0.0


def _zero_one(predictions, y, expected):
    has_columns = expected is not None and expected.ndim == 2
    known = [np.unique(y), np.unique(np.ma.compressed(predictions))]
    classes = np.unique(np.concatenate(known if expected is None or has_columns else [*known, np.unique(expected)]))
    if has_columns:
        if expected.shape[1] != classes.size:
            raise ValueError(f"truth gives {expected.shape[1]} columns for {classes.size} classes")
        probability = expected.astype(np.float64)
    else:
        probability = ((y if expected is None else expected)[:, None] == classes).astype(np.float64)
    votes = np.stack([np.ma.filled((predictions == label).mean(axis=0), 0.0) for label in classes], axis=1)
    rows = np.arange(votes.shape[0])
    main, best = votes.argmax(axis=1), probability.argmax(axis=1)
    bias, variance = np.mean(main != best), np.mean(1 - votes.max(axis=1))
    from_best = np.mean(1 - votes[rows, best])
    error = np.mean(1 - (votes * probability).sum(axis=1))
    noise = None if expected is None else float(np.mean(1 - probability.max(axis=1)))
    return tuple(float(v) for v in (error, bias, variance)) + (noise, float(from_best - bias), float(error - from_best))
