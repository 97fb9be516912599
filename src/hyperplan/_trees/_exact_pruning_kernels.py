"""Weakest-link pruning: the order in which inner nodes collapse as the price of a leaf rises.  No X here."""

import math

from hyperplan._core.jit import kernel


@kernel
def branch_sums(parent, is_leaf, risk, branch, n_leaves):  # OUT: branch, n_leaves
    """Risk and number of the leaves below each node."""
    for leaf in range(parent.shape[0]):
        if is_leaf[leaf]:
            branch[leaf] = risk[leaf]
            node = parent[leaf]
            while node >= 0:
                branch[node] += risk[leaf]
                n_leaves[node] += 1
                node = parent[node]


@kernel
def raise_minimum(heap, size, i, value):  # OUT: heap
    """Set entry i of a tree of minima with `size` leaves (a power of two)."""
    k = size + i
    heap[k] = value
    k //= 2
    while k >= 1:
        heap[k] = min(heap[2 * k], heap[2 * k + 1])
        k //= 2


@kernel
def first_minimum(heap, size):
    """Smallest index with the least value."""
    k = 1
    while k < size:
        k = 2 * k if heap[2 * k] <= heap[2 * k + 1] else 2 * k + 1
    return k - size


@kernel
def link_strength(i, risk, branch, n_leaves):
    """Rise of the risk per leaf saved when node i becomes a leaf."""
    return (risk[i] - branch[i]) / (n_leaves[i] - 1)


@kernel
def collapse(top, left, right, heap, size, is_leaf, stack):  # OUT: heap, is_leaf, stack
    """Node `top` becomes a leaf: everything below it leaves the tree."""
    stack[0] = top
    n = 1
    while n > 0:
        n -= 1
        node = stack[n]
        raise_minimum(heap, size, node, math.inf)
        inner = not is_leaf[node] and left[node] >= 0
        is_leaf[node] = False
        if inner:
            stack[n], stack[n + 1] = left[node], right[node]
            n += 2
    is_leaf[top] = True


@kernel
def weakest_links(tree, risk, alpha, heap, is_leaf, alphas, risks):  # OUT: heap, is_leaf, alphas, risks
    """Collapse the weakest link again and again while its strength is at most `alpha`; number of collapses.

    ``tree = (parent, left, right, branch, n_leaves, stack)``; `heap` holds 2 size entries, all inf.
    """
    parent, left, right, branch, n_leaves, stack = tree
    size = heap.shape[0] // 2
    branch_sums(parent, is_leaf, risk, branch, n_leaves)
    for i in range(parent.shape[0]):
        if not is_leaf[i]:
            raise_minimum(heap, size, i, link_strength(i, risk, branch, n_leaves))
    alphas[0], risks[0] = 0.0, branch[0]
    count = 1
    while not is_leaf[0]:
        i = first_minimum(heap, size)
        weakest = heap[size + i]
        if alpha < weakest:
            break
        collapse(i, left, right, heap, size, is_leaf, stack)
        lost, rise = n_leaves[i] - 1, risk[i] - branch[i]
        branch[i] = risk[i]
        node = parent[i]
        while node >= 0:
            n_leaves[node] -= lost
            branch[node] += rise
            raise_minimum(heap, size, node, link_strength(node, risk, branch, n_leaves))
            node = parent[node]
        alphas[count], risks[count] = weakest, branch[0]
        count += 1
    return count
