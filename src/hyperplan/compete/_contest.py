"""The contest: every candidate on the same splits, within a budget of seconds.

1. Screening: each candidate with its default settings on the first split, the cheapest first.
2. Planning: what the other splits will cost is known now.  Candidates that do not fit are left out, the poor and slow
   ones first; what is left of the budget is spent on searching settings, for the most promising candidates first.
3. Running: split after split, so that whenever time is up the candidates can be compared on the splits they share.

The clock decides *how many* settings are tried and *how many* splits are run, and nothing else: each trial is a pure
function of its arguments (see `_trial`).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from hyperplan._base.candidate import Candidate
from hyperplan.compete._crew import CRASHED, TIMED_OUT, Crew
from hyperplan.compete._problem import Problem
from hyperplan.compete._search import search_cost
from hyperplan.compete._trial import Outcome, Trial

FEWEST_SPLITS = 2
LEVELS = (4, 9, 18, 36, 72)  # settings that a search may try
PLAYING, CHEAP = 0.5, 0.05  # shares of the time after screening: for all entries with defaults; that nobody minds
SLOWEST = 0.4  # share of the budget that one trial of the screening may take
PATIENCE = 3.0  # times the predicted seconds after which a trial is ended
GRACE = 2.0  # seconds, for trials of milliseconds


@dataclass
class Entry:
    """A candidate and what became of it."""

    candidate: Candidate
    status: str = "ok"  # "ok", "failed", "skipped"
    reason: str = ""
    n_tries: int = 1
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    seconds: float = 0.0  # of a trial with default settings

    def drop(self, status: str, reason: str) -> None:
        """Take the candidate out of the contest."""
        self.status, self.reason = status, reason


@dataclass
class Contest:
    """Runs the three phases; use `run_contest`."""

    problem: Problem
    entries: list[Entry]
    crew: Crew
    deadline: float
    n_workers: int
    report: Callable = lambda **event: None
    was_interrupted: bool = False

    def left(self) -> list[Entry]:
        """Entries that are still in."""
        return [entry for entry in self.entries if entry.status == "ok"]

    def run(self) -> None:
        """All phases; Ctrl-C ends the contest with what there is."""
        try:
            self._screen()
            self._plan()
            self._play()
        except KeyboardInterrupt:
            self.was_interrupted = True

    def _screen(self) -> None:
        n, d = self.problem.n_rows, len(self.problem.columns)
        budget = self.deadline - time.monotonic()
        order = sorted(self.entries, key=lambda entry: entry.candidate.predicted_seconds(n, d))
        requests = [(entry, 0, 1, SLOWEST * budget) for entry in order]
        self._work(requests, "screening")
        for entry in self.left():
            if 0 not in entry.outcomes:
                entry.drop("skipped", "budget")
            else:
                entry.seconds = entry.outcomes[0].seconds

    def _plan(self) -> None:
        """Who plays on, and how many settings each may try."""
        spare = self.n_workers * (self.deadline - time.monotonic()) * 0.9
        n_splits = len(self.problem.splits[: self.problem.n_folds])
        self._leave_out(spare, n_splits - 1)
        ranking = self._ranking()
        spare -= sum(entry.seconds for entry in ranking) * (n_splits - 1)
        self._share_out(ranking, spare, n_splits)

    def _leave_out(self, spare: float, n_splits: int) -> None:
        """The poorest go until the others take a part of the budget that leaves time to search; the cheap may stay."""
        for entry in reversed(self._ranking()[1:]):
            cost = sum(other.seconds for other in self.left()) * n_splits
            if cost <= PLAYING * spare:
                return
            if entry.candidate.simplicity > 0 and entry.seconds * n_splits > CHEAP * spare:
                entry.drop("skipped", "slow")

    def _share_out(self, ranking, spare: float, n_splits: int) -> None:
        """Half of the time for the most promising candidate, half of the rest for the next, and so on.

        Each takes as many tries as its part allows; what it does not need is for those after it, and what is left in
        the end goes round again.
        """
        searched = [entry for entry in ranking if entry.candidate.space]
        for allowance in (0.5, 1.0):
            for entry in searched:
                part = allowance * spare
                for level in LEVELS:
                    cost = self._more(entry, level, n_splits)
                    if level > entry.n_tries and cost <= part:
                        entry.n_tries, spare, part = level, spare - cost, part - cost

    def _more(self, entry: Entry, level: int, n_splits: int) -> float:
        """Seconds that a search of `level` tries takes beyond that of the tries the entry has, on all splits."""
        n_train = len(self.problem.splits[0].train)
        fits = search_cost(n_train, level) - search_cost(n_train, entry.n_tries)
        return entry.seconds * entry.candidate.effort * fits * n_splits * 1.25  # and once more on all rows

    def _ranking(self) -> list[Entry]:
        """Best screening score first."""
        sign = -1 if self.problem.measure.greater_is_better else 1
        return sorted(self.left(), key=lambda entry: np.nan_to_num(sign * entry.outcomes[0].score, nan=np.inf))

    def _play(self) -> None:
        ranking, n_train = self._ranking(), len(self.problem.splits[0].train)
        for entry in ranking:
            if entry.n_tries > 1:
                entry.outcomes = {}  # the first split is judged with searched settings too
        requests = [
            (entry, split, entry.n_tries, self._allowed(entry, n_train))
            for split in range(len(self.problem.splits))
            for entry in ranking
            if split not in entry.outcomes
        ]
        self._work(requests, "running")

    def _allowed(self, entry: Entry, n_train: int) -> float:
        return GRACE + PATIENCE * entry.seconds * (1 + entry.candidate.effort * search_cost(n_train, entry.n_tries))

    def _work(self, wanted, phase: str) -> None:
        requests = [
            ((id(entry), split), "_trial.run_trial", (Trial(entry.candidate, split, n_tries),), seconds)
            for entry, split, n_tries, seconds in wanted
        ]
        by_id = {id(entry): entry for entry in self.entries}
        answers = self.crew.run(requests, self.deadline, lambda key: by_id[key[0]].status == "ok")
        for done, answer in enumerate(answers, 1):
            entry, split = by_id[answer.key[0]], answer.key[1]
            if answer.is_ok:
                entry.outcomes[split] = answer.value
            elif answer.value == TIMED_OUT and time.monotonic() >= self.deadline:
                pass  # not its fault: the contest is over
            elif entry.status == "ok":
                entry.drop("skipped" if answer.value == TIMED_OUT else "failed", _reason(answer.value))
            self.report(phase=phase, done=done, total=len(requests), entry=entry, deadline=self.deadline)


def _reason(value: str) -> str:
    return {TIMED_OUT: "slow", CRASHED: "crashed"}.get(value, value)


def run_contest(problem: Problem, candidates, crew: Crew, deadline: float, n_workers: int, report=None) -> Contest:
    """Let the candidates play; afterwards all that are "ok" have outcomes on the same splits.

    Parameters
    ----------
    problem : Problem
        The question.
    candidates : list of Candidate
        Who takes part.
    crew : Crew
        Workers, started.
    deadline : float
        Of `time.monotonic`: no trial goes on after it.
    n_workers : int
        Size of the crew.
    report : callable, optional
        Called after each trial with ``phase, done, total, entry, deadline``.
    """
    contest = Contest(problem, [Entry(candidate) for candidate in candidates], crew, deadline, n_workers)
    if report is not None:
        contest.report = report
    contest.run()
    _keep_common_splits(contest)
    return contest


def _keep_common_splits(contest: Contest) -> None:
    """Splits that all remaining candidates share; those with too few are left out.

    Trials are done split after split: usually only the last split is incomplete and falls away.  A whole repetition is
    worth more than candidates that did not get to its end.
    """
    n_folds = contest.problem.n_folds
    most = max((_done(entry) for entry in contest.left()), default=0)
    needed = min(most, n_folds) if most >= n_folds else min(most, FEWEST_SPLITS)
    for entry in contest.left():
        if _done(entry) < max(needed, 1):
            entry.drop("skipped", "budget")
    common = min((_done(entry) for entry in contest.left()), default=0)
    common = common // n_folds * n_folds or common
    for entry in contest.left():
        entry.outcomes = {split: entry.outcomes[split] for split in range(common)}


def _done(entry: Entry) -> int:
    """Splits done without a gap from the first on."""
    count = 0
    while count in entry.outcomes:
        count += 1
    return count
