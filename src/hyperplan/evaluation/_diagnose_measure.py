"""What a diagnosis looks at: a model beside simpler and more flexible copies, a reference and a baseline."""

import threading
import warnings
from typing import NamedTuple

import numpy as np

from hyperplan._base import ConvergenceWarning, clone, is_classifier
from hyperplan._base.members import MAX_SEED, is_own, member_map
from hyperplan._base.validate import check_random_state
from hyperplan.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hyperplan.evaluation._advice import core_of, trials
from hyperplan.evaluation._diagnose_columns import Columns, column_scores
from hyperplan.evaluation._diagnose_numbers import Measurements, confidence, indicators, spread
from hyperplan.evaluation._splits import make_splits, share_of_splits
from hyperplan.evaluation._tables import rows_of
from hyperplan.metrics import check_scoring

FEW_ROWS = 1000  # below that a forest is the better reference, above it boosting
MOST_ENTRIES = 10**8  # of a table for the reference, which is made dense


class Job(NamedTuple):
    """One fit: which model, on which table, which rows."""

    name: str
    model: object
    X: object
    train: np.ndarray
    test: np.ndarray


class Outcome(NamedTuple):
    """Scores of one fit; for the model itself also its answers and how its fit ended."""

    test: float
    train: float = np.nan
    answers: np.ndarray | None = None
    ending: dict | None = None


def measure(
    model,
    X,
    y,
    *,
    cv=5,
    n_repeats=2,
    scoring=None,
    groups=None,
    random_state=0,
    n_jobs=None,
    try_advice=True,
    trace=None,
) -> Measurements:
    """All fits of a diagnosis, as one batch of tasks."""
    classify, random_state = is_classifier(model), check_random_state(random_state)
    splits = make_splits(model, X, y, cv, n_repeats, groups, random_state)
    scorer = check_scoring(model, scoring)
    columns, target = Columns(X), _Target(y, classify)
    contenders, labels = _contenders(_seeded(model, random_state), X, columns, classify, try_advice)
    jobs = _jobs(contenders, y, splits, classify)
    tell = _Teller(trace)

    def work(job):
        try:
            outcome = _outcome(job, y, scorer, target)
        except Exception:
            if job.name == "model":
                raise
            outcome = None  # a variant that cannot be fitted says nothing
        tell(outcome)
        return outcome

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # how fits ended is a check of its own
        warnings.filterwarnings("ignore", "Using the fractional value max_samples")  # of a copy with smaller samples
        found = member_map(work, jobs, n_jobs, own=all(is_own(job.model) for job in jobs))
        alone = column_scores(columns, y, splits[: _first_round(splits)], scorer, classify=classify, n_jobs=n_jobs)
    scores = _by_name(jobs, found)
    own = [outcome for job, outcome in zip(jobs, found) if job.name == "model"]
    scores["train"] = np.array([outcome.train for outcome in own])
    answers = [(test, outcome.answers) for (_, test), outcome in zip(splits, own)]
    half = scores.pop("half", None)
    return Measurements(
        scores=scores,
        test_share=share_of_splits(splits),
        labels=labels,
        curve={} if half is None else {0.5: half, 1.0: scores["model"]},
        columns={columns.names[j]: float(values.mean()) for j, values in alone.items()},
        **spread(answers, target.numbers),
        **(confidence(answers, target.numbers) if classify and hasattr(model, "predict_proba") else {}),
        n_rows=len(y),
        endings=[outcome.ending for outcome in own],
        perfect=perfect_score(scoring),
        n_fits=len(jobs),
    )


class _Teller:
    """Tells a trace of each finished fit: how many there were, and the score on new rows."""

    def __init__(self, trace):
        self._trace, self._count, self._lock = trace, 0, threading.Lock()

    def __call__(self, outcome):
        if self._trace is not None:
            with self._lock:
                self._count += 1
                self._trace(self._count, np.nan if outcome is None else outcome.test)


def _seeded(model, random_state):
    """A copy in which nothing random is left open: the same call shall give the same findings."""
    copy = clone(model)
    values = copy.get_params(deep=True)
    names = [name for name in sorted(values) if name.split("__")[-1] == "random_state" and values[name] is None]
    return copy.set_params(**{name: int(random_state.randint(MAX_SEED)) for name in names})


def perfect_score(scoring) -> float:
    """Best value of a scorer by name: 0 for losses with their sign changed, else 1; NaN for functions."""
    if scoring is None:
        return 1.0  # accuracy or R^2
    if not isinstance(scoring, str) or "likelihood_ratio" in scoring:
        return np.nan
    return 0.0 if scoring.startswith("neg_") else 1.0


