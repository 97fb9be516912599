"""What the contest already knows about the chosen model, read by the numbered checks of a diagnosis.

Nothing is fitted again: scores on training rows and on new rows, the baseline and the other candidates come from the
trials, the learning curve and the importances from the explanations.  Columns that predict everything alone are the
business of the audit.
"""

import numpy as np

from hyperplan._base import is_classifier
from hyperplan._base.finding import Finding
from hyperplan.compete._contest import Contest, Entry
from hyperplan.compete._standings import LEVEL, Standings, interval_share

POINTS = {0.25: -3, 0.5: -2, 1.0: -1}  # share of the training rows: place on a learning curve


def diagnose_chosen(contest: Contest, standings: Standings, model, curves: dict, importances) -> list[Finding]:
    """Findings about the chosen entry; none when only one split was finished or training scores are undefined.

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
    importances : dict or None
        As the report has them.
    """
    from hyperplan.evaluation import diagnose_scores

    problem, chosen = contest.problem, standings.chosen
    train, validation = _scores(chosen, "train_score"), _scores(chosen, "score")
    if len(validation) < 2 or not np.isfinite(train).all():
        return []
    baseline, others = _rivals(contest, chosen)
    answers = [(problem.splits[split].test, outcome.prediction) for split, outcome in chosen.outcomes.items()]
    is_told = is_classifier(model) == bool(problem.classes)  # a mixture does not say which it is
    found = diagnose_scores(
        model,
        train,
        validation,
        test_share=interval_share(problem, len(validation)),
        baseline=baseline,
        perfect=problem.measure.best,
        greater_is_better=problem.measure.greater_is_better,
        others=others,
        curve=_curve(curves),
        importances={row["name"]: row["mean"] for row in importances["columns"]} if importances else None,
        answers=answers if is_told else None,
        y=problem.y,
        endings=[outcome.ending for outcome in chosen.outcomes.values() if outcome.ending],
        level=LEVEL,
    )
    return found.findings


def _scores(entry: Entry, name: str = "score") -> np.ndarray:
    return np.array([getattr(entry.outcomes[split], name) for split in sorted(entry.outcomes)])


def _rivals(contest: Contest, chosen: Entry):
    """Scores of the baseline (None without one) and of less simple candidates, on the splits of the chosen one."""
    baseline, others = None, {}
    for entry in contest.left():
        scores = _scores(entry)
        if entry is chosen or sorted(entry.outcomes) != sorted(chosen.outcomes) or not np.isfinite(scores).all():
            continue
        if entry.is_baseline:
            baseline = scores
        elif entry.candidate.simplicity > chosen.candidate.simplicity:
            others[entry.candidate.label] = scores
    return baseline, others


def _curve(curves: dict) -> dict | None:
    """Scores on new rows by share of the training rows, on the splits that have them all."""
    whole = [points for _, points in sorted(curves.items()) if len(points) >= len(POINTS)]
    table = {share: np.array([points[place][2] for points in whole]) for share, place in POINTS.items()}
    is_defined = len(whole) >= 2 and all(np.isfinite(values).all() for values in table.values())
    return table if is_defined else None


def partly_fitted(rows: int, n_rows: int, budget: float) -> Finding:
    """D15: there was no time for a fit of the final model on all rows."""
    return Finding("D15", "warning", (), {"rows": rows, "all": n_rows, "budget": float(budget)})
