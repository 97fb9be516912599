"""What a diagnosis reads: scores of a model and its rivals, and what answers about the same rows tell."""

from typing import NamedTuple

import numpy as np


class Measurements(NamedTuple):
    """Everything the checks read.  Scores are such that larger is better; what was not measured is not there.

    Attributes
    ----------
    scores : dict of name -> array of shape (n_splits,)
        Scores on new rows: "model", "baseline" (ignores the columns), "reference", "simpler 1", "flexible 1", ...;
        and "train", the model on its training rows.
    test_share : float
        n_test / n_train of the splits.
    labels : dict of name -> str
        What was changed in the copies; the class of a reference.
    curve : dict of share -> array
        Scores of the model when fitted on half (0.5) and on all (1.0) of the training rows, split by split.
    columns : dict of name -> float
        Mean score of a small tree on that column alone.
    importances : dict of name -> float
        How much worse the score becomes when the column is shuffled.
    variance, error, total : float
        Mean variance between answers of models fitted to different rows, the mean squared error of the answers (Brier
        score for classes), and the variance of the target.
    confidence, accuracy : float
        Mean probability of the predicted class, share of rows where it is right; NaN without probabilities.
    n_rows : int
    endings : list of dict
        How fits of the model ended: "holds", "value", "bound".
    perfect : float
        The best possible score, NaN if not known.
    sign : {1, -1}
        -1 if the scores are losses with their sign changed, which people shall see without it.
    n_fits : int
        How many models were fitted for this, trees of single columns not counted.
    """

    scores: dict
    test_share: float
    labels: dict = {}
    curve: dict = {}
    columns: dict = {}
    importances: dict = {}
    variance: float = np.nan
    error: float = np.nan
    total: float = np.nan
    confidence: float = np.nan
    accuracy: float = np.nan
    n_rows: int = 0
    endings: list = []
    perfect: float = np.nan
    sign: int = 1
    n_fits: int = 0


def spread(answers, truth) -> dict:
    """Unbiased variance between answers about the same row by different fits, mean squared error, variance of truth.

    `answers` is a list of (rows, numbers of shape (len(rows), k)), one per split; `truth` has shape (n_rows, k).
    """
    count = np.zeros(truth.shape[0])
    total = np.zeros_like(truth)
    squares, errors = np.zeros_like(count), []
    shift = truth.mean(axis=0)  # large numbers that vary little would cancel otherwise
    for rows, numbers in answers:
        count[rows] += 1
        total[rows] += numbers - shift
        squares[rows] += ((numbers - shift) ** 2).sum(axis=1)
        errors.append(((numbers - truth[rows]) ** 2).sum(axis=1))
    often = count > 1
    within = squares[often] - (total[often] ** 2).sum(axis=1) / count[often]
    variance = float(np.mean(np.maximum(within, 0.0) / (count[often] - 1))) if often.any() else np.nan
    total = float(((truth - shift) ** 2).sum(axis=1).mean())
    return {"variance": variance, "error": float(np.concatenate(errors).mean()), "total": total}


def confidence(answers, truth) -> dict:
    """Mean probability of the predicted class against how often it is right."""
    top = np.concatenate([numbers.max(axis=1) for _, numbers in answers])
    right = [numbers.argmax(axis=1) == truth[rows].argmax(axis=1) for rows, numbers in answers]
    return {"confidence": float(top.mean()), "accuracy": float(np.concatenate(right).mean())}


def indicators(y, classes) -> np.ndarray:
    """One column per class, 1 where a row has it."""
    return (np.asarray(y)[:, None] == np.asarray(classes)) * 1.0
