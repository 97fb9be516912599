"""Oblique trees: at each node some directions w are proposed, and the best threshold of each ``<w, x>`` is scanned.

Directions of a node, in its own standardised columns S (mean 0, variance 1) with targets Y and weights D:

- axis: every column;
- lda: ``(S_w + a I) w = mu_k - mu`` for each class k (S_w the covariance within classes);
- ridge: ``(S'DS + a I) w = S'DY``, one per output or class;
- random: normal coefficients.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv as posv

from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import single_threaded_blas, spans, thread_map
from hyperplan._trees._oblique_kernels import FIRST_DIRECTION, oblique_leaves, project_rows
from hyperplan._trees._walk_kernels import path_lengths, path_nodes
from hyperplan._trees.exact import grow, presort
from hyperplan._trees.nodes import Nodes, depths, empty_nodes, impurity_decreases, parents, resized

ROWS_PER_TASK = 8192
FACTS = ("impurity", "n_node_samples", "weighted_n_node_samples", "value")
PURE = 2.220446049250313e-16  # an impurity below this counts as zero
FLAT = 1e-7  # a column that varies less than this share of its size is constant


class Proposal(NamedTuple):
    """Which directions to try: names, the penalty `alpha` of lda and ridge, how many random ones."""

    names: tuple
    alpha: float
    n_random: int
    seed: int


class ObliqueNodes(NamedTuple):
    """Nodes whose `feature` is a column, or ``-3 - k`` for direction k of `weights` (n_directions, d)."""

    nodes: Nodes
    weights: np.ndarray


class _Block(NamedTuple):
    """The rows of a node: standardised columns, their deviations and means, targets and weights."""

    S: np.ndarray
    scale: np.ndarray
    mean: np.ndarray
    usable: np.ndarray
    Y: np.ndarray
    share: np.ndarray
    is_class: bool


def _standardised(X, rows, targets) -> _Block:
    A = X[rows].astype(np.float64)
    share = targets.weight[rows] if targets.weight.shape[0] else np.ones(rows.shape[0])
    share = share / share.sum()
    mean = share @ A
    A -= mean
    scale = np.sqrt(share @ (A * A))
    usable = np.flatnonzero(scale > FLAT * np.abs(mean))
    is_class = targets.codes.shape[0] > 0
    if is_class:
        codes = targets.codes[rows, 0]
        Y = (codes[:, None] == np.unique(codes)).astype(np.float64)
        Y = Y[:, 1:] if Y.shape[1] == 2 else Y
    else:
        Y = targets.real[rows]
    return _Block(A[:, usable] / scale[usable], scale[usable], mean[usable], usable, Y, share, is_class)


def _gram(block):
    return block.S.T @ (block.share[:, None] * block.S)


def _solve(matrix, right, alpha):
    """``(matrix + alpha I)^-1 right`` (`matrix` is overwritten); nothing where rounding leaves no definite matrix."""
    matrix.flat[:: matrix.shape[0] + 1] += alpha
    _, found, failed = posv(matrix, right)
    return found if failed == 0 else np.zeros((matrix.shape[0], 0))


def _ridge(block, proposal, rng):
    centred = block.Y - block.share @ block.Y
    return _solve(_gram(block), block.S.T @ (block.share[:, None] * centred), proposal.alpha)


def _lda(block, proposal, rng):
    """One direction per class against the rest; regression has no classes, and takes ridge's."""
    if not block.is_class:
        return _ridge(block, proposal, rng)
    groups = block.Y if block.Y.shape[1] > 1 else np.column_stack([1.0 - block.Y, block.Y])
    shares = block.share @ groups
    means = block.S.T @ (block.share[:, None] * groups) / shares
    within = _gram(block) - (means * shares) @ means.T
    return _solve(within, means if means.shape[1] > 2 else means[:, 1:], proposal.alpha)


def _random(block, proposal, rng):
    return rng.standard_normal((block.S.shape[1], proposal.n_random))


def _axis(block, proposal, rng):
    return np.eye(block.S.shape[1])


DIRECTIONS = {"axis": _axis, "lda": _lda, "ridge": _ridge, "random": _random}


def candidates(X, rows, targets, proposal, node):
    """Projections (rows x directions) of variance 1, and their directions in the columns of X; None without any."""
    block = _standardised(X, rows, targets)
    if block.usable.shape[0] == 0:
        return None
    rng = np.random.default_rng([proposal.seed, node]) if "random" in proposal.names else None
    V = np.hstack([DIRECTIONS[name](block, proposal, rng) for name in proposal.names])
    Z = block.S if proposal.names == ("axis",) else block.S @ V
    size = np.sqrt(block.share @ (Z * Z))
    kept = np.flatnonzero(np.isfinite(size) & (size > FLAT * np.abs(V).max(axis=0, initial=0.0)))
    if kept.shape[0] == 0:
        return None
    W = np.zeros((X.shape[1], kept.shape[0]))
    W[block.usable] = V[:, kept] / block.scale[:, None]
    return (Z[:, kept] / size[kept]).astype(np.float32), W


class _Task(NamedTuple):
    """A node that waits: its rows, its place, and what its parent's split tells about it (None: nothing)."""

    rows: np.ndarray
    depth: int
    parent: int
    is_left: bool
    facts: tuple | None


