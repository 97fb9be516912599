"""Columns as numbers, and how well each predicts the target by itself.

A column that alone predicts (nearly) everything is seldom luck: it may be the target in disguise, or known only after
it.  Words are replaced by the mean target of their rows in the training part, so that no test row says anything about
itself.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan._base.members import member_map
from hyperplan.evaluation._tables import column_names
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor

PROBE_ROWS = 20_000  # more rows tell no more about a tree of 16 leaves
PROBE_DEPTH, PROBE_LEAF = 4, 5
SCREENED, KEPT = 60, 20  # above that many columns one split chooses those that the others are spent on


class Columns:
    """A table by columns: numbers as float64, all else as codes of its different values; NaN where one is missing."""

    def __init__(self, X):
        self.names = [str(name) if hasattr(X, "columns") else f"x{name}" for name in column_names(X)]
        self._X = X.tocsc() if sp.issparse(X) else X
        self._known: dict = {}

    def __len__(self):
        return len(self.names)

    def get(self, j):
        """Column j and whether it holds codes."""
        if j not in self._known:
            self._known[j] = _as_numbers(self._raw(j))
        return self._known[j]

    def _raw(self, j):
        if sp.issparse(self._X):
            return np.asarray(self._X[:, [j]].toarray()).ravel()
        if hasattr(self._X, "iloc"):
            return self._X.iloc[:, j].to_numpy()
        return self._X[:, j].to_numpy() if hasattr(self._X, "with_columns") else np.asarray(self._X)[:, j]

    def matrix(self):
        """All columns as numbers, for a model of this package."""
        return np.column_stack([self.get(j)[0] for j in range(len(self))])


def _as_numbers(values):
    if values.dtype.kind in "biuf":
        return values.astype(np.float64), False
    if values.dtype.kind in "mM":
        numbers = values.astype("int64").astype(np.float64)
        return np.where(np.isnat(values), np.nan, numbers), False
    missing = np.array([_is_missing(value) for value in values], dtype=bool)
    try:
        return np.where(missing, np.nan, values).astype(np.float64), False
    except (TypeError, ValueError):
        codes = np.unique(np.where(missing, "", values).astype(str), return_inverse=True)[1].astype(np.float64)
        codes[missing] = np.nan
        return codes, True


def _is_missing(value):
    """None, NaN, NaT, and pandas' NA, which is neither equal to itself nor different."""
    return value is None or type(value).__name__ == "NAType" or value != value


def column_scores(columns, y, splits, scorer, *, classify, n_jobs) -> dict:
    """{column number: scores of a small tree on this column alone, one per split}; columns that fail are left out."""
    tree = (DecisionTreeClassifier if classify else DecisionTreeRegressor)(
        max_depth=PROBE_DEPTH, min_samples_leaf=PROBE_LEAF, random_state=0
    )
    y = np.asarray(y)
    numeric = np.unique(y, return_inverse=True)[1] if classify else y.reshape(len(y), -1).mean(axis=1)

    def score(task):
        j, (train, test) = task
        values, is_code = columns.get(j)
        train = train[:: max(1, len(train) // PROBE_ROWS)]
        if is_code:
            values = _mean_target(values, numeric, train)
        try:
            model = tree.__class__(**tree.get_params()).fit(values[train, None], y[train])
            return float(scorer(model, values[test, None], y[test]))
        except ValueError:  # infinite values, a class that is missing here
            return np.nan

    def scores(numbers, splits):
        tasks = [(j, split) for j in numbers for split in splits]
        found = np.array(member_map(score, tasks, n_jobs, own=True)).reshape(len(numbers), len(splits))
        return {j: row for j, row in zip(numbers, found) if np.isfinite(row).all()}

    numbers = list(range(len(columns)))
    if len(numbers) > SCREENED:
        first = scores(numbers, splits[:1])
        numbers = sorted(sorted(first, key=lambda j: -first[j][0])[:KEPT])
    return scores(numbers, splits) if numbers else {}


def _mean_target(codes, target, train):
    """Each code's mean target over the training rows; NaN for codes that are not there."""
    known = train[~np.isnan(codes[train])]
    size = int(np.nanmax(codes, initial=-1.0)) + 1
    counts = np.bincount(codes[known].astype(np.intp), minlength=size)
    sums = np.bincount(codes[known].astype(np.intp), weights=target[known], minlength=size)
    means = np.divide(sums, counts, out=np.full(size, np.nan), where=counts > 0)
    return np.where(np.isnan(codes), np.nan, means[np.nan_to_num(codes).astype(np.intp)])
