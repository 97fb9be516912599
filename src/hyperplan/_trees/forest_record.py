"""All trees of a forest in one record that keeps every number once.

A walk of rows through the trees reads `table` and `values` only, which therefore lie together.  What a node has
besides is kept in arrays of their own, and single trees are read back from them by `nodes_of`.  Growing threads hand
their trees to a `Collector`, which writes them one after another, whoever finishes first: the record never exists
twice, and does not depend on the threads.
"""

import threading
from typing import NamedTuple

import numpy as np

from hyperplan._trees import _forest_kernels as grown
from hyperplan._trees import _forest_walk_kernels as k
from hyperplan._trees._forest_record_kernels import write_tree
from hyperplan._trees.nodes import Nodes

SPARE_ROOM = 1.05  # room for the trees to come, over their expected size; memory that nobody writes to costs nothing
MOST_NODES = 2**31 - 1  # int32


class Walk(NamedTuple):
    """The trees one after another, nodes depth first; see `_forest_walk_kernels` for `table`.

    Leaves and inner nodes are numbered through the forest in the order of the nodes; a tree of 2 m + 1 nodes has m + 1
    leaves.
    """

    table: np.ndarray  # (n_nodes, 4) int32
    values: np.ndarray  # (n_leaves, width)
    inner_values: np.ndarray  # (n_inner, width)
    threshold: np.ndarray  # (n_inner,), in full precision
    impurity: np.ndarray  # (n_nodes,)
    n_rows: np.ndarray  # (n_nodes,) int32
    weight: np.ndarray  # (n_nodes,); empty when every row weighs one
    roots: np.ndarray  # (n_trees,)
    first_leaf: np.ndarray  # (n_trees + 1,)

    @property
    def cut(self):
        return self.table.view(np.float32)


class Raw(NamedTuple):
    """One tree as the growing kernels write it, see `_forest_kernels`."""

    ints: np.ndarray
    reals: np.ndarray


def raw_of(nodes) -> Raw:
    """Arrays of a tree as the two tables of `Raw`."""
    n, width = nodes.value.shape
    raw = Raw(np.empty((n, grown.N_INTS), dtype=np.int32), np.empty((n, grown.VALUES + width)))
    for place, name in _INT_COLUMNS.items():
        raw.ints[:, place] = getattr(nodes, name)
    for place, name in _REAL_COLUMNS.items():
        raw.reals[:, place] = getattr(nodes, name)
    raw.reals[:, grown.VALUES :] = nodes.value
    return raw


def nodes_of_raw(raw) -> Nodes:
    """The inverse of `raw_of`."""
    ints = {name: raw.ints[:, place].astype(np.int64) for place, name in _INT_COLUMNS.items()}
    reals = {name: raw.reals[:, place].copy() for place, name in _REAL_COLUMNS.items()}
    ints["missing_go_to_left"] = ints["missing_go_to_left"].astype(np.uint8)
    return Nodes(**ints, **reals, value=raw.reals[:, grown.VALUES :].copy())


_INT_COLUMNS = {
    grown.LEFT: "children_left",
    grown.RIGHT: "children_right",
    grown.FEATURE: "feature",
    grown.N_ROWS: "n_node_samples",
    grown.MISSING_LEFT: "missing_go_to_left",
}
_REAL_COLUMNS = {
    grown.THRESHOLD: "threshold",
    grown.IMPURITY: "impurity",
    grown.WEIGHT: "weighted_n_node_samples",
}


def nodes_of(walk, t) -> Nodes:
    """Tree t by itself, with children numbered within it."""
    start, end = _bounds(walk, t)
    leaves = slice(walk.first_leaf[t], walk.first_leaf[t + 1])
    splits = slice(start - leaves.start, end - leaves.stop)
    table, n_rows = walk.table[start:end], walk.n_rows[start:end].astype(np.int64)
    inner = table[:, k.FEATURE] >= 0
    threshold, value = np.full(end - start, -2.0), np.empty((end - start, walk.values.shape[1]))
    threshold[inner] = walk.threshold[splits]
    value[inner], value[~inner] = walk.inner_values[splits], walk.values[leaves]
    return Nodes(
        children_left=np.where(inner, table[:, k.LEFT].astype(np.int64) - start, -1),
        children_right=np.where(inner, table[:, k.LEFT + 1].astype(np.int64) - start, -1),
        feature=np.where(inner, table[:, k.FEATURE] & k.FEATURE_MASK, -2).astype(np.int64),
        threshold=threshold,
        missing_go_to_left=(inner & (table[:, k.FEATURE] >> k.MISSING_RIGHT == 0)).astype(np.uint8),
        impurity=walk.impurity[start:end].copy(),
        n_node_samples=n_rows,
        weighted_n_node_samples=(walk.weight[start:end] if walk.weight.size else n_rows).astype(np.float64),
        value=value,
    )


def _bounds(walk, t):
    n_trees = walk.roots.shape[0]
    return int(walk.roots[t]), int(walk.roots[t + 1]) if t + 1 < n_trees else walk.table.shape[0]


