"""Trees of a forest: many trees on the same rows, each on few drawn features per node.

``encode`` turns the columns into codes once for all trees: bins (at most 255, by quantiles), ranks (every threshold
between two values is a candidate), or the values themselves (random thresholds).  ``grow_tree`` grows one tree on
a bootstrap sample given as counts.  It covers Gini index and squared error, entropy of one output, positive weights
and complete data; everything else is left to `hyperplan._trees.exact`.

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
from hyperplan._trees._forest_many_kernels import LEFT_SUMS
from hyperplan._trees._forest_scan_kernels import COUNT_ONE, ROW_ONE
from hyperplan._trees._forest_sums_kernels import grow_sums
from hyperplan._trees.binning import fit_bins
from hyperplan._trees.exact_span import MAX_INT, most_nodes
from hyperplan._trees.forest_record import Raw, nodes_of_raw
from hyperplan._trees.nodes import Nodes

ROOMS = (65536, 8192, 1024)  # rows of a node whose codes are copied together: each room is nearer to the processor
ROW_ROOMS = (2**19, 2**14)  # bytes of the rooms for rows, within the caches of a core
COLUMNS_PER_DRAW = 16  # columns per drawn feature up to which a copy of all columns is worth it
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
    """Columns as codes, shape (n_features, n_rows): uint8 bins, int32 ranks or (no tables) int32 in order of values.

    Values are there by rows, too.
    """

    matrix: np.ndarray
    tables: Tables | tuple[()]
    by_row: np.ndarray | None = None


class Problem(NamedTuple):
    """What the trees of a forest predict; `codes` (classes) or `real` (centred and scaled targets) is None.

    With several outputs `real` has one column per target and `many` holds the targets' centres and their places in the
    nodes' values, of which there are `width`.
    """

    codes: np.ndarray | None
    real: np.ndarray | None
    width: int
    criterion: int
    centre: float = 0.0
    scale: float = 1.0
    n_outputs: int = 1
    many: tuple = ()

    @property
    def n_rows(self):
        return (self.real if self.codes is None else self.codes).shape[0]


class Rule(NamedTuple):
    """Constants of the kernels."""

    criterion: int
    max_features: int
    max_depth: int
    min_split: int
    min_leaf: int
    min_weight: float
    min_decrease: float
    total_weight: float
    centre: float
    scale: float
    share: float


class CountWork(NamedTuple):
    """Scratch memory of a tree for two classes with counts."""

    units: np.ndarray
    cells: np.ndarray
    seen: np.ndarray
    codes: np.ndarray
    keys: np.ndarray
    spare: np.ndarray
    digits: np.ndarray
    spill: np.ndarray
    near: np.ndarray
    drawn: np.ndarray
    order: np.ndarray
    swaps: np.ndarray
    draw: np.ndarray
    state: np.ndarray
    stack: np.ndarray
    keyed: np.ndarray


class SumWork(NamedTuple):
    """Scratch memory of a tree for means, or classes with weights."""

    pairs: np.ndarray
    spare_pairs: np.ndarray
    seen: np.ndarray
    table: np.ndarray
    sums: np.ndarray
    sides: np.ndarray
    codes: np.ndarray
    keys: np.ndarray
    spare: np.ndarray
    digits: np.ndarray
    spill: np.ndarray
    near: np.ndarray
    drawn: np.ndarray
    order: np.ndarray
    swaps: np.ndarray
    draw: np.ndarray
    state: np.ndarray
    stack: np.ndarray
    keyed: np.ndarray


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


def many_targets(Y, weight=None) -> Problem:
    """Numbers of several outputs, shape (n, q), for the mean of their squared errors; weights as for `mean_targets`."""
    columns = [mean_targets(column, weight) for column in np.asarray(Y, dtype=np.float64).T]
    scale, q = max(column.scale for column in columns), len(columns)
    real = np.column_stack([column.real * (column.scale / scale) for column in columns])
    many = np.array([column.centre for column in columns]), np.arange(q)
    return Problem(None, real, q, SQUARED, scale=scale, n_outputs=q, many=many)


def many_classes(codes, n_classes) -> Problem:
    """Classes of several outputs, shape (n, q), for the mean of their Gini indices: indicators of the classes."""
    q, stride = len(n_classes), int(max(n_classes))
    pairs = [(k, c) for k in range(q) for c in range(n_classes[k])]
    real = np.column_stack([codes[:, k] == c for k, c in pairs]).astype(np.float64)
    many = np.zeros(len(pairs)), np.array([k * stride + c for k, c in pairs])
    return Problem(None, real, q * stride, SQUARED, n_outputs=q, many=many)


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
    needed = float(n) * d * np.dtype(dtype).itemsize * (2 if kind == "values" else 1)  # by columns, and by rows
    require_memory(needed, f"codes of {d} columns and {n} rows", "use fewer rows")
    matrix = np.empty((d, n), dtype=dtype)
    coder = {"bins": _bins, "ranks": _ranks, "values": _values}[kind]

    def task(j):
        return coder(_column(X, j), matrix[j])

    extremes = thread_map(task, range(d), n_jobs)
    if kind == "values":
        return Encoded(matrix, (), np.ascontiguousarray(matrix.T))
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
    if problem.codes is None or problem.width != 2 or not (weight is None or weight.dtype.kind in "iu"):
        return None
    if (n if weight is None else int(weight.sum())) > LARGEST_COUNT:
        return None
    ones = problem.codes.astype(np.uint64) + COUNT_ONE
    return ROW_ONE + (ones if weight is None else ones * weight.astype(np.uint64))


def row_stats(problem, weight):
    """Weight and targets (or class) of each row."""
    targets = (problem.real if problem.codes is None else problem.codes).reshape(problem.n_rows, -1)
    stat = np.ones((problem.n_rows, 1 + targets.shape[1]))
    if weight is not None:
        stat[:, 0] = weight
    stat[:, 1:] = targets
    return stat


def grow_tree(encoded, problem, growth, *, seed, weight=None) -> Nodes:
    """Grow one tree; parameters of `grow_raw`, the nodes as arrays."""
    return nodes_of_raw(grow_raw(encoded, problem, growth, seed=seed, weight=weight))


def grow_raw(encoded, problem, growth, *, seed, weight=None) -> Raw:
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
    raw : Raw
        Nodes depth first, left before right.
    """
    rows = np.arange(problem.n_rows, dtype=np.uint32) if weight is None else np.flatnonzero(weight).astype(np.uint32)
    n, d = rows.shape[0], encoded.matrix.shape[0]
    rule = Rule(
        criterion=problem.criterion,
        max_features=min(int(growth.max_features), d),
        max_depth=min(int(growth.max_depth), MAX_INT),
        min_split=int(growth.min_samples_split),
        min_leaf=max(1, int(growth.min_samples_leaf)),
        min_weight=float(growth.min_weight_leaf),
        min_decrease=float(growth.min_impurity_decrease),
        total_weight=float(problem.n_rows if weight is None else weight.sum()),
        centre=problem.centre,
        scale=problem.scale,
        share=1.0 / problem.n_outputs,
    )
    capacity = most_nodes(growth, n)
    ints = np.empty((capacity, k.N_INTS), dtype=np.int32)
    reals = np.empty((capacity, k.VALUES + problem.width))
    unit, blocks = packed_units(problem, weight), _blocks(encoded, n, rule)
    where = (encoded.tables, rows, np.uint64(seed), rule)
    if unit is not None:
        n_nodes = k.grow_two(blocks, unit, *where, _count_work(encoded, n, rule), ints, reals)
    else:
        means = problem.many or ((0,) if problem.codes is None else ())
        work = _sum_work(encoded, problem, n, rule)
        n_nodes = grow_sums(blocks, row_stats(problem, weight), *where, means, work, ints, reals)
    return Raw(ints[:n_nodes], reals[:n_nodes])


