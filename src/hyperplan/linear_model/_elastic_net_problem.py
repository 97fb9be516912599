"""From data to the engines of coordinate descent: which one, on what, and its answer in the units of the objective.

    minimise  1/(2S) sum_i s_i (y_i - b - x_i'w)^2 + alpha (r |w|_1 + (1 - r)/2 |w|_2^2),     S = sum_i s_i

The engines work with the sum instead of the mean of squares; weights are scaled so that S is the number of rows.
"""

import warnings

import numpy as np
import scipy.sparse as sp

from hyperplan._base import Certificate, ConvergenceWarning, gap_certificate
from hyperplan._core.memory import require_memory
from hyperplan._math.moments import Moments, moments
from hyperplan._solvers.coordinate import Penalty, gram_path, join_paths, residual_path
from hyperplan._solvers.coordinate_design import Design, by_columns
from hyperplan._solvers.coordinate_rows import TallRows, rows_solve, suits_rows
from hyperplan._solvers.coordinate_rows_path import rows_path
from hyperplan._solvers.coordinate_working_set import working_set_path

GRAM_TOLERANCE = 1e-9  # below, the rounding of a Gram matrix shows
GRAM_COLUMNS = 256  # for one penalty: X'X costs less than reading X a few times
GRAM_COLUMNS_PATH = 1536  # for many penalties
WORKING_SET_COLUMNS = 256  # fewer columns are cycled through as they are
WORKING_SET_ENTRIES = 1 << 17  # of X; smaller problems are over before a working set is chosen
TINY_PRODUCTS = 1 << 18  # multiplications of X'X that BLAS does not split over threads
EASY_EPOCHS = 100  # of textbook descent, before a small problem is treated like a large one
REFERENCE = "Fercoq, Gramfort, Salmon (2015), Mind the duality gap: safer rules for the Lasso, ICML"


class GramProblem:
    """Everything in the Gram matrix; what is left of the data fits in d x d numbers."""

    def __init__(self, m: Moments):
        self.x_mean, self.y_mean, self.y2, self.total = m.x_mean, m.y_mean, m.y_square, m.total
        self.gram, self.xy = np.ascontiguousarray(m.gram), m.cross
        self.finite = m.finite

    def solve(self, k, penalties, options, w0=None):
        """Path of the k-th target."""
        return gram_path(self.gram, np.ascontiguousarray(self.xy[:, k]), float(self.y2[k]), penalties, options, w0)


class TallProblem:
    """Many rows, one target: solved on the columns that matter, and by the whole Gram matrix where that fails."""

    def __init__(self, X, Y, weight, *, center):
        self._data, self._center = (X, Y, weight), center
        self._rows = TallRows(X, np.ascontiguousarray(Y[:, 0]), weight, center=center)
        self._whole = self._first_xy = None
        self.total = float(X.shape[0])

    def _by_gram(self):
        if self._whole is None:
            self._whole = GramProblem(moments(*self._data, center=self._center))
        return self._whole

    def solve(self, k, penalties, options, w0=None):
        """Path of the target."""
        solution = None
        if self._whole is None and all(p.l1 > 0 for p in penalties):
            if len(penalties) == 1:
                solution = rows_solve(self._rows, penalties[0], options, w0)
            elif w0 is None:
                solution = rows_path(self._rows, penalties, options)
        return self._by_gram().solve(k, penalties, options, w0) if solution is None else solution

    def _known(self):
        """What knows the means: a reading of all rows, if there was none yet, or the whole Gram matrix."""
        if self._whole is None and np.isnan(self._rows.y2):
            self._correlated()
        return self._rows if self._whole is None else self._whole

    @property
    def x_mean(self):
        """Means of the columns."""
        return self._known().x_mean

    @property
    def y_mean(self):
        """Mean of the target."""
        return np.atleast_1d(self._known().y_mean)

    @property
    def y2(self):
        """Sum of squares of the centred target."""
        return np.atleast_1d(self._known().y2)

    @property
    def xy(self):
        """X'Sy."""
        return self._correlated()[:, None] if self._whole is None else self._whole.xy

    def _correlated(self):
        if self._first_xy is None:
            self._first_xy = self._rows.read(np.zeros(self._rows.X.shape[1])).c
        return self._first_xy

    @property
    def finite(self):
        """Whether all sums were finite (the whole Gram matrix is formed when they are not)."""
        if self._first_xy is not None and not np.isfinite(self._first_xy).all():
            return False
        return self._whole is None or self._whole.finite


