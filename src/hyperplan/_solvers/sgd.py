"""Stochastic gradient descent for linear models, on checked arrays.

    minimise   F(w, b) = 1/n sum_i s_i loss(y_i, <w, x_i> + b)  +  l1 |w|_1  +  l2/2 |w|^2

with row weights s_i (not normalised: they multiply the steps).  One step per row, in a fresh uniformly random order
each epoch.  Stops when the objective averaged over an epoch (or the held-out score) has not improved on its best by
`tol` for `patience` epochs: a rule on progress, since the loss itself need not come near zero.

The steps converge to the minimum almost surely when sum eta_t = inf and sum eta_t^2 < inf (Robbins, Monro 1951);
`duality_gap` measures where the last point is.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._core.arrays import CompressedMatrix
from hyperplan._core.certificate import Certificate
from hyperplan._core.parallel import spans, thread_map
from hyperplan._core.rng import kernel_state
from hyperplan._core.status import Status
from hyperplan._solvers import _sgd_kernels as k

LOSSES = {
    "hinge": k.HINGE,
    "log_loss": k.LOG,
    "modified_huber": k.MODIFIED_HUBER,
    "squared_hinge": k.SQUARED_HINGE,
    "perceptron": k.PERCEPTRON,
    "squared_error": k.SQUARED,
    "huber": k.HUBER,
    "epsilon_insensitive": k.INSENSITIVE,
    "squared_epsilon_insensitive": k.SQUARED_INSENSITIVE,
}
SCHEDULES = {
    "constant": k.CONSTANT,
    "optimal": k.OPTIMAL,
    "invscaling": k.INVSCALING,
    "adaptive": k.ADAPTIVE,
    "pa1": k.PA1,
    "pa2": k.PA2,
}
SPARSE_INTERCEPT_STEP = 0.01  # sparse columns are mostly zero, so that their weights move rarely: slow the intercept
BLOCK_VALUES = 2048  # entries of X copied together before their steps are taken: half of a first-level cache
MOST_BLOCK_ROWS = 64
LANES = 16
GAP_ROWS = 1 << 15  # rows per task of the certificate's pass
NOTHING = np.empty(0)


class SgdRule(NamedTuple):
    """Every number that shapes the steps, as plain scalars for the kernels."""

    loss: int
    epsilon: float
    l1: float
    l2: float
    nu: float  # linear term of the one-class objective, else 0
    schedule: int
    alpha: float
    t0: float
    eta0: float
    power_t: float
    intercept_step: float
    positive_weight: float
    negative_weight: float
    average: int
    shuffle: bool
    classify: bool
    stop_clean: bool
    tol: float
    patience: int


class Block(NamedTuple):
    """Some rows, copied next to each other: row r is ``values[start[r]:start[r + 1]]`` (`columns` empty if dense)."""

    values: np.ndarray
    columns: np.ndarray
    start: np.ndarray
    target: np.ndarray
    factor: np.ndarray


class Vectors(NamedTuple):
    """The arrays a descent moves."""

    coef: np.ndarray
    average: np.ndarray
    received: np.ndarray


class SgdPoint(NamedTuple):
    """Where the descent starts or ends; the averages are those of the steps since averaging began."""

    coef: np.ndarray
    intercept: float
    average_coef: np.ndarray
    average_intercept: float
    clock: float


class SgdRun(NamedTuple):
    """A finished descent."""

    point: SgdPoint
    n_iter: int
    n_updates: int
    loss: float
    objective: float
    progress: float  # largest improvement in one epoch since the last one that counted
    status: Status


def sgd_rule(
    *,
    loss,
    penalty,
    alpha,
    l1_ratio=0.0,
    schedule="optimal",
    eta0=0.01,
    power_t=0.5,
    epsilon=0.1,
    nu=0.0,
    fit_intercept=True,
    sparse=False,
    positive_weight=1.0,
    negative_weight=1.0,
    average=0,
    shuffle=True,
    classify=True,
    stop_clean=False,
    tol=1e-3,
    patience=5,
) -> SgdRule:
    """The rule in the words of the estimators; the optimal schedule starts at Bottou's step ``alpha^(-1/4)``."""
    share = {None: None, "l2": 0.0, "l1": 1.0, "elasticnet": l1_ratio}[penalty]
    l1, l2 = (0.0, 0.0) if share is None else (alpha * share, alpha * (1.0 - share))
    first_step = (1.0 / alpha**0.5) ** 0.5 if alpha > 0 else 1.0
    return SgdRule(
        loss=LOSSES[loss],
        epsilon=float(epsilon),
        l1=float(l1),
        l2=float(l2),
        nu=float(nu),
        schedule=SCHEDULES[schedule],
        alpha=float(alpha),
        t0=1.0 / (first_step * alpha) if alpha > 0 else 1.0,
        eta0=float(eta0),
        power_t=float(power_t),
        intercept_step=(SPARSE_INTERCEPT_STEP if sparse else 1.0) if fit_intercept else 0.0,
        positive_weight=float(positive_weight),
        negative_weight=float(negative_weight),
        average=int(average),
        shuffle=bool(shuffle),
        classify=bool(classify),
        stop_clean=bool(stop_clean),
        tol=-np.inf if tol is None else float(tol),
        patience=int(patience),
    )


