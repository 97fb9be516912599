"""Who won: intervals, comparisons with the best, tied groups, the simplest of the tied, an honest score for it.

The chosen entry is tied with the best one twice over.  It is in group A: the paired test over splits, corrected for the
number of entries, does not show a loss larger than the region of practical equivalence (`rope_of`: 0.005 in units of
the metric, or of the target's standard deviation), neither of this entry nor of one with a better mean.  And its mean
loss is at most one standard error of the paired differences, and at most that region: the test alone, on five splits,
would let much worse models pass, and so would a standard error where scores vary a lot.  No entry with a better mean
may have failed at this: otherwise a model would be chosen for being unsteady.
"""

import contextlib
from typing import NamedTuple

import numpy as np

from hyperplan.compete._contest import Contest, Entry
from hyperplan.compete._errors import CompetitionError
from hyperplan.compete._measures import BESIDE, MEASURES, rope_of
from hyperplan.compete._problem import Problem

LEVEL = 0.95
CORRECTION = "holm"
RESAMPLES, SLOW_RESAMPLES = 500, 60
MOST_ROWS = 10_000  # on which bootstrap scores are computed


class Standings(NamedTuple):
    """The result of a contest.

    Attributes
    ----------
    rows : list of dict
        The leaderboard as the report has it, best first, then those that did not finish.
    best, chosen : Entry
        The best mean score, and the simplest entry that loses at most one standard error of the difference to it, at
        most the region of practical equivalence, and is not shown to be worse.
    why : {"simplest_tied", "best", "only"}
        Why it was chosen.
    score : dict
        Honest score of the chosen entry: value, low, high, level, method.
    """

    rows: list[dict]
    best: Entry
    chosen: Entry
    why: str
    score: dict


def make_standings(contest: Contest) -> Standings:
    """Compare the entries that finished."""
    problem, entries = contest.problem, contest.left()
    scores = {entry.candidate.name: _scores(entry) for entry in entries}
    scores = {name: values for name, values in scores.items() if np.isfinite(values).all() and len(values)}
    if not scores:
        raise CompetitionError("nobody", reasons="; ".join(f"{e.candidate.name}: {e.reason}" for e in contest.entries))
    entries = {entry.candidate.name: entry for entry in entries if entry.candidate.name in scores}
    if len(next(iter(scores.values()))) < 2:
        return _by_one_split(contest, entries, scores)
    return _by_splits(contest, problem, entries, scores)


def _by_splits(contest, problem, entries, scores) -> Standings:
    from hyperplan.evaluation import compare_models, one_standard_error, tied_groups

    share, greater = problem.mean_test_share(), problem.measure.greater_is_better
    rope = rope_of(problem.measure, problem.y)
    options = {"rope": rope, "level": LEVEL, "correction": CORRECTION, "greater_is_better": greater}
    intervals = {name: score_interval(problem, values) for name, values in scores.items()}
    letters, differences = {name: "A" for name in scores}, {}
    if len(scores) > 1:
        letters = {name: group.letter for group in tied_groups(scores, share, **options) for name in group.models}
        letters = _never_back(letters, _by_mean(scores, greater))
        differences = {row.model: row for row in compare_models(scores, share, **options)}
    simplicity = {name: entries[name].candidate.simplicity for name in scores}
    choice = one_standard_error(scores, simplicity, share, paired=True, greater_is_better=greater)
    near = [name for name in choice.eligible if abs(np.mean(scores[name]) - np.mean(scores[choice.best])) <= rope]
    tied = _from_the_top(scores, greater, [name for name in near if letters[name] == "A"])
    best, chosen = entries[choice.best], entries[min(tied, key=lambda name: simplicity[name])]
    why = "only" if len(scores) == 1 else "best" if chosen is best else "simplest_tied"
    rows = [_row(entries[name], intervals[name], letters[name], differences.get(name), best, chosen) for name in scores]
    score = _honest_score(problem, entries, best, chosen, intervals[chosen.candidate.name])
    return Standings(_ranked(rows, contest, greater), best, chosen, why, score)


def _from_the_top(scores, greater: bool, eligible) -> list:
    """The eligible from the best mean down to the first that is not: an unsteady loser does not pass a steadier one."""
    order = _by_mean(scores, greater)
    stop = next((place for place, name in enumerate(order) if name not in eligible), len(order))
    return order[: max(stop, 1)]