def _first_round(splits):
    """How many splits it takes until every row has been left out once, or all of them."""
    left, rows = set(), np.unique(np.concatenate([test for _, test in splits])).size
    for i, (_, test) in enumerate(splits):
        left.update(test.tolist())
        if len(left) == rows:
            return i + 1
    return len(splits)


def _contenders(model, X, columns, classify, try_advice):
    """{name: (model, table)} and {name: label}."""
    from hyperplan._base import DummyClassifier, DummyRegressor

    contenders = {"model": (model, X)}
    contenders["baseline"] = DummyClassifier(strategy="prior") if classify else DummyRegressor(), X
    labels = {}
    if try_advice:
        for kind, problem in (("simpler", "overfit"), ("flexible", "underfit")):
            for i, (label, copy) in enumerate(trials(model, problem).items()):
                contenders[f"{kind} {i + 1}"], labels[f"{kind} {i + 1}"] = (copy, X), label
        if X.shape[0] * X.shape[1] <= MOST_ENTRIES:
            reference = _reference(X.shape[0], classify)
            contenders["reference"], labels["reference"] = (reference, columns.matrix()), type(reference).__name__
    return contenders, labels


def _jobs(contenders, y, splits, classify):
    jobs = [Job(name, *pair, *split) for name, pair in contenders.items() for split in splits]
    strata = np.unique(np.asarray(y), return_inverse=True)[1] if classify else np.zeros(len(y), dtype=np.intp)
    return jobs + [Job("half", *contenders["model"], _half(train, strata), test) for train, test in splits]


def _reference(n_rows, classify):
    """A flexible model of another kind that needs no tuning."""
    if n_rows < FEW_ROWS:
        return (RandomForestClassifier if classify else RandomForestRegressor)(random_state=0)
    return (HistGradientBoostingClassifier if classify else HistGradientBoostingRegressor)(random_state=0)


def _half(train, strata):
    """Every second of the training rows, of each class alike."""
    shuffled = np.random.default_rng(len(train)).permutation(train)
    return np.sort(shuffled[np.argsort(strata[shuffled], kind="stable")][::2])


class _Target:
    """The target as numbers: itself, or one indicator per class."""

    def __init__(self, y, classify):
        self.classes = np.unique(np.asarray(y)) if classify else None
        values = np.asarray(y)
        self.numbers = indicators(values, self.classes) if classify else values.reshape(len(y), -1).astype(float)

    def answers(self, model, X):
        """What a model says in the same numbers: probabilities, votes, or predictions."""
        if self.classes is None:
            return np.asarray(model.predict(X), dtype=np.float64).reshape(X.shape[0], -1)
        if hasattr(model, "predict_proba"):
            known = np.searchsorted(self.classes, model.classes_)
            answers = np.zeros((X.shape[0], self.classes.shape[0]))
            answers[:, known] = model.predict_proba(X)
            return answers
        return indicators(model.predict(X), self.classes)


def _outcome(job, y, scorer, target) -> Outcome:
    fitted = clone(job.model).fit(rows_of(job.X, job.train), rows_of(y, job.train))
    test = rows_of(job.X, job.test)
    score = float(scorer(fitted, test, rows_of(y, job.test)))
    if job.name != "model":
        return Outcome(score)
    train_score = float(scorer(fitted, rows_of(job.X, job.train), rows_of(y, job.train)))
    return Outcome(score, train_score, target.answers(fitted, test), _ending(fitted))


def _ending(model) -> dict:
    """Whether a fit reached its goal, as far as the fitted model says."""
    core = core_of(model).estimator
    ending: dict = {}
    certificate = getattr(core, "certificate_", None)
    if certificate is not None:
        ending |= {"holds": certificate.holds, "value": float(certificate.value), "bound": float(certificate.bound)}
    steps, most = getattr(core, "n_iter_", None), getattr(core, "max_iter", None)
    stops_early = hasattr(core, "validation_fraction") or hasattr(core, "do_early_stopping_")
    if steps is not None and isinstance(most, int) and most > 0 and not stops_early and certificate is None:
        ending |= {"holds": bool(np.max(steps) < most), "value": float(np.max(steps)), "bound": float(most)}
    return ending


def _by_name(jobs, found) -> dict:
    names = dict.fromkeys(job.name for job in jobs)
    groups = {name: [out for job, out in zip(jobs, found) if job.name == name] for name in names}
    kept = {name: outs for name, outs in groups.items() if all(out is not None for out in outs)}
    scores = {name: np.array([out.test for out in outs]) for name, outs in kept.items()}
    return {name: values for name, values in scores.items() if name == "model" or np.isfinite(values).all()}
