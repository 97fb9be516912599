"""Classification by ridge regression on signs.

Objective: for each class c (for one of two), ``sum_i w_i (s_ic - b_c - x_i' coef_c)^2 + alpha |coef_c|^2`` with
``s_ic = 1`` if row i is of class c and -1 otherwise; the class of the largest score is predicted.
"""

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    Choice,
    Is,
    LinearClassifierMixin,
    Null,
    OneOf,
    check_is_fitted,
    check_params,
    check_training,
    column_or_1d,
    compute_sample_weight,
    type_of_target,
)
from hyperplan.linear_model._ridge import RIDGE_PARAMS, fit_ridge, ridge_attributes
from hyperplan.linear_model._ridge_cv import RIDGE_CV_PARAMS, CrossValidatedRidge, float_type
from hyperplan.linear_model._ridge_folds import signs

CLASS_WEIGHT = OneOf(Is(lambda v: isinstance(v, dict), "an instance of 'dict'"), Choice("balanced"), Null)


class SignClassifierMixin(LinearClassifierMixin):
    """Data, labels and predictions of classifiers that regress on signs."""

    def _check_signs(self, X, y, sample_weight):
        X, y, weight = check_training(self, X, y, sample_weight, ensure_all_finite=False, multi_output=True)
        classes, targets = signs(y, type(self).__name__)
        multilabel = type_of_target(y).startswith("multilabel")
        if not multilabel:
            y = column_or_1d(y)
        if self.class_weight:
            per_row = compute_sample_weight(self.class_weight, y)
            weight = per_row if weight is None else weight * per_row
        return X, y, weight, classes, targets, multilabel

    def predict(self, X):
        """Class labels of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Labels; for multilabel problems the matrix of 0 and 1.
        """
        check_is_fitted(self)
        if not self._multilabel:
            return super().predict(X)
        scores = self.decision_function(X)
        return (scores > 0).astype(np.intp).reshape(scores.shape[0], -1)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class RidgeClassifier(SignClassifierMixin, BaseEstimator):
    """Classifier by ridge regression on signs.

    Two classes: the sign of one ridge regression on {-1, 1}.  More: one regression per class, the largest score wins.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    copy_X : bool, default=True
        Accepted for compatibility; X is never overwritten.
    max_iter : int, default=None
        Most iterations of an iterative solver.
    tol : float, default=1e-4
        Stopping rule of an iterative solver, see `Ridge`.
    class_weight : dict or 'balanced', default=None
        Weights of classes; 'balanced' gives every class the same total.
    solver : {'auto', 'svd', 'cholesky', 'lsqr', 'sparse_cg', 'sag', 'saga', 'lbfgs'}, default='auto'
        See `Ridge`.
    positive : bool, default=False
        Constrain the coefficients to be non-negative.
    random_state : int, RandomState instance or None, default=None
        Order of rows for 'sag' and 'saga'.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        Coefficients; flat for two classes.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercepts.
    n_iter_ : None or ndarray of shape (n_targets,)
        Iterations of 'lsqr', 'sag' and 'saga'.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    solver_ : str
        The solver that was used.
    certificate_ : Certificate
        Gradient of the objective at the solution, relative to its scale.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, section 4.2.

    Examples
    --------
    >>> from hyperplan.linear_model import RidgeClassifier
    >>> RidgeClassifier().fit([[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]).predict([[0.5], [3.5]])
    array(['no', 'yes'], dtype='<U3')
    """

    _params = {**RIDGE_PARAMS, "class_weight": CLASS_WEIGHT}

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        copy_X=True,
        max_iter=None,
        tol=1e-4,
        class_weight=None,
        solver="auto",
        positive=False,
        random_state=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Labels, or a matrix of 0 and 1 for several labels per row.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights of rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        # 1. parameters
        check_params(self)
        # 2. data (NaN and infinities show up in the sums)
        X, y, weight, classes, targets, multilabel = self._check_signs(X, y, sample_weight)
        # 3. maths
        fit = fit_ridge(self, X, targets, weight)
        # 4. attributes
        self.classes_ = classes
        self._multilabel = multilabel
        self.coef_, self.intercept_ = ridge_attributes(fit, 2, X.dtype, self.fit_intercept)
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.solver != "svd" and (self.solver != "cholesky" or not self.fit_intercept)
        return tags


class RidgeClassifierCV(CrossValidatedRidge, SignClassifierMixin, BaseEstimator):
    """Ridge classifier with the penalty chosen by cross-validation.

    By default exact leave-one-out for all penalties from one eigendecomposition, see `RidgeCV`.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=(0.1, 1.0, 10.0)
        Penalties to try; positive (0 is allowed with `cv`).
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    scoring : str, callable or None, default=None
        Scorer; None is minus the mean squared error for leave-one-out, accuracy with `cv`.
    cv : int, splitter, iterable or None, default=None
        None is leave-one-out; otherwise as in scikit-learn.
    class_weight : dict or 'balanced', default=None
        Weights of classes.
    store_cv_results : bool, default=False
        Keep squared errors (or scores, with `scoring`) of every row and penalty; leave-one-out only.

    Attributes
    ----------
    cv_results_ : ndarray of shape (n_samples, n_targets, n_alphas)
        With ``store_cv_results=True``.
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients; flat for two classes.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercepts.
    alpha_ : float
        The chosen penalty.
    best_score_ : float
        Its score.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    certificate_ : Certificate
        Gradient of the objective at the solution, relative to its scale.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Golub, Heath and Wahba (1979), Generalized cross-validation, Technometrics 21.

    Examples
    --------
    >>> from hyperplan.linear_model import RidgeClassifierCV
    >>> model = RidgeClassifierCV().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.predict([[0.5], [3.5]])
    array([0, 1])
    """

    _params = {
        **{name: rule for name, rule in RIDGE_CV_PARAMS.items() if name not in ("gcv_mode", "alpha_per_target")},
        "class_weight": CLASS_WEIGHT,
    }
    _default_scorer = "accuracy"
    _searched = RidgeClassifier

    def __init__(
        self,
        alphas=(0.1, 1.0, 10.0),
        *,
        fit_intercept=True,
        scoring=None,
        cv=None,
        class_weight=None,
        store_cv_results=False,
    ):
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.class_weight = class_weight
        self.store_cv_results = store_cv_results

    def fit(self, X, y, sample_weight=None, **params):
        """Choose the penalty and fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Labels, or a matrix of 0 and 1 for several labels per row.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weights of rows.
        **params : dict
            Parameters for the scorer and the splitter, with scikit-learn's metadata routing.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_params(self)
        self._require_routing(params)
        dtype = float_type(X)
        X, y, weight, self.classes_, targets, self._multilabel = self._check_signs(X, y, sample_weight)
        searched = targets if self.cv is None else y
        return self._fit_choice(X, searched, targets, weight, dtype, params, weight)
