"""A diagnosis from numbers that somebody has already: the checks of `diagnose` without a single fit."""

import numpy as np

from hyperplan._base import is_classifier
from hyperplan._texts import LANGUAGES
from hyperplan.evaluation._checks import check_choice, check_level, check_scores, check_share
from hyperplan.evaluation._diagnose_numbers import Measurements, confidence, indicators, spread
from hyperplan.evaluation._diagnose_record import Diagnosis, make_diagnosis


def diagnose_scores(
    model,
    train,
    validation,
    *,
    test_share: float,
    baseline=None,
    perfect: float | None = None,
    greater_is_better: bool = True,
    simpler=None,
    flexible=None,
    others=None,
    curve=None,
    columns=None,
    importances=None,
    answers=None,
    y=None,
    endings=(),
    level: float = 0.95,
    language: str = "en",
) -> Diagnosis:
    """diagnose_scores(model, train, validation, *, test_share, baseline=None, perfect=None, greater_is_better=True,
    simpler=None, flexible=None, others=None, curve=None, columns=None, importances=None, answers=None, y=None,
    endings=(), level=0.95, language="en") -> Diagnosis(name, findings, verdicts, measurements, language)

    The checks of `diagnose` on scores that are known already, of a competition or a cross-validation; nothing is
    fitted.  What is not given is not checked.

    Parameters
    ----------
    model : estimator
        Whose parameters the advice names; need not be fitted.
    train, validation : arrays of shape (n_splits,), n_splits >= 2
        Scores of the model on its training rows and on the rows left out, split by split.
    test_share : float
        n_test / n_train of one split: 1/4 with five folds.
    baseline : array of shape (n_splits,), optional
        Scores of an answer that ignores the columns, on the same splits.
    perfect : float, optional
        The best possible score, in the same units.
    greater_is_better : bool, default=True
        False if all these numbers are losses.
    simpler, flexible, others : dict of label -> array of shape (n_splits,), optional
        Scores on the same splits of simpler and more flexible versions of the model, and of models of other kinds.
    curve : dict of share -> array, optional
        Scores on rows left out when fitted on shares of the training rows, on any common splits; 0.5 and 1.0 are read.
    columns : dict of name -> float, optional
        Mean score of each column alone.
    importances : dict of name -> float, optional
        How much worse the score becomes when the column is shuffled (always positive for a useful column).
    answers : list of (rows, answers), optional
        For each split the numbers of its test rows and what the model said of them: predictions of shape (n_test,), or
        probabilities of shape (n_test, n_classes).  Rows that several splits left out tell how stable the model is.
    y : array of shape (n_rows,), optional
        What `answers` are about: numbers, or for a classifier the codes 0, 1, ... of the columns of probabilities.
    endings : list of dict, optional
        How fits ended: ``{"holds": bool, "value": float, "bound": float}``, see D11.
    level : float, default=0.95
        Of the intervals.
    language : {"en", "fr"}, default="en"
        Of the words.

    Examples
    --------
    >>> from hyperplan.evaluation import diagnose_scores
    >>> from hyperplan.tree import DecisionTreeClassifier
    >>> diagnosis = diagnose_scores(
    ...     DecisionTreeClassifier(),
    ...     train=[1.0, 1.0, 1.0, 1.0, 1.0],
    ...     validation=[0.71, 0.69, 0.70, 0.72, 0.70],
    ...     test_share=1 / 4,
    ...     baseline=[0.5] * 5,
    ...     perfect=1.0,
    ...     simpler={"max_depth=4": [0.80, 0.79, 0.78, 0.81, 0.80]},
    ... )
    >>> diagnosis.verdicts
    ('overfit',)
    """
    check_choice("language", language, LANGUAGES)
    check_level(level)
    sign = 1 if greater_is_better else -1
    scores, labels = {"model": validation, "train": train}, {}
    if baseline is not None:
        scores["baseline"] = baseline
    for kind, rivals in (("simpler", simpler), ("flexible", flexible), ("reference", others)):
        for i, (label, values) in enumerate((rivals or {}).items(), 1):
            scores[f"{kind} {i}"], labels[f"{kind} {i}"] = values, str(label)
    found = Measurements(
        scores={name: sign * values for name, values in _same_splits(scores).items()},
        test_share=check_share(test_share),
        labels=labels,
        curve={float(share): sign * check_scores(values) for share, values in (curve or {}).items()},
        columns={str(name): sign * float(value) for name, value in (columns or {}).items()},
        importances={str(name): float(value) for name, value in (importances or {}).items()},
        n_rows=0 if y is None else len(y),
        endings=list(endings),
        perfect=np.nan if perfect is None else sign * float(perfect),
        sign=sign,
        **_about_answers(model, answers, y),
    )
    return make_diagnosis(model, found, level, language)


def _same_splits(scores) -> dict:
    checked = {name: check_scores(values) for name, values in scores.items()}
    n_splits = checked["model"].size
    for name, values in checked.items():
        if values.size != n_splits:
            raise ValueError(f"{name} has {values.size} scores, but there are {n_splits} splits: one score per split")
    return checked


def _about_answers(model, answers, y) -> dict:
    if answers is None:
        return {}
    if y is None:
        raise ValueError("answers need y, the true values of all rows")
    classify = is_classifier(model)
    y = np.asarray(y)
    answers = [(np.asarray(rows), np.asarray(said, dtype=np.float64).reshape(len(rows), -1)) for rows, said in answers]
    truth = indicators(y, np.arange(answers[0][1].shape[1])) if classify else y.reshape(len(y), -1).astype(np.float64)
    about = spread(answers, truth)
    return about | confidence(answers, truth) if classify and hasattr(model, "predict_proba") else about
