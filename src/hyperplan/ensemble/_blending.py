"""Blending: ``g(f_1(x), ..., f_M(x))``, the f_m fitted to one part of the rows and g to their answers about the rest.

Simpler and cheaper than stacking, one fit per model; the price is that the members see fewer rows, and g only the
rows set aside.
"""

import numpy as np

from hyperplan._base import (
    Bool,
    ClassifierMixin,
    Int,
    Null,
    OneOf,
    Real,
    RegressorMixin,
    Seed,
    check_consistent_length,
    check_params,
    check_random_state,
    column_or_1d,
    is_classifier,
)
from hyperplan._base.holdout import holdout_split
from hyperplan._base.members import MAX_SEED, is_own, member_map, rows_of_params, seeded_copy
from hyperplan._base.named_members import fitted_copy
from hyperplan._base.out_of_fold import LevelOne, n_rows_of, response_method, take_rows
from hyperplan.ensemble._default_members import default_members
from hyperplan.ensemble._stacking_base import LIST, BaseStacking, Lesson, StackedClasses, StackedValues
from hyperplan.linear_model import LogisticRegression, RidgeCV


class BaseBlending(BaseStacking):
    """The final estimator learns from answers about rows set aside."""

    _params = {
        **BaseStacking._params,
        "estimators": OneOf(LIST, Null),
        "blend_size": OneOf(Real(gt=0.0, lt=1.0), Int(ge=1)),
        "refit": Bool,
        "shuffle": Bool,
        "random_state": Seed,
    }

    def _named(self):
        return default_members(is_classifier(self)) if self.estimators is None else self.estimators

    def _lesson(self, learners, X, y, fit_params):
        check_consistent_length(X, y)
        random_state = check_random_state(self.random_state)
        if self.estimators is None:
            seeds = random_state.randint(MAX_SEED, size=len(learners))
            learners = [c._replace(estimator=seeded_copy(c.estimator, seed)) for c, seed in zip(learners, seeds)]
        n, report = n_rows_of(X), self._progress(learners)
        first, second = self._parts(y, n, random_state)

        def learn(learner, rows=None):
            label = report(learner.name) if report else ""
            if rows is None:
                return fitted_copy(learner.estimator, X, y, learner.params, report=label)
            params = rows_of_params(learner.params, rows, n)
            return fitted_copy(learner.estimator, take_rows(X, rows), y[rows], params, report=label)

        own = all(is_own(learner.estimator) for learner in learners)
        models = member_map(lambda learner: learn(learner, first), learners, self.n_jobs, own=own)
        methods = [response_method(learner) for learner in learners]
        rest = take_rows(X, second)
        answers = [getattr(model, method)(rest) for model, method in zip(models, methods)]
        if self.refit:
            models = member_map(learn, learners, self.n_jobs, own=own)
        fitted = {learner.name: model for learner, model in zip(learners, models)}
        self.blend_rows_ = second
        return Lesson(LevelOne(fitted, answers, methods), rest, y[second], rows_of_params(fit_params, second, n))

    def _parts(self, y, n, random_state):
        """Row numbers for the members and for the final estimator."""
        count = int(np.ceil(self.blend_size * n)) if self.blend_size < 1 else self.blend_size
        if not 0 < count < n:
            raise ValueError(
                f"n_samples={n} with blend_size={self.blend_size} leaves {n - count} rows for the members and {count} "
                "for the final estimator: both need some"
            )
        if self.shuffle:
            stratify = is_classifier(self) and y.ndim == 1
            first, second = holdout_split(y, self.blend_size, random_state, stratify=stratify)
        else:
            first, second = np.arange(n - count), np.arange(n - count, n)
        if is_classifier(self) and y.ndim == 1 and (missing := np.setdiff1d(y, y[first])).size:
            raise ValueError(
                f"the rows for the members lack the class {self.classes_[missing[0]]!r}: set shuffle=True, give that "
                "class more rows, or use StackingClassifier"
            )
        return first, second


