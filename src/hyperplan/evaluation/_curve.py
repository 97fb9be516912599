"""Curves of training and validation scores with intervals: the record and the loop that learning and validation
curves share."""

from typing import NamedTuple

import numpy as np

from hyperplan._base.members import is_own, member_map
from hyperplan._texts.extras import required
from hyperplan.evaluation._corrected_t import corrected_t_interval
from hyperplan.evaluation._splits import share_of_splits
from hyperplan.evaluation._tables import rows_of


class Curve(NamedTuple):
    """Training and validation scores along sizes or values of a parameter.

    Attributes
    ----------
    name : str
        What varies.
    x : list
        Its values.
    train, train_low, train_high : arrays
        Mean score on the training rows over the splits, and its corrected t interval.
    validation, validation_low, validation_high : arrays
        The same for the rows left out.
    train_scores, validation_scores : arrays of shape (len(x), n_splits)
    test_share : float
        n_test / n_train of the splits, which the intervals used.
    level : float
    """

    name: str
    x: list
    train: np.ndarray
    train_low: np.ndarray
    train_high: np.ndarray
    validation: np.ndarray
    validation_low: np.ndarray
    validation_high: np.ndarray
    train_scores: np.ndarray
    validation_scores: np.ndarray
    test_share: float
    level: float

    @property
    def best(self):
        """The value of x with the best mean validation score; the first of equals."""
        return self.x[int(np.argmax(self.validation))]

    def frame(self):
        """A pandas frame with a row per value of x."""
        pd = required("pandas")
        columns = ("train", "train_low", "train_high", "validation", "validation_low", "validation_high")
        return pd.DataFrame({self.name: self.x, **{column: getattr(self, column) for column in columns}})

    def plot(self, ax=None):
        """Draw both curves with their intervals; returns the axes."""
        from hyperplan.evaluation._drawing import draw_bands

        numbers = all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in self.x)
        x = self.x if numbers else np.arange(len(self.x))
        log = numbers and len(self.x) > 2 and min(self.x) > 0 and max(self.x) / min(self.x) >= 100
        bands = [
            ("training rows", self.train, self.train_low, self.train_high),
            ("rows left out", self.validation, self.validation_low, self.validation_high),
        ]
        ylabel = f"score (mean, {100 * self.level:g} % interval)"
        axes = draw_bands(x, bands, self.name.replace("_", " "), ylabel, ax, log)
        if not numbers:
            axes.set_xticks(x, [str(value) for value in self.x])
        return axes

    def __str__(self):
        rows = zip(self.x, self.train, self.validation, self.validation_low, self.validation_high)
        return "\n".join(
            f"{self.name} {value}: training {train:.4g}, left out {score:.4g} [{low:.4g}, {high:.4g}]"
            for value, train, score, low, high in rows
        )


def make_curve(name, x, models, train_rows, X, y, splits, scorer, level, n_jobs) -> Curve:
    """Fit ``models[i]()`` on ``train_rows(split number, i)`` for every i and split, and score it on both parts."""
    tasks = [(i, j) for i in range(len(x)) for j in range(len(splits))]

    def scores(task):
        i, j = task
        train, test = train_rows(j, i), splits[j][1]
        X_train, y_train = rows_of(X, train), rows_of(y, train)
        model = models[i]().fit(X_train, y_train)
        return scorer(model, X_train, y_train), scorer(model, rows_of(X, test), rows_of(y, test))

    both = np.array(member_map(scores, tasks, n_jobs, own=is_own(models[0]())), dtype=np.float64)
    both = both.reshape(len(x), len(splits), 2)
    share = share_of_splits(splits)
    parts = []
    for part in (both[:, :, 0], both[:, :, 1]):
        parts += np.array([corrected_t_interval(row, share, level=level)[:3] for row in part]).T.tolist()
    return Curve(name, list(x), *map(np.array, parts), both[:, :, 0], both[:, :, 1], share, level)
