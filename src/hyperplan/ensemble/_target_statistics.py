"""Categories as numbers: ordered target statistics.

The rows stand in a random order.  A row of category c gets

    ( sum_j w_j y_j + a prior ) / ( sum_j w_j + a ),   j over the rows of category c that come **before** it,

and a row to predict the same with j over all training rows of category c; the prior is the weighted mean of all
training targets.  A row's own target is in none of its numbers, so that trees cannot read it off them, as they can
from plain means.  The first row of a category gets the prior; so does, at prediction, a category without rows.

A mean over several orders would come close to the mean over all **other** rows, which gives the target away again (the
rows with y = 1 have the lower means).  Instead every round of boosting grows its trees on one of the orders, by turns,
for the errors that the trees so far make on this order's numbers.

In the means over all rows a weight is a number of copies.  In those over rows before it is not, on purpose: copies of a
row would see the target of each other.

Numbers are kept as differences to the prior, rounded to float32: the same for tables of either precision.
With K classes a column becomes K columns, the shares of the classes: the first stays in place, the others follow the
last column of the table.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.parallel import thread_map
from hyperplan.ensemble import _target_statistics_kernels as k

EMPTY = np.empty(0)
ORDERS = 0x0DDE5  # sets the seeds of the orders apart from those of the rounds


class TargetStatistics(NamedTuple):
    """Means of the targets by category, learned from the training rows.

    Attributes
    ----------
    features : ndarray
        The columns of categories.
    tables : list of ndarray of shape (n_categories + 1, n_outputs), float32
        For each of them the smoothed means less the prior; the last line, 0, is that of an unknown category.
    prior : ndarray of shape (n_outputs,)
        Weighted means of the targets.
    smoothing : float
        The constant a.
    source : ndarray
        The feature that each column of the encoded table comes from.
    """

    features: np.ndarray
    tables: list
    prior: np.ndarray
    smoothing: float
    source: np.ndarray

    def place(self, n_features, position, output):
        """Column of the encoded table that has the means of `features[position]` for an output."""
        if output == 0:
            return int(self.features[position])
        return n_features + position * (self.prior.shape[0] - 1) + output - 1


def output_target(y, output, n_outputs):
    """What is averaged for an output: the target itself, or whether it is class `output` of several."""
    return y if n_outputs == 1 else (y == output).astype(np.float64)


def learn_statistics(X, features, n_categories, y, weight, n_outputs, smoothing) -> TargetStatistics:
    """Statistics of all rows of X, whose columns `features` hold codes 0, 1, ... below `n_categories`, or NaN."""
    outputs = range(n_outputs)
    prior = np.array([np.average(output_target(y, o, n_outputs), weights=weight) for o in outputs])

    def one_feature(position):
        size = n_categories[position] + 1
        codes = category_codes(X[:, features[position]])
        known = codes >= 0
        rows = codes[known]
        weights = None if weight is None else weight[known]
        counts = np.bincount(rows, weights, minlength=size)
        table = np.empty((size, n_outputs), np.float32)
        for o in outputs:
            rest = output_target(y, o, n_outputs)[known] - prior[o]
            sums = np.bincount(rows, rest if weights is None else weights * rest, minlength=size)
            table[:, o] = sums / (counts + smoothing)
        return table

    tables = thread_map(one_feature, range(len(features)))
    source = np.concatenate([np.arange(X.shape[1]), np.repeat(features, n_outputs - 1)]).astype(np.intp)
    return TargetStatistics(np.asarray(features), tables, prior, float(smoothing), source)


def category_codes(column):
    """Codes as integers, -1 for missing."""
    missing = np.isnan(column)
    return np.where(missing, 0, column).astype(np.int64) - missing


def row_order(seed, permutation, n_rows):
    """Order number `permutation` of a fit: the same for the same seed and number of rows."""
    return np.random.default_rng([seed, permutation, ORDERS]).permutation(n_rows)


def encode_training(X, statistics: TargetStatistics, y, weight, order) -> np.ndarray:
    """The training table with categories replaced by the means of the rows before, in the given order."""
    out, n_outputs = _table(X, statistics), statistics.prior.shape[0]
    weight = EMPTY if weight is None else weight

    def one_column(task):
        position, output = divmod(task, n_outputs)
        codes = category_codes(X[:, statistics.features[position]])
        sums, counts = np.zeros((2, statistics.tables[position].shape[0]))
        means = np.empty(X.shape[0], np.float32)
        target = output_target(y, output, n_outputs) - statistics.prior[output]
        k.ordered_means(order, codes, target, weight, statistics.smoothing, sums, counts, means)
        out[:, statistics.place(X.shape[1], position, output)] = means

    thread_map(one_column, range(len(statistics.features) * n_outputs))
    return out


def encode_rows(X, statistics: TargetStatistics) -> np.ndarray:
    """Further rows with categories replaced by the means of all training rows."""
    out = _table(X, statistics)
    for position, table in enumerate(statistics.tables):
        codes = category_codes(X[:, statistics.features[position]])
        for output in range(table.shape[1]):
            means = np.where(codes < 0, np.float32(np.nan), table[codes, output])
            out[:, statistics.place(X.shape[1], position, output)] = means
    return out


def _table(X, statistics):
    """A table with room for the further columns of several classes, filled with X."""
    out = np.empty((X.shape[0], statistics.source.shape[0]), dtype=X.dtype, order="F" if X.flags.f_contiguous else "C")
    out[:, : X.shape[1]] = X
    return out
