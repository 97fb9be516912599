"""The clustering competition: who finds groups, finds them again on other rows, and not where there are none.

Every setting of every method is fitted once.  Those with two groups or more are fitted again on four fifths of the
rows, several times: the mean adjusted Rand index between the labels says how stable the groups are.  The stable ones
are fitted on tables without groups (`_null`): their separation, which asks for no shape, or their silhouette, which
sees gaps where separation is near 1 even without groups (few columns), must be larger than there by three standard
deviations; and separation must be large in itself.  Of those that pass and are about as well separated as the best,
that with the largest silhouette is chosen; then the simplest.  The clock decides how many repetitions there are,
and of how many settings, nothing else: each depends on the seed alone.
"""

import warnings
from dataclasses import dataclass, field

import numpy as np

from hyperplan._core.compiling import working_time
from hyperplan.explore._judge import NO_GROUPS, Judge, Scores, coded, group_codes
from hyperplan.explore._methods import METHODS, Method, sight_of
from hyperplan.metrics import adjusted_rand_score

REFITS, SHARE = 8, 0.8  # fits on other rows, and the share of the rows that they see
HOPELESS = 0.4  # mean agreement after two refits below which there is no third
STABLE = 0.75  # mean agreement that is asked for
DRAWS, LEAST_DRAWS = 20, 5  # tables without groups
CERTAIN, LEAST_SPREAD = 3.0, 0.01  # standard deviations above them, and the smallest one that is believed
SEPARATED = 0.7  # separation that is asked for in itself: a method that hardly ever finds groups is easily beaten
EACH = 4  # settings of a method that go on to these tables
NEAR_SEPARATION, NEAR_SILHOUETTE = 0.03, 0.005  # differences that nobody minds
FIRST_END, REFIT_END, DRAW_END, LAST_DRAW_END = 0.25, 0.4, 0.6, 0.75  # shares of the budget


@dataclass(eq=False)
class Entry:
    """A method with settings, and what became of it."""

    method: Method
    place: int
    settings: dict
    model: object = None
    codes: dict = field(default_factory=dict)
    labels: np.ndarray | None = None
    scores: Scores = NO_GROUPS
    seconds: float = 0.0  # of the quickest fit so far: the first one may have loaded code
    agreements: list = field(default_factory=list)
    null: list = field(default_factory=list)
    reason: str = ""

    @property
    def has_groups(self) -> bool:
        """Whether it found two groups or more."""
        return self.labels is not None and self.scores.n_groups >= 2

    @property
    def stability(self) -> float:
        """Mean agreement with fits on other rows; 0 before there is one."""
        return float(np.mean(self.agreements)) if self.agreements else 0.0

    @property
    def excess(self) -> float:
        """By how many standard deviations separation or silhouette is larger than without groups; nan if not known."""
        if len(self.null) < LEAST_DRAWS:
            return float("nan")
        return self._excess(self.telling)

    @property
    def telling(self) -> str:
        """Which of the two scores is farther above that of tables without groups."""
        return max(("separation", "silhouette"), key=self._excess)

    def _excess(self, name: str) -> float:
        values = [getattr(scores, name) for scores in self.null]
        spread = max(float(np.std(values, ddof=1)), LEAST_SPREAD)
        return (getattr(self.scores, name) - float(np.mean(values))) / spread

    @property
    def verdict(self) -> str:
        """Key of what is to be thought of it."""
        if self.labels is None:
            return "late" if self.reason == "budget" else "failed"
        if not self.has_groups:
            return "one_group"
        if not self.agreements:
            return "untested"
        if self.stability < STABLE:
            return "unstable"
        if len(self.null) < LEAST_DRAWS:
            return self.reason or "untested"
        return "real" if self.excess >= CERTAIN and self.scores.separation >= SEPARATED else "chance"


@dataclass
class Contest:
    """All entries, and who won (None: no groups that can be believed)."""

    entries: list
    chosen: Entry | None
    judge: Judge
    n_refits: int
    n_draws: int

    def best_of(self, method: Method) -> Entry | None:
        """The entry that stands for a method."""
        listed = [entry for entry in self.entries if entry.method is method]
        if self.chosen is not None and self.chosen.method is method:
            return self.chosen
        real = choose(listed)
        return real or max(listed, key=_promise, default=None)


def run_contest(points, reference, listed, seed: int, clock, tell) -> Contest:
    """Let methods look for groups.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_dimensions)
        A sample of at most some thousand rows.
    reference : Reference
        Tables without groups.
    listed : sequence of Method
        Who takes part.
    seed : int
        Of methods and samples.
    clock : Clock
        The budget.
    tell : callable
        Told of progress.
    """
    judge = Judge(points)
    entries = _first_look(judge, listed, seed, clock, tell)
    if clock.is_stopped and not any(entry.labels is not None for entry in entries):
        raise KeyboardInterrupt  # there is nothing to finish with
    n_refits = _refit(entries, points, seed, clock, tell)
    n_draws = _hold_against(entries, reference, seed, clock, tell)
    return Contest(entries, choose(entries), judge, n_refits, n_draws)


