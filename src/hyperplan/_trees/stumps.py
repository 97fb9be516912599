"""Trees with one split for boosting: columns sorted once, one scan of them per tree, in threads.

The split is the one that the general trees find with ``Growth(max_depth=1)``, at a tenth of their time.

>>> import numpy as np
>>> from hyperplan._trees.criteria import class_targets
>>> from hyperplan._trees.stumps import Stumps
>>> X = np.array([[0.0], [1.0], [2.0], [3.0]], dtype=np.float32)
>>> targets = class_targets([[0], [0], [1], [0]], [2], weight=np.array([1.0, 1.0, 5.0, 1.0]))
>>> nodes, is_left = Stumps(X).grow(targets, seed=0)
>>> nodes.threshold[0], is_left.tolist()
(np.float64(1.5), [1, 1, 0, 0])
"""

import numpy as np

from hyperplan._core.parallel import spans, thread_map
from hyperplan._trees._exact_grow_kernels import CLASSES
from hyperplan._trees._stump_kernels import (
    N_FOUND,
    fill_terms,
    finish_stump,
    root_sums,
    rows_by_value,
    scan_gini,
    scan_signed,
    scan_terms,
    sign_weights,
)
from hyperplan._trees.criteria import scan_kind
from hyperplan._trees.exact import grow, presort
from hyperplan._trees.exact_span import Growth, columns_of, rule_of
from hyperplan._trees.nodes import empty_nodes, leaves_of, resized

TASKS = 4  # parts of the columns, scanned at the same time
ENTRIES_PER_TASK = 2**15  # fewer entries (rows times columns) are not worth a task

ONE_SPLIT = Growth(max_depth=1)


class Stumps:
    """Grows one stump after another on the same rows, for other targets or weights.

    Parameters
    ----------
    X : float32 array or CSC matrix
        Rows, without missing values.
    n_jobs : int or None
        Threads; they do not change the stumps.
    """

    def __init__(self, X, n_jobs=None):
        self.X, self.n_jobs = X, n_jobs
        self.presorted = presort(X, n_jobs)
        d, n = self.presorted.pairs.shape
        self.order = np.empty((d, n), dtype=np.int32)
        views = columns_of(self.presorted.pairs)
        self._spans = spans(d, max(-(-d // TASKS), -(-ENTRIES_PER_TASK // max(n, 1))))
        self._last_rule = None
        self._run(lambda part: rows_by_value(views.values[part], views.rows[part], self.order[part]))
        self._found = np.empty((d, N_FOUND))
        self._ranks = (np.empty(d, dtype=np.int64), np.empty(1, dtype=np.uint64))
        self._terms = np.empty((n, 2))

    def _run(self, task):
        """`task` on all parts of the columns; a single part, on small data, needs no thread pool."""
        if len(self._spans) == 1:
            task(self._spans[0])
        else:
            thread_map(task, self._spans, self.n_jobs)

    def _rule(self, targets, total):
        """Constants for the kernels; from stump to stump only the total weight changes."""
        if self._last_rule is None or self._last_rule.criterion != targets.criterion:
            self._last_rule = rule_of(ONE_SPLIT, targets, self.presorted.missing)
        return self._last_rule._replace(total_weight=total)

    def grow(self, targets, seed=0):
        """Nodes of the best stump (one node if none helps), and for each row whether it is on the left.

        `targets` are numbers or classes (Gini) of one output, with weights.  Rows of weight zero are left out.
        """
        if not targets.weight.shape[0] or not targets.weight.all():
            return self._grow_general(targets, seed)
        totals = np.zeros((3, targets.width))
        root_sums(self.order[0], targets, totals[0])
        self._run(self._scan(targets, totals[0]))
        nodes, is_left = empty_nodes(3, targets.width - 5), np.empty(self.order.shape[1], dtype=np.uint8)
        rule = self._rule(targets, totals[0, 0])
        fixed = (self.order, self._found, np.uint64(seed), targets, rule, totals, self._ranks)
        n_nodes = finish_stump(*fixed, nodes, is_left)
        if n_nodes == 1:
            return resized(nodes, 1), is_left
        nodes.threshold[0] = self._threshold(int(nodes.feature[0]), int(nodes.n_node_samples[1]))
        return nodes, is_left

    def _scan(self, targets, root):
        """Task that scans some of the columns."""
        W = root[0]
        if scan_kind(targets) == CLASSES:
            codes, weight = targets.codes, targets.weight
            n_classes = int(targets.n_classes[0])

            def task(part):
                scan_gini(self.order, part.start, part.stop, codes, weight, root, np.empty((2, n_classes)), self._found)

        elif targets.codes.shape[0]:
            signed = self._terms.reshape(-1)[: targets.n_rows]
            sign_weights(targets.codes, targets.weight, signed)

            def task(part):
                scan_signed(self.order, part.start, part.stop, signed, W, root[6], self._found)

        else:
            fill_terms(targets.real, targets.weight, W, root[5], self._terms)

            def task(part):
                scan_terms(self.order, part.start, part.stop, self._terms, W, self._found)

        return task

    def _threshold(self, feature, position):
        """Middle between the values on both sides."""
        values = self.presorted.pairs[feature, position - 1 : position + 1].view(np.float32)[1::2].astype(np.float64)
        return values[0] / 2.0 + values[1] / 2.0

    def _grow_general(self, targets, seed):
        nodes = grow(self.presorted, targets, ONE_SPLIT, seed=seed, n_jobs=self.n_jobs)
        if nodes.feature.shape[0] == 1:
            return nodes, np.ones(self.order.shape[1], dtype=np.uint8)
        if isinstance(self.X, np.ndarray):
            return nodes, (leaves_of(nodes, self.X, self.n_jobs) == 1).astype(np.uint8)
        column = self.X[:, [int(nodes.feature[0])]].toarray()[:, 0]
        return nodes, (column.astype(np.float32) <= nodes.threshold[0]).astype(np.uint8)
