"""Tables without groups: the same columns, tails, steps and correlations, but one hump."""

import numpy as np
import pytest

from hyperplan.compete import Column
from hyperplan.explore._null import NullModel, one_hump

ROWS = 800


def model(**columns):
    kinds = {"M": "date", "O": "category"}
    listed = [Column(name, kinds.get(v.dtype.kind, "number"), "", "", 0.0, 2) for name, v in columns.items()]
    return NullModel(columns, listed)


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(0)


def test_the_nearest_single_hump_against_all_places_tried_by_hand():
    heights = np.array([1.0, 5.0, 2.0, 4.0, 1.0])
    found = one_hump(heights, np.ones(5))
    np.testing.assert_allclose(found, [1.0, 5.0, 3.0, 3.0, 1.0])
    up = np.array([1.0, 2.0, 2.0, 7.0])
    for single in (up, up[::-1], np.array([1.0, 3.0, 2.0]), np.array([2.0])):
        np.testing.assert_array_equal(one_hump(single, np.ones(len(single))), single)


def test_weights_count(rng):
    heights, weights = rng.random(9), rng.random(9) + 0.1
    found = one_hump(heights, weights)
    top = int(found.argmax())
    assert (np.diff(found[: top + 1]) >= 0).all() and (np.diff(found[top:]) <= 0).all()
    assert (weights * found).sum() == pytest.approx((weights * heights).sum())  # means of pools keep the total


def test_two_humps_become_one_and_a_tail_stays(rng):
    humps = np.concatenate([rng.normal(size=ROWS // 2), rng.normal(size=ROWS // 2) + 9.0])
    tail = rng.lognormal(sigma=1.2, size=ROWS)
    drawn = model(humps=humps, tail=tail).draw(0)
    middle = ((humps > 3.5) & (humps < 5.5)).mean(), ((drawn["humps"] > 3.5) & (drawn["humps"] < 5.5)).mean()
    assert middle[0] < 0.01 < 0.1 < middle[1]
    for share in (0.1, 0.5, 0.9, 0.99):  # quantiles of one hump are kept but for the noise of 800 rows
        assert np.quantile(drawn["tail"], share) == pytest.approx(np.quantile(tail, share), rel=0.35)
    assert drawn["tail"].min() >= tail.min() and drawn["tail"].max() <= tail.max()


def test_correlations_stay(rng):
    first = rng.normal(size=ROWS)
    second = np.exp(first + 0.3 * rng.normal(size=ROWS))
    drawn = model(first=first, second=second).draw(1)
    ranks = [np.argsort(np.argsort(values)) for values in (first, second, drawn["first"], drawn["second"])]
    before, after = np.corrcoef(ranks[0], ranks[1])[0, 1], np.corrcoef(ranks[2], ranks[3])[0, 1]
    assert before > 0.9 and after == pytest.approx(before, abs=0.06)


def test_categories_gaps_steps_and_dates_keep_their_shares(rng):
    words = rng.choice(np.array(["a", "b", None], dtype=object), ROWS, p=[0.7, 0.2, 0.1])
    gaps = np.where(rng.random(ROWS) < 0.3, np.nan, rng.normal(size=ROWS))
    steps = rng.choice([1.0, 2.0, 5.0], ROWS, p=[0.2, 0.5, 0.3])
    zeros = np.where(rng.random(ROWS) < 0.4, 0.0, rng.normal(size=ROWS) + 20)
    days = np.datetime64("2020-01-01") + rng.integers(0, 900, ROWS).astype("timedelta64[D]")
    drawn = model(words=words, gaps=gaps, steps=steps, zeros=zeros, days=days.astype("datetime64[ns]")).draw(2)
    assert sorted(map(str, drawn["words"])) == sorted(map(str, words)) and list(drawn["words"]) != list(words)
    assert np.isnan(drawn["gaps"]).sum() == np.isnan(gaps).sum()
    assert set(drawn["steps"]) <= {1.0, 2.0, 5.0}
    assert (drawn["zeros"] == 0.0).mean() == pytest.approx((zeros == 0.0).mean(), abs=0.02)
    assert drawn["days"].dtype.kind == "M" and drawn["days"].min() >= days.min() and drawn["days"].max() <= days.max()


def test_the_same_seed_draws_the_same_table(rng):
    made = model(x=rng.normal(size=50), y=rng.normal(size=50))
    np.testing.assert_array_equal(made.draw([0, 3])["x"], made.draw([0, 3])["x"])
    assert (made.draw([0, 3])["x"] != made.draw([0, 4])["x"]).any()


def test_columns_without_anything_to_learn():
    drawn = model(empty=np.full(20, np.nan), same=np.ones(20)).draw(0)
    assert np.isnan(drawn["empty"]).all() and (drawn["same"] == 1.0).all()
