"""What all naive Bayes classifiers share: from joint log-probabilities to answers, labels of calls, certificates."""

from typing import Any

import numpy as np

from hyperplan._base import (
    Certificate,
    check_classification_targets,
    check_finite,
    check_is_fitted,
    column_or_1d,
    encode_labels,
)
from hyperplan._base.joint_scores import JointScoresMixin

REFERENCE = "Hastie, Tibshirani, Friedman (2009), The Elements of Statistical Learning, section 6.6.3"


class NaiveBayesMixin(JointScoresMixin):
    """Joint log-probabilities, given ``_joint(X)``: checked X and ``log P(class) + log P(row | class)`` of its rows."""

    _joint: Any

    def _joint_scores(self, X):
        """Joint log-probabilities.

        NaN and infinities in X always reach them, so that one pass over X serves both.
        """
        check_is_fitted(self)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            X, scores = self._joint(X)
        if not np.isfinite(scores).all():
            check_finite(self, X, self._allowed_values())
        return scores

    def _allowed_values(self):
        return True

    def predict_joint_log_proba(self, X):
        """Logarithms of the joint probabilities of class and row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        joint : ndarray of shape (n_samples, n_classes)
            ``log P(class) + log P(row | class)``, columns in the order of `classes_`.
        """
        return self._joint_scores(X)


def classes_of_call(estimator, classes):
    """All classes of a `partial_fit`, and whether it is the first."""
    known = getattr(estimator, "classes_", None)
    if classes is None:
        if known is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return known, False
    given = np.unique(column_or_1d(np.asarray(classes)))
    if known is None:
        return given, True
    if not np.array_equal(known, given):
        raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}")
    return known, False


def codes_among(classes, y):
    """Places in the sorted `classes` of the labels `y`; an error names those that are not there."""
    check_classification_targets(y)
    labels = encode_labels(column_or_1d(y, warn=True), min_classes=1)
    strange = ~np.isin(labels.classes, classes)
    if strange.any():
        raise ValueError(
            f"The target label(s) {labels.classes[strange]} in y do not exist in the initial classes {classes}"
        )
    return np.searchsorted(classes, labels.classes)[labels.codes]


def log_priors(class_count):
    """Logarithms of the shares of the classes, -inf for a class without rows."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(class_count) - np.log(class_count.sum())


def closed_form_certificate(guarantee, value, bound, **details):
    """The equations of maximum likelihood have one solution in closed form; `value` is what rounding leaves of them."""
    return Certificate(
        kind="likelihood equations",
        guarantee=guarantee,
        value=float(value),
        bound=bound,
        assumption="given the class, columns are mutually independent",
        reference=REFERENCE,
        details=details,
    )


IMPOSSIBLE = -1e4  # stands for log 0 in sums of logarithms: below the logarithm of any positive number (-745)


def finite_logs(logs):
    """Logarithms of probabilities without -inf, whose product with a count of zero would be NaN."""
    return np.maximum(np.nan_to_num(logs, nan=0.0, neginf=IMPOSSIBLE), IMPOSSIBLE)
