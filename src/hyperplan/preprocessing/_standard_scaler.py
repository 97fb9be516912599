"""Standardisation: ``(x - mean) / standard deviation`` of each column.

Moments come from one threaded pass (per panel of rows: mean, then squared deviations, merged by Chan's update), the
transformation from another that reads each value once and writes it once.
"""

import numpy as np

from hyperplan._base import FLOATS, Bool, check_array, check_design, check_is_fitted, check_params, check_weight
from hyperplan._base.preprocessing import ReferenceStandardScaler
from hyperplan._core.parallel import spans, thread_map
from hyperplan.preprocessing._scaler_kernels import (
    block_moments,
    line_moments,
    merge_moments,
    scale_block,
    scale_lines,
    unscale_block,
    unscale_lines,
)

BLOCK_VALUES = 1_000_000  # values per task; depends on the shape only, so that threads change no bit


def line_blocks(lines):
    """Slices of the first axis worth one task each."""
    return spans(lines.shape[0], max(1, BLOCK_VALUES // max(1, lines.shape[1])))


def column_moments(X, weight=None):
    """Total weight, mean and sum of squared deviations of the columns of a contiguous array (either order).

    >>> import numpy as np
    >>> from hyperplan.preprocessing._standard_scaler import column_moments
    >>> column_moments(np.array([[1.0], [3.0]]))
    (2.0, array([2.]), array([2.]))
    """
    weight = np.empty(0) if weight is None else weight
    total, mean, square = 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1])
    shift = np.median(X[[0, X.shape[0] // 2, -1]], axis=0).astype(np.float64)  # one of three values: no rounding
    if not X.flags.c_contiguous:
        lines = X.T

        def some_columns(block):
            return line_moments(lines[block], weight, shift[block], mean[block], square[block])

        total = thread_map(some_columns, line_blocks(lines))[0]
        return total, shift + mean, square

    def some_rows(block):
        part_mean, part_square = np.empty(X.shape[1]), np.empty(X.shape[1])
        return block_moments(X[block], weight[block], shift, part_mean, part_square), part_mean, part_square

    for part in thread_map(some_rows, line_blocks(X)):
        total = merge_moments(total, *part, mean, square)
    return total, shift + mean, square


def scale_from_variance(variance, mean, total):
    """Standard deviations, 1 for columns whose variance is within the rounding error of computing it."""
    eps = np.finfo(np.float64).eps
    constant = variance <= total * eps * variance + (total * mean * eps) ** 2
    return np.where(constant, 1.0, np.sqrt(variance))


class StandardScaler(ReferenceStandardScaler):
    """Standardise columns: subtract the mean, divide by the standard deviation.

    The same estimator as scikit-learn's, with the arithmetic on dense arrays done in threaded single passes.  Sparse
    matrices, missing values and other array libraries take scikit-learn's path.

    Parameters
    ----------
    copy : bool, default=True
        False transforms in place where possible.
    with_mean : bool, default=True
        Whether to subtract the mean (not possible for sparse matrices).
    with_std : bool, default=True
        Whether to divide by the standard deviation.

    Attributes
    ----------
    scale_ : ndarray of shape (n_features,) or None
        Standard deviations; 1 for constant columns.
    mean_ : ndarray of shape (n_features,) or None
        Means.
    var_ : ndarray of shape (n_features,) or None
        Variances (divided by the number of rows).
    n_samples_seen_ : float, int or ndarray of shape (n_features,)
        Number of rows, or their total weight; per column where values are missing.
    n_features_in_ : int
        Number of features seen by `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X has them.

    References
    ----------
    Chan, Golub, LeVeque (1983), The American Statistician 37(3).

    Examples
    --------
    >>> from hyperplan.preprocessing import StandardScaler
    >>> StandardScaler().fit_transform([[0.0, 5.0], [2.0, 5.0]])
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    _params = {"copy": Bool, "with_mean": Bool, "with_std": Bool}

    def partial_fit(self, X, y=None, sample_weight=None):
        """Update mean and standard deviation with a batch of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self
            The estimator.
        """
        check_params(self)
        first_call = not hasattr(self, "n_samples_seen_")
        by_column = not first_call and np.size(self.n_samples_seen_) > 1
        if not self._is_plain(X) or by_column or not (self.with_mean or self.with_std):
            return super().partial_fit(X, y, sample_weight)
        rows = contiguous(check_design(self, X, reset=first_call, accept_sparse=False, ensure_all_finite=False))
        weight = check_weight(sample_weight, rows, allow_negative=True)
        with np.errstate(all="ignore"):
            total, mean, square = column_moments(rows, weight)
            if not first_call:
                part, seen = (total, mean, square), float(self.n_samples_seen_)
                mean = np.array(self.mean_, dtype=np.float64)
                square = np.zeros_like(mean) if self.var_ is None else self.var_ * seen
                total = merge_moments(seen, *part, mean, square)
        if not (total > 0 and np.isfinite(mean).all() and np.isfinite(square).all()):
            return super().partial_fit(X, y, sample_weight)  # missing values or infinities: column by column
        self.n_samples_seen_ = np.float64(total)
        self.mean_ = mean
        self.var_ = square / total if self.with_std else None
        self.scale_ = scale_from_variance(self.var_, mean, total) if self.with_std else None
        return self

    def transform(self, X, copy=None):
        """Standardise rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        copy : bool, default=None
            Overrides the parameter of the same name.

        Returns
        -------
        X_tr : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Standardised rows.
        """
        check_is_fitted(self)
        if not self._is_plain(X):
            return super().transform(X, copy=copy)
        copy = self.copy if copy is None else copy
        rows = check_design(self, X, accept_sparse=False, ensure_all_finite=False, force_writeable=not copy)
        return self._apply(scale_block, scale_lines, rows, copy)

    def inverse_transform(self, X, copy=None):
        """Undo the standardisation.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Standardised rows.
        copy : bool, default=None
            Overrides the parameter of the same name.

        Returns
        -------
        X_original : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Rows in the original units.
        """
        check_is_fitted(self)
        if not self._is_plain(X):
            return super().inverse_transform(X, copy=copy)
        copy = self.copy if copy is None else copy
        rows = check_array(X, dtype=FLOATS, ensure_all_finite=False, force_writeable=not copy)
        if rows.shape[1] != self.n_features_in_:
            return super().inverse_transform(X, copy=copy)  # its own words for wrong shapes
        return self._apply(unscale_block, unscale_lines, rows, copy)

    def _is_plain(self, X):
        """What the kernels handle: NumPy arrays, nested lists and data frames, but half precision and callbacks."""
        known = isinstance(X, (np.ndarray, list, tuple)) or hasattr(X, "columns")
        return known and getattr(X, "dtype", None) != np.float16 and not getattr(self, "_skl_callbacks", None)

    def _apply(self, by_row, by_column, rows, copy):
        """Run an element-wise kernel over blocks, in place unless `copy`."""
        plain = contiguous(rows)
        out = np.empty_like(plain) if copy or plain is not rows else rows
        is_turned = not plain.flags.c_contiguous
        source, target, block_kernel = (plain.T, out.T, by_column) if is_turned else (plain, out, by_row)
        centre, divide = bool(self.with_mean), bool(self.with_std)
        mean = np.asarray(self.mean_ if centre else np.zeros(rows.shape[1]), dtype=rows.dtype)
        scale = np.asarray(self.scale_ if divide else np.ones(rows.shape[1]), dtype=rows.dtype)

        def one_block(block):
            own_mean, own_scale = (mean[block], scale[block]) if is_turned else (mean, scale)
            return block_kernel(source[block], own_mean, own_scale, centre, divide, target[block])

        if any(thread_map(one_block, line_blocks(source))):
            check_array(rows, ensure_all_finite="allow-nan", estimator=self, input_name="X")
        if not copy and out is not rows:
            rows[...] = out
            return rows
        return out


def contiguous(X):
    """X itself if it is contiguous in either order, else a C-ordered copy."""
    return X if X.flags.c_contiguous or X.flags.f_contiguous else np.ascontiguousarray(X)
