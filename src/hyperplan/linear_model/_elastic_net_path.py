"""Regularisation paths of the elastic net and the lasso, by coordinate descent with warm starts.

    minimise  1/(2n) |y - Xw|^2 + alpha (r |w|_1 + (1 - r)/2 |w|_2^2)      for each alpha, from the largest to the
    smallest

There is no intercept here: centre X and y first.  With several targets the penalty is on the rows of W (see
MultiTaskLasso).
"""

import sys
import warnings
from numbers import Integral, Real

import numpy as np
import scipy.sparse as sp

from hyperplan._base import FLOATS, InvalidParameterError, check_array, seed_from
from hyperplan._core.rng import kernel_state
from hyperplan._solvers.coordinate import Options
from hyperplan.linear_model._elastic_net_problem import (
    alpha_grid,
    alpha_grid_from,
    make_problem,
    penalties_for,
    warn_unconverged,
)
from hyperplan.linear_model._multi_task_problem import multi_task_path

_CYCLIC = np.empty(0, dtype=np.uint64)


def solver_options(tol, max_iter, selection, random_state) -> Options:
    """`Options` from the arguments that estimators and paths share."""
    if selection not in ("random", "cyclic"):
        raise ValueError("selection should be either random or cyclic.")
    rng = kernel_state(seed_from(random_state)) if selection == "random" else _CYCLIC
    return Options(float(tol), 1000 if max_iter is None else int(max_iter), rng)


def enet_path(
    X,
    y,
    *,
    l1_ratio=0.5,
    eps=1e-3,
    n_alphas="deprecated",
    alphas="warn",
    precompute="auto",
    Xy=None,
    copy_X=True,
    coef_init=None,
    verbose=False,
    return_n_iter=False,
    positive=False,
    check_input=True,
    **params,
):
    """Elastic-net coefficients for a decreasing sequence of penalties.

    Minimises ``1/(2n) |y - Xw|^2 + alpha (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2)`` for each alpha, starting from the
    solution of the previous one.  Each stops when its duality gap is at most ``tol * |y|^2 / n``.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Centred data.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Centred target; several targets are solved together with a penalty on the norms of rows.
    l1_ratio : float, default=0.5
        Share of the l1 penalty, between 0 and 1.
    eps : float, default=1e-3
        Smallest alpha of an automatic grid, relative to its largest.
    n_alphas : int, default="deprecated"
        Use `alphas` with an integer instead.
    alphas : int or array-like, default=100
        Values of alpha, or how many to choose automatically.
    precompute : 'auto', bool or array-like of shape (n_features, n_features), default='auto'
        The Gram matrix X'X, or whether to compute it; by default it is computed where that is faster.
    Xy : array-like of shape (n_features,) or (n_features, n_targets), default=None
        X'y, used together with a given Gram matrix.
    copy_X : bool, default=True
        Accepted for compatibility: X is never written to.
    coef_init : array-like of shape (n_features,), default=None
        Start of the first solve.
    verbose : bool or int, default=False
        Print a dot (1) or a line (2) per alpha.
    return_n_iter : bool, default=False
        Also return the number of iterations.
    positive : bool, default=False
        Only non-negative coefficients (one target).
    check_input : bool, default=True
        False skips the checks of X, y and of a given Gram matrix; X must then be F-ordered or CSC.
    **params : dict
        `tol` (1e-4), `max_iter` (1000), `selection`, `random_state`, `sample_weight`, `X_offset` and `X_scale` (for
        sparse X: means to subtract).

    Returns
    -------
    alphas : ndarray of shape (n_alphas,)
        The penalties, decreasing.
    coefs : ndarray of shape (n_features, n_alphas) or (n_targets, n_features, n_alphas)
        Coefficients.
    dual_gaps : ndarray of shape (n_alphas,)
        Duality gaps.
    n_iters : list of int
        Iterations; only with `return_n_iter`.

    See Also
    --------
    lasso_path : The same with the l1 penalty alone.

    References
    ----------
    Friedman, Hastie, Tibshirani (2010), Regularization paths for generalized linear models via coordinate descent,
    Journal of Statistical Software 33(1).

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linear_model import enet_path
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    >>> alphas, coefs, gaps = enet_path(X, np.array([2.0, 0.0, -2.0]), alphas=[1.0, 0.1])
    >>> coefs.round(3)
    array([[0.714, 1.774],
           [0.   , 0.035]])
    """
    _check_path_arguments(locals())
    chosen = _chosen_alphas(n_alphas, alphas)
    offset, scale = params.pop("X_offset", None), params.pop("X_scale", None)
    weight = params.pop("sample_weight", None)
    tol, max_iter = params.pop("tol", 1e-4), params.pop("max_iter", 1000)
    options = solver_options(tol, max_iter, params.pop("selection", "cyclic"), params.pop("random_state", None))
    params.pop("do_screening", None)
    if params:
        raise ValueError("Unexpected parameters in params", params.keys())
    X, y = _checked(X, y, deferred=not hasattr(precompute, "__array__")) if check_input else (X, y)
    if y.ndim != 1 and positive:
        raise ValueError("positive=True is not allowed for multi-output (y.ndim != 1)")
    mean = None if offset is None or not sp.issparse(X) else np.asarray(offset / scale, dtype=np.float64)
    weight = weight if sp.issparse(X) else None
    if y.ndim != 1:
        return _multi_target_path(X, y, weight, mean, chosen, l1_ratio, eps, options, coef_init, return_n_iter)
    with np.errstate(over="ignore", invalid="ignore"):
        problem = make_problem(
            X,
            y.reshape(-1, 1),
            weight,
            center=False,
            precompute=precompute,
            xy=Xy,
            n_penalties=chosen if isinstance(chosen, Integral) else len(chosen),
            tol=tol,
            mean=mean,
            check=check_input,
        )
        if check_input and not problem.finite:
            check_array(X, accept_sparse="csc", dtype=FLOATS)
        if isinstance(chosen, Integral):
            chosen = alpha_grid(problem, l1_ratio, eps, chosen, positive)
        alphas = np.sort(np.asarray(chosen, dtype=np.float64))[::-1]
        start = None if coef_init is None else np.asarray(coef_init, dtype=np.float64).ravel()
        solution = problem.solve(0, penalties_for(alphas, l1_ratio, problem.total, positive), options, start)
        if check_input and not problem.finite:
            check_array(X, accept_sparse="csc", dtype=FLOATS)
    warn_unconverged([solution], [tol * problem.y2[0]], options.max_iter, problem.total)
    _report(len(alphas), verbose)
    coefs = np.asfortranarray(solution.coefs.T.astype(X.dtype, copy=False))
    return (alphas, coefs, solution.gaps / problem.total) + ((solution.n_iters,) if return_n_iter else ())


