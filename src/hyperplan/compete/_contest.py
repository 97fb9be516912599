"""The contest: every candidate on the same splits, within a budget of seconds.

0. Baselines: all splits at once, in this process, whatever the budget.  They take milliseconds, and what every model is
   held against must not depend on a worker or on a clock.
1. Screening: each candidate with its default settings on the first split, the cheapest first.
2. Probing: a small search for those that grow until nothing is gained.  How long it takes depends on what it finds, and
   can only be measured.
3. Planning: what the other splits will cost is known now.  Candidates that do not fit are left out, the poor and slow
   ones first; what is left of the budget is spent on searching settings, for the most promising candidates first.
4. Running: split after split, so that whenever time is up the candidates can be compared on the splits they share.
5. Going on: predictions are cautious and time may be left.  What searches take is known now; the best make longer ones,
   which count only if they end on all splits.

The clock decides *how many* settings are tried and *how many* splits are run, and nothing else: each trial is a pure
function of its arguments (see `_trial`).
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from hyperplan._base.candidate import Candidate
from hyperplan._core.compiling import working_time
from hyperplan.compete._contest_splits import bring_back, keep_common_splits, splits_done
from hyperplan.compete._crew import CRASHED, TIMED_OUT, Crew
from hyperplan.compete._measures import rope_of
from hyperplan.compete._preparation import prepared_width
from hyperplan.compete._problem import Problem
from hyperplan.compete._search import SMALL, trial_cost
from hyperplan.compete._trial import Outcome, Trial, run_trial

GO_ON = 0.8  # share of the time that is left, for longer searches
CLOSE = 4  # so many times what nobody minds may be lost to the best by those who make them
LEVELS = (2, 4, 9, 18, 36, 72)  # settings that a search may try
PROBE = 4  # of a small search: fewer do not tell what more will take
FEWER = 4  # a search that takes too long is made again with so many times fewer tries, or less
PLAYING, CHEAP = 0.5, 0.05  # shares of the time after screening: for all entries with defaults; that nobody minds
SLOWEST = 0.4  # share of the budget that one trial of the screening may take
LOADING = 0.15  # share of the budget that nobody counts in a first trial: a new worker loads what it needs
WRONG = 10.0  # times the seconds of its cost model, after which a candidate is given up at the screening
PROBING = 0.25  # share of the time after screening for small searches; one of them may take as much of the clock
PATIENCE = 3.0  # times the predicted seconds after which a trial is ended
SMALL_EFFORT = 2.0  # of a search on few rows, where models stop growing soon
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
    screened: Outcome | None = None  # on the first split, with default settings
    probed: Outcome | None = None  # the same after a small search
    may_search: bool = True
    gave_up: int = 0  # tries of a search that took too long
    slowness: float = 1.0  # at least so many times longer than predicted does a search take

    def drop(self, status: str, reason: str) -> None:
        """Take the candidate out of the contest."""
        self.status, self.reason = status, reason

    def search(self, n_tries: int) -> None:
        """From now on so many tries (1: default settings); what is known of the first split is kept."""
        known = {1: self.screened, PROBE: self.probed}.get(n_tries)
        self.n_tries, self.outcomes = n_tries, {} if known is None else {0: known}

    def give_up_search(self) -> None:
        """Go back to default settings."""
        self.gave_up, self.slowness = self.n_tries, self.slowness * PATIENCE
        self.search(1)

    @property
    def is_baseline(self) -> bool:
        """Whether it is what every model must beat."""
        return self.candidate.simplicity == 0

    @property
    def promise(self) -> float:
        """What is known of its score before the contest."""
        known = self.probed or self.screened or self.outcomes[0]
        return known.score


def silent(**event) -> None:
    """Tell nobody."""


@dataclass
class Contest:
    """Runs the phases; use `run_contest`."""

    problem: Problem
    entries: list[Entry]
    crew: Crew | None
    deadline: float
    n_workers: int
    report: Callable = silent
    was_interrupted: bool = False

    def left(self) -> list[Entry]:
        """Entries that are still in."""
        return [entry for entry in self.entries if entry.status == "ok"]

    def run(self) -> None:
        """All phases; Ctrl-C ends the contest with what there is."""
        self._run_baselines()
        try:
            self._screen()
            self._probe()
            self._plan()
            self._play()
            self._go_on()
        except KeyboardInterrupt:
            self.was_interrupted = True

    def _run_baselines(self) -> None:
        """Every split of the baselines, before anything that the clock decides."""
        # One column tells how many rows there are.
        problem = self.problem._replace(typed=dict(itertools.islice(self.problem.typed.items(), 1)))
        for entry in self.entries:
            if not entry.is_baseline:
                continue
            try:
                trials = [Trial(entry.candidate, split) for split in range(len(self.problem.splits))]
                entry.outcomes = {trial.split: run_trial(problem, trial) for trial in trials}
            except Exception as error:
                entry.drop("failed", f"{type(error).__name__}: {error}")

    def _screen(self) -> None:
        n, d = self.problem.n_rows, len(self.problem.columns)
        budget = self.deadline - working_time()
        for entry in self.entries:
            if not entry.is_baseline and self._is_too_large(entry.candidate):
                entry.drop("skipped", "slow")
        waiting = [entry for entry in self.left() if not entry.is_baseline]
        order = sorted(waiting, key=lambda entry: entry.candidate.predicted_seconds(n, d))
        grace = max(GRACE, LOADING * budget)
        allowed = [grace + WRONG * entry.candidate.predicted_seconds(n, d) for entry in order]
        requests = [(entry, 0, 1, min(SLOWEST * budget, seconds)) for entry, seconds in zip(order, allowed)]
        self._work(requests, "screening")
        for entry in self.left():
            if 0 not in entry.outcomes:
                entry.drop("skipped", "budget")
            else:
                entry.screened = entry.outcomes[0]
                entry.seconds = entry.screened.seconds

    def _is_too_large(self, candidate: Candidate) -> bool:
        """Whether the table has more rows or columns than a candidate takes."""
        if candidate.most_rows is not None and self.problem.n_rows > candidate.most_rows:
            return True
        width = prepared_width(self.problem.columns, candidate.preparation)
        return candidate.most_columns is not None and width > candidate.most_columns

    def _probe(self) -> None:
        """A small search, on the first split, for each of the best that grow, while a part of the time lasts."""
        if not LEVELS:
            return
        budget, wanted = self.deadline - working_time(), []
        part = PROBING * self.n_workers * budget
        for entry in self._ranking():
            cost = self._trial_seconds(entry, PROBE)
            if entry.candidate.rounds and cost <= part:
                part -= cost
                entry.n_tries = PROBE
                wanted.append(entry)
        try:
            self._work([(entry, 0, PROBE, PROBING * budget) for entry in wanted], "screening")
        finally:
            for entry in wanted:
                if entry.outcomes[0] is not entry.screened:
                    entry.probed = entry.outcomes[0]
                entry.may_search = entry.probed is not None
                entry.search(1)

    def _plan(self) -> None:
        """Who plays on, and how many settings each may try."""
        spare = self.n_workers * (self.deadline - working_time()) * 0.9
        n_splits = len(self.problem.splits[: self.problem.n_folds])
        self._leave_out(spare, n_splits - 1)
        ranking = self._ranking()
        spare -= sum(entry.seconds for entry in ranking) * (n_splits - 1)
        self._share_out(ranking, spare, n_splits)

    def _leave_out(self, spare: float, n_splits: int) -> None:
        """The poorest go until the others take a part of the budget that leaves time to search; the cheap may stay.

        Half of that part is for the rivals of the first, however slow the first is: without them it has won nothing.
        """
        first, *rivals = self._ranking() or [None]
        room = 0.0 if first is None else PLAYING * spare - min(first.seconds * n_splits, PLAYING * spare / 2)
        gone: list[Entry] = []
        for entry in reversed(rivals):
            if sum(other.seconds for other in self.left() if other is not first) * n_splits <= room:
                break
            if not entry.is_baseline and entry.seconds * n_splits > CHEAP * spare:
                entry.drop("skipped", "slow")
                gone.insert(0, entry)
        if all(entry is first or entry.is_baseline for entry in self.left()):
            self._let_in(gone, room, n_splits)

    def _let_in(self, gone: list[Entry], room: float, n_splits: int) -> None:
        """Whoever fits, the best first: a slow second shall not take everybody else along."""
        for entry in gone:
            if entry.seconds * n_splits <= room:
                room -= entry.seconds * n_splits
                entry.status, entry.reason = "ok", ""

    def _share_out(self, ranking, spare: float, n_splits: int) -> None:
        """Most of the time for the most promising candidate, most of the rest for the next, and so on.

        Each takes as many tries as its part allows; what it does not need is for those after it, and what is left goes
        round again, first among those that may win yet.
        """
        searched = [entry for entry in ranking if entry.candidate.space and entry.may_search]
        hopeful = [entry for entry in searched if self._is_close(entry.promise, ranking[0].promise)]
        for allowance, entries in ((0.7, hopeful), (1.0, hopeful), (1.0, searched)):
            for entry in entries:
                part = allowance * spare
                for level in LEVELS:
                    cost = self._more(entry, level, n_splits)
                    if level > entry.n_tries and cost <= part:
                        entry.n_tries, spare, part = level, spare - cost, part - cost

    def _more(self, entry: Entry, level: int, n_splits: int) -> float:
        """Seconds that a search of `level` tries takes beyond that of the tries the entry has, on all splits."""
        more = self._trial_seconds(entry, level) - self._trial_seconds(entry, entry.n_tries)
        return more * n_splits * 1.25  # and once more on all rows

    def _trial_seconds(self, entry: Entry, n_tries: int) -> float:
        """What a trial will take, from what those of the screening took."""
        if n_tries <= 1:
            return entry.seconds
        n_train = len(self.problem.splits[0].train)
        cost = trial_cost(self.problem, entry.candidate, n_train, n_tries)
        if entry.probed is not None:
            probe = trial_cost(self.problem, entry.candidate, n_train, PROBE)
            return entry.probed.seconds * cost / probe * entry.slowness
        effort = entry.candidate.effort if n_train > SMALL else min(entry.candidate.effort, SMALL_EFFORT)
        return entry.seconds * effort * cost * entry.slowness

    def _ranking(self) -> list[Entry]:
        """The most promising first."""
        return sorted(self.left(), key=lambda entry: self._loss(entry.promise))

    def _play(self) -> None:
        ranking = self._ranking()
        for entry in ranking:
            if entry.n_tries > 1:  # the first split is judged with searched settings too
                entry.search(entry.n_tries)
        quick = CHEAP * (self.deadline - working_time())
        ranking.sort(key=lambda entry: self._trial_seconds(entry, entry.n_tries) > quick / len(self.problem.splits))
        for again in range(3):  # once more for those who gave up their search, and again if the next is too long too
            if again:
                self._search_less(ranking, last=again == 2)
            requests = [
                (entry, split, entry.n_tries, GRACE + PATIENCE * self._trial_seconds(entry, entry.n_tries))
                for split in range(len(self.problem.splits))
                for entry in ranking
                if entry.status == "ok" and split not in entry.outcomes
            ]
            self._work(requests, "running")

    def _go_on(self) -> None:
        """Longer searches of the best, as long as there is time for them."""
        while wanted := self._longer_searches():
            before = {id(entry): (entry.n_tries, entry.outcomes) for entry, _ in wanted}
            requests = [
                (entry, split, n_tries, GRACE + PATIENCE * self._longer_seconds(entry, n_tries))
                for entry, n_tries in wanted
                for split in sorted(entry.outcomes)
            ]
            for entry, n_tries in wanted:
                entry.n_tries, entry.outcomes, entry.may_search = n_tries, {}, False
            try:
                self._work(requests, "running")
            finally:
                for entry, n_tries in wanted:
                    known = before[id(entry)]
                    if entry.n_tries != n_tries or entry.outcomes.keys() != known[1].keys():
                        entry.n_tries, entry.outcomes, entry.status, entry.reason = *known, "ok", ""

    def _longer_searches(self) -> list[tuple[Entry, int]]:
        """Who makes how long a search, the best first; nobody twice."""
        spare, found = self.n_workers * (self.deadline - working_time()) * GO_ON, []
        for entry in self._close_to_the_best():
            longer = [level for level in LEVELS if level > entry.n_tries]
            costs = {level: self._longer_seconds(entry, level) * len(entry.outcomes) for level in longer}
            fits = [level for level in longer if costs[level] <= spare]
            if fits and entry.candidate.space and entry.may_search:
                found.append((entry, fits[-1]))
                spare -= costs[fits[-1]]
        return found

    def _longer_seconds(self, entry: Entry, n_tries: int) -> float:
        """What a trial with a longer search will take, from what those of the present search took."""
        if entry.n_tries <= 1:
            return self._trial_seconds(entry, n_tries)
        n_train, seconds = len(self.problem.splits[0].train), [outcome.seconds for outcome in entry.outcomes.values()]
        costs = [trial_cost(self.problem, entry.candidate, n_train, tries) for tries in (n_tries, entry.n_tries)]
        return float(np.mean(seconds)) * costs[0] / costs[1]

    def _close_to_the_best(self) -> list[Entry]:
        """Those that finished as many splits as anybody and may win yet, the best first."""
        models = [entry for entry in self.left() if not entry.is_baseline]
        most = max(map(splits_done, models), default=0)
        done = [entry for entry in models if most and splits_done(entry) == most]
        means = {id(entry): np.mean([outcome.score for outcome in entry.outcomes.values()]) for entry in done}
        done.sort(key=lambda entry: self._loss(means[id(entry)]))
        return [entry for entry in done if self._is_close(means[id(entry)], means[id(done[0])])]

    def _is_close(self, score: float, best: float) -> bool:
        nobody_minds = rope_of(self.problem.measure, self.problem.y)
        return bool(self._loss(score) <= self._loss(best) + CLOSE * nobody_minds)

    def _loss(self, score: float) -> float:
        """The score such that less is better; the worst if it is undefined."""
        return float(np.nan_to_num(-score if self.problem.measure.greater_is_better else score, nan=np.inf))

    def _search_less(self, ranking, last: bool) -> None:
        """Those who gave up a search make a smaller one if there is time for it, else play with default settings."""
        n_splits = len(self.problem.splits[: self.problem.n_folds])
        spare = self.n_workers * (self.deadline - working_time()) * 0.9
        for entry in ranking:
            fits = [
                level
                for level in LEVELS
                if level <= entry.gave_up // FEWER and self._trial_seconds(entry, level) * n_splits <= spare
            ]
            if entry.status == "ok" and fits and not last:
                entry.search(fits[-1])
                spare -= self._trial_seconds(entry, fits[-1]) * n_splits
            entry.gave_up = 0

    def _work(self, wanted, phase: str) -> None:
        requests = [
            ((id(entry), split, n_tries), "_trial.run_trial", (Trial(entry.candidate, split, n_tries),), seconds)
            for entry, split, n_tries, seconds in wanted
        ]
        by_id = {id(entry): entry for entry in self.entries}

        def is_wanted(key):
            entry = by_id[key[0]]
            return entry.status == "ok" and entry.n_tries == key[2]

        answers = self.crew.run(requests, self.deadline, is_wanted)
        for done, answer in enumerate(answers, 1):
            entry = by_id[answer.key[0]]
            if is_wanted(answer.key):
                self._take(entry, answer)
            self.report(phase=phase, done=done, total=len(requests), entry=entry, deadline=self.deadline)

    def _take(self, entry: Entry, answer) -> None:
        if answer.is_ok:
            entry.outcomes[answer.key[1]] = answer.value
        elif answer.value != TIMED_OUT:
            entry.drop("failed", _reason(answer.value))
        elif working_time() >= self.deadline:
            pass  # not its fault: the contest is over
        elif entry.n_tries > 1:
            entry.give_up_search()
        else:
            entry.drop("skipped", _reason(answer.value))


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
        Of `working_time`: no trial goes on after it.
    n_workers : int
        Size of the crew.
    report : callable, optional
        Called after each trial with ``phase, done, total, entry, deadline``.
    """
    contest = Contest(problem, [Entry(candidate) for candidate in candidates], crew, deadline, n_workers)
    if report is not None:
        contest.report = report
    contest.run()
    bring_back(contest)
    keep_common_splits(contest)
    return contest
