"""Super learner: the convex combination of models whose cross-validated risk is smallest.

    alpha = argmin over the simplex of (1 / sum w) sum over i of w_i L(y_i, sum over m of alpha_m f_m^(-k(i))(x_i))

with f_m^(-k(i)) fitted without the fold of row i, then ``f(x) = sum over m of alpha_m f_m(x)``, f_m fitted to all rows.
L is the squared error, or for classes the logarithmic loss (or Brier score) of the mixture of probabilities: convex, so
that the minimum is found and certified.  Each single model is a corner of the simplex, so the risk is at most theirs.
"""

import warnings
from typing import NamedTuple

import numpy as np

from hyperplan._base import (
    Bool,
    Certificate,
    Choice,
    ClassifierMixin,
    ConvergenceWarning,
    Int,
    Jobs,
    Null,
    OneOf,
    Real,
    RegressorMixin,
    Seed,
    check_is_fitted,
    check_params,
    check_random_state,
    check_weight,
    column_or_1d,
    encode_labels,
    is_classifier,
)
from hyperplan._base.members import MAX_SEED, seeded_copy
from hyperplan._base.named_members import NamedMembers, member_fit_params
from hyperplan._base.out_of_fold import Learner, cross_fitted, shuffled_folds, splits_of
from hyperplan._solvers.simplex_newton import SimplexFit, simplex_newton
from hyperplan.ensemble._default_members import default_members
from hyperplan.ensemble._stacking import FOLDS
from hyperplan.ensemble._stacking_base import LIST

SMALLEST = np.finfo(np.float64).eps  # a probability of zero counts as this in logarithms, as in scikit-learn


class ConvexMix(NamedTuple):
    """Best convex weights, the cross-validated risk of each model, and how the weights were found."""

    fit: SimplexFit
    risks: np.ndarray

    def certificate(self, tol) -> Certificate:
        """The gap, beside the risk of the best single model, which the mixture's cannot exceed by more."""
        return self.fit.certificate(tol, **{"risk of the best single model": float(self.risks.min())})


def mix_squares(residuals, weight, *, tol) -> ConvexMix:
    """Weights for the mean square of ``residuals @ alpha``; residuals have one column per model.

    Since the weights sum to 1, the residual of a mixture is the mixture of the residuals: no large numbers cancel.
    """
    moments = (residuals * weight[:, None]).T @ residuals
    fit = simplex_newton(
        lambda a: (float(a @ moments @ a), 2.0 * moments @ a, 2.0 * moments),
        moments.shape[0],
        tol=tol,
    )
    return ConvexMix(fit, np.diagonal(moments).copy())


def mix_logarithms(shares, weight, *, tol) -> ConvexMix:
    """Weights for the mean of ``-log(shares @ alpha)``; column m holds model m's probability of the true class."""
    shares = np.maximum(shares, SMALLEST)

    def evaluate(a):
        mixed = shares @ a
        ratios = shares / mixed[:, None]
        weighted = ratios * weight[:, None]
        return -float(weight @ np.log(mixed)), -weighted.sum(axis=0), weighted.T @ ratios

    return ConvexMix(simplex_newton(evaluate, shares.shape[1], tol=tol), -weight @ np.log(shares))


