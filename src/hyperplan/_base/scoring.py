"""Scorers for cross-validation, also on folds where a class is missing."""

import numpy as np
from sklearn import config_context
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names, make_scorer

__all__ = ["check_scoring", "get_scorer", "get_scorer_names", "make_scorer", "score_with_labels"]


def score_with_labels(scorer, model, X, y, classes, params):
    """``scorer(model, X, y, **params)``; when y lacks a class, metrics that can are told all `classes`."""
    if np.unique(y).shape[0] == classes.shape[0]:
        return scorer(model, X, y, **params)
    binary = {"pos_label": classes[-1]} if classes.shape[0] == 2 else {}
    for extra in ({"labels": classes, **binary}, {"labels": classes}):
        try:
            with config_context(enable_metadata_routing=True):
                return scorer(model, X, y, **params, **extra)
        except TypeError:  # the metric takes no labels
            continue
    return scorer(model, X, y, **params)
