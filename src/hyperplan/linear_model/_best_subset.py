"""Best subset regression: least squares with a budget or a price on the number of features.

    minimise over w, b   1/(2S) sum_i s_i (y_i - b - x_i'w)^2 + alpha |w|_0     subject to   |w|_0 <= k

with weights s_i, S = sum_i s_i and |w|_0 the number of non-zero coefficients.  The problem is NP-hard; the lasso is its
convex relaxation: on the box max |w_j| <= M the largest convex function below |w|_0 is |w|_1 / M.  With orthonormal
columns the former keeps a coefficient when it is large enough (hard threshold), the latter also shrinks it (soft).

The columns are reduced to one triangular factor; forward selection with swaps gives a good subset, and branch and bound
(leaps and bounds) either proves it optimal, finds a better one, or stops at `max_nodes` with a lower bound on what is
left.  Furnival, Wilson (1974), Technometrics 16(4), 499-511.
"""

import warnings
from numbers import Integral
from typing import NamedTuple

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Certificate,
    Choice,
    ConvergenceWarning,
    Int,
    LinearRegressorMixin,
    Null,
    OneOf,
    Real,
    Status,
    check_params,
    check_training,
)
from hyperplan._core.memory import require_memory
from hyperplan._core.parallel import single_threaded_blas, spans, thread_map
from hyperplan.linear_model._best_subset_kernels import lowest_open_bound, open_node, search_subsets

CHUNK_ROWS = 4096
JITTER = 1e-9  # a ridge of JITTER^2 on unit columns makes every factor regular; it moves an RSS by about 1e-18
SLACK = 1e-12  # share of the total sum of squares below which two subsets count as equal
TIE = 1e-6  # relative difference of two gains below which the first column wins (small norms carry few digits)
BURST = 1000  # nodes per kernel call, so that Ctrl-C is heard
SEARCH_WORK = 2e10  # operations of a search by default: a node with d columns takes about d^3
LARGEST_TREE = 128  # columns beyond which the search tree would not fit caches, nor a lifetime


class Reduced(NamedTuple):
    """The problem after centring, scaling and rotation: unit columns, unit target."""

    A: np.ndarray  # (m, d) rotated columns of unit norm (constant ones are zero), m <= d + 1
    z: np.ndarray  # (m,) rotated target of unit norm
    x_mean: np.ndarray
    y_mean: float
    scale: np.ndarray  # norms of the centred columns; 0 marks a constant column
    y_scale: float
    total_weight: float


class Solution(NamedTuple):
    """Coefficients, the columns they belong to, and what is proven about them."""

    coef: np.ndarray
    intercept: float
    support: np.ndarray
    objective: float
    lower_bound: float
    n_nodes: int
    status: Status
    certificate: Certificate


def reduce_problem(X, y, weight, fit_intercept) -> Reduced:
    """Weighted centring and a QR factorisation over blocks of rows: one pass for sums, one for the factor."""
    n, d = X.shape
    weight = np.ones(n) if weight is None else weight
    total = float(weight.sum())
    blocks = spans(n, max(CHUNK_ROWS, 2 * d))
    largest, y_largest = _largest(X), float(np.abs(y).max())
    x_unit, y_unit = np.where(largest > 0, largest, 1.0), y_largest or 1.0  # keeps squares of huge values finite
    x_mean, y_mean = np.zeros(d), 0.0

    def scaled(rows):
        return (X[rows].toarray() if sp.issparse(X) else X[rows]) / x_unit

    if fit_intercept:
        x_mean = sum(thread_map(lambda rows: weight[rows] @ scaled(rows), blocks)) / total
        y_mean = float(weight @ (y / y_unit)) / total

    def triangle(rows):
        root = np.sqrt(weight[rows])[:, None]
        stacked = np.empty((root.shape[0], d + 1))
        stacked[:, :d] = (scaled(rows) - x_mean) * root
        stacked[:, d] = (y[rows] / y_unit - y_mean) * root[:, 0]
        return la.qr(stacked, mode="r", check_finite=False, overwrite_a=True)[0][: d + 1]

    parts = thread_map(triangle, blocks)
    R = parts[0] if len(parts) == 1 else la.qr(np.vstack(parts), mode="r", check_finite=False)[0][: d + 1]
    norms = np.sqrt(np.einsum("ij,ij->j", R, R))
    floor = 16 * np.finfo(np.float64).eps * np.sqrt(total) * np.append(np.abs(x_mean), abs(y_mean))
    norms[norms <= floor] = 0.0
    R = R / np.where(norms > 0.0, norms, 1.0) * (norms > 0.0)
    return Reduced(
        R[:, :d], R[:, d], x_mean * x_unit, y_mean * y_unit, norms[:d] * x_unit, float(norms[d] * y_unit), total
    )


