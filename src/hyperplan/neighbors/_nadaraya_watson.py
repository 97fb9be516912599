"""Local means: ``m(x) = sum_i w_i y_i K((x - x_i) / h) / sum_i w_i K((x - x_i) / h)``.

The factor ``h^-d`` of ``K_h`` cancels.  Leaving row i out is one term less above and below, so that the leave-one-out
error of a bandwidth

    LOO(h) = sum_i w_i |y_i - m_-i(x_i)|^2 / sum_i w_i

costs no more than predicting the rows; with ``bandwidth="loo"`` its least is sought.  A label is 1 for its class and 0
for the others: then m is the vector of class probabilities, and the error Brier's.
"""

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    Certificate,
    Choice,
    ClassifierMixin,
    Int,
    Jobs,
    MultiOutputMixin,
    OneOf,
    Real,
    RegressorMixin,
    check_design,
    check_is_fitted,
    check_params,
    check_training,
    encode_labels,
)
from hyperplan._math.distances import learn_metric
from hyperplan._math.kernel_sums import PROFILES, kernel_sums, make_summands, nearest_rows
from hyperplan.neighbors._bandwidth import best_bandwidth, scott_factor, typical_deviation

MEASURED_ROWS = 64  # of which the certificate compares the sums with exact ones
KERNELS = OneOf(Choice("box", *PROFILES))


class BaseNadarayaWatson(BaseEstimator):
    """Rows, values and bandwidth of a local mean."""

    _params = {
        "bandwidth": OneOf(Real(gt=0), Choice("loo", "scott")),
        "kernel": KERNELS,
        "rtol": Real(ge=0, lt=1),
        "loo_rows": Int(ge=1),
        "n_jobs": Jobs,
    }

    def _remember(self, X, targets, weight):
        """Keep rows X and targets (n, m), ready to be summed, and choose the bandwidth."""
        X = np.ascontiguousarray(X, dtype=np.float64)
        w = np.ones(X.shape[0]) if weight is None else np.asarray(weight)
        low, high = targets.min(axis=0), targets.max(axis=0)
        self._centre, self._spread = 0.5 * (low + high), high - low
        self._summands = make_summands(X, np.column_stack([w, w[:, None] * (targets - self._centre)]), _metric(X))
        self._prior = np.average(targets, axis=0, weights=w)
        for name in ("loo_error_", "loo_curve_"):
            self.__dict__.pop(name, None)
        start = typical_deviation(X, weight) * scott_factor(float(w.sum()), X.shape[1])
        if self.bandwidth == "loo":
            found = best_bandwidth(self._loo_loss(X, targets, w), start)
            self.bandwidth_, self.loo_error_, self.loo_curve_ = found
        else:
            self.bandwidth_ = start if self.bandwidth == "scott" else float(self.bandwidth)
        self._measured = X[np.linspace(0, X.shape[0] - 1, min(X.shape[0], MEASURED_ROWS)).astype(np.intp)]

    def _loo_loss(self, X, targets, w):
        """Leave-one-out error as a function of the bandwidth, on at most `loo_rows` rows drawn once."""
        rows = np.flatnonzero(w > 0)
        if rows.size > self.loo_rows:
            rows = np.sort(np.random.default_rng(0).choice(rows, self.loo_rows, replace=False))
        others = w.sum() - w[rows, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            prior = np.where(others > 0, (w @ targets - w[rows, None] * targets[rows]) / others, targets[rows])

        def loss(bandwidth):
            sums = self._sums(X[rows], bandwidth, self.rtol, own=rows)
            mean, empty = _ratio(sums, self._centre)
            mean[empty] = prior[empty]
            return (w[rows] @ ((mean - targets[rows]) ** 2).sum(axis=1)) / w[rows].sum()

        return loss

    def _sums(self, X, bandwidth, rtol, own=None):
        kernel = "tophat" if self.kernel == "box" else self.kernel
        return kernel_sums(self._summands, X, kernel, bandwidth, rtol=rtol, own=own, n_jobs=self.n_jobs).values

    def _means(self, X):
        """Local means at the rows of X, shape (n, m)."""
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse=False)
        mean, empty = _ratio(self._sums(X, self.bandwidth_, self.rtol), self._centre)
        if empty.any():
            mean[empty] = self._where_empty(X, empty)
        return mean

    def _where_empty(self, X, empty):
        if self.empty == "raise":
            raise ValueError(
                f"{int(empty.sum())} rows have no training row within the bandwidth {self.bandwidth_:.4g}, the first "
                f"is row {int(empty.argmax())}: take a larger bandwidth, another kernel, or empty='prior'"
            )
        if self.empty == "nearest":
            near = self._summands.values[nearest_rows(self._summands, X[empty], self.n_jobs)]
            return near[:, 1:] / near[:, :1] + self._centre
        return self._prior if self.empty == "prior" else np.nan

    @property
    def certificate_(self):
        """The largest error of the sums, measured on some training rows against exact sums, beside its bound."""
        check_is_fitted(self)
        found, empty = _ratio(self._sums(self._measured, self.bandwidth_, self.rtol), self._centre)
        exact, _ = _ratio(self._sums(self._measured, self.bandwidth_, 0.0), self._centre)
        spread = np.where(self._spread > 0, self._spread, 1.0)
        error = (np.abs(found - exact) / spread)[~empty]
        details = {"bandwidth": self.bandwidth_, "measured rows": len(self._measured)}
        details |= {"leave-one-out error": self.loo_error_} if hasattr(self, "loo_error_") else {}
        bound = 2.0 * self.rtol / (1.0 - self.rtol) + 1e-9
        return Certificate(
            kind="error of the sums",
            guarantee=f"boxes of rows taken as one change a local mean by at most {bound:.2g} of the range of y",
            value=float(error.max(initial=0.0)),
            bound=bound,
            reference="Gray, Moore (2001), N-body problems in statistical learning",
            details=details,
        )


