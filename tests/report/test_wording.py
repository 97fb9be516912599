"""Numbers with the digits their intervals justify, in both languages; unbreakable spaces; plurals."""

import re

import pytest

from hyperplan._texts import LANGUAGES, area_texts
from hyperplan.report._findings import finding_texts
from hyperplan.report._wording import Wording, brief, capital, decimals_for, typeset

ENGLISH, FRENCH = Wording("en"), Wording("fr")


@pytest.mark.parametrize(
    "width, decimals", [(0.04, 3), (0.3, 2), (3.0, 1), (30, 0), (3000, -2), (0.0002, 5), (0, 3), (None, 3), (0.2, 2)]
)
def test_digits_follow_the_width_of_the_interval(width, decimals):
    assert decimals_for(width) == decimals


@pytest.mark.parametrize(
    "value, decimals, english, french",
    [
        (0.8712, 3, "0.871", "0,871"),
        (-0.003, 3, "−0.003", "−0,003"),
        (-0.0001, 3, "0.000", "0,000"),
        (48231.4, -2, "48,200", "48\u202f200"),
        (1234567, 0, "1,234,567", "1\u202f234\u202f567"),
        (2.24e9, -7, "2.24×10⁹", "2,24×10⁹"),
        (3.2e-9, 10, "3.2×10⁻⁹", "3,2×10⁻⁹"),
        (0.0, 9, "0.000000", "0,000000"),
        (None, 3, "–", "–"),
    ],
)
def test_numbers(value, decimals, english, french):
    assert ENGLISH.number(value, decimals) == english and FRENCH.number(value, decimals) == french


@pytest.mark.parametrize(
    "share, english, french",
    [
        (0.724, "72%", "72\u202f%"),
        (0.0022, "0.2%", "0,2\u202f%"),
        (0.0001, "<\u00a00.1%", "<\u00a00,1\u202f%"),
        (0.99996, ">\u00a099.9%", ">\u00a099,9\u202f%"),
        (0.0, "0%", "0\u202f%"),
        (1.0, "100%", "100\u202f%"),
        (0.997, "99.7%", "99,7\u202f%"),
    ],
)
def test_percentages_never_round_to_none_or_all(share, english, french):
    assert ENGLISH.percent(share) == english and FRENCH.percent(share) == french


def test_durations_probabilities_and_differences():
    shown = [ENGLISH.seconds(value) for value in (0.0004, 0.044, 0.9999, 3.21, 58.1, 116.3, 181, 120, 3599, None)]
    expected = ["0.4 ms", "44 ms", "1.0 s", "3.2 s", "58 s", "1 min 56 s", "3 min 1 s", "2 min", "60 min", "–"]
    assert [duration.replace("\u00a0", " ") for duration in shown] == expected
    assert ENGLISH.probability(0.00001) == "<\u00a00.001" and FRENCH.probability(0.0421) == "0,042"
    assert (
        ENGLISH.signed(0.0123, 3) == "+0.012" and ENGLISH.signed(0.0001, 2) == "0.00" and ENGLISH.signed(-2, 0) == "−2"
    )


def test_years_have_no_separator_and_tiny_numbers_are_powers_of_ten():
    assert ENGLISH.ungrouped(2007) == "2007" and ENGLISH.ungrouped(12345.6) == "12,346"
    assert FRENCH.ungrouped(13.27, 2) == "13,27"
    assert ENGLISH.compact(1.03e-9) == "1×10⁻⁹" and ENGLISH.compact(0.001) == "0.001" and ENGLISH.compact(0) == "0"


def test_a_mantissa_is_never_ten():
    for value in (0.000996, 0.0009996, 9.96e-5, 9.96e-7, 9.9999e-10, 9.96e8, 9.9999e9, 1e-4, 0.001):
        shown = {
            ENGLISH.compact(value),
            ENGLISH.scientific(value),
            ENGLISH.number(value, 9),
            f"{ENGLISH.localised(value)}",
        }
        assert not [text for text in shown if text.startswith("10×")]
    assert ENGLISH.compact(0.001) == ENGLISH.compact(0.0009999) == "0.001" and FRENCH.compact(9.96e-7) == "1×10⁻⁶"
    assert ENGLISH.ticks([1.00e-4, 1.01e-4, 1.02e-4]) == ["1.00×10⁻⁴", "1.01×10⁻⁴", "1.02×10⁻⁴"]


