"""Linear support vector machines: one problem, four losses.

    minimise   penalty(w) + sum_i cost_i * dist(x_i'w, [low_i, high_i])^power

A row asks for a score inside its band: [1, inf) or (-inf, -1] in classification (hinge losses), [y - eps, y + eps] in
regression (epsilon-insensitive losses).  `power` is 1 or 2, the penalty 1/2 |w|_2^2 or |w|_1.  The constant column of
the intercept is penalised like the others; a larger constant (`scale`) weakens that.

Which algorithm runs depends on the shape, and on whether the first one converges; all of them end with the same kind
of duality gap.
"""

import numpy as np

from hyperplan._core.parallel import single_threaded_blas
from hyperplan._core.status import Status
from hyperplan._solvers.linear_svm_design import Design, Outcome
from hyperplan._solvers.linear_svm_dual import coordinate_descent, joint_coordinate_descent
from hyperplan._solvers.linear_svm_elastic import elastic_newton
from hyperplan._solvers.linear_svm_gram import gram_descent
from hyperplan._solvers.linear_svm_interior import interior_point
from hyperplan._solvers.linear_svm_joint import joint_interior_point
from hyperplan._solvers.linear_svm_l1 import l1_newton
from hyperplan._solvers.linear_svm_l1_descent import Columns, l1_descent
from hyperplan._solvers.linear_svm_l1_interior import MAX_STEPS, l1_interior
from hyperplan._solvers.linear_svm_newton import newton_cg, newton_cholesky
from hyperplan._solvers.linear_svm_small import is_small, solve_small

DIRECT_WIDTH = 2000  # columns up to which a system of that size is factorised in each step
SPARSE_FILL = 1000  # columns^2 per stored value of a row up to which sparse rows are worth a dense system
GRAM_ROWS = 3000  # rows up to which their inner products may be used
GRAM_SPARSE_ROWS = 300  # the same for sparse rows before coordinate descent was tried: its passes cost less
GRAM_PASSES = 100  # rows^3 per value of X and pass up to which passes cost less than systems of their inner products
FIRST_PASSES = 100  # of coordinate descent before another method may take over
FIRST_SPARSE_PASSES = 500  # the same for the l1 penalty: systems are dense, passes over sparse columns cost less
INTERIOR_PASSES = 20  # smaller side^3 per value of X and pass up to which passes cost less than an interior point
LATER_PASSES = 200  # that are left to it and to what follows it
FIRST_DENSE_PASSES = 12
TRIAL_WIDTH = 100  # columns from which a trial of coordinate descent costs little beside systems of their size
ELASTIC_ROWS = 30  # rows per column from which an augmented Lagrangian beats an interior point
ELASTIC_SHARE = 0.1  # of the gap asked for
TALL = 4  # rows per column from which Gram matrices of columns are used for the l1 penalty
SHARE_OF_TOL = 1e-2  # fast solvers aim lower than asked: their last step costs little and gains digits
NEAR_TOL = {1: 0.9, 2: 0.1}  # coordinate descent pays for every digit: it stops just below what is asked
FINEST_GAP = 1e-12  # relative gaps below this are rounding


def classification_band(signs):
    """Bands of the hinge losses for labels -1 and +1."""
    return np.where(signs > 0, 1.0, -np.inf), np.where(signs > 0, np.inf, -1.0)


