"""Maps with labels beside them: coordinates chosen by how they separate classes, one map for each class, and maps of a
sample onto which all rows are projected."""

import warnings

import numpy as np

from hyperplan._base import (
    FLOATS,
    BaseEstimator,
    Choice,
    ClassNamePrefixFeaturesOutMixin,
    Int,
    Is,
    Null,
    OneOf,
    Seed,
    TransformerMixin,
    check_design,
    check_is_fitted,
    check_params,
    check_random_state,
    check_training,
    clone,
    seed_from,
)
from hyperplan.manifold._isomap import Isomap
from hyperplan.manifold._isostretch import label_codes
from hyperplan.neighbors import NearestNeighbors

MapRule = OneOf(Is(lambda value: hasattr(value, "fit") and hasattr(value, "transform"), "a transformer"), Null)


class SeparableCoordinates(TransformerMixin, BaseEstimator):
    """Keeps the coordinates that tell classes apart, instead of those with the largest eigenvalues.

    Put it behind a map with many coordinates.  Eigenvectors are sorted by how much of the distances they explain, which
    need not be what a classifier can use.

    Parameters
    ----------
    n_components : int, default=2
        How many coordinates to keep (at most all).
    criterion : {"knn", "fisher"}, default="knn"
        "knn" adds the coordinate with which most rows are classified correctly by their nearest others, one after the
        other; "fisher" takes those with the largest ratio of variances between and within classes, each by itself.
    n_neighbors : int, default=5
        Voters of "knn", as far as there are rows.
    n_jobs : int, default=None
        Threads; they change no bit.

    Attributes
    ----------
    selected_ : ndarray of shape (n_components,)
        Numbers of the kept columns, in the order of choice.
    scores_ : ndarray of shape (n_components,)
        Share of rows classified correctly after each choice, or the ratio of variances.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import SeparableCoordinates
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = np.column_stack([10 * rng.normal(size=60), y + 0.1 * rng.normal(size=60)])
    >>> SeparableCoordinates(1).fit(X, y).selected_.tolist()
    [1]
    """

    _params = {
        "n_components": Int(ge=1),
        "criterion": Choice("knn", "fisher"),
        "n_neighbors": Int(ge=1),
        "n_jobs": OneOf(Int(), Null),
    }

    def __init__(self, n_components=2, *, criterion="knn", n_neighbors=5, n_jobs=None):
        self.n_components = n_components
        self.criterion = criterion
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs

    def fit(self, X, y):
        """Choose coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Coordinates.
        y : array-like of shape (n_samples,)
            Labels; -1, NaN and None are unknown, and such rows have no say.

        Returns
        -------
        self
            The selection.
        """
        check_params(self)
        X, codes = _labelled(self, X, y)
        known = codes >= 0
        deviations = X[known].std(axis=0)
        rows = (X[known] - X[known].mean(axis=0)) / np.where(deviations > 0.0, deviations, 1.0)
        choose = self._by_neighbours if self.criterion == "knn" else self._by_variance
        self.selected_, self.scores_ = choose(rows, codes[known], min(self.n_components, X.shape[1]))
        return self

    def _by_variance(self, rows, codes, count):
        sizes = np.bincount(codes)
        means = np.stack([np.bincount(codes, weights=column) for column in rows.T], axis=1) / sizes[:, None]
        between = (sizes[:, None] * means**2).sum(axis=0)  # columns have mean zero
        within = ((rows - means[codes]) ** 2).sum(axis=0)
        ratio = np.where(within > 0.0, between / np.where(within > 0.0, within, 1.0), np.where(between > 0, np.inf, 0))
        order = np.argsort(-ratio, kind="stable")[:count]
        return order, ratio[order]

    def _by_neighbours(self, rows, codes, count):
        chosen: list = []
        scores: list = []
        voters, n_classes = min(self.n_neighbors, len(rows) - 1), int(codes.max()) + 1
        while len(chosen) < count:
            free = [column for column in range(rows.shape[1]) if column not in chosen]
            shares = [self._share_correct(rows[:, [*chosen, column]], codes, voters, n_classes) for column in free]
            best = int(np.argmax(shares))
            chosen.append(free[best])
            scores.append(shares[best])
        return np.array(chosen), np.array(scores)

    def _share_correct(self, rows, codes, voters, n_classes):
        """Each row is classified by the others; ties go to the smaller class."""
        search = NearestNeighbors(n_neighbors=voters, n_jobs=self.n_jobs).fit(np.ascontiguousarray(rows))
        votes = codes[search.kneighbors(return_distance=False)]
        counts = np.zeros((len(rows), n_classes), np.int64)
        np.add.at(counts, (np.arange(len(rows))[:, None], votes), 1)
        return float((counts.argmax(axis=1) == codes).mean())

    def transform(self, X):
        """The chosen columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Coordinates.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The chosen ones, in the order of choice.
        """
        check_is_fitted(self)
        return check_design(self, X, accept_sparse=False)[:, self.selected_]

    def get_feature_names_out(self, input_features=None):
        """Names of the chosen columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of all columns; None takes those of the fit, or x0, x1, ...

        Returns
        -------
        ndarray of str objects
            The chosen ones.
        """
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if input_features is not None:
            names = np.asarray(input_features, dtype=object)
            if known is not None and not np.array_equal(known, names):
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(names) != self.n_features_in_:
                raise ValueError(f"input_features should have length equal to {self.n_features_in_}, got {len(names)}")
        else:
            names = np.asarray([f"x{i}" for i in range(self.n_features_in_)] if known is None else known, dtype=object)
        return names[self.selected_]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _labelled(estimator, X, y):
    """Checked rows and the codes of their labels, of which there must be two or more known ones."""
    if y is None:
        check_training(estimator, X, y)  # says what is missing, as everywhere
    X = check_design(estimator, X, reset=True, accept_sparse=False, dtype=FLOATS)
    codes = label_codes(y, X.shape[0])
    known = int((codes >= 0).sum())
    if known < 2:
        raise ValueError(f"at least two rows with a known label are needed, got {known} of n_samples = {len(codes)}")
    return X, codes


