"""What `hyperplan verify` says: a line for each trial, and one that can be held against the report."""

import json
from pathlib import Path

import numpy as np

from hyperplan._core.open_file import read_small_file
from hyperplan.compete._verify import TOLERANCE, Verdict, read_receipt
from hyperplan.report._answer import finished
from hyperplan.report._document import check_document, completed
from hyperplan.report._views_models import common_decimals
from hyperplan.report._wording import Wording

DECIMALS = 4  # of scores where no report says how many
ORDER = ("identical", "within", "differs")


def trial_line(found: Verdict, language: str) -> str:
    """What became of one trial."""
    wording = Wording(language, "predict")
    names = {"name": wording.word("model", found.label), "split": found.split}
    if found.verdict == "identical":
        return wording.count("verify.equal", found.n_predictions, **names)
    shown = {"old": f"{found.old:.8g}", "new": f"{found.new:.8g}", "difference": f"{abs(found.old - found.new):.2g}"}
    return wording.say(f"verify.{found.verdict}", **names, **{key: wording.local(one) for key, one in shown.items()})


def versions_line(changed: dict, language: str) -> str:
    """Packages that have another version now."""
    shown = ", ".join(f"{name} {then} -> {now}" for name, (then, now) in changed.items())
    return Wording(language, "predict").say("verify.versions", versions=shown)


def last_line(path, found: list[Verdict], language: str) -> tuple[str, str]:
    """``(verdict, line)``: the score now beside the one of the leaderboard, with as many digits as the report shows.

    Of some splits only, or without a report, the score stands beside that of the receipt.
    """
    receipt, name = read_receipt(path), found[0].name
    total = len({row["split"] for row in receipt["trials"] if row["name"] == name})
    wording = Wording(language, "predict")
    new, old = (float(np.mean([getattr(one, which) for one in found])) for which in ("new", "old"))
    verdict = max((one.verdict for one in found), key=ORDER.index)
    source, decimals = "receipt", DECIMALS
    said = _of_report(path, name)
    if said is not None:
        decimals = said[1]
        if len(found) == total:
            source, old = "report", said[0]
            if not abs(new - old) <= TOLERANCE * max(abs(old), 1e-12):  # a report that is not that of the receipt
                verdict = "differs"
                decimals = max(decimals, DECIMALS)
    splits = (
        wording.count("verify.splits", total)
        if len(found) == total
        else wording.count("verify.part", len(found), total=total)
    )
    shown = {"new": _number(wording, new, decimals), "old": _number(wording, old, decimals)}
    metric = wording.word("metric", found[0].metric)
    label = wording.word("model", found[0].label)
    return verdict, wording.say(f"verify.{source}.{verdict}", name=label, metric=metric, splits=splits, **shown)


def _number(wording: Wording, value: float, decimals: int) -> str:
    return wording.number(value if np.isfinite(value) else None, decimals)


def _of_report(path, name: str) -> tuple[float, int] | None:
    """Score and decimals of a candidate in the report beside a receipt; None if there is no such report."""
    folder = Path(path) if Path(path).is_dir() else Path(path).parent
    try:
        document = json.loads(read_small_file(folder / "report.json").decode("utf-8"))
        check_document(document)
        rows = finished(completed(document))
        return next((float(row["score"]), common_decimals(rows)) for row in rows if row["name"] == name)
    except (OSError, ValueError, TypeError, KeyError, RecursionError, StopIteration):  # no report, or another one
        return None
