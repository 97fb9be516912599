"""What the two linear support vector machines share: option checks, data, warnings, certificate."""

import numbers
import warnings

import numpy as np
import scipy.sparse as sp

from hyperplan._base import ConvergenceWarning, Int, Real, check_finite, check_training, gap_certificate, seed_from
from hyperplan._solvers.linear_svm_design import Design

FINEST_BOUND = 1e-10  # relative gaps below this are not told apart in double precision
SMALL_VALUES = 200_000  # values of a dense X that are summed faster than tasks are handed out

# (loss, penalty) -> the formulations that exist
FORMULATIONS = {
    ("hinge", "l2"): (True,),
    ("squared_hinge", "l2"): (False, True),
    ("squared_hinge", "l1"): (False,),
    ("epsilon_insensitive", "l2"): (True,),
    ("squared_epsilon_insensitive", "l2"): (False, True),
}

COMMON_PARAMS = {
    "tol": Real(gt=0),
    "C": Real(gt=0),
    "intercept_scaling": Real(gt=0),
    "max_iter": Int(ge=0),
}


def check_formulation(loss, penalty, dual):
    """Raise for combinations that do not exist.  Which algorithm runs is decided by shapes, not by `dual`."""
    allowed = FORMULATIONS.get((loss, penalty))
    if allowed is None:
        reason = f"The combination of penalty='{penalty}' and loss='{loss}' is not supported"
    elif dual != "auto" and bool(dual) not in allowed:
        reason = f"The combination of penalty='{penalty}' and loss='{loss}' are not supported when dual={dual}"
    else:
        return
    raise ValueError(
        f"Unsupported set of arguments: {reason}, Parameters: penalty={penalty!r}, loss={loss!r}, dual={dual!r}"
    )


def check_rows(estimator, X, y, sample_weight, **options):
    """Checked data in row order.  A sum over X (a threaded product) stands for the search for NaN and infinity."""
    data = check_training(
        estimator, X, y, sample_weight, accept_sparse="csr", order="C", ensure_all_finite=False, **options
    )
    X = data.X
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    with np.errstate(all="ignore"):  # a NaN or an infinity always reaches the sum
        is_small = not sp.issparse(X) and X.size <= SMALL_VALUES
        total = X.sum() if is_small else Design(X).scores(np.ones(X.shape[1])).sum()
    if not np.isfinite(total):
        check_finite(estimator, X)
    return data._replace(X=X)


def seed_of(random_state):
    """A seed for the kernels; a number needs no generator, which costs more than a small fit."""
    return int(random_state) if isinstance(random_state, numbers.Integral) else seed_from(random_state)


def certify(outcomes, tol):
    """The duality gap of one or several independent fits, as one certificate."""
    primal = float(sum(outcome.primal for outcome in outcomes))
    gap = float(sum(outcome.gap for outcome in outcomes))
    worst = max((o.gap / o.primal if o.primal > 0 else 0.0 for o in outcomes), default=0.0)
    if not np.isfinite(gap):
        primal, gap, worst = np.nan, np.nan, np.nan
    certificate = gap_certificate(
        primal,
        primal - gap,
        max(tol, FINEST_BOUND),
        primal if primal > 0 else 1.0,
        reference="Boyd, Vandenberghe (2004), Convex Optimization, section 5.5; Hsieh et al. (2008), ICML",
        n_iter=max(o.n_iter for o in outcomes),
        fits=len(outcomes),
    )
    # the difference of two large sums has lost the digits of a small gap: keep the one the solver measured
    return type(certificate)(**{**vars(certificate), "value": worst})


def warn_unless_certified(estimator, certificate):
    """A `ConvergenceWarning` that says how far the fit may be from the optimum."""
    if certificate.holds:
        return
    n_iter = certificate.details["n_iter"]
    advice = "raise max_iter or tol" if n_iter >= estimator.max_iter else "scale the features or lower C"
    warnings.warn(
        f"{type(estimator).__name__} failed to converge: after {n_iter} iterations the objective is at most "
        f"{certificate.value:.2g} (relative) above its minimum, tol asks for {certificate.bound:.2g}; {advice}.",
        ConvergenceWarning,
        stacklevel=3,
    )


def report(estimator, outcomes):
    """Lines for ``verbose``."""
    for number, outcome in enumerate(outcomes):
        print(
            f"[{type(estimator).__name__}] fit {number + 1}/{len(outcomes)}: {outcome.status.name.lower()} after "
            f"{outcome.n_iter} iterations, objective {outcome.primal:.8g}, duality gap {outcome.gap:.2g}"
        )