def grow_oblique(X, targets, growth, proposal) -> ObliqueNodes:
    """Grow depth first, left before right; X is a dense float32 array without missing values."""
    n, d = X.shape
    require_memory(8.0 * d * d, f"the moments of {d} columns", "use fewer columns")
    rows = np.arange(n) if targets.weight.shape[0] == 0 else np.flatnonzero(targets.weight)
    nodes, n_nodes, found = empty_nodes(64, targets.width - 5), 0, []
    total = float(targets.weight.sum()) if targets.weight.shape[0] else float(n)
    pending = [_Task(rows, 0, -1, True, None)]
    with single_threaded_blas():
        while pending:
            task = pending.pop()
            if n_nodes == nodes.feature.shape[0]:
                nodes = resized(nodes, 2 * n_nodes)
            facts, split = _decide(X, task, targets, growth, proposal, total, n_nodes)
            _write_leaf(nodes, n_nodes, facts)
            if task.parent >= 0:
                (nodes.children_left if task.is_left else nodes.children_right)[task.parent] = n_nodes
            if split is not None:
                left, feature, threshold, weights, below = split
                nodes.feature[n_nodes] = feature if weights is None else FIRST_DIRECTION - len(found)
                nodes.threshold[n_nodes] = threshold
                found += [] if weights is None else [weights]
                pending.append(_Task(task.rows[~left], task.depth + 1, n_nodes, False, below[1]))
                pending.append(_Task(task.rows[left], task.depth + 1, n_nodes, True, below[0]))
            n_nodes += 1
    return ObliqueNodes(resized(nodes, n_nodes), np.array(found).reshape(len(found), d))


def _write_leaf(nodes, i, facts):
    nodes.children_left[i] = nodes.children_right[i] = -1
    nodes.feature[i], nodes.threshold[i], nodes.missing_go_to_left[i] = -2, -2.0, 0
    for name, fact in zip(FACTS, facts):
        getattr(nodes, name)[i] = fact


def _part(targets, rows):
    """The targets of some rows."""
    picked = {
        name: getattr(targets, name)[rows]
        for name in ("real", "codes", "weight", "rank")
        if getattr(targets, name).shape[0] > 0
    }
    return targets._replace(**picked)


def _facts(nodes, i):
    return tuple(getattr(nodes, name)[i] for name in FACTS)


def _decide(X, task, targets, growth, proposal, total, number):
    """Facts of a node, and its split or None: rows on the left, column, threshold, direction, facts of the children."""
    rows, facts = task.rows, task.facts
    few = rows.shape[0] < growth.min_samples_split or task.depth >= growth.max_depth
    if facts is not None and (few or facts[0] <= PURE):
        return facts, None
    part = _part(targets, rows)
    weight = float(part.weight.sum()) if part.weight.shape[0] else float(rows.shape[0])
    seen = None if few else candidates(X, rows, targets, proposal, number)
    Z, W = (np.zeros((rows.shape[0], 1), dtype=np.float32), None) if seen is None else seen
    one = growth._replace(
        max_depth=0 if seen is None else 1, min_impurity_decrease=growth.min_impurity_decrease * total / weight
    )
    tried = grow(presort(Z), part, one, seed=proposal.seed + number, own=True)
    facts = _facts(tried, 0)
    if tried.feature.shape[0] == 1:
        return facts, None
    below = Z[:, tried.feature[0]] <= tried.threshold[0]
    split = _separated(X, rows, below, W[:, tried.feature[0]])
    if split is None:
        return facts, None
    same = np.array_equal(split[0], below)  # else rounding moved a row, and the children are counted anew
    return facts, (*split, (_facts(tried, 1), _facts(tried, 2)) if same else (None, None))


def _separated(X, rows, below, weights):
    """The split in the units of X: a threshold between the projections of both sides, as prediction computes them."""
    column = int(np.abs(weights).argmax())
    axis = np.count_nonzero(weights) == 1
    if axis:
        weights = np.zeros_like(weights)
        weights[column] = 1.0
        reached = X[rows, column].astype(np.float64)
    else:
        weights = weights / np.linalg.norm(weights)
        reached = np.empty(rows.shape[0])
        project_rows(X, rows, weights, reached)
    low, high = reached[below].max(), reached[~below].min()
    threshold = 0.5 * low + 0.5 * high if low < high else low
    threshold = threshold if low <= threshold < high else low
    left = reached <= threshold
    if left.all():
        return None
    return left, column, threshold, None if axis else weights


def oblique_leaves_of(tree: ObliqueNodes, X, n_jobs=None):
    """Leaf of each row of a dense float32 X."""
    found, nodes = np.empty(X.shape[0], dtype=np.int64), tree.nodes
    walk = (nodes.children_left, nodes.children_right, nodes.feature, nodes.threshold, tree.weights)

    def task(part):
        oblique_leaves(X[part], *walk, found[part])

    thread_map(task, spans(X.shape[0], ROWS_PER_TASK), n_jobs)
    return found


def paths_to(nodes, leaves):
    """Nodes on the way to given leaves: CSR arrays ``(indptr, indices)``, from the root to the leaf."""
    indptr = np.zeros(leaves.shape[0] + 1, dtype=np.int64)
    path_lengths(leaves, depths(nodes), indptr)
    indices = np.empty(int(indptr[-1]), dtype=np.int64)
    path_nodes(leaves, parents(nodes), indptr, indices)
    return indptr, indices


def oblique_importances(tree: ObliqueNodes, scale, normalize=True):
    """Impurity decrease of each column; a direction shares its own out by ``|w_j|`` times the column's deviation."""
    nodes, found = tree.nodes, np.zeros(scale.shape[0])
    gains = impurity_decreases(nodes)
    for node in np.flatnonzero(nodes.children_left >= 0):
        f = nodes.feature[node]
        if f >= 0:
            found[f] += gains[node]
        else:
            part = np.abs(tree.weights[FIRST_DIRECTION - f]) * scale
            found += gains[node] * part / part.sum()
    return found / found.sum() if normalize and found.sum() > 0 else found
