"""Matrices of one distance each, under the names that scikit-learn's users know."""

import numbers

import numpy as np
import scipy.sparse as sp

from hyperplan._base import check_array
from hyperplan.metrics._arguments import Bool, Is, checked
from hyperplan.metrics._pairwise_distances import check_pair, pairwise_distances

MISSING = Is(lambda v: isinstance(v, numbers.Real) and not isinstance(v, bool), "a number or NaN")


@checked(squared=Bool)
def euclidean_distances(X, Y=None, *, Y_norm_squared=None, squared=False, X_norm_squared=None):
    """Euclidean distances between all rows of X and of Y, exact also where points are close to each other.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
        First table.
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        Second table; None means X.
    Y_norm_squared : array-like of shape (n_samples_Y,), (n_samples_Y, 1) or (1, n_samples_Y), default=None
        Accepted and not used: norms are those of centred rows, or not needed.
    squared : bool, default=False
        Whether squared distances are returned.
    X_norm_squared : array-like of shape (n_samples_X,), (n_samples_X, 1) or (1, n_samples_X), default=None
        Accepted and not used.

    Returns
    -------
    distances : ndarray of shape (n_samples_X, n_samples_Y)
        Distances.

    Examples
    --------
    >>> from hyperplan.metrics import euclidean_distances
    >>> euclidean_distances([[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    """
    first, second = check_pair(X, Y)
    for name, table, norms in (("X", first, X_norm_squared), ("Y", second, Y_norm_squared)):
        if norms is not None:
            shape, n = check_array(norms, ensure_2d=False).shape, table.shape[0]
            if shape not in ((n,), (n, 1), (1, n)):
                found = f"{name} of shape {table.shape} and {name}_norm_squared of shape {shape}"
                raise ValueError(f"Incompatible dimensions for {found}.")
    return pairwise_distances(first, None if second is first else second, squared=squared)


def manhattan_distances(X, Y=None):
    """Sums of absolute differences between all rows of X and of Y.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
        First table.
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        Second table; None means X.

    Returns
    -------
    distances : ndarray of shape (n_samples_X, n_samples_Y)
        Distances.

    Examples
    --------
    >>> from hyperplan.metrics.pairwise import manhattan_distances
    >>> manhattan_distances([[0.0, 0.0]], [[3.0, 4.0]])
    array([[7.]])
    """
    return pairwise_distances(X, Y, metric="manhattan")


def cosine_distances(X, Y=None):
    """One minus the cosine of the angle between all rows of X and of Y; it breaks the triangle inequality.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples_X, n_features)
        First table.
    Y : {array-like, sparse matrix} of shape (n_samples_Y, n_features), default=None
        Second table; None means X.

    Returns
    -------
    distances : ndarray of shape (n_samples_X, n_samples_Y)
        Numbers between 0 and 2; 1 where a row is zero.

    Examples
    --------
    >>> from hyperplan.metrics.pairwise import cosine_distances
    >>> cosine_distances([[1.0, 0.0]], [[0.0, 2.0], [3.0, 0.0]])
    array([[1., 0.]])
    """
    return pairwise_distances(X, Y, metric="cosine")


def haversine_distances(X, Y=None):
    """Angles on a sphere between points (latitude, longitude) in radians; times the radius they are lengths.

    Parameters
    ----------
    X : array-like of shape (n_samples_X, 2)
        First points.
    Y : array-like of shape (n_samples_Y, 2), default=None
        Second points; None means X.

    Returns
    -------
    distances : ndarray of shape (n_samples_X, n_samples_Y)
        Radians.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.metrics.pairwise import haversine_distances
    >>> haversine_distances([[0.0, 0.0]], [[0.0, np.pi]]) / np.pi
    array([[1.]])
    """
    return pairwise_distances(X, Y, metric="haversine")


@checked(squared=Bool, missing_values=MISSING, copy=Bool)
def nan_euclidean_distances(X, Y=None, *, squared=False, missing_values=np.nan, copy=True):
    """Euclidean distances over the coordinates that both rows have, scaled up as if the others were like them.

    Parameters
    ----------
    X : array-like of shape (n_samples_X, n_features)
        First table.
    Y : array-like of shape (n_samples_Y, n_features), default=None
        Second table; None means X.
    squared : bool, default=False
        Whether squared distances are returned.
    missing_values : NaN, float or int, default=NaN
        What stands for a missing value.
    copy : bool, default=True
        Accepted and not used: the tables are never written to.

    Returns
    -------
    distances : ndarray of shape (n_samples_X, n_samples_Y)
        NaN for rows that share no coordinate.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.metrics import nan_euclidean_distances
    >>> nan_euclidean_distances([[3.0, np.nan]], [[1.0, 5.0]], squared=True)
    array([[8.]])
    """
    allowed = "allow-nan" if np.isnan(missing_values) else True
    X, Y = check_pair(X, Y, ensure_all_finite=allowed)
    if sp.issparse(X) or sp.issparse(Y):
        raise TypeError("Missing values are sought in dense tables: use X.toarray()")
    if not np.isnan(missing_values):
        X, Y = (np.where(table == missing_values, np.nan, table) for table in (X, Y))
    distances = pairwise_distances(X, Y, metric="nan_euclidean")
    return distances**2 if squared else distances