def _by_mean(scores, greater: bool) -> list:
    return sorted(scores, key=lambda name: -np.mean(scores[name]) if greater else np.mean(scores[name]))


def _never_back(letters: dict, order: list) -> dict:
    """No model gets an earlier letter than one with a better mean.

    Scores that vary a lot from split to split hide a loss from the test: such a model would be called tied with the
    best while steadier ones ranked above it are not.
    """
    found, latest = {}, ""
    for name in order:
        latest = max(latest, letters[name], key=lambda letter: (len(letter), letter))
        found[name] = latest
    return found


def score_interval(problem: Problem, values):
    """Corrected t interval of the scores over splits."""
    from hyperplan.evaluation import corrected_t_interval

    return corrected_t_interval(values, interval_share(problem, len(values)), level=LEVEL)


def interval_share(problem: Problem, n_splits: int) -> float:
    """n_test / n_train, larger with repetitions: such that intervals have Student's quantile of one repetition.

    Further repetitions deal the same rows again: they make the mean steadier, but nobody has seen more rows.  Counted
    as if they were independent, intervals of small tables would miss the score on new rows far too often.
    """
    from scipy.special import stdtrit

    share, freedom = problem.mean_test_share(), np.array([min(n_splits, problem.n_folds), n_splits]) - 1
    one, all_of_them = stdtrit(freedom, 0.5 + LEVEL / 2)
    return float((one / all_of_them) ** 2 * (1 / n_splits + share) - 1 / n_splits)


def _by_one_split(contest, entries, scores) -> Standings:
    """One split was finished: scores without intervals, the best of them chosen."""
    greater = contest.problem.measure.greater_is_better
    name = (max if greater else min)(scores, key=lambda key: scores[key][0])
    best = entries[name]
    interval = {key: _Point(values[0]) for key, values in scores.items()}
    rows = [_row(entries[key], interval[key], None, None, best, best) for key in scores]
    score = {"value": float(scores[name][0]), "low": None, "high": None, "level": LEVEL, "method": "one_split"}
    return Standings(_ranked(rows, contest, greater), best, best, "only" if len(scores) == 1 else "best", score)


class _Point(NamedTuple):
    """A score without an interval."""

    value: float
    low: float | None = None
    high: float | None = None


def _scores(entry: Entry) -> np.ndarray:
    return np.array([entry.outcomes[split].score for split in sorted(entry.outcomes)])


def _row(entry, interval, letter, difference, best, chosen) -> dict:
    candidate, outcomes = entry.candidate, list(entry.outcomes.values())
    return {
        "name": candidate.name,
        "label": candidate.label,
        "family": candidate.family,
        "simplicity": candidate.simplicity,
        "status": "ok",
        "reason": "",
        "score": interval.value,
        "low": interval.low,
        "high": interval.high,
        "folds": _scores(entry).tolist(),
        "group": letter,
        "is_chosen": entry is chosen,
        "is_best": entry is best,
        "is_baseline": entry.is_baseline,
        "difference": None if difference is None else _difference(difference),
        "fit_seconds": float(np.median([outcome.fit_seconds for outcome in outcomes])),
        "predict_seconds": float(np.median([outcome.predict_seconds for outcome in outcomes])),
        "settings": plain_settings(outcomes[0].settings),
        "tried": entry.n_tries,
        "certificate": outcomes[0].certificate,
    }


def _difference(row) -> dict:
    names = ("mean", "low", "high", "p", "p_adjusted")
    return {**{name: float(getattr(row, name)) for name in names}, "verdict": row.verdict}


def _ranked(rows, contest, greater) -> list[dict]:
    """Best first, with ranks; then the candidates that did not finish, with the reason."""
    rows = sorted(rows, key=lambda row: (-row["score"] if greater else row["score"], row["simplicity"]))
    for rank, row in enumerate(rows, 1):
        row["rank"] = rank
    shown = {row["name"] for row in rows}
    for entry in contest.entries:
        if entry.candidate.name not in shown:
            rows.append(_absent(entry))
    return rows


def _absent(entry: Entry) -> dict:
    candidate, status = entry.candidate, entry.status if entry.status != "ok" else "failed"
    return {
        "name": candidate.name,
        "label": candidate.label,
        "family": candidate.family,
        "simplicity": candidate.simplicity,
        "status": status,
        "reason": entry.reason or "no defined score",
        "is_chosen": False,
        "is_best": False,
        "is_baseline": entry.is_baseline,
    }


