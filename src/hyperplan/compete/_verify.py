"""Make a row of the leaderboard again from a receipt, and say whether it is the same."""

import json
from pathlib import Path
from typing import NamedTuple

from hyperplan._core.parallel import thread_limit
from hyperplan.compete._blend import blend_candidate
from hyperplan.compete._document import versions
from hyperplan.compete._errors import CompetitionError
from hyperplan.compete._question import make_question
from hyperplan.compete._receipt import SCHEMA, digest, splits_digest
from hyperplan.compete._registry import candidates
from hyperplan.compete._settings import Settings
from hyperplan.compete._tables import is_query, read_table, table_hash
from hyperplan.compete._trial import Trial, run_trial

TOLERANCE = 1e-6  # relative difference of scores on other versions or machines


class Verdict(NamedTuple):
    """What became of one trial: "identical", "within" tolerance, or "differs"."""

    verdict: str
    name: str
    split: int
    old: float
    new: float
    n_predictions: int


def read_receipt(path) -> dict:
    """A receipt, checked as far as it is used."""
    path = Path(path)
    path = path / "receipt.json" if path.is_dir() else path
    try:
        receipt = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CompetitionError("no_receipt", path=path, reason=error) from None
    if not isinstance(receipt, dict) or receipt.get("schema") != SCHEMA:
        raise CompetitionError("no_receipt", path=path, reason=f"its schema is not {SCHEMA}")
    missing = {"settings", "trials", "data_sha256", "splits_sha256", "table", "versions"} - receipt.keys()
    if missing:
        raise CompetitionError("no_receipt", path=path, reason=f"it lacks {', '.join(sorted(missing))}")
    return receipt


def verify(path, table=None, name: str | None = None, split: int | None = None):
    """Repeat trials of a receipt, yielding a `Verdict` for each.

    Parameters
    ----------
    path : str or path
        The receipt, or the folder it is in.
    table : str or path, default=None
        Where the table is now; None means where the receipt says.
    name : str, default=None
        Name of the candidate; None means the one that was chosen.
    split : int, default=None
        Which split; None means all of that candidate.
    """
    receipt = read_receipt(path)
    source = table or receipt["table"]
    if source is None or not (is_query(source) or Path(str(source).partition("::")[0]).exists()):
        raise CompetitionError("table_not_found", table=source)
    frame = read_table(source)
    if table_hash(frame) != receipt["data_sha256"]:
        raise CompetitionError("other_data", table=source)
    asked = receipt["settings"]
    problem = make_question(
        frame, Settings(**{key: value for key, value in asked.items() if value is not None})
    ).problem
    if splits_digest(problem) != receipt["splits_sha256"]:
        raise CompetitionError("no_receipt", path=path, reason="the splits of its settings are others")
    wanted = name or receipt["chosen"]
    by_name = {candidate.name: candidate for candidate in candidates(problem.task)}
    rows = [row for row in receipt["trials"] if row["name"] == wanted and split in (None, row["split"])]
    needed = {wanted} if not any(row.get("members") for row in rows) else {m for row in rows for m, _ in row["members"]}
    if not rows or not needed <= by_name.keys():
        known = ", ".join(sorted({row["name"] for row in receipt["trials"]}))
        raise CompetitionError("no_receipt", path=path, reason=f"it has no trial of {wanted}; there are {known}")
    for row in rows:
        members = [(by_name[member], n_tries) for member, n_tries in row.get("members", ())]
        candidate = blend_candidate(problem.task, members) if members else by_name[wanted]
        yield _repeated(problem, candidate, row)


def _repeated(problem, candidate, row) -> Verdict:
    with thread_limit(1):
        outcome = run_trial(problem, Trial(candidate, row["split"], row["n_tries"]))
    new, old = outcome.score, row["score"]
    if digest(outcome.prediction) == row["predictions_sha256"]:
        verdict = "identical"
    else:
        verdict = "within" if abs(new - old) <= TOLERANCE * max(abs(old), 1e-12) else "differs"
    return Verdict(verdict, candidate.name, row["split"], old, new, len(outcome.prediction))


def other_versions(path) -> dict[str, tuple[str, str]]:
    """``{package: (then, now)}`` of packages that have another version now."""
    then, now = read_receipt(path)["versions"], versions()
    return {name: (then[name], now[name]) for name in then if name in now and then[name] != now[name]}
