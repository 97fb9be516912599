"""Trees of a forest: many trees on the same rows, each on few drawn features per node.

``encode`` turns the columns into codes once for all trees: bins (at most 255, by quantiles), ranks (every threshold
between two values is a candidate), or the values themselves (random thresholds).  ``grow_tree`` grows one tree on
a bootstrap sample given as counts.  It covers one output, Gini index, entropy and squared error, positive weights and
complete data; everything else is left to `hyperplan._trees.exact`.

>>> import numpy as np
>>> from hyperplan._trees.exact import Growth
>>> from hyperplan._trees.forest import encode, grow_tree, mean_targets
>>> X = np.array([[0.0], [1.0], [2.0], [3.0]], dtype=np.float32)
>>> tree = grow_tree(encode(X, "ranks"), mean_targets(np.array([0.0, 0.0, 5.0, 5.0])), Growth(), seed=0)
>>> tree.threshold[0].item(), tree.value[1:, 0].tolist()
(1.5, [0.0, 5.0])
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import thread_map
from hyperplan._trees import _forest_kernels as k
from hyperplan._trees._criterion_kernels import ENTROPY, GINI, SQUARED
from hyperplan._trees._forest_scan_kernels import COUNT_ONE, N_FOUND, ROW_ONE
from hyperplan._trees._forest_sums_kernels import grow_sums
from hyperplan._trees.binning import fit_bins
from hyperplan._trees.exact_span import MAX_INT, most_nodes
from hyperplan._trees.nodes import Nodes

BLOCK_ROWS = 2048  # rows of a node whose codes are copied together
DRAWS_PER_COLUMN = 16  # levels below such a node: a copy of all columns is worth it when they look at most of them
BIN_SAMPLE = 50_000  # rows that the quantiles of bins are taken from
MAX_BINS = 255
LARGEST_COUNT = 2**21 - 1  # of a field of a packed unit
TIE = np.float32(1e-7)  # neighbouring values closer than this count as equal


class Tables(NamedTuple):
    """Codes back to values: codes of column j are ``offsets[j] ...``; `low` and `high` are the extremes of a code."""

    offsets: np.ndarray
    low: np.ndarray
    high: np.ndarray


class Encoded(NamedTuple):
    """Columns as codes, shape (n_features, n_rows): uint8 bins, int32 ranks or (empty tables) ordered int32 values."""

    matrix: np.ndarray
    tables: Tables


class Problem(NamedTuple):
    """What the trees of a forest predict; `codes` (classes) or `real` (centred and scaled targets) is None."""

    codes: np.ndarray | None
    real: np.ndarray | None
    n_classes: int
    criterion: int
    centre: float = 0.0
    scale: float = 1.0

    @property
    def n_rows(self):
        return (self.real if self.codes is None else self.codes).shape[0]


class Rule(NamedTuple):
    """Constants of the kernels."""

    criterion: int
    means: bool
    max_features: int
    max_depth: int
    min_split: int
    min_leaf: int
    min_weight: float
    min_decrease: float
    total_weight: float
    centre: float
    scale: float


class Block(NamedTuple):
    """Room for the codes and targets of a small node."""

    matrix: np.ndarray
    unit: np.ndarray
    stat: np.ndarray


class Work(NamedTuple):
    """Scratch memory of one tree."""

    units: np.ndarray
    rowwise: np.ndarray
    sums: np.ndarray
    sides: np.ndarray
    keys: np.ndarray
    spare: np.ndarray
    digits: np.ndarray
    cells: np.ndarray
    table: np.ndarray
    codes: np.ndarray
    seen: np.ndarray
    spill: np.ndarray
    order: np.ndarray
    swaps: np.ndarray
    draw: np.ndarray
    state: np.ndarray
    found: np.ndarray
    best: np.ndarray
    pun_bits: np.ndarray
    pun_real: np.ndarray
    stack: np.ndarray
    stack_keys: np.ndarray


def class_targets(codes, n_classes, criterion="gini") -> Problem:
    """Classes 0 .. n_classes - 1 of one output; criterion "gini", "entropy" or "log_loss"."""
    return Problem(
        np.ascontiguousarray(codes, dtype=np.int32), None, n_classes, GINI if criterion == "gini" else ENTROPY
    )


def mean_targets(y, weight=None) -> Problem:
    """Numbers of one output, for the squared error; rows of weight zero do not count."""
    y = np.asarray(y, dtype=np.float64)
    kept = y if weight is None else y[weight != 0.0]
    centre = round_middle(kept)
    real = y - centre
    largest = float(np.abs(real).max(initial=0.0))
    scale = 1.0 if largest == 0.0 or 1e-60 < largest < 1e60 else 2.0 ** np.floor(np.log2(largest))
    return Problem(None, real if scale == 1.0 else real / scale, 1, SQUARED, centre, float(scale))


def round_middle(y) -> float:
    """A short number within the range of y: taking it away keeps small integers exact, and costs no digits."""
    low, high = float(y.min(initial=np.inf)), float(y.max(initial=-np.inf))
    middle, spread = low / 2.0 + high / 2.0, high / 2.0 - low / 2.0
    if not (np.isfinite(middle) and 0.0 < spread < np.inf):
        return middle if np.isfinite(middle) else 0.0
    unit = 2.0 ** np.floor(np.log2(spread))
    return float(np.rint(middle / unit) * unit) if np.isfinite(middle / unit) else middle


def encode(X, kind, n_jobs=None) -> Encoded:
    """Codes of a float32 array or CSC matrix without missing values; `kind` is "bins", "ranks" or "values"."""
    n, d = X.shape
    dtype = np.uint8 if kind == "bins" else np.int32
    require_memory(float(n) * d * np.dtype(dtype).itemsize, f"codes of {d} columns and {n} rows", "use fewer rows")
    matrix = np.empty((d, n), dtype=dtype)
    coder = {"bins": _bins, "ranks": _ranks, "values": _values}[kind]

    def task(j):
        return coder(_column(X, j), matrix[j])

    extremes = thread_map(task, range(d), n_jobs)
    if kind == "values":
        return Encoded(matrix, Tables(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)))
    offsets = np.concatenate([[0], np.cumsum([low.shape[0] for low, _ in extremes])]).astype(np.int64)
    low, high = (np.concatenate([pair[side] for pair in extremes]) for side in (0, 1))
    return Encoded(matrix, Tables(offsets, low, high))


def _column(X, j):
    """Column j as contiguous float32 without negative zeros."""
    column = X[:, j] if isinstance(X, np.ndarray) else X[:, [j]].toarray()[:, 0]
    return column.astype(np.float32) + np.float32(0.0)


def _values(column, codes):
    bits = column.view(np.int32)
    codes[:] = bits ^ ((bits >> 31) & 0x7FFFFFFF)


def _ranks(column, codes):
    """Dense ranks; values closer than `TIE` to their neighbour share one."""
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    new = np.empty(ordered.shape[0], dtype=bool)
    new[:1] = True
    new[1:] = ordered[1:] > ordered[:-1] + TIE
    codes[order] = np.cumsum(new) - 1
    last = np.append(np.flatnonzero(new)[1:] - 1, ordered.shape[0] - 1)
    return ordered[new].astype(np.float64), ordered[last].astype(np.float64)


def _bins(column, codes):
    """Bins by quantiles of evenly spaced rows: bin b holds the values in (edges[b - 1], edges[b]]."""
    step = max(1, column.shape[0] // BIN_SAMPLE)
    found = fit_bins(column[::step].reshape(-1, 1), MAX_BINS)
    edges = found.edges[0, : int(found.n_bins[0]) - 1]
    codes[:] = np.searchsorted(edges, column)
    return np.append(-np.inf, edges), np.append(edges, np.inf)


def packed_units(problem, weight):
    """Rows, counts and counts of class 1 of each row in one integer; None if the targets do not fit."""
    n = problem.n_rows
    if problem.n_classes != 2 or not (weight is None or weight.dtype.kind in "iu"):
        return None
    if (n if weight is None else int(weight.sum())) > LARGEST_COUNT:
        return None
    ones = problem.codes.astype(np.uint64) + COUNT_ONE
    return ROW_ONE + (ones if weight is None else ones * weight.astype(np.uint64))


def row_stats(problem, weight):
    """Weight and target (or class) of each row."""
    stat = np.ones((problem.n_rows, 2))
    if weight is not None:
        stat[:, 0] = weight
    stat[:, 1] = problem.real if problem.codes is None else problem.codes
    return stat


def grow_tree(encoded, problem, growth, *, seed, weight=None) -> Nodes:
    """Grow one tree.

    Parameters
    ----------
    encoded : Encoded
        Columns; their kind decides between best and random thresholds.
    problem : Problem
        Targets and criterion.
    growth : Growth
        Stopping rules; `max_leaf_nodes`, `random` and `monotone` are not looked at.
    seed : int
        64-bit seed of the drawn features and thresholds.
    weight : ndarray or None
        Integer counts or weights; rows of weight zero are left out.

    Returns
    -------
    nodes : Nodes
        Depth first, left before right.
    """
    rows = np.arange(problem.n_rows, dtype=np.int32) if weight is None else np.flatnonzero(weight).astype(np.int32)
    n, d = rows.shape[0], encoded.matrix.shape[0]
    rule = Rule(
        criterion=problem.criterion,
        means=problem.codes is None,
        max_features=min(int(growth.max_features), d),
        max_depth=min(int(growth.max_depth), MAX_INT),
        min_split=int(growth.min_samples_split),
        min_leaf=max(1, int(growth.min_samples_leaf)),
        min_weight=float(growth.min_weight_leaf),
        min_decrease=float(growth.min_impurity_decrease),
        total_weight=float(problem.n_rows if weight is None else weight.sum()),
        centre=problem.centre,
        scale=problem.scale,
    )
    unit = packed_units(problem, weight)
    packed = unit is not None
    work, block = _workspace(encoded, problem, n, rule, packed), _block(encoded.matrix, n, rule, packed)
    capacity = most_nodes(growth, n)
    ints = np.empty((capacity, k.N_INTS), dtype=np.int32)
    reals = np.empty((capacity, k.VALUES + problem.n_classes))
    kernel, targets = (k.grow_two, unit) if packed else (grow_sums, row_stats(problem, weight))
    args = (rows, np.uint64(seed), rule, block, work, ints, reals)
    n_nodes = kernel(encoded.matrix, targets, encoded.tables, *args)
    return _as_nodes(ints[:n_nodes], reals[:n_nodes])


def _as_nodes(ints, reals) -> Nodes:
    """The kernels' two tables as one array per property."""
    return Nodes(
        children_left=ints[:, k.LEFT].astype(np.int64),
        children_right=ints[:, k.RIGHT].astype(np.int64),
        feature=ints[:, k.FEATURE].astype(np.int64),
        threshold=reals[:, k.THRESHOLD].copy(),
        missing_go_to_left=ints[:, k.MISSING_LEFT].astype(np.uint8),
        impurity=reals[:, k.IMPURITY].copy(),
        n_node_samples=ints[:, k.N_ROWS].astype(np.int64),
        weighted_n_node_samples=reals[:, k.WEIGHT].copy(),
        value=reals[:, k.VALUES :].copy(),
    )


