"""Neighbourhood components analysis: a linear map that makes the nearest neighbours of a row those of its class.

    max_A  sum_i p_i,   p_i = sum_{j of i's class} p_ij,   p_ij = exp(-D_ij) / sum_{l != i} exp(-D_il)

with ``D_ij = |A x_i - A x_j|^2``; p_i is the chance that row i is classified correctly by a neighbour drawn with
probabilities p_ij.
"""

from hyperplan._base import check_params
from hyperplan.neighbors._metric_learning import COMMON, LearntMetric
from hyperplan.neighbors._metric_learning_kernels import nca_rows


class NeighborhoodComponentsAnalysis(LearntMetric):
    """A learnt metric ``|A x - A x'|`` under which the neighbours of a row tend to share its class.

    Objective: the expected number of rows classified correctly by a random neighbour (see the module), maximised by
    L-BFGS; it is not concave, so that the result depends on the start.  Stopping rule: the largest component of the
    gradient is at most ``tol * max(1, its value at the start)``, or `max_iter`.

    Parameters
    ----------
    n_components : int or None, default=None
        Rows of A; None: as many as columns.
    init : {"auto", "pca", "lda", "identity", "random"} or ndarray of shape (n_components, n_features), default="auto"
        Start: principal components, discriminant directions, the first columns, normal numbers, or a matrix.  "auto":
        "lda" where there are enough classes, else "pca" where components are fewer than columns, else "identity".
    warm_start : bool, default=False
        Whether a second fit starts from the result of the first.
    max_iter : int, default=50
        Iterations of L-BFGS.
    tol : float, default=1e-5
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
        Minus the expected number of rows classified correctly.
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
    Goldberger, Roweis, Hinton, Salakhutdinov (2005), Neighbourhood components analysis, NIPS 17.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.neighbors import NeighborhoodComponentsAnalysis
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = np.column_stack([y + 0.1 * rng.normal(size=100), 5 * rng.normal(size=100)])
    >>> A = NeighborhoodComponentsAnalysis(n_components=1, random_state=0).fit(X, y).components_
    >>> bool(abs(A[0, 0]) > 20 * abs(A[0, 1]))
    True
    """

    _params = COMMON
    _short_name = "NCA"

    def __init__(
        self,
        n_components=None,
        *,
        init="auto",
        warm_start=False,
        max_iter=50,
        tol=1e-5,
        callback=None,
        verbose=0,
        random_state=None,
    ):
        self.n_components = n_components
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
        return lambda first, tile, losses: nca_rows(codes, first, tile, losses)