def _blocks(encoded, n_rows, rule):
    """The matrix and rooms for the codes of small nodes; without room when the trees look at few of the columns."""
    matrix, d = encoded.matrix, encoded.matrix.shape[0]
    worth = d <= COLUMNS_PER_DRAW * rule.max_features
    if encoded.tables:
        return matrix, *(np.empty((d, min(size, n_rows) if worth else 0), dtype=matrix.dtype) for size in ROOMS)
    sizes = [min(size // (d * matrix.itemsize), n_rows) if worth else 0 for size in ROW_ROOMS]
    return matrix, encoded.by_row, *(np.empty((size, d), dtype=matrix.dtype) for size in sizes)


def _most_codes(encoded):
    return int(np.diff(encoded.tables.offsets).max(initial=0)) if encoded.tables else 0


def _count_work(encoded, n, rule) -> CountWork:
    n_codes, n_sorted = _most_codes(encoded), n if encoded.tables else 0
    return CountWork(
        units=np.empty(n, dtype=np.uint64),
        cells=np.zeros(n_codes, dtype=np.uint64),
        seen=np.empty((4, max(n_codes, n_sorted) + 1)),
        **_common_work(encoded, n, rule),
    )


def _sum_work(encoded, problem, n, rule) -> SumWork:
    n_sums = problem.real.shape[1] if problem.many else problem.width
    n_targets = n_sums if problem.many else 1
    return SumWork(
        pairs=np.empty((n, 1 + n_targets)),
        spare_pairs=np.empty((n, 1 + n_targets)),
        seen=np.empty((LEFT_SUMS + n_sums, max(_most_codes(encoded), n) + 1) if problem.many else (0, 0)),
        table=np.zeros((_most_codes(encoded), 2 + n_sums)),
        sums=np.empty(n_sums),
        sides=np.empty((2, n_sums)),
        **_common_work(encoded, n, rule),
    )


def _common_work(encoded, n, rule):
    """Codes of the node and of the best column so far; sorted keys; drawn features; nodes that wait."""
    d, depth, n_sorted = encoded.matrix.shape[0], min(n, rule.max_depth) + 2, n if encoded.tables else 0
    near = min(ROW_ROOMS[0] // (4 * d), n)
    return {
        "codes": np.empty((1, max(_most_codes(encoded), n) + 1) if encoded.tables else (2, n), dtype=np.int32),
        "keys": np.empty(n_sorted + 1, dtype=np.uint64),
        "spare": np.empty(n, dtype=np.uint64),
        "digits": np.empty(256, dtype=np.int64),
        "spill": np.empty(n, dtype=np.uint32),
        "near": np.empty((rule.max_features, 0 if encoded.tables else near), dtype=np.int32),
        "drawn": np.empty(max(d, 2), dtype=np.uint32),
        "order": np.arange(d, dtype=np.int64),
        "swaps": np.empty(d, dtype=np.int64),
        "draw": np.empty(1, dtype=np.uint64),
        "state": np.empty(1, dtype=np.uint64),
        "stack": np.empty((depth, k.N_SPAN), dtype=np.int64),
        "keyed": np.empty((depth, 2), dtype=np.uint64),
    }