def joined(trees) -> Walk:
    """The record of finished trees."""
    collector = Collector(len(trees), np.float64)
    for t, nodes in enumerate(trees):
        collector.add(t, raw_of(nodes))
    return collector.finished()


class Collector:
    """Writes trees to a record in their order while others are still growing.

    Parameters
    ----------
    n_trees : int
        Trees of the forest.
    weight_type : dtype or None
        Of the weights of nodes; None: every row weighs one, there is nothing to keep.
    kept : Walk or None
        The first trees.
    """

    def __init__(self, n_trees, weight_type, kept=None):
        self._n_trees, self._weight_type = n_trees, weight_type
        self._lock, self._waiting, self._sizes = threading.Lock(), {}, []
        self._arrays: dict[str, np.ndarray] = {}
        self._used = 0  # nodes
        if kept is not None:
            self._keep(kept)

    def _keep(self, kept):
        """Start with the trees of another record."""
        self._sizes = np.diff([*kept.roots, kept.table.shape[0]]).tolist()
        self._used = kept.table.shape[0]
        if self._weight_type is None and kept.weight.size:
            self._weight_type = kept.weight.dtype
        elif kept.weight.size:
            self._weight_type = np.promote_types(self._weight_type, kept.weight.dtype)
        self._make_room(self._used, len(self._sizes), kept.values.shape[1])
        for name, target in self._arrays.items():
            source = kept.n_rows if name == "weight" and not kept.weight.size else getattr(kept, name)
            if target.size:
                target[: source.shape[0]] = source

    def add(self, t, raw):
        """Take tree t, from any thread; it is written when the trees before it are there."""
        with self._lock:
            self._waiting[t] = raw
            while len(self._sizes) in self._waiting:
                self._write(self._waiting.pop(len(self._sizes)))

    def _write(self, raw):
        n = raw.ints.shape[0]
        self._make_room(self._used + n, len(self._sizes) + 1, raw.reals.shape[1] - grown.VALUES)
        arrays, leaf = self._arrays, (self._used + len(self._sizes)) // 2
        names = ("values", "inner_values", "threshold", "impurity", "n_rows", "weight")
        table = arrays["table"]
        write_tree(
            raw.ints, raw.reals, self._used, leaf, table, table.view(np.float32), *(arrays[name] for name in names)
        )
        self._sizes.append(n)
        self._used += n

    def _make_room(self, n_nodes, n_trees, width):
        """Arrays for so many nodes of so many trees at least."""
        if self._arrays and n_nodes <= self._arrays["impurity"].shape[0]:
            return
        if n_nodes > MOST_NODES:
            raise MemoryError(
                f"The forest has more than {MOST_NODES} nodes, which cannot be numbered: limit the trees by max_depth "
                "or min_samples_leaf, or grow fewer of them."
            )
        expected = SPARE_ROOM * n_nodes * self._n_trees / n_trees
        before, self._arrays = self._arrays, self._room(min(max(n_nodes, int(expected)), MOST_NODES), width)
        sizes = self._lengths(self._used, len(self._sizes))
        for name, array in before.items():
            self._arrays[name][: sizes[name]] = array[: sizes[name]]

    @staticmethod
    def _lengths(n_nodes, n_trees):
        """Entries of each array for so many nodes of so many trees."""
        inner = (n_nodes - n_trees) // 2
        short = {"values": n_nodes - inner, "inner_values": inner, "threshold": inner}
        return {name: short.get(name, n_nodes) for name in Walk._fields}

    def _room(self, n_nodes, width):
        n_leaves, n_inner = (n_nodes + self._n_trees) // 2, n_nodes // 2
        weighed = 0 if self._weight_type is None else n_nodes
        return {
            "table": np.empty((n_nodes, 4), dtype=np.int32),
            "values": np.empty((n_leaves, width)),
            "inner_values": np.empty((n_inner, width)),
            "threshold": np.empty(n_inner),
            "impurity": np.empty(n_nodes),
            "n_rows": np.empty(n_nodes, dtype=np.int32),
            "weight": np.empty(weighed, dtype=np.float64 if self._weight_type is None else self._weight_type),
        }

    def finished(self) -> Walk:
        """The record, when all trees were added."""
        starts = np.concatenate([[0], np.cumsum(self._sizes)]).astype(np.int64)
        first_leaf = (starts + np.arange(starts.shape[0])) // 2
        sizes = self._lengths(int(starts[-1]), len(self._sizes))
        for name, array in self._arrays.items():
            if array.size:
                array.resize((sizes[name], *array.shape[1:]), refcheck=False)
        self._arrays["weight"] = _lean(self._arrays["weight"], self._arrays["n_rows"])
        return Walk(**self._arrays, roots=starts[:-1], first_leaf=first_leaf)


def _lean(weight, n_rows):
    """Weights in the smallest form that holds them, so that equal forests have equal records."""
    if weight.size == 0 or np.array_equal(weight, n_rows):
        return np.empty(0)
    if weight.dtype.kind == "f" and weight.max(initial=0.0) <= MOST_NODES and (weight == np.floor(weight)).all():
        return weight.astype(np.int32)
    return weight
