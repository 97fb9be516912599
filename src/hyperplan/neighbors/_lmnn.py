"""Large margin nearest neighbours: a linear map that pulls neighbours of a class together and pushes others away.

    min_A  1/n sum_i 1/k sum_{j target of i} [(1 - push) D_ij + push sum_{l of another class} max(0, 1 + D_ij - D_il)^2]

with ``D_ij = |A x_i - A x_j|^2``.  The targets of a row are its nearest rows of the same class before the fit.  The
hinge is squared, so that the objective is smooth and its gradient tells how far the fit is from a stationary point.
"""

import numpy as np

from hyperplan._base import Int, Real, check_params
from hyperplan._core.parallel import spans
from hyperplan._math.distances import learn_metric, pairwise, prepare
from hyperplan.neighbors._metric_learning import COMMON, LearntMetric
from hyperplan.neighbors._metric_learning_kernels import lmnn_rows

BLOCK = 1024


class LargeMarginNearestNeighbor(LearntMetric):
    """A learnt metric ``|A x - A x'|`` under which rows of other classes stay a margin away from a row's neighbours.

    Objective: pull of the targets and squared hinge of the others (see the module), minimised by L-BFGS; as a function
    of A it is not convex.  Stopping rule: the largest component of the gradient is at most
    ``tol * max(1, its value at the start)``, or `max_iter`.

    Parameters
    ----------
    n_neighbors : int, default=3
        Targets per row: nearest rows of its class; fewer in smaller classes.
    n_components : int or None, default=None
        Rows of A; None: as many as columns.
    push : float, default=0.5
        Weight of the hinge against the pull, between 0 and 1.
    init : {"auto", "pca", "lda", "identity", "random"} or ndarray of shape (n_components, n_features), default="auto"
        Start: see `NeighborhoodComponentsAnalysis`.
    warm_start : bool, default=False
        Whether a second fit starts from the result of the first.
    max_iter : int, default=100
        Iterations of L-BFGS.
    tol : float, default=1e-4
        See the stopping rule.
    callback : callable or None, default=None
        Called as ``callback(A.ravel(), iteration)`` after each iteration.
    verbose : int, default=0
        Above 0: print a line per evaluation, and warn when the fit has not converged.
    random_state : int, RandomState or None, default=None
        For ``init="random"``.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        A.
    n_iter_ : int
        Iterations.
    objective_ : float
        The objective at A.
    random_state_ : RandomState
        Source of random numbers.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    certificate_ : Certificate
        The gradient norm at A against its tolerance.

    References
    ----------
    Weinberger, Saul (2009), Distance metric learning for large margin nearest neighbor classification, JMLR 10.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.neighbors import LargeMarginNearestNeighbor
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = np.column_stack([y + 0.1 * rng.normal(size=100), rng.normal(size=100)])
    >>> A = LargeMarginNearestNeighbor().fit(X, y).components_
    >>> bool(np.linalg.norm(A[:, 0]) > 3 * np.linalg.norm(A[:, 1]))
    True
    """

    _params = {**COMMON, "n_neighbors": Int(ge=1), "push": Real(gt=0, lt=1)}
    _short_name = "LMNN"
    _scale_by_rows = True

    def __init__(
        self,
        n_neighbors=3,
        *,
        n_components=None,
        push=0.5,
        init="auto",
        warm_start=False,
        max_iter=100,
        tol=1e-4,
        callback=None,
        verbose=0,
        random_state=None,
    ):
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.push = push
        self.init = init
        self.warm_start = warm_start
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def _check_params(self):
        check_params(self)

    def _rows_loss(self, X, codes):
        targets = target_neighbours(X, codes, self.n_neighbors)

        def rows_loss(first, tile, losses):
            lmnn_rows(codes, targets, self.push, first, tile, np.empty(targets.shape[1]), losses)

        return rows_loss


def target_neighbours(X, codes, k):
    """The k nearest rows of the same class, (n, k); -1 where a class has fewer."""
    targets = np.full((X.shape[0], k), -1, dtype=np.intp)
    metric = learn_metric("sqeuclidean", X)
    for code in range(int(codes.max()) + 1):
        rows = np.flatnonzero(codes == code)
        count = min(k, rows.size - 1)
        if count <= 0:
            continue
        everyone = prepare(X[rows], metric)
        for part in spans(rows.size, BLOCK):
            gaps = pairwise(metric, prepare(X[rows[part]], metric), everyone)
            gaps[np.arange(gaps.shape[0]), np.arange(part.start, part.stop)] = np.inf
            nearest = np.argpartition(gaps, count - 1, axis=1)[:, :count]
            order = np.argsort(np.take_along_axis(gaps, nearest, axis=1), axis=1, kind="stable")
            targets[rows[part], :count] = rows[np.take_along_axis(nearest, order, axis=1)]
    return targets
