"""Records of an exact tree under construction, and the growth of one subtree in one thread."""

from typing import NamedTuple

import numpy as np

from hyperplan._trees._criterion_kernels import HEAD
from hyperplan._trees._exact_grow_kernels import (
    MEDIAN,
    N_FOUND,
    N_SPAN,
    RANDOM,
    RANDOM_MEDIAN,
    grow_depth_first,
)
from hyperplan._trees._exact_scan_kernels import N_CANDIDATE, N_SUMS
from hyperplan._trees.criteria import MEAN, scan_kind
from hyperplan._trees.nodes import Nodes, empty_nodes, resized

MAX_INT = np.iinfo(np.int32).max
FIRST_CAPACITY = 256


class Presorted(NamedTuple):
    """Sorted columns of X: ``pairs[j]`` holds float32 bits (upper half) and row number (lower half) by value.

    Missing values stand last; ``missing[j]`` says whether column j has some.
    """

    pairs: np.ndarray
    missing: np.ndarray

    @property
    def n_rows(self):
        return self.pairs.shape[1]


class Columns(NamedTuple):
    """The pairs of a tree under construction, as integers and through two views of the same memory."""

    pairs: np.ndarray
    values: np.ndarray
    rows: np.ndarray


class Growth(NamedTuple):
    """When to split and how to search; the defaults grow until the leaves are pure."""

    max_depth: int = MAX_INT
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_features: int = MAX_INT
    max_leaf_nodes: int = 0  # 0: depth first, without a limit
    random: bool = False  # one random threshold per feature instead of the best
    monotone: np.ndarray | None = None  # -1, 0 or 1 per feature
    n_values: np.ndarray | None = None  # categories per feature, 0 for numbers


class Rule(NamedTuple):
    """`Growth` for the kernels, with what depends on the data."""

    monotone: np.ndarray
    missing: np.ndarray
    twin: np.ndarray  # auxiliary column of each categorical feature, -1 for numbers; empty without any
    n_words: int  # of the sets of categories
    criterion: int
    kind: int
    labelled: bool  # sign bits of the rows are labels
    n_features: int
    max_features: int
    max_depth: int
    min_split: int
    min_leaf: int
    min_weight: float
    min_decrease: float
    total_weight: float


class Sets(NamedTuple):
    """Scratch memory for the categories of a node: runs of equal codes and what orders them."""

    runs: np.ndarray
    run_keys: np.ndarray
    run_means: np.ndarray
    axis: np.ndarray


class Work(NamedTuple):
    """Scratch memory of one task."""

    goes_left: np.ndarray
    spill: np.ndarray
    sums: np.ndarray  # vectors that describe the node, its children, and both sides of a scan
    cands: np.ndarray  # best split of each feature, in the order of scanning
    order: np.ndarray
    found: np.ndarray  # feature, rows on the left, place of the best candidate
    state: np.ndarray  # of the random numbers; then the node's key
    medians: np.ndarray


class Stack(NamedTuple):
    """Nodes that wait to be looked at: span (start, end, depth, parent, is left), key and totals."""

    span: np.ndarray
    key: np.ndarray
    tot: np.ndarray


class Front(NamedTuple):
    """Stack of all nodes of a best-first tree, with their best splits and a heap of those that can be split."""

    span: np.ndarray
    key: np.ndarray
    tot: np.ndarray
    gain: np.ndarray
    feature: np.ndarray
    cand: np.ndarray
    heap: np.ndarray


def columns_of(pairs) -> Columns:
    """The views that kernels read (the lower half of a pair comes first in memory)."""
    return Columns(pairs, pairs.view(np.float32), pairs.view(np.int32))


def labelled(targets):
    return scan_kind(targets) == MEAN and targets.codes.shape[0] > 0 and targets.weight.shape[0] == 0


def twins(growth, targets, n_features):
    """Auxiliary columns of the categorical features: they come last, after those of the absolute error."""
    if growth.n_values is None:
        return np.zeros(0, dtype=np.int64)
    found, some = np.full(n_features, -1, dtype=np.int64), np.flatnonzero(growth.n_values)
    first = n_features + (targets.n_classes.shape[0] if scan_kind(targets) == MEDIAN else 0)
    found[some] = first + np.arange(some.shape[0])
    return found


