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
from hyperplan._solvers import _sgd_sparse_kernels as sk

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
MOST_BLOCK_ROWS = 64  # of sparse rows
LANES = 16
GAP_ROWS = 1 << 15  # rows per task of the certificate's pass
GAP_VALUES = 1 << 17  # entries of dense rows looked at together there: they stay in cache between two products
SMALLEST_ADAPTIVE_ETA = 1e-6
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
        index = np.uint64 if max(X.nnz, 3 * X.shape[1]) >= 2**31 else np.uint32
        parts = X.data, _unsigned(X.indices, index), _unsigned(X.indptr, index)
        return CompressedMatrix(*map(read_only, parts), *X.shape)
    none = read_only(np.empty(0, dtype=np.uint32))
    return CompressedMatrix(read_only(np.ascontiguousarray(X).reshape(-1)), none, none, *X.shape)


def read_only(array):
    """A view that cannot be written: kernels are compiled for it alone, not a second time for writable arrays."""
    view = array.view()
    view.flags.writeable = False
    return view


def _unsigned(index, dtype):
    return index.view(dtype) if index.itemsize == np.dtype(dtype).itemsize else index.astype(dtype)


def is_dense(X) -> bool:
    """Whether the record is of a dense table."""
    return X.indptr.shape[0] == 0


def row_numbers(rows) -> np.ndarray:
    """Row numbers in the type the kernels index with."""
    return np.ascontiguousarray(rows, dtype=np.uint64 if len(rows) >= 2**31 else np.uint32)


def matrix(X, rows=None):
    """The record as NumPy or SciPy matrix: all rows, a slice of them, or those listed in an array."""
    rows = None if isinstance(rows, slice) and rows == slice(0, X.n_rows) else rows
    if is_dense(X):
        table = X.data.reshape(X.n_rows, X.n_cols)
        return table if rows is None else table[rows]
    signed = np.int32 if X.indices.itemsize == 4 else np.int64
    table = sp.csr_array((X.data, X.indices.view(signed), X.indptr.view(signed)), shape=(X.n_rows, X.n_cols))
    return table if rows is None else table[rows]


