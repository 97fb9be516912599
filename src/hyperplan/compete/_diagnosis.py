"""What the contest already knows about the chosen model, read by the same numbered checks as `evaluation.diagnose`.

Nothing is fitted again.  Scores on training rows and on new rows, the baseline and the other candidates come from the
trials, instability from the repetitions, the learning curve from the explanations.  Columns that predict everything
alone are the business of the audit.
"""

import numpy as np

from hyperplan._base.finding import Finding
from hyperplan.compete._contest import Contest, Entry
from hyperplan.compete._quality import judged
from hyperplan.compete._standings import LEVEL, Standings, pooled

SCORES = ("score", "baseline", "train", "validation", "rival_score", "quarter", "half", "full", "perfect")
ENDS = (("low", "high"), ("worst", "best"))
HALF, QUARTER = -2, -3  # points of a learning curve


def diagnose_chosen(contest: Contest, standings: Standings, model, curves: dict) -> list[Finding]:
    """Findings about the chosen entry; none when only one split was finished.

    Parameters
    ----------
    contest : Contest
        All trials.
    standings : Standings
        Which entry was chosen.
    model : estimator
        The final model, whose settings advice is about.
    curves : dict
        Split -> points ``(rows, score on them, score on new rows)`` of its learning curve.
    """
    from hyperplan.evaluation._diagnose_checks import Case, check_all, learning_curve

    if len(standings.chosen.outcomes) < 2:
        return []
    sign = 1.0 if contest.problem.measure.greater_is_better else -1.0
    found = measurements(contest, standings.chosen, sign)
    findings = check_all(Case(model, found, LEVEL))
    if part := _part_with_curve(found, curves, sign):
        last = learning_curve(Case(model, part, LEVEL))
        findings = sorted([*findings, *([last] if last else [])], key=lambda finding: finding.code)
    return findings if sign > 0 else [_as_losses(finding) for finding in findings]


def measurements(contest: Contest, chosen: Entry, sign: float):
    """What the checks read; scores are larger for better models, also where the metric is a loss."""
    from hyperplan.evaluation._diagnose_measure import Measurements

    problem = contest.problem
    scores, labels = _scores(chosen, sign), {}
    for entry in contest.left():
        if entry is chosen or sorted(entry.outcomes) != sorted(chosen.outcomes):
            continue
        if entry.candidate.simplicity == 0:
            scores["baseline"] = _scores(entry, sign)["model"]
        elif entry.candidate.simplicity > chosen.candidate.simplicity:
            scores[f"reference {entry.candidate.name}"] = _scores(entry, sign)["model"]
            labels[f"reference {entry.candidate.name}"] = entry.candidate.label
    scores = {name: values for name, values in scores.items() if np.isfinite(values).all()}
    return Measurements(
        scores={"train": scores["model"], **scores},
        labels={name: label for name, label in labels.items() if name in scores},
        columns={},
        **_spread(problem, chosen),
        **_confidence(problem, chosen),
        n_rows=problem.n_rows,
        endings=[outcome.ending for outcome in chosen.outcomes.values()],
        test_share=problem.mean_test_share(),
        perfect=np.nan if problem.measure.best is None else sign * problem.measure.best,
    )


def _scores(entry: Entry, sign: float) -> dict:
    outcomes = [entry.outcomes[split] for split in sorted(entry.outcomes)]
    names = {"model": "score", "train": "train_score"}
    return {name: sign * np.array([getattr(outcome, key) for outcome in outcomes]) for name, key in names.items()}


def _numbers(problem):
    """The target in the form of predictions."""
    return np.eye(len(problem.classes))[problem.y] if problem.classes else problem.y[:, None]


def _spread(problem, entry: Entry) -> dict:
    """Variance between predictions for one row by different repetitions, and their mean squared error."""
    n_repeats = max(1, len(entry.outcomes) // problem.n_folds)
    whole = np.array([pooled(problem, entry, repeat).reshape(problem.n_rows, -1) for repeat in range(n_repeats)])
    squared = ((whole - _numbers(problem)) ** 2).sum(axis=2)
    variance = float(np.nanmean(whole.var(axis=0, ddof=1).sum(axis=1))) if n_repeats > 1 else np.nan
    return {"variance": variance, "error": float(np.nanmean(squared))}


def _confidence(problem, entry: Entry) -> dict:
    """Mean probability of the predicted class against how often it is right."""
    if not problem.classes:
        return {"confidence": np.nan, "accuracy": np.nan}
    _, y, shares = judged(problem, entry)
    return {"confidence": float(shares.max(axis=1).mean()), "accuracy": float((shares.argmax(axis=1) == y).mean())}


def _part_with_curve(found, curves: dict, sign: float):
    """The same measurements on the splits that have a learning curve, with its points; None if there are too few."""
    splits = sorted(split for split, points in curves.items() if len(points) >= 3)
    if len(splits) < 2:
        return None
    points = {name: sign * np.array([curves[split][place][2] for split in splits])
              for name, place in (("half", HALF), ("quarter", QUARTER))}  # fmt: skip
    if not all(np.isfinite(values).all() for values in points.values()):
        return None
    return found._replace(scores={name: values[splits] for name, values in found.scores.items()} | points)


def _as_losses(finding: Finding) -> Finding:
    """The same finding in the units of a loss: scores change their sign, differences still say how much better."""
    values = {name: -value if name in SCORES else value for name, value in finding.values.items()}
    for low, high in ENDS:
        if low in values and high in values:
            values[low], values[high] = -values[high], -values[low]
    return finding._replace(values=values)
