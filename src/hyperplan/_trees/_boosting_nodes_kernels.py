"""Nodes of a tree under construction: the heap of open ones, their histograms' places, features they may use."""

import math

import numpy as np

from hyperplan._core._rng_kernels import next_uniform
from hyperplan._core.jit import kernel, view_kernel
from hyperplan._trees._histogram_kernels import node_value

N_NODES, N_LEAVES, N_OPEN, N_FREE = 0, 1, 2, 3  # places in Workspace.state


@view_kernel
def push(nodes, node, rules, work):  # OUT: work
    """Insert a node into the heap of open nodes (largest key on top; the older node first among equals)."""
    position = work.state[N_OPEN]
    work.state[N_OPEN] += 1
    key = nodes.gain[node]
    if rules.order == 1:
        key = -np.float64(node)
    elif rules.order == 2:
        key = np.float64(nodes.start[node] - nodes.stop[node])
    while position > 0:
        parent = (position - 1) // 2
        if work.keys[parent] > key or (work.keys[parent] == key and work.heap[parent] < node):
            break
        work.keys[position], work.heap[position] = work.keys[parent], work.heap[parent]
        position = parent
    work.keys[position], work.heap[position] = key, node


@view_kernel
def pop(work):  # OUT: work
    top = work.heap[0]
    work.state[N_OPEN] -= 1
    n = work.state[N_OPEN]
    key, node = work.keys[n], work.heap[n]
    position = 0
    while 2 * position + 1 < n:
        child = 2 * position + 1
        other = child + 1
        if other < n and (
            work.keys[other] > work.keys[child]
            or (work.keys[other] == work.keys[child] and work.heap[other] < work.heap[child])
        ):
            child = other
        if key > work.keys[child] or (key == work.keys[child] and node < work.heap[child]):
            break
        work.keys[position], work.heap[position] = work.keys[child], work.heap[child]
        position = child
    work.keys[position], work.heap[position] = key, node
    return top


@view_kernel
def give_slot_back(nodes, node, work):  # OUT: nodes, work
    if nodes.slot[node] >= 0:
        work.free[work.state[N_FREE]] = nodes.slot[node]
        work.state[N_FREE] += 1
        nodes.slot[node] = -1


@view_kernel
def release(nodes, node, work):  # OUT: nodes, work
    give_slot_back(nodes, node, work)
    nodes.feature[node] = -1


@view_kernel
def take_slot(work):  # OUT: work
    work.state[N_FREE] -= 1
    return work.free[work.state[N_FREE]]


@view_kernel
def new_node(nodes, work, parent, start, stop, packed):  # OUT: nodes, work
    node = work.state[N_NODES]
    work.state[N_NODES] += 1
    nodes.start[node], nodes.stop[node], nodes.packed[node] = start, stop, packed
    nodes.feature[node], nodes.slot[node], nodes.left[node], nodes.right[node] = -1, -1, -1, -1
    nodes.gain[node] = 0.0
    nodes.depth[node] = nodes.depth[parent] + 1 if parent >= 0 else 0
    nodes.lower[node] = nodes.lower[parent] if parent >= 0 else -np.inf
    nodes.upper[node] = nodes.upper[parent] if parent >= 0 else np.inf
    return node


@view_kernel
def bound_children(nodes, node, rules, monotone):  # OUT: nodes
    """Values of the two sides stay on their side of the middle when the split is monotone."""
    if monotone == 0:
        return
    left, right = nodes.left[node], nodes.right[node]
    lower, upper = nodes.lower[node], nodes.upper[node]
    low = node_value(nodes.packed[left], rules, lower, upper)
    high = node_value(nodes.packed[right], rules, lower, upper)
    middle = 0.5 * (low + high)
    if monotone > 0:
        nodes.upper[left], nodes.lower[right] = middle, middle
    else:
        nodes.lower[left], nodes.upper[right] = middle, middle


@kernel
def list_leaves(left, right, start, stop, leaf, bounds):  # OUT: leaf, bounds
    """Leaves in the order of their rows: leaf j holds the rows bounds[j] .. bounds[j + 1] - 1."""
    waiting = np.empty(leaf.shape[0] + 1, np.int64)
    waiting[0], n_waiting, n = 0, 1, 0
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        if left[node] < 0:
            leaf[n], bounds[n] = node, start[node]
            n += 1
        else:
            waiting[n_waiting], waiting[n_waiting + 1] = right[node], left[node]
            n_waiting += 2
    bounds[n] = stop[0]


@view_kernel
def complete_nodes(left, right, count, has_missing, missing_bin, feature, missing_left, chosen, gain, value):
    # OUT: feature, missing_left, chosen, gain, value
    """What a tree needs besides its splits: mean leaf values of inner nodes, a side for missing values of the future.

    Where training saw none, they go to the side with more rows.  Leaves have neither feature nor gain.
    """
    for node in range(left.shape[0] - 1, -1, -1):
        if left[node] < 0:
            feature[node], gain[node] = -1, 0.0
            continue
        a, b = left[node], right[node]
        value[node] = (value[a] * count[a] + value[b] * count[b]) / count[node]
        if not has_missing[feature[node]]:
            missing_left[node] = np.uint8(count[a] > count[b])
            if missing_left[node]:
                chosen[node, missing_bin >> 5] |= np.uint32(1) << np.uint32(missing_bin & 31)


@view_kernel
def open_features(nodes, node, rules, constraints, work, allowed):  # OUT: work, allowed
    """Mark the features that `node` may split on: those of its interaction groups, of which a share is drawn."""
    n_features = allowed.shape[0]
    n_groups = constraints.groups.shape[0]
    allowed[:] = 1 if n_groups == 0 else 0
    for g in range(n_groups):
        if nodes.groups[node, g]:
            for f in range(n_features):
                allowed[f] |= constraints.groups[g, f]
    if rules.feature_share >= 1.0:
        return
    left = np.int64(0)
    for f in range(n_features):
        left += allowed[f]
    wanted = max(np.int64(1), np.int64(math.ceil(rules.feature_share * left - 1e-9)))
    for f in range(n_features):  # selection sampling: each of the remaining is taken with probability wanted / left
        if allowed[f]:
            take = next_uniform(work.seed) * left < wanted
            allowed[f] = np.uint8(take)
            wanted -= np.int64(take)
            left -= 1


@view_kernel
def may_split(nodes, node, rules):
    n_rows = nodes.stop[node] - nodes.start[node]
    return n_rows >= 2 * rules.min_samples and n_rows > 1 and nodes.depth[node] < rules.max_depth
