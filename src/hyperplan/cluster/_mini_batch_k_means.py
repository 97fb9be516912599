"""K-means by small batches of random rows: each centre is the mean of all rows that ever were nearest to it.

A step draws `batch_size` rows, finds their nearest centres (as exactly as `KMeans`) and moves each centre to the
weighted mean of where it is, with the number of rows it has seen, and of its new rows.  Centres that see too few rows
start again at random rows.  The draws are those of scikit-learn, made without a pass over all rows.
"""

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import Bool, Certificate, Int, Null, OneOf, Real, check_params, check_random_state, check_weight
from hyperplan._core.arrays import compressed
from hyperplan._core.parallel import single_threaded_blas
from hyperplan._math._class_moments_kernels import add_class_totals, add_sparse_totals
from hyperplan._solvers.k_means import nearest_centres, rows_of, total_gap
from hyperplan.cluster._k_means_base import CENTRE_PARAMS, CentreModel, first_centres

REFERENCE = "Sculley (2010), Web-scale k-means clustering"


class Batch(NamedTuple):
    """Rows of one step with their weights (None: all one)."""

    X: Any
    weight: np.ndarray | None


class Step(NamedTuple):
    """Centres after a step, what they have seen, and the inertia of the batch before it."""

    centres: np.ndarray
    seen: np.ndarray
    inertia: float


def batch_step(batch: Batch, centres, seen) -> Step:
    """Move the centres towards the rows of a batch.

    Parameters
    ----------
    batch : Batch
        Rows.
    centres : ndarray of shape (n_clusters, d)
        Centres in float64.
    seen : ndarray of shape (n_clusters,)
        Weights that each has seen.

    Returns
    -------
    Step
        New arrays.

    Examples
    --------
    >>> batch = Batch(np.array([[2.0], [4.0]]), None)
    >>> step = batch_step(batch, np.array([[0.0], [9.0]]), np.array([1.0, 5.0]))
    >>> step.centres.ravel().tolist(), step.seen.tolist(), step.inertia
    ([2.0, 9.0], [3.0, 5.0], 20.0)
    """
    labels = nearest_centres(batch.X, centres, n_jobs=1)
    weight = np.empty(0) if batch.weight is None else batch.weight
    masses, totals = np.zeros(centres.shape[0]), np.zeros(centres.shape)
    if sp.issparse(batch.X):
        add_sparse_totals(compressed(batch.X), labels, weight, masses, totals)
    else:
        add_class_totals(batch.X, labels, weight, masses, totals)
    now = seen + masses
    moved = (centres * seen[:, None] + totals) / np.where(now > 0, now, 1.0)[:, None]
    inertia = total_gap(batch.X, labels, centres, batch.weight, n_jobs=1)
    return Step(np.where(masses[:, None] > 0, moved, centres), now, inertia)


def reassign(step: Step, batch: Batch, ratio, random_state, verbose=False) -> Step:
    """Centres that have seen less than `ratio` of what the busiest has start again at random rows of the batch."""
    poor, seen, n = step.seen < ratio * step.seen.max(), step.seen.copy(), batch.X.shape[0]
    if poor.sum() > 0.5 * n:
        poor[np.argsort(seen)[int(0.5 * n) :]] = False
    count, centres = int(poor.sum()), step.centres
    if count:
        rows = batch.X[random_state.choice(n, replace=False, size=count)]
        if verbose:
            print(f"[MiniBatchKMeans] Reassigning {count} cluster centers.")
        centres = centres.copy()
        centres[poor] = rows.toarray() if sp.issparse(rows) else rows
        seen[poor] = seen[~poor].min() if count < poor.size else seen.max()  # so that they do not start again at once
    return Step(centres, seen, step.inertia)


class Stopping:
    """Early stopping: the centres hardly move, or the running mean of the inertia of batches falls no more."""

    def __init__(self, n_rows, batch_size, n_steps, tol, patience, verbose):
        self.share = min(batch_size * 2.0 / (n_rows + 1), 1.0)
        self.batch_size, self.n_steps, self.tol, self.patience = batch_size, n_steps, tol, patience
        self.verbose = verbose
        self.mean = self.least = None
        self.waited = 0

    def __call__(self, step, movement, inertia) -> bool:
        """Whether to stop after this step, the first being 1."""
        inertia /= self.batch_size
        head = f"Minibatch step {step}/{self.n_steps}: mean batch inertia: {inertia}"
        if step == 1:  # the centres have not moved yet
            self._say(head)
            return False
        self.mean = inertia if self.mean is None else self.mean * (1 - self.share) + inertia * self.share
        self._say(f"{head}, ewa inertia: {self.mean}")
        if self.tol > 0.0 and movement <= self.tol:
            self._say(f"Converged (small centers change) at step {step}/{self.n_steps}")
            return True
        if self.least is None or self.mean < self.least:
            self.waited, self.least = 0, self.mean
        else:
            self.waited += 1
        if self.patience is not None and self.waited >= self.patience:
            self._say(f"Converged (lack of improvement in inertia) at step {step}/{self.n_steps}")
            return True
        return False

    def _say(self, text):
        if self.verbose:
            print(text)