@pytest.mark.parametrize(
    "number, english, french",
    [
        (0, "0 rows", "0 ligne"),
        (1, "1 row", "1 ligne"),
        (2, "2 rows", "2 lignes"),
        (1500, "1,500 rows", "1\u202f500 lignes"),
    ],
)
def test_plurals(number, english, french):
    assert ENGLISH.count("rows", number) == english and FRENCH.count("rows", number) == french


def test_french_spaces_are_unbreakable_and_english_ones_are_left_alone():
    assert typeset(
        "Quoi ? « Oui » : 5 % ; non !", "fr"
    ) == "Quoi\u202f? «\u00a0Oui\u00a0»\u00a0: 5\u202f% ; non\u202f!".replace("% ;", "%\u202f;")
    assert typeset("l'erreur", "fr") == "l’erreur" and typeset("a : b", "en") == "a : b"


def test_names_of_the_data_are_not_typeset():
    assert "a : b" in FRENCH.say("data.target", name="a : b") and "it's" in ENGLISH.quote("it's")


def test_listings():
    assert ENGLISH.listing([]) == "" and ENGLISH.listing(["a"]) == "a" and ENGLISH.listing("ab") == "a and b"
    assert ENGLISH.listing("abcd") == "a, b, c and d" and ENGLISH.listing("abcdef") == "a, b, c and 3 others"
    assert FRENCH.listing("abcdef") == "a, b, c et 3 autres"
    assert ENGLISH.listing("abcdef", total=100) == "a, b, c and 97 others"
    assert ENGLISH.listing("ab", total=9) == "a and b"


def test_long_names_keep_their_beginning_and_end():
    assert brief("short") == "short"
    assert len(brief("x" * 200 + " 17")) <= 60 and brief("x" * 200 + " 17").endswith("17")


def test_words_nobody_translated_are_shown_as_they_are():
    assert FRENCH.word("kind", "number") == "nombre" and FRENCH.word("kind", "tensor") == "tensor"


def test_formats_in_sentences_follow_the_language():
    assert FRENCH.fill("{share:.1%} de {n:,d}", share=0.1234, n=12000.0) == "12,3\u202f% de 12\u202f000"
    assert FRENCH.fill("{x} {y}", x=0.12345, y="1.5") == "0,123 1.5" and ENGLISH.fill("{n}", n=1234) == "1,234"


def test_models_and_metrics_have_names_of_the_language():
    assert (
        FRENCH.word("model", "Random forest") == "Forêt aléatoire" and ENGLISH.word("metric", "log loss") == "log loss"
    )
    assert capital("log loss") == "Log loss" and capital("R²") == "R²"


FAMILIES = ("linear_model", "tree", "ensemble", "svm", "neighbors", "naive_bayes", "discriminant_analysis", "kernels",
            "_solvers", "_math", "_base")  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_certificate_of_a_candidate_has_words(language, root):
    """Kinds are English words in the sources; a page in another language must not show them."""
    kinds = {
        kind
        for family in FAMILIES
        for path in (root / "src" / "hyperplan" / family).glob("*.py")
        for kind in re.findall(r'Certificate\(\s*(?:kind=)?"([^"]+)"', path.read_text(encoding="utf-8"))
    }
    assert len(kinds) > 20 and kinds <= area_texts("report", language)["word"]["certificate"].keys()


def test_every_candidate_of_the_library_has_a_french_name():
    from hyperplan.compete._measures import MEASURES
    from hyperplan.compete._registry import candidates

    known = area_texts("report", "fr")["word"]
    labels = {c.label for task in ("classification", "regression") for c in candidates(task)}
    assert labels <= known["model"].keys() and {m.label for m in MEASURES.values()} <= known["metric"].keys()


@pytest.mark.parametrize("wording", [ENGLISH, FRENCH])
def test_a_finding_is_put_into_words_and_notes_have_no_advice(wording):
    finding = {"code": "D06", "severity": "warning", "columns": [], "values": {"score": 0.9998, "perfect": 1.0}}
    shown = finding_texts(wording, "diagnosis", finding)
    assert shown["title"] != "D06" and shown["advice"] and wording.local("0.9998") in shown["message"]
    assert finding_texts(wording, "diagnosis", finding | {"severity": "info"})["advice"] == ""


def test_a_finding_without_a_text_shows_what_it_holds():
    finding = {"code": "Z99", "severity": "warning", "columns": ["a b"], "values": {"share": 0.5}}
    shown = finding_texts(ENGLISH, "audit", finding)
    assert shown["title"] == "Z99" and "“a b”" in shown["message"] and "share = 0.5" in shown["message"]
