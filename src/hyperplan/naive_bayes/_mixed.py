"""Naive Bayes for tables with numbers and categories at once, some of them missing.

Model: ``P(row | class k) = prod_j P_kj(x_j)`` over the columns that are not missing in the row, Gaussian for numbers
and a table of smoothed shares for categories.
"""

import numpy as np

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Choice,
    Null,
    OneOf,
    Real,
    check_consistent_length,
    check_design,
    check_params,
    check_training,
    check_weight,
    column_or_1d,
    encode_labels,
)
from hyperplan._math._class_scores_kernels import add_category_scores, present_scores
from hyperplan._math.class_scores import fill_scores
from hyperplan.naive_bayes._categorical import category_offsets
from hyperplan.naive_bayes._common import (
    NaiveBayesMixin,
    classes_of_call,
    closed_form_certificate,
    codes_among,
    finite_logs,
    log_priors,
)
from hyperplan.naive_bayes._gaussian import ROUNDING, SMALLEST_VARIANCE, given_priors, require_squares
from hyperplan.naive_bayes._mixed_sums import MixedSums, merged_sums, mixed_sums, smoothed_gaussians, smoothed_tables
from hyperplan.naive_bayes._mixed_table import (
    MISSING,
    UNSEEN,
    MixedColumns,
    MixedRows,
    category_mask,
    first_unseen,
    is_frame,
    learn_columns,
    read_rows,
)


