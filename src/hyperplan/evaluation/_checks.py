"""Arguments that several methods share, checked in one place."""

import numpy as np


def check_level(level) -> float:
    """A confidence level strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1 (0.95 for 95 %), got {level!r}")
    return float(level)


def check_share(test_share) -> float:
    """n_test / n_train of one split."""
    if not (np.isfinite(test_share) and test_share >= 0):
        raise ValueError(f"test_share is n_test / n_train of one split (1/4 with five folds), got {test_share!r}")
    return float(test_share)


def check_choice(name, value, options):
    """One of some words."""
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}; got {value!r}")
    return value


def check_labels(labels, name="labels") -> np.ndarray:
    """One value per row; a table of one column is taken for that column, which would else be paired with every row."""
    labels = np.asarray(labels)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or not labels.size:
        raise ValueError(f"{name} must be one value per row, of at least one row; got shape {labels.shape}")
    return labels


def check_scores(scores) -> np.ndarray:
    """At least two finite numbers, one per split."""
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 1 or scores.size < 2:
        raise ValueError(f"scores must be a list of at least two numbers, one per split; got shape {scores.shape}")
    if not np.isfinite(scores).all():
        raise ValueError(f"the score on split {np.flatnonzero(~np.isfinite(scores))[0]} is not a finite number")
    return scores


def score_table(scores) -> tuple[list, np.ndarray]:
    """``names, matrix`` with a row per split and a column per model, from a mapping, a frame or an array."""
    if hasattr(scores, "table"):  # what `score_models` returns
        scores = scores.table
    if hasattr(scores, "columns"):
        names, matrix = list(scores.columns), np.asarray(scores, dtype=np.float64)
    elif hasattr(scores, "keys"):
        names, columns = list(scores), [np.asarray(column, dtype=np.float64) for column in scores.values()]
        if len({column.shape for column in columns}) > 1:
            sizes = ", ".join(f"{name!r}: {column.size}" for name, column in zip(names, columns))
            raise ValueError(f"models must be scored on the same splits, got different numbers of scores ({sizes})")
        matrix = np.column_stack(columns) if columns else np.empty((0, 0))
    else:
        matrix = np.asarray(scores, dtype=np.float64)
        names = list(range(matrix.shape[1])) if matrix.ndim == 2 else []
    if matrix.ndim != 2 or matrix.shape[0] < 2 or matrix.shape[1] < 1:
        raise ValueError(
            f"scores must have at least two splits (rows) and one model (column); got an array of shape {matrix.shape}"
        )
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        split, model = bad[0]
        raise ValueError(f"model {names[model]!r} has no finite score on split {split}: leave the model out")
    return names, matrix
