"""Columns cut into at most 255 bins by quantiles.

``bin(x) <= b`` if and only if ``x <= edges[b]``: a split on bins is a split on values, so that trees grown on bins
predict from raw values without loss.  A feature with few distinct values has an edge half-way between any two
neighbours; others have edges at equidistant quantiles of (at most 200 000) sampled rows, of those that differ from the
most frequent value if that is the value of most rows.  One bin, the last, is
kept for missing values in all features.
"""

import functools
from typing import NamedTuple

import numpy as np

from hyperplan._core.parallel import spans, thread_map
from hyperplan._math._sorting_kernels import radix_sort
from hyperplan._trees import _binning_kernels as k

SAMPLE = 200_000  # rows that quantiles are computed from
ROWS = 4096  # rows binned by one task
STREAM = 512  # neighbouring columns looked through together for those with two values
COLUMNS = 8  # features whose values are collected together: a cache line of float64
USUAL_SHARE = 0.6  # of the rows that have the same value, from which on it has a bin of its own
FEW_VALUES = 8  # distinct values that are found without sorting
SHORT = 2048  # rows from which on a radix sort is faster
TABLE = 256  # edges of a feature, padded with +inf
LARGEST_EDGE = 1e300  # an infinite edge could not tell +inf from finite values


class BinMap(NamedTuple):
    """How values become bins: what `bin_rows` needs.

    Attributes
    ----------
    edges : ndarray of shape (n_features, 256), float64
        Upper ends of the bins in increasing order, then +inf.
    n_bins : ndarray of shape (n_features,), int64
        Bins in use, the one for missing values not counted; categories for a categorical feature.
    limits : ndarray of shape (n_features,), float64
        Larger values count as missing: unknown categories; +inf for numbers.
    categorical : ndarray of shape (n_features,), uint8
        1 where values are codes 0, 1, ... of categories.
    missing_bin : int
        The bin of missing values (and of unknown categories), larger than all others.
    """

    edges: np.ndarray
    n_bins: np.ndarray
    limits: np.ndarray
    categorical: np.ndarray
    missing_bin: int


