"""Leave-one-out bounds for support vector classifiers without leaving anything out, and a choice of parameters by them.

With f the fitted function, a_p = |beta_p| and K the kernel matrix of the support vectors, leaving row p out changes its
own score by a_p S_p^2, where S_p is the distance from phi(x_p) to the span of the other free vectors with weights that
sum to one.  If the set of free vectors stays the same, row p becomes an error exactly if a_p S_p^2 >= s_p f(x_p): the
span estimate (Vapnik and Chapelle 2000).  Without that assumption the number of errors is at most the number of support
vectors and, for a separating machine, R^2 |w|^2 with R the radius of the rows in feature space.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._base import check_is_fitted
from hyperplan._core.parallel import single_threaded_blas
from hyperplan._solvers.kernel_svm import Problem, dual_objective, solve_dual
from hyperplan._solvers.kernel_svm_source import given_matrix
from hyperplan.svm._kernel_machine import require_square
from hyperplan.svm._svc import SVC

RIDGE = 1e-10  # share of the mean diagonal that keeps the system of free vectors solvable


class LeaveOneOutBounds(NamedTuple):
    """Error rates: the span estimate, and two upper bounds (the radius-margin one for machines without errors)."""

    span: float
    support: float
    radius_margin: float


class SpanChoice(NamedTuple):
    """The best parameters found, a model refitted with them, and the span estimate of every pair tried."""

    params: dict
    model: SVC
    table: list


def squared_radius(K):
    """Squared radius of the smallest ball around the rows in feature space: a problem in the form of `solve_dual`."""
    n = K.shape[0]
    half = -0.5 * K.diagonal().astype(np.float64)
    terms = np.stack([np.zeros(n), np.ones(n), half, half])
    start = np.zeros(n)
    start[0] = 1.0
    problem = Problem(terms, start, n)
    found = solve_dual(given_matrix(K), problem, tol=1e-6 * max(float(K.diagonal().max()), 1e-300))
    return max(0.0, -2.0 * dual_objective(problem, found.beta, found.score))


def squared_spans(K, beta, cost):
    """S_p^2 of each support vector; zero for the others.

    For a free vector the inverse of the bordered matrix of free vectors gives it; a bound one is compared with the span
    of all free vectors (its own squared length if there are none).
    """
    size = np.abs(beta)
    free, bound = np.flatnonzero((size > 0) & (size < cost)), np.flatnonzero((size > 0) & (size >= cost))
    spans = np.zeros(beta.size)
    if free.size == 0:
        spans[bound] = K[bound, bound]
        return spans
    border = np.ones((free.size + 1, free.size + 1))
    border[:-1, :-1] = K[np.ix_(free, free)]
    border[-1, -1] = 0.0
    border[np.arange(free.size), np.arange(free.size)] += RIDGE * max(K[free, free].mean(), 1e-300)
    with single_threaded_blas():
        inverse = np.linalg.inv(border)
        spans[free] = 1.0 / np.maximum(np.diag(inverse)[:-1], 1e-300)
        if bound.size:
            v = np.vstack([K[np.ix_(free, bound)], np.ones(bound.size)])
            spans[bound] = K[bound, bound] - np.einsum("ij,ij->j", v, inverse @ v)
    return np.maximum(spans, 0.0)


def leave_one_out_bounds(model, X, y, sample_weight=None):
    """Leave-one-out error of a fitted two-class `SVC`, estimated and bounded without refitting.

    Parameters
    ----------
    model : SVC
        Fitted on two classes, with a kernel named by a string.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The training rows.
    y : array-like of shape (n_samples,)
        Their labels.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights of the fit.

    Returns
    -------
    bounds : LeaveOneOutBounds
        ``span``, ``support`` and ``radius_margin``, as shares of the rows (the last may exceed 1).

    References
    ----------
    Chapelle, Vapnik, Bousquet, Mukherjee (2002), Choosing multiple parameters for support vector machines.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.svm import SVC, leave_one_out_bounds
    >>> X, y = np.array([[-3.0], [-2.0], [-1.0], [1.0], [2.0], [3.0]]), [0, 0, 0, 1, 1, 1]
    >>> model = SVC(kernel="linear", C=10.0, tol=1e-6).fit(X, y)
    >>> leave_one_out_bounds(model, X, y).support
    0.3333333333333333
    """
    check_is_fitted(model)
    if not isinstance(model, SVC) or len(model.classes_) != 2 or callable(model.kernel):
        raise ValueError("leave_one_out_bounds needs an SVC fitted on two classes with a kernel named by a string")
    training = model._check_rows(X, y, sample_weight)
    require_square(len(training.y), "take fewer rows, or cross-validate")
    source, _ = model._kernel_values(training.X)
    K = source.square().astype(np.float64, copy=False)
    codes = np.searchsorted(model.classes_, training.y)
    weight = training.weight * model.class_weight_[codes]
    beta = np.zeros(codes.size)
    beta[model.support_] = model._dense_dual_coef()[0]
    signs = np.where(codes == 0, 1.0, -1.0)
    scores = K @ beta + model._intercept_[0]
    spans = squared_spans(K, beta, model.C * weight)
    rows = training.rows
    n = rows.size
    span = float(np.mean((np.abs(beta) * spans >= signs * scores)[rows]))
    norm = float(beta @ (scores - model._intercept_[0]))
    radius_margin = squared_radius(K[np.ix_(rows, rows)]) * norm / n
    return LeaveOneOutBounds(span, model.support_.size / n, float(radius_margin))


def span_search(X, y, *, C=(0.1, 1.0, 10.0, 100.0), gamma=(0.1, 0.3, 1.0, 3.0, 10.0), **options):
    """Choose C and gamma of an `SVC` by the span estimate: one fit per pair, no folds.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training rows.
    y : array-like of shape (n_samples,)
        Labels of two classes.
    C : sequence of float
        Costs to try.
    gamma : sequence of float
        Factors of ``1 / (n_features * X.var())`` to try.
    **options
        Other parameters of `SVC`.

    Returns
    -------
    choice : SpanChoice
        ``params``, the fitted ``model`` and a ``table`` of (C, gamma, span estimate).  Of equal estimates the smallest
        C wins, then the smallest gamma: the smoother function.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.svm import span_search
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> choice = span_search(X, (X ** 2).sum(axis=1) > 1.5, C=(1.0, 10.0), gamma=(0.1, 1.0))
    >>> sorted(choice.params), len(choice.table)
    (['C', 'gamma'], 4)
    """
    X = np.asarray(X, dtype=np.float64)
    scale = 1.0 / (X.shape[1] * X.var()) if X.size and X.var() > 0 else 1.0
    table, best = [], None
    for cost in sorted(C):
        for factor in sorted(gamma):
            model = SVC(C=cost, gamma=factor * scale, **options).fit(X, y)
            found = leave_one_out_bounds(model, X, y).span
            table.append((cost, factor * scale, found))
            if best is None or found < best[0]:
                best = found, model
    _, model = best
    return SpanChoice({"C": model.C, "gamma": model.gamma}, model, table)
