"""Stacking: ``g(f_1(x), ..., f_M(x))`` with g fitted to out-of-fold answers of the f_m.

    Z_im = f_m^(-k(i))(x_i): model m without the fold k(i) of row i;   g fitted to (Z, y);   then f_m fitted to all rows

No row of Z comes from a model that has seen the row, so g learns how far each member can be trusted on new rows.
"""

from hyperplan._base import (
    Choice,
    ClassifierMixin,
    Int,
    Is,
    Null,
    OneOf,
    RegressorMixin,
    check_is_fitted,
    check_params,
    column_or_1d,
    is_classifier,
)
from hyperplan._base.out_of_fold import LevelOne, cross_fitted, response_method, splits_of
from hyperplan.ensemble._stacking_base import BaseStacking, Lesson, StackedClasses, StackedValues
from hyperplan.linear_model import LogisticRegression, RidgeCV

SPLITTER = Is(
    lambda value: not isinstance(value, str) and (hasattr(value, "split") or hasattr(value, "__iter__")),
    "an object with a 'split' method, an iterable of (train, test) row numbers",
)
FOLDS = OneOf(Int(ge=2), SPLITTER, Null)


class OutOfFoldStacking(BaseStacking):
    """The final estimator learns from out-of-fold answers."""

    _params = {**BaseStacking._params, "cv": OneOf(FOLDS, Choice("prefit"))}

    def _lesson(self, learners, X, y, fit_params):
        if isinstance(self.cv, str):
            level = _prefit(learners, X)
        else:
            splits = splits_of(self.cv, X, y, classifier=is_classifier(self))
            level = cross_fitted(learners, X, y, splits, self.n_jobs, self._progress(learners))
        return Lesson(level, X, y, fit_params)


def _prefit(learners, X) -> LevelOne:
    """Answers of estimators that the user has fitted, to other rows if all is well."""
    methods = []
    for learner in learners:
        check_is_fitted(learner.estimator)
        methods.append(response_method(learner))
    answers = [getattr(c.estimator, method)(X) for c, method in zip(learners, methods)]
    return LevelOne({c.name: c.estimator for c in learners}, answers, methods)


class StackingClassifier(ClassifierMixin, StackedClasses, OutOfFoldStacking):
    """A classifier that learns from the out-of-fold answers of other models.

    Stopping rule: (K + 1) fits per member for K folds, and one of the final estimator.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and models; "drop" in the place of a model leaves it out.  Regressors are welcome.
    final_estimator : estimator or None, default=None
        Classifier fitted to the answers; None: `LogisticRegression`.
    cv : int, splitter, iterable, "prefit" or None, default=None
        How rows are left out: a number of (stratified) folds, None for 5.  "prefit": the members are fitted already and
        answer about X directly, which must then hold rows that they have not seen.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        What the members are asked; "auto": the first of these that each has.
    n_jobs : int or None, default=None
        Threads for the fits; nothing depends on it.  None: all cores for estimators of this package, one thread for
        others.
    passthrough : bool, default=False
        Whether the final estimator sees X too.
    verbose : int, default=0
        Above 0: print a line per member.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of ndarrays
        Labels.
    estimators_ : list of estimators
        Members that are not dropped, fitted to all rows.
    named_estimators_ : Bunch
        The same by name.
    final_estimator_ : estimator
        Fitted to the out-of-fold answers.
    stack_method_ : list of str
        What each member is asked.
    n_features_in_ : int
        Columns seen in fit, if the members know.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    certificate_ : Certificate
        That of the final estimator, if it has one.

    References
    ----------
    Wolpert (1992), Stacked generalization, Neural Networks 5.  Breiman (1996), Stacked regressions, Machine
    Learning 24.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import StackingClassifier
    >>> from hyperplan.linear_model import LogisticRegression
    >>> from hyperplan.tree import DecisionTreeClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> members = [("linear", LogisticRegression()), ("tree", DecisionTreeClassifier(random_state=0))]
    >>> model = StackingClassifier(members).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> model.predict([[2.0, 2.0], [-2.0, 2.0]]).tolist()
    [True, False]
    """

    _params = {**OutOfFoldStacking._params, **BaseStacking._method_params}
    _any_kind_of_member = True

    def __init__(
        self,
        estimators,
        final_estimator=None,
        *,
        cv=None,
        stack_method="auto",
        n_jobs=None,
        passthrough=False,
        verbose=0,
    ):
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose

    def _final(self):
        return LogisticRegression() if self.final_estimator is None else self.final_estimator

    def fit(self, X, y, **fit_params):
        """Fit the members and the final estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; what values are allowed is up to the members.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Labels, or an indicator matrix of several.
        **fit_params : dict
            `sample_weight` for all members and the final estimator; other keywords by scikit-learn's metadata routing.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        check_params(self)
        return self._fit_stack(X, self._encoded(y), fit_params)


class StackingRegressor(RegressorMixin, StackedValues, OutOfFoldStacking):
    """A regressor that learns from the out-of-fold predictions of other regressors.

    Stopping rule: (K + 1) fits per member for K folds, and one of the final estimator.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and regressors; "drop" in the place of a regressor leaves it out.
    final_estimator : estimator or None, default=None
        Regressor fitted to the predictions; None: `RidgeCV`.
    cv : int, splitter, iterable, "prefit" or None, default=None
        How rows are left out: a number of folds, None for 5.  "prefit": the members are fitted already and answer about
        X directly, which must then hold rows that they have not seen.
    n_jobs : int or None, default=None
        Threads for the fits; nothing depends on it.  None: all cores for estimators of this package, one thread for
        others.
    passthrough : bool, default=False
        Whether the final estimator sees X too.
    verbose : int, default=0
        Above 0: print a line per member.

    Attributes
    ----------
    estimators_ : list of estimators
        Members that are not dropped, fitted to all rows.
    named_estimators_ : Bunch
        The same by name.
    final_estimator_ : estimator
        Fitted to the out-of-fold predictions.
    stack_method_ : list of str
        What each member is asked.
    n_features_in_ : int
        Columns seen in fit, if the members know.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    certificate_ : Certificate
        That of the final estimator, if it has one.

    References
    ----------
    Wolpert (1992), Stacked generalization, Neural Networks 5.  Breiman (1996), Stacked regressions, Machine
    Learning 24.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import StackingRegressor
    >>> from hyperplan.linear_model import LinearRegression
    >>> from hyperplan.tree import DecisionTreeRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = StackingRegressor([("linear", LinearRegression()), ("tree", DecisionTreeRegressor(random_state=0))])
    >>> model.fit(X, X @ [1.0, 2.0]).predict([[1.0, 1.0]]).round(2).tolist()
    [3.0]
    """

    def __init__(self, estimators, final_estimator=None, *, cv=None, n_jobs=None, passthrough=False, verbose=0):
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose

    def _final(self):
        return RidgeCV() if self.final_estimator is None else self.final_estimator

    def fit(self, X, y, **fit_params):
        """Fit the members and the final estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; what values are allowed is up to the members.
        y : array-like of shape (n_samples,)
            Targets.
        **fit_params : dict
            `sample_weight` for all members and the final estimator; other keywords by scikit-learn's metadata routing.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        check_params(self)
        return self._fit_stack(X, column_or_1d(y, warn=True), fit_params)