def _largest(X):
    if sp.issparse(X):
        return np.ravel(abs(X).max(axis=0).toarray()).astype(np.float64)
    return np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)


def forward_selection(gram, moments, price, largest):
    """Columns added one at a time, each the one that lowers the residual sum of squares most, while that pays."""
    norm, rest = np.diag(gram).copy(), moments.copy()
    rows = np.empty((largest, gram.shape[0]))  # the chosen rows of the partial Cholesky factor
    chosen: list[int] = []
    while len(chosen) < largest:
        gains = np.where(norm > 1e-9, rest**2 / np.maximum(norm, 1e-9), -1.0)
        j = int(np.argmax(gains >= (1.0 - TIE) * gains.max()))  # of equals the first, whatever the rounding
        if gains[j] <= price + SLACK:
            break
        t = len(chosen)
        rows[t] = (gram[j] - rows[:t, j] @ rows[:t]) / np.sqrt(norm[j])
        rest = rest - rows[t] * (rest[j] / np.sqrt(norm[j]))
        norm = norm - rows[t] ** 2
        norm[j] = 0.0
        chosen.append(j)
    return chosen


def swap_columns(A, z, gram, moments, chosen, price):
    """Exchange or drop columns while that lowers the criterion, at most ten times as often as there are columns.

    With H the inverse Gram matrix of the chosen columns and w their coefficients, dropping i costs w_i^2 / H_ii, and
    after the drop column j has squared norm n_j + B_ji^2 / H_ii and moment r_j + B_ji w_i / H_ii.  A move counts only
    if a fresh factorisation confirms it: the formulas lose digits when columns are nearly collinear.
    """
    S = np.sort(np.array(chosen, dtype=np.intp))
    criterion = residual_share(A, z, S) + (price * S.size if S.size else 0.0)
    for _ in range(10 * A.shape[1]):
        J = np.setdiff1d(np.arange(A.shape[1]), S)
        if not S.size or not J.size or criterion <= SLACK:
            break
        H, cross = np.linalg.inv(gram[np.ix_(S, S)]), gram[np.ix_(J, S)]
        w, B = H @ moments[S], cross @ H
        norm = np.maximum(np.diag(gram)[J] - np.einsum("js,js->j", B, cross), 0.0)
        lift, drops = B / np.diag(H), w**2 / np.diag(H)
        norms = norm[:, None] + B * lift
        gains = (moments[J] - cross @ w)[:, None] + lift * w
        changes = drops - np.where(norms > 1e-9, gains**2 / np.maximum(norms, 1e-9), 0.0)
        j, i = np.unravel_index(int(np.argmin(changes)), changes.shape)
        least = int(np.argmin(drops))
        if drops[least] - price < changes[j, i]:
            proposal = np.delete(S, least)
        else:
            proposal = np.sort(np.append(np.delete(S, i), J[j]))
        value = residual_share(A, z, proposal) + price * proposal.size
        if value >= criterion - SLACK:
            break
        S, criterion = proposal, value
    return S


def residual_share(A, z, columns):
    """Residual sum of squares of the regression on some columns (with the jitter), as a share of the total."""
    k = len(columns)
    padded = np.vstack([A[:, columns], JITTER * np.eye(k)])
    target = np.append(z, np.zeros(k))
    Q = np.linalg.qr(padded)[0]
    left = target - Q @ (Q.T @ target)
    return float(left @ left)