class BaseSuperLearner(NamedMembers):
    """Cross-fitted members and convex weights."""

    _params = {
        "estimators": OneOf(LIST, Null),
        "cv": FOLDS,
        "tol": Real(gt=0.0),
        "n_jobs": Jobs,
        "random_state": Seed,
        "verbose": OneOf(Int(ge=0), Bool),
    }

    def _named(self):
        return default_members(is_classifier(self)) if self.estimators is None else self.estimators

    def _cross_fit(self, X, y, fit_params, method):
        """Members fitted to all rows and their out-of-fold answers; the row weights as shares of 1."""
        kept, random_state = self._checked_members(fit_params), check_random_state(self.random_state)
        params = member_fit_params(self, [name for name, _ in kept], fit_params)
        if self.estimators is None:
            seeds = random_state.randint(MAX_SEED, size=len(kept))
            kept = [(name, seeded_copy(member, seed)) for (name, member), seed in zip(kept, seeds)]
        splits = splits_of(self._folds(random_state), X, y, classifier=is_classifier(self))
        learners = [Learner(name, member, method, params[name]) for name, member in kept]
        level = cross_fitted(learners, X, y, splits, self.n_jobs, self._progress(learners))
        weight = check_weight(fit_params.get("sample_weight"), y)
        return level, np.full(y.shape[0], 1.0 / y.shape[0]) if weight is None else weight / weight.sum()

    def _folds(self, random_state):
        """Folds of rows in random order: those of neighbouring rows mislead when the rows are sorted."""
        if self.cv is not None and not isinstance(self.cv, int | np.integer):
            return self.cv
        return shuffled_folds(self.cv or 5, random_state.randint(MAX_SEED), classifier=is_classifier(self))

    def _progress(self, learners):
        places = {learner.name: i + 1 for i, learner in enumerate(learners)}
        label = type(self).__name__
        return (lambda name: f"[{label}] ({places[name]} of {len(places)}) Processing {name}") if self.verbose else None

    def _set_mix(self, level, mix):
        self._set_members(level.fitted)
        self.weights_ = mix.fit.weights
        self.cv_risk_ = mix.risks
        self.risk_ = float(mix.fit.objective)
        self.certificate_ = mix.certificate(self.tol)
        if not mix.fit.status.ok:
            excess = f"{mix.fit.gap:.3g} above its minimum after {mix.fit.n_iter} steps"
            warnings.warn(f"the cross-validated risk may be {excess}: raise tol", ConvergenceWarning)
        return self

    def _mixed(self, X, method):
        """``sum over m of alpha_m f_m(x)``; members of weight 0 are not asked."""
        check_is_fitted(self)
        used = [(alpha, member) for alpha, member in zip(self.weights_, self.estimators_) if alpha > 0]
        return sum(alpha * np.asarray(getattr(member, method)(X), dtype=np.float64) for alpha, member in used)


