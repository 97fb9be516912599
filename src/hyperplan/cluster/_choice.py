"""How many clusters?  K-means for several numbers, and three curves that answer, not always alike.

The inertia falls with every further cluster: one looks for the place where it stops to fall quickly (the elbow).  The
mean silhouette and the index of Calinski and Harabasz have a maximum.  All three favour round clusters of equal size.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from hyperplan._base import (
    ArrayLike,
    BaseEstimator,
    Choice,
    ClusterMixin,
    Int,
    Null,
    OneOf,
    Real,
    Seed,
    check_design,
    check_is_fitted,
    check_params,
    check_random_state,
)
from hyperplan._texts.extras import required
from hyperplan.cluster._k_means import KMeans, n_groups
from hyperplan.cluster._k_means_base import CENTRE_PARAMS, ROWS
from hyperplan.metrics import calinski_harabasz_score, elbow, silhouette_score

INK, GRID, BLUE, ORANGE = "#33475b", "#e4e7eb", "#0072b2", "#d55e00"
RULES = ("silhouette", "calinski_harabasz", "elbow")


class Curves(NamedTuple):
    """What each number of clusters scores; not a number where a score has no meaning."""

    numbers: np.ndarray
    inertias: np.ndarray
    silhouettes: np.ndarray
    calinski_harabasz: np.ndarray


def chosen_numbers(curves: Curves) -> dict:
    """The number that each rule chooses; None where it cannot.

    >>> nan = np.nan
    >>> curves = Curves(np.arange(1, 5), np.array([9, 3, 2.5, 2.2]), np.array([nan, 0.8, 0.7, 0.6]), np.full(4, nan))
    >>> chosen_numbers(curves)
    {'silhouette': 2, 'calinski_harabasz': None, 'elbow': 2}
    """

    def best(scores):
        return None if np.isnan(scores).all() else int(curves.numbers[np.nanargmax(scores)])

    bend = int(curves.numbers[elbow(curves.inertias)]) if len(curves.numbers) > 2 else None
    return {
        "silhouette": best(curves.silhouettes),
        "calinski_harabasz": best(curves.calinski_harabasz),
        "elbow": bend,
    }


class NumberOfClusters(ClusterMixin, BaseEstimator):
    """K-means for several numbers of clusters, and the choice among them.

    Parameters
    ----------
    n_clusters : array-like of int or int, default=(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
        Numbers to compare, rising; those above the number of rows are left out.  The elbow is the largest second
        difference of the inertias, so numbers should be evenly spaced.
    rule : {'silhouette', 'calinski_harabasz', 'elbow'}, default='silhouette'
        Which curve decides; a single number needs no choice.
    init, n_init, max_iter, tol
        As in `KMeans`; `n_init` is 3 by default, for curves without the bumps of bad starts.
    sample_size : int, default=5000
        Rows whose silhouettes are computed at most (their time grows with the square); None means all.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Attributes
    ----------
    n_clusters_ : int
        The number that `rule` chooses.
    choices_ : dict
        The number that each rule chooses; None where it cannot (the elbow needs three numbers).
    numbers_ : ndarray of shape (n_numbers,)
        Numbers compared.
    inertias_ : ndarray of shape (n_numbers,)
        Sums of squared distances.
    silhouettes_ : ndarray of shape (n_numbers,)
        Mean silhouettes; not a number for one cluster and for as many as rows.
    calinski_harabasz_ : ndarray of shape (n_numbers,)
        Variance ratios; not a number for the same.
    best_model_ : KMeans
        The model of the chosen number.
    labels_ : ndarray of shape (n_samples,)
        Its labels.
    certificate_ : Certificate
        Its certificate.
    n_iter_ : int
        Its steps.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, when X had some.

    References
    ----------
    Rousseeuw (1987), Silhouettes.  Calinski, Harabasz (1974), A dendrite method for cluster analysis.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.cluster import NumberOfClusters
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(50, 2)) + centre for centre in ([0, 0], [9, 0], [0, 9])])
    >>> choice = NumberOfClusters(n_clusters=range(1, 7), random_state=0).fit(X)
    >>> choice.n_clusters_, choice.choices_
    (3, {'silhouette': 3, 'calinski_harabasz': 3, 'elbow': 3})
    """

    _params = {
        "n_clusters": OneOf(Int(ge=1), ArrayLike),
        "rule": Choice(*RULES),
        "init": CENTRE_PARAMS["init"],
        "n_init": CENTRE_PARAMS["n_init"],
        "max_iter": Int(ge=1),
        "tol": Real(ge=0),
        "sample_size": OneOf(Int(ge=2), Null),
        "random_state": Seed,
    }

    def __init__(
        self,
        n_clusters=(1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
        *,
        rule="silhouette",
        init="k-means++",
        n_init=3,
        max_iter=300,
        tol=1e-4,
        sample_size=5000,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.rule = rule
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.sample_size = sample_size
        self.random_state = random_state

    def fit(self, X, y=None):
        """Fit K-means for each number and choose.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : None
            Ignored.

        Returns
        -------
        self
            The fitted object.
        """
        # 1. parameters
        check_params(self)
        # 2. data
        X = check_design(self, X, reset=True, **ROWS)
        numbers = self._numbers(X.shape[0])
        # 3. maths
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        names = ("init", "n_init", "max_iter", "tol")
        options = {name: getattr(self, name) for name in names}
        models = [KMeans(int(k), random_state=seed, **options).fit(X) for k in numbers]
        curves = self._curves(X, numbers, models, seed)
        choices = chosen_numbers(curves)
        chosen = int(numbers[0]) if len(numbers) == 1 else choices[self.rule]
        if chosen is None:
            raise ValueError(
                f"rule={self.rule!r} cannot choose among n_clusters={numbers.tolist()} for {X.shape[0]} rows: give "
                "numbers from 2 to the number of rows minus one, at least three of them for the elbow."
            )
        # 4. attributes
        self.n_clusters_, self.choices_ = chosen, choices
        self.numbers_, self.inertias_, self.silhouettes_, self.calinski_harabasz_ = curves
        best = self.best_model_ = models[numbers.tolist().index(chosen)]
        self.labels_, self.certificate_, self.n_iter_ = best.labels_, best.certificate_, best.n_iter_
        return self

    def _numbers(self, n):
        numbers = np.unique(np.atleast_1d(np.asarray(self.n_clusters)))
        if numbers.ndim != 1 or numbers.size == 0 or numbers.dtype.kind not in "iu" or numbers[0] < 1:
            raise ValueError(f"n_clusters must be a positive int or a list of them. Got {self.n_clusters!r}.")
        if numbers[0] > n:
            raise ValueError(f"n_samples={n} should be >= n_clusters={numbers[0]}.")
        return numbers[numbers <= n]

    def _curves(self, X, numbers, models, seed):
        n = X.shape[0]
        size = None if self.sample_size is None or self.sample_size >= n else self.sample_size
        some = slice(None) if size is None else np.sort(check_random_state(seed).permutation(n)[:size])
        sample = X[some]

        def silhouette(labels):
            return silhouette_score(sample, labels[some]) if 1 < n_groups(labels[some]) < sample.shape[0] else np.nan

        def ratio(model):
            if not 1 < n_groups(model.labels_) < n:
                return np.nan
            return _ratio(X, model.labels_) if sp.issparse(X) else calinski_harabasz_score(X, model.labels_)

        inertias = np.array([model.inertia_ for model in models])
        silhouettes = np.array([silhouette(model.labels_) for model in models])
        return Curves(numbers, inertias, silhouettes, np.array([ratio(model) for model in models]))

    def predict(self, X):
        """The nearest centre of the chosen model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Numbers of the centres.
        """
        check_is_fitted(self)
        check_design(self, X, ensure_all_finite=False, **ROWS)  # errors that name this class
        return self.best_model_.predict(X)

    def plot(self, axes=None):
        """Draw the three curves, each with its own choice.

        Parameters
        ----------
        axes : sequence of three matplotlib axes, default=None
            Where to draw; None makes a figure of its own.

        Returns
        -------
        axes : sequence of matplotlib axes
            `axes[0].figure` saves the picture.
        """
        check_is_fitted(self)
        axes = _new_axes() if axes is None else axes
        curves = (
            ("elbow", self.inertias_, "inertia"),
            ("silhouette", self.silhouettes_, "mean silhouette"),
            ("calinski_harabasz", self.calinski_harabasz_, "Calinski-Harabasz index"),
        )
        for one, (rule, values, label) in zip(axes, curves):
            one.plot(self.numbers_, values, "-o", color=BLUE, lw=2, ms=5)
            if self.choices_[rule] is not None:
                place = int(np.flatnonzero(self.numbers_ == self.choices_[rule])[0])
                one.plot(self.numbers_[place], values[place], "D", color=ORANGE, ms=10, mfc="none", mew=2.5)
                one.set_title(f"{label}: {self.choices_[rule]}", color=INK, loc="left", fontsize=11)
            one.set_xlabel("clusters", color=INK)
            one.spines[["top", "right"]].set_visible(False)
            one.tick_params(colors=INK)
            one.grid(axis="y", color=GRID, lw=0.8)
        return axes

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _new_axes():
    agg, drawing = required("matplotlib.backends.backend_agg"), required("matplotlib.figure")
    figure = drawing.Figure(figsize=(10.5, 3.2), layout="constrained")
    agg.FigureCanvasAgg(figure)
    return figure.subplots(1, 3)


def _ratio(X, labels):
    """The index of Calinski and Harabasz of sparse rows."""
    n, k = X.shape[0], n_groups(labels)
    members = sp.csr_array((np.ones(n), labels, np.arange(n + 1)))
    sizes = np.bincount(labels)
    used, squares = sizes > 0, X.multiply(X).sum()
    means = (members.T @ X).toarray()[used] / sizes[used, None]
    within = float(squares - sizes[used] @ (means**2).sum(axis=1))
    between = float(sizes[used] @ ((means - np.asarray(X.mean(axis=0)).ravel()) ** 2).sum(axis=1))
    return 1.0 if within <= 0.0 else between * (n - k) / (within * (k - 1.0))
