"""What models with centres share: first centres, answers for new rows, parameters."""

import warnings

import numpy as np

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Bool,
    Choice,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    Int,
    Is,
    OneOf,
    Real,
    Seed,
    TransformerMixin,
    check_array,
    check_design,
    check_is_fitted,
    check_weight,
)
from hyperplan._solvers.k_means import nearest_centres, rows_of, total_gap
from hyperplan._solvers.k_means_seeds import spread_seeds
from hyperplan.metrics import euclidean_distances

CENTRE_PARAMS = {
    "n_clusters": Int(ge=1),
    "init": OneOf(Choice("k-means++", "random"), Is(callable, "a callable"), ArrayLike),
    "n_init": OneOf(Choice("auto"), Int(ge=1)),
    "max_iter": Int(ge=1),
    "tol": Real(ge=0),
    "verbose": OneOf(Int(ge=0), Bool),
    "random_state": Seed,
}
ROWS = {"accept_sparse": "csr", "order": "C", "accept_large_sparse": False}


def is_named(init, name):
    """Whether `init` is a string, and this one."""
    return isinstance(init, str) and init == name


def is_given(init):
    """Whether `init` holds centres."""
    return not isinstance(init, str) and not callable(init)


def check_centres(centres, n_clusters, X):
    """Centres of the right shape in the precision of X."""
    centres = check_array(centres, dtype=X.dtype, order="C", copy=True)
    for axis, number, what in (
        (0, n_clusters, "number of clusters"),
        (1, X.shape[1], "number of features of the data"),
    ):
        if centres.shape[axis] != number:
            raise ValueError(f"The shape of the initial centers {centres.shape} does not match the {what} {number}.")
    return centres


def first_centres(init, rows, n_clusters, random_state):
    """Centres to start from: given ones, a function's, rows spread out, or random rows by their weight."""
    if is_given(init):
        return init
    if callable(init):
        return check_centres(init(rows.X, n_clusters, random_state=random_state), n_clusters, rows.X)
    n = rows.shape[0]
    if init == "k-means++":
        return rows.take(spread_seeds(rows, n_clusters, random_state))
    share = np.full(n, 1.0 / n) if rows.weight.size == 0 else rows.weight / rows.weight.sum()
    return rows.take(random_state.choice(n, size=n_clusters, replace=False, p=share))


class CentreModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Answers of a model with `cluster_centers_`, and checks that its fits share."""

    def _runs(self, default):
        """How many starts `n_init` stands for, when `default` are made from random rows and from functions."""
        chosen = self.n_init
        if chosen == "auto":
            chosen = 1 if is_named(self.init, "k-means++") or is_given(self.init) else default
        if is_given(self.init) and chosen != 1:
            warnings.warn(
                "Explicit initial center position passed: performing only one init in "
                f"{type(self).__name__} instead of n_init={chosen}.",
                RuntimeWarning,
                stacklevel=3,
            )
            chosen = 1
        return chosen

    def _check_rows(self, X, reset=True):
        X = check_design(self, X, reset=reset, **ROWS)
        if reset and X.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={X.shape[0]} should be >= n_clusters={self.n_clusters}.")
        return X

    def _check_init(self, X):
        return check_centres(self.init, self.n_clusters, X) if is_given(self.init) else self.init

    def _new_rows(self, X):
        check_is_fitted(self)
        return self._check_rows(X, reset=False)

    def fit_predict(self, X, y=None, sample_weight=None):
        """Fit the centres and give the cluster of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Cluster of each row.
        """
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X):
        """The nearest centre of each row; of equally near ones the first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Numbers of the centres, as in `labels_` for the rows of the fit.
        """
        X = self._new_rows(X)
        return nearest_centres(X, self.cluster_centers_)

    def fit_transform(self, X, y=None, sample_weight=None):
        """Fit the centres and give the distances to them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
            Distances to the centres.
        """
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def transform(self, X):
        """Distances to the centres.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
            Euclidean distances.
        """
        return euclidean_distances(self._new_rows(X), self.cluster_centers_)

    def score(self, X, y=None, sample_weight=None):
        """Minus the sum of squared distances to the nearest centres.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        score : float
            Minus the objective of K-means.
        """
        X = self._new_rows(X)
        labels = nearest_centres(X, self.cluster_centers_)
        return -total_gap(X, labels, self.cluster_centers_, check_weight(sample_weight, X))

    @property
    def _n_features_out(self):
        return self.cluster_centers_.shape[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


__all__ = ["CENTRE_PARAMS", "CentreModel", "check_centres", "first_centres", "is_given", "is_named", "rows_of"]
