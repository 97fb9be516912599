"""Calibration: probabilities from the scores of a classifier, learnt on rows that the classifier has not seen.

ensemble       for each fold: classifier without the fold, calibrator on the fold; probabilities are averaged
no ensemble    one calibrator on the out-of-fold scores of all rows, one classifier on all rows
frozen         the classifier is fitted already; the calibrator is fitted to the rows given
"""

import warnings
from dataclasses import dataclass

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    Bool,
    Choice,
    ClassifierMixin,
    Int,
    Is,
    Jobs,
    MetadataRouter,
    MetaEstimatorMixin,
    MethodMapping,
    Null,
    OneOf,
    check_consistent_length,
    check_is_fitted,
    check_params,
    check_weight,
    clone,
    column_or_1d,
    get_config,
    has_fit_parameter,
    process_routing,
)
from hyperplan._base.calibration import FrozenEstimator
from hyperplan._base.labels import encode_labels
from hyperplan._base.member_certificates import gathered_certificate
from hyperplan._base.members import get_tags, is_own, member_map, rows_of_params
from hyperplan._base.model_selection import LeaveOneOut, check_cv
from hyperplan._base.out_of_fold import Learner, fold_answers, n_rows_of, response_method, take_rows
from hyperplan.calibration._calibrators import TINY, IsotonicCalibrator, SigmoidCalibrator, TemperatureCalibrator
from hyperplan.svm import LinearSVC

PER_CLASS = {"sigmoid": SigmoidCalibrator, "isotonic": IsotonicCalibrator}
RESPONSES = ("decision_function", "predict_proba")
CAN_SCORE = Is(
    lambda value: hasattr(value, "fit") and any(hasattr(value, name) for name in RESPONSES),
    "an object implementing 'fit' and 'predict_proba' or an object implementing 'fit' and 'decision_function'",
)
SPLITTER = Is(
    lambda value: not isinstance(value, str) and (hasattr(value, "split") or hasattr(value, "__iter__")),
    "an object with a 'split' method, an iterable of (train, test) row numbers",
)


@dataclass
class CalibratedClassifier:
    """A fitted classifier, the calibrators of its scores, and all labels (it may have met some of them only)."""

    estimator: object
    calibrators: list
    classes: np.ndarray
    method: str

    def predict_proba(self, X):
        """Calibrated probabilities, one column per label."""
        scores, name = responses(self.estimator, X)
        columns = met_classes(self.estimator, self.classes)
        probabilities = np.zeros((scores.shape[0], len(self.classes)))
        if self.method == "temperature":
            found = self.calibrators[0].predict(as_logits(scores, name))
            probabilities[:, columns] = found
            return probabilities
        for column, one, calibrator in zip(columns[-scores.shape[1] :], scores.T, self.calibrators):
            probabilities[:, column] = calibrator.predict(one)
        if scores.shape[1] == 1:  # of two classes, the scores are about the second
            probabilities[:, columns[0]] = 1.0 - probabilities[:, columns[-1]]
            return probabilities
        sums = probabilities.sum(axis=1, keepdims=True)
        uniform = np.full_like(probabilities, 1.0 / len(self.classes))
        return np.divide(probabilities, sums, out=uniform, where=sums != 0)


def responses(estimator, X):
    """Scores (n, 1) of two classes or (n, K) of more, and the method that gave them."""
    name = response_method(Learner(type(estimator).__name__, estimator, RESPONSES, {}))
    scores = np.asarray(getattr(estimator, name)(X), dtype=np.float64)
    return one_column(scores, name), name


def one_column(scores, name):
    """Two probabilities are one score, that of the second class."""
    if name == "predict_proba" and scores.shape[1] == 2:
        scores = scores[:, 1]
    return scores.reshape(scores.shape[0], -1)


def met_classes(estimator, classes):
    """Which of the labels an estimator knows, as positions."""
    return np.searchsorted(classes, estimator.classes_)


def as_logits(scores, name):
    """Scores of all classes whose exponentials are proportional to probabilities at beta = 1 (or some other)."""
    if name == "predict_proba":
        shares = np.column_stack([1.0 - scores, scores]) if scores.shape[1] == 1 else scores
        return np.log(shares + TINY)
    return np.column_stack([-scores, scores]) if scores.shape[1] == 1 else scores


def calibrated(estimator, scores, name, codes, classes, method, weight):
    """A fitted classifier together with calibrators, fitted to its scores of rows with labels ``classes[codes]``."""
    columns = met_classes(estimator, classes)
    if method == "temperature":
        place = np.full(len(classes), -1)
        place[columns] = np.arange(len(columns))
        known = np.flatnonzero(place[codes] >= 0)  # no temperature makes an unknown class more likely
        part = None if weight is None else weight[known]
        calibrators = [TemperatureCalibrator().fit(as_logits(scores, name)[known], place[codes[known]], part)]
    else:
        columns = columns[-scores.shape[1] :]
        make = PER_CLASS[method]
        calibrators = [make().fit(one, codes == column, weight) for column, one in zip(columns, scores.T)]
    return CalibratedClassifier(estimator, calibrators, classes, method)