def fitted(method: Method, settings: dict, points):
    """An estimator and its labels of the points it was fitted on; its warnings are the judge's business."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model = method.build(settings)
        return model, np.asarray(model.fit_predict(points))


def placed(model, points) -> np.ndarray:
    """Labels that an estimator gives new points."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.asarray(model.predict(points))


def _first_look(judge: Judge, listed, seed, clock, tell) -> list[Entry]:
    sight, entries = sight_of(judge.points, seed), []
    for method in listed:
        cost = 0.0
        for place, settings in enumerate(method.settings(sight)):
            entry = Entry(method, place, settings)
            entries.append(entry)
            if clock.is_stopped or (place and not clock.has(FIRST_END, cost)):
                entry.reason = "budget"
                continue
            tell(phase="grouping", method=method.name)
            began = working_time()
            try:
                entry.model, raw = fitted(method, settings, judge.points)
                entry.codes = group_codes(raw)
                entry.labels = coded(raw, entry.codes)
                entry.scores = judge.scores(entry.labels)
            except Exception as error:  # a method that fails is reported, and the others go on
                entry.labels, entry.reason = None, f"{type(error).__name__}: {error}"[:200]
            entry.seconds = cost = working_time() - began
    return entries


def _refit(entries, points, seed: int, clock, tell) -> int:
    """Fit again on other rows, round by round; the number of rounds."""
    n = len(points)
    done = 0
    for number in range(REFITS):
        alive = [entry for entry in entries if entry.has_groups and len(entry.agreements) == number]
        alive = [entry for entry in alive if number < 2 or entry.stability >= HOPELESS]
        if not alive:
            break
        chosen = np.random.default_rng([seed, 1, number]).choice(n, max(2, int(SHARE * n)), replace=False)
        rows = points[np.sort(chosen)]
        for entry in alive:
            if not clock.has(REFIT_END, entry.seconds):
                continue
            tell(phase="refitting", method=entry.method.name)
            began = working_time()
            entry.agreements.append(_agreement(entry, rows, points))
            entry.seconds = min(entry.seconds, working_time() - began)
            done = number + 1
    return done


def _agreement(entry: Entry, rows, points) -> float:
    """Adjusted Rand index of the groups and those learnt on other rows; 0 where nothing could be learnt."""
    try:
        raw = placed(fitted(entry.method, entry.settings, rows)[0], points)
        return float(adjusted_rand_score(entry.labels, coded(raw, group_codes(raw))))
    except Exception:
        return 0.0


def _hold_against(entries, reference, seed: int, clock, tell) -> int:
    """Look for groups in tables without them; the number of tables."""
    alive = _affordable(contenders(entries), clock)
    for number in range(DRAWS if alive else 0):
        cost = sum(entry.seconds for entry in alive) + reference.cost(number)
        if not clock.has(DRAW_END if number >= LEAST_DRAWS else LAST_DRAW_END, cost):
            return number
        tell(phase="doubting", done=number, total=DRAWS)
        judge = Judge(reference.points(number))
        sight = sight_of(judge.points, seed)
        for entry in alive:
            entry.null.append(_without_groups(entry, judge, sight))
    return DRAWS if alive else 0


def contenders(entries) -> list[Entry]:
    """Entries with stable groups, the most promising of each method."""
    stable = [entry for entry in entries if entry.has_groups and entry.stability >= STABLE]
    kept = []
    for method in METHODS:
        listed = sorted((entry for entry in stable if entry.method is method), key=_promise, reverse=True)
        kept += listed[:EACH]
        for entry in listed[EACH:]:
            entry.reason = "behind"
    return kept


def _affordable(alive, clock) -> list[Entry]:
    """As many of the contenders as there is time to compare with the least number of tables, in turn by method."""
    rank = {id(entry): [other for other in alive if other.method is entry.method].index(entry) for entry in alive}
    kept, cost = [], 0.0
    for entry in sorted(alive, key=lambda entry: rank[id(entry)]):
        cost += LEAST_DRAWS * entry.seconds
        if kept and not clock.has(DRAW_END, cost):
            break
        kept.append(entry)
    return kept


def _without_groups(entry: Entry, judge: Judge, sight) -> Scores:
    """Scores of a method with the same settings, chosen anew, on a table without groups."""
    try:
        _, raw = fitted(entry.method, entry.method.settings(sight)[entry.place], judge.points)
        return judge.scores(coded(raw, group_codes(raw)))
    except Exception:  # nothing found is what is hoped for here
        return NO_GROUPS


def _promise(entry: Entry) -> tuple:
    """What makes one entry stand before another of its method."""
    return (
        entry.has_groups,
        min(entry.stability, STABLE),
        round(entry.scores.separation / NEAR_SEPARATION),
        entry.scores.silhouette,
    )


def choose(entries) -> Entry | None:
    """Of the real ones about as well separated as the best, that with the largest silhouette; then the simplest."""
    real = [entry for entry in entries if entry.verdict == "real"]
    if not real:
        return None
    top = max(entry.scores.separation for entry in real)
    near = [entry for entry in real if entry.scores.separation >= top - NEAR_SEPARATION]
    top = max(entry.scores.silhouette for entry in near)
    near = [entry for entry in near if entry.scores.silhouette >= top - NEAR_SILHOUETTE]
    return min(near, key=lambda entry: (METHODS.index(entry.method), entry.scores.n_groups, -entry.stability))
