"""Make a row of the leaderboard again from a receipt, and say whether it is the same."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hyperplan._core.open_file import read_small_file
from hyperplan._core.parallel import thread_limit
from hyperplan.compete._blend import LABEL, blend_candidate
from hyperplan.compete._document import versions
from hyperplan.compete._errors import CompetitionError, ModelNames, SettingsError, names_of_model, reason_of
from hyperplan.compete._names import folded, nearest_names
from hyperplan.compete._question import make_question
from hyperplan.compete._receipt import SCHEMA, digest, splits_digest
from hyperplan.compete._registry import candidates
from hyperplan.compete._settings import Settings
from hyperplan.compete._tables import is_query, read_table, table_hash
from hyperplan.compete._trial import Trial, run_trial

NEEDED = {"settings": dict, "trials": list, "data_sha256": str, "splits_sha256": str, "table": str | None,
          "versions": dict, "chosen": str}  # fmt: skip
TOLERANCE = 1e-6  # relative difference of scores on other versions or machines
MOST_TRIES = 10_000  # settings of one trial; no competition tries so many
LARGEST = 1e300  # score that a receipt may claim


class Verdict(NamedTuple):
    """What became of one trial: "identical", "within" tolerance, or "differs"."""

    verdict: str
    name: str
    label: str
    metric: str
    split: int
    old: float
    new: float
    n_predictions: int


def read_receipt(path) -> dict:
    """A receipt, checked as far as it is used."""
    path = Path(path)
    path = path / "receipt.json" if path.is_dir() else path
    try:
        receipt = json.loads(read_small_file(path).decode("utf-8"))
    except FileNotFoundError:
        raise CompetitionError("receipt_absent", path=path) from None
    except OSError as error:
        raise CompetitionError("no_receipt", path=path, reason=reason_of(error)) from None
    except (ValueError, RecursionError) as error:  # no text, or no JSON
        raise CompetitionError("no_receipt", path=path, reason=error) from None
    if not isinstance(receipt, dict) or receipt.get("schema") != SCHEMA:
        raise CompetitionError("receipt_schema", path=path, schema=SCHEMA)
    if missing := NEEDED.keys() - receipt.keys():
        raise CompetitionError("receipt_lacks", path=path, names=", ".join(sorted(missing)))
    broken = [name for name, kind in NEEDED.items() if not isinstance(receipt[name], kind)]
    if not broken and not all(_is_trial(row) for row in receipt["trials"]):
        broken.append("trials")
    if broken:
        raise CompetitionError("receipt_broken", path=path, names=", ".join(broken))
    return receipt


def _is_trial(row) -> bool:
    """Whether a row of a receipt has what is needed to make it again."""
    if not isinstance(row, dict) or not isinstance(row.get("members", []), list):
        return False
    texts = all(isinstance(row.get(name), str) for name in ("name", "predictions_sha256"))
    numbers = _is_count(row.get("split")) and _is_count(row.get("n_tries"), MOST_TRIES)
    score = row.get("score")
    is_score = score is None or (isinstance(score, float | int) and not abs(score) > LARGEST)
    return texts and numbers and is_score and all(_is_member(member) for member in row.get("members", []))


def _is_count(value, most: float = np.inf) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _is_member(member) -> bool:
    is_pair = isinstance(member, list) and len(member) == 2
    return is_pair and isinstance(member[0], str) and _is_count(member[1], MOST_TRIES)


def verify(path, table=None, name: str | None = None, split: int | None = None):
    """Repeat trials of a receipt, yielding a `Verdict` for each.

    Parameters
    ----------
    path : str or path
        The receipt, or the folder it is in.
    table : str or path, default=None
        Where the table is now; None means where the receipt says.
    name : str, default=None
        The candidate: its class or the name that the report shows, in any language and case; None means the one that
        was chosen.
    split : int, default=None
        Which split; None means all of that candidate.
    """
    receipt = read_receipt(path)
    source = table or receipt["table"]
    if source is None:
        raise CompetitionError("table_unnamed")
    if not (is_query(source) or Path(str(source).partition("::")[0]).exists()):
        raise CompetitionError("table_not_found", table=source)
    reading = receipt["settings"].get("reading") or {}
    frame = read_table(source, **_checked_reading(reading, path))
    if table_hash(frame) != receipt["data_sha256"]:
        raise CompetitionError("other_data", table=source)
    problem = _problem(frame, receipt, path)
    by_name = {candidate.name: candidate for candidate in candidates(problem.task)}
    labels = {row["name"]: by_name[row["name"]].label if row["name"] in by_name else LABEL for row in receipt["trials"]}
    wanted = _wanted(name or receipt["chosen"], labels, path)
    rows = [row for row in receipt["trials"] if row["name"] == wanted]
    needed = {wanted} if not any(row.get("members") for row in rows) else {m for row in rows for m, _ in row["members"]}
    if not needed <= by_name.keys():
        raise CompetitionError("receipt_trial", path=path, name=wanted, known=ModelNames(labels.values()))
    if split is not None and split not in (splits := sorted(row["split"] for row in rows)):
        raise CompetitionError("receipt_split", path=path, name=wanted, split=split, first=splits[0], last=splits[-1])
    for row in (row for row in rows if split in (None, row["split"])):
        members = [(by_name[member], n_tries) for member, n_tries in row.get("members", ())]
        candidate = blend_candidate(problem.task, members) if members else by_name[wanted]
        yield _repeated(problem, candidate, row)


def _wanted(name: str, labels: dict[str, str], path) -> str:
    """The class of a candidate by any of its names."""
    called = {folded(one): cls for cls, label in labels.items() for one in (cls, *names_of_model(label))}
    if folded(name) in called:
        return called[folded(name)]
    near = nearest_names(name, [*labels.values(), *labels])
    near = ModelNames(dict.fromkeys(labels.get(one, one) for one in near))
    key = "receipt_trial_near" if near else "receipt_trial"
    raise CompetitionError(key, path=path, name=name, near=near, known=ModelNames(labels.values()))


def _checked_reading(reading, path) -> dict:
    """What the receipt says of the writing of the table, if it is what settings may be."""
    try:
        return Settings(reading=reading).reading
    except SettingsError:
        raise CompetitionError("receipt_broken", path=path, names="settings") from None


def _problem(frame, receipt: dict, path):
    """The question of a receipt, asked of the table again."""
    asked = {key: value for key, value in receipt["settings"].items() if value is not None}
    if "missing" not in asked:  # a receipt of the time when values were taken as they stand
        names = asked.get("columns", {})
        asked |= {"missing": {name: [] for name in names}, "spellings": {name: {} for name in names}}
    try:
        settings = Settings(**asked)
    except TypeError:  # a setting that nobody knows
        raise CompetitionError("receipt_broken", path=path, names="settings") from None
    problem = make_question(frame, settings).problem
    is_known = all(row["split"] < len(problem.splits) for row in receipt["trials"])
    if splits_digest(problem) != receipt["splits_sha256"] or not is_known:
        raise CompetitionError("receipt_splits", path=path)
    return problem


def _repeated(problem, candidate, row) -> Verdict:
    with thread_limit(1):
        outcome = run_trial(problem, Trial(candidate, row["split"], row["n_tries"]))
    new, old = outcome.score, float("nan") if row["score"] is None else row["score"]
    is_same = new == old or np.isnan(old)  # a score that was not defined tells nothing: its predictions do
    if is_same and digest(outcome.prediction) == row["predictions_sha256"]:
        verdict = "identical"
    else:
        verdict = "within" if abs(new - old) <= TOLERANCE * max(abs(old), 1e-12) else "differs"
    names = candidate.name, candidate.label, problem.measure.label
    return Verdict(verdict, *names, row["split"], old, new, len(outcome.prediction))


def other_versions(path) -> dict[str, tuple[str, str]]:
    """``{package: (then, now)}`` of packages that have another version now."""
    then, now = read_receipt(path)["versions"], versions()
    return {name: (then[name], now[name]) for name in then if name in now and then[name] != now[name]}
