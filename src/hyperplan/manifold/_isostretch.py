"""Isostretch: RISIMAP that first moves rows of different classes away from each other.

An edge of length d between rows of known, different labels becomes ``d + e^2 / d``, where e is the smallest positive
distance: twice as long at d = e, a hundredth longer at d = 10 e, never shorter.  Rows without a label are left alone,
and so are links between components.  Coordinates of new rows use no label: they hang on their neighbours by plain
distances.  There is no guarantee of a recovered surface.
"""

import numpy as np

from hyperplan._base import Choice, check_classification_targets, column_or_1d
from hyperplan._core.parallel import spans, thread_map
from hyperplan.manifold import _isomap_kernels as k
from hyperplan.manifold._risimap import RISIMAP

ROWS = 256  # of one task


class Isostretch(RISIMAP):
    """RISIMAP with short distances between classes made longer; learns from all labels, or from some.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        Neighbours of each row; None if `radius` is given.
    radius : float or None, default=None
        Largest distance of neighbours, inclusive.
    n_components : int, default=2
        Number of coordinates.
    reconnect : {"mst", "all_pairs"}, default="mst"
        Which links join components, as in `RISIMAP`.
    stretch : {"before", "after"}, default="before"
        Whether edges are stretched before shortest paths are measured, or all path lengths afterwards.
    eigen_solver : {"auto", "arpack", "dense", "householder-ql", "householder-qr", "givens-ql", "givens-qr", \
"jacobi"}, default="auto"
        As in `Isomap`.
    tol : float, default=0
        Relative residual of the iteration (0 means 1e-10).
    max_iter : int, default=None
        Most products of the iteration.
    neighbors_algorithm : {"auto", "brute", "kd_tree", "ball_tree", "approximate"}, default="auto"
        Search for neighbours.
    n_jobs : int, default=None
        Threads; they change no bit.
    metric : str or callable, default="minkowski"
        Distance, or "precomputed".
    p : float, default=2
        Power of the Minkowski distance.
    metric_params : dict, default=None
        More parameters of the distance.

    Attributes
    ----------
    floor_ : float
        e: the smallest positive length of an edge (of a path with ``stretch="after"``).
    n_stretched_ : int
        Edges that became longer (pairs of rows with ``stretch="after"``).
    embedding_, dist_matrix_, unique_rows_, row_map_, graph_, nbrs_, kernel_pca_, components_, bridges_, \
bridge_lengths_, residual_variance_, certificate_, n_iter_, n_features_in_, feature_names_in_
        As in `RISIMAP`.

    Notes
    -----
    Equal rows become one, with the label that they agree on; if they do not, it counts as unknown.

    References
    ----------
    Payette (2004), master's thesis on the reduction of dimension by RISIMAP and Isostretch, chapter 6.

    Examples
    --------
    >>> from hyperplan.manifold import Isostretch
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> Isostretch(n_neighbors=1, n_components=1).fit(X, ["a", "a", "b", "b"]).dist_matrix_[0].tolist()
    [0.0, 1.0, 3.0, 4.0]
    >>> Isostretch(n_neighbors=1, n_components=1).fit(X, [0, 0, -1, 1]).dist_matrix_[0].tolist()  # -1 is unknown
    [0.0, 1.0, 2.0, 3.0]
    """

    _params = {**RISIMAP._params, "stretch": Choice("before", "after")}

    def __init__(
        self,
        n_neighbors=5,
        radius=None,
        n_components=2,
        *,
        reconnect="mst",
        stretch="before",
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        neighbors_algorithm="auto",
        n_jobs=None,
        metric="minkowski",
        p=2,
        metric_params=None,
    ):
        super().__init__(
            n_neighbors,
            radius,
            n_components,
            reconnect=reconnect,
            eigen_solver=eigen_solver,
            tol=tol,
            max_iter=max_iter,
            neighbors_algorithm=neighbors_algorithm,
            n_jobs=n_jobs,
            metric=metric,
            p=p,
            metric_params=metric_params,
        )
        self.stretch = stretch

    def fit(self, X, y=None):
        """Find the map.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Rows, or their distances.
        y : array-like of shape (n_samples,), default=None
            Labels; -1, NaN and None are unknown.  Without labels the map is that of `RISIMAP`.

        Returns
        -------
        self
            The fitted map.
        """
        return super().fit(X, y)

    def fit_transform(self, X, y=None):
        """Find the map and the coordinates of the rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or (n_samples, n_samples) if precomputed
            Rows, or their distances.
        y : array-like of shape (n_samples,), default=None
            Labels; -1, NaN and None are unknown.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates.
        """
        return self.fit(X, y).embedding_

    def _labels_of(self, y, n):
        codes = label_codes(y, n)
        return codes if len(self.unique_rows_) == n else _agreed(codes, self.row_map_, len(self.unique_rows_))

    def _weighted(self, edges, labels):
        self.floor_, self.n_stretched_ = float(edges.lengths[edges.lengths > 0.0].min(initial=np.inf)), 0
        if self.stretch == "after" or not np.isfinite(self.floor_):
            return edges
        own = labels[np.repeat(np.arange(edges.n_nodes), np.diff(edges.starts))]
        other = labels[edges.ends]
        changed = (own >= 0) & (other >= 0) & (own != other)
        self.n_stretched_ = int(changed.sum()) // 2
        lengths = edges.lengths.copy()
        lengths[changed] = stretched(lengths[changed], self.floor_)
        return edges._replace(lengths=lengths)

    def _geodesics(self, edges, labels):
        distances = super()._geodesics(edges, labels)
        if self.stretch == "before":
            return distances
        parts = spans(len(distances), ROWS)
        self.floor_ = min(thread_map(lambda rows: float(k.smallest_positive(distances[rows])), parts, self.n_jobs))
        counts = np.bincount(labels[labels >= 0])
        self.n_stretched_ = int(counts.sum() ** 2 - (counts**2).sum()) // 2
        if np.isfinite(self.floor_):
            thread_map(
                lambda rows: k.stretch_rows(distances[rows], labels[rows], labels, self.floor_), parts, self.n_jobs
            )
        return distances

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def stretched(lengths, floor):
    """``d + floor^2 / d``, which is least at the floor: twice the floor, also for d = 0.

    >>> stretched(np.array([0.0, 1.0, 3.0]), 1.0).round(3).tolist()
    [2.0, 2.0, 3.333]
    """
    lengths = np.asarray(lengths, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.where(lengths > 0.0, lengths + floor * (floor / np.where(lengths > 0.0, lengths, 1.0)), 2.0 * floor)


def label_codes(y, n):
    """Labels as 0, 1, ...; -1 where they are unknown (-1, NaN, None)."""
    codes = np.full(n, -1, np.int64)
    if y is None:
        return codes
    y = column_or_1d(y, warn=True)
    if len(y) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(y)}]")
    if y.dtype.kind in "iufb":
        known = ~np.isnan(y) & (y != -1) if y.dtype.kind == "f" else y != -1
    else:
        known = np.array([not (v is None or v != v or (not isinstance(v, str) and v == -1)) for v in y.tolist()], bool)
    if known.any():
        values = y[known]
        values = values if values.dtype.kind != "O" else np.array(values.tolist())
        check_classification_targets(values)
        codes[known] = np.unique(values, return_inverse=True)[1]
    return codes


def _agreed(codes, row_map, n):
    """The label that the known ones of equal rows agree on, else -1."""
    lowest, highest = np.full(n, np.iinfo(np.int64).max), np.full(n, -1)
    known = codes >= 0
    np.minimum.at(lowest, row_map[known], codes[known])
    np.maximum.at(highest, row_map[known], codes[known])
    return np.where(lowest == highest, highest, -1)