def fit_band(X, low, high, cost, *, power, l1=False, scale=0.0, tol=1e-4, max_iter=1000, seed=0):
    """Solve one linear support vector machine on checked arrays.

    Parameters
    ----------
    X : ndarray in C order or CSR matrix
        Features.
    low, high, cost : ndarray of shape (n,)
        Band and cost of each row; rows of cost 0 are left out.
    power : {1, 2}
        Absolute or squared loss.
    l1 : bool
        Penalty |w|_1 (with power 2 only) instead of 1/2 |w|^2.
    scale : float
        Constant of the intercept column, 0 for no intercept.
    tol : float
        Relative duality gap asked for.
    max_iter : int
        Largest number of iterations.
    seed : int
        Seed of coordinate descent, the only method that draws anything.

    Returns
    -------
    Outcome
        Weights (the intercept's last), objective, gap, iterations, status.
    """
    if not cost.all():
        kept = np.flatnonzero(cost)
        X, low, high, cost = X[kept], low[kept], high[kept], cost[kept]
    design, band = Design(X, scale), (low, high, cost)
    if not ((low > 0.0) | (high < 0.0)).any():  # score 0 is inside every band
        return Outcome(np.zeros(design.width), np.zeros(design.n_rows), 0.0, 0.0, 0, Status.CONVERGED)
    options = {"target_gap": max(SHARE_OF_TOL * tol, FINEST_GAP), "max_iter": max_iter}
    if power == 2:
        options["target_gap"] = max(SHARE_OF_TOL * tol * min(tol, 1.0), 1e-20)  # quadratic convergence: digits are free
    if l1:
        options["target_gap"] = max(SHARE_OF_TOL * tol, FINEST_GAP)
    if is_small(design, power):
        found = solve_small(design, band, power=power, l1=l1, **options)
        if found.status is not Status.STALLED:
            return found
    with single_threaded_blas(), np.errstate(all="ignore"):  # overflow ends in a status, not in warnings
        if l1:
            return _with_l1(design, band, **options)
        direct = {1: interior_point, 2: newton_cholesky}[power]
        if _is_narrow(design, band):
            found = _by_columns(design, band, tol, seed, options) if power == 1 else direct(design, band, **options)
            if power == 2 or _is_settled(found, tol):
                return found
        found = _by_rows(design, band, power, tol, {"seed": seed, **options})
        if found.status is Status.STALLED and design.width <= DIRECT_WIDTH and not _is_narrow(design, band):
            found = _better(found, direct(design, band, **options))
        return found


