"""Who learns from which rows: outer splits that all candidates share, inner ones for the search of settings.

Classes are dealt evenly over the folds, groups stay together, and with a time column later rows are never used to
predict earlier ones.
"""

from itertools import pairwise

import numpy as np

from hyperplan.compete._problem import Split

KINDS = ("stratified", "plain", "grouped", "time")


def split_kind(task: str, groups, order) -> str:
    """How rows are dealt."""
    if order is not None:
        return "time"
    if groups is not None:
        return "grouped"
    return "stratified" if task == "classification" else "plain"


def make_splits(y, kind: str, n_folds: int, n_repeats: int, seed, groups=None, order=None) -> tuple[Split, ...]:
    """The splits of repeated cross-validation; repetitions need chance, so that time has one only.

    Parameters
    ----------
    y : ndarray
        Codes of classes, or numbers.
    kind : {"stratified", "plain", "grouped", "time"}
        How rows are dealt.
    n_folds, n_repeats : int
        Number of parts, and how often rows are dealt anew.
    seed : int or sequence of int
        Of the dealing.
    groups, order : ndarray or None
        Group and time of each row.
    """
    if kind == "time":
        return tuple(_later_rows(np.asarray(order), n_folds))
    splits = []
    for repeat in range(n_repeats):
        rng = np.random.default_rng([repeat, *np.atleast_1d(seed)])
        parts = _dealt(y, kind, n_folds, rng, groups)
        splits += [Split(np.flatnonzero(parts != k), np.flatnonzero(parts == k)) for k in range(n_folds)]
    return tuple(split for split in splits if len(split.test) and len(split.train))


def _dealt(y, kind, n_folds, rng, groups):
    """The part of each row."""
    n = len(y)
    if kind == "grouped":
        names, codes = np.unique(groups, return_inverse=True)
        sizes = np.bincount(codes)
        order = rng.permutation(len(names))
        order = order[np.argsort(-sizes[order], kind="stable")]  # large groups first, each into the emptiest part
        part_of, filled = np.zeros(len(names), dtype=np.intp), np.zeros(n_folds)
        for group in order:
            part_of[group] = np.argmin(filled)
            filled[part_of[group]] += sizes[group]
        return part_of[codes]
    shuffled = rng.permutation(n)
    if kind == "stratified":
        shuffled = shuffled[np.argsort(np.asarray(y)[shuffled], kind="stable")]
    parts = np.empty(n, dtype=np.intp)
    parts[shuffled] = np.arange(n) % n_folds
    return parts


def _later_rows(order, n_folds):
    """Blocks of time: learn from all blocks before, be judged on the next one; equal times stay together."""
    times, codes = np.unique(order, return_inverse=True)
    edges = np.linspace(0, len(times), n_folds + 2).astype(int)[1:]
    for start, stop in pairwise(edges):
        train, test = np.flatnonzero(codes < start), np.flatnonzero((codes >= start) & (codes < stop))
        if len(train) and len(test):
            yield Split(train, test)