def search(A, z, columns, price, largest, max_nodes):
    """Branch and bound from a first subset: (columns, lower bound, nodes, exhausted)."""
    d = A.shape[1]
    levels = max(d, 1)
    factor = np.zeros((levels, d + 1, d + 1))
    padded = np.vstack([np.column_stack([A, z]), np.eye(d, d + 1) * JITTER])
    R = la.qr(padded, mode="r", check_finite=False)[0][: d + 1]
    factor[0, :d] = R[:d]
    shape, rss, costs = np.zeros((levels, 3), dtype=np.intp), np.zeros(levels), np.zeros((levels, d + 1))
    shape[0, 1], rss[0] = d, R[d, d] ** 2
    order, work = np.tile(np.arange(d), (levels, 1)), np.zeros((d + 1, d + 1))
    best = np.array([residual_share(A, z, columns) + price * len(columns)])
    counts = np.array([len(columns), 0, 0])
    best_columns = np.zeros(d, dtype=np.intp)
    best_columns[: len(columns)] = columns
    limits = np.array([price, largest, SLACK])
    state = (work, best, counts, best_columns)
    open_node(factor[0], shape[0], rss[0], order[0], costs[0], limits, *state)
    max_nodes = max(1000, int(SEARCH_WORK / d**3)) if max_nodes is None else max_nodes
    exhausted = False
    while not exhausted and counts[1] < max_nodes:
        budget = int(min(BURST, max_nodes - counts[1]))
        exhausted = search_subsets(factor, shape, rss, order, costs, limits, budget, *state)
    lower = float(best[0]) if exhausted else lowest_open_bound(shape, rss, costs, limits, counts, best)
    return np.sort(best_columns[: counts[0]]), lower, int(counts[1]), exhausted


def best_subset(X, y, weight, *, n_features, alpha, fit_intercept, method, max_nodes) -> Solution:
    """Solve on checked arrays; `n_features` is the budget k."""
    d = X.shape[1]
    require_memory(40.0 * (d + 1) ** 2, "The triangular factor of all columns", "select features beforehand")
    with single_threaded_blas():
        data = reduce_problem(X, y, weight, fit_intercept)
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            unit = np.square(np.float64(data.y_scale)) / (2.0 * data.total_weight)  # objective of the empty model
            price = float(alpha / unit) if alpha > 0.0 else 0.0
        usable = np.flatnonzero(data.scale > 0.0)
        A = np.ascontiguousarray(data.A[:, usable])
        budget = min(n_features, usable.size) if data.y_scale > 0.0 else 0
        chosen, lower, n_nodes, status = choose_columns(A, data.z, price, budget, method, max_nodes)
        part = la.lstsq(A[:, chosen], data.z, check_finite=False)[0] if len(chosen) else np.zeros(0)
    left = data.z - A[:, chosen] @ part
    share = float(left @ left) + (price * len(chosen) if len(chosen) else 0.0)
    lower = share if status is Status.EXACT else min(lower, share)
    coef, support = np.zeros(d), usable[chosen]
    coef[support] = part * (data.y_scale / data.scale[support])
    objective, bound = (float(value * unit) if value > 0.0 else 0.0 for value in (share, lower))
    certificate = _certificate(objective, bound, share - lower, status, n_nodes)
    intercept = float(data.y_mean - data.x_mean @ coef)
    return Solution(coef, intercept, support, objective, bound, n_nodes, status, certificate)


def choose_columns(A, z, price, budget, method, max_nodes):
    """Unit columns to keep: (columns, lower bound of the criterion, nodes, status)."""
    if budget == 0:
        return np.zeros(0, dtype=np.intp), 0.0, 0, Status.EXACT
    gram, moments = A.T @ A, A.T @ z
    chosen = swap_columns(A, z, gram, moments, forward_selection(gram, moments, price, budget), price)
    if method == "exact" and A.shape[1] <= LARGEST_TREE:
        chosen, lower, n_nodes, done = search(A, z, chosen, price, budget, max_nodes)
        return chosen, lower, n_nodes, Status.EXACT if done else Status.MAX_ITER
    everything = residual_share(A, z, np.arange(A.shape[1]))
    return chosen, everything, 0, Status.MAX_ITER if method == "exact" else Status.CONVERGED


def _certificate(objective, lower, gap, status, n_nodes):
    proven = status is Status.EXACT
    return Certificate(
        kind="optimality gap",
        guarantee="no subset is better"
        if proven
        else f"no subset is better by more than {100 * gap:.3g} % of variance",
        value=gap,
        bound=SLACK,
        assumption=f"differences below {SLACK:g} of the total sum of squares are rounding",
        reference="Furnival, Wilson (1974), Technometrics 16(4)",
        details={
            "optimal": proven,
            "method": "branch and bound" if n_nodes else "forward selection with swaps",
            "objective": objective,
            "lower_bound": lower,
            "nodes": n_nodes,
        },
    )


