"""The histogram rule: ``eta(x)`` is the share of a class among the training rows in the cell of x.

Cells are products of intervals, the outer ones without end.  For two classes the second is answered if and only if
``eta(x) > 1/2``.  Only cells that hold rows are stored, as sorted numbers: there may be more cells than atoms.
"""

import numpy as np

from hyperplan._base import (
    BaseEstimator,
    Choice,
    ClassifierMixin,
    Int,
    OneOf,
    check_design,
    check_is_fitted,
    check_params,
    check_training,
    encode_labels,
)

MOST = 2**62  # largest number of cells that is counted in one integer


class HistogramClassifier(ClassifierMixin, BaseEstimator):
    """Majority vote in the cell of a row, cells being boxes on a grid.

    Objective: the weighted count of errors on the training rows, over all rules that are constant on cells; the vote
    minimises it exactly, nothing is iterated.

    Parameters
    ----------
    bins : int or "auto", default="auto"
        Intervals per column.  "auto": ``ceil(n^(1/(d+2)))``, at least 2, the order at which squared bias and variance
        of a smooth function fall together.
    strategy : {"uniform", "quantile"}, default="uniform"
        Intervals of equal length between the least and the largest value, or with equally many rows.
    empty : {"prior", "uniform"}, default="prior"
        Probabilities in cells without training rows: the shares of the classes among all rows, or equal ones.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    edges_ : list of ndarrays
        Inner borders of the intervals of each column; a value on a border belongs to the interval above.
    n_bins_ : int
        Intervals per column, before equal borders are merged.
    n_cells_ : int
        Cells that hold training rows.
    cell_weights_ : ndarray of shape (n_cells_, n_classes)
        Weight of each class in each of them.
    n_features_in_ : int
        Columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, when X had names.

    References
    ----------
    Devroye, Györfi, Lugosi (1996), A probabilistic theory of pattern recognition, chapter 9.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.neighbors import HistogramClassifier
    >>> X = np.array([[0.0], [0.4], [0.6], [1.0], [0.9]])
    >>> model = HistogramClassifier(bins=2).fit(X, ["a", "a", "b", "b", "a"])
    >>> model.predict([[0.2], [0.8]]).tolist(), model.n_cells_
    (['a', 'b'], 2)
    """

    _params = {
        "bins": OneOf(Int(ge=1), Choice("auto")),
        "strategy": Choice("uniform", "quantile"),
        "empty": Choice("prior", "uniform"),
    }

    def __init__(self, bins="auto", *, strategy="uniform", empty="prior"):
        self.bins = bins
        self.strategy = strategy
        self.empty = empty

    def fit(self, X, y, sample_weight=None):
        """Count the classes in each cell.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights; rows of weight 0 are left out.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        # 1 parameters
        check_params(self)
        # 2 data
        X, y, weight = check_training(self, X, y, sample_weight, accept_sparse=False)
        labels = encode_labels(y, min_classes=1, estimator_name=type(self).__name__)
        weight = np.ones(X.shape[0]) if weight is None else weight
        kept = weight > 0
        X, codes, weight = np.asarray(X[kept], dtype=np.float64), labels.codes[kept], weight[kept]
        # 3 maths
        n_bins = self._n_bins(weight, X.shape[1])
        edges = [_edges(column, weight, n_bins, self.strategy) for column in X.T]
        tables, cell = _numbered(X, edges)
        n_cells, n_classes = len(tables[-1]), len(labels.classes)
        counts = np.bincount(cell * n_classes + codes, weights=weight, minlength=n_cells * n_classes)
        # 4 attributes
        self.classes_ = labels.classes
        self.n_bins_, self.edges_, self._tables = n_bins, edges, tables
        self.cell_weights_ = counts.reshape(n_cells, n_classes)
        self.n_cells_ = n_cells
        shares = np.bincount(codes, weights=weight, minlength=n_classes)
        self._default = shares / shares.sum() if self.empty == "prior" else np.full(n_classes, 1.0 / n_classes)
        return self

    def _n_bins(self, weight, d):
        if self.bins != "auto":
            return int(self.bins)
        return max(2, int(np.ceil(weight.sum() ** (1.0 / (d + 2)))))

    def cells(self, X):
        """Number of the cell of each row, -1 for cells without training rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        cells : ndarray of intp of shape (n_samples,)
            Numbers: rows of `cell_weights_`.
        """
        check_is_fitted(self)
        X = np.asarray(check_design(self, X, accept_sparse=False), dtype=np.float64)
        return _found(X, self.edges_, self._tables)

    def predict_proba(self, X):
        """Shares of the classes among the training rows in the cell.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        cells = self.cells(X)
        shares = self.cell_weights_ / self.cell_weights_.sum(axis=1, keepdims=True)
        return np.where(cells[:, None] >= 0, shares[cells], self._default)

    def predict(self, X):
        """The class with the largest share in the cell; of equal ones the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Labels.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


def _edges(column, weight, n_bins, strategy):
    """Inner borders, strictly increasing."""
    inner = np.arange(1, n_bins) / n_bins
    if strategy == "uniform":
        low, high = column.min(), column.max()
        return np.unique(low * (1.0 - inner) + high * inner) if high > low else np.empty(0)
    order = np.argsort(column, kind="stable")
    below = np.cumsum(weight[order])
    place = np.searchsorted(below, inner * below[-1], side="right")
    return np.unique(column[order][np.minimum(place, len(order) - 1)])


def _digits(X, edges):
    """Pairs (number of intervals, interval of each row), column by column."""
    for column, borders in zip(X.T, edges):
        yield len(borders) + 1, np.searchsorted(borders, column, side="right")


def _numbered(X, edges):
    """Sorted cell numbers, and the place of each row's cell among them.

    Where a number of cells would exceed an integer, the cells found so far are numbered anew: one table per time.
    """
    tables, code, size = [], np.zeros(X.shape[0], dtype=np.int64), 1
    for count, digit in _digits(X, edges):
        if size > MOST // count:
            known, code = np.unique(code, return_inverse=True)
            tables.append(known)
            size = len(known)
        code, size = code * count + digit, size * count
    known, code = np.unique(code, return_inverse=True)
    return [*tables, known], code


def _found(X, edges, tables):
    """Place of each row's cell in the last table, or -1."""
    code, size, step = np.zeros(X.shape[0], dtype=np.int64), 1, 0
    lost = np.zeros(X.shape[0], dtype=bool)
    for count, digit in _digits(X, edges):
        if size > MOST // count:
            code, missing = _place(code, tables[step])
            lost, size, step = lost | missing, len(tables[step]), step + 1
        code, size = code * count + digit, size * count
    code, missing = _place(code, tables[step])
    return np.where(lost | missing, -1, code)


def _place(code, known):
    place = np.minimum(np.searchsorted(known, code), len(known) - 1)
    return place, known[place] != code
