"""Names that the library itself gives, in the reader's language: models and metrics of a document."""

from hyperplan.report._document import check_document, completed
from hyperplan.report._wording import Wording


def readable(document: dict, wording: Wording) -> dict:
    """A document, checked and completed, whose models and metrics have names of the reader's language.

    Documents hold English names; one that nobody translated stays as it is.
    """
    check_document(document)
    document = completed(document)
    chosen, metric = document["chosen"], document["metric"]
    others = [_with_label(other, "metric", wording) for other in chosen["other_metrics"] or ()]
    return document | {
        "leaderboard": [_with_label(row, "model", wording) for row in document["leaderboard"]],
        "chosen": _with_label(chosen, "model", wording) | {"other_metrics": others},
        "metric": _with_label(metric, "metric", wording),
    }


def _with_label(part: dict, table: str, wording: Wording) -> dict:
    return part | {"label": wording.word(table, part["label"])}
