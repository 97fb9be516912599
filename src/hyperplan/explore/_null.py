"""Tables without groups: what a clustering method must beat before its groups are believed.

The numbers of such a table are one cloud: a Gaussian with the rank correlations of the columns, each bent to the
values of its own column, of which only humps are taken away: its distribution is the nearest with a single one.  They
are rounded as the column is.  A value that many rows share keeps its share, categories and texts are dealt at random,
and so are missing values.  What is left is everything but groups: skewness, tails, steps, correlations.  With Gaussian
columns this is the reference of SigClust.

Reference: Liu, Hayes, Nobel, Marron (2008), Statistical significance of clustering for high-dimension, low-sample size
data.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from hyperplan._core.compiling import working_time
from hyperplan._math.isotonic import pooled

BINS = 24  # of equal counts, that stand for a distribution; and shares of the rows that have bins of their own
TAILS = (0.002, 0.005, 0.01, 0.02)
FEW = 30  # distinct values of a column that are steps, each a bin of its own
LEARN_SECONDS = 2e-3  # for each column, on 50 to 800 rows
SHARED = 0.25  # share of the rows that have one value, from which on it keeps its share


class _Bend(NamedTuple):
    """How a column follows from a Gaussian: values at shares of the rows, steps, and the value that many rows share."""

    shares: np.ndarray  # from 0 to 1
    values: np.ndarray  # at these shares; for steps one less, each for the span between two shares
    step: float
    shared: float  # nan for none


class NullModel:
    """Draws tables of as many rows as the one it has seen, without groups.

    Parameters
    ----------
    typed : dict
        Typed values by column.
    columns : sequence of Column
        Their kinds.
    """

    def __init__(self, typed: dict, columns):
        self._typed = typed
        self._numbers = [column.name for column in columns if column.kind in ("number", "date")]
        self.n_rows = len(next(iter(typed.values())))
        self._is_known, self._bends, scores = {}, {}, []
        for name in self._numbers:
            values = _as_floats(typed[name])
            self._is_known[name] = known = np.isfinite(values)
            self._bends[name], score = _learn(values, known)
            scores.append(score)
        self._scores = np.column_stack(scores) if scores else np.zeros((self.n_rows, 0))

    def draw(self, seed) -> dict:
        """Typed values of a table without groups, the same for the same seed."""
        rng, n = np.random.default_rng(seed), self.n_rows
        cloud = rng.standard_normal((n, n)) @ self._scores / np.sqrt(n) if self._numbers else None
        table = {}
        for name, values in self._typed.items():
            if name not in self._bends:
                table[name] = values[rng.permutation(n)]
                continue
            bend, known = self._bends[name], self._is_known[name]
            drawn = _bent(cloud[:, self._numbers.index(name)], bend)
            if np.isfinite(bend.shared):
                is_shared = _as_floats(values) == bend.shared
                drawn = np.where(rng.permutation(is_shared), bend.shared, drawn)
            drawn = np.where(rng.permutation(known), drawn, np.nan)
            table[name] = _as_dates(drawn) if values.dtype.kind == "M" else drawn
        return table


class Reference:
    """Points of tables without groups, made when they are asked for and kept.

    Parameters
    ----------
    space : Space
        Makes points of rows.
    typed : dict
        Typed values of the rows that the tables are like.
    seed : int
        Of the draws.
    """

    def __init__(self, space, typed: dict, seed: int):
        self._space, self._seed, self._typed = space, seed, typed
        self._model: NullModel | None = None  # learnt when a table is asked for: some explorations need none
        self._seconds, self._kept = LEARN_SECONDS * len(space.columns), {}

    def cost(self, number: int) -> float:
        """About how many seconds the table of a number takes, by the one before; the first one has to be learnt for."""
        return 0.0 if number in self._kept else self._seconds

    def points(self, number: int) -> np.ndarray:
        """Points of the table of a number."""
        if number not in self._kept:
            self._model = self._model or NullModel(self._typed, self._space.columns)
            began = working_time()
            self._kept[number] = self._space.points(self._model.draw([self._seed, number]))
            self._seconds = working_time() - began
        return self._kept[number]


def _as_floats(values) -> np.ndarray:
    if values.dtype.kind != "M":
        return values
    return np.where(np.isnat(values), np.nan, values.astype("datetime64[ns]").astype(np.int64) / 1e9)


def _as_dates(seconds) -> np.ndarray:
    dates = (np.nan_to_num(seconds) * 1e9).astype(np.int64).astype("datetime64[ns]")
    dates[~np.isfinite(seconds)] = np.datetime64("NaT")
    return dates


def _learn(values, known) -> tuple[_Bend, np.ndarray]:
    """How a column is bent, and its rows on the Gaussian scale (0 where missing or shared)."""
    levels, counts = np.unique(values[known], return_counts=True)
    shared, is_free = np.nan, known
    if len(levels) > FEW and counts.max() >= SHARED * known.sum():
        shared = float(levels[np.argmax(counts)])
        is_free = known & (values != shared)
    scores = np.zeros(len(values))
    free = values[is_free]
    if not free.size:
        return _Bend(np.array([0.0, 1.0]), np.zeros(1), 0.0, shared), scores
    levels, place, counts = np.unique(free, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - 0.5 * counts  # equal values share the mean of their ranks
    scores[is_free] = ndtri(middle[place.ravel()] / free.size)
    bend = _steps(levels, counts) if len(levels) <= FEW else _curve(np.sort(free), float(np.diff(levels).min()))
    return bend._replace(shared=shared), scores


def _steps(levels, counts) -> _Bend:
    """A column of few values: their counts, with one hump."""
    heights = one_hump(counts.astype(np.float64), np.ones(len(counts)))
    return _Bend(np.append(0.0, np.cumsum(heights) / heights.sum()), levels, 0.0, np.nan)


def _curve(ordered, step: float) -> _Bend:
    """A column of many values: its density over bins of equal counts, with one hump."""
    tails = np.array(TAILS)
    edges = np.unique(np.quantile(ordered, np.concatenate([np.linspace(0.0, 1.0, BINS + 1), tails, 1.0 - tails])))
    counts, _ = np.histogram(ordered, edges)
    widths = np.diff(edges)
    masses = one_hump(counts / widths, widths) * widths
    return _Bend(np.append(0.0, np.cumsum(masses) / masses.sum()), edges, step, np.nan)


def _bent(cloud, bend: _Bend) -> np.ndarray:
    """Values of a column from standard normal ones."""
    shares = ndtr(cloud)
    if len(bend.values) < len(bend.shares):
        return bend.values[np.clip(np.searchsorted(bend.shares, shares, side="right") - 1, 0, len(bend.values) - 1)]
    values = np.interp(shares, bend.shares, bend.values)
    low, high = bend.values[0], bend.values[-1]
    if bend.step > 0.0:
        values = low + np.round((values - low) / bend.step) * bend.step
    return np.clip(values, low, high)


def one_hump(heights: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The nearest heights, by weighted least squares, that rise up to some place and fall from there on."""
    tried = [_hump_at(heights, weights, top) for top in range(len(heights) + 1)]
    return min(tried, key=lambda fitted: float((weights * (heights - fitted) ** 2).sum()))


def _hump_at(heights, weights, top: int) -> np.ndarray:
    """Nearest heights that rise before a place and fall behind it."""
    up = pooled(heights[:top], weights[:top])
    down = pooled(heights[top:][::-1].copy(), weights[top:][::-1].copy())
    return np.append(up, down[::-1])