class BlendingClassifier(ClassifierMixin, StackedClasses, BaseBlending):
    """A classifier that learns from what other models answer about rows set aside.

    Stopping rule: one fit per member (two with `refit`) and one of the final estimator.

    Parameters
    ----------
    estimators : list of (str, estimator) or None, default=None
        Names and models; "drop" in the place of a model leaves it out.  None: a logistic regression, a forest and
        histogram boosting.
    final_estimator : estimator or None, default=None
        Classifier fitted to the answers; None: `LogisticRegression`.
    blend_size : float or int, default=0.3
        Rows set aside for the final estimator, a share or a number.
    refit : bool, default=False
        Whether the members are fitted again, to all rows, after the final estimator has learned from the first fits.
    shuffle : bool, default=True
        Draw the rows set aside, each class by its share; False: take the last ones (rows in the order of time).
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        What the members are asked; "auto": the first of these that each has.
    n_jobs : int or None, default=None
        Threads for the fits; nothing depends on it.  None: all cores for estimators of this package, one thread for
        others.
    passthrough : bool, default=False
        Whether the final estimator sees X too.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw, and of the members if there are none given.
    verbose : int, default=0
        Above 0: print a line per fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    estimators_ : list of estimators
        Members that are not dropped.
    named_estimators_ : Bunch
        The same by name.
    final_estimator_ : estimator
        Fitted to the answers about the rows set aside.
    blend_rows_ : ndarray
        Numbers of the rows set aside.
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
    Toscher, Jahrer, Bell (2009), The BigChaos solution to the Netflix grand prize.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import BlendingClassifier
    >>> from hyperplan.linear_model import LogisticRegression
    >>> from hyperplan.tree import DecisionTreeClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> members = [("linear", LogisticRegression()), ("tree", DecisionTreeClassifier(random_state=0))]
    >>> model = BlendingClassifier(members, blend_size=0.25, random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> model.predict([[2.0, 2.0], [-2.0, 2.0]]).tolist(), len(model.blend_rows_)
    ([True, False], 50)
    """

    _params = {**BaseBlending._params, **BaseStacking._method_params}
    _any_kind_of_member = True

    def __init__(
        self,
        estimators=None,
        final_estimator=None,
        *,
        blend_size=0.3,
        refit=False,
        shuffle=True,
        stack_method="auto",
        n_jobs=None,
        passthrough=False,
        random_state=None,
        verbose=0,
    ):
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.blend_size = blend_size
        self.refit = refit
        self.shuffle = shuffle
        self.stack_method = stack_method
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.random_state = random_state
        self.verbose = verbose

    def _final(self):
        return LogisticRegression() if self.final_estimator is None else self.final_estimator

    def fit(self, X, y, **fit_params):
        """Fit the members to one part and the final estimator to the other.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; what values are allowed is up to the members.
        y : array-like of shape (n_samples,)
            Labels.
        **fit_params : dict
            `sample_weight` for all members and the final estimator; other keywords by scikit-learn's metadata routing.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        check_params(self)
        return self._fit_stack(X, self._encoded(y), fit_params)


class BlendingRegressor(RegressorMixin, StackedValues, BaseBlending):
    """A regressor that learns from what other regressors predict for rows set aside.

    Stopping rule: one fit per member (two with `refit`) and one of the final estimator.

    Parameters
    ----------
    estimators : list of (str, estimator) or None, default=None
        Names and regressors; "drop" in the place of a regressor leaves it out.  None: ridge regression, a forest and
        histogram boosting.
    final_estimator : estimator or None, default=None
        Regressor fitted to the predictions; None: `RidgeCV`.
    blend_size : float or int, default=0.3
        Rows set aside for the final estimator, a share or a number.
    refit : bool, default=False
        Whether the members are fitted again, to all rows, after the final estimator has learned from the first fits.
    shuffle : bool, default=True
        Draw the rows set aside; False: take the last ones (rows in the order of time).
    n_jobs : int or None, default=None
        Threads for the fits; nothing depends on it.  None: all cores for estimators of this package, one thread for
        others.
    passthrough : bool, default=False
        Whether the final estimator sees X too.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw, and of the members if there are none given.
    verbose : int, default=0
        Above 0: print a line per fit.

    Attributes
    ----------
    estimators_ : list of estimators
        Members that are not dropped.
    named_estimators_ : Bunch
        The same by name.
    final_estimator_ : estimator
        Fitted to the predictions for the rows set aside.
    blend_rows_ : ndarray
        Numbers of the rows set aside.
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
    Toscher, Jahrer, Bell (2009), The BigChaos solution to the Netflix grand prize.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import BlendingRegressor
    >>> from hyperplan.linear_model import LinearRegression
    >>> from hyperplan.tree import DecisionTreeRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> members = [("linear", LinearRegression()), ("tree", DecisionTreeRegressor(random_state=0))]
    >>> model = BlendingRegressor(members, random_state=0).fit(X, X @ [1.0, 2.0])
    >>> model.predict([[1.0, 1.0]]).round(2).tolist()
    [3.0]
    """

    def __init__(
        self,
        estimators=None,
        final_estimator=None,
        *,
        blend_size=0.3,
        refit=False,
        shuffle=True,
        n_jobs=None,
        passthrough=False,
        random_state=None,
        verbose=0,
    ):
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.blend_size = blend_size
        self.refit = refit
        self.shuffle = shuffle
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.random_state = random_state
        self.verbose = verbose

    def _final(self):
        return RidgeCV() if self.final_estimator is None else self.final_estimator

    def fit(self, X, y, **fit_params):
        """Fit the members to one part and the final estimator to the other.

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
