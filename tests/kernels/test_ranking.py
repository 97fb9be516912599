"""Ranking kernels against naive twins."""

import numpy as np
import pytest
from sklearn.metrics import dcg_score, ndcg_score

from hyperplan import thread_limit
from hyperplan._trees import _ranking_kernels as k
from hyperplan._trees import ranking
from hyperplan._trees.ranking import Ndcg, PairShape, discounts, first_ranks, list_places, ndcg, query_tasks

SIZES = [1, 2, 3, k.RUN - 1, k.RUN, k.RUN + 1, 3 * k.RUN + 7]


def queries(sizes=SIZES, seed=0, spread=1.0):
    """Rows of queries of these sizes in random order: codes, relevance and scores with ties."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    relevance = rng.integers(0, 4, codes.shape[0]).astype(float)
    return codes, relevance, spread * np.round(rng.normal(size=codes.shape[0]), 1)


def derivatives(objective, codes, relevance, score, weight=None, sigma=1.0, truncation=30, normalize=False):
    """What the kernels compute: (gradient, hessian, sums); "pairwise" looks at all pairs, "orders" at some."""
    pairwise, swaps = objective == "pairwise", objective == "lambdamart"
    places = list_places(codes, 2**relevance - 1 if swaps else relevance, weight, by_gain=pairwise)
    scale = ranking._pair_scale(places, truncation if swaps else None)
    longest, n_queries = int(np.diff(places.starts).max(initial=0)), places.starts.shape[0] - 1
    out = np.empty(k.N_LINES * longest), np.zeros(codes.shape[0]), np.zeros(codes.shape[0]), np.zeros(2)
    if pairwise:
        k.fill_pairwise(places, scale, sigma, score, 0, n_queries, *out)
    else:
        shape, rank = PairShape(sigma, truncation, swaps, normalize), first_ranks(places.starts)
        k.fill_lambdas(places, scale, shape, discounts(longest), score, 0, n_queries, rank, *out)
    return out[1:]


def naive_pairs(codes, weight):
    """Pairs of rows of the same query and their weights, from the definition."""
    w = np.ones(codes.shape[0]) if weight is None else weight
    for q in np.unique(codes):
        rows = np.flatnonzero((codes == q) & (w > 0))
        for i in rows:
            for j in rows:
                yield i, j, w[i] * w[j] / w[rows].mean()


def naive_pairwise_loss(codes, relevance, score, weight=None, sigma=1.0):
    terms = (
        w * np.logaddexp(0, -sigma * (score[i] - score[j]))
        for i, j, w in naive_pairs(codes, weight)
        if relevance[i] > relevance[j]
    )
    return sum(terms)


def naive_lambdas(codes, relevance, score, weight=None, sigma=1.0, truncation=30, normalize=False, swaps=True):
    """Burges (2010), sections 4 and 7, one pair at a time; ranks of equal scores as `list_places` has them."""
    gradient, hessian = np.zeros(codes.shape[0]), np.zeros(codes.shape[0])
    gain = 2**relevance - 1
    order = list_places(codes, gain, weight).order
    for q in np.unique(codes):
        rows = order[codes[order] == q]
        if rows.size == 0 or np.ptp(relevance[rows]) == 0:
            continue
        rank = dict(zip(rows[np.argsort(-score[rows], kind="stable")].tolist(), range(rows.size)))
        ideal = np.sort(gain[rows])[::-1][:truncation] @ discounts(rows.size, truncation)[:truncation]
        differ = np.ptp(score[rows]) > 0
        only = None if weight is None else np.where(codes == q, weight, 0.0)
        for i, j, w in naive_pairs(np.where(codes == q, q, -1), only):
            if codes[i] != q or relevance[i] <= relevance[j] or min(rank[i], rank[j]) >= truncation:
                continue
            d = discounts(rows.size)
            change = w * (abs((gain[i] - gain[j]) * (d[rank[i]] - d[rank[j]])) / ideal if swaps else 1.0)
            change /= 0.01 + abs(score[i] - score[j]) if normalize and differ else 1.0
            rho = 1 / (1 + np.exp(sigma * (score[i] - score[j])))
            gradient[[i, j]] += sigma * change * rho * np.array([-1, 1])
            hessian[[i, j]] += sigma**2 * change * rho * (1 - rho)
        total = np.abs(gradient[rows]).sum()
        if normalize and total > 0:
            gradient[rows] *= np.log2(1 + total) / total
            hessian[rows] *= np.log2(1 + total) / total
    return gradient, hessian


@pytest.mark.parametrize("n", [0, *SIZES, 8 * k.RUN, 16 * k.RUN + 1])
def test_sorting_is_stable_and_starts_anywhere(n):
    rng = np.random.default_rng(n)
    score = np.round(rng.normal(size=n), 1)
    expected = np.argsort(-score, kind="stable")
    for rank in (np.arange(n), rng.permutation(n), expected.copy()):
        k.sort_places(score, rank, np.empty_like(rank))
        np.testing.assert_array_equal(rank, expected)


@pytest.mark.parametrize("cut", [None, 1, 5])
def test_ndcg_is_that_of_scikit_learn(cut):
    """Equal scores and queries without gain included."""
    codes, relevance, score = queries()
    relevance[codes == 3] = 0.0
    gain = 2**relevance - 1
    found = ndcg(gain, score, codes, cut)
    for q, size in enumerate(SIZES):
        if size > 1:  # scikit-learn refuses single rows
            rows = codes == q
            expected = ndcg_score([gain[rows]], [score[rows]], k=cut)
            assert found[q] == pytest.approx(expected, rel=1e-12, abs=1e-15)  # rounding of sums of 31 terms
    assert found[0] == float(gain[codes == 0][0] > 0) and found[3] == 0.0


def test_mean_ndcg_weights_queries_and_leaves_rows_of_weight_zero_out():
    codes, relevance, score = queries([5, 6, 7])
    gain, weight = 2**relevance - 1, np.where(codes == 1, 3.0, 1.0)
    weight[np.flatnonzero(codes == 2)[:2]] = 0.0
    kept = weight > 0
    each = ndcg(gain[kept], score[kept], codes[kept], 4)
    assert Ndcg(codes, gain, 4, weight).mean(score) == pytest.approx(each @ [1, 3, 1] / 5, rel=1e-14)


def test_ideal_dcg_is_the_dcg_of_the_best_order():
    codes, relevance, _ = queries()
    found = ranking.ideal_dcg(list_places(codes, relevance), 3)
    for q, size in enumerate(SIZES):
        gain = relevance[codes == q]
        if size > 1:
            assert found[q] == pytest.approx(dcg_score([gain], [gain], k=3), rel=1e-12)


def weights(kind, n):
    return None if kind == "none" else np.random.default_rng(5).integers(0, 3, n).astype(float)


@pytest.mark.parametrize("sigma", [1.0, 2.5])
@pytest.mark.parametrize("kind", ["none", "some"])
def test_pairwise_derivatives_are_those_of_the_loss(kind, sigma):
    codes, relevance, score = queries([1, 2, 9, 12])
    relevance[codes == 1] = 2.0  # all alike: no pair
    weight = weights(kind, codes.shape[0])
    gradient, hessian, sums = derivatives("pairwise", codes, relevance, score, weight, sigma)
    step = 1e-4
    for row in range(codes.shape[0]):
        moved = [score + step * sign * (np.arange(codes.shape[0]) == row) for sign in (-1, 0, 1)]
        low, middle, high = (naive_pairwise_loss(codes, relevance, s, weight, sigma) for s in moved)
        # central differences: error step^2 times third derivatives, and rounding of the loss (1e-14) over step
        assert gradient[row] == pytest.approx((high - low) / (2 * step), abs=1e-6)
        assert hessian[row] == pytest.approx((high - 2 * middle + low) / step**2, abs=1e-4)
    assert not gradient[codes <= 1].any() and not hessian[codes <= 1].any()
    np.testing.assert_allclose(sums, [np.abs(gradient).sum(), hessian.sum()], rtol=1e-12)


@pytest.mark.parametrize("truncation", [1, 4, 1000])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("kind", ["none", "some"])
def test_lambdas_against_their_definition(truncation, normalize, kind):
    codes, relevance, score = queries([1, 2, k.RUN - 1, 20])
    weight = weights(kind, codes.shape[0])
    options = {"weight": weight, "sigma": 1.5, "truncation": truncation, "normalize": normalize}
    gradient, hessian, sums = derivatives("lambdamart", codes, relevance, score, **options)
    expected = naive_lambdas(codes, relevance, score, **options)
    # the same sums in another order: rounding
    np.testing.assert_allclose(gradient, expected[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(hessian, expected[1], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(sums, [np.abs(gradient).sum(), hessian.sum()], rtol=1e-12)
    assert abs(gradient.sum()) < 1e-12 and np.abs(gradient).sum() > 0  # what one row gains another one loses


@pytest.mark.parametrize("kind", ["none", "some"])
def test_pairs_of_the_first_ranks_against_their_definition(kind):
    codes, relevance, score = queries([1, 2, k.RUN - 1, 20])
    options = {"weight": weights(kind, codes.shape[0]), "sigma": 1.5}
    found = derivatives("orders", codes, relevance, score, truncation=4, **options)
    expected = naive_lambdas(codes, relevance, score, truncation=4, swaps=False, **options)
    every = derivatives("orders", codes, relevance, score, truncation=20, **options)
    same = derivatives("pairwise", codes, relevance, score, **options)
    for j in range(2):  # the same sums in another order: rounding
        np.testing.assert_allclose(found[j], expected[j], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(every[j], same[j], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("objective", ["pairwise", "orders", "lambdamart"])
def test_equal_scores_and_scores_far_apart(objective):
    """Differences of thousands need exponentials of their own; they agree with the limit, and nothing overflows."""
    codes, relevance, score = queries([8, 30])
    equal = derivatives(objective, codes, relevance, np.zeros(codes.shape[0]))
    assert np.isfinite(equal[0]).all() and (equal[1] >= 0).all() and equal[1].any()
    far = 2000.0 * score
    gradient, hessian, _ = derivatives(objective, codes, relevance, far)
    assert np.isfinite(gradient).all() and np.isfinite(hessian).all()
    if objective == "lambdamart":
        with np.errstate(over="ignore"):
            expected = naive_lambdas(codes, relevance, far)
        np.testing.assert_allclose(gradient, expected[0], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(hessian, expected[1], rtol=1e-10, atol=1e-12)


def test_exponentials_and_levels_agree():
    """The two ways to the odds of a pair, on scores where both work."""
    score = np.linspace(-200.0, 200.0, 41)
    level, one, two = np.exp(score - 200.0), np.empty(41), np.empty(41)
    k.fill_wins(score[7], level[7], score, level, 1.0, False, one)
    k.fill_wins(score[7], level[7], score, level, 1.0, True, two)
    np.testing.assert_allclose(one, two, rtol=1e-12)  # exp has a relative error of 1e-16 times its argument


def test_tasks_cover_all_queries_once():
    rng = np.random.default_rng(0)
    for sizes in ([], [1], rng.integers(0, 300, 5000), [20_000, 3, 20_000]):
        starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.intp)
        tasks = query_tasks(starts, 30)
        covered = [q for task in tasks for q in range(task.start, task.stop)]
        assert covered == list(range(len(sizes)))
    assert len(query_tasks(np.arange(0, 6_000_000, 100), 30)) > 3


def test_a_long_query_needs_memory_in_proportion_to_its_rows():
    places = list_places(np.zeros(20_000, np.intp), np.zeros(20_000))
    memory = ranking.task_memory(places.starts, query_tasks(places.starts, 20_000), k.N_LINES)
    assert sum(part.size for part in memory) <= k.N_LINES * 20_000


def test_threads_do_not_change_the_ndcg(monkeypatch):
    monkeypatch.setattr(ranking, "TASK_PAIRS", 2000)  # many tasks from few rows
    codes, relevance, score = queries(np.full(60, 20))
    results = []
    for n_jobs in (1, 3):
        with thread_limit(n_jobs):
            results.append(ndcg(relevance, score, codes, 10).tobytes())
    assert results[0] == results[1]