class MixedNB(NaiveBayesMixin, BaseEstimator):
    """Naive Bayes for numbers and categories at once; missing values are left out of the product.

    Numbers are Gaussian given the class, as in `GaussianNB`; categories have smoothed shares, as in `CategoricalNB`.
    Both are closed forms of one pass over the rows, or over batches of them with `partial_fit`.  NaN, None and nulls
    are missing.

    Parameters
    ----------
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Which columns hold categories: those of a data frame with a categorical, text, object or boolean type; none; or
        a mask, indices or names.
    alpha : float, default=1.0
        Prior count of each category.
    var_smoothing : float, default=1e-9
        Part of the largest variance of a column that is added to all variances.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; None takes their shares of the rows.
    handle_unknown : {'ignore', 'smooth', 'error'}, default='ignore'
        A category that training did not see is left out as if missing, has the probability of a category with no rows
        (`alpha` prior counts), or is an error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    class_count_ : ndarray of shape (n_classes,)
        Rows (sums of weights) of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Probabilities of the classes.
    is_categorical_ : ndarray of shape (n_features,)
        Which columns hold categories.
    categories_ : list of ndarray
        Sorted categories of each of these.
    category_count_ : list of ndarray of shape (n_classes, n_categories)
        Rows (sums of weights) with each of them.
    category_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        Logarithms of their probabilities; with ``handle_unknown="smooth"``, the last is that of all others.
    theta_, var_ : ndarray of shape (n_classes, n_numbers)
        Means and variances of the columns of numbers.  Where a class has no value at all, those of all classes.
    epsilon_ : float
        What is added to variances.
    certificate_ : Certificate
        Closed form; what rounding leaves of it.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.naive_bayes import MixedNB
    >>> X = np.array([[1.0, "red"], [1.2, "red"], [3.0, "blue"], [3.4, None]], dtype=object)
    >>> model = MixedNB(categorical_features=[1]).fit(X, ["a", "a", "b", "b"])
    >>> model.predict(np.array([[1.1, None], [None, "blue"]], dtype=object))
    array(['a', 'b'], dtype='<U1')
    >>> model.categories_[0].tolist()
    ['blue', 'red']
    """

    _params = {
        "categorical_features": OneOf(Choice("from_dtype"), Null, ArrayLike),
        "alpha": Real(ge=0),
        "var_smoothing": Real(ge=0),
        "priors": OneOf(ArrayLike, Null),
        "handle_unknown": Choice("ignore", "smooth", "error"),
    }

    def __init__(
        self,
        *,
        categorical_features="from_dtype",
        alpha=1.0,
        var_smoothing=1e-9,
        priors=None,
        handle_unknown="ignore",
    ):
        self.categorical_features = categorical_features
        self.alpha = alpha
        self.var_smoothing = var_smoothing
        self.priors = priors
        self.handle_unknown = handle_unknown

    def fit(self, X, y, sample_weight=None):
        """Fit means, variances and shares.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Rows.
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
        rows, columns, y, weight = self._training(X, y, sample_weight, None)
        labels = encode_labels(y, min_classes=1)
        # 3. maths, 4. attributes
        return self._learn(rows, columns, labels.codes, labels.classes, weight, None)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from further rows, as if all had been there from the start.

        The first call settles which columns hold categories.  Categories that later rows bring are added to those
        known, with no rows before.  All smoothing is that of `fit` on the rows of all calls: `var_smoothing` is a part
        of the largest variance of all rows so far, `alpha` counts for each category so far.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Rows.
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
        before = None if first else self._sums()
        rows, columns, y, weight = self._training(X, y, sample_weight, before)
        return self._learn(rows, columns, codes_among(classes, y), classes, weight, before)

    def _sums(self):
        columns = MixedColumns(self.is_categorical_, self.categories_)
        return MixedSums(columns, self.class_count_, self._moments, self.category_count_)

    def _training(self, X, y, sample_weight, before):
        """Checked rows, their columns with the categories of rows before, labels and weights."""
        first = before is None
        mask = self._mask(X) if first else before.columns.is_category
        if mask is None or not (first or mask.any() or is_frame(X)):
            options = {"accept_sparse": False, "order": "C", "ensure_all_finite": "allow-nan", "reset": first}
            data = check_training(self, X, y, sample_weight, **options)
            none = np.zeros(data.X.shape[1], dtype=bool)
            return MixedRows(data.X, np.empty((data.X.shape[0], 0), np.int64)), MixedColumns(none, []), *data[1:]
        X = check_design(self, X, reset=first, skip_check_array=True)
        if y is None:
            raise ValueError("MixedNB requires y to be passed, but the target y is None.")
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        if y.shape[0] == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required by MixedNB.")
        X = X if hasattr(X, "columns") else np.asarray(X)
        columns = learn_columns(X, mask, None if first else before.columns.categories)
        return read_rows(X, columns), columns, y, check_weight(sample_weight, X)

    def _mask(self, X):
        flat = not is_frame(X) and np.asarray(X).ndim != 2  # the checks of arrays say what is wrong
        return None if flat else category_mask(X, self.categorical_features)

    def _learn(self, rows, columns, codes, classes, weight, before):
        n_classes = classes.shape[0]
        priors = None if self.priors is None else given_priors(self.priors, n_classes)
        sums = mixed_sums(rows, columns, codes, n_classes, weight)
        sums = sums if before is None else merged_sums(before, sums)
        require_squares(self, rows.numbers, sums.moments, "allow-nan")
        mean, variance, epsilon = smoothed_gaussians(sums.moments, self.var_smoothing)
        logs, error = smoothed_tables(sums.tables, self.alpha, self.handle_unknown == "smooth")

        self.classes_, self.class_count_ = classes, sums.count
        self.class_prior_ = np.exp(log_priors(sums.count)) if priors is None else priors
        self.is_categorical_, self.categories_ = columns
        self._moments, self.category_count_ = sums.moments, sums.tables
        self.theta_, self.var_, self.epsilon_ = mean, variance, epsilon
        self.category_log_prob_ = logs
        self.certificate_ = _certificate(mean, variance, error)
        return self

    def _joint(self, X):
        rows = self._rows(X)
        variance = np.maximum(self.var_, SMALLEST_VARIANCE)
        precision, half_log = 1.0 / variance, 0.5 * np.log(2 * np.pi * variance)
        log_prior = np.log(self.class_prior_)
        mean = np.ascontiguousarray(self.theta_)

        def fill(numbers, out):
            present_scores(numbers, mean, precision, half_log, log_prior, out)

        scores = fill_scores(rows.numbers, self.classes_.shape[0], fill)
        if self.category_log_prob_ and rows.codes.shape[1]:
            table = finite_logs(np.concatenate(self.category_log_prob_, axis=1).T)
            offsets = category_offsets([part.shape[1] for part in self.category_log_prob_])
            add_category_scores(rows.codes, offsets, table, scores)
        return rows.numbers, scores

    def _rows(self, X):
        """Checked rows for predictions, unseen categories treated as asked."""
        if not self.is_categorical_.any() and not hasattr(X, "columns"):
            X = check_design(self, X, accept_sparse=False, order="C", ensure_all_finite="allow-nan")
            return MixedRows(X, np.empty((X.shape[0], 0), np.int64))
        X = check_design(self, X, skip_check_array=True)
        columns = MixedColumns(self.is_categorical_, self.categories_)
        rows = read_rows(X, columns)
        where = first_unseen(X, rows, columns) if self.handle_unknown == "error" else ""
        if where:
            raise ValueError(f"{where}, which training did not see; set handle_unknown='ignore' or 'smooth'.")
        beyond = self._beyond() if self.handle_unknown == "smooth" else MISSING
        return rows._replace(codes=np.where(rows.codes == UNSEEN, beyond, rows.codes))

    def _beyond(self):
        """Codes of unseen categories by column: the place after the known ones, if the fit made one."""
        tables = zip(self.categories_, self.category_log_prob_)
        return [len(known) if table.shape[1] > len(known) else MISSING for known, table in tables]

    def _allowed_values(self):
        return "allow-nan"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def _certificate(mean, variance, error):
    """Rounding errors of the means in standard deviations, and of the sums of shares."""
    spread = np.sqrt(np.where(variance > 0, variance, 1.0))
    moved = (np.spacing(np.abs(mean)) / spread).max(initial=0.0)
    return closed_form_certificate(
        "means, variances and smoothed shares are the closed forms of maximum likelihood (shares: posterior means "
        "under the prior of alpha counts); rounding moves them by no more than the value",
        max(moved, error),
        ROUNDING,
    )
