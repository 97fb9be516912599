"""Voting: ``argmax over classes of sum over m of alpha_m p_m(x)``, or ``sum over m of alpha_m f_m(x)``.

Different models m are fitted to the same rows; p_m are votes (0 or 1) or class probabilities, the weights alpha_m are
given by the user, equal if not.  Nothing is learned beyond the members: see `SuperLearnerClassifier` for weights that
are.  For labels -1 and 1 a hard vote is ``sign(sum over m of alpha_m C_m(x))``.
"""

import numpy as np

from hyperplan._base import (
    ArrayLike,
    Bool,
    Choice,
    ClassifierMixin,
    Int,
    Is,
    Jobs,
    Null,
    OneOf,
    RegressorMixin,
    TransformerMixin,
    available_if,
    check_is_fitted,
    check_params,
    column_or_1d,
    type_of_target,
)
from hyperplan._base.members import is_own, member_map
from hyperplan._base.named_members import NamedMembers, fitted_copy, input_names, is_dropped, member_fit_params
from hyperplan._base.preprocessing import LabelEncoder

LIST = Is(lambda value: isinstance(value, list), "an instance of 'list'")


class BaseVoting(TransformerMixin, NamedMembers):
    """Members fitted to the same rows, and the weights of their answers."""

    _params = {
        "estimators": LIST,
        "weights": OneOf(ArrayLike, Null),
        "n_jobs": Jobs,
        "verbose": OneOf(Int(ge=0), Bool),
    }

    def _fit_members(self, X, y, fit_params):
        kept = self._checked_members(fit_params)
        if self.weights is not None and len(self.weights) != len(self.estimators):
            raise ValueError(
                f"Number of `estimators` and weights must be equal; got {len(self.weights)} weights, "
                f"{len(self.estimators)} estimators"
            )
        params = member_fit_params(self, [name for name, _ in kept], fit_params)
        places = {name: i + 1 for i, (name, _) in enumerate(self.estimators)}

        def work(item):
            name, member = item
            report = f"[Voting] ({places[name]} of {len(places)}) Processing {name}" if self.verbose else ""
            return fitted_copy(member, X, y, params[name], report=report)

        fitted = member_map(work, kept, self.n_jobs, own=all(is_own(member) for _, member in kept))
        self._set_members({name: model for (name, _), model in zip(kept, fitted)})

    def _alphas(self):
        """Weights of the members that are not dropped, or None for equal ones."""
        if self.weights is None:
            return None
        return np.array([w for (_, member), w in zip(self.estimators, self.weights) if not is_dropped(member)])

    def _predictions(self, X):
        """What each member predicts, in columns."""
        return np.column_stack([member.predict(X) for member in self.estimators_])

    def fit_transform(self, X, y=None, **fit_params):
        """Fit, and return the members' answers for the same rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Targets.
        **fit_params : dict
            As for `fit`.

        Returns
        -------
        answers : ndarray
            See `transform`.
        """
        return self.fit(X, y, **fit_params).transform(X)

    def _names_out(self, input_features, n_columns):
        check_is_fitted(self)
        input_names(self, input_features, generate=False)
        prefix = type(self).__name__.lower()
        kept = [name for name, member in self.estimators if not is_dropped(member)]
        endings = range(n_columns) if n_columns else [""]
        return np.array([f"{prefix}_{name}{ending}" for name in kept for ending in endings], dtype=object)


def _is_soft(ensemble):
    if ensemble.voting == "hard":
        raise AttributeError(f"predict_proba is not available when voting={ensemble.voting!r}")
    return True