class SuperLearnerClassifier(ClassifierMixin, BaseSuperLearner):
    """Mixture of classifiers with convex weights that minimise the cross-validated loss.

    Stopping rule: the risk of the weights found is at most `tol`, relative to that of equal weights, above the minimum.

    Parameters
    ----------
    estimators : list of (str, estimator) or None, default=None
        Names and classifiers with `predict_proba`; "drop" in the place of a classifier leaves it out.  None: a logistic
        regression, a forest and histogram boosting.
    cv : int, splitter, iterable or None, default=None
        How rows are left out: a number of stratified folds of rows in random order, None for 5.
    loss : {"log_loss", "brier_score"}, default="log_loss"
        Minus the logarithm of the probability of the true class, or the squared distance to its indicator.
    tol : float, default=1e-8
        Relative excess of the risk that is tolerated.
    n_jobs : int or None, default=None
        Threads for the fits; nothing depends on it.  None: all cores for estimators of this package, one thread for
        others.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, and of the members if there are none given.
    verbose : int, default=0
        Above 0: print a line per member.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    estimators_ : list of classifiers
        Members that are not dropped, fitted to all rows; their classes are positions in `classes_`.
    named_estimators_ : Bunch
        The same by name.
    weights_ : ndarray of shape (n_estimators,)
        Weights, non-negative, of sum 1.
    cv_risk_ : ndarray of shape (n_estimators,)
        Cross-validated loss of each member.
    risk_ : float
        That of the mixture; optimistic by little, since only the weights were fitted to the same rows.
    n_features_in_ : int
        Columns seen in fit, if the members know.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    certificate_ : Certificate
        Frank-Wolfe gap of the weights: how far the risk may be above its minimum.

    References
    ----------
    van der Laan, Polley, Hubbard (2007), Super learner, Statistical Applications in Genetics and Molecular Biology 6.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import SuperLearnerClassifier
    >>> from hyperplan.linear_model import LogisticRegression
    >>> from hyperplan.tree import DecisionTreeClassifier
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> members = [("linear", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    >>> model = SuperLearnerClassifier(members, random_state=0).fit(X, X[:, 0] + X[:, 1] > 0)
    >>> bool(model.weights_[0] > 0.9), model.certificate_.holds
    (True, True)
    """

    _params = {**BaseSuperLearner._params, "loss": Choice("log_loss", "brier_score")}

    def __init__(
        self,
        estimators=None,
        *,
        cv=None,
        loss="log_loss",
        tol=1e-8,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimators = estimators
        self.cv = cv
        self.loss = loss
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, **fit_params):
        """Fit the members with and without each fold, then the weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; what values are allowed is up to the members.
        y : array-like of shape (n_samples,)
            Labels.
        **fit_params : dict
            `sample_weight` for all members and the risk; other keywords by scikit-learn's metadata routing.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        # 1 parameters
        check_params(self)
        # 2 data
        labels = encode_labels(y, min_classes=0)  # how many they need is up to the members
        # 3 maths
        level, weight = self._cross_fit(X, labels.codes, fit_params, "predict_proba")
        if self.loss == "log_loss":
            own = [answer[np.arange(weight.shape[0]), labels.codes] for answer in level.answers]
            mix = mix_logarithms(np.column_stack(own).astype(np.float64), weight, tol=self.tol)
        else:
            truth = np.eye(labels.classes.shape[0])[labels.codes]
            residuals = np.column_stack([(truth - answer).ravel() for answer in level.answers])
            mix = mix_squares(residuals, np.repeat(weight, truth.shape[1]), tol=self.tol)
        # 4 attributes
        self.classes_ = labels.classes
        return self._set_mix(level, mix)

    def predict_proba(self, X):
        """Weighted mean of the members' class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Class probabilities.
        """
        return self._mixed(X, "predict_proba")

    def predict(self, X):
        """Classes of the largest probability.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels.
        """
        shares = self.predict_proba(X)
        return self.classes_[np.argmax(shares, axis=1)]


class SuperLearnerRegressor(RegressorMixin, BaseSuperLearner):
    """Mixture of regressors with convex weights that minimise the cross-validated squared error.

    Stopping rule: the risk of the weights found is at most `tol`, relative to that of equal weights, above the minimum.

    Parameters
    ----------
    estimators : list of (str, estimator) or None, default=None
        Names and regressors; "drop" in the place of a regressor leaves it out.  None: ridge regression, a forest and
        histogram boosting.
    cv : int, splitter, iterable or None, default=None
        How rows are left out: a number of folds of rows in random order, None for 5.
    tol : float, default=1e-8
        Relative excess of the risk that is tolerated.
    n_jobs : int or None, default=None
        Threads for the fits; nothing depends on it.  None: all cores for estimators of this package, one thread for
        others.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, and of the members if there are none given.
    verbose : int, default=0
        Above 0: print a line per member.

    Attributes
    ----------
    estimators_ : list of regressors
        Members that are not dropped, fitted to all rows.
    named_estimators_ : Bunch
        The same by name.
    weights_ : ndarray of shape (n_estimators,)
        Weights, non-negative, of sum 1.
    cv_risk_ : ndarray of shape (n_estimators,)
        Cross-validated mean squared error of each member.
    risk_ : float
        That of the mixture; optimistic by little, since only the weights were fitted to the same rows.
    n_features_in_ : int
        Columns seen in fit, if the members know.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    certificate_ : Certificate
        Frank-Wolfe gap of the weights: how far the risk may be above its minimum.

    References
    ----------
    van der Laan, Polley, Hubbard (2007), Super learner, Statistical Applications in Genetics and Molecular Biology 6.
    Breiman (1996), Stacked regressions, Machine Learning 24.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import SuperLearnerRegressor
    >>> from hyperplan.linear_model import LinearRegression
    >>> from hyperplan.tree import DecisionTreeRegressor
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> members = [("linear", LinearRegression()), ("tree", DecisionTreeRegressor(random_state=0))]
    >>> model = SuperLearnerRegressor(members, random_state=0).fit(X, X @ [1.0, 2.0])
    >>> model.weights_.round(3).tolist(), model.certificate_.holds
    ([1.0, 0.0], True)
    """

    def __init__(self, estimators=None, *, cv=None, tol=1e-8, n_jobs=None, random_state=None, verbose=0):
        self.estimators = estimators
        self.cv = cv
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, **fit_params):
        """Fit the members with and without each fold, then the weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; what values are allowed is up to the members.
        y : array-like of shape (n_samples,)
            Targets.
        **fit_params : dict
            `sample_weight` for all members and the risk; other keywords by scikit-learn's metadata routing.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        # 1 parameters
        check_params(self)
        # 2 data
        y = column_or_1d(y, warn=True)
        # 3 maths
        level, weight = self._cross_fit(X, y, fit_params, "predict")
        residuals = np.column_stack([np.asarray(y - answer, dtype=np.float64) for answer in level.answers])
        mix = mix_squares(residuals, weight, tol=self.tol)
        # 4 attributes
        return self._set_mix(level, mix)

    def predict(self, X):
        """Weighted mean of the members' predictions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        predictions : ndarray of shape (n_samples,)
            Predictions.
        """
        return self._mixed(X, "predict")
