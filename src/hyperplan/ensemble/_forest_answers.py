"""What forests answer: classes and their shares; means, quantiles and intervals."""

from warnings import warn

import numpy as np

from hyperplan._base import Choice, ClassifierMixin, Is, OneOf, RegressorMixin, check_is_fitted, compute_sample_weight
from hyperplan._base.labels import check_classification_targets
from hyperplan._trees import forest_quantiles, forest_walk
from hyperplan.ensemble._forest_base import FOREST_PARAMS, BaseForest
from hyperplan.ensemble._forest_scores import r_squared

PRESETS = ("balanced", "balanced_subsample")
PRESET_WITH_WARM_START = (
    'class_weight presets "balanced" or "balanced_subsample" are not recommended for warm_start if the fitted data '
    "differs from the full dataset: the weights follow the data of each fit. Compute them once with "
    'compute_class_weight("balanced", classes, y) and pass the result as the class_weight parameter.'
)


class ForestClassifier(ClassifierMixin, BaseForest):
    """Labels and class shares."""

    _params = {
        **FOREST_PARAMS,
        "criterion": Choice("gini", "entropy", "log_loss"),
        "class_weight": OneOf(
            Choice(*PRESETS, None), Is(lambda v: isinstance(v, dict | list), "an instance of 'dict' or 'list'")
        ),
    }

    def fit(self, X, y, sample_weight=None):
        """Grow the forest.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; NaN marks missing values (dense X only).
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights: with `bootstrap` rows are drawn in proportion to them, otherwise they enter the criterion.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit_forest(X, y, sample_weight)

    def _encoded(self, y, weight):
        """Class numbers of each output, attributes, and the rows' weights with those of their classes."""
        check_classification_targets(y)
        pairs = [np.unique(column, return_inverse=True) for column in y.T]
        classes, codes = [labels for labels, _ in pairs], np.column_stack([found for _, found in pairs])
        several = len(classes) > 1
        counts = [labels.shape[0] for labels in classes]
        names = {"classes_": classes if several else classes[0], "n_classes_": counts if several else counts[0]}
        return codes.astype(np.int64), names, self._class_weighted(y, codes, counts, weight)

    def _class_weighted(self, y, codes, counts, weight):
        if self.class_weight is None:
            return weight
        if isinstance(self.class_weight, str) and self.warm_start:
            warn(PRESET_WITH_WARM_START, stacklevel=5)
        if self.class_weight == "balanced_subsample" and self.bootstrap:
            return weight
        if isinstance(self.class_weight, str):
            by_class = _balanced(codes, counts, weight)
        else:
            by_class = compute_sample_weight(self.class_weight, y)
        return by_class if weight is None else by_class * weight

    def _set_oob_score(self, codes, shares, known):
        stride = shares.shape[1] // self.n_outputs_
        shares = shares.reshape(-1, self.n_outputs_, stride).transpose(0, 2, 1)
        mixed = self.n_outputs_ > 1 and any(count > 2 for count in self.n_classes_)
        if mixed:
            raise ValueError(
                "The type of target cannot be used to compute OOB estimates. Got multiclass-multioutput while only the "
                "following are supported: continuous, continuous-multioutput, binary, multiclass, multilabel-indicator."
            )
        self.oob_decision_function_ = shares[..., 0] if self.n_outputs_ == 1 else shares
        answers = np.argmax(self.oob_decision_function_, axis=1)
        if callable(self.oob_score):
            self.oob_score_ = self.oob_score(codes[known], answers[known])
        else:
            right = answers.reshape(codes.shape)[known] == codes[known]
            self.oob_score_ = float(right.all(axis=1).mean()) if known.any() else np.nan

    def predict_proba(self, X):
        """Mean of the trees' class shares.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes), or a list of such arrays, one per output
            Shares.
        """
        check_is_fitted(self)
        shares = forest_walk.mean_values(self._walk, self._rows(X), self.n_jobs)
        if self.n_outputs_ == 1:
            return shares
        stride = shares.shape[1] // self.n_outputs_
        return [shares[:, k * stride : k * stride + count].copy() for k, count in enumerate(self.n_classes_)]

    def predict_log_proba(self, X):
        """Logarithms of `predict_proba` (-inf for a share of zero).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes), or a list of such arrays, one per output
            Logarithms.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(each) for each in shares]

    def predict(self, X):
        """Class with the largest mean share (the first of equals).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Labels.
        """
        shares = self.predict_proba(X)
        if self.n_outputs_ == 1:
            return self.classes_.take(np.argmax(shares, axis=1), axis=0)
        found = np.empty((shares[0].shape[0], self.n_outputs_), dtype=self.classes_[0].dtype)
        for k, each in enumerate(shares):
            found[:, k] = self.classes_[k].take(np.argmax(each, axis=1), axis=0)
        return found

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _balanced(codes, counts, weight):
    """Weight of each row so that the classes of every output weigh the same."""
    found = np.ones(codes.shape[0])
    for column, count in zip(codes.T, counts):
        mass = np.bincount(column, weights=weight, minlength=count)
        found *= (mass.sum() / (count * np.where(mass > 0, mass, 1.0)))[column]
    return found


class ForestRegressor(RegressorMixin, BaseForest):
    """Means, quantiles and intervals."""

    _params = {**FOREST_PARAMS, "criterion": Choice("squared_error", "absolute_error", "poisson")}

    def fit(self, X, y, sample_weight=None):
        """Grow the forest.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; NaN marks missing values (dense X only).
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Numbers; not negative, and not all zero, for "poisson".
        sample_weight : array-like of shape (n_samples,), default=None
            Weights: with `bootstrap` rows are drawn in proportion to them, otherwise they enter the criterion.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        return self._fit_forest(X, y, sample_weight)

    def _encoded(self, y, weight):
        y = np.ascontiguousarray(y, dtype=np.float64)
        if self.criterion == "poisson":
            if (y < 0).any():
                row = int(np.flatnonzero((y < 0).any(axis=1))[0])
                raise ValueError(
                    "Some value(s) of y are negative which is not allowed for Poisson regression. "
                    f"The first is in row {row}."
                )
            if y.sum() <= 0:
                raise ValueError("Sum of y is not strictly positive which is necessary for Poisson regression.")
        return y, {}, weight

    def _remember(self, X, y):
        """Rows and targets, from which quantiles are computed; small beside the trees."""
        self._training = (X.copy(), y)

    def _set_oob_score(self, y, means, known):
        self.oob_prediction_ = means[:, 0] if self.n_outputs_ == 1 else means
        if callable(self.oob_score):
            self.oob_score_ = self.oob_score(y[known], self.oob_prediction_[known])
        else:
            self.oob_score_ = r_squared(y[known], means[known])

    def predict(self, X):
        """Mean of the trees' predictions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Numbers.
        """
        check_is_fitted(self)
        means = forest_walk.mean_values(self._walk, self._rows(X), self.n_jobs)
        return means[:, 0] if self.n_outputs_ == 1 else means

    def predict_quantiles(self, X, quantiles=(0.1, 0.5, 0.9)):
        """Quantiles of the target given x, by the weights that the forest puts on its training rows.

        A tree shares its weight among the training rows in the leaf of x; the forest averages the trees.  The mean of
        the targets under these weights is what `predict` answers (for the squared error).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        quantiles : float or sequence of floats in [0, 1], default=(0.1, 0.5, 0.9)
            Levels.

        Returns
        -------
        values : ndarray of shape (n_samples, n_quantiles), or (n_samples,) for one float
            Least targets whose cumulated weight reaches the level.

        References
        ----------
        Meinshausen (2006), Quantile regression forests, Journal of Machine Learning Research 7.
        """
        X = self._rows(X)
        levels = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
        if self.n_outputs_ > 1:
            raise ValueError(f"Quantiles are for one output, y had {self.n_outputs_}: fit one forest per output.")
        if levels.ndim != 1 or not ((levels >= 0) & (levels <= 1)).all():
            raise ValueError(f"quantiles must lie in [0, 1], got {quantiles!r}")
        if self._members is None:
            rows, y = self._training
            rows = rows if isinstance(rows, np.ndarray) else rows.tocsr()
            self._members = forest_quantiles.members_of(self._walk, rows, y[:, 0], self._row_weight, self.n_jobs)
        order = np.argsort(levels, kind="stable")
        found = np.empty((X.shape[0], levels.shape[0]))
        found[:, order] = forest_quantiles.quantiles(self._walk, self._members, X, levels[order], self.n_jobs)
        return found[:, 0] if np.ndim(quantiles) == 0 else found

    def _row_weight(self, t):
        counts = self._draw.counts(self._seeds_[t])
        return np.ones(self._draw.n_rows) if counts is None else counts

    def predict_interval(self, X, coverage=0.9):
        """Interval that holds the target with about this probability: the quantiles that leave equal tails.

        Trees choose small leaves so that their own rows agree, which makes intervals too short: take a
        `min_samples_leaf` of about 10.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        coverage : float in (0, 1), default=0.9
            Probability.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2)
            Lower and upper ends.
        """
        if not 0.0 < coverage < 1.0:
            raise ValueError(f"coverage must lie between 0 and 1, got {coverage!r}")
        return self.predict_quantiles(X, (0.5 - coverage / 2, 0.5 + coverage / 2))
