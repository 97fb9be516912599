"""Covariance matrices from scatter matrices: as they are, or shrunk towards a multiple of the identity."""

import numpy as np

from hyperplan._core.parallel import spans
from hyperplan._math._class_moments_kernels import gather_rows
from hyperplan._math.moments import panel_rows, quiet_map


def shrunk_covariance(covariance, shrinkage):
    """``(1 - shrinkage) S + shrinkage (trace S / d) I``.

    >>> import numpy as np
    >>> from hyperplan._math.covariance import shrunk_covariance
    >>> shrunk_covariance(np.diag([1.0, 3.0]), 0.5)
    array([[1.5, 0. ],
           [0. , 2.5]])
    """
    d = covariance.shape[0]
    out = (1.0 - shrinkage) * covariance
    out.flat[:: d + 1] += shrinkage * np.trace(covariance) / d
    return out


def ledoit_wolf_covariance(X, order, mean, scatter, n_jobs=None):
    """Covariance of the rows `order` of X, shrunk by the optimal share after standardising the columns.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        C-ordered rows.
    order : ndarray of shape (m,)
        The rows that count.
    mean : ndarray of shape (d,)
        Their mean.
    scatter : ndarray of shape (d, d)
        Their scatter matrix about it.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    covariance : ndarray of shape (d, d)
        The shrunk covariance, in the units of X.

    References
    ----------
    Ledoit, Wolf (2004), A well-conditioned estimator for large-dimensional covariance matrices.
    """
    m, d = order.shape[0], X.shape[1]
    covariance = scatter / m
    scale = np.sqrt(np.diagonal(covariance))
    scale = np.where(scale > 0, scale, 1.0)
    standard = covariance / np.outer(scale, scale)
    share = _ledoit_wolf_share(standard, _sum_of_quartics(X, order, mean, scale**-2.0, n_jobs), m) if d > 1 else 0.0
    return shrunk_covariance(standard, share) * np.outer(scale, scale)


def _ledoit_wolf_share(covariance, quartics, m):
    """Estimated distance of the sample covariance from the true one, over its distance from the multiple of I."""
    d = covariance.shape[0]
    square, trace = float((covariance**2).sum()), float(np.trace(covariance))
    error = (quartics / m - square) / (d * m)
    spread = (square - trace**2 / d) / d
    error = min(error, spread)
    return 0.0 if error == 0 else error / spread


def _sum_of_quartics(X, order, mean, precision, n_jobs):
    """``sum_i |z_i|^4`` of the standardised rows."""
    d = X.shape[1]

    def task(span):
        rows = np.empty((span.stop - span.start, d))
        gather_rows(X, order[span], mean, rows)
        rows *= rows
        lengths = rows @ precision
        return float(lengths @ lengths)

    return sum(quiet_map(task, spans(order.shape[0], panel_rows(d)), n_jobs))
