"""Ranking: rows belong to queries, and only their order inside a query matters.

With gains G(y), scores s and rows of a query ranked 1, 2, ... by falling score,

    DCG@k = sum_{rank r <= k} G(y_r) / log2(1 + r),        NDCG@k = DCG@k / (DCG@k of the best order).

The pairwise objective (RankNet) is ``sum log(1 + exp(-sigma (s_i - s_j)))`` over pairs of a query with y_i > y_j.
LambdaMART weights the derivatives of each pair by |change of the NDCG if the two swapped ranks|.  Both keep the pairs
with at least one row among the first `truncation` ranks.  If LambdaMART is normalised, a pair is divided by
0.01 + |s_i - s_j| once the scores of its query differ, so that pairs far apart, right or wrong, do not outweigh close
ones, and the derivatives of a query are multiplied by log2(1 + L) / L with L the sum of its absolute first derivatives,
so that large queries do not outweigh small ones.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._core.parallel import split_map
from hyperplan._trees import _ranking_kernels as k
from hyperplan._trees.boosting import Booster
from hyperplan._trees.boosting_losses import RANKING, BoostingLoss

TASK_PAIRS = 1_000_000  # pairs of rows of one task, roughly
SORT_PAIRS = 16  # sorting costs as much as this many pairs per row


class Places(NamedTuple):
    """Rows listed by query: query q holds ``order[starts[q]:starts[q + 1]]``, gain and weight are theirs."""

    order: np.ndarray
    starts: np.ndarray
    gain: np.ndarray
    weight: np.ndarray


class Judged(NamedTuple):
    """The query (0, 1, ...), relevance, gain and weight (None for all 1) of each row."""

    codes: np.ndarray
    relevance: np.ndarray
    gain: np.ndarray
    weight: np.ndarray | None


class PairShape(NamedTuple):
    """How steep the logistic function is, which pairs count, and how much."""

    sigma: float
    truncation: int
    swaps: bool  # weight pairs by the change of the NDCG
    normalize: bool  # only with `swaps`


def ranking_loss(objective) -> BoostingLoss:
    """The loss record of a ranker; scores start at 0."""
    return BoostingLoss(objective, RANKING)


def list_places(codes, gain, weight=None, by_gain=False) -> Places:
    """Places of rows whose query is ``codes`` (0, 1, ...); rows of weight 0 are left out.

    Inside a query, places are in order of falling gain if `by_gain`, else in an arbitrary, fixed order: equal scores
    are ranked by place, and the order of the rows in the caller's table (often by relevance) must not matter.

    The weight of a place is such that the product of two is ``w_i w_j / mean(w)`` of their query: equal weights
    multiply what the query counts.
    """
    n_queries = int(codes.max(initial=-1)) + 1
    within = -gain if by_gain else np.random.default_rng(0).permutation(codes.shape[0])
    order = np.lexsort((within, codes))
    if weight is not None:
        order = order[weight[order] > 0]
    counts = np.bincount(codes[order], minlength=n_queries)
    starts = np.concatenate(([0], np.cumsum(counts)))
    factors = np.ones(order.shape[0])
    if weight is not None:
        sums = np.bincount(codes[order], weights=weight[order], minlength=n_queries)
        factors = weight[order] / np.sqrt(sums / np.maximum(counts, 1))[codes[order]]
    return Places(order, starts, gain[order], factors)


def discounts(length, cut=None) -> np.ndarray:
    """``1 / log2(1 + rank)`` for ranks 1 .. length, 0 beyond the rank `cut`."""
    values = 1.0 / np.log2(np.arange(2, length + 2))
    values[length if cut is None else cut :] = 0.0
    return values


def ideal_dcg(places: Places, cut=None) -> np.ndarray:
    """DCG of the best order of each query."""
    lengths = np.diff(places.starts)
    codes = np.repeat(np.arange(lengths.shape[0]), lengths)
    best = np.lexsort((-places.gain, codes))
    rank = np.arange(best.shape[0]) - places.starts[codes]
    weights = places.gain[best] * discounts(int(lengths.max(initial=0)), cut)[rank]
    return np.bincount(codes, weights=weights, minlength=lengths.shape[0])


def query_tasks(starts, width) -> list[slice]:
    """Queries in tasks of about the same number of pairs, `width` per row at most; a function of shapes only."""
    lengths = np.diff(starts)
    cost = np.cumsum(lengths * (np.minimum(lengths, width) + SORT_PAIRS))
    task = np.concatenate(([0], cost[:-1])) // TASK_PAIRS
    firsts = np.flatnonzero(np.diff(task, prepend=-1))
    return [slice(int(a), int(b)) for a, b in zip(firsts, [*firsts[1:], lengths.shape[0]])]


def task_memory(starts, tasks, n_lines) -> list[np.ndarray]:
    """For each task memory for some lines as long as its longest query."""
    lengths = np.diff(starts)
    return [np.empty(n_lines * int(lengths[task].max(initial=0))) for task in tasks]


def first_ranks(starts) -> np.ndarray:
    """Places of each query, unsorted, and as much memory for sorting them: (2, n)."""
    return np.tile(np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts)), (2, 1))


class Ndcg:
    """NDCG@cut of queries, ready to be asked again and again for other scores of the same rows.

    Parameters
    ----------
    codes : ndarray of int
        Query 0, 1, ... of each row.
    gain : ndarray
        Gain of each row, at least 0.
    cut : int, default=None
        Ranks that count; None means all.
    weight : ndarray, default=None
        Weights of rows: rows of weight 0 are left out, a query counts by the mean weight of the others.
    """

    def __init__(self, codes, gain, cut=None, weight=None):
        self.places = list_places(codes, gain, weight)
        starts = self.places.starts
        self.discount = discounts(int(np.diff(starts).max(initial=0)), cut)
        self.ideal = ideal_dcg(self.places, cut)
        self.rank = first_ranks(starts)
        self.tasks = query_tasks(starts, 0)
        self.memory = task_memory(starts, self.tasks, 1)
        self.weight = np.ones(self.ideal.shape[0])
        if weight is not None:
            counts = np.maximum(np.bincount(codes[weight > 0], minlength=self.ideal.shape[0]), 1)
            self.weight = np.bincount(codes, weights=weight, minlength=self.ideal.shape[0]) / counts

    def by_query(self, scores) -> np.ndarray:
        """NDCG of each query; 0 where no row has a gain."""
        dcg = np.zeros(self.ideal.shape[0])

        def fill(j):
            task = self.tasks[j]
            k.fill_dcg(self.places, scores, self.discount, task.start, task.stop, self.rank, self.memory[j], dcg)

        split_map(fill, range(len(self.tasks)))
        return np.divide(dcg, self.ideal, out=dcg, where=self.ideal > 0)

    def mean(self, scores) -> float:
        """Weighted mean over the queries."""
        return float(np.average(self.by_query(scores), weights=self.weight))


def ndcg(gain, scores, codes=None, cut=None) -> np.ndarray:
    """NDCG@cut of each query, averaged over all orders of equal scores; 0 where no row has a gain.

    Parameters
    ----------
    gain : array-like of shape (n_samples,)
        Gain of each row, at least 0.
    scores : array-like of shape (n_samples,)
        Rows are ranked by falling score.
    codes : array-like of int, default=None
        Query 0, 1, ... of each row; None means that all belong to one query.
    cut : int, default=None
        Ranks that count; None means all.

    Returns
    -------
    values : ndarray of shape (n_queries,)
        Between 0 and 1.

    References
    ----------
    Järvelin, Kekäläinen (2002), Cumulated gain-based evaluation of IR techniques.  McSherry, Najork (2008), Computing
    information retrieval performance measures efficiently in the presence of tied scores.

    Examples
    --------
    >>> from hyperplan._trees.ranking import ndcg
    >>> ndcg([3.0, 0.0, 1.0], [0.9, 0.5, 0.1]).round(3).tolist()
    [0.964]
    """
    gain, scores = np.asarray(gain, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    codes = np.zeros(gain.shape[0], dtype=np.intp) if codes is None else np.asarray(codes)
    return Ndcg(codes, gain, cut).by_query(np.ascontiguousarray(scores))


class QuerySample(NamedTuple):
    """Sampler of whole queries: a share of them, each row counting once."""

    codes: np.ndarray
    share: float

    def __call__(self, gradient, hessian, generator):
        n_queries = int(self.codes.max()) + 1
        count = max(1, round(self.share * n_queries))
        kept = np.zeros(n_queries, dtype=bool)
        kept[generator.choice(n_queries, size=count, replace=False, shuffle=False)] = True
        rows = np.flatnonzero(kept[self.codes])
        return rows, np.ones(rows.shape[0], dtype=np.float32)


class RankingBooster(Booster):
    """A `Booster` whose derivatives are those of a ranking objective.

    Parameters
    ----------
    data : BinnedData
        Training rows.
    judged : Judged
        Their queries and relevance.
    loss : BoostingLoss
        See `ranking_loss`.
    shape : PairShape
        Steepness and truncation.
    cut : int
        The training NDCG looks at so many ranks.
    options, constraints, raw, **more
        As for `Booster`.
    """

    def __init__(self, data, judged, loss, shape, cut, options, constraints, raw, **more):
        super().__init__(data, judged.relevance, None, loss, options, constraints, raw, **more)
        codes, relevance, gain, weight = judged
        self.shape, self.ndcg = shape, Ndcg(codes, gain, cut, weight)
        longest = int(np.bincount(codes).max())
        self.all_pairs = not shape.swaps and shape.truncation >= longest
        self.places = list_places(codes, gain if shape.swaps else relevance, weight, by_gain=self.all_pairs)
        starts = self.places.starts
        self.discount = discounts(longest)
        self.scale = _pair_scale(self.places, shape.truncation if shape.swaps else None)
        self.rank = first_ranks(starts)
        self.tasks = query_tasks(starts, shape.truncation)
        self.memory = task_memory(starts, self.tasks, k.N_LINES)
        self.gradient[:], self.hessian[:] = 0.0, 0.0  # for rows of weight 0 and queries without pairs

    def _derivatives(self):
        sums = np.zeros((len(self.tasks), 2))
        gradient, hessian = self.gradient[0], self.hessian[0]

        def fill(j):
            first, last = self.tasks[j].start, self.tasks[j].stop
            out = self.memory[j], gradient, hessian, sums[j]
            if self.all_pairs:
                k.fill_pairwise(self.places, self.scale, self.shape.sigma, self.raw[0], first, last, *out)
            else:
                k.fill_lambdas(
                    self.places, self.scale, self.shape, self.discount, self.raw[0], first, last, self.rank, *out
                )

        split_map(fill, range(len(self.tasks)))
        return sums.sum(axis=0)[None]

    def mean_loss(self, y=None, raw=None, weight=None) -> float:
        """1 - NDCG of the training rows."""
        return 1.0 - self.ndcg.mean(self.raw[0])


def _pair_scale(places, truncation):
    """Factor of each query's derivatives; 0 where all gains are equal, for then there is no pair."""
    lengths = np.diff(places.starts)
    if places.gain.shape[0] == 0:
        return np.zeros(lengths.shape[0])
    kept = np.flatnonzero(lengths)
    scale = np.zeros(lengths.shape[0])
    bounds = places.starts[kept]
    mixed = np.maximum.reduceat(places.gain, bounds) > np.minimum.reduceat(places.gain, bounds)
    ideal = np.ones(lengths.shape[0]) if truncation is None else ideal_dcg(places, truncation)
    scale[kept[mixed]] = 1.0 / ideal[kept[mixed]]
    return scale
