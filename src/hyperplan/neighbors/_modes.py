"""Modes of a density: ``f(x) = sum_i w_i exp(-|x - x_i|^2 / 2h^2)``, climbed by mean shift; one group per mode.

    x <- sum_i w_i x_i K(x - x_i) / sum_i w_i K(x - x_i)

is a step along ``h^2 grad log f(x)`` that never lowers f.  The number of modes is the number of groups.
"""

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    Certificate,
    Choice,
    ClusterMixin,
    Int,
    Jobs,
    OneOf,
    Real,
    check_design,
    check_is_fitted,
    check_params,
    check_weight,
)
from hyperplan._math.distances import learn_metric
from hyperplan._math.kernel_sums import kernel_sums, make_summands, nearest_rows
from hyperplan.neighbors._bandwidth import scott_factor, silverman_factor, typical_deviation
from hyperplan.neighbors._kernel_density import log_norm

RULES = {"scott": scott_factor, "silverman": silverman_factor}
SAME = 0.1  # modes closer than this share of the bandwidth are one
NUDGE = 1e-3  # share of the bandwidth by which a mode is moved, to see whether it comes back
FAST = 1e-6  # relative error of the sums while climbing


class DensityModes(ClusterMixin, BaseEstimator):
    """Groups of rows that climb to the same mode of a Gaussian kernel density.

    Objective: the density, maximised from each start.  Stopping rule: a step shorter than `tol` bandwidths.

    Parameters
    ----------
    bandwidth : float, "scott" or "silverman", default="scott"
        Deviation of the bumps; the rules are multiplied by the columns' deviation (root of their mean variance).  A
        larger bandwidth leaves fewer modes.
    tol : float, default=1e-5
        Length of the last step, in bandwidths.
    max_iter : int, default=500
        Steps per start.
    max_starts : int, default=500
        With more rows than this, rows in the same cell of a grid (whose width is half a bandwidth) start together; with
        more cells than this, as many are drawn, and a row goes where the nearest start went.
    n_jobs : int or None, default=None
        Threads; nothing depends on it.

    Attributes
    ----------
    modes_ : ndarray of shape (n_modes, n_features)
        Places of the modes, the highest first.
    n_modes_ : int
        Their number: the number of groups.
    mode_densities_ : ndarray of shape (n_modes,)
        Density there.
    labels_ : ndarray of shape (n_samples,)
        Mode to which each training row climbs.
    bandwidth_ : float
        The bandwidth in use.
    n_iter_ : int
        Steps of the start that took most.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    certificate_ : Certificate
        The longest step that mean shift would still make at a mode.

    References
    ----------
    Fukunaga, Hostetler (1975), The estimation of the gradient of a density function.  Carreira-Perpinan (2007),
    Gaussian mean-shift is an EM algorithm.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.neighbors import DensityModes
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 0.3, size=(100, 2)) for c in (0.0, 2.0, 4.0)])
    >>> model = DensityModes(bandwidth=0.4).fit(X)
    >>> model.n_modes_, np.sort(model.modes_.mean(axis=1)).round().tolist()
    (3, [0.0, 2.0, 4.0])
    """

    _params = {
        "bandwidth": OneOf(Real(gt=0), Choice("scott", "silverman")),
        "tol": Real(gt=0),
        "max_iter": Int(ge=1),
        "max_starts": Int(ge=1),
        "n_jobs": Jobs,
    }

    def __init__(self, bandwidth="scott", *, tol=1e-5, max_iter=500, max_starts=500, n_jobs=None):
        self.bandwidth = bandwidth
        self.tol = tol
        self.max_iter = max_iter
        self.max_starts = max_starts
        self.n_jobs = n_jobs

    def fit(self, X, y=None, sample_weight=None):
        """Climb from the rows to the modes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        # 1 parameters
        check_params(self)
        # 2 data
        X = np.ascontiguousarray(check_design(self, X, reset=True, accept_sparse=False), dtype=np.float64)
        weight = check_weight(sample_weight, X)
        weight = np.ones(X.shape[0]) if weight is None else weight
        # 3 maths
        self._total, self._middle = float(weight.sum()), X.mean(axis=0)
        values = np.column_stack([weight, weight[:, None] * (X - self._middle)])
        self._summands = make_summands(X, values, learn_metric("euclidean", X))
        if isinstance(self.bandwidth, str):
            factor = RULES[self.bandwidth](self._total, X.shape[1])
            self.bandwidth_ = factor * typical_deviation(X, weight)
        else:
            self.bandwidth_ = float(self.bandwidth)
        starts, start_of = self._starts(X)
        tops, steps = self._climb(starts)
        modes, heights = self._modes(tops[np.unique(start_of[weight > 0])])
        # 4 attributes
        self.modes_, self.n_modes_, self.n_iter_ = modes, len(modes), steps
        self.mode_densities_ = np.exp(heights)
        self.labels_ = self._nearest_mode(tops)[start_of]
        self.certificate_ = self._certificate()
        return self

    def _starts(self, X):
        """Places to start from, and the start of each row."""
        if X.shape[0] <= self.max_starts:
            return X, np.arange(X.shape[0])
        cells = np.floor((X - X.min(axis=0)) / (0.5 * self.bandwidth_))
        _, start_of, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
        start_of = start_of.ravel()
        starts = np.column_stack([np.bincount(start_of, weights=column) for column in X.T]) / counts[:, None]
        if len(starts) > self.max_starts:  # many columns: nearly each row has a cell of its own
            starts = starts[np.sort(np.random.default_rng(0).choice(len(starts), self.max_starts, replace=False))]
            few = make_summands(starts, np.ones((len(starts), 1)), learn_metric("euclidean", starts))
            start_of = nearest_rows(few, X, self.n_jobs)
        return starts, start_of

    def _shifted(self, X, rtol=FAST):
        """One step of mean shift from each place, and the logarithm of the density there."""
        sums = kernel_sums(self._summands, X, "gaussian", self.bandwidth_, rtol=rtol, n_jobs=self.n_jobs)
        weight = sums.values[:, :1]
        norm = log_norm("gaussian", X.shape[1], self.bandwidth_)
        heights = np.log(weight[:, 0]) + sums.shift + norm - np.log(self._total)
        return sums.values[:, 1:] / weight + self._middle, heights

    def _climb(self, starts):
        """Where mean shift ends from each start, and the largest number of steps."""
        places = np.array(starts, dtype=np.float64)
        active = np.arange(places.shape[0])
        step = 0
        while active.size and step < self.max_iter:
            step += 1
            moved, _ = self._shifted(places[active])
            length = np.sqrt(((moved - places[active]) ** 2).sum(axis=1))
            places[active] = moved
            active = active[length > self.tol * self.bandwidth_]
        return places, step

    def _modes(self, tops):
        """Distinct modes with the logarithms of their densities, the highest first; saddles are left."""
        random = np.random.default_rng(0)
        places, _ = self._merged(tops)
        places, _ = self._climb(places + NUDGE * self.bandwidth_ * random.normal(size=places.shape))
        return self._merged(places)

    def _merged(self, places):
        _, heights = self._shifted(places)
        kept = []
        for i in np.argsort(-heights, kind="stable"):
            gaps = ((places[kept] - places[i]) ** 2).sum(axis=1)
            if not kept or gaps.min() > (SAME * self.bandwidth_) ** 2:
                kept.append(i)
        return places[kept], heights[kept]

    def _nearest_mode(self, places):
        gaps = ((places[:, None, :] - self.modes_[None]) ** 2).sum(axis=2)
        return gaps.argmin(axis=1)

    def predict(self, X):
        """Mode to which each row climbs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Rows of `modes_`.
        """
        check_is_fitted(self)
        X = np.asarray(check_design(self, X, accept_sparse=False), dtype=np.float64)
        return self._nearest_mode(self._climb(X)[0])

    def _certificate(self):
        moved, _ = self._shifted(self.modes_, rtol=0.0)
        length = float(np.sqrt(((moved - self.modes_) ** 2).sum(axis=1)).max() / self.bandwidth_)
        return Certificate(
            kind="step at the modes",
            guarantee=f"at each mode the gradient of the log density is at most {length:.2g} / bandwidth",
            value=length,
            bound=10.0 * self.tol,
            assumption="a nudged mode came back: it is no saddle in the direction of the nudge",
            reference="Fukunaga, Hostetler (1975), equation 25",
            details={"modes": self.n_modes_, "bandwidth": self.bandwidth_, "steps": self.n_iter_},
        )
