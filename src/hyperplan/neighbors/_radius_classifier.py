"""Classification by the rows within a radius.

Rule: the class with the largest total weight among the rows within the radius; of equal totals the first class in
order.  A query with no row that near is an outlier.  There is nothing to optimise.
"""

import warnings

import numpy as np

from hyperplan._base import ClassifierMixin, Int, Is, Null, OneOf, check_is_fitted
from hyperplan.neighbors._nearest_base import RADIUS, SEARCH_PARAMS, NeighborsBase, RadiusNeighborsMixin
from hyperplan.neighbors._nearest_index import as_objects
from hyperplan.neighbors._nearest_votes import NO_WEIGHTS, WEIGHTS, inverse_distances, votes_of

OUTLIER = OneOf(
    Int(),
    Is(lambda value: isinstance(value, str), "an instance of 'str'"),
    Is(lambda value: hasattr(value, "__len__") and not isinstance(value, str | dict), "an array-like"),
    Null,
)


def radius_weights(lists, weights):
    """Weights of the neighbours within a radius; an empty array when each counts one."""
    if weights in (None, "uniform"):
        return NO_WEIGHTS
    if weights == "distance":
        return inverse_distances(lists)
    given = weights(as_objects(lists.distances, lists.starts))
    parts = [np.broadcast_to(np.asarray(part, dtype=np.float64), n) for part, n in zip(given, np.diff(lists.starts))]
    return np.concatenate([np.empty(0), *parts])


class RadiusNeighborsClassifier(RadiusNeighborsMixin, ClassifierMixin, NeighborsBase):
    """Majority of the rows within a radius.

    Parameters
    ----------
    radius : float, default=1.0
        How far to look.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        What a neighbour counts: one, the inverse of its distance (rows at distance zero then count alone), or a
        function of an array of arrays of distances.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}, default="auto"
        How to search: in a tree, or all rows.  Answers are the same.
    leaf_size : int, default=30
        Accepted for compatibility: leaves hold 16 rows, and answers do not depend on it.
    p : float, default=2
        Power of the Minkowski distance.
    metric : str or callable, default="minkowski"
        Distance: a name of `VALID_METRICS`, "precomputed", or a function of two rows.
    outlier_label : label, "most_frequent", array-like of labels (one per target) or None, default=None
        Answer for a query with an empty neighbourhood; None: an error.
    metric_params : dict, default=None
        More parameters of the distance: ``w``, ``V``, ``VI``, or those of a function.
    n_jobs : int, default=None
        Threads; None means all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them
        Labels, for each target.
    effective_metric_ : str or callable
        Distance in use.
    effective_metric_params_ : dict
        Its parameters.
    n_samples_fit_ : int
        Rows of the fit.
    outlier_label_ : list or None
        Label of outliers, for each target.
    outputs_2d_ : bool
        Whether there are several targets.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.

    References
    ----------
    Fix, Hodges (1951), Discriminatory analysis: nonparametric discrimination, USAF School of Aviation Medicine.

    Examples
    --------
    >>> from hyperplan.neighbors import RadiusNeighborsClassifier
    >>> model = RadiusNeighborsClassifier(radius=1.0, outlier_label="b").fit([[0], [1], [2], [3]], list("aabb"))
    >>> model.predict([[0.5], [9.0]])
    array(['a', 'b'], dtype='<U1')
    """

    _params = {"radius": RADIUS, "weights": WEIGHTS, **SEARCH_PARAMS, "outlier_label": OUTLIER}

    def __init__(
        self,
        radius=1.0,
        *,
        weights="uniform",
        algorithm="auto",
        leaf_size=30,
        p=2,
        metric="minkowski",
        outlier_label=None,
        metric_params=None,
        n_jobs=None,
    ):
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.outlier_label = outlier_label
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Keep the rows and their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Rows, or their distances.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Labels.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        self._fit(X, y)
        self.outlier_label_ = self._labels_of_outliers()
        return self

    def _targets(self):
        """Codes and classes of each target."""
        return list(zip(self._y.T, self.classes_)) if self.outputs_2d_ else [(self._y, self.classes_)]

    def _labels_of_outliers(self):
        label, targets = self.outlier_label, self._targets()
        if label is None:
            return None
        if isinstance(label, str) and label == "most_frequent":
            return [classes[np.bincount(codes).argmax()] for codes, classes in targets]
        labels = [label] * len(targets) if isinstance(label, str) or not hasattr(label, "__len__") else label
        if len(labels) != len(targets):
            raise ValueError(
                f"The length of outlier_label: {labels} is inconsistent with the output length: {len(targets)}"
            )
        for (_, classes), one in zip(targets, labels):
            if hasattr(one, "__len__") and not isinstance(one, str):
                raise TypeError(f"The outlier_label of classes {classes} is supposed to be a scalar, got {one}.")
            if np.append(classes, one).dtype != classes.dtype:
                raise TypeError(f"The dtype of outlier_label {one} is inconsistent with classes {classes} in y.")
        return labels

    def predict(self, X):
        """Labels of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_indexed), or None
            Rows, or their distances from those of the fit; None: the rows of the fit, none of which is its own
            neighbour (leave-one-out).

        Returns
        -------
        y : ndarray of shape (n_queries,) or (n_queries, n_outputs)
            Labels.
        """
        shares = self.predict_proba(X)
        shares, classes = (shares, self.classes_) if self.outputs_2d_ else ([shares], [self.classes_])
        found = np.empty((shares[0].shape[0], len(shares)), dtype=classes[0].dtype)
        for target, some in enumerate(shares):
            found[:, target] = classes[target][some.argmax(axis=1)]
            nobody = ~some.any(axis=1)
            if nobody.any():
                found[nobody, target] = self.outlier_label_[target]
        return found if self.outputs_2d_ else found[:, 0]

    def predict_proba(self, X):
        """Shares of the classes among the rows within the radius.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features) or (n_queries, n_indexed), or None
            Rows, or their distances from those of the fit; None: the rows of the fit, none of which is its own
            neighbour (leave-one-out).

        Returns
        -------
        p : ndarray of shape (n_queries, n_classes), or a list of them
            Probabilities, for each target; all zero for outliers whose label is no class.
        """
        check_is_fitted(self, "_fit_method")
        lists = self._lists_within(X)
        outliers = np.flatnonzero(np.diff(lists.starts) == 0)
        if self.outlier_label_ is None and outliers.size:
            raise ValueError(
                f"No neighbors found for test samples {outliers!r}, you can try using larger radius, giving a label "
                "for outliers, or considering removing them from your dataset."
            )
        weights = radius_weights(lists, self.weights)
        shares = []
        for target, (codes, classes) in enumerate(self._targets()):
            votes = votes_of(codes, len(classes), lists, weights, self.n_jobs)
            if outliers.size:
                self._vote_for_outliers(votes, outliers, classes, self.outlier_label_[target])
            total = votes.sum(axis=1, keepdims=True)
            total[total == 0.0] = 1.0
            shares.append(votes / total)
        return shares if self.outputs_2d_ else shares[0]

    def _vote_for_outliers(self, votes, outliers, classes, label):
        place = np.flatnonzero(classes == label)
        if place.size == 1:
            votes[outliers, place[0]] = 1.0
        else:
            warnings.warn(
                f"Outlier label {label} is not in training classes. All class probabilities of outliers will be "
                "assigned with 0.",
                stacklevel=3,
            )

    def score(self, X, y, sample_weight=None):
        """Mean accuracy.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or None
            Rows; None: those of the fit, by leave-one-out.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights.

        Returns
        -------
        score : float
            Share of the rows that are right.
        """
        return super().score(X, y, sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