def _block(matrix, n_rows, rule, packed) -> Block:
    """Room for small nodes; none when the trees look at few of the columns."""
    d = matrix.shape[0]
    size = min(BLOCK_ROWS, n_rows) if d <= DRAWS_PER_COLUMN * rule.max_features else 0
    unit = np.empty(size if packed else 0, dtype=np.uint64)
    return Block(np.empty((d, size), dtype=matrix.dtype), unit, np.empty((0 if packed else size, 2)))


def _workspace(encoded, problem, n, rule, packed) -> Work:
    d, width, random = encoded.matrix.shape[0], problem.n_classes, encoded.tables.offsets.shape[0] == 0
    n_codes = int(np.diff(encoded.tables.offsets).max(initial=0))
    n_sorted = 0 if random else n
    bits = np.zeros(1, dtype=np.int32)
    depth = min(n, rule.max_depth) + 2
    return Work(
        units=np.empty(n if packed else 0, dtype=np.uint64),
        rowwise=np.empty((0 if packed else n, 2)),
        sums=np.empty(width),
        sides=np.empty((2, width)),
        keys=np.empty(n_sorted + 1, dtype=np.uint64),
        spare=np.empty(n_sorted, dtype=np.uint64),
        digits=np.empty(256, dtype=np.int64),
        cells=np.zeros(n_codes if packed else 0, dtype=np.uint64),
        table=np.zeros((0 if packed else n_codes, 2 + width)),
        codes=np.empty(n if random else max(n_codes, n) + 1, dtype=np.int32),
        seen=np.empty((4, max(n_codes, n_sorted) + 1 if packed else 0)),
        spill=np.empty(n, dtype=np.int32),
        order=np.arange(d, dtype=np.int64),
        swaps=np.empty(d, dtype=np.int64),
        draw=np.empty(1, dtype=np.uint64),
        state=np.empty(1, dtype=np.uint64),
        found=np.empty(N_FOUND),
        best=np.empty(N_FOUND),
        pun_bits=bits,
        pun_real=bits.view(np.float32),
        stack=np.empty((depth, k.N_SPAN), dtype=np.int64),
        stack_keys=np.empty(depth, dtype=np.uint64),
    )
