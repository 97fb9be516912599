"""After the contest: fit the chosen model on all rows, predict what is asked, and explain it while time lasts."""

import contextlib

import numpy as np

from hyperplan._core.compiling import working_time
from hyperplan.compete._contest import Contest
from hyperplan.compete._crew import TIMED_OUT, Crew
from hyperplan.compete._diagnosis import diagnose_chosen, partly_fitted
from hyperplan.compete._errors import CompetitionError
from hyperplan.compete._measures import MEASURES
from hyperplan.compete._preparation import TablePreparation
from hyperplan.compete._question import Question
from hyperplan.compete._standings import LEVEL, Standings

LEARNING_SPLITS = 5
PATIENT = 600.0  # seconds that the last, smallest fit may take beyond the budget: without it there is no answer
MORE_ROWS = 1.25  # how many times longer a trial takes on all rows
SURE = 0.7  # share of the time that is left for which a fit on a part of the rows is planned
SHORT = 0.5  # seconds for which the fit is planned that takes the place of one that took too long
GRACE = 1.0  # seconds that the final fit is given though no time is left
FEWEST = 500  # rows that the final model is fitted on, where there are as many
SHARE_OF_REST = 0.5  # of the time that is left, for a search on all rows, and for shuffling columns


def finish_chosen(question: Question, contest: Contest, standings: Standings, crew: Crew, deadline: float, tell):
    """``pipeline, settings, certificate, predictions`` of the final model, and its explanations if time allows.

    Whoever pressed Ctrl-C waits for the final fit only, with settings that are known.
    """
    tell(phase="finishing")
    is_hurried, chosen = contest.was_interrupted, standings.chosen
    settings = _known_settings(question.problem, chosen, working_time() if is_hurried else deadline)
    try:
        found = _final(question, chosen, crew, settings, deadline)
    except KeyboardInterrupt:
        is_hurried = contest.was_interrupted = True
        found = _final(question, chosen, crew, _best_settings(question.problem, chosen), deadline)
    if question.test is not None and question.settings.target in question.test.columns:
        found["holdout"] = _holdout(question, found["predictions"]["test"])
    curves: dict = {}
    if not is_hurried:
        tell(phase="explaining")
        curves = _explain(found, chosen, crew, deadline)
    model, importances = found["pipeline"].model, found.get("importances")
    found["diagnosis"] = diagnose_chosen(contest, standings, model, curves, importances)
    if found["rows"] < question.problem.n_rows:
        found["diagnosis"].insert(0, partly_fitted(found["rows"], question.problem.n_rows, question.settings.time))
    return found


def _final(question, chosen, crew, settings, deadline: float) -> dict:
    """The pipeline fitted by one worker that has all cores: on all rows, or on as many as there is time for."""
    tables = _tables_to_predict(question)
    crew.await_worker()
    seconds = final_seconds(question.problem, chosen, tables)
    for rows, allowed in _attempts(question.problem, seconds, deadline - working_time()):
        known = settings if rows is None else _best_settings(question.problem, chosen)
        arguments = (chosen.candidate, chosen.n_tries, known, tables, crew.n_workers, rows)
        requests = [(("final", 0), "_explain.finish", arguments, allowed)]
        for answer in crew.run(requests, working_time() + allowed):
            if answer.is_ok:
                names = ("pipeline", "settings", "certificate", "predictions", "rows")
                return dict(zip(names, answer.value, strict=True))
            if answer.value != TIMED_OUT:
                raise CompetitionError("nobody", reasons=f"{chosen.candidate.name}: {answer.value}")
        crew.await_worker()
    raise CompetitionError("nobody", reasons=f"{chosen.candidate.name}: {TIMED_OUT}")


def final_seconds(problem, chosen, tables: dict) -> float:
    """What the fit on all rows and the predictions that are asked for will take, from what the trials took."""
    outcomes = chosen.outcomes.values()
    per_row = max(outcome.predict_seconds / max(len(outcome.prediction), 1) for outcome in outcomes)
    n_asked = sum(len(next(iter(typed.values()), ())) for typed in tables.values())
    return MORE_ROWS * max(outcome.fit_seconds for outcome in outcomes) + per_row * n_asked


