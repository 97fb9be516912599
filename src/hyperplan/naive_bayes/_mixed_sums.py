"""Sums of a table with numbers and categories by class: all that a naive Bayes classifier keeps of its rows."""

import itertools
from typing import NamedTuple

import numpy as np

from hyperplan._math.class_moments import ClassMoments, class_moments, merged_moments, pooled_moments
from hyperplan.naive_bayes._categorical import category_counts, category_offsets, smoothed_logs
from hyperplan.naive_bayes._mixed_table import MixedColumns


class MixedSums(NamedTuple):
    """What is added up over rows; the sums of two tables are merged without their rows."""

    columns: MixedColumns
    count: np.ndarray  # (k,): rows of each class
    moments: ClassMoments  # of the p columns of numbers; counts are (k, p), as entries may be missing
    tables: list  # (k, categories) counts, one per categorical column


def mixed_sums(rows, columns, codes, n_classes, weight) -> MixedSums:
    """The sums of some rows."""
    count = np.bincount(codes, weight, minlength=n_classes).astype(np.float64)
    moments = ClassMoments(*np.zeros((3, n_classes, 0)))
    if rows.numbers.shape[1]:
        moments = class_moments(rows.numbers, codes, n_classes, weight, missing=True)
    offsets = category_offsets([len(known) for known in columns.categories])
    table = np.zeros((0, n_classes))
    if offsets[-1]:
        table = category_counts(rows.codes, codes, n_classes, weight, offsets)
    return MixedSums(columns, count, moments, _columns_of(table, offsets))


def merged_sums(one: MixedSums, other: MixedSums) -> MixedSums:
    """The sums of the rows of both, where `other` knows all categories of `one`."""
    tables = []
    for old, new, counts, total in zip(one.columns.categories, other.columns.categories, one.tables, other.tables):
        places = {value: place for place, value in enumerate(new.tolist())}
        total = total.copy()
        total[:, [places[value] for value in old.tolist()]] += counts
        tables.append(total)
    with np.errstate(over="ignore", invalid="ignore"):
        moments = merged_moments(one.moments, other.moments)
    return MixedSums(other.columns, one.count + other.count, moments, tables)


def smoothed_gaussians(moments, var_smoothing):
    """Means and variances by class, those of all rows where a class has none, and what was added to the variances."""
    if not moments.mean.shape[1]:
        return moments.mean, moments.square, 0.0
    mean, square = pooled_moments(moments)
    total = moments.count.sum(axis=0)
    pooled = square / np.where(total > 0, total, 1.0)
    epsilon = var_smoothing * pooled.max()
    there = moments.count > 0
    variance = np.where(there, moments.square / np.where(there, moments.count, 1.0), pooled)
    return np.where(there, moments.mean, mean), variance + epsilon, epsilon


def smoothed_tables(tables, alpha, beyond):
    """Logarithms of the shares of the categories, one more without rows if `beyond`, and the rounding error."""
    padded = [np.pad(table, [(0, 0), (0, int(beyond))]) for table in tables]
    offsets = category_offsets([table.shape[1] for table in padded])
    if not offsets[-1]:
        return padded, 0.0
    logs, error = smoothed_logs(np.concatenate(padded, axis=1).T, offsets, alpha)
    return _columns_of(logs, offsets), error


def _columns_of(table, offsets):
    """Parts of a (all categories, k) table as (k, categories), one per column."""
    return [np.ascontiguousarray(table[start:stop].T) for start, stop in itertools.pairwise(offsets)]
