"""The smallest C for which an l1-penalised linear classifier is not empty.

At w = 0 the gradient of the loss is ``-C * factor * X's`` with factor 2 (squared hinge) or 1/2 (logistic); zero is
optimal as long as no column exceeds 1.
"""

import numpy as np

from hyperplan._base import (
    Bool,
    Choice,
    InvalidParameterError,
    Real,
    check_array,
    check_consistent_length,
    encode_labels,
)

_PARAMS = {
    "loss": Choice("squared_hinge", "log"),
    "fit_intercept": Bool,
    "intercept_scaling": Real(gt=0),
}


def l1_min_c(X, y, *, loss="squared_hinge", fit_intercept=True, intercept_scaling=1.0):
    """Lower end of the useful values of C with an l1 penalty: at or below it all coefficients are zero.

    Holds for `LinearSVC` (``penalty='l1'``) and logistic regression with an l1 penalty, without class weights.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Training rows.
    y : array-like of shape (n_samples,)
        Labels.
    loss : {'squared_hinge', 'log'}, default='squared_hinge'
        Loss of the classifier.
    fit_intercept : bool, default=True
        Whether the classifier has a (penalised) intercept.
    intercept_scaling : float, default=1.0
        The constant appended to each row for the intercept.

    Returns
    -------
    l1_min_c : float
        The bound.

    Examples
    --------
    >>> from hyperplan.svm import l1_min_c
    >>> l1_min_c([[2.0], [0.0], [-2.0]], [1, 1, 0], fit_intercept=False)
    0.125
    """
    given = {"loss": loss, "fit_intercept": fit_intercept, "intercept_scaling": intercept_scaling}
    for name, rule in _PARAMS.items():
        if not rule(given[name]):
            raise InvalidParameterError(
                f"The {name!r} parameter of l1_min_c must be {rule}. Got {given[name]!r} instead."
            )
    X = check_array(X, accept_sparse="csc")
    check_consistent_length(X, y)
    labels = encode_labels(y, min_classes=1)
    n_classes = labels.classes.size
    positives = [1] if n_classes <= 2 else range(n_classes)
    signs = np.stack([np.where(labels.codes == k, 1.0, -1.0) for k in positives], axis=1)
    largest = np.abs(X.T @ signs).max()
    if fit_intercept:
        largest = max(largest, np.abs(intercept_scaling * signs.sum(axis=0)).max())
    if largest == 0.0:
        raise ValueError("Ill-posed l1_min_c calculation: l1 will always select zero coefficients for this data")
    return float((0.5 if loss == "squared_hinge" else 2.0) / largest)