def rule_of(growth, targets, missing) -> Rule:
    """Constants of the kernels."""
    n_features = missing.shape[0]
    total = float(targets.weight.sum()) if targets.weight.shape[0] else float(targets.n_rows)
    none = np.zeros(0, dtype=np.int8)
    kind = scan_kind(targets)
    if growth.random:
        kind = RANDOM_MEDIAN if kind == MEDIAN else RANDOM
    most = 0 if growth.n_values is None else int(growth.n_values.max())
    return Rule(
        monotone=none if growth.monotone is None else np.asarray(growth.monotone, dtype=np.int8),
        missing=missing,
        twin=twins(growth, targets, n_features),
        n_words=most // 64 + 1 if most else 0,
        criterion=targets.criterion,
        kind=kind,
        labelled=labelled(targets),
        n_features=n_features,
        max_features=min(int(growth.max_features), n_features),
        max_depth=min(int(growth.max_depth), MAX_INT),
        min_split=int(growth.min_samples_split),
        min_leaf=max(1, int(growth.min_samples_leaf)),
        min_weight=float(growth.min_weight_leaf),
        min_decrease=float(growth.min_impurity_decrease),
        total_weight=total,
    )


def sets_of(targets, rule, n_node_rows):
    """Scratch memory for categories, none without categorical columns."""
    if not rule.n_words:
        return ()
    n_runs, width = min(64 * rule.n_words, n_node_rows) + 1, targets.width - HEAD
    runs = np.empty((3, n_runs), dtype=np.int64)
    return Sets(runs, np.empty((2, n_runs)), np.empty((n_runs, width)), np.empty((2, width)))


def kind_of(rule):
    """The kind of search as the kernels take it: the length of a tuple, which the compiler knows."""
    return (0,) * rule.kind


def workspace(targets, rule, n_node_rows) -> Work:
    """Scratch memory for nodes of up to `n_node_rows` rows."""
    width, d = targets.width, rule.n_features
    m = n_node_rows if rule.kind == MEDIAN else 0
    return Work(
        goes_left=np.zeros(targets.n_rows, dtype=np.uint8),
        spill=np.empty(n_node_rows, dtype=np.int64),
        sums=np.empty((N_SUMS, width)),
        cands=np.empty((d, N_CANDIDATE)),
        order=np.empty(d, dtype=np.int64),
        found=np.empty(N_FOUND, dtype=np.int64),
        state=np.empty(2, dtype=np.uint64),
        medians=np.empty((3, m + 1, 2)),
    )


def empty_stack(capacity, width) -> Stack:
    return Stack(
        np.empty((capacity, N_SPAN), dtype=np.int64), np.empty(capacity, dtype=np.uint64), np.empty((capacity, width))
    )


def place_root(stack, place, key, tot) -> None:
    """The node at ``place = (start, end, depth)`` waits first, without a parent."""
    stack.span[0] = (*place, -1, 0)
    stack.key[0] = key
    stack.tot[0] = tot


def most_nodes(growth, n_rows) -> int:
    """No tree on so many rows has more nodes."""
    leaves = max(1, n_rows // max(1, growth.min_samples_leaf))
    if growth.max_leaf_nodes:
        leaves = min(leaves, growth.max_leaf_nodes)
    if growth.max_depth < 40:
        leaves = min(leaves, 2**growth.max_depth)
    return 2 * leaves - 1


def grow_span(columns, targets, rule, growth, place, tot, key, work) -> Nodes:
    """The subtree of the rows at positions ``[start, end)``; ``place = (start, end, depth)``."""
    start, end, depth = place
    limit = most_nodes(growth._replace(max_depth=growth.max_depth - depth), end - start)
    nodes = empty_nodes(min(limit, FIRST_CAPACITY), targets.width - HEAD, rule.n_words)
    stack = empty_stack(64, targets.width)
    place_root(stack, (start, end, depth), key, tot)
    progress, kind = np.array([1, 0, depth]), kind_of(rule)
    sets = sets_of(targets, rule, end - start)
    grow_depth_first(columns, targets, rule, kind, stack, nodes, work, sets, progress)
    while progress[0] > 0:
        if progress[0] + 1 >= stack.key.shape[0]:
            longer = empty_stack(2 * stack.key.shape[0], targets.width)
            for old, new in zip(stack, longer):
                new[: old.shape[0]] = old
            stack = longer
        if progress[1] >= nodes.feature.shape[0]:
            nodes = resized(nodes, min(limit, 4 * nodes.feature.shape[0]))
        grow_depth_first(columns, targets, rule, kind, stack, nodes, work, sets, progress)
    return resized(nodes, int(progress[1]))