class CalibratedClassifierCV(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier whose probabilities are calibrated on rows that it has not seen.

    Objective: that of the estimator; then log loss ("sigmoid", "temperature") or squared loss ("isotonic") of the
    calibrators.  Stopping rule: Newton's decrement or the gap to the tangent for the log losses; the isotonic fit is
    exact.

    Parameters
    ----------
    estimator : estimator object or None, default=None
        Classifier with decisions or probabilities; None: `LinearSVC`.  A classifier that is fitted already is given as
        scikit-learn's ``FrozenEstimator(classifier)``, with rows that it has not seen.
    method : {"sigmoid", "isotonic", "temperature"}, default="sigmoid"
        How scores become probabilities.  "isotonic" needs many rows (1000 and more); "temperature" never changes which
        class is most probable.
    cv : int, splitter, iterable or None, default=None
        How rows are left out: a number of stratified folds, None for 5.
    n_jobs : int or None, default=None
        Threads for the fits; nothing depends on it.  None: all cores for estimators of this package, one thread for
        others.
    ensemble : bool or "auto", default="auto"
        Whether the classifiers of all folds are kept and their probabilities averaged, or one classifier is fitted to
        all rows.  "auto": an ensemble unless the estimator is frozen.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    calibrated_classifiers_ : list
        Fitted classifiers with their calibrators; one, or one per fold.
    n_features_in_ : int
        Columns seen in fit, if the estimator knows.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.
    certificate_ : Certificate
        That of the calibrator closest to breaking its promise.

    References
    ----------
    Platt (2000), Probabilistic outputs for support vector machines.  Zadrozny, Elkan (2002), Transforming classifier
    scores into accurate multiclass probability estimates.  Guo, Pleiss, Sun, Weinberger (2017), On calibration of
    modern neural networks.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.calibration import CalibratedClassifierCV
    >>> from hyperplan.svm import LinearSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 1))
    >>> y = rng.random(400) < 1 / (1 + np.exp(-2 * X[:, 0]))
    >>> model = CalibratedClassifierCV(LinearSVC(), cv=3).fit(X, y)
    >>> model.predict_proba([[0.0], [1.0]])[:, 1].round(1).tolist()
    [0.5, 0.9]
    """

    _params = {
        "estimator": OneOf(CAN_SCORE, Null),
        "method": Choice("isotonic", "sigmoid", "temperature"),
        "cv": OneOf(Int(ge=2), SPLITTER, Null),
        "n_jobs": Jobs,
        "ensemble": OneOf(Bool, Choice("auto")),
    }

    def __init__(self, estimator=None, *, method="sigmoid", cv=None, n_jobs=None, ensemble="auto"):
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.n_jobs = n_jobs
        self.ensemble = ensemble

    def _get_estimator(self):
        if self.estimator is not None:
            return self.estimator
        default = LinearSVC(random_state=0)
        return default.set_fit_request(sample_weight=True) if get_config()["enable_metadata_routing"] else default

    def fit(self, X, y, sample_weight=None, **fit_params):
        """Fit classifiers and calibrators.

        Parameters
        ----------
        X : array-like, sparse matrix or list of length n_samples
            Rows, as the estimator takes them.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights, for the calibrators and for the estimator if it takes them.
        **fit_params : dict
            Keywords for the fit of the estimator; with scikit-learn's metadata routing, also for the splitter.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        # 1 parameters
        check_params(self)
        estimator = self._get_estimator()
        is_frozen = isinstance(estimator, FrozenEstimator)
        # 2 data
        check_consistent_length(X, y)
        y = column_or_1d(y, warn=True)
        labels = encode_labels(y, min_classes=0)
        weight = check_weight(sample_weight, labels.codes, allow_negative=True)
        params, split_params = self._routed(estimator, weight, fit_params)
        self._check_folds(labels.codes)
        # 3 maths
        keep_all = not is_frozen if isinstance(self.ensemble, str) else self.ensemble
        job = (estimator, X, y, labels, weight, params)
        fit = self._fit_folds if keep_all else self._fit_frozen if is_frozen else self._fit_once
        members = fit(*job, split_params)
        # 4 attributes
        self.classes_ = labels.classes
        self.calibrated_classifiers_ = members
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(members[0].estimator, name):
                setattr(self, name, getattr(members[0].estimator, name))
        return self

    def _routed(self, estimator, weight, fit_params):
        """Keywords for the estimator's fit and for the splitter."""
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", sample_weight=weight, **fit_params)
            return dict(routed.estimator.fit), dict(routed.splitter.split)
        params = dict(fit_params)
        if weight is not None and has_fit_parameter(estimator, "sample_weight"):
            params["sample_weight"] = weight
        elif weight is not None and not isinstance(estimator, FrozenEstimator):
            warnings.warn(
                f"Since {type(estimator).__name__} does not appear to accept sample_weight, sample weights will only "
                "be used for the calibration itself: its probabilities are then likely to be off."
            )
        return params, {}

    def _check_folds(self, codes):
        n_folds = self.cv if isinstance(self.cv, int) else getattr(self.cv, "n_splits", None)
        if n_folds and codes.size and np.bincount(codes).min() < n_folds:
            raise ValueError(
                f"Requesting {n_folds}-fold cross-validation but provided less than {n_folds} examples for at least "
                "one class."
            )
        if isinstance(self.cv, LeaveOneOut):
            raise ValueError(
                "LeaveOneOut cross-validation does not allow all classes to be present in test splits. Please use a "
                "cross-validation generator that allows all classes to appear in every test and train split."
            )

    def _splits(self, X, y, split_params):
        return list(check_cv(self.cv, y, classifier=True).split(X, y, **split_params))

    def _fit_folds(self, estimator, X, y, labels, weight, params, split_params):
        """One classifier per fold, calibrated on what it has not seen."""

        def work(split):
            train, test = split
            model = clone(estimator).fit(take_rows(X, train), y[train], **rows_of_params(params, train, len(y)))
            scores, name = responses(model, take_rows(X, test))
            own = None if weight is None else weight[test]
            return calibrated(model, scores, name, labels.codes[test], labels.classes, self.method, own)

        return member_map(work, self._splits(X, y, split_params), self.n_jobs, own=is_own(estimator))

    def _fit_once(self, estimator, X, y, labels, weight, params, split_params):
        """One classifier, calibrated on out-of-fold scores."""
        learner = Learner(type(estimator).__name__, estimator, RESPONSES, params)
        splits = self._splits(X, y, split_params)
        tests = np.concatenate([test for _, test in splits])
        if not np.array_equal(np.sort(tests), np.arange(len(y))):
            raise ValueError("cross_val_predict only works for partitions: cv must leave out every row exactly once")

        def work(split):
            if split is None:
                return clone(estimator).fit(X, y, **params)
            return fold_answers(learner, X, labels.codes, *split)

        model, *folds = member_map(work, [None, *splits], self.n_jobs, own=is_own(estimator))
        answers = np.concatenate([np.asarray(fold, dtype=np.float64) for fold in folds])
        name, ordered = response_method(learner), np.empty_like(answers)
        ordered[tests] = answers
        scores = one_column(ordered, name)
        return [calibrated(model, scores, name, labels.codes, labels.classes, self.method, weight)]

    def _fit_frozen(self, estimator, X, y, labels, weight, params, split_params):
        """The classifier as it is; no row needs to be left out."""
        scores, name = responses(estimator, X)
        return [calibrated(estimator, scores, name, labels.codes, labels.classes, self.method, weight)]

    def predict_proba(self, X):
        """Calibrated probabilities, averaged over the members.

        Parameters
        ----------
        X : array-like, sparse matrix or list of length n_samples
            Rows, as the estimator takes them.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        check_is_fitted(self)
        members = self.calibrated_classifiers_
        own = all(is_own(member.estimator) for member in members)
        found = member_map(lambda member: member.predict_proba(X), members, self.n_jobs, own=own)
        total = np.zeros((n_rows_of(X), len(self.classes_)))
        for probabilities in found:
            total += probabilities
        return total / len(members)

    def predict(self, X):
        """The label with the highest calibrated probability.

        Parameters
        ----------
        X : array-like, sparse matrix or list of length n_samples
            Rows, as the estimator takes them.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels.
        """
        check_is_fitted(self)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    @property
    def certificate_(self):
        """That of the calibrator closest to breaking its promise."""
        check_is_fitted(self)
        return gathered_certificate([one for member in self.calibrated_classifiers_ for one in member.calibrators])

    def get_metadata_routing(self):
        """Where metadata goes: to the fit of the estimator and to the splitter.

        Returns
        -------
        routing : MetadataRouter
            Routing information.
        """
        fit_to_fit = MethodMapping().add(caller="fit", callee="fit")
        fit_to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self._get_estimator(), method_mapping=fit_to_fit)
        return router.add(splitter=self.cv, method_mapping=fit_to_split)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._get_estimator()).input_tags
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.allow_nan = inner.allow_nan
        return tags
