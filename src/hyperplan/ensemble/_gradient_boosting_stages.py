"""The stages of gradient boosting: residuals, a tree per class fitted to them by least squares, leaf values, update.

``F_0 = argmin_c sum l(y, c)``; then ``r = -dl/dF``, a tree on r, leaf values that lower l, ``F <- F + rate * tree``.
Columns are sorted once; every tree partitions a copy of them.
"""

import time
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import Certificate, seed_from
from hyperplan._trees.criteria import real_targets
from hyperplan._trees.exact import grow, presort
from hyperplan._trees.exact_span import Growth
from hyperplan._trees.nodes import leaves_of
from hyperplan._trees.pruning import pruned
from hyperplan.ensemble import _gradient_boosting_kernels as k
from hyperplan.tree._decision_tree_record import Tree


class Rows(NamedTuple):
    """Training or validation rows: float32 X (array or CSR matrix), targets, weights, raw predictions (K, n)."""

    X: object
    y: np.ndarray
    weight: np.ndarray
    raw: np.ndarray


class Options(NamedTuple):
    """Settings of the stages."""

    growth: Growth
    min_weight_fraction: float
    ccp_alpha: float
    learning_rate: float
    subsample: float
    n_iter_no_change: int | None
    tol: float


class History:
    """Trees and losses stage by stage; a warm start goes on with those of the last fit."""

    def __init__(self, trees=(), seeds=(), train=(), oob=None, improvement=None):
        self.trees = list(trees)  # one list of `Tree` per stage
        self.seeds = list(seeds)  # one list of ints per stage
        self.train = list(train)
        self.oob = None if oob is None else list(oob)
        self.improvement = None if improvement is None else list(improvement)


class Stages:
    """One stage after another on the same rows.

    Parameters
    ----------
    rows : Rows
        Training rows; `raw` is updated in place.
    loss : BoostingLoss
        Loss.
    options : Options
        Settings.
    history : History
        Filled stage by stage.
    random_state : RandomState
        Draws bags and the seeds of the trees.
    """

    def __init__(self, rows, loss, options, history, random_state):
        self.rows, self.loss, self.options, self.history = rows, loss, options, history
        self.random_state = random_state
        self.presorted = presort(rows.X.tocsc() if sp.issparse(rows.X) else rows.X)
        self.unweighted = bool((rows.weight == 1.0).all())
        self.mask = np.ones(rows.y.shape[0], dtype=np.uint8)
        if options.subsample < 1.0 and history.oob is None:
            history.oob, history.improvement = [0.0] * len(history.train), [0.0] * len(history.train)

    def step(self):
        """One more stage; its trees."""
        rows, history, sampled = self.rows, self.history, self.options.subsample < 1.0
        weight = rows.weight
        if sampled:
            n = rows.y.shape[0]
            k.in_bag(self.random_state.uniform(size=n), max(1, int(self.options.subsample * n)), self.mask)
            weight = weight * self.mask
            before = history.oob[-1] if history.oob else None
            if before is None:
                before = self.loss.mean(rows.y, rows.raw, rows.weight, self.mask)[0]
        self.loss = self.loss.widened(rows.y, rows.raw, rows.weight)
        residual = self.loss.residuals(rows.y, rows.raw)
        self.history.seeds.append([])
        trees = [self._tree(column, residual[column], weight) for column in range(residual.shape[0])]
        outside, inside = self.loss.mean(rows.y, rows.raw, rows.weight, self.mask)
        history.trees.append(trees)
        history.train.append(float(inside))
        if sampled:
            history.oob.append(float(outside))
            history.improvement.append(float(before - outside))
        elif history.oob is not None:
            history.oob.append(0.0)
            history.improvement.append(0.0)
        return trees

    def _tree(self, column, residual, weight):
        rows, options = self.rows, self.options
        whole = self.unweighted and options.subsample == 1.0
        targets = real_targets(residual[:, None], weight=None if whole else weight)
        growth = options.growth._replace(min_weight_leaf=options.min_weight_fraction * weight.sum())
        seed = seed_from(self.random_state)
        self.history.seeds[-1].append(seed >> 31)  # what was drawn
        nodes = grow(self.presorted, targets, growth, seed=seed)
        if options.ccp_alpha > 0.0:
            nodes = pruned(nodes, options.ccp_alpha)
        leaves = leaves_in(nodes, rows.X)
        y, raw = rows.y, rows.raw[column]
        self.loss.set_leaves(nodes, leaves, column, y, raw, residual, weight, self.mask)
        k.add_leaf_values(leaves, nodes.value[:, 0], options.learning_rate, 0, raw.shape[0], raw)
        return Tree(nodes, rows.X.shape[1], [1])


