"""Grows oblivious trees: all nodes of a level share one test (categories are taken in the order of their codes)."""

import math

import numpy as np

from hyperplan._core.parallel import effective_n_jobs, spans, split_map
from hyperplan._trees import _boosting_kernels as k
from hyperplan._trees import _boosting_nodes_kernels as node_kernels
from hyperplan._trees import _boosting_oblivious_kernels as level_kernels
from hyperplan._trees import _boosting_rows_kernels as rows_kernels
from hyperplan._trees.boosting_grower import Grower
from hyperplan._trees.histogram import UNLIMITED


def oblivious_depth(options) -> int:
    """Levels of an oblivious tree: max_depth, or as many as about max_leaves leaves have; 6 without either limit."""
    if options.max_depth < UNLIMITED:
        return min(options.max_depth, 16)
    return 6 if options.max_leaves >= UNLIMITED else max(1, round(math.log2(options.max_leaves)))


class ObliviousGrower(Grower):
    """`Grower` whose trees use one test per level."""

    def __init__(self, data, options, constraints, constant_hessian):
        depth = oblivious_depth(options)
        super().__init__(data, options._replace(max_depth=depth, max_leaves=2**depth), constraints, constant_hessian)

    def _grow_nodes(self, n_rows, total):
        nodes, work = self.nodes, self.work
        if not k.plant(nodes, self.rules, self.constraints, work, n_rows, total):
            return
        level = np.array([0])
        for _ in range(self.options.max_depth):
            for slot, node in enumerate(level):
                nodes.slot[node] = slot
            self._fill_histograms(level)
            best = self._best_test(level)
            if best is None:
                return
            use = np.zeros(level.shape[0], np.uint8)
            level_kernels.apply_level(
                nodes, level, best[0], best[1], best[2], self.data, self.rules, self.constraints, work, use
            )
            children = [self._split(node, best) for node in level[use > 0]]
            whole = level[use == 0]  # may be split by a test further down
            nodes.feature[whole] = -1
            level = np.array([*whole, *(child for pair in children for child in pair)])
            level = level[[node_kernels.may_split(nodes, node, self.rules) for node in level]]
            if level.shape[0] == 0:
                return

    def _fill_histograms(self, level):
        def fill(words):
            for node in level:
                k.fill_histograms(self.packed, self.nodes, self.work, node, 0, words.start, words.stop, 1)

        split_map(fill, spans(self.n_words, -(-self.n_words // effective_n_jobs())))

    def _best_test(self, level):
        n_features = self.data.n_features
        found = np.zeros((n_features, 3))
        allowed = np.ones(n_features, np.uint8)
        node_kernels.open_features(self.nodes, level[0], self.rules, self.constraints, self.work, allowed)

        def scan(features):
            for f in range(features.start, features.stop):
                if allowed[f]:
                    level_kernels.scan_level(
                        self.data, self.nodes, level, self.rules, self.constraints, self.work, f, found[f]
                    )

        split_map(scan, spans(n_features, 8))
        feature = int(found[:, 0].argmax())
        return None if found[feature, 0] <= 0.0 else (feature, int(found[feature, 1]), int(found[feature, 2]))

    def _split(self, node, test):
        feature, split_bin, missing_left = test
        nodes, work = self.nodes, self.work
        if self.data.categorical[feature]:
            bins = [*range(split_bin + 1), *([self.data.missing_bin] if missing_left else [])]
            nodes.chosen[node] = 0
            for b in bins:
                nodes.chosen[node, b >> 5] |= np.uint32(1 << (b & 31))
        start, stop = int(nodes.start[node]), int(nodes.stop[node])
        if self.n_parts and self._shares_rows(stop - start):
            bounds, n_left = self._partition(node, False)
            for part in range(self.n_parts):
                rows_kernels.move_part(work, bounds, n_left, part)
            middle = start + int(n_left.sum())
        else:
            middle = start + rows_kernels.divide(self.data, nodes, node, work)
        left_sum = nodes.left_packed[node]
        left = node_kernels.new_node(nodes, work, node, start, middle, left_sum)
        right = node_kernels.new_node(nodes, work, node, middle, stop, nodes.packed[node] - left_sum)
        nodes.left[node], nodes.right[node] = left, right
        node_kernels.bound_children(nodes, node, self.rules, self.constraints.monotone[feature])
        groups = self.constraints.groups[:, feature] & nodes.groups[node]
        nodes.groups[left], nodes.groups[right] = groups, groups
        return left, right