def _by_columns(design, band, tol, seed, options):
    """Many rows, absolute loss: coordinate descent where it is quick (small costs), else systems as wide as X."""
    if design.width >= TRIAL_WIDTH:
        quick = {**options, "target_gap": max(NEAR_TOL[1] * tol, FINEST_GAP), "patience": design.width // 2}
        found = coordinate_descent(design, band, power=1, seed=seed, **quick)
        if found.status is Status.CONVERGED:
            return found
    if design.n_rows >= ELASTIC_ROWS * design.width:
        target = max(ELASTIC_SHARE * tol, FINEST_GAP)
        found = elastic_newton(design, band, **{**options, "target_gap": target})
        if _is_settled(found, tol):
            return found
    return interior_point(design, band, **options)


def _by_rows(design, band, power, tol, options):
    """Many columns: coordinate descent on the dual, and a second method where it is slow or rounding stops it."""
    max_iter, has_few_rows = options["max_iter"], design.n_rows <= GRAM_ROWS
    if design.n_rows <= (GRAM_SPARSE_ROWS if design.is_sparse else GRAM_ROWS):
        found = gram_descent(design, band, power=power, **options)
        if _is_settled(found, tol) or design.width <= DIRECT_WIDTH:
            return found
    quick = {**options, "target_gap": max(NEAR_TOL[power] * tol, FINEST_GAP)}
    if has_few_rows or power == 2:
        affordable = design.n_rows**3 / (GRAM_PASSES * max(design.n_stored, 1)) if has_few_rows else 0
        quick["max_iter"] = min(max(FIRST_PASSES, int(affordable)), max_iter)
    found = coordinate_descent(design, band, power=power, **quick)
    if found.status is Status.CONVERGED or quick["max_iter"] == max_iter:
        return found
    if has_few_rows and design.is_sparse:
        found = _better(found, gram_descent(design, band, power=power, **options))
    if power == 2 and not _is_settled(found, tol):
        start = found.weights if np.isfinite(found.weights).all() else np.zeros(design.width)
        newton = {"target_gap": options["target_gap"], "max_iter": max_iter, "start": start}
        found = _better(found, newton_cg(design, band, **newton))
    if power == 2 or _is_settled(found, tol):
        return found
    return _better(found, coordinate_descent(design, band, power=power, **{**quick, "max_iter": max_iter}))


def _with_l1(design, band, target_gap, max_iter):
    """The l1 penalty: a method that follows signs and rows, then an interior point if it took too many steps."""
    columns = None
    if not design.is_sparse and design.n_rows >= TALL * design.width:
        found = l1_newton(design, band, target_gap=target_gap, max_iter=min(FIRST_PASSES, max_iter))
    else:
        columns = Columns(design)
        found = l1_descent(design, band, columns=columns, target_gap=target_gap, **_first_passes(design, max_iter))
    used, start = found.n_iter, found.weights
    if found.status is Status.CONVERGED or used >= max_iter or not np.isfinite(found.gap):
        return found
    columns = columns or Columns(design)
    if min(design.n_rows, design.width) <= DIRECT_WIDTH:
        guess = l1_interior(columns, band, target_gap=target_gap, max_iter=min(MAX_STEPS, max_iter - used))
        if guess is not None:
            start, used = guess[0], used + guess[1]
    rest = {"target_gap": target_gap, "max_iter": max_iter - used}
    last = l1_descent(design, band, columns=columns, start=start, **rest)
    return _better(found, last)._replace(n_iter=used + last.n_iter)


def _first_passes(design, max_iter):
    """How long passes over columns are tried before an interior point takes over.

    Its systems are dense: where sparse columns have come near the optimum, passes may cost as much as all its steps.
    """
    if not design.is_sparse:
        return {"max_iter": min(FIRST_DENSE_PASSES, max_iter)}
    as_costly = min(design.n_rows, design.width) ** 3 // (INTERIOR_PASSES * max(design.n_stored, 1))
    most = max(FIRST_SPARSE_PASSES, min(as_costly, max_iter - LATER_PASSES))
    return {"max_iter": min(most, max_iter), "trial": FIRST_SPARSE_PASSES}


def _is_settled(found, tol):
    """Whether a fit is good enough or has used up its iterations; else rounding stopped it: try another method."""
    return found is not None and (
        found.status is Status.MAX_ITER or found.gap <= max(tol, 100 * FINEST_GAP) * found.primal
    )


def _better(found, other):
    """The one of two outcomes with the smaller gap."""
    return other if found is None or not found.gap <= other.gap else found


def fit_joint(X, labels, cost, n_classes, *, scale=0.0, tol=1e-4, max_iter=1000, seed=0):
    """Crammer and Singer's joint problem on checked arrays; the weights have shape (classes, columns)."""
    kept = np.flatnonzero(cost)
    if kept.size < cost.size:
        X, labels, cost = X[kept], labels[kept], cost[kept]
    design = Design(X, scale)
    with single_threaded_blas(), np.errstate(all="ignore"):
        found = None
        if design.width * n_classes <= DIRECT_WIDTH and _is_narrow(design):
            target = max(SHARE_OF_TOL * tol, FINEST_GAP)
            found = joint_interior_point(design, labels, cost, n_classes, target_gap=target, max_iter=max_iter)
        if _is_settled(found, tol):
            return found
        options = {"target_gap": max(0.1 * tol, FINEST_GAP), "max_iter": max_iter, "seed": seed}
        return _better(found, joint_coordinate_descent(design, labels, cost, n_classes, **options))


def _is_narrow(design, band=None):
    """Whether a dense system with one unknown per column is the cheapest way.

    With bands of two finite ends most rows end strictly between their bounds, where rows beyond the number of columns
    make the dual's systems singular; with one end, most multipliers are zero.
    """
    has_two_ends = band is not None and np.isfinite(band[0][0]) and np.isfinite(band[1][0])
    if design.width > DIRECT_WIDTH or design.n_rows < design.width * (1.0 if has_two_ends else 1.5):
        return False
    return not design.is_sparse or design.n_rows * design.width**2 <= SPARSE_FILL * design.n_stored
