"""Scores sorted in threads: dealt to groups of neighbouring values, which are then sorted one by one.

Groups are cut by the counts of 2^14 bins of the keys (see the kernels), so that they depend on the data alone; a group
fits in the cache.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.parallel import spans, split_map, thread_map
from hyperplan._math._bucket_sort_kernels import sort_keys, sort_pairs
from hyperplan.metrics._labels import CHUNK
from hyperplan.metrics._score_order_kernels import count_bins, deal_labels, deal_rows, to_ordered

BIN_BITS = 14
GROUP = 1 << 15  # rows that close a group
MOST_BUCKETS = 1 << 16  # of one round of sorting, so that their counts stay in the cache
KEYS_OF_INFINITY = (0x000FFFFFFFFFFFFF, 0xFFF0000000000000)  # of -inf and inf; NaNs are beyond


class Dealing(NamedTuple):
    """How rows are dealt: bin -> group, first key of each group, its rows, and where each chunk starts in it."""

    low: np.uint64
    shift: np.uint64
    group_of: np.ndarray
    bases: np.ndarray
    bounds: np.ndarray
    starts: np.ndarray


class Packed(NamedTuple):
    """Keys with labels, ascending; group g is ``packed[bounds[g]:bounds[g + 1]]``, counted from key ``bases[g]``."""

    packed: np.ndarray
    bounds: np.ndarray
    bases: np.ndarray


def ordered_keys(scores):
    """Keys of float64 scores, their smallest and largest; None when some score is not finite."""
    keys = np.empty(scores.shape[0], np.uint64)

    def run(span):
        part, ends = keys[span], np.empty(2, np.uint64)
        np.add(scores[span], 0.0, out=part.view(np.float64), dtype=np.float64)  # -0.0 becomes 0.0
        to_ordered(part, ends)
        return ends

    ends = np.array(split_map(run, spans(scores.shape[0], CHUNK)))
    low, high = ends[:, 0].min(), ends[:, 1].max()
    if low <= KEYS_OF_INFINITY[0] or high >= KEYS_OF_INFINITY[1]:
        return None
    return keys, low, high


def _plan(keys, low, high) -> Dealing:
    bin_bits = BIN_BITS if keys.shape[0] > GROUP else 1
    bits = max(0, int(high - low).bit_length() - bin_bits)
    shift, bins = np.uint64(bits), int((high - low) >> np.uint64(bits)) + 1

    def run(span):
        counts = np.zeros(bins, np.int64)
        count_bins(keys[span], low, shift, counts)
        return counts

    counts = np.array(split_map(run, spans(keys.shape[0], CHUNK)))
    before = np.concatenate([[0], np.cumsum(counts.sum(axis=0))[:-1]])
    group_of = before // GROUP + (np.arange(bins) >= 1 << (bin_bits - 1))  # the middle keeps distances below 2^63
    starts = np.flatnonzero(np.diff(group_of, prepend=-1))
    group_of = np.cumsum(np.isin(np.arange(bins), starts)) - 1
    per_chunk = np.add.reduceat(counts, starts, axis=1)
    bounds = np.concatenate([[0], np.cumsum(per_chunk.sum(axis=0))])
    places = bounds[:-1] + np.cumsum(per_chunk, axis=0) - per_chunk
    bases = low + (starts.astype(np.uint64) << shift)
    return Dealing(low, shift, group_of, bases, bounds, places)


def _each(func, plan):
    """Run `func` for each group: in threads when there are enough rows."""
    groups = range(plan.bases.size)
    return thread_map(func, groups) if len(groups) > 2 else list(map(func, groups))


def _scratch(size):
    return np.empty(min(max(size, 16), MOST_BUCKETS), np.int64), np.empty((size // 16 + 1, 2), np.int64)


def sort_with_labels(keys, low, high, positive) -> Packed:
    """Scores with their labels (uint8), in ascending order."""
    plan = _plan(keys, low, high)
    packed = np.empty(keys.shape[0], np.uint64)

    def deal(item):
        span, places = item
        deal_labels(keys[span], positive[span], low, plan.shift, plan.group_of, plan.bases, places.copy(), packed)

    split_map(deal, list(zip(spans(keys.shape[0], CHUNK), plan.starts)))

    def sort(g):
        part = packed[plan.bounds[g] : plan.bounds[g + 1]]
        sort_keys(part, np.empty_like(part), *_scratch(part.size))

    _each(sort, plan)
    return Packed(packed, plan.bounds, plan.bases)


def sort_rows(keys, low, high):
    """Keys in ascending order, and the rows they stand in."""
    plan = _plan(keys, low, high)
    dealt, rows = np.empty_like(keys), np.empty(keys.shape[0], np.int64)

    def deal(item):
        span, places = item
        deal_rows(keys[span], span.start, low, plan.shift, plan.group_of, places.copy(), dealt, rows)

    def sort(g):
        part = slice(plan.bounds[g], plan.bounds[g + 1])
        own = rows[part]
        sort_pairs(dealt[part], own, np.empty(own.size, np.uint64), np.empty_like(own), *_scratch(own.size))

    split_map(deal, list(zip(spans(keys.shape[0], CHUNK), plan.starts)))
    _each(sort, plan)
    return dealt, rows
