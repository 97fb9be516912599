"""Shapley values of tree models: what each feature adds to a prediction.

For a row x and a set S of features let v(S) be the mean answer of the model when splits on features of S follow x and
all others send it both ways, in proportion to the training weight of the children.  The value of feature f is

    phi_f = sum over sets S without f of  |S|! (d - |S| - 1)! / d!  [v(S + f) - v(S)],

the only attribution that is additive over trees, treats equal features alike, gives 0 to unused ones and adds up:
v(nothing) + sum_f phi_f is the prediction.
"""

from typing import NamedTuple

import numpy as np

from hyperplan._trees.shap import explain, plan
from hyperplan.ensemble._explain_trees import read_model


class Explanation(NamedTuple):
    """What each feature adds to each prediction.

    Attributes
    ----------
    values : ndarray of shape (n_samples, n_features) or (n_samples, n_features, ...)
        Shapley values; the last axes are those of one answer.
    base : float or ndarray
        Answer when no feature is known: ``base + values.sum(axis=1)`` is the prediction.
    """

    values: np.ndarray
    base: float | np.ndarray


def shap_values(model, X) -> Explanation:
    """Exact Shapley values of a fitted tree model (path-dependent TreeSHAP).

    Trees and forests are explained in what they average: numbers, or class shares as in `predict_proba`.  Boosting is
    explained in the space where its trees add up, that of raw scores: `decision_function`, or the logarithm of the
    prediction for losses with a log link.  Features a path does not know are averaged over the training rows of the
    nodes (by weight; by number of rows for histogram boosting).  Missing values and categories follow the model's own
    decisions; a stand-in for a missing value counts for the feature of the split.

    Parameters
    ----------
    model : fitted decision tree, forest, extra trees, gradient boosting or histogram gradient boosting
        Of this package.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows, as `predict` takes them.

    Returns
    -------
    explanation : Explanation
        ``(values, base)``.  `values` has shape (n_samples, n_features) for one number per row, and further axes for
        more: (n_classes,) for class shares and multiclass scores, (n_outputs,) or (n_outputs, n_classes) for several
        outputs.  `base` has the shape of one answer.  If gradient boosting started from a model of the user
        (`init`), the answers of that model are part of the base, which then has one line per row.

    Notes
    -----
    The Shapley value is an integral of a polynomial (Owen), which Gauss's rule computes without error other than
    rounding: time is proportional to rows x nodes x half the number of features on a path, and threads do not change
    a bit.

    References
    ----------
    Lundberg, Erion, Chen, DeGrave, Prutkin, Nair, Katz, Himmelfarb, Bansal, Lee (2020), From local explanations to
    global understanding with explainable AI for trees, Nature Machine Intelligence 2.
    Yu, Xu, Bi, Liu (2022), Linear TreeSHAP, Advances in Neural Information Processing Systems 35.
    Owen (1972), Multilinear extensions of games, Management Science 18.

    Examples
    --------
    >>> from hyperplan.ensemble import shap_values
    >>> from hyperplan.tree import DecisionTreeRegressor
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0.0, 0.0, 0.0, 8.0]  # both must be 1
    >>> model = DecisionTreeRegressor(random_state=0).fit(X, y)
    >>> values, base = shap_values(model, [[1, 1], [1, 0]])
    >>> base
    2.0
    >>> values.round(12).tolist()
    [[3.0, 3.0], [1.0, -3.0]]
    """
    reading = read_model(model)
    n_outputs, d = reading.constant.shape[0], model.n_features_in_
    planned = plan(reading.trees, n_outputs)
    rows = reading.rows(X)
    values = explain(planned, rows.read, rows.n, d, reading.n_jobs)
    base = planned.base + reading.constant
    if rows.start is not None:
        constant = bool((rows.start == rows.start[:1]).all())
        base = base + (rows.start[0] if constant else rows.start)
    values = values.reshape((rows.n, d, *reading.shape))
    base = base.reshape((*base.shape[:-1], *reading.shape))
    return Explanation(values, float(base) if base.ndim == 0 else base)
