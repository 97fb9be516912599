"""Errors of a classifier on coordinates that were found with all rows, but without the labels of those held out.

The rows of a fold take part in the embedding (it is transductive) and their labels do not: `hide` is the only way
labels reach a method that uses them.  Coordinates are nested, so that one embedding serves every dimension.
"""

from typing import NamedTuple

import numpy as np

from hyperplan.kernels import RBF
from hyperplan.metrics import accuracy_score, balanced_error_rate
from hyperplan.model_selection import KFold
from hyperplan.svm import SVC

UNKNOWN = -1
SCALINGS = ("none", "global", "range", "variance")


class Errors(NamedTuple):
    """Shares of wrong answers, one row per seed and one column per dimension, and the same with equal classes."""

    error: np.ndarray
    ber: np.ndarray
    wrong: np.ndarray  # (dimensions, rows): share of the seeds in which a row was wrong


def folds(n, n_folds, seed) -> list[np.ndarray]:
    """Positions held out, fold by fold, of shuffled rows."""
    rows = KFold(min(n_folds, n), shuffle=True, random_state=seed).split(np.empty((n, 1)))
    return [held_out for _, held_out in rows]


def hide(y, held_out) -> np.ndarray:
    """Labels with those of the held-out rows unknown."""
    known = np.array(y)
    known[held_out] = UNKNOWN
    return known


def scaled(Y, how) -> np.ndarray:
    """Coordinates as they are, divided by one constant, or each on [-1, 1] or to a variance of one."""
    if how == "none":
        return Y
    if how == "global":
        return Y / max(float(np.abs(Y).max()), 1e-300)
    if how == "range":
        low, high = Y.min(axis=0), Y.max(axis=0)
        return 2.0 * (Y - low) / np.where(high > low, high - low, 1.0) - 1.0
    if how == "variance":
        spread = Y.std(axis=0)
        return (Y - Y.mean(axis=0)) / np.where(spread > 1e-12 * spread.max(initial=0.0), spread, 1.0)
    raise ValueError(f"how must be one of {SCALINGS}, got {how!r}")


def gaussian(Y, gamma=None) -> np.ndarray:
    """Gaussian kernel values of all pairs of rows, which serve every fold.

    `gamma` None is one over the number of coordinates, libsvm's default of the time.
    """
    return RBF(1.0 / Y.shape[1] if gamma is None else gamma).gram(Y)


def answers(K, y, held_out, *, C=1.0) -> np.ndarray:
    """What a support vector machine, trained on the other rows, says about those held out."""
    train = np.ones(len(y), dtype=bool)
    train[held_out] = False
    machine = SVC(C=C, kernel="precomputed").fit(K[np.ix_(train, train)], y[train])
    return machine.predict(K[held_out][:, train])


def cross_validated(coordinates, y, dims, *, n_folds, seeds, scaling="variance", C=1.0, gamma=None) -> Errors:
    """Errors by dimension.

    Parameters
    ----------
    coordinates : callable
        ``coordinates(labels)`` returns one row per row of the table, where `labels` has -1 at the rows held out.  A
        method without labels returns the same each time.
    y : ndarray of shape (n,)
        Labels, 0 or larger.
    dims : sequence of int
        Numbers of leading coordinates; those beyond what there is take all there is.
    n_folds : int
        Parts of the rows.
    seeds : int
        Times the rows are shuffled into parts.
    scaling : {"none", "global", "range", "variance"}
        What is done to coordinates, without labels.
    C, gamma : float
        Of the support vector machine; gamma None is one over the number of coordinates.
    """
    y, n = np.asarray(y), len(y)
    said = np.empty((seeds, len(dims), n), dtype=y.dtype)
    last, grams = None, []
    for seed in range(seeds):
        for held_out in folds(n, n_folds, seed):
            Y = coordinates(hide(y, held_out))
            if Y is not last:  # methods without labels give the same each time
                last, grams = Y, [gaussian(scaled(Y, scaling)[:, :d], gamma) for d in dims]
            for j, K in enumerate(grams):
                said[seed, j, held_out] = answers(K, y, held_out, C=C)
    error = np.array([[1.0 - accuracy_score(y, one) for one in row] for row in said])
    ber = np.array([[balanced_error_rate(y, one) for one in row] for row in said])
    return Errors(error, ber, (said != y).mean(axis=0))


def chosen_inside(Y, y, *, n_folds, seed, grid, inner=5):
    """Error when ``(C, gamma)`` of each fold is chosen by cross-validation of the other rows alone; the choices too."""
    said, choices = np.empty_like(y), []
    grams = {gamma: gaussian(Y, gamma) for _, gamma in grid}
    for held_out in folds(len(y), n_folds, seed):
        rest = np.setdiff1d(np.arange(len(y)), held_out)
        parts = {gamma: K[np.ix_(rest, rest)] for gamma, K in grams.items()}
        best = min(grid, key=lambda setting: _inner_errors(parts[setting[1]], y[rest], setting[0], inner, seed))
        said[held_out] = answers(grams[best[1]], y, held_out, C=best[0])
        choices.append(best)
    return float((said != y).mean()), float(balanced_error_rate(y, said)), choices


def _inner_errors(K, y, C, n_folds, seed) -> int:
    return sum(int((answers(K, y, part, C=C) != y[part]).sum()) for part in folds(len(y), n_folds, seed))


def paired_difference(wrong, other) -> tuple[float, float]:
    """Mean difference of two shares of wrong answers over the same rows, and its standard error."""
    gaps = np.asarray(wrong) - np.asarray(other)
    return float(gaps.mean()), float(gaps.std(ddof=1) / np.sqrt(gaps.size))
