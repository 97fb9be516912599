"""The function form of ridge regression: coefficients without an estimator.

Objective: ``sum_i w_i (y_i - x_i' coef)^2 + alpha |coef|^2``.
"""

import warnings

import numpy as np
import scipy.sparse as sp

from hyperplan._base import ConvergenceWarning, check_array, check_consistent_length, check_weight, seed_from
from hyperplan.linear_model._ridge import chosen_solver, not_converged, penalties, ridge_attributes, solve_ridge
from hyperplan.linear_model._ridge_solvers import SOLVERS, RidgeProblem


def ridge_regression(
    X,
    y,
    alpha,
    *,
    sample_weight=None,
    solver="auto",
    max_iter=None,
    tol=1e-4,
    verbose=0,
    positive=False,
    random_state=None,
    return_n_iter=False,
    return_intercept=False,
    check_input=True,
):
    """Ridge coefficients without intercept (see `Ridge` for the objective and the solvers).

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Training data.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets.
    alpha : float or array-like of shape (n_targets,)
        Penalty.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Weights of rows.
    solver : str, default='auto'
        As in `Ridge`; with ``return_intercept=True``, 'sag'.
    max_iter : int, default=None
        Most iterations of an iterative solver.
    tol : float, default=1e-4
        Stopping rule of an iterative solver.
    verbose : int, default=0
        Warn when 'sparse_cg' does not converge.
    positive : bool, default=False
        Constrain the coefficients to be non-negative.
    random_state : int, RandomState instance or None, default=None
        Order of rows for 'sag' and 'saga'.
    return_n_iter : bool, default=False
        Return the number of iterations too.
    return_intercept : bool, default=False
        Learn an intercept with 'sag' and return it too.
    check_input : bool, default=True
        False skips the checks of X and y.

    Returns
    -------
    coef : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    n_iter : ndarray of shape (n_targets,)
        Only with `return_n_iter`; None for direct solvers.
    intercept : float or ndarray of shape (n_targets,)
        Only with `return_intercept`.

    Examples
    --------
    >>> from hyperplan.linear_model import ridge_regression
    >>> ridge_regression([[1.0], [2.0]], [1.0, 2.0], alpha=5.0)
    array([0.5])
    """
    solver = _solver_of(solver, positive, return_intercept)
    if check_input:
        X = check_array(X, accept_sparse=("csr", "csc"), dtype=[np.float64, np.float32])
        y = check_array(y, dtype=X.dtype, ensure_2d=False)
    check_consistent_length(X, y)
    if y.ndim > 2:
        raise ValueError(f"Target y has the wrong shape {y.shape}")
    Y = y.astype(np.float64, copy=False).reshape(X.shape[0], -1)
    seed = seed_from(random_state) if solver in ("sag", "saga") else 0
    weight = check_weight(sample_weight, X)
    learn = return_intercept and sp.issparse(X)
    center = return_intercept and not learn
    alpha = penalties(alpha, Y.shape[1])
    fit = solve_ridge(RidgeProblem(X, Y, weight, alpha, center, tol, max_iter, seed, learn), solver)
    if not fit.status.ok and (solver in ("sag", "saga") or (verbose and max_iter is None)):
        words = f"{fit.solver} did not converge after {sum(X.shape)} iterations." if verbose else ""
        warnings.warn(words or not_converged(fit, max_iter, tol), ConvergenceWarning, stacklevel=2)
    coef, intercept = ridge_attributes(fit, y.ndim, X.dtype, return_intercept)
    if return_intercept and np.size(intercept) == 1:
        intercept = np.ravel(intercept)[0]
    parts = (coef, *((fit.n_iter,) if return_n_iter else ()), *((intercept,) if return_intercept else ()))
    return parts if len(parts) > 1 else coef


def _solver_of(solver, positive, return_intercept):
    """The solver to use, or scikit-learn's errors."""
    if solver == "auto" and return_intercept and not positive:
        solver = "sag"
    if positive and solver not in ("auto", "lbfgs"):
        raise ValueError(
            f"When positive=True, only 'lbfgs' solver can be used. Please change solver {solver} to 'lbfgs' or set "
            "positive=False."
        )
    solver = chosen_solver(solver, positive, False)
    if solver not in SOLVERS:
        raise ValueError(f"The 'solver' parameter of ridge_regression must be among {set(SOLVERS)}. Got {solver!r}")
    if return_intercept and solver != "sag":
        raise ValueError(
            "In Ridge, only 'sag' solver can directly fit the intercept. Please change solver to 'sag' or set "
            "return_intercept=False."
        )
    return solver
