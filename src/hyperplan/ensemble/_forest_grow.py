"""Which engine grows the trees of a forest, and on which rows.

The fast engine draws a few features per node and looks at nothing else: bins, ranks or values of the columns, encoded
once for all trees.  It covers Gini index, squared error and (for one output) entropy on complete data.  The exact core
takes the rest: missing values, entropy of several outputs, absolute error and Poisson deviance, monotone constraints,
best-first growth and negative weights.
"""

import threading
from numbers import Integral
from typing import NamedTuple
from warnings import warn

import numpy as np
import scipy.sparse as sp

from hyperplan._base import check_random_state, compute_sample_weight, seed_from
from hyperplan._trees import criteria, exact, forest
from hyperplan._trees.forest_record import nodes_of_raw, raw_of
from hyperplan._trees.pruning import pruned

HISTOGRAM_ROWS = 20_000  # splitter="auto": bins above, every threshold up to here
FAST_CRITERIA = ("gini", "entropy", "log_loss", "squared_error")
FAST_MANY = ("gini", "squared_error")  # for several outputs
MOST_TARGETS = 64  # classes of all outputs together up to which their indicators are worth it


_own = threading.local()  # one generator per thread: to seed it again takes microseconds, to make one fifty times that


def seeded(seed):
    """Random numbers as of ``RandomState(seed)``, until the thread asks for others."""
    if not hasattr(_own, "generator"):
        _own.generator = check_random_state(0)
    _own.generator.seed(seed)
    return _own.generator


class Draw(NamedTuple):
    """How a tree's rows are drawn: `size` rows with replacement, by `weight`; size None: every row, with its weight."""

    n_rows: int
    size: int | None
    weight: np.ndarray | None

    def indices(self, seed):
        """Rows of a tree in the order drawn."""
        if self.size is None:
            return np.arange(self.n_rows, dtype=np.int32)
        rng = seeded(seed)
        if self.weight is None:
            return rng.randint(0, self.n_rows, self.size).astype(np.int32)
        chosen = rng.choice(self.n_rows, self.size, replace=True, p=self.weight / np.sum(self.weight))
        return chosen.astype(np.int32)

    def counts(self, seed):
        """How often a tree drew each row; without drawing the weights of the rows, None for all the same."""
        if self.size is None:
            return self.weight
        return np.bincount(self.indices(seed), minlength=self.n_rows)


def draw_size(n_rows, max_samples, weight):
    """Rows to draw for a tree; scikit-learn's warning if a share leaves few."""
    if max_samples is None or isinstance(max_samples, Integral):
        return n_rows if max_samples is None else int(max_samples)
    total = n_rows if weight is None else weight.sum()
    size = max(int(max_samples * total), 1)
    if size < max(10, n_rows ** (1 / 3)):
        what = "number of samples" if weight is None else "total sum of sample weights"
        warn(
            f"Using the fractional value max_samples={max_samples!r} when the {what} is {total} results in a low "
            f"number ({size}) of bootstrap samples. We recommend passing `max_samples` as an integer instead."
        )
    return size


class Setting(NamedTuple):
    """What a tree is grown with besides the data."""

    growth: exact.Growth
    criterion: str
    n_classes: np.ndarray | None  # per output; None for regression
    splitter: str  # "auto", "exact" or "histogram"
    min_weight_fraction: float
    ccp_alpha: float
    balanced: bool  # class weights from each tree's own sample


class Engine:
    """Grows trees on the same rows.

    Parameters
    ----------
    X : float32 ndarray or CSC matrix
        Columns.
    y : ndarray of shape (n, n_outputs)
        Class numbers or targets.
    draw : Draw
        Rows of the trees.
    setting : Setting
        Everything else.
    n_jobs : int or None
        Threads.
    """

    def __init__(self, X, y, draw, setting, n_jobs):
        self.draw, self.setting, self.y = draw, setting, y
        self.fast = self._is_fast(X)
        self.name = "exact"
        if self.fast:
            self.name = self._kind(X.shape[0])
            self._columns = forest.encode(X, self.name, n_jobs)
            self._problem = self._fast_problem()
        else:
            self._columns = exact.presort(X, n_jobs)
            self._problem = self._exact_problem()

    def _is_fast(self, X):
        setting = self.setting
        plain = setting.growth.monotone is None and not setting.growth.max_leaf_nodes
        positive = self.draw.size is not None or self.draw.weight is None or self.draw.weight.min() >= 0
        complete = sp.issparse(X) or not np.isnan(np.sum(X)) or not np.isnan(X).any()
        return self._is_fast_target() and plain and positive and complete

    def _is_fast_target(self):
        setting = self.setting
        if self.y.shape[1] == 1:
            return setting.criterion in FAST_CRITERIA
        few = setting.n_classes is None or sum(setting.n_classes) <= MOST_TARGETS
        return setting.criterion in FAST_MANY and few

    def _kind(self, n_rows):
        if self.setting.growth.random:
            return "values"
        chosen = self.setting.splitter
        if chosen == "auto":
            chosen = "histogram" if n_rows > HISTOGRAM_ROWS else "exact"
        return "bins" if chosen == "histogram" else "ranks"

    def _fast_problem(self):
        y, n_classes, one = self.y, self.setting.n_classes, self.y.shape[1] == 1
        if n_classes is None:
            weight = self.draw.weight
            return forest.mean_targets(y[:, 0], weight) if one else forest.many_targets(y, weight)
        if not one:
            return forest.many_classes(y, n_classes)
        return forest.class_targets(y[:, 0], int(n_classes[0]), self.setting.criterion)

    def _exact_problem(self):
        if self.setting.n_classes is None:
            return self._recentred(criteria.real_targets(self.y, criterion=self.setting.criterion))
        return criteria.class_targets(self.y.astype(np.int64), self.setting.n_classes, criterion=self.setting.criterion)

    def _recentred(self, targets):
        """Centres that rows of weight zero and repeated rows do not move, so that a weight is as good as copies."""
        if self.setting.criterion == "poisson" or targets.scale != 1.0:
            return targets
        kept = self.y if self.draw.weight is None else self.y[self.draw.weight != 0.0]
        centre = np.array([forest.round_middle(column) for column in kept.T])
        return targets._replace(real=np.ascontiguousarray(self.y - centre), centre=centre)

    def weight(self, seed):
        """Weights of the rows in the tree of this seed, None for all the same."""
        weight = self.draw.counts(seed)
        if self.setting.balanced:
            weight = weight * compute_sample_weight("balanced", self.y, indices=self.draw.indices(seed))
        return weight

    @property
    def weight_type(self):
        """Of the weights of nodes: counts, or any numbers; None where every row weighs one."""
        drawn, balanced = self.draw.size is not None, self.setting.balanced
        if not drawn and self.draw.weight is None and not balanced:
            return None
        return np.int32 if drawn and not balanced else np.float64

    def grow(self, seed):
        """The tree of a seed (`Raw`); whatever else is grown, in whatever order, does not matter."""
        weight, setting = self.weight(seed), self.setting
        total = self.draw.n_rows if weight is None else weight.sum()
        growth = setting.growth._replace(min_weight_leaf=setting.min_weight_fraction * total)
        key = seed_from(seeded(int(seed)))
        if self.fast:
            raw = forest.grow_raw(self._columns, self._problem, growth, seed=key, weight=weight)
        else:
            targets = criteria.with_weight(self._problem, weight)
            raw = raw_of(exact.grow(self._columns, targets, growth, seed=key, n_jobs=1))
        return raw if setting.ccp_alpha == 0 else raw_of(pruned(nodes_of_raw(raw), setting.ccp_alpha))
