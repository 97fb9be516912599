"""Tables in terminals of any width: no name is lost, no number broken, no line too long."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from hyperplan.cli._compete import leaderboard
from hyperplan.cli._explore import clusterings
from hyperplan.explore._methods import METHODS
from hyperplan.report._wording import Wording

NAMES = ["Self-training logistic regression", "Quadratic discriminant analysis"]
NAMES += ["Mean of the best models", "Majority class"]

each_language = pytest.mark.parametrize("language", ["en", "fr"])


def shown(table, width):
    """Lines of a table as a terminal without colours has them."""
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(table)
    return console.file.getvalue().splitlines()


def board(names=NAMES, metric="balanced accuracy", low=0.84):
    rows = [
        {
            **{"label": name, "name": name, "status": "ok", "score": 0.862 - k / 100, "low": low, "high": 0.884},
            **{"folds": [0.8] * 10, "group": "AB"[k % 2], "is_chosen": k == 1, "is_best": k == 0},
            **{"is_baseline": k == len(names) - 1, "fit_seconds": 0.25, "tried": 12},
        }
        for k, name in enumerate(names)
    ]
    protocol = {"level": 0.95, "splits": 10, "planned_splits": 10}
    return {"leaderboard": rows, "metric": {"label": metric}, "protocol": protocol}


@each_language
@pytest.mark.parametrize("metric", ["balanced accuracy", "ROC AUC"])
@pytest.mark.parametrize("width", [24, 32, 40, 50, 60, 80, 100, 120, 200])
def test_every_name_is_there_with_its_score_and_no_line_is_too_long(width, metric, language):
    lines = shown(leaderboard(board(metric=metric), language, width), width)
    assert max(map(cell_len, lines)) <= width
    words = {word for name in NAMES for word in name.split()} if width >= 32 else set()
    scores = ("0.862", "0.852", "0.842", "0.832")
    for word in {*words, *(score if language == "en" else score.replace(".", ",") for score in scores)}:
        assert any(word in line for line in lines), word


def test_intervals_go_before_groups_and_groups_before_names():
    at = {width: "\n".join(shown(leaderboard(board(), "en", width), width)) for width in (40, 60, 80, 120)}
    kept = {width: [name for name in ("interval ", "group", "settings") if name in at[width]] for width in at}
    assert kept == {40: [], 60: ["group"], 80: ["interval ", "group"], 120: ["interval ", "group", "settings"]}
    assert "0.840 to 0.884" in at[80] and "0.840" not in at[60]
    assert "intervals" in at[80] and "intervals" not in at[60], "the title does not promise what is not there"
    assert NAMES[0] in at[120] and all("chosen" in at[width] for width in at)


@pytest.mark.parametrize("width", [40, 50, 80])
@pytest.mark.parametrize(
    "name", ["x" * 90, "東京都の住宅価格を予測する長い名前のモデル", "الفئة الأولى", "a\u0301" * 60]
)
def test_names_longer_than_the_room_are_folded_and_not_cut(name, width):
    lines = shown(leaderboard(board([name, *NAMES]), "en", width), width)
    assert max(map(cell_len, lines)) <= width
    letters = [letter for letter in name if letter.strip()]
    text = [letter for line in lines for letter in line if letter in letters]
    assert len(text) >= len(letters) and not any("…" in line for line in lines)
    assert any("chosen" in line for line in lines)


def test_names_are_texts_and_no_markup():
    name = "[red]tree[/red] [/] [link=x]"
    assert any(name in line for line in shown(leaderboard(board([name, *NAMES]), "en", 120), 120))


def test_one_test_split_has_neither_intervals_nor_groups_to_show():
    rows = board(low=None)
    for row in rows["leaderboard"]:
        row["group"] = None
    lines = shown(leaderboard(rows, "en", 80), 80)
    assert not any(" - " in line or "group" in line for line in lines) and any("0.862" in line for line in lines)
    rows["leaderboard"][0] |= {"low": 0.8}
    assert any(" - " in line for line in shown(leaderboard(rows, "en", 80), 80))


def exploration():
    verdicts = ("real", "chance", "one_group", "unstable", "failed")
    return {
        "clusterings": [
            {
                **{"name": method.name, "is_best": True, "is_chosen": k == 1, "groups": 1 if k == 2 else 12},
                **{"reason": "budget", "verdict": verdicts[k % 5], "stability": 0.95, "separation": 0.93},
                **{"silhouette": 0.4, "null_separation": {"mean": 0.83}},
            }
            for k, method in enumerate(METHODS)
        ]
    }


@each_language
@pytest.mark.parametrize("width", [32, 40, 50, 60, 80, 120])
def test_methods_of_an_exploration_keep_their_names_and_verdicts(width, language):
    lines = shown(clusterings(exploration(), language, width), width)
    assert max(map(cell_len, lines)) <= width
    wording = Wording(language, "explore")
    texts = [wording.word("method", method.name) for method in METHODS]
    texts += [wording.word("verdict", name) for name in ("chance", "unstable")] if width >= 40 else []
    for word in {word for text in texts for word in text.split()}:
        assert any(word in line for line in lines), word
    assert ("0.93 (0.83)" in "\n".join(lines)) == (width >= 80 and language == "en")


def test_the_chosen_one_stands_first_in_an_exploration():
    lines = shown(clusterings(exploration(), "en", 80), 80)
    first = next(lines[k + 1] for k, line in enumerate(lines) if "──" in line)
    assert Wording("en", "explore").word("method", METHODS[1].name) in first


def test_a_measure_that_nobody_took_has_no_column():
    found = exploration()
    for row in found["clusterings"]:
        row["stability"] = None
    assert "stability" not in "\n".join(shown(clusterings(found, "en", 120), 120))
