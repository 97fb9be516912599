"""Growing in threads: large nodes one by one, their columns in parallel; then the subtrees below them in parallel.

What is a large node depends on the data only, so the tree does not depend on the number of threads.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.parallel import spans, thread_map
from hyperplan._trees._categorical_kernels import write_set
from hyperplan._trees._criterion_kernels import EPSILON
from hyperplan._trees._exact_grow_kernels import (
    BEST,
    FEATURE,
    MEDIAN,
    N_LEFT,
    child_key,
    choose,
    divide_node,
    draw_order,
    is_final,
    partition,
    rank_rows,
    record_node,
    scan_some,
)
from hyperplan._trees._exact_pairs_kernels import number_rows, renumber
from hyperplan._trees._exact_scan_kernels import (
    LEFT_CHILD,
    MISSING_LEFT,
    RIGHT_CHILD,
    THRESHOLD,
)
from hyperplan._trees.exact_span import (
    columns_of,
    grow_span,
    kind_of,
    sets_of,
    workspace,
)
from hyperplan._trees.nodes import empty_nodes, joined, resized

BIG_NODE = 2**19  # entries (rows times columns) above which a node's columns are worth several tasks
TASKS_PER_NODE = 8


class _Place(NamedTuple):
    """A node that waits: where its rows are, and whose child it is."""

    start: int
    end: int
    depth: int
    key: np.uint64
    tot: np.ndarray
    parent: int  # number among the large nodes, -1 for the root
    is_left: bool


class _Crew:
    """The scratch memory of the tasks and the two steps that run in parallel."""

    def __init__(self, columns, targets, rule, work, n_jobs):
        self.columns, self.targets, self.rule, self.work, self.n_jobs = columns, targets, rule, work, n_jobs
        n_columns = columns.pairs.shape[0]
        self.parts = spans(rule.n_features, -(-rule.n_features // TASKS_PER_NODE))
        self.moves = spans(n_columns, -(-n_columns // TASKS_PER_NODE))
        shared = {"cands": work.cands, "order": work.order}
        n = columns.pairs.shape[1]
        self.scratch = [workspace(targets, rule, n)._replace(**shared) for _ in self.moves]
        self.sets = [sets_of(targets, rule, n) for _ in self.moves]

    def search(self, start, end, tot):
        """Position of the best candidate in the node's order of features, -1 without one."""
        rule, work, kind = self.rule, self.work, kind_of(self.rule)
        if rule.kind == MEDIAN:
            rank_rows(self.columns, start, end, self.targets, rule)
        for scratch in self.scratch:
            scratch.state[1] = work.state[1]
        draw_order(work.state[1], rule.n_features, rule.n_features, work.state, work.order)

        def task(i):
            first, last = self.parts[i].start, min(self.parts[i].stop, rule.max_features)
            fixed, scratch = (self.targets, rule, kind, tot), (self.scratch[i], self.sets[i])
            span = (start, end)
            return scan_some(self.columns, (first, last, last), span, *fixed, *scratch)[1] if first < last else 0

        visited = rule.max_features
        if sum(thread_map(task, range(len(self.parts)), self.n_jobs)) == 0:
            some = (visited, visited, rule.n_features)
            span, scratch = (start, end), (work, self.sets[0])
            visited = scan_some(self.columns, some, span, self.targets, rule, kind, tot, *scratch)[0]
        return choose(work.cands, visited, rule.criterion)

    def partition(self, start, end):
        def task(i):
            part = self.moves[i]
            partition(self.columns.pairs[part], start, end, self.work.goes_left, self.scratch[i].spill)

        thread_map(task, range(len(self.moves)), self.n_jobs)


def grow_in_threads(columns, targets, rule, growth, root, key, work, n_jobs):
    """Nodes of the whole tree, depth first."""
    crew = _Crew(columns, targets, rule, work, n_jobs)
    large = empty_nodes(64, root.shape[0] - 5, rule.n_words)
    pending = [_Place(0, columns.pairs.shape[1], 0, key, root, -1, False)]
    n_large, family, small = 0, [], []
    while pending:
        place = pending.pop()
        if (place.end - place.start) * rule.n_features < BIG_NODE:
            small.append(place)
            continue
        if n_large == large.feature.shape[0]:
            large = resized(large, 2 * n_large)
        family.append(place)
        record_node(large, n_large, place.tot, place.end - place.start, targets, rule)
        pending += _split(crew, large, n_large, place)
        n_large += 1
    return _assemble(large, family, small, _subtrees(crew, growth, small))


