"""Tables without groups: what a clustering method must beat before its groups are believed.

The numbers of such a table are one cloud: a Gaussian with the correlations of the columns, each bent to the skewness
of its own column (the transformation of Yeo and Johnson, which with no parameter makes two humps), rounded as the
column is and cut where it ends.  A value that many rows share keeps its share, categories and texts are dealt at
random, and so are missing values.  What is left is everything but groups.  With all columns Gaussian this is the
reference of SigClust.

References: Liu, Hayes, Nobel, Marron (2008), Statistical significance of clustering for high-dimension, low-sample size
data; Yeo, Johnson (2000), A new family of power transformations to improve normality or symmetry.
"""

from typing import NamedTuple

import numpy as np

POWERS = np.arange(-20, 41) / 10.0
LOOKED_AT = 500  # values that decide a power
SHARED = 0.25  # share of the rows that have one value, from which on it keeps its share
FEW = 12  # distinct values of a column that is not asked for such a value: its steps are kept anyway


class _Bend(NamedTuple):
    """How a column follows from a Gaussian: centre and scale before, power, mean and spread after, steps, ends."""

    centre: float
    scale: float
    power: float
    mean: float
    spread: float
    step: float
    low: float
    high: float
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
        self._space, self._seed, self._model = space, seed, NullModel(typed, space.columns)
        self._kept: dict[int, np.ndarray] = {}

    def points(self, number: int) -> np.ndarray:
        """Points of the table of a number."""
        if number not in self._kept:
            self._kept[number] = self._space.points(self._model.draw([self._seed, number]))
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
    free = values[is_free]
    if free.size < 2 or np.ptp(free) == 0.0:
        level = float(free[0]) if free.size else 0.0
        return _Bend(level, 1.0, 1.0, 0.0, 0.0, 0.0, level, level, shared), np.zeros(len(values))
    centre, scale = float(np.median(free)), float(free.std())
    plain = (free - centre) / scale
    power = _likeliest_power(plain)
    bent = yeo_johnson(plain, power)
    mean, spread = float(bent.mean()), float(bent.std())
    scores = np.zeros(len(values))
    if spread > 0.0:
        scores[is_free] = (bent - mean) / spread
    gaps = np.diff(np.unique(free))
    bend = _Bend(centre, scale, power, mean, spread, float(gaps.min()), float(free.min()), float(free.max()), shared)
    return bend, scores


def _bent(cloud, bend: _Bend) -> np.ndarray:
    """Values of a column from standard normal ones."""
    ends = (np.array([bend.low, bend.high]) - bend.centre) / bend.scale
    low, high = yeo_johnson(ends, bend.power)
    values = inverse_yeo_johnson(np.clip(bend.mean + bend.spread * cloud, low, high), bend.power)
    values = bend.centre + bend.scale * values
    if bend.step > 0.0:
        values = bend.low + np.round((values - bend.low) / bend.step) * bend.step
    return np.clip(values, bend.low, bend.high)


def _likeliest_power(plain) -> float:
    """The power under which the values are most likely Gaussian."""
    if plain.size > LOOKED_AT:
        plain = np.sort(plain)[np.linspace(0, plain.size - 1, LOOKED_AT).astype(int)]
    slope = float((np.sign(plain) * np.log1p(np.abs(plain))).mean())
    with np.errstate(all="ignore"):
        spreads = np.array([yeo_johnson(plain, power).std() for power in POWERS])
        likelihood = -np.log(spreads) + (POWERS - 1.0) * slope
    return float(POWERS[np.nanargmax(np.where(np.isfinite(likelihood), likelihood, -np.inf))])


def yeo_johnson(x, power: float) -> np.ndarray:
    """The power transformation for numbers of both signs."""
    size = np.abs(x)
    up = np.log1p(size) if power == 0.0 else ((1.0 + size) ** power - 1.0) / power
    down = np.log1p(size) if power == 2.0 else ((1.0 + size) ** (2.0 - power) - 1.0) / (2.0 - power)
    return np.where(x >= 0.0, up, -down)


def inverse_yeo_johnson(y, power: float) -> np.ndarray:
    """The number whose transformation is y, for y that has one."""
    size = np.abs(y)
    with np.errstate(invalid="ignore"):
        up = np.expm1(size) if power == 0.0 else (1.0 + power * size) ** (1.0 / power) - 1.0
        down = np.expm1(size) if power == 2.0 else (1.0 + (2.0 - power) * size) ** (1.0 / (2.0 - power)) - 1.0
    return np.where(y >= 0.0, up, -down)