def _attempts(problem, seconds: float, left: float) -> list[tuple[int | None, float]]:
    """``(rows, seconds allowed)`` of fits to try, one after the other: None for all rows.

    Fits take about as long as they have rows, many longer: a part is planned with time to spare.
    """
    few = max(FEWEST, int(problem.n_rows * min(1.0, SHORT / max(seconds, 1e-9))))
    if seconds <= max(left, SHORT) or problem.n_rows <= FEWEST:
        first = (None, max(left, GRACE))
    else:
        first = (max(FEWEST, int(problem.n_rows * min(1.0, SURE * max(left, SHORT) / seconds))), max(left, GRACE))
    return [first, (min(few, first[0] or problem.n_rows) if problem.n_rows > FEWEST else None, PATIENT)]


def _explain(found: dict, chosen, crew, deadline) -> dict:
    """Add importances, dependences and the learning curve; returns the curves of the splits."""
    seconds = SHARE_OF_REST * (deadline - working_time())
    arguments = (chosen.candidate, chosen.outcomes[0].settings, 0, seconds)
    requests = [(("explain", 0), "_explain.explain", arguments, PATIENT)]
    requests += [
        (("learning", split), "_explain.learning", (chosen.candidate, chosen.outcomes[split].settings, split), PATIENT)
        for split in range(min(LEARNING_SPLITS, len(chosen.outcomes)))
    ]
    answers = {}
    with contextlib.suppress(KeyboardInterrupt):
        for answer in crew.run(requests, deadline, is_last=True):
            if answer.is_ok:
                answers[answer.key] = answer.value
    found |= _explanations(answers)
    return {split: points for (kind, split), points in answers.items() if kind == "learning"}


def _known_settings(problem, chosen, deadline: float):
    """None to search on all rows; when that would take too long, the settings of the split they served best."""
    slowest = max(outcome.seconds for outcome in chosen.outcomes.values())
    if chosen.n_tries <= 1 or MORE_ROWS * slowest <= SHARE_OF_REST * (deadline - working_time()):
        return None
    return _best_settings(problem, chosen)


def _best_settings(problem, chosen) -> dict:
    sign = 1 if problem.measure.greater_is_better else -1
    return max(chosen.outcomes.values(), key=lambda outcome: sign * outcome.score).settings


def _tables_to_predict(question: Question) -> dict:
    """Typed values of the test rows and of the rows without a target."""
    extra = {}
    if question.test is not None:
        extra["test"] = TablePreparation(question.problem.columns).typed(question.test)
    if question.is_unlabelled.any():
        extra["unlabelled"] = question.typed(question.frame[question.is_unlabelled])
    return extra


def _explanations(answers: dict) -> dict:
    found = {}
    if ("explain", 0) in answers:
        found["importances"], found["dependence"] = answers["explain", 0]
    curves = [value for (kind, _), value in sorted(answers.items()) if kind == "learning" and value]
    if curves:
        found["learning"] = _learning_curve(curves)
    return found


def _learning_curve(curves) -> dict | None:
    """Mean scores over splits and their ranges, at the sizes that all splits have."""
    n_points = min(map(len, curves))
    table = np.array([curve[-n_points:] for curve in curves], dtype=np.float64)
    if n_points < 2 or not np.isfinite(table).all():
        return None
    curve = {"sizes": table[:, :, 0].mean(axis=0).round().tolist()}
    for name, column in (("train", 1), ("validation", 2)):
        values = table[:, :, column]
        curve |= {
            name: values.mean(axis=0).tolist(),
            f"{name}_low": values.min(axis=0).tolist(),
            f"{name}_high": values.max(axis=0).tolist(),
        }
    return curve


def _holdout(question: Question, prediction) -> dict | None:
    """Score of the final model on test rows that have a target, with a bootstrap interval."""
    from hyperplan.compete._classes import spelt_classes
    from hyperplan.compete._columns_task import typed_target
    from hyperplan.evaluation import bootstrap_interval

    problem = question.problem
    values = typed_target(question.test[question.settings.target], problem.task, question.target)
    if problem.classes:
        codes = {name: code for code, name in enumerate(problem.classes)}
        codes |= {new: codes[name] for new, name in spelt_classes(values, problem.classes).items()}
        y = np.array([codes.get(value, -1) for value in values])
        known = y >= 0
    else:
        y, known = values, np.isfinite(values)
    if known.sum() < 2 or np.ptp(y[known]) == 0:
        return None
    measure = MEASURES[problem.metric]
    y, prediction = y[known], prediction[known]
    strata = y if problem.classes else None
    metric, truth, (answers,) = measure.resampled(y, [prediction])
    found = bootstrap_interval(metric, truth, answers, method="percentile", n_resamples=300, level=LEVEL, strata=strata)
    return {"rows": int(known.sum()), "value": found.value, "low": found.low, "high": found.high, "method": "bootstrap"}