def leaves_in(nodes, X):
    """Leaf of each row of a float32 array or CSR matrix."""
    return Tree(nodes, X.shape[1], [1]).apply(X) if sp.issparse(X) else leaves_of(nodes, X)


class Watch:
    """Early stopping on validation rows: no stage of the last few was better by `tol`."""

    def __init__(self, rows, stages):
        self.rows, self.stages, self.options = rows, stages, stages.options
        self.last = np.full(self.options.n_iter_no_change, np.inf)

    def __call__(self, i, trees) -> bool:
        """Add stage i to the validation rows; whether to stop."""
        rows = self.rows
        for column, tree in enumerate(trees):
            raw = rows.raw[column]
            leaves = leaves_in(tree.nodes, rows.X)
            k.add_leaf_values(leaves, tree.value[:, 0, 0], self.options.learning_rate, 0, raw.shape[0], raw)
        now = self.stages.loss.mean(rows.y, rows.raw, rows.weight)[1]
        if np.any(now + self.options.tol < self.last):
            self.last[i % self.last.shape[0]] = now
            return False
        return True


class Reporter:
    """Prints a line per stage: all of them for verbose > 1, ever fewer for verbose = 1."""

    def __init__(self, verbose, n_stages, history, sampled):
        self.verbose, self.n_stages, self.history, self.sampled = verbose, n_stages, history, sampled
        self.first = len(history.trees)
        self.every, self.started = 1, time.time()
        names = ["Iter", "Train Loss", *(["OOB Improve"] if sampled else []), "Remaining Time"]
        print(("%10s " + "%16s " * (len(names) - 1)) % tuple(names))

    def __call__(self, i, trees) -> bool:
        """Report stage i; never asks to stop."""
        history = self.history
        done = i - self.first + 1
        if done % self.every:
            return False
        left = (self.n_stages - (i + 1)) * (time.time() - self.started) / done
        line = f"{i + 1:>10d} {history.train[i]:>16.4f} "
        line += f"{history.improvement[i]:>16.4f} " if self.sampled else ""
        print(line + f"{f'{left / 60:.2f}m' if left > 60 else f'{left:.2f}s':>16s}")
        if self.verbose == 1 and done // (self.every * 10) > 0:
            self.every *= 10
        return False


def run_stages(stages, n_stages, observers):
    """Go on until there are `n_stages`, or until an observer asks to stop (the others are not asked any more)."""
    for i in range(len(stages.history.trees), n_stages):
        trees = stages.step()
        if any(observer(i, trees) for observer in observers):
            return


def loss_certificate(stages, first_raw) -> Certificate:
    """Training loss now against that of the raw predictions at the start."""
    rows, loss, train = stages.rows, stages.loss, np.array(stages.history.train)
    first, last = (float(loss.mean(rows.y, np.ascontiguousarray(raw), rows.weight)[1]) for raw in (first_raw, rows.raw))
    rises = int((np.diff(train) > 1e-12 * np.abs(train[:-1])).sum()) if stages.options.subsample == 1.0 else None
    return Certificate(
        kind="training loss",
        guarantee=f"the training loss went from {first:.6g} to {last:.6g} in {len(train)} stages",
        value=last,
        bound=first * (1.0 + 1e-12) + 1e-300,
        assumption="certain for the squared error with learning_rate <= 2; for other losses measured, not proved",
        reference="Friedman (2001), Greedy function approximation: a gradient boosting machine",
        details={"stages": len(train), "stages that raised it": rises},
    )
