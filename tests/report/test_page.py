"""The page: every kind of document in both languages, safe, whole, and readable without anything else."""

import html.parser
import re

import pytest

from hyperplan._texts import LANGUAGES, speaking_to_command
from hyperplan.report import render_report, write_report
from hyperplan.report._names import readable
from hyperplan.report._views_models import score_scale
from hyperplan.report._wording import Wording

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
ALWAYS = ["answer", "leaderboard", "ties", "chosen", "importances"]
ALWAYS += ["certificates", "diagnosis", "audit", "data", "protocol"]

each_language = pytest.mark.parametrize("language", LANGUAGES)


class Page(html.parser.HTMLParser):
    """Tags balanced, identifiers and texts collected."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.labels, self.tags, self.words = [], [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append((tag, values))
        if "id" in values:
            self.ids.append(values["id"])
        if "href" in values:
            self.links.append(values["href"])
        self.labels += values.get("aria-labelledby", "").split()
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("script", "style"):
            self.words.append(data)

    def text(self):
        return " ".join("".join(self.words).split(" "))


@each_language
def test_every_document_renders_as_balanced_html_with_unique_ids(document, language):
    page = Page(render_report(document, language))
    assert len(page.ids) == len(set(page.ids))
    assert set(page.labels) <= set(page.ids)
    assert {link[1:] for link in page.links} <= set(page.ids) and all(link.startswith("#") for link in page.links)
    assert [dict(values)["lang"] for tag, values in page.tags if tag == "html"] == [language]


@each_language
def test_nothing_is_loaded_from_elsewhere(document, language):
    page = Page(render_report(document, language))
    for tag, values in page.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base"), tag
        assert not {"src", "srcset", "action", "data", "xlink:href"} & values.keys(), (tag, values)
    style = re.search(r"<style>(.*?)</style>", render_report(document, language), re.DOTALL)[1]
    assert "url(" not in style and "@import" not in style and "://" not in style


def test_sections_stand_in_order_and_optional_ones_only_where_there_is_something_to_show(build):
    order = ["quality", "importances", "dependence", "learning"]
    full = ["answer", "leaderboard", "ties", "chosen", *order, "certificates", "diagnosis", "audit", "data", "protocol"]
    for name, wanted in (("binary", full), ("regression", full), ("bare", ALWAYS), ("only_baselines", ALWAYS)):
        page = Page(render_report(build(name)))
        assert [values["id"] for tag, values in page.tags if tag == "section"] == wanted
        assert [link for link in page.links if link != "#answer"] == [f"#{key}" for key in wanted[1:]]


def test_each_chart_of_a_classifier_and_of_a_regression_is_there(build):
    binary, regression = Page(render_report(build("binary"))), Page(render_report(build("regression")))
    charts = {"roc-title", "pr-title", "pr-gain-title", "calibration-title", "thresholds-title", "learning-chart-title"}
    assert charts <= set(binary.ids)
    assert {"predictions-title", "residuals-title", "residual-histogram-title", "target-histogram-title"} <= set(
        regression.ids
    )
    assert "487" in binary.text() and "89%" in binary.text(), "confusion counts and shares"
    assert "hyperplan verify receipt.json" in binary.text()


@each_language
def test_hostile_names_are_shown_and_never_interpreted(build, hostile, language):
    text = render_report(build("crowded"), language)
    page = Page(text)
    assert len([tag for tag, _ in page.tags if tag == "script"]) == 1, "only the page's own script"
    assert "<script>alert" not in text
    assert hostile in page.text()
    assert not [name for _, values in page.tags for name in values if name.startswith("on")]


def test_script_data_cannot_end_its_element(build):
    document = build("binary")
    document["classification"]["positive"] = "</script><b>"
    document["classification"]["roc"][0]["class"] = "</script><b>"
    page = Page(render_report(document))
    assert "b" not in {tag for tag, _ in page.tags}


def test_no_finished_table_or_chart_misses_a_header_or_a_name(document):
    """Every table has row or column headers, every chart a title or a label (or is hidden from screen readers)."""
    text = render_report(document)
    for table in re.findall(r"<table.*?</table>", text, re.DOTALL):
        assert "<th scope=" in table or "<tbody></tbody>" in table
    for svg in re.findall(r"<svg[^>]*>", text):
        assert "aria-label" in svg or 'aria-hidden="true"' in svg, svg


@each_language
def test_failed_candidates_are_named_with_their_reason(build, language):
    words = Page(render_report(build("failed"), language)).text()
    assert "Neural network" in words and "ValueError: NaN" in words and "20 s were left" in words


def test_reasons_and_certificates_of_the_library_are_said_in_the_language(build):
    document = build("failed")
    document["leaderboard"][-1]["reason"] = "budget"
    document["leaderboard"][-2]["reason"] = "slow"
    document["data"]["columns"][-1] |= {"why": "date_text", "edges": None, "top": None}
    certificate = {"holds": True, "summary": "duality gap: 3.1e-06 against 0.0001"}
    document["leaderboard"][0]["certificate"] = certificate | {"kind": "duality gap", "value": 3.1e-6, "bound": 1e-4}
    words = Page(render_report(document, "fr")).text()
    for text in (
        "plus de temps",
        "trop lent",
        "dates écrites en texte",
        "saut de dualité 3,1×10⁻⁶, pour 1×10⁻⁴ au plus",
    ):
        assert text in words, text
    assert "duality gap" not in words.replace("gap 3.1e-06", "") and "date_text" not in words


def test_columns_that_were_left_out_say_so(build):
    document = build("binary")
    assert "not used" not in Page(render_report(document)).text()
    document["data"]["columns"][0]["used"], document["data"]["columns"][1]["used"] = False, True
    assert Page(render_report(document)).text().count("not used") == 1


def test_a_model_that_nobody_explained_says_why(build):
    assert "no time was left" in Page(render_report(build("bare"))).text()
    assert "ignores every column" in Page(render_report(build("only_baselines"))).text()
    assert "no time was left" not in Page(render_report(build("binary"))).text()


def test_a_score_corrected_for_having_been_picked_is_explained(build):
    document = build("binary")
    assert "taken off" not in Page(render_report(document)).text()
    document["chosen"]["score"]["value"] -= 0.004
    assert "0.858 instead of 0.862" in Page(render_report(document)).text()


def test_a_baseline_too_far_away_to_be_drawn_is_not_called_a_dashed_line(build):
    document = build("binary")
    document["leaderboard"][-1] |= {"score": 0.76, "low": 0.76, "high": 0.76}
    words = Page(render_report(document)).text()
    assert "dashed line is the baseline" in words and "too far away" not in words
    document["leaderboard"][-1] |= {"score": -5.0, "low": -5.0, "high": -5.0}
    words = Page(render_report(document)).text()
    assert "dashed line is the baseline" not in words and "too far away" in words


def test_french_pages_have_commas_and_unbreakable_spaces(build):
    french, english = (Page(render_report(build("binary"), language)).text() for language in ("fr", "en"))
    assert "0.862" in english and "0.862" not in french and "0,862" in french
    assert "95\u202f%" in french and "95%" in english
    assert not re.search(r" [;:!?»%]", french), "an ordinary space before double punctuation"


def test_the_same_document_gives_the_same_page(build):
    assert render_report(build("multiclass"), "fr") == render_report(build("multiclass"), "fr")


def test_a_page_is_made_without_numpy_and_scikit_learn(run_python):
    """A page can be made again from its JSON in a moment."""
    code = (
        "import sys, hyperplan.report._page; print(sorted({'numpy', 'sklearn', 'numba', 'jinja2'} & set(sys.modules)))"
    )
    assert run_python(code).stdout.strip() == "[]"


def test_options_of_the_command_are_not_broken_at_their_hyphens(build):
    document = build("binary")
    document["audit"] = [{"code": "A15", "severity": "warning", "columns": ["a<b --x"], "values": {"likeness": 0.3}}]
    with speaking_to_command():
        page = render_report(document)
    assert "--time-column" not in render_report(document) and "(time_column=)" in render_report(document)
    assert '(<span class="option">--time-column</span>)' in page and '(<span class="option">--group</span>)' in page
    assert 'a&lt;b <span class="option">--x</span>' in page and ".option { white-space: nowrap; }" in page


def test_ties_are_counted_among_those_who_have_a_score(build):
    assert "of 9 with a score" not in Page(render_report(build("failed"))).text()
    assert "of 7 with a score" in Page(render_report(build("failed"))).text()


def test_bias_that_nobody_can_tell_from_noise_is_called_so(build):
    document = build("regression")
    document["bias_variance"] |= {"bias": 2e9, "variance": 2.4e8}
    shown = Page(render_report(document)).text()
    assert "Bias and noise" in shown and "noise that no model can predict" in shown
    document["bias_variance"]["noise"] = 1e8
    shown = Page(render_report(document)).text()
    assert "Bias and noise" not in shown and "the model misses a pattern" in shown


def test_unknown_language_is_refused(build):
    with pytest.raises(ValueError, match="language must be one of en, fr"):
        render_report(build("bare"), "de")


def test_written_page_replaces_the_old_one_and_leaves_nothing_beside(build, tmp_path):
    path = tmp_path / "report.html"
    write_report(build("bare"), path, "fr")
    assert write_report(build("bare"), path) == path
    assert path.read_text(encoding="utf-8") == render_report(build("bare"))
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_report_is_replaced_when_asked_only(build, tmp_path):
    path = tmp_path / "index.html"
    path.write_text("<html>my page, made with hyperplan")
    with pytest.raises(FileExistsError, match=r"index.html exists already; choose another name, or pass force=True"):
        write_report(build("bare"), path)
    assert path.read_text().startswith("<html>my page")
    write_report(build("bare"), path, force=True)
    assert path.read_text(encoding="utf-8") == render_report(build("bare"))


def test_a_page_that_cannot_be_written_leaves_the_old_one(build, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(source, target):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_report(build("bare"), path, force=True)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_wrong_document_writes_nothing(build, tmp_path):
    document = build("bare")
    del document["metric"]
    with pytest.raises(ValueError, match="metric is missing"):
        write_report(document, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def _luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_texts_have_contrast_in_light_and_dark(build):
    """WCAG AA asks for 4.5 between texts and their ground, 3 for graphics."""
    style = re.search(r"<style>(.*?)</style>", render_report(build("bare")), re.DOTALL)[1]
    themes = [
        dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    ]
    assert len(themes) == 2
    pairs = [
        (text, ground, 4.5)
        for text in ("ink", "soft", "accent", "warn", "bad", "good")
        for ground in ("paper", "panel")
    ]
    pairs += [
        ("ink", "accent-soft", 4.5),
        ("soft", "accent-soft", 4.5),
        ("accent", "accent-soft", 4.5),
        ("on-accent", "accent", 4.5),
    ]
    pairs += [("warn", "warn-soft", 4.5), ("bad", "bad-soft", 4.5), *((f"c{i}", "paper", 3.0) for i in range(1, 6))]
    for theme in themes:
        for text, ground, least in pairs:
            light, dark = sorted((_luminance(theme[text]), _luminance(theme[ground])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= least, (text, ground)


def test_the_better_half_of_the_models_fills_the_scale(build):
    document = build("binary")
    rows = [row for row in document["leaderboard"] if not row["is_baseline"]]
    for row, score in zip(rows, (0.981, 0.980, 0.979, 0.975, 0.7, 0.6)):
        row |= {"score": score, "low": score - 0.004, "high": score + 0.004}
    leaders, scale = rows[:3], score_scale(readable(document, Wording("en")))
    share = (scale(leaders[0]["high"]) - scale(leaders[-1]["low"])) / 100
    assert share > 0.35 and scale.holds(0.975) and not scale.holds(0.6)
    assert score_scale(readable(single_split(document), Wording("en"))).holds(0.6)  # nobody knows the uncertainty


def single_split(document):
    for row in document["leaderboard"]:
        row |= {"group": None, "low": None, "high": None, "difference": None}
    document["chosen"]["score"] |= {"low": None, "high": None, "method": "one_split"}
    document["protocol"] |= {"folds": 1, "repeats": 1, "planned": 5}
    return document | {"diagnosis": [], "audit": []}


def test_one_test_split_is_said_wherever_more_would_be_needed(build):
    words = Page(render_report(single_split(build("binary")))).text()
    assert "1 of the 5 planned splits: 5 folds with the classes in equal shares" in words
    assert "the model itself was not diagnosed" in words and "Not made: a diagnosis" in words
    for claim in (
        "each line its",
        "statistically tied.",
        "nothing to compare",
        "Nadeau",
        "neither over-fits",
        "adjusted",
    ):
        assert claim not in words, claim
    whole = Page(render_report(build("binary"))).text()
    assert "each line its" in whole and "Nadeau" in whole and "were not finished" not in whole


def test_verdicts_agree_with_the_groups(build):
    document = build("binary")
    row = next(row for row in document["leaderboard"] if row["group"] == "B")
    assert "uncertain" not in Page(render_report(document)).text()
    row["difference"]["verdict"] = "tied"  # by the test alone
    words = Page(render_report(document)).text()
    assert words.count("uncertain") == 2 and "it is not counted as tied" in words


def test_candidates_of_the_same_fate_share_a_row(build):
    document = build("failed")
    before = render_report(document)
    last = next(row for row in document["leaderboard"] if row["status"] == "skipped")
    document["leaderboard"].append(last | {"label": "Another of them"})
    after = render_report(document)
    assert f"{last['label']} and Another of them" in Page(after).text()
    assert after.count("<tr") == before.count("<tr")


def test_a_mixture_is_named_with_its_members(build):
    document = build("binary")
    names = [row["name"] for row in document["leaderboard"][:2]]
    document["chosen"] |= {"name": "TableBlend", "label": "Mean of the best models"}
    document["chosen"]["settings"] = {f"{names[0]}.C": 3.0, f"{names[0]}.gamma": 0.1, names[1]: "-"}
    words = Page(render_report(document)).text()
    labels = [row["label"] for row in document["leaderboard"][:2]]
    assert f"use Mean of the best models ({labels[0]} and {labels[1]})" in words
    assert f"{labels[0]}C=3.0, gamma=0.1{labels[1]}defaults" in words
    document["chosen"]["settings"] = {"1.C": 3.0, "2": "-"}  # of one model with several settings
    words = Page(render_report(document)).text()
    assert "use Mean of the best models:" in words and "2defaults" in words


@each_language
def test_each_column_that_sorts_says_so_and_keeps_its_name_outside_the_button(build, language):
    page = Page(render_report(build("binary"), language))
    heads = [values for tag, values in page.tags if tag == "th" and "data-label" in values]
    words = Wording(language)
    assert len(heads) == 7 and heads[0]["data-label"] == words.say(
        "leaderboard.sort", name=words.say("leaderboard.rank")
    )


def test_a_method_is_named_once(build):
    document = build("binary")
    document["protocol"]["interval"] = document["chosen"]["score"]["method"] = "corrected_t"
    assert "Score of the winner" not in Page(render_report(document)).text()


def test_a_page_says_which_columns_were_measured_and_which_class_is_shown(build):
    document = build("multiclass")
    document["importances"] |= {"rows": 150, "unmeasured": []}
    count = len(document["importances"]["columns"])
    assert f"All {count} columns that the model uses were measured, on 150 rows" in Page(render_report(document)).text()
    document["importances"]["unmeasured"] = ["left", "alone"]
    words = Page(render_report(document)).text()
    assert f"{count} of the {count + 2} columns" in words and "“left” and “alone”" in words and "lack of time" in words
    classes = document["classification"]["classes"]
    for part in document["partial_dependence"]:
        part["target_class"] = classes[0]
    said = f"Shown is the probability of “{classes[0]}”, the most frequent of the {len(classes)} classes."
    assert said in Page(render_report(document)).text()


def test_what_no_check_can_see_is_said_with_and_without_findings(build):
    document = build("binary")
    for findings in (document["audit"], []):
        words = Page(render_report(document | {"audit": findings})).text()
        assert "only known after the outcome looks like any other" in words
    assert "Nothing found. Looked for:" in words and "no leak" not in words


def test_settings_of_a_mixture_are_those_of_its_members(build):
    document = build("binary")
    names = [row["name"] for row in document["leaderboard"][:2]]
    document["leaderboard"][2] |= {
        "name": "TableBlend", "label": "Mean of the best models", "family": "compete", "is_baseline": False,
        "settings": {names[0]: "-", f"{names[1]}.max_depth": 3},
    }  # fmt: skip
    words = Page(render_report(document)).text()
    labels = [row["label"] for row in document["leaderboard"][:2]]
    assert f"{labels[0]}: defaults; {labels[1]}: max_depth=3" in words
    assert "=-" not in words and "TableBlend · mixture" in words and "which flatters it a little" in words