def lasso_path(
    X,
    y,
    *,
    eps=1e-3,
    n_alphas="deprecated",
    alphas="warn",
    precompute="auto",
    Xy=None,
    copy_X=True,
    coef_init=None,
    verbose=False,
    return_n_iter=False,
    positive=False,
    **params,
):
    """Lasso coefficients for a decreasing sequence of penalties: `enet_path` with ``l1_ratio=1``.

    Minimises ``1/(2n) |y - Xw|^2 + alpha |w|_1`` for each alpha; see `enet_path` for the stopping rule.

    Parameters
    ----------
    X, y, eps, n_alphas, alphas, precompute, Xy, copy_X, coef_init, verbose, return_n_iter, positive, **params
        See `enet_path`.

    Returns
    -------
    alphas, coefs, dual_gaps, n_iters
        See `enet_path`.

    See Also
    --------
    enet_path : With a quadratic penalty too.

    References
    ----------
    Friedman, Hastie, Tibshirani (2010), Regularization paths for generalized linear models via coordinate descent,
    Journal of Statistical Software 33(1).

    Examples
    --------
    >>> import numpy as np
    >>> from hyperplan.linear_model import lasso_path
    >>> X = np.array([[1.0, 2.0, 3.1], [2.3, 5.4, 4.3]]).T
    >>> _, coefs, _ = lasso_path(X, np.array([1.0, 2.0, 3.1]), alphas=[5.0, 1.0, 0.5], tol=1e-10)
    >>> coefs.round(3)
    array([[0.   , 0.   , 0.469],
           [0.216, 0.443, 0.237]])
    """
    return enet_path(
        X,
        y,
        l1_ratio=1.0,
        eps=eps,
        n_alphas=n_alphas,
        alphas=alphas,
        precompute=precompute,
        Xy=Xy,
        copy_X=copy_X,
        coef_init=coef_init,
        verbose=verbose,
        return_n_iter=return_n_iter,
        positive=positive,
        **params,
    )


