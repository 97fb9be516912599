"""Ranking by histogram boosting: quality, queries in any form, bad input, and the options of the engine."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.metrics import ndcg_score
from sklearn.model_selection import GridSearchCV, GroupKFold

import hyperplan
from hyperplan._base import InvalidParameterError
from hyperplan.ensemble import HistGradientBoostingRanker, HistGradientBoostingRegressor, shap_values

SIZES = np.random.default_rng(3).integers(1, 60, 120)
QID = np.repeat(np.arange(SIZES.shape[0]), SIZES)


def table(seed=0, sizes=SIZES, offset=1.0):
    """Queries of different difficulty: the signal is a product and a step, hidden in an offset of the query."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(qid.shape[0], 5))
    signal = X[:, 0] * X[:, 1] + (X[:, 2] > 0.5) + 0.3 * X[:, 3] + 0.4 * rng.normal(size=qid.shape[0])
    y = np.digitize(signal + offset * rng.normal(size=len(sizes))[qid], [0.5, 1.5, 2.5])
    return X, y, qid


def ranker(objective="lambdamart", **options):
    return HistGradientBoostingRanker(objective, **{"max_iter": 25, "random_state": 0, **options})


both = pytest.mark.parametrize("objective", ["lambdamart", "pairwise"])


@both
def test_ranks_better_than_chance_and_the_certificate_holds(objective):
    X, y, qid = table()
    Xt, yt, _ = table(seed=1)
    model = ranker(objective).fit(X, y, qid=qid)
    chance = model.score(np.zeros_like(Xt), yt, qid=qid)  # equal scores: the average over all orders
    assert model.score(Xt, yt, qid=qid) > chance + 0.2
    details = model.certificate_.details
    assert model.certificate_.holds
    assert details["training NDCG@10 of the ensemble"] == pytest.approx(model.score(X, y, qid=qid), rel=1e-12)
    assert details["training NDCG@10 of equal scores"] < details["training NDCG@10 of the ensemble"]
    assert not model._model.baseline.any()


def test_score_is_the_mean_ndcg_of_scikit_learn():
    X, y, qid = table()
    model = ranker(ndcg_at=5).fit(X, y, qid=qid)
    scores, gain = model.predict(X), 2.0**y - 1
    by_hand = [
        ndcg_score([gain[qid == q]], [scores[qid == q]], k=5) if size > 1 else float(gain[qid == q][0] > 0)
        for q, size in enumerate(SIZES)
    ]
    assert model.score(X, y, qid=qid) == pytest.approx(np.mean(by_hand), rel=1e-12)  # rounding


@both
def test_queries_may_be_named_scattered_or_counted(objective):
    """Sizes, numbers, words and shuffled rows describe the same queries: the same ensemble."""
    X, y, qid = table()
    expected = ranker(objective).fit(X, y, group=SIZES).predict(X)
    assert (ranker(objective).fit(X, y, qid=qid).predict(X) == expected).all()
    words = np.array([f"query {q:05}" for q in qid])
    assert (ranker(objective).fit(X, y, qid=words).predict(X) == expected).all()
    mixed = np.random.default_rng(0).permutation(y.shape[0])
    found = ranker(objective).fit(X[mixed], y[mixed], qid=qid[mixed])
    # other places, other orders of equal scores in the first round: not the same trees, but the same quality
    assert found.score(X, y, qid=qid) == pytest.approx(
        ranker(objective).fit(X, y, qid=qid).score(X, y, qid=qid), abs=0.02
    )


def test_pairwise_does_not_depend_on_the_order_of_rows():
    """All pairs count whatever the ranks; derivatives are rounded to float32 and summed in another order."""
    X, y, qid = table()
    mixed = np.random.default_rng(0).permutation(y.shape[0])
    one = ranker("pairwise", truncation=None, max_iter=3).fit(X, y, qid=qid).predict(X)
    two = ranker("pairwise", truncation=None, max_iter=3).fit(X[mixed], y[mixed], qid=qid[mixed]).predict(X)
    np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)


def test_without_queries_all_rows_are_one():
    X, y, _ = table()
    alone = ranker().fit(X, y)
    assert (alone.predict(X) == ranker().fit(X, y, group=[len(y)]).predict(X)).all()
    assert alone.score(X, y) > 0.9


@both
def test_without_pairs_there_is_nothing_to_learn(objective):
    """Rows that are all alike in every query, or queries of one row each."""
    X, y, qid = table()
    for labels, queries in ((qid % 3, qid), (y, np.arange(len(y)))):
        model = ranker(objective).fit(X, labels, qid=queries)
        assert not model.predict(X).any() and model.certificate_.holds