class DesignProblem:
    """Descent on columns; targets are prepared one at a time."""

    def __init__(self, X, Y, weight, *, center, mean=None, total=None, working_set=True):
        self.design = Design(X, weight, center=center, mean=mean, total=total)
        self.total = self.design.total
        pairs = [self.design.center_target(y) for y in Y.T]
        self.targets = [y for y, _ in pairs]
        self.y_mean = np.array([mean for _, mean in pairs])
        self.y2 = np.array([self.design.weight @ y**2 for y in self.targets])
        self.working_set = working_set
        self.first_xy = self.design.prepare(self.targets[0])
        self.x_mean = self.design.arrays.mean
        self.finite = bool(np.isfinite(self.design.arrays.norm2).all() and np.isfinite(self.first_xy).all())

    @property
    def xy(self):
        """X'Sy for all targets."""
        return np.column_stack([self._correlated(k) for k in range(len(self.targets))])

    def _correlated(self, k):
        if k == 0:
            return self.first_xy
        xy = np.empty(self.design.d)
        self.design.correlate(self.design.weight * self.targets[k], np.ones(self.design.d, dtype=np.bool_), xy)
        return xy

    def solve(self, k, penalties, options, w0=None):
        """Path of the k-th target."""
        y = self.targets[k]
        if options.rng.shape[0] or not all(p.l1 > 0 for p in penalties):
            return residual_path(self.design, y, penalties, options, w0)
        if self.working_set:
            return working_set_path(self.design, y, self._correlated(k), penalties, options, w0)
        # small problems: textbook descent, until it turns out to be slow
        patient = options.max_iter > EASY_EPOCHS
        few = options._replace(max_iter=EASY_EPOCHS) if patient else options
        first = residual_path(self.design, y, penalties, few, w0, stop_early=patient)
        easy = len(first.statuses) if first.statuses[-1].ok else len(first.statuses) - 1
        if easy == len(penalties) or not patient:
            return first
        rest = options._replace(max_iter=options.max_iter - EASY_EPOCHS)
        hard = working_set_path(self.design, y, self._correlated(k), penalties[easy:], rest, first.coefs[easy])
        hard.n_iters[0] += EASY_EPOCHS
        return join_paths(first, easy, hard)


def uses_gram(X, precompute, n_penalties, tol) -> bool:
    """Whether a Gram matrix of all columns pays (or was asked for)."""
    n, d = X.shape
    if precompute is True and not sp.issparse(X):
        require_memory(16 * d * d, f"The Gram matrix of {d} columns", "use precompute=False")
        return True
    return n > d and tol >= GRAM_TOLERANCE and d <= (GRAM_COLUMNS if n_penalties == 1 else GRAM_COLUMNS_PATH)


def make_problem(
    X, Y, weight=None, *, center, precompute=False, xy=None, n_penalties=1, tol=1e-4, mean=None, check=True
):
    """The problem for X of shape (n, d), targets Y of shape (n, k) and weights summing to n, or None.

    `precompute` may be the Gram matrix itself, with `xy` = X'SY; if centring X makes it wrong, a warning says so.
    """
    if hasattr(precompute, "__array__"):
        given = None if sp.issparse(X) else _from_given_gram(X, Y, weight, np.asarray(precompute), xy, center, check)
        if given is not None:
            return given
        precompute = "auto"
    if mean is None and uses_gram(X, precompute, n_penalties, tol):
        if precompute is not True and suits_rows(X, Y.shape[1]):
            return TallProblem(X, np.asarray(Y, dtype=np.float64), weight, center=center)
        tiny = not sp.issparse(X) and X.size * X.shape[1] <= TINY_PRODUCTS
        return GramProblem(
            (tiny_moments if tiny else moments)(X, np.asarray(Y, dtype=np.float64), weight, center=center)
        )
    wide = X.shape[1] > WORKING_SET_COLUMNS and X.shape[0] * X.shape[1] > WORKING_SET_ENTRIES
    return DesignProblem(by_columns(X), Y, weight, center=center, mean=mean, working_set=wide)


def tiny_moments(X, Y, weight, *, center) -> Moments:
    """`moments` without panels and threads, whose preparation would take longer than the work."""
    n = X.shape[0]
    weight = np.ones(n) if weight is None else weight
    total = float(weight.sum())
    x_mean = y_mean = None
    Z, T = X.astype(np.float64), Y
    for _ in range(2 if center else 0):  # the second round removes the rounding of large means
        x_rest, y_rest = weight @ Z / total, weight @ T / total
        Z, T = Z - x_rest, T - y_rest
        x_mean, y_mean = (x_rest, y_rest) if x_mean is None else (x_mean + x_rest, y_mean + y_rest)
    if not center:
        x_mean, y_mean = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    weighted = Z * weight[:, None]
    return Moments(total, x_mean, y_mean, weighted.T @ Z, weighted.T @ T, weight @ T**2)


