"""The checks on numbers that are known already: each verdict from the outcomes of a competition."""

import numpy as np
import pytest

from hyperplan.ensemble import RandomForestClassifier
from hyperplan.evaluation import corrected_t_test, diagnose, diagnose_scores
from hyperplan.evaluation._diagnose_numbers import confidence, spread
from hyperplan.linear_model import LogisticRegression, Ridge
from hyperplan.neighbors import KNeighborsClassifier
from hyperplan.tree import DecisionTreeClassifier, DecisionTreeRegressor

JITTER = np.array([0.004, -0.006, 0.01, 0.0, -0.008])
OPTIONS = {"test_share": 0.25, "baseline": 0.5 + 0 * JITTER, "perfect": 1.0}


def codes(diagnosis, *severities):
    return {one.code for one in diagnosis.findings if one.severity in (severities or ("error", "warning"))}


def scores(mean):
    return mean + JITTER


def test_fine():
    diagnosis = diagnose_scores(LogisticRegression(), scores(0.81), scores(0.80), **OPTIONS)
    assert diagnosis.verdicts == ("fine",) and diagnosis.name == "LogisticRegression"
    assert codes(diagnosis, "info") == {"D01", "D07", "D13"}


@pytest.mark.parametrize(
    ("model", "train", "rivals", "verdicts"),
    [
        (Ridge(), 0.81, {"flexible": {"alpha=0.1": scores(0.85)}}, ("underfit",)),
        (Ridge(), 0.81, {"others": {"forest": scores(0.85) + JITTER}}, ("underfit",)),
        (DecisionTreeClassifier(), 1.0, {"simpler": {"max_depth=4": scores(0.85)}}, ("overfit",)),
        (DecisionTreeClassifier(), 1.0, {"others": {"forest": scores(0.85)}}, ("overfit",)),
        (RandomForestClassifier(), 1.0, {"others": {"boosting": scores(0.85)}}, ("fine",)),  # D10
        (DecisionTreeClassifier(), 1.0, {"others": {"forest": scores(0.803)}}, ("fine",)),  # not worth a word
        (DecisionTreeClassifier(), 1.0, {"others": {"forest": scores(0.83) + 8 * JITTER[::-1]}}, ("fine",)),  # chance
        (Ridge(), 0.81, {"baseline": scores(0.799)[::-1]}, ("useless",)),
        (Ridge(), 0.81, {"baseline": scores(0.80)[::-1], "flexible": {"a": scores(0.9)}}, ("underfit",)),
    ],
)
def test_rivals(model, train, rivals, verdicts):
    diagnosis = diagnose_scores(model, scores(train), scores(0.80), **{**OPTIONS, **rivals})
    assert diagnosis.verdicts == verdicts
    if "others" in rivals and isinstance(model, RandomForestClassifier):
        assert "D10" in codes(diagnosis, "info")


def test_losses_are_shown_as_losses():
    """The same numbers as a loss: the same findings, in the units people know."""
    both = []
    for sign in (1, -1):
        diagnosis = diagnose_scores(
            DecisionTreeClassifier(),
            -sign * scores(0.1),
            -sign * scores(0.6),
            test_share=0.25,
            baseline=-sign * scores(0.7)[::-1],
            perfect=0.0,
            greater_is_better=sign > 0,
            simpler={"max_depth=4": -sign * scores(0.4)},
            curve={0.5: -sign * scores(0.65), 1.0: -sign * scores(0.6)},
        )
        both.append({one.code: one for one in diagnosis.findings})
        assert diagnosis.verdicts == ("overfit",)
    gains, losses = both
    assert gains.keys() == losses.keys() >= {"D01", "D03", "D07", "D09"}
    assert losses["D01"].values["score"] == pytest.approx(0.6)
    assert losses["D01"].values["low"] < 0.6 < losses["D01"].values["high"]
    assert losses["D01"].values["baseline"] == pytest.approx(0.7)
    assert losses["D03"].values["rival_score"] == pytest.approx(0.4)
    assert losses["D09"].values["gain"] == pytest.approx(0.05)
    for code, one in losses.items():
        shared = {"gain", "gain_low", "gain_high", "gap", "gap_low", "gap_high"} & one.values.keys()
        assert {name: one.values[name] for name in shared} == pytest.approx(
            {name: gains[code].values[name] for name in shared}
        )


def test_columns_and_importances():
    alone = diagnose_scores(Ridge(), scores(0.97), scores(0.96), columns={"a": 0.7, "b": 0.995}, **OPTIONS)
    assert alone.verdicts == ("leaking",) and alone.findings[1].columns == ("b",)
    carried = {"importances": {"a": 0.4, "b": 0.01, "c": -0.02}, **OPTIONS}
    good = diagnose_scores(Ridge(), scores(0.98), scores(0.97), **carried)
    assert good.verdicts == ("fine",) and "D14" in codes(good, "info")
    perfect = diagnose_scores(Ridge(), 0.997 + JITTER / 9, 0.995 + JITTER / 9, **carried)
    assert perfect.verdicts == ("leaking",) and "D14" in codes(perfect, "warning")
    shared = diagnose_scores(Ridge(), scores(0.8), scores(0.8), **{**OPTIONS, "importances": {"a": 0.3, "b": 0.2}})
    assert "D14" not in {one.code for one in shared.findings}