@both
def test_scores_of_a_linear_signal_are_in_order(objective):
    """One feature that orders every query: monotone scores rank perfectly."""
    X, _, qid = table()
    y = np.digitize(X[:, 0], [-1, 0, 1])
    model = ranker(objective, monotonic_cst=[1, 0, 0, 0, 0], min_samples_leaf=5).fit(X[:, :], y, qid=qid)
    line = np.zeros((50, 5))
    line[:, 0] = np.linspace(-3, 3, 50)
    assert (np.diff(model.predict(line)) >= 0).all()
    assert model.score(X, y, qid=qid) > 0.98


def test_weights_of_queries_and_of_rows():
    X, y, qid = table()
    doubled = ranker("pairwise").fit(X, y, qid=qid, sample_weight=np.full(len(y), 2.0))
    plain = ranker("pairwise", min_hessian=0.5e-3).fit(X, y, qid=qid)
    # weights that are all 2 double both derivatives, and leaf values are their ratios
    np.testing.assert_allclose(doubled.predict(X), plain.predict(X), rtol=1e-5, atol=1e-6)
    weight = np.where(qid < 60, 1.0, 0.0)
    half = ranker(min_samples_leaf=1).fit(X, y, qid=qid, sample_weight=weight)
    assert half.score(X, y, qid=qid, sample_weight=weight) == pytest.approx(
        half.score(X[qid < 60], y[qid < 60], qid=qid[qid < 60]), rel=1e-12
    )
    assert half.score(X[qid < 60], y[qid < 60], qid=qid[qid < 60]) > half.score(
        X[qid >= 60], y[qid >= 60], qid=qid[qid >= 60]
    )


def test_gains_of_the_callers_own():
    X, y, qid = table()
    same = ranker(label_gain=[0, 1, 3, 7]).fit(X, y, qid=qid)
    assert (same.predict(X) == ranker().fit(X, y, qid=qid).predict(X)).all()
    linear = ranker(label_gain=[0, 1, 2, 3]).fit(X, y, qid=qid)
    assert linear.score(X, y, qid=qid) != same.score(X, y, qid=qid)


# ------------------------------------------------------------------------------------------ options of the engine


def test_early_stopping_holds_out_whole_queries():
    X, y, qid = table()
    model = ranker(max_iter=200, early_stopping=True, n_iter_no_change=5, validation_fraction=0.25).fit(X, y, qid=qid)
    assert model.do_early_stopping_ and model.n_iter_ < 200
    assert len(model.validation_score_) == len(model.train_score_) == model.n_iter_ + 1
    assert 0 < model.validation_score_[0] < model.validation_score_.max() <= 1
    rows, held, taken = model._set_aside(model._training_rows(X, y, None, qid, None)[0], model._seed, None)
    assert len(taken) == len(rows.y)
    assert len(np.unique(held.codes)) == 30 and len(np.unique(rows.codes)) == 90
    assert len(held.y) + len(rows.y) == len(y)


def test_a_given_validation_set_is_scored_as_score_does():
    X, y, qid = table()
    Xv, yv, _ = table(seed=2)
    model = ranker(max_iter=40, early_stopping=True, n_iter_no_change=40)
    model.fit(X, y, qid=qid, X_val=Xv, y_val=yv, group_val=SIZES)
    assert model.validation_score_[-1] == pytest.approx(model.score(Xv, yv, qid=qid), rel=1e-12)
    assert model.train_score_[-1] == pytest.approx(model.score(X, y, group=SIZES), rel=1e-12)


def test_automatic_early_stopping_wants_many_rows_and_two_queries():
    X, y, qid = table(sizes=np.full(600, 20))
    assert ranker(max_iter=3).fit(X, y, qid=qid).do_early_stopping_
    assert not ranker(max_iter=3).fit(X, y).do_early_stopping_
    assert not ranker(max_iter=3).fit(X[:9000], y[:9000], qid=qid[:9000]).do_early_stopping_
    with pytest.raises(ValueError, match="only one"):
        ranker(early_stopping=True).fit(X, y)


@both
def test_warm_start_continues(objective):
    X, y, qid = table()
    model = ranker(objective, max_iter=10, warm_start=True).fit(X, y, qid=qid)
    model.set_params(max_iter=25).fit(X, y, qid=qid)
    np.testing.assert_allclose(model.predict(X), ranker(objective).fit(X, y, qid=qid).predict(X), rtol=1e-10)


