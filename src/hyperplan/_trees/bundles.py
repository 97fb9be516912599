"""Exclusive feature bundling: sparse features that are never unusual together share one column of the histograms.

A feature is usually in its most frequent bin.  Features are the vertices of a graph, joined where they are outside
their usual bins in common rows; a greedy colouring, features with many unusual rows first, gives bundles.  A column
codes "all usual" as 0 and feature j's unusual bins from its offset on; the histogram of a feature is cut out of its
column's, and its usual bin is what the node's total leaves.  Without common rows nothing is lost; with
``max_conflict_rate > 0`` rows in which two features of a bundle meet count as usual for the later one.

Reference: Ke et al. (2017), LightGBM, section 4.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._trees import _bundle_kernels as k
from hyperplan._trees._binning_kernels import WIDTH
from hyperplan._trees.binning import BinnedData

SAMPLE = 4096  # rows that tell whether a feature is sparse at all
MIN_USUAL = 0.4  # share of rows in the usual bin that makes a feature sparse: others exclude hardly any
MASK_BYTES = 2**27  # beyond, marking rows would cost more memory than bundling saves
ROOM = 255  # codes of a column besides 0


class Bundles(NamedTuple):
    """Columns of the histograms and the features in them.

    Attributes
    ----------
    words : ndarray of uint32, shape (ceil(n_columns / 4), n_samples)
        The columns, four to a word.
    n_codes : int
        Bins that a histogram of a column needs.
    member_start, member : ndarray of int32
        Features of column c: ``member[member_start[c]:member_start[c + 1]]``.
    column, offset, usual : ndarray of int32, shape (n_features,)
        Column of a feature; its first code and its usual bin if the column is shared, else 0 and -1.
    """

    words: np.ndarray
    n_codes: int
    member_start: np.ndarray
    member: np.ndarray
    column: np.ndarray
    offset: np.ndarray
    usual: np.ndarray

    def indicators(self, data, monotone) -> np.ndarray:
        """1 for shared columns of free features with two bins each: their codes are 1, 2, ... (uint8)."""
        two = (self.usual >= 0) & (data.n_bins == 2) & (monotone == 0)
        return np.logical_and.reduceat(two[self.member], self.member_start[:-1]).astype(np.uint8)


def single_columns(data: BinnedData) -> Bundles:
    """Every feature in a column of its own."""
    n = data.n_features
    numbers = np.arange(n + 1, dtype=np.int32)
    none = np.full(n, -1, np.int32)
    return Bundles(data.words, data.missing_bin + 1, numbers, numbers[:-1], numbers[:-1], np.zeros(n, np.int32), none)


def make_bundles(data: BinnedData, max_conflict_rate) -> tuple[BinnedData, Bundles]:
    """The data (with conflicts resolved) and its columns; None as rate means no bundles."""
    single = single_columns(data)
    if max_conflict_rate is None:
        return data, single
    features, usual = _sparse_features(data)
    n_masks = -(-data.n_samples // 64)
    if features.shape[0] < 2 or 8 * n_masks * features.shape[0] > MASK_BYTES:
        return data, single
    masks = np.empty((features.shape[0], n_masks), np.uint64)
    unusual = np.array(
        [k.mark_rows(*_place(data.words, f), usual[f], mask) for f, mask in zip(features, masks)], dtype=np.int64
    )
    color = np.empty(features.shape[0], np.int64)
    max_conflicts = int(max_conflict_rate * data.n_samples)
    order = np.argsort(-unusual, kind="stable")
    n_colors = k.color_features(masks, order, data.n_bins[features] - 1, ROOM, max_conflicts, color)
    if n_colors == features.shape[0]:
        return data, single
    groups = [features[color == c] for c in range(n_colors)]
    if max_conflicts:
        data = data._replace(words=data.words.copy())
    return data, _columns(data, [group for group in groups if group.shape[0] > 1], usual)


def _place(words, feature):
    return words[feature // WIDTH], np.uint32(8 * (feature % WIDTH))


def _sparse_features(data):
    """Numerical features without missing values that are mostly in one bin, and the usual bin of every feature."""
    usual, shares = np.empty(data.n_features, np.int64), np.empty(data.n_features)
    k.find_usual(data.words, max(1, data.n_samples // SAMPLE), usual, shares)
    plain = (data.categorical == 0) & (data.has_missing == 0) & (data.n_bins > 1)
    return np.flatnonzero(plain & (shares >= MIN_USUAL)), usual


def _columns(data, groups, usual):
    """`Bundles` whose first columns are the groups of two and more features."""
    alone = np.setdiff1d(np.arange(data.n_features), np.concatenate(groups))
    groups = [*groups, *(np.array([f]) for f in alone)]
    n, n_columns = data.n_samples, len(groups)
    words = np.zeros((-(-n_columns // WIDTH), n), np.uint32)
    column, offset = np.empty(data.n_features, np.int32), np.zeros(data.n_features, np.int32)
    shared, n_codes = np.full(data.n_features, -1, np.int32), data.missing_bin + 1
    for c, group in enumerate(groups):
        column[group] = c
        if group.shape[0] == 1:
            codes = data.column(group[0])
        else:
            codes, next_code = np.zeros(n, np.uint8), 1
            for f in group:
                offset[f], shared[f] = next_code, usual[f]
                k.add_member(*_place(data.words, f), usual[f], next_code, codes)
                next_code += int(data.n_bins[f]) - 1
            n_codes = max(n_codes, next_code)
        k.add_column(codes, *_place(words, c)[::-1])
    starts = np.cumsum([0, *(group.shape[0] for group in groups)]).astype(np.int32)
    return Bundles(words, n_codes, starts, np.concatenate(groups).astype(np.int32), column, offset, shared)
