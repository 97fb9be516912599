"""A mixture of the best candidates, from predictions that are there already.

The members are chosen greedily: the best candidate, then again and again whoever improves the mean of the predictions
on the judging rows most, while somebody does; who is taken several times counts so many times.  On every split the
mixture's prediction is that mean, which costs no fit: fitting the members anew, as `run_trial` does for a mixture,
gives the same bits.  That the members were chosen by the scores they are judged with flatters the mixture a little, as
it does the best of several candidates.

Reference: Caruana, Niculescu-Mizil, Crew, Ksikes (2004), Ensemble selection from libraries of models, ICML.
"""

from collections import Counter

import numpy as np

from hyperplan._base.candidate import Candidate
from hyperplan.compete._contest import Contest, Entry
from hyperplan.compete._contest_splits import FEWEST_SPLITS
from hyperplan.compete._problem import Problem
from hyperplan.compete._table_blend import mean_prediction
from hyperplan.compete._trial import Outcome

MOST_MEMBERS = 3  # different ones
MOST_VOTES = 8  # of all members together
MOST_ROWS = 20_000  # of a split, on which members are chosen
SIMPLICITY = 90
LABEL = "Mean of the best models"


def add_blend(contest: Contest) -> None:
    """Enter the mixture of the candidates that finished, if one is better than the best of them."""
    entries = [entry for entry in contest.left() if _may_mix(entry)]
    votes = chosen_members(contest.problem, entries)
    if len({entry.candidate.name for entry in votes}) > 1:
        contest.entries.append(blend_entry(contest.problem, votes))


def _may_mix(entry: Entry) -> bool:
    scores = [outcome.score for outcome in entry.outcomes.values()]
    is_plain = not entry.is_baseline and not entry.candidate.uses_unlabelled
    return is_plain and len(scores) >= FEWEST_SPLITS and bool(np.isfinite(scores).all())


def chosen_members(problem: Problem, entries: list[Entry]) -> list[Entry]:
    """The votes, in the order in which they were given; a member may have several.

    A vote that makes the mean worse may be needed for the next to make it better: all are given, and the first so many
    that were best together are kept.
    """
    votes: list[Entry] = []
    best, kept = -np.inf, 0
    while entries and len(votes) < MOST_VOTES:
        names = {entry.candidate.name for entry in votes}
        others = [entry for entry in entries if len(names) < MOST_MEMBERS or entry.candidate.name in names]
        merits = [_merit(problem, [*votes, entry]) for entry in others]
        votes.append(others[merits.index(max(merits))])
        if max(merits) > best:
            best, kept = max(merits), len(votes)
    return votes[:kept]


def _merit(problem: Problem, votes: list[Entry]) -> float:
    """Mean score of a mixture over the splits, larger is better."""
    sign = 1.0 if problem.measure.greater_is_better else -1.0
    scores = []
    for split in votes[0].outcomes:
        y, prediction = _judged(problem, votes, split)
        step = 1 + len(y) // MOST_ROWS
        scores.append(sign * problem.measure.score(y[::step], prediction[::step]))
    return float(np.mean(scores)) if np.isfinite(scores).all() else -np.inf


def _judged(problem: Problem, votes: list[Entry], split: int):
    """Truth and mean prediction on the test rows of a split."""
    weights = Counter(entry.candidate.name for entry in votes)
    members = {entry.candidate.name: entry.outcomes[split].prediction for entry in votes}
    prediction = mean_prediction(list(members.values()), [weights[name] for name in members])
    return problem.y[problem.splits[split].test], prediction


def blend_entry(problem: Problem, votes: list[Entry]) -> Entry:
    """The mixture as an entry of the contest, with an outcome on each split."""
    entry = Entry(blend_candidate(problem.task, [(member.candidate, member.n_tries) for member in votes]))
    members = list({member.candidate.name: member for member in votes}.values())
    entry.n_tries = max(member.n_tries for member in members)
    entry.seconds = sum(member.seconds for member in members)
    entry.outcomes = {split: _outcome(problem, votes, members, split) for split in sorted(members[0].outcomes)}
    return entry


def blend_candidate(task: str, votes) -> Candidate:
    """The candidate of a mixture of ``(candidate, number of tries)``, each as often as it counts."""
    members = {member.name: member for member, _ in votes}.values()
    seconds = (sum(member.seconds[0] for member in members), sum(member.seconds[1] for member in members))
    effort = max(member.effort for member in members)
    return Candidate("compete.TableBlend", task, LABEL, SIMPLICITY, "native", seconds, effort=effort,
                     members=tuple(votes))  # fmt: skip


def _outcome(problem: Problem, votes: list[Entry], members: list[Entry], split: int) -> Outcome:
    """What a trial of the mixture finds; its score on training rows is about the mean of those of its members."""
    outcomes = [member.outcomes[split] for member in members]
    y, prediction = _judged(problem, votes, split)
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