def test_answers_tell_what_diagnose_measures():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = X[:, 0] + rng.normal(size=90)
    whole = diagnose(DecisionTreeRegressor(random_state=0), X, y, cv=3, try_advice=False)
    from hyperplan.evaluation._splits import make_splits

    model = DecisionTreeRegressor(random_state=0)
    splits = make_splits(model, X, y, 3, 2, None, 0)
    answers = [(test, model.fit(X[train], y[train]).predict(X[test])) for train, test in splits]
    found = whole.measurements
    again = diagnose_scores(model, found.scores["train"], found.scores["model"], test_share=0.5, answers=answers, y=y)
    assert again.measurements.variance == pytest.approx(found.variance, rel=1e-12)
    assert again.measurements.error == pytest.approx(found.error, rel=1e-12)
    assert "unstable" in again.verdicts and "D04" in codes(again)


def test_spread_against_its_definition():
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(7, 2)) + 1e6
    answers = [(np.arange(7), truth + rng.normal(size=(7, 2))) for _ in range(4)]
    stacked = np.array([numbers for _, numbers in answers])
    found = spread(answers, truth)
    assert found["variance"] == pytest.approx(stacked.var(axis=0, ddof=1).sum(axis=1).mean(), rel=1e-6)
    assert found["error"] == pytest.approx(((stacked - truth) ** 2).sum(axis=2).mean(), rel=1e-9)
    assert found["total"] == pytest.approx(truth.var(axis=0).sum(), rel=1e-9)
    assert np.isnan(spread(answers[:1], truth)["variance"])


def test_confidence_of_classes():
    said = np.array([[0.9, 0.1], [0.4, 0.6], [0.8, 0.2]])
    found = confidence([(np.arange(3), said)], np.array([[1.0, 0], [1, 0], [1, 0]]))
    assert found == pytest.approx({"confidence": 2.3 / 3, "accuracy": 2 / 3})


def test_probabilities_of_a_competition():
    y = np.arange(400) % 2
    said = np.where(np.arange(400)[:, None] % 4 < 3, np.eye(2)[y], 1 - np.eye(2)[y]) * 0.98 + 0.01  # right in 3 of 4
    diagnosis = diagnose_scores(
        LogisticRegression(), scores(0.76), scores(0.75), answers=[(np.arange(400), said)], y=y, **OPTIONS
    )
    (found,) = (one for one in diagnosis.findings if one.code == "D12")
    assert found.values == pytest.approx({"confidence": 99, "accuracy": 75, "difference": 24})


def test_endings():
    endings = [{"holds": True, "value": 1e-9, "bound": 1e-4}, {"holds": False, "value": np.inf, "bound": 1e-4}]
    diagnosis = diagnose_scores(Ridge(), scores(0.8), scores(0.8), endings=endings, **OPTIONS)
    (found,) = (one for one in diagnosis.findings if one.code == "D11")
    assert found.values == {"failed": 1, "fits": 2, "value": "inf", "bound": "0.0001"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"train": [0.5, 0.6]}, "train has 2 scores, but there are 5 splits"),
        ({"validation": [0.5]}, "at least two numbers, one per split"),
        ({"baseline": [0.5, 0.5, 0.5, np.nan, 0.5]}, "score on split 3 is not a finite number"),
        ({"test_share": -1}, "test_share is n_test / n_train"),
        ({"level": 95}, "level must lie strictly between 0 and 1"),
        ({"language": "de"}, "language must be one of 'en', 'fr'"),
        ({"answers": [(np.arange(2), np.ones(2))]}, "answers need y"),
    ],
)
def test_bad_numbers(changes, message):
    arguments = {"train": scores(0.8), "validation": scores(0.8), **OPTIONS, **changes}
    with pytest.raises(ValueError, match=message):
        diagnose_scores(Ridge(), arguments.pop("train"), arguments.pop("validation"), **arguments)


@pytest.mark.parametrize(
    "model, train, simpler, verdict",
    [
        (KNeighborsClassifier(1), 1.0, 0.02, "overfit"),
        (KNeighborsClassifier(1), 0.75, 0.02, "fine"),  # little is lost
        (KNeighborsClassifier(1), 1.0, -0.01, "fine"),  # what is simpler looks worse
        (RandomForestClassifier(), 1.0, 0.02, "fine"),  # knows its rows by heart, by design
    ],
)
def test_what_most_of_is_lost_needs_no_proof_that_simpler_is_better(model, train, simpler, verdict):
    """The simpler fit is better by 1.1 standard errors: the test alone would not see it."""
    own = 0.7 + 0.03 * np.array([1, -1, 1, -1, 1, -1, 1, -1, 1, -1])
    noise = np.array([1, 1, -1, -1, 1, 1, -1, -1, 0, 0])
    noise = noise / noise.std(ddof=1) * abs(simpler) / 1.1 / np.sqrt(1 / 10 + 1 / 4)
    rival = own + simpler + noise
    found = diagnose_scores(
        model, np.full(10, train), own, test_share=0.25, baseline=np.full(10, 0.6), perfect=1.0, simpler={"k": rival}
    )
    assert corrected_t_test(rival - own, 0.25)[1] > 0.2
    assert found.verdict == verdict


def test_equal_scores_have_no_gap():
    own = np.array([0.1 + 0.2, 0.4, 0.5])
    found = diagnose_scores(Ridge(), np.array([0.3, 0.4, 0.5]), own, test_share=0.5, baseline=np.zeros(3), perfect=1.0)
    gap = next(one for one in found.findings if one.code == "D07")
    assert gap.values["gap"] == 0 and own[0] != 0.3
    tiny = diagnose_scores(Ridge(), 1e-15 * own, 0.5e-15 * own, test_share=0.5, baseline=np.zeros(3), perfect=1.0)
    assert next(one for one in tiny.findings if one.code == "D07").values["gap"] > 0