class BestSubset(LinearRegressorMixin, BaseEstimator):
    """Least squares on the best subset of features.

    Minimises ``1/(2S) sum_i s_i (y_i - b - x_i'w)^2 + alpha |w|_0`` over all w with at most `n_features_to_select`
    non-zero coefficients; S is the sum of the weights s_i.  Stops when every other subset is ruled out (branch and
    bound), or at `max_nodes` with a lower bound on the optimum in `certificate_`.

    The lasso is the convex relaxation of this problem: it also shrinks the coefficients it keeps.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        Largest number of features, or their share if a float in (0, 1].  None means no limit with ``alpha > 0``, else
        half of the features.
    alpha : float, default=0.0
        Price of one feature in the objective.
    fit_intercept : bool, default=True
        Whether to fit b.
    method : {"exact", "greedy"}, default="exact"
        "exact" searches until optimality is proven (up to about 30 to 50 features in seconds, more when few features
        matter); "greedy" is forward selection improved by swaps.
    max_nodes : int, default=None
        Nodes of the search tree at most; None allows for about ten seconds of search.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients, exactly zero outside the subset.
    intercept_ : float
        Intercept.
    support_ : ndarray of shape (n_features,)
        Mask of the subset.
    objective_, lower_bound_ : float
        Objective reached, and a proven lower bound of its minimum (equal when optimal).
    n_nodes_ : int
        Nodes visited; 0 for the greedy method.
    certificate_ : Certificate
        The gap between the two as a share of the variance, and whether the subset is proven optimal.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features, when X has them all as strings.

    References
    ----------
    Furnival, Wilson (1974), Regressions by Leaps and Bounds, Technometrics 16(4), 499-511.
    Hofmann, Gatu, Kontoghiorghes, Colubi, Zeileis (2020), lmSubsets, J. Stat. Software 93(3).

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linear_model import BestSubset
    >>> X = np.random.default_rng(0).normal(size=(50, 8))
    >>> y = 3 * X[:, 2] - X[:, 5]
    >>> model = BestSubset(2).fit(X, y)
    >>> np.flatnonzero(model.support_).tolist(), model.certificate_.details["optimal"]
    ([2, 5], True)
    """

    _params = {
        "n_features_to_select": OneOf(Null, Int(ge=1), Real(gt=0, le=1)),
        "alpha": Real(ge=0),
        "fit_intercept": Bool,
        "method": Choice("exact", "greedy"),
        "max_nodes": OneOf(Null, Int(ge=1)),
    }

    def __init__(self, n_features_to_select=None, *, alpha=0.0, fit_intercept=True, method="exact", max_nodes=None):
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.method = method
        self.max_nodes = max_nodes

    def fit(self, X, y, sample_weight=None):
        """Find the subset and its coefficients.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_params(self)  # 1 parameters
        data = check_training(self, X, y, sample_weight, accept_sparse="csr", y_numeric=True)  # 2 data
        solution = best_subset(  # 3 maths
            data.X,
            data.y.astype(np.float64, copy=False),
            data.weight,
            n_features=self._budget(data.X.shape[1]),
            alpha=self.alpha,
            fit_intercept=self.fit_intercept,
            method=self.method,
            max_nodes=self.max_nodes,
        )
        if not solution.status.ok:
            warnings.warn(
                f"The subset is not proven optimal after {solution.n_nodes} nodes: another one could explain up to "
                f"{100 * solution.certificate.value:.3g} % more of the variance. Raise max_nodes, ask for fewer "
                "features, or accept it with method='greedy'.",
                ConvergenceWarning,
                stacklevel=2,
            )
        dtype = data.X.dtype  # 4 attributes
        self.coef_ = solution.coef.astype(dtype, copy=False)
        self.intercept_ = dtype.type(solution.intercept)
        self.support_ = np.isin(np.arange(solution.coef.shape[0]), solution.support)
        self.objective_, self.lower_bound_ = solution.objective, solution.lower_bound
        self.n_nodes_ = solution.n_nodes
        self.certificate_ = solution.certificate
        return self

    def _budget(self, n_features):
        """The number k of features that `n_features_to_select` stands for."""
        asked = self.n_features_to_select
        if asked is None:
            return n_features if self.alpha > 0 else max(1, n_features // 2)
        if isinstance(asked, Integral):
            return min(int(asked), n_features)
        return max(1, int(n_features * asked))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
