"""Which splits count when time is up: those that the remaining entries of a contest share."""

import numpy as np

FEWEST_SPLITS = 2
MOST_STAY = 0.75  # share of the candidates for which the last splits are given up


def bring_back(contest) -> None:
    """If nobody got beyond the first split, those who made room for others are back: they were judged on it as well."""
    if any(splits_done(entry) >= FEWEST_SPLITS for entry in contest.left() if not entry.is_baseline):
        return
    for entry in contest.entries:
        if entry.status == "skipped" and entry.screened is not None:
            entry.status, entry.reason = "ok", ""
            entry.search(1)


def keep_common_splits(contest) -> None:
    """Splits that the remaining candidates share; those with fewer are left out.

    Trials are done split after split: usually only the last split is incomplete and falls away.  More splits are not
    worth losing more than a quarter of the candidates, nor the baseline, nor the leader.
    """
    n_folds, baselines = contest.problem.n_folds, [entry for entry in contest.left() if entry.is_baseline]
    counts = [splits_done(entry) for entry in contest.left() if not entry.is_baseline]
    needed = _enough(counts if any(counts) else list(map(splits_done, baselines)))
    needed = min([needed, *map(splits_done, [*baselines, *_leader(contest)])])
    needed = max(1, needed // n_folds * n_folds or needed)
    for entry in contest.left():
        if splits_done(entry) < needed:
            entry.drop("skipped", "budget")
        else:
            entry.outcomes = {split: entry.outcomes[split] for split in range(needed)}


def _leader(contest) -> list:
    """The model with the best scores on the first splits, of those that have enough of them; none if nobody has."""
    sign = 1 if contest.problem.measure.greater_is_better else -1
    started = [entry for entry in contest.left() if not entry.is_baseline and splits_done(entry) >= FEWEST_SPLITS]

    def mean(entry):
        return np.nan_to_num(sign * np.mean([entry.outcomes[i].score for i in range(FEWEST_SPLITS)]), nan=-np.inf)

    return [max(started, key=mean)] if started else []


def _enough(counts: list[int]) -> int:
    """The largest number of splits that three quarters of the candidates with at least `FEWEST_SPLITS` have done."""
    started = [count for count in counts if count >= FEWEST_SPLITS] or [count for count in counts if count]
    started.sort(reverse=True)
    return started[int(np.ceil(MOST_STAY * len(started))) - 1] if started else 0


def splits_done(entry) -> int:
    """Splits done without a gap from the first on."""
    count = 0
    while count in entry.outcomes:
        count += 1
    return count
