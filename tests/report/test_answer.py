"""The three sentences say what the document says."""

import pytest

from hyperplan._texts import LANGUAGES
from hyperplan.report import answer_sentences, render_report


@pytest.mark.parametrize("language", LANGUAGES)
def test_three_sentences_for_every_document_and_the_page_shows_them(document, language):
    sentences = answer_sentences(document, language)
    assert len(sentences) == 3 and all(
        sentence.endswith(".") and "{" not in sentence.replace("{braces}", "").replace("{{", "")
        for sentence in sentences
    )
    if "script" not in document["title"]:
        page = render_report(document, language)
        assert all(sentence.replace("'", "&#39;") in page for sentence in sentences)


def test_simplest_of_the_tied_is_named_with_its_score_and_the_baseline(build):
    quality, ties, _ = answer_sentences(build("binary"))
    assert "use Logistic regression" in quality and "0.862 (95% interval 0.840 to 0.884)" in quality
    assert "0.500" in quality and "72% of the way" in quality
    assert "Histogram boosting scores best" in ties and "2 others (Random forest and Logistic regression)" in ties
    assert "10 paired tests" in ties and "simplest" in ties


def test_french_says_the_same(build):
    quality, ties, _ = answer_sentences(build("binary"), "fr")
    assert (
        "prenez le modèle «\u00a0Régression logistique\u00a0»" in quality
        and "0,862" in quality
        and "72\u202f%" in quality
    )
    assert "2 autres" in ties and "le plus simple" in ties


def test_an_error_metric_speaks_of_error_removed_and_of_the_rows_set_aside(build):
    quality, ties, trust = answer_sentences(build("regression"))
    assert "47,300\u00a0$" in quality and "removes 59% of the baseline’s error" in quality
    assert "also the simpler of the two" in ties
    assert "On 4,128 rows set aside until the end, its RMSE was 47,900\u00a0$." in trust


def test_a_model_that_does_not_beat_the_baseline_is_not_praised(build):
    quality, *_ = answer_sentences(build("nothing_beats_baseline"))
    assert quality.startswith("No model is shown to beat the baseline") and "use " not in quality
    quality, ties, _ = answer_sentences(build("only_baselines"))
    assert "only baselines" in quality and "only candidate that finished" in ties


def test_too_few_tests_are_blamed_before_the_columns(build):
    document = build("nothing_beats_baseline")
    best = document["leaderboard"][0]
    for row in document["leaderboard"]:
        row["is_chosen"] = row is best
    document["chosen"] |= {"name": best["name"], "label": best["label"]}
    assert "say little" in answer_sentences(document)[0]
    document["protocol"] |= {"folds": 2, "repeats": 1, "planned": 5}
    quality = answer_sentences(document)[0]
    assert "only 2 of 5 planned splits were finished" in quality and "say little" not in quality
    assert "seuls 2 des 5 découpages prévus ont été achevés" in answer_sentences(document, "fr")[0]


def test_a_budget_too_short_for_any_model_is_said_with_what_to_ask_for(build):
    document = build("only_baselines")
    absent = {"name": "SVC", "label": "Support vectors", "status": "skipped", "reason": "slow"}
    absent |= dict.fromkeys(("is_chosen", "is_best", "is_baseline"), False)
    document["leaderboard"].append(absent)
    document["protocol"]["budget"] = 8
    quality, *_ = answer_sentences(document)
    assert quality.startswith("The budget of 8.0\u00a0s was too short for any model") and "time=60:" in quality
    document["protocol"]["budget"] = 500.0
    assert "time=2000:" in answer_sentences(document)[0]
    assert answer_sentences(document, "fr")[0].startswith("Le budget de 8\u00a0min")
    document["leaderboard"].append(absent | {"status": "failed", "reason": "ValueError: NaN"})
    assert "why the others failed" in answer_sentences(document)[0]


def test_a_baseline_that_is_chosen_is_held_against_the_best_of_the_others(build):
    document = build("nothing_beats_baseline")
    for row in document["leaderboard"]:
        row["is_chosen"] = row["is_baseline"]
    baseline = next(row for row in document["leaderboard"] if row["is_baseline"])
    document["chosen"] |= {"name": baseline["name"], "label": baseline["label"]}
    document["chosen"]["score"] |= {"value": baseline["score"]}
    best = next(row for row in document["leaderboard"] if not row["is_baseline"])
    quality = answer_sentences(document)[0]
    assert f"{baseline['label']} has ROC AUC {baseline['score']:.3f}" in quality
    assert f"the best of the others, {best['label']}, {best['score']:.3f};" in quality
    assert "le meilleur des autres, «" in answer_sentences(document, "fr")[0].replace("pour le", "le")


def test_a_clear_winner_has_no_ties(build):
    document = build("binary")
    for row in document["leaderboard"]:
        row["group"], row["is_chosen"] = ("A" if row["is_best"] else "B"), row["is_best"]
    document["chosen"] |= {"why": "best", "label": "Histogram boosting", "name": "HistGradientBoostingClassifier"}
    ties = answer_sentences(document)[1]
    assert "ahead of the other 6 candidates" in ties and "nothing is tied" in ties


def test_one_test_split_compares_nothing(build):
    document = build("binary")
    for row in document["leaderboard"]:
        row |= {"group": None, "low": None, "high": None, "difference": None}
    document["chosen"]["score"] |= {"low": None, "high": None, "method": "one_split"}
    quality, ties, _ = answer_sentences(document)
    assert "interval" not in quality and ties.startswith("Only one split was finished")
    assert "without an interval" in render_report(document)


def test_a_tied_model_that_is_simpler_but_not_near_is_explained(build):
    document = build("binary")
    tied = [row for row in document["leaderboard"] if row["group"] == "A"]
    for row, simplicity in zip(tied, (70, 30, 10)):
        row |= {"simplicity": simplicity, "is_chosen": simplicity == 30}
    assert "simplest that is close enough to the best" in answer_sentences(document)[1]
    for row in tied:
        row["is_chosen"] = row["is_best"]
    assert "no simpler one comes close enough" in answer_sentences(document)[1]


def test_one_tied_candidate_is_singular(build):
    document = build("regression")
    assert answer_sentences(document)[1].startswith("Random forest is statistically tied")
    assert answer_sentences(document, "fr")[1].startswith("«\u00a0Forêt aléatoire\u00a0» est statistiquement")


def test_gravest_findings_come_first_and_notes_do_not_alarm(build):
    trust = answer_sentences(build("multiclass"))[2]
    assert trust.index("D07") < trust.index("D01") and "1 more warning" in trust
    document = build("binary")
    document["audit"] = [finding for finding in document["audit"] if finding["severity"] == "info"]
    assert answer_sentences(document)[2].startswith("The checks of the data and of the model found no reason")


def test_long_names_are_shortened_in_sentences(build, hostile):
    assert all(len(sentence) < 500 for sentence in answer_sentences(build("crowded")))
    assert hostile not in " ".join(answer_sentences(build("crowded")))