def plain_settings(settings: dict) -> dict:
    """Settings as JSON has them, numbers to four digits; those of a mixture with the name of the member before."""
    if any(isinstance(value, dict) for value in settings.values()):
        parts = {name: plain_settings(value) or {"": "-"} for name, value in settings.items()}
        return {f"{name}.{key}".rstrip("."): value for name, part in parts.items() for key, value in part.items()}
    return {name: float(f"{value:.4g}") if isinstance(value, float) else value for name, value in settings.items()}


def _honest_score(problem: Problem, entries, best, chosen, interval) -> dict:
    """The best of several was chosen for its score, which flatters it: the bootstrap takes that back.

    An entry that was chosen for its simplicity keeps its own score.
    """
    plain = {"value": interval.value, "low": interval.low, "high": interval.high, "level": LEVEL}
    if chosen is not best or len(entries) < 2:
        return {**plain, "method": "corrected_t"}
    found = _optimism(problem, entries, best)
    if found is None:
        return {**plain, "method": "corrected_t"}
    optimism = max(found, 0.0)  # picking a winner can flatter it, never the reverse: below zero it is chance
    shift = -optimism if problem.measure.greater_is_better else optimism
    moved = {name: plain[name] + shift for name in ("value", "low", "high")}
    return {**plain, **moved, "method": "bootstrap_bias_corrected"}


def _optimism(problem: Problem, entries, best) -> float | None:
    """By how much picking the best of several flatters it; None where resamples do not tell.

    Whole groups are resampled, or single rows where there are so few groups that what is left out of a resample is
    often empty or of one class.
    """
    from hyperplan.evaluation import bootstrap_bias_corrected

    rows = _judged_rows(problem, best)
    some = rows[:: 1 + len(rows) // MOST_ROWS]
    order = sorted(entries.values(), key=lambda entry: entry.candidate.simplicity)
    predictions = [pooled(problem, entry)[some] for entry in order]
    metric, truth, predictions = problem.measure.resampled(problem.y[some], predictions)
    units = [] if problem.groups is None else [{"groups": problem.groups[some]}]
    for unit in (*units, {"strata": problem.y[some] if problem.classes else None}):
        with contextlib.suppress(ValueError):  # undefined on too many resamples
            return bootstrap_bias_corrected(
                {entry.candidate.name: values for entry, values in zip(order, predictions)},
                truth,
                metric,
                greater_is_better=problem.measure.greater_is_better,
                n_resamples=RESAMPLES if metric != problem.measure.score else SLOW_RESAMPLES,
                random_state=problem.seed,
                **unit,
            ).optimism
    return None


def _judged_rows(problem: Problem, entry: Entry) -> np.ndarray:
    """Rows that were in a test part."""
    first = [split for split in sorted(entry.outcomes) if split < problem.n_folds]
    return np.sort(np.concatenate([problem.splits[split].test for split in first]))


def pooled(problem: Problem, entry: Entry, repeat: int = 0) -> np.ndarray:
    """Predictions for each row by the model that did not see it, in one repetition; nan for rows never judged."""
    splits = [split for split in sorted(entry.outcomes) if split // problem.n_folds == repeat]
    sample = entry.outcomes[splits[0]].prediction
    whole = np.full((problem.n_rows, *sample.shape[1:]), np.nan)
    for split in splits:
        whole[problem.splits[split].test] = entry.outcomes[split].prediction
    return whole


def other_metrics(problem: Problem, entry: Entry) -> list[dict]:
    """Further metrics of an entry with corrected intervals over the same splits."""
    found = []
    for name in BESIDE[problem.task]:
        measure = MEASURES[name]
        values = [
            measure.score(problem.y[problem.splits[split].test], outcome.prediction)
            for split, outcome in entry.outcomes.items()
        ]
        if name == problem.metric or not np.isfinite(values).all():
            continue
        if len(values) > 1:
            interval = score_interval(problem, values)
        else:
            interval = _Point(float(values[0]))
        found.append(
            {"name": name, "label": measure.label, "value": interval.value, "low": interval.low, "high": interval.high}
        )
    return found