def _metric(X):
    return learn_metric("euclidean", X)


def _ratio(sums, centre):
    """Means, and where there is nothing to divide by."""
    empty = ~(sums[:, 0] > 0.0)
    weight = np.where(empty, 1.0, sums[:, 0])
    return sums[:, 1:] / weight[:, None] + centre, empty


class NadarayaWatsonRegressor(RegressorMixin, MultiOutputMixin, BaseNadarayaWatson):
    """Kernel regression: the mean of the targets of the training rows, weighted by a kernel of the distance.

    Objective: none is minimised; with ``bandwidth="loo"`` the leave-one-out squared error over bandwidths.  Stopping
    rule: a grid of half octaves, walked up while it gains, then golden section until the bracket is 1 % wide.

    Parameters
    ----------
    bandwidth : float, "loo" or "scott", default="loo"
        Unit of distances in the kernel.  "loo": the one with the least leave-one-out error.  "scott": n^(-1/(d+4))
        times the columns' deviation (root of their mean variance).
    kernel : {"gaussian", "box", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, default="gaussian"
        Weight of a row by its distance; all but "gaussian" and "exponential" are 0 beyond the bandwidth ("box" and
        "tophat" are the same).
    empty : {"prior", "nearest", "nan", "raise"}, default="prior"
        What is answered where no row is within reach: the mean of all targets, the target of the nearest row, NaN, or
        an error.  A Gaussian or exponential kernel always reaches a row.
    rtol : float, default=1e-4
        Relative error allowed in the sums; local means are off by at most twice that share of the range of y.
    loo_rows : int, default=2000
        Rows whose leave-one-out error is computed, at most; each against all others.
    n_jobs : int or None, default=None
        Threads; nothing depends on it.

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth in use.
    loo_error_ : float
        Its leave-one-out error, if it was chosen by that.
    loo_curve_ : ndarray of shape (n_tried, 2)
        Bandwidths tried and their errors.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    certificate_ : Certificate
        Error of the sums, measured at each access.

    References
    ----------
    Nadaraya (1964), On estimating regression.  Watson (1964), Smooth regression analysis.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.neighbors import NadarayaWatsonRegressor
    >>> X = np.linspace(0, 6, 200)[:, None]
    >>> model = NadarayaWatsonRegressor().fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.5], [4.5]]).round(1).tolist()
    [1.0, -1.0]
    """

    _params = {**BaseNadarayaWatson._params, "empty": Choice("prior", "nearest", "nan", "raise")}

    def __init__(self, bandwidth="loo", *, kernel="gaussian", empty="prior", rtol=1e-4, loo_rows=2000, n_jobs=None):
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.empty = empty
        self.rtol = rtol
        self.loo_rows = loo_rows
        self.n_jobs = n_jobs

    def fit(self, X, y, sample_weight=None):
        """Remember the rows and choose the bandwidth.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        check_params(self)
        options = {"accept_sparse": False, "multi_output": True, "y_numeric": True}
        X, y, weight = check_training(self, X, y, sample_weight, **options)
        self._is_table = y.ndim == 2
        self._remember(X, np.asarray(y, dtype=np.float64).reshape(len(y), -1), weight)
        return self

    def predict(self, X):
        """Local means.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        predictions : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions.
        """
        means = self._means(X)
        return means if self._is_table else means[:, 0]


class NadarayaWatsonClassifier(ClassifierMixin, BaseNadarayaWatson):
    """Kernel classification: the share of each class among the training rows, weighted by a kernel of the distance.

    For two classes the second is answered if and only if its share is above one half.

    Objective: none is minimised; with ``bandwidth="loo"`` Brier's leave-one-out score over bandwidths.  Stopping rule:
    a grid of half octaves, walked up while it gains, then golden section until the bracket is 1 % wide.

    Parameters
    ----------
    bandwidth : float, "loo" or "scott", default="loo"
        Unit of distances in the kernel.  "loo": the one with the least leave-one-out error.  "scott": n^(-1/(d+4))
        times the columns' deviation (root of their mean variance).
    kernel : {"gaussian", "box", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, default="gaussian"
        Weight of a row by its distance; all but "gaussian" and "exponential" are 0 beyond the bandwidth ("box" and
        "tophat" are the same).
    empty : {"prior", "nearest", "raise"}, default="prior"
        What is answered where no row is within reach: the shares among all rows, the label of the nearest row, or an
        error.  A Gaussian or exponential kernel always reaches a row.
    rtol : float, default=1e-4
        Relative error allowed in the sums; probabilities are off by at most twice that.
    loo_rows : int, default=2000
        Rows whose leave-one-out error is computed, at most; each against all others.
    n_jobs : int or None, default=None
        Threads; nothing depends on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    bandwidth_ : float
        The bandwidth in use.
    loo_error_ : float
        Its leave-one-out error, if it was chosen by that.
    loo_curve_ : ndarray of shape (n_tried, 2)
        Bandwidths tried and their errors.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    certificate_ : Certificate
        Error of the sums, measured at each access.

    References
    ----------
    Devroye, Györfi, Lugosi (1996), A probabilistic theory of pattern recognition, chapter 10.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.neighbors import NadarayaWatsonClassifier
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2]])
    >>> model = NadarayaWatsonClassifier(bandwidth=0.5, kernel="epanechnikov").fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[0.1], [1.1]]).tolist(), model.predict_proba([[0.6], [9.0]]).round(6).tolist()
    (['a', 'b'], [[0.5, 0.5], [0.5, 0.5]])
    """

    _params = {**BaseNadarayaWatson._params, "empty": Choice("prior", "nearest", "raise")}

    def __init__(self, bandwidth="loo", *, kernel="gaussian", empty="prior", rtol=1e-4, loo_rows=2000, n_jobs=None):
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.empty = empty
        self.rtol = rtol
        self.loo_rows = loo_rows
        self.n_jobs = n_jobs

    def fit(self, X, y, sample_weight=None):
        """Remember the rows and choose the bandwidth.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        check_params(self)
        X, y, weight = check_training(self, X, y, sample_weight, accept_sparse=False)
        labels = encode_labels(y, min_classes=1, estimator_name=type(self).__name__)
        self.classes_ = labels.classes
        self._remember(X, np.eye(len(labels.classes))[labels.codes], weight)
        return self

    def predict_proba(self, X):
        """Weighted shares of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        shares = np.clip(self._means(X), 0.0, 1.0)
        return shares / shares.sum(axis=1, keepdims=True)

    def predict(self, X):
        """The class with the largest share; of equal ones the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]
