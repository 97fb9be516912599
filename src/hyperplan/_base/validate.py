"""The one door for data: scikit-learn's checks, with errors that name the row and the column."""

import contextlib
import numbers
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from hyperplan._core.arrays import kernel_view

FLOATS = [np.float64, np.float32]
_PLAIN_OPTIONS = {"dtype", "order", "ensure_all_finite", "accept_large_sparse", "y_numeric", "multi_output"}


class Data(NamedTuple):
    """Checked training data; `weight` is None when the caller gave none (all rows count once)."""

    X: object
    y: np.ndarray
    weight: np.ndarray | None


def check_design(estimator, X, *, reset=False, accept_sparse=("csr", "csc"), **options):
    """Checked X alone (for predict, transform and unsupervised fits); float32 and float64 are kept.

    Never write into the result: it may alias the caller's read-only array (see `kernel_view`).
    """
    options.setdefault("dtype", FLOATS)
    with _located_errors(estimator, X):
        return kernel_view(validate_data(estimator, X, reset=reset, accept_sparse=accept_sparse, **options))


def check_training(estimator, X, y, sample_weight=None, *, accept_sparse=("csr", "csc"), **options):
    """Checked X, y and weights for `fit`.

    Options go to scikit-learn's `validate_data` (``order="F"``, ``multi_output=True``, ``y_numeric=True``,
    ``ensure_all_finite=False`` when the fit itself finds non-finite values in its first pass, ...).

    Never write into the results: they may alias the caller's read-only arrays (see `kernel_view`).
    """
    options.setdefault("dtype", FLOATS)
    if _is_plain(X, y, options):
        estimator.n_features_in_ = X.shape[1]
        estimator.__dict__.pop("feature_names_in_", None)
        return Data(kernel_view(X), kernel_view(np.ascontiguousarray(y)), check_weight(sample_weight, X))
    with _located_errors(estimator, X):
        X, y = validate_data(estimator, X, y, accept_sparse=accept_sparse, **options)
    y = np.ascontiguousarray(y) if y.ndim == 1 else y  # a column of a table is strided: one more compilation
    return Data(kernel_view(X), kernel_view(y), check_weight(sample_weight, X))


def _is_plain(X, y, options):
    """Whether scikit-learn's checks would find nothing to say or to change: small fits spend most of their time there.

    All else (other types and orders, wrong shapes, values that are not finite) is left to them.
    """
    if type(X) is not np.ndarray or type(y) is not np.ndarray or not options.keys() <= _PLAIN_OPTIONS:
        return False
    if X.ndim != 2 or X.size == 0 or y.shape != X.shape[:1] or y.dtype.kind not in "biuf":
        return False
    order, finite = options.get("order"), options.get("ensure_all_finite", True)
    wanted = order is None or X.flags.c_contiguous if order != "F" else X.flags.f_contiguous
    if options["dtype"] is not FLOATS or X.dtype not in FLOATS or not wanted or not isinstance(finite, bool):
        return False
    with np.errstate(all="ignore"):  # a NaN or an infinity always reaches the sum
        return bool((not finite or np.isfinite(X.sum())) and (y.dtype.kind != "f" or np.isfinite(y.sum())))


def check_weight(sample_weight, X, *, allow_negative=False, dtype=np.float64):
    """Weights as a contiguous 1-d array, or None when not given.

    A scalar stands for the same weight on every row.
    """
    if sample_weight is None:
        return None
    n_samples = X.shape[0]
    if isinstance(sample_weight, numbers.Number):
        weight = np.full(n_samples, sample_weight, dtype=dtype)
    else:
        weight = check_array(sample_weight, ensure_2d=False, dtype=dtype, order="C", input_name="sample_weight")
    if weight.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {weight.ndim}D array. Expected either a scalar value "
            f"or a 1D array of length {n_samples}."
        )
    if weight.shape != (n_samples,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n_samples,)}!")
    if not allow_negative and (negative := np.flatnonzero(weight < 0)).size:
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: row {negative[0]} has {weight[negative[0]]:g}. "
            "Weights count repetitions; drop the row or give it weight 0."
        )
    if not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return kernel_view(weight)


def check_finite(estimator, X, finite=True):
    """Raise the located error if X holds NaN (unless `finite` is "allow-nan") or infinity: for deferred checks."""
    options = {"accept_sparse": True, "dtype": None, "ensure_min_samples": 0, "ensure_all_finite": finite}
    with _located_errors(estimator, X):
        check_array(X, input_name="X", estimator=estimator, **options)


@contextlib.contextmanager
def _located_errors(estimator, X):
    """Add "first at row i, column j" to the errors about NaN and infinity, and leave it at errors: no warnings."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # a cast to float32; the sum of both infinities
            yield
    except ValueError as error:
        text = str(error)
        if "contains NaN" in text or "contains infinity" in text:
            largest = np.inf if "NaN" in text else np.finfo(np.float32 if "float32" in text else np.float64).max
            place = _first_non_finite(X, getattr(estimator, "feature_names_in_", None), largest)
            if place:
                head, *tail = text.split("\n")
                raise ValueError("\n".join([f"{head} {place}", *tail])) from None
        raise


def _first_non_finite(X, names, largest):
    """Words for the first bad entry of X; "" when X cannot be searched or is finite (then y is the culprit).

    With `largest` infinite, NaN and infinities are bad, else what is larger in size.
    """

    def is_bad(values):
        return ~np.isfinite(values) if largest == np.inf else np.abs(values) > largest

    with contextlib.suppress(Exception):
        if sp.issparse(X):
            entries = X.tocoo()
            bad = np.column_stack([entries.row, entries.col])[is_bad(entries.data)]
        else:
            bad = np.argwhere(is_bad(np.asarray(X, dtype=np.float64)))
        if len(bad):
            where = tuple(bad[0])
            columns = getattr(X, "columns", names)
            name = f" ({str(columns[where[1]])!r})" if columns is not None else ""
            count = len(bad)
            return (
                f"{count} such value{'s' if count > 1 else ''}, the first at row {where[0]}, column {where[1]}{name}: "
                "impute (hyperplan.preprocessing.SimpleImputer) or drop."
            )
    return ""


def seed_from(random_state) -> int:
    """A 63-bit seed drawn from scikit-learn's `random_state` (int, RandomState or None)."""
    return int(check_random_state(random_state).randint(0, 2**31 - 1, dtype=np.int64)) << 31 | 0x5BD1E995


__all__ = [
    "FLOATS",
    "Data",
    "check_design",
    "check_finite",
    "check_is_fitted",
    "check_random_state",
    "check_training",
    "check_weight",
    "column_or_1d",
    "seed_from",
]
