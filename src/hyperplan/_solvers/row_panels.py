"""Second-order sums over the rows of a design: the passes over X of generalised linear, ordinal and Huber fits.

A model is a function of the scores ``eta = (X - centre) w`` and of q further parameters (intercept, thresholds,
scale).  Per row it delivers the slope and the curvature in eta and the q cross derivatives; this module turns them
into the gradient and the Hessian of the sum, panel by panel: each panel of X is read once from memory, centred into
a buffer that stays in the cache, and multiplied there.  Centring by a fixed vector is a change of the intercept
only; it keeps the Hessian well conditioned when the columns have large means.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.arrays import compressed
from hyperplan._core.parallel import spans, thread_map
from hyperplan._solvers._row_panel_kernels import (
    csr_adjoint,
    csr_gram,
    csr_scores,
    dense_adjoint,
    dense_scaled,
    dense_scores,
)

PANEL_ELEMENTS = 131_072  # 1 MiB of float64: large enough that calls cost nothing, small enough for the cache
TASK_ELEMENTS = 500_000
GRAM_BYTES = 256e6  # all partial Hessians of one pass together

LOSS, GRADIENT, HESSIAN = 0, 1, 2


class Sums(NamedTuple):
    """Value, gradient and Hessian of the sum over rows; the coefficients first, then the further parameters."""

    value: float
    gradient: np.ndarray | None
    hessian: np.ndarray | None


class RowSlopes(NamedTuple):
    """What a model says about one panel: see `second_order_sums`."""

    value: float
    slope: np.ndarray  # (m,)
    curvature: np.ndarray  # (m,)
    cross: np.ndarray  # (m, q) derivatives in (eta, further parameter)
    gradient: np.ndarray  # (q,)
    block: np.ndarray  # (q, q)


class DenseRows:
    """Rows of a dense X of any layout and float type."""

    def __init__(self, X, *, centred=True, centre=None):
        self.X = X
        self.shape = X.shape
        if centre is None:
            centre = sampled_mean(X) if centred else np.zeros(X.shape[1])
        self.centre = centre
        width = X.shape[1] + 1
        self.panel_rows = int(np.clip(PANEL_ELEMENTS // width, 64, 4096))
        self.task_rows = _task_rows(X.shape[0], width, self.panel_rows, TASK_ELEMENTS // width)

    def every(self, picked):
        """The rows of a slice: a view, with the same centre."""
        return DenseRows(self.X[picked], centre=self.centre)

    def panels(self, span):
        """(rows, panel) of one task; the panels share one buffer."""
        scaled = np.empty((min(self.panel_rows, span.stop - span.start), self.shape[1]))
        for part in spans(span.stop - span.start, self.panel_rows):
            rows = slice(span.start + part.start, span.start + part.stop)
            values = np.ascontiguousarray(self.X[rows])
            yield rows, _DensePanel(values, self.centre, scaled[: rows.stop - rows.start])


class _DensePanel:
    def __init__(self, values, centre, scaled):
        self.values, self.centre, self.scaled = values, centre, scaled

    def scores(self, coef):
        eta = np.empty(self.values.shape[0])
        dense_scores(self.values, self.centre, coef, eta)
        return eta

    def add_adjoint(self, slope, cross, total):
        dense_adjoint(self.values, self.centre, slope, cross, total)

    def add_gram(self, curvature, gram, work):
        dense_scaled(self.values, self.centre, curvature, self.scaled)
        gram += np.dot(self.scaled.T, self.scaled, out=work)


class SparseRows:
    """Rows of a CSR matrix; never centred."""

    def __init__(self, X):
        self.X = X
        self.record = compressed(X)
        self.shape = X.shape
        self.centre = np.zeros(X.shape[1])
        mean_row = max(1, X.nnz // max(1, X.shape[0]))
        self.panel_rows = 4096
        self.task_rows = _task_rows(X.shape[0], X.shape[1] + 1, 4096, TASK_ELEMENTS // mean_row)

    def every(self, picked):
        """The rows of a slice, copied."""
        return SparseRows(self.X[picked])

    def panels(self, span):
        for part in spans(span.stop - span.start, self.panel_rows):
            rows = slice(span.start + part.start, span.start + part.stop)
            yield rows, _SparsePanel(self.record, rows)


class _SparsePanel:
    def __init__(self, record, rows):
        self.record, self.rows = record, rows

    def scores(self, coef):
        eta = np.empty(self.rows.stop - self.rows.start)
        csr_scores(self.record, self.rows.start, coef, eta)
        return eta

    def add_adjoint(self, slope, cross, total):
        csr_adjoint(self.record, self.rows.start, slope, cross, total)

    def add_gram(self, curvature, gram, work):
        csr_gram(self.record, self.rows.start, curvature, gram)


def design_rows(X, *, centred=True):
    """The rows of X for `second_order_sums`; CSC becomes CSR.  `centred` needs an unpenalised intercept."""
    return SparseRows(X.tocsr()) if sp.issparse(X) else DenseRows(X, centred=centred)


def sampled_mean(X, rows=8192):
    """Column means of at most about `rows` evenly spaced rows: good enough a centre, at no cost.

    Columns whose sample is not finite are not centred: the first pass will report them.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        mean = X[:: max(1, X.shape[0] // rows)].mean(axis=0, dtype=np.float64)
    return np.where(np.isfinite(mean), mean, 0.0)


def _task_rows(n_rows, width, panel_rows, wanted):
    """Rows per task: about TASK_ELEMENTS of work, and few enough tasks that their Hessians fit GRAM_BYTES."""
    most_tasks = max(2, int(GRAM_BYTES // (8.0 * width * width)))
    least = -(-n_rows // most_tasks)
    rows = max(wanted, least, panel_rows)
    return -(-rows // panel_rows) * panel_rows


def second_order_sums(design, coef, row_model, n_extra, level=HESSIAN):
    """Value, gradient (level >= 1) and Hessian (level 2) of ``sum_i loss_i(eta_i, extra)`` in (coef, extra).

    `row_model(rows, eta)` returns the `RowSlopes` of the rows (a slice) at their scores `eta`.
    """
    d = design.shape[1]

    def task(span):
        value, adjoint, tail = 0.0, np.zeros((1 + n_extra, d)), np.zeros((1 + n_extra, n_extra))
        gram, work = (np.zeros((d, d)), np.empty((d, d))) if level == HESSIAN else (None, None)
        for rows, panel in design.panels(span):
            part = row_model(rows, panel.scores(coef))
            value += part.value
            if level == LOSS:
                continue
            cross = part.cross[:, : n_extra if level == HESSIAN else 0]
            panel.add_adjoint(part.slope, cross, adjoint)
            tail[0] += part.gradient[:n_extra]
            if level == HESSIAN:
                tail[1:] += part.block[:n_extra, :n_extra]
                panel.add_gram(part.curvature, gram, work)
        return value, adjoint, tail, gram

    with np.errstate(over="ignore", invalid="ignore"):
        parts = thread_map(task, spans(design.shape[0], design.task_rows))
    value = float(sum(part[0] for part in parts))
    if level == LOSS:
        return Sums(value, None, None)
    adjoint, tail = (sum(part[k] for part in parts) for k in (1, 2))
    gradient = np.concatenate([adjoint[0], tail[0]])
    if level == GRADIENT:
        return Sums(value, gradient, None)
    gram = parts[0][3]
    for part in parts[1:]:
        gram += part[3]
    return Sums(value, gradient, np.block([[gram, adjoint[1:].T], [adjoint[1:], tail[1:]]]))


def hessian_product(design, curvature, cross, block):
    """The Hessian of `second_order_sums` as a function ``v -> H v``, from stored curvatures: one pass over X each."""
    d = design.shape[1]
    n_extra = cross.shape[1]
    empty = np.empty((design.panel_rows, 0))

    def product(vector):
        coef, extra = vector[:d], vector[d:]

        def task(span):
            total, tail = np.zeros((1, d)), np.zeros(n_extra)
            for rows, panel in design.panels(span):
                eta = panel.scores(coef)
                panel.add_adjoint(curvature[rows] * eta + cross[rows] @ extra, empty[: len(eta)], total)
                tail += cross[rows].T @ eta
            return total[0], tail

        parts = thread_map(task, spans(design.shape[0], design.task_rows))
        return np.concatenate([sum(p[0] for p in parts), sum(p[1] for p in parts) + block @ extra])

    return product
