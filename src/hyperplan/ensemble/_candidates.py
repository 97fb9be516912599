"""Forests and boosting in the model competition.

The known good settings are few, and far from each other: small leaves or large ones, trees of few or of many leaves,
all columns or some.  Small steps, with as many rounds as help, hardly ever lose to large ones.
"""

from hyperplan._base.candidate import Candidate, Range

LEAVES = {"min_samples_leaf": Range(1, 20, log=True, whole=True), "max_features": (0.2, 0.35, 0.5, 0.75, 1.0)}
KNOWN_LEAVES = (
    {"min_samples_leaf": 1, "max_features": 0.6},
    {"min_samples_leaf": 5, "max_features": 0.5},
    {"min_samples_leaf": 1, "max_features": 0.25},
)
BOOSTING = {
    "learning_rate": Range(0.03, 0.2, log=True),
    "max_leaf_nodes": Range(4, 96, log=True, whole=True),
    "min_samples_leaf": Range(2, 60, log=True, whole=True),
    "l2_regularization": Range(1e-3, 30.0, log=True),
    "max_features": (0.3, 0.5, 0.8, 1.0),
}
SMALL_STEPS = {"learning_rate": 0.06, "min_samples_leaf": 10}
KNOWN_BOOSTING = (
    {**SMALL_STEPS, "max_leaf_nodes": 16, "l2_regularization": 1.0, "max_features": 0.5},
    {**SMALL_STEPS, "max_leaf_nodes": 6, "l2_regularization": 1.0, "max_features": 0.8},
    {**SMALL_STEPS, "max_leaf_nodes": 64, "l2_regularization": 3.0, "max_features": 0.5},
)
MOST_ROUNDS = 600


def _forest(name, task, label, rank, seconds):
    is_class = task == "classification"  # leaves of one row: good means, probabilities too sure
    leaves = {"max_features": "sqrt", "min_samples_leaf": 2} if is_class else {"max_features": 0.4}
    defaults = {"n_estimators": 200, **leaves, "random_state": 0}
    return Candidate(name, task, label, rank, "trees", seconds, defaults, LEAVES, portfolio=KNOWN_LEAVES, effort=2.0)


def _boosting(name, task):
    return Candidate(
        name,
        task,
        "Histogram boosting",
        70,
        "pairs",
        (0.1, 0.5),
        {"categorical_encoding": "auto", "early_stopping": False, "random_state": 0},
        BOOSTING,
        portfolio=KNOWN_BOOSTING,
        rounds=("max_iter", MOST_ROUNDS),
        effort=5.0,
    )


def _of(kind, task):
    """The candidates of one task."""
    return (
        _forest(f"ensemble.RandomForest{kind}", task, "Random forest", 50, (0.2, 6.0)),
        _forest(f"ensemble.ExtraTrees{kind}", task, "Extra trees", 51, (0.2, 5.0)),
        _boosting(f"ensemble.HistGradientBoosting{kind}", task),
    )


CANDIDATES = (*_of("Classifier", "classification"), *_of("Regressor", "regression"))
