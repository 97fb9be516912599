"""Kernel classification solved in the primal: a second, independent way to the function that `SVC` finds."""

import numpy as np

from hyperplan._base import InvalidParameterError, Real, check_array, check_consistent_length, encode_labels
from hyperplan._solvers.kernel_svm_primal import solve_primal


def primal_svc(K, y, *, C=1.0, tol=1e-6, max_iter=500):
    """Minimise ``1/2 b'Kb + C sum_i max(0, 1 - s_i (Kb + c)_i)`` over b and c by Newton's method.

    The hinge is rounded off within a shrinking distance of its kink.  Stops when the gap between this objective and the
    dual objective of the same coefficients is at most `tol` times the objective.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        Kernel matrix, positive semi-definite.
    y : array-like of shape (n_samples,)
        Labels of two classes; the second has sign +1.
    C : float, default=1.0
        Cost of a margin violation, one over the lambda of the regularised form.
    tol : float, default=1e-6
        Relative duality gap at which to stop.
    max_iter : int, default=500
        Largest number of Newton steps.

    Returns
    -------
    solution : PrimalSolution
        ``beta``, ``intercept``, ``primal``, ``gap``, ``n_iter`` and ``status``.

    References
    ----------
    Chapelle (2007), Training a support vector machine in the primal, Neural Computation 19(5).

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.svm import primal_svc
    >>> X = np.array([[0.0], [2.0]])
    >>> found = primal_svc(X @ X.T, [-1, 1], C=100.0)
    >>> (X.T @ found.beta).round(4).tolist(), round(found.intercept, 4)
    ([1.0], -1.0)
    """
    if not Real(gt=0)(C) or np.isinf(C):
        raise InvalidParameterError(
            f"The 'C' parameter of primal_svc must be a finite float above 0. Got {C!r} instead."
        )
    K = check_array(K, dtype=np.float64, input_name="K")
    check_consistent_length(K, y)
    labels = encode_labels(y, estimator_name="primal_svc")
    if K.shape[0] != K.shape[1] or labels.classes.size != 2:
        raise ValueError(f"primal_svc needs a square matrix and two classes, got {K.shape} and {labels.classes.size}")
    signs = np.where(labels.codes == 1, 1.0, -1.0)
    return solve_primal(K, signs, np.full(signs.size, float(C)), tol=tol, max_iter=max_iter)