def _from_given_gram(X, Y, weight, gram, xy, center, check):
    """The problem of the caller's Gram matrix, or None after a warning when X was not centred as it should be."""
    problem = DesignProblem(by_columns(X), Y, weight, center=center)
    if center and not np.allclose(problem.x_mean, 0.0):
        warnings.warn(
            "Gram matrix was provided but X was centered to fit intercept: recomputing Gram matrix.",
            UserWarning,
            stacklevel=4,
        )
        return None
    if check:
        check_gram(X, gram, problem)
    cross = problem.xy if xy is None else np.asarray(xy, dtype=np.float64).reshape(X.shape[1], -1)
    given = np.array(gram, dtype=np.float64, order="C")
    return GramProblem(Moments(problem.total, problem.x_mean, problem.y_mean, given, cross, problem.y2))


def check_gram(X, gram, problem):
    """Compare one entry of a given Gram matrix with the data: enough to catch a wrong matrix."""
    d = X.shape[1]
    if gram.shape != (d, d):
        raise ValueError(f"Gram matrix has shape {gram.shape}, expected {(d, d)} for X with {d} columns")
    j, k = d // 2, min(d // 2 + 1, d - 1)
    columns = np.asarray(X[:, [j, k]], dtype=np.float64) - problem.x_mean[[j, k]]
    weight = problem.design.weight
    expected, actual = float((weight * columns[:, 0]) @ columns[:, 1]), float(gram[j, k])
    rtol, atol = (1e-4, 1e-5) if X.dtype == np.float32 or gram.dtype == np.float32 else (1e-7, 1e-8)
    scale = float(np.sqrt((weight @ columns**2).prod()))
    if not abs(actual - expected) <= rtol * max(abs(expected), scale) + atol:
        raise ValueError(
            "Gram matrix passed in via 'precompute' did not pass validation: for one element, "
            f"({j},{k}), the data give {expected} but the matrix says {actual}. Was it centred and weighted like X?"
        )


def penalties_for(alphas, l1_ratio, total, positive):
    """One `Penalty` per alpha, in the engines' units."""
    return [Penalty(float(a * l1_ratio * total), float(a * (1.0 - l1_ratio) * total), bool(positive)) for a in alphas]


def alpha_grid(problem, l1_ratio, eps, n_alphas, positive):
    """Geometric grid from the least alpha whose solution is zero down to `eps` times that."""
    return alpha_grid_from(problem.xy, problem.total, l1_ratio, eps, n_alphas, positive)


def alpha_grid_from(xy, total, l1_ratio, eps, n_alphas, positive=False):
    """As `alpha_grid` from ``xy = X'Sy`` of shape (d, k); the rows' norms count when there are several targets."""
    if l1_ratio == 0:
        raise ValueError(
            "Automatic alpha grid generation is not supported for l1_ratio=0. Please supply a grid by providing your "
            "estimator with the appropriate `alphas=` argument."
        )
    largest = max(0.0, float(xy.max())) if positive else float(np.sqrt((xy**2).sum(axis=1).max()))
    alpha_max = largest / (total * l1_ratio)
    smallest = np.finfo(np.float64).resolution
    if alpha_max <= smallest:
        return np.full(n_alphas, smallest)
    return np.geomspace(alpha_max, alpha_max * eps, num=n_alphas)


def warn_unconverged(solutions, tolerances, max_iter, total, stacklevel=3):
    """One `ConvergenceWarning` with the worst gap, if any penalty was left unsolved."""
    pairs = [
        (gap / total, tolerance / total)
        for solution, tolerance in zip(solutions, tolerances)
        for gap, status in zip(solution.gaps, solution.statuses)
        if not status.ok
    ]
    if pairs:
        gap, tolerance = max(pairs)
        warnings.warn(
            f"Objective did not converge. You might want to increase the number of iterations (max_iter={max_iter}), "
            f"scale the features or penalise more (alpha). Duality gap: {gap:.3e}, tolerance: {tolerance:.3e}"
            + (f" ({len(pairs)} penalties were left like this)." if len(pairs) > 1 else "."),
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


def path_certificate(solution, penalty, y2, tol, total):
    """Certificate of the last penalty of a path: the gap relative to the mean square of the target."""
    primal, gap = float(solution.primals[-1]) / total, float(solution.gaps[-1]) / total
    n_iter = int(solution.n_iters[-1])
    if penalty.l1 == 0 and penalty.l2 == 0:
        return Certificate(
            kind="optimality residual",
            guarantee="the squared gradient of the sum of squares, relative to the sum of squares of the target",
            value=gap * total / float(y2) if y2 > 0 else 0.0,
            bound=tol,
            reference="first-order condition of least squares",
            details={"primal": primal, "n_iter": n_iter},
        )
    return gap_certificate(primal, primal - gap, tol, float(y2) / total, reference=REFERENCE, n_iter=n_iter)
