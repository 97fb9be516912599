"""The receipt: what a row of the leaderboard can be made again from, and how to tell whether it is the same.

For each candidate and split it keeps how many settings were tried, the score, and a digest of the predictions.  A trial
is a pure function of table, seed, candidate, split and number of tries, so that anybody can repeat one.
"""

import hashlib

import numpy as np

from hyperplan.compete._document import finite, machine, versions
from hyperplan.compete._problem import Problem
from hyperplan.compete._tables import table_hash

SCHEMA = "hyperplan/receipt/1"


def make_receipt(competition, table: str | None) -> dict:
    """The receipt as JSON has it."""
    question, document = competition.question, competition.document
    settings, problem, read = question.settings, question.problem, (*question.columns, question.target)
    return finite(
        {
            "schema": SCHEMA,
            "created": document["created"],
            "table": table,
            "data_sha256": document["receipt"]["data_sha256"],
            "test_sha256": None if question.test is None else table_hash(question.test),
            "settings": {
                "target": settings.target,
                "task": problem.task,
                "metric": problem.metric,
                "positive": problem.classes[1] if len(problem.classes) == 2 else None,
                "seed": settings.seed,
                "folds": settings.folds,
                "group": settings.group,
                "time_column": settings.time_column,
                "drop": list(settings.drop),
                "rare_classes": settings.rare_classes,
                "rare_rows": settings.rare_rows,
                "rare_name": settings.rare_name,
                "columns": {column.name: column.kind for column in question.columns},
                "reading": settings.reading,
                "formats": {column.name: column.format for column in read if column.format},
                "missing": {column.name: list(column.gaps) for column in read},
                "spellings": {column.name: {value: list(others) for value, others in column.merged} for column in read},
            },
            "budget": {
                "seconds": settings.time,
                "used": document["protocol"]["used"],
                "jobs": document["protocol"]["jobs"],
            },
            "splits_sha256": splits_digest(problem),
            "trials": [
                {
                    "name": entry.candidate.name,
                    "split": split,
                    "n_tries": entry.n_tries,
                    "members": [[member.name, n_tries] for member, n_tries in entry.candidate.members],
                    "score": outcome.score,
                    "predictions_sha256": digest(outcome.prediction),
                }
                for entry in competition.contest.left()
                for split, outcome in entry.outcomes.items()
            ],
            "chosen": competition.standings.chosen.candidate.name,
            "machine": machine(),
            "versions": versions(),
        }
    )


def digest(values: np.ndarray) -> str:
    """SHA-256 of the bits of an array."""
    return hashlib.sha256(np.ascontiguousarray(values, dtype=np.float64).tobytes()).hexdigest()


def splits_digest(problem: Problem) -> str:
    """SHA-256 of the rows of all splits."""
    whole = hashlib.sha256()
    for train, test in problem.splits:
        whole.update(np.ascontiguousarray(train, dtype=np.int64).tobytes())
        whole.update(np.ascontiguousarray(test, dtype=np.int64).tobytes())
    return whole.hexdigest()
