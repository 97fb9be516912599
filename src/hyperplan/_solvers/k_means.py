"""Lloyd's iterations: assign each row to the nearest centre, move each centre to the mean of its rows, repeat.

Objective: ``J = sum_i w_i |x_i - c(i)|^2``.  Neither half of a step raises it: the nearest centre is the best for a
row, the mean is the best centre for its rows.  From the sums of clusters J needs no pass over the rows:
``J = sum_k spread_k - 2 total_k'c_k + mass_k |c_k|^2``.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from hyperplan._core.certificate import Certificate
from hyperplan._core.parallel import spans, split_map
from hyperplan._core.trace import Trace
from hyperplan._solvers import _k_means_kernels as k
from hyperplan._solvers._k_means_seeds_kernels import exact_gaps
from hyperplan._solvers.k_means_rows import (
    DenseRows,
    Frame,
    Scratch,
    Spares,
    SparseRows,
    Sums,
    frame_of,
    movement_limits,
    panel_rows,
    screen_of,
)

ROUNDING = 1e-9  # share of the first objective that rounding may add to a later one
NEAREST_ROWS = 16_384  # rows of one task
SAMPLED, SAMPLE_ENTRIES = 512, 1 << 24  # rows that the certificate measures again, and the work that may take
REFERENCE = "Lloyd (1982), Least squares quantization in PCM; Arthur, Vassilvitskii (2007), k-means++, theorem 3.1"


class KMeansRun(NamedTuple):
    """The end of a run."""

    centres: np.ndarray  # (k, d) float64, exact in the precision of the rows
    labels: np.ndarray  # (n,) int32: the nearest of these centres
    inertia: float
    n_iter: int
    ending: str  # "labels": none changed, "tol": the centres hardly moved, "max_iter"
    trace: Trace  # objective of each step before the centres move, and their squared movement
    gain: float  # by how much moving the centres to the means of their rows would lower the inertia


def rows_of(X, weight=None, n_jobs=None):
    """Rows ready for any number of runs: dense C-ordered, or CSR."""
    return (SparseRows if hasattr(X, "tocsr") else DenseRows)(X, weight, n_jobs)


def lloyd(rows, start, *, tol=0.0, max_iter=300, elkan=False, observe=None) -> KMeansRun:
    """Iterate from given centres until no label changes or the centres move by no more than `tol`.

    Parameters
    ----------
    rows : DenseRows or SparseRows
        Made by `rows_of`.
    start : ndarray of shape (n_clusters, d)
        First centres.
    tol : float, default=0.0
        Sum of the squared movements of the centres at which to stop.
    max_iter : int, default=300
        Most steps.
    elkan : bool, default=False
        Keep a bound for every row and centre instead of one for every row: more memory, the same result.
    observe : callable, default=None
        Called with each `Step`.

    Returns
    -------
    KMeansRun
        Labels and inertia belong to the returned centres.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan._solvers.k_means import lloyd, rows_of
    >>> run = lloyd(rows_of(np.array([[0.0], [1.0], [10.0], [11.0]])), np.array([[0.0], [1.0]]))
    >>> run.centres.ravel().tolist(), run.inertia, [round(value, 2) for value in run.trace.objectives]
    ([0.5, 10.5], 1.0, [181.0, 21.56, 1.0])
    """
    search = rows.search(start.shape[0], elkan)
    trace = Trace(*([] if observe is None else [observe]))
    centres, travel, ending = start.astype(np.float64), None, "max_iter"
    for step in range(1, max_iter + 1):
        moved = search.assign(centres, travel)
        objective = distortion(search.sums, centres - rows.frame.middle)
        before, centres = centres, _next_centres(rows, search, centres)
        travel = np.sqrt(((centres - before) ** 2).sum(axis=1))
        movement = float(travel @ travel)
        trace(step, objective, movement)
        if moved == 0:
            ending = "labels"
            break
        if movement <= tol:
            ending = "tol"
            break
    final = centres.astype(rows.X.dtype).astype(np.float64)
    search.assign(final, np.sqrt(((final - before) ** 2).sum(axis=1)))
    inertia = weighted_total(rows.own_gaps(search.labels, final), rows.weight)
    gain = float(search.sums.masses @ ((means(search.sums, rows.frame, final) - final) ** 2).sum(axis=1))
    return KMeansRun(final, search.labels, inertia, step, ending, trace, gain)


def weighted_total(gaps, weight):
    """Sum of squared distances with weights."""
    return float(gaps.sum() if weight.size == 0 else (gaps * weight).sum())


def distortion(sums: Sums, centres) -> float:
    """The objective for centres about the middle of the rows."""
    cross = np.einsum("ij,ij->", sums.totals, centres)
    squares = np.einsum("ij,ij->i", centres, centres)
    return max(float(sums.spreads.sum() - 2.0 * cross + sums.masses @ squares), 0.0)


def means(sums: Sums, frame: Frame, fallback):
    """Means of the clusters; those without any weight stay where they are."""
    masses = np.where(sums.counts > 0, sums.masses, 1.0)[:, None]
    return np.where(sums.counts[:, None] > 0, sums.totals / masses + frame.middle, fallback)


def _next_centres(rows, search, centres):
    """Means; an empty cluster starts again at the row that costs most, which its old cluster gives away."""
    empty = np.flatnonzero(search.sums.counts == 0)
    if empty.size == 0:
        return means(search.sums, rows.frame, centres)
    costs = rows.own_gaps(search.labels, centres)
    costs = costs * rows.weight if rows.weight.size else costs
    dearest = np.argsort(-costs, kind="stable")[: empty.size]
    dearest = dearest[costs[dearest] > 0.0]
    if dearest.size == 0:
        return means(search.sums, rows.frame, centres)
    sums = Sums(*(part.copy() for part in search.sums))
    for cluster, row in zip(empty, dearest):
        weight = rows.weight[row] if rows.weight.size else 1.0
        total = weight * (np.asarray(rows.take([row]), dtype=np.float64)[0] - rows.frame.middle)
        old = search.labels[row]
        sums.counts[old] -= 1
        sums.masses[old] -= weight
        sums.totals[old] -= total
        sums.counts[cluster], sums.masses[cluster], sums.totals[cluster] = 1, weight, total
    return means(sums, rows.frame, centres)


def misplaced_share(rows, run: KMeansRun) -> float:
    """Share of rows, of some spread over the table, that are nearer to another centre than to their own."""
    n, n_clusters = rows.shape[0], run.centres.shape[0]
    some = np.unique(np.linspace(0, n - 1, max(1, min(SAMPLED, SAMPLE_ENTRIES // run.centres.size))).astype(np.intp))
    X, gaps = np.ascontiguousarray(rows.take(some)), np.empty((n_clusters, some.size))
    exact_gaps(X, run.centres, gaps)
    own = gaps[run.labels[some], np.arange(some.size)]
    return float((gaps.min(axis=0) < own - ROUNDING * (own + rows.squares[some] / rows.frame.scale**2)).mean())


def distortion_certificate(run: KMeansRun, rows, init) -> Certificate:
    """No step raised the objective; rows belong to their nearest centres, and centres are nearly the means."""
    objectives = [*run.trace.objectives, run.inertia]
    rise, misplaced = max(b - a for a, b in pairwise(objectives)), misplaced_share(rows, run)
    scale = max(objectives[0], float(rows.variance.sum()) * rows.shape[0], np.finfo(np.float64).tiny)
    details = {
        "inertia": run.inertia,
        "steps": run.n_iter,
        "ended by": {"labels": "labels that stayed", "tol": "centres that stayed", "max_iter": "max_iter"}[run.ending],
        "rows nearer to another centre": f"{100 * misplaced:g} % of a sample",
        "relative gain of moving centres to means": run.gain / run.inertia if run.inertia > 0 else 0.0,
    }
    if isinstance(init, str) and init == "k-means++":
        factor = 8.0 * (np.log(run.centres.shape[0]) + 2.0)
        details["the start is expected within this factor of the least inertia"] = float(factor)
    return Certificate(
        kind="monotone distortion",
        guarantee="no step raised the sum of squared distances; the end is a local minimum, not always the least",
        value=max(rise / scale, misplaced, 0.0),
        bound=ROUNDING if rows.X.dtype == np.float64 else 1e-6,  # centres are rounded to float32 at the end
        reference=REFERENCE,
        details=details,
    )


def nearest_centres(X, centres, n_jobs=None):
    """The nearest centre of each row, of equally near ones the first: as `lloyd` labels the rows it is given.

    Parameters
    ----------
    X : ndarray of shape (n, d) in C order, or CSR
        Rows, float32 or float64.
    centres : ndarray of shape (n_clusters, d)
        Centres.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    labels : ndarray of shape (n,)
        int32.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan._solvers.k_means import nearest_centres
    >>> nearest_centres(np.array([[0.0], [0.9], [0.5]]), np.array([[0.0], [1.0]]))
    array([0, 1, 0], dtype=int32)
    """
    centres = np.ascontiguousarray(centres, dtype=np.float64)
    if hasattr(X, "tocsr"):
        return _nearest_sparse(X, centres, n_jobs)
    n_clusters, d = centres.shape
    middle = centres.mean(axis=0)
    frame = frame_of(middle, float(np.abs(centres - middle).max()))
    screen = screen_of(centres, frame)
    limits = movement_limits(np.zeros(n_clusters), frame.error, screen.largest, 0.0)
    panel, labels = panel_rows(n_clusters, d), np.empty(X.shape[0], np.int32)
    panel = min(panel, max(X.shape[0], 1))
    spares = Spares(lambda: Scratch(n_clusters, d, panel, 0))
    everyone = np.arange(panel)

    def work(part):
        scratch, squares, bounds = spares.take(), np.empty(panel), np.empty((2, panel))
        for piece in spans(part.stop - part.start, panel):
            rows = X[part][piece]
            m = rows.shape[0]
            k.fill_table(rows, frame.middle, frame.scale, scratch.rows[:m], squares[:m])
            arguments = (everyone[:m], screen, squares[:m], limits, bounds[0, :m], bounds[1, :m])
            labels[part.start + piece.start : part.start + piece.stop] = scratch.settle(
                rows, scratch.rows[:m], *arguments
            )
        spares.give(scratch)

    split_map(work, spans(X.shape[0], NEAREST_ROWS), n_jobs)
    return labels


def _nearest_sparse(X, centres, n_jobs):
    rows = SparseRows(X, None, n_jobs)
    search = rows.search(centres.shape[0])
    search.assign(centres)
    return search.labels


def total_gap(X, labels, centres, weight=None, n_jobs=None):
    """Sum of weighted squared distances of rows to their centres.

    >>> import numpy as np
    >>> from hyperplan._solvers.k_means import total_gap
    >>> total_gap(np.array([[0.0], [3.0]]), np.zeros(2, np.int32), np.array([[1.0]]))
    5.0
    """
    centres = np.ascontiguousarray(centres, dtype=np.float64)
    if hasattr(X, "tocsr"):
        gaps = SparseRows(X, None, n_jobs).own_gaps(labels, centres)
    else:
        gaps = np.empty(X.shape[0])

        def work(part):
            k.own_gaps(X[part], labels[part], centres, gaps[part])

        split_map(work, spans(X.shape[0], NEAREST_ROWS), n_jobs)
    return weighted_total(gaps, np.empty(0) if weight is None else weight)
