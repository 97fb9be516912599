"""Shapley values of sums of trees, "path-dependent": an unknown feature is averaged over the training weight.

The value of a set of features for a row is the mean answer when splits on these features follow the row and all others
send it both ways, in proportion to the training weight of the children.  See `_shap_kernels` for the computation.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.parallel import spans, thread_map
from hyperplan._trees import _shap_kernels as k

NODES_PER_TASK = 4096  # a task has as many blocks of rows as visit about this many nodes
MOST_BLOCKS = 64


class ShapTrees(NamedTuple):
    """All trees in flat arrays; children by their position in these arrays and after their parents, -1 in leaves.

    A row goes left where ``x <= threshold``, or where bit x of `codes` is set if `n_codes` is positive (codes that
    are too large count as `n_codes`); a missing value by the stand-ins `other_*` (none: no columns) or `missing_left`.
    """

    root: np.ndarray  # (n_trees,)
    output: np.ndarray  # (n_trees,): output that the first column of `value` adds to
    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    n_codes: np.ndarray
    codes: np.ndarray  # (n_nodes, n_words) uint64
    share: np.ndarray  # of the parent's training weight; 1 in roots
    value: np.ndarray  # (n_nodes, width)
    other_feature: np.ndarray
    other_threshold: np.ndarray
    other_reversed: np.ndarray


class Work(NamedTuple):
    """What a walk remembers of each depth."""

    node: np.ndarray
    stage: np.ndarray
    feature: np.ndarray
    earlier: np.ndarray  # depth of the edge above with the same feature, 0 if there is none
    zero: np.ndarray
    one: np.ndarray
    left: np.ndarray
    factor: np.ndarray
    sums: np.ndarray
    term: np.ndarray


class TreeArrays(NamedTuple):
    """One tree, as the models keep it; `cover` is the training weight of the nodes."""

    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    n_codes: np.ndarray
    codes: np.ndarray
    cover: np.ndarray
    value: np.ndarray
    others: tuple = ()


def shares_of_parents(left, right, cover) -> np.ndarray:
    """Share of the parent's weight in each node; halves below a node without weight, 1 in the root.

    >>> import numpy as np
    >>> shares_of_parents(np.array([1, -1, -1]), np.array([2, -1, -1]), np.array([4.0, 3.0, 1.0])).tolist()
    [1.0, 0.75, 0.25]
    """
    share = np.ones(left.shape[0])
    inner = np.flatnonzero(left >= 0)
    mass = np.maximum(np.asarray(cover, dtype=np.float64), 0.0)  # rows may have negative weights
    a, b = mass[left[inner]], mass[right[inner]]
    total = a + b
    share[left[inner]] = np.where(total > 0.0, a / np.where(total > 0.0, total, 1.0), 0.5)
    share[right[inner]] = 1.0 - share[left[inner]]
    return share


def join(trees, outputs) -> ShapTrees:
    """`ShapTrees` of a list of `TreeArrays`; outputs[t] is the first output that tree t adds to."""
    sizes = [tree.left.shape[0] for tree in trees]
    root = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    shift = np.repeat(root, sizes)

    def joined(name, dtype):
        return np.ascontiguousarray(np.concatenate([getattr(tree, name) for tree in trees]), dtype=dtype)

    def children(name):
        found = joined(name, np.int64)
        return np.where(found >= 0, found + shift, -1)

    others = trees[0].others or (np.zeros((0, 0), np.int64), np.zeros((0, 0)), np.zeros((0, 0), np.bool_))
    share = [shares_of_parents(tree.left, tree.right, tree.cover) for tree in trees]
    return ShapTrees(
        root=root,
        output=np.asarray(outputs, dtype=np.int64),
        left=children("left"),
        right=children("right"),
        feature=joined("feature", np.int64),
        threshold=joined("threshold", np.float64),
        missing_left=joined("missing_left", np.uint8),
        n_codes=joined("n_codes", np.int64),
        codes=joined("codes", np.uint64),
        share=np.concatenate(share),
        value=joined("value", np.float64),
        other_feature=others[0],
        other_threshold=others[1],
        other_reversed=others[2],
    )


def used_features(trees: ShapTrees, n_features) -> np.ndarray:
    """Whether some split, or a stand-in of one, asks for each feature."""
    found = np.zeros(n_features, dtype=bool)
    found[trees.feature[trees.left >= 0]] = True
    found[trees.other_feature[trees.other_feature >= 0]] = True
    return found


class Plan(NamedTuple):
    """Trees measured for the walk."""

    trees: ShapTrees
    n_points: np.ndarray  # of Gauss's rule, by tree; 0 for a tree that is a leaf
    rules: np.ndarray  # (most points + 1, 3, most points): points, 1 - points, weights on [0, 1]
    depth: int
    base: np.ndarray  # mean answer by output


def plan(trees: ShapTrees, n_outputs) -> Plan:
    """Measure the trees: depth, features on a path, mean answers."""
    n_nodes = trees.left.shape[0]
    parent, distinct, depth = (np.zeros(n_nodes, dtype=np.int64) for _ in range(3))
    reach = np.ones(n_nodes)
    k.measure(trees, parent, distinct, depth, reach)
    n_points = (np.maximum.reduceat(distinct, trees.root) + 1) // 2
    most = int(n_points.max())
    rules = np.ones((most + 1, 3, most))
    for m in np.unique(n_points[n_points > 0]):
        points, weights = np.polynomial.legendre.leggauss(m)
        rules[m, :, :m] = 0.5 + 0.5 * points, 0.5 - 0.5 * points, 0.5 * weights
    means = np.add.reduceat(trees.value * np.where(trees.left < 0, reach, 0.0)[:, None], trees.root, axis=0)
    base = np.zeros(n_outputs)
    for column in range(means.shape[1]):
        np.add.at(base, trees.output + column, means[:, column])
    return Plan(trees, n_points, rules, int(depth.max()), base)


def _work(depth, width, n_points) -> Work:
    levels, rows = depth + 1, k.BLOCK
    ints = [np.zeros(levels, dtype=np.int64) for _ in range(4)]
    return Work(
        *ints,
        zero=np.ones(levels),
        one=np.ones((levels, rows)),
        left=np.zeros((levels, rows), dtype=np.int8),
        factor=np.ones((levels, n_points, rows)),
        sums=np.zeros((levels * width, n_points, rows)),
        term=np.zeros((levels, 4, n_points)),
    )


def explain(planned: Plan, read, n_samples, n_features, n_jobs=None) -> np.ndarray:
    """Shapley values (n_samples, n_features, n_outputs); `read(slice)` gives rows as C-ordered float32."""
    trees, n_outputs = planned.trees, planned.base.shape[0]
    out = np.zeros((n_samples, n_features, n_outputs))
    if planned.depth == 0:
        return out
    blocks = min(max(NODES_PER_TASK // trees.left.shape[0], 1), MOST_BLOCKS)

    def task(part):
        work = _work(planned.depth, trees.value.shape[1], planned.rules.shape[2])
        phi = np.zeros((n_features * n_outputs, k.BLOCK))
        k.explain_rows(read(part), trees, planned.n_points, planned.rules, work, phi, out[part])

    thread_map(task, spans(n_samples, blocks * k.BLOCK), n_jobs)
    return out
