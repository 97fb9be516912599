"""Forests and boosting in the model competition."""

from hyperplan._base.candidate import Candidate, Range

TREES = {"min_samples_leaf": Range(1, 20, log=True, whole=True), "max_features": (0.2, 0.35, 0.5, 0.75, 1.0)}
BOOSTING = {
    "learning_rate": Range(0.02, 0.3, log=True),
    "max_iter": Range(60, 500, log=True, whole=True),
    "max_leaf_nodes": Range(6, 96, log=True, whole=True),
    "min_samples_leaf": Range(3, 60, log=True, whole=True),
    "l2_regularization": Range(1e-3, 30.0, log=True),
    "max_features": (0.3, 0.5, 0.8, 1.0),
}


def _of(kind, task):
    """The candidates of one task."""
    forest = {"n_estimators": 200, "max_features": "sqrt" if task == "classification" else 0.4, "random_state": 0}
    boosting = {"categorical_encoding": "auto", "early_stopping": False, "random_state": 0}
    return (
        Candidate(
            f"ensemble.RandomForest{kind}",
            task,
            "Random forest",
            50,
            "trees",
            (0.2, 6.0),
            {**forest, "min_samples_leaf": 2},
            TREES,
        ),
        Candidate(
            f"ensemble.ExtraTrees{kind}",
            task,
            "Extra trees",
            51,
            "trees",
            (0.2, 5.0),
            {**forest, "min_samples_leaf": 2},
            TREES,
        ),
        Candidate(
            f"ensemble.HistGradientBoosting{kind}",
            task,
            "Histogram boosting",
            70,
            "native",
            (0.1, 0.5),
            boosting,
            BOOSTING,
        ),
    )


CANDIDATES = (*_of("Classifier", "classification"), *_of("Regressor", "regression"))