class _DenseDescent:
    """The vectors of a descent on dense rows, padded to full vector registers, and its epochs."""

    def __init__(self, X, rule, start):
        n, length = X.n_cols, -(-X.n_cols // LANES) * LANES if X.n_cols > LANES else X.n_cols
        coef, average, received = np.zeros(length), np.zeros(length), np.zeros(length)
        coef[:n] = start.coef
        average[:n] = start.average_coef if rule.average else 0.0
        self.coef, self.average = coef[:n], average[:n]
        n_rows = max(BLOCK_VALUES // length, 1)
        block = np.zeros(n_rows * length), np.zeros(n_rows), np.zeros(n_rows)
        self._moving = block, coef, average if rule.average else average[:0], received

    def epoch(self, X, y, weight, order, rule, seed, state):
        block, *vectors = self._moving
        k.dense_epoch(X, y, weight, order, rule, seed, block, state, *vectors)


class _SparseDescent:
    """The table of a descent on sparse rows and its epochs."""

    def __init__(self, X, rule, start):
        self._table = np.zeros((X.n_cols, 1 + (rule.l1 > 0) + (rule.average > 0)))
        self._width = X.indices.dtype.type(self._table.shape[1])
        room = max(BLOCK_VALUES, int(np.diff(X.indptr.view(f"i{X.indptr.itemsize}")).max(initial=0)))
        vectors = np.zeros(MOST_BLOCK_ROWS + 1, dtype=np.uint64), np.zeros(MOST_BLOCK_ROWS), np.zeros(MOST_BLOCK_ROWS)
        self._block = np.zeros(room), np.zeros(room, dtype=X.indices.dtype), *vectors
        self._table[:, 0] = start.coef
        self.coef, self.average = self._table[:, 0], np.zeros(0)
        if rule.average:
            self.average = self._table[:, -1]
            self.average[:] = start.average_coef

    def epoch(self, X, y, weight, order, rule, seed, state):
        table = self._table.reshape(-1)
        sk.sparse_epoch(X, y, weight, order, rule, seed, self._width, self._block, state, table)


def sgd(X, y, weight, rule, start, *, n_epochs, seed, rows, holdout=None, report=None) -> SgdRun:
    """Descend from `start`; `X` from `as_rows`, `weight` an array or None, `rows`/`holdout` from `row_numbers`.

    `report(epoch, state, coef)` is called after every epoch when given.
    """
    y, weight = read_only(y), read_only(NOTHING if weight is None else weight)
    state, order, random = new_state(rule, start), rows.copy(), kernel_state(seed)
    held_out = None if holdout is None or holdout.shape[0] == 0 else _holdout(X, y, weight, holdout)
    descent = (_DenseDescent if is_dense(X) else _SparseDescent)(X, rule, start)
    done, status = 0, Status.MAX_ITER
    while done < n_epochs and status == Status.MAX_ITER:
        # norms anew in each epoch, as increments would drift (not by BLAS, whose threads would change the sums)
        state[[k.SQUARE, k.ABSOLUTE]] = np.square(descent.coef).sum(), np.abs(descent.coef).sum()
        updates = state[k.UPDATES]
        state[[k.LOSS, k.OBJECTIVE]] = 0.0
        descent.epoch(X, y, weight, order, rule, random, state)
        state[[k.LOSS, k.OBJECTIVE]] /= order.shape[0]
        done += 1
        if not (np.isfinite(state[[k.INTERCEPT, k.LOSS, k.OBJECTIVE]]).all() and np.isfinite(descent.coef).all()):
            status = Status.DIVERGED
        else:
            score = -state[k.OBJECTIVE] if rule.schedule < k.PA1 else -state[k.LOSS]
            if held_out is not None:
                score = state[k.SCORE] = holdout_score(held_out, rule, state, descent.coef)
            if not improved(score, rule, state) or (rule.stop_clean and state[k.UPDATES] == updates):
                status = Status.CONVERGED
        if report:
            report(done, state, descent.coef)
    coef, average = descent.coef, descent.average
    average = (average + state[k.AVERAGE_A] * coef) / state[k.AVERAGE_B] if rule.average else average
    point = SgdPoint(
        state[k.SCALE] * coef, state[k.INTERCEPT], average, state[k.AVERAGE_INTERCEPT], state[k.CLOCK]
    )  # fmt: skip
    return finished_run(point, done, state, Status(status))


def new_state(rule, start) -> np.ndarray:
    """The kernels' numbers at the start of a descent."""
    state = np.zeros(k.STATE_SIZE)
    state[[k.INTERCEPT, k.SCALE, k.AVERAGE_B, k.ETA, k.CLOCK]] = start.intercept, 1.0, 1.0, rule.eta0, start.clock
    state[k.AVERAGE_INTERCEPT], state[k.BEST] = start.average_intercept, -np.inf
    return state


def _holdout(X, y, weight, rows):
    return matrix(X, rows).astype(np.float64), y[rows], weight[rows] if weight.shape[0] else np.ones(rows.shape[0])


def holdout_score(held_out, rule, state, coef) -> float:
    """Accuracy (classification) or R^2 (regression) on the held-out rows."""
    X, y, weight = held_out
    p = state[k.SCALE] * (X @ coef) + state[k.INTERCEPT]
    if rule.classify:
        return weight[(p > 0.0) == (y > 0.0)].sum() / weight.sum()
    residual = weight @ (y - p) ** 2
    spread = weight @ (y - weight @ y / weight.sum()) ** 2
    return 1.0 - residual / spread if spread > 0.0 else float(residual == 0.0)


def improved(score, rule, state) -> bool:
    """Compare `score` (larger is better) with the best so far; False when it stopped improving for too long."""
    gain = score - state[k.BEST]
    if rule.tol > -np.inf and gain < rule.tol:
        state[k.STALE] += 1.0
        state[k.STALE_GAIN] = max(state[k.STALE_GAIN], gain)
    else:
        state[k.STALE], state[k.STALE_GAIN], state[k.GAIN] = 0.0, 0.0, gain
    state[k.BEST] = max(state[k.BEST], score)
    if state[k.STALE] < rule.patience:
        return True
    if rule.schedule == k.ADAPTIVE and state[k.ETA] > SMALLEST_ADAPTIVE_ETA:
        state[k.ETA] /= 5.0
        state[k.STALE] = 0.0
        return True
    return False


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

    def block(span):
        return _gap_sums(X, y, weight, rule, coef, intercept, span if rows.shape[0] == X.n_rows else rows[span])

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


def _gap_sums(X, y, weight, rule, coef, intercept, rows):
    """What the gap needs from some rows (a slice or an array).

    With s_i the slope of the loss at the score p_i, Fenchel's equality gives minus the conjugate at s_i as
    ``loss_i - s_i p_i``.  Rows with s > 0 and with s < 0 are kept apart: the first result holds the loss, then for
    both signs the conjugate part and the sum of abs(s); the others the sums of s_i x_i.
    """
    sums, up, down = np.zeros(5), np.zeros(X.n_cols), np.zeros(X.n_cols)
    if not is_dense(X):
        weight = read_only(NOTHING if weight is None else weight)
        numbers = row_numbers(np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows)
        sk.sparse_gap_sums(
            X, read_only(y), weight, numbers, rule, np.ascontiguousarray(coef), float(intercept), sums, up, down
        )
        return sums, up, down
    table, y = matrix(X, rows), y[rows]
    n, size = table.shape[0], max(GAP_VALUES // max(X.n_cols, 1), 1)
    factor = np.where(y > 0.0, rule.positive_weight, rule.negative_weight)
    factor = factor if weight is None else factor * weight[rows]
    loss, slope = np.empty(n), np.empty(n)
    for part in spans(n, size):
        x = table if part == slice(0, n) else table[part]
        x = x.astype(np.float64, copy=False)
        p = x @ coef + intercept
        k.losses_and_slopes(rule.loss, read_only(y[part]), p, rule.epsilon, loss[part], slope[part])
        positive, s = slope[part] > 0.0, factor[part] * slope[part]
        gain = factor[part] * loss[part] - s * p
        rising, falling = np.where(positive, s, 0.0), np.where(positive, 0.0, s)
        sums[0] += factor[part] @ loss[part]
        sums[1:3] += gain[positive].sum(), gain[slope[part] < 0.0].sum()
        sums[3:] += rising.sum(), -falling.sum()
        up += x.T @ rising
        down += x.T @ falling
    return sums, up, down


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