def _check_path_arguments(given):
    """Ranges of the arguments of `enet_path` that estimators check in their own tables."""
    rules = {
        "l1_ratio": (lambda v: isinstance(v, Real) and 0 <= v <= 1, "a float in the range [0.0, 1.0]"),
        "eps": (lambda v: v is None or (isinstance(v, Real) and v > 0), "a float in the range (0.0, inf)"),
        "n_alphas": (
            lambda v: v == "deprecated" or (isinstance(v, Integral) and v >= 1),
            "an int in the range [1, inf)",
        ),
        "positive": (lambda v: isinstance(v, bool | np.bool_), "an instance of 'bool'"),
    }
    for name, (accepts, description) in rules.items():
        if not accepts(given[name]):
            raise InvalidParameterError(
                f"The {name!r} parameter of enet_path must be {description}. Got {given[name]!r} instead."
            )
    alphas = given["alphas"]
    if isinstance(alphas, Integral) and alphas < 1:
        raise InvalidParameterError(
            f"The 'alphas' parameter of enet_path must be an int in the range [1, inf) or an array-like. "
            f"Got {alphas!r} instead."
        )


def _chosen_alphas(n_alphas, alphas):
    """The number of alphas or their values, with the warnings of the two deprecated spellings."""
    chosen = 100
    if n_alphas != "deprecated":
        warnings.warn(
            "'n_alphas' was deprecated in 1.9 and will be removed in 1.11: pass that integer as 'alphas' instead.",
            FutureWarning,
            stacklevel=3,
        )
        chosen = n_alphas
    if alphas is None:
        warnings.warn(
            "'alphas=None' is deprecated and will be removed in 1.11: pass 'alphas=100' instead.",
            FutureWarning,
            stacklevel=3,
        )
    elif not isinstance(alphas, str):
        chosen = alphas
    return chosen


def _checked(X, y, deferred):
    """X and y as floats of one type; if `deferred`, NaN and infinities in X are left to the sums that show them."""
    deferred = deferred and isinstance(X, np.ndarray) and X.dtype in FLOATS and np.ndim(y) == 1
    X = check_array(X, accept_sparse="csc", dtype=FLOATS, ensure_all_finite=not deferred)
    y = check_array(y, accept_sparse="csc", dtype=X.dtype.type, ensure_2d=False)
    y = y.toarray() if sp.issparse(y) else y
    if y.shape[0] != X.shape[0]:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[X.shape[0], y.shape[0]]}")
    return X, y


def _multi_target_path(X, Y, weight, mean, chosen, l1_ratio, eps, options, coef_init, return_n_iter):
    """The path of several targets under the penalty on rows."""
    if isinstance(chosen, Integral):
        correlated = np.asarray(X.T @ (Y if weight is None else Y * weight[:, None]), dtype=np.float64)
        if mean is not None:
            correlated -= np.outer(mean, (Y if weight is None else Y * weight[:, None]).sum(axis=0))
        chosen = alpha_grid_from(correlated, X.shape[0], l1_ratio, eps, chosen)
    alphas = np.sort(np.asarray(chosen, dtype=np.float64))[::-1]
    penalties = penalties_for(alphas, l1_ratio, X.shape[0], False)
    solution = multi_task_path(X, Y, weight, penalties, options, center=False, mean=mean, start=coef_init)
    warn_unconverged([solution], [options.tol * solution.y2], options.max_iter, X.shape[0], stacklevel=4)
    coefs = np.moveaxis(solution.coefs, 0, -1).astype(X.dtype, copy=False)
    gaps = solution.gaps / X.shape[0]
    return (alphas, coefs, gaps) + ((solution.n_iters,) if return_n_iter else ())


def _report(n_alphas, verbose):
    """What `verbose` asks for."""
    for k in range(n_alphas if verbose else 0):
        if verbose > 1:
            print(f"Path: {k:03d} out of {n_alphas:03d}")
        else:
            sys.stderr.write(".")