def mean_variance(X):
    """Mean over columns of their variance."""
    if sp.issparse(X):
        return (X.multiply(X).mean(axis=0) - np.square(X.mean(axis=0))).mean()
    return X.var(axis=0, dtype=np.float64).mean()


def draw_batches(n, size, weight, random_state):
    """Endless row numbers, drawn by weight with replacement; the sums of weights are made once."""
    ends = np.empty(0) if weight is None else np.cumsum(weight / weight.sum())
    ends = ends / ends[-1:]
    while True:
        shares = random_state.random_sample(size)
        drawn = (shares * n).astype(np.intp) if weight is None else np.searchsorted(ends, shares, side="right")
        yield np.minimum(drawn, n - 1)


def batches_certificate(before, after, n_steps, inertia):
    """The inertia of the same random rows with the first centres and with the last."""
    return Certificate(
        kind="inertia of random rows",
        guarantee="on random rows the steps raised the sum of squared distances by no more than this share",
        value=max(after / before - 1.0, 0.0) if before > 0 else 0.0,
        bound=0.01,
        assumption="rows are drawn independently: what some show, all have in expectation",
        reference=REFERENCE,
        details={"steps": n_steps, "with the first centres": before, "with the last": after, "inertia": inertia},
    )


class MiniBatchKMeans(CentreModel):
    """K-means by steps on small random batches: less exact than `KMeans`, for rows without number.

    Lowers ``sum_i w_i min_k |x_i - c_k|^2`` in expectation.  Stopping rule: `max_no_improvement` steps without a lower
    running mean of the batches' inertia, centres that move by no more than `tol`, or `max_iter` times the rows.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {'k-means++', 'random'}, callable or array-like of shape (n_clusters, n_features), default='k-means++'
        First centres, as in `KMeans`, from `init_size` rows.
    max_iter : int, default=100
        Most passes over as many rows as there are.
    batch_size : int, default=1024
        Rows of a step.
    verbose : int, default=0
        Print steps.
    compute_labels : bool, default=True
        Whether `labels_` and the inertia of all rows are computed at the end.
    random_state : int, RandomState instance or None, default=None
        Seed of starts, batches and new starts.
    tol : float, default=0.0
        Squared movement of the centres, relative to the mean variance, at which to stop; 0 never stops so.
    max_no_improvement : int or None, default=10
        Steps without improvement at which to stop.
    init_size : int, default=None
        Rows that first centres are chosen from; None means 3 batches, at least 3 per cluster.
    n_init : 'auto' or int, default='auto'
        Number of starts; the best on some rows is kept.  'auto' makes 3 from random rows and functions, else 1.
    reassignment_ratio : float, default=0.01
        Centres that have seen less than this share of what the busiest has start again.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres.
    labels_ : ndarray of shape (n_samples,)
        The nearest centre of each row, if computed.
    inertia_ : float
        Sum of weighted squared distances; without `compute_labels` estimated from the batches.
    n_iter_ : int
        Started passes.
    n_steps_ : int
        Steps.
    certificate_ : Certificate
        The inertia of some random rows with the first centres and with the last.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Sculley (2010), Web-scale k-means clustering.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.cluster import MiniBatchKMeans
    >>> X = np.array([[1, 2], [1, 4], [1, 0], [4, 2], [4, 0], [4, 4], [4, 5], [0, 1], [2, 2], [3, 2], [5, 5], [1, -1]])
    >>> model = MiniBatchKMeans(n_clusters=2, random_state=0, batch_size=6)
    >>> model.partial_fit(X[:6]).partial_fit(X[6:]).predict([[0, 0], [4, 4]]).tolist()
    [1, 0]
    """

    _params = {
        **CENTRE_PARAMS,
        "batch_size": Int(ge=1),
        "compute_labels": Bool,
        "max_no_improvement": OneOf(Int(ge=0), Null),
        "init_size": OneOf(Int(ge=1), Null),
        "reassignment_ratio": Real(ge=0),
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        init="k-means++",
        max_iter=100,
        batch_size=1024,
        verbose=0,
        compute_labels=True,
        random_state=None,
        tol=0.0,
        max_no_improvement=10,
        init_size=None,
        n_init="auto",
        reassignment_ratio=0.01,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio

    def fit(self, X, y=None, sample_weight=None):
        """Find the centres, batch by batch.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: how often they are drawn.

        Returns
        -------
        self
            The fitted model.
        """
        # 1. parameters
        check_params(self)
        # 2. data
        X = self._check_rows(X)
        weight = check_weight(sample_weight, X)
        init, self._n_init = self._check_init(X), self._runs(default=3)
        self._init_size = self._start_rows(X.shape[0])
        # 3. maths
        random_state = check_random_state(self.random_state)
        self._waiting = 0
        with single_threaded_blas():
            start, judge = self._best_start(X, weight, init, random_state)
            last, n_steps, stopping = self._run(X, weight, start, random_state)
        # 4. attributes
        self._keep(last, X.dtype)
        size = min(self.batch_size, X.shape[0])
        self.n_steps_, self.n_iter_ = n_steps, math.ceil(n_steps * size / X.shape[0])
        if self.compute_labels:
            self._label(X, weight)
        else:
            self.inertia_ = float((stopping.mean or 0.0) * (X.shape[0] if weight is None else weight.sum()))
        self.certificate_ = batches_certificate(judge(start), judge(last.centres), n_steps, self.inertia_)
        return self

    def _start_rows(self, n):
        """How many rows the first centres are chosen from."""
        size, fewest = self.init_size, 3 * self.n_clusters
        if size is None:
            size = 3 * min(self.batch_size, n)
            size = fewest if size < self.n_clusters else size
        elif size < self.n_clusters:
            warnings.warn(
                f"init_size={size} should be larger than n_clusters={self.n_clusters}. Setting it to "
                "min(3*n_clusters, n_samples)",
                RuntimeWarning,
                stacklevel=3,
            )
            size = fewest
        return min(size, n)

    def _best_start(self, X, weight, init, random_state):
        """The first centres with the least inertia on some random rows, and what measures it there."""
        some = random_state.randint(0, X.shape[0], self._init_size)
        judged, judged_weight = X[some], None if weight is None else weight[some]

        def judge(centres):
            return total_gap(judged, nearest_centres(judged, centres), centres, judged_weight)

        starts = []
        for number in range(1, self._n_init + 1):
            if self.verbose:
                print(f"Init {number}/{self._n_init} with method {init}")
            starts.append(self._start(X, weight, init, random_state))
            if self.verbose:
                print(f"Inertia for init {number}/{self._n_init}: {judge(starts[-1])}")
        return min(starts, key=judge) if len(starts) > 1 else starts[0], judge

    def _start(self, X, weight, init, random_state):
        if self._init_size < X.shape[0]:
            some = random_state.randint(0, X.shape[0], self._init_size)
            X, weight = X[some], None if weight is None else weight[some]
        return first_centres(init, rows_of(X, weight), self.n_clusters, random_state).astype(np.float64)

    def _run(self, X, weight, centres, random_state):
        """Steps until the stopping rule holds: the last one, their number, the rule with what it has seen."""
        n, size = X.shape[0], min(self.batch_size, X.shape[0])
        n_steps, tol = (self.max_iter * n) // size, 0.0
        if self.tol > 0:
            tol = self.tol * float(mean_variance(X))
        stopping = Stopping(n, size, n_steps, tol, self.max_no_improvement, self.verbose)
        last = Step(centres, np.zeros(self.n_clusters), math.nan)
        batches = draw_batches(n, size, weight, random_state)
        for number in range(1, n_steps + 1):
            before = last.centres
            last = self._step(Batch(X[next(batches)], None), before, last.seen, size, random_state)
            if stopping(number, float(((last.centres - before) ** 2).sum()), last.inertia):
                break
        return last, number, stopping

    def _step(self, batch, centres, seen, size, random_state):
        self._waiting += size
        due = bool((seen == 0).any()) or self._waiting >= 10 * self.n_clusters
        last = batch_step(batch, centres, seen)
        if due:
            self._waiting = 0
            if self.reassignment_ratio > 0:
                last = reassign(last, batch, self.reassignment_ratio, random_state, self.verbose)
        return last

    def _keep(self, last, dtype):
        self.cluster_centers_, self._counts = last.centres.astype(dtype), last.seen

    def _label(self, X, weight):
        self.labels_ = nearest_centres(X, self.cluster_centers_)
        self.inertia_ = total_gap(X, self.labels_, self.cluster_centers_, weight)

    def partial_fit(self, X, y=None, sample_weight=None):
        """One step on the given rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows of the batch; the first batch also gives the first centres.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self
            The model after the step.
        """
        # 1. parameters
        check_params(self)
        # 2. data
        is_first = not hasattr(self, "cluster_centers_")
        X = self._check_rows(X, reset=is_first)
        weight = check_weight(sample_weight, X)
        # 3. maths
        self._random_state = getattr(self, "_random_state", None) or check_random_state(self.random_state)
        with single_threaded_blas():
            if is_first:
                init, self._n_init = self._check_init(X), self._runs(default=3)
                self._init_size, self._waiting = self._start_rows(X.shape[0]), 0
                start = self._start(X, weight, init, self._random_state)
                self.cluster_centers_, self._counts = start, np.zeros(self.n_clusters)
            centres, size = self.cluster_centers_.astype(np.float64), min(self.batch_size, X.shape[0])
            last = self._step(Batch(X, weight), centres, self._counts, size, self._random_state)
        # 4. attributes
        self._keep(last, X.dtype)
        self.n_steps_ = getattr(self, "n_steps_", 0) + 1
        if self.compute_labels:
            self._label(X, weight)
        return self
