"""How often each pair (true label, predicted label) occurs: what most metrics of labels are made of.

Integers of a small range are counted where they stand; everything else is coded first.
"""

import numpy as np

from hyperplan._core.parallel import spans, split_map
from hyperplan.metrics._confusion_kernels import count_pairs, weigh_pairs
from hyperplan.metrics._labels import CHUNK, codes_among

WIDEST_TABLE = 512  # integers of at most this range are counted by value
WIDEST_PER_TASK = 128  # wider tables than this are filled by one thread


def pair_counts(targets, labels, weight=None):
    """Array (n_labels, n_labels) of counts (int64), or of sums of weights (int64 or float64 as the weights are).

    Rows with a label that is not among `labels` are left out.
    """
    if weight is not None:
        weight = np.ascontiguousarray(weight, np.int64 if weight.dtype.kind in "biu" else np.float64)
    true, pred = targets.true, targets.pred
    if true.integers is not None and pred.integers is not None:
        low = min(true.low, pred.low)
        width = max(true.low + true.seen.size, pred.low + pred.seen.size) - low
        if width <= WIDEST_TABLE:
            table = _count(*_same_type(true.integers, pred.integers), low, width, weight)
            return _rows_of(table, low, labels)
    return _count(codes_among(true, labels), codes_among(pred, labels), 0, len(labels), weight)


def _same_type(first, second):
    if first.dtype == second.dtype:
        return first, second
    return first.astype(np.int64, copy=False), second.astype(np.int64, copy=False)


def _count(first, second, low, width, weight):
    size = CHUNK if width <= WIDEST_PER_TASK else max(1, first.size)

    def run(span):
        if weight is None:
            counts = np.zeros((2, width * width), np.int64)
            count_pairs(first[span], second[span], low, width, counts)
            return counts[0] + counts[1]
        sums = np.zeros(width * width, weight.dtype)
        weigh_pairs(first[span], second[span], low, width, weight[span], sums)
        return sums

    return sum(split_map(run, spans(first.size, size))).reshape(width, width)


def _rows_of(table, low, labels):
    """The rows and columns of a table by value that belong to `labels`; zeros for labels outside of it."""
    width = table.shape[0]
    values = np.array([int(label) if label == int(label) else low - 1 for label in np.asarray(labels).tolist()])
    if values.size == width and values[0] == low and np.all(np.diff(values) == 1):
        return table
    inside = (values >= low) & (values < low + width)
    places = np.flatnonzero(inside)
    result = np.zeros((values.size, values.size), table.dtype)
    result[np.ix_(places, places)] = table[np.ix_(values[inside] - low, values[inside] - low)]
    return result