class VotingClassifier(ClassifierMixin, BaseVoting):
    """Majority of different classifiers, or their average probabilities.

    Stopping rule: one fit per member.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and classifiers; "drop" in the place of a classifier leaves it out.
    voting : {"hard", "soft"}, default="hard"
        "hard": the class of most votes (of the smaller label among equals); "soft": the class of the largest mean
        probability, for members whose probabilities can be believed.
    weights : array-like of shape (n_estimators,) or None, default=None
        Weights of the members; None: equal.
    n_jobs : int or None, default=None
        Threads for the fits; the members do not depend on it.  None: all cores for estimators of this package, one
        thread for others.
    flatten_transform : bool, default=True
        Whether `transform` with soft voting returns one row per row of X, else one table per member.
    verbose : bool, default=False
        Print a line per member.

    Attributes
    ----------
    estimators_ : list of classifiers
        Members that are not dropped; their classes are numbers, positions in `classes_`.
    named_estimators_ : Bunch
        The same by name.
    le_ : LabelEncoder
        Between labels and their numbers.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Columns seen in fit, if the members know.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.

    References
    ----------
    Kuncheva (2014), Combining pattern classifiers, chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import VotingClassifier
    >>> from hyperplan.linear_model import LogisticRegression
    >>> from hyperplan.tree import DecisionTreeClassifier
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> members = [("linear", LogisticRegression()), ("tree", DecisionTreeClassifier())]
    >>> model = VotingClassifier(members, voting="soft").fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[-3.0], [3.0]]).tolist()
    ['no', 'yes']
    """

    _params = {**BaseVoting._params, "voting": Choice("hard", "soft"), "flatten_transform": Bool}

    def __init__(self, estimators, *, voting="hard", weights=None, n_jobs=None, flatten_transform=True, verbose=False):
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.n_jobs = n_jobs
        self.flatten_transform = flatten_transform
        self.verbose = verbose

    def fit(self, X, y, **fit_params):
        """Fit the members.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; what values are allowed is up to the members.
        y : array-like of shape (n_samples,)
            Labels.
        **fit_params : dict
            `sample_weight` for all members; other keywords by scikit-learn's metadata routing.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        # 1 parameters
        check_params(self)
        # 2 data
        kind = type_of_target(y, input_name="y")
        if kind in ("unknown", "continuous"):
            raise ValueError(
                f"Unknown label type: {kind}. Maybe you are trying to fit a classifier, which expects discrete classes "
                "on a regression target with continuous values."
            )
        if kind not in ("binary", "multiclass"):
            raise ValueError(
                f"{type(self).__name__} only supports binary or multiclass classification. Multilabel and multi-output "
                "classification are not supported: fit one ensemble per output."
            )
        encoder = LabelEncoder().fit(y)
        # 3 maths
        self._fit_members(X, encoder.transform(y), fit_params)
        # 4 attributes
        self.le_ = encoder
        self.classes_ = encoder.classes_
        return self

    def predict(self, X):
        """Classes of most votes, or of the largest mean probability.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels.
        """
        check_is_fitted(self)
        if self.voting == "soft":
            return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        votes = self._predictions(X)
        alphas = np.ones(votes.shape[1]) if self.weights is None else self._alphas()
        totals = np.zeros((votes.shape[0], self.classes_.shape[0]))
        rows = np.arange(votes.shape[0])
        for column, alpha in zip(votes.T, alphas):
            totals[rows, column] += alpha
        return self.classes_[np.argmax(totals, axis=1)]

    @available_if(_is_soft)
    def predict_proba(self, X):
        """Weighted mean of the members' class probabilities; with soft voting only.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Class probabilities.
        """
        check_is_fitted(self)
        return np.average(self._shares(X), axis=0, weights=self._alphas())

    def _shares(self, X):
        return np.asarray([member.predict_proba(X) for member in self.estimators_])

    def transform(self, X):
        """Answers of each member.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        answers : ndarray
            With hard voting the predicted classes as numbers, (n_samples, n_estimators); with soft voting the
            probabilities, (n_samples, n_estimators * n_classes), or (n_estimators, n_samples, n_classes) without
            `flatten_transform`.
        """
        check_is_fitted(self)
        if self.voting == "hard":
            return self._predictions(X)
        shares = self._shares(X)
        return np.hstack(shares) if self.flatten_transform else shares

    def get_feature_names_out(self, input_features=None):
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Checked against the names seen in fit, else unused.

        Returns
        -------
        names : ndarray of str
            Names.
        """
        check_is_fitted(self)
        if self.voting == "soft" and not self.flatten_transform:
            raise ValueError(
                "get_feature_names_out is not supported when `voting='soft'` and `flatten_transform=False`"
            )
        return self._names_out(input_features, self.classes_.shape[0] if self.voting == "soft" else 0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


class VotingRegressor(RegressorMixin, BaseVoting):
    """Weighted mean of different regressors.

    Stopping rule: one fit per member.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Names and regressors; "drop" in the place of a regressor leaves it out.
    weights : array-like of shape (n_estimators,) or None, default=None
        Weights of the members; None: equal.
    n_jobs : int or None, default=None
        Threads for the fits; the members do not depend on it.  None: all cores for estimators of this package, one
        thread for others.
    verbose : bool, default=False
        Print a line per member.

    Attributes
    ----------
    estimators_ : list of regressors
        Members that are not dropped.
    named_estimators_ : Bunch
        The same by name.
    n_features_in_ : int
        Columns seen in fit, if the members know.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.

    References
    ----------
    Krogh, Vedelsby (1995), Neural network ensembles, cross validation, and active learning.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.ensemble import VotingRegressor
    >>> from hyperplan.linear_model import LinearRegression
    >>> from hyperplan.tree import DecisionTreeRegressor
    >>> X = np.arange(6.0)[:, None]
    >>> model = VotingRegressor([("linear", LinearRegression()), ("tree", DecisionTreeRegressor())], weights=[3, 1])
    >>> model.fit(X, 2 * X[:, 0]).predict([[10.0]]).round(6).tolist()
    [17.5]
    """

    def __init__(self, estimators, *, weights=None, n_jobs=None, verbose=False):
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y, **fit_params):
        """Fit the members.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; what values are allowed is up to the members.
        y : array-like of shape (n_samples,)
            Targets.
        **fit_params : dict
            `sample_weight` for all members; other keywords by scikit-learn's metadata routing.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        check_params(self)
        self._fit_members(X, column_or_1d(y, warn=True), fit_params)
        return self

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
        check_is_fitted(self)
        return np.average(self._predictions(X), axis=1, weights=self._alphas())

    def transform(self, X):
        """Predictions of each member.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        predictions : ndarray of shape (n_samples, n_estimators)
            Predictions.
        """
        check_is_fitted(self)
        return self._predictions(X)

    def get_feature_names_out(self, input_features=None):
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Checked against the names seen in fit, else unused.

        Returns
        -------
        names : ndarray of str
            Names.
        """
        return self._names_out(input_features, 0)