def test_a_round_sees_whole_queries():
    from hyperplan._trees.ranking import QuerySample

    rows, factors = QuerySample(QID, 0.3)(None, None, np.random.default_rng(0))
    seen = np.unique(QID[rows])
    assert len(seen) == round(0.3 * len(SIZES)) and len(rows) == SIZES[seen].sum() and (factors == 1).all()
    X, y, qid = table()
    model = ranker(subsample=0.5).fit(X, y, qid=qid)
    assert model.score(X, y, qid=qid) > 0.8
    assert (model.predict(X) == ranker(subsample=0.5).fit(X, y, qid=qid).predict(X)).all()


@pytest.mark.parametrize(
    "options",
    [
        {"sampling": "goss"},
        {"sampling": "mvs", "subsample": 0.5},
        {"growth": "oblivious"},
        {"growth": "level", "max_depth": 4},
        {"interaction_cst": "no_interactions"},
        {"max_features": 0.6},
        {"l2_regularization": 1.0},
        {"normalize": False},
        {"truncation": None, "ndcg_at": None},
        {"sigma": 2.0},
        {"objective": "pairwise", "truncation": 5},
        {"objective": "pairwise", "truncation": None},
    ],
    ids=str,
)
def test_options_of_the_engine(options):
    X, y, qid = table()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = ranker(**options).fit(X, y, qid=qid)
    assert model.certificate_.holds and model.score(X, y, qid=qid) > 0.75


def test_categories():
    X, y, qid = table()
    X[:, 4] = np.random.default_rng(0).integers(0, 8, len(y))
    y = np.isin(X[:, 4], [1, 4, 6]).astype(int)
    model = ranker(categorical_features=[4]).fit(X, y, qid=qid)
    assert model.score(X, y, qid=qid) == pytest.approx(
        np.mean([y[qid == q].any() for q in range(len(SIZES))]), abs=1e-3
    )


def test_staged_scores_end_where_predict_does():
    X, y, qid = table()
    model = ranker().fit(X, y, qid=qid)
    stages = list(model.staged_predict(X))
    assert len(stages) == 25
    np.testing.assert_allclose(stages[-1], model.predict(X), rtol=1e-12)  # the same sums in another order


def test_shapley_values_add_up_to_the_scores():
    X, y, qid = table()
    model = ranker(max_iter=5).fit(X, y, qid=qid)
    explained = shap_values(model, X[:20])
    total = explained.values.sum(axis=1) + explained.base
    np.testing.assert_allclose(np.ravel(total), model.predict(X[:20]), rtol=1e-8, atol=1e-10)  # rounding


def test_threads_do_not_change_a_bit():
    X, y, qid = table(sizes=np.full(3000, 40))
    answers = set()
    for n_jobs in (1, 3):
        with hyperplan.thread_limit(n_jobs):
            for objective in ("lambdamart", "pairwise"):
                model = ranker(objective, max_iter=3, early_stopping=True).fit(X, y, qid=qid)
                answers.add((objective, model.predict(X[:3000]).tobytes(), model.validation_score_.tobytes()))
    assert len(answers) == 2


def test_cross_validation_by_query():
    """The pieces fit scikit-learn's splitters by hand: `qid` goes where the rows go."""
    X, y, qid = table()
    scores = [
        ranker().fit(X[a], y[a], qid=qid[a]).score(X[b], y[b], qid=qid[b])
        for a, b in GroupKFold(3).split(X, y, groups=qid)
    ]
    assert min(scores) > 0.6


def test_queries_are_routed_by_a_grid_search():
    X, y, qid = table()
    with config_context(enable_metadata_routing=True):
        model = ranker(max_iter=5).set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(model, {"max_leaf_nodes": [2, 8]}, cv=GroupKFold(3))
        search.fit(X, y, qid=qid, groups=qid)
    worst = search.cv_results_["mean_test_score"].min()
    assert search.best_params_ == {"max_leaf_nodes": 8} and worst > 0.5


def test_presets_keep_the_objective():
    X, y, qid = table()
    model = HistGradientBoostingRanker.like("lightgbm", objective="pairwise", max_iter=5).fit(X, y, qid=qid)
    assert model.objective == "pairwise" and model.n_iter_ == 5 and not model.do_early_stopping_


def test_ranks_better_than_a_regression_on_the_grades():
    """Offsets of the queries, half of the variance here, are noise to a regression, and nothing to a ranker."""
    X, y, qid = table(offset=3.0)
    Xt, yt, _ = table(seed=1, offset=3.0)
    regression = HistGradientBoostingRegressor(max_iter=25).fit(X, y)
    model = ranker().fit(X, y, qid=qid)
    ours = model.score(Xt, yt, qid=qid)
    model._known_raw = regression.predict(Xt)[None]  # the scores of the regression in place of its own
    assert ours > model.score(Xt, yt, qid=qid) + 0.02


