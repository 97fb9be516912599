"""Naive Bayes for categories: given the class, every column is an independent die of its own."""

import numpy as np

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Bool,
    Int,
    Null,
    OneOf,
    Real,
    check_design,
    check_params,
    check_training,
    encode_labels,
)
from hyperplan._core.parallel import spans
from hyperplan._math._class_moments_kernels import add_category_counts
from hyperplan._math._class_scores_kernels import add_category_scores
from hyperplan._math.class_moments import NO_WEIGHT
from hyperplan._math.class_scores import fill_scores
from hyperplan._math.moments import quiet_map
from hyperplan.naive_bayes._common import (
    NaiveBayesMixin,
    classes_of_call,
    closed_form_certificate,
    codes_among,
    finite_logs,
)
from hyperplan.naive_bayes._discrete import ROUNDING, checked_alpha, checked_log_prior, refuse_negative

TASK_ROWS = 1 << 15


def category_offsets(n_categories):
    """Where the categories of each column begin in a table of all, and where they end."""
    return np.concatenate([[0], np.cumsum(n_categories)]).astype(np.intp)


def category_counts(X, codes, n_classes, weight, offsets):
    """(all categories, k) sums of weights of the rows with each category; negative entries are missing."""
    weight = NO_WEIGHT if weight is None else weight

    def task(rows):
        table = np.zeros((offsets[-1], n_classes))
        add_category_counts(X[rows], codes[rows], weight[rows], offsets, table)
        return table

    return sum(quiet_map(task, spans(X.shape[0], max(TASK_ROWS, -(-X.shape[0] // 8)))))


def smoothed_logs(counts, offsets, alpha):
    """Logarithms of the probabilities of the categories of each column, in the same table, and the rounding error."""
    smoothed = counts + alpha
    sizes = np.diff(offsets)
    starts, sizes = offsets[:-1][sizes > 0], sizes[sizes > 0]  # a column may be missing in all rows
    totals = np.add.reduceat(smoothed, starts, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(smoothed) - np.log(np.repeat(totals, sizes, axis=0))
    sums = np.add.reduceat(np.exp(logs), starts, axis=0)
    return logs, np.max(np.abs(sums - 1.0), where=totals > 0, initial=0.0)


def category_certificate(error):
    """Closed form: the shares of the categories add up to one."""
    return closed_form_certificate(
        "smoothed shares of categories are the posterior means under the prior of alpha counts (maximum likelihood for "
        f"alpha = 0); they add up to one within {error:.2g}",
        error,
        ROUNDING,
    )


class CategoricalNB(NaiveBayesMixin, BaseEstimator):
    """Naive Bayes for categories 0, 1, ... in every column.

    ``P(row | class k) = prod_j p_kj[x_j]`` with ``p_kj[v] = (N_kjv + alpha) / sum_v (N_kjv + alpha)``, N_kjv the rows
    of class k with category v in column j: a closed form, without iterations.  See `MixedNB` for tables with names of
    categories, numbers and missing values.

    Parameters
    ----------
    alpha : float, default=1.0
        Prior count of each category.
    force_alpha : bool, default=True
        Keep an alpha below 1e-10 as it is.
    fit_prior : bool, default=True
        Learn the priors; otherwise they are uniform.
    class_prior : array-like of shape (n_classes,), default=None
        Given priors.
    min_categories : int or array-like of shape (n_features,), default=None
        Least number of categories of each column; None takes what is seen.

    Attributes
    ----------
    category_count_ : list of ndarray of shape (n_classes, n_categories)
        Rows of each class and category, one array per column.
    class_count_ : ndarray of shape (n_classes,)
        Rows (sums of weights) of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithms of the priors.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    feature_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        Logarithms of the probabilities, one array per column.
    n_categories_ : ndarray of shape (n_features,)
        Categories of each column.
    certificate_ : Certificate
        Closed form; the rounding of the probabilities.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    Examples
    --------
    >>> from hyperplan.naive_bayes import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 1], [0, 2], [1, 0], [1, 1]], ["a", "a", "b", "b"])
    >>> model.predict([[0, 0], [1, 2]])
    array(['a', 'b'], dtype='<U1')
    >>> model.n_categories_
    array([2, 3])
    """

    _params = {
        "alpha": Real(ge=0),
        "force_alpha": Bool,
        "fit_prior": Bool,
        "class_prior": OneOf(ArrayLike, Null),
        "min_categories": OneOf(Null, Int(ge=1), ArrayLike),
    }

    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None, min_categories=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def fit(self, X, y, sample_weight=None):
        """Count the categories of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Categories as whole numbers from 0.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of rows.

        Returns
        -------
        self
            The fitted classifier.
        """
        # 1. parameters
        check_params(self)
        # 2. data
        X, y, weight = self._checked(X, y, sample_weight)
        labels = encode_labels(y, min_classes=1)
        # 3. maths, 4. attributes
        return self._learn(X, labels.codes, labels.classes, weight, first=True)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Count the categories of further rows, as if all had been there from the start.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Categories as whole numbers from 0.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that can appear; needed in the first call only.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of rows.

        Returns
        -------
        self
            The fitted classifier.
        """
        check_params(self)
        classes, first = classes_of_call(self, classes)
        X, y, weight = self._checked(X, y, sample_weight, reset=first)
        return self._learn(X, codes_among(classes, y), classes, weight, first)

    def _checked(self, X, y, sample_weight, **options):
        options |= {"accept_sparse": False, "dtype": np.int64, "order": "C"}
        X, y, weight = check_training(self, X, y, sample_weight, **options)
        if X.min() < 0:
            refuse_negative(self, X)
        return X, y, weight

    def _sizes(self, X):
        """Number of categories of each column."""
        seen = X.max(axis=0) + 1
        if self.min_categories is None:
            return seen
        least = np.asarray(self.min_categories)
        if least.dtype.kind != "i":
            raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim and least.shape != seen.shape:
            raise ValueError(
                f"'min_categories' should have shape ({X.shape[1]},) when an array-like is provided. Got "
                f"{least.shape} instead."
            )
        return np.maximum(seen, least)

    def _learn(self, X, codes, classes, weight, first):
        n_classes, sizes = classes.shape[0], self._sizes(X)
        before = [] if first else self.category_count_
        sizes = np.maximum(sizes, [part.shape[1] for part in before] or 0)
        offsets = category_offsets(sizes)
        count = np.bincount(codes, weight, minlength=n_classes).astype(np.float64)
        counts = category_counts(X, codes, n_classes, weight, offsets)
        if not first:
            count += self.class_count_
            for start, part in zip(offsets, before):
                counts[start : start + part.shape[1]] += part.T
        log_prior = checked_log_prior(self, count)
        logs, error = smoothed_logs(counts, offsets, checked_alpha(self))

        self.classes_, self.class_count_, self.class_log_prior_ = classes, count, log_prior
        self.n_categories_ = sizes
        self.category_count_ = [np.ascontiguousarray(part.T) for part in np.split(counts, offsets[1:-1])]
        self.feature_log_prob_ = [np.ascontiguousarray(part.T) for part in np.split(logs, offsets[1:-1])]
        self.certificate_ = category_certificate(error)
        return self

    def _joint(self, X):
        X = check_design(self, X, accept_sparse=False, dtype=np.int64, order="C")
        if X.size and X.min() < 0:
            refuse_negative(self, X)
        self._require_known(X)
        offsets = category_offsets(self.n_categories_)
        table = finite_logs(np.concatenate(self.feature_log_prob_, axis=1).T)

        def fill(rows, out):
            out[...] = self.class_log_prior_
            add_category_scores(rows, offsets, table, out)

        return X, fill_scores(X, self.classes_.shape[0], fill)

    def _require_known(self, X):
        beyond = np.argwhere(self.n_categories_ <= X)
        if len(beyond):
            row, column = beyond[0]
            raise IndexError(
                f"Category {X[row, column]} in row {row}, column {column} is out of bounds: this column has the "
                f"categories 0 to {self.n_categories_[column] - 1}. Set min_categories before fit, or use MixedNB."
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True
        return tags