def as_rows(X) -> CompressedMatrix:
    """View of a C-ordered array or a CSR matrix for the kernels, which take both in one record."""
    if sp.issparse(X):
        index = np.uint64 if max(X.nnz, X.shape[1]) >= 2**31 else np.uint32
        return CompressedMatrix(X.data, _unsigned(X.indices, index), _unsigned(X.indptr, index), *X.shape)
    none = np.empty(0, dtype=np.uint32)
    return CompressedMatrix(np.ascontiguousarray(X).reshape(-1), none, none, *X.shape)


def _unsigned(index, dtype):
    return index.view(dtype) if index.itemsize == np.dtype(dtype).itemsize else index.astype(dtype)


def padded(n_cols, X) -> int:
    """Length of the vectors of a descent: full vector registers for dense rows, so that loops have no remainder."""
    return -(-n_cols // LANES) * LANES if X.indptr.shape[0] == 0 and n_cols > LANES else n_cols


def new_block(X) -> Block:
    """An empty block for rows of `X`: what fits in the first-level cache, at least one row."""
    dense = X.indptr.shape[0] == 0
    longest = padded(X.n_cols, X) if dense else int(np.diff(X.indptr.astype(np.int64)).max(initial=0))
    room = max(BLOCK_VALUES, longest)
    n_rows = min(max(1, room // max(longest, 1)), MOST_BLOCK_ROWS) if dense else MOST_BLOCK_ROWS
    columns = np.empty(0 if dense else room, dtype=X.indices.dtype)
    start = np.arange(n_rows + 1, dtype=np.uint64) * np.uint64(longest if dense else 0)
    return Block(np.zeros(room), columns, start, *np.zeros((2, n_rows)))


def row_numbers(rows) -> np.ndarray:
    """Row numbers in the type the kernels index with."""
    return np.ascontiguousarray(rows, dtype=np.uint64 if len(rows) >= 2**31 else np.uint32)


def sgd(X, y, weight, rule, start, *, n_epochs, seed, rows, holdout=None, report=None) -> SgdRun:
    """Descend from `start`; `X` from `as_rows`, `weight` an array or None, `rows`/`holdout` from `row_numbers`.

    `report(epoch, state, coef)` is called after every epoch when given (then epochs run one kernel call each).
    """
    weight = NOTHING if weight is None else weight
    holdout = rows[:0] if holdout is None else holdout
    n_cols, length = X.n_cols, padded(X.n_cols, X)
    coef, average = np.zeros(length), np.zeros(length if rule.average else 0)
    coef[:n_cols] = start.coef
    average[:n_cols] = start.average_coef if rule.average else 0.0
    moving = Vectors(coef, average, np.zeros(coef.shape[0] if rule.l1 > 0 else 0))
    state = np.zeros(k.STATE_SIZE)
    state[[k.INTERCEPT, k.SCALE, k.AVERAGE_B, k.ETA, k.CLOCK]] = start.intercept, 1.0, 1.0, rule.eta0, start.clock
    state[k.AVERAGE_INTERCEPT], state[k.BEST] = start.average_intercept, -np.inf
    order, block, random = rows.copy(), new_block(X), kernel_state(seed)
    done, status = 0, Status.MAX_ITER
    while done < n_epochs and status == Status.MAX_ITER:
        todo = 1 if report else n_epochs
        ran, status = k.sgd_run(X, y, weight, order, holdout, rule, todo, block, random, state, moving)
        done += ran
        if report:
            report(done, state, coef[:n_cols])
    k.fold_scale(state[k.SCALE], state[k.AVERAGE_A], state[k.AVERAGE_B], coef, average)
    point = SgdPoint(coef[:n_cols], state[k.INTERCEPT], average[:n_cols], state[k.AVERAGE_INTERCEPT], state[k.CLOCK])
    return finished_run(point, done, state, Status(status))


def finished_run(point, n_iter, state, status) -> SgdRun:
    """The record of a descent from the kernels' state."""
    progress = state[k.STALE_GAIN] if status == Status.CONVERGED else max(state[k.GAIN], state[k.STALE_GAIN])
    return SgdRun(point, n_iter, int(state[k.UPDATES]), state[k.LOSS], state[k.OBJECTIVE], float(progress), status)


class Gap(NamedTuple):
    """Objective, a lower bound on its minimum (nan when the problem has no usable dual), norm of a subgradient."""

    primal: float
    dual: float
    residual: float


def duality_gap(X, y, weight, rule, coef, intercept, rows, n_jobs=None) -> Gap:
    """Bound how far ``F(coef, intercept)`` is above the minimum, in one pass over the rows.

    The slopes of the losses are a dual point once they sum to zero (because of the free intercept) and, for a pure
    l1 penalty, once the gradient is at most l1 everywhere.  Both are reached by shrinking slopes; the conjugates
    are convex and zero at zero, so shrinking by r keeps at least the share r of the dual value.
    """
    weight = NOTHING if weight is None else weight
    n_cols, length = X.n_cols, padded(X.n_cols, X)
    weights = np.zeros(length)
    weights[:n_cols] = coef
    coef = weights[:n_cols]

    def block(span):
        sums, up, down = np.zeros(5), np.zeros(length), np.zeros(length)
        k.gap_sums(X, y, weight, rows[span], rule, new_block(X), float(intercept), weights, sums, up, down)
        return sums, up[:n_cols], down[:n_cols]

    parts = thread_map(block, spans(rows.shape[0], max(GAP_ROWS, X.n_cols)), n_jobs)
    (loss, gain_up, gain_down, up, down), v_up, v_down = (
        sum(column) / rows.shape[0] for column in zip(*parts, strict=True)
    )
    primal = loss + rule.l1 * np.abs(coef).sum() + 0.5 * rule.l2 * (coef @ coef) + rule.nu * intercept
    residual = _residual(v_up + v_down, up - down + rule.nu, rule, coef)
    if rule.intercept_step > 0.0:
        # the intercept's condition: sum of slopes + nu = 0
        target = min(up, down - rule.nu)
        if target < 0.0:
            return Gap(primal, np.nan, residual)
        share_up = target / up if up > 0 else 0.0
        share_down = (target + rule.nu) / down if down > 0 else 0.0
    else:
        share_up = share_down = 1.0
    dual = _dual_value(share_up * gain_up + share_down * gain_down, share_up * v_up + share_down * v_down, rule)
    if rule.nu == 0.0:
        dual = max(dual, 0.0)  # losses and penalties are never negative: a free lower bound
    return Gap(float(primal), float(dual), float(residual))


def _dual_value(gain, v, rule):
    """The dual value at the slopes, all shrunk by the share that makes it largest (of a few tried)."""
    if rule.l2 > 0.0:
        length = v @ v
        best = min(1.0, gain * rule.l2 / length) if length > 0.0 and gain > 0.0 else 1.0  # exact when l1 = 0
        shares = [best, *(np.geomspace(1.0, 1e-3, 13) if rule.l1 > 0.0 else [])]
        excess = [np.maximum(share * np.abs(v) - rule.l1, 0.0) for share in shares]
        return max(share * gain - e @ e / (2.0 * rule.l2) for share, e in zip(shares, excess, strict=True))
    steepest = np.abs(v).max(initial=0.0)
    return gain * (min(1.0, rule.l1 / steepest) if steepest > 0.0 else 1.0)


def _residual(gradient, slope_sum, rule, coef):
    """Norm of the shortest subgradient of the penalty added to the losses' one."""
    g = gradient + rule.l2 * coef
    g = np.where(coef != 0, g + rule.l1 * np.sign(coef), np.sign(g) * np.maximum(np.abs(g) - rule.l1, 0.0))
    return np.sqrt(g @ g + (slope_sum**2 if rule.intercept_step > 0.0 else 0.0))


def sgd_certificate(gaps, runs, tol, patience, convex=True) -> Certificate:
    """One certificate for the descents of all classes.

    What the descent promises is its stopping rule, so that is what is certified: progress per epoch against `tol`.
    How far the objective may be above its minimum (the duality gap, measured but not asked for) stands beside it;
    without a stopping rule (``tol=None``) the gap itself is certified against 1e-3.
    """
    excess = [max(gap.primal - gap.dual, 0.0) if convex else np.nan for gap in gaps]
    details = {
        "objective": [gap.primal for gap in gaps] if len(gaps) > 1 else gaps[0].primal,
        "lower bound": [gap.dual for gap in gaps] if len(gaps) > 1 else gaps[0].dual,
        "duality gap": float(np.max(excess)),
        "subgradient norm": max(gap.residual for gap in gaps),
    }
    reference = "Boyd, Vandenberghe (2004), Convex Optimization, section 5.5; Robbins, Monro (1951)"
    if convex:
        distance = f"the objective is at most {details['duality gap']:.3g} above its minimum"
    else:
        distance = "negative weights make the objective non-convex: nothing is known about its minimum"
    if tol is None:
        return Certificate("duality gap", distance, details["duality gap"], 1e-3, reference=reference, details=details)
    return Certificate(
        "stopping rule",
        f"no epoch of the last {patience} improved the objective (or the held-out score) by tol; this rule does not "
        f"look at the minimum: {distance}",
        value=max(run.progress for run in runs),
        bound=float(tol),
        reference=reference,
        details=details,
    )


def batch_certificate() -> Certificate:
    """After `partial_fit`: steps on one batch say nothing about the data as a whole."""
    return Certificate(
        "none",
        "partial_fit takes stochastic steps on one batch; no statement about the whole data can be checked",
        value=np.nan,
        bound=np.nan,
    )