def _split(crew, large, i, place):
    """Split large node i if that is worth it; its children, the right one first."""
    work, rule = crew.work, crew.rule
    start, end, depth = place.start, place.end, place.depth
    if is_final(rule, place.tot, end - start, depth):
        return []
    work.state[1] = place.key
    best = crew.search(start, end, place.tot)
    if best < 0:
        return []
    gain = divide_node(crew.columns, best, (start, end), crew.targets, rule, kind_of(rule), place.tot, work)
    if gain == -np.inf or gain + EPSILON < rule.min_decrease:
        return []
    _write_split(crew, large, i, start, end)
    crew.partition(start, end)
    middle = start + int(work.found[N_LEFT])
    left_key, right_key = (np.uint64(child_key(place.key, left, work.state)) for left in (True, False))
    return [
        _Place(middle, end, depth + 1, right_key, work.sums[RIGHT_CHILD].copy(), i, False),
        _Place(start, middle, depth + 1, left_key, work.sums[LEFT_CHILD].copy(), i, True),
    ]


def _write_split(crew, large, i, start, end):
    """Record the split that was found; its rows are not yet moved."""
    work, twin = crew.work, crew.rule.twin
    feature, cand = int(work.found[FEATURE]), work.cands[work.found[BEST]]
    large.feature[i], large.threshold[i] = feature, cand[THRESHOLD]
    large.missing_go_to_left[i] = cand[MISSING_LEFT] > 0.0
    if twin.shape[0] and twin[feature] >= 0:
        words = large.categories[i]
        large.threshold[i] = write_set(crew.columns, int(twin[feature]), start, end, work.goes_left, words)


def _subtrees(crew, growth, small):
    """Subtrees of the places in `small`, the largest first so that no thread is left waiting for one."""
    order = sorted(range(len(small)), key=lambda i: small[i].start - small[i].end)

    def task(i):
        place = small[i]
        columns, targets = _compact(crew, place)
        work = workspace(targets, crew.rule, place.end - place.start)
        where = (0, place.end - place.start, place.depth)
        return grow_span(columns, targets, crew.rule, growth, where, place.tot, place.key, work)

    grown = dict(zip(order, thread_map(task, order, crew.n_jobs)))
    return [grown[i] for i in range(len(small))]


def _compact(crew, place):
    """Columns and targets of one subtree alone, with rows numbered from 0: they fit in a nearer cache."""
    n = place.end - place.start
    number = np.empty(crew.targets.n_rows, dtype=np.int32)
    rows = np.empty(n, dtype=np.int64)
    pairs = np.empty((crew.columns.pairs.shape[0], n), dtype=np.int64)
    number_rows(crew.columns, place.start, place.end, number, rows)
    renumber(crew.columns, place.start, place.end, number, pairs)
    local = {name: getattr(crew.targets, name) for name in ("real", "codes", "weight", "rank")}
    local = {name: array[rows] if array.shape[0] else array for name, array in local.items()}
    return columns_of(pairs), crew.targets._replace(**local)


def _assemble(large, family, small, subtrees):
    """Number all nodes depth first, left before right."""
    children: dict[tuple[int, bool], tuple[bool, int]] = {}
    for i, place in enumerate(family):
        children[place.parent, place.is_left] = (True, i)
    for i, place in enumerate(small):
        children[place.parent, place.is_left] = (False, i)
    blocks, offsets, links, total = [], [], [], 0
    pending = [(-1, False, -1)]  # place among the large nodes, side, number of the parent in the whole tree
    while pending:
        parent, is_left, above = pending.pop()
        is_large, i = children[parent, is_left]
        blocks.append(resized_row(large, i) if is_large else subtrees[i])
        offsets.append(total)
        links.append((above, is_left, total))
        if is_large and (i, True) in children:
            pending += [(i, False, total), (i, True, total)]
        total += blocks[-1].feature.shape[0]
    nodes = joined(blocks, offsets, total)
    for above, is_left, number in links:
        if above >= 0:
            (nodes.children_left if is_left else nodes.children_right)[above] = number
    return nodes


def resized_row(nodes, i):
    """Node i alone."""
    return type(nodes)(*(array[i : i + 1] for array in nodes))
