"""Cost-complexity pruning: the smallest subtree that minimises ``R(T) + alpha * leaves(T)``, for one alpha or all.

R is the weighted impurity of the leaves.  The subtrees are nested: as alpha rises, the inner node with the least rise
of R per leaf saved collapses (Breiman, Friedman, Olshen, Stone 1984, chapter 3).
"""

import math
from typing import NamedTuple

import numpy as np

from hyperplan._trees._exact_pruning_kernels import weakest_links
from hyperplan._trees.nodes import Nodes, parents


class PruningPath(NamedTuple):
    """``impurities[k]`` is R of the subtree that is best from ``ccp_alphas[k]`` on."""

    ccp_alphas: np.ndarray
    impurities: np.ndarray


def _collapse(nodes, alpha):
    """Path up to `alpha`, and which nodes are leaves then."""
    n = nodes.feature.shape[0]
    risk = nodes.weighted_n_node_samples * nodes.impurity / nodes.weighted_n_node_samples[0]
    is_leaf = nodes.children_left < 0
    branch, n_leaves, stack = np.zeros(n), np.zeros(n, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    tree = (parents(nodes), nodes.children_left, nodes.children_right, branch, n_leaves, stack)
    heap = np.full(2 << max(0, (n - 1).bit_length()), math.inf)
    alphas, risks = np.empty(n + 1), np.empty(n + 1)
    count = weakest_links(tree, risk, alpha, heap, is_leaf, alphas, risks)
    return PruningPath(alphas[:count].copy(), risks[:count].copy()), is_leaf


def pruning_path(nodes) -> PruningPath:
    """All subtrees of cost-complexity pruning, from the whole tree (alpha 0) to the root alone."""
    return _collapse(nodes, math.inf)[0]


def pruned(nodes, alpha) -> Nodes:
    """The subtree for one price of a leaf, numbered depth first."""
    is_leaf = _collapse(nodes, alpha)[1]
    order: list[int] = []
    left: list[int] = []
    right: list[int] = []
    pending = [(0, -1, left)]
    while pending:
        node, above, side = pending.pop()
        number = len(order)
        order.append(node)
        left.append(-1)
        right.append(-1)
        if above >= 0:
            side[above] = number
        if not is_leaf[node]:
            pending.append((int(nodes.children_right[node]), number, right))
            pending.append((int(nodes.children_left[node]), number, left))
    kept = Nodes(*(array[order] if array.shape[0] else array for array in nodes))
    ends = np.asarray(left) < 0
    kept.feature[ends], kept.threshold[ends], kept.missing_go_to_left[ends] = -2, -2.0, 0
    return kept._replace(
        children_left=np.asarray(left, dtype=np.int64), children_right=np.asarray(right, dtype=np.int64)
    )
