"""A mixture of the best candidates, from predictions that are there already.

The members are chosen greedily: the best candidate, then whoever improves the mean of the predictions on the judging
rows most, while somebody does.  On every split the mixture's prediction is the mean of its members' predictions, which
costs no fit: fitting the members anew, as `run_trial` does for a mixture, gives the same bits.  That the members were
chosen by the scores they are judged with flatters the mixture a little, as it does the best of several candidates.

Reference: Caruana, Niculescu-Mizil, Crew, Ksikes (2004), Ensemble selection from libraries of models, ICML.
"""

import numpy as np

from hyperplan._base.candidate import Candidate
from hyperplan.compete._contest import FEWEST_SPLITS, Contest, Entry
from hyperplan.compete._problem import Problem
from hyperplan.compete._table_blend import mean_prediction
from hyperplan.compete._trial import Outcome

MOST_MEMBERS = 3
SIMPLICITY = 90
LABEL = "Mean of the best models"


def add_blend(contest: Contest) -> None:
    """Enter the mixture of the candidates that finished, if one is better than the best of them."""
    entries = [entry for entry in contest.left() if _may_mix(entry)]
    members = chosen_members(contest.problem, entries)
    if len(members) > 1:
        contest.entries.append(blend_entry(contest.problem, members))


def _may_mix(entry: Entry) -> bool:
    scores = [outcome.score for outcome in entry.outcomes.values()]
    is_plain = not entry.is_baseline and not entry.candidate.uses_unlabelled
    return is_plain and len(scores) >= FEWEST_SPLITS and bool(np.isfinite(scores).all())


def chosen_members(problem: Problem, entries: list[Entry]) -> list[Entry]:
    """The members, in the order in which they were chosen."""
    members: list[Entry] = []
    best = -np.inf
    while len(members) < MOST_MEMBERS:
        others = [entry for entry in entries if entry not in members]
        merits = [_merit(problem, [*members, entry]) for entry in others]
        if not merits or max(merits) <= best:
            break
        best = max(merits)
        members.append(others[merits.index(best)])
    return members


def _merit(problem: Problem, members: list[Entry]) -> float:
    """Mean score of a mixture over the splits, larger is better."""
    sign = 1.0 if problem.measure.greater_is_better else -1.0
    scores = [sign * problem.measure.score(*_judged(problem, members, split)) for split in members[0].outcomes]
    return float(np.mean(scores)) if np.isfinite(scores).all() else -np.inf


def _judged(problem: Problem, members: list[Entry], split: int):
    predictions = [member.outcomes[split].prediction for member in members]
    return problem.y[problem.splits[split].test], mean_prediction(predictions)


def blend_entry(problem: Problem, members: list[Entry]) -> Entry:
    """The mixture as an entry of the contest, with an outcome on each split."""
    entry = Entry(blend_candidate(problem.task, [(member.candidate, member.n_tries) for member in members]))
    entry.n_tries = max(member.n_tries for member in members)
    entry.seconds = sum(member.seconds for member in members)
    entry.outcomes = {split: _outcome(problem, members, split) for split in sorted(members[0].outcomes)}
    return entry


def blend_candidate(task: str, members) -> Candidate:
    """The candidate of a mixture of ``(candidate, number of tries)``."""
    seconds = (sum(member.seconds[0] for member, _ in members), sum(member.seconds[1] for member, _ in members))
    effort = max(member.effort for member, _ in members)
    return Candidate("compete.TableBlend", task, LABEL, SIMPLICITY, "native", seconds, effort=effort,
                     members=tuple(members))  # fmt: skip


def _outcome(problem: Problem, members: list[Entry], split: int) -> Outcome:
    """What a trial of the mixture finds; its score on training rows is about the mean of those of its members."""
    outcomes = [member.outcomes[split] for member in members]
    y, prediction = _judged(problem, members, split)
    return Outcome(
        prediction,
        problem.measure.score(y, prediction),
        float(np.mean([outcome.train_score for outcome in outcomes])),
        {member.candidate.name: outcome.settings for member, outcome in zip(members, outcomes)},
        sum(outcome.fit_seconds for outcome in outcomes),
        sum(outcome.predict_seconds for outcome in outcomes),
        sum(outcome.seconds for outcome in outcomes),
        None,
    )
