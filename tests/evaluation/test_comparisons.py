"""Paired comparisons, their correction, groups of ties and the one-standard-error rule."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from hyperplan.evaluation import (
    adjust_p_values,
    compare_models,
    corrected_standard_error,
    corrected_t_interval,
    corrected_t_test,
    one_standard_error,
    tied_groups,
)


@pytest.mark.parametrize(
    "ours, theirs", [("holm", "holm"), ("bonferroni", "bonferroni"), ("benjamini_hochberg", "fdr_bh")]
)
def test_adjusted_p_values_equal_statsmodels(ours, theirs):
    p = np.random.default_rng(0).uniform(size=30) ** 2
    assert adjust_p_values(p, ours) == pytest.approx(multipletests(p, method=theirs)[1], rel=1e-12)  # rounding only
    tied = [0.02, 0.02, 0.5, 0.01]
    assert adjust_p_values(tied, ours) == pytest.approx(multipletests(tied, method=theirs)[1], rel=1e-12)


def test_benjamini_and_hochbergs_own_example():
    """Section 3 of their paper: 15 p-values, at level 0.05 Bonferroni rejects three and their procedure four."""
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.759,
        1,
    ]
    assert (adjust_p_values(p, "bonferroni") <= 0.05).sum() == 3
    assert (adjust_p_values(p, "benjamini_hochberg") <= 0.05).sum() == 4


def test_no_correction_and_bad_values():
    assert adjust_p_values([0.2, 0.1], "none").tolist() == [0.2, 0.1] and adjust_p_values([]).size == 0
    with pytest.raises(ValueError, match="one of 'holm'"):
        adjust_p_values([0.1], "sidak")
    with pytest.raises(ValueError, match="between 0 and 1"):
        adjust_p_values([1.5])


def split_scores(means, spread=0.01, n_splits=10, seed=0):
    """Scores that share the difficulty of each split."""
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0, 0.05, size=n_splits)
    return {name: mean + difficulty + rng.normal(0, spread, size=n_splits) for name, mean in means.items()}


def test_comparison_is_the_paired_test_of_each_difference():
    scores = split_scores({"a": 0.8, "b": 0.7, "c": 0.79})
    rows = compare_models(scores, 1 / 9, reference="a")
    assert [row.model for row in rows] == ["b", "c"] and {row.reference for row in rows} == {"a"}
    p_values = [corrected_t_test(scores[name] - scores["a"], 1 / 9)[1] for name in "bc"]
    for row, p, adjusted in zip(rows, p_values, adjust_p_values(p_values)):
        expected = corrected_t_interval(scores[row.model] - scores["a"], 1 / 9)
        assert (row.mean, row.low, row.high, row.p, row.p_adjusted) == (*expected[:3], p, adjusted)
    assert rows[0].verdict == "worse" and "b is worse" in str(rows[0])


def test_pairing_sees_what_separate_intervals_hide():
    scores = split_scores({"a": 0.80, "b": 0.77}, spread=0.004)
    a, b = (corrected_t_interval(scores[name], 1 / 9) for name in "ab")
    assert b.high > a.low  # the intervals overlap
    assert compare_models(scores, 1 / 9)[0].verdict == "worse"


def test_verdicts():
    close = split_scores({"a": 0.800, "b": 0.801}, spread=0.0005)
    assert compare_models(close, 1 / 9, reference="a", rope=0.01)[0].verdict == "equivalent"
    assert compare_models(close, 1 / 9, reference="a", rope=0.0)[0].verdict in ("better", "tied")
    far = split_scores({"a": 0.8, "b": 0.9})
    assert compare_models(far, 1 / 9, reference="a")[0].verdict == "better"
    assert compare_models(far, 1 / 9, reference="a", greater_is_better=False)[0].verdict == "worse"
    assert compare_models(far, 1 / 9, reference="a", rope=0.5)[0].verdict == "equivalent"
    noisy = split_scores({"a": 0.8, "b": 0.81}, spread=0.2)
    assert compare_models(noisy, 1 / 9, reference="a")[0].verdict == "tied"
    same = {"a": [0.5, 0.6, 0.7], "b": [0.5, 0.6, 0.7]}
    assert compare_models(same, 0.5)[0].verdict == "equivalent"  # no difference on any split


def test_significant_but_smaller_than_rope_is_not_worse():
    """Mean difference 0.008 inside the region of 0.01, an end outside: the data cannot tell."""
    difference = np.array([0.004, 0.006, 0.008, 0.010, 0.012])
    row = compare_models({"a": difference, "b": np.zeros(5)}, 0.25, reference="b", rope=0.01)[0]
    assert row.p_adjusted < 0.05 and row.high > 0.01 and row.verdict == "tied"


def test_every_pair_frames_and_arrays():
    import pandas as pd

    scores = split_scores({"a": 0.8, "b": 0.7, "c": 0.79})
    pairs = compare_models(scores, 1 / 9, reference="all")
    assert [(row.model, row.reference) for row in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert compare_models(pd.DataFrame(scores), 1 / 9) == compare_models(scores, 1 / 9)
    numbered = compare_models(np.column_stack(list(scores.values())), 1 / 9)
    assert [row.model for row in numbered] == [1, 2] and numbered[0].reference == 0


def test_the_truly_best_model_is_seldom_called_worse():
    """Five models, equally good: at level 0.9 the first is called worse in at most 10 % of 1500 trials (+ 3 errors)."""
    rng = np.random.default_rng(3)
    trials, excluded = 1500, 0
    for _ in range(trials):
        rows = compare_models(rng.normal(size=(10, 5)), 0.0, level=0.9)
        excluded += any(row.model == 0 and row.verdict == "worse" for row in rows)
    assert excluded / trials < 0.1 + 3 * np.sqrt(0.1 * 0.9 / trials)


@pytest.mark.parametrize(
    "scores, options, message",
    [
        ({"a": [1, 2], "b": [1, 2, 3]}, {}, "same splits"),
        ({"a": [1, 2], "b": [1, np.nan]}, {}, "model 'b' has no finite score on split 1"),
        ({"a": [1], "b": [1]}, {}, "at least two splits"),
        ({"a": [1, 2], "b": [1, 3]}, {"reference": "c"}, "not among the models: a, b"),
        ({"a": [1, 2], "b": [1, 3]}, {"rope": -1}, "half width"),
        ({"a": [1, 2], "b": [1, 3]}, {"correction": "scheffe"}, "correction must be one of"),
    ],
)
def test_bad_comparisons(scores, options, message):
    with pytest.raises(ValueError, match=message):
        compare_models(scores, 0.25, **options)


def test_groups():
    scores = split_scores({"worst": 0.5, "good": 0.8, "fair": 0.7, "nearly": 0.799, "middling": 0.699}, spread=0.005)
    groups = tied_groups(scores, 1 / 9)
    assert [(group.letter, set(group.models)) for group in groups] == [
        ("A", {"good", "nearly"}),
        ("B", {"fair", "middling"}),
        ("C", {"worst"}),
    ]
    assert all(group.leader == group.models[0] for group in groups)


def test_groups_when_ties_are_not_transitive():
    """a - b and b - c are not significant, a - c is: c leads its own group and everybody has one letter."""
    noise = np.array([-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0])
    scores = {"a": np.full(8, 1.0), "b": 0.6 + 0.6 * noise, "c": np.full(8, 0.2)}
    verdicts = {(row.model, row.reference): row.verdict for row in compare_models(scores, 1 / 7, reference="all")}
    assert verdicts == {("a", "b"): "tied", ("a", "c"): "better", ("b", "c"): "tied"}
    assert [group.models for group in tied_groups(scores, 1 / 7)] == [("a", "b"), ("c",)]


def test_groups_do_not_depend_on_the_order_of_models_and_know_losses():
    scores = split_scores({name: mean for name, mean in zip("abcdef", (0.5, 0.52, 0.6, 0.61, 0.8, 0.9))})
    groups = tied_groups(scores, 1 / 9)
    assert tied_groups(dict(reversed(scores.items())), 1 / 9) == groups
    losses = {name: -values for name, values in scores.items()}
    assert [g.models for g in tied_groups(losses, 1 / 9, greater_is_better=False)] == [g.models for g in groups]


def test_letters_after_z():
    scores = np.arange(30) + np.linspace(0, 1e-6, 5)[:, None]
    letters = [group.letter for group in tied_groups(scores, 0.25)]
    assert letters[:2] == ["A", "B"] and letters[25:28] == ["Z", "AA", "AB"]


def test_one_standard_error_by_hand():
    scores = {"small": [0.70, 0.74], "middle": [0.77, 0.79], "large": [0.78, 0.82]}
    error = corrected_standard_error(scores["large"], 1.0)  # 0.0283 * sqrt(1/2 + 1) = 0.0346
    found = one_standard_error(scores, {"small": 1, "middle": 2, "large": 3}, 1.0)
    assert found.model == "middle" and found.best == "large" and found.standard_error == error
    assert found.eligible == ("middle", "large") and found.score == pytest.approx(0.78)
    assert "middle (0.78) is the simplest of 2 models" in str(found)


def test_one_standard_error_for_losses_and_equally_simple_models():
    losses = {"a": [0.30, 0.32], "b": [0.29, 0.32], "c": [0.28, 0.33]}
    found = one_standard_error(losses, [1, 1, 2], 0.5, greater_is_better=False)
    assert found.best in ("b", "c") and found.model == "b"  # the better of the two simple ones


def test_paired_rule_is_stricter_when_splits_differ_in_difficulty():
    scores = split_scores({"simple": 0.79, "best": 0.80}, spread=0.002)
    assert one_standard_error(scores, [0, 1], 1 / 9).model == "simple"
    found = one_standard_error(scores, [0, 1], 1 / 9, paired=True)
    assert found.model == found.best == "best" and "none within one standard error is simpler" in str(found)


def test_order_of_simplicity_is_complete():
    with pytest.raises(ValueError, match="simplicity lacks 'b'"):
        one_standard_error({"a": [1, 2], "b": [1, 2]}, {"a": 0}, 0.25)
    with pytest.raises(ValueError, match="one number per model"):
        one_standard_error({"a": [1, 2], "b": [1, 2]}, [0], 0.25)
