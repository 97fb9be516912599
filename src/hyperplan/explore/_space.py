"""From rows of a table to points whose distances mean something.

Columns become numbers as in a competition (numbers scaled, one column of zeros and ones per category, missing values
filled and marked, dates in parts).  Then every column of the table weighs the same: what stands for one column has a
total variance of at most 1, so that a date with five parts or a text with two hundred words does not outvote a number.
Many columns are replaced by their first principal components.
"""

import numpy as np
import scipy.sparse as sp

from hyperplan.compete._audit_sample import draw_rows
from hyperplan.compete._preparation import TablePreparation
from hyperplan.explore._limits import component_rows

LOOKED_AT = 20_000  # rows that medians, scales and categories are learnt on
MOST_COLUMNS = 60  # of numbers; with more of them, distances are measured along principal components
KEPT = 50  # components
CHUNK = 50_000  # rows that are made numbers at a time


class Space:
    """The map from rows to points, learnt on a sample of a table.

    Parameters
    ----------
    frame : DataFrame
        The table.
    columns : sequence of Column
        The columns that count.
    seed : int
        Of the samples.
    seconds : float
        The budget: it says on how many rows components are learnt.

    Attributes
    ----------
    origins : list of str
        The column of the table behind each column of numbers.
    kept : float
        Share of the variance that the components hold; 1 without them.
    learnt_on : int
        Rows that scales are learnt on, or components if there are any.
    n_dimensions : int
        Coordinates of a point.
    """

    def __init__(self, frame, columns, seed: int, seconds: float):
        self.columns = tuple(columns)
        self._prepare = TablePreparation(self.columns, mode="linear")
        sample = frame.iloc[draw_rows(len(frame), LOOKED_AT, seed)]
        self._prepare.fit(sample)
        self.origins = self._prepare.origins_
        X = self._prepare.transform(sample)
        self._scale = _scales(X, self.origins)
        self._components, self.kept = None, 1.0
        if X.shape[1] > MOST_COLUMNS or sp.issparse(X):
            X = X[draw_rows(X.shape[0], component_rows(seconds, X.shape[1]), seed)]
            self._learn_components(self._scaled(X))
        self.learnt_on = X.shape[0]
        self.n_dimensions = X.shape[1] if self._components is None else self._components.n_components_

    def _learn_components(self, X) -> None:
        from hyperplan.decomposition import PCA

        wanted = min(KEPT, X.shape[0] - 1, X.shape[1] - 1)
        self._components = PCA(wanted, random_state=0).fit(X)
        self.kept = float(min(self._components.explained_variance_ratio_.sum(), 1.0))

    def _scaled(self, X):
        return sp.csr_array(X.multiply(self._scale[None, :])) if sp.issparse(X) else X * self._scale

    def features(self, table) -> np.ndarray:
        """Scaled columns of numbers, before components are taken, of a few rows."""
        X = self._scaled(self._prepare.transform(table))
        return X.toarray() if sp.issparse(X) else X

    def points(self, table) -> np.ndarray:
        """Points of a frame or of typed values."""
        if isinstance(table, dict):
            return self._points(table)
        parts = [self._points(table.iloc[start : start + CHUNK]) for start in range(0, len(table), CHUNK)]
        return np.ascontiguousarray(parts[0] if len(parts) == 1 else np.concatenate(parts))

    def _points(self, table) -> np.ndarray:
        X = self._scaled(self._prepare.transform(table))
        return X if self._components is None else self._components.transform(X)

    def typed(self, frame) -> dict:
        """Typed values of the columns that count."""
        return self._prepare.typed(frame)


def _scales(X, origins) -> np.ndarray:
    """What each column of numbers is multiplied by, so that those of one table column have variance 1 at most."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray(X.power(2).mean(axis=0) if sp.issparse(X) else (X * X).mean(axis=0)).ravel()
    variance = np.maximum(square - mean * mean, 0.0)
    names, codes = np.unique(np.asarray(origins, dtype=object).astype(str), return_inverse=True)
    total = np.bincount(codes, variance, minlength=len(names))
    return 1.0 / np.sqrt(np.maximum(total, 1.0))[codes]