class ClassMaps(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """One map for each class, and the coordinates of every row in all of them, side by side.

    Parameters
    ----------
    estimator : transformer, default=None
        The map; None means `Isomap`.  Where a class has too few rows for its `n_neighbors`, it gets fewer.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The known labels.
    maps_ : list of transformers
        The fitted maps in the order of `classes_`.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import ClassMaps, Isomap
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> ClassMaps(Isomap(n_components=2)).fit_transform(X, np.repeat(["a", "b"], 30)).shape
    (60, 4)
    """

    _params = {"estimator": MapRule}

    def __init__(self, estimator=None):
        self.estimator = estimator

    def fit(self, X, y):
        """Find the maps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels; rows whose label is unknown (-1, NaN, None) are in no map.

        Returns
        -------
        self
            The fitted maps.
        """
        check_params(self)
        X, codes = _labelled(self, X, y)
        y = np.asarray(y).ravel()
        first = [int(np.flatnonzero(codes == code)[0]) for code in range(int(codes.max()) + 1)]
        self.classes_ = y[first]
        for label, size in zip(self.classes_, np.bincount(codes[codes >= 0])):
            if size < 3:
                raise ValueError(f"class {label!r} has {size} row(s) of n_samples = {len(y)}: a map needs three")
        self.maps_ = [self._fit_one(X[codes == code], label) for code, label in enumerate(self.classes_)]
        self._n_features_out = sum(self._answer(model, X[:1]).shape[1] for model in self.maps_)
        return self

    def _fit_one(self, rows, label):
        model = Isomap() if self.estimator is None else clone(self.estimator)
        asked = getattr(model, "n_neighbors", None)
        if asked is not None and asked >= len(rows):
            warnings.warn(f"class {label!r} has {len(rows)} rows: n_neighbors={len(rows) - 1} there", stacklevel=3)
            model.set_params(n_neighbors=len(rows) - 1)
        return model.fit(rows)

    @staticmethod
    def _answer(model, X):
        return np.asarray(model.transform(X))

    def transform(self, X):
        """Coordinates of rows in all maps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, total number of coordinates)
            Map after map.
        """
        check_is_fitted(self)
        X = check_design(self, X, accept_sparse=False)
        return np.hstack([self._answer(model, X) for model in self.maps_])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class SubsampledMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A map of some of the rows, onto which all are projected: for maps whose cost grows too fast.

    Parameters
    ----------
    estimator : transformer, default=None
        The map; None means `Isomap`.
    n_samples : int, default=1000
        Rows of the sample (at most all).
    choice : {"random", "stratified", "clusters"}, default="random"
        "stratified" draws from each label its share; "clusters" takes the centres of K-means instead of rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the sample.

    Attributes
    ----------
    estimator_ : transformer
        The fitted map.
    sample_ : ndarray
        Row numbers of the sample; for "clusters" the centres.
    embedding_ : ndarray of shape (n_samples, n_components)
        Coordinates of all rows.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.manifold import Isomap, SubsampledMap
    >>> X = np.random.default_rng(0).uniform(size=(500, 3))
    >>> model = SubsampledMap(Isomap(n_neighbors=8), n_samples=100, random_state=0).fit(X)
    >>> model.embedding_.shape, model.estimator_.dist_matrix_.shape
    ((500, 2), (100, 100))
    """

    _params = {
        "estimator": MapRule,
        "n_samples": Int(ge=2),
        "choice": Choice("random", "stratified", "clusters"),
        "random_state": Seed,
    }

    def __init__(self, estimator=None, *, n_samples=1000, choice="random", random_state=None):
        self.estimator = estimator
        self.n_samples = n_samples
        self.choice = choice
        self.random_state = random_state

    def fit(self, X, y=None):
        """Draw the sample, find its map, and project all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,), default=None
            Labels for "stratified", and for maps that use some.

        Returns
        -------
        self
            The fitted map.
        """
        check_params(self)
        X = check_design(self, X, reset=True, accept_sparse=False, order="C")
        model = Isomap() if self.estimator is None else clone(self.estimator)
        count = min(self.n_samples, X.shape[0])
        if self.choice == "clusters" and count < X.shape[0]:
            from hyperplan.cluster import KMeans

            seed = seed_from(self.random_state) % 2**31
            self.sample_ = KMeans(n_clusters=count, n_init=1, random_state=seed).fit(X).cluster_centers_
            self.estimator_ = model.fit(np.ascontiguousarray(self.sample_, dtype=X.dtype))
        else:
            self.sample_ = self._draw(X.shape[0], count, y)
            own = None if y is None else np.asarray(y)[self.sample_]
            self.estimator_ = model.fit(X[self.sample_], own)
        self.embedding_ = np.asarray(self.estimator_.transform(X))
        self._n_features_out = self.embedding_.shape[1]
        return self

    def _draw(self, n, count, y):
        rng = check_random_state(self.random_state)
        if self.choice != "stratified":
            return np.sort(rng.permutation(n)[:count])
        if y is None:
            raise ValueError('choice="stratified" needs labels: give y')
        codes = label_codes(y, n)
        rank, order = np.empty(n), rng.permutation(n)
        for code in np.unique(codes):  # the share of its class that comes before each row
            own = order[codes[order] == code]
            rank[own] = (np.arange(len(own)) + 0.5) / len(own)
        return np.sort(np.lexsort((order, rank))[:count])

    def fit_transform(self, X, y=None):
        """Find the map and the coordinates of all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,), default=None
            Labels for "stratified", and for maps that use some.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates.
        """
        return self.fit(X, y).embedding_

    def transform(self, X):
        """Coordinates of rows on the map of the sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates.
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.transform(check_design(self, X, accept_sparse=False, order="C")))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