class BinnedData(NamedTuple):
    """Rows as bins; `words[u, i]` holds features 4u .. 4u + 3 of row i, lowest byte first.

    Attributes
    ----------
    words : ndarray of shape (ceil(n_features / 4), n_samples), uint32
        The bins.
    n_bins, categorical, missing_bin :
        See `BinMap`.
    has_missing : ndarray of shape (n_features,), uint8
        1 where a feature has missing values in these rows.
    """

    words: np.ndarray
    n_bins: np.ndarray
    categorical: np.ndarray
    has_missing: np.ndarray
    missing_bin: int

    @property
    def n_samples(self) -> int:
        return self.words.shape[1]

    @property
    def n_features(self) -> int:
        return self.n_bins.shape[0]

    def column(self, feature) -> np.ndarray:
        """Bins of one feature (uint8)."""
        shift = np.uint32(8 * (feature % k.WIDTH))
        return ((self.words[feature // k.WIDTH] >> shift) & np.uint32(255)).astype(np.uint8)


def quantile_edges(values, max_bins, weight=None) -> np.ndarray:
    """Increasing edges of at most `max_bins` bins of finite `values`, which are sorted in place when unweighted."""
    if weight is None:
        few = np.empty(min(FEW_VALUES, max_bins))
        n_few = k.find_few(values, few)
        if n_few >= 0:  # indicators and the like need no sorting
            few = few[:n_few]
            return np.unique(np.clip(_midpoints(few[:-1], few[1:]), -LARGEST_EDGE, LARGEST_EDGE))
        _sort(values)
        ordered, cumulated = values, None
    else:
        kept = np.flatnonzero(weight > 0)
        order = kept[np.argsort(values[kept], kind="stable")]
        ordered, cumulated = values[order], np.cumsum(weight[order])
    new = np.empty(ordered.shape[0], dtype=bool)
    new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    if np.count_nonzero(new) <= max_bins:
        distinct = ordered[new]
        edges = _midpoints(distinct[:-1], distinct[1:])
    else:
        edges = _edges_of_many(ordered, cumulated, max_bins)
    return np.unique(np.clip(edges, -LARGEST_EDGE, LARGEST_EDGE))


def _sort(values):
    """Sort in place; zeros are set aside where they are the majority, as sorting costs more than looking."""
    n = values.shape[0]
    if n < SHORT:
        values.sort()
        return
    n_others = np.count_nonzero(values)
    if 2 * n_others > n:
        radix_sort(values.view(np.uint64), np.empty(n, np.uint64))
        return
    others = values[values != 0.0]
    radix_sort(others.view(np.uint64), np.empty(n_others, np.uint64))
    n_negative = np.searchsorted(others, 0.0)
    values[:n_negative] = others[:n_negative]
    values[n_negative : n - n_others + n_negative] = 0.0
    values[n - n_others + n_negative :] = others[n_negative:]


def _midpoints(low, high):
    """Numbers half-way, or `low` where neighbours are too far apart, or too close, for one below `high`."""
    with np.errstate(over="ignore", invalid="ignore"):  # no number lies half-way to an infinite one
        middle = low + (high - low) / 2
    return np.where(np.isfinite(middle) & (middle < high), middle, low)


def _edges_of_many(ordered, cumulated, max_bins):
    """Quantiles; a value that most rows have (zero in sparse data) gets a bin of its own, the others the other bins."""
    n, total = ordered.shape[0], ordered.shape[0] if cumulated is None else cumulated[-1]
    usual = ordered[n // 2 if cumulated is None else np.searchsorted(cumulated, total / 2)]
    first, last = np.searchsorted(ordered, usual, side="left"), np.searchsorted(ordered, usual, side="right")
    mass = np.arange(n + 1) if cumulated is None else np.concatenate(([0.0], cumulated))
    if mass[last] - mass[first] < USUAL_SHARE * total or max_bins < 4:
        return _averaged_quantiles(ordered, cumulated, _levels(max_bins))
    others = np.concatenate([ordered[:first], ordered[last:]])
    weight = None if cumulated is None else np.delete(np.diff(mass), np.s_[first:last])
    found = quantile_edges(others, max_bins - 2, weight)
    borders = np.array([j for j in (first, last) if 0 < j < n], dtype=np.intp)
    return np.concatenate([found[found != usual], _midpoints(ordered[borders - 1], ordered[borders])])


@functools.cache
def _levels(max_bins):
    return np.linspace(0, 100, max_bins + 1)[1:-1] / 100


def _averaged_quantiles(ordered, cumulated, levels):
    """Inverse of the empirical distribution function, averaged where it is flat.

    The arithmetic is that of NumPy's "averaged_inverted_cdf" and of scikit-learn's weighted percentiles to the last
    bit: whether a level meets a step of the function exactly is a matter of rounding, and bins should not differ.
    """
    n = ordered.shape[0]
    if cumulated is None:
        position = n * levels - 1
        low = np.floor(position).astype(np.intp)
        flat = position == low
        low += ~flat
    else:
        target = levels * cumulated[-1]
        low = np.minimum(np.searchsorted(cumulated, target), n - 1)
        flat = cumulated[low] - target <= np.finfo(np.float64).eps
    high = np.minimum(low + flat, n - 1)
    return ordered[high] - (ordered[high] / 2 - ordered[low] / 2)


def fit_bins(X, max_bins=255, *, rows=None, weight=None, categories=None) -> BinMap:
    """Edges of every feature.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64, any order
        Values; NaN is missing.
    max_bins : int, at most 255
        Bins of a feature without the one for missing values.
    rows : ndarray of integers, default=None
        Rows to look at; None means all.
    weight : ndarray, default=None
        Weights of these rows (quantiles of the weighted distribution).
    categories : sequence of int or None, default=None
        Number of categories where a feature is categorical (values are codes), else None.

    Returns
    -------
    bin_map : BinMap
        The edges.
    """
    n_features = X.shape[1]
    rows = np.arange(X.shape[0]) if rows is None else rows
    categories = [None] * n_features if categories is None else categories
    edges = np.full((n_features, TABLE), np.inf)
    n_bins = np.ones(n_features, dtype=np.int64)
    limits = np.full(n_features, np.inf)

    known = np.zeros(n_features, dtype=bool)
    if weight is None and X.flags.c_contiguous and rows.shape[0]:
        known = _edges_of_pairs(X, rows, edges, n_bins) & [count is None for count in categories]

    def one_group(features):
        if known[features].all():
            return
        values, found = np.empty((features.stop - features.start, rows.shape[0] + 1)), np.empty(COLUMNS, np.int64)
        k.gather_columns(X, rows, features.start, values, found)
        for feature, column, count in zip(range(features.start, features.stop), values, found):
            one_feature(feature, column[:count])

    def one_feature(feature, values):
        if categories[feature] is not None:
            n_bins[feature] = categories[feature]
            limits[feature] = categories[feature] - 0.5
            edges[feature, : categories[feature]] = np.arange(categories[feature]) + 0.5
            return
        kept = None if weight is None else weight[~np.isnan(np.asarray(X[rows, feature], dtype=np.float64))]
        if values.shape[0]:
            found = quantile_edges(values, max_bins, kept)
            edges[feature, : found.shape[0]] = found
            n_bins[feature] = found.shape[0] + 1

    thread_map(one_group, spans(n_features, COLUMNS))
    categorical = np.array([count is not None for count in categories], dtype=np.uint8)
    return BinMap(edges, n_bins, limits, categorical, int(n_bins.max(initial=1)))


def _edges_of_pairs(X, rows, edges, n_bins):
    """Edges of the columns with at most two values, indicators say, which are found without collecting; which ones."""
    pairs, plain = np.empty((2, X.shape[1])), np.zeros(X.shape[1], np.uint8)
    thread_map(lambda s: k.find_pairs(X, rows, s.start, s.stop, pairs, plain), spans(X.shape[1], STREAM))
    known = plain > 0
    low, high = pairs[:, known].min(axis=0), pairs[:, known].max(axis=0)
    middle = np.clip(_midpoints(low, high), -LARGEST_EDGE, LARGEST_EDGE)
    edges[known, 0] = np.where(low < high, middle, np.inf)
    n_bins[known] = 1 + (low < high)
    return known


def bin_rows(X, bin_map: BinMap) -> BinnedData:
    """The bins of X (n_samples, n_features): float32 or float64 in any order, not copied."""
    n_samples, n_features = X.shape
    words = np.empty((-(-n_features // k.WIDTH), n_samples), dtype=np.uint32)
    marks = np.zeros((-(-n_samples // ROWS) or 1, n_features), dtype=np.uint8)

    def one_span(rows):
        k.fill_words(
            X, bin_map.edges, bin_map.n_bins, bin_map.limits, bin_map.missing_bin, rows.start, rows.stop, words
        )
        k.mark_missing(words, bin_map.missing_bin, n_features, rows.start, rows.stop, marks[rows.start // ROWS])

    thread_map(one_span, spans(n_samples, ROWS))
    return BinnedData(words, bin_map.n_bins, bin_map.categorical, marks.max(axis=0), bin_map.missing_bin)
