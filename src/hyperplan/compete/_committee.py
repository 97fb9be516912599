"""Models that grow round by round: watched while they grow, and answering together after a search.

A search ends with a few settings that are about equally good, and one more fit on all rows would need a number of
rounds that nobody has measured on them.  A committee settles both: rows are dealt into parts, member i learns from
all parts but the i-th, grows until that part sees no more gain, and takes the settings in turn.  The answer is the
mean: what the members learnt by chance differs and is averaged away.

References
----------
Krogh, Vedelsby (1995), Neural network ensembles, cross validation, and active learning, NIPS.
Breiman (1996), Bagging predictors, Machine Learning 24.
"""

import numpy as np

from hyperplan._base.candidate import Candidate
from hyperplan.compete import _models
from hyperplan.compete._problem import Problem
from hyperplan.compete._table_blend import TableBlend, dealt_rows

PARTS, PARTS_OF_MANY = 8, 5  # of up to and of more than MANY rows, of which a fifth is hardly missed
MANY = 10_000
PLACES = ("best", "second", "third")  # names of the settings that take part
FROM_TRIES = 9  # of a search; a smaller one says that there is no time for so many fits
NO_GAIN = 20  # rounds without gain after which a model stops growing


def forms_committee(problem: Problem, candidate: Candidate, n_tries: int) -> bool:
    """Whether a search of so many tries ends in a committee; with time, old parts would outvote the latest rows."""
    return candidate.rounds is not None and n_tries >= FROM_TRIES and problem.order is None


def n_parts(n_rows: int) -> int:
    """Members of a committee on so many rows."""
    return PARTS if n_rows <= MANY else PARTS_OF_MANY


def committee_settings(found: list[dict]) -> dict:
    """The first of the settings, given best first, under the names of their places."""
    return dict(zip(PLACES, found))


def is_committee(candidate: Candidate, settings: dict) -> bool:
    """Whether settings are those of a committee."""
    return candidate.rounds is not None and any(isinstance(value, dict) for value in settings.values())


def grown(problem: Problem, candidate: Candidate, settings: dict, train, judging):
    """``(pipeline, best number of rounds)`` of a model that stops growing when the judging rows see no more gain."""
    name, most = candidate.rounds
    watchful = {name: most, "early_stopping": True, "n_iter_no_change": NO_GAIN}
    pipeline = _models.build(candidate, {**settings, **watchful}, problem.columns)
    held = problem.rows(problem.typed, judging), problem.y[judging]
    pipeline.fit(problem.rows(problem.typed, train), problem.y[train], held=held)
    return pipeline, max(1, int(np.argmax(pipeline.model.validation_score_)))


def fit_committee(problem: Problem, candidate: Candidate, settings: dict, rows) -> TableBlend:
    """The members, fitted on parts of the rows; a pure function of its arguments."""
    choices = list(settings.values())
    groups = None if problem.groups is None else problem.groups[rows]
    parts = dealt_rows(problem.y[rows], bool(problem.classes), n_parts(len(rows)), problem.seed, groups)
    members = [
        grown(problem, candidate, choices[place % len(choices)], rows[train], rows[judging])[0]
        for place, (train, judging) in enumerate(parts)
    ]
    if members:
        return TableBlend(members, deals=problem.seed)
    typed = problem.rows(problem.typed, rows)  # so few rows that no part can be spared
    return TableBlend([_models.build(candidate, choices[0], problem.columns).fit(typed, problem.y[rows])])
