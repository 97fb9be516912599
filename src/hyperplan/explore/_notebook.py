"""An exploration in a notebook: the answer, and the best clustering of each method."""

from hyperplan._texts import area_texts
from hyperplan.compete._notebook import notebook_table
from hyperplan.report._wording import UNKNOWN, Wording

MEASURES = ("groups", "separation", "silhouette", "stability")


def exploration_view(document: dict, answer: list[str], language: str) -> str:
    """The answer and what was found by whom, the chosen clustering first and marked."""
    words, wording = area_texts("explore", language)["table"], Wording(language, "explore")
    best = sorted((row for row in document["clusterings"] if row["is_best"]), key=lambda row: not row["is_chosen"])
    rows = []
    for row in best:
        numbers = [wording.number(row.get(name), 0 if name == "groups" else 2) if row["groups"] > 1 else UNKNOWN
                   for name in MEASURES]  # fmt: skip
        why = wording.word("reason", row["reason"]) if row["verdict"] == "failed" else ""
        verdict = why or wording.word("verdict", row["verdict"])
        rows.append((row["is_chosen"], [wording.word("method", row["name"]), *numbers, verdict]))
    return notebook_table(answer, words["title"], [words[name] for name in ("method", *MEASURES, "verdict")], rows)