# ---------------------------------------------------------------------------------------------------- bad input


def bad(value, row=7):
    X, y, qid = table()
    y = y.astype(float)
    y[row] = value
    return X, y, qid


@pytest.mark.parametrize(
    ("value", "words"),
    [(-1, r"y\[7\] = -1 is negative"), (0.5, r"y\[7\] = 0.5 is not an integer"), (60, r"y\[7\] = 60 .*label_gain")],
)
def test_relevance_is_a_grade(value, words):
    X, y, qid = bad(value)
    with pytest.raises(ValueError, match=words):
        ranker().fit(X, y, qid=qid)
    good = table()[1]
    with pytest.raises(ValueError, match=words.replace("y", "y_val", 1) if words.startswith("y") else words):
        ranker(early_stopping=True).fit(X, good, qid=qid, X_val=X, y_val=y, qid_val=qid)
    with pytest.raises(ValueError, match=words):
        ranker(max_iter=1).fit(X, good, qid=qid).score(X, y, qid=qid)


def test_relevance_without_a_gain():
    X, y, qid = table()
    first = int(np.argmax(y > 1))
    with pytest.raises(ValueError, match=rf"y\[{first}\] = {y[first]} but only grades 0 to 1"):
        ranker(label_gain=[0, 1]).fit(X, y, qid=qid)
    for gain in ([0, 3, 1, 7], [-1, 0, 1, 2], [[0, 1, 2, 3]], [0, 1, np.inf, np.inf]):
        with pytest.raises(ValueError, match="label_gain must list"):
            ranker(label_gain=gain).fit(X, y, qid=qid)


def test_words_are_no_grades():
    X, y, qid = table()
    with pytest.raises(ValueError, match="grades of relevance"):
        ranker().fit(X, np.array(["good", "bad"])[y % 2], qid=qid)


@pytest.mark.parametrize(
    ("queries", "words"),
    [
        ({"qid": QID[:-3]}, r"qid has \d+ entries but X has \d+ rows"),
        ({"qid": np.where(QID == 5, np.nan, QID)}, r"qid\[\d+\] is NaN"),
        ({"group": SIZES[:-1]}, r"rows from \d+ on have no query"),
        ({"group": [*SIZES, 4]}, r"query 120 would end at row \d+"),
        ({"group": [5, -2, 3]}, r"group\[1\] is -2"),
        ({"group": [5, 0, 3]}, r"group\[1\] is 0"),
        ({"group": [5, 2.5, 3]}, r"group\[1\] is 2.5"),
        ({"group": ["a", "b"]}, r"group\[0\] is a"),
        ({"group": SIZES, "qid": QID}, "Both qid and group"),
    ],
)
def test_queries_must_match_the_rows(queries, words):
    X, y, _ = table()
    with pytest.raises(ValueError, match=words):
        ranker().fit(X, y, **queries)
    model = ranker(max_iter=1).fit(X, y, qid=QID)
    with pytest.raises(ValueError, match=words):
        model.score(X, y, **queries)
    held = {f"{name}_val": value for name, value in queries.items()}
    with pytest.raises(ValueError, match=r"_val"):
        ranker(early_stopping=True).fit(X, y, qid=QID, X_val=X, y_val=y, **held)


@pytest.mark.parametrize(
    "options", [{"objective": "listwise"}, {"ndcg_at": 0}, {"sigma": 0.0}, {"truncation": -1}, {"normalize": "yes"}]
)
def test_bad_options_are_named(options):
    X, y, qid = table()
    name = next(iter(options))
    with pytest.raises(InvalidParameterError, match=name):
        HistGradientBoostingRanker(**options).fit(X, y, qid=qid)


# --------------------------------------------------------------------------------------------------------- peers


def test_as_good_as_lightgbm():
    """Same rounds, leaves and rate: NDCG@10 of other queries within three standard errors of their difference."""
    lightgbm = pytest.importorskip("lightgbm")
    X, y, qid = table()
    Xt, yt, _ = table(seed=1)
    options = {"n_estimators": 25, "num_leaves": 31, "learning_rate": 0.1, "verbose": -1, "n_jobs": 1}
    theirs = lightgbm.LGBMRanker(**options).fit(X, y, group=SIZES).predict(Xt)
    ours = ranker().fit(X, y, qid=qid).predict(Xt)
    gain = 2.0**yt - 1
    both = [
        [ndcg_score([gain[qid == q]], [p[qid == q]], k=10) for p in (ours, theirs)] for q in np.flatnonzero(SIZES > 1)
    ]
    difference = np.subtract(*np.transpose(both))
    assert difference.mean() > -3 * difference.std() / np.sqrt(len(difference))
